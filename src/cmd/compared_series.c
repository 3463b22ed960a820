#include "cmd/compared_series.h"

#include "analysis/timeline/wall_ledger.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/html_file.h"
#include "cmd/pager_print.h"
#include "cmd/sweep.h"
#include "present/compare/series_table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RESULTS_MOST 64
#define ROWS_MOST 1000

struct compared_series {
    const struct series_request *request;
    struct vec names;       /* char * */
    struct vec results;     /* struct vec of struct run_figures */
    struct vec directories; /* char *: what these refer to */
    struct vec wanted;      /* struct wanted_row */
    struct vec texts;       /* char *: what these refer to */
    struct vec rows;        /* struct series_row */
};

/* ---- results --------------------------------------------------------------------------------- */

/* Takes over name. */
static int add_result(struct compared_series *series, char *name, struct vec **result)
{
    vec__push(&series->names, &name);
    vec__push(&series->results, &VEC_OF(struct run_figures));
    *result = VEC_AT(&series->results, struct vec, series->results.count - 1);
    if (series->results.count <= RESULTS_MOST)
        return 0;
    say("more than %d results at once are not compared", RESULTS_MOST);
    return EXIT_USAGE;
}

/* "m=4", "m=4 n=2": threads, CPUs. free() it. */
static char *place_name(const struct sweep_place *place)
{
    char *name = memory__format("m=%" PRIu32, place->threads);
    return place->pinned ? text__append(name, " n=%" PRIu32, place->pinned) : name;
}

static int by_place(const void *left, const void *right)
{
    const struct sweep_place *one = &((const struct sweep_entry *)left)->place,
                             *other = &((const struct sweep_entry *)right)->place;
    int order = ORDER(one->threads, other->threads);
    order = order ? order : ORDER(one->pinned, other->pinned);
    return order ? order : ORDER(one->repetition, other->repetition);
}

static int add_sweep(struct compared_series *series, struct sweep *sweep)
{
    int status = 0;
    char *last = NULL;
    struct vec *result = NULL;
    vec__sort(&sweep->entries, by_place);
    VEC_EACH (entry, &sweep->entries, struct sweep_entry) {
        if (status || !entry->place.is_recorded || !sweep_entry__is_good(entry))
            continue;
        char *name = place_name(&entry->place), *trace = sweep__trace(sweep, &entry->place);
        bool is_next = !last || strcmp(last, name) != 0;
        vec__push(&series->directories, &trace);
        if (is_next)
            status = add_result(series, memory__text(name), &result);
        if (status == 0)
            status = compared_side__add(result, series->request->table, trace);
        free(last);
        last = name;
    }
    free(last);
    return status;
}

static bool is_sweep(const char *operand)
{
    char *path = memory__format("%s/sweep", operand);
    struct stat status;
    bool is_there = stat(path, &status) == 0;
    free(path);
    return is_there;
}

static int add_operand(struct compared_series *series, const char *operand)
{
    struct vec *result;
    struct sweep sweep;
    struct error error;
    if (!is_sweep(operand)) {
        int status = add_result(series, memory__text(path__name(operand)), &result);
        return status ? status
                      : compared_side__add_set(result, series->request->table, operand,
                                               &series->directories);
    }
    int code = sweep__read(operand, &sweep, &error);
    int status = code < 0 ? failed(&error) : add_sweep(series, &sweep);
    sweep__free(&sweep);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Without blanks around it, in place. */
static char *trimmed(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length && strchr(" \t\r\n", text[length - 1]))
        text[--length] = 0;
    return text;
}

/* "PATTERN", or "PATTERN = NAME"; '#' begins a comment. False: there are too many. */
static bool read_row(struct compared_series *series, const char *line)
{
    char *copy = memory__text(line);
    vec__push(&series->texts, &copy);
    char *pattern = trimmed(copy), *equals = strstr(pattern, " = ");
    if (!*pattern || *pattern == '#')
        return true;
    if (equals)
        *equals = 0;
    const struct wanted_row row = {trimmed(pattern), equals ? trimmed(equals + 3) : pattern};
    vec__push(&series->wanted, &row);
    return series->wanted.count <= ROWS_MOST;
}

static int read_rows(struct compared_series *series)
{
    const char *path = series->request->rows;
    FILE *file = path ? fopen(path, "re") : NULL;
    char *line = NULL;
    size_t room = 0;
    bool is_good = true;
    if (path && !file) {
        say("--rows %s cannot be read: %s", path, strerror(errno));
        return EXIT_USAGE;
    }
    while (file && is_good && getline(&line, &room, file) > 0)
        is_good = read_row(series, line);
    free(line);
    if (file)
        fclose(file);
    if (is_good && (!path || series->wanted.count))
        return 0;
    if (is_good)
        say("--rows %s names no row: a line is PATTERN = NAME, as lock* = all locks", path);
    else
        say("--rows %s names more than %d rows", path, ROWS_MOST);
    return EXIT_USAGE;
}

/* ---- showing --------------------------------------------------------------------------------- */

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct compared_series *series = subject;
    const struct compared_table *table = series->request->table;
    const struct series_view view = {&series->rows, &series->names, table->source->table->name,
                                     table->value};
    series__put(&view, series->request->format, style, out);
}

static void put_file(const void *subject, FILE *out)
{
    const struct style plain = {.columns = SCREEN_COLUMNS, .unicode = true};
    present(subject, &plain, out);
}

static int show_series(struct compared_series *series)
{
    const struct series_request *request = series->request;
    series->rows =
        series__of(&series->results, &series->wanted, request->table->lives ? "wall time" : NULL);
    VEC_EACH (row, &series->rows, struct series_row)
        if (isnan(*VEC_AT(&row->figures, double, 0)))
            say("--rows: nothing in any run is named as %.100s", row->label);
    return request->output
               ? html_file__write(*VEC_AT(&series->directories, char *, 0), request->output,
                                  put_file, series)
               : show_either(request->format == &table_text, present, series, request->width);
}

int compared_series__show(const struct series_request *request, int count, char *const *operands)
{
    struct compared_series series = {.request = request,
                                     .names = VEC_OF(char *),
                                     .results = VEC_OF(struct vec),
                                     .directories = VEC_OF(char *),
                                     .wanted = VEC_OF(struct wanted_row),
                                     .texts = VEC_OF(char *),
                                     .rows = VEC_OF(struct series_row)};
    int status = read_rows(&series);
    for (int i = 0; status == 0 && i < count; i++)
        status = add_operand(&series, operands[i]);
    if (status == 0 && series.results.count < 2) {
        say("--base is compared with others: give another trace, set or sweep");
        status = EXIT_USAGE;
    }
    if (status == 0)
        status = show_series(&series);
    series__free(&series.rows);
    VEC_EACH (result, &series.results, struct vec)
        compared_side__free(result);
    vec__free(&series.results);
    texts__free(&series.names);
    texts__free(&series.directories);
    texts__free(&series.texts);
    vec__free(&series.wanted);
    return status;
}
