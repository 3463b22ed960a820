/* How much a program suffers from contention, as tables and as heurt.induce/1: the contract is in
 * docs/heurt-induce.md. */
#include "base/memory.h"
#include "base/text.h"
#include "present/induce/induce_screens.h"
#include "present/table/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE "the whole program"

static uint64_t ns_of(double ns)
{
    return isnan(ns) ? UINT64_MAX : (uint64_t)fmax(ns + 0.5, 0);
}

static const char *name_of(const struct sensitivity_row *row)
{
    return row->label ? row->label : WHOLE;
}

/* ---- sensitivity ----------------------------------------------------------------------------- */

struct sensitivity_cells {
    const char *what;
    uint64_t runs, time_ns;
    double share, more, least, most;
    bool shown;
};

#define CELL(member, title, unit, help) COLUMN(sensitivity_cells, member, title, unit, help)
static const struct column sensitivity_columns[] = {
    CELL(what, "what", "", "the whole program, or a class of calls"),
    CELL(runs, "runs", "", "that it is of"),
    CELL(time_ns, "time", "ns", "of a run, or of a call on the average, without contention"),
    CELL(share, "of wall", "share", "all its calls, of the wall time at the lowest level"),
    CELL(more, "per 10 %", "share", "what it takes longer for each 10 % that are taken"),
    CELL(least, "at least", "share", "the same: 95 in 100 intervals hold the truth"),
    CELL(most, "at most", "share", "likewise"),
    CELL(shown, "shown", "", "whether the interval is known and leaves out 0"),
};
static const struct table sensitivity_table =
    TABLE(sensitivity_cells, "sensitivity", "a row for the whole and for each class",
          sensitivity_columns);

static struct table_rows sensitivity_rows(const void *subject)
{
    const struct induce_view *view = subject;
    struct table_rows rows = table_rows__of(&sensitivity_table);
    VEC_EACH (row, &view->told->rows, struct sensitivity_row)
        TABLE_ROW(&rows, sensitivity_cells, name_of(row), row->runs, ns_of(row->ns), row->share,
                  row->more.value / 10, row->more.low / 10, row->more.high / 10,
                  sensitivity_row__is_shown(row));
    return rows;
}

/* ---- levels ---------------------------------------------------------------------------------- */

struct induce_level_cells {
    double asked, taken, rate;
    uint64_t alone, recorded;
};

#define LEVEL(member, title, unit, help) COLUMN(induce_level_cells, member, title, unit, help)
static const struct column level_columns[] = {
    LEVEL(asked, "asked", "share", "of the most that can be taken"),
    LEVEL(taken, "taken", "share", "likewise, what was: mean of the runs"),
    LEVEL(rate, "a second", "", "in the resource's unit"),
    LEVEL(alone, "alone", "", "runs by themselves"),
    LEVEL(recorded, "recorded", "", "recorded runs"),
};
static const struct table levels_table =
    TABLE(induce_level_cells, "levels", "a row a level", level_columns);

static struct table_rows level_rows(const void *subject)
{
    const struct induce_view *view = subject;
    struct table_rows rows = table_rows__of(&levels_table);
    VEC_EACH (level, &view->told->levels, struct sensitivity_level)
        TABLE_ROW(&rows, induce_level_cells, level->asked, level->taken,
                  level->requests * view->unit_of_requests, level->alone, level->recorded);
    return rows;
}

/* ---- times ----------------------------------------------------------------------------------- */

struct induce_time_cells {
    const char *what;
    double asked;
    uint64_t time_ns;
};

#define TIME(member, title, unit, help) COLUMN(induce_time_cells, member, title, unit, help)
static const struct column time_columns[] = {
    TIME(what, "what", "", "the whole program, or a class of calls"),
    TIME(asked, "asked", "share", "level"),
    TIME(time_ns, "time", "ns", "of a run, or of a call on the average: median of the runs"),
};
static const struct table times_table =
    TABLE(induce_time_cells, "times", "a row a class and level", time_columns);

static struct table_rows time_rows(const void *subject)
{
    const struct induce_view *view = subject;
    struct table_rows rows = table_rows__of(&times_table);
    VEC_EACH (row, &view->told->rows, struct sensitivity_row)
        for (size_t i = 0; i < row->at.count; i++)
            TABLE_ROW(&rows, induce_time_cells, name_of(row),
                      VEC_AT(&view->told->levels, struct sensitivity_level, i)->asked,
                      ns_of(*VEC_AT(&row->at, double, i)));
    return rows;
}

/* ---- all of them ----------------------------------------------------------------------------- */

const struct named_table induce_tables[] = {{&sensitivity_table, sensitivity_rows},
                                            {&levels_table, level_rows},
                                            {&times_table, time_rows},
                                            {NULL, NULL}};

struct induce_root {
    const struct induce_view *view;
    const char *command, *resource, *most, *unit, *where, *sentence;
    double possible, possible_least, possible_most;
    uint64_t rounds;
    bool cut;
};

static const struct induce_view *view_of(const void *root)
{
    return ((const struct induce_root *)root)->view;
}

static struct table_rows levels_of_root(const void *root)
{
    return level_rows(view_of(root));
}

static struct table_rows sensitivity_of_root(const void *root)
{
    return sensitivity_rows(view_of(root));
}

static struct table_rows times_of_root(const void *root)
{
    return time_rows(view_of(root));
}

static struct table_rows notes_of_root(const void *root)
{
    struct table_rows rows = table_rows__of(&texts_table);
    struct vec notes = induce__notes(view_of(root));
    VEC_EACH (text, &notes, char *)
        text_rows__take(&rows, memory__text(*text));
    texts__free(&notes);
    return rows;
}

static const struct table root_table =
    OBJECT(induce_root, FIELD_SCHEMA("heurt.induce/1"),
           FIELDS(induce_root, command, resource, sentence, most, unit, where, possible,
                  possible_least, possible_most, rounds, cut),
           FIELD_LIST("levels", levels_of_root), FIELD_LIST("sensitivity", sensitivity_of_root),
           FIELD_LIST("times", times_of_root), FIELD_LIST("notes", notes_of_root));

void induce__put_json(const struct induce_view *view, FILE *out)
{
    char *sentence = induce__sentence(view);
    const struct induce_root root = {.view = view,
                                     .command = view->command,
                                     .resource = view->resource,
                                     .most = view->most,
                                     .unit = view->unit,
                                     .where = view->where,
                                     .sentence = sentence,
                                     .possible = view->loss.value,
                                     .possible_least = view->loss.low,
                                     .possible_most = view->loss.high,
                                     .rounds = view->rounds,
                                     .cut = view->is_cut};
    document__put(&root_table, &root, out);
    free(sentence);
}
