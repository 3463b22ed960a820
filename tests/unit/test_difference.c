/* One slow against one fast occurrence: what is made different is found, and parts add up to the
 * difference, whatever the occurrences are made of. */
#include "analysis/analysis.h"
#include "analysis/compare/difference.h"
#include "scene.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    WORK = 1024,
    STEP = 1026,
    HELP = 1028,
    ONCE = 1030,
    RANDOM = 1040, /* to RANDOM + 2 * (RANDOM_FUNCTIONS - 1) */
};
#define RANDOM_FUNCTIONS 5u

#define SITE HEURT_SITE(0x7000, HEURT_LOCK_MUTEX)
#define LOCK 0x9000

static const struct difference_selection extremes = {.slow = 1, .fast = 1};

static struct difference *found;
static struct error error;

static int setup(void **state)
{
    char name[16];
    scene__setup(state);
    scene__function(*state, 0, WORK, 0x1000, "work", "n,bytes");
    scene__function(*state, 0, STEP, 0x2000, "step", "");
    scene__function(*state, 0, HELP, 0x3000, "help", "");
    scene__function(*state, 0, ONCE, 0x4000, "once", "");
    for (uint32_t i = 0; i < RANDOM_FUNCTIONS; i++) {
        snprintf(name, sizeof name, "random_%u", i);
        scene__function(*state, 0, RANDOM + 2 * i, 0x5000 + 0x100 * i, name, "");
    }
    found = NULL;
    return 0;
}

static int teardown(void **state)
{
    difference__free(found);
    return scene__teardown(state);
}

/* ---- what it finds --------------------------------------------------------------------------- */

static int compare(struct scene *scene, enum class_kind kind, const char *function,
                   const struct difference_selection *choice)
{
    const struct profile_class *class = scene__class(scene, kind, function, 0, 0);
    difference__free(found);
    found = NULL;
    return difference__of_class(scene->trace, scene->profile, class, choice, &found, &error);
}

static int64_t more(const struct difference_row *row)
{
    return row->own_ns[SIDE_SLOW] - row->own_ns[SIDE_FAST];
}

static const struct difference_row *row_of(const char *function, uint32_t parent)
{
    VEC_EACH (row, &found->rows, struct difference_row)
        if (row->parent == parent && row->what.at.function &&
            strcmp(row->what.at.function, function) == 0)
            return row;
    fail_msg("no row %s", function);
    return NULL;
}

static int64_t component_more(enum component component)
{
    return (int64_t)(found->sides[SIDE_SLOW].component_ns[component] -
                     found->sides[SIDE_FAST].component_ns[component]);
}

/* Everything that is promised to, of both sides. */
static void assert_adds_up(void)
{
    for (int side = 0; side < SIDES; side++) {
        const struct difference_side_info *info = &found->sides[side];
        uint64_t components = 0;
        int64_t own = 0, columns[COMPONENTS] = {0};
        for (unsigned i = 0; i < COMPONENTS; i++)
            components += info->component_ns[i];
        VEC_EACH (row, &found->rows, struct difference_row) {
            int64_t parts = 0;
            for (unsigned i = 0; i < COMPONENTS; i++) {
                parts += row->component_ns[side][i];
                columns[i] += row->component_ns[side][i];
            }
            assert_int_equal(parts, row->own_ns[side]);
            own += parts;
        }
        assert_int_equal(components, info->duration_ns);
        assert_int_equal(own, info->duration_ns);
        for (unsigned i = 0; i < COMPONENTS; i++)
            assert_int_equal(columns[i], info->component_ns[i]);
    }
}

/* ---- causes that are known ------------------------------------------------------------------- */

/* work(n) for 100 and the wait and the preemption, with n steps of 10. */
static uint64_t work(struct scene *scene, uint32_t thread, uint64_t at, uint64_t steps,
                     uint64_t wait, uint64_t off)
{
    PUT(scene, thread, at, WORK, steps, 4096);
    uint64_t now = at + 5;
    for (uint64_t i = 0; i < steps; i++, now += 11) {
        PUT(scene, thread, now, STEP);
        PUT(scene, thread, now + 10, STEP + 1);
    }
    if (wait) {
        PUT(scene, thread, now, HEURT_EVENT_LOCK_WAIT, SITE, LOCK);
        now += wait;
        PUT(scene, thread, now, HEURT_EVENT_LOCK_WAIT + 1, 0);
    } else {
        PUT(scene, thread, now, HEURT_EVENT_LOCK_ACQUIRED, SITE, LOCK);
    }
    if (off) {
        now += off;
        PUT(scene, thread, now, HEURT_EVENT_OFF_CPU, HEURT_OFF(off, HEURT_OFF_PREEMPTED),
            HEURT_SITE(HEURT_NOT_KNOWN, 2), 0);
    }
    PUT(scene, thread, at + 100 + wait + off, WORK + 1);
    return at + 100 + wait + off + 1;
}

/* Work that takes 100, but for one that waits 400, one with 300 off the CPU, one with two steps. */
static void known_causes(struct scene *scene)
{
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    PUT(scene, 1, 1001, HEURT_EVENT_KERNEL, 7);
    uint64_t at = 2000;
    for (int i = 0; i < 10; i++)
        at = work(scene, 0, at, 3, i == 6 ? 400 : 0, 0);
    PUT(scene, 0, at, ONCE);
    PUT(scene, 0, at + 3, ONCE + 1);
    scene__end(scene, 0, at + 10);
    at = 2000;
    for (int i = 0; i < 10; i++)
        at = work(scene, 1, at, i == 3 ? 2 : 3, 0, i == 8 ? 300 : 0);
    scene__end(scene, 1, at);
    scene__profile(scene);
}

static void a_lock_wait(void **state)
{
    known_causes(*state);
    assert_int_equal(compare(*state, CLASS_CALL, "work", &extremes), 0);
    assert_int_equal(found->count, 20);
    assert_int_equal(found->sides[SIDE_SLOW].duration_ns, 500);
    assert_int_equal(found->sides[SIDE_SLOW].thread, 0);
    assert_int_equal(found->sides[SIDE_SLOW].start_ns, 1000 + 6 * 101);
    assert_int_equal(found->sides[SIDE_FAST].duration_ns, 100);
    assert_int_equal(found->sides[SIDE_FAST].start_ns, 1000); /* the first of the equal ones */
    assert_int_equal(component_more(COMPONENT_LOCK), 400);
    assert_int_equal(component_more(COMPONENT_RUNNING), 0);
    assert_int_equal(more(row_of("pthread_mutex_lock", 0)), 400);
    assert_int_equal(more(row_of("step", 0)), 0);
    assert_int_equal(row_of("pthread_mutex_lock", 0)->what.object, LOCK);
    assert_true(row_of("pthread_mutex_lock", 0)->what.has_object);
    assert_string_equal(found->definition->argument_names, "n,bytes");
    assert_int_equal(found->sides[SIDE_SLOW].argument_count, 2);
    assert_int_equal(found->sides[SIDE_SLOW].arguments[1], 4096);
    assert_adds_up();
}

/* Thread 1 has the lock while thread 0 waits for it. */
static void who_ended_the_wait(void **state)
{
    static const uint64_t release_site = HEURT_SITE(0x7100, HEURT_LOCK_MUTEX);
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    for (uint64_t i = 0, at = 2000; i < 3; i++, at += 1000)
        work(scene, 0, at, 3, i == 1 ? 400 : 0, 0);
    PUT(scene, 1, 2500, HEURT_EVENT_LOCK_ACQUIRED, SITE, LOCK);
    PUT(scene, 1, 3430, HEURT_EVENT_LOCK_RELEASED, release_site, LOCK);
    scene__end(scene, 0, 6000);
    scene__end(scene, 1, 6000);
    scene__profile(scene);
    assert_int_equal(compare(scene, CLASS_CALL, "work", &extremes), 0);
    assert_int_equal(found->waits.count, 1);
    const struct difference_wait *wait = found->waits.items;
    assert_int_equal(wait->kind, CLASS_LOCK);
    assert_int_equal(wait->object, LOCK);
    assert_int_equal(wait->by, 1);
    assert_int_equal(wait->by_site, 0x7100);
    assert_int_equal(wait->waits, 1);
    assert_int_equal(wait->wait_ns, 400);
    const struct difference_selection second = {.slow = 2, .fast = 1};
    assert_int_equal(compare(scene, CLASS_CALL, "work", &second), 0);
    assert_int_equal(found->waits.count, 0);
}

static void preempted(void **state)
{
    const struct difference_selection choice = {.slow = 2, .fast = 1};
    known_causes(*state);
    assert_int_equal(compare(*state, CLASS_CALL, "work", &choice), 0);
    assert_int_equal(found->sides[SIDE_SLOW].thread, 1);
    assert_int_equal(found->sides[SIDE_SLOW].duration_ns, 400);
    assert_int_equal(found->sides[SIDE_SLOW].cpu, 2);
    assert_int_equal(component_more(COMPONENT_RUNNABLE), 300);
    assert_int_equal(more(&VEC_AT(&found->rows, struct difference_row, 0)[0]), 300);
    assert_adds_up();
}

static void one_with_itself(void **state)
{
    const struct difference_selection choice = {.slow = 1, .fast = 20};
    known_causes(*state);
    assert_int_equal(compare(*state, CLASS_CALL, "work", &choice), -ENOENT);
    assert_non_null(strstr(error.text, "same"));
}

/* The second of two that took as long. */
static void all_took_as_long(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    for (uint64_t at = 2000; at < 2400; at += 100) {
        PUT(scene, 0, at, ONCE);
        PUT(scene, 0, at + 30, ONCE + 1);
    }
    scene__end(scene, 0, 3000);
    scene__profile(scene);
    assert_int_equal(compare(scene, CLASS_CALL, "once", &extremes), 0);
    assert_int_equal(found->sides[SIDE_SLOW].start_ns, 1000);
    assert_int_equal(found->sides[SIDE_FAST].start_ns, 1100);
    assert_adds_up();
}

static void at_a_time(void **state)
{
    /* The wait is from 1000 + 6 * 101 to 500 later; thread 1 works from 1000 + 808 to 400 later. */
    const struct difference_selection choice = {.at_ns = 1000 + 6 * 101 + 450, .fast = 0};
    known_causes(*state);
    assert_int_equal(compare(*state, CLASS_CALL, "work", &choice), 0);
    assert_int_equal(found->sides[SIDE_SLOW].duration_ns, 500);
    assert_int_equal(found->sides[SIDE_FAST].duration_ns, 100);
    const struct difference_selection late = {.at_ns = 1000000, .fast = 1};
    assert_int_equal(compare(*state, CLASS_CALL, "work", &late), -ENOENT);
    assert_non_null(strstr(error.text, "at that time"));
}

static void nothing_to_compare_with(void **state)
{
    const struct difference_selection many = {.slow = 21, .fast = 1};
    known_causes(*state);
    assert_int_equal(compare(*state, CLASS_CALL, "once", &extremes), -ENOENT);
    assert_non_null(strstr(error.text, "once"));
    assert_int_equal(compare(*state, CLASS_CALL, "work", &many), -ENOENT);
    assert_non_null(strstr(error.text, "no 21th slowest"));
}

/* Calls of one place in different calls are rows of their own; those in the same one are one. */
static void places_in_the_structure(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    for (uint64_t i = 0, at = 2000; i < 2; i++, at += 1000) {
        PUT(scene, 0, at, WORK, 1, 2);
        for (uint64_t j = 0; j < 2 + i; j++) {
            PUT(scene, 0, at + 10 + 40 * j, STEP);
            PUT(scene, 0, at + 15 + 40 * j, HELP);
            PUT(scene, 0, at + 25 + 40 * j, HELP + 1);
            PUT(scene, 0, at + 40 + 40 * j, STEP + 1);
        }
        PUT(scene, 0, at + 200, HELP);
        PUT(scene, 0, at + 207 + 100 * i, HELP + 1);
        PUT(scene, 0, at + 400 + 100 * i, WORK + 1);
    }
    scene__end(scene, 0, 5000);
    scene__profile(scene);
    assert_int_equal(compare(scene, CLASS_CALL, "work", &extremes), 0);
    assert_int_equal(found->rows.count, 4);
    const struct difference_row *step = row_of("step", 0), *help = row_of("help", 0);
    uint32_t place = (uint32_t)(step - VEC_AT(&found->rows, struct difference_row, 0));
    const struct difference_row *deeper = row_of("help", place);
    assert_int_equal(step->count[SIDE_SLOW], 3);
    assert_int_equal(step->count[SIDE_FAST], 2);
    assert_int_equal(step->time_ns[SIDE_SLOW], 90);
    assert_int_equal(more(step), 20);
    assert_int_equal(more(deeper), 10);
    assert_int_equal(deeper->count[SIDE_SLOW], 3);
    assert_int_equal(more(help), 100);
    assert_int_equal(more(&VEC_AT(&found->rows, struct difference_row, 0)[0]), -30);
    assert_adds_up();
}

/* ---- whatever they are made of --------------------------------------------------------------- */

static uint64_t below(uint64_t bound)
{
    return (uint64_t)rand() % bound;
}

static void random_wait(struct scene *scene, uint32_t thread, uint64_t *now)
{
    PUT(scene, thread, *now, HEURT_EVENT_LOCK_WAIT, SITE, LOCK + 64 * below(3));
    uint64_t off = 1 + below(200);
    *now += off + below(50);
    if (below(2))
        PUT(scene, thread, *now, HEURT_EVENT_OFF_CPU, HEURT_OFF(off, HEURT_OFF_BLOCKED),
            HEURT_SITE(below(off), below(4)), 0);
    PUT(scene, thread, *now, HEURT_EVENT_LOCK_WAIT + 1, 0);
}

static void random_kernel(struct scene *scene, uint32_t thread, uint64_t *now)
{
    uint64_t ticks = 1 + below(100);
    *now += ticks;
    if (below(2))
        PUT(scene, thread, *now, HEURT_EVENT_OFF_CPU,
            HEURT_OFF(ticks, below(2) ? HEURT_OFF_PREEMPTED : HEURT_OFF_BLOCKED),
            HEURT_SITE(HEURT_NOT_KNOWN, below(4)), 0);
    else
        PUT(scene, thread, *now, HEURT_EVENT_FAULT, HEURT_OFF(ticks, HEURT_FAULT_MEASURED), 1, 0);
}

/* Calls in calls; some are jumped out of. */
static void random_calls(struct scene *scene, uint32_t thread, uint64_t *now, int depth)
{
    for (uint64_t i = below(5); i-- > 0;) {
        uint32_t id = RANDOM + 2 * (uint32_t)below(RANDOM_FUNCTIONS);
        *now += below(30);
        PUT(scene, thread, *now, id);
        *now += below(20);
        if (depth < 4 && below(3))
            random_calls(scene, thread, now, depth + 1);
        if (!below(4))
            random_wait(scene, thread, now);
        if (!below(4))
            random_kernel(scene, thread, now);
        if (!below(5))
            PUT(scene, thread, *now, HEURT_EVENT_LOCK_ACQUIRED, SITE, LOCK);
        *now += below(10);
        if (below(12))
            PUT(scene, thread, *now, id + 1);
    }
}

static void random_scene(struct scene *scene)
{
    for (uint32_t thread = 0; thread < 2; thread++) {
        uint64_t now = 2000;
        scene__start(scene, thread, 1000);
        PUT(scene, thread, 1500, HEURT_EVENT_KERNEL, 1);
        for (int i = 0; i < 12; i++) {
            PUT(scene, thread, now, WORK, 1, 2);
            random_calls(scene, thread, &now, 0);
            now += below(100);
            PUT(scene, thread, now, WORK + 1);
            now += below(10);
        }
        scene__end(scene, thread, now);
    }
    scene__profile(scene);
}

/* Those of patched functions have what recording adds taken off. */
static void parts_add_up_whatever_there_is(void **state)
{
    struct scene *scene = *state;
    scene__profile(scene); /* of nothing: it can be freed */
    for (unsigned seed = 1; seed <= 40; seed++) {
        srand(seed);
        difference__free(found);
        scene__teardown(state);
        scene__setup(state);
        scene__costs(scene, (uint32_t)below(8), (uint32_t)below(12));
        scene__function(scene, 0, WORK, 0x1000, "work", "n,bytes");
        for (uint32_t i = 0; i < RANDOM_FUNCTIONS; i++)
            scene__function(scene, 0, RANDOM + 2 * i, 0x5000 + 0x100 * i, i % 2 ? "odd" : "even",
                            "");
        found = NULL;
        random_scene(scene);
        const struct profile_class *class = scene__class(scene, CLASS_CALL, "work", 0, 0);
        if (compare(scene, CLASS_CALL, "work", &extremes) < 0)
            fail_msg("seed %u: %s", seed, error.text);
        assert_adds_up();
        assert_int_equal(found->sides[SIDE_SLOW].duration_ns, class->max_ns);
        assert_int_equal(found->sides[SIDE_FAST].duration_ns, class->min_ns);
        const struct difference_selection choice = {1 + below(4), 0, below(4)};
        if (compare(scene, CLASS_CALL, "work", &choice) < 0)
            fail_msg("seed %u: %s", seed, error.text);
        assert_adds_up();
        assert_true(found->rows.count > 1);
        assert_true(found->sides[SIDE_SLOW].duration_ns >= found->sides[SIDE_FAST].duration_ns);
    }
}

/* Iterations of a loop, which are no occurrences: what is between calls is theirs. */
static void iterations_add_up_too(void **state)
{
    struct iterations *iterations;
    struct scene *scene = *state;
    uint64_t now = 2000;
    srand(5);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1500, HEURT_EVENT_KERNEL, 1);
    for (int i = 0; i < 50; i++) {
        PUT(scene, 0, now, STEP);
        now += 20 + below(5);
        PUT(scene, 0, now, STEP + 1);
        random_kernel(scene, 0, &now);
        now += 3;
        PUT(scene, 0, now, HELP);
        random_kernel(scene, 0, &now);
        PUT(scene, 0, now, HELP + 1);
        now += 2;
    }
    scene__end(scene, 0, now);
    scene__profile(scene);
    assert_int_equal(
        run__one(scene->trace, NULL, &iterations_analysis, NULL, (void **)&iterations, &error), 0);
    assert_int_equal(iterations->phases.count, 1);
    const struct iteration_phase *phase = iterations->phases.items;
    assert_int_equal(difference__of_iterations(scene->trace, phase, &extremes, &found, &error), 0);
    assert_int_equal(found->count, 50);
    assert_int_equal(found->sides[SIDE_SLOW].duration_ns, phase->max_ns);
    assert_int_equal(found->sides[SIDE_FAST].duration_ns, phase->min_ns);
    assert_adds_up();
    iterations__free(iterations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_lock_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(who_ended_the_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(preempted, setup, teardown),
        cmocka_unit_test_setup_teardown(one_with_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(all_took_as_long, setup, teardown),
        cmocka_unit_test_setup_teardown(at_a_time, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_to_compare_with, setup, teardown),
        cmocka_unit_test_setup_teardown(places_in_the_structure, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_add_up_whatever_there_is, setup, teardown),
        cmocka_unit_test_setup_teardown(iterations_add_up_too, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
