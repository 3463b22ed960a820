#include "scene.h"

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

#define MUTEX(site) HEURT_SITE(site, HEURT_LOCK_MUTEX)
#define CALL(call) HEURT_SITE(0x9000, HEURT_IO_##call)
#define DESCRIPTOR(fd, kind) ((uint64_t)HEURT_DESCRIPTOR_##kind << 32 | (fd))

static void define_functions(struct scene *scene)
{
    scene__function(scene, 0, F, 0x401000, "f", "");
    scene__function(scene, 0, G, 0x401100, "g", "");
    scene__function(scene, 0, H, 0x401200, "h", "");
}

static void call(struct scene *scene, uint32_t thread, uint32_t id, uint64_t from, uint64_t to)
{
    PUT(scene, thread, from, id);
    PUT(scene, thread, to, id LEFT);
}

static void check_why(const struct profile_class *class, unsigned which, int64_t ns)
{
    if (class->why_ns[which] != ns)
        fail_msg("%s: component %d is %ld, not %ld", class->what.at.function, which,
                 (long)class->why_ns[which], (long)ns);
}

/* ---- scores ---------------------------------------------------------------------------------- */

static void score_is_excess_over_lifetime(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    call(scene, 0, F, 1100, 1250);
    call(scene, 0, F, 1300, 1400);
    call(scene, 0, F, 1500, 1800);
    scene__end(scene, 0, 2000);
    scene__start(scene, 1, 1500);
    call(scene, 1, F, 1510, 1600);
    call(scene, 1, F, 1600, 1800);
    scene__end(scene, 1, 1900);
    const struct profile *profile = scene__profile(scene);
    const struct profile_class *f = scene__class(scene, CLASS_CALL, "f", 0, 0);
    assert_int_equal(f->count, 5);
    assert_int_equal(f->what.at.address, 0x401000);
    assert_int_equal(f->min_ns, 90); /* of thread 1, for both */
    assert_int_equal(f->max_ns, 300);
    assert_int_equal(f->sum_ns, 550 + 290);
    assert_int_equal(f->excess_ns, 280 + 110);
    assert_int_equal(f->threads.count, 2);
    const struct profile_thread_row *first = VEC_AT(&f->threads, struct profile_thread_row, 0);
    assert_int_equal(first->thread, 0);
    assert_int_equal(first->excess_ns, 280);
    assert_true(first->score > 0.27999 && first->score < 0.28001);
    assert_int_equal(first[1].thread, 1);
    assert_int_equal(first[1].count, 2);
    assert_int_equal(first[1].excess_ns, 110);
    assert_true(first[1].score > 0.27499 && first[1].score < 0.27501);
    assert_true(f->score == first->score);
    assert_true(f->score_all > 390.0 / 1400 - 1e-6 && f->score_all < 390.0 / 1400 + 1e-6);
    assert_int_equal(f->confidence, CONFIDENCE_WEAK);
    assert_int_equal(profile->events, 14);
    assert_int_equal(profile->lifetime_sum_ns, 1400);
    assert_int_equal(profile->wall_ns, 1000);
    assert_int_equal(VEC_AT(&profile->threads, struct profile_thread, 0)->cpu_ns, UINT64_MAX);
}

/* What the recording took for itself is in no span; a time stamp taken before it may be written
 * behind it. */
static void what_occurs_once_on_a_thread_is_not_seen(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1000, G); /* once: only what occurs twice in it is seen */
    call(scene, 0, F, 1100, 1200);
    call(scene, 0, F, 1300, 1500);
    PUT(scene, 0, 1800, G LEFT);
    scene__end(scene, 0, 2000);
    scene__start(scene, 1, 1000);
    call(scene, 1, F, 1000, 1600); /* once on this thread */
    call(scene, 1, H, 1600, 1700);
    call(scene, 1, H, 1700, 1850);
    scene__end(scene, 1, 2000);
    assert_int_equal(scene__profile(scene)->seen_ns, 300 + 250);
}

static void pauses_are_in_no_span(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1100, F);
    PUT(scene, 0, 1150, G);
    PUT(scene, 0, 1300, HEURT_EVENT_PAUSED, 100);
    PUT(scene, 0, 1190, G | 1);
    PUT(scene, 0, 1400, F | 1);
    call(scene, 0, G, 1500, 1520);
    scene__end(scene, 0, 2000);
    const struct profile *profile = scene__profile(scene);
    assert_int_equal(scene__class(scene, CLASS_CALL, "f", 0, 0)->sum_ns, 200);
    assert_int_equal(scene__class(scene, CLASS_CALL, "g", 0, 0)->sum_ns, 40 + 20);
    assert_int_equal(scene__class(scene, CLASS_CALL, "g", 0, 0)->min_ns, 20);
    assert_int_equal(profile->events, 8);
}

static void hundred_occurrences_are_not_weak(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    PUT(scene, 0, 1000, HEURT_EVENT_KERNEL, 0);
    for (uint64_t i = 0; i < 100; i++)
        call(scene, 0, F, 1000 + i * 10, 1005 + i * 10);
    for (uint64_t i = 0; i < 99; i++)
        call(scene, 0, G, 2000 + i * 10, 2005 + i * 10);
    scene__profile(scene);
    assert_int_equal(scene__class(scene, CLASS_CALL, "f", 0, 0)->confidence, CONFIDENCE_MEASURED);
    assert_int_equal(scene__class(scene, CLASS_CALL, "g", 0, 0)->confidence, CONFIDENCE_WEAK);
}

/* A call of 10 ticks, and one that was preempted for all but 10. */
static void preempted(struct scene *scene, uint32_t thread, uint32_t id, uint64_t from, uint64_t to)
{
    call(scene, thread, id, from, from + 10);
    PUT(scene, thread, from + 10, id);
    PUT(scene, thread, to, HEURT_EVENT_OFF_CPU, HEURT_OFF(to - from - 20, HEURT_OFF_PREEMPTED),
        HEURT_BACK(HEURT_NOT_KNOWN, 0), 0);
    PUT(scene, thread, to, id LEFT);
}

static void classes_are_ranked(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__function(scene, 0, 1030, 0x401300, "ignored", "");
    scene__function(scene, 0, 1032, 0x401400, "unclear", "");
    scene__ignore(scene, "ign*");
    scene__start(scene, 0, 1000);
    preempted(scene, 0, F, 1000, 1120); /* excess 100: score 0.1 */
    preempted(scene, 0, G, 1200, 1470); /* 250: 0.25 */
    preempted(scene, 0, H, 1500, 1570); /* 50 */
    preempted(scene, 0, 1030, 1600, 1900);
    PUT(scene, 0, 1900, SLEEP, HEURT_SITE(0x9000, HEURT_SLEEP_USLEEP), 1);
    PUT(scene, 0, 1901, SLEEP LEFT);
    PUT(scene, 0, 1901, SLEEP, HEURT_SITE(0x9000, HEURT_SLEEP_USLEEP), 1);
    PUT(scene, 0, 1990, SLEEP LEFT);
    scene__end(scene, 0, 2000);
    /* A short thread with a high score goes before a longer loss below the threshold. */
    scene__start(scene, 1, 1000);
    preempted(scene, 1, H, 1000, 1040); /* 20 of 50 */
    scene__end(scene, 1, 1050);
    /* Nobody knows why: behind all of them. */
    scene__start(scene, 2, 1000);
    call(scene, 2, 1032, 1000, 1010);
    call(scene, 2, 1032, 1010, 2000);
    scene__end(scene, 2, 2000);
    const struct profile *profile = scene__profile(scene);
    static const char *const order[] = {"g", "h", "f", "unclear", "usleep", "ignored"};
    assert_int_equal(profile->classes.count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(VEC_AT(&profile->classes, struct profile_class, i)->what.at.function,
                            order[i]);
    assert_true(scene__class(scene, CLASS_CALL, "ignored", 0, 0)->what.ignored);
    assert_false(scene__class(scene, CLASS_CALL, "f", 0, 0)->what.ignored);
}

/* What a call loses in another one is the other one's. */
static void exclusive_losses_rank(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    for (uint64_t i = 0; i < 2; i++) {
        PUT(scene, 0, 1000 + 100 * i, F);
        PUT(scene, 0, 1010 + 100 * i, G);
        if (i)
            PUT(scene, 0, 1170, HEURT_EVENT_OFF_CPU, HEURT_OFF(50, HEURT_OFF_PREEMPTED),
                HEURT_BACK(HEURT_NOT_KNOWN, 0), 0);
        PUT(scene, 0, 1020 + 150 * i, G LEFT);
        PUT(scene, 0, 1022 + 155 * i, F LEFT);
    }
    scene__end(scene, 0, 1300);
    const struct profile *profile = scene__profile(scene);
    const struct profile_class *first = VEC_AT(&profile->classes, struct profile_class, 0);
    assert_string_equal(first->what.at.function, "g");
    assert_int_equal(first->exclusive_excess_ns, first->excess_ns);
    assert_int_equal(first[1].exclusive_excess_ns, first[1].excess_ns - first->excess_ns);
    assert_int_equal(profile->audit.own_excess, first[1].excess_ns);
}

/* ---- components ------------------------------------------------------------------------------ */

static void waits_reach_everything_around_them(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    call(scene, 0, F, 1000, 1100); /* the reference: 100 of rest */
    PUT(scene, 0, 1100, F);
    PUT(scene, 0, 1110, G);
    PUT(scene, 0, 1120, WAIT, MUTEX(0x9000), 0x7000);
    PUT(scene, 0, 1150, WAIT LEFT, 0);
    PUT(scene, 0, 1200, G LEFT);
    PUT(scene, 0, 1210, IO, CALL(READ), DESCRIPTOR(3, FILE), 512);
    PUT(scene, 0, 1217, IO LEFT, 512);
    PUT(scene, 0, 1300, F LEFT);
    scene__end(scene, 0, 2000);
    const struct profile *profile = scene__profile(scene);
    const struct profile_class *f = scene__class(scene, CLASS_CALL, "f", 0, 0);
    assert_int_equal(f->excess_ns, 100);
    check_why(f, COMPONENT_LOCK, 30);
    check_why(f, COMPONENT_DISK, 7);
    check_why(f, REASON_UNEXPLAINED, 63);
    const struct profile_class *g = scene__class(scene, CLASS_CALL, "g", 0, 0);
    assert_int_equal(g->accumulator->component_sum[COMPONENT_LOCK], 30);
    assert_int_equal(g->accumulator->component_sum[COMPONENT_RUNNING], 60);
    const struct profile_thread *thread = VEC_AT(&profile->threads, struct profile_thread, 0);
    assert_int_equal(thread->lifetime_ns, 1000);
    assert_int_equal(thread->component_ns[COMPONENT_LOCK], 30);
    assert_int_equal(thread->component_ns[COMPONENT_DISK], 7);
    assert_int_equal(thread->component_ns[COMPONENT_RUNNING], 963);
}

/* 20 of each f are the recording's own. A wait that does not fit in what is left is cut. */
static void the_recordings_bias_is_taken_off(void **state)
{
    struct scene *scene = *state;
    scene__costs(scene, 20, 45);
    scene__function(scene, 0, F, 0x401000, "f", "");
    scene__costs(scene, 0, 7);
    scene__function(scene, 0, G, 0x401100, "g", "");
    scene__start(scene, 0, 1000);
    call(scene, 0, F, 1000, 1120);
    call(scene, 0, F, 1200, 1210); /* shorter than the bias: it took no time */
    PUT(scene, 0, 1300, F);
    PUT(scene, 0, 1310, WAIT, MUTEX(0x9000), 0x7000);
    PUT(scene, 0, 1390, WAIT LEFT, 0);
    PUT(scene, 0, 1395, F LEFT);
    call(scene, 0, G, 1400, 1410);
    PUT(scene, 0, 1500, HEURT_EVENT_PAUSED, 25);
    scene__end(scene, 0, 2000);
    const struct profile *profile = scene__profile(scene);
    const struct profile_class *f = scene__class(scene, CLASS_CALL, "f", 0, 0);
    assert_int_equal(f->count, 3);
    assert_int_equal(f->min_ns, 0);
    assert_int_equal(f->sum_ns, 100 + 0 + 75);
    assert_int_equal(f->accumulator->component_sum[COMPONENT_LOCK], 75);
    assert_int_equal(f->accumulator->component_sum[COMPONENT_RUNNING], 100);
    check_why(f, COMPONENT_LOCK, 75);
    check_why(f, REASON_UNEXPLAINED, 100);
    assert_int_equal(scene__class(scene, CLASS_CALL, "g", 0, 0)->sum_ns, 10);
    assert_int_equal(profile->overhead_ns, 3 * 45 + 7 + 25);
}

/* Beside the events: to begin a process' record, and what each of its threads costs the kernel. */
static void lives_cost_too(void **state)
{
    struct scene *scene = *state;
    const struct heurt_process_costs costs = {5000, 300};
    assert_int_equal(
        trace_writer__define(scene->writer, 0, HEURT_DEFINITION_COSTS, &costs, sizeof costs), 0);
    for (uint32_t i = 0; i < 2; i++) {
        scene__start(scene, i, 1000);
        scene__end(scene, i, 2000);
    }
    assert_int_equal(scene__profile(scene)->overhead_ns, 5000 + 2 * 300);
}

static void waits_within_a_wait_are_part_of_it(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1000, F);
    PUT(scene, 0, 1100, WAIT, MUTEX(0x9000), 0x7000);
    PUT(scene, 0, 1110, G); /* a signal handler */
    PUT(scene, 0, 1120, SLEEP, HEURT_SITE(0x9000, HEURT_SLEEP_NANOSLEEP), 20);
    PUT(scene, 0, 1140, SLEEP LEFT);
    PUT(scene, 0, 1150, G LEFT);
    PUT(scene, 0, 1200, WAIT LEFT, 0);
    PUT(scene, 0, 1300, F LEFT);
    scene__end(scene, 0, 2000);
    const struct profile *profile = scene__profile(scene);
    const struct accumulator *f = scene__class(scene, CLASS_CALL, "f", 0, 0)->accumulator;
    assert_int_equal(f->component_sum[COMPONENT_LOCK], 100);
    assert_int_equal(f->component_sum[COMPONENT_SLEEP], 0);
    assert_int_equal(f->component_sum[COMPONENT_RUNNING], 200);
    const struct accumulator *g = scene__class(scene, CLASS_CALL, "g", 0, 0)->accumulator;
    assert_int_equal(g->component_sum[COMPONENT_SLEEP], 20);
    const struct profile_thread *thread = VEC_AT(&profile->threads, struct profile_thread, 0);
    assert_int_equal(thread->component_ns[COMPONENT_LOCK], 100);
    assert_int_equal(thread->component_ns[COMPONENT_SLEEP], 0);
    assert_int_equal(scene__class(scene, CLASS_SLEEP, "nanosleep", 0, 0)->sum_ns, 20);
}

static void each_wait_has_its_component(void **state)
{
    struct scene *scene = *state;
    static const struct {
        uint32_t id;
        enum component component;
        enum class_kind kind;
        const char *function;
        bool idle, has_object;
    } spans[] = {
        {HEURT_EVENT_LOCK_WAIT, COMPONENT_LOCK, CLASS_LOCK, "pthread_mutex_lock", false, true},
        /* Conditions and semaphores that nobody signals are for work. */
        {HEURT_EVENT_CONDITION_WAIT, COMPONENT_CONDITION, CLASS_CONDITION, "pthread_cond_wait",
         true, true},
        {HEURT_EVENT_BARRIER_WAIT, COMPONENT_BARRIER, CLASS_BARRIER, "pthread_barrier_wait", false,
         true},
        {HEURT_EVENT_SEMAPHORE_WAIT, COMPONENT_CONDITION, CLASS_SEMAPHORE, "sem_wait", true, true},
        {HEURT_EVENT_JOIN, COMPONENT_OTHER_BLOCKED, CLASS_JOIN, "pthread_join", true, false},
        {HEURT_EVENT_FUTEX_WAIT, COMPONENT_OTHER_BLOCKED, CLASS_FUTEX, "futex", false, true},
    };
    enum { SPANS = sizeof spans / sizeof *spans };
    uint64_t tick = 1000, expected[COMPONENTS] = {0};
    for (size_t i = 0; i < SPANS; i++) {
        uint64_t payload[] = {0, 0x9000, 0x7000, 0x7100};
        size_t words = spans[i].id == HEURT_EVENT_CONDITION_WAIT ? 3 : 2;
        scene__put(scene, 0, tick, spans[i].id, payload, words + 1);
        tick += 10 + i;
        expected[spans[i].component] += 10 + i;
        PUT(scene, 0, tick, spans[i].id LEFT, 0);
    }
    const struct profile *profile = scene__profile(scene);
    assert_int_equal(profile->classes.count, SPANS);
    for (size_t i = 0; i < SPANS; i++) {
        const struct profile_class *class =
            scene__class(scene, spans[i].kind, spans[i].function, 0x9000, 0);
        assert_int_equal(class->sum_ns, 10 + i);
        assert_int_equal(class->idle, spans[i].idle);
        assert_int_equal(class->what.has_object, spans[i].has_object);
        assert_int_equal(class->what.object, spans[i].has_object ? 0x7000 : 0);
        assert_int_equal(class->accumulator->component_sum[spans[i].component], 10 + i);
    }
    assert_memory_equal(VEC_AT(&profile->threads, struct profile_thread, 0)->component_ns, expected,
                        sizeof expected);
}

/* What waits for other threads would, undisturbed, not wait: one occurrence is enough. What reads a
 * disk is compared with its fastest read. */
static void one_wait_is_all_lost(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1100, HEURT_EVENT_FUTEX_WAIT, 0x9000, 0x7000);
    PUT(scene, 0, 1700, HEURT_EVENT_FUTEX_WAIT LEFT, 0);
    PUT(scene, 0, 1700, HEURT_EVENT_BARRIER_WAIT, 0x9000, 0x7100);
    PUT(scene, 0, 1750, HEURT_EVENT_OFF_CPU, HEURT_OFF(30, HEURT_OFF_PREEMPTED),
        HEURT_BACK(HEURT_NOT_KNOWN, 0), 0);
    PUT(scene, 0, 1800, HEURT_EVENT_BARRIER_WAIT LEFT, 0);
    PUT(scene, 0, 1800, IO, CALL(READ), DESCRIPTOR(4, FILE), 10);
    PUT(scene, 0, 1900, IO LEFT, 10);
    scene__end(scene, 0, 2000);
    scene__profile(scene);
    const struct profile_class *futex = scene__class(scene, CLASS_FUTEX, "futex", 0x9000, 0);
    assert_int_equal(futex->excess_ns, 600);
    assert_int_equal(futex->exclusive_excess_ns, 600);
    assert_int_equal(futex->min_ns, 600);
    assert_int_equal(futex->p50_ns, 600);
    assert_true(futex->score > 0.59 && futex->score < 0.61);
    assert_int_equal(futex->verdict, VERDICT_INTERFERENCE);
    assert_int_equal(futex->confidence, CONFIDENCE_MEASURED);
    const struct profile_class *barrier =
        scene__class(scene, CLASS_BARRIER, "pthread_barrier_wait", 0x9000, 0);
    assert_int_equal(barrier->excess_ns, 100);
    check_why(barrier, (unsigned)COMPONENT_BARRIER, 70);
    check_why(barrier, (unsigned)COMPONENT_RUNNABLE, 30);
    assert_int_equal(scene__class(scene, CLASS_DISK, "read", 0x9000, 0)->excess_ns, 0);
}

/* The kernel calls a thread preempted that yields; but it gave the CPU away while it waited. */
static void who_yields_is_not_preempted(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1100, SLEEP, HEURT_SITE(0x9000, HEURT_SLEEP_YIELD), 0);
    PUT(scene, 0, 1400, HEURT_EVENT_OFF_CPU, HEURT_OFF(200, HEURT_OFF_PREEMPTED),
        HEURT_BACK(HEURT_NOT_KNOWN, 0), 0);
    PUT(scene, 0, 1500, SLEEP LEFT);
    scene__end(scene, 0, 2000);
    scene__profile(scene);
    const struct profile_class *yield = scene__class(scene, CLASS_YIELD, "sched_yield", 0x9000, 0);
    check_why(yield, (unsigned)COMPONENT_OTHER_BLOCKED, 400);
    check_why(yield, (unsigned)COMPONENT_RUNNABLE, 0);
}

static void clock_steps_back_to_nothing(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1200, F);
    PUT(scene, 0, 1190, WAIT, MUTEX(0x9000), 0x7000);
    PUT(scene, 0, 1290, WAIT LEFT, 0);
    PUT(scene, 0, 1250, F LEFT); /* 50, of which 100 were waited */
    call(scene, 0, G, 1300, 1280);
    scene__end(scene, 0, 2000);
    scene__profile(scene);
    const struct accumulator *f = scene__class(scene, CLASS_CALL, "f", 0, 0)->accumulator;
    assert_int_equal(f->sum, 50);
    assert_int_equal(f->component_sum[COMPONENT_LOCK], 50);
    assert_int_equal(f->component_sum[COMPONENT_RUNNING], 0);
    assert_int_equal(scene__class(scene, CLASS_CALL, "g", 0, 0)->max_ns, 0);
}

/* ---- how spans end --------------------------------------------------------------------------- */

static void recursion_is_lost_once(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1000, F);
    PUT(scene, 0, 1100, F);
    PUT(scene, 0, 1200, F);
    PUT(scene, 0, 1250, F LEFT); /* 50 */
    PUT(scene, 0, 1800, F LEFT); /* 700 */
    PUT(scene, 0, 2000, F LEFT); /* 1000 */
    scene__end(scene, 0, 2000);
    scene__profile(scene);
    const struct profile_class *f = scene__class(scene, CLASS_CALL, "f", 0, 0);
    assert_int_equal(f->count, 3);
    assert_int_equal(f->min_ns, 50);
    assert_int_equal(f->sum_ns, 1750);
    assert_int_equal(f->excess_ns, 950);
    check_why(f, REASON_UNEXPLAINED, 950);
    assert_true(f->score > 0.9499 && f->score < 0.9501);
    assert_int_equal(VEC_AT(&f->threads, struct profile_thread_row, 0)->count, 3);
}

static void outer_leave_closes_what_is_inside(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    PUT(scene, 0, 1000, F);
    PUT(scene, 0, 1010, G);
    PUT(scene, 0, 1020, H);
    PUT(scene, 0, 1030, WAIT, MUTEX(0x9000), 0x7000);
    PUT(scene, 0, 1080, WAIT LEFT, 0);
    PUT(scene, 0, 1100, F LEFT); /* longjmp */
    PUT(scene, 0, 1110, G LEFT); /* of nothing that is open */
    const struct profile *profile = scene__profile(scene);
    const struct profile_class *f = scene__class(scene, CLASS_CALL, "f", 0, 0);
    assert_int_equal(f->count, 1);
    assert_int_equal(f->unfinished, 0);
    assert_int_equal(f->accumulator->component_sum[COMPONENT_LOCK], 50);
    const struct profile_class *g = scene__class(scene, CLASS_CALL, "g", 0, 0);
    assert_int_equal(g->count, 0);
    assert_int_equal(g->unfinished, 1);
    assert_int_equal(g->sum_ns, 0);
    assert_int_equal(scene__class(scene, CLASS_CALL, "h", 0, 0)->unfinished, 1);
    assert_int_equal(profile->unmatched, 1);
}

static void unwinding_ends_the_innermost_function(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__marker(scene, 0, 1030, HEURT_FUNCTION_REGION, "region", "a.c", 7);
    PUT(scene, 0, 1000, F);
    PUT(scene, 0, 1010, G);
    PUT(scene, 0, 1015, 1030);
    PUT(scene, 0, 1018, HEURT_EVENT_CONDITION_WAIT, 0x9000, 0x7000, 0x7100);
    PUT(scene, 0, 1060, HEURT_EVENT_UNWOUND);
    PUT(scene, 0, 1100, F LEFT);
    scene__profile(scene);
    const struct profile_class *g = scene__class(scene, CLASS_CALL, "g", 0, 0);
    assert_int_equal(g->count, 1);
    assert_int_equal(g->sum_ns, 50);
    assert_int_equal(g->unfinished, 0);
    assert_int_equal(scene__class(scene, CLASS_CALL, "f", 0, 0)->sum_ns, 100);
    assert_int_equal(scene__class(scene, CLASS_REGION, "region", 0, 0)->unfinished, 1);
    assert_int_equal(scene__class(scene, CLASS_CONDITION, "pthread_cond_wait", 0, 0)->unfinished,
                     1);
}

static void the_last_iterations_of_a_loop_that_was_left_are_no_occurrence(void **state)
{
    enum { OUTER = HEURT_EVENT_LOOPS, INNER = HEURT_EVENT_LOOPS + 2 };
    struct scene *scene = *state;
    define_functions(scene);
    scene__marker(scene, 0, OUTER, HEURT_FUNCTION_LOOP, "outer", "a.c", 7);
    scene__marker(scene, 0, INNER, HEURT_FUNCTION_LOOP, "inner", "a.c", 9);
    PUT(scene, 0, 1000, F);
    call(scene, 0, OUTER, 1010, 1110);
    PUT(scene, 0, 1110, OUTER);
    call(scene, 0, INNER, 1120, 1140);
    PUT(scene, 0, 1140, INNER);
    PUT(scene, 0, 1150, HEURT_EVENT_LOOP_LEFT, INNER);
    PUT(scene, 0, 1160, HEURT_EVENT_LOOP_LEFT, INNER); /* is not open any more */
    PUT(scene, 0, 1200, OUTER LEFT);
    PUT(scene, 0, 1200, OUTER);
    PUT(scene, 0, 1210, INNER);
    PUT(scene, 0, 1250, HEURT_EVENT_LOOP_LEFT, OUTER); /* what is in it was left with it */
    call(scene, 0, OUTER, 1260, 1410);                 /* the next time, not inside of the last */
    PUT(scene, 0, 1500, F LEFT);
    scene__profile(scene);
    const struct profile_class *outer = scene__class(scene, CLASS_LOOP, "outer", 0, 0);
    const struct profile_class *inner = scene__class(scene, CLASS_LOOP, "inner", 0, 0);
    assert_int_equal(outer->count, 3);
    assert_int_equal(outer->sum_ns, 100 + 90 + 150);
    assert_int_equal(outer->excess_ns, 10 + 60);
    assert_int_equal(inner->count, 1);
    assert_int_equal(inner->sum_ns, 20);
    assert_int_equal(scene__class(scene, CLASS_CALL, "f", 0, 0)->sum_ns, 500);
}

static void lost_events_drop_what_is_open(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    PUT(scene, 0, 1000, F);
    PUT(scene, 0, 1010, G);
    PUT(scene, 0, 1020, HEURT_EVENT_LOST, 5);
    PUT(scene, 0, 1030, G LEFT);
    call(scene, 0, G, 1040, 1050);
    PUT(scene, 0, 1100, F LEFT);
    const struct profile *profile = scene__profile(scene);
    const struct profile_class *g = scene__class(scene, CLASS_CALL, "g", 0, 0);
    assert_int_equal(g->count, 1);
    assert_int_equal(g->sum_ns, 10);
    assert_int_equal(g->unfinished, 1);
    assert_int_equal(scene__class(scene, CLASS_CALL, "f", 0, 0)->unfinished, 1);
    assert_int_equal(scene__class(scene, CLASS_CALL, "f", 0, 0)->count, 0);
    assert_int_equal(profile->unmatched, 2);
}

static void sampled(struct scene *scene, uint64_t tick, uint32_t id, uint32_t block)
{
    PUT(scene, 0, tick, HEURT_EVENT_SAMPLED, HEURT_SAMPLED(id, block));
}

/* One occurrence of each block is there; the others count as if they had been like it. */
static void a_drawn_occurrence_stands_for_its_block(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    call(scene, 0, F, 1010, 1060);
    sampled(scene, 1100, F, 10);
    PUT(scene, 0, 1100, F);
    PUT(scene, 0, 1110, WAIT, MUTEX(0x9000), 0x100);
    PUT(scene, 0, 1180, WAIT LEFT, 0);
    PUT(scene, 0, 1200, F LEFT);
    sampled(scene, 1300, G, 200);
    call(scene, 0, F, 1310, 1340);
    call(scene, 0, G, 1400, 1401);
    call(scene, 0, G, 1410, 1413);
    scene__end(scene, 0, 11000);
    scene__profile(scene);
    const struct profile_class *f = scene__class(scene, CLASS_CALL, "f", 0, 0);
    assert_int_equal(f->count, 12);
    assert_int_equal(f->recorded, 3);
    assert_int_equal(f->sum_ns, 50 + 10 * 100 + 30);
    assert_int_equal(f->min_ns, 30);
    assert_int_equal(f->max_ns, 100);
    assert_in_range(f->p50_ns, 90, 100); /* exact to a bucket */
    assert_int_equal(f->excess_ns, 1080 - 12 * 30);
    assert_true(f->score == 720 / 10000.0);
    check_why(f, COMPONENT_LOCK, 10 * 70);
    check_why(f, REASON_UNEXPLAINED, 720 - 700);
    /* What another function did in between does not take the weight. */
    const struct profile_class *g = scene__class(scene, CLASS_CALL, "g", 0, 0);
    assert_int_equal(g->count, 201);
    assert_int_equal(g->sum_ns, 203);
    assert_int_equal(VEC_AT(&g->threads, struct profile_thread_row, 0)->count, 201);
    /* Of the wait itself there was one. */
    assert_int_equal(scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", 0, 0)->count, 1);
}

static void sampled_classes_are_estimated(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1000, HEURT_EVENT_KERNEL, 0);
    for (unsigned i = 0; i < 100; i++) {
        call(scene, 0, F, 2000 + 100 * i, 2000 + 100 * i + 10 + i % 2);
        sampled(scene, 2050 + 100 * i, G, 16);
        call(scene, 0, G, 2050 + 100 * i, 2050 + 100 * i + 10 + i % 2 * 2);
    }
    scene__end(scene, 0, 20000);
    scene__profile(scene);
    const struct profile_class *f = scene__class(scene, CLASS_CALL, "f", 0, 0);
    const struct profile_class *g = scene__class(scene, CLASS_CALL, "g", 0, 0);
    assert_int_equal(f->confidence, CONFIDENCE_MEASURED);
    assert_int_equal(f->sum_error_ns, 0);
    assert_int_equal(g->confidence, CONFIDENCE_ESTIMATED);
    assert_int_equal(g->count, 1600);
    /* σ is 1, and there are 100 drawn ones with a weight of 16: 16 · √100. */
    assert_int_equal(g->sum_error_ns, 160);
}

/* Handlers that interrupt between the two events: each weight finds its function. */
static void weights_wait_for_their_functions(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    sampled(scene, 1100, F, 5);
    sampled(scene, 1110, G, 7);
    sampled(scene, 1120, H, 11);
    call(scene, 0, H, 1130, 1131);
    call(scene, 0, G, 1140, 1141);
    call(scene, 0, F, 1150, 1151);
    sampled(scene, 1160, F, 0);
    call(scene, 0, F, 1170, 1171);
    sampled(scene, 1180, G, 9);
    PUT(scene, 0, 1190, HEURT_EVENT_LOST, 1);
    call(scene, 0, G, 1200, 1201);
    scene__end(scene, 0, 2000);
    scene__profile(scene);
    assert_int_equal(scene__class(scene, CLASS_CALL, "f", 0, 0)->count, 6);
    assert_int_equal(scene__class(scene, CLASS_CALL, "g", 0, 0)->count, 8);
    assert_int_equal(scene__class(scene, CLASS_CALL, "h", 0, 0)->count, 11);
}

static void recursion_starts_anew_on_each_thread(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1000, F);
    scene__end(scene, 0, 1100); /* as by pthread_exit */
    scene__start(scene, 1, 1000);
    call(scene, 1, F, 1000, 1010);
    call(scene, 1, F, 1010, 1040);
    scene__end(scene, 1, 1100);
    scene__profile(scene);
    const struct profile_class *f = scene__class(scene, CLASS_CALL, "f", 0, 0);
    assert_int_equal(f->unfinished, 1);
    assert_int_equal(f->excess_ns, 20);
}

/* ---- what makes a class ---------------------------------------------------------------------- */

static void locks_are_told_apart_by_site_and_object(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, ACQUIRED, MUTEX(0x9000), 0x7000);
    PUT(scene, 0, 1001, HEURT_EVENT_LOCK_RELEASED, MUTEX(0x9100), 0x7000);
    PUT(scene, 0, 1010, WAIT, MUTEX(0x9000), 0x7000);
    PUT(scene, 0, 1030, WAIT LEFT, 110); /* timed out */
    PUT(scene, 0, 1040, HEURT_EVENT_LOCK_BUSY, MUTEX(0x9000), 0x7000);
    PUT(scene, 0, 1050, ACQUIRED, MUTEX(0x9000), 0x7008);
    PUT(scene, 0, 1060, ACQUIRED, MUTEX(0x9200), 0x7000);
    PUT(scene, 0, 1070, ACQUIRED, HEURT_SITE(0x9000, HEURT_LOCK_READ), 0x7010);
    PUT(scene, 0, 1070, ACQUIRED, HEURT_SITE(0x9000, HEURT_LOCK_WRITE), 0x7010);
    PUT(scene, 0, 1070, ACQUIRED, HEURT_SITE(0x9000, HEURT_LOCK_SPIN), 0x7020);
    PUT(scene, 0, 1080, HEURT_EVENT_SEMAPHORE_ACQUIRED, 0x9000, 0x7030);
    PUT(scene, 0, 1090, HEURT_EVENT_SEMAPHORE_WAIT, 0x9000, 0x7030);
    PUT(scene, 0, 1099, HEURT_EVENT_SEMAPHORE_WAIT LEFT, 0);
    scene__profile(scene);
    const struct profile_class *lock =
        scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", 0x9000, 0x7000);
    assert_int_equal(lock->count, 2);
    assert_int_equal(lock->contended, 1);
    assert_int_equal(lock->min_ns, 0);
    assert_int_equal(lock->excess_ns, 20);
    check_why(lock, COMPONENT_LOCK, 20);
    assert_int_equal(scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", 0, 0x7008)->count, 1);
    assert_int_equal(scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", 0x9200, 0)->count, 1);
    scene__class(scene, CLASS_LOCK, "pthread_rwlock_rdlock", 0x9000, 0x7010);
    scene__class(scene, CLASS_LOCK, "pthread_rwlock_wrlock", 0x9000, 0x7010);
    scene__class(scene, CLASS_LOCK, "pthread_spin_lock", 0x9000, 0x7020);
    assert_int_equal(scene__classes(scene, CLASS_LOCK), 6);
    const struct profile_class *semaphore = scene__class(scene, CLASS_SEMAPHORE, "sem_wait", 0, 0);
    assert_int_equal(semaphore->count, 2);
    assert_int_equal(semaphore->contended, 1);
    assert_int_equal(semaphore->sum_ns, 9);
}

static void many_quiet_locks_are_one_class(void **state)
{
    struct scene *scene = *state;
    for (uint64_t i = 0; i < 40; i++) {
        PUT(scene, 0, 1000 + i, ACQUIRED, MUTEX(0x9000), 0x7000 + i * 8);
        PUT(scene, 1, 1000 + i, ACQUIRED, MUTEX(0x9000), 0x7000 + i * 8);
        if (i < 16) /* few at another site stay what they are */
            PUT(scene, 0, 1000 + i, ACQUIRED, MUTEX(0x9900), 0x7000 + i * 8);
    }
    PUT(scene, 0, 1100, WAIT, MUTEX(0x9000), 0x7008);
    PUT(scene, 0, 1120, WAIT LEFT, 0);
    const struct profile *profile = scene__profile(scene);
    assert_int_equal(profile->classes.count, 18);
    assert_int_equal(scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", 0x9000, 0x7008)->count,
                     3);
    size_t found = 0;
    VEC_EACH (class, &profile->classes, struct profile_class) {
        if (class->what.has_object)
            continue;
        found++;
        assert_int_equal(class->what.at.site, 0x9000);
        assert_int_equal(class->count, 78);
        assert_int_equal(class->threads.count, 2);
        assert_int_equal(VEC_AT(&class->threads, struct profile_thread_row, 1)->count, 39);
        const struct profile_key *key = VEC_AT(&class->what.keys, struct profile_key, 0);
        assert_string_equal(key->name, "objects");
        assert_int_equal(key->value, 39);
    }
    assert_int_equal(found, 1);
}

static void io_is_told_apart_by_what_it_goes_to(void **state)
{
    struct scene *scene = *state;
    static const struct {
        uint64_t call, descriptor, bytes;
        enum class_kind kind;
        enum component component;
        const char *function;
        bool idle;
        int fd, size_class; /* -1: no such key */
    } calls[] = {
        {CALL(READ), DESCRIPTOR(3, FILE), 4096, CLASS_DISK, COMPONENT_DISK, "read", false, 3, 12},
        {CALL(WRITE), DESCRIPTOR(4, SOCKET), 1, CLASS_NETWORK, COMPONENT_NETWORK, "write", false, 4,
         0},
        {CALL(WRITEV), DESCRIPTOR(5, PIPE), 8191, CLASS_PIPE, COMPONENT_OTHER_BLOCKED, "writev",
         false, 5, 12},
        {CALL(PREAD), DESCRIPTOR(6, TERMINAL), 0, CLASS_PIPE, COMPONENT_OTHER_BLOCKED, "pread",
         false, 6, 0},
        {CALL(PWRITE), DESCRIPTOR(7, OTHER), 8, CLASS_PIPE, COMPONENT_OTHER_BLOCKED, "pwrite",
         false, 7, 3},
        {CALL(READV), DESCRIPTOR(8, UNKNOWN), 8, CLASS_PIPE, COMPONENT_OTHER_BLOCKED, "readv",
         false, 8, 3},
        {CALL(FSYNC), DESCRIPTOR(3, FILE), 0, CLASS_DISK, COMPONENT_DISK, "fsync", false, 3, -1},
        {CALL(OPEN), DESCRIPTOR(0xffffffff, UNKNOWN), 0, CLASS_DISK, COMPONENT_DISK, "open", false,
         -1, -1},
        {CALL(CLOSE), DESCRIPTOR(4, SOCKET), 0, CLASS_NETWORK, COMPONENT_NETWORK, "close", false,
         -1, -1},
        {CALL(POLL), DESCRIPTOR(2, UNKNOWN), 100, CLASS_POLL, COMPONENT_OTHER_BLOCKED, "poll", true,
         -1, -1},
        {CALL(SELECT), DESCRIPTOR(9, UNKNOWN), 100, CLASS_POLL, COMPONENT_OTHER_BLOCKED, "select",
         true, -1, -1},
        {CALL(EPOLL_WAIT), DESCRIPTOR(9, OTHER), 100, CLASS_POLL, COMPONENT_OTHER_BLOCKED,
         "epoll_wait", true, 9, -1},
        {CALL(ACCEPT), DESCRIPTOR(9, SOCKET), 0, CLASS_NETWORK, COMPONENT_NETWORK, "accept", true,
         9, -1},
        {CALL(RECV), DESCRIPTOR(9, UNKNOWN), 70, CLASS_NETWORK, COMPONENT_NETWORK, "recv", false, 9,
         6},
    };
    enum { CALLS = sizeof calls / sizeof *calls };
    for (uint64_t i = 0; i < CALLS; i++) {
        PUT(scene, 0, 1000 + i * 10, IO, calls[i].call, calls[i].descriptor, calls[i].bytes);
        PUT(scene, 0, 1007 + i * 10, IO LEFT, 0);
    }
    const struct profile *profile = scene__profile(scene);
    assert_int_equal(profile->classes.count, CALLS);
    for (size_t i = 0; i < CALLS; i++) {
        const struct profile_class *class =
            scene__class(scene, calls[i].kind, calls[i].function, 0x9000, 0);
        assert_int_equal(class->idle, calls[i].idle);
        assert_int_equal(class->accumulator->component_sum[calls[i].component], 7);
        const struct profile_key *key = class->what.keys.items;
        assert_int_equal(class->what.keys.count, (calls[i].fd >= 0) + (calls[i].size_class >= 0));
        if (calls[i].fd >= 0) {
            assert_string_equal(key->name, "fd");
            assert_int_equal(key++->value, calls[i].fd);
        }
        if (calls[i].size_class >= 0) {
            assert_string_equal(key->name, "size_class");
            assert_int_equal(key->value, calls[i].size_class);
        }
    }
}

static void io_of_one_size_class_is_one_class(void **state)
{
    struct scene *scene = *state;
    static const uint64_t calls[][2] = {{3, 4096}, {3, 8191}, {3, 8192}, {4, 4096}, {3, 4097}};
    for (uint64_t i = 0; i < 5; i++) {
        PUT(scene, 0, 1000 + i * 10, IO, CALL(READ), DESCRIPTOR(calls[i][0], FILE), calls[i][1]);
        PUT(scene, 0, 1007 + i * 10, IO LEFT, 0);
    }
    for (uint64_t i = 0; i < 5; i++) { /* a timeout is no size */
        PUT(scene, 0, 1100 + i * 10, IO, CALL(POLL), DESCRIPTOR(i, UNKNOWN), i * 1000);
        PUT(scene, 0, 1107 + i * 10, IO LEFT, 0);
        PUT(scene, 0, 1108 + i * 10, SLEEP, HEURT_SITE(0x9000, HEURT_SLEEP_YIELD), i);
        PUT(scene, 0, 1109 + i * 10, SLEEP LEFT);
    }
    scene__profile(scene);
    assert_int_equal(scene__classes(scene, CLASS_DISK), 3);
    assert_int_equal(scene__class(scene, CLASS_POLL, "poll", 0, 0)->count, 5);
    const struct profile_class *yield = scene__class(scene, CLASS_YIELD, "sched_yield", 0, 0);
    assert_int_equal(yield->count, 5);
    assert_false(yield->idle);
    assert_int_equal(yield->accumulator->component_sum[COMPONENT_OTHER_BLOCKED], 5);
}

static void images_of_one_program_share_classes(void **state)
{
    struct scene *scene = *state;
    scene__process(scene, 1, 101, 0);
    scene__process(scene, 2, 102, HEURT_NO_SERIAL);
    scene__module(scene, 0, 0x400000, 0x500000, 7, "/bin/app");
    scene__module(scene, 1, 0x600000, 0x700000, 7, "/other/name");
    scene__module(scene, 2, 0x400000, 0x500000, 8, "/bin/app"); /* another build */
    for (uint32_t process = 0; process < 3; process++) {
        uint64_t base = process == 1 ? 0x600000 : 0x400000;
        scene->process_of[process] = process;
        scene__function(scene, process, F + process * 2, base + 0x1000, "f", "");
        scene__marker(scene, process, 1040, HEURT_FUNCTION_ITERATION, "loop", "a.c", 5);
        scene__marker(scene, process, 1042, HEURT_FUNCTION_ITERATION, "loop", "a.c", 6);
        call(scene, process, F + process * 2, 1000, 1100);
        call(scene, process, 1040, 1100, 1110);
        call(scene, process, 1042, 1110, 1120);
        PUT(scene, process, 1200, ACQUIRED, MUTEX(base + 0x2000), 0x7000);
        PUT(scene, process, 1210, IO, HEURT_SITE(base + 0x3000, HEURT_IO_READ), DESCRIPTOR(3, FILE),
            10);
        PUT(scene, process, 1220, IO LEFT, 10);
    }
    const struct profile *profile = scene__profile(scene);
    assert_int_equal(scene__classes(scene, CLASS_CALL), 2);
    assert_int_equal(scene__classes(scene, CLASS_DISK), 2);
    assert_int_equal(scene__classes(scene, CLASS_LOCK), 3); /* three memories */
    assert_int_equal(scene__classes(scene, CLASS_ITERATION), 2);
    VEC_EACH (class, &profile->classes, struct profile_class) {
        if (class->what.at.kind == CLASS_CALL || class->what.at.kind == CLASS_DISK)
            assert_int_equal(class->count, class->what.at.process == 0 ? 2 : 1);
        if (class->what.at.kind == CLASS_ITERATION) {
            assert_int_equal(class->count, 3);
            assert_string_equal(class->what.at.file, "a.c");
        }
    }
}

static void addresses_outside_of_modules_are_not_shared(void **state)
{
    struct scene *scene = *state;
    scene__process(scene, 1, 101, 0);
    scene->process_of[1] = 1;
    for (uint32_t process = 0; process < 2; process++) {
        scene__function(scene, process, F, 0x401000, "f", "");
        call(scene, process, F, 1000, 1100);
    }
    scene__profile(scene);
    assert_int_equal(scene__classes(scene, CLASS_CALL), 2);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void keys_split_a_function(void **state)
{
    struct scene *scene = *state;
    scene__function(scene, 0, F, 0x401000, "ns::f(int, long)", "n,flags");
    scene__function(scene, 0, G, 0x401100, "g", "arg2,arg4");
    scene__key(scene, "ns::f", "arg1");
    scene__key(scene, "g*", "arg4");
    for (uint64_t i = 0; i < 6; i++) {
        PUT(scene, 0, 1000 + i * 10, F, i % 2, i);
        PUT(scene, 0, 1005 + i * 10, F LEFT);
        PUT(scene, 0, 1105 + i * 10, G, i, i % 3);
        PUT(scene, 0, 1106 + i * 10, G LEFT);
    }
    const struct profile *profile = scene__profile(scene);
    assert_int_equal(profile->warnings.count, 0);
    assert_int_equal(profile->classes.count, 5);
    VEC_EACH (class, &profile->classes, struct profile_class) {
        bool is_f = class->what.at.function[0] == 'n';
        assert_int_equal(class->count, is_f ? 3 : 2);
        assert_int_equal(class->what.keys.count, 1);
        const struct profile_key *key = VEC_AT(&class->what.keys, struct profile_key, 0);
        assert_string_equal(key->name, is_f ? "n" : "arg4");
        assert_true(key->value < (is_f ? 2 : 3));
    }
}

static void unrecorded_arguments_are_told(void **state)
{
    struct scene *scene = *state;
    scene__process(scene, 1, 101, 0);
    scene__module(scene, 0, 0x400000, 0x500000, 7, "/bin/app");
    scene__module(scene, 1, 0x400000, 0x500000, 7, "/bin/app");
    scene__function(scene, 0, F, 0x401000, "f", "n");
    scene__function(scene, 1, F, 0x401000, "f", "n");
    scene__key(scene, "f", "n,size");
    scene__key(scene, "elsewhere", "arg1");
    scene->process_of[1] = 1;
    for (uint32_t thread = 0; thread < 2; thread++) {
        PUT(scene, thread, 1000, F, 1);
        PUT(scene, thread, 1005, F LEFT);
    }
    const struct profile *profile = scene__profile(scene);
    assert_int_equal(profile->warnings.count, 1);
    const char *sentence = *VEC_AT(&profile->warnings, char *, 0);
    assert_non_null(strstr(sentence, "f=size"));
    assert_non_null(strstr(sentence, "-A f=size"));
    assert_non_null(strstr(sentence, "recorded: n"));
    assert_int_equal(scene__class(scene, CLASS_CALL, "f", 0, 0)->what.keys.count, 1);
}

static void a_numbered_argument_is_no_other(void **state)
{
    struct scene *scene = *state;
    scene__function(scene, 0, F, 0x401000, "f", "arg2,arg4");
    scene__key(scene, "f", "arg1");
    PUT(scene, 0, 1000, F, 1, 2);
    PUT(scene, 0, 1005, F LEFT);
    const struct profile *profile = scene__profile(scene);
    assert_int_equal(profile->warnings.count, 1);
    assert_int_equal(scene__class(scene, CLASS_CALL, "f", 0, 0)->what.keys.count, 0);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static void snapshot(struct scene *scene, uint64_t tick, const uint64_t *frames, size_t count)
{
    /* Eight registers and no memory. */
    PUT(scene, 0, tick, HEURT_EVENT_STACK, 8, 1, 2, 3, 4, 5, 6, 7, 8);
    symbols__put_stack(scene->symbols, 0, tick, frames, count);
}

static void stacks_belong_to_the_event_that_follows(void **state)
{
    struct scene *scene = *state;
    static const uint64_t one[] = {1, 2, 3}, two[] = {1, 2};
    define_functions(scene);
    for (uint64_t i = 0; i < 4; i++) {
        snapshot(scene, 1000 + i * 100, i == 2 ? two : one, i == 2 ? 2 : 3);
        if (i == 1) { /* the kernel's records and pauses come in between */
            PUT(scene, 0, 1100, HEURT_EVENT_KERNEL_LOST, 0);
            PUT(scene, 0, 1100, HEURT_EVENT_PAUSED, 0);
        }
        call(scene, 0, F, 1001 + i * 100, 1002 + i * 100);
        call(scene, 0, G, 1003 + i * 100, 1004 + i * 100);
    }
    snapshot(scene, 1500, one, 3);
    PUT(scene, 0, 1501, ACQUIRED, MUTEX(0x9000), 0x7000);
    snapshot(scene, 1600, one, 3);
    PUT(scene, 0, 1601, HEURT_EVENT_LOCK_RELEASED, MUTEX(0x9000), 0x7000);
    call(scene, 0, H, 1602, 1603);
    /* That of a long wait is none of the first and every N-th of its class. */
    PUT(scene, 0, 1610, HEURT_EVENT_SEMAPHORE_WAIT, 0x9100, 0x7100);
    snapshot(scene, 1650, one, 3);
    PUT(scene, 0, 1650, HEURT_EVENT_SEMAPHORE_WAIT | 1, 0);
    PUT(scene, 0, 1700, HEURT_EVENT_STACK, 8, 1, 2, 3, 4, 5, 6, 7, 8); /* could not be unwound */
    call(scene, 0, G, 1701, 1702);
    scene__profile(scene);
    const struct vec *stacks = &scene__class(scene, CLASS_CALL, "f", 0, 0)->what.stacks;
    assert_int_equal(stacks->count, 2);
    const struct profile_stack *stack = VEC_AT(stacks, struct profile_stack, 0);
    assert_true(stack[0].share == 0.75 && stack[1].share == 0.25);
    assert_int_equal(stack[0].frame_count, 3);
    assert_memory_equal(stack[0].frames, one, sizeof one);
    assert_int_equal(stack[1].frame_count, 2);
    assert_int_equal(scene__class(scene, CLASS_CALL, "g", 0, 0)->what.stacks.count, 0);
    assert_int_equal(scene__class(scene, CLASS_CALL, "h", 0, 0)->what.stacks.count, 0);
    assert_int_equal(scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", 0, 0)->what.stacks.count,
                     1);
    assert_int_equal(scene__class(scene, CLASS_SEMAPHORE, "sem_wait", 0, 0)->what.stacks.count, 0);
}

static void an_empty_trace_has_a_profile(void **state)
{
    struct scene *scene = *state;
    const struct profile *profile = scene__profile(scene);
    assert_int_equal(profile->classes.count, 0);
    assert_int_equal(profile->threads.count, 0);
    assert_int_equal(profile->warnings.count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene__setup, scene__teardown)

/* A thread that waits when the process ends lives until the kernel saw its end, not until who
 * recorded it learnt of that. */
static void a_wait_at_the_end_ends_with_its_thread(void **state)
{
    struct scene *scene = *state;
    struct heurt_run run = {
        .pid = 100,
        .tid = 1000,
        .life = {
            .start_tick = 1000, .end_tick = 2500, .flags = HEURT_LIFE_ENDED, .name = "waiter"}};
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1200, HEURT_EVENT_CONDITION_WAIT, 0x9000, 0x7000, 0x7100);
    assert_int_equal(trace_writer__run(scene->writer, &run, NULL, 0), 0);
    scene->end = (struct heurt_clock_pair){9000, 9000};
    const struct profile *profile = scene__profile(scene);
    const struct profile_thread *thread = VEC_AT(&profile->threads, struct profile_thread, 0);
    assert_int_equal(thread->lifetime_ns, 1500);
    assert_true(profile->checks[CHECK_LIVES].known);
    assert_true(profile->checks[CHECK_LIVES].holds);
    assert_int_equal(profile->checks[CHECK_LIVES].ours, 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(score_is_excess_over_lifetime),
        TEST(what_occurs_once_on_a_thread_is_not_seen),
        TEST(pauses_are_in_no_span),
        TEST(hundred_occurrences_are_not_weak),
        TEST(classes_are_ranked),
        TEST(exclusive_losses_rank),
        TEST(an_empty_trace_has_a_profile),
        TEST(waits_reach_everything_around_them),
        TEST(lives_cost_too),
        TEST(the_recordings_bias_is_taken_off),
        TEST(waits_within_a_wait_are_part_of_it),
        TEST(each_wait_has_its_component),
        TEST(one_wait_is_all_lost),
        TEST(a_wait_at_the_end_ends_with_its_thread),
        TEST(who_yields_is_not_preempted),
        TEST(clock_steps_back_to_nothing),
        TEST(recursion_is_lost_once),
        TEST(outer_leave_closes_what_is_inside),
        TEST(unwinding_ends_the_innermost_function),
        TEST(the_last_iterations_of_a_loop_that_was_left_are_no_occurrence),
        TEST(lost_events_drop_what_is_open),
        TEST(a_drawn_occurrence_stands_for_its_block),
        TEST(sampled_classes_are_estimated),
        TEST(weights_wait_for_their_functions),
        TEST(recursion_starts_anew_on_each_thread),
        TEST(locks_are_told_apart_by_site_and_object),
        TEST(many_quiet_locks_are_one_class),
        TEST(io_is_told_apart_by_what_it_goes_to),
        TEST(io_of_one_size_class_is_one_class),
        TEST(images_of_one_program_share_classes),
        TEST(addresses_outside_of_modules_are_not_shared),
        TEST(keys_split_a_function),
        TEST(unrecorded_arguments_are_told),
        TEST(a_numbered_argument_is_no_other),
        TEST(stacks_belong_to_the_event_that_follows),
    };
    return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
