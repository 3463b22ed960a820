/* One line a class; quoting as in RFC 4180, lines end in \n. */
#include "base/memory.h"
#include "present/screen/csv_line.h"
#include "present/shared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_header(FILE *out)
{
    static const char *const names[] = {
        "rank",    "kind",        "function",    "module",     "file",        "line",
        "caller",  "caller_file", "caller_line", "object",     "object_name", "key",
        "threads", "count",       "contended",   "unfinished", "min_ns",      "p50_ns",
        "p99_ns",  "max_ns",      "sum_ns",      "excess_ns",  "score",       "score_all"};
    struct csv_line line = {out, false};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        line__text(&line, names[i]);
    for (int c = 0; c < REASONS; c++)
        fprintf(out, ",why_%s_ns", reason__key((enum reason)c));
    fputs(",confidence,idle,ignored,verdict,cause,exclusive_excess_ns,wall_gain_low,wall_gain_high,"
          "structure\n",
          out);
}

static void put_identity(struct csv_line *line, const struct report *report,
                         const struct profile_class *class)
{
    char unknown[32], object[24] = "";
    struct place place = place__of_class(report, &class->what, unknown);
    bool hooked = class__is_hooked(&class->what) && class->what.at.site;
    line__text(line, class_kind__name(class->what.at.kind));
    line__text(line, class->what.at.function);
    line__text(line, place.module);
    line__text(line, place.file);
    line__source_line(line, place.line);
    line__text(line, hooked ? place.function : "");
    line__text(line, hooked ? place.file : "");
    line__source_line(line, hooked ? place.line : 0);
    if (class->what.has_object)
        snprintf(object, sizeof object, "0x%" PRIx64, class->what.object);
    line__text(line, object);
    line__text(line, class__object_name(report, &class->what));
    char *keys = class__keys(&class->what);
    line__text(line, keys);
    free(keys);
}

static void put_structure(struct csv_line *line, const struct profile_structure *structure)
{
    char *text = structure ? class_structure__text(structure) : memory__text("");
    line__text(line, text);
    free(text);
}

static void put_class(FILE *out, const struct report *report, const struct profile_class *class,
                      size_t rank)
{
    struct csv_line line = {out, false};
    line__number(&line, rank);
    put_identity(&line, report, class);
    const uint64_t numbers[] = {
        class->threads.count, class->count,  class->contended, class->unfinished, class->min_ns,
        class->p50_ns,        class->p99_ns, class->max_ns,    class->sum_ns,     class->excess_ns};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        line__number(&line, numbers[i]);
    line__share(&line, class->score);
    line__share(&line, class->score_all);
    for (int c = 0; c < REASONS; c++)
        line__signed(&line, class->why_ns[c]);
    line__text(&line, confidence__name(class->confidence));
    line__number(&line, class->idle);
    line__number(&line, class->what.ignored);
    line__text(&line, verdict__name(class->verdict));
    line__text(&line, class->cause == REASON_UNEXPLAINED ? "" : reason__key(class->cause));
    line__number(&line, class->exclusive_excess_ns);
    line__gain(&line, class->wall_gain);
    put_structure(&line, class->what.structure);
    fputc('\n', out);
}

static void summary(const struct report *report, const struct style *style, FILE *out)
{
    (void)style;
    size_t rank = 0;
    put_header(out);
    VEC_EACH (class, &report->profile->classes, struct profile_class)
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
        VEC_EACH (row, both[i], struct coverage_row) {
            struct csv_line line = {out, false};
            line__text(&line, row->function);
            line__text(&line, row->module);
            line__number(&line, row->reason == NULL);
            line__text(&line, row->reason);
            fputc('\n', out);
        }
    coverage__free(&rows);
}

const struct presenter presenter_csv = {"csv", summary, one_class, coverage, csv__audit};
