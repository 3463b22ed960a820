/* The outline of a program as a table: a row a row, in preorder. */
#include "present/shared.h"
#include "present/structure/internal.h"
#include "present/table/table_format.h"
#include "present/table/table_source.h"

struct outline_cells {
    const struct structure_report *shown;
    uint64_t row;
    struct identity_cells identity;
    uint64_t count, loops, kinds, mean_ns, min_ns, max_ns;
    struct shape_iterations iterations;
    double share;
    uint64_t excess_ns;
    double score;
    uint64_t threads, shapes, same_as;
    struct outline_row of; /* its other figures as they are */
};

/* "occurrence", "loop" …: as in the JSON contract */
static const char *kind_name(enum outline_kind kind)
{
    static const char *const names[] = {
        [OUTLINE_OCCURRENCE] = "occurrence",
        [OUTLINE_LOOP] = "loop",
        [OUTLINE_SCATTERED] = "scattered",
        [OUTLINE_UNRECORDED] = "unrecorded",
        [OUTLINE_REST] = "rest",
    };
    return names[kind];
}

/* What a row is of; NULL: of no place. */
static const struct class_definition *place_of(const struct structure_report *shown,
                                               const struct outline_row *row)
{
    if (row->kind != OUTLINE_OCCURRENCE && row->kind != OUTLINE_SCATTERED)
        return NULL;
    return &VEC_AT(&shown->structure->places, struct structure_place, row->place)->what;
}

/* ---- parts of a row -------------------------------------------------------------------------- */

static const struct table iterations_table =
    OBJECT(shape_iterations, FIELDS(shape_iterations, min, max, sum));

static struct table_rows iterations_row(const void *row)
{
    const struct outline_cells *cells = row;
    return table_rows__if(cells->of.kind == OUTLINE_LOOP, &iterations_table, &cells->iterations);
}

/* Of each row that has a place: that of the call, or nothing that is known. */
static struct table_rows caller_row(const void *row)
{
    const struct outline_cells *cells = row;
    return table_rows__if(cells->identity.function, &place_table, &cells->identity.caller);
}

static struct table_rows body_of(const struct structure_report *shown, uint32_t from, uint32_t end,
                                 uint32_t depth);

static struct table_rows body_rows(const void *row)
{
    const struct outline_cells *cells = row;
    const struct outline *outline = cells->shown->outline;
    const struct outline_group *group =
        VEC_AT(&outline->groups, struct outline_group, cells->of.group);
    return body_of(cells->shown, (uint32_t)cells->row + 1, group->first_row + group->row_count,
                   cells->of.depth + 1);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define IDENTITY(key, member, title, help) \
    COLUMN_KEYED(key, outline_cells, identity.member, title, "", help)
#define OUTLINE(key, member, title, unit, help) \
    COLUMN_KEYED(key, outline_cells, of.member, title, unit, help)

static const struct column columns[] = {
    COLUMN(outline_cells, row, "#", "", "number of the row, from 0"),
    FLAT("group", outline_cells, of.group, "group", "", "number of the group of threads, from 0"),
    FLAT("depth", outline_cells, of.depth, "depth", "", "0: of the thread itself"),
    COLUMN_NAMED("kind", outline_cells, of.kind, kind_name, "kind",
                 "occurrence, loop, scattered, unrecorded, rest"),
    IDENTITY("class_kind", kind, NULL, "call, region, lock …"),
    IDENTITY("function", function, "function", "what was called"),
    FIELD("module", outline_cells, identity.place.module),
    IDENTITY("file", place.file, NULL, "source file; of a hooked call that of the call"),
    IDENTITY("line", place.line, NULL, "line in it"),
    FIELD_ONE("caller", caller_row),
    COLUMN(outline_cells, count, "count", "", "occurrences; of a loop its iterations"),
    COLUMN(outline_cells, loops, NULL, "", "how often the loop was run"),
    FIELD_ONE("turns", iterations_row),
    FIELD("kinds", outline_cells, kinds),
    FLAT("turns_min", outline_cells, iterations.min, NULL, "", "iterations of one loop, at least"),
    FLAT("turns_max", outline_cells, iterations.max, NULL, "", "iterations of one loop, at most"),
    OUTLINE("sum_ns", sum_ns, "took", "ns", "all of them together"),
    COLUMN(outline_cells, mean_ns, "mean", "ns", "one on average"),
    COLUMN(outline_cells, min_ns, "min", "ns", "the fastest one"),
    COLUMN(outline_cells, max_ns, "max", "ns", "the slowest one"),
    COLUMN(outline_cells, share, "share", "share", "of the group's lives"),
    COLUMN(outline_cells, excess_ns, "lost", "ns", "what they took longer than the fastest one"),
    COLUMN(outline_cells, score, "score", "share", "the loss over the group's lives"),
    COLUMN(outline_cells, threads, NULL, "", "threads of the group that have it"),
    COLUMN(outline_cells, shapes, NULL, "", "shapes that are shown together"),
    COLUMN(outline_cells, same_as, NULL, "", "the row in which its body stands"),
    OUTLINE("count_estimated", is_count_estimated, NULL, "", "whether the counts are estimates"),
    OUTLINE("cut", is_cut, NULL, "", "whether its body is too deep to be shown"),
    OUTLINE("estimated", is_estimated, NULL, "", "whether the times are estimates"),
    OUTLINE("excess_estimated", is_excess_estimated, NULL, "", "whether the loss is an estimate"),
    FIELD_LIST("body", body_rows),
};
static const struct table structure_table =
    TABLE(outline_cells, "structure", "the outline of the program, a row a row", columns);

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
        .shown = shown,
        .row = number,
        .identity = identity_cells__of(rows, shown->report, place_of(shown, row)),
        .count = known_if(row->kind != OUTLINE_UNRECORDED, row->count),
        .loops = known_if(loop, row->loops),
        .kinds = known_if(row->kinds > 0, row->kinds),
        .iterations = {.min = known_if(loop, row->iterations.min),
                       .max = known_if(loop, row->iterations.max),
                       .sum = row->iterations.sum},
        .mean_ns = known_if(counted, outline_row__mean_ns(row)),
        .min_ns = known_if(counted, row->min_ns),
        .max_ns = known_if(counted, row->max_ns),
        .share = outline_row__share(shown->outline, row),
        .excess_ns = known_if(counted, row->excess_ns),
        .score = counted ? outline_row__score(shown->outline, row) : COLUMN_UNKNOWN,
        .threads = known_if(counted, row->threads),
        .shapes = known_if(counted, row->shapes),
        .same_as = known_if(row->same_as != OUTLINE_NONE, row->same_as),
        .of = *row,
    };
}

/* The rows of that depth, up to the first that is less deep. */
static struct table_rows body_of(const struct structure_report *shown, uint32_t from, uint32_t end,
                                 uint32_t depth)
{
    struct table_rows rows = table_rows__of(&structure_table);
    for (uint32_t i = from; i < end; i++) {
        uint32_t own = VEC_AT(&shown->outline->rows, struct outline_row, i)->depth;
        if (own < depth)
            break;
        if (own == depth)
            add_row(&rows, shown, i);
    }
    return rows;
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

static void put_csv(const struct structure_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    table_rows__put_csv(outline_rows(shown), out);
}

const struct structure_presenter structure_csv = {"csv", put_csv};

/* ---- the document ---------------------------------------------------------------------------- */

/* heurt.structure/1: the contract is in docs/heurt-structure.md. */
struct structure_document {
    struct run_cells run;
    const struct structure_report *shown;
    uint64_t threads, places, depth, sequence_count;
    const char *thread;
    bool is_sampled;
    double least_share;
};

struct group_cells {
    const struct structure_report *shown;
    struct outline_group of;
    uint64_t outermost;
};

struct structure_thread_cells {
    uint32_t tid;
    const char *name;
};

static const struct table group_threads_table =
    OBJECT(structure_thread_cells, FIELDS(structure_thread_cells, tid, name));

static struct table_rows thread_rows(const void *row)
{
    const struct group_cells *group = row;
    struct table_rows rows = table_rows__of(&group_threads_table);
    VEC_EACH (number, &group->of.threads, uint32_t) {
        const struct trace_thread *thread = trace__thread_at(group->shown->report->trace, *number);
        TABLE_ROW(&rows, structure_thread_cells, thread->tid, thread->name);
    }
    return rows;
}

static struct table_rows group_body_rows(const void *row)
{
    const struct group_cells *group = row;
    return body_of(group->shown, group->of.first_row, group->of.first_row + group->of.row_count, 0);
}

static const struct table groups_table =
    OBJECT(group_cells, FIELD_LIST("threads", thread_rows),
           FIELD("lifetime_ns", group_cells, of.lifetime_ns),
           FIELD("outermost_loop", group_cells, outermost), FIELD_LIST("body", group_body_rows));

static struct table_rows group_rows(const void *root)
{
    const struct structure_report *shown = ((const struct structure_document *)root)->shown;
    struct table_rows rows = table_rows__of(&groups_table);
    for (uint32_t i = 0; i < shown->outline->groups.count; i++) {
        uint32_t outermost = outline__outermost(shown->outline, i);
        TABLE_ROW(&rows, group_cells, shown,
                  *VEC_AT(&shown->outline->groups, struct outline_group, i),
                  known_if(outermost != OUTLINE_NONE, outermost));
    }
    return rows;
}

static struct table_rows sequences_of(const void *root)
{
    const struct structure_report *shown = ((const struct structure_document *)root)->shown;
    return shown->sequences ? sequence_rows(shown) : table_rows__of(NULL);
}

static struct table_rows iterations_of(const void *root)
{
    const struct structure_report *shown = ((const struct structure_document *)root)->shown;
    return shown->iterations ? phase_rows(shown->report, shown->iterations) : table_rows__of(NULL);
}

static const struct table document_table = OBJECT(
    structure_document, FIELD_SCHEMA("heurt.structure/1"), FIELD_COMMAND,
    FIELDS_OF_EXIT(structure_document, run), FIELD_MACHINE,
    FIELD("wall_ns", structure_document, run.wall_ns),
    FIELDS(structure_document, threads, places, thread, depth),
    FIELD("sampled", structure_document, is_sampled),
    FIELD("least_share", structure_document, least_share), FIELD_LIST("groups", group_rows),
    FIELD("sequence_count", structure_document, sequence_count),
    FIELD_LIST("sequences", sequences_of), FIELD_LIST("iterations", iterations_of), FIELD_WARNINGS);

static void put_json(const struct structure_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    const struct structure_document root = {
        .run = run_cells__of(shown->report),
        .shown = shown,
        .threads = shown->structure->threads.count,
        .places = shown->structure->places.count,
        .depth = known_if(shown->options->depth > 0, shown->options->depth),
        .sequence_count = shown->sequences ? shown->sequences->rows.count : UINT64_MAX,
        .thread = shown->thread,
        .is_sampled = shown->outline->is_sampled,
        .least_share = shown->options->least_share,
    };
    document__put(&document_table, &root, out);
}

const struct structure_presenter structure_json = {"json", put_json};
