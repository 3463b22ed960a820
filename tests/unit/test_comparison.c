/* Runs against runs: changes add up, rows are matched by name, and what is chance is not called a
 * change. */
#include "analysis/compare/comparison.h"

#include "base/memory.h"
#include "chance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RUNS_MOST 10

/* ---- made runs ------------------------------------------------------------------------------- */

static void add_row(struct run_figures *run, const char *key, double value)
{
    const struct figures_row row = {
        memory__text(key), memory__text(key), value, 2 * value, NULL, NULL};
    vec__push(&run->rows, &row);
    run->wall_ns += (uint64_t)value;
    run->lives_ns += 2 * (uint64_t)value;
}

static struct run_figures *add_run(struct vec *side, uint64_t start_ns)
{
    const struct run_figures run = {.start_ns = start_ns, .rows = VEC_OF(struct figures_row)};
    return vec__push(side, &run);
}

static void free_side(struct vec *side)
{
    VEC_EACH (run, side, struct run_figures)
        run_figures__free(run);
    vec__free(side);
}

static struct vec no_runs(void)
{
    return VEC_OF(struct run_figures);
}

static const struct comparison_row *row_named(const struct runs_comparison *comparison,
                                              const char *key)
{
    VEC_EACH (row, &comparison->rows, struct comparison_row)
        if (strcmp(row->key, key) == 0)
            return row;
    fail_msg("there is no row %s", key);
    return NULL;
}

static void assert_adds_up(const struct runs_comparison *comparison)
{
    double before = 0, after = 0, lives_before = 0, lives_after = 0;
    VEC_EACH (row, &comparison->rows, struct comparison_row) {
        before += row->before;
        after += row->after;
        lives_before += row->lives_before;
        lives_after += row->lives_after;
    }
    assert_true(before == comparison->whole.before && after == comparison->whole.after);
    assert_true(lives_before == comparison->whole.lives_before);
    assert_true(lives_after == comparison->whole.lives_after);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void changes_add_up_to_the_whole(void **context)
{
    (void)context;
    state = 3;
    for (unsigned round = 0; round < 300; round++) {
        struct vec sides[2] = {no_runs(), no_runs()};
        for (unsigned side = 0; side < 2; side++)
            for (unsigned run = 0, runs = 1 + (unsigned)(share() * 7); run < runs; run++) {
                struct run_figures *one = add_run(&sides[side], 1 + run);
                static const char *const names[] = {"lock", "working", "idle", "cpu", "barrier"};
                for (unsigned i = 0; i < 5; i++)
                    if (share() < 0.8)
                        add_row(one, names[i], floor(share() * 1e9));
            }
        struct runs_comparison comparison = comparison__of(&sides[0], &sides[1], true, &SHIFT_RULE);
        assert_adds_up(&comparison);
        comparison__free(&comparison);
        free_side(&sides[0]);
        free_side(&sides[1]);
    }
}

static void the_run_of_median_wall_time_stands_for_its_side(void **context)
{
    static const double walls[] = {50, 10, 30, 20, 41};
    struct vec before = no_runs(), after = no_runs();
    (void)context;
    for (unsigned i = 0; i < 5; i++)
        add_row(add_run(&before, i + 1), "working", walls[i]);
    for (unsigned i = 0; i < 4; i++)
        add_row(add_run(&after, 100 + i), i == 0 ? "lock" : "working", walls[i]);
    struct runs_comparison comparison = comparison__of(&before, &after, true, &SHIFT_RULE);
    assert_true(comparison.whole.before == 30 && comparison.whole.after == 25);
    assert_true(row_named(&comparison, "working")->after == 25);
    assert_true(row_named(&comparison, "lock")->is_new);
    assert_false(row_named(&comparison, "working")->is_new);
    assert_int_equal(comparison.factor.verdict, SHIFT_TOO_FEW);
    assert_false(comparison.are_pairs);
    comparison__free(&comparison);
    comparison = comparison__of(&after, &before, true, &SHIFT_RULE);
    assert_true(row_named(&comparison, "lock")->is_gone);
    comparison__free(&comparison);
    free_side(&before);
    free_side(&after);
}

static void runs_in_turns_are_pairs(void **context)
{
    static const uint64_t orders[][6] = {
        {1, 3, 5, 2, 4, 6}, /* before, after, before … */
        {1, 4, 5, 2, 3, 6}, /* before, after, after, before … */
        {1, 2, 3, 4, 5, 6}, {1, 2, 5, 3, 4, 6}, {0, 0, 0, 0, 0, 0}, /* not known */
    };
    (void)context;
    for (unsigned o = 0; o < 5; o++) {
        struct vec before = no_runs(), after = no_runs();
        for (unsigned i = 0; i < 3; i++) {
            add_row(add_run(&before, orders[o][i]), "working", 10 + i);
            add_row(add_run(&after, orders[o][i + 3]), "working", 10 + i);
        }
        struct runs_comparison comparison = comparison__of(&before, &after, true, &SHIFT_RULE);
        assert_int_equal(comparison.are_pairs, o < 2);
        comparison__free(&comparison);
        free_side(&before);
        free_side(&after);
    }
}

/* Twelve rows that scatter by 2 %, of which lock takes a tenth and is that many times as long. */
static struct runs_comparison noisy(struct vec sides[2], double factor, bool in_turns)
{
    char name[16];
    for (unsigned run = 0; run < RUNS_MOST; run++) {
        double machine = 1 + 0.1 * (share() < 0.3);
        for (unsigned side = 0; side < 2; side++) {
            struct run_figures *one =
                add_run(&sides[side], 1 + (in_turns ? 2 * run + side : RUNS_MOST * side + run));
            add_row(one, "lock",
                    floor((side ? factor : 1) * machine * 1e8 * (1 + 0.02 * normal())));
            for (unsigned i = 1; i < 12; i++) {
                snprintf(name, sizeof name, "work%u", i);
                add_row(one, name, floor(machine * 8e7 * (1 + 0.02 * normal())));
            }
        }
    }
    return comparison__of(&sides[0], &sides[1], true, &SHIFT_RULE);
}

static bool any_is_shown(const struct runs_comparison *comparison)
{
    VEC_EACH (row, &comparison->rows, struct comparison_row)
        if (row->is_shown)
            return true;
    return comparison->factor.verdict == SHIFT_LESS || comparison->factor.verdict == SHIFT_MORE;
}

#define TIMES 300

/* Parts of comparisons that call anything different, and that find lock. */
static void count_shown(double factor, bool in_turns, double *any, double *lock)
{
    *any = *lock = 0;
    for (unsigned i = 0; i < TIMES; i++) {
        struct vec sides[2] = {no_runs(), no_runs()};
        struct runs_comparison comparison = noisy(sides, factor, in_turns);
        *any += any_is_shown(&comparison) / (double)TIMES;
        *lock += row_named(&comparison, "lock")->is_shown / (double)TIMES;
        comparison__free(&comparison);
        free_side(&sides[0]);
        free_side(&sides[1]);
    }
}

static void a_tenth_of_one_row_is_found_and_nothing_by_chance(void **context)
{
    double any, lock;
    (void)context;
    for (int in_turns = 0; in_turns < 2; in_turns++) {
        state = 11;
        count_shown(1, in_turns, &any, &lock);
        print_message("%s: by chance in %.3f\n", in_turns ? "in turns" : "in blocks", any);
        assert_true(any <= 0.04); /* wall 0.01, rows 0.02, and what 300 of them scatter by */
    }
    count_shown(1.1, true, &any, &lock);
    print_message("10 %% of a row found in %.3f\n", lock);
    assert_true(lock >= 0.9);
}

/* The same program, beside whose later runs others used a CPU, so that it wanted one. */
static void what_other_programs_took_is_no_difference(void **context)
{
    struct vec before = no_runs(), after = no_runs();
    (void)context;
    state = 5;
    for (unsigned i = 0; i < RUNS_MOST; i++) {
        for (unsigned side = 0; side < 2; side++) {
            struct run_figures *run = add_run(side ? &after : &before, 1 + i + 100 * side);
            run->cpus_of_others = side + 0.1 * share();
            add_row(run, "working", floor(1e9 * (1 + 0.01 * normal())));
            add_row(run, "wanted a CPU", floor((side ? 3e8 : 1e7) * (1 + 0.1 * normal())));
        }
    }
    struct runs_comparison comparison = comparison__of(&before, &after, true, &SHIFT_RULE);
    assert_true(comparison.is_of_others);
    assert_int_equal(comparison.factor.verdict, SHIFT_NOT_SHOWN);
    comparison__free(&comparison);
    VEC_EACH (run, &after, struct run_figures)
        run->cpus_of_others = 0.1 * share();
    comparison = comparison__of(&before, &after, true, &SHIFT_RULE);
    assert_false(comparison.is_of_others);
    assert_int_equal(comparison.factor.verdict, SHIFT_MORE);
    comparison__free(&comparison);
    free_side(&before);
    free_side(&after);
}

/* ---- rows of tables -------------------------------------------------------------------------- */

struct made_row {
    const char *kind, *function, *file, *object;
    uint64_t line, rank, wait_ns;
};
static const struct column made_columns[] = {
    COLUMN(made_row, rank, "#", "", ""),           COLUMN(made_row, kind, "kind", "", ""),
    COLUMN(made_row, function, "in", "", ""),      COLUMN(made_row, file, NULL, "", ""),
    COLUMN(made_row, object, "object", "", ""),    COLUMN(made_row, line, NULL, "", ""),
    COLUMN(made_row, wait_ns, "waited", "ns", ""),
};
static const struct table made_table = TABLE(made_row, "made", "", made_columns);

static void rows_are_known_by_their_names_alone(void **context)
{
    struct table_rows rows = table_rows__of(&made_table);
    struct run_figures run = {.rows = VEC_OF(struct figures_row)};
    (void)context;
    TABLE_ROW(&rows, made_row, "lock", "take", "/src/a.c", "0x7f00", 12, 1, 5);
    TABLE_ROW(&rows, made_row, "lock", "take", "/src/b.c", "0x7f08", 13, 2, 7);
    TABLE_ROW(&rows, made_row, "lock", "put", "/src/a.c", NULL, UINT64_MAX, 3, UINT64_MAX);
    TABLE_ROW(&rows, made_row, "lock", "take", "/src/a.c", "queue", 12, 4, 9);
    assert_ptr_equal(table__first_time(&made_table), &made_columns[6]);
    assert_true(run_figures__add(&run, &rows, &made_columns[6], NULL));
    assert_int_equal(run.rows.count, 3);
    const struct figures_row *row = run.rows.items;
    assert_string_equal(row[0].label, "lock in take a.c:12");
    assert_true(row[0].value == 12);
    assert_string_equal(row[1].label, "lock in put a.c");
    assert_true(row[1].value == 0);
    assert_string_equal(row[2].key, "lock\ntake\nqueue");
    run_figures__free(&run);
    table_rows__free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_add_up_to_the_whole),
        cmocka_unit_test(the_run_of_median_wall_time_stands_for_its_side),
        cmocka_unit_test(runs_in_turns_are_pairs),
        cmocka_unit_test(a_tenth_of_one_row_is_found_and_nothing_by_chance),
        cmocka_unit_test(what_other_programs_took_is_no_difference),
        cmocka_unit_test(rows_are_known_by_their_names_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
