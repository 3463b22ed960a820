#include "present/memory/counted_words.h"

#include "base/memory.h"
#include "base/text.h"
#include "format/sampled_lines.h"
#include "present/memory/sharing_words.h"
#include "present/report/report_parts.h"
#include "present/table/parts.h"
#include "present/table/table_source.h"

#include <inttypes.h>
#include <stdlib.h>

#define OBJECTS_MOST 20u  /* on a screen */
#define ACCESSES_MOST 30u /* likewise */
#define SHARE_LEAST 0.001 /* of all accesses: less is not shown */

const char *counted_kind__name(unsigned kind)
{
    static const char *const names[] = {
        [COUNTED_PRIVATE] = "private",
        [COUNTED_READ_ONLY] = "read-only",
        [COUNTED_FALSE_SHARING] = "false sharing",
        [COUNTED_TRUE_SHARING] = "true sharing",
    };
    return kind < COUNTED_KINDS ? names[kind] : "private";
}

static const char *does(enum heurt_access access)
{
    return access == HEURT_ACCESS_READ     ? "reads"
           : access == HEURT_ACCESS_WRITE  ? "writes"
           : access == HEURT_ACCESS_ATOMIC ? "updates (atomic)"
                                           : "updates";
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *access__counted_name(unsigned access)
{
    static const char *const names[] = {[HEURT_ACCESS_READ] = "read",
                                        [HEURT_ACCESS_WRITE] = "write",
                                        [HEURT_ACCESS_UPDATE] = "update",
                                        [HEURT_ACCESS_ATOMIC] = "atomic"};
    return access && access <= HEURT_ACCESS_ATOMIC ? names[access] : "none";
}

struct memory_count_cells {
    uint64_t rank; /* of the object */
    uint32_t tid;
    unsigned access;
    uint64_t count, places, most, address, line, offset, bytes; /* offset: UINT64_MAX: not known */
    const char *data;
    struct place_cells place;
};

#define COUNT_FLAT(key, member, title, unit, help) \
    FLAT(key, memory_count_cells, member, title, unit, help)

static const struct column count_columns[] = {
    COUNT_FLAT("rank", rank, "#", "", "place of the object among the objects, from 1"),
    COLUMN(memory_count_cells, tid, "thread", "", "number of the thread"),
    COLUMN(memory_count_cells, count, "count", "", "how often it accessed the object so"),
    COLUMN_NAMED("access", memory_count_cells, access, access__counted_name, "does",
                 "read, write, update or atomic"),
    COLUMN(memory_count_cells, places, "places", "",
           "at how many places: of 4 or 8 bytes, or lines where a row of bytes is accessed"),
    COLUMN(memory_count_cells, data, "data", "", "field, element or bytes where it did so most"),
    COLUMN(memory_count_cells, most, NULL, "", "how often it did so there"),
    COLUMN_AS(COLUMN_ADDRESS, memory_count_cells, address, NULL, "", "of the first byte there"),
    COLUMN_AS(COLUMN_ADDRESS, memory_count_cells, line, NULL, "", "the cache line of that"),
    COLUMN(memory_count_cells, offset, NULL, "", "of that in the object that was allocated"),
    COLUMN(memory_count_cells, bytes, NULL, "", "that are accessed"),
    FIELD_OBJECT("place", memory_count_cells, place, site_table),
    COUNT_FLAT("function", place.function, "in", "", "function that accesses"),
    COUNT_FLAT("file", place.file, NULL, "", "its source file"),
    COUNT_FLAT("line_number", place.line, NULL, "", "line in it"),
};
static const struct table counts_table =
    TABLE(memory_count_cells, "memory_counts",
          "a row an object, place in the code and thread, where the program counts its accesses",
          count_columns);

static void add_count(struct table_rows *rows, const struct memory_report *shown,
                      const struct memory_object *object, uint64_t rank,
                      const struct counted_row *counted)
{
    const struct report *report = shown->report;
    struct line_access access = counted_row__access(counted);
    uint32_t serial = trace__process_at(report->trace, object->process)->serial;
    struct memory_count_cells *row = table_rows__add(rows);
    *row = (struct memory_count_cells){
        .rank = rank,
        .tid = report__tid(report, counted->thread),
        .access = counted->access,
        .count = counted->count,
        .places = counted->places,
        .most = counted->most,
        .address = counted->address,
        .line = counted->address & ~(uint64_t)(CACHE_LINE_BYTES - 1),
        .offset = counted->object ? counted->address - counted->object->address : UINT64_MAX,
        .bytes = counted->bytes,
        .data = table_rows__keep(rows,
                                 access__data(report, object->process, &object->accesses, &access)),
        .place = place_cells__of_site(rows, report, serial, counted->site)};
}

static void add_counts(struct table_rows *rows, const struct memory_report *shown,
                       const struct memory_object *object, uint64_t rank)
{
    VEC_EACH (row, &object->counted.rows, const struct counted_row)
        add_count(rows, shown, object, rank, row);
}

struct table_rows counted_rows(const struct memory_report *shown,
                               const struct memory_object *object, uint64_t rank)
{
    struct table_rows rows = table_rows__of(&counts_table);
    add_counts(&rows, shown, object, rank);
    return rows;
}

static struct table_rows rows_of_counts(const struct table_subject *subject)
{
    struct table_rows rows = table_rows__of(&counts_table);
    uint64_t rank = 0;
    if (subject->memory->use)
        VEC_EACH (object, &subject->memory->use->objects, const struct memory_object)
            add_counts(&rows, subject->memory, object, ++rank);
    return rows;
}

const struct table_source memory_counts_source = {
    .table = &counts_table, .of = MADE_OF(&memory_analysis), .rows = rows_of_counts};

/* ---- all objects ----------------------------------------------------------------------------- */

static void put_counted(const struct memory_report *shown, const struct style *style, FILE *out)
{
    const struct counted_use *counted = &shown->use->counted;
    char reads[32], writes[32], missed[32];
    paragraph__take(style, out, "  Counted exactly: ",
                    memory__format("%s reads and %s writes, each as the program made it "
                                   "(libheurt-access.so).",
                                   count__format(counted->reads, reads),
                                   count__format(counted->writes, writes)));
    if (counted->missed)
        paragraph__take(style, out, "  ",
                        memory__format("%s more found no place in the trace: it was full "
                                       "(heurt record --max-size), or a signal handler made them.",
                                       count__format(counted->missed, missed)));
}

static uint64_t accesses_of(const struct memory_object *object)
{
    return object->counted.reads + object->counted.writes;
}

static void put_object(const struct memory_report *shown, const struct memory_object *object,
                       size_t number, struct grid *grid)
{
    uint64_t all = shown->use->counted.reads + shown->use->counted.writes;
    uint64_t threads = 0;
    VEC_EACH (thread, &object->threads, const struct memory_thread)
        threads += thread->reads + thread->writes > 0;
    grid__cell(grid, memory__format("%zu", number), INK_PLAIN);
    grid__count(grid, object->counted.reads);
    grid__count(grid, object->counted.writes);
    grid__share(grid, (double)accesses_of(object) / (double)(all ? all : 1));
    grid__count(grid, threads);
    grid__take(grid, memory__text(memory_kind__name(object->kind)), INK_PLAIN);
    grid__take(grid, memory__text(counted_kind__name(counted_object__kind(&object->counted))),
               INK_PLAIN);
    char *title = memory_object__title(shown->report, object);
    grid__below(grid, text__for_screen(title));
    free(title);
}

static bool is_small(const struct memory_report *shown, const struct memory_object *object)
{
    uint64_t all = shown->use->counted.reads + shown->use->counted.writes;
    return !accesses_of(object) || (double)accesses_of(object) < SHARE_LEAST * (double)all;
}

static void put_objects(const struct memory_report *shown, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"", RIGHT},        {"reads", RIGHT}, {"writes", RIGHT}, {"share", RIGHT},
        {"threads", RIGHT}, {"memory", LEFT}, {"", LEFT}};
    struct grid grid = grid__start(columns, 7, 2);
    size_t number = 0, left = 0;
    char count[32];
    VEC_EACH (object, &shown->use->objects, const struct memory_object)
        if (shown->all || (number < OBJECTS_MOST && !is_small(shown, object)))
            put_object(shown, object, ++number, &grid);
        else
            left++;
    grid__end(&grid, style, out);
    if (left)
        paragraph__take(
            style, out, "  ",
            memory__format("And %s more: --all shows them.", count__format(left, count)));
}

/* ---- one object ------------------------------------------------------------------------------ */

static void put_row(const struct memory_report *shown, const struct memory_object *object,
                    const struct counted_row *row, struct grid *grid)
{
    char unknown[32];
    struct line_access access = counted_row__access(row);
    const struct trace_thread *thread = trace__thread_at(shown->report->trace, row->thread);
    uint32_t serial = trace__process_at(shown->report->trace, object->process)->serial;
    struct place place = place__of_site(shown->report, serial, row->site, unknown);
    grid__count(grid, row->count);
    grid__take(grid, memory__format("%s #%" PRIu32, thread->name, thread->tid), INK_PLAIN);
    grid__take(grid, memory__text(does(row->access)), INK_PLAIN);
    grid__count(grid, row->places);
    char *data = access__data(shown->report, object->process, &object->accesses, &access),
         *where = place__text(&place);
    grid__take(grid, memory__format("%s in %s", data, where), INK_PLAIN);
    free(data);
    free(where);
}

static void put_rows(const struct memory_report *shown, const struct memory_object *object,
                     const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"count", RIGHT}, {"thread", LEFT}, {"does", LEFT}, {"places", RIGHT}, {"", LEFT}};
    struct grid grid = grid__start(columns, 5, 2);
    size_t number = 0, count = object->counted.rows.count;
    char more[32];
    VEC_EACH (row, &object->counted.rows, const struct counted_row)
        if (shown->all || number < ACCESSES_MOST) {
            put_row(shown, object, row, &grid);
            number++;
        }
    grid__end(&grid, style, out);
    if (number < count)
        paragraph__take(
            style, out, "  ",
            memory__format("And %s more: --all shows them.", count__format(count - number, more)));
}

static void put_one(const struct memory_report *shown, const struct style *style, FILE *out)
{
    const struct memory_object *object =
        VEC_AT(&shown->use->objects, struct memory_object, shown->rank - 1);
    char reads[32], writes[32];
    char *title = memory_object__title(shown->report, object);
    paragraph__take(style, out, "  ",
                    memory__format("%s: %s reads and %s writes, counted exactly; %s.", title,
                                   count__format(object->counted.reads, reads),
                                   count__format(object->counted.writes, writes),
                                   counted_kind__name(counted_object__kind(&object->counted))));
    free(title);
    fputc('\n', out);
    put_rows(shown, object, style, out);
}

void counted_text__put(const struct memory_report *shown, const struct style *style, FILE *out)
{
    if (shown->rank) {
        put_one(shown, style, out);
        return;
    }
    put_counted(shown, style, out);
    fputc('\n', out);
    put_objects(shown, style, out);
    char *hint = report__hint(shown->report, "memory", "1");
    paragraph__take(style, out, "  More: ", hint);
}
