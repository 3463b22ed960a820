/* heurt.locks/1: the contract is in docs/heurt-locks.md. */
#include "present/locks/locks_shared.h"
#include "present/locks/locks_tables.h"
#include "present/table/table_source.h"

struct filter_cells {
    struct locks_filter of;
    uint64_t to_ns;
};

struct audit_cells {
    const struct locks_report *locks;
    bool holds;
};

/* The root: what its members are made of. */
struct locks_document {
    struct run_cells run;
    const struct locks_report *locks;
    size_t rank; /* EVERY_ROW, or the only lock's */
    uint64_t threads;
    struct filter_cells filter;
    struct audit_cells audit;
    struct locks_result result; /* its figures as they are */
};

static const struct locks_report *locks_of(const void *root)
{
    return ((const struct locks_document *)root)->locks;
}

/* ---- what was asked for, and all locks together ---------------------------------------------- */

static const struct table filter_table =
    OBJECT(filter_cells, FIELDS_OF(filter_cells, of, lock, site, thread, min_wait_ns, from_ns),
           FIELD("to_ns", filter_cells, to_ns));

static const struct table all_table = OBJECT(
    locks_result,
    FIELDS(locks_result, acquisitions, contended, wait_ns, wait_share, hold_sum_ns,
           hold_covered_ns),
    FIELD_OBJECT("on_path", locks_result, on_path, on_path_table),
    FIELDS(locks_result, path_ns, path_blocked_ns), FIELD("sampled", locks_result, is_sampled),
    FIELDS(locks_result, drawn, drawn_of, hold_error_ns));

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

static const struct table pressure_table =
    OBJECT(locks_result, FIELDS(locks_result, step_ns, steps),
           FIELD("from_ns", locks_result, steps_from_ns),
           FIELD_LIST("acquiring_ns", acquiring_rows), FIELD_LIST("running_ns", running_rows));

/* ---- inversions ------------------------------------------------------------------------------ */

struct order_cells {
    uint64_t held, taken; /* ranks */
    uint64_t times;
    struct place_cells place;
};

static const struct table orders_table =
    OBJECT(order_cells, FIELDS(order_cells, held, taken, times),
           FIELD_OPTIONAL("place", order_cells, place, site_table));

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
        TABLE_ROW(&rows, order_cells, held + 1ull, taken + 1ull,
                  *VEC_AT(&cells->of->times, uint64_t, i),
                  place_cells__of_site(&rows, cells->locks->report, process,
                                       *VEC_AT(&cells->of->sites, uint64_t, i)));
    }
    return rows;
}

static const struct table inversions_table =
    OBJECT(inversion_cells, FIELDS(inversion_cells, guarded, one_thread),
           FIELD_LIST("orders", order_rows));

static struct table_rows inversion_rows(const void *root)
{
    const struct locks_report *locks = locks_of(root);
    struct table_rows rows = table_rows__of(&inversions_table);
    VEC_EACH (inversion, &locks->result->inversions, struct lock_inversion)
        TABLE_ROW(&rows, inversion_cells, locks, inversion, inversion->guarded,
                  inversion->one_thread);
    return rows;
}

/* ---- whether it adds up ---------------------------------------------------------------------- */

static struct table_rows check_rows(const void *row)
{
    return lock_check_rows(((const struct audit_cells *)row)->locks);
}

static const struct table audit_table =
    OBJECT(audit_cells, FIELD("holds", audit_cells, holds), FIELD_LIST("checks", check_rows));

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

static const struct table path_threads_table = OBJECT(
    path_thread_cells, FIELD("thread", path_thread_cells, tid), FIELD("ns", path_thread_cells, ns));

static struct table_rows path_thread_rows(const void *row)
{
    const struct path_cells *path = row;
    struct table_rows rows = table_rows__of(&path_threads_table);
    for (uint32_t i = 0; i < path->of.threads_ns.count; i++) {
        uint64_t ns = *VEC_AT(&path->of.threads_ns, uint64_t, i);
        if (ns)
            TABLE_ROW(&rows, path_thread_cells, report__tid(path->locks->report, i), ns);
    }
    return rows;
}

struct path_lock_cells {
    uint64_t object;
    struct critical_lock of;
};

static const struct table path_locks_table =
    OBJECT(path_lock_cells, FIELD_AS(COLUMN_ADDRESS, "object", path_lock_cells, object),
           FIELDS_OF(path_lock_cells, of, acquisitions, contended, wait_ns, hold_ns));

static struct table_rows path_lock_rows(const void *row)
{
    const struct path_cells *path = row;
    const struct vec *objects = &path->of.objects;
    struct table_rows rows = table_rows__of(&path_locks_table);
    VEC_EACH (lock, &path->of.locks, struct critical_lock)
        TABLE_ROW(&rows, path_lock_cells,
                  lock->object < objects->count
                      ? VEC_AT(objects, struct sync_object, lock->object)->address
                      : UINT64_MAX,
                  *lock);
    return rows;
}

static struct table_rows piece_rows(const void *row)
{
    return path_rows(((const struct path_cells *)row)->locks);
}

static const struct table path_table = OBJECT(
    path_cells,
    FIELDS_OF(path_cells, of, from_ns, to_ns, hand_over_ns, hand_overs, in_sections_ns, blocked_ns),
    FIELD_LIST("threads", path_thread_rows), FIELD_LIST("locks", path_lock_rows),
    FIELD_LIST("pieces", piece_rows));

static struct table_rows path_row(const void *root)
{
    const struct locks_report *locks = locks_of(root);
    struct table_rows rows = table_rows__of(&path_table);
    if (locks->critical)
        TABLE_ROW(&rows, path_cells, locks, *locks->critical);
    return rows;
}

/* ---- the document ---------------------------------------------------------------------------- */

static struct table_rows rows_of_locks(const void *root)
{
    return lock_rows(locks_of(root), ((const struct locks_document *)root)->rank);
}

static const struct table document_table =
    OBJECT(locks_document, FIELD_SCHEMA("heurt.locks/1"), FIELD_COMMAND,
           FIELDS_OF_EXIT(locks_document, run), FIELD_MACHINE,
           FIELD("wall_ns", locks_document, result.wall_ns),
           FIELD("lifetime_ns", locks_document, result.lifetime_sum_ns),
           FIELD("threads", locks_document, threads),
           FIELD_OBJECT("filter", locks_document, filter, filter_table),
           FIELD_OBJECT("all", locks_document, result, all_table),
           FIELD_OBJECT("pressure", locks_document, result, pressure_table),
           FIELD_LIST("locks", rows_of_locks), FIELD_LIST("inversions", inversion_rows),
           FIELD_OBJECT("audit", locks_document, audit, audit_table), FIELD_ONE("path", path_row),
           FIELD_WARNINGS);

struct json_object *locks_document__new(const struct locks_report *locks, size_t rank)
{
    struct locks_document root = {
        .run = run_cells__of(locks->report),
        .locks = locks,
        .rank = rank,
        .threads = trace__threads(locks->report->trace)->count,
        .filter = {*locks->filter, locks->filter->to_ns ? locks->filter->to_ns : UINT64_MAX},
        .audit = {locks, locks__add_up(locks)},
        .result = *locks->result};
    root.run.warnings = &locks->result->warnings;
    return document__new(&document_table, &root);
}

static void put_document(const struct locks_report *locks, size_t rank, const struct style *style,
                         FILE *out)
{
    (void)style;
    json__put(locks_document__new(locks, rank), out);
}

static void whole(const struct locks_report *locks, const struct style *style, FILE *out)
{
    put_document(locks, EVERY_ROW, style, out);
}

const struct locks_presenter locks_json = {"json", put_document, whole, whole};
