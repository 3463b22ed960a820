#include "locks_made.h"

#include "analysis/analysis.h"

#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

void check_checks(const struct locks_result *result)
{
    assert_true(result->checks.count > 0);
    VEC_EACH (check, &result->checks, struct locks_check) {
        if (!check->is_good)
            fail_msg("%s: %s and %s differ: %llu, %llu", check->what, check->of, check->with,
                     (unsigned long long)check->left, (unsigned long long)check->right);
    }
}

struct made make_with(const char *fixture, const struct symbols *symbols,
                      const struct locks_filter *filter)
{
    struct made made = {.trace = fixture__open(fixture)};
    struct error error = {""};
    if (run__one(made.trace, symbols, &locks_analysis, filter, (void **)&made.result, &error) < 0)
        fail_msg("%s", error.text);
    check_checks(made.result);
    return made;
}

struct made make(const char *fixture)
{
    return make_with(fixture, NULL, &(struct locks_filter){0});
}

void drop(struct made *made)
{
    locks__free(made->result);
    trace__close(made->trace);
}

const struct lock_row *row_at(const struct made *made, uint64_t address)
{
    const struct lock_row *found = NULL;
    VEC_EACH (row, &made->result->rows, struct lock_row) {
        if (row->object.address == address) {
            assert_null(found);
            found = row;
        }
    }
    assert_non_null(found);
    return found;
}

void check_times(const struct lock_times *times, uint64_t count, uint64_t sum, uint64_t max)
{
    uint64_t in_buckets = 0;
    assert_int_equal(times->count, count);
    assert_int_equal(times->sum_ns, sum);
    assert_int_equal(times->max_ns, max);
    for (int i = 0; i < LOCKS_BUCKETS; i++)
        in_buckets += times->buckets[i];
    assert_int_equal(in_buckets, count);
}

uint64_t sum_of(const uint64_t *steps, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += steps[i];
    return sum;
}
