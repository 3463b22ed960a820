/* Whom waits at barriers, for conditions, semaphores and futexes are blamed on, and
 * which of them are for work. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LEFT | 1

enum {
    BARRIER = HEURT_EVENT_BARRIER_WAIT,
    CONDITION = HEURT_EVENT_CONDITION_WAIT,
    SIGNALLED = HEURT_EVENT_CONDITION_SIGNALLED,
    SEMAPHORE = HEURT_EVENT_SEMAPHORE_WAIT,
    TAKEN = HEURT_EVENT_SEMAPHORE_ACQUIRED,
    POSTED = HEURT_EVENT_SEMAPHORE_POSTED,
    SLEEP = HEURT_EVENT_SLEEP,
};

enum { A = 0x9a00, B = 0x9b00, C = 0x9c00, MEETING = 0x7000, OTHER = 0x7100, MUTEX = 0x7900 };

static const uint64_t serial_thread = UINT64_MAX; /* PTHREAD_BARRIER_SERIAL_THREAD */

static int begin(void **state)
{
    static struct scene scene;
    scene__begin(&scene);
    scene.end = (struct heurt_clock_pair){100000, 100000};
    *state = &scene;
    return 0;
}

static void sleep_between(struct scene *scene, uint32_t thread, uint64_t from, uint64_t to)
{
    PUT(scene, thread, from, SLEEP, HEURT_SITE(C, HEURT_SLEEP_NANOSLEEP), to - from);
    PUT(scene, thread, to, SLEEP LEFT);
}

static const struct profile_blame *blame_at(const struct profile_class *class, size_t place)
{
    assert_true(place < class->blames.count);
    return VEC_AT(&class->blames, struct profile_blame, place);
}

/* How a wait was spent: of that thread, from that site. */
static void check_blame(const struct profile_class *class, size_t place, uint32_t thread,
                        uint64_t site, uint64_t wait_ns, uint64_t waits)
{
    const struct profile_blame *blame = blame_at(class, place);
    uint64_t sum = 0;
    assert_int_equal(blame->thread, thread);
    assert_int_equal(blame->site, site);
    assert_int_equal(blame->wait_ns, wait_ns);
    assert_int_equal(blame->waits, waits);
    for (unsigned i = 0; i < COMPONENTS; i++)
        sum += blame->doing_ns[i];
    assert_int_equal(sum, wait_ns);
}

static const struct profile_class *barrier_class(const struct scene *scene, uint64_t site)
{
    return scene__class(scene, CLASS_BARRIER, "pthread_barrier_wait", site, 0);
}

static const struct profile_class *condition_class(const struct scene *scene, uint64_t site,
                                                   uint64_t object)
{
    return scene__class(scene, CLASS_CONDITION, "pthread_cond_wait", site, object);
}

static const struct profile_class *semaphore_class(const struct scene *scene, uint64_t site,
                                                   uint64_t object)
{
    return scene__class(scene, CLASS_SEMAPHORE, "sem_wait", site, object);
}

/* ---- barriers -------------------------------------------------------------------------------- */

static void the_last_to_arrive_is_blamed(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 2, 1000);
    sleep_between(scene, 2, 1150, 1250);
    PUT(scene, 0, 1100, BARRIER, A, MEETING);
    PUT(scene, 1, 1200, BARRIER, B, MEETING);
    PUT(scene, 2, 1300, BARRIER, C, MEETING);
    PUT(scene, 1, 1310, BARRIER LEFT, 0);
    PUT(scene, 0, 1320, BARRIER LEFT, serial_thread); /* the last one to arrive it is not */
    PUT(scene, 2, 1330, BARRIER LEFT, 0);
    scene__profile(scene);
    check_blame(barrier_class(scene, A), 0, 2, C, 200, 1);
    assert_int_equal(blame_at(barrier_class(scene, A), 0)->doing_ns[COMPONENT_SLEEP], 100);
    assert_int_equal(blame_at(barrier_class(scene, A), 0)->doing_ns[COMPONENT_RUNNING], 100);
    check_blame(barrier_class(scene, B), 0, 2, C, 100, 1);
    assert_int_equal(blame_at(barrier_class(scene, B), 0)->doing_ns[COMPONENT_SLEEP], 50);
    assert_int_equal(barrier_class(scene, A)->blames.count, 1);
    assert_int_equal(barrier_class(scene, C)->blames.count, 0);
    assert_false(barrier_class(scene, A)->idle);
}

/* Threads 0 to 2 arrive in that order, then leave; the first one arrives again at once, before the
 * others have left. */
static void rounds_are_told_apart(void **state)
{
    struct scene *scene = *state;
    for (uint64_t round = 0; round < 10; round++) {
        uint64_t tick = 2000 + 1000 * round;
        uint32_t first = round % 3, second = (round + 1) % 3, third = (round + 2) % 3;
        PUT(scene, first, tick, BARRIER, A + first, MEETING);
        PUT(scene, second, tick + 100, BARRIER, A + second, MEETING);
        PUT(scene, third, tick + 300, BARRIER, A + third, MEETING);
        PUT(scene, second, tick + 301, BARRIER LEFT, 0); /* it is the first of the next one */
        PUT(scene, first, tick + 1100, BARRIER LEFT, 0);
        PUT(scene, third, tick + 1050, BARRIER LEFT, serial_thread);
    }
    scene__profile(scene);
    for (uint32_t thread = 0; thread < 3; thread++) {
        const struct profile_class *class = barrier_class(scene, A + thread);
        uint64_t rounds = thread == 0 ? 4 : 3, first = rounds, second = thread == 1 ? 4 : 3;
        /* When it was first the one before it was last, when second the one behind it. */
        check_blame(class, 0, (thread + 2) % 3, A + (thread + 2) % 3, 300 * first, first);
        check_blame(class, 1, (thread + 1) % 3, A + (thread + 1) % 3, 200 * second, second);
        assert_int_equal(class->blames.count, 2);
    }
}

static void a_round_that_never_came_is_nobodys(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1100, BARRIER, A, MEETING);
    PUT(scene, 1, 1200, BARRIER, B, MEETING);
    PUT(scene, 2, 1250, BARRIER, C, OTHER); /* another barrier */
    PUT(scene, 2, 1300, BARRIER LEFT, serial_thread);
    scene__profile(scene);
    assert_int_equal(barrier_class(scene, A)->blames.count, 0);
    assert_int_equal(barrier_class(scene, B)->blames.count, 0);
    assert_int_equal(barrier_class(scene, C)->blames.count, 0);
}

static void threads_at_one_place_are_blamed_apart(void **state)
{
    struct scene *scene = *state;
    for (uint64_t round = 0; round < 3; round++) {
        uint64_t tick = 2000 + 1000 * round;
        PUT(scene, 2, tick, BARRIER, A, MEETING);
        PUT(scene, round == 0, tick + 5, BARRIER, A, MEETING);
        PUT(scene, 2, tick + 10, BARRIER LEFT, 22); /* EINVAL: nobody has arrived */
        PUT(scene, 2, tick + 100, BARRIER, A, MEETING);
        PUT(scene, round != 0, tick + 300, BARRIER, A, MEETING);
        for (uint32_t thread = 0; thread < 3; thread++)
            PUT(scene, thread, tick + 301, BARRIER LEFT, 0);
    }
    scene__profile(scene);
    const struct profile_class *class = barrier_class(scene, A);
    assert_int_equal(class->blames.count, 2);
    check_blame(class, 0, 1, A, 990, 4);
    check_blame(class, 1, 0, A, 495, 2);
}

static void barriers_of_other_processes_are_others(void **state)
{
    struct scene *scene = *state;
    scene__process(scene, 1, 101, 0);
    scene->process_of[2] = scene->process_of[3] = 1;
    for (uint32_t thread = 0; thread < 4; thread++)
        PUT(scene, thread, 1100 + 100 * (thread / 2) + 70 * (thread % 2), BARRIER, A + thread,
            MEETING);
    for (uint32_t thread = 0; thread < 4; thread++)
        PUT(scene, thread, 1500, BARRIER LEFT, 0);
    scene__profile(scene);
    check_blame(barrier_class(scene, A), 0, 1, A + 1, 70, 1);
    check_blame(barrier_class(scene, A + 2), 0, 3, A + 3, 70, 1);
    assert_int_equal(barrier_class(scene, A + 1)->blames.count, 0);
    assert_int_equal(blame_at(barrier_class(scene, A + 2), 0)->process, 1);
}

/* ---- signals --------------------------------------------------------------------------------- */

static void the_last_signal_within_the_wait_is_blamed(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 1, 1050, SIGNALLED, B, MEETING); /* before it */
    PUT(scene, 0, 1100, CONDITION, A, MEETING, MUTEX);
    PUT(scene, 2, 1200, SIGNALLED, B + 2, MEETING);
    sleep_between(scene, 1, 1150, 1250);
    PUT(scene, 2, 1260, SIGNALLED, B + 2, OTHER);
    PUT(scene, 1, 1300, SIGNALLED, HEURT_SITE(B + 1, 1), MEETING); /* to all */
    PUT(scene, 0, 1310, CONDITION LEFT, 0);
    PUT(scene, 1, 1350, SIGNALLED, B, MEETING); /* behind it */
    scene__profile(scene);
    const struct profile_class *class = condition_class(scene, A, 0);
    assert_int_equal(class->blames.count, 1);
    check_blame(class, 0, 1, B + 1, 210, 1);
    assert_int_equal(blame_at(class, 0)->doing_ns[COMPONENT_SLEEP], 100);
    assert_int_equal(blame_at(class, 0)->doing_ns[COMPONENT_RUNNING], 110);
}

static void a_signal_before_the_wait_is_not_what_ended_it(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 1, 1050, SIGNALLED, B, MEETING);
    PUT(scene, 0, 1100, CONDITION, A, MEETING, MUTEX);
    PUT(scene, 0, 1310, CONDITION LEFT, 0); /* woken for no reason */
    PUT(scene, 0, 1400, CONDITION, A, MEETING, MUTEX);
    PUT(scene, 1, 1450, SIGNALLED, B, MEETING);
    PUT(scene, 0, 1500, CONDITION LEFT, 110); /* ETIMEDOUT */
    PUT(scene, 1, 1600, POSTED, B, OTHER);
    PUT(scene, 0, 1650, SEMAPHORE, A, OTHER);
    PUT(scene, 0, 1700, SEMAPHORE LEFT, 0);
    scene__profile(scene);
    assert_int_equal(condition_class(scene, A, 0)->blames.count, 0);
    assert_int_equal(semaphore_class(scene, A, 0)->blames.count, 0);
}

static void a_broadcast_ends_all_waits(void **state)
{
    struct scene *scene = *state;
    for (uint32_t thread = 1; thread < 4; thread++)
        PUT(scene, thread, 1000 + 100 * thread, CONDITION, A, MEETING, MUTEX);
    PUT(scene, 0, 1500, SIGNALLED, HEURT_SITE(B, 1), MEETING);
    for (uint32_t thread = 1; thread < 4; thread++)
        PUT(scene, thread, 1500 + 10 * thread, CONDITION LEFT, 0);
    scene__profile(scene);
    check_blame(condition_class(scene, A, 0), 0, 0, B, 410 + 320 + 230, 3);
}

static void posts_and_wakes_are_signals(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1100, SEMAPHORE, A, MEETING);
    PUT(scene, 1, 1200, POSTED, B, MEETING);
    PUT(scene, 0, 1210, SEMAPHORE LEFT, 0);
    PUT(scene, 0, 1300, HEURT_EVENT_FUTEX_WAIT, A, MEETING);
    PUT(scene, 1, 1400, HEURT_EVENT_FUTEX_WOKEN, C, MEETING);
    PUT(scene, 0, 1420, HEURT_EVENT_FUTEX_WAIT LEFT, 0);
    scene__profile(scene);
    check_blame(semaphore_class(scene, A, 0), 0, 1, B, 110, 1);
    check_blame(scene__class(scene, CLASS_FUTEX, "futex", A, 0), 0, 1, C, 120, 1);
    assert_false(scene__class(scene, CLASS_FUTEX, "futex", A, 0)->idle);
}

/* Who signals for the first time was not looked at when the wait began: what it did in its life,
 * in proportion. */
static void unexpected_signallers_are_guessed_at(void **state)
{
    struct scene *scene = *state;
    for (uint32_t thread = 0; thread < 20; thread++)
        scene__start(scene, thread, 1000);
    PUT(scene, 19, 1000, POSTED, C, OTHER); /* it meets others */
    sleep_between(scene, 19, 1050, 1150);
    PUT(scene, 0, 1100, CONDITION, A, MEETING, MUTEX);
    PUT(scene, 19, 1195, SIGNALLED, B, MEETING);
    PUT(scene, 0, 1200, CONDITION LEFT, 0);
    scene__profile(scene);
    const struct profile_class *class = condition_class(scene, A, 0);
    check_blame(class, 0, 19, B, 100, 1);
    assert_int_equal(blame_at(class, 0)->doing_ns[COMPONENT_SLEEP], 50);
    assert_int_equal(blame_at(class, 0)->doing_ns[COMPONENT_RUNNING], 50);
}

/* The next time it is. */
static void signallers_that_are_known_are_looked_at(void **state)
{
    struct scene *scene = *state;
    for (uint32_t thread = 0; thread < 20; thread++)
        scene__start(scene, thread, 1000);
    for (uint32_t thread = 15; thread < 20; thread++)
        PUT(scene, thread, 1000 + thread, SIGNALLED, C, MEETING);
    sleep_between(scene, 19, 1050, 1150);
    PUT(scene, 0, 1140, CONDITION, A, MEETING, MUTEX);
    PUT(scene, 19, 1195, SIGNALLED, B, MEETING);
    PUT(scene, 0, 1200, CONDITION LEFT, 0);
    scene__profile(scene);
    const struct profile_class *class = condition_class(scene, A, 0);
    check_blame(class, 0, 19, B, 60, 1);
    assert_int_equal(blame_at(class, 0)->doing_ns[COMPONENT_SLEEP], 10);
    assert_int_equal(blame_at(class, 0)->doing_ns[COMPONENT_RUNNING], 50);
}

/* What comes after the last wait is not looked at, but a wait that is open is. */
static void a_wait_that_ends_late_is_blamed(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 1, 1000);
    PUT(scene, 0, 1100, CONDITION, A, MEETING, MUTEX);
    sleep_between(scene, 1, 1200, 2200);
    PUT(scene, 1, 3090, SIGNALLED, B, MEETING);
    PUT(scene, 0, 3100, CONDITION LEFT, 0);
    PUT(scene, 0, 3200, HEURT_EVENT_JOIN, A, 0x200);
    PUT(scene, 0, 3300, HEURT_EVENT_JOIN LEFT, 0);
    scene__profile(scene);
    check_blame(condition_class(scene, A, 0), 0, 1, B, 2000, 1);
    assert_int_equal(blame_at(condition_class(scene, A, 0), 0)->doing_ns[COMPONENT_SLEEP], 1000);
    assert_int_equal(scene__class(scene, CLASS_JOIN, "pthread_join", A, 0)->blames.count, 0);
}

/* ---- waiting for work ------------------------------------------------------------------------ */

/* A thread waits for a condition; another one signals it just before the end. */
static void wait_for(struct scene *scene, uint32_t thread, uint64_t from, uint64_t to,
                     uint64_t site, uint64_t condition)
{
    PUT(scene, thread, from, CONDITION, site, condition, MUTEX);
    PUT(scene, thread, to, CONDITION LEFT, 0);
}

static void signal(struct scene *scene, uint32_t thread, uint64_t tick, uint64_t condition)
{
    PUT(scene, thread, tick, SIGNALLED, C, condition);
}

static void a_pools_threads_wait_for_work(void **state)
{
    struct scene *scene = *state;
    for (uint64_t i = 0; i < 10; i++) {
        signal(scene, 0, 1900 + 1000 * i, MEETING);
        for (uint32_t thread = 1; thread < 4; thread++)
            wait_for(scene, thread, 1100 + 1000 * i, 1910 + 1000 * i, A, MEETING);
    }
    /* Main waits until all is done, by the same mutex; it is they who say that it is. */
    signal(scene, 2, 13000, OTHER);
    wait_for(scene, 0, 12000, 13010, B, OTHER);
    for (uint32_t thread = 1; thread < 4; thread++)
        PUT(scene, thread, 14000, CONDITION, A, MEETING, MUTEX); /* for good */
    scene__profile(scene);
    assert_true(condition_class(scene, A, MEETING)->idle);
    assert_true(condition_class(scene, B, OTHER)->idle);
    assert_int_equal(condition_class(scene, B, OTHER)->blames.count, 1);
}

/* Its threads end each other's waits: that is no other role. */
static void a_pool_that_feeds_itself_loses(void **state)
{
    struct scene *scene = *state;
    for (uint64_t i = 0; i < 20; i++) {
        uint32_t from = i == 0 ? 0 : 1 + i % 2, to = 1 + (i + 1) % 2;
        signal(scene, from, 1900 + 1000 * i, MEETING);
        wait_for(scene, to, 1100 + 1000 * i, 1910 + 1000 * i, A, MEETING);
    }
    scene__profile(scene);
    assert_false(condition_class(scene, A, MEETING)->idle);
}

/* Less than a tenth of the waited time is ended by threads that wait there, too. */
static void a_little_of_it_changes_nothing(void **state)
{
    struct scene *scene = *state;
    for (uint64_t i = 0; i < 40; i++) {
        uint32_t from = i % 20 == 7 ? 2 : 0;
        signal(scene, from, 1900 + 1000 * i, MEETING);
        wait_for(scene, 1, 1100 + 1000 * i, 1910 + 1000 * i, A, MEETING);
        if (i % 20 == 8) { /* the one that ends some of them waits there, too */
            signal(scene, 0, 1950 + 1000 * i, MEETING);
            wait_for(scene, 2, 1920 + 1000 * i, 1960 + 1000 * i, A, MEETING);
        }
    }
    scene__profile(scene);
    assert_true(condition_class(scene, A, MEETING)->idle);
}

static void both_sides_of_a_queue_wait_for_work(void **state)
{
    struct scene *scene = *state;
    for (uint64_t i = 0; i < 10; i++) { /* empty for a while, then full for a while */
        bool full = i % 4 > 1;
        signal(scene, full, 1900 + 1000 * i, full ? OTHER : MEETING);
        wait_for(scene, !full, 1100 + 1000 * i, 1910 + 1000 * i, full ? B : A,
                 full ? OTHER : MEETING);
    }
    wait_for(scene, 3, 30000, 30500, C, OTHER + 8); /* the mutex protects something else, too */
    scene__profile(scene);
    assert_true(condition_class(scene, A, MEETING)->idle);
    assert_true(condition_class(scene, B, OTHER)->idle);
}

/* Three threads pass a turn on: each waits for it while the other two have it. apart: from place to
 * place at which they wait. */
static void ring_of_places(struct scene *scene, uint64_t step, uint64_t mutex, uint64_t apart)
{
    for (uint64_t i = 0; i < 30; i++) {
        uint32_t thread = i % 3, next = (i + 1) % 3;
        uint64_t from = i < 3 ? 1000 : 1950 + 1000 * (i - 3), to = 1910 + 1000 * (i - 1);
        if (i > 0) {
            PUT(scene, thread, from, CONDITION, A + apart * thread, MEETING + step * thread,
                mutex ? mutex : 0x1 + thread);
            PUT(scene, thread, to, CONDITION LEFT, 0);
        }
        signal(scene, thread, 1900 + 1000 * i, MEETING + step * next);
    }
}

static void ring(struct scene *scene, uint64_t step, uint64_t mutex)
{
    ring_of_places(scene, step, mutex, 0);
}

static void a_convoy_loses(void **state)
{
    struct scene *scene = *state;
    ring(scene, 0, MUTEX);
    scene__profile(scene);
    assert_false(condition_class(scene, A, MEETING)->idle);
}

static void a_ring_of_conditions_loses(void **state)
{
    struct scene *scene = *state;
    ring(scene, 8, MUTEX);
    scene__profile(scene);
    for (uint64_t i = 0; i < 3; i++)
        assert_false(condition_class(scene, A, MEETING + 8 * i)->idle);
}

/* One waits for room, one for work, one for results. */
static void stages_that_go_round_wait_for_work(void **state)
{
    struct scene *scene = *state;
    ring_of_places(scene, 8, MUTEX, B - A);
    scene__profile(scene);
    for (uint64_t i = 0; i < 3; i++)
        assert_true(condition_class(scene, A + i * (B - A), MEETING + 8 * i)->idle);
}

/* Two wake each other more often than not; most of the time they wait until a third one does. */
static void who_passes_on_that_there_is_work_waits_for_it(void **state)
{
    struct scene *scene = *state;
    uint64_t now = 1000;
    for (uint32_t i = 0; i < 30; i++) {
        uint32_t waiter = 1 + i % 2, other = 3 - waiter;
        bool is_long = i % 6 >= 4;
        uint64_t ticks = is_long ? 2000 : 50, object = MEETING + 8 * waiter;
        signal(scene, is_long ? 0 : other, now + ticks, object);
        wait_for(scene, waiter, now, now + ticks + 10, A, object);
        now += ticks + 100;
    }
    scene__profile(scene);
    assert_true(condition_class(scene, A, MEETING + 8)->idle);
    assert_true(condition_class(scene, A, MEETING + 16)->idle);
}

/* Conditions of different mutexes do not protect the same. */
static void a_ring_of_mutexes_is_a_pipeline(void **state)
{
    struct scene *scene = *state;
    ring(scene, 8, 0);
    scene__profile(scene);
    assert_true(condition_class(scene, A, MEETING)->idle);
}

/* Two threads hand a token to and fro. */
static void token(struct scene *scene, uint64_t first, uint64_t second)
{
    for (uint64_t i = 0; i < 20; i++) {
        uint32_t waiter = i % 2;
        signal(scene, !waiter, 1900 + 1000 * i, waiter ? first : second);
        wait_for(scene, waiter, 950 + 1000 * i, 1910 + 1000 * i, waiter ? A : B,
                 waiter ? first : second);
    }
}

static void a_token_by_one_condition_loses(void **state)
{
    struct scene *scene = *state;
    token(scene, MEETING, MEETING);
    scene__profile(scene);
    assert_false(condition_class(scene, A, MEETING)->idle);
    assert_false(condition_class(scene, B, MEETING)->idle);
}

/* One who asks and one who answers look the same. */
static void a_token_by_two_conditions_is_two_roles(void **state)
{
    struct scene *scene = *state;
    token(scene, MEETING, OTHER);
    scene__profile(scene);
    assert_true(condition_class(scene, A, MEETING)->idle);
    assert_true(condition_class(scene, B, OTHER)->idle);
}

/* Each takes it, works and posts it; thread 0 never has to wait. */
static void a_semaphore_as_a_lock_loses(void **state)
{
    struct scene *scene = *state;
    for (uint64_t i = 0; i < 20; i++) {
        PUT(scene, 0, 1100 + 1000 * i, TAKEN, B, MEETING);
        PUT(scene, 1, 1200 + 1000 * i, SEMAPHORE, A, MEETING);
        PUT(scene, 0, 1900 + 1000 * i, POSTED, C, MEETING);
        PUT(scene, 1, 1910 + 1000 * i, SEMAPHORE LEFT, 0);
        PUT(scene, 1, 1950 + 1000 * i, POSTED, C, MEETING);
    }
    scene__profile(scene);
    assert_false(semaphore_class(scene, A, 0)->idle);
    check_blame(semaphore_class(scene, A, 0), 0, 0, C, 20 * 710, 20);
}

/* Thread 1 has it while it lives, and 0 waits for that; 2 has it as 1 has, and is 1's peer. */
static void a_semaphore_until_a_threads_end_is_a_join(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 1, 1000, HEURT_EVENT_THREAD_START, 0, 0, 0);
    PUT(scene, 2, 1000, HEURT_EVENT_THREAD_START, 0, 0, 0);
    PUT(scene, 1, 1010, TAKEN, B, MEETING);
    PUT(scene, 2, 1010, TAKEN, B, OTHER);
    PUT(scene, 0, 1020, SEMAPHORE, A, MEETING);
    PUT(scene, 1, 1030, SEMAPHORE, A, OTHER);
    PUT(scene, 2, 3000, POSTED, C, OTHER);
    scene__end(scene, 2, 3010);
    PUT(scene, 1, 3010, SEMAPHORE LEFT, 0);
    PUT(scene, 1, 3020, POSTED, C, OTHER);
    PUT(scene, 1, 9000, POSTED, C, MEETING);
    scene__end(scene, 1, 9010);
    PUT(scene, 0, 9010, SEMAPHORE LEFT, 0);
    PUT(scene, 0, 9020, POSTED, C, MEETING);
    scene__profile(scene);
    assert_true(semaphore_class(scene, A, MEETING)->idle);
    assert_false(semaphore_class(scene, A, OTHER)->idle);
}

static void a_semaphore_that_is_sampled_as_a_lock_loses(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1050, HEURT_EVENT_SAMPLED, HEURT_SAMPLED(TAKEN, 20));
    PUT(scene, 0, 1060, TAKEN, B, MEETING);
    for (uint64_t i = 0; i < 20; i++) {
        PUT(scene, 1, 1200 + 1000 * i, SEMAPHORE, A, MEETING);
        PUT(scene, 0, 1900 + 1000 * i, POSTED, C, MEETING);
        PUT(scene, 1, 1910 + 1000 * i, SEMAPHORE LEFT, 0);
    }
    scene__profile(scene);
    assert_false(semaphore_class(scene, A, 0)->idle);
}

static void a_semaphore_as_a_queue_is_for_work(void **state)
{
    struct scene *scene = *state;
    for (uint64_t i = 0; i < 20; i++) {
        PUT(scene, 1, 1200 + 1000 * i, SEMAPHORE, A, MEETING);
        PUT(scene, 0, 1850 + 1000 * i, TAKEN, B, OTHER); /* room */
        PUT(scene, 0, 1900 + 1000 * i, POSTED, C, MEETING);
        PUT(scene, 1, 1910 + 1000 * i, SEMAPHORE LEFT, 0);
        PUT(scene, 1, 1950 + 1000 * i, POSTED, C, OTHER);
    }
    scene__profile(scene);
    assert_true(semaphore_class(scene, A, MEETING)->idle);
}

static void a_semaphore_nobody_waited_for_is_not_idle(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1100, TAKEN, B, MEETING);
    PUT(scene, 0, 1200, CONDITION, A, OTHER, MUTEX);
    PUT(scene, 0, 1300, CONDITION LEFT, 110);
    scene__profile(scene);
    assert_false(semaphore_class(scene, B, 0)->idle);
    assert_true(condition_class(scene, A, 0)->idle);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, scene__teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_last_to_arrive_is_blamed),
        TEST(rounds_are_told_apart),
        TEST(a_round_that_never_came_is_nobodys),
        TEST(threads_at_one_place_are_blamed_apart),
        TEST(barriers_of_other_processes_are_others),
        TEST(the_last_signal_within_the_wait_is_blamed),
        TEST(a_signal_before_the_wait_is_not_what_ended_it),
        TEST(a_broadcast_ends_all_waits),
        TEST(posts_and_wakes_are_signals),
        TEST(unexpected_signallers_are_guessed_at),
        TEST(signallers_that_are_known_are_looked_at),
        TEST(a_wait_that_ends_late_is_blamed),
        TEST(a_pools_threads_wait_for_work),
        TEST(a_pool_that_feeds_itself_loses),
        TEST(a_little_of_it_changes_nothing),
        TEST(both_sides_of_a_queue_wait_for_work),
        TEST(a_convoy_loses),
        TEST(a_ring_of_conditions_loses),
        TEST(stages_that_go_round_wait_for_work),
        TEST(who_passes_on_that_there_is_work_waits_for_it),
        TEST(a_ring_of_mutexes_is_a_pipeline),
        TEST(a_token_by_one_condition_loses),
        TEST(a_token_by_two_conditions_is_two_roles),
        TEST(a_semaphore_as_a_lock_loses),
        TEST(a_semaphore_until_a_threads_end_is_a_join),
        TEST(a_semaphore_that_is_sampled_as_a_lock_loses),
        TEST(a_semaphore_as_a_queue_is_for_work),
        TEST(a_semaphore_nobody_waited_for_is_not_idle),
    };
    return cmocka_run_group_tests_name("meeting", tests, NULL, NULL);
}
