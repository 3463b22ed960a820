/* Functions that take time of which no calls tell, from samples: on the screen of classes, in a
 * class' depth, and as tables. */
#include "analysis/timeline/long_functions.h"

#include "base/memory.h"
#include "present/report/report_parts.h"
#include "present/shared.h"
#include "present/table/parts.h"
#include "present/table/table_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MOST 8u      /* on a screen */
#define LINES_OF_ROW 3u   /* in a row of it */
#define LINES_OF_CLASS 8u /* in a class' depth */
#define LINE_LEAST 0.05   /* of the function's time: less is not named in a row */

static struct place place_of(const struct symbol *symbol)
{
    return (struct place){symbol->function, symbol->module, symbol->file, symbol->line};
}

static double part_of(uint64_t ns, uint64_t all_ns)
{
    return all_ns ? (double)ns / (double)all_ns : 0;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* "relax.c:21", and whose it is where it was inlined. free() it. */
static char *line_text(const struct long_function *row, const struct function_line *line)
{
    struct place place = place_of(line->symbol);
    char *source = place__source(&place, false);
    bool is_own = strcmp(line->symbol->function, row->symbol->function) == 0;
    if (*source && is_own)
        return source;
    char *name = function__short(line->symbol->function);
    char *text = memory__format("%s%s%s", *source ? source : "", *source ? ", in " : "", name);
    free(name);
    free(source);
    return text;
}

/* "relax.c:21 60 %, relax.c:22 31 %". free() it. */
static char *lines_text(const struct long_function *row)
{
    char *text = memory__text(""), share[16];
    for (size_t i = 0; i < row->lines.count && i < LINES_OF_ROW; i++) {
        const struct function_line *line = VEC_AT(&row->lines, struct function_line, i);
        double part = part_of(line->ns, row->ns);
        if (i && part < LINE_LEAST)
            break;
        char *where = line_text(row, line);
        char *one = memory__format("%s %s", where, share__format(part, share));
        text = text__join(text, ", ", one);
        free(one);
        free(where);
    }
    return text;
}

/* "; false sharing ~141 ms", "". free() it. */
static char *sharing_text(const struct long_function *row)
{
    char *text = memory__text(""), lost[16];
    if (row->false_ns)
        text = text__append(text, "; false sharing ~%s", duration__format(row->false_ns, lost));
    if (row->true_ns)
        text = text__append(text, "; true sharing ~%s", duration__format(row->true_ns, lost));
    return text;
}

/* ---- the screen of classes ------------------------------------------------------------------- */

static void put_row(struct grid *grid, const struct long_functions *found,
                    const struct long_function *row)
{
    char number[32];
    grid__duration(grid, row->ns);
    grid__share(grid, part_of(row->ns, found->all_ns));
    grid__count(grid, row->threads.count);
    grid__cell(grid, memory__text(row->calls ? count__format(row->calls, number) : "?"), INK_PLAIN);
    grid__take(grid, function__short(row->symbol->function), INK_PLAIN);
    char *lines = lines_text(row), *sharing = sharing_text(row);
    grid__take(grid, memory__format("%s%s", lines, sharing), INK_PLAIN);
    free(lines);
    free(sharing);
}

void text__long_functions(const struct report *report, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"time", RIGHT},    {"share", RIGHT},
                                                 {"threads", RIGHT}, {"calls", RIGHT},
                                                 {"in", LEFT},       {"most of it at", WRAPPED}};
    const struct long_functions *found = report->long_functions;
    if (!found || !found->rows.count)
        return;
    paragraph__put(
        style, out, INK_PLAIN, "  ",
        "time in functions that no calls tell of (one to a thread, or not recorded then), "
        "from samples of the program's own code:");
    struct grid grid = grid__start(columns, 6, 2);
    size_t number = 0;
    VEC_EACH (row, &found->rows, const struct long_function)
        if (number++ < ROWS_MOST)
            put_row(&grid, found, row);
    grid__end(&grid, style, out);
    if (number > ROWS_MOST)
        paragraph__take(
            style, out, "  ",
            memory__format("and %zu more: heurt tables long_functions", number - ROWS_MOST));
    fputc('\n', out);
}

/* ---- a class in depth ------------------------------------------------------------------------ */

static const struct long_function *function_of(const struct report *report,
                                               const struct profile_class *class)
{
    const struct long_functions *found = report->long_functions;
    if (!found || class__is_hooked(&class->what))
        return NULL;
    VEC_EACH (row, &found->rows, const struct long_function)
        if (row->process == class->what.at.process && row->calls &&
            strcmp(row->symbol->function, class->what.at.function) == 0)
            return row;
    return NULL;
}

void text__lines_of_class(const struct report *report, const struct profile_class *class,
                          const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"time", RIGHT}, {"share", RIGHT}, {"at", LEFT}};
    const struct long_function *row = function_of(report, class);
    if (!row)
        return;
    heading__put(style, out, "where in it the time went (from samples of the program's own code)");
    struct grid grid = grid__start(columns, 3, 2);
    for (size_t i = 0; i < row->lines.count && i < LINES_OF_CLASS; i++) {
        const struct function_line *line = VEC_AT(&row->lines, struct function_line, i);
        grid__duration(&grid, line->ns);
        grid__share(&grid, part_of(line->ns, row->ns));
        grid__take(&grid, line_text(row, line), INK_PLAIN);
    }
    grid__end(&grid, style, out);
    char *sharing = sharing_text(row);
    if (*sharing)
        paragraph__take(style, out, "  ",
                        memory__format("Of it: %s lost (heurt memory --lines).", sharing + 2));
    free(sharing);
}

/* ---- tables ---------------------------------------------------------------------------------- */

struct long_function_cells {
    const struct report *report;
    const struct long_function *of;
    const char *function, *module, *line_file;
    uint64_t calls, threads, line;
    double share, line_share;
    struct long_function figures;
};

struct long_line_cells {
    const char *function, *file;
    uint64_t line, time_ns;
};
static const struct table lines_table =
    OBJECT(long_line_cells, FIELDS(long_line_cells, function, file, line, time_ns));

struct long_thread_cells {
    uint32_t tid;
    uint64_t time_ns;
};
static const struct table threads_table_of =
    OBJECT(long_thread_cells, FIELDS(long_thread_cells, tid, time_ns));

static struct table_rows lines_of(const void *cells)
{
    struct table_rows rows = table_rows__of(&lines_table);
    VEC_EACH (line, &((const struct long_function_cells *)cells)->of->lines,
              const struct function_line)
        TABLE_ROW(&rows, long_line_cells, line->symbol->function, line->symbol->file,
                  line->symbol->line ? line->symbol->line : UINT64_MAX, line->ns);
    return rows;
}

static struct table_rows threads_of(const void *cells)
{
    const struct long_function_cells *row = cells;
    struct table_rows rows = table_rows__of(&threads_table_of);
    VEC_EACH (thread, &row->of->threads, const struct function_thread)
        TABLE_ROW(&rows, long_thread_cells, report__tid(row->report, thread->thread), thread->ns);
    return rows;
}

static const struct column long_columns[] = {
    COLUMN(long_function_cells, function, "function", "", "that takes time of which no calls tell"),
    COLUMN(long_function_cells, module, NULL, "", "file of the program or library"),
    COLUMN_KEYED("time_ns", long_function_cells, figures.ns, "time", "ns",
                 "CPU time that samples in it stand for"),
    COLUMN(long_function_cells, share, "share", "share", "of all sampled time"),
    COLUMN_KEYED("samples", long_function_cells, figures.samples, NULL, "", "how many there are"),
    COLUMN(long_function_cells, calls, "calls", "", "calls that were recorded"),
    FLAT("threads", long_function_cells, threads, "threads", "", "that were sampled in it"),
    FLAT("line_file", long_function_cells, line_file, "most of it in", "",
         "source file of the line with most of it"),
    FLAT("line", long_function_cells, line, "line", "", "that line"),
    FLAT("line_share", long_function_cells, line_share, "share of it", "share",
         "of the function's time, at that line"),
    COLUMN_KEYED("false_sharing_ns", long_function_cells, figures.false_ns, NULL, "ns",
                 "lost by false sharing, about"),
    COLUMN_KEYED("true_sharing_ns", long_function_cells, figures.true_ns, NULL, "ns",
                 "lost by true sharing, about"),
    FIELD_LIST("threads", threads_of),
    FIELD_LIST("lines", lines_of),
};
static const struct table long_table =
    TABLE(long_function_cells, "long_functions",
          "a row a function that takes time of which no calls tell, from samples: called once by a "
          "thread, or not recorded then",
          long_columns);

struct table_rows long_function_rows(const struct report *report)
{
    const struct long_functions *found = report->long_functions;
    struct table_rows rows = table_rows__of(&long_table);
    if (!found)
        return rows;
    VEC_EACH (row, &found->rows, const struct long_function) {
        const struct function_line *most = VEC_AT(&row->lines, struct function_line, 0);
        TABLE_ROW(&rows, long_function_cells, .report = report, .of = row,
                  .function = row->symbol->function, .module = row->symbol->module,
                  .calls = row->calls ? row->calls : UINT64_MAX, .threads = row->threads.count,
                  .line_file = most->symbol->file,
                  .line = most->symbol->line ? most->symbol->line : UINT64_MAX,
                  .share = part_of(row->ns, found->all_ns),
                  .line_share = part_of(most->ns, row->ns), .figures = *row);
    }
    return rows;
}

static struct table_rows rows_of_all(const struct table_subject *subject)
{
    return long_function_rows(subject->report);
}

const struct table_source long_functions_source = {
    &long_table, MADE_OF(&profile_analysis, &long_functions_analysis), rows_of_all};
