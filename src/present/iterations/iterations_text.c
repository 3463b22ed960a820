/* The program's iterations, for people. */
#include "base/memory.h"
#include "base/text.h"
#include "present/iterations/iterations_screens.h"
#include "present/locks/locks_shared.h"
#include "present/screen/more.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OUTLIERS_AT_MOST 8
#define LEVELS 8
#define INDENT 4
#define WIDE_FROM_COLUMNS 110 /* a narrower terminal has no room for sources */
#define FACTOR_FROM_COLUMNS 72
#define FOLDED_BELOW 0.05 /* of the time that the longest phase takes */

/* ---- what it is ------------------------------------------------------------------------------ */

/* A hooked call by its own name: who makes it, the outline shows. */
static char *body_name(const struct report *report, const struct class_definition *what)
{
    char unknown[32];
    if (class__is_hooked(what))
        return memory__text(what->at.function);
    struct place place = place__of_class(report, what, unknown);
    return function__short(place.function);
}

static bool is_in_list(const struct vec *names, const char *name)
{
    VEC_EACH (known, names, char *)
        if (strcmp(*known, name) == 0)
            return true;
    return false;
}

static bool is_unnamed(const char *name)
{
    return *name == '[';
}

/* Each name once; code that has none only where there is no other. */
static struct vec names_of(const struct report *report, const struct iteration_phase *phase,
                           bool unnamed)
{
    struct vec names = VEC_OF(char *);
    VEC_EACH (what, &phase->body, struct class_definition) {
        char *name = body_name(report, what);
        if (is_unnamed(name) == unnamed && !is_in_list(&names, name))
            vec__push(&names, &name);
        else
            free(name);
    }
    return names;
}

static char *phase__body_text(const struct report *report, const struct iteration_phase *phase)
{
    struct vec names = names_of(report, phase, false);
    char *text = memory__text("");
    if (!names.count)
        names = names_of(report, phase, true);
    VEC_EACH (name, &names, char *)
        text = text__join(text, ", ", *name);
    if (phase->body_is_cut)
        text = text__join(text, ", ", "...");
    texts__free(&names);
    return text;
}

static char *threads_text(const struct report *report, const struct iteration_phase *phase)
{
    if (phase->threads.count == 1)
        return thread__text(report, VEC_AT(&phase->threads, struct iteration_thread, 0)->thread);
    return memory__format("%zu threads%s", phase->threads.count,
                          phase->is_matched ? " in step" : "");
}

static struct flow start_line(const struct style *style, FILE *out, unsigned indent)
{
    struct flow flow = flow__start(style, out, indent);
    fprintf(out, "%*s", (int)indent, "");
    flow.column = indent;
    return flow;
}

char *phase__text(const struct report *report, const struct iteration_phase *phase)
{
    char *body = phase__body_text(report, phase);
    char *text = memory__format("%s %s",
                                phase->is_marked          ? "marked"
                                : phase->is_between_waits ? "work between"
                                : phase->is_choice        ? "loop, in variants, of"
                                                          : "loop of",
                                body);
    free(body);
    return text;
}

static void put_title(const struct report *report, const struct iterations *iterations,
                      size_t number, const struct style *style, FILE *out)
{
    char times[32], share[16];
    const struct iteration_phase *phase =
        VEC_AT(&iterations->phases, struct iteration_phase, number);
    char *what = phase__text(report, phase), *threads = threads_text(report, phase);
    char *lead =
        iterations->phases.count > 1 ? memory__format("phase %zu: ", number + 1) : memory__text("");
    struct flow flow = start_line(style, out, 2);
    flow__take(&flow,
               memory__format("%s%s %s %s", lead, what, style->unicode ? "×" : "x",
                              count__format(phase->iterations, times)),
               INK_BOLD, 3);
    flow__take(&flow, memory__text(threads), INK_PLAIN, 3);
    flow__take(&flow,
               memory__format("%s of %s time", share__format(phase->share, share),
                              phase->threads.count == 1 ? "its" : "their"),
               INK_PLAIN, 3);
    flow__end(&flow);
    free(lead);
    free(threads);
    free(what);
}

/* ---- figures --------------------------------------------------------------------------------- */

static void put_times(const struct iteration_phase *phase, const struct style *style, FILE *out)
{
    char min[16], median[16], p99[16], max[16], imbalance[16];
    struct flow flow = start_line(style, out, INDENT);
    char *times = memory__format(
        "fastest %s, median %s, p99 %s, slowest %s", duration__format(phase->min_ns, min),
        duration__format(phase->median_ns, median), duration__format(phase->p99_ns, p99),
        duration__format(phase->max_ns, max));
    flow__words(&flow, times, INK_PLAIN);
    free(times);
    flow__take(&flow, memory__format("score %.2f", phase->score), INK_PLAIN, 3);
    if (phase->is_matched)
        flow__take(&flow,
                   memory__format("imbalance %s in all%s",
                                  duration__format(phase->imbalance_ns, imbalance),
                                  phase->is_sample ? ", estimated" : ""),
                   INK_PLAIN, 3);
    flow__end(&flow);
}

/* ---- the strip ------------------------------------------------------------------------------- */

/* The longest of the phase's cells that one on the screen stands for. */
static uint64_t longest_in(const struct iteration_phase *phase, unsigned cell, unsigned cells)
{
    uint64_t longest = 0;
    for (unsigned i = ITERATIONS_STRIP * cell / cells; i < ITERATIONS_STRIP * (cell + 1) / cells;
         i++)
        if (phase->strip[i].longest_ns > longest)
            longest = phase->strip[i].longest_ns;
    return longest;
}

static unsigned strip_cells(const struct style *style)
{
    unsigned room = style->columns > 2 * INDENT ? style->columns - 2 * INDENT : 8;
    return style->columns && room < ITERATIONS_STRIP ? room : ITERATIONS_STRIP;
}

static char *cells_text(const struct iteration_phase *phase, unsigned cells,
                        const struct style *style)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const signs[] = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};
    char *text = memory__zeroed(cells + 1, 3), *to = text;
    for (unsigned cell = 0; cell < cells; cell++) {
        double share =
            phase->max_ns ? (double)longest_in(phase, cell, cells) / (double)phase->max_ns : 0;
        unsigned level = (unsigned)ceil((share > 1 ? 1 : share) * LEVELS);
        to = stpcpy(to, style->unicode ? blocks[level] : signs[level]);
    }
    return text;
}

static void put_strip(const struct iteration_phase *phase, const struct style *style, FILE *out)
{
    char from[16], to[16];
    unsigned cells = strip_cells(style);
    char *text = cells_text(phase, cells, style);
    duration__format(phase->start_ns, from);
    duration__format(phase->end_ns, to);
    unsigned used = text__width(from) + text__width(to);
    fprintf(out, "%*s", INDENT, "");
    ink__put(style, out, INK_WARNING, text);
    fprintf(out, "\n%*s%s%*s%s\n", INDENT, "", from, used + 1 < cells ? (int)(cells - used) : 1, "",
            to);
    free(text);
}

/* ---- what stands out ------------------------------------------------------------------------- */

static bool is_narrow(const struct style *style)
{
    return style->columns && style->columns < WIDE_FROM_COLUMNS;
}

/* Takes over where. */
static char *with_calls(char *where, int64_t calls)
{
    if (!calls)
        return where;
    bool one = calls == 1 || calls == -1;
    char *text = memory__format("%s (%+" PRId64 " call%s)", where, calls, one ? "" : "s");
    free(where);
    return text;
}

static char *where_text(const struct report *report, const struct iteration_outlier *outlier,
                        const struct style *style)
{
    if (!outlier->place.at.function)
        return memory__text("between calls");
    return with_calls(is_narrow(style) ? body_name(report, &outlier->place)
                                       : call__text(report, &outlier->place),
                      outlier->place_more_calls);
}

/* There is no room for what "more" tells as well. */
static bool is_very_narrow(const struct style *style)
{
    return style->columns && style->columns < FACTOR_FROM_COLUMNS;
}

static char *tid_text(const struct report *report, uint32_t thread, const struct style *style)
{
    const struct vec *threads = trace__threads(report->trace);
    if (!is_narrow(style))
        return thread__text(report, thread);
    return memory__format("%u", VEC_AT(threads, struct trace_thread, thread)->tid);
}

/* "4.1×", "1,284×" */
static char *times_text(uint64_t ns, uint64_t median_ns, const struct style *style)
{
    char number[32];
    const char *sign = style->unicode ? "×" : "x";
    if (!median_ns)
        return memory__text("");
    if (ns / median_ns >= 1000)
        return memory__format("%s%s", count__format(ns / median_ns, number), sign);
    return memory__format("%.3g%s", (double)ns / (double)median_ns, sign);
}

static void put_outlier(struct grid *grid, const struct report *report,
                        const struct iteration_phase *phase,
                        const struct iteration_outlier *outlier, const struct style *style)
{
    char more[MORE_BYTES];
    const struct iteration *iteration = &outlier->iteration;
    grid__count(grid, iteration->index);
    grid__duration(grid, iteration->start_ns);
    grid__duration(grid, iteration->duration_ns);
    if (!is_very_narrow(style))
        grid__cell(grid, times_text(iteration->duration_ns, phase->median_ns, style), INK_PLAIN);
    grid__take(grid, tid_text(report, iteration->thread, style), INK_PLAIN);
    grid__cell(grid, memory__text(more__format(outlier->more_ns, more)), INK_BOLD);
    grid__take(grid, more__components(outlier->component_more_ns), INK_PLAIN);
    if (!is_narrow(style))
        grid__cell(grid, memory__text(more__format(outlier->place_more_ns, more)), INK_PLAIN);
    char *where = where_text(report, outlier, style);
    if (is_very_narrow(style)) {
        grid__below(grid, memory__format("most in %s", where));
        free(where);
    } else {
        grid__take(grid, where, INK_PLAIN);
    }
}

static struct grid new_table(const struct style *style)
{
    static const struct grid_column wide[] = {
        {"#", RIGHT},    {"at", RIGHT},      {"took", RIGHT}, {"", RIGHT},    {"thread", WRAPPED},
        {"more", RIGHT}, {"of it", WRAPPED}, {"most", RIGHT}, {"in", WRAPPED}};
    static const struct grid_column narrow[] = {
        {"#", RIGHT},   {"at", RIGHT},   {"took", RIGHT},    {"", RIGHT},
        {"tid", RIGHT}, {"more", RIGHT}, {"of it", WRAPPED}, {"most in", WRAPPED}};
    static const struct grid_column very_narrow[] = {{"#", RIGHT},    {"at", RIGHT},
                                                     {"took", RIGHT}, {"tid", RIGHT},
                                                     {"more", RIGHT}, {"of it", WRAPPED}};
    return is_very_narrow(style) ? grid__start(very_narrow, 6, INDENT)
           : is_narrow(style)    ? grid__start(narrow, 8, INDENT)
                                 : grid__start(wide, 9, INDENT);
}

static void put_none(const struct iteration_phase *phase, const struct style *style, FILE *out)
{
    char threshold[16];
    fprintf(out, "%*s", INDENT, "");
    char *text = memory__format("No iteration is an outlier: none took more than %s.",
                                duration__format(phase->threshold_ns, threshold));
    ink__put(style, out, INK_DIM, text);
    fputc('\n', out);
    free(text);
}

static void put_outliers(const struct report *report, const struct iteration_phase *phase,
                         const struct style *style, FILE *out)
{
    char count[32], threshold[16];
    if (!phase->outliers.count) {
        put_none(phase, style, out);
        return;
    }
    char *lead = memory__format("%*s", INDENT, "");
    paragraph__take(style, out, lead,
                    memory__format("%s %s than %s%s:", count__format(phase->outlier_count, count),
                                   phase->outlier_count == 1 ? "iteration is an outlier, longer"
                                                             : "iterations are outliers, longer",
                                   duration__format(phase->threshold_ns, threshold),
                                   phase->outlier_count > OUTLIERS_AT_MOST ? "; the slowest" : ""));
    free(lead);
    struct grid grid = new_table(style);
    for (size_t i = 0; i < phase->outliers.count && i < OUTLIERS_AT_MOST; i++)
        put_outlier(&grid, report, phase, VEC_AT(&phase->outliers, struct iteration_outlier, i),
                    style);
    grid__end(&grid, style, out);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Of all its threads. */
static uint64_t time_of(const struct iteration_phase *phase)
{
    uint64_t sum = 0;
    VEC_EACH (thread, &phase->threads, struct iteration_thread)
        sum += thread->sum_ns;
    return sum;
}

static uint64_t longest_time(const struct iterations *iterations)
{
    uint64_t longest = 0;
    VEC_EACH (phase, &iterations->phases, struct iteration_phase)
        if (time_of(phase) > longest)
            longest = time_of(phase);
    return longest;
}

static void put_phase(const struct report *report, const struct iterations *iterations,
                      size_t number, const struct style *style, FILE *out)
{
    const struct iteration_phase *phase =
        VEC_AT(&iterations->phases, struct iteration_phase, number);
    put_title(report, iterations, number, style, out);
    put_times(phase, style, out);
    put_strip(phase, style, out);
    put_outliers(report, phase, style, out);
}

static void put_folded(size_t folded, const struct style *style, FILE *out)
{
    if (folded)
        paragraph__take(style, out, "  ",
                        memory__format("%zu more phase%s less than %.0f %% of what the longest one "
                                       "does; --json has %s.",
                                       folded, folded == 1 ? " takes" : "s take each",
                                       100 * FOLDED_BELOW, folded == 1 ? "it" : "them"));
}

void iterations__put(const struct report *report, const struct iterations *iterations,
                     const struct style *style, FILE *out)
{
    size_t folded = 0;
    uint64_t longest = longest_time(iterations);
    heading__put(style, out, "iterations");
    if (!iterations->phases.count)
        paragraph__put(
            style, out, INK_PLAIN, "  ",
            "No thread spends its time in a loop of what was recorded that runs at "
            "least 3 times. Marks in the source (heurt_iteration) tell iterations, too.");
    for (size_t i = 0, shown = 0; i < iterations->phases.count; i++) {
        const struct iteration_phase *phase =
            VEC_AT(&iterations->phases, struct iteration_phase, i);
        if ((double)time_of(phase) < FOLDED_BELOW * (double)longest) {
            folded++;
            continue;
        }
        if (shown++)
            fputc('\n', out);
        put_phase(report, iterations, i, style, out);
    }
    put_folded(folded, style, out);
}
