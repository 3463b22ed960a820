/* heurt.memory/1: the contract is in docs/heurt-memory.md; and the tables of memory. */
#include "analysis/memory/oracle.h"
#include "base/memory.h"
#include "format/sampled_lines.h"
#include "present/memory/answered_words.h"
#include "present/memory/counted_words.h"
#include "present/memory/memory_screens.h"
#include "present/memory/sharing_words.h"
#include "present/table/parts.h"
#include "present/table/table_format.h"
#include "present/table/table_source.h"

#include <stdlib.h>

/* ---- accesses -------------------------------------------------------------------------------- */

static const char *access__name_of(unsigned access)
{
    static const char *const names[] = {
        [HEURT_ACCESS_NONE] = "none",     [HEURT_ACCESS_READ] = "read",
        [HEURT_ACCESS_WRITE] = "write",   [HEURT_ACCESS_UPDATE] = "update",
        [HEURT_ACCESS_ATOMIC] = "atomic", [HEURT_ACCESS_SPIN] = "spin",
        [HEURT_ACCESS_TAKE] = "take",
    };
    return access <= HEURT_ACCESS_TAKE ? names[access] : "none";
}

struct memory_access_cells {
    uint64_t rank; /* of the object */
    uint32_t tid;
    uint64_t ns, samples, address, line, offset, bytes; /* offset: in the object; UINT64_MAX */
    unsigned access;
    const char *data;
    struct place_cells place;
};

static void add_access(struct table_rows *rows, const struct memory_report *shown,
                       const struct memory_object *object, uint64_t rank,
                       const struct line_access *access)
{
    const struct report *report = shown->report;
    uint32_t serial = trace__process_at(report->trace, object->process)->serial;
    struct memory_access_cells *row = table_rows__add(rows);
    *row = (struct memory_access_cells){
        .rank = rank,
        .tid = report__tid(report, access->thread),
        .ns = access->sampled_ns,
        .samples = access->samples,
        .address = access->address,
        .line = access->address & ~(uint64_t)(CACHE_LINE_BYTES - 1),
        .offset = access->object ? access->address - access->object->address : UINT64_MAX,
        .bytes = access->bytes,
        .access = access->access,
        .data = table_rows__keep(rows,
                                 access__data(report, object->process, &object->accesses, access)),
        .place = place_cells__of_site(rows, report, serial, access->instruction)};
}

#define ACCESS_FLAT(key, member, title, unit, help) \
    FLAT(key, memory_access_cells, member, title, unit, help)

static const struct column access_columns[] = {
    ACCESS_FLAT("rank", rank, "#", "", "place of the object among the objects, from 1"),
    COLUMN(memory_access_cells, tid, "thread", "", "number of the thread"),
    COLUMN_KEYED("time_ns", memory_access_cells, ns, "time", "ns",
                 "CPU time that its samples stand for"),
    COLUMN(memory_access_cells, samples, NULL, "", "how many there are"),
    COLUMN_NAMED("access", memory_access_cells, access, access__name_of, "does",
                 "read, write, update, atomic, spin or take"),
    COLUMN(memory_access_cells, data, "data", "", "field, element or bytes of the object"),
    COLUMN_AS(COLUMN_ADDRESS, memory_access_cells, address, NULL, "", "of the first byte"),
    COLUMN_AS(COLUMN_ADDRESS, memory_access_cells, line, NULL, "", "the cache line that it is on"),
    COLUMN(memory_access_cells, offset, NULL, "", "in the object that was allocated"),
    COLUMN(memory_access_cells, bytes, NULL, "", "that are accessed"),
    FIELD_OBJECT("place", memory_access_cells, place, site_table),
    ACCESS_FLAT("function", place.function, "in", "", "function that accesses"),
    ACCESS_FLAT("file", place.file, NULL, "", "its source file"),
    ACCESS_FLAT("line_number", place.line, NULL, "", "line in it"),
};
static const struct table accesses_table =
    TABLE(memory_access_cells, "memory_accesses",
          "a row an instruction, address and thread that was sampled at memory", access_columns);

/* ---- objects --------------------------------------------------------------------------------- */

struct memory_cells {
    const struct memory_report *shown;
    const struct memory_object *of;
    uint64_t rank;
    const char *title;
    uint64_t threads, read_ns, written_ns, born_ns;
    uint32_t first_tid;
    uint64_t shared_from_ns; /* UINT64_MAX: it was not */
    const char *sharing;     /* as counted; NULL: nothing is */
    double share;
    struct answers answers, remote;
    double latency_cycles;
    struct place_cells born;
    struct memory_object figures;
};

static struct table_rows accesses_of(const void *row)
{
    const struct memory_cells *cells = row;
    struct table_rows rows = table_rows__of(&accesses_table);
    VEC_EACH (access, &cells->of->accesses, const struct line_access)
        add_access(&rows, cells->shown, cells->of, cells->rank, access);
    return rows;
}

struct memory_thread_cells {
    uint32_t tid;
    uint64_t read_ns, written_ns, reads, writes;
};
static const struct table thread_table = OBJECT(
    memory_thread_cells, FIELDS(memory_thread_cells, tid, read_ns, written_ns, reads, writes));

static struct table_rows threads_of(const void *row)
{
    const struct memory_cells *cells = row;
    struct table_rows rows = table_rows__of(&thread_table);
    VEC_EACH (thread, &cells->of->threads, const struct memory_thread)
        TABLE_ROW(&rows, memory_thread_cells,
                  .tid = report__tid(cells->shown->report, thread->thread),
                  .read_ns = thread->read_ns, .written_ns = thread->written_ns,
                  .reads = thread->reads, .writes = thread->writes);
    return rows;
}

static struct table_rows counts_of(const void *row)
{
    const struct memory_cells *cells = row;
    return counted_rows(cells->shown, cells->of, cells->rank);
}

static struct table_rows answers_of(const void *row)
{
    const struct memory_cells *cells = row;
    return answered__rows(&cells->of->answered);
}

static const struct column object_columns[] = {
    COLUMN(memory_cells, rank, "#", "", "place among the objects, from 1"),
    COLUMN_NAMED("kind", memory_cells, figures.kind, memory_kind__name, "memory",
                 "heap, mapping, static, stack, shared memory, or memory that nothing is told of"),
    COLUMN(memory_cells, title, "object", "", "what it is"),
    COLUMN_KEYED("time_ns", memory_cells, figures.ns, "time", "ns",
                 "CPU time that samples at it stand for"),
    COLUMN(memory_cells, share, "share", "share", "of all sampled time"),
    COLUMN_KEYED("samples", memory_cells, figures.samples, NULL, "", "how many there are"),
    COLUMN(memory_cells, read_ns, NULL, "ns", "of the time, reading"),
    COLUMN(memory_cells, written_ns, "writing", "ns", "of the time, writing"),
    COLUMN_KEYED("shared_ns", memory_cells, figures.shared_ns, NULL, "ns",
                 "of the time, at lines that several threads use and one writes"),
    COLUMN_KEYED("lost_ns", memory_cells, figures.lost_ns, "lost", "ns",
                 "by sharing of its cache lines, about"),
    FLAT("threads", memory_cells, threads, "threads", "", "how many were sampled at it"),
    COLUMN_KEYED("objects", memory_cells, figures.objects, NULL, "",
                 "of that place that were sampled; 0: not known"),
    COLUMN_KEYED("bytes", memory_cells, figures.bytes, "bytes", "", "of the first of them"),
    COLUMN(memory_cells, born_ns, NULL, "ns", "since the run's start, when that was allocated"),
    COLUMN(memory_cells, first_tid, NULL, "", "thread that was sampled at it first"),
    COLUMN(memory_cells, shared_from_ns, NULL, "ns",
           "since the run's start, when a second thread was sampled at it first"),
    COLUMN_KEYED("before_sharing_ns", memory_cells, figures.first.before_ns, NULL, "ns",
                 "of the time, before that"),
    FIELD_OPTIONAL("born", memory_cells, born, site_table),
    FLAT("born_function", memory_cells, born.function, "made in", "", "function that allocated it"),
    FLAT("born_file", memory_cells, born.file, NULL, "", "its source file"),
    FLAT("born_line", memory_cells, born.line, NULL, "", "line in it"),
    COLUMN_KEYED("reads", memory_cells, figures.counted.reads, NULL, "",
                 "accesses that the program counted (libheurt-access.so)"),
    COLUMN_KEYED("writes", memory_cells, figures.counted.writes, NULL, "",
                 "likewise; an update is a read and a write"),
    COLUMN(memory_cells, sharing, NULL, "",
           "what threads do at most of its lines, as counted: private, read-only, false sharing, "
           "true sharing"),
    COLUMN_KEYED("answered", memory_cells, answers.samples, NULL, "",
                 "samples of which the processor told what answered them"),
    COLUMN_KEYED("remote_ns", memory_cells, remote.ns, NULL, "ns",
                 "of the time, answered by another node's memory or cache"),
    COLUMN(memory_cells, latency_cycles, NULL, "cycles",
           "from an access to its answer, on the average, as the processor tells it"),
    FIELD_LIST("answers", answers_of),
    FIELD_LIST("threads", threads_of),
    FIELD_LIST("accesses", accesses_of),
    FIELD_LIST("counts", counts_of),
};
static const struct table objects_table = TABLE(
    memory_cells, "memory_objects", "a row an object that threads were sampled at", object_columns);

static void add_object(struct table_rows *rows, const struct memory_report *shown,
                       const struct memory_object *object, uint64_t rank)
{
    const struct report *report = shown->report;
    uint32_t serial = trace__process_at(report->trace, object->process)->serial;
    struct memory_cells *row = table_rows__add(rows);
    *row = (struct memory_cells){
        .shown = shown,
        .of = object,
        .rank = rank,
        .title = table_rows__keep(rows, memory_object__title(report, object)),
        .threads = object->threads.count,
        .born = place_cells__of_site(rows, report, serial, object->site),
        .born_ns = object->site ? object->born_ns : UINT64_MAX,
        .first_tid = report__tid(report, object->first.thread),
        .shared_from_ns = object->first.second == UINT32_MAX ? UINT64_MAX : object->first.shared_ns,
        .sharing = shown->use->counted.is_told
                       ? counted_kind__name(counted_object__kind(&object->counted))
                       : NULL,
        .share = shown->use->all_ns ? (double)object->ns / (double)shown->use->all_ns : 0,
        .answers = answered__all(&object->answered),
        .remote = answered__remote(&object->answered),
        .figures = *object};
    row->latency_cycles = answers__latency(&row->answers);
    VEC_EACH (thread, &object->threads, const struct memory_thread) {
        row->read_ns += thread->read_ns;
        row->written_ns += thread->written_ns;
    }
}

struct table_rows memory_rows(const struct memory_report *shown)
{
    struct table_rows rows = table_rows__of(&objects_table);
    uint64_t rank = 0;
    if (shown->use)
        VEC_EACH (object, &shown->use->objects, const struct memory_object)
            if (++rank == shown->rank || !shown->rank)
                add_object(&rows, shown, object, rank);
    return rows;
}

static struct table_rows rows_of_objects(const struct table_subject *subject)
{
    return memory_rows(subject->memory);
}

static struct table_rows rows_of_accesses(const struct table_subject *subject)
{
    struct table_rows rows = table_rows__of(&accesses_table);
    uint64_t rank = 0;
    if (subject->memory->use)
        VEC_EACH (object, &subject->memory->use->objects, const struct memory_object) {
            rank++;
            VEC_EACH (access, &object->accesses, const struct line_access)
                add_access(&rows, subject->memory, object, rank, access);
        }
    return rows;
}

const struct table_source memory_objects_source = {
    .table = &objects_table, .of = MADE_OF(&memory_analysis), .rows = rows_of_objects};
const struct table_source memory_accesses_source = {
    .table = &accesses_table, .of = MADE_OF(&memory_analysis), .rows = rows_of_accesses};

/* ---- the document ---------------------------------------------------------------------------- */

struct memory_document {
    struct run_cells run;
    const struct memory_report *shown;
    struct memory_use figures;
};

static struct table_rows object_rows(const void *root)
{
    return memory_rows(((const struct memory_document *)root)->shown);
}

/* What was not asked for is empty. */
static struct table_rows view_rows(const void *root, enum memory_view view)
{
    const struct memory_report *shown = ((const struct memory_document *)root)->shown;
    return shown->view == view ? memory_view__rows(shown, view) : table_rows__of(NULL);
}

static struct table_rows line_rows(const void *root)
{
    return view_rows(root, MEMORY_LINES);
}

static struct table_rows page_rows(const void *root)
{
    return view_rows(root, MEMORY_PAGES);
}

static struct table_rows flow_rows(const void *root)
{
    return view_rows(root, MEMORY_FLOW);
}

static const struct table document_table =
    OBJECT(memory_document, FIELD_SCHEMA("heurt.memory/1"), FIELD_COMMAND,
           FIELDS_OF_EXIT(memory_document, run), FIELD_MACHINE,
           FIELD("wall_ns", memory_document, run.wall_ns),
           FIELD("samples", memory_document, figures.samples),
           FIELD("period_ns", memory_document, figures.period_ns),
           FIELD("sampled_ns", memory_document, figures.all_ns),
           FIELD("at_memory_ns", memory_document, figures.memory_ns),
           FIELD("accesses_by", memory_document, figures.told_by),
           FIELD("unknown_address_ns", memory_document, figures.unknown_ns),
           FIELD("tells_allocations", memory_document, figures.tells_allocations),
           FIELD("allocations", memory_document, figures.allocations),
           FIELD("counted", memory_document, figures.counted.is_told),
           FIELD("reads", memory_document, figures.counted.reads),
           FIELD("writes", memory_document, figures.counted.writes),
           FIELD("missed", memory_document, figures.counted.missed),
           FIELD("untold_ns", memory_document, figures.untold_ns),
           FIELD("may_allocate_itself", memory_document, figures.may_allocate_itself),
           FIELD_LIST("objects", object_rows), FIELD_LIST("lines", line_rows),
           FIELD_LIST("pages", page_rows), FIELD_LIST("flow", flow_rows), FIELD_WARNINGS);

struct oracle_document {
    struct run_cells run;
    const struct memory_oracle *of;
    struct memory_oracle figures;
};

static struct table_rows rows_of_document(const void *root)
{
    return oracle_rows(((const struct oracle_document *)root)->of);
}

static const struct table oracle_document_table =
    OBJECT(oracle_document, FIELD_SCHEMA("heurt.memory_oracle/1"), FIELD_COMMAND,
           FIELD("distance", oracle_document, figures.distance),
           FIELD("line_distance", oracle_document, figures.line_distance),
           FIELD("judged_ns", oracle_document, figures.judged_ns),
           FIELD("unjudged_ns", oracle_document, figures.unjudged_ns),
           FIELD("stack_ns", oracle_document, figures.stack_ns),
           FIELD("samples", oracle_document, figures.samples),
           FIELD_LIST("objects", rows_of_document), FIELD_WARNINGS);

static void put_oracle_json(const struct memory_report *shown, FILE *out)
{
    document__put(
        &oracle_document_table,
        &(struct oracle_document){run_cells__of(shown->report), shown->oracle, *shown->oracle},
        out);
}

static void put_json(const struct memory_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    if (shown->oracle) {
        put_oracle_json(shown, out);
        return;
    }
    document__put(
        &document_table,
        &(struct memory_document){run_cells__of(shown->report), shown,
                                  shown->use ? *shown->use : (struct memory_use){.samples = 0}},
        out);
}

static void put_csv(const struct memory_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    table_rows__put_csv(shown->oracle                   ? oracle_rows(shown->oracle)
                        : shown->view == MEMORY_OBJECTS ? memory_rows(shown)
                                                        : memory_view__rows(shown, shown->view),
                        out);
}

const struct memory_presenter memory_json = {"json", put_json};
const struct memory_presenter memory_csv = {"csv", put_csv};
