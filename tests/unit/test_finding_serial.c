/* test_finding_serial.c: threads that are waited for one after another, in the order of their
 * starts, or made for little work; one that works alone between parallel regions. A tick is a
 * nanosecond. */
#include "analysis/findings/findings.h"
#include "analysis/openmp/openmp.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define LEFT | 1

enum { START = 0x9a00, JOIN_SITE = 0x9b00, REGION = 0x9c01, SMOOTH = 0x9d00 };

/* On 2 CPUs. */
static struct findings *find(struct scene *scene)
{
    assert_int_equal(trace_writer__meta(scene->writer, "cpus", "2"), 0);
    const struct profile *profile = scene__profile(scene);
    symbols__put(scene->symbols, 0, JOIN_SITE, &(struct symbol){.function = "load"});
    return findings__find(scene->trace, scene->symbols, profile);
}

/* Three threads of 2 ms each, waited for by the first; apart: no two of them live at a time. */
static struct findings *find_lives(struct scene *scene, bool apart)
{
    const uint64_t life = 2000000, start = 1000;
    uint64_t end = start + 3 * life;
    scene__start(scene, 0, start);
    PUT(scene, 0, start + 10, HEURT_EVENT_JOIN, JOIN_SITE, 1);
    PUT(scene, 0, end - 10, HEURT_EVENT_JOIN LEFT, 0);
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t from = start + i * life, until = from + life;
        PUT(scene, i + 1, apart ? from : start, HEURT_EVENT_THREAD_START, 1, 0, START);
        PUT(scene, i + 1, apart ? until : end, HEURT_EVENT_THREAD_END, life, 0);
    }
    PUT(scene, 0, end, HEURT_EVENT_THREAD_END, 20, 0);
    scene->end = (struct heurt_clock_pair){end, end};
    return find(scene);
}

static void threads_that_live_one_after_another_are_one_finding(void **state)
{
    struct findings *findings = find_lives(*state, true);
    const struct finding *first = VEC_AT(&findings->rows, struct finding, 0);
    assert_int_equal(first->category, FINDING_JOIN);
    assert_true(first->join_order == JOIN_SERIAL && first->ranked && first->is_assumed);
    assert_int_equal(first->lost_ns, 3000000); /* two CPUs do it in half of the time */
    assert_string_equal(first->place->function, "load");
    assert_true(first->wall_gain[0] < 2 && first->wall_gain[1] > 2);
    findings__free(findings);
}

static void threads_that_live_side_by_side_are_none(void **state)
{
    struct findings *findings = find_lives(*state, false);
    VEC_EACH (finding, &findings->rows, struct finding)
        assert_int_equal(finding->join_order, JOIN_ANY);
    findings__free(findings);
}

/* Three processes of 2 ms each, which the first one forks and waits for; runs: each becomes another
 * program, as a shell's children do. */
static bool is_told_of_processes(struct scene *scene, bool runs)
{
    const uint64_t life = 2000000, start = 1000, end = start + 3 * life;
    scene__process(scene, 0, 100, HEURT_NO_SERIAL);
    scene__start(scene, 0, start);
    PUT(scene, 0, start + 10, HEURT_EVENT_JOIN, JOIN_SITE, 1);
    PUT(scene, 0, end - 10, HEURT_EVENT_JOIN LEFT, 0);
    for (uint32_t i = 1; i <= 3; i++) {
        uint64_t from = start + (i - 1) * life;
        scene->process_of[i] = i;
        scene__process(scene, i, 100 + i, 0);
        if (runs)
            scene__program(scene, 10 + i, 100 + i, HEURT_NO_SERIAL, "/bin/other");
        PUT(scene, i, from, HEURT_EVENT_THREAD_START, 1, 0, START);
        PUT(scene, i, from + life, HEURT_EVENT_THREAD_END, life, 0);
    }
    PUT(scene, 0, end, HEURT_EVENT_THREAD_END, 20, 0);
    scene->end = (struct heurt_clock_pair){end, end};
    struct findings *findings = find(scene);
    bool is_told = false;
    VEC_EACH (finding, &findings->rows, struct finding)
        is_told |= finding->join_order == JOIN_SERIAL;
    findings__free(findings);
    return is_told;
}

static void processes_that_live_one_after_another_are_a_finding(void **state)
{
    assert_true(is_told_of_processes(*state, false));
}

/* What these need of those before them nobody knows. */
static void children_that_run_other_programs_are_none(void **state)
{
    assert_false(is_told_of_processes(*state, true));
}

/* Eight pairs of threads, of 4 and 1 ms, waited for by the first, and the next pair begins when the
 * younger one has ended, or the older one. */
static const struct finding *find_pairs(struct scene *scene, bool in_order,
                                        struct findings **findings)
{
    const uint64_t ms = 1000000, start = 1000;
    uint64_t from = start, end = start + 8 * 4 * ms;
    scene__start(scene, 0, start);
    PUT(scene, 0, start + 10, HEURT_EVENT_JOIN, JOIN_SITE, 1);
    PUT(scene, 0, end - 10, HEURT_EVENT_JOIN LEFT, 0);
    for (uint32_t i = 0; i < 8; i++, from += 4 * ms)
        for (uint32_t younger = 0; younger < 2; younger++) {
            uint32_t thread = 1 + 2 * i + (in_order ? younger : 1 - younger);
            uint64_t until = from + (younger ? ms : 4 * ms);
            PUT(scene, thread, from + thread, HEURT_EVENT_THREAD_START, 1, 0, START);
            PUT(scene, thread, until, HEURT_EVENT_THREAD_END, until - from, 0);
        }
    PUT(scene, 0, end, HEURT_EVENT_THREAD_END, 20, 0);
    scene->end = (struct heurt_clock_pair){end, end};
    *findings = find(scene);
    VEC_EACH (finding, &(*findings)->rows, struct finding)
        if (finding->join_order)
            return finding;
    return NULL;
}

static void threads_waited_for_in_order_while_others_are_done_are_one_finding(void **state)
{
    struct findings *findings;
    const struct finding *finding = find_pairs(*state, true, &findings);
    assert_non_null(finding);
    assert_int_equal(finding->join_order, JOIN_IN_ORDER);
    assert_in_range(finding->lost_ns, 10000000, 12000000); /* half of the 3 ms of seven pairs */
    assert_true(finding->ranked && finding->is_assumed);
    findings__free(findings);
}

static void it_is_not_the_order_when_the_oldest_has_ended(void **state)
{
    struct findings *findings;
    assert_null(find_pairs(*state, false, &findings));
    findings__free(findings);
}

/* 250 threads, one at a time, of 100 us each: with 10 us of work, or all of it. It takes 50 us to
 * make one. */
static struct findings *find_made(struct scene *scene, uint64_t work_ns)
{
    enum { MADE = 250, MAKING_NS = 50000, LIFE_NS = 100000 };
    const uint64_t start = 1000, end = start + MADE * (MAKING_NS + LIFE_NS);
    scene__start(scene, 0, start);
    for (uint32_t i = 0; i < MADE; i++) {
        uint64_t made = start + i * (MAKING_NS + LIFE_NS) + MAKING_NS;
        PUT(scene, 0, made, HEURT_EVENT_THREAD_CREATED, JOIN_SITE, 7 + i, MAKING_NS);
        PUT(scene, i + 1, made, HEURT_EVENT_THREAD_START, 7 + i, 0, START);
        PUT(scene, 0, made + 10, HEURT_EVENT_JOIN, JOIN_SITE, 7 + i);
        PUT(scene, i + 1, made + LIFE_NS, HEURT_EVENT_THREAD_END, work_ns, 0);
        PUT(scene, 0, made + LIFE_NS, HEURT_EVENT_JOIN LEFT, 0);
    }
    PUT(scene, 0, end, HEURT_EVENT_THREAD_END, 20, 0);
    scene->end = (struct heurt_clock_pair){end, end};
    return find(scene);
}

static const struct finding *creation_of(const struct findings *findings)
{
    VEC_EACH (finding, &findings->rows, struct finding)
        if (finding->category == FINDING_CREATION)
            return finding;
    return NULL;
}

/* What making them takes is lost as well as what they are waited for; their work is left. */
static void threads_that_are_made_for_little_are_a_finding(void **state)
{
    struct findings *findings = find_made(*state, 10000);
    const struct finding *creation = creation_of(findings);
    assert_non_null(creation);
    assert_true(creation->ranked);
    assert_in_range(creation->lost_ns, 34900000, 35000000); /* 37.5 ms, of which 2.5 are work */
    assert_true(creation->wall_gain[0] < 15 && creation->wall_gain[1] > 15);
    findings__free(findings);
}

/* Of 37.5 ms 25 are work, which somebody has to do; and those who do it have work, each a little.
 */
static void threads_that_are_made_for_work_cost_what_making_them_takes(void **state)
{
    struct findings *findings = find_made(*state, 100000);
    const struct finding *creation = creation_of(findings);
    assert_non_null(creation);
    assert_in_range(creation->lost_ns, 12400000, 12500000);
    assert_true(creation->wall_gain[0] < 1.5 && creation->wall_gain[1] > 1.5);
    assert_int_equal(findings->working_threads, 250);
    findings__free(findings);
}

/* ---- between parallel regions ---------------------------------------------------------------- */

#define MS UINT64_C(1000000)

/* A region of two threads for 10 ms, 100 ms in which its caller alone works, and the region again.
 */
static void call_regions(struct scene *scene, uint32_t caller, uint32_t worker, uint64_t from)
{
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t number = 2 * caller + i + 1, begin = from + i * 110 * MS, end = begin + 10 * MS;
        uint64_t site = HEURT_SITE(REGION, HEURT_OPENMP_REGION);
        uint64_t body = HEURT_SITE(REGION, HEURT_OPENMP_BODY);
        PUT(scene, caller, begin, HEURT_EVENT_OPENMP_BEGIN, site, number, 2);
        PUT(scene, caller, begin, HEURT_EVENT_OPENMP_BEGIN, body, number, 2);
        PUT(scene, worker, begin, HEURT_EVENT_OPENMP_BEGIN, body, number, (uint64_t)1 << 32 | 2);
        PUT(scene, caller, end, HEURT_EVENT_OPENMP_END, body, 0, 0, 0);
        PUT(scene, worker, end, HEURT_EVENT_OPENMP_END, body, 0, 0, 0);
        PUT(scene, caller, end, HEURT_EVENT_OPENMP_END, site, 0, 0, 0);
    }
    for (uint64_t at = from + 10 * MS; at < from + 110 * MS; at += MS) {
        struct heurt_sample sample = {.monotonic_ns = at,
                                      .instruction = SMOOTH,
                                      .pid = 100,
                                      .tid = 1000 + caller,
                                      .weight_ns = (uint32_t)MS};
        assert_int_equal(trace_writer__define(scene->writer, HEURT_NO_SERIAL,
                                              HEURT_DEFINITION_SAMPLES, &sample, sizeof sample),
                         0);
    }
}

/* So many threads call them, each so much later than the one before. run__free. */
static struct run find_callers(struct scene *scene, uint32_t callers, uint64_t later,
                               const char *cpus)
{
    const uint64_t start = 1000, end = start + (callers - 1) * later + 120 * MS;
    struct error error = {""};
    for (uint32_t i = 0; i < callers; i++) {
        uint64_t from = start + i * later;
        for (uint32_t thread = 2 * i; thread < 2 * i + 2; thread++)
            scene__start(scene, thread, from);
        call_regions(scene, 2 * i, 2 * i + 1, from);
        for (uint32_t thread = 2 * i; thread < 2 * i + 2; thread++)
            PUT(scene, thread, from + 120 * MS, HEURT_EVENT_THREAD_END, 120 * MS, 0);
    }
    scene->end = (struct heurt_clock_pair){end, end};
    assert_int_equal(trace_writer__meta(scene->writer, "cpus", cpus), 0);
    scene__profile(scene);
    symbols__put(scene->symbols, 0, SMOOTH, &(struct symbol){.function = "smooth"});
    struct run run = run__of(scene->trace, scene->symbols);
    run__ask(&run, &openmp_analysis, NULL);
    run__ask(&run, &findings_analysis, NULL);
    assert_int_equal(run__analyse(&run, &error), 0);
    return run;
}

static const struct finding *between_of(struct run *run)
{
    const struct findings *findings = run__result(run, &findings_analysis);
    VEC_EACH (finding, &findings->rows, struct finding)
        if (finding->is_between)
            return finding;
    return NULL;
}

/* Of 120 ms each 50 could be saved, whoever calls, if each caller has two CPUs. */
static void assert_half_is_saved(struct run run, uint64_t lost_ns)
{
    const struct finding *between = between_of(&run);
    assert_non_null(between);
    assert_string_equal(between->place->function, "smooth");
    assert_int_equal(between->lost_ns, lost_ns);
    assert_true(between->wall_gain[0] < 1.71 && between->wall_gain[1] > 1.71);
    assert_true(between->wall_gain[1] < 2.2);
    run__free(&run);
}

static void who_works_alone_between_regions_is_a_finding(void **state)
{
    assert_half_is_saved(find_callers(*state, 1, 0, "2"), 100 * MS);
}

static void callers_that_follow_each_other_save_all_the_same(void **state)
{
    assert_half_is_saved(find_callers(*state, 2, 120 * MS, "2"), 200 * MS);
}

/* What two save at a time is saved once. */
static void callers_side_by_side_save_together(void **state)
{
    assert_half_is_saved(find_callers(*state, 2, 0, "4"), 200 * MS);
}

static void callers_that_take_all_cpus_could_save_nothing(void **state)
{
    struct run run = find_callers(*state, 2, 0, "2");
    assert_null(between_of(&run));
    run__free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, scene__setup, scene__teardown)
        TEST(threads_that_live_one_after_another_are_one_finding),
        TEST(threads_that_live_side_by_side_are_none),
        TEST(processes_that_live_one_after_another_are_a_finding),
        TEST(children_that_run_other_programs_are_none),
        TEST(threads_waited_for_in_order_while_others_are_done_are_one_finding),
        TEST(it_is_not_the_order_when_the_oldest_has_ended),
        TEST(threads_that_are_made_for_little_are_a_finding),
        TEST(threads_that_are_made_for_work_cost_what_making_them_takes),
        TEST(who_works_alone_between_regions_is_a_finding),
        TEST(callers_that_follow_each_other_save_all_the_same),
        TEST(callers_side_by_side_save_together),
        TEST(callers_that_take_all_cpus_could_save_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
