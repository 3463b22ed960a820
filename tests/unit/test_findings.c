#include "analysis/callsite/program_frame.h"
#include "analysis/findings/findings.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define LEFT | 1

enum {
    WAIT = HEURT_EVENT_LOCK_WAIT,
    RELEASED = HEURT_EVENT_LOCK_RELEASED,
    CONDITION = HEURT_EVENT_CONDITION_WAIT,
    SIGNAL = HEURT_EVENT_CONDITION_SIGNALLED,
};

enum { PUT_SITE = 0x9a00, GET_SITE = 0x9b00, MUTEX = 0x7000, FULL = 0x7100, EMPTY = 0x7200 };
enum { PUT_SIGNALS = 0x9a10, GET_SIGNALS = 0x9b10 };

static struct findings *find(struct scene *scene, const char *put, const char *get)
{
    const uint64_t of_put[] = {PUT_SITE, PUT_SIGNALS}, of_get[] = {GET_SITE, GET_SIGNALS};
    const struct profile *profile = scene__profile(scene);
    for (int i = 0; i < 2; i++) {
        symbols__put(scene->symbols, 0, of_put[i], &(struct symbol){.function = put});
        symbols__put(scene->symbols, 0, of_get[i], &(struct symbol){.function = get});
    }
    return findings__find(scene->trace, scene->symbols, profile);
}

static void on_cpus(struct scene *scene, const char *cpus, uint64_t end)
{
    assert_int_equal(trace_writer__meta(scene->writer, "cpus", cpus), 0);
    scene->end = (struct heurt_clock_pair){end, end};
}

static const struct finding *finding_at(const struct findings *findings, size_t place)
{
    assert_true(place < findings->rows.count);
    return VEC_AT(&findings->rows, struct finding, place);
}

static void wait_for_lock(struct scene *scene, uint32_t thread, uint64_t from, uint64_t site,
                          uint64_t lock)
{
    PUT(scene, thread, from, WAIT, site, lock);
    PUT(scene, thread, from + 50, WAIT LEFT, 0);
    PUT(scene, thread, from + 60, RELEASED, site, lock);
}

static void locks_of_one_place_are_one_finding(void **state)
{
    struct scene *scene = *state;
    for (uint32_t i = 0; i < 4; i++)
        wait_for_lock(scene, i & 1, 1000 + 100 * i, PUT_SITE, MUTEX + 64 * i);
    scene__end(scene, 0, 1500);
    scene__end(scene, 1, 1500);
    struct findings *findings = find(scene, "store", "load");
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_LOCK);
    assert_true(first->ranked);
    assert_int_equal(first->classes.count, 4);
    assert_int_equal(first->objects, 4);
    assert_int_equal(first->lost_ns, 200);
    assert_string_equal(first->place->function, "store");
    findings__free(findings);
}

static void places_of_one_lock_are_one_finding(void **state)
{
    struct scene *scene = *state;
    wait_for_lock(scene, 0, 1000, PUT_SITE, MUTEX);
    wait_for_lock(scene, 1, 1100, GET_SITE, MUTEX);
    wait_for_lock(scene, 1, 1200, GET_SITE, FULL);
    scene__end(scene, 0, 1500);
    scene__end(scene, 1, 1500);
    struct findings *findings = find(scene, "store", "load");
    /* Two waits of 50 each, by the place or by the object: the object was met first. */
    assert_int_equal(finding_at(findings, 0)->lost_ns, 100);
    assert_int_equal(finding_at(findings, 0)->classes.count, 2);
    assert_int_equal(finding_at(findings, 1)->lost_ns, 50);
    findings__free(findings);
}

/* Its parts add up to it, the larger one first. */
static void a_finding_of_one_lock_has_its_places_as_parts(void **state)
{
    struct scene *scene = *state;
    wait_for_lock(scene, 0, 1000, PUT_SITE, MUTEX);
    wait_for_lock(scene, 1, 1100, GET_SITE, MUTEX);
    wait_for_lock(scene, 1, 1200, GET_SITE, MUTEX);
    PUT(scene, 1, 1300, HEURT_EVENT_LOCK_ACQUIRED, GET_SITE + 8, MUTEX);
    PUT(scene, 1, 1310, RELEASED, GET_SITE, MUTEX);
    scene__end(scene, 0, 1500);
    scene__end(scene, 1, 1500);
    struct findings *findings = find(scene, "store", "load");
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->parts.count, 2);
    const struct finding_part *load = VEC_AT(&first->parts, struct finding_part, 0);
    assert_string_equal(load->place->function, "load");
    assert_int_equal(load[0].lost_ns, 100);
    assert_int_equal(load[1].lost_ns, 50);
    assert_int_equal(first->counts.taken, 4); /* once where nobody ever waited */
    assert_int_equal(first->counts.waits, 3);
    assert_int_equal(first->counts.longest_ns, 50);
    findings__free(findings);
}

/* ---- roles ----------------------------------------------------------------------------------- */

static void start(struct scene *scene, uint32_t thread, uint64_t routine)
{
    PUT(scene, thread, 1000, HEURT_EVENT_THREAD_START, 1, HEURT_NO_SERIAL, routine);
}

static void end(struct scene *scene, uint32_t thread, uint64_t cpu_ns)
{
    PUT(scene, thread, 2000, HEURT_EVENT_THREAD_END, cpu_ns, 0);
}

static void join(struct scene *scene, uint32_t thread)
{
    PUT(scene, thread, 1100, HEURT_EVENT_JOIN, GET_SITE, 1);
    PUT(scene, thread, 1950, HEURT_EVENT_JOIN LEFT, 0);
}

static void threads_of_one_start_routine_are_one_role(void **state)
{
    struct scene *scene = *state;
    for (uint32_t i = 0; i < 4; i++)
        start(scene, i, i == 0 ? 0 : PUT_SITE);
    join(scene, 0);
    for (uint32_t i = 0; i < 4; i++)
        end(scene, i, i == 0 ? 10 : 900);
    struct findings *findings = find(scene, "work", "load");
    assert_int_equal(findings->roles.count, 2);
    const struct role *workers = VEC_AT(&findings->roles, struct role, 0), *other = workers + 1;
    assert_true(workers->had_work);
    assert_string_equal(workers->start->function, "work");
    assert_int_equal(workers->threads, 3);
    assert_int_equal(workers->lifetime_ns, 3000);
    assert_int_equal(workers->idle_ns, 0);
    assert_false(other->had_work);
    assert_null(other->start);
    assert_int_equal(other->joined_ns, 850);
    assert_int_equal(other->idle_ns, 850);
    findings__free(findings);
}

static void times_of_roles_add_up_to_their_lives(void **state)
{
    struct scene *scene = *state;
    start(scene, 0, PUT_SITE);
    start(scene, 1, GET_SITE);
    join(scene, 0);
    wait_for_lock(scene, 1, 1000, PUT_SITE, MUTEX);
    end(scene, 0, 500);
    end(scene, 1, 900);
    struct findings *findings = find(scene, "store", "load");
    assert_int_equal(findings->roles.count, 2);
    VEC_EACH (role, &findings->roles, struct role) {
        uint64_t sum_ns = role->idle_ns;
        for (int i = 0; i < COMPONENTS; i++)
            sum_ns += role->component_ns[i];
        assert_int_equal(sum_ns, role->lifetime_ns);
    }
    findings__free(findings);
}

static void wait_and_answer(struct scene *scene, uint64_t from, uint32_t waits, uint64_t site,
                            uint64_t condition, uint64_t signals)
{
    PUT(scene, waits, from, CONDITION, site, condition, MUTEX);
    PUT(scene, !waits, from + 40, SIGNAL, signals, condition);
    PUT(scene, waits, from + 45, CONDITION LEFT, 0);
}

static void two_ends_that_wait_for_each_other_in_turn_are_ranked(void **state)
{
    struct scene *scene = *state;
    on_cpus(scene, "2", 3050);
    for (uint32_t i = 0; i < 20; i++) {
        wait_and_answer(scene, 1000 + 100 * i, 0, PUT_SITE, FULL, GET_SIGNALS);
        wait_and_answer(scene, 1050 + 100 * i, 1, GET_SITE, EMPTY, PUT_SIGNALS);
    }
    scene__end(scene, 0, 3050);
    scene__end(scene, 1, 3050);
    struct findings *findings = find(scene, "queue_put", "queue_get");
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_CONDITION);
    assert_true(first->ranked);
    assert_int_equal(first->classes.count, 2);
    findings__free(findings);
}

/* Of each 100 the first waits for 82, the second for 3: it works for the rest of them. */
static struct findings *find_stages(struct scene *scene, const char *cpus)
{
    on_cpus(scene, cpus, 3000);
    for (uint64_t from = 1000; from < 3000; from += 100) {
        PUT(scene, 0, from, CONDITION, PUT_SITE, FULL, MUTEX);
        PUT(scene, 1, from + 80, SIGNAL, GET_SIGNALS, FULL);
        PUT(scene, 0, from + 82, CONDITION LEFT, 0);
        PUT(scene, 1, from + 84, CONDITION, GET_SITE, EMPTY, MUTEX);
        PUT(scene, 0, from + 86, SIGNAL, PUT_SIGNALS, EMPTY);
        PUT(scene, 1, from + 87, CONDITION LEFT, 0);
    }
    scene__end(scene, 0, 3000);
    scene__end(scene, 1, 3000);
    return find(scene, "queue_put", "queue_get");
}

static void stages_that_wait_for_the_slowest_lose_nothing(void **state)
{
    struct findings *findings = find_stages(*state, "1");
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_CONDITION);
    assert_true(first->is_assumed);
    assert_false(first->ranked);
    findings__free(findings);
}

/* 1940 by one thread and 360 by the other take 1150 on two CPUs. */
static void two_threads_for_the_slowest_stage_halve_it(void **state)
{
    struct findings *findings = find_stages(*state, "2");
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_CONDITION);
    assert_true(first->ranked);
    assert_true(first->wall_gain[0] < 2000.0 / 1150 && first->wall_gain[1] > 2000.0 / 1150);
    findings__free(findings);
}

/* The second of three threads works all the time; the first waits until it takes, the third until
 * it gives something, with hardly any work of their own. */
static struct findings *find_pipeline(struct scene *scene, bool is_fed, bool by_queues)
{
    enum { TAKEN = 0x7300, GIVEN = 0x7400, TAKES = 0x9c00, SINK_SITE = 0x9d00 };
    static const uint64_t sites[] = {PUT_SITE, GET_SIGNALS, TAKES, SINK_SITE};
    on_cpus(scene, "2", 6000);
    for (uint64_t from = 1000; from < 6000; from += 100) {
        PUT(scene, 0, from + 1, CONDITION, PUT_SITE, TAKEN, MUTEX);
        PUT(scene, 2, from + 1, CONDITION, SINK_SITE, GIVEN, MUTEX + 64);
        if (is_fed && from == 1000) {
            PUT(scene, 1, from + 1, CONDITION, GET_SITE, EMPTY, MUTEX);
            PUT(scene, 0, from + 2, SIGNAL, PUT_SIGNALS, EMPTY);
            PUT(scene, 1, from + 3, CONDITION LEFT, 0);
        }
        PUT(scene, 1, from + 97, SIGNAL, TAKES, TAKEN);
        PUT(scene, 1, from + 98, SIGNAL, GET_SIGNALS, GIVEN);
        PUT(scene, 0, from + 99, CONDITION LEFT, 0);
        PUT(scene, 2, from + 99, CONDITION LEFT, 0);
    }
    for (uint32_t i = 0; i < 3; i++)
        scene__end(scene, i, 6000);
    const struct profile *profile = scene__profile(scene); /* makes scene->symbols */
    for (int i = 0; i < 4; i++) {
        static const char *const apart[] = {"read", "encode", "encode", "write"};
        const struct symbol symbol = {.function = !by_queues ? apart[i]
                                                  : i < 2    ? "send"
                                                             : "receive"};
        symbols__put(scene->symbols, 0, sites[i], &symbol);
    }
    return findings__find(scene->trace, scene->symbols, profile);
}

static void stages_are_workers_however_little_they_do(void **state)
{
    struct findings *findings = find_pipeline(*state, true, false);
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_CONDITION);
    assert_true(first->ranked);
    assert_true(first->is_assumed);
    assert_int_equal(first->classes.count, 2);
    assert_int_equal(findings->working_threads, 3);
    assert_int_equal(first->stage_and_1, 1 + 1);
    assert_true(first->wall_gain[0] < 1.96 && first->wall_gain[1] > 1.9);
    findings__free(findings);
}

/* Threads that wait for what one makes are no pipeline: it got nothing from them. */
static void who_waits_for_work_of_one_that_nobody_feeds_is_idle(void **state)
{
    struct findings *findings = find_pipeline(*state, false, false);
    assert_int_equal(findings->working_threads, 1);
    VEC_EACH (finding, &findings->rows, struct finding)
        assert_false(finding->ranked);
    findings__free(findings);
}

/* By turns each of two waits for what the other one has: in vain for 50, and then for 2 more. */
static void who_waits_on_after_a_timeout_waits_for_a_turn(void **state)
{
    struct scene *scene = *state;
    for (uint32_t i = 0; i < 20; i++) {
        uint64_t from = 1000 + 100 * i;
        uint32_t waits = i & 1, has = 1 - waits;
        PUT(scene, waits, from, CONDITION, PUT_SITE, FULL, MUTEX);
        PUT(scene, waits, from + 50, CONDITION LEFT, 110);
        PUT(scene, waits, from + 51, CONDITION, PUT_SITE, FULL, MUTEX);
        PUT(scene, has, from + 52, SIGNAL, PUT_SIGNALS, FULL);
        PUT(scene, waits, from + 53, CONDITION LEFT, 0);
    }
    scene__end(scene, 0, 3000);
    scene__end(scene, 1, 3000);
    on_cpus(scene, "2", 3000);
    struct findings *findings = find(scene, "take_turn", "load");
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_CONDITION);
    assert_true(first->ranked);
    assert_int_equal(first->lost_ns, 20 * 52);
    findings__free(findings);
}

/* One works for 100 and then waits for events until the program is killed: idle. */
static void who_waits_for_work_when_the_trace_ends_is_idle(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1100, HEURT_EVENT_SLEEP, HEURT_SITE(GET_SITE, HEURT_SLEEP_USLEEP), 9000);
    scene__start(scene, 1, 1000);
    scene__end(scene, 1, 2000);
    on_cpus(scene, "2", 2000);
    struct findings *findings = find(scene, "serve", "load");
    VEC_EACH (finding, &findings->rows, struct finding)
        assert_false(finding->ranked);
    VEC_EACH (role, &findings->roles, struct role)
        assert_int_equal(role->component_ns[COMPONENT_SLEEP], 0);
    assert_int_equal(findings->idle_ns, 900);
    findings__free(findings);
}

/* Unless it takes where the one that waits for it puts, and puts where the other one takes. */
static void a_stage_between_two_queues_need_not_have_waited(void **state)
{
    struct findings *findings = find_pipeline(*state, false, true);
    assert_int_equal(findings->working_threads, 3);
    assert_true(finding_at(findings, 0)->ranked);
    findings__free(findings);
}

static struct findings *find_pool(struct scene *scene, const char *waits_in)
{
    for (uint32_t i = 0; i < 20; i++)
        wait_and_answer(scene, 1000 + 100 * i, 1, GET_SITE, EMPTY, PUT_SIGNALS);
    wait_and_answer(scene, 3000, 0, PUT_SITE, FULL, GET_SIGNALS); /* until all is done */
    scene__end(scene, 0, 3100);
    scene__end(scene, 1, 3100);
    return find(scene, "submit", waits_in);
}

static void a_pool_that_waits_for_work_is_idle(void **state)
{
    struct findings *findings = find_pool(*state, "work");
    VEC_EACH (finding, &findings->rows, struct finding)
        assert_false(finding->ranked);
    findings__free(findings);
}

static void who_waits_for_a_lock_is_not_idle(void **state)
{
    struct findings *findings = find_pool(*state, "page_lock");
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_LOCK);
    assert_true(first->lost_ns > 0);
    assert_false(first->has_object); /* each parks at a place of its own */
    findings__free(findings);
}

/* Each of three parks at its own condition until one of the others, either as often, goes. */
static void those_who_park_until_their_turn_wait_for_each_other(void **state)
{
    struct scene *scene = *state;
    for (uint32_t i = 0; i < 36; i++) {
        uint32_t waits = i % 3, goes = (waits + 1 + i / 3 % 2) % 3;
        uint64_t from = 1000 + 100 * i;
        PUT(scene, waits, from, CONDITION, GET_SITE, FULL + 64 * waits, MUTEX + 64 * waits);
        PUT(scene, goes, from + 80, SIGNAL, PUT_SIGNALS, FULL + 64 * waits);
        PUT(scene, waits, from + 85, CONDITION LEFT, 0);
    }
    PUT(scene, 3, 1000, RELEASED, PUT_SITE, MUTEX);
    PUT(scene, 3, 2500, CONDITION, GET_SITE, EMPTY, MUTEX); /* until one of them has ended */
    PUT(scene, 0, 4650, SIGNAL, PUT_SIGNALS, EMPTY);
    PUT(scene, 3, 4655, CONDITION LEFT, 0);
    for (uint32_t i = 0; i < 4; i++)
        scene__end(scene, i, 4700);
    struct findings *findings = find(scene, "leave", "enter");
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_CONDITION);
    assert_true(first->ranked);
    assert_int_equal(first->classes.count, 3);
    findings__free(findings);
}

/* Two workers, each with a condition of its own, to which another thread gives work. */
static void workers_that_park_until_there_is_work_are_idle(void **state)
{
    struct scene *scene = *state;
    for (uint32_t i = 0; i < 30; i++) {
        uint64_t from = 1000 + 100 * i;
        PUT(scene, i % 2, from, CONDITION, GET_SITE, FULL + 64 * (i % 2), MUTEX);
        PUT(scene, 2, from + 80, SIGNAL, PUT_SIGNALS, FULL + 64 * (i % 2));
        PUT(scene, i % 2, from + 85, CONDITION LEFT, 0);
    }
    for (uint32_t i = 0; i < 3; i++)
        scene__end(scene, i, 4100);
    struct findings *findings = find(scene, "submit", "work");
    VEC_EACH (finding, &findings->rows, struct finding)
        assert_false(finding->ranked);
    findings__free(findings);
}

static void a_gain_is_no_more_than_what_was_lost(void **state)
{
    struct scene *scene = *state;
    wait_for_lock(scene, 0, 1000, PUT_SITE, MUTEX);
    scene__end(scene, 0, 2000);
    scene__end(scene, 1, 2000);
    struct findings *findings = find(scene, "store", "load");
    struct finding *first = VEC_AT(&findings->rows, struct finding, 0);
    double limit = first->wall_gain[1];
    finding__set_gain(first, (double[]){0.9, 30}, 1);
    assert_true(first->wall_gain[0] == 1);
    assert_true(first->wall_gain[1] == limit && limit < 1.1);
    finding__set_gain(first, (double[]){0.9, 30}, 0.5); /* half of the work goes with the waits */
    assert_true(first->wall_gain[1] == 2 * limit);
    findings__free(findings);
}

/* Two threads wait for 400 of 1000 each, and of the 600 that they work the kernel has 100: they
 * wake each other, which they do no more without the waits. */
static void what_the_kernel_does_to_wake_others_goes_with_the_waits(void **state)
{
    struct scene *scene = *state;
    for (uint32_t i = 0; i < 2; i++) {
        scene__start(scene, i, 1000);
        PUT(scene, i, 1100, WAIT, PUT_SITE, MUTEX);
        PUT(scene, i, 1500, WAIT LEFT, 0);
        end(scene, i, 600);
    }
    on_cpus(scene, "2", 2000);
    struct heurt_session *session = trace_writer__session(scene->writer);
    session->finished = 1;
    session->cpu_ns = 1250;
    session->system_ns = 250; /* 50 of them before there were threads */
    struct findings *findings = find(scene, "store", "load");
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_LOCK);
    assert_true(first->wall_gain[0] < 1000.0 / 500 && first->wall_gain[1] > 1000.0 / 500);
    assert_true(first->wall_gain[0] > 1000.0 / 580);
    findings__free(findings);
}

/* Of 540 before the other thread begins recording takes 500; that one waits for 1000 of 2000. */
static void recording_that_nobody_works_beside_is_no_time_of_the_run(void **state)
{
    enum { FUNCTION = 1024 };
    struct scene *scene = *state;
    scene__costs(scene, 0, 500);
    scene__function(scene, 0, FUNCTION, 0x401000, "start", "");
    PUT(scene, 0, 1000, FUNCTION);
    PUT(scene, 0, 1540, FUNCTION LEFT);
    scene__end(scene, 0, 1540);
    scene__start(scene, 1, 1540);
    PUT(scene, 1, 1600, WAIT, PUT_SITE, MUTEX);
    PUT(scene, 1, 2600, WAIT LEFT, 0);
    scene__end(scene, 1, 3540);
    on_cpus(scene, "2", 3540);
    struct findings *findings = find(scene, "store", "load");
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_LOCK);
    assert_true(first->wall_gain[0] < 2040.0 / 1040 && first->wall_gain[1] > 2040.0 / 1040);
    findings__free(findings);
}

/* One of two threads comes 500 late to a latch: shared, its work ends 250 earlier. */
static void what_comes_late_to_a_latch_can_be_shared(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, HEURT_EVENT_FUTEX_WAIT, GET_SITE, FULL);
    PUT(scene, 0, 1500, HEURT_EVENT_FUTEX_WAIT LEFT, 0);
    wait_for_lock(scene, 1, 1600, PUT_SITE, MUTEX);
    scene__end(scene, 0, 2000);
    scene__end(scene, 1, 2000);
    on_cpus(scene, "2", 2000);
    struct findings *findings = find(scene, "store", "std::latch::wait() const");
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_LATCH);
    assert_false(finding__can_be_replayed(scene->profile, first));
    double wall_ns = (double)scene->profile->wall_ns, gain = wall_ns / (wall_ns - 250);
    assert_true(first->wall_gain[0] > 1 && first->wall_gain[0] < gain);
    assert_true(first->wall_gain[1] > gain && first->wall_gain[1] < 1.2 * gain);
    findings__free(findings);
}

/* Of 500: 200 in the spin of the C++ library, 300 in the futex that it ends in. */
static void yields_of_a_wait_are_part_of_it(void **state)
{
    struct scene *scene = *state;
    static const struct symbol play = {.function = "Table::play(int)"};
    static const char *const header = "/usr/include/c++/12/bits/atomic_wait.h";
    static const struct symbol wait = {
        "std::__atomic_wait_address_v", NULL, header, 9, true, &play};
    static const struct symbol spin = {
        "std::__detail::__atomic_spin", NULL, header, 8, true, &wait};
    symbols__put(scene->symbols, 0, GET_SITE, &wait);
    symbols__put(scene->symbols, 0, GET_SITE + 16, &spin);
    PUT(scene, 0, 1000, HEURT_EVENT_SLEEP, HEURT_SITE(GET_SITE + 16, HEURT_SLEEP_YIELD), 0);
    scene__put(scene, 0, 1200, HEURT_EVENT_SLEEP LEFT, (uint64_t[]){0}, 1);
    PUT(scene, 0, 1210, HEURT_EVENT_FUTEX_WAIT, GET_SITE, FULL);
    PUT(scene, 0, 1510, HEURT_EVENT_FUTEX_WAIT LEFT, 0);
    scene__end(scene, 0, 1600);
    const struct profile *profile = scene__profile(scene); /* makes scene->trace */
    struct findings *findings = findings__find(scene->trace, scene->symbols, profile);
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_CONDITION);
    assert_int_equal(first->classes.count, 2);
    assert_int_equal(first->lost_ns, 500);
    findings__free(findings);
}

/* Sleeps 60 of 100, ten times, once each time. */
static struct findings *find_sleeps(struct scene *scene, bool asks)
{
    on_cpus(scene, "2", 2000);
    for (uint64_t from = 1000; from < 2000; from += 100) {
        PUT(scene, 0, from, HEURT_EVENT_SLEEP, HEURT_SITE(GET_SITE, HEURT_SLEEP_USLEEP), 60);
        scene__put(scene, 0, from + 60, HEURT_EVENT_SLEEP LEFT, (uint64_t[]){0}, 1);
    }
    scene__end(scene, 0, 2000);
    const struct profile *profile = scene__profile(scene); /* makes scene->symbols */
    symbols__put(scene->symbols, 0, GET_SITE, &(struct symbol){.function = "wait_for"});
    symbols__put_sleep(scene->symbols, 0, GET_SITE, asks);
    return findings__find(scene->trace, scene->symbols, profile);
}

static void who_sleeps_once_in_a_loop_that_asks_polls(void **state)
{
    struct findings *findings = find_sleeps(*state, true);
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_POLLING);
    assert_true(first->ranked);
    assert_int_equal(first->lost_ns, 600);
    findings__free(findings);
}

/* One sleeps until the other one has put, which sleeps until there is room. */
static void two_that_ask_each_other_are_one_finding(void **state)
{
    struct scene *scene = *state;
    on_cpus(scene, "2", 2000);
    for (uint32_t i = 0; i < 2; i++) {
        scene__start(scene, i, 1000);
        for (uint64_t from = 1000; from < 2000; from += 100) {
            PUT(scene, i, from, HEURT_EVENT_SLEEP,
                HEURT_SITE(i ? PUT_SITE : GET_SITE, HEURT_SLEEP_USLEEP), 60);
            scene__put(scene, i, from + 60, HEURT_EVENT_SLEEP LEFT, (uint64_t[]){0}, 1);
        }
        scene__end(scene, i, 2000);
    }
    const struct profile *profile = scene__profile(scene); /* makes scene->symbols */
    for (int i = 0; i < 2; i++) {
        uint64_t site = i ? PUT_SITE : GET_SITE;
        symbols__put(scene->symbols, 0, site, &(struct symbol){.function = i ? "put" : "get"});
        symbols__put_sleep(scene->symbols, 0, site, true);
    }
    struct findings *findings = findings__find(scene->trace, scene->symbols, profile);
    assert_int_equal(finding_at(findings, 0)->category, FINDING_POLLING);
    assert_int_equal(finding_at(findings, 0)->lost_ns, 1200);
    assert_int_equal(finding_at(findings, 0)->classes.count, 2);
    findings__free(findings);
}

static void who_sleeps_between_works_keeps_time(void **state)
{
    struct findings *findings = find_sleeps(*state, false);
    VEC_EACH (finding, &findings->rows, struct finding)
        assert_false(finding->ranked);
    findings__free(findings);
}

static void map_memory(struct scene *scene, uint32_t thread, uint64_t from, uint64_t site)
{
    PUT(scene, thread, from, HEURT_EVENT_MEMORY_MAP, site, 0x100000, 4096);
    PUT(scene, thread, from + 1, HEURT_EVENT_MEMORY_MAP LEFT, 0); /* the fastest */
    PUT(scene, thread, from + 10, HEURT_EVENT_MEMORY_MAP, site, 0x100000, 4096);
    PUT(scene, thread, from + 211, HEURT_EVENT_MEMORY_MAP LEFT, 0);
}

/* Both lose 400 of 1000 in calls for memory; the first one joins the second at its end. */
static struct findings *find_of_memory(struct scene *scene, uint64_t other_site)
{
    scene__start(scene, 1, 1000);
    map_memory(scene, 0, 1000, PUT_SITE);
    map_memory(scene, 0, 1300, PUT_SIGNALS);
    map_memory(scene, 1, 1000, other_site);
    map_memory(scene, 1, 1300, other_site);
    PUT(scene, 0, 1940, HEURT_EVENT_JOIN, PUT_SITE, 1);
    scene__end(scene, 1, 1950);
    PUT(scene, 0, 1960, HEURT_EVENT_JOIN LEFT, 0);
    scene__end(scene, 0, 2000);
    return find(scene, "index", "load");
}

static void calls_for_memory_are_one_finding(void **state)
{
    struct findings *findings = find_of_memory(*state, GET_SITE);
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_MEMORY_MAP);
    assert_int_equal(first->classes.count, 3); /* two places of one thread, one of the other */
    assert_true(first->wall_gain[0] < 1000.0 / 600 && first->wall_gain[1] > 1000.0 / 600);
    findings__free(findings);
}

/* Each takes as long as the fastest; what is done so often may be left out. */
static void memory_that_is_given_back_each_time_may_be_kept(void **state)
{
    struct scene *scene = *state;
    for (uint64_t i = 0, from = 1000; i < 200; i++, from += 5) {
        PUT(scene, 0, from, HEURT_EVENT_MEMORY_MAP, PUT_SITE, 0x100000, 4096);
        PUT(scene, 0, from + (i ? 3 : 2), HEURT_EVENT_MEMORY_MAP LEFT, 0);
    }
    scene__end(scene, 0, 2000);
    struct findings *findings = find(scene, "index", "load");
    assert_int_equal(finding_at(findings, 0)->category, FINDING_MEMORY_MAP);
    assert_int_equal(finding_at(findings, 0)->lost_ns, 599);
    findings__free(findings);
}

static void who_is_joined_at_once_ran_until_told(void **state)
{
    struct findings *findings = find_of_memory(*state, GET_SITE);
    assert_true(finding_at(findings, 0)->is_assumed);
    assert_int_not_equal(finding_at(findings, 0)->confidence, CONFIDENCE_MEASURED);
    findings__free(findings);
}

static void threads_that_are_alike_do_not_tell_each_other(void **state)
{
    struct findings *findings = find_of_memory(*state, PUT_SITE);
    assert_false(finding_at(findings, 0)->is_assumed);
    /* What they lose is CPU time, so it is no work that the one CPU still has to do. */
    assert_true(finding_at(findings, 0)->wall_gain[1] > 1000.0 / 600);
    findings__free(findings);
}

/* The first works until 1900 and joins the second, which yields until it sees that: the work stays.
 */
static void who_joins_is_not_told_by_those_it_joins(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    PUT(scene, 1, 1000, HEURT_EVENT_SLEEP, HEURT_SITE(GET_SITE, HEURT_SLEEP_YIELD), 0);
    scene__put(scene, 1, 1880, HEURT_EVENT_SLEEP LEFT, (uint64_t[]){0}, 1);
    PUT(scene, 0, 1900, HEURT_EVENT_JOIN, PUT_SITE, 1);
    scene__end(scene, 1, 1940);
    PUT(scene, 0, 1950, HEURT_EVENT_JOIN LEFT, 0);
    scene__end(scene, 0, 2000);
    struct findings *findings = find(scene, "feed", "work");
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_YIELD);
    assert_int_equal(first->lost_ns, 880);
    assert_true(first->wall_gain[1] < 1.2);
    assert_false(first->has_object); /* what they wait for has no name */
    findings__free(findings);
}

/* Nobody knows what it was blocked in, whatever the program's function is called. */
static void names_of_the_program_say_nothing(void **state)
{
    enum { LONG = 20000000, FUNCTION = 1024 };
    struct scene *scene = *state;
    symbols__put(scene->symbols, 0, 0x401000, &(struct symbol){.function = "free_all"});
    scene__function(scene, 0, FUNCTION, 0x401000, "free_all", "");
    PUT(scene, 0, 1000, FUNCTION);
    PUT(scene, 0, 1010, FUNCTION LEFT); /* the fastest */
    PUT(scene, 0, 2000, FUNCTION);
    PUT(scene, 0, 3000 + LONG, HEURT_EVENT_OFF_CPU, HEURT_OFF(LONG, HEURT_OFF_BLOCKED),
        HEURT_BACK(HEURT_NOT_KNOWN, 1), 0);
    PUT(scene, 0, 4000 + LONG, FUNCTION LEFT);
    scene__end(scene, 0, 5000 + LONG);
    struct findings *findings = find(scene, "feed", "work");
    VEC_EACH (finding, &findings->rows, struct finding)
        assert_int_not_equal(finding->category, FINDING_ALLOCATOR);
    assert_int_equal(finding_at(findings, 0)->lost_ns, LONG);
    findings__free(findings);
}

/* Two threads, one after the other: each loses 200 of 1000. */
static void what_is_lost_one_after_another_adds_up(void **state)
{
    struct scene *scene = *state;
    for (uint32_t i = 0; i < 2; i++) {
        scene__start(scene, i, 1000 + 500 * i);
        map_memory(scene, i, 1100 + 500 * i, PUT_SITE);
        scene__end(scene, i, 1500 + 500 * i);
    }
    struct findings *findings = find(scene, "index", "load");
    const struct finding *first = finding_at(findings, 0);
    assert_true(first->wall_gain[0] < 1000.0 / 600 && first->wall_gain[1] > 1000.0 / 600);
    findings__free(findings);
}

/* Who comes late to a barrier works for those that wait there: the work stays, and all take a part.
 */
static void work_that_is_waited_for_is_shared(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    PUT(scene, 0, 1000, HEURT_EVENT_BARRIER_WAIT, PUT_SITE, FULL);
    PUT(scene, 1, 1750, HEURT_EVENT_BARRIER_WAIT, GET_SITE, FULL);
    PUT(scene, 0, 1760, HEURT_EVENT_BARRIER_WAIT LEFT, 0);
    PUT(scene, 1, 1760, HEURT_EVENT_BARRIER_WAIT LEFT, 0);
    scene__end(scene, 0, 2000);
    scene__end(scene, 1, 2000);
    on_cpus(scene, "2", 2000);
    struct findings *findings = find(scene, "first", "second");
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_BARRIER);
    assert_true(first->is_assumed);
    assert_true(first->wall_gain[0] < 1000.0 / 620 && first->wall_gain[1] > 1000.0 / 620);
    findings__free(findings);
}

/* One of two works for three rounds, the other one meets it, and hardly works. */
static void who_comes_to_a_barrier_again_and_again_works(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    for (uint64_t from = 1000; from < 4000; from += 1000) {
        PUT(scene, 0, from + 10, HEURT_EVENT_BARRIER_WAIT, PUT_SITE, FULL);
        PUT(scene, 1, from + 900, HEURT_EVENT_BARRIER_WAIT, GET_SITE, FULL);
        PUT(scene, 0, from + 910, HEURT_EVENT_BARRIER_WAIT LEFT, 0);
        PUT(scene, 1, from + 910, HEURT_EVENT_BARRIER_WAIT LEFT, 0);
    }
    PUT(scene, 0, 4000, HEURT_EVENT_THREAD_END, 60, 0);
    PUT(scene, 1, 4000, HEURT_EVENT_THREAD_END, 2900, 0);
    on_cpus(scene, "2", 4000);
    struct findings *findings = find(scene, "first", "second");
    assert_int_equal(findings->working_threads, 2);
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_BARRIER);
    assert_true(first->ranked);
    assert_true(first->wall_gain[1] < 1.1 * 3000 / 1480); /* the work takes two CPUs so long */
    assert_true(first->wall_gain[0] > 1.7);
    findings__free(findings);
}

/* One makes something for nearly all the time, the other one comes to use it, and hardly works. */
static void who_waits_for_what_is_made_once_works(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    PUT(scene, 0, 1010, HEURT_EVENT_FUTEX_WAIT, GET_SITE, FULL);
    PUT(scene, 1, 3900, HEURT_EVENT_FUTEX_WOKEN, PUT_SITE, FULL);
    PUT(scene, 0, 3910, HEURT_EVENT_FUTEX_WAIT LEFT, 0);
    PUT(scene, 0, 4000, HEURT_EVENT_THREAD_END, 60, 0);
    PUT(scene, 1, 4000, HEURT_EVENT_THREAD_END, 2900, 0);
    on_cpus(scene, "2", 4000);
    struct findings *findings = find(scene, "make", "__cxa_guard_acquire");
    assert_int_equal(findings->working_threads, 2);
    assert_int_equal(finding_at(findings, 0)->category, FINDING_LATCH);
    assert_true(finding_at(findings, 0)->is_once);
    assert_true(finding_at(findings, 0)->ranked);
    findings__free(findings);
}

/* The one has the only permit three times of four, the other one once, and sleeps with it for 90 of
 * 100: the sleeps stay. */
static void sleeps_of_who_is_waited_for_stay(void **state)
{
    struct scene *scene = *state;
    for (uint32_t i = 0; i < 20; i++) {
        uint64_t from = 1000 + 100 * i;
        uint32_t has = i % 4 == 3, waits = 1 - has;
        PUT(scene, has, from, HEURT_EVENT_SEMAPHORE_ACQUIRED, PUT_SITE, FULL);
        PUT(scene, waits, from + 2, HEURT_EVENT_SEMAPHORE_WAIT, PUT_SITE, FULL);
        PUT(scene, has, from + 3, HEURT_EVENT_SLEEP, HEURT_SITE(GET_SITE, HEURT_SLEEP_USLEEP), 90);
        scene__put(scene, has, from + 93, HEURT_EVENT_SLEEP LEFT, (uint64_t[]){0}, 1);
        PUT(scene, has, from + 95, HEURT_EVENT_SEMAPHORE_POSTED, PUT_SIGNALS, FULL);
        PUT(scene, waits, from + 96, HEURT_EVENT_SEMAPHORE_WAIT LEFT, 0);
        PUT(scene, waits, from + 97, HEURT_EVENT_SEMAPHORE_POSTED, PUT_SIGNALS, FULL);
    }
    scene__end(scene, 0, 3000);
    scene__end(scene, 1, 3000);
    on_cpus(scene, "2", 3000);
    struct findings *findings = find(scene, "checkout", "load");
    const struct finding *first = finding_at(findings, 0);
    assert_int_equal(first->category, FINDING_SEMAPHORE);
    assert_true(first->wall_gain[0] > 1.2 && first->wall_gain[1] < 1.5); /* 15 · 90 of 2000 */
    findings__free(findings);
}

static void rusts_library_is_not_the_program(void **state)
{
    (void)state;
    static const struct symbol futex = {"std::sys::pal::unix::futex::futex_wait", "/home/a/app",
                                        "/rustc/5980/library/std/src/sys/pal/unix/futex.rs", 73};
    static const struct symbol update = {"app::update", "/home/a/app", "/home/a/src/main.rs", 5};
    static const struct symbol openmp = {"__kmp_wait_4", "/usr/lib/llvm-14/lib/libomp.so.5"};
    static const struct symbol clangs = {
        "__gthread_mutex_lock", "/home/a/app",
        "/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include/x86_64-linux-gnu/c++/12/bits/"
        "gthr-default.h",
        749};
    assert_true(symbol__is_system(&clangs));
    assert_true(symbol__is_system(&futex));
    assert_true(symbol__is_system(&openmp));
    assert_false(symbol__is_system(&update));
}

/* A function whose name says that it takes a lock is no place: who calls it is. One that ends in
 * the same letters is. */
static const char *place_of_lock(struct symbols *symbols, const char *wrapper)
{
    static struct symbol caller = {.function = "caller", .module = "/home/a/app"};
    struct symbol taken = {.function = wrapper, .module = "/home/a/app", .inlined_by = &caller};
    struct class_definition class = {.at = {.kind = CLASS_LOCK, .site = PUT_SITE}};
    symbols__put(symbols, 0, PUT_SITE, &taken);
    return program_frame__of_class(symbols, &class)->function;
}

static void a_barrier_of_openmp_is_of_its_region(void **state)
{
    (void)state;
    struct symbols *symbols = symbols__new();
    static const struct symbol region = {"survey._omp_fn.0", "/home/a/app", "map.c", 82};
    static const struct symbol before = {.function = "store", .inlined_by = &region};
    struct class_definition class = {.at = {.kind = CLASS_BARRIER, .site = PUT_SITE}};
    symbols__put(symbols, 0, PUT_SITE, &before);
    assert_string_equal(program_frame__of_class(symbols, &class)->function, region.function);
    class.at.kind = CLASS_LOCK;
    assert_string_equal(program_frame__of_class(symbols, &class)->function, "store");
    symbols__free(symbols);
}

static void who_only_takes_a_lock_is_no_place(void **state)
{
    struct symbols *symbols = symbols__new();
    (void)state;
    static const char *const wrappers[] = {
        "lock",         "queue_lock",          "Queue::Guard::lock(int)", "threadLock",
        "pool_acquire", "sqlite3_mutex_enter", "pthreadMutexEnter",       "Spin::trylock"};
    static const char *const others[] = {"write_block",           "clock",  "readBlock",
                                         "Store::deadlock_check", "unlock", "flock_all"};
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        assert_string_equal(place_of_lock(symbols, wrappers[i]), "caller");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_string_equal(place_of_lock(symbols, others[i]), others[i]);
    symbols__free(symbols);
}

/* Whoever waits by something else, in code that takes a lock, waits for a lock: the place is who
 * wants it; where that has no name, what takes it. */
static void a_lock_may_be_made_of_something_else(void **state)
{
    struct symbols *symbols = symbols__new();
    (void)state;
    enum { PARK = 0xa00, ENTER = 0xa10, USER = 0xa20, MADE = 0xa30 };
    static const struct {
        uint64_t address;
        struct symbol symbol;
    } known[] = {
        {PARK, {.function = "os::park()", .module = "/home/a/libvm.so"}},
        {ENTER, {.function = "ObjectMonitor::enter(Thread*)", .module = "/home/a/libvm.so"}},
        {USER, {.function = "store", .module = "/home/a/app"}},
        {MADE, {.function = "[0xa30]", .module = ""}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        symbols__put(symbols, 0, known[i].address, &known[i].symbol);
    uint64_t frames[] = {PARK, ENTER, USER};
    struct profile_stack stack = {.frames = frames, .frame_count = 3};
    struct class_definition class = {.at = {.kind = CLASS_CONDITION, .site = PARK},
                                     .stacks = VEC_OF(struct profile_stack)};
    vec__push(&class.stacks, &stack);
    assert_true(program_frame__takes_lock(symbols, &class));
    assert_string_equal(program_frame__of_class(symbols, &class)->function, "store");
    frames[2] = MADE;
    assert_string_equal(program_frame__of_class(symbols, &class)->function,
                        "ObjectMonitor::enter(Thread*)");
    frames[1] = USER;
    assert_false(program_frame__takes_lock(symbols, &class));
    assert_string_equal(program_frame__of_class(symbols, &class)->function, "os::park()");
    class.at.kind = CLASS_DISK;
    frames[1] = ENTER;
    assert_false(program_frame__takes_lock(symbols, &class));
    vec__free(&class.stacks);
    symbols__free(symbols);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, scene__setup, scene__teardown)
    const struct CMUnitTest tests[] = {
        TEST(locks_of_one_place_are_one_finding),
        TEST(places_of_one_lock_are_one_finding),
        TEST(a_finding_of_one_lock_has_its_places_as_parts),
        TEST(threads_of_one_start_routine_are_one_role),
        TEST(times_of_roles_add_up_to_their_lives),
        TEST(two_ends_that_wait_for_each_other_in_turn_are_ranked),
        TEST(stages_that_wait_for_the_slowest_lose_nothing),
        TEST(two_threads_for_the_slowest_stage_halve_it),
        TEST(stages_are_workers_however_little_they_do),
        TEST(who_waits_for_work_of_one_that_nobody_feeds_is_idle),
        TEST(a_stage_between_two_queues_need_not_have_waited),
        TEST(who_waits_for_work_when_the_trace_ends_is_idle),
        TEST(who_waits_on_after_a_timeout_waits_for_a_turn),
        TEST(a_pool_that_waits_for_work_is_idle),
        TEST(who_waits_for_a_lock_is_not_idle),
        TEST(those_who_park_until_their_turn_wait_for_each_other),
        TEST(workers_that_park_until_there_is_work_are_idle),
        TEST(a_gain_is_no_more_than_what_was_lost),
        TEST(what_the_kernel_does_to_wake_others_goes_with_the_waits),
        TEST(recording_that_nobody_works_beside_is_no_time_of_the_run),
        TEST(what_comes_late_to_a_latch_can_be_shared),
        TEST(yields_of_a_wait_are_part_of_it),
        TEST(who_sleeps_once_in_a_loop_that_asks_polls),
        TEST(two_that_ask_each_other_are_one_finding),
        TEST(who_sleeps_between_works_keeps_time),
        TEST(calls_for_memory_are_one_finding),
        TEST(memory_that_is_given_back_each_time_may_be_kept),
        TEST(who_is_joined_at_once_ran_until_told),
        TEST(threads_that_are_alike_do_not_tell_each_other),
        TEST(who_joins_is_not_told_by_those_it_joins),
        TEST(names_of_the_program_say_nothing),
        TEST(what_is_lost_one_after_another_adds_up),
        TEST(work_that_is_waited_for_is_shared),
        TEST(who_comes_to_a_barrier_again_and_again_works),
        TEST(who_waits_for_what_is_made_once_works),
        TEST(sleeps_of_who_is_waited_for_stay),
        TEST(rusts_library_is_not_the_program),
        cmocka_unit_test(a_barrier_of_openmp_is_of_its_region),
        cmocka_unit_test(who_only_takes_a_lock_is_no_place),
        cmocka_unit_test(a_lock_may_be_made_of_something_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
