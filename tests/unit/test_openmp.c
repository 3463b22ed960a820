/* What is told of parallel regions of which all is known. Ticks are ns; the trace begins at 1000.
 */
#include "analysis/analysis.h"
#include "analysis/openmp/openmp.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define REGION 0x5001
#define INNER 0x6001
#define LOOP 0x5100
#define TASKS 0x7001
#define LOCK 0x9000

static struct openmp_use *use;

#define BEGIN(thread, tick, what, site, a, b) \
    PUT(scene, thread, tick, HEURT_EVENT_OPENMP_BEGIN, HEURT_SITE(site, HEURT_OPENMP_##what), a, b)
#define END(thread, tick, what, site, ticks, a, b)                                                 \
    PUT(scene, thread, tick, HEURT_EVENT_OPENMP_END, HEURT_SITE(site, HEURT_OPENMP_##what), ticks, \
        a, b)

static void analyse(struct scene *scene)
{
    struct error error;
    scene__profile(scene);
    openmp_analysis.free(use);
    use = NULL;
    assert_int_equal(run__one(scene->trace, NULL, &openmp_analysis, NULL, (void **)&use, &error),
                     0);
}

static struct parallel_region *region_of(uint64_t site)
{
    VEC_EACH (region, &use->regions, struct parallel_region)
        if (region->site == site)
            return region;
    fail_msg("no region");
    return NULL;
}

static const struct team_member *member(const struct parallel_region *region, size_t number)
{
    assert_true(number < region->members.count);
    return VEC_AT(&region->members, struct team_member, number);
}

static void lives(struct scene *scene, uint64_t end)
{
    scene__end(scene, 0, end);
    scene__end(scene, 1, end);
}

/* Of 10,000 ns 2,000 are serial. Thread 0 works 2,000 of the region's 8,000, thread 1 6,000. */
static void one_region(struct scene *scene)
{
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    BEGIN(0, 2000, REGION, REGION, 1, 2);
    BEGIN(0, 2500, BODY, REGION, 1, 2);
    BEGIN(1, 3000, BODY, REGION, 1, (uint64_t)1 << 32 | 2);
    END(0, 4500, BODY, REGION, 0, 0, 0);
    END(1, 9000, BODY, REGION, 0, 0, 0);
    END(0, 10000, REGION, REGION, 0, 0, 0);
}

static void parts_of_a_region(void **state)
{
    struct scene *scene = *state;
    one_region(scene);
    lives(scene, 11000);
    analyse(scene);
    const struct parallel_region *region = region_of(REGION);
    assert_int_equal(region->count, 1);
    assert_int_equal(region->ns, 8000);
    assert_int_equal(region->threads, 2);
    assert_int_equal(region->capacity_ns, 16000);
    assert_int_equal(region->times.fork_ns, 500 + 1000);
    assert_int_equal(region->times.work_ns, 2000 + 6000);
    assert_int_equal(region->times.end_ns, 4500);
    assert_int_equal(region->times.barrier_ns, 4500);
    assert_int_equal(region->times.join_ns, 2 * 1000);
    assert_int_equal(member(region, 1)->last, 1);
    assert_int_equal(member(region, 0)->last, 0);
    assert_int_equal(region->chain_ns, 6000);
    assert_int_equal(region->mean_ns, 4000);
    assert_false(region->is_nested);
}

static void efficiency_adds_up(void **state)
{
    struct scene *scene = *state;
    one_region(scene);
    lives(scene, 11000);
    analyse(scene);
    const struct efficiency *all = &use->efficiency;
    assert_int_equal(all->threads, 2);
    assert_int_equal(all->capacity_ns, 20000);
    assert_int_equal(all->serial_ns, 2000);
    assert_int_equal(all->serial_lost_ns, 2000);
    assert_int_equal(all->unused_ns, 0);
    assert_int_equal(all->serial_ns + all->serial_lost_ns + region_of(REGION)->capacity_ns, 20000);
    assert_float_equal(efficiency__value(all), 0.5, 1e-9);
    assert_float_equal(efficiency__of_serial(all), 0.9, 1e-9);
    assert_float_equal(efficiency__of_regions(all), 0.6, 1e-9);
    assert_float_equal(efficiency__balance(use), 0.8, 1e-9);
}

/* Two threads each call a region for 1,000 ns twice, and have 2,000 in between; the second one
 * begins so much later. */
static double callers_with(struct scene *scene, uint64_t later)
{
    for (uint32_t thread = 0; thread < 2; thread++) {
        uint64_t from = 2000 + thread * later;
        scene__start(scene, thread, 1000);
        for (uint64_t begin = from; begin <= from + 3000; begin += 3000) {
            BEGIN(thread, begin, REGION, REGION, 1 + 2 * thread + (begin > from), 1);
            BEGIN(thread, begin, BODY, REGION, 1 + 2 * thread + (begin > from), 1);
            END(thread, begin + 1000, BODY, REGION, 0, 0, 0);
            END(thread, begin + 1000, REGION, REGION, 0, 0, 0);
        }
    }
    lives(scene, 20000);
    analyse(scene);
    assert_int_equal(use->efficiency.between_ns, 4000);
    return use->efficiency.callers;
}

static void callers_side_by_side_are_two(void **state)
{
    assert_float_equal(callers_with(*state, 0), 2, 1e-9);
}

static void callers_that_follow_each_other_are_one_at_a_time(void **state)
{
    assert_float_equal(callers_with(*state, 5000), 1, 1e-9);
}

static void callers_that_overlap_are_so_many_on_the_average(void **state)
{
    assert_float_equal(callers_with(*state, 3000), 8.0 / 7, 1e-9);
}

/* As many CPUs as the work needs are what balancing can use. */
static void gain_is_bounded_by_cpus(void **state)
{
    struct scene *scene = *state;
    one_region(scene);
    lives(scene, 11000);
    analyse(scene);
    struct parallel_region *region = region_of(REGION);
    use->wall_ns = 10000;
    /* The scene has one CPU: all work is one after the other, however it is divided. */
    assert_int_equal(use->cpus, 1);
    assert_int_equal(region->saved_ns, 0);
    assert_float_equal(parallel_region__gain(use, region), 1, 1e-9);
    region->saved_ns = region->chain_ns - region->mean_ns;
    assert_float_equal(parallel_region__gain(use, region), 1.25, 1e-9);
}

/* A barrier is told when it is over, and what was off the CPU in it is the barrier's. */
static void waits_are_no_work(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    BEGIN(0, 1000, REGION, REGION, 7, 2);
    BEGIN(0, 1000, BODY, REGION, 7, 2);
    BEGIN(1, 1000, BODY, REGION, 7, (uint64_t)1 << 32 | 2);
    PUT(scene, 0, 2000, HEURT_EVENT_OFF_CPU, HEURT_OFF(300, HEURT_OFF_PREEMPTED),
        HEURT_BACK(300, 0), 0);
    PUT(scene, 0, 2900, HEURT_EVENT_OFF_CPU, HEURT_OFF(400, HEURT_OFF_BLOCKED), HEURT_BACK(100, 0),
        0);
    PUT(scene, 0, 2100, HEURT_EVENT_BARRIER_WAIT, HEURT_SITE(LOOP, HEURT_BARRIER_OPENMP), LOOP);
    PUT(scene, 0, 3000, HEURT_EVENT_BARRIER_WAIT | 1, 0);
    PUT(scene, 0, 3500, HEURT_EVENT_LOCK_WAIT, HEURT_SITE(LOOP, HEURT_LOCK_CRITICAL), LOCK);
    PUT(scene, 0, 4100, HEURT_EVENT_LOCK_WAIT | 1, 0);
    PUT(scene, 0, 4200, HEURT_EVENT_LOCK_RELEASED, HEURT_SITE(LOOP, HEURT_LOCK_CRITICAL), LOCK);
    PUT(scene, 0, 4300, HEURT_EVENT_LOCK_ACQUIRED, HEURT_SITE(LOOP, HEURT_LOCK_CRITICAL), LOCK);
    PUT(scene, 0, 4400, HEURT_EVENT_LOCK_RELEASED, HEURT_SITE(LOOP, HEURT_LOCK_CRITICAL), LOCK);
    END(0, 5000, BODY, REGION, 0, 0, 0);
    END(1, 5000, BODY, REGION, 0, 0, 0);
    END(0, 5000, REGION, REGION, 0, 0, 0);
    lives(scene, 5000);
    analyse(scene);
    const struct team_member *first = member(region_of(REGION), 0);
    assert_int_equal(first->times.barrier_ns, 900);
    assert_int_equal(first->times.lock_ns, 600);
    assert_int_equal(first->times.no_cpu_ns, 300);
    assert_int_equal(first->times.other_ns, 0);
    assert_int_equal(first->times.work_ns, 4000 - 900 - 600 - 300);
    assert_int_equal(first->counts.locks, 2);
    assert_int_equal(first->counts.locks_waited, 1);
    assert_int_equal(member(region_of(REGION), 1)->times.work_ns, 4000);
}

/* Thread 1 runs a task behind its body, which ends the region. */
static void tasks_are_work_of_who_runs_them(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    BEGIN(0, 1000, REGION, REGION, 3, 2);
    BEGIN(0, 1000, BODY, REGION, 3, 2);
    BEGIN(1, 1000, BODY, REGION, 3, (uint64_t)1 << 32 | 2);
    END(1, 1500, BODY, REGION, 0, 0, 0);
    END(0, 2000, TASK_MADE, TASKS, 500, 50, 0);
    END(1, 3500, TASK, TASKS, 1400, 1, 1);
    END(0, 3000, TASK, TASKS, 490, 49, 0);
    END(0, 3800, TASKWAIT, LOOP, 1600, 900, 1);
    END(0, 4000, BODY, REGION, 0, 0, 0);
    END(0, 4000, REGION, REGION, 0, 0, 0);
    lives(scene, 4000);
    analyse(scene);
    const struct parallel_region *region = region_of(REGION);
    assert_int_equal(region->counts.tasks, 50);
    assert_int_equal(region->counts.stolen, 1);
    assert_int_equal(region->counts.made, 50);
    assert_int_equal(member(region, 0)->times.task_ns, 900);
    assert_int_equal(member(region, 0)->times.work_ns, 3000 - 900);
    assert_int_equal(member(region, 1)->times.work_ns, 500 + 1400);
    assert_int_equal(use->constructs.count, 1);
    const struct task_construct *construct = VEC_AT(&use->constructs, struct task_construct, 0);
    assert_int_equal(construct->count, 50);
    assert_int_equal(construct->ns, 1890);
    assert_int_equal(construct->most_ns, 1400);
    /* Making one takes 10 ns: below 100 ns are those of 10. */
    assert_int_equal(use->task_cost_ns, 10);
    assert_int_equal(construct->small, 49);
}

/* Two stages of two tasks each, of 300 and 2,700 ns: who does the short one finds no other. Side
 * by side all the time they would take 3,000. */
static void one_stage(struct scene *scene, uint64_t begin, unsigned short_one)
{
    unsigned long_one = !short_one;
    END(short_one, begin + 300, TASK, TASKS, 300, 1, 0);
    END(long_one, begin + 2700, TASK, TASKS, 2700, 1, 0);
    END(0, begin + 2700, TASKWAIT, LOOP, 2700, short_one == 0 ? 2400 : 0, 1);
}

static void stages_of_few_tasks(struct scene *scene)
{
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    BEGIN(0, 1000, REGION, REGION, 4, 2);
    BEGIN(0, 1000, BODY, REGION, 4, 2);
    BEGIN(1, 1000, BODY, REGION, 4, (uint64_t)1 << 32 | 2);
    END(1, 1000, BODY, REGION, 0, 0, 0);
    END(0, 1000, TASK_MADE, TASKS, 4, 4, 0);
    one_stage(scene, 1000, 0);
    one_stage(scene, 3700, 1);
    END(0, 6400, BODY, REGION, 0, 0, 0);
    END(0, 6400, REGION, REGION, 0, 0, 0);
    lives(scene, 6400);
    analyse(scene);
}

static void few_tasks_that_are_waited_for_leave_threads_idle(void **state)
{
    stages_of_few_tasks(*state);
    assert_int_equal(region_of(REGION)->counts.taskwaits, 2);
    assert_int_equal(region_of(REGION)->waiting, 1);
    assert_int_equal(region_of(REGION)->times.task_ns, 2400);
    /* Thread 1 lives 5,400 and works 3,000. */
    assert_int_equal(VEC_AT(&use->threads, struct team_thread, 0)->task_lost_ns, 2400 + 4);
    assert_int_equal(VEC_AT(&use->threads, struct team_thread, 1)->task_lost_ns, 2400);
    /* The scene has one CPU: it gains nothing there. */
    assert_null(openmp_use__task_hint(use));
    assert_int_equal(openmp_use__saved_by_tasks(use), 0);
    use->cpus = 2;
    assert_int_equal(openmp_use__saved_by_tasks(use), 5400 - 6000 / 2);
}

/* Of three waits that are told as one nobody knows where they were: what the thread waited
 * meanwhile by other calls is of them, as far as they go. */
static void waits_told_as_one_are_not_counted_twice(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    BEGIN(0, 1000, REGION, REGION, 1, 1);
    BEGIN(0, 1000, BODY, REGION, 1, 1);
    PUT(scene, 0, 1200, HEURT_EVENT_SLEEP, HEURT_SITE(LOOP, HEURT_SLEEP_YIELD), 0);
    PUT(scene, 0, 1500, HEURT_EVENT_SLEEP | 1);
    PUT(scene, 0, 2000, HEURT_EVENT_SLEEP, HEURT_SITE(LOOP, HEURT_SLEEP_YIELD), 0);
    PUT(scene, 0, 2400, HEURT_EVENT_SLEEP | 1);
    END(0, 3900, TASKWAIT, LOOP, 1000, 600, 3);
    END(0, 4000, BODY, REGION, 0, 0, 0);
    END(0, 4000, REGION, REGION, 0, 0, 0);
    scene__end(scene, 0, 4000);
    analyse(scene);
    const struct team_times *times = &region_of(REGION)->times;
    assert_int_equal(times->task_ns, 600);
    assert_int_equal(times->other_ns, 100);
    assert_int_equal(times->work_ns, 3000 - 700);
}

/* In a nested region thread 0 waits 800 ns for the other one, which is no work of the outer body.
 */
static void nested_regions(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    BEGIN(0, 1000, REGION, REGION, 1, 1);
    BEGIN(0, 1000, BODY, REGION, 1, 1);
    BEGIN(0, 2000, REGION, INNER, 2, 2);
    BEGIN(0, 2000, BODY, INNER, 2, 2);
    BEGIN(1, 2000, BODY, INNER, 2, (uint64_t)1 << 32 | 2);
    END(0, 2200, BODY, INNER, 0, 0, 0);
    END(1, 3000, BODY, INNER, 0, 0, 0);
    END(0, 3000, REGION, INNER, 0, 0, 0);
    END(0, 4000, BODY, REGION, 0, 0, 0);
    END(0, 4000, REGION, REGION, 0, 0, 0);
    lives(scene, 4000);
    analyse(scene);
    assert_int_equal(region_of(REGION)->times.work_ns, 3000 - 800);
    assert_int_equal(region_of(REGION)->times.barrier_ns, 800);
    assert_int_equal(region_of(INNER)->times.work_ns, 200 + 1000);
    assert_true(region_of(INNER)->is_nested);
    assert_false(region_of(REGION)->is_nested);
    assert_int_equal(use->efficiency.threads, 1);
}

static void loops_by_thread(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    BEGIN(0, 1000, REGION, REGION, 1, 1);
    BEGIN(0, 1000, BODY, REGION, 1, 1);
    BEGIN(0, 1100, LOOP, LOOP, HEURT_OPENMP_LOOP(HEURT_SCHEDULE_DYNAMIC, 4), 100);
    END(0, 1900, CHUNK, LOOP, 700, 4, 0);
    END(0, 2000, LOOP, LOOP, 0, 25, 100);
    END(0, 2000, BODY, REGION, 0, 0, 0);
    END(0, 2000, REGION, REGION, 0, 0, 0);
    scene__end(scene, 0, 2000);
    analyse(scene);
    assert_int_equal(use->loops.count, 1);
    const struct shared_loop *loop = VEC_AT(&use->loops, struct shared_loop, 0);
    assert_int_equal(loop->schedule, HEURT_SCHEDULE_DYNAMIC);
    assert_int_equal(loop->chunk, 4);
    assert_int_equal(loop->chunks, 25);
    assert_int_equal(loop->iterations, 100);
    assert_int_equal(loop->ns, 900);
    assert_int_equal(loop->longest_ns, 700);
    assert_int_equal(region_of(REGION)->counts.iterations, 100);
}

#define MEETING HEURT_SITE(LOOP, HEURT_BARRIER_OPENMP)

/* To the first barrier 1,000 against 3,000, where a loop ends; then 3,000 against 1,000. */
static void two_stretches(struct scene *scene)
{
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    BEGIN(0, 1000, REGION, REGION, 1, 2);
    BEGIN(0, 1000, BODY, REGION, 1, 2);
    BEGIN(1, 1000, BODY, REGION, 1, (uint64_t)1 << 32 | 2);
    BEGIN(0, 1000, LOOP, LOOP, HEURT_OPENMP_LOOP(HEURT_SCHEDULE_DYNAMIC, 4), 8);
    BEGIN(1, 1000, LOOP, LOOP, HEURT_OPENMP_LOOP(HEURT_SCHEDULE_DYNAMIC, 4), 8);
    END(0, 2000, CHUNK, LOOP, 1000, 4, 0);
    END(1, 4000, CHUNK, LOOP, 3000, 4, 4);
    END(0, 2000, LOOP, LOOP, 0, 1, 4);
    END(1, 4000, LOOP, LOOP, 0, 1, 4);
    PUT(scene, 0, 2000, HEURT_EVENT_BARRIER_WAIT, MEETING, LOOP);
    PUT(scene, 1, 4000, HEURT_EVENT_BARRIER_WAIT, MEETING, LOOP);
    PUT(scene, 1, 4000, HEURT_EVENT_BARRIER_WAIT | 1, 0);
    PUT(scene, 0, 4000, HEURT_EVENT_BARRIER_WAIT | 1, 0);
    END(1, 5000, BODY, REGION, 0, 0, 0);
    END(0, 7000, BODY, REGION, 0, 0, 0);
    END(0, 7000, REGION, REGION, 0, 0, 0);
    lives(scene, 7000);
    analyse(scene);
}

static void barriers_divide_a_region(void **state)
{
    two_stretches(*state);
    assert_int_equal(use->barriers.count, 2);
    const struct region_barrier *loop = VEC_AT(&use->barriers, struct region_barrier, 0);
    const struct region_barrier *end = VEC_AT(&use->barriers, struct region_barrier, 1);
    assert_int_equal(loop->loop_site, LOOP);
    assert_int_equal(loop->site, LOOP);
    assert_int_equal(end->site, 0);
    assert_int_equal(loop->times, 1);
    assert_int_equal(loop->wait_ns, 2000);
    assert_int_equal(end->wait_ns, 2000);
    assert_int_equal(loop->chain_ns, 3000);
    assert_int_equal(end->chain_ns, 3000);
    assert_int_equal(loop->mean_ns, 2000);
    const struct barrier_member *late = VEC_AT(&loop->members, struct barrier_member, 1);
    assert_int_equal(late->last, 1);
    assert_int_equal(late->last_work_ns, 3000);
    assert_int_equal(late->last_others_ns, 1000);
    assert_int_equal(VEC_AT(&end->members, struct barrier_member, 0)->last, 1);
    /* Both threads have 4,000 in all, and yet it is not balanced. */
    assert_int_equal(region_of(REGION)->chain_ns, 6000);
    assert_int_equal(region_of(REGION)->mean_ns, 4000);
}

static void a_barrier_is_of_the_loop_that_ends_there(void **state)
{
    two_stretches(*state);
    const struct shared_loop *loop = VEC_AT(&use->loops, struct shared_loop, 0);
    assert_int_equal(loop->wait_ns, 2000);
    assert_int_equal(VEC_AT(&loop->members, struct loop_member, 0)->wait_ns, 2000);
    assert_int_equal(VEC_AT(&loop->members, struct loop_member, 1)->last, 1);
}

/* Eight iterations, of which the last four take three times as long: 500 … and 1,500 …, and what is
 * asked for each chunk is in it. */
static void schedules_are_replayed(void **state)
{
    two_stretches(*state);
    const struct parallel_region *region = region_of(REGION);
    double one = parallel_region__unevenness(use, region, 1);
    double four = parallel_region__unevenness(use, region, 4);
    assert_float_equal(four, (3000 + 150) / 2000.0, 0.01);
    assert_float_equal(one, (2000 + 4 * 150) / 2000.0, 0.2);
    assert_true(one < four);
}

static const struct openmp_hint *hint_of(enum openmp_hint_kind kind)
{
    VEC_EACH (hint, &use->hints, const struct openmp_hint)
        if (hint->kind == kind)
            return hint;
    return NULL;
}

/* The scene has one CPU: nothing is gained by other schedules, nor by barriers that are left out.
 */
static void no_hint_without_a_gain(void **state)
{
    two_stretches(*state);
    assert_int_equal(use->cpus, 1);
    assert_null(hint_of(HINT_DYNAMIC));
    assert_null(hint_of(HINT_EVEN));
    assert_null(hint_of(HINT_NOWAIT));
    assert_null(hint_of(HINT_PASSIVE));
}

static void waits_for_iterations_are_no_work(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    BEGIN(0, 1000, REGION, REGION, 1, 1);
    BEGIN(0, 1000, BODY, REGION, 1, 1);
    END(0, 1800, SINK, LOOP, 500, 500, 1);
    END(0, 2000, BODY, REGION, 0, 0, 0);
    END(0, 2000, REGION, REGION, 0, 0, 0);
    scene__end(scene, 0, 2000);
    analyse(scene);
    assert_int_equal(region_of(REGION)->times.lock_ns, 500);
    assert_int_equal(region_of(REGION)->times.work_ns, 500);
}

/* What a runtime does in a wait that is told when it is over stands before it. */
static void a_wait_that_is_told_late_is_as_long(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    BEGIN(0, 1000, REGION, REGION, 1, 1);
    BEGIN(0, 1000, BODY, REGION, 1, 1);
    END(0, 1700, SINGLE, LOOP, 0, 1, 0);
    PUT(scene, 0, 1200, HEURT_EVENT_LOCK_WAIT, HEURT_SITE(LOOP, HEURT_LOCK_ORDERED), LOCK);
    PUT(scene, 0, 1800, HEURT_EVENT_LOCK_WAIT | 1, 0);
    PUT(scene, 0, 1900, HEURT_EVENT_LOCK_RELEASED, HEURT_SITE(LOOP, HEURT_LOCK_ORDERED), LOCK);
    END(0, 2000, BODY, REGION, 0, 0, 0);
    END(0, 2000, REGION, REGION, 0, 0, 0);
    scene__end(scene, 0, 2000);
    analyse(scene);
    assert_int_equal(region_of(REGION)->times.lock_ns, 600);
    const struct region_lock *lock = VEC_AT(&use->locks, struct region_lock, 0);
    assert_int_equal(lock->wait_ns, 600);
    assert_int_equal(lock->waited, 1);
    assert_int_equal(lock->held_ns, 100);
}

static void without_regions_there_is_no_result(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__end(scene, 0, 2000);
    analyse(scene);
    assert_null(use);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_of_a_region, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(efficiency_adds_up, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(callers_side_by_side_are_two, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(callers_that_follow_each_other_are_one_at_a_time,
                                        scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(callers_that_overlap_are_so_many_on_the_average,
                                        scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(gain_is_bounded_by_cpus, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(waits_are_no_work, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(tasks_are_work_of_who_runs_them, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(few_tasks_that_are_waited_for_leave_threads_idle,
                                        scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(waits_told_as_one_are_not_counted_twice, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(nested_regions, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(loops_by_thread, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(barriers_divide_a_region, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(a_barrier_is_of_the_loop_that_ends_there, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(schedules_are_replayed, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(no_hint_without_a_gain, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(waits_for_iterations_are_no_work, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(a_wait_that_is_told_late_is_as_long, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(without_regions_there_is_no_result, scene__setup,
                                        scene__teardown),
    };
    int failed = cmocka_run_group_tests_name("openmp", tests, NULL, NULL);
    openmp_analysis.free(use);
    return failed;
}
