#include "analysis/locks.h"
#include "base/memory.h"
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a trace and its locks ------------------------------------------------------------------ */

struct made {
    struct trace *trace;
    struct locks_result *result;
};

static void check_checks(const struct locks_result *result)
{
    assert_true(result->checks.count > 0);
    VEC_EACH(check, &result->checks, struct locks_check)
    {
        if (!check->is_good)
            fail_msg("%s: %s and %s differ: %llu, %llu", check->what, check->of, check->with,
                     (unsigned long long)check->left, (unsigned long long)check->right);
    }
}

static struct made make_with(const char *fixture, const struct symbols *symbols,
                             const struct locks_filter *filter)
{
    struct made made = {.trace = fixture__open(fixture)};
    struct error error = {""};
    if (locks__compute(made.trace, symbols, filter, &made.result, &error) < 0)
        fail_msg("%s", error.text);
    check_checks(made.result);
    return made;
}

static struct made make(const char *fixture)
{
    return make_with(fixture, NULL, &(struct locks_filter){0});
}

static void drop(struct made *made)
{
    locks__free(made->result);
    trace__close(made->trace);
}

static const struct lock_row *row_at(const struct made *made, uint64_t address)
{
    const struct lock_row *found = NULL;
    VEC_EACH(row, &made->result->rows, struct lock_row)
    {
        if (row->object.address == address) {
            assert_null(found);
            found = row;
        }
    }
    assert_non_null(found);
    return found;
}

static void check_times(const struct lock_times *times, uint64_t count, uint64_t sum, uint64_t max)
{
    uint64_t in_buckets = 0;
    assert_int_equal(times->count, count);
    assert_int_equal(times->sum_ns, sum);
    assert_int_equal(times->max_ns, max);
    for (int i = 0; i < LOCKS_BUCKETS; i++)
        in_buckets += times->buckets[i];
    assert_int_equal(in_buckets, count);
}

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

#define BEGIN      \
    "start 1000\n" \
    "end 11000\n"  \
    "thread 0 main\n1000 thread_start 0x11 0xffffffff 0x400000\n"
#define END "11000 thread_end 0 0\n"
#define WORKER "thread 1 worker\n1000 thread_start 0x22 0 0x400100\n"

/* ---- one lock ------------------------------------------------------------------------------- */

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
    assert_int_equal(wait->tick, 2500);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_is_handed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
