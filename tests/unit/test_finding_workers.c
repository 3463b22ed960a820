/* test_finding_workers.c: which threads had work, what of their waits is none, and what of a loss
 * takes CPUs and so stays. A tick is a nanosecond. */
#include "findings_of.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define LEFT | 1

enum { SITE = 0x9a00, ASKS = 0x9b00, POSTS = 0x9c00, LOCK = 0x7000, PERMIT = 0x7100 };
enum { BEGIN = 1000, END = 11000 };

static struct findings *find_until(struct scene *scene, uint64_t tick)
{
    assert_int_equal(trace_writer__meta(scene->writer, "cpus", "2"), 0);
    return findings_of(scene, tick);
}

static struct findings *find(struct scene *scene)
{
    return find_until(scene, END);
}

static void end(struct scene *scene, uint32_t thread, uint64_t cpu_ns)
{
    PUT(scene, thread, END, HEURT_EVENT_THREAD_END, cpu_ns, 0);
}

/* ---- threads that look now and then ---------------------------------------------------------- */

/* Thread 0 works, thread 1 sleeps 90 of 100 and asks each time; joined: thread 0 waits for its end,
 * nearly all the time. */
static struct findings *find_looker(struct scene *scene, bool joined)
{
    scene__start(scene, 0, BEGIN);
    PUT(scene, 1, BEGIN, HEURT_EVENT_THREAD_START, 77, HEURT_NO_SERIAL, 0);
    if (joined)
        PUT(scene, 0, BEGIN + 500, HEURT_EVENT_JOIN, SITE, 77);
    for (uint64_t from = BEGIN; from < END; from += 100) {
        PUT(scene, 1, from, HEURT_EVENT_SLEEP,
            HEURT_SITE(ASKS, HEURT_SLEEP_USLEEP | HEURT_SLEEP_POLLS), 90);
        scene__put(scene, 1, from + 90, HEURT_EVENT_SLEEP LEFT, (uint64_t[]){0}, 1);
    }
    end(scene, 1, 1000);
    if (joined)
        PUT(scene, 0, END, HEURT_EVENT_JOIN LEFT, 0);
    end(scene, 0, joined ? 500 : 10000);
    symbols__put(scene->symbols, 0, ASKS, &(struct symbol){.function = "maintain"});
    return find(scene);
}

static void who_looks_now_and_then_for_nobody_has_no_work(void **state)
{
    struct findings *findings = find_looker(*state, false);
    assert_int_equal(findings->working_threads, 1);
    assert_null(find_kind(findings, FINDING_POLLING));
    findings__free(findings);
}

static void who_is_waited_for_asks(void **state)
{
    struct findings *findings = find_looker(*state, true);
    assert_int_equal(findings->working_threads, 2);
    assert_non_null(find_kind(findings, FINDING_POLLING));
    findings__free(findings);
}

/* ---- joins by what is called a lock ---------------------------------------------------------- */

/* Thread 0 waits at a semaphore, in a function that is said to take a lock, until thread 1, which
 * it has made, posts; that ends then, or goes on as long again. */
static struct findings *find_acquire(struct scene *scene, bool ends)
{
    uint64_t posted = BEGIN + 5000, done = ends ? posted + 10 : END;
    scene__start(scene, 0, BEGIN);
    PUT(scene, 0, BEGIN + 400, HEURT_EVENT_THREAD_CREATED, SITE, 77, 10);
    PUT(scene, 1, BEGIN + 450, HEURT_EVENT_THREAD_START, 77, 0, 0);
    PUT(scene, 0, BEGIN + 500, HEURT_EVENT_SEMAPHORE_WAIT, SITE, PERMIT);
    PUT(scene, 1, posted, HEURT_EVENT_SEMAPHORE_POSTED, POSTS, PERMIT);
    PUT(scene, 0, posted + 5, HEURT_EVENT_SEMAPHORE_WAIT LEFT, 0);
    PUT(scene, 1, done, HEURT_EVENT_THREAD_END, 4000, 0);
    end(scene, 0, 1000);
    symbols__put(scene->symbols, 0, SITE, &(struct symbol){.function = "acquire_lock"});
    return find(scene);
}

static void who_posts_and_ends_was_joined(void **state)
{
    struct findings *findings = find_acquire(*state, true);
    assert_null(find_kind(findings, FINDING_LOCK));
    findings__free(findings);
}

static void who_posts_and_goes_on_had_a_lock(void **state)
{
    struct findings *findings = find_acquire(*state, false);
    assert_non_null(find_kind(findings, FINDING_LOCK));
    findings__free(findings);
}

/* ---- locks made of something else ------------------------------------------------------------ */

static void a_wait_for_a_lock_made_of_a_condition_is_one_for_a_lock(void **state)
{
    struct scene *scene = *state;
    for (uint32_t thread = 0; thread < 2; thread++)
        scene__start(scene, thread, BEGIN);
    for (uint64_t from = BEGIN; from < END; from += 100) {
        PUT(scene, 0, from, HEURT_EVENT_CONDITION_WAIT, SITE, PERMIT, LOCK);
        PUT(scene, 1, from + 50, HEURT_EVENT_CONDITION_SIGNALLED, POSTS, PERMIT);
        PUT(scene, 0, from + 60, HEURT_EVENT_CONDITION_WAIT LEFT, 0);
    }
    end(scene, 0, 4000);
    end(scene, 1, 10000);
    symbols__put(scene->symbols, 0, SITE, &(struct symbol){.function = "monitor_lock"});
    struct findings *findings = find(scene);
    uint64_t as_lock = 0, as_condition = 0;
    VEC_EACH (role, &findings->roles, struct role) {
        as_lock += role->component_ns[COMPONENT_LOCK];
        as_condition += role->component_ns[COMPONENT_CONDITION];
    }
    assert_int_equal(as_lock, 100 * 60);
    assert_int_equal(as_condition, 0);
    findings__free(findings);
}

static void who_yields_in_a_loop_does_not_wait_for_what_is_not_known(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, BEGIN);
    for (uint64_t from = BEGIN; from < END; from += 100) {
        PUT(scene, 0, from, HEURT_EVENT_SLEEP, HEURT_SITE(ASKS, HEURT_SLEEP_YIELD), 0);
        scene__put(scene, 0, from + 60, HEURT_EVENT_SLEEP LEFT, (uint64_t[]){0}, 1);
    }
    end(scene, 0, 10000);
    symbols__put(scene->symbols, 0, ASKS, &(struct symbol){.function = "wait_for_flag"});
    struct findings *findings = find(scene);
    const struct role *role = VEC_AT(&findings->roles, struct role, 0);
    assert_int_equal(role->asked_ns, 100 * 60);
    assert_int_equal(role->component_ns[COMPONENT_OTHER_BLOCKED], 0);
    findings__free(findings);
}

/* ---- a runtime's scheduler ------------------------------------------------------------------- */

static const struct finding *find_futex(struct scene *scene, const struct symbol *site,
                                        struct findings **findings)
{
    for (uint32_t thread = 0; thread < 2; thread++)
        scene__start(scene, thread, BEGIN);
    for (uint64_t from = BEGIN; from < END; from += 100) {
        PUT(scene, 0, from, HEURT_EVENT_FUTEX_WAIT, SITE, PERMIT);
        PUT(scene, 1, from + 50, HEURT_EVENT_FUTEX_WOKEN, POSTS, PERMIT);
        PUT(scene, 0, from + 60, HEURT_EVENT_FUTEX_WAIT LEFT, 0);
    }
    end(scene, 0, 4000);
    end(scene, 1, 10000);
    symbols__put(scene->symbols, 0, SITE, site);
    *findings = find(scene);
    return find_kind(*findings, FINDING_CONDITION);
}

static void threads_of_go_that_wait_for_a_goroutine_are_idle(void **state)
{
    struct findings *findings;
    assert_null(find_futex(*state,
                           &(struct symbol){.function = "runtime.futex.abi0",
                                            .file = "/usr/lib/go/src/runtime/sys_linux_amd64.s"},
                           &findings));
    assert_int_equal(findings->idle_ns, 100 * 60);
    findings__free(findings);
}

static void a_futex_of_the_program_is_no_scheduler(void **state)
{
    struct findings *findings;
    assert_non_null(find_futex(
        *state, &(struct symbol){.function = "runtime_wait", .file = "/src/app.c"}, &findings));
    findings__free(findings);
}

/* ---- what takes CPUs ------------------------------------------------------------------------- */

/* Four threads by turns have the only lock, for 1 ms each time and 100 ms in all, and are in a call
 * of output meanwhile, which takes a CPU, or waits for a device. */
static double gain_of_writers(struct scene *scene, uint64_t cpu_ns)
{
    enum { TURN = 1000000, TURNS = 100, LAST = BEGIN + TURNS * TURN };
    for (uint32_t thread = 0; thread < 4; thread++) {
        scene__start(scene, thread, BEGIN);
        PUT(scene, thread, BEGIN + 1, HEURT_EVENT_LOCK_WAIT, SITE, LOCK);
    }
    for (uint32_t i = 0; i < TURNS; i++) {
        uint32_t has = i % 4;
        uint64_t from = BEGIN + (uint64_t)TURN * i;
        PUT(scene, has, from + 10, HEURT_EVENT_LOCK_WAIT LEFT, 0);
        PUT(scene, has, from + 20, HEURT_EVENT_IO, HEURT_SITE(SITE, HEURT_IO_WRITE),
            3 | (uint64_t)HEURT_DESCRIPTOR_FILE << 32, 10);
        PUT(scene, has, from + TURN - 20, HEURT_EVENT_IO LEFT, 10);
        PUT(scene, has, from + TURN - 10, HEURT_EVENT_LOCK_RELEASED, SITE, LOCK);
        if (i < TURNS - 4)
            PUT(scene, has, from + TURN, HEURT_EVENT_LOCK_WAIT, SITE, LOCK);
    }
    for (uint32_t thread = 0; thread < 4; thread++)
        PUT(scene, thread, LAST, HEURT_EVENT_THREAD_END, cpu_ns, 0);
    symbols__put(scene->symbols, 0, SITE, &(struct symbol){.function = "store"});
    struct findings *findings = find_until(scene, LAST);
    const struct finding *finding = find_kind(findings, FINDING_LOCK);
    assert_non_null(finding);
    double gain = finding->wall_gain[1];
    findings__free(findings);
    return gain;
}

static void output_that_takes_a_cpu_stays(void **state)
{
    assert_true(gain_of_writers(*state, 25000000) < 2.4); /* 4 · 25 ms, 2 CPUs */
}

static void output_that_waits_takes_none(void **state)
{
    assert_true(gain_of_writers(*state, 1000000) > 3);
}

/* ---- woken, and no CPU ----------------------------------------------------------------------- */

/* Two threads wait for events 80 of 100, of which they want a CPU for 40. */
static void who_was_woken_and_had_no_cpu_was_not_idle(void **state)
{
    struct scene *scene = *state;
    for (uint32_t thread = 0; thread < 2; thread++) {
        scene__start(scene, thread, BEGIN);
        PUT(scene, thread, BEGIN, HEURT_EVENT_KERNEL, 0);
        for (uint64_t from = BEGIN; from < END; from += 100) {
            PUT(scene, thread, from, HEURT_EVENT_IO, HEURT_SITE(SITE, HEURT_IO_EPOLL_WAIT), 3, 10);
            PUT(scene, thread, from + 80, HEURT_EVENT_OFF_CPU, HEURT_OFF(80, HEURT_OFF_BLOCKED),
                HEURT_BACK(40, 0), 0);
            PUT(scene, thread, from + 81, HEURT_EVENT_IO LEFT, 1);
        }
        end(scene, thread, 1900);
    }
    symbols__put(scene->symbols, 0, SITE, &(struct symbol){.function = "serve"});
    struct findings *findings = find(scene);
    uint64_t runnable_ns = 0;
    VEC_EACH (role, &findings->roles, struct role)
        runnable_ns += role->component_ns[COMPONENT_RUNNABLE];
    assert_int_equal(runnable_ns, 2 * 100 * 40);
    assert_int_equal(findings->runnable_ns, runnable_ns);
    assert_true(findings->idle_ns < 2 * 100 * 45);
    findings__free(findings);
}

/* Two threads have one of two CPUs for 100 ms: of each each_ns they want it for five eighths, and
 * come back to the same CPU each time, or to one of so many after the other. All of the run had
 * used_ns of CPUs. */
static const struct finding *find_wanting(struct scene *scene, uint64_t each_ns, unsigned cpus,
                                          uint64_t used_ns, struct findings **findings)
{
    const uint64_t until = BEGIN + 100000000, off_ns = each_ns / 8 * 5;
    for (uint32_t thread = 0; thread < 2; thread++) {
        scene__start(scene, thread, BEGIN);
        PUT(scene, thread, BEGIN, HEURT_EVENT_KERNEL, 0);
        for (uint64_t at = BEGIN + each_ns, i = 0; at < until; at += each_ns, i++)
            PUT(scene, thread, at, HEURT_EVENT_OFF_CPU, HEURT_OFF(off_ns, HEURT_OFF_PREEMPTED),
                HEURT_BACK(off_ns, i % cpus), 0);
        PUT(scene, thread, until, HEURT_EVENT_THREAD_END, 50000000, 0);
    }
    struct heurt_session *session = trace_writer__session(scene->writer);
    session->finished = 1;
    session->cpu_ns = used_ns;
    *findings = find_until(scene, until);
    const struct finding *finding = find_kind(*findings, FINDING_CPU);
    assert_non_null(finding);
    return finding;
}

/* Too seldom to tell to which CPU they come back. */
static const struct finding *find_shortage(struct scene *scene, uint64_t used_ns,
                                           struct findings **findings)
{
    return find_wanting(scene, 20000000, 1, used_ns, findings);
}

static void cpus_that_the_run_itself_takes_are_a_cause(void **state)
{
    struct findings *findings;
    assert_true(find_shortage(*state, 200000000, &findings)->ranked);
    findings__free(findings);
}

static void cpus_that_others_take_are_told_and_are_no_cause(void **state)
{
    struct findings *findings;
    const struct finding *finding = find_shortage(*state, 100000000, &findings);
    assert_true(finding->is_noted && !finding->ranked);
    assert_true(finding->wall_gain[1] > 1.9);
    findings__free(findings);
}

static void who_stays_on_one_cpu_while_another_is_free_is_bound(void **state)
{
    struct findings *findings;
    const struct finding *finding = find_wanting(*state, 5000000, 1, 100000000, &findings);
    assert_true(finding->ranked);
    assert_int_equal(finding->bound_cpus, 1);
    findings__free(findings);
}

static void who_goes_from_cpu_to_cpu_is_not_bound(void **state)
{
    struct findings *findings;
    const struct finding *finding = find_wanting(*state, 5000000, 2, 100000000, &findings);
    assert_true(!finding->ranked);
    assert_int_equal(finding->bound_cpus, 0);
    findings__free(findings);
}

/* Two threads meet twenty times; in one of so many rounds one of them has no CPU for 7 of 10 ms
 * before it comes; in each other one it works so many ms longer. */
static struct findings *find_late(struct scene *scene, uint64_t foreign_ns, unsigned one_of,
                                  unsigned longer_ms)
{
    enum { MS = 1000000, ROUNDS = 20 };
    const uint64_t until = BEGIN + ROUNDS * 10 * MS;
    for (uint32_t i = 0; i < 2; i++) {
        scene__start(scene, i, BEGIN);
        PUT(scene, i, BEGIN, HEURT_EVENT_KERNEL, 0);
        for (uint64_t k = 0; k < ROUNDS; k++) {
            uint64_t from = BEGIN + k * 10 * MS;
            unsigned sooner_ms = k % one_of == 0 ? 7 : longer_ms;
            if (i && k % one_of == 0)
                PUT(scene, i, from + 9 * MS, HEURT_EVENT_OFF_CPU,
                    HEURT_OFF(7 * MS, HEURT_OFF_PREEMPTED), HEURT_BACK(7 * MS, 1), 0);
            PUT(scene, i, from + (i ? 9 : 9 - sooner_ms) * MS, HEURT_EVENT_BARRIER_WAIT, SITE,
                LOCK);
            PUT(scene, i, from + 9 * MS + 10, HEURT_EVENT_BARRIER_WAIT LEFT, 0);
        }
        PUT(scene, i, until, HEURT_EVENT_THREAD_END, ROUNDS * 8 * MS, 0);
    }
    struct heurt_session *session = trace_writer__session(scene->writer);
    session->finished = 1;
    session->cpu_ns = 2 * ROUNDS * 8 * MS;
    session->others_ns = foreign_ns;
    symbols__put(scene->symbols, 0, SITE, &(struct symbol){.function = "advance"});
    return find_until(scene, until);
}

static uint64_t lost_at_barrier(struct scene *scene, uint64_t foreign_ns)
{
    struct findings *findings = find_late(scene, foreign_ns, 4, 0);
    const struct finding *finding = find_kind(findings, FINDING_BARRIER);
    uint64_t lost_ns = finding ? finding->lost_ns : 0;
    findings__free(findings);
    return lost_ns;
}

static void who_comes_late_for_want_of_a_cpu_is_waited_for(void **state)
{
    assert_in_range(lost_at_barrier(*state, 0), 10000000, 35000000);
}

static void who_comes_late_because_others_take_the_cpus_is_no_cause(void **state)
{
    assert_true(lost_at_barrier(*state, 100000000) < 1000000);
}

/* Of 400 ms it loses 40. Others take 70 ms of the one and so let the other wait as long: without
 * them it were 40 of 260. */
static void what_others_make_threads_wait_hides_no_cause(void **state)
{
    struct findings *findings = find_late(*state, 100000000, 2, 4);
    const struct finding *finding = find_kind(findings, FINDING_BARRIER);
    assert_non_null(finding);
    assert_in_range(finding->lost_ns, 35000000, 42000000);
    assert_in_range(findings->short_ns, 65000000, 75000000);
    assert_true(finding->ranked);
    findings__free(findings);
}

/* ---- who is done last ------------------------------------------------------------------------ */

/* Thread 0 works 4000 of 10000 and ends; thread 1 works to the end, from the begin or after having
 * waited for the first one's lock. */
static uint64_t imbalance_of(struct scene *scene, bool waits)
{
    const uint64_t site = HEURT_SITE(SITE, HEURT_LOCK_MUTEX), done = BEGIN + 4000;
    scene__start(scene, 0, BEGIN);
    scene__start(scene, 1, BEGIN);
    PUT(scene, 0, BEGIN + 1, HEURT_EVENT_LOCK_ACQUIRED, site, LOCK);
    if (waits)
        PUT(scene, 1, BEGIN + 2, HEURT_EVENT_LOCK_WAIT, site, LOCK);
    PUT(scene, 0, done - 1, HEURT_EVENT_LOCK_RELEASED, site, LOCK);
    if (waits)
        PUT(scene, 1, done - 1, HEURT_EVENT_LOCK_WAIT LEFT, 0);
    PUT(scene, 0, done, HEURT_EVENT_THREAD_END, 4000, 0);
    end(scene, 1, waits ? 6000 : 10000);
    struct findings *findings = find(scene);
    const struct finding *finding = find_kind(findings, FINDING_IMBALANCE);
    uint64_t lost_ns = finding ? finding->lost_ns : 0;
    findings__free(findings);
    return lost_ns;
}

static void who_is_done_last_works_alone(void **state)
{
    assert_int_equal(imbalance_of(*state, false), 6000);
}

/* Without its wait it were done sooner: that is told already. */
static void who_waited_before_is_done_later_for_that(void **state)
{
    assert_in_range(imbalance_of(*state, true), 1990, 2020);
}

/* Thread 2 makes them after work of its own; it waits for the last one's end, or does something
 * else until then, and ends after both. */
static uint64_t imbalance_beside(struct scene *scene, bool joins)
{
    scene__start(scene, 2, BEGIN);
    scene__start(scene, 0, BEGIN + 3000);
    scene__start(scene, 1, BEGIN + 3000);
    PUT(scene, 0, BEGIN + 5000, HEURT_EVENT_THREAD_END, 2000, 0);
    PUT(scene, 1, BEGIN + 9900, HEURT_EVENT_THREAD_END, 6900, 0);
    if (joins) {
        PUT(scene, 2, BEGIN + 3000, HEURT_EVENT_JOIN, SITE, 0);
        PUT(scene, 2, BEGIN + 9900, HEURT_EVENT_JOIN LEFT, 0);
    }
    end(scene, 2, 3100);
    struct findings *findings = find(scene);
    const struct finding *finding = find_kind(findings, FINDING_IMBALANCE);
    uint64_t lost_ns = finding && finding->thread == 1 ? finding->lost_ns : 0;
    findings__free(findings);
    return lost_ns;
}

static void who_ends_after_waiting_for_the_last_is_not_the_last(void **state)
{
    assert_int_equal(imbalance_beside(*state, true), 4900);
}

static void who_is_beside_the_last_does_not_wait_for_it(void **state)
{
    assert_int_equal(imbalance_beside(*state, false), 0);
}

/* Thread 0 starts two for 4000 of 10000, twice, waits for their ends, and works on alone for 1000
 * behind each: that is what it loses, and no more, however often others were done before. The lives
 * of those that had work are 10000 and 4 × 4000. */
static void who_works_between_others_is_alone_there_only(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, BEGIN);
    for (uint32_t round = 0; round < 2; round++) {
        uint64_t from = BEGIN + 5000 * round;
        PUT(scene, 0, from, HEURT_EVENT_JOIN, SITE, 0);
        for (uint32_t i = 1; i <= 2; i++) {
            scene__start(scene, i + 2 * round, from);
            PUT(scene, i + 2 * round, from + 4000, HEURT_EVENT_THREAD_END, 4000, 0);
        }
        PUT(scene, 0, from + 4000, HEURT_EVENT_JOIN LEFT, 0);
    }
    end(scene, 0, 2000);
    struct findings *findings = find(scene);
    const struct finding *finding = find_kind(findings, FINDING_IMBALANCE);
    assert_non_null(finding);
    assert_int_equal(finding->thread, 0);
    assert_int_equal(finding->lost_ns, 2000);
    assert_true(finding->wall_gain[0] < 10 / 9.0 && finding->wall_gain[1] > 10 / 9.0);
    findings__free(findings);
}

/* ---- what threads are called ----------------------------------------------------------------- */

/* Thread 1 sleeps in a function of the program's, which code of the library calls as the thread's
 * start routine: in std::thread. */
static void find_started_by(struct scene *scene, const char *library)
{
    enum { STARTS = 0x9d00, RUNS = 0x9d10 };
    const uint64_t frames[] = {ASKS, RUNS, STARTS + 8};
    const struct symbol of_library = {.function = "[library+0x1]", .module = library};
    scene__start(scene, 0, BEGIN);
    PUT(scene, 1, BEGIN, HEURT_EVENT_THREAD_START, 77, HEURT_NO_SERIAL, STARTS);
    PUT(scene, 1, BEGIN + 1, HEURT_EVENT_STACK, 8, 1, 2, 3, 4, 5, 6, 7, 8);
    PUT(scene, 1, BEGIN + 2, HEURT_EVENT_SLEEP, HEURT_SITE(ASKS, HEURT_SLEEP_USLEEP), 90);
    scene__put(scene, 1, BEGIN + 92, HEURT_EVENT_SLEEP LEFT, (uint64_t[]){0}, 1);
    symbols__put_stack(scene->symbols, 1, BEGIN + 1, frames, 3);
    symbols__put(scene->symbols, 0, ASKS, &(struct symbol){.function = "rest()"});
    symbols__put(scene->symbols, 0, RUNS, &(struct symbol){.function = "serve()"});
    symbols__put(scene->symbols, 0, STARTS, &of_library);
    symbols__put(scene->symbols, 0, STARTS + 8, &of_library);
    end(scene, 1, 9000);
    end(scene, 0, 10000);
}

static void who_is_started_by_a_library_is_known_by_what_it_runs(void **state)
{
    find_started_by(*state, "/usr/lib/libstdc++.so.6");
    struct findings *findings = find(*state);
    const struct role *role = VEC_AT(&findings->roles, struct role, findings->roles_of[1]);
    assert_non_null(role->start);
    assert_string_equal(role->start->function, "serve()");
    assert_false(role->is_of_openmp);
    findings__free(findings);
}

/* A lambda has no name: what it calls tells more. */
static void who_is_started_by_a_lambda_is_known_by_what_that_calls(void **state)
{
    struct scene *scene = *state;
    static const struct symbol lambda = {.function = "main::{lambda(int)#1}::operator()(int) const",
                                         .module = "/home/a/app"};
    find_started_by(scene, "/usr/lib/libstdc++.so.6");
    symbols__put(scene->symbols, 0, 0x9d10, &lambda);
    struct findings *findings = find(scene);
    const struct role *role = VEC_AT(&findings->roles, struct role, findings->roles_of[1]);
    assert_non_null(role->start);
    assert_string_equal(role->start->function, "rest()");
    findings__free(findings);
}

static void who_is_started_by_openmp_runs_more_than_one_thing(void **state)
{
    find_started_by(*state, "/usr/lib/libgomp.so.1");
    struct findings *findings = find(*state);
    const struct role *role = VEC_AT(&findings->roles, struct role, findings->roles_of[1]);
    assert_true(role->is_of_openmp);
    assert_null(role->start);
    findings__free(findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, scene__setup, scene__teardown)
        TEST(who_looks_now_and_then_for_nobody_has_no_work),
        TEST(who_is_waited_for_asks),
        TEST(who_posts_and_ends_was_joined),
        TEST(who_posts_and_goes_on_had_a_lock),
        TEST(a_wait_for_a_lock_made_of_a_condition_is_one_for_a_lock),
        TEST(who_yields_in_a_loop_does_not_wait_for_what_is_not_known),
        TEST(threads_of_go_that_wait_for_a_goroutine_are_idle),
        TEST(a_futex_of_the_program_is_no_scheduler),
        TEST(output_that_takes_a_cpu_stays),
        TEST(output_that_waits_takes_none),
        TEST(who_was_woken_and_had_no_cpu_was_not_idle),
        TEST(cpus_that_the_run_itself_takes_are_a_cause),
        TEST(cpus_that_others_take_are_told_and_are_no_cause),
        TEST(who_comes_late_for_want_of_a_cpu_is_waited_for),
        TEST(who_comes_late_because_others_take_the_cpus_is_no_cause),
        TEST(what_others_make_threads_wait_hides_no_cause),
        TEST(who_stays_on_one_cpu_while_another_is_free_is_bound),
        TEST(who_goes_from_cpu_to_cpu_is_not_bound),
        TEST(who_is_done_last_works_alone),
        TEST(who_waited_before_is_done_later_for_that),
        TEST(who_ends_after_waiting_for_the_last_is_not_the_last),
        TEST(who_is_beside_the_last_does_not_wait_for_it),
        TEST(who_is_started_by_a_library_is_known_by_what_it_runs),
        TEST(who_works_between_others_is_alone_there_only),
        TEST(who_is_started_by_a_lambda_is_known_by_what_that_calls),
        TEST(who_is_started_by_openmp_runs_more_than_one_thing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
