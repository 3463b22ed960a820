/* Whatever a trace holds, the parts of every class add up to it (scene__profile looks at the
 * audit), and what is damaged does no harm. */
#include "scene.h"

#include "analysis/analysis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { F = 1024, G = 1026, H = 1028 };
#define LEFT | 1

enum {
    WAIT = HEURT_EVENT_LOCK_WAIT,
    ACQUIRED = HEURT_EVENT_LOCK_ACQUIRED,
    IO = HEURT_EVENT_IO,
    SLEEP = HEURT_EVENT_SLEEP,
};

static void define_functions(struct scene *scene)
{
    scene__function(scene, 0, F, 0x401000, "f", "n,m");
    scene__function(scene, 0, G, 0x401100, "g", "");
    scene__function(scene, 0, H, 0x401200, "h", "");
}

static uint64_t random_of(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void random_kernel_event(struct scene *scene, uint64_t *seed, uint32_t thread, uint64_t tick)
{
    uint64_t ticks = random_of(seed) % (random_of(seed) % 4 ? 1000 : 100000);
    uint64_t runnable = random_of(seed) % 2 ? random_of(seed) % (ticks + 1) : HEURT_NOT_KNOWN;
    uint64_t how = random_of(seed) % 5, cpu = random_of(seed) % 4;
    uint32_t choice = random_of(seed) % 19;
    if (choice < 10)
        PUT(scene, thread, tick, HEURT_EVENT_OFF_CPU, HEURT_OFF(ticks, how),
            HEURT_BACK(runnable, cpu), 0);
    else if (choice < 16)
        PUT(scene, thread, tick, HEURT_EVENT_FAULT, HEURT_OFF(ticks, how % 2), 0x6000, 0);
    else if (choice < 18)
        PUT(scene, thread, tick, HEURT_EVENT_KERNEL, cpu);
    else
        PUT(scene, thread, tick, HEURT_EVENT_KERNEL_LOST, 1 + how);
}

static void random_event(struct scene *scene, uint64_t *seed, uint32_t thread, uint64_t tick)
{
    static const uint32_t calls[] = {WAIT,
                                     IO,
                                     SLEEP,
                                     HEURT_EVENT_CONDITION_WAIT,
                                     HEURT_EVENT_BARRIER_WAIT,
                                     HEURT_EVENT_SEMAPHORE_WAIT,
                                     HEURT_EVENT_FUTEX_WAIT,
                                     HEURT_EVENT_JOIN};
    static const uint8_t words[] = {2, 3, 2, 3, 2, 2, 2, 2};
    static const uint32_t points[] = {HEURT_EVENT_CONDITION_SIGNALLED, HEURT_EVENT_SEMAPHORE_POSTED,
                                      HEURT_EVENT_SEMAPHORE_ACQUIRED, HEURT_EVENT_FUTEX_WOKEN};
    uint32_t choice = random_of(seed) % 17, which = random_of(seed) % 8;
    uint64_t how = which ? 1 + random_of(seed) % 3 : random_of(seed) % 4;
    uint64_t payload[] = {0, HEURT_SITE(0x9000, how), 0x7000 + random_of(seed) % 3,
                          0x7000 + random_of(seed) % 3};
    uint32_t function = F + 2 * (random_of(seed) % 3);
    if (choice < 3 && random_of(seed) % 2)
        PUT(scene, thread, tick, HEURT_EVENT_INSTRUCTIONS, tick * 3);
    if (choice < 3 && function == F)
        PUT(scene, thread, tick, F, random_of(seed) % 8, random_of(seed));
    else if (choice < 3)
        PUT(scene, thread, tick, function);
    else if (choice < 6)
        PUT(scene, thread, tick, function LEFT);
    else if (choice < 8)
        scene__put(scene, thread, tick, calls[which], payload, 1u + words[which]);
    else if (choice < 10 && calls[which] == SLEEP)
        PUT(scene, thread, tick, SLEEP LEFT);
    else if (choice < 10)
        PUT(scene, thread, tick, calls[which] LEFT, random_of(seed) % 2 * 110);
    else if (choice < 11)
        scene__put(scene, thread, tick, random_of(seed) % 2 ? ACQUIRED : HEURT_EVENT_LOCK_RELEASED,
                   payload, 3);
    else if (choice < 14)
        random_kernel_event(scene, seed, thread, tick);
    else if (choice < 16)
        scene__put(scene, thread, tick, points[which % 4], payload, 3);
    else if (random_of(seed) % 3)
        PUT(scene, thread, tick, HEURT_EVENT_UNWOUND);
    else
        PUT(scene, thread, tick, HEURT_EVENT_LOST, 1);
}

static void check_class(const struct profile_class *class)
{
    int64_t why = 0;
    uint64_t count = 0, blamed = 0;
    for (unsigned i = 0; i < REASONS; i++)
        why += class->why_ns[i];
    assert_int_equal(why, class->excess_ns);
    assert_true(class->count > 0 || class->unfinished > 0);
    assert_true(class->score >= 0 && class->score <= 1);
    assert_true(class->score_all >= 0 && class->score_all <= class->score + 1e-9);
    assert_true(class->min_ns <= class->p50_ns && class->p50_ns <= class->p99_ns &&
                class->p99_ns <= class->max_ns);
    VEC_EACH (row, &class->threads, struct profile_thread_row)
        count += row->count;
    assert_int_equal(count, class->count);
    VEC_EACH (blame, &class->blames, struct profile_blame) {
        uint64_t doing = 0;
        for (unsigned i = 0; i < COMPONENTS; i++)
            doing += blame->doing_ns[i];
        assert_int_equal(doing, blame->wait_ns);
        assert_true(blame->waits > 0);
        blamed += blame->wait_ns;
    }
    if (!class->unfinished)
        assert_true(blamed <= class->sum_ns);
}

static void check_profile(const struct profile *profile)
{
    VEC_EACH (class, &profile->classes, struct profile_class)
        check_class(class);
    VEC_EACH (thread, &profile->threads, struct profile_thread) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < COMPONENTS; i++)
            sum += thread->component_ns[i];
        assert_int_equal(sum, thread->lifetime_ns);
    }
}

/* Now and then so long that single occurrences are looked at. */
static void random_scene(struct scene *scene, uint64_t *seed)
{
    uint64_t most = random_of(seed) % 8 ? 300 : 6000;
    scene__begin_counter(scene, 2995 + random_of(seed) % 100);
    define_functions(scene);
    for (uint32_t thread = 0; thread < 4; thread++) {
        uint64_t tick = 1000 + random_of(seed) % 5000;
        for (uint64_t n = random_of(seed) % most; n > 0; n--) {
            random_event(scene, seed, thread, tick);
            tick += random_of(seed) % (n % 7 ? 1000 : 1000000);
        }
        if (random_of(seed) % 2)
            scene__end(scene, thread, tick);
    }
}

static void everything_adds_up(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (unsigned round = 0; round < 200; round++) {
        struct scene scene;
        random_scene(&scene, &seed);
        check_profile(scene__profile(&scene));
        scene__free(&scene);
    }
}

/* Changes some bytes of a trace and profiles what is left of it. */
static void profile_damaged(uint64_t *seed, const char *bytes, size_t size)
{
    struct trace *trace;
    struct profile *profile;
    char *damaged = malloc(size);
    memcpy(damaged, bytes, size);
    for (uint64_t n = 1 + random_of(seed) % 40; n > 0; n--) {
        /* Most in what is used of the units. */
        size_t at = random_of(seed) % (size / HEURT_UNIT_BYTES) * HEURT_UNIT_BYTES +
                    random_of(seed) % (random_of(seed) % 2 ? 400 : HEURT_UNIT_BYTES);
        damaged[at] = (char)random_of(seed);
    }
    if (trace__open_memory(damaged, size, &trace, NULL) == 0) {
        assert_int_equal(run__one(trace, NULL, &profile_analysis,
                                  &(struct profile_options){CLASSES_BY_STRUCTURE, NULL, 0.2},
                                  (void **)&profile, NULL),
                         0);
        profile__free(profile);
        trace__close(trace);
    }
    free(damaged);
}

static void damaged_traces_do_no_harm(void **state)
{
    (void)state;
    uint64_t seed = 2463534242u;
    for (unsigned round = 0; round < 20; round++) {
        struct scene scene;
        char path[128];
        static char bytes[16 * HEURT_UNIT_BYTES];
        random_scene(&scene, &seed);
        scene__profile(&scene);
        snprintf(path, sizeof path, "%s/" HEURT_EVENTS_FILE, scene.directory);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        scene__free(&scene);
        for (unsigned copy = 0; copy < 50; copy++)
            profile_damaged(&seed, bytes, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_adds_up),
        cmocka_unit_test(damaged_traces_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
