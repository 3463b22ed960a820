/* Cache lines, pages and time slices of memory as tables. */
#include "base/memory.h"
#include "present/memory/memory_parts.h"
#include "present/table/parts.h"
#include "present/table/table_source.h"

#include <stdlib.h>

#define SLICES 100u /* of the time, in the table of the flow */

/* ---- cache lines ----------------------------------------------------------------------------- */

/* Bytes side by side with which a thread did the same. */
struct memory_line_cells {
    uint64_t rank; /* of the object */
    uint64_t line;
    uint32_t tid;
    uint64_t byte, bytes;
    uint64_t read_ns, written_ns;
    bool met;
};

static const struct column line_columns[] = {
    COLUMN(memory_line_cells, rank, "#", "", "place of the object among the objects, from 1"),
    COLUMN_AS(COLUMN_ADDRESS, memory_line_cells, line, "line", "", "address of the cache line"),
    COLUMN(memory_line_cells, tid, "thread", "", "number of the thread"),
    COLUMN(memory_line_cells, byte, "byte", "", "the first of some bytes of the line, from 0"),
    COLUMN(memory_line_cells, bytes, "bytes", "", "how many of them"),
    COLUMN(memory_line_cells, read_ns, "reading", "ns", "CPU time of samples that read them"),
    COLUMN(memory_line_cells, written_ns, "writing", "ns", "CPU time of samples that write them"),
    COLUMN(memory_line_cells, met, NULL, "",
           "whether one thread writes them and another one uses them"),
};
static const struct table lines_table =
    TABLE(memory_line_cells, "memory_lines",
          "a row some bytes of a cache line that a thread was sampled at: of all objects, lines "
          "that several threads use and one writes",
          line_columns);

static bool is_same(const struct memory_line *line, const struct line_thread *thread, size_t a,
                    size_t b)
{
    return thread->read_ns[a] == thread->read_ns[b] &&
           thread->written_ns[a] == thread->written_ns[b] &&
           (line->met >> a & 1) == (line->met >> b & 1);
}

static void add_bytes(struct table_rows *rows, const struct report *report,
                      const struct memory_line *line, const struct line_thread *thread)
{
    for (size_t b = 0, next; b < MEMORY_LINE_BYTES; b = next) {
        for (next = b + 1; next < MEMORY_LINE_BYTES && is_same(line, thread, b, next);)
            next++;
        if (thread->read_ns[b] || thread->written_ns[b])
            TABLE_ROW(rows, memory_line_cells, .rank = line->object + 1, .line = line->address,
                      .tid = report__tid(report, thread->thread), .byte = b, .bytes = next - b,
                      .read_ns = thread->read_ns[b], .written_ns = thread->written_ns[b],
                      .met = line->met >> b & 1);
    }
}

static struct table_rows line_rows(const struct memory_report *shown)
{
    struct table_rows rows = table_rows__of(&lines_table);
    struct memory_lines lines = memory_lines__of(shown->use, memory_report__choice(shown));
    VEC_EACH (line, &lines.lines, const struct memory_line)
        VEC_EACH (thread, &line->threads, const struct line_thread)
            add_bytes(&rows, shown->report, line, thread);
    memory_lines__free(&lines);
    return rows;
}

/* ---- pages ----------------------------------------------------------------------------------- */

struct memory_page_cells {
    uint64_t rank;
    uint32_t tid;
    struct memory_page figures;
};

static const struct column page_columns[] = {
    COLUMN(memory_page_cells, rank, "#", "", "place of the object among the objects, from 1"),
    COLUMN_WHOLE("page", COLUMN_ADDRESS, memory_page_cells, figures.address, "page", "",
                 "address of the page of 4 KiB"),
    COLUMN(memory_page_cells, tid, "thread", "", "number of the thread"),
    COLUMN_KEYED("samples", memory_page_cells, figures.samples, "samples", "",
                 "how many there are"),
    COLUMN_KEYED("time_ns", memory_page_cells, figures.ns, "time", "ns",
                 "CPU time that they stand for"),
    COLUMN_KEYED("written_ns", memory_page_cells, figures.written_ns, "writing", "ns",
                 "of that, writing"),
};
static const struct table pages_table =
    TABLE(memory_page_cells, "memory_pages",
          "a row a page of an object and a thread that was sampled there", page_columns);

static struct table_rows page_rows(const struct memory_report *shown)
{
    struct table_rows rows = table_rows__of(&pages_table);
    struct vec pages = memory_pages__rows(shown->use, memory_report__choice(shown));
    VEC_EACH (page, &pages, const struct memory_page)
        TABLE_ROW(&rows, memory_page_cells, .rank = page->object + 1,
                  .tid = report__tid(shown->report, page->thread), .figures = *page);
    vec__free(&pages);
    return rows;
}

/* ---- in time --------------------------------------------------------------------------------- */

struct memory_flow_cells {
    uint64_t rank;
    uint32_t tid;
    double latency_cycles;
    struct flow_row figures;
    struct place_cells place;
    const char *callers;
};

static const struct column flow_columns[] = {
    COLUMN_KEYED("from_ns", memory_flow_cells, figures.from_ns, "from", "ns",
                 "where the slice of time begins, since the run's start"),
    COLUMN_KEYED("to_ns", memory_flow_cells, figures.to_ns, NULL, "ns", "where it ends"),
    COLUMN(memory_flow_cells, rank, "#", "", "place of the object among the objects, from 1"),
    COLUMN(memory_flow_cells, tid, "thread", "", "number of the thread"),
    COLUMN_KEYED("samples", memory_flow_cells, figures.samples, NULL, "", "how many there are"),
    COLUMN_KEYED("time_ns", memory_flow_cells, figures.ns, "time", "ns",
                 "CPU time that they stand for"),
    COLUMN_KEYED("written_ns", memory_flow_cells, figures.written_ns, "writing", "ns",
                 "of that, writing"),
    COLUMN_KEYED("remote_ns", memory_flow_cells, figures.remote_ns, NULL, "ns",
                 "of that, answered by another node, as the processor tells it"),
    COLUMN(memory_flow_cells, latency_cycles, NULL, "cycles",
           "from an access to its answer, on the average, likewise"),
    COLUMN_KEYED("function", memory_flow_cells, place.function, "in", "",
                 "function that most of it is in"),
    COLUMN_KEYED("file", memory_flow_cells, place.file, NULL, "", "its source file"),
    COLUMN_KEYED("line_number", memory_flow_cells, place.line, NULL, "",
                 "a line of it that accesses"),
    COLUMN(memory_flow_cells, callers, "within", "",
           "recorded calls that it was in, innermost first, then what the thread started in: a;b"),
};
static const struct table flow_table = TABLE(
    memory_flow_cells, "memory_flow",
    "a row a slice of time, an object and a thread that was sampled at it then", flow_columns);

static struct table_rows flow_rows(const struct memory_report *shown)
{
    const struct report *report = shown->report;
    struct table_rows rows = table_rows__of(&flow_table);
    struct memory_flow flow = memory_flow__of(report->trace, report->symbols, shown->use,
                                              memory_report__choice(shown), SLICES);
    VEC_EACH (row, &flow.rows, const struct flow_row) {
        uint32_t serial = trace__serial_of(report->trace, row->thread);
        struct memory_flow_cells *cells = table_rows__add(&rows);
        *cells = (struct memory_flow_cells){
            .rank = row->object + 1,
            .tid = report__tid(report, row->thread),
            .latency_cycles =
                row->timed ? (double)row->cycles / (double)row->timed : COLUMN_UNKNOWN,
            .figures = *row,
            .place = place_cells__of_site(&rows, report, serial, row->instruction)};
        char *callers =
            flow_callers__text(shown, &flow, row, &(struct callers_form){";", SIZE_MAX, false});
        cells->callers = *callers ? callers : NULL;
        vec__push(&rows.texts, &callers);
    }
    memory_flow__free(&flow);
    return rows;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct {
    const struct table *table;
    struct table_rows (*rows)(const struct memory_report *shown);
} views[] = {
    [MEMORY_LINES] = {&lines_table, line_rows},
    [MEMORY_PAGES] = {&pages_table, page_rows},
    [MEMORY_FLOW] = {&flow_table, flow_rows},
};

struct table_rows memory_view__rows(const struct memory_report *shown, enum memory_view view)
{
    return shown->use ? views[view].rows(shown) : table_rows__of(views[view].table);
}

static struct table_rows rows_of_lines(const struct table_subject *subject)
{
    return memory_view__rows(subject->memory, MEMORY_LINES);
}

static struct table_rows rows_of_pages(const struct table_subject *subject)
{
    return memory_view__rows(subject->memory, MEMORY_PAGES);
}

static struct table_rows rows_of_flow(const struct table_subject *subject)
{
    return memory_view__rows(subject->memory, MEMORY_FLOW);
}

const struct table_source memory_lines_source = {
    .table = &lines_table, .of = MADE_OF(&memory_analysis), .rows = rows_of_lines};
const struct table_source memory_pages_source = {
    .table = &pages_table, .of = MADE_OF(&memory_analysis), .rows = rows_of_pages};
const struct table_source memory_flow_source = {
    .table = &flow_table, .of = MADE_OF(&memory_analysis), .rows = rows_of_flow};
