/* One line a class; quoting as in RFC 4180, lines end in \n. */
#include "base/memory.h"
#include "present/shared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A field may end up on a terminal: of the control characters only line breaks and tabs stay. */
static void replace_controls(char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < 0x20 && !strchr("\n\r\t", *text)) || *text == 0x7f)
            *text = '?';
}

/* Fields of a line: a comma in front of all but the first. */
struct line {
    FILE *out;
    bool begun;
};

static void put_text(struct line *line, const char *text)
{
    char *clean = text__utf8(text);
    replace_controls(clean);
    if (line->begun)
        fputc(',', line->out);
    line->begun = true;
    if (!clean[strcspn(clean, ",\"\r\n")]) {
        fputs(clean, line->out);
        free(clean);
        return;
    }
    fputc('"', line->out);
    for (const char *at = clean; *at; at++) {
        if (*at == '"')
            fputc('"', line->out);
        fputc(*at, line->out);
    }
    fputc('"', line->out);
    free(clean);
}

static void put_number(struct line *line, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    put_text(line, digits);
}

static void put_signed(struct line *line, int64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, value);
    put_text(line, digits);
}

static void put_share(struct line *line, double value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.6f", value);
    put_text(line, digits);
}

/* 0 is an empty field. */
static void put_source_line(struct line *line, uint32_t number)
{
    if (number)
        put_number(line, number);
    else
        put_text(line, "");
}

static void put_header(FILE *out)
{
    static const char *const names[] = {
        "rank",    "kind",        "function",    "module",     "file",        "line",
        "caller",  "caller_file", "caller_line", "object",     "object_name", "key",
        "threads", "count",       "contended",   "unfinished", "min_ns",      "p50_ns",
        "p99_ns",  "max_ns",      "sum_ns",      "excess_ns",  "score",       "score_all"};
    struct line line = {out, false};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        put_text(&line, names[i]);
    for (int c = 0; c < REASONS; c++)
        fprintf(out, ",why_%s_ns", reason__key((enum reason)c));
    fputs(",confidence,idle,ignored,verdict,cause,exclusive_excess_ns\n", out);
}

static void put_identity(struct line *line, const struct report *report,
                         const struct profile_class *class)
{
    char unknown[32], object[24] = "";
    struct place place = place__of_class(report, class, unknown);
    bool hooked = class__is_hooked(class) && class->site;
    put_text(line, class_kind__name(class->kind));
    put_text(line, class->function);
    put_text(line, place.module);
    put_text(line, place.file);
    put_source_line(line, place.line);
    put_text(line, hooked ? place.function : "");
    put_text(line, hooked ? place.file : "");
    put_source_line(line, hooked ? place.line : 0);
    if (class->has_object)
        snprintf(object, sizeof object, "0x%" PRIx64, class->object);
    put_text(line, object);
    put_text(line, class__object_name(report, class));
    char *keys = class__keys(class);
    put_text(line, keys);
    free(keys);
}

static void put_class(FILE *out, const struct report *report, const struct profile_class *class,
                      size_t rank)
{
    struct line line = {out, false};
    put_number(&line, rank);
    put_identity(&line, report, class);
    const uint64_t numbers[] = {
        class->threads.count, class->count,  class->contended, class->unfinished, class->min_ns,
        class->p50_ns,        class->p99_ns, class->max_ns,    class->sum_ns,     class->excess_ns};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        put_number(&line, numbers[i]);
    put_share(&line, class->score);
    put_share(&line, class->score_all);
    for (int c = 0; c < REASONS; c++)
        put_signed(&line, class->why_ns[c]);
    put_text(&line, confidence__name(class->confidence));
    put_number(&line, class->idle);
    put_number(&line, class->ignored);
    put_text(&line, verdict__name(class->verdict));
    put_text(&line, class->cause == REASON_UNEXPLAINED ? "" : reason__key(class->cause));
    put_number(&line, class->exclusive_excess_ns);
    fputc('\n', out);
}

static void summary(const struct report *report, const struct style *style, FILE *out)
{
    (void)style;
    size_t rank = 0;
    put_header(out);
    VEC_EACH(class, &report->profile->classes, struct profile_class)
    put_class(out, report, class, ++rank);
}

static void one_class(const struct report *report, size_t rank, const struct style *style,
                      FILE *out)
{
    (void)style;
    put_header(out);
    if (rank >= 1 && rank <= report->profile->classes.count)
        put_class(out, report, VEC_AT(&report->profile->classes, struct profile_class, rank - 1),
                  rank);
}

static void coverage(const struct report *report, const struct style *style, FILE *out)
{
    (void)style;
    struct coverage rows = coverage__collect(report);
    const struct vec *both[] = {&rows.refused, &rows.instrumented};
    fputs("function,module,instrumented,reason\n", out);
    for (size_t i = 0; i < 2; i++)
        VEC_EACH(row, both[i], struct coverage_row)
        {
            struct line line = {out, false};
            put_text(&line, row->function);
            put_text(&line, row->module);
            put_number(&line, row->reason == NULL);
            put_text(&line, row->reason);
            fputc('\n', out);
        }
    coverage__free(&rows);
}

const struct presenter presenter_csv = {"csv", summary, one_class, coverage, csv__audit};
