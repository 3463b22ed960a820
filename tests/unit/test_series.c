/* Several results side by side: of each row the median of a result's runs. */
#include "analysis/compare/series.h"
#include "base/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void add_row(struct run_figures *run, const char *key, double value)
{
    vec__push(&run->rows, &(struct figures_row){.key = memory__text(key),
                                                .label = memory__text(key),
                                                .value = value});
}

/* A result of three runs whose figures are at, twice and nine times as much. */
static struct vec result_of(double at, bool has_lock)
{
    static const double times[] = {9, 1, 2};
    struct vec result = VEC_OF(struct run_figures);
    for (size_t i = 0; i < 3; i++) {
        struct run_figures *run =
            vec__push(&result, &(struct run_figures){.wall_ns = (uint64_t)(100 * times[i]),
                                                     .rows = VEC_OF(struct figures_row)});
        add_row(run, "working\nparse", at * times[i]);
        if (has_lock) {
            add_row(run, "lock\nhead", 10);
            add_row(run, "lock\ntail", 5);
        }
    }
    return result;
}

static struct vec results;

static int make(void **unused)
{
    (void)unused;
    results = VEC_OF(struct vec);
    struct vec first = result_of(1, false), second = result_of(3, true);
    vec__push(&results, &first);
    vec__push(&results, &second);
    return 0;
}

static int unmake(void **unused)
{
    (void)unused;
    VEC_EACH (result, &results, struct vec) {
        VEC_EACH (run, result, struct run_figures)
            run_figures__free(run);
        vec__free(result);
    }
    vec__free(&results);
    return 0;
}

static double figure(const struct vec *series, size_t row, size_t result)
{
    return *VEC_AT(&VEC_AT(series, struct series_row, row)->figures, double, result);
}

static void all_rows_stand_by_the_first_result(void **unused)
{
    (void)unused;
    struct vec none = VEC_OF(struct wanted_row);
    struct vec series = series__of(&results, &none, "wall time");
    static const char *const labels[] = {"wall time", "working\nparse", "lock\nhead", "lock\ntail"};
    assert_int_equal(series.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(VEC_AT(&series, struct series_row, i)->label, labels[i]);
    assert_float_equal(figure(&series, 0, 0), 200, 0);
    assert_float_equal(figure(&series, 1, 0), 2, 0);
    assert_float_equal(figure(&series, 1, 1), 6, 0);
    assert_float_equal(figure(&series, 2, 0), 0, 0); /* the other result has it */
    assert_float_equal(figure(&series, 2, 1), 10, 0);
    series__free(&series);
}

static void wanted_rows_are_sums_in_their_order(void **unused)
{
    (void)unused;
    struct vec wanted = VEC_OF(struct wanted_row);
    vec__push(&wanted, &(struct wanted_row){"lock*", "all locks"});
    vec__push(&wanted, &(struct wanted_row){"pars?", "parsing"}); /* a part of its name */
    vec__push(&wanted, &(struct wanted_row){"nothing", "none"});
    vec__push(&wanted, &(struct wanted_row){"wall*", "wall"});
    struct vec series = series__of(&results, &wanted, "wall time");
    assert_int_equal(series.count, 4);
    assert_float_equal(figure(&series, 0, 0), 0, 0);
    assert_float_equal(figure(&series, 0, 1), 15, 0);
    assert_float_equal(figure(&series, 1, 1), 6, 0);
    assert_true(isnan(figure(&series, 2, 0)));
    assert_float_equal(figure(&series, 3, 1), 200, 0);
    series__free(&series);
    vec__free(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_rows_stand_by_the_first_result, make, unmake),
        cmocka_unit_test_setup_teardown(wanted_rows_are_sums_in_their_order, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
