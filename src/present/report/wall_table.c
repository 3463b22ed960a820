/* The table of what the run's time went to: a row a cause that runs have in common. */
#include "analysis/timeline/wall_ledger.h"
#include "base/map.h"
#include "base/memory.h"
#include "present/table/table_source.h"

#include <stdlib.h>
#include <string.h>

struct wall_cells {
    const char *what;   /* "lock", "working" */
    const char *object; /* name; NULL: it has none, or stands for itself */
    struct place_cells place;
    uint64_t wall_ns, lives_ns;
    double share; /* of the wall time */
};

static const struct column columns[] = {
    COLUMN(wall_cells, what, "what", "",
           "what threads did or waited for: working, lock, barrier, wanted a CPU …"),
    COLUMN(wall_cells, object, "object", "", "name of the lock, barrier …"),
    COLUMN_KEYED("function", wall_cells, place.function, "in", "",
                 "function of the program; of an object with a name none"),
    COLUMN_KEYED("file", wall_cells, place.file, NULL, "", "its source file"),
    COLUMN_KEYED("line", wall_cells, place.line, NULL, "", "line in it"),
    COLUMN(wall_cells, wall_ns, "of the run", "ns",
           "of the wall time: each instant divided among the threads that had something to do"),
    COLUMN(wall_cells, share, "share", "share", "of the wall time"),
    COLUMN(wall_cells, lives_ns, "of threads", "ns", "of the lives of all threads"),
};
static const struct table wall_table = TABLE(
    wall_cells, "wall", "what the run's time went to: the rows add up to the wall time", columns);

/* Of what has no class. */
static const char *state_words(unsigned state)
{
    switch (state) {
    case COMPONENT_RUNNING:
        return "working";
    case COMPONENT_RUNNABLE:
        return "wanted a CPU";
    case COMPONENT_PAGE_FAULT:
        return "page faults";
    case COMPONENT_OVERHEAD:
        return "recording";
    case COMPONENT_OTHER_BLOCKED:
        return "other waits";
    case STATE_IDLE:
        return "idle";
    case WALL_NOBODY:
        return "no thread recorded";
    case WALL_FALSE_SHARING:
        return "false sharing";
    case WALL_TRUE_SHARING:
        return "true sharing";
    case WALL_REMOTE_MEMORY:
        return "remote memory";
    default:
        return component__key((enum component)state);
    }
}

bool wall_row__may_be(const char *what)
{
    for (unsigned state = 0; state < WALL_STATES; state++)
        if (strcmp(what, state_words(state)) == 0)
            return true;
    for (unsigned kind = 0; kind < CLASS_KINDS; kind++)
        if (strcmp(what, class_kind__name((enum class_kind)kind)) == 0)
            return true;
    return false;
}

static void name_class(struct table_rows *rows, const struct report *report,
                       const struct wall_row *row, struct wall_cells *cells)
{
    const struct class_definition *what =
        &VEC_AT(&report->profile->classes, struct profile_class, row->class)->what;
    if (class__is_hooked(what))
        cells->what = class_kind__name(what->at.kind);
    cells->object = what->has_object ? class__object_name(report, what) : NULL;
    if (!cells->object)
        cells->place = place_cells__of_class(rows, report, what);
    if (cells->place.function && strncmp(cells->place.function, "0x", 2) == 0)
        cells->place = PLACE_NOWHERE; /* an address is another one in the next run */
}

static void add_row(struct table_rows *rows, struct map *known, const struct report *report,
                    const struct wall_row *row)
{
    struct wall_cells cells = {.what = state_words(row->state), .place = PLACE_NOWHERE};
    if (row->class != WALL_NO_CLASS)
        name_class(rows, report, row, &cells);
    char *key = memory__format("%s\n%s\n%s", cells.what, cells.object ? cells.object : "",
                               cells.place.function ? cells.place.function : "");
    size_t place = map__put(known, key, strlen(key), rows->rows.count);
    free(key);
    if (place == rows->rows.count)
        *(struct wall_cells *)table_rows__add(rows) = cells;
    struct wall_cells *one = VEC_AT(&rows->rows, struct wall_cells, place);
    one->wall_ns += row->wall_ns;
    one->lives_ns += row->lives_ns;
}

static int by_wall(const void *left, const void *right)
{
    const struct wall_cells *one = left, *other = right;
    int order = ORDER(other->wall_ns, one->wall_ns);
    order = order ? order : ORDER(other->lives_ns, one->lives_ns);
    return order ? order : strcmp(one->what, other->what);
}

struct table_rows wall_rows(const struct report *report, const struct wall_ledger *ledger)
{
    struct table_rows rows = table_rows__of(&wall_table);
    struct map known = {0};
    if (!ledger)
        return rows;
    VEC_EACH (row, &ledger->rows, struct wall_row)
        add_row(&rows, &known, report, row);
    VEC_EACH (cells, &rows.rows, struct wall_cells)
        cells->share = ledger->wall_ns ? (double)cells->wall_ns / (double)ledger->wall_ns : 0;
    vec__sort(&rows.rows, by_wall);
    map__free(&known);
    return rows;
}

static struct table_rows rows_of_wall(const struct table_subject *subject)
{
    return wall_rows(subject->report, subject->wall);
}

const struct table_source wall_source = {
    &wall_table, MADE_OF(&findings_analysis, &wall_ledger_analysis), rows_of_wall};
