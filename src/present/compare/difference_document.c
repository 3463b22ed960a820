/* heurt.difference/1: the contract is in docs/heurt-diff-occurrence.md. */
#include "present/compare/difference_screens.h"
#include "present/iterations/iterations_screens.h"
#include "present/table/parts.h"

/* The root: what its members are made of. */
struct difference_document {
    struct run_cells run;
    const struct difference_view *view;
    struct difference of; /* its figures as they are */
    uint64_t matching;
    int64_t difference_ns;
    int64_t component_ns[COMPONENTS];
};

static const struct difference_view *view_of(const void *root)
{
    return ((const struct difference_document *)root)->view;
}

/* A call, and what it worked on. */
struct what_cells {
    struct call_cells call;
    uint64_t object;
    const char *object_name;
};

#define FIELDS_OF_WHAT(row, member)                                                           \
    FIELDS_OF_CALL(row, member.call), FIELD_AS(COLUMN_ADDRESS, "object", row, member.object), \
        FIELD("object_name", row, member.object_name)

static struct what_cells what_of(struct table_rows *rows, const struct report *report,
                                 const struct class_definition *what)
{
    return (struct what_cells){call_cells__of(rows, report, what),
                               what->has_object ? what->object : UINT64_MAX,
                               class__object_name(report, what)};
}

/* ---- of what --------------------------------------------------------------------------------- */

struct class_cells {
    uint64_t rank;
    struct what_cells what;
};
struct loop_cells {
    uint64_t phase;
    const char *name;
};

static const struct column class_columns[] = {FIELD("rank", class_cells, rank),
                                              FIELDS_OF_WHAT(class_cells, what)};
static const struct column loop_columns[] = {
    {.key = "kind", .help = "iteration", .type = COLUMN_CONSTANT, .use = COLUMN_NESTED},
    FIELD("phase", loop_cells, phase),
    FIELD("name", loop_cells, name)};
static const struct table class_table = TABLE(class_cells, "", "", class_columns);
static const struct table loop_table = TABLE(loop_cells, "", "", loop_columns);

static struct table_rows subject_row(const void *root)
{
    const struct difference_view *view = view_of(root);
    struct table_rows rows = table_rows__of(view->phase ? &loop_table : &class_table);
    void *row = table_rows__add(&rows);
    if (view->phase)
        *(struct loop_cells *)row = (struct loop_cells){
            view->phase_number, table_rows__keep(&rows, phase__text(view->report, view->phase))};
    else
        *(struct class_cells *)row =
            (struct class_cells){view->rank, what_of(&rows, view->report, &view->difference->what)};
    return rows;
}

/* ---- the two sides --------------------------------------------------------------------------- */

struct difference_side_cells {
    struct difference_side_info of; /* its figures as they are */
    uint32_t tid;
    uint64_t cpu;
    bool has_arguments;
};

static struct table_rows argument_rows(const void *row)
{
    const struct difference_side_cells *side = row;
    return number_rows(side->has_arguments ? side->of.arguments : NULL, side->of.argument_count);
}

static const struct table side_table = OBJECT(
    difference_side_cells, FIELD("duration_ns", difference_side_cells, of.duration_ns),
    FIELD("start_ns", difference_side_cells, of.start_ns), FIELD("tid", difference_side_cells, tid),
    FIELD("turn", difference_side_cells, of.index), FIELD("cpu", difference_side_cells, cpu),
    FIELD("sampled", difference_side_cells, of.is_sampled), FIELD_LIST("arguments", argument_rows),
    FIELD_COMPONENTS("components_ns", difference_side_cells, of.component_ns));

static struct table_rows side_row(const void *root, enum difference_side side)
{
    const struct difference_view *view = view_of(root);
    const struct difference_side_info *info = &view->difference->sides[side];
    struct table_rows rows = table_rows__of(&side_table);
    TABLE_ROW(&rows, difference_side_cells, *info, report__tid(view->report, info->thread),
              info->cpu == UINT16_MAX ? UINT64_MAX : info->cpu,
              view->difference->definition != NULL);
    return rows;
}

static struct table_rows slow_row(const void *root)
{
    return side_row(root, SIDE_SLOW);
}

static struct table_rows fast_row(const void *root)
{
    return side_row(root, SIDE_FAST);
}

/* ---- calls in them --------------------------------------------------------------------------- */

struct both_cells {
    int64_t sides[SIDES];
};
static const struct table both_table =
    OBJECT(both_cells, FIELD("slow", both_cells, sides[SIDE_SLOW]),
           FIELD("fast", both_cells, sides[SIDE_FAST]));

struct row_cells {
    uint64_t parent;
    struct what_cells what;
    struct difference_row of; /* its figures as they are */
    int64_t more_ns, component_ns[COMPONENTS];
};

static const struct table rows_table =
    OBJECT(row_cells, FIELD("parent", row_cells, parent), FIELDS_OF_WHAT(row_cells, what),
           FIELD_OBJECT("calls", row_cells, of.count, both_table),
           FIELD_OBJECT("time_ns", row_cells, of.time_ns, both_table),
           FIELD_OBJECT("own_ns", row_cells, of.own_ns, both_table),
           FIELD("own_difference_ns", row_cells, more_ns),
           FIELD_OBJECT("components_ns", row_cells, component_ns, signed_components_table));

static struct table_rows rows_of(const void *root)
{
    const struct difference_view *view = view_of(root);
    struct table_rows rows = table_rows__of(&rows_table);
    VEC_EACH (row, &view->difference->rows, struct difference_row) {
        bool is_whole = row->parent == DIFFERENCE_NONE;
        struct row_cells *cells = table_rows__add(&rows);
        /* The whole of an iteration is no call. */
        *cells = (struct row_cells){
            .parent = is_whole ? UINT64_MAX : row->parent,
            .what = is_whole && view->phase
                        ? (struct what_cells){{.place = PLACE_NOWHERE}, UINT64_MAX, NULL}
                        : what_of(&rows, view->report, &row->what),
            .of = *row,
            .more_ns = difference_row__more_ns(row),
        };
        difference_row__more_components(row, cells->component_ns);
    }
    return rows;
}

/* ---- waits in the slow one ------------------------------------------------------------------- */

struct difference_wait_cells {
    struct difference_wait of; /* its figures as they are */
    const char *object_name;
    uint32_t by_tid;
    struct place_cells by;
};

static const struct table waits_table = OBJECT(
    difference_wait_cells, FIELD_NAMED("kind", difference_wait_cells, of.kind, class_kind__name),
    FIELD_AS(COLUMN_ADDRESS, "object", difference_wait_cells, of.object),
    FIELD("object_name", difference_wait_cells, object_name),
    FIELD("waits", difference_wait_cells, of.waits),
    FIELD("wait_ns", difference_wait_cells, of.wait_ns),
    FIELD("by_tid", difference_wait_cells, by_tid),
    FIELD_OPTIONAL("by", difference_wait_cells, by, place_table));

static struct table_rows waits_of(const void *root)
{
    const struct difference_view *view = view_of(root);
    struct table_rows rows = table_rows__of(&waits_table);
    VEC_EACH (wait, &view->difference->waits, struct difference_wait)
        TABLE_ROW(&rows, difference_wait_cells, *wait,
                  report__variable(view->report, wait->process, wait->object),
                  report__tid(view->report, wait->by),
                  place_cells__of_site(&rows, view->report, wait->process, wait->by_site));
    return rows;
}

/* ---- the document ---------------------------------------------------------------------------- */

static const struct table document_table = OBJECT(
    difference_document, FIELD_SCHEMA("heurt.difference/1"), FIELD_COMMAND,
    FIELD_ONE("of", subject_row), FIELD("matching_classes", difference_document, matching),
    FIELD("count", difference_document, of.count), FIELD("min_ns", difference_document, of.min_ns),
    FIELD("median_ns", difference_document, of.median_ns),
    FIELD("max_ns", difference_document, of.max_ns), FIELD_ONE("slow", slow_row),
    FIELD_ONE("fast", fast_row), FIELD("difference_ns", difference_document, difference_ns),
    FIELD_OBJECT("components_ns", difference_document, component_ns, signed_components_table),
    FIELD_LIST("rows", rows_of), FIELD_LIST("waits", waits_of));

static void put(const struct difference_view *view, const struct style *style, FILE *out)
{
    (void)style;
    struct difference_document root = {
        .run = run_cells__of(view->report),
        .view = view,
        .of = *view->difference,
        .matching = view->matching,
        .difference_ns = difference__more_ns(view->difference),
    };
    difference__more_components(view->difference, root.component_ns);
    document__put(&document_table, &root, out);
}

const struct difference_presenter difference_json = {put};
