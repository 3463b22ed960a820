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

static int begin(void **state)
{
    static struct scene scene;
    scene__begin(&scene);
    *state = &scene;
    return 0;
}

static int end(void **state)
{
    scene__free(*state);
    return 0;
}

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

/* ---- threads that never got out of a wait --------------------------------------------------- */

static size_t warnings_with(const struct profile *profile, const char *part)
{
    size_t count = 0;
    VEC_EACH(sentence, &profile->warnings, char *)
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(waits_are_put_on_the_holder),
        TEST(sampled_acquisitions_count_and_leave_holders_unknown),
        TEST(locks_of_other_processes_are_others),
        TEST(a_wait_that_timed_out_acquires_nothing),
        TEST(recursive_locks_are_held_until_the_last_release),
        TEST(readers_share_the_blame),
        TEST(condition_waits_give_the_mutex_away),
        TEST(missed_releases_do_not_stay),
        TEST(a_deadlock_shows),
        TEST(what_is_within_the_last_wait_is_part_of_it),
        TEST(a_pool_that_waits_for_work_is_no_news),
        TEST(a_killed_pool_is_told_in_few_sentences),
        TEST(the_end_of_another_process_is_its_last_event),
    };
    return cmocka_run_group_tests_name("holders", tests, NULL, NULL);
}
