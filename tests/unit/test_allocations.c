#include "format/allocations.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/resource.h>

#include <cmocka.h>

enum { AT = 0x10000, SITE_A = 0x400100, SITE_B = 0x400200, SITE_C = 0x400300 };

#define ALLOCATED(scene, thread, tick, site, address, bytes) \
    PUT(scene, thread, tick, HEURT_EVENT_ALLOCATED, site, address, bytes)
#define FREED(scene, thread, tick, address) PUT(scene, thread, tick, HEURT_EVENT_FREED, address)

static struct allocations *find(struct scene *scene, const uint64_t *asked, size_t count)
{
    struct vec addresses = VEC_OF(uint64_t);
    scene->end = (struct heurt_clock_pair){100000, 100000};
    scene__profile(scene);
    for (size_t i = 0; i < count; i++)
        vec__push(&addresses, &asked[i]);
    struct allocations *found = allocations__find(scene->trace, &addresses);
    vec__free(&addresses);
    return found;
}

/* What is said to stay until a tick is what is said just before it, too. */
static uint64_t site_at(const struct allocations *found, uint64_t address, uint64_t tick)
{
    uint64_t until, later;
    const struct allocation *allocation = allocations__at_until(found, 0, address, tick, &until);
    assert_true(until > tick);
    assert_ptr_equal(allocations__at(found, 0, address, tick), allocation);
    assert_ptr_equal(allocations__at_until(found, 0, address, until - 1, &later), allocation);
    assert_true(later == until);
    return allocation ? allocation->site : 0;
}

/* What is freed by another thread is gone, and its place may be another object's. */
static void test_lives(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    ALLOCATED(scene, 0, 2000, SITE_A, AT, 64);
    FREED(scene, 1, 3000, AT);
    ALLOCATED(scene, 1, 4000, SITE_B, AT, 32);
    scene__end(scene, 0, 9000);
    scene__end(scene, 1, 9000);
    struct allocations *found = find(scene, (uint64_t[]){AT + 40, AT + 8, AT + 8, AT + 64}, 4);
    assert_int_equal(site_at(found, AT + 8, 1500), 0);
    assert_int_equal(site_at(found, AT + 8, 2500), SITE_A);
    assert_int_equal(site_at(found, AT + 8, 3500), 0);
    assert_int_equal(site_at(found, AT + 8, 4500), SITE_B);
    assert_int_equal(site_at(found, AT + 40, 2500), SITE_A);
    assert_int_equal(site_at(found, AT + 40, 4500), 0);
    assert_int_equal(site_at(found, AT + 64, 2500), 0);
    assert_int_equal(allocations__count(found), 2);
    assert_int_equal(allocations__all(found)->count, 2);
    allocations__free(found);
}

/* A large buffer that is made again and again, each address of which is asked for: not each pair of
 * both is kept. */
static void test_large_and_asked_for_everywhere(void **state)
{
    enum { LIVES = 20000, ASKED = 2000, SAMPLED = 97 };
    struct scene *scene = *state;
    struct rusage before, after;
    static uint64_t asked[ASKED];
    scene__start(scene, 0, 1000);
    for (uint64_t i = 0; i < LIVES; i++) {
        ALLOCATED(scene, 0, 2000 + i * 4, i % 2 ? SITE_B : SITE_A, AT + 8 * (i % 2), ASKED * 8);
        ALLOCATED(scene, 0, 2001 + i * 4, SITE_C, AT + 800, 8);
        FREED(scene, 0, 2002 + i * 4, AT + 800);
        FREED(scene, 0, 2003 + i * 4, AT + 8 * (i % 2));
    }
    scene__end(scene, 0, 90000);
    for (uint64_t i = 0; i < ASKED; i++)
        asked[i] = AT + i * 8;
    getrusage(RUSAGE_SELF, &before);
    struct allocations *found = find(scene, asked, ASKED);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 400 * 1024); /* KB; of all pairs 900 MB */
    for (uint64_t i = 0; i < LIVES; i += SAMPLED) {
        const uint64_t tick = 2000 + i * 4, site = i % 2 ? SITE_B : SITE_A;
        assert_int_equal(site_at(found, AT, tick), i % 2 ? 0 : SITE_A);
        assert_int_equal(site_at(found, AT + 8 * (i % ASKED), tick + 1), i % ASKED == 100 ? SITE_C
                                                                         : i % ASKED || !(i % 2)
                                                                             ? site
                                                                             : 0);
        assert_int_equal(site_at(found, AT + 800, tick), site);
        assert_int_equal(site_at(found, AT + 800, tick + 1), SITE_C);
        assert_int_equal(site_at(found, AT + 800, tick + 2), site);
        assert_int_equal(site_at(found, AT + 800, tick + 3), 0);
        assert_int_equal(site_at(found, AT + 8 * (ASKED - 1), tick + 2), site);
    }
    allocations__free(found);
}

/* Many lives at one place, within a large object that outlives them. */
static void test_many_lives(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    ALLOCATED(scene, 0, 1500, SITE_C, AT - 256, 4096);
    for (uint64_t i = 0; i < 200; i++) {
        ALLOCATED(scene, 0, 2000 + i * 100, i % 2 ? SITE_B : SITE_A, AT, 64);
        FREED(scene, 0, 2050 + i * 100, AT);
    }
    scene__end(scene, 0, 90000);
    struct allocations *found = find(scene, (uint64_t[]){AT + 8}, 1);
    for (uint64_t i = 0; i < 200; i++) {
        assert_int_equal(site_at(found, AT + 8, 2000 + i * 100), i % 2 ? SITE_B : SITE_A);
        assert_int_equal(site_at(found, AT + 8, 2050 + i * 100), SITE_C);
    }
    assert_int_equal(site_at(found, AT + 8, 1499), 0);
    allocations__free(found);
}

/* An object within a larger one, as an allocator cuts them out of what it has mapped; and one whose
 * end was not seen, when something else lies there. */
static void test_within(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    ALLOCATED(scene, 0, 2000, SITE_A | (uint64_t)HEURT_ALLOCATION_MMAP << 48, AT, 4096);
    ALLOCATED(scene, 0, 3000, SITE_B, AT + 128, 64);
    FREED(scene, 0, 4000, AT + 128);
    ALLOCATED(scene, 0, 5000, SITE_C, AT + 128, 64);
    ALLOCATED(scene, 0, 6000, SITE_B, AT + 144, 64);
    scene__end(scene, 0, 9000);
    struct allocations *found = find(scene, (uint64_t[]){AT + 150}, 1);
    assert_int_equal(site_at(found, AT + 150, 2500), SITE_A);
    assert_int_equal(site_at(found, AT + 150, 3500), SITE_B);
    assert_int_equal(site_at(found, AT + 150, 4500), SITE_A);
    assert_int_equal(site_at(found, AT + 150, 5500), SITE_C);
    assert_int_equal(site_at(found, AT + 150, 6500), SITE_B);
    assert_int_equal(allocations__at(found, 0, AT + 150, 2500)->call, HEURT_ALLOCATION_MMAP);
    allocations__free(found);
}

/* A forked process has what its parent had when it was made. */
static void test_forked(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    ALLOCATED(scene, 0, 2000, SITE_A, AT, 64);
    scene__process(scene, 1, 200, 0);
    FREED(scene, 0, 5000, AT);
    scene__end(scene, 0, 9000);
    struct allocations *found = find(scene, (uint64_t[]){AT}, 1);
    size_t child = 1;
    uint64_t forked = trace__process_at(scene->trace, child)->tick;
    const struct allocation *seen = allocations__at(found, child, AT, 8000);
    assert_int_equal(seen != NULL, forked >= 2000 && forked < 5000);
    allocations__free(found);
}

/* One of those that were called alike has a stack; from elsewhere, or with another height of the
 * stack, it is another call. */
static void a_stack_is_that_of_all_that_were_called_alike(void **state)
{
    struct scene *scene = *state;
    const uint64_t alike = 7ull << 48, otherwise = 8ull << 48;
    uint32_t thread = 0;
    uint64_t tick = 0;
    ALLOCATED(scene, 0, 2000, SITE_A | (uint64_t)HEURT_ALLOCATION_STACK << 48, AT, alike | 16);
    ALLOCATED(scene, 1, 3000, SITE_A, AT + 16, alike | 16);
    ALLOCATED(scene, 1, 4000, SITE_A, AT + 32, otherwise | 16);
    ALLOCATED(scene, 1, 5000, SITE_B, AT + 48, alike | 16);
    ALLOCATED(scene, 1, 6000, SITE_A, AT + 64, 16);
    struct allocations *found =
        find(scene, (uint64_t[]){AT, AT + 16, AT + 32, AT + 48, AT + 64}, 5);
    const struct allocation *all = allocations__all(found)->items;
    assert_int_equal(allocations__all(found)->count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(all[i].bytes, 16);
        assert_int_equal(allocations__stack(found, &all[i], &thread, &tick), i < 2);
    }
    assert_int_equal(tick, 2000);
    assert_int_equal(thread, trace__thread_at(scene->trace, 0)->serial);
    allocations__free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lives, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(test_many_lives, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(test_large_and_asked_for_everywhere, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(test_within, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(test_forked, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(a_stack_is_that_of_all_that_were_called_alike, scene__setup,
                                        scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
