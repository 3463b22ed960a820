#include "analysis/analysis.h"
#include "base/memory.h"
#include "fixture.h"
#include "format/writer.h"
#include "locks_made.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- helpers --------------------------------------------------------------------------------- */

static void check_pair(const struct lock_row *row, size_t place, uint64_t holder, uint64_t waiter,
                       uint64_t waits, uint64_t wait_ns)
{
    assert_true(place < row->pairs.count);
    const struct lock_pair *pair = VEC_AT(&row->pairs, struct lock_pair, place);
    assert_int_equal(pair->holder_site, holder);
    assert_int_equal(pair->waiter_site, waiter);
    assert_int_equal(pair->waits, waits);
    assert_int_equal(pair->wait_ns, wait_ns);
}

static void check_site(const struct lock_row *row, size_t place, uint64_t site,
                       uint64_t acquisitions, uint64_t contended, uint64_t wait, uint64_t hold)
{
    assert_true(place < row->sites.count);
    const struct lock_site *found = VEC_AT(&row->sites, struct lock_site, place);
    assert_int_equal(found->site, site);
    assert_int_equal(found->acquisitions, acquisitions);
    assert_int_equal(found->contended, contended);
    assert_int_equal(found->wait_ns, wait);
    assert_int_equal(found->hold_ns, hold);
}

/* ---- one lock -------------------------------------------------------------------------------- */

#define HANDED_OVER                                                                  \
    BEGIN "2000 lock_acquired 0xa/0 0x70\n"                                          \
          "3000 lock_released 0xb/0 0x70\n"                                          \
          "3500 lock_acquired 0xa/0 0x71\n"                                          \
          "3600 lock_released 0xb/0 0x71\n" END WORKER "2500 lock_wait 0xc/0 0x70\n" \
          "3100 leave lock_wait 0\n"                                                 \
          "3200 lock_busy 0xc/0 0x71\n"                                              \
          "3700 lock_released 0xd/0 0x70\n"                                          \
          "6000 lock_wait 0xc/0 0x71\n"                                              \
          "6064 leave lock_wait 110\n" END

static void a_lock_is_handed_over(void **state)
{
    (void)state;
    struct made made = make(HANDED_OVER);
    const struct locks_result *result = made.result;
    assert_int_equal(result->rows.count, 2);
    const struct lock_row *row = VEC_AT(&result->rows, struct lock_row, 0);
    assert_ptr_equal(row, row_at(&made, 0x70));
    assert_int_equal(row->exclusive.acquisitions, 2);
    assert_int_equal(row->exclusive.contended, 1);
    check_times(&row->exclusive.wait, 1, 600, 600);
    assert_int_equal(row->exclusive.wait.buckets[9], 1);
    check_times(&row->exclusive.hold, 2, 1600, 1000);
    check_times(&row->shared.hold, 0, 0, 0);
    check_times(&row->wake, 1, 100, 100);
    assert_true(row->wait_share == 600.0 / 20000.0);
    assert_int_equal(row->sites.count, 2);
    check_site(row, 0, 0xc, 1, 1, 600, 600);
    check_site(row, 1, 0xa, 1, 0, 0, 1000);
    assert_int_equal(row->pairs.count, 1);
    check_pair(row, 0, 0xa, 0xc, 1, 600);
    assert_int_equal(row->longest.count, 1);
    const struct lock_wait *wait = VEC_AT(&row->longest, struct lock_wait, 0);
    assert_int_equal(wait->thread, 1);
    assert_int_equal(wait->holder, 0);
    assert_int_equal(wait->site, 0xc);
    assert_int_equal(wait->holder_site, 0xa);
    assert_int_equal(wait->since_start_ns, 1500);
    assert_int_equal(wait->wait_ns, 600);
    assert_int_equal(wait->frame_count, 0);
    const struct lock_row *other = row_at(&made, 0x71);
    assert_int_equal(other->exclusive.acquisitions, 1);
    assert_int_equal(other->exclusive.contended, 0);
    assert_int_equal(other->exclusive.busy, 1);
    assert_int_equal(other->exclusive.gave_up, 1);
    check_times(&other->exclusive.wait, 1, 64, 64);
    assert_int_equal(other->exclusive.wait.buckets[6], 1);
    check_pair(other, 0, 0, 0xc, 1, 64);
    assert_int_equal(result->acquisitions, 3);
    assert_int_equal(result->contended, 1);
    assert_int_equal(result->wait_ns, 664);
    assert_int_equal(result->hold_sum_ns, 1700);
    assert_int_equal(result->hold_covered_ns, 1700);
    assert_int_equal(result->lifetime_sum_ns, 20000);
    assert_int_equal(result->wall_ns, 10000);
    drop(&made);
}

/* The recording uses the thread for 30 ticks of the wait, and 20 of the section. */
static void pauses_are_left_out(void **state)
{
    (void)state;
    struct made made =
        make(BEGIN "2000 lock_acquired 0xa/0 0x70\n"
                   "2100 paused 20\n"
                   "2400 lock_acquired 0xa/0 0x71\n"
                   "2600 paused 7\n"
                   "2700 lock_released 0xb/0 0x71\n"
                   "3000 lock_released 0xb/0 0x70\n" END WORKER "2500 lock_wait 0xc/0 0x70\n"
                   "3080 paused 30\n"
                   "3100 leave lock_wait 0\n"
                   "3100 lock_released 0xc/0 0x70\n" END);
    const struct lock_row *row = row_at(&made, 0x70);
    check_times(&row->exclusive.wait, 1, 570, 570);
    check_times(&row->exclusive.hold, 2, 973, 973);
    check_times(&row_at(&made, 0x71)->exclusive.hold, 1, 293, 293);
    assert_int_equal(made.result->hold_sum_ns, 973 + 293);
    assert_int_equal(made.result->hold_covered_ns, 973);
    drop(&made);
}

static void readers_and_writers(void **state)
{
    (void)state;
    struct made made =
        make(BEGIN "2000 lock_acquired 0xa/1 0x70\n"
                   "3000 lock_released 0xa/4 0x70\n"
                   "3100 lock_wait 0xa/1 0x70\n"
                   "3400 leave lock_wait 0\n"
                   "3500 lock_released 0xa/4 0x70\n"
                   "4000 lock_busy 0xa/2 0x70\n"
                   "4100 lock_busy 0xa/1 0x70\n"
                   "4200 lock_busy 0xa/1 0x70\n" END WORKER "2100 lock_acquired 0xb/1 0x70\n"
                   "2200 lock_released 0xb/4 0x70\n"
                   "2500 lock_wait 0xc/2 0x70\n"
                   "3050 leave lock_wait 0\n"
                   "3350 lock_released 0xc/4 0x70\n" END);
    const struct lock_row *row = row_at(&made, 0x70);
    assert_int_equal(row->object.lock, HEURT_LOCK_WRITE);
    assert_int_equal(row->shared.acquisitions, 3);
    assert_int_equal(row->shared.contended, 1);
    assert_int_equal(row->shared.busy, 2);
    check_times(&row->shared.wait, 1, 300, 300);
    check_times(&row->shared.hold, 3, 1200, 1000);
    assert_int_equal(row->exclusive.acquisitions, 1);
    assert_int_equal(row->exclusive.contended, 1);
    assert_int_equal(row->exclusive.busy, 1);
    check_times(&row->exclusive.wait, 1, 550, 550);
    check_times(&row->exclusive.hold, 1, 300, 300);
    check_times(&row->wake, 2, 100, 50);
    assert_int_equal(made.result->acquisitions, 4);
    check_pair(row, 0, 0xa, 0xc, 1, 550);
    check_pair(row, 1, 0xc, 0xa, 1, 300);
    drop(&made);
}

/* The second signal comes when the first one has woken the only one that waits, though it has not
 * come back yet; the third when nobody waits. */
static void signals(void **state)
{
    (void)state;
    struct made made = make(BEGIN "3000 lock_acquired 0xa/0 0x70\n"
                                  "3100 condition_signalled 0xe/0 0x80\n"
                                  "3150 condition_signalled 0xe/0 0x80\n"
                                  "3200 lock_released 0xb/0 0x70\n"
                                  "3900 condition_signalled 0xe/1 0x80\n"
                                  "4500 condition_signalled 0xf/1 0x80\n" END WORKER
                                  "2000 lock_acquired 0xc/0 0x70\n"
                                  "2500 condition_wait 0xd 0x80 0x70\n"
                                  "3300 leave condition_wait 0\n"
                                  "3400 lock_released 0xc/0 0x70\n"
                                  "4000 lock_acquired 0xc/0 0x70\n"
                                  "4100 condition_wait 0xd 0x80 0x70\n"
                                  "4600 leave condition_wait 0\n"
                                  "5000 condition_wait 0xd 0x80 0x70\n"
                                  "5300 leave condition_wait 110\n"
                                  "5500 lock_released 0xc/0 0x70\n" END);
    const struct lock_row *condition = row_at(&made, 0x80);
    assert_int_equal(condition->object.kind, CLASS_CONDITION);
    assert_int_equal(condition->object.mutex, 0x70);
    assert_int_equal(condition->signals, 4);
    assert_int_equal(condition->broadcasts, 2);
    assert_int_equal(condition->signals_for_nobody, 2);
    assert_int_equal(condition->exclusive.acquisitions, 2);
    assert_int_equal(condition->exclusive.contended, 2);
    assert_int_equal(condition->exclusive.gave_up, 1);
    check_times(&condition->exclusive.wait, 3, 800 + 500 + 300, 800);
    check_times(&condition->wake, 2, 150 + 100, 150);
    check_pair(condition, 0, 0xe, 0xd, 1, 800);
    check_pair(condition, 1, 0xf, 0xd, 1, 500);
    check_pair(condition, 2, 0, 0xd, 1, 300);
    const struct lock_row *mutex = row_at(&made, 0x70);
    assert_int_equal(mutex->exclusive.acquisitions, 1 + 2 + 3);
    check_times(&mutex->exclusive.hold, 6, 200 + 500 + 100 + 100 + 400 + 200, 500);
    assert_int_equal(mutex->signals, 0);
    assert_int_equal(made.result->acquisitions, 6);
    assert_int_equal(made.result->wait_ns, 0);
    assert_ptr_equal(VEC_AT(&made.result->rows, struct lock_row, 0), condition);
    drop(&made);
}

/* Two wait and one is woken; then all are, and there is nobody left to be. */
static void broadcasts(void **state)
{
    (void)state;
    struct made made = make(BEGIN "3000 condition_signalled 0xe/0 0x80\n"
                                  "3100 condition_signalled 0xe/1 0x80\n"
                                  "3200 condition_signalled 0xe/0 0x80\n" END WORKER
                                  "2000 condition_wait 0xd 0x80 0x70\n"
                                  "4000 leave condition_wait 0\n" END "thread 2 other\n"
                                  "1000 thread_start 0x33 0 0x400200\n"
                                  "2100 condition_wait 0xd 0x80 0x70\n"
                                  "4100 leave condition_wait 0\n" END "thread 3 other\n"
                                  "1000 thread_start 0x44 0 0x400200\n"
                                  "2200 condition_wait 0xd 0x80 0x70\n"
                                  "4200 leave condition_wait 0\n" END);
    const struct lock_row *row = row_at(&made, 0x80);
    assert_int_equal(row->signals, 3);
    assert_int_equal(row->broadcasts, 1);
    assert_int_equal(row->signals_for_nobody, 1);
    drop(&made);
}

static void semaphores(void **state)
{
    (void)state;
    struct made made = make(BEGIN "2000 semaphore_wait 0xa 0xa0\n"
                                  "3150 leave semaphore_wait 0\n"
                                  "5000 sampled 4:22\n"
                                  "5000 semaphore_acquired 0xa 0xa0\n" END WORKER
                                  "1200 semaphore_acquired 0xb 0xa0\n"
                                  "3000 semaphore_posted 0xc 0xa0\n" END);
    const struct lock_row *row = row_at(&made, 0xa0);
    assert_int_equal(row->exclusive.acquisitions, 2 + 4);
    assert_int_equal(row->exclusive.contended, 1);
    assert_int_equal(row->signals, 1);
    assert_int_equal(row->signals_for_nobody, 0);
    check_times(&row->exclusive.wait, 1, 1150, 1150);
    check_times(&row->exclusive.hold, 0, 0, 0);
    check_times(&row->wake, 1, 150, 150);
    check_pair(row, 0, 0xc, 0xa, 1, 1150);
    assert_int_equal(made.result->acquisitions, 0);
    drop(&made);
}

static void rounds_of_a_barrier(void **state)
{
    (void)state;
    struct made made =
        make(BEGIN "2000 barrier_wait 0xa 0x90\n"
                   "2510 leave barrier_wait 0\n"
                   "2520 barrier_wait 0xa 0x90\n"
                   "2700 leave barrier_wait 0\n"
                   "4000 barrier_wait 0xa 0x90\n"
                   "4010 leave barrier_wait -1\n" END WORKER "2500 barrier_wait 0xb 0x90\n"
                   "2550 leave barrier_wait -1\n"
                   "2600 barrier_wait 0xb 0x90\n"
                   "2650 leave barrier_wait -1\n"
                   "3000 barrier_wait 0xb 0x90\n"
                   "4020 leave barrier_wait 0\n"
                   "5000 barrier_wait 0xb 0x90\n");
    const struct lock_row *row = row_at(&made, 0x90);
    assert_int_equal(row->rounds, 3);
    check_times(&row->spread, 3, 500 + 80 + 1000, 1000);
    assert_int_equal(row->last_arriver, 1);
    assert_int_equal(row->last_arrivals, 2);
    assert_int_equal(row->exclusive.acquisitions, 6);
    assert_int_equal(row->exclusive.gave_up, 1);
    check_times(&row->exclusive.wait, 7, 510 + 50 + 180 + 50 + 10 + 1020 + 6000, 6000);
    check_times(&row->wake, 3, 10 + 100 + 20, 100);
    check_pair(row, 0, 0, 0xb, 1, 6000);
    check_pair(row, 1, 0xa, 0xb, 1, 1020);
    drop(&made);
}

/* Both threads wait for what the other has, to the end. */
static void what_never_ended(void **state)
{
    (void)state;
    struct made made =
        make(BEGIN "2000 lock_acquired 0xa/0 0x70\n"
                   "3000 lock_wait 0xa/0 0x71\n" WORKER "2100 lock_acquired 0xb/0 0x71\n"
                   "3100 lock_wait 0xb/0 0x70\n"
                   "thread 2 other\n1000 thread_start 0x33 0 0x400200\n" END);
    const struct lock_row *row = row_at(&made, 0x70), *other = row_at(&made, 0x71);
    assert_int_equal(row->exclusive.acquisitions, 1);
    assert_int_equal(row->exclusive.gave_up, 1);
    check_times(&row->exclusive.wait, 1, 7900, 7900);
    check_times(&row->exclusive.hold, 1, 9000, 9000);
    check_times(&other->exclusive.wait, 1, 8000, 8000);
    check_times(&other->exclusive.hold, 1, 8900, 8900);
    assert_int_equal(made.result->contended, 0);
    assert_int_equal(made.result->wait_ns, 15900);
    assert_int_equal(made.result->hold_covered_ns, 17900);
    drop(&made);
}

/* One within another; one by one in a chain; apart. */
static void nested_sections_count_once(void **state)
{
    (void)state;
    struct made made = make(BEGIN "1500 lock_acquired 0xa/0 0x72\n"
                                  "1501 lock_released 0xa/0 0x72\n"
                                  "2000 lock_acquired 0xa/0 0x70\n"
                                  "2100 lock_acquired 0xa/0 0x71\n"
                                  "2200 lock_released 0xa/0 0x71\n"
                                  "3000 lock_released 0xa/0 0x70\n"
                                  "4000 lock_acquired 0xa/0 0x70\n"
                                  "4100 lock_acquired 0xa/0 0x71\n"
                                  "4200 lock_released 0xa/0 0x70\n"
                                  "4250 lock_acquired 0xa/0 0x72\n"
                                  "4300 lock_released 0xa/0 0x71\n"
                                  "4400 lock_released 0xa/0 0x72\n" END WORKER END);
    assert_int_equal(made.result->hold_sum_ns, 1000 + 100 + 200 + 200 + 150 + 1);
    assert_int_equal(made.result->hold_covered_ns, 1000 + 400 + 1);
    assert_int_equal(VEC_AT(&made.result->rows, struct lock_row, 1)->object.address, 0x71);
    drop(&made);
}

/* Of lost events, what was held before is forgotten. */
static void after_lost_events(void **state)
{
    (void)state;
    struct made made = make(BEGIN "2000 lock_acquired 0xa/0 0x70\n"
                                  "2100 lock_acquired 0xa/0 0x71\n"
                                  "2500 lost 5\n"
                                  "3000 lock_acquired 0xa/0 0x71\n"
                                  "3010 lock_released 0xa/0 0x71\n"
                                  "4000 lock_released 0xa/0 0x70\n"
                                  "5000 lock_acquired 0xa/0 0x71\n"
                                  "5020 lock_released 0xa/0 0x71\n" END WORKER END);
    check_times(&row_at(&made, 0x71)->exclusive.hold, 2, 30, 20);
    check_times(&row_at(&made, 0x70)->exclusive.hold, 0, 0, 0);
    assert_int_equal(made.result->hold_sum_ns, 30);
    assert_int_equal(made.result->hold_covered_ns, 30);
    drop(&made);
}

static void sampled_locks(void **state)
{
    (void)state;
    struct made made = make(BEGIN "1999 sampled 10:8\n"
                                  "2000 lock_acquired 0xa/0 0x70\n"
                                  "2050 lock_released 0xa/0 0x70\n"
                                  "3000 lock_acquired 0xa/0 0x70\n"
                                  "3007 lock_released 0xa/0 0x70\n" END WORKER END);
    const struct lock_row *row = row_at(&made, 0x70);
    assert_true(made.result->is_sampled);
    assert_int_equal(row->exclusive.acquisitions, 11);
    check_times(&row->exclusive.hold, 11, 507, 50);
    check_site(row, 0, 0xa, 11, 0, 0, 507);
    assert_int_equal(made.result->hold_sum_ns, 507);
    assert_int_equal(made.result->hold_covered_ns, 507);
    assert_int_equal(made.result->on_path.hold_ns, 507);
    drop(&made);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* 10,000 ns are 500 steps of 20 ns, and one that begins at the end. */
static void pressure_over_time(void **state)
{
    (void)state;
    struct made made = make(HANDED_OVER);
    const struct locks_result *result = made.result;
    const struct lock_row *row = row_at(&made, 0x70);
    assert_int_equal(result->step_ns, 20);
    assert_int_equal(result->steps_from_ns, 0);
    assert_int_equal(result->steps, 501);
    for (uint64_t step = 0; step < 501; step++) {
        bool waits = step >= 75 && step < 105, late = step >= 250 && step < 253;
        uint64_t other = late ? 20 : step == 253 ? 4 : 0;
        assert_int_equal(row->acquiring_ns[step], waits ? 20 : 0);
        assert_int_equal(result->acquiring_ns[step], waits ? 20 : other);
        assert_int_equal(result->running_ns[step],
                         step == 500 ? 0 : 40 - result->acquiring_ns[step]);
    }
    drop(&made);
}

/* A time off the CPU within a wait is the wait's; one that began before it is so until then. */
static void running_leaves_out_what_the_kernel_tells(void **state)
{
    (void)state;
    struct made made =
        make(BEGIN "2000 lock_acquired 0xa/0 0x70\n"
                   "3000 lock_released 0xa/0 0x70\n"
                   "4500 off_cpu 500/0 0 0\n"
                   "5000 fault 100/0 0\n"
                   "5050 off_cpu 100/0 0 0\n" END WORKER "2500 lock_wait 0xc/0 0x70\n"
                   "3050 off_cpu 400/0 0 0\n"
                   "3100 leave lock_wait 0\n"
                   "3200 lock_released 0xc/0 0x70\n"
                   "5000 sleep 0xd 500\n"
                   "5600 off_cpu 550/0 0 0\n"
                   "5610 leave sleep\n" END);
    const struct locks_result *result = made.result;
    assert_int_equal(sum_of(result->running_ns, result->steps), 20000 - 500 - 150 - 600 - 550);
    assert_int_equal(sum_of(result->acquiring_ns, result->steps), 600);
    drop(&made);
}

/* A counter of 2.5 ticks a ns. */
static void ticks_of_a_counter(void **state)
{
    (void)state;
    struct made made = make("clock tsc\nstart 1000 5\nend 2501000 1000005\n"
                            "thread 0 main\n1000 thread_start 0x11 0xffffffff 0x400000\n"
                            "251000 lock_acquired 0xa/0 0x70\n"
                            "251319 lock_released 0xa/0 0x70\n"
                            "251400 lock_acquired 0xa/0 0x70\n"
                            "251720 lock_released 0xa/0 0x70\n"
                            "2501000 thread_end 0 0\n");
    const struct lock_row *row = row_at(&made, 0x70);
    check_times(&row->exclusive.hold, 2, (319 + 320) * 2 / 5, 128);
    assert_int_equal(row->exclusive.hold.buckets[6], 1); /* 127.6 */
    assert_int_equal(row->exclusive.hold.buckets[7], 1);
    assert_int_equal(made.result->wall_ns, 1000000);
    assert_int_equal(made.result->step_ns, 2000);
    assert_int_equal(made.result->steps, 501);
    assert_int_equal(sum_of(made.result->running_ns, 501), 1000000);
    drop(&made);
}

/* ---- the critical path ----------------------------------------------------------------------- */

static void check_on_path(const struct lock_on_path *on_path, uint64_t acquisitions,
                          uint64_t contended, uint64_t wait_ns, uint64_t hold_ns)
{
    assert_int_equal(on_path->acquisitions, acquisitions);
    assert_int_equal(on_path->contended, contended);
    assert_int_equal(on_path->wait_ns, wait_ns);
    assert_int_equal(on_path->hold_ns, hold_ns);
}

/* It is main's until the release at 3000, then the worker's; main's last section is not on it. */
#define WITH_PATH                                                    \
    "start 1000\nend 11000\n"                                        \
    "thread 0 main\n1000 thread_start 0x11 0xffffffff 0x400000\n"    \
    "2000 lock_acquired 0xa/0 0x70\n3000 lock_released 0xa/0 0x70\n" \
    "4000 lock_acquired 0xa/0 0x70\n4900 lock_released 0xa/0 0x70\n" \
    "5000 thread_end 0 0\n" WORKER "2500 lock_wait 0xb/0 0x70\n"     \
    "3100 leave lock_wait 0\n"                                       \
    "3200 lock_acquired 0xb/0 0x71\n3300 lock_released 0xb/0 0x71\n" \
    "3700 lock_released 0xb/0 0x70\n" END

static void on_the_critical_path(void **state)
{
    (void)state;
    struct made made = make(WITH_PATH);
    assert_int_equal(made.result->path_ns, 10000);
    check_on_path(&row_at(&made, 0x70)->on_path, 2, 1, 600, 1600);
    check_on_path(&row_at(&made, 0x71)->on_path, 1, 0, 0, 100);
    check_on_path(&made.result->on_path, 3, 1, 600, 1600);
    assert_true(locks__mark(made.trace, made.result));
    check_checks(made.result);
    drop(&made);
    made = make_with(WITH_PATH, NULL, &(struct locks_filter){.lock = "0x71"});
    check_on_path(&made.result->on_path, 1, 0, 0, 100);
    drop(&made);
    made = make(BEGIN "2000 semaphore_acquired 0xc 0xa0\n" END WORKER END);
    check_on_path(&row_at(&made, 0xa0)->on_path, 1, 0, 0, 0);
    check_on_path(&made.result->on_path, 0, 0, 0, 0);
    assert_false(locks__mark(made.trace, made.result));
    drop(&made);
}

/* ---- filters --------------------------------------------------------------------------------- */

static struct symbols *some_symbols(void)
{
    struct symbols *symbols = symbols__new();
    struct symbol inner = {.function = "put(int)"}, outer = {.function = "serve"};
    struct symbol variable = {.function = "queue.head"};
    symbols__put(symbols, 0, 0xa, &(struct symbol){.function = "read_input"});
    inner.inlined_by = &outer;
    symbols__put(symbols, 0, 0xc, &inner);
    symbols__put_variable(symbols, 0, 0x70, &variable);
    return symbols;
}

static void a_wait_has_the_stack_of_its_beginning(void **state)
{
    (void)state;
    const uint64_t frames[] = {0xc, 0xf};
    struct symbols *symbols = some_symbols();
    symbols__put_stack(symbols, 1, 2500, frames, 2);
    struct made made = make_with(HANDED_OVER, symbols, &(struct locks_filter){0});
    const struct lock_row *row = row_at(&made, 0x70);
    const struct lock_wait *wait = VEC_AT(&row->longest, struct lock_wait, 0);
    assert_int_equal(wait->frame_count, 2);
    assert_int_equal(wait->frames[1], 0xf);
    drop(&made);
    symbols__free(symbols);
}

static void check_filtered(const struct locks_filter *filter, size_t rows, uint64_t acquisitions,
                           uint64_t wait_ns, uint64_t hold_ns)
{
    struct symbols *symbols = some_symbols();
    struct made made = make_with(HANDED_OVER, symbols, filter);
    assert_int_equal(made.result->rows.count, rows);
    assert_int_equal(made.result->warnings.count, rows == 0);
    assert_int_equal(made.result->acquisitions, acquisitions);
    assert_int_equal(made.result->wait_ns, wait_ns);
    assert_int_equal(made.result->hold_sum_ns, hold_ns);
    assert_int_equal(made.result->hold_covered_ns, hold_ns);
    assert_int_equal(sum_of(made.result->acquiring_ns, made.result->steps), wait_ns);
    drop(&made);
    symbols__free(symbols);
}

static void filters(void **state)
{
    (void)state;
    check_filtered(&(struct locks_filter){0}, 2, 3, 664, 1700);
    check_filtered(&(struct locks_filter){.lock = "0x70"}, 1, 2, 600, 1600);
    check_filtered(&(struct locks_filter){.lock = "queue.*"}, 1, 2, 600, 1600);
    check_filtered(&(struct locks_filter){.site = "read_*"}, 2, 2, 0, 1100);
    check_filtered(&(struct locks_filter){.site = "put"}, 2, 1, 664, 600);
    check_filtered(&(struct locks_filter){.site = "serve", .lock = "0x70"}, 1, 1, 600, 600);
    check_filtered(&(struct locks_filter){.site = "nothing"}, 0, 0, 0, 0);
    check_filtered(&(struct locks_filter){.thread = "main"}, 2, 2, 0, 1100);
    check_filtered(&(struct locks_filter){.thread = "w*r"}, 2, 1, 664, 600);
    check_filtered(&(struct locks_filter){.min_wait_ns = 65}, 1, 1, 600, 600);
    check_filtered(&(struct locks_filter){.min_wait_ns = 600}, 1, 1, 600, 600);
    check_filtered(&(struct locks_filter){.min_wait_ns = 601}, 0, 0, 0, 0);
}

/* What ends within counts; the wait has begun before. */
static void ranges_of_time(void **state)
{
    (void)state;
    struct made made =
        make_with(HANDED_OVER, NULL, &(struct locks_filter){.from_ns = 2100, .to_ns = 2600});
    assert_int_equal(made.result->acquisitions, 2);
    assert_int_equal(made.result->wait_ns, 600);
    assert_int_equal(made.result->hold_sum_ns, 0);
    assert_int_equal(made.result->wall_ns, 500);
    assert_int_equal(made.result->lifetime_sum_ns, 1000);
    assert_int_equal(made.result->step_ns, 1);
    assert_int_equal(made.result->steps_from_ns, 2100);
    assert_int_equal(sum_of(made.result->acquiring_ns, made.result->steps), 0);
    assert_int_equal(sum_of(made.result->running_ns, made.result->steps), 1000);
    drop(&made);
    made = make_with(HANDED_OVER, NULL, &(struct locks_filter){.from_ns = 1600, .to_ns = 2601});
    assert_int_equal(made.result->acquisitions, 2);
    assert_int_equal(made.result->wait_ns, 600);
    assert_int_equal(made.result->hold_sum_ns, 1000 + 100);
    assert_int_equal(sum_of(made.result->acquiring_ns, made.result->steps), 500);
    drop(&made);
}

static void check_refused(const struct locks_filter *filter, const char *part)
{
    struct trace *trace = fixture__open(HANDED_OVER);
    struct locks_result *result = NULL;
    struct error error = {""};
    assert_true(run__one(trace, NULL, &locks_analysis, filter, (void **)&result, &error) < 0);
    if (!strstr(error.text, part))
        fail_msg("%s", error.text);
    trace__close(trace);
}

static void filters_that_mean_nothing(void **state)
{
    (void)state;
    check_refused(&(struct locks_filter){.lock = "0x79"}, "the address 0x79");
    check_refused(&(struct locks_filter){.lock = "queue.*"}, "the name queue.*");
    check_refused(&(struct locks_filter){.thread = "nobody"}, "nobody");
    check_refused(&(struct locks_filter){.from_ns = 500, .to_ns = 500}, "empty");
    check_refused(&(struct locks_filter){.from_ns = 10001}, "the run ended at 1e-05 s");
}

static void aggregated_runs(void **state)
{
    char directory[] = "/tmp/heurt-locks-XXXXXX", path[64];
    struct heurt_session settings = {.clock = HEURT_CLOCK_MONOTONIC,
                                     .flags = HEURT_SESSION_AGGREGATE,
                                     .limit_units = 256,
                                     .start = {1000, 1000}};
    struct trace_writer *writer;
    struct trace *trace;
    struct locks_result *result;
    struct error error = {""};
    (void)state;
    assert_non_null(mkdtemp(directory));
    assert_int_equal(trace_writer__create(directory, &settings, &writer, &error), 0);
    assert_int_equal(trace_writer__finish(writer, 0, (struct heurt_clock_pair){2000, 2000}, &error),
                     0);
    assert_int_equal(trace__open(directory, &trace, &error), 0);
    assert_true(run__one(trace, NULL, &locks_analysis, &(struct locks_filter){0}, (void **)&result,
                         &error) < 0);
    assert_non_null(strstr(error.text, "--aggregate"));
    trace__close(trace);
    snprintf(path, sizeof path, "%s/" HEURT_EVENTS_FILE, directory);
    unlink(path);
    rmdir(directory);
}

static void nothing_happened(void **state)
{
    (void)state;
    struct made made = make("start 1000\nend 1000\nnote 0 nothing\n");
    assert_int_equal(made.result->rows.count, 0);
    assert_int_equal(made.result->warnings.count, 0);
    assert_int_equal(made.result->steps, 1);
    drop(&made);
}

/* ---- very many ------------------------------------------------------------------------------- */

/* More places of acquisition than a lock has rows: the sums stay whole. */
static void very_many_sites(void **state)
{
    (void)state;
    char *text = memory__zeroed(1 << 18, 1);
    size_t length = (size_t)sprintf(text, "%s", BEGIN);
    for (unsigned i = 0; i < 600; i++)
        length += (size_t)sprintf(text + length,
                                  "%u lock_wait 0x%x/0 0x70\n%u leave lock_wait 0\n"
                                  "%u lock_released 0x1/0 0x70\n",
                                  2000 + 10 * i, 0x100 + i, 2003 + 10 * i, 2005 + 10 * i);
    sprintf(text + length, "%s", END WORKER END);
    struct made made = make(text);
    const struct lock_row *row = row_at(&made, 0x70);
    uint64_t acquisitions = 0, wait = 0;
    assert_int_equal(row->sites.count, 256);
    assert_int_equal(row->pairs.count, 256);
    VEC_EACH (site, &row->sites, struct lock_site) {
        acquisitions += site->acquisitions;
        wait += site->wait_ns;
        if (!site->site)
            assert_int_equal(site->acquisitions, 600 - 255);
    }
    assert_int_equal(acquisitions, 600);
    assert_int_equal(wait, 1800);
    assert_int_equal(made.result->warnings.count, 2);
    drop(&made);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_has_the_stack_of_its_beginning),
        cmocka_unit_test(a_lock_is_handed_over),
        cmocka_unit_test(pauses_are_left_out),
        cmocka_unit_test(readers_and_writers),
        cmocka_unit_test(signals),
        cmocka_unit_test(broadcasts),
        cmocka_unit_test(semaphores),
        cmocka_unit_test(rounds_of_a_barrier),
        cmocka_unit_test(what_never_ended),
        cmocka_unit_test(nested_sections_count_once),
        cmocka_unit_test(after_lost_events),
        cmocka_unit_test(sampled_locks),
        cmocka_unit_test(pressure_over_time),
        cmocka_unit_test(running_leaves_out_what_the_kernel_tells),
        cmocka_unit_test(ticks_of_a_counter),
        cmocka_unit_test(on_the_critical_path),
        cmocka_unit_test(filters),
        cmocka_unit_test(ranges_of_time),
        cmocka_unit_test(filters_that_mean_nothing),
        cmocka_unit_test(aggregated_runs),
        cmocka_unit_test(nothing_happened),
        cmocka_unit_test(very_many_sites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
