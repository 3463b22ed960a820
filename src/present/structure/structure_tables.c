/* The outline of a program as a table: a row a row, in preorder. */
#include "present/shared.h"
#include "present/structure/internal.h"
#include "present/table/table_source.h"

struct outline_cells {
    uint64_t row, group, depth;
    const char *kind, *class_kind, *function, *file;
    uint64_t line;
    uint64_t count, loops, turns_min, turns_max, sum_ns, mean_ns, min_ns, max_ns;
    double share;
    uint64_t excess_ns;
    double score;
    uint64_t threads, shapes, same_as;
    bool count_estimated, cut, estimated, excess_estimated;
};

static const struct column columns[] = {
    COLUMN(outline_cells, row, "#", "", "number of the row, from 0"),
    COLUMN(outline_cells, group, "group", "", "number of the group of threads, from 0"),
    COLUMN(outline_cells, depth, "depth", "", "0: of the thread itself"),
    COLUMN(outline_cells, kind, "kind", "", "occurrence, loop, scattered, unrecorded, rest"),
    COLUMN(outline_cells, class_kind, NULL, "", "call, region, lock …"),
    COLUMN(outline_cells, function, "function", "", "what was called"),
    COLUMN(outline_cells, file, NULL, "", "source file; of a hooked call that of the call"),
    COLUMN(outline_cells, line, NULL, "", "line in it"),
    COLUMN(outline_cells, count, "count", "", "occurrences; of a loop its iterations"),
    COLUMN(outline_cells, loops, NULL, "", "how often the loop was run"),
    COLUMN(outline_cells, turns_min, NULL, "", "iterations of one loop, at least"),
    COLUMN(outline_cells, turns_max, NULL, "", "iterations of one loop, at most"),
    COLUMN(outline_cells, sum_ns, "took", "ns", "all of them together"),
    COLUMN(outline_cells, mean_ns, "mean", "ns", "one on average"),
    COLUMN(outline_cells, min_ns, "min", "ns", "the fastest one"),
    COLUMN(outline_cells, max_ns, "max", "ns", "the slowest one"),
    COLUMN(outline_cells, share, "share", "share", "of the group's lives"),
    COLUMN(outline_cells, excess_ns, "lost", "ns", "what they took longer than the fastest one"),
    COLUMN(outline_cells, score, "score", "share", "the loss over the group's lives"),
    COLUMN(outline_cells, threads, NULL, "", "threads of the group that have it"),
    COLUMN(outline_cells, shapes, NULL, "", "shapes that are shown together"),
    COLUMN(outline_cells, same_as, NULL, "", "the row in which its body stands"),
    COLUMN(outline_cells, count_estimated, NULL, "", "whether the counts are estimates"),
    COLUMN(outline_cells, cut, NULL, "", "whether its body is too deep to be shown"),
    COLUMN(outline_cells, estimated, NULL, "", "whether the times are estimates"),
    COLUMN(outline_cells, excess_estimated, NULL, "", "whether the loss is an estimate"),
};
static const struct table structure_table =
    TABLE(outline_cells, "structure", "the outline of the program, a row a row", columns);

static void fill_place(struct table_rows *rows, const struct structure_report *shown,
                       const struct outline_row *row, struct outline_cells *cells)
{
    const struct class_definition *class = outline_row__place(shown, row);
    cells->line = UINT64_MAX;
    if (!class)
        return;
    struct place_cells place = place_cells__of_class(rows, shown->report, class);
    cells->class_kind = class_kind__name(class->at.kind);
    cells->function = class->at.function;
    cells->file = place.file;
    cells->line = place.line;
}

static uint64_t known_if(bool is_known, uint64_t value)
{
    return is_known ? value : UINT64_MAX;
}

static void add_row(struct table_rows *rows, const struct structure_report *shown, uint32_t number)
{
    const struct outline_row *row = VEC_AT(&shown->outline->rows, struct outline_row, number);
    bool loop = row->kind == OUTLINE_LOOP, counted = row->kind <= OUTLINE_SCATTERED;
    struct outline_cells *cells = table_rows__add(rows);
    *cells = (struct outline_cells){
        .row = number,
        .group = row->group,
        .depth = row->depth,
        .kind = outline_kind__name(row->kind),
        .count = known_if(row->kind != OUTLINE_UNRECORDED, row->count),
        .loops = known_if(loop, row->loops),
        .turns_min = known_if(loop, row->iterations.min),
        .turns_max = known_if(loop, row->iterations.max),
        .sum_ns = row->sum_ns,
        .mean_ns = known_if(counted, outline_row__mean_ns(row)),
        .min_ns = known_if(counted, row->min_ns),
        .max_ns = known_if(counted, row->max_ns),
        .share = outline_row__share(shown->outline, row),
        .excess_ns = known_if(counted, row->excess_ns),
        .score = counted ? outline_row__score(shown->outline, row) : COLUMN_UNKNOWN,
        .threads = known_if(counted, row->threads),
        .shapes = known_if(counted, row->shapes),
        .same_as = known_if(row->same_as != OUTLINE_NONE, row->same_as),
        .count_estimated = row->is_count_estimated,
        .cut = row->is_cut,
        .estimated = row->is_estimated,
        .excess_estimated = row->is_excess_estimated,
    };
    fill_place(rows, shown, row, cells);
}

struct table_rows outline_rows(const struct structure_report *shown)
{
    struct table_rows rows = table_rows__of(&structure_table);
    for (uint32_t i = 0; i < shown->outline->rows.count; i++)
        add_row(&rows, shown, i);
    return rows;
}

static struct table_rows rows_of_outline(const struct table_subject *subject)
{
    return outline_rows(subject->structure);
}

const struct table_source structure_source = {&structure_table, MADE_OF(&structure_analysis),
                                              rows_of_outline};
