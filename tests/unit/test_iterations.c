/* The program's iterations: loops with known iterations, and iterations that are slow for known
 * reasons. */
#include "analysis/analysis.h"
#include "analysis/iterations/iterations.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    FETCH = 1024,
    COMPUTE = 1026,
    STORE = 1028,
    MARK = 1030,
    MAIN = 1032,
};

#define SITE HEURT_SITE(0x7000, HEURT_LOCK_MUTEX)
#define LOCK 0x9000

static struct iterations *found;

static int setup(void **state)
{
    scene__setup(state);
    scene__function(*state, 0, FETCH, 0x1000, "fetch", "");
    scene__function(*state, 0, COMPUTE, 0x2000, "compute", "");
    scene__function(*state, 0, STORE, 0x3000, "store", "");
    scene__function(*state, 0, MAIN, 0x4000, "main", "");
    scene__marker(*state, 0, MARK, HEURT_FUNCTION_ITERATION, "step", "app.c", 9);
    found = NULL;
    return 0;
}

static int teardown(void **state)
{
    iterations__free(found);
    return scene__teardown(state);
}

/* ---- what threads do: each returns the tick behind it ---------------------------------------- */

static uint64_t call(struct scene *scene, uint32_t thread, uint32_t id, uint64_t at, uint64_t ticks)
{
    PUT(scene, thread, at, id);
    PUT(scene, thread, at + ticks, id + 1);
    return at + ticks + 1;
}

/* compute, of which it waits for the lock for so long. */
static uint64_t compute(struct scene *scene, uint32_t thread, uint64_t at, uint64_t ticks,
                        uint64_t wait)
{
    PUT(scene, thread, at, COMPUTE);
    if (wait) {
        PUT(scene, thread, at + 5, HEURT_EVENT_LOCK_WAIT, SITE, LOCK);
        PUT(scene, thread, at + 5 + wait, HEURT_EVENT_LOCK_WAIT + 1, 0);
    } else {
        PUT(scene, thread, at + 5, HEURT_EVENT_LOCK_ACQUIRED, SITE, LOCK);
    }
    PUT(scene, thread, at + ticks + wait, COMPUTE + 1);
    return at + ticks + wait + 1;
}

/* fetch for 10, compute for 80 and the wait: 91 and the wait, and 1 to the next one. */
static uint64_t iteration(struct scene *scene, uint32_t thread, uint64_t at, uint64_t wait)
{
    return compute(scene, thread, call(scene, thread, FETCH, at, 10), 80, wait);
}

static uint64_t iterations(struct scene *scene, uint32_t thread, uint64_t at, int count, int slow,
                           uint64_t wait)
{
    for (int i = 0; i < count; i++)
        at = iteration(scene, thread, at, i == slow ? wait : 0);
    return at;
}

static const struct iterations *find(struct scene *scene)
{
    struct error error;
    scene__profile(scene);
    assert_int_equal(
        run__one(scene->trace, NULL, &iterations_analysis, NULL, (void **)&found, &error), 0);
    return found;
}

static const struct iteration_phase *phase_at(size_t phase)
{
    assert_true(phase < found->phases.count);
    return VEC_AT(&found->phases, struct iteration_phase, phase);
}

static void assert_body(const struct iteration_phase *phase, const char *first, const char *second)
{
    assert_int_equal(phase->body.count, second ? 2 : 1);
    assert_string_equal(VEC_AT(&phase->body, struct class_definition, 0)->at.function, first);
    if (second)
        assert_string_equal(VEC_AT(&phase->body, struct class_definition, 1)->at.function, second);
}

static const struct iteration_outlier *outlier_at(const struct iteration_phase *phase, size_t place)
{
    assert_true(place < phase->outliers.count);
    return VEC_AT(&phase->outliers, struct iteration_outlier, place);
}

static void assert_parts_add_up(const struct iteration_outlier *outlier)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < COMPONENTS; i++)
        sum += outlier->component_more_ns[i];
    assert_int_equal(sum, outlier->more_ns);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void loops_in_a_row_are_phases(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    uint64_t at = iterations(scene, 0, 2000, 20, 7, 300), middle = at;
    for (int i = 0; i < 500; i++)
        at = call(scene, 0, STORE, at, 5);
    scene__end(scene, 0, at);
    find(scene);
    assert_int_equal(found->phases.count, 2);
    assert_int_equal(found->threads_without, 0);
    const struct iteration_phase *first = phase_at(0), *second = phase_at(1);
    assert_body(first, "fetch", "compute");
    assert_false(first->is_marked || first->is_matched || first->is_choice);
    assert_int_equal(first->iterations, 20);
    assert_int_equal(first->start_ns, 1000);
    assert_int_equal(first->end_ns, middle - 1 - 1000);
    assert_int_equal(first->min_ns, 91);
    assert_int_equal(first->median_ns, 91);
    assert_int_equal(first->max_ns, 391);
    assert_int_equal(first->p99_ns, 391);
    assert_int_equal(first->sum_ns, 20 * 91 + 300);
    assert_int_equal(first->excess_ns, 300);
    assert_true(first->score > 0.99 * 300.0 / (double)(at - 1000) &&
                first->score < 1.01 * 300.0 / (double)(at - 1000));
    assert_body(second, "store", NULL);
    assert_int_equal(second->iterations, 500);
    assert_int_equal(second->outliers.count, 0);
    assert_int_equal(second->outlier_count, 0);
}

static void a_wait_makes_a_iteration_stand_out(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__end(scene, 0, iterations(scene, 0, 2000, 20, 7, 300));
    find(scene);
    const struct iteration_phase *phase = phase_at(0);
    assert_int_equal(phase->outlier_count, 1);
    assert_int_equal(phase->outliers.count, 1);
    const struct iteration_outlier *outlier = outlier_at(phase, 0);
    assert_int_equal(outlier->iteration.index, 7);
    assert_int_equal(outlier->iteration.start_ns, 1000 + 7 * 92);
    assert_int_equal(outlier->iteration.duration_ns, 391);
    assert_int_equal(outlier->more_ns, 300);
    assert_int_equal(outlier->component_more_ns[COMPONENT_LOCK], 300);
    assert_int_equal(outlier->place.at.kind, CLASS_LOCK);
    assert_int_equal(outlier->place_more_ns, 300);
    assert_int_equal(outlier->place_more_calls, 0);
    assert_parts_add_up(outlier);
}

/* An iteration with more in it is of another shape, but stands between iterations of the loop; what
 * the kernel took is between calls. */
static void preempted_between_calls(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1001, HEURT_EVENT_KERNEL, 3);
    uint64_t at = iterations(scene, 0, 2000, 20, -1, 0);
    at = call(scene, 0, FETCH, at, 10);
    at += 700;
    PUT(scene, 0, at, HEURT_EVENT_OFF_CPU, HEURT_OFF(690, HEURT_OFF_PREEMPTED),
        HEURT_SITE(HEURT_NOT_KNOWN, 3), 0);
    at = compute(scene, 0, at, 80, 0);
    scene__end(scene, 0, iterations(scene, 0, at, 20, -1, 0));
    find(scene);
    const struct iteration_phase *phase = phase_at(0);
    assert_int_equal(phase->iterations, 41);
    assert_int_equal(phase->outliers.count, 1);
    const struct iteration_outlier *outlier = outlier_at(phase, 0);
    assert_int_equal(outlier->iteration.index, 20);
    assert_int_equal(outlier->more_ns, 700);
    assert_int_equal(outlier->component_more_ns[COMPONENT_RUNNABLE], 690);
    assert_int_equal(outlier->component_more_ns[COMPONENT_RUNNING], 10);
    assert_null(outlier->place.at.function);
    assert_int_equal(outlier->place_more_ns, 700);
    assert_parts_add_up(outlier);
}

/* What is around the loop has no end, and is no iteration. */
static void loops_in_open_calls(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1500, MAIN);
    uint64_t at = 2000;
    for (int i = 0; i < 30; i++) {
        for (int j = 0; j < 4; j++)
            at = call(scene, 0, FETCH, at, 10);
        at = compute(scene, 0, at, 200, i == 11 ? 1000 : 0);
    }
    scene__end(scene, 0, at);
    find(scene);
    assert_int_equal(found->phases.count, 1);
    assert_body(phase_at(0), "fetch", "compute");
    assert_int_equal(phase_at(0)->iterations, 30);
    assert_int_equal(outlier_at(phase_at(0), 0)->iteration.index, 11);
}

/* What is in a call makes no other loop: every third compute calls store, here and there twice. */
static void variants_are_one_loop(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    uint64_t at = 2000;
    for (int i = 0; i < 40; i++) {
        at = call(scene, 0, FETCH, at, 10);
        PUT(scene, 0, at, COMPUTE);
        for (int j = 0; j < (i % 3 == 0) + (i % 7 == 0); j++)
            call(scene, 0, STORE, at + 5 + 10 * (uint64_t)j, 5);
        at += i == 21 ? 300 : 50;
        PUT(scene, 0, at, COMPUTE + 1);
        at++;
    }
    scene__end(scene, 0, at);
    find(scene);
    assert_int_equal(found->phases.count, 1);
    assert_body(phase_at(0), "fetch", "compute");
    assert_int_equal(phase_at(0)->iterations, 40);
    assert_int_equal(phase_at(0)->outliers.count, 1);
    assert_int_equal(outlier_at(phase_at(0), 0)->iteration.index, 21);
    assert_int_equal(outlier_at(phase_at(0), 0)->more_ns, 250);
}

static void threads_in_step_are_one_phase(void **state)
{
    struct scene *scene = *state;
    for (uint32_t thread = 0; thread < 3; thread++)
        scene__start(scene, thread, 1000);
    uint64_t at = 2000;
    for (int i = 0; i < 10; i++, at += 1000)
        for (uint32_t thread = 0; thread < 3; thread++)
            compute(scene, thread, call(scene, thread, FETCH, at + thread, 10),
                    thread == 1 && i == 4 ? 900 : 700, 0);
    for (uint32_t thread = 0; thread < 3; thread++)
        scene__end(scene, thread, at);
    find(scene);
    assert_int_equal(found->phases.count, 1);
    const struct iteration_phase *phase = phase_at(0);
    assert_true(phase->is_matched);
    assert_false(phase->is_sample);
    assert_int_equal(phase->threads.count, 3);
    assert_int_equal(phase->iterations, 10);
    assert_int_equal(phase->min_ns, 713);
    assert_int_equal(phase->max_ns, 912);
    assert_int_equal(phase->excess_ns, 200);
    /* The longest less the mean: only of iteration 4 not nothing. */
    assert_int_equal(phase->imbalance_ns, 911 - (911 + 2 * 711) / 3);
    assert_int_equal(phase->outliers.count, 1);
    const struct iteration_outlier *outlier = outlier_at(phase, 0);
    assert_int_equal(outlier->iteration.index, 4);
    assert_int_equal(outlier->iteration.thread, 1);
    assert_int_equal(outlier->more_ns, 200);
    assert_string_equal(outlier->place.at.function, "compute");
    assert_parts_add_up(outlier);
}

/* As often, but not at the same time. */
static void threads_out_of_step_are_not_matched(void **state)
{
    struct scene *scene = *state;
    for (uint32_t thread = 0; thread < 2; thread++) {
        scene__start(scene, thread, 1000);
        scene__end(scene, thread, iterations(scene, thread, 2000 + 2000 * thread, 20, -1, 0));
    }
    find(scene);
    assert_int_equal(found->phases.count, 1);
    assert_false(phase_at(0)->is_matched);
    assert_int_equal(phase_at(0)->iterations, 40);
    assert_int_equal(phase_at(0)->threads.count, 2);
}

static void marks_win(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    uint64_t at = 2000;
    for (int i = 0; i < 6; i++) {
        PUT(scene, 0, at, MARK);
        at = iterations(scene, 0, at + 1, 10, 3, i == 2 ? 4000 : 0);
        PUT(scene, 0, at, MARK + 1);
        at++;
    }
    scene__end(scene, 0, at);
    find(scene);
    assert_int_equal(found->phases.count, 1);
    const struct iteration_phase *phase = phase_at(0);
    assert_true(phase->is_marked);
    assert_body(phase, "step", NULL);
    assert_int_equal(phase->iterations, 6);
    assert_int_equal(phase->outliers.count, 1);
    assert_int_equal(outlier_at(phase, 0)->iteration.index, 2);
    assert_int_equal(outlier_at(phase, 0)->more_ns, 4000);
    assert_int_equal(outlier_at(phase, 0)->place.at.kind, CLASS_LOCK);
}

/* A server: what it does between its waits depends on what came. The wait is no part of an
 * iteration. */
static void serve(struct scene *scene, bool by_events)
{
    static const uint64_t poll_site = HEURT_SITE(0x8000, HEURT_IO_EPOLL_WAIT);
    static const uint64_t sleep_site = HEURT_SITE(0x8000, HEURT_SLEEP_NANOSLEEP);
    scene__start(scene, 0, 1000);
    uint64_t at = 2000;
    srand(3);
    for (int i = 0; i < 200; i++) {
        if (by_events)
            PUT(scene, 0, at, HEURT_EVENT_IO, poll_site, 3 | (uint64_t)HEURT_DESCRIPTOR_OTHER << 32,
                0);
        else
            PUT(scene, 0, at, HEURT_EVENT_SLEEP, sleep_site, 30);
        at += 30 + (uint64_t)(rand() % 400);
        if (by_events)
            PUT(scene, 0, at, HEURT_EVENT_IO + 1, 1);
        else
            scene__put(scene, 0, at, HEURT_EVENT_SLEEP + 1, (uint64_t[]){0}, 1);
        uint64_t end = at + 100;
        for (int j = 1 + rand() % 4; j > 0; j--) {
            uint32_t id = rand() % 2 ? FETCH : STORE;
            at = call(scene, 0, id, at + 1, 5 + (uint64_t)(rand() % 10));
        }
        at = i == 77 ? end + 900 : end;
    }
    scene__end(scene, 0, at);
}

static void assert_served(const char *wait)
{
    assert_int_equal(found->phases.count, 1);
    const struct iteration_phase *phase = phase_at(0);
    assert_true(phase->is_between_waits);
    assert_body(phase, wait, NULL);
    assert_int_equal(phase->iterations, 199); /* no wait is behind the last */
    assert_int_equal(phase->min_ns, 100);
    assert_int_equal(phase->median_ns, 100);
    assert_int_equal(phase->outliers.count, 1);
    assert_int_equal(outlier_at(phase, 0)->iteration.index, 77);
    assert_int_equal(outlier_at(phase, 0)->more_ns, 900);
    assert_parts_add_up(outlier_at(phase, 0));
}

static void work_between_events(void **state)
{
    serve(*state, true);
    find(*state);
    assert_served("epoll_wait");
}

static void work_between_sleeps(void **state)
{
    serve(*state, false);
    find(*state);
    assert_served("nanosleep");
}

/* Work between waits at one place encloses that between waits at the other, and is not added to it.
 */
static void waits_at_two_places_are_no_loop_of_both(void **state)
{
    struct scene *scene = *state;
    static const uint64_t sites[] = {HEURT_SITE(0x8000, HEURT_SLEEP_NANOSLEEP),
                                     HEURT_SITE(0x8100, HEURT_SLEEP_NANOSLEEP)};
    scene__start(scene, 0, 1000);
    uint64_t at = 2000;
    srand(3);
    for (int i = 0; i < 400; i++) {
        PUT(scene, 0, at, HEURT_EVENT_SLEEP, sites[i % 2], 30);
        scene__put(scene, 0, at + 30, HEURT_EVENT_SLEEP + 1, (uint64_t[]){0}, 1);
        uint64_t end = at + 200;
        at += 40;
        for (int j = 1 + rand() % 4; j > 0; j--)
            at = call(scene, 0, rand() % 2 ? FETCH : STORE, at + 1, 5 + (uint64_t)(rand() % 10));
        at = end;
    }
    scene__end(scene, 0, at);
    find(scene);
    assert_int_equal(found->phases.count, 1);
    assert_true(phase_at(0)->is_between_waits);
    assert_int_equal(phase_at(0)->iterations, 199);
    assert_true(phase_at(0)->share < 1);
}

/* More iterations than are kept one by one. */
static void many_iterations(void **state)
{
    struct scene *scene = *state;
    const int count = 4 * (int)ITERATIONS_EXACT + 17;
    scene__start(scene, 0, 1000);
    uint64_t at = iterations(scene, 0, 2000, count, 12345, 5000);
    scene__end(scene, 0, at);
    find(scene);
    const struct iteration_phase *phase = phase_at(0);
    assert_int_equal(phase->iterations, count);
    assert_int_equal(phase->min_ns, 91);
    assert_int_equal(phase->max_ns, 5091);
    assert_int_equal(phase->sum_ns, (uint64_t)count * 91 + 5000);
    assert_in_range(phase->median_ns, 80, 103);
    assert_int_equal(phase->outlier_count, 1);
    assert_int_equal(outlier_at(phase, 0)->iteration.index, 12345);
    assert_int_equal(outlier_at(phase, 0)->component_more_ns[COMPONENT_LOCK], 5000);
    assert_true(phase->kept.count <= ITERATIONS_EXACT + ITERATIONS_OUTLIERS);
    uint64_t longest = 0;
    for (unsigned i = 0; i < ITERATIONS_STRIP; i++)
        longest = phase->strip[i].longest_ns > longest ? phase->strip[i].longest_ns : longest;
    assert_int_equal(longest, 5091);
}

/* ---- whatever the program is ----------------------------------------------------------------- */

static uint64_t below(uint64_t bound)
{
    return (uint64_t)rand() % bound;
}

/* An iteration of a program: its calls in a row, some of which call others, more or fewer of them.
 */
struct program {
    int calls;
    uint32_t ids[5];
    uint64_t ticks[5];
    bool varies[5]; /* it calls store, as often as chance wants */
};

static struct program random_program(void)
{
    static const uint32_t ids[] = {FETCH, COMPUTE, MAIN};
    struct program program = {.calls = 1 + (int)below(5)};
    for (int i = 0; i < program.calls; i++) {
        program.ids[i] = ids[below(3)];
        program.ticks[i] = 40 + below(100);
        program.varies[i] = below(2);
    }
    return program;
}

/* Returns the tick behind it. more: one of its calls takes so much longer. */
static uint64_t random_iteration(struct scene *scene, const struct program *program, uint64_t at,
                                 uint64_t more)
{
    int slow = (int)below((uint64_t)program->calls);
    for (int i = 0; i < program->calls; i++) {
        uint64_t end = at + program->ticks[i] + (i == slow ? more : 0);
        PUT(scene, 0, at, program->ids[i]);
        for (uint64_t j = program->varies[i] ? below(4) : 0; j > 0; j--)
            call(scene, 0, STORE, at + 8 * j, 5);
        PUT(scene, 0, end, program->ids[i] + 1);
        at = end + 1;
    }
    return at;
}

/* Slow iterations at random places of random programs: all of them stand out, and no other. */
static void slow_iterations_are_found(void **state)
{
    struct scene *scene = *state;
    scene__profile(scene); /* of nothing: it can be freed */
    for (unsigned seed = 1; seed <= 60; seed++) {
        bool is_slow[300] = {false};
        iterations__free(found);
        scene__teardown(state);
        setup(state);
        srand(seed);
        const struct program program = random_program();
        size_t slow = below(12);
        uint64_t at = 2000;
        for (size_t i = 0; i < slow; i++)
            is_slow[below(300)] = true;
        scene__start(scene, 0, 1000);
        for (size_t i = 0; i < 300; i++)
            at = random_iteration(scene, &program, at, is_slow[i] ? 1000 + below(2000) : 0);
        scene__end(scene, 0, at);
        find(scene);
        assert_int_equal(found->phases.count, 1);
        const struct iteration_phase *phase = phase_at(0);
        /* A body that is itself a repetition has more iterations: then each is one of its calls. */
        size_t expected = 0;
        for (size_t i = 0; i < 300; i++)
            expected += is_slow[i];
        assert_int_equal(phase->iterations % 300, 0);
        if (phase->outliers.count != expected || phase->outlier_count != expected)
            fail_msg("seed %u: %zu of %zu", seed, phase->outliers.count, expected);
        VEC_EACH (outlier, &phase->outliers, struct iteration_outlier) {
            /* Where a body ends as it begins, its last calls and the next one's first are one row,
             * which belongs to either. */
            size_t index = outlier->iteration.index / (phase->iterations / 300);
            assert_true(is_slow[index] || (index < 299 && is_slow[index + 1]) ||
                        (index && is_slow[index - 1]));
            assert_parts_add_up(outlier);
            assert_true(outlier->place_more_ns >= 800); /* the usual one may be a longer call */
        }
    }
}

/* Calls at random: whatever is taken for iterations, no moment is in two phases, and what phases
 * tell of iterations agrees. */
static void phases_do_not_overlap(void **state)
{
    static const uint32_t ids[] = {FETCH, COMPUTE, STORE, MAIN};
    struct scene *scene = *state;
    scene__profile(scene);
    for (unsigned seed = 1; seed <= 40; seed++) {
        iterations__free(found);
        scene__teardown(state);
        setup(state);
        srand(seed);
        uint64_t at = 2000;
        uint32_t open[6];
        int depth = 0;
        scene__start(scene, 0, 1000);
        for (int i = 0; i < 3000; i++, at += 1 + below(9)) {
            if (depth && (depth == 6 || below(2))) {
                PUT(scene, 0, at, open[--depth] + 1);
            } else {
                open[depth] = ids[below(1 + seed % 4)];
                PUT(scene, 0, at, open[depth++]);
            }
        }
        scene__end(scene, 0, at);
        find(scene);
        uint64_t sum_ns = 0;
        VEC_EACH (phase, &found->phases, struct iteration_phase) {
            sum_ns += phase->sum_ns;
            assert_int_equal(phase->kept.count, phase->iterations);
            assert_true(phase->iterations >= 3);
            assert_true(phase->min_ns <= phase->median_ns && phase->median_ns <= phase->p99_ns &&
                        phase->p99_ns <= phase->max_ns);
            VEC_EACH (outlier, &phase->outliers, struct iteration_outlier)
                assert_parts_add_up(outlier);
        }
        assert_true(sum_ns <= 2 * (at - 1000)); /* a loop may be in another for less than half */
    }
}

static void no_loop_no_iterations(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    uint64_t at = iterations(scene, 0, 2000, 2, -1, 0);
    scene__end(scene, 0, call(scene, 0, STORE, at, 50));
    find(scene);
    assert_int_equal(found->phases.count, 0);
    assert_int_equal(found->threads_without, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(loops_in_a_row_are_phases, setup, teardown),
        cmocka_unit_test_setup_teardown(a_wait_makes_a_iteration_stand_out, setup, teardown),
        cmocka_unit_test_setup_teardown(preempted_between_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(loops_in_open_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(variants_are_one_loop, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_in_step_are_one_phase, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_out_of_step_are_not_matched, setup, teardown),
        cmocka_unit_test_setup_teardown(marks_win, setup, teardown),
        cmocka_unit_test_setup_teardown(work_between_events, setup, teardown),
        cmocka_unit_test_setup_teardown(work_between_sleeps, setup, teardown),
        cmocka_unit_test_setup_teardown(waits_at_two_places_are_no_loop_of_both, setup, teardown),
        cmocka_unit_test_setup_teardown(many_iterations, setup, teardown),
        cmocka_unit_test_setup_teardown(slow_iterations_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(phases_do_not_overlap, setup, teardown),
        cmocka_unit_test_setup_teardown(no_loop_no_iterations, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
