/* test_finding_kinds.c: kinds of findings that test_findings.c does not have: handlers of signals,
 * syncs, locks that nobody has. A tick is a nanosecond. */
#include "findings_of.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define LEFT | 1

enum { HANDLER = 1024, WORK = 1026, HANDLER_AT = 0x5000, WORK_AT = 0x5100, RETURN = 0x5200 };
enum { SITE = 0x9a00, LOCK = 0x7000, CALLS = 300 };

static struct findings *find(struct scene *scene)
{
    const struct profile *profile = scene__profile(scene);
    return findings__find(scene->trace, scene->symbols, profile);
}

/* ---- handlers of signals --------------------------------------------------------------------- */

static void put_handler(struct scene *scene, uint64_t from, uint64_t to, bool by_signal)
{
    const uint64_t frames[] = {HANDLER_AT, by_signal ? RETURN : WORK_AT, WORK_AT};
    PUT(scene, 0, from, HEURT_EVENT_STACK, 8, 1, 2, 3, 4, 5, 6, 7, 8);
    symbols__put_stack(scene->symbols, 0, from, frames, 3);
    PUT(scene, 0, from + 1, HANDLER);
    PUT(scene, 0, to, HANDLER LEFT);
}

/* A thread of 1,000 ns of which four calls of one function take 400. */
static struct findings *find_handler(struct scene *scene, bool by_signal)
{
    scene__function(scene, 0, HANDLER, HANDLER_AT, "on_tick", "");
    scene__start(scene, 0, 1000);
    symbols__put(scene->symbols, 0, HANDLER_AT, &(struct symbol){.function = "on_tick"});
    symbols__put(scene->symbols, 0, WORK_AT, &(struct symbol){.function = "work"});
    symbols__put(scene->symbols, 0, RETURN, &(struct symbol){.function = SYMBOL_SIGNAL_RETURN});
    for (uint64_t i = 0; i < 4; i++)
        put_handler(scene, 1000 + 200 * i, 1101 + 200 * i, by_signal);
    PUT(scene, 0, 2000, HEURT_EVENT_THREAD_END, 1000, 0);
    scene->end = (struct heurt_clock_pair){2000, 2000};
    return find(scene);
}

static void what_runs_in_a_handler_interrupts_its_thread(void **state)
{
    struct findings *findings = find_handler(*state, true);
    const struct finding *finding = find_kind(findings, FINDING_SIGNAL);
    assert_non_null(finding);
    assert_int_equal(finding->lost_ns, 400);
    assert_string_equal(finding->place->function, "on_tick");
    assert_true(finding->is_assumed);
    assert_true(finding->ranked);
    findings__free(findings);
}

static void what_the_program_calls_itself_is_no_handler(void **state)
{
    struct findings *findings = find_handler(*state, false);
    assert_null(find_kind(findings, FINDING_SIGNAL));
    findings__free(findings);
}

/* ---- syncs ----------------------------------------------------------------------------------- */

/* So many calls at a file, each of 20 ns off the CPU. */
static struct findings *find_calls(struct scene *scene, enum heurt_io call)
{
    scene__start(scene, 0, 1000);
    for (uint64_t i = 0; i < CALLS; i++) {
        uint64_t from = 1000 + 24 * i;
        PUT(scene, 0, from, HEURT_EVENT_IO, HEURT_SITE(SITE, call),
            3 | (uint64_t)HEURT_DESCRIPTOR_FILE << 32, 0);
        PUT(scene, 0, from + 20, HEURT_EVENT_IO LEFT, 0);
    }
    PUT(scene, 0, 1000 + 24 * CALLS, HEURT_EVENT_THREAD_END, 4 * CALLS, 0);
    symbols__put(scene->symbols, 0, SITE, &(struct symbol){.function = "commit"});
    scene->end = (struct heurt_clock_pair){1000 + 24 * CALLS, 1000 + 24 * CALLS};
    return find(scene);
}

/* All take as long: against the fastest nothing is lost, against none all is. */
static void a_sync_is_compared_with_none(void **state)
{
    struct findings *findings = find_calls(*state, HEURT_IO_FSYNC);
    const struct finding *finding = find_kind(findings, FINDING_DISK);
    assert_non_null(finding);
    assert_int_equal(finding->lost_ns, 20 * CALLS);
    findings__free(findings);
}

static void a_write_is_compared_with_the_fastest(void **state)
{
    struct findings *findings = find_calls(*state, HEURT_IO_WRITE);
    assert_null(find_kind(findings, FINDING_DISK));
    findings__free(findings);
}

/* ---- locks that nobody has ------------------------------------------------------------------- */

/* Thread 0 gives the lock up at once; thread 1, which waits, goes on 300 ns later. */
static void who_waits_for_a_lock_that_nobody_has_is_told(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t from = 1000 + 600 * i;
        PUT(scene, 0, from, HEURT_EVENT_LOCK_ACQUIRED, SITE, LOCK);
        PUT(scene, 1, from + 10, HEURT_EVENT_LOCK_WAIT, SITE, LOCK);
        PUT(scene, 0, from + 110, HEURT_EVENT_LOCK_RELEASED, SITE, LOCK);
        PUT(scene, 1, from + 410, HEURT_EVENT_LOCK_WAIT LEFT, 0);
        PUT(scene, 1, from + 420, HEURT_EVENT_LOCK_RELEASED, SITE, LOCK);
    }
    scene__end(scene, 0, 3000);
    scene__end(scene, 1, 3000);
    symbols__put(scene->symbols, 0, SITE, &(struct symbol){.function = "update"});
    struct findings *findings = find(scene);
    const struct finding *finding = find_kind(findings, FINDING_LOCK);
    assert_non_null(finding);
    assert_int_equal(finding->counts.waits, 3);
    assert_int_equal(finding->counts.wait_ns, 1200);
    assert_int_equal(finding->counts.blamed_ns + finding->counts.unheld_ns, 1200);
    assert_true(finding->counts.unheld_ns >= 900);
    findings__free(findings);
}

/* ---- waits that run out of time -------------------------------------------------------------- */

/* One waits until another has done something, which four times waits in vain meanwhile, for 60 of
 * 100: and works in between, or hardly. The one tells the other of something, once, or never. */
static const struct finding *find_timed_out(struct scene *scene, bool works, bool tells,
                                            struct findings **findings)
{
    enum { MUTEX = 0x7100, COME = 0x7200, DONE = 0x7300, TAKE = 0x9b00, WAIT = 0x9c00 };
    if (tells)
        PUT(scene, 0, 999, HEURT_EVENT_CONDITION_SIGNALLED, SITE, COME);
    for (uint64_t from = 1000; from < 5000; from += 400) {
        PUT(scene, 0, from, HEURT_EVENT_CONDITION_WAIT, WAIT, DONE, MUTEX);
        for (uint64_t at = from; at < from + 400; at += 100) {
            PUT(scene, 1, at + 1, HEURT_EVENT_CONDITION_WAIT, TAKE, COME, MUTEX);
            PUT(scene, 1, at + (works ? 61 : 98), HEURT_EVENT_CONDITION_WAIT LEFT, 110);
        }
        PUT(scene, 1, from + 398, HEURT_EVENT_CONDITION_SIGNALLED, SITE, DONE);
        PUT(scene, 0, from + 399, HEURT_EVENT_CONDITION_WAIT LEFT, 0);
    }
    scene__end(scene, 0, 5000);
    scene__end(scene, 1, 5000);
    scene->end = (struct heurt_clock_pair){5000, 5000};
    *findings = find(scene);
    return find_kind(*findings, FINDING_CONDITION);
}

static void who_works_between_waits_in_vain_while_others_wait_for_that_is_not_idle(void **state)
{
    struct findings *findings;
    const struct finding *finding = find_timed_out(*state, true, false, &findings);
    assert_non_null(finding);
    assert_true(finding->ranked);
    assert_int_equal(finding->lost_ns, 10 * 4 * 60);
    findings__free(findings);
}

static void who_only_looks_now_and_then_is_idle(void **state)
{
    struct findings *findings;
    assert_null(find_timed_out(*state, false, false, &findings));
    findings__free(findings);
}

static void who_is_told_of_work_and_waits_in_vain_is_not_idle_however_little_it_is(void **state)
{
    struct findings *findings;
    const struct finding *finding = find_timed_out(*state, false, true, &findings);
    assert_non_null(finding);
    assert_true(finding->ranked);
    findings__free(findings);
}

/* ---- what is made of futexes ----------------------------------------------------------------- */

/* Two threads wait at a futex each, for what the other one does next. They are woken where the
 * other one waits, or at another place, LIBRARY: of which nothing is known; or by a third thread.
 */
enum woken { WHERE_IT_WAITS, ELSEWHERE, LIBRARY, BY_A_THIRD };

static struct findings *find_futexes(struct scene *scene, enum woken woken)
{
    enum { GIVE = 0x9b00, TAKE = 0x9c00, WAKE = 0x9e00, FULL = 0x7200, EMPTY = 0x7300 };
    symbols__put(scene->symbols, 0, GIVE, &(struct symbol){.function = "give"});
    symbols__put(scene->symbols, 0, TAKE, &(struct symbol){.function = "take"});
    for (uint64_t i = 0, from = 1000; i < 20; i++, from += 200) {
        uint64_t at[] = {from, from + 100}, waits[] = {GIVE, TAKE}, wakes[] = {TAKE, GIVE};
        for (uint32_t thread = 0; thread < 2; thread++) {
            uint64_t object = thread ? EMPTY : FULL;
            PUT(scene, thread, at[thread] + 10, HEURT_EVENT_FUTEX_WAIT, waits[thread], object);
            PUT(scene, woken == BY_A_THIRD ? 2 : 1 - thread, at[thread] + 90,
                HEURT_EVENT_FUTEX_WOKEN,
                woken == LIBRARY          ? WAKE
                : woken == WHERE_IT_WAITS ? wakes[thread]
                                          : waits[thread],
                object);
            PUT(scene, thread, at[thread] + 92, HEURT_EVENT_FUTEX_WAIT LEFT, 0);
        }
    }
    for (uint32_t thread = 0; thread < (woken == BY_A_THIRD ? 3 : 2); thread++)
        scene__end(scene, thread, 5000);
    scene->end = (struct heurt_clock_pair){5000, 5000};
    return find(scene);
}

static void two_ends_made_of_futexes_are_one_finding(void **state)
{
    struct findings *findings = find_futexes(*state, WHERE_IT_WAITS);
    const struct finding *finding = find_kind(findings, FINDING_CONDITION);
    assert_non_null(finding);
    assert_int_equal(finding->classes.count, 2);
    assert_int_equal(finding->objects, 2);
    assert_true(finding->is_assumed);
    findings__free(findings);
}

static void so_are_two_threads_that_wake_each_other_by_a_library(void **state)
{
    struct findings *findings = find_futexes(*state, LIBRARY);
    const struct finding *finding = find_kind(findings, FINDING_CONDITION);
    assert_non_null(finding);
    assert_int_equal(finding->classes.count, 2);
    findings__free(findings);
}

static void so_are_two_threads_that_wake_each_other_from_other_places(void **state)
{
    struct findings *findings = find_futexes(*state, ELSEWHERE);
    const struct finding *finding = find_kind(findings, FINDING_CONDITION);
    assert_non_null(finding);
    assert_int_equal(finding->classes.count, 2);
    findings__free(findings);
}

static void who_is_woken_by_a_third_has_no_other_end(void **state)
{
    struct findings *findings = find_futexes(*state, BY_A_THIRD);
    VEC_EACH (finding, &findings->rows, struct finding)
        if (finding->category == FINDING_CONDITION)
            assert_int_equal(finding->classes.count, 1);
    findings__free(findings);
}

/* The wait itself is in a function of the library's; who called it is in the stack. */
/* A thread waits by a futex in a library's function, which a library's function calls for live. */
static struct findings *find_futex(struct scene *scene, const char *library, const char *waits,
                                   const char *caller)
{
    enum { WAIT = 0x9d00, CALLER = 0x9d10, FUTEX = 0x7400 };
    static const struct symbol live = {.function = "live"};
    const uint64_t frames[] = {WAIT, CALLER};
    symbols__put(scene->symbols, 0, WAIT, &(struct symbol){.function = waits, .module = library});
    symbols__put(scene->symbols, 0, CALLER,
                 &(struct symbol){.function = caller, .module = library, .inlined_by = &live});
    symbols__put_stack(scene->symbols, 0, 1000, frames, 2);
    for (uint64_t from = 1000; from < 5000; from += 400) {
        PUT(scene, 0, from, HEURT_EVENT_STACK, 8, 1, 2, 3, 4, 5, 6, 7, 8);
        PUT(scene, 0, from + 1, HEURT_EVENT_FUTEX_WAIT, WAIT, FUTEX);
        PUT(scene, 1, from + 300, HEURT_EVENT_FUTEX_WOKEN, SITE, FUTEX);
        PUT(scene, 0, from + 302, HEURT_EVENT_FUTEX_WAIT LEFT, 0);
    }
    scene__end(scene, 0, 5000);
    scene__end(scene, 1, 5000);
    scene->end = (struct heurt_clock_pair){5000, 5000};
    return find(scene);
}

static void what_a_futex_is_for_stands_in_the_frames_around(void **state)
{
    struct findings *findings =
        find_futex(*state, "/usr/lib/libstdc++.so.6", "std::__detail::__platform_wait",
                   "std::__tree_barrier::wait");
    assert_non_null(find_kind(findings, FINDING_BARRIER));
    assert_null(find_kind(findings, FINDING_CONDITION));
    findings__free(findings);
}

static void who_waits_in_taskwait_waits_for_tasks(void **state)
{
    struct findings *findings =
        find_futex(*state, "/usr/lib/libgomp.so.1", "futex_wait", "GOMP_taskwait");
    assert_non_null(find_kind(findings, FINDING_TASK));
    assert_null(find_kind(findings, FINDING_CONDITION));
    findings__free(findings);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* Two threads are in the runtime for three quarters of the time in which they have a CPU. */
static void what_the_runtime_does_for_tasks_is_lost(void **state)
{
    enum { RUNTIME = 0x9f00, OWN = 0x9f80 };
    static const char *const library = "/usr/lib/libgomp.so.1";
    struct scene *scene = *state;
    for (uint32_t i = 0; i < 2; i++) {
        scene__samples(scene, i, RUNTIME, 1000, 4000);
        scene__samples(scene, i, OWN, 4000, 5000);
        scene__start(scene, i, 1000);
    }
    symbols__put(scene->symbols, 0, RUNTIME, &(struct symbol){.function = "a", .module = library});
    symbols__put(scene->symbols, 0, OWN, &(struct symbol){.function = "live", .module = "/app"});
    struct findings *findings = find_futex(scene, library, "futex_wait", "GOMP_taskwait");
    const struct finding *finding = NULL;
    VEC_EACH (row, &findings->rows, struct finding)
        if (row->category == FINDING_TASK && row->leader == FINDING_NO_CLASS)
            finding = row; /* the other one is the wait */
    assert_non_null(finding);
    assert_true(finding->ranked);
    assert_string_equal(finding->place->function, "live");
    assert_in_range(finding->lost_ns, 3700, 3800); /* three quarters of 990 and of 4000 */
    findings__free(findings);
}

/* ---- who asks again and again ---------------------------------------------------------------- */

/* One gives out a step of work and asks whether it is done; one asks for the next step. Of 1000 the
 * first works 50 and the second 550: 600, were they told. */
static void who_asks_again_and_again_could_be_told(void **state)
{
    enum { ASKS = 0x9b00, WAITS = 0x9c00, STEPS = 20, STEP = 1000, USLEEP = HEURT_SLEEP_USLEEP };
    struct scene *scene = *state;
    const uint64_t end = 1000 + STEPS * STEP, polls = USLEEP | HEURT_SLEEP_POLLS;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    for (uint64_t from = 1000; from < end; from += STEP) {
        PUT(scene, 0, from + 50, HEURT_EVENT_SLEEP, HEURT_SITE(ASKS, polls), 190);
        PUT(scene, 0, from + STEP - 1, HEURT_EVENT_SLEEP LEFT, 0);
        PUT(scene, 1, from + 600, HEURT_EVENT_SLEEP, HEURT_SITE(WAITS, polls), 190);
        PUT(scene, 1, from + STEP - 1, HEURT_EVENT_SLEEP LEFT, 0);
    }
    PUT(scene, 0, end, HEURT_EVENT_THREAD_END, STEPS * 50, 0);
    PUT(scene, 1, end, HEURT_EVENT_THREAD_END, STEPS * 550, 0);
    scene->end = (struct heurt_clock_pair){end, end};
    symbols__put(scene->symbols, 0, ASKS, &(struct symbol){.function = "await_done"});
    symbols__put(scene->symbols, 0, WAITS, &(struct symbol){.function = "await_step"});
    struct findings *findings = find(scene);
    const struct finding *finding = find_kind(findings, FINDING_POLLING);
    assert_non_null(finding);
    assert_true(finding->ranked);
    double gain = (finding->wall_gain[0] + finding->wall_gain[1]) / 2;
    assert_true(gain > 1.4 && gain < 2.0);
    findings__free(findings);
}

/* ---- woken for nothing ----------------------------------------------------------------------- */

/* Four wait for things that come one by one, each every 100; all are woken, wait 30 for a CPU, and
 * three of them find nothing: 600 times. */
static void who_is_woken_for_nothing_loses_what_it_waits_for_a_cpu(void **state)
{
    enum { TAKE = 0x9b00, GIVE = 0x9c00, COME = 0x7200, MUTEX = 0x7100, THINGS = 600 };
    struct scene *scene = *state;
    const uint64_t end = 1000 + THINGS * 100;
    for (uint32_t i = 0; i < 5; i++) {
        scene__start(scene, i, 1000);
        PUT(scene, i, 1000, HEURT_EVENT_KERNEL, 0);
    }
    for (uint64_t k = 0; k < THINGS; k++) {
        uint64_t from = 1000 + 100 * k;
        for (uint32_t i = 1; i < 5; i++)
            PUT(scene, i, from, HEURT_EVENT_CONDITION_WAIT, TAKE, COME, MUTEX);
        PUT(scene, 0, from + 20, HEURT_EVENT_CONDITION_SIGNALLED, GIVE, COME);
        for (uint32_t i = 1; i < 5; i++) {
            PUT(scene, i, from + 51, HEURT_EVENT_OFF_CPU, HEURT_OFF(50, HEURT_OFF_BLOCKED),
                HEURT_BACK(30, 1), 0);
            PUT(scene, i, from + 52, HEURT_EVENT_CONDITION_WAIT LEFT, 0);
            if (i == 1 + k % 4)
                PUT(scene, i, from + 53, HEURT_EVENT_LOCK_ACQUIRED, TAKE + 8, MUTEX);
        }
    }
    for (uint32_t i = 0; i < 5; i++)
        PUT(scene, i, end, HEURT_EVENT_THREAD_END, i ? THINGS * 25 : THINGS * 90, 0);
    scene->end = (struct heurt_clock_pair){end, end};
    symbols__put(scene->symbols, 0, TAKE, &(struct symbol){.function = "take"});
    symbols__put(scene->symbols, 0, TAKE + 8, &(struct symbol){.function = "take"});
    symbols__put(scene->symbols, 0, GIVE, &(struct symbol){.function = "give"});
    struct findings *findings = find(scene);
    const struct finding *herd = NULL;
    VEC_EACH (finding, &findings->rows, struct finding)
        herd = finding->in_vain > 0 ? finding : herd;
    assert_non_null(herd);
    assert_in_range(herd->lost_ns, 3 * THINGS * 30 * 9 / 10, 3 * THINGS * 30 * 11 / 10);
    findings__free(findings);
}

/* Eight threads of 20 ms, half of it in page faults: of one process, of programs of their own, or
 * of children of the first. */
static const struct finding *find_faults(struct scene *scene, bool are_apart, bool are_forked,
                                         struct findings **findings)
{
    enum { THREADS = 8 };
    const uint64_t ms = 1000000, end = 1000 + 20 * ms;
    for (uint32_t i = 0; i < THREADS; i++) {
        scene->process_of[i] = are_apart ? i : 0;
        if (are_apart || i == 0)
            scene__process(scene, i, 100 + i, are_forked && i ? 0 : HEURT_NO_SERIAL);
        scene__start(scene, i, 1000);
        PUT(scene, i, 1000, HEURT_EVENT_KERNEL, 0);
        for (uint64_t k = 1; k < 20; k += 2)
            PUT(scene, i, 1000 + (k + 1) * ms, HEURT_EVENT_OFF_CPU, HEURT_OFF(ms, HEURT_OFF_FAULT),
                HEURT_BACK(0, 1), 0);
        PUT(scene, i, end, HEURT_EVENT_THREAD_END, 20 * ms, 0);
    }
    scene->end = (struct heurt_clock_pair){end, end};
    *findings = find(scene);
    VEC_EACH (finding, &(*findings)->rows, struct finding)
        if (finding->category == FINDING_PAGE_FAULT)
            return finding;
    return NULL;
}

static void page_faults_of_a_process_are_a_finding(void **state)
{
    struct findings *findings;
    const struct finding *finding = find_faults(*state, false, false, &findings);
    assert_true(finding && finding->ranked && !finding->is_of_many && !finding->is_of_forked);
    findings__free(findings);
}

/* Each has to get its memory once. */
static void page_faults_of_many_programs_are_none(void **state)
{
    struct findings *findings;
    const struct finding *finding = find_faults(*state, true, false, &findings);
    assert_true(finding && !finding->ranked && finding->is_of_many);
    findings__free(findings);
}

static void forked_processes_may_be_fewer(void **state)
{
    struct findings *findings;
    const struct finding *finding = find_faults(*state, true, true, &findings);
    assert_true(finding && finding->ranked && finding->is_of_forked);
    findings__free(findings);
}

/* ---- work that is done again ----------------------------------------------------------------- */

enum { TRIES_AT = 0x5300, COMPUTES_AT = 0x5310, OTHER_AT = 0x5400 };

/* Two threads of 1,000 ns, of which each is in the loop for so much; beside: at the same time. */
static struct findings *find_retries(struct scene *scene, uint64_t ns, bool is_static)
{
    assert_int_equal(trace_writer__meta(scene->writer, "cpus", "2"), 0);
    scene__process(scene, 0, 100, HEURT_NO_SERIAL);
    for (uint32_t i = 0; i < 2; i++) {
        PUT(scene, i, 1000, HEURT_EVENT_THREAD_START, 1000 + i, HEURT_NO_SERIAL, 0);
        scene__samples(scene, i, COMPUTES_AT, 1000, 1000 + ns);
        scene__samples(scene, i, OTHER_AT, 1000 + ns, 2000);
        PUT(scene, i, 2000, HEURT_EVENT_THREAD_END, 1000, 0);
    }
    scene->end = (struct heurt_clock_pair){2000, 2000};
    scene__profile(scene); /* makes scene->symbols */
    symbols__put(scene->symbols, 0, COMPUTES_AT, &(struct symbol){.function = "transact"});
    symbols__put_retry(scene->symbols, &(struct retry_site){0, COMPUTES_AT, TRIES_AT, is_static});
    return findings__find(scene->trace, scene->symbols, scene->profile);
}

/* Two that are there all the time get done what one would. */
static void who_is_there_with_another_one_does_its_work_again(void **state)
{
    struct findings *findings = find_retries(*state, 1000, true);
    const struct finding *finding = find_kind(findings, FINDING_RETRY);
    assert_non_null(finding);
    assert_int_equal(finding->lost_ns, 1000);
    assert_string_equal(finding->place->function, "transact");
    assert_int_equal(finding->confidence, CONFIDENCE_WEAK);
    assert_true(finding->ranked && finding->wall_gain[0] < 2 && finding->wall_gain[1] > 2);
    findings__free(findings);
}

/* Half of the time: with one and a half there, a third is lost. */
static void who_is_there_half_of_the_time_does_less_of_it_again(void **state)
{
    struct findings *findings = find_retries(*state, 500, true);
    const struct finding *finding = find_kind(findings, FINDING_RETRY);
    assert_non_null(finding);
    assert_in_range(finding->lost_ns, 330, 334);
    findings__free(findings);
}

/* Behind a pointer each may have its own. */
static void who_may_have_a_variable_of_its_own_loses_nothing(void **state)
{
    struct findings *findings = find_retries(*state, 1000, false);
    assert_null(find_kind(findings, FINDING_RETRY));
    findings__free(findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, scene__setup, scene__teardown)
        TEST(page_faults_of_a_process_are_a_finding),
        TEST(page_faults_of_many_programs_are_none),
        TEST(forked_processes_may_be_fewer),
        TEST(what_runs_in_a_handler_interrupts_its_thread),
        TEST(what_the_program_calls_itself_is_no_handler),
        TEST(a_sync_is_compared_with_none),
        TEST(a_write_is_compared_with_the_fastest),
        TEST(who_waits_for_a_lock_that_nobody_has_is_told),
        TEST(who_works_between_waits_in_vain_while_others_wait_for_that_is_not_idle),
        TEST(who_only_looks_now_and_then_is_idle),
        TEST(who_is_told_of_work_and_waits_in_vain_is_not_idle_however_little_it_is),
        TEST(two_ends_made_of_futexes_are_one_finding),
        TEST(so_are_two_threads_that_wake_each_other_by_a_library),
        TEST(so_are_two_threads_that_wake_each_other_from_other_places),
        TEST(who_is_woken_by_a_third_has_no_other_end),
        TEST(what_a_futex_is_for_stands_in_the_frames_around),
        TEST(who_waits_in_taskwait_waits_for_tasks),
        TEST(what_the_runtime_does_for_tasks_is_lost),
        TEST(who_asks_again_and_again_could_be_told),
        TEST(who_is_there_with_another_one_does_its_work_again),
        TEST(who_is_there_half_of_the_time_does_less_of_it_again),
        TEST(who_may_have_a_variable_of_its_own_loses_nothing),
        TEST(who_is_woken_for_nothing_loses_what_it_waits_for_a_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
