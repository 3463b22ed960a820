/* Runs against runs as JSON (heurt.compare/1), CSV and Markdown. */
#include "base/memory.h"
#include "present/compare/comparison_screens.h"
#include "present/shared.h"
#include "present/table/document.h"
#include "present/table/table_format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

struct change_cells {
    char *name, *was;
    double before, after, change, least, most, chance;
    bool is_shown;
    int64_t lives_before, lives_after, lives_change;
};

static const struct column change_columns[] = {
    COLUMN_KEYED("row", change_cells, name, "row", "", "what is compared"),
    COLUMN(change_cells, before, "before", "", "in the run of median wall time"),
    COLUMN(change_cells, after, "after", "", "likewise"),
    COLUMN(change_cells, change, "change", "", "after less before"),
    COLUMN(change_cells, least, NULL, "", "the change by all runs, at least"),
    COLUMN(change_cells, most, NULL, "", "at most"),
    COLUMN(change_cells, chance, NULL, "", "that runs of one program differ as much"),
    COLUMN_KEYED("shown", change_cells, is_shown, NULL, "", "whether it is no chance"),
    COLUMN_KEYED("lives_before_ns", change_cells, lives_before, NULL, "ns",
                 "of the lives of all threads"),
    COLUMN_KEYED("lives_after_ns", change_cells, lives_after, NULL, "ns", "likewise"),
    COLUMN_KEYED("lives_change_ns", change_cells, lives_change, NULL, "ns", "after less before"),
    COLUMN_KEYED("renamed_from", change_cells, was, NULL, "",
                 "what its function was called before, perhaps"),
};
static const struct table changes_table =
    TABLE(change_cells, "changes", "a row a row of either side", change_columns);

static void add_cells(struct table_rows *rows, const struct comparison_row *row)
{
    struct change_cells *cells = table_rows__add(rows);
    *cells = (struct change_cells){.before = row->before,
                                   .after = row->after,
                                   .change = row->after - row->before,
                                   .least = row->shift.low,
                                   .most = row->shift.high,
                                   .chance = row->shift.chance,
                                   .is_shown = row->is_shown,
                                   .lives_before = (int64_t)row->lives_before,
                                   .lives_after = (int64_t)row->lives_after,
                                   .lives_change = (int64_t)(row->lives_after - row->lives_before)};
    cells->name = memory__text(row->label);
    table_rows__keep(rows, cells->name);
    if (row->was)
        cells->was = memory__text(row->was);
    if (row->was)
        table_rows__keep(rows, cells->was);
}

static struct table_rows change_rows(const struct runs_comparison *comparison)
{
    struct table_rows rows = table_rows__of(&changes_table);
    VEC_EACH (row, &comparison->rows, struct comparison_row)
        add_cells(&rows, row);
    return rows;
}

/* ---- the document ---------------------------------------------------------------------------- */

struct comparison_root {
    const struct comparison_view *view;
    const char *verdict, *sentence, *explanation, *table, *column, *unit;
    struct wall_change change;
    int64_t before, after, difference, lives_before, lives_after;
    double chance;
    bool are_pairs, is_of_others, adds_up;
};

struct side_run {
    const char *directory, *command;
    uint64_t wall_ns, lives_ns, start_ns;
    double cpus_of_others;
};

static const struct table run_table =
    OBJECT(side_run, FIELDS(side_run, directory, command, wall_ns, lives_ns),
           FIELD("start_realtime_ns", side_run, start_ns), FIELDS(side_run, cpus_of_others));

static struct table_rows run_rows(const struct vec *runs)
{
    struct table_rows rows = table_rows__of(&run_table);
    VEC_EACH (run, runs, struct run_figures)
        TABLE_ROW(&rows, side_run, run->directory, run->command, run->wall_ns, run->lives_ns,
                  run->start_ns, run->cpus_of_others);
    return rows;
}

static struct table_rows runs_before(const void *root)
{
    return run_rows(((const struct comparison_root *)root)->view->before);
}

static struct table_rows runs_after(const void *root)
{
    return run_rows(((const struct comparison_root *)root)->view->after);
}

static struct table_rows rows_of_root(const void *root)
{
    return change_rows(((const struct comparison_root *)root)->view->comparison);
}

struct outcome_cells {
    const char *condition, *outcome, *sentence;
};
static const struct table check_table =
    OBJECT(outcome_cells, FIELDS(outcome_cells, condition, outcome, sentence));

static struct table_rows checks_of_root(const void *root)
{
    struct table_rows rows = table_rows__of(&check_table);
    VEC_EACH (check, ((const struct comparison_root *)root)->view->checks, struct checked)
        TABLE_ROW(&rows, outcome_cells, check->condition, check_outcome__name(check->outcome),
                  check->sentence);
    return rows;
}

/* ---- loops ----------------------------------------------------------------------------------- */

struct phase_pair_cells {
    const char *loop;
    uint64_t before, after; /* from 1 */
    uint64_t iterations_before, iterations_after, threads_before, threads_after;
    uint64_t median_before_ns, median_after_ns;
};
static const struct table phase_table =
    OBJECT(phase_pair_cells,
           FIELDS(phase_pair_cells, loop, before, after, iterations_before, iterations_after,
                  threads_before, threads_after, median_before_ns, median_after_ns));

static void fill_phase(struct phase_pair_cells *cells, const struct compared_phases *phases,
                       const struct phase_pair *pair)
{
    *cells = (struct phase_pair_cells){NULL,       UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                       UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    if (pair->before != PHASE_NONE) {
        const struct told_phase *was = VEC_AT(&phases->before, struct told_phase, pair->before);
        cells->loop = was->text;
        cells->before = pair->before + 1;
        cells->iterations_before = was->iterations;
        cells->threads_before = was->threads;
        cells->median_before_ns = was->median_ns;
    }
    if (pair->after != PHASE_NONE) {
        const struct told_phase *is = VEC_AT(&phases->after, struct told_phase, pair->after);
        cells->loop = is->text;
        cells->after = pair->after + 1;
        cells->iterations_after = is->iterations;
        cells->threads_after = is->threads;
        cells->median_after_ns = is->median_ns;
    }
}

static struct table_rows phases_of_root(const void *root)
{
    const struct compared_phases *phases = ((const struct comparison_root *)root)->view->phases;
    struct table_rows rows = table_rows__of(phases ? &phase_table : NULL);
    if (phases)
        VEC_EACH (pair, &phases->pairs, struct phase_pair)
            fill_phase(table_rows__add(&rows), phases, pair);
    return rows;
}

static const struct table root_table =
    OBJECT(comparison_root, FIELD_SCHEMA("heurt.compare/1"),
           FIELDS(comparison_root, verdict, sentence, explanation, table, column, unit),
           FIELD("wall_before_ns", comparison_root, before),
           FIELD("wall_after_ns", comparison_root, after),
           FIELD("wall_change_ns", comparison_root, difference),
           FIELD("wall_change", comparison_root, change.part),
           FIELD("wall_change_least", comparison_root, change.least),
           FIELD("wall_change_most", comparison_root, change.most),
           FIELD("chance", comparison_root, chance),
           FIELD("lives_before_ns", comparison_root, lives_before),
           FIELD("lives_after_ns", comparison_root, lives_after),
           FIELD("in_turns", comparison_root, are_pairs),
           FIELD("because_of_other_programs", comparison_root, is_of_others),
           FIELD("adds_up", comparison_root, adds_up), FIELD_LIST("before", runs_before),
           FIELD_LIST("after", runs_after), FIELD_LIST("rows", rows_of_root),
           FIELD_LIST("phases", phases_of_root), FIELD_LIST("checks", checks_of_root));

struct json_object *comparison_document__new(const struct comparison_view *view)
{
    const struct runs_comparison *comparison = view->comparison;
    const struct comparison_row *whole = &comparison->whole;
    char *sentence = comparison__sentence(comparison);
    char *explanation = comparison__explanation(comparison);
    const struct comparison_root root = {.view = view,
                                         .verdict = comparison__verdict(comparison),
                                         .sentence = sentence,
                                         .explanation = explanation,
                                         .table = view->table,
                                         .column = view->value->key,
                                         .unit = view->value->unit,
                                         .change = comparison__change(comparison),
                                         .before = (int64_t)whole->before,
                                         .after = (int64_t)whole->after,
                                         .difference = (int64_t)(whole->after - whole->before),
                                         .lives_before = (int64_t)whole->lives_before,
                                         .lives_after = (int64_t)whole->lives_after,
                                         .chance = comparison->factor.chance,
                                         .are_pairs = comparison->are_pairs,
                                         .is_of_others = comparison->is_of_others,
                                         .adds_up = comparison->adds_up};
    struct json_object *document = document__new(&root_table, &root);
    free(sentence);
    free(explanation);
    return document;
}

static void put_json(const struct comparison_view *view, const struct style *style, FILE *out)
{
    (void)style;
    json__put(comparison_document__new(view), out);
}

const struct comparison_presenter comparison_json = {put_json};

static void put_csv(const struct comparison_view *view, const struct style *style, FILE *out)
{
    (void)style;
    table_rows__put_csv(change_rows(view->comparison), out);
}

const struct comparison_presenter comparison_csv = {put_csv};

/* ---- Markdown -------------------------------------------------------------------------------- */

#define MARKDOWN_ROWS_MOST 10

static void put_markdown_row(const struct comparison_view *view, const struct comparison_row *row,
                             const char *mark, FILE *out)
{
    char *before = figure__format(view->value, row->before);
    char *after = figure__format(view->value, row->after);
    char *change = figure__signed(view->value, row->after - row->before);
    fputs("| ", out);
    markdown__put_plain(row->told ? row->told : row->label, out);
    fprintf(out, " | %s | %s | %s%s |\n", before, after, change, mark);
    free(before);
    free(after);
    free(change);
}

static void put_markdown_rows(const struct comparison_view *view, FILE *out)
{
    const struct runs_comparison *comparison = view->comparison;
    struct comparison_row rest = {.label = "all else"};
    bool is_few = comparison->factor.verdict == SHIFT_TOO_FEW;
    size_t shown = 0;
    fputs("| | before | after | change |\n| --- | ---: | ---: | ---: |\n", out);
    VEC_EACH (row, &comparison->rows, struct comparison_row) {
        if (shown++ < MARKDOWN_ROWS_MOST) {
            put_markdown_row(view, row, row->is_shown || is_few ? "" : " ?", out);
            continue;
        }
        rest.before += row->before;
        rest.after += row->after;
    }
    if (comparison->adds_up && shown > MARKDOWN_ROWS_MOST)
        put_markdown_row(view, &rest, "", out);
    if (comparison->adds_up)
        put_markdown_row(view, &comparison->whole, "", out);
}

static void put_markdown(const struct comparison_view *view, const struct style *style, FILE *out)
{
    char *sentence = comparison__sentence(view->comparison);
    char *why = comparison__explanation(view->comparison);
    struct vec notes = comparison__notes(view);
    (void)style;
    fputs("**", out);
    markdown__put_plain(sentence, out);
    fputs("**\n", out);
    if (why) {
        fputs("\nWhat makes it: ", out);
        markdown__put_plain(why, out);
        fputs(".\n", out);
    }
    fputc('\n', out);
    if (view->comparison->rows.count)
        put_markdown_rows(view, out);
    fputc('\n', out);
    VEC_EACH (text, &notes, char *) {
        markdown__put_plain(*text, out);
        fputc('\n', out);
    }
    checks__put_markdown(view->checks, out);
    texts__free(&notes);
    free(sentence);
    free(why);
}

const struct comparison_presenter comparison_markdown = {put_markdown};
