#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define LEFT | 1

enum {
    WAIT = HEURT_EVENT_LOCK_WAIT,
    ACQUIRED = HEURT_EVENT_LOCK_ACQUIRED,
    RELEASED = HEURT_EVENT_LOCK_RELEASED,
    CONDITION = HEURT_EVENT_CONDITION_WAIT,
};

enum { A = 0x9a00, B = 0x9b00, C = 0x9c00, LOCK = 0x7000, OTHER = 0x7100 };

#define READ(site) HEURT_SITE(site, HEURT_LOCK_READ)
#define WRITE(site) HEURT_SITE(site, HEURT_LOCK_WRITE)

static void check_holder(const struct profile_class *class, size_t place, uint64_t site,
                         uint64_t wait_ns, uint64_t waits)
{
    assert_true(place < class->blames.count);
    const struct profile_blame *holder = VEC_AT(&class->blames, struct profile_blame, place);
    assert_int_equal(holder->site, site);
    assert_int_equal(holder->wait_ns, wait_ns);
    assert_int_equal(holder->waits, waits);
}

static void waits_are_put_on_the_holder(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, ACQUIRED, A, LOCK);
    PUT(scene, 1, 1100, WAIT, B, LOCK); /* waits for A until 1300 */
    PUT(scene, 2, 1200, WAIT, C, LOCK); /* for A until 1300, for B from 1310 to 1400 */
    PUT(scene, 0, 1300, RELEASED, A, LOCK);
    PUT(scene, 1, 1310, WAIT LEFT, 0);
    PUT(scene, 1, 1400, RELEASED, B, LOCK);
    PUT(scene, 2, 1450, WAIT LEFT, 0);
    PUT(scene, 2, 1500, RELEASED, C, LOCK);
    scene__profile(scene);
    const struct profile_class *b = scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", B, LOCK);
    assert_int_equal(b->sum_ns, 210);
    assert_int_equal(b->blames.count, 1);
    check_holder(b, 0, A, 200, 1);
    const struct profile_class *c = scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", C, LOCK);
    assert_int_equal(c->sum_ns, 250);
    assert_int_equal(c->blames.count, 2);
    check_holder(c, 0, A, 100, 1);
    check_holder(c, 1, B, 90, 1);
    assert_int_equal(scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", A, LOCK)->blames.count,
                     0);
}

static void sampled_acquisitions_count_and_leave_holders_unknown(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, HEURT_EVENT_SAMPLED, HEURT_SAMPLED(ACQUIRED, 40));
    PUT(scene, 0, 1000, ACQUIRED, A, LOCK);
    PUT(scene, 0, 1050, RELEASED, A, LOCK); /* what follows was left out */
    PUT(scene, 1, 1100, WAIT, B, LOCK);
    PUT(scene, 0, 1200, RELEASED, A, LOCK); /* one too many */
    PUT(scene, 1, 1300, WAIT LEFT, 0);
    PUT(scene, 1, 1310, RELEASED, B, LOCK);
    PUT(scene, 1, 1400, ACQUIRED, B, LOCK);
    PUT(scene, 1, 1410, RELEASED, B, LOCK);
    scene__profile(scene);
    const struct profile_class *a = scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", A, LOCK);
    assert_int_equal(a->count, 40);
    assert_int_equal(a->recorded, 1);
    const struct profile_class *b = scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", B, LOCK);
    assert_int_equal(b->count, 2);
    assert_int_equal(b->recorded, 2);
    assert_int_equal(b->contended, 1);
    assert_int_equal(b->sum_ns, 200);
    assert_int_equal(b->blames.count, 0);
}

/* Its acquisition stands for none: the drawn ones do. */
static void a_holder_whose_acquisition_was_left_out_is_told(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, HEURT_EVENT_SAMPLED, HEURT_SAMPLED(ACQUIRED, 40));
    PUT(scene, 0, 1000, ACQUIRED, C, LOCK);
    PUT(scene, 0, 1050, RELEASED, C, LOCK);
    PUT(scene, 1, 1100, WAIT, B, LOCK);
    PUT(scene, 0, 1300, HEURT_EVENT_LOCK_HELD, A, LOCK, 205);
    PUT(scene, 0, 1310, RELEASED, C, LOCK);
    PUT(scene, 1, 1320, WAIT LEFT, 0);
    PUT(scene, 1, 1330, RELEASED, B, LOCK);
    scene__profile(scene);
    const struct profile_class *b = scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", B, LOCK);
    assert_int_equal(b->sum_ns, 220);
    assert_int_equal(b->blames.count, 1);
    check_holder(b, 0, A, 210, 1);
    assert_int_equal(scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", C, LOCK)->count, 40);
    assert_int_equal(scene__classes(scene, CLASS_LOCK), 2);
}

static void locks_of_other_processes_are_others(void **state)
{
    struct scene *scene = *state;
    scene__process(scene, 1, 101, 0);
    scene->process_of[1] = 1;
    PUT(scene, 0, 1000, ACQUIRED, A, LOCK);
    PUT(scene, 0, 1000, ACQUIRED, A, OTHER);
    PUT(scene, 1, 1100, WAIT, B, LOCK);
    PUT(scene, 1, 1200, WAIT LEFT, 0);
    scene__profile(scene);
    assert_int_equal(scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", B, LOCK)->blames.count,
                     0);
}

static void a_wait_that_timed_out_acquires_nothing(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, ACQUIRED, A, LOCK);
    PUT(scene, 1, 1100, WAIT, B, LOCK);
    PUT(scene, 1, 1150, WAIT LEFT, 110); /* ETIMEDOUT */
    PUT(scene, 2, 1200, WAIT, C, LOCK);
    PUT(scene, 0, 1300, RELEASED, A, LOCK);
    PUT(scene, 2, 1300, WAIT LEFT, 130); /* EOWNERDEAD */
    PUT(scene, 1, 1310, WAIT, B, LOCK);
    PUT(scene, 2, 1350, RELEASED, C, LOCK);
    PUT(scene, 1, 1350, WAIT LEFT, 0);
    scene__profile(scene);
    const struct profile_class *c = scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", C, LOCK);
    check_holder(c, 0, A, 100, 1);
    const struct profile_class *b = scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", B, LOCK);
    assert_int_equal(b->count, 2);
    assert_int_equal(b->contended, 2);
    check_holder(b, 0, A, 50, 1);
    check_holder(b, 1, C, 40, 1);
}

static void recursive_locks_are_held_until_the_last_release(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, ACQUIRED, A, LOCK);
    PUT(scene, 0, 1010, ACQUIRED, C, LOCK);
    PUT(scene, 1, 1100, WAIT, B, LOCK);
    PUT(scene, 0, 1200, RELEASED, C, LOCK);
    PUT(scene, 0, 1300, RELEASED, A, LOCK);
    PUT(scene, 1, 1310, WAIT LEFT, 0);
    scene__profile(scene);
    const struct profile_class *b = scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", B, LOCK);
    assert_int_equal(b->blames.count, 1);
    check_holder(b, 0, A, 200, 1);
}

static void readers_share_the_blame(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, ACQUIRED, READ(A), LOCK);
    PUT(scene, 1, 1000, ACQUIRED, READ(B), LOCK);
    PUT(scene, 2, 1100, WAIT, WRITE(C), LOCK);
    PUT(scene, 0, 1200, RELEASED, HEURT_SITE(A, HEURT_LOCK_RW_ANY), LOCK);
    PUT(scene, 1, 1300, RELEASED, HEURT_SITE(B, HEURT_LOCK_RW_ANY), LOCK);
    PUT(scene, 2, 1300, WAIT LEFT, 0);
    PUT(scene, 0, 1400, WAIT, READ(A), LOCK);
    PUT(scene, 2, 1450, RELEASED, HEURT_SITE(C, HEURT_LOCK_RW_ANY), LOCK);
    PUT(scene, 0, 1460, WAIT LEFT, 0);
    scene__profile(scene);
    const struct profile_class *c =
        scene__class(scene, CLASS_LOCK, "pthread_rwlock_wrlock", C, LOCK);
    assert_int_equal(c->blames.count, 2);
    check_holder(c, 0, B, 150, 1);
    check_holder(c, 1, A, 50, 1);
    check_holder(scene__class(scene, CLASS_LOCK, "pthread_rwlock_rdlock", A, LOCK), 0, C, 50, 1);
}

static void condition_waits_give_the_mutex_away(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, ACQUIRED, A, LOCK);
    PUT(scene, 0, 1050, CONDITION, C, 0x7200, LOCK);
    PUT(scene, 1, 1060, WAIT, B, LOCK); /* nobody has it: nobody is blamed */
    PUT(scene, 1, 1070, WAIT LEFT, 0);
    PUT(scene, 1, 1080, RELEASED, B, LOCK);
    PUT(scene, 0, 1100, CONDITION LEFT, 0);
    PUT(scene, 1, 1150, WAIT, B, LOCK); /* acquired again by the condition wait */
    PUT(scene, 0, 1200, RELEASED, A, LOCK);
    PUT(scene, 1, 1200, WAIT LEFT, 0);
    scene__profile(scene);
    const struct profile_class *b = scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", B, LOCK);
    assert_int_equal(b->sum_ns, 60);
    assert_int_equal(b->blames.count, 1);
    check_holder(b, 0, C, 50, 1);
}

static void missed_releases_do_not_stay(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, ACQUIRED, A, LOCK);
    PUT(scene, 0, 1010, HEURT_EVENT_LOST, 3);
    PUT(scene, 1, 1100, WAIT, B, LOCK);
    PUT(scene, 1, 1200, WAIT LEFT, 0); /* never released by B as far as is known */
    PUT(scene, 0, 1300, ACQUIRED, C, LOCK);
    PUT(scene, 1, 1400, WAIT, B, LOCK);
    PUT(scene, 1, 1500, WAIT LEFT, 0);
    scene__profile(scene);
    const struct profile_class *b = scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", B, LOCK);
    assert_int_equal(b->blames.count, 1);
    check_holder(b, 0, C, 100, 1);
}

/* ---- what holders did meanwhile -------------------------------------------------------------- */

/* ticks: of RUNNING, RUNNABLE …, for the only blame of the class. */
static void check_doing(const struct profile_class *class, const uint64_t expected[COMPONENTS])
{
    uint64_t sum = 0;
    assert_int_equal(class->blames.count, 1);
    const struct profile_blame *blame = VEC_AT(&class->blames, struct profile_blame, 0);
    for (unsigned i = 0; i < COMPONENTS; i++) {
        if (blame->doing_ns[i] != expected[i])
            fail_msg("component %u: %lu ns, not %lu", i, (unsigned long)blame->doing_ns[i],
                     (unsigned long)expected[i]);
        sum += expected[i];
    }
    assert_int_equal(blame->wait_ns, sum);
}
#define DOING(...) ((const uint64_t[COMPONENTS]){__VA_ARGS__})

static const struct profile_class *mutex_class(const struct scene *scene, uint64_t site)
{
    return scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", site, 0);
}

/* Thread 0 holds LOCK from 1000 to 1500; thread 1 waits for it from 1100. */
static void wait_for_thread_0(struct scene *scene)
{
    PUT(scene, 1, 1100, WAIT, B, LOCK);
    PUT(scene, 0, 1500, RELEASED, A, LOCK);
    PUT(scene, 1, 1500, WAIT LEFT, 0);
}

static void span(struct scene *scene, uint64_t from, uint64_t to, uint32_t id, uint64_t how,
                 uint64_t object)
{
    if (id == HEURT_EVENT_IO)
        PUT(scene, 0, from, id, HEURT_SITE(C, how), object, 512);
    else if (id == CONDITION)
        PUT(scene, 0, from, id, C, 0x7200, 0x7300);
    else
        PUT(scene, 0, from, id, HEURT_SITE(C, how), object);
    if (id == HEURT_EVENT_SLEEP)
        PUT(scene, 0, to, id LEFT);
    else
        PUT(scene, 0, to, id LEFT, 0);
}

static void each_call_of_a_holder_is_what_it_did(void **state)
{
    struct scene *scene = *state;
    const uint64_t disk = (uint64_t)HEURT_DESCRIPTOR_FILE << 32 | 3;
    const uint64_t network = (uint64_t)HEURT_DESCRIPTOR_SOCKET << 32 | 4;
    const uint64_t pipe = (uint64_t)HEURT_DESCRIPTOR_PIPE << 32 | 5;
    PUT(scene, 0, 1000, ACQUIRED, A, LOCK);
    span(scene, 1090, 1111, HEURT_EVENT_IO, HEURT_IO_READ, disk); /* 11 of it in the wait */
    span(scene, 1120, 1132, HEURT_EVENT_IO, HEURT_IO_READ, network);
    span(scene, 1140, 1153, HEURT_EVENT_IO, HEURT_IO_READ, pipe);
    span(scene, 1160, 1174, HEURT_EVENT_SLEEP, HEURT_SLEEP_NANOSLEEP, 14);
    span(scene, 1180, 1195, CONDITION, 0, 0);
    span(scene, 1200, 1216, HEURT_EVENT_SEMAPHORE_WAIT, 0, 0x7400);
    span(scene, 1220, 1237, HEURT_EVENT_BARRIER_WAIT, 0, 0x7500);
    span(scene, 1240, 1258, HEURT_EVENT_JOIN, 0, 99);
    span(scene, 1260, 1279, HEURT_EVENT_FUTEX_WAIT, 0, 0x7600);
    span(scene, 1490, 1520, HEURT_EVENT_IO, HEURT_IO_FSYNC, disk); /* holds on in it */
    PUT(scene, 1, 1100, WAIT, B, LOCK);
    PUT(scene, 1, 1500, WAIT LEFT, 110);
    PUT(scene, 0, 1530, RELEASED, A, LOCK);
    scene__profile(scene);
    const uint64_t other = 13 + 18 + 19, condition = 15 + 16;
    const uint64_t running = 400 - 11 - 10 - 12 - 14 - 17 - other - condition;
    check_doing(mutex_class(scene, B),
                DOING([COMPONENT_DISK] = 11 + 10, [COMPONENT_NETWORK] = 12, [COMPONENT_SLEEP] = 14,
                      [COMPONENT_BARRIER] = 17, [COMPONENT_CONDITION] = condition,
                      [COMPONENT_OTHER_BLOCKED] = other, [COMPONENT_RUNNING] = running));
}

static void off(struct scene *scene, uint32_t thread, uint64_t back, uint64_t ticks, uint64_t how,
                uint64_t runnable)
{
    PUT(scene, thread, back, HEURT_EVENT_OFF_CPU, HEURT_OFF(ticks, how), HEURT_BACK(runnable, 1),
        0);
}

static void the_kernel_tells_what_a_holder_did(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, ACQUIRED, A, LOCK);
    off(scene, 0, 1110, 50, HEURT_OFF_PREEMPTED, HEURT_NOT_KNOWN); /* 10 of it in the wait */
    off(scene, 0, 1160, 40, HEURT_OFF_BLOCKED, 15);
    off(scene, 0, 1200, 12, HEURT_OFF_FAULT, HEURT_NOT_KNOWN);
    off(scene, 0, 1250, 13, HEURT_OFF_DISK, 3);
    PUT(scene, 0, 1300, HEURT_EVENT_FAULT, HEURT_OFF(7, HEURT_FAULT_MEASURED), 0x6000, 0);
    wait_for_thread_0(scene);
    scene__profile(scene);
    check_doing(mutex_class(scene, B),
                DOING([COMPONENT_RUNNABLE] = 10 + 15 + 3, [COMPONENT_OTHER_BLOCKED] = 25,
                      [COMPONENT_PAGE_FAULT] = 12 + 7, [COMPONENT_DISK] = 10,
                      [COMPONENT_RUNNING] = 400 - 28 - 25 - 19 - 10));
}

static void within_a_wait_only_readiness_is_told_apart(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, ACQUIRED, A, LOCK);
    PUT(scene, 0, 1150, HEURT_EVENT_SLEEP, HEURT_SITE(C, HEURT_SLEEP_NANOSLEEP), 100);
    off(scene, 0, 1260, 105, HEURT_OFF_BLOCKED, 20);
    PUT(scene, 0, 1265, HEURT_EVENT_SLEEP LEFT);
    wait_for_thread_0(scene);
    scene__profile(scene);
    check_doing(
        mutex_class(scene, B),
        DOING([COMPONENT_SLEEP] = 95, [COMPONENT_RUNNABLE] = 20, [COMPONENT_RUNNING] = 400 - 115));
}

/* Events that came later stand in front of what the kernel told. */
static void the_kernel_tells_late(void **state)
{
    struct scene *scene = *state;
    scene__function(scene, 0, 1024, 0x401000, "f", "");
    PUT(scene, 0, 1000, ACQUIRED, A, LOCK);
    PUT(scene, 1, 1100, WAIT, B, LOCK);
    PUT(scene, 0, 1310, 1024);
    PUT(scene, 0, 1320, ACQUIRED, C, OTHER);
    PUT(scene, 0, 1330, RELEASED, C, OTHER);
    PUT(scene, 0, 1400, RELEASED, A, LOCK);
    off(scene, 0, 1300, 150, HEURT_OFF_PREEMPTED, HEURT_NOT_KNOWN);
    PUT(scene, 1, 1410, WAIT LEFT, 0);
    PUT(scene, 0, 1420, 1024 LEFT);
    scene__profile(scene);
    check_doing(mutex_class(scene, B),
                DOING([COMPONENT_RUNNABLE] = 150, [COMPONENT_RUNNING] = 150));
}

static void a_holder_that_waits_does_what_its_holder_does(void **state)
{
    struct scene *scene = *state;
    enum { THIRD = 0x7800 };
    PUT(scene, 0, 1000, ACQUIRED, A, THIRD);
    PUT(scene, 2, 1000, ACQUIRED, C, OTHER);
    PUT(scene, 1, 1000, ACQUIRED, B, LOCK);
    PUT(scene, 3, 1100, WAIT, A + 3, LOCK);  /* for 1, which works until 1150 */
    PUT(scene, 1, 1150, WAIT, B + 1, OTHER); /* for 2, which works until 1200 */
    PUT(scene, 2, 1200, WAIT, C + 2, THIRD); /* for 0, which sleeps from 1250 to 1280 */
    PUT(scene, 0, 1250, HEURT_EVENT_SLEEP, HEURT_SITE(A, HEURT_SLEEP_NANOSLEEP), 30);
    PUT(scene, 0, 1280, HEURT_EVENT_SLEEP LEFT);
    PUT(scene, 0, 1300, RELEASED, A, THIRD);
    PUT(scene, 2, 1310, WAIT LEFT, 0); /* until then nobody had it */
    off(scene, 2, 1350, 20, HEURT_OFF_PREEMPTED, HEURT_NOT_KNOWN);
    PUT(scene, 2, 1360, RELEASED, C, OTHER);
    PUT(scene, 1, 1360, WAIT LEFT, 0);
    PUT(scene, 1, 1400, RELEASED, B, LOCK);
    PUT(scene, 3, 1400, WAIT LEFT, 0);
    scene__profile(scene);
    check_doing(mutex_class(scene, A + 3),
                DOING([COMPONENT_SLEEP] = 30, [COMPONENT_RUNNABLE] = 20, [COMPONENT_LOCK] = 10,
                      [COMPONENT_RUNNING] = 300 - 60));
    check_doing(mutex_class(scene, B + 1),
                DOING([COMPONENT_SLEEP] = 30, [COMPONENT_RUNNABLE] = 20, [COMPONENT_LOCK] = 10,
                      [COMPONENT_RUNNING] = 210 - 60));
    check_doing(mutex_class(scene, C + 2), DOING([COMPONENT_SLEEP] = 30, [COMPONENT_RUNNING] = 70));
    check_holder(mutex_class(scene, A + 3), 0, B, 300, 1);
    const struct profile_blame *blame =
        VEC_AT(&mutex_class(scene, A + 3)->blames, struct profile_blame, 0);
    assert_int_equal(blame->thread, 1);
}

/* What was done before a wait, or before the lock was had, is in no wait. */
static void only_what_is_within_the_wait_counts(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 2, 1000, ACQUIRED, C, OTHER);
    PUT(scene, 3, 1000, WAIT, C + 3, OTHER);
    PUT(scene, 2, 1000, HEURT_EVENT_SLEEP, HEURT_SITE(C, HEURT_SLEEP_NANOSLEEP), 50);
    PUT(scene, 2, 1050, HEURT_EVENT_SLEEP LEFT);
    PUT(scene, 0, 1090, ACQUIRED, A, LOCK);
    PUT(scene, 1, 1100, WAIT, B, LOCK);
    PUT(scene, 0, 1150, WAIT, A + 1, OTHER); /* there was somebody who waited for a sleeper */
    PUT(scene, 2, 1250, RELEASED, C, OTHER);
    PUT(scene, 3, 1250, WAIT LEFT, 110);
    PUT(scene, 0, 1250, WAIT LEFT, 0);
    PUT(scene, 0, 1300, RELEASED, A, LOCK);
    PUT(scene, 2, 1300, ACQUIRED, C + 2, LOCK); /* the one who had slept */
    PUT(scene, 2, 1400, RELEASED, C + 2, LOCK);
    PUT(scene, 1, 1400, WAIT LEFT, 0);
    scene__profile(scene);
    const struct profile_class *class = mutex_class(scene, B);
    assert_int_equal(class->blames.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct profile_blame *blame = VEC_AT(&class->blames, struct profile_blame, i);
        assert_int_equal(blame->doing_ns[COMPONENT_RUNNING], blame->wait_ns);
    }
    check_holder(class, 0, A, 200, 1);
    check_holder(class, 1, C + 2, 100, 1);
}

static void those_who_wait_in_a_circle_wait_for_locks(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, ACQUIRED, A, LOCK);
    PUT(scene, 1, 1000, ACQUIRED, B, OTHER);
    PUT(scene, 0, 1100, WAIT, A + 8, OTHER); /* 1 works for 100 more */
    PUT(scene, 2, 1150, WAIT, C, OTHER);     /* and for 50 more of these */
    PUT(scene, 1, 1200, WAIT, B + 8, LOCK);
    scene__profile(scene); /* killed at 2000 */
    check_doing(mutex_class(scene, A + 8),
                DOING([COMPONENT_LOCK] = 800, [COMPONENT_RUNNING] = 100));
    check_doing(mutex_class(scene, B + 8), DOING([COMPONENT_LOCK] = 800));
    check_doing(mutex_class(scene, C), DOING([COMPONENT_LOCK] = 800, [COMPONENT_RUNNING] = 50));
}

static void readers_share_what_they_did(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, ACQUIRED, READ(A), LOCK);
    PUT(scene, 1, 1000, ACQUIRED, READ(A), LOCK);
    PUT(scene, 2, 1100, WAIT, WRITE(C), LOCK);
    PUT(scene, 0, 1100, HEURT_EVENT_SLEEP, HEURT_SITE(A, HEURT_SLEEP_NANOSLEEP), 30);
    PUT(scene, 0, 1200, HEURT_EVENT_SLEEP LEFT);
    PUT(scene, 0, 1200, RELEASED, HEURT_SITE(A, HEURT_LOCK_RW_ANY), LOCK);
    PUT(scene, 1, 1300, RELEASED, HEURT_SITE(A, HEURT_LOCK_RW_ANY), LOCK);
    PUT(scene, 2, 1300, WAIT LEFT, 0);
    scene__profile(scene);
    const struct profile_class *c =
        scene__class(scene, CLASS_LOCK, "pthread_rwlock_wrlock", C, LOCK);
    check_doing(c, DOING([COMPONENT_SLEEP] = 50, [COMPONENT_RUNNING] = 150));
    assert_int_equal(VEC_AT(&c->blames, struct profile_blame, 0)->thread, UINT32_MAX);
}

static void what_a_thread_did_in_another_process_is_its_own(void **state)
{
    struct scene *scene = *state;
    scene__process(scene, 1, 101, 0);
    scene->process_of[2] = scene->process_of[3] = 1;
    for (uint32_t first = 0; first < 4; first += 2) {
        PUT(scene, first, 1000, ACQUIRED, A + first, LOCK);
        PUT(scene, first + 1, 1100, WAIT, B + first, LOCK);
    }
    PUT(scene, 2, 1120, HEURT_EVENT_SLEEP, HEURT_SITE(A, HEURT_SLEEP_NANOSLEEP), 30);
    PUT(scene, 2, 1150, HEURT_EVENT_SLEEP LEFT);
    for (uint32_t first = 0; first < 4; first += 2) {
        PUT(scene, first, 1200, RELEASED, A + first, LOCK);
        PUT(scene, first + 1, 1200, WAIT LEFT, 0);
    }
    scene__profile(scene);
    check_doing(mutex_class(scene, B), DOING([COMPONENT_RUNNING] = 100));
    check_doing(mutex_class(scene, B + 2), DOING([COMPONENT_SLEEP] = 30, [COMPONENT_RUNNING] = 70));
    check_holder(mutex_class(scene, B), 0, A, 100, 1);
    check_holder(mutex_class(scene, B + 2), 0, A + 2, 100, 1);
}

static void pauses_of_the_recording_are_nobodys(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, ACQUIRED, A, LOCK);
    PUT(scene, 1, 1100, WAIT, B, LOCK);
    PUT(scene, 1, 1350, HEURT_EVENT_PAUSED, 150);
    PUT(scene, 0, 1500, RELEASED, A, LOCK);
    PUT(scene, 1, 1500, WAIT LEFT, 0);
    scene__profile(scene);
    assert_int_equal(mutex_class(scene, B)->sum_ns, 250);
    check_doing(mutex_class(scene, B), DOING([COMPONENT_RUNNING] = 250));
}

/* ---- threads that never got out of a wait ---------------------------------------------------- */

static size_t warnings_with(const struct profile *profile, const char *part)
{
    size_t count = 0;
    VEC_EACH (sentence, &profile->warnings, char *)
        count += strstr(*sentence, part) != NULL;
    return count;
}

static void a_deadlock_shows(void **state)
{
    struct scene *scene = *state;
    PUT(scene, 0, 1000, ACQUIRED, A, LOCK);
    PUT(scene, 1, 1000, ACQUIRED, B, OTHER);
    PUT(scene, 0, 1100, WAIT, A + 8, OTHER);
    PUT(scene, 1, 1200, WAIT, B + 8, LOCK);
    const struct profile *profile = scene__profile(scene); /* killed at 2000 */
    const struct profile_thread *threads = VEC_AT(&profile->threads, struct profile_thread, 0);
    assert_int_equal(threads[0].lifetime_ns, 1000);
    assert_int_equal(threads[0].component_ns[COMPONENT_LOCK], 900);
    assert_int_equal(threads[0].component_ns[COMPONENT_RUNNING], 100);
    assert_int_equal(threads[1].component_ns[COMPONENT_LOCK], 800);
    const struct profile_class *first =
        scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", A + 8, OTHER);
    assert_int_equal(first->count, 0);
    assert_int_equal(first->unfinished, 1);
    assert_int_equal(first->excess_ns, 0);
    check_holder(first, 0, B, 900, 1);
    check_holder(scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", B + 8, LOCK), 0, A, 800, 1);
    assert_int_equal(warnings_with(profile, "was still in pthread_mutex_lock"), 2);
    assert_int_equal(warnings_with(profile, "thread 1001 was"), 1);
    assert_int_equal(warnings_with(profile, "9e-07 s"), 1);
}

static void what_is_within_the_last_wait_is_part_of_it(void **state)
{
    struct scene *scene = *state;
    scene__function(scene, 0, 1024, 0x401000, "f", "");
    PUT(scene, 0, 1000, 1024);
    PUT(scene, 0, 1100, HEURT_EVENT_BARRIER_WAIT, A, 0x7200);
    PUT(scene, 0, 1200, WAIT, B, LOCK); /* a signal handler */
    PUT(scene, 0, 1300, WAIT LEFT, 0);
    const struct profile *profile = scene__profile(scene);
    const struct profile_thread *thread = VEC_AT(&profile->threads, struct profile_thread, 0);
    assert_int_equal(thread->component_ns[COMPONENT_BARRIER], 900);
    assert_int_equal(thread->component_ns[COMPONENT_LOCK], 0);
    assert_int_equal(scene__class(scene, CLASS_CALL, "f", 0, 0)->unfinished, 1);
    assert_int_equal(warnings_with(profile, "pthread_barrier_wait"), 1);
}

static void a_pool_that_waits_for_work_is_no_news(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    for (uint32_t thread = 1; thread < 20; thread++) {
        PUT(scene, thread, 1000, ACQUIRED, A, LOCK);
        PUT(scene, thread, 1000, CONDITION, B, 0x7200, LOCK);
    }
    scene__end(scene, 0, 1800); /* the process ended by itself */
    const struct profile *profile = scene__profile(scene);
    assert_int_equal(profile->warnings.count, 0);
    const struct profile_thread *thread = VEC_AT(&profile->threads, struct profile_thread, 1);
    assert_int_equal(thread->component_ns[COMPONENT_CONDITION], 1000);
}

static void a_killed_pool_is_told_in_few_sentences(void **state)
{
    struct scene *scene = *state;
    for (uint32_t thread = 0; thread < 20; thread++) {
        PUT(scene, thread, 1000, ACQUIRED, A, LOCK);
        PUT(scene, thread, 1000, CONDITION, B, 0x7200, LOCK);
    }
    const struct profile *profile = scene__profile(scene);
    assert_int_equal(profile->warnings.count, 6);
    assert_int_equal(warnings_with(profile, "was still in pthread_cond_wait"), 5);
    assert_int_equal(warnings_with(profile, "15 more threads"), 1);
}

static void the_end_of_another_process_is_its_last_event(void **state)
{
    struct scene *scene = *state;
    scene__process(scene, 1, 101, 0);
    scene->process_of[1] = scene->process_of[2] = 1;
    PUT(scene, 0, 1000, HEURT_EVENT_FORKED);
    scene__end(scene, 0, 1900);
    PUT(scene, 1, 1100, WAIT, A, LOCK);
    scene__start(scene, 2, 1100);
    scene__end(scene, 2, 1400); /* the child came to its end */
    const struct profile *profile = scene__profile(scene);
    const struct profile_thread *thread = VEC_AT(&profile->threads, struct profile_thread, 1);
    assert_int_equal(thread->component_ns[COMPONENT_LOCK], 300);
    assert_int_equal(thread->lifetime_ns, 300);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene__setup, scene__teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(waits_are_put_on_the_holder),
        TEST(sampled_acquisitions_count_and_leave_holders_unknown),
        TEST(a_holder_whose_acquisition_was_left_out_is_told),
        TEST(locks_of_other_processes_are_others),
        TEST(a_wait_that_timed_out_acquires_nothing),
        TEST(recursive_locks_are_held_until_the_last_release),
        TEST(readers_share_the_blame),
        TEST(condition_waits_give_the_mutex_away),
        TEST(missed_releases_do_not_stay),
        TEST(each_call_of_a_holder_is_what_it_did),
        TEST(the_kernel_tells_what_a_holder_did),
        TEST(within_a_wait_only_readiness_is_told_apart),
        TEST(the_kernel_tells_late),
        TEST(a_holder_that_waits_does_what_its_holder_does),
        TEST(only_what_is_within_the_wait_counts),
        TEST(those_who_wait_in_a_circle_wait_for_locks),
        TEST(readers_share_what_they_did),
        TEST(what_a_thread_did_in_another_process_is_its_own),
        TEST(pauses_of_the_recording_are_nobodys),
        TEST(a_deadlock_shows),
        TEST(what_is_within_the_last_wait_is_part_of_it),
        TEST(a_pool_that_waits_for_work_is_no_news),
        TEST(a_killed_pool_is_told_in_few_sentences),
        TEST(the_end_of_another_process_is_its_last_event),
    };
    return cmocka_run_group_tests_name("blame", tests, NULL, NULL);
}
