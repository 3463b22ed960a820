/* What threads did with the CPUs, of switches that are known. Times are ns from 1000 on. */
#include "analysis/timeline/service.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void add(struct service_log *log, uint64_t ns, enum service_event event, uint32_t tid,
                uint32_t cpu)
{
    const struct service_record record = {
        .event = event, .pid = 1, .tid = tid, .cpu = cpu, .time_ns = 1000 + ns};
    service_log__add(log, &record);
}

static struct service_log new_log(uint64_t interval_ns)
{
    struct service_log log = service_log__of(1000, interval_ns);
    add(&log, 0, SERVICE_IS_ANOTHER, 1, 0);
    return log;
}

static struct service_thread *thread(const struct service_log *log, size_t index)
{
    return VEC_AT(&log->threads, struct service_thread, index);
}

static void assert_near(double one, double other)
{
    assert_true(fabs(one - other) < 1e-9);
}

/* Thread 1 runs 0–400 and 700–1000, thread 2 wants a CPU at 100 and runs 200–600. */
static struct service_log two_threads(void)
{
    struct service_log log = new_log(100);
    add(&log, 100, SERVICE_BEGINS, 2, 0);
    add(&log, 200, SERVICE_RUNS, 2, 1);
    add(&log, 400, SERVICE_BLOCKS, 1, 0);
    add(&log, 600, SERVICE_ENDS, 2, 1);
    add(&log, 700, SERVICE_RUNS, 1, 1);
    add(&log, 1000, SERVICE_ENDS, 1, 1);
    service_log__finish(&log, 2000);
    return log;
}

static void times_of_a_thread_add_up_to_its_life(void **state)
{
    (void)state;
    struct service_log log = two_threads();
    assert_int_equal(log.threads.count, 2);
    assert_int_equal(thread(&log, 0)->state_ns[SERVICE_ON_CPU], 700);
    assert_int_equal(thread(&log, 0)->state_ns[SERVICE_BLOCKED], 300);
    assert_int_equal(thread(&log, 0)->migrations, 1);
    assert_int_equal(thread(&log, 0)->voluntary, 1);
    assert_int_equal(thread(&log, 1)->state_ns[SERVICE_ON_CPU], 400);
    assert_int_equal(thread(&log, 1)->state_ns[SERVICE_WANTS], 100);
    VEC_EACH (one, &log.threads, struct service_thread)
        assert_int_equal(one->end_ns - one->begin_ns,
                         one->state_ns[0] + one->state_ns[1] + one->state_ns[2]);
    service_log__free(&log);
}

static void threads_at_a_time_are_exact(void **state)
{
    (void)state;
    struct service_log log = two_threads();
    assert_int_equal(service_log__work_ns(&log), 1100);
    assert_int_equal(service_log__active_ns(&log), 900);
    assert_near(service_log__at_work(&log), 1100.0 / 900);
    assert_near(service_log__mean_running(&log), 1.1);
    assert_near(service_log__mean_wanting(&log), 1.2);
    assert_int_equal(VEC_AT(&log.levels, struct service_level, 2)->running_ns, 200);
    assert_int_equal(VEC_AT(&log.levels, struct service_level, 2)->wanting_ns, 300);
    service_log__free(&log);
}

/* CPU time: 600 + 0 while one wants a CPU, 100 + 400 while two do. On one CPU nobody is at work at
 * a time; on two and more all can be. */
static void the_model_divides_work_by_the_cpus_there_are(void **state)
{
    (void)state;
    struct service_log log = two_threads();
    assert_near(service_log__modelled(&log, 1), 1);
    assert_near(service_log__modelled(&log, 2), 1100.0 / (600 + 500.0 / 2));
    assert_near(service_log__modelled(&log, 8), service_log__modelled(&log, 2));
    service_log__free(&log);
}

/* Two threads that take turns of 50: never two at a time. Intervals of 100 and more hold one turn
 * of each, so that they look as if they were at work at a time; those of 25 do not. */
static void intervals_see_turns_as_work_at_a_time(void **state)
{
    (void)state;
    for (uint64_t length = 25; length <= 100; length += 75) {
        struct service_log log = new_log(length);
        add(&log, 0, SERVICE_BEGINS, 2, 0);
        for (uint64_t ns = 50; ns < 3200; ns += 100) {
            add(&log, ns, SERVICE_BLOCKS, 1, 0);
            add(&log, ns, SERVICE_RUNS, 2, 0);
            add(&log, ns + 50, SERVICE_BLOCKS, 2, 0);
            add(&log, ns + 50, SERVICE_RUNS, 1, 0);
        }
        service_log__finish(&log, 1000 + 3200);
        assert_near(service_log__at_work(&log), 1);
        assert_near(service_interval__at_work(&log.intervals[0]), length == 25 ? 1 : 2);
        assert_near(service_interval__at_work(&log.intervals[2]), 2);
        service_log__free(&log);
    }
}

/* A thread that ends within an interval is in it, and long idle times are passed over. */
static void intervals_hold_all_service(void **state)
{
    (void)state;
    struct service_log log = new_log(7);
    add(&log, 10, SERVICE_BEGINS, 2, 0);
    add(&log, 11, SERVICE_RUNS, 2, 1);
    add(&log, 30, SERVICE_ENDS, 2, 1);
    add(&log, 31, SERVICE_BLOCKS, 1, 0);
    add(&log, 5000000, SERVICE_RUNS, 1, 0);
    add(&log, 5000003, SERVICE_ENDS, 1, 0);
    service_log__finish(&log, 1000 + 5000003);
    for (unsigned i = 0; i < SERVICE_SCALES; i++)
        assert_int_equal(log.intervals[i].sum_ns, service_log__work_ns(&log));
    assert_int_equal(service_log__work_ns(&log), 31 + 19 + 3);
    service_log__free(&log);
}

/* As where a thread is followed by two events, or records were lost. */
static void records_twice_change_nothing(void **state)
{
    (void)state;
    struct service_log log = new_log(100);
    add(&log, 10, SERVICE_IS_PREEMPTED, 1, 0);
    add(&log, 11, SERVICE_IS_PREEMPTED, 1, 0);
    add(&log, 20, SERVICE_RUNS, 1, 1);
    add(&log, 21, SERVICE_RUNS, 1, 1);
    add(&log, 30, SERVICE_ENDS, 1, 1);
    add(&log, 31, SERVICE_ENDS, 1, 1);
    add(&log, 40, SERVICE_BEGINS, 1, 0); /* its number once more */
    add(&log, 50, SERVICE_BEGINS, 1, 0); /* its end was lost */
    service_log__finish(&log, 1060);
    assert_int_equal(log.threads.count, 3);
    assert_int_equal(thread(&log, 0)->involuntary, 1);
    assert_int_equal(thread(&log, 0)->migrations, 1);
    assert_int_equal(thread(&log, 0)->state_ns[SERVICE_ON_CPU], 20);
    assert_int_equal(thread(&log, 1)->end_ns, 1050);
    assert_int_equal(service_log__work_ns(&log), 20);
    service_log__free(&log);
}

/* What it seemed to do when it was joined, its first record corrects. */
static void who_is_there_already_is_joined(void **state)
{
    (void)state;
    struct service_log log = service_log__of(1000, 100);
    for (uint32_t tid = 1; tid <= 2; tid++) {
        const struct service_record record = {.pid = 1, .tid = tid, .time_ns = 1000, .name = "it"};
        service_log__join(&log, &record, tid == 1 ? SERVICE_ON_CPU : SERVICE_BLOCKED);
    }
    add(&log, 40, SERVICE_RUNS, 1, 0);   /* it had none */
    add(&log, 60, SERVICE_BLOCKS, 2, 0); /* it had one */
    service_log__finish(&log, 1100);
    assert_string_equal(thread(&log, 0)->name, "it");
    assert_int_equal(thread(&log, 0)->state_ns[SERVICE_WANTS], 40);
    assert_int_equal(thread(&log, 0)->state_ns[SERVICE_ON_CPU], 60);
    assert_int_equal(thread(&log, 1)->state_ns[SERVICE_ON_CPU], 60);
    assert_int_equal(thread(&log, 1)->voluntary, 1);
    service_log__free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_a_thread_add_up_to_its_life),
        cmocka_unit_test(threads_at_a_time_are_exact),
        cmocka_unit_test(the_model_divides_work_by_the_cpus_there_are),
        cmocka_unit_test(intervals_see_turns_as_work_at_a_time),
        cmocka_unit_test(intervals_hold_all_service),
        cmocka_unit_test(records_twice_change_nothing),
        cmocka_unit_test(who_is_there_already_is_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
