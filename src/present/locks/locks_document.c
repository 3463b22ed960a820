/* heurt.locks/1: the contract is in docs/heurt-locks.md. */
#include "present/locks/locks_shared.h"
#include "present/locks/locks_tables.h"
#include "present/table/table_source.h"

/* The root: what its members are made of. */
struct document {
    struct run_cells run;
    const struct locks_report *locks;
    size_t rank; /* EVERY_ROW, or the only lock's */
    uint64_t threads;
    struct locks_result result; /* its figures as they are */
};

static const struct locks_report *locks_of(const void *root)
{
    return ((const struct document *)root)->locks;
}

/* ---- what was asked for, and all locks together ---------------------------------------------- */

struct filter_cells {
    struct locks_filter of;
    uint64_t to_ns;
};

static const struct column filter_columns[] = {
    FIELD("lock", filter_cells, of.lock),       FIELD("site", filter_cells, of.site),
    FIELD("thread", filter_cells, of.thread),   FIELD("min_wait_ns", filter_cells, of.min_wait_ns),
    FIELD("from_ns", filter_cells, of.from_ns), FIELD("to_ns", filter_cells, to_ns),
};
static const struct table filter_table = TABLE(filter_cells, "", "", filter_columns);

static struct table_rows filter_row(const void *root)
{
    const struct locks_filter *filter = locks_of(root)->filter;
    struct table_rows rows = table_rows__of(&filter_table);
    *(struct filter_cells *)table_rows__add(&rows) =
        (struct filter_cells){*filter, filter->to_ns ? filter->to_ns : UINT64_MAX};
    return rows;
}

static const struct column all_columns[] = {
    FIELD("acquisitions", locks_result, acquisitions),
    FIELD("contended", locks_result, contended),
    FIELD("wait_ns", locks_result, wait_ns),
    FIELD("wait_share", locks_result, wait_share),
    FIELD("hold_sum_ns", locks_result, hold_sum_ns),
    FIELD("hold_covered_ns", locks_result, hold_covered_ns),
    FIELD_OBJECT(COLUMN_OBJECT, "on_path", locks_result, on_path, on_path_table),
    FIELD("path_ns", locks_result, path_ns),
    FIELD("path_blocked_ns", locks_result, path_blocked_ns),
    FIELD("sampled", locks_result, is_sampled),
    FIELD("drawn", locks_result, drawn),
    FIELD("drawn_of", locks_result, drawn_of),
    FIELD("hold_error_ns", locks_result, hold_error_ns),
};
static const struct table all_table = TABLE(locks_result, "", "", all_columns);

static struct table_rows acquiring_rows(const void *row)
{
    const struct locks_result *result = row;
    return number_rows(result->acquiring_ns, result->steps);
}

static struct table_rows running_rows(const void *row)
{
    const struct locks_result *result = row;
    return number_rows(result->running_ns, result->steps);
}

static const struct column pressure_columns[] = {
    FIELD("step_ns", locks_result, step_ns),
    FIELD("steps", locks_result, steps),
    FIELD("from_ns", locks_result, steps_from_ns),
    FIELD_ROWS(COLUMN_LIST, "acquiring_ns", acquiring_rows),
    FIELD_ROWS(COLUMN_LIST, "running_ns", running_rows),
};
static const struct table pressure_table = TABLE(locks_result, "", "", pressure_columns);

/* ---- inversions ------------------------------------------------------------------------------ */

struct order_cells {
    uint64_t held, taken; /* ranks */
    uint64_t times;
    struct place_cells place;
};

static const struct column order_columns[] = {
    FIELD("held", order_cells, held),
    FIELD("taken", order_cells, taken),
    FIELD("times", order_cells, times),
    FIELD_OBJECT(COLUMN_OPTIONAL, "place", order_cells, place, site_table),
};
static const struct table orders_table = TABLE(order_cells, "", "", order_columns);

struct inversion_cells {
    const struct locks_report *locks;
    const struct lock_inversion *of;
    bool guarded, one_thread;
};

static struct table_rows order_rows(const void *row)
{
    const struct inversion_cells *cells = row;
    const struct vec *locks = &cells->locks->result->rows, *objects = &cells->of->objects;
    struct table_rows rows = table_rows__of(&orders_table);
    for (size_t i = 0; i < objects->count; i++) {
        uint32_t taken = *VEC_AT(objects, uint32_t, i);
        uint32_t held = *VEC_AT(objects, uint32_t, (i + objects->count - 1) % objects->count);
        uint32_t process =
            taken < locks->count ? VEC_AT(locks, struct lock_row, taken)->object.process : 0;
        *(struct order_cells *)table_rows__add(&rows) =
            (struct order_cells){held + 1ull, taken + 1ull, *VEC_AT(&cells->of->times, uint64_t, i),
                                 place_cells__of_site(&rows, cells->locks->report, process,
                                                      *VEC_AT(&cells->of->sites, uint64_t, i))};
    }
    return rows;
}

static const struct column inversion_columns[] = {
    FIELD("guarded", inversion_cells, guarded),
    FIELD("one_thread", inversion_cells, one_thread),
    FIELD_ROWS(COLUMN_LIST, "orders", order_rows),
};
static const struct table inversions_table = TABLE(inversion_cells, "", "", inversion_columns);

static struct table_rows inversion_rows(const void *root)
{
    const struct locks_report *locks = locks_of(root);
    struct table_rows rows = table_rows__of(&inversions_table);
    VEC_EACH (inversion, &locks->result->inversions, struct lock_inversion)
        *(struct inversion_cells *)table_rows__add(&rows) =
            (struct inversion_cells){locks, inversion, inversion->guarded, inversion->one_thread};
    return rows;
}

/* ---- whether it adds up ---------------------------------------------------------------------- */

struct audit_cells {
    const struct locks_report *locks;
    bool holds;
};

static struct table_rows check_rows(const void *row)
{
    return lock_check_rows(((const struct audit_cells *)row)->locks);
}

static const struct column audit_columns[] = {FIELD("holds", audit_cells, holds),
                                              FIELD_ROWS(COLUMN_LIST, "checks", check_rows)};
static const struct table audit_table = TABLE(audit_cells, "", "", audit_columns);

static struct table_rows audit_row(const void *root)
{
    const struct locks_report *locks = locks_of(root);
    struct table_rows rows = table_rows__of(&audit_table);
    *(struct audit_cells *)table_rows__add(&rows) =
        (struct audit_cells){locks, locks__add_up(locks)};
    return rows;
}

/* ---- the critical path ----------------------------------------------------------------------- */

/* A row: the path of locks->critical. */
struct path_cells {
    const struct locks_report *locks;
    struct critical_path of;
};

struct path_thread_cells {
    uint32_t tid;
    uint64_t ns;
};

static const struct column path_thread_columns[] = {FIELD("thread", path_thread_cells, tid),
                                                    FIELD("ns", path_thread_cells, ns)};
static const struct table path_threads_table =
    TABLE(path_thread_cells, "", "", path_thread_columns);

static struct table_rows path_thread_rows(const void *row)
{
    const struct path_cells *path = row;
    struct table_rows rows = table_rows__of(&path_threads_table);
    for (uint32_t i = 0; i < path->of.threads_ns.count; i++) {
        uint64_t ns = *VEC_AT(&path->of.threads_ns, uint64_t, i);
        if (ns)
            *(struct path_thread_cells *)table_rows__add(&rows) =
                (struct path_thread_cells){report__tid(path->locks->report, i), ns};
    }
    return rows;
}

struct path_lock_cells {
    uint64_t object;
    struct critical_lock of;
};

static const struct column path_lock_columns[] = {
    FIELD_AS(COLUMN_ADDRESS, "object", path_lock_cells, object),
    FIELD("acquisitions", path_lock_cells, of.acquisitions),
    FIELD("contended", path_lock_cells, of.contended),
    FIELD("wait_ns", path_lock_cells, of.wait_ns),
    FIELD("hold_ns", path_lock_cells, of.hold_ns),
};
static const struct table path_locks_table = TABLE(path_lock_cells, "", "", path_lock_columns);

static struct table_rows path_lock_rows(const void *row)
{
    const struct path_cells *path = row;
    const struct vec *objects = &path->of.objects;
    struct table_rows rows = table_rows__of(&path_locks_table);
    VEC_EACH (lock, &path->of.locks, struct critical_lock)
        *(struct path_lock_cells *)table_rows__add(&rows) = (struct path_lock_cells){
            lock->object < objects->count
                ? VEC_AT(objects, struct sync_object, lock->object)->address
                : UINT64_MAX,
            *lock};
    return rows;
}

static struct table_rows piece_rows(const void *row)
{
    return path_rows(((const struct path_cells *)row)->locks);
}

static const struct column path_columns[] = {
    FIELD("from_ns", path_cells, of.from_ns),
    FIELD("to_ns", path_cells, of.to_ns),
    FIELD("hand_over_ns", path_cells, of.hand_over_ns),
    FIELD("hand_overs", path_cells, of.hand_overs),
    FIELD("in_sections_ns", path_cells, of.in_sections_ns),
    FIELD("blocked_ns", path_cells, of.blocked_ns),
    FIELD_ROWS(COLUMN_LIST, "threads", path_thread_rows),
    FIELD_ROWS(COLUMN_LIST, "locks", path_lock_rows),
    FIELD_ROWS(COLUMN_LIST, "pieces", piece_rows),
};
static const struct table path_table = TABLE(path_cells, "", "", path_columns);

static struct table_rows path_row(const void *root)
{
    const struct locks_report *locks = locks_of(root);
    struct table_rows rows = table_rows__of(&path_table);
    if (locks->critical)
        *(struct path_cells *)table_rows__add(&rows) = (struct path_cells){locks, *locks->critical};
    return rows;
}

/* ---- the document ---------------------------------------------------------------------------- */

static struct table_rows rows_of_locks(const void *root)
{
    return lock_rows(locks_of(root), ((const struct document *)root)->rank);
}

static const struct column columns[] = {
    FIELD_SCHEMA("heurt.locks/1"),
    FIELD_COMMAND,
    FIELDS_OF_EXIT(document, run),
    FIELD_MACHINE,
    FIELD("wall_ns", document, result.wall_ns),
    FIELD("lifetime_ns", document, result.lifetime_sum_ns),
    FIELD("threads", document, threads),
    FIELD_ROWS(COLUMN_ONE, "filter", filter_row),
    FIELD_OBJECT(COLUMN_OBJECT, "all", document, result, all_table),
    FIELD_OBJECT(COLUMN_OBJECT, "pressure", document, result, pressure_table),
    FIELD_ROWS(COLUMN_LIST, "locks", rows_of_locks),
    FIELD_ROWS(COLUMN_LIST, "inversions", inversion_rows),
    FIELD_ROWS(COLUMN_ONE, "audit", audit_row),
    FIELD_ROWS(COLUMN_ONE, "path", path_row),
    FIELD_WARNINGS,
};
static const struct table document_table = TABLE(document, "", "", columns);

static void put_document(const struct locks_report *locks, size_t rank, const struct style *style,
                         FILE *out)
{
    (void)style;
    struct document root = {.run = run_cells__of(locks->report),
                            .locks = locks,
                            .rank = rank,
                            .threads = trace__threads(locks->report->trace)->count,
                            .result = *locks->result};
    root.run.warnings = &locks->result->warnings;
    document__put(&document_table, &root, out);
}

static void whole(const struct locks_report *locks, const struct style *style, FILE *out)
{
    put_document(locks, EVERY_ROW, style, out);
}

const struct locks_presenter locks_json = {"json", put_document, whole, whole};
