/* What is left of a speed-up: m = S + R + D, and what is refused. */
#include "analysis/scaling/speedup.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct vec runs, rows;
static struct vec work[16];
static size_t works;

static void add(uint32_t threads, uint32_t cpus, uint64_t cpu_ns, double at_work, double spin,
                uint64_t locks)
{
    struct vec *counts = &work[works++];
    *counts = VEC_OF(struct sweep_work);
    vec__push(counts, &(struct sweep_work){"locks", locks});
    vec__push(&runs, &(struct sweep_run){.threads = threads, .cpus = cpus, .cpu_ns = cpu_ns});
    vec__push(&runs, &(struct sweep_run){
                         .threads = threads,
                         .cpus = cpus,
                         .is_recorded = true,
                         .use = {.at_work = at_work, .alone = NAN, .spin = spin, .work = *counts}});
}

static int begin(void **unused)
{
    (void)unused;
    runs = VEC_OF(struct sweep_run);
    works = 0;
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < works; i++)
        vec__free(&work[i]);
    vec__free(&runs);
    vec__free(&rows);
    return 0;
}

static const struct speedup_row *row(size_t place)
{
    assert_true(place < rows.count);
    return VEC_AT(&rows, struct speedup_row, place);
}

static void parts_add_up_to_the_threads(void **unused)
{
    (void)unused;
    add(4, 1, 1000, 1, 0, 50);
    add(4, 2, 1100, 1.9, 0, 50);
    add(4, 4, 1500, 3.2, 0, 50);
    rows = speedup__rows(&runs);
    assert_int_equal(rows.count, 3);
    VEC_EACH (one, &rows, struct speedup_row) {
        assert_true(fabs(one->speedup + one->inflated + one->waiting - one->threads) < 1e-12);
        assert_int_equal(one->refusal, SPEEDUP_STANDS);
    }
    assert_true(fabs(row(0)->omega) < 1e-12);
    assert_true(fabs(row(2)->omega - .5) < 1e-12);
    assert_true(fabs(row(2)->speedup - 3.2 / 1.5) < 1e-12);
    assert_true(row(1)->no_cpu == 2 && row(2)->no_cpu == 0);
}

static void other_work_is_refused(void **unused)
{
    (void)unused;
    add(2, 1, 1000, 1, 0, 1000);
    add(2, 2, 1100, 2, 0, 1100);
    rows = speedup__rows(&runs);
    assert_int_equal(row(1)->refusal, SPEEDUP_WORK);
    assert_int_equal(row(1)->here.count, 1100);
    assert_int_equal(row(1)->first.count, 1000);
}

static void spinning_is_refused(void **unused)
{
    (void)unused;
    add(2, 1, 1000, 1, 0, 5);
    add(2, 2, 1400, 2, .3, 5);
    rows = speedup__rows(&runs);
    assert_int_equal(row(0)->refusal, SPEEDUP_STANDS);
    assert_int_equal(row(1)->refusal, SPEEDUP_SPIN);
}

static void without_one_cpu_or_switches_nothing_is_told(void **unused)
{
    (void)unused;
    add(4, 2, 1000, 2, 0, 5);
    add(4, 4, 1000, 4, 0, 5);
    add(2, 1, 1000, 1, 0, 5);
    add(2, 2, 1000, NAN, 0, 5);
    add(8, 2, 1000, 2, 0, 5); /* one number of CPUs: nothing to compare with */
    rows = speedup__rows(&runs);
    assert_int_equal(rows.count, 4);
    assert_int_equal(row(1)->refusal, SPEEDUP_SWITCHES);
    assert_int_equal(row(2)->refusal, SPEEDUP_NO_FIRST);
    assert_int_equal(row(3)->refusal, SPEEDUP_NO_FIRST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_add_up_to_the_threads, begin, end),
        cmocka_unit_test_setup_teardown(other_work_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(spinning_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(without_one_cpu_or_switches_nothing_is_told, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
