/* heurt.report/1: the contract is in docs/heurt-report.md. */
#include "present/report/unseen.h"
#include "present/table/table_source.h"

#include <math.h>
#include <stdlib.h>

/* ---- what was looked at ---------------------------------------------------------------------- */

static const struct table runtimes_table =
    OBJECT(runtime_kind, FIELDS(runtime_kind, name, seen, unseen));

struct coverage_document {
    const struct report *report;
    struct coverage coverage;
    uint64_t requested, instrumented, markers, events_lost;
    const char *choice;
    double unseen;
};

static struct table_rows runtime_rows(const void *row)
{
    struct table_rows rows = table_rows__of(&runtimes_table);
    const struct runtime_kind *kind = NULL;
    while ((kind = runtime__next(((const struct coverage_document *)row)->report, kind)))
        vec__push(&rows.rows, kind);
    return rows;
}

static const struct table refused_table =
    OBJECT(coverage_row, FIELDS(coverage_row, function, module, reason));
static const struct table functions_table =
    OBJECT(coverage_row, FIELDS(coverage_row, function, module));

static struct table_rows rows_of(const struct table *table, const struct vec *found)
{
    struct table_rows rows = table_rows__of(table);
    VEC_EACH (row, found, struct coverage_row)
        vec__push(&rows.rows, row);
    return rows;
}

static struct table_rows refused_rows(const void *row)
{
    return rows_of(&refused_table, &((const struct coverage_document *)row)->coverage.refused);
}

static struct table_rows function_rows(const void *row)
{
    return rows_of(&functions_table,
                   &((const struct coverage_document *)row)->coverage.instrumented);
}

static const struct table coverage_table =
    OBJECT(coverage_document,
           FIELDS(coverage_document, requested, instrumented, markers, events_lost, choice, unseen),
           FIELD_LIST("runtimes", runtime_rows), FIELD_LIST("refused", refused_rows),
           FIELD_LIST("functions", function_rows));

/* coverage__free its coverage. */
static struct coverage_document coverage_of(const struct report *report)
{
    struct coverage coverage = coverage__collect(report);
    return (struct coverage_document){
        .report = report,
        .coverage = coverage,
        .requested = coverage.instrumented.count + coverage.refused.count,
        .instrumented = coverage.instrumented.count,
        .markers = coverage.markers,
        .events_lost = trace__events_lost(trace__whole(report->trace) ? trace__whole(report->trace)
                                                                      : report->trace),
        .choice = trace__meta(report->trace, "choice"),
        .unseen = profile__unseen(report->profile)};
}

/* ---- what threads did ------------------------------------------------------------------------ */

/* What the kernel's records tell is not known without them; what they would have told apart is
 * "rest". All that is known adds up to the lifetime. */
struct known_cells {
    uint64_t ns[COMPONENTS], rest;
};

#define KNOWN(component, key, help) FIELD(key, known_cells, ns[component])
static const struct table known_table =
    OBJECT(known_cells, COMPONENT_COLUMNS(KNOWN), KNOWN(COMPONENT_RUNNING, "running", ""),
           FIELD("rest", known_cells, rest));

static struct known_cells known_of(const uint64_t ns[COMPONENTS], bool has_kernel)
{
    struct known_cells known = {.rest = has_kernel ? UINT64_MAX : ns[COMPONENT_RUNNING]};
    for (int c = 0; c < COMPONENTS; c++) {
        bool of_kernel =
            c == COMPONENT_RUNNING || c == COMPONENT_RUNNABLE || c == COMPONENT_PAGE_FAULT;
        bool is_known = has_kernel || !of_kernel || (c != COMPONENT_RUNNING && ns[c]);
        known.ns[c] = is_known ? ns[c] : UINT64_MAX;
    }
    return known;
}

struct thread_time_cells {
    uint64_t threads;
    double work;
    uint64_t lifetime_ns;
    struct known_cells components;
};

static const struct table thread_time_table =
    OBJECT(thread_time_cells, FIELDS(thread_time_cells, threads, work, lifetime_ns),
           FIELD_OBJECT("components_ns", thread_time_cells, components, known_table));

/* ---- the run --------------------------------------------------------------------------------- */

struct kernel_cells {
    bool records;
    uint64_t threads_without, lost;
    const char *why, *tracepoints;
};

/* The root: what its members are made of. */
struct report_document {
    struct run_cells run;
    struct coverage_document coverage;
    struct kernel_cells kernel;
    struct thread_time_cells thread_time;
    size_t rank; /* EVERY_ROW, or the only class's */
    struct profile of;
    uint64_t cpu_ns, overhead_ns;
    double replayed_share;
    const char *classes_by;
    bool is_aggregated;
};

static const struct report *report_of(const void *root)
{
    return ((const struct report_document *)root)->run.report;
}

/* ---- how it was recorded --------------------------------------------------------------------- */

static const struct table overhead_table =
    OBJECT(report_document, FIELD("events", report_document, of.events),
           FIELD("estimated_ns", report_document, overhead_ns));

static const struct table kernel_table =
    OBJECT(kernel_cells, FIELDS(kernel_cells, records, threads_without, lost, why, tracepoints));

/* ---- the part -------------------------------------------------------------------------------- */

struct part_cells {
    const struct report *report;
    uint64_t from_ns, to_ns, run_ns;
};

static struct table_rows part_threads(const void *row)
{
    struct table_rows rows = table_rows__of(&numbers_table);
    const struct report *report = ((const struct part_cells *)row)->report;
    if (trace__has_asides(report->trace))
        VEC_EACH (thread, &report->profile->threads, struct profile_thread)
            *(uint64_t *)table_rows__add(&rows) =
                trace__thread_at(report->trace, thread->thread)->tid;
    return rows;
}

static const struct table part_table = OBJECT(
    part_cells, FIELDS(part_cells, from_ns, to_ns, run_ns), FIELD_LIST("threads", part_threads));

static struct table_rows part_row(const void *root)
{
    const struct trace *trace = report_of(root)->trace, *whole = trace__whole(trace) ?: trace;
    struct part_cells cells = {.report = report_of(root), .run_ns = trace__wall_ns(whole)};
    trace__bounds_ns(trace, &cells.from_ns, &cells.to_ns);
    return table_rows__if(report__is_of_part(report_of(root)), &part_table, &cells);
}

/* ---- whether it adds up ---------------------------------------------------------------------- */

static struct table_rows audit_row(const void *root)
{
    return profile__audit_row(report_of(root)->profile);
}

struct check_cells {
    const char *name;
    bool known, holds;
    uint64_t ours, counted;
};

static struct table_rows holds_row(const void *row)
{
    static const struct column columns[] = {FIELD("", check_cells, holds)};
    static const struct table table = TABLE(check_cells, "", "", columns);
    return table_rows__if(((const struct check_cells *)row)->known, &table, row);
}

static const struct table checks_table =
    OBJECT(check_cells, FIELD("name", check_cells, name), FIELD_ONE("holds", holds_row),
           FIELDS(check_cells, ours, counted));

static struct table_rows check_rows(const void *root)
{
    struct table_rows rows = table_rows__of(&checks_table);
    for (int i = 0; i < PROFILE_CHECKS; i++) {
        const struct profile_check *check = &report_of(root)->profile->checks[i];
        TABLE_ROW(&rows, check_cells, check__name((enum profile_check_name)i), check->known,
                  check->holds, check->known ? check->ours : UINT64_MAX,
                  check->known ? check->counted : UINT64_MAX);
    }
    return rows;
}

struct thread_cells {
    uint32_t tid, pid;
    const char *name;
    struct profile_thread of; /* its figures as they are */
    struct known_cells components;
    uint64_t kernel_lost;
    bool ended;
};

static const struct table threads_of_run_table =
    OBJECT(thread_cells, FIELDS(thread_cells, tid, name, pid),
           FIELDS_OF(thread_cells, of, lifetime_ns, cpu_ns, runnable_ns),
           FIELD_OBJECT("components_ns", thread_cells, components, known_table),
           FIELD("kernel_lost", thread_cells, kernel_lost),
           FIELD("events", thread_cells, of.events), FIELD("ended", thread_cells, ended));

static struct table_rows thread_rows(const void *root)
{
    const struct report *report = report_of(root);
    const struct vec *threads = trace__threads(report->trace);
    struct table_rows rows = table_rows__of(&threads_of_run_table);
    VEC_EACH (row, &report->profile->threads, struct profile_thread) {
        if (row->thread >= threads->count)
            continue;
        const struct trace_thread *thread = VEC_AT(threads, struct trace_thread, row->thread);
        TABLE_ROW(&rows, thread_cells, thread->tid, thread->pid, thread->name, *row,
                  known_of(row->component_ns, row->has_kernel),
                  row->has_kernel ? row->kernel_lost : UINT64_MAX, thread->ended);
    }
    return rows;
}

/* ---- the document ---------------------------------------------------------------------------- */

static struct table_rows classes_of(const void *root)
{
    return class_rows(report_of(root), ((const struct report_document *)root)->rank);
}

/* Not where one class is asked for. */
static struct table_rows long_functions_of(const void *root)
{
    return ((const struct report_document *)root)->rank ? table_rows__of(NULL)
                                                        : long_function_rows(report_of(root));
}

static struct table_rows findings_of(const void *root)
{
    return finding_rows(report_of(root));
}

static const struct table document_table = OBJECT(
    report_document, FIELD_SCHEMA("heurt.report/1"), FIELD_COMMAND,
    FIELDS_OF_EXIT(report_document, run), FIELD_ONE("part", part_row),
    FIELD("wall_ns", report_document, of.wall_ns),
    FIELD("lifetime_ns", report_document, of.lifetime_sum_ns),
    FIELD("cpu_ns", report_document, cpu_ns), FIELD("threshold", report_document, of.threshold),
    FIELD("replayed_share", report_document, replayed_share),
    FIELDS_OF(report_document, of, no_gains, events),
    FIELD("classes_by", report_document, classes_by),
    FIELD("aggregated", report_document, is_aggregated), FIELD_MACHINE,
    FIELD_OBJECT("overhead", report_document, run, overhead_table),
    FIELD_OBJECT("kernel", report_document, kernel, kernel_table), FIELD_ONE("audit", audit_row),
    FIELD_LIST("checks", check_rows),
    FIELD_OBJECT("coverage", report_document, coverage, coverage_table), FIELD_WARNINGS,
    FIELD_OBJECT("thread_time", report_document, thread_time, thread_time_table),
    FIELD_LIST("threads", thread_rows), FIELD_LIST("classes", classes_of),
    FIELD_LIST("long_functions", long_functions_of), FIELD_LIST("findings", findings_of));

struct json_object *report_document__new(const struct report *report, size_t rank)
{
    const struct profile *profile = report->profile;
    size_t unknown, without = profile__without_kernel(profile);
    uint64_t sums[COMPONENTS];
    char *why = report__why_no_kernel(report);
    profile__component_ns(profile, sums);
    uint64_t cpu_ns = profile__cpu_ns(profile, report->trace, &unknown);
    struct report_document root = {
        .run = run_cells__of(report),
        .coverage = coverage_of(report),
        .kernel = {!why && profile->threads.count, without,
                   profile__kernel_lost(profile, report->trace), why,
                   trace__meta(report->trace, "tracepoints")},
        .thread_time = {profile->threads.count, profile__work(profile, report->trace),
                        profile->lifetime_sum_ns, known_of(sums, without == 0)},
        .rank = rank,
        .of = *profile,
        .cpu_ns = unknown ? UINT64_MAX : cpu_ns,
        .overhead_ns = profile__recording_ns(profile, report->trace) ?: UINT64_MAX,
        .replayed_share = profile->replayed_share > 0 ? profile->replayed_share : COLUMN_UNKNOWN,
        .classes_by = profile->view == CLASSES_BY_STRUCTURE ? "structure" : "site",
        .is_aggregated = trace__is_aggregated(report->trace),
    };
    struct json_object *document = document__new(&document_table, &root);
    coverage__free(&root.coverage.coverage);
    free(why);
    return document;
}

static void put_document(const struct report *report, size_t rank, const struct style *style,
                         FILE *out)
{
    (void)style;
    json__put(report_document__new(report, rank), out);
}

static void whole(const struct report *report, const struct style *style, FILE *out)
{
    put_document(report, EVERY_ROW, style, out);
}

const struct presenter presenter_json = {"json", put_document, whole, whole};
