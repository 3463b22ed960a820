/* What threads did over time, and the longest occurrences of classes. */
#include "analysis/timeline/thread_times.h"

#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define F 1024
#define LEFT | 1
#define WAIT HEURT_EVENT_LOCK_WAIT
#define MUTEX HEURT_SITE(0x9000, HEURT_LOCK_MUTEX)

static uint64_t lived(const struct state_times *times)
{
    uint64_t ns = 0;
    for (unsigned state = 0; state < THREAD_STATES; state++)
        ns += times->ns[state];
    return ns;
}

/* ---- the states of a thread ------------------------------------------------------------------ */

static void buckets_add_up_to_the_life_in_them(void **state)
{
    (void)state;
    struct thread_states states = thread_states__new(110, 100);
    struct state_times buckets[5];
    thread_states__add(&states, COMPONENT_LOCK, 120, 150);
    thread_states__add(&states, COMPONENT_SLEEP, 150, 210);
    thread_states__end(&states, 380);
    thread_states__fill(&states, 0, 500, 5, buckets);
    const uint64_t lives[5] = {0, 90, 100, 80, 0};
    for (int i = 0; i < 5; i++)
        assert_int_equal(lived(&buckets[i]), lives[i]);
    assert_int_equal(buckets[1].ns[COMPONENT_LOCK], 30);
    assert_int_equal(buckets[1].ns[COMPONENT_SLEEP], 50);
    assert_int_equal(buckets[1].ns[COMPONENT_RUNNING], 10);
    assert_int_equal(buckets[2].ns[COMPONENT_SLEEP], 10);
    assert_int_equal(buckets[2].ns[COMPONENT_RUNNING], 90);
    thread_states__free(&states);
}

static void a_bucket_may_be_a_part_of_a_stretch(void **state)
{
    (void)state;
    struct thread_states states = thread_states__new(0, 100);
    struct state_times buckets[3];
    thread_states__add(&states, COMPONENT_DISK, 100, 1000);
    thread_states__end(&states, 2000);
    thread_states__fill(&states, 500, 503, 3, buckets);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(buckets[i].ns[COMPONENT_DISK], 1);
        assert_int_equal(lived(&buckets[i]), 1);
    }
    thread_states__free(&states);
}

static void a_wait_takes_over_what_is_no_want_of_a_cpu(void **state)
{
    (void)state;
    struct thread_states states = thread_states__new(100, 100);
    struct state_times times;
    thread_states__add(&states, COMPONENT_OTHER_BLOCKED, 110, 150);
    thread_states__add(&states, COMPONENT_RUNNABLE, 150, 160);
    thread_states__add_wait(&states, COMPONENT_LOCK, 100, 200, false);
    thread_states__add(&states, COMPONENT_RUNNABLE, 210, 220);
    thread_states__add_wait(&states, COMPONENT_OTHER_BLOCKED, 205, 230, true);
    thread_states__end(&states, 300);
    thread_states__fill(&states, 0, 400, 1, &times);
    assert_int_equal(times.ns[COMPONENT_LOCK], 90);
    assert_int_equal(times.ns[COMPONENT_RUNNABLE], 10);
    assert_int_equal(times.ns[COMPONENT_OTHER_BLOCKED], 25);
    assert_int_equal(times.ns[COMPONENT_RUNNING], 75);
    thread_states__free(&states);
}

static void what_was_before_the_life_is_cut_off(void **state)
{
    (void)state;
    struct thread_states states = thread_states__new(100, 100);
    struct state_times times;
    thread_states__add(&states, COMPONENT_OVERHEAD, 80, 130);
    thread_states__end(&states, 200);
    thread_states__fill(&states, 0, 400, 1, &times);
    assert_int_equal(times.ns[COMPONENT_OVERHEAD], 30);
    assert_int_equal(lived(&times), 100);
    thread_states__free(&states);
}

static void assert_stretch(const struct thread_states *states, size_t place, unsigned state,
                           uint64_t begin_ns, uint64_t length_ns)
{
    const struct thread_stretch *stretch = VEC_AT(&states->stretches, struct thread_stretch, place);
    assert_int_equal(stretch->state, state);
    assert_int_equal(stretch->begin_ns, begin_ns);
    assert_int_equal(stretch->length_ns, length_ns);
}

/* The kernel tells when it was off the CPU: else it was on one, also in a wait within the wait. */
static void in_a_wait_it_may_be_on_a_cpu(void **state)
{
    (void)state;
    struct thread_states states = thread_states__new(0, 100);
    struct state_times times;
    states.knows_cpu = true;
    thread_states__add(&states, COMPONENT_OTHER_BLOCKED, 110, 150);
    thread_states__add_wait(&states, COMPONENT_LOCK, 105, 160, false);
    thread_states__add_wait(&states, COMPONENT_DISK, 100, 200, false);
    thread_states__end(&states, 300);
    assert_int_equal(states.stretches.count, 3);
    assert_stretch(&states, 0, COMPONENT_DISK + STATE_ON_CPU, 100, 10);
    assert_stretch(&states, 1, COMPONENT_DISK, 110, 40);
    assert_stretch(&states, 2, COMPONENT_DISK + STATE_ON_CPU, 150, 50);
    thread_states__fill(&states, 0, 400, 1, &times);
    assert_int_equal(times.ns[COMPONENT_DISK], 100);
    assert_int_equal(lived(&times), 300);
    thread_states__free(&states);
}

/* 100,000 stretches in room for 1,000: sums are the same, and each is near its place. */
static void too_many_stretches_are_put_together_and_lose_nothing(void **state)
{
    (void)state;
    enum { COUNT = 100000, MOST = 1000 };
    struct thread_states states = thread_states__new(0, MOST);
    struct state_times half[2];
    for (uint64_t i = 0; i < COUNT; i++)
        thread_states__add(&states, i % 3 ? COMPONENT_LOCK : COMPONENT_RUNNABLE, 7 + i * 10,
                           7 + i * 10 + 1 + i % 4);
    thread_states__end(&states, 7 + COUNT * 10);
    assert_true(states.grain_ns > 0 && states.grain_ns < COUNT * 10 / 50);
    assert_true(states.stretches.count < MOST * 2);
    thread_states__fill(&states, 0, 7 + COUNT * 10, 2, half);
    uint64_t lock = 0, no_cpu = 0;
    for (uint64_t i = 0; i < COUNT; i++)
        *(i % 3 ? &lock : &no_cpu) += 1 + i % 4;
    assert_int_equal(half[0].ns[COMPONENT_LOCK] + half[1].ns[COMPONENT_LOCK], lock);
    assert_int_equal(half[0].ns[COMPONENT_RUNNABLE] + half[1].ns[COMPONENT_RUNNABLE], no_cpu);
    assert_in_range(half[0].ns[COMPONENT_LOCK], lock / 2 - states.grain_ns,
                    lock / 2 + states.grain_ns);
    thread_states__free(&states);
}

static void blocks_of_stretches_are_told_apart(void **state)
{
    (void)state;
    struct thread_states states = thread_states__new(0, 10000);
    struct state_times buckets[1000];
    for (uint64_t i = 0; i < 1000; i++)
        thread_states__add(&states, COMPONENT_LOCK, i * 1000 + i % 500, i * 1000 + i % 500 + i + 1);
    thread_states__end(&states, 2000000);
    assert_int_equal(states.grain_ns, 0);
    thread_states__fill(&states, 0, 1000000, 1000, buckets);
    for (uint64_t i = 0; i < 499; i++) /* each ends in its bucket */
        assert_int_equal(buckets[i].ns[COMPONENT_LOCK], i + 1);
    thread_states__free(&states);
}

/* ---- of a trace ------------------------------------------------------------------------------ */

static struct thread_times *thread_times_of(struct scene *scene)
{
    struct thread_times *thread_times = NULL;
    struct error error = {""};
    scene__profile(scene);
    if (run__one(scene->trace, scene->symbols, &thread_times_analysis, NULL, (void **)&thread_times,
                 &error) < 0)
        fail_msg("%s", error.text);
    assert_non_null(thread_times);
    return thread_times;
}

static void wait_for_lock(struct scene *scene, uint64_t from, uint64_t to)
{
    PUT(scene, 0, from, WAIT, MUTEX, 0x7000);
    PUT(scene, 0, to - 10, HEURT_EVENT_OFF_CPU, HEURT_OFF(to - from - 20, HEURT_OFF_BLOCKED),
        HEURT_BACK(20, 1), 0);
    PUT(scene, 0, to, WAIT LEFT, 0);
    PUT(scene, 0, to + 1, HEURT_EVENT_LOCK_RELEASED, MUTEX, 0x7000);
}

/* The states of the whole life are the components that the profile tells. */
static void states_add_up_to_the_profile(void **state)
{
    struct scene *scene = *state;
    scene__function(scene, 0, F, 0x401000, "f", "");
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1000, HEURT_EVENT_KERNEL, 0);
    PUT(scene, 0, 1010, F);
    PUT(scene, 0, 1060, HEURT_EVENT_OFF_CPU, HEURT_OFF(30, HEURT_OFF_PREEMPTED), HEURT_BACK(30, 1),
        0);
    wait_for_lock(scene, 1100, 1200);
    PUT(scene, 0, 1290, HEURT_EVENT_OFF_CPU, HEURT_OFF(40, HEURT_OFF_BLOCKED), HEURT_BACK(15, 1),
        0);
    PUT(scene, 0, 1350, HEURT_EVENT_FAULT, HEURT_OFF(9, HEURT_FAULT_MEASURED), 0x8000, 0);
    PUT(scene, 0, 1400, F LEFT);
    scene__end(scene, 0, 2000);
    struct thread_times *thread_times = thread_times_of(scene);
    const struct profile_thread *thread =
        VEC_AT(&scene->profile->threads, struct profile_thread, 0);
    struct state_times times;
    thread_states__fill(&thread_times->threads[0], 0, 5000, 1, &times);
    for (unsigned i = 0; i < COMPONENTS; i++)
        assert_int_equal(times.ns[i], thread->component_ns[i]);
    assert_int_equal(times.ns[COMPONENT_LOCK], 80);
    assert_int_equal(times.ns[COMPONENT_RUNNABLE], 30 + 20 + 15);
    assert_int_equal(thread_times->end_ns, 1000);
    thread_times_analysis.free(thread_times);
}

static void the_longest_occurrences_stand_first(void **state)
{
    struct scene *scene = *state;
    enum { COUNT = OCCURRENCES_KEPT + 500 };
    uint64_t tick = 2000;
    scene__function(scene, 0, F, 0x401000, "f", "");
    scene__start(scene, 0, 1000);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t took = 1 + i * 7 % COUNT;
        PUT(scene, 0, tick, F);
        PUT(scene, 0, tick + took, F LEFT);
        tick += took + 1;
    }
    PUT(scene, 0, tick, F); /* which does not end */
    scene__end(scene, 0, tick + 100000);
    struct thread_times *thread_times = thread_times_of(scene);
    size_t place = (size_t)(scene__class(scene, CLASS_CALL, "f", 0, 0) -
                            VEC_AT(&scene->profile->classes, struct profile_class, 0));
    const struct vec *longest = &thread_times->longest[place];
    assert_int_equal(longest->count, OCCURRENCES_KEPT);
    for (size_t i = 0; i < longest->count; i++) {
        const struct kept_occurrence *row = VEC_AT(longest, struct kept_occurrence, i);
        assert_int_equal(row->duration_ns, COUNT - i);
        assert_int_equal(row->thread, 0);
    }
    thread_times_analysis.free(thread_times);
}

/* Nobody wakes it: it waits until the process ends. */
static void a_wait_that_is_open_at_the_end_goes_on(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    PUT(scene, 1, 1100, WAIT, MUTEX, 0x7000);
    scene__end(scene, 0, 2000);
    struct thread_times *thread_times = thread_times_of(scene);
    struct state_times times;
    thread_states__fill(&thread_times->threads[1], 0, 5000, 1, &times);
    assert_int_equal(times.ns[COMPONENT_LOCK], 900);
    assert_int_equal(times.ns[COMPONENT_RUNNING], 100);
    thread_times_analysis.free(thread_times);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_add_up_to_the_life_in_them),
        cmocka_unit_test(a_bucket_may_be_a_part_of_a_stretch),
        cmocka_unit_test(a_wait_takes_over_what_is_no_want_of_a_cpu),
        cmocka_unit_test(what_was_before_the_life_is_cut_off),
        cmocka_unit_test(in_a_wait_it_may_be_on_a_cpu),
        cmocka_unit_test(too_many_stretches_are_put_together_and_lose_nothing),
        cmocka_unit_test(blocks_of_stretches_are_told_apart),
        cmocka_unit_test_setup_teardown(states_add_up_to_the_profile, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(the_longest_occurrences_stand_first, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(a_wait_that_is_open_at_the_end_goes_on, scene__setup,
                                        scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
