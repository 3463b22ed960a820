/* The first screen. */
#include "base/memory.h"
#include "present/openmp/openmp_screens.h"
#include "present/report/findings_words.h"
#include "present/report/report_parts.h"
#include "present/requests/requests_screens.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define CLASSES_AT_LEAST 10   /* shown although below the threshold */
#define SCORE_AT_LEAST 0.0005 /* of these; what is less reads as noise */
#define WHY_FROM_COLUMNS 100  /* on a narrower terminal "why" stands below a row */

/* ---- the ranked table ------------------------------------------------------------------------ */

static const struct grid_column ranking_columns[] = {
    {"#", RIGHT},       {"score", LEFT}, {"lost", RIGHT}, {"wall gain", LEFT},
    {"where", WRAPPED}, {"", WRAPPED},   {"why", WRAPPED}};
#define RANKING_COLUMNS (sizeof ranking_columns / sizeof *ranking_columns)

/* Before the time lost; nothing where it was measured. */
static const char *confidence_mark(const struct profile_class *class)
{
    if (class->confidence == CONFIDENCE_WEAK)
        return "?";
    bool is_estimate = class->recorded < class->count || class->confidence == CONFIDENCE_ESTIMATED;
    return is_estimate ? "~" : "";
}

static void put_class(struct grid *grid, const struct report *report,
                      const struct profile_class *class, size_t rank, const struct style *style)
{
    char duration[16], unknown[32], wall_gain[GAIN_BYTES];
    bool above = class->score >= report->profile->threshold;
    struct place place = place__of_class(report, &class->what, unknown);
    grid__cell(grid, memory__format("%zu", rank), INK_PLAIN);
    grid__cell(grid, memory__format("%.2f", class->score), above ? INK_ALARM : INK_PLAIN);
    grid__cell(grid,
               memory__format("%s%s", confidence_mark(class),
                              duration__format(class->excess_ns, duration)),
               INK_PLAIN);
    grid__cell(grid, memory__text(gain__format(class->wall_gain, style->unicode, wall_gain)),
               INK_PLAIN);
    grid__take(grid, class__name(report, class, &place), INK_BOLD);
    grid__take(grid, place__source(&place, false), INK_PLAIN);
    char *why = class__why(report, class, style), *clean = text__for_screen(why);
    free(why);
    if (grid->column_count == RANKING_COLUMNS)
        grid__cell(grid, clean, INK_PLAIN);
    else
        grid__below(grid, clean);
}

struct tally {
    size_t above;  /* classes at or above the threshold */
    size_t hidden; /* ranked classes that are not shown */
};

static struct tally put_rows(const struct report *report, struct grid *grid,
                             const struct style *style)
{
    struct tally tally = {0};
    size_t shown = 0, rank = 0;
    double threshold = report->profile->threshold;
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        rank++;
        if (class__standing(class) != STANDING_RANKED)
            continue;
        bool above = class->score >= threshold;
        tally.above += above;
        if (!above && (shown >= CLASSES_AT_LEAST || (shown && class->score < SCORE_AT_LEAST))) {
            tally.hidden++;
            continue;
        }
        if (!above && shown == tally.above)
            grid__note(grid, memory__format("    below the threshold of %g:", threshold));
        put_class(grid, report, class, rank, style);
        shown++;
    }
    return tally;
}

/* The place (from 1) of the first class that stands there; 0: none. */
static size_t first_of(const struct report *report, enum standing standing)
{
    size_t rank = 0;
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        rank++;
        if (class__standing(class) == standing)
            return rank;
    }
    return 0;
}

static size_t patched_functions(const struct report *report)
{
    struct coverage coverage = coverage__collect(report);
    size_t count = coverage.instrumented.count + coverage.markers;
    coverage__free(&coverage);
    return count;
}

#define LOOK_INTO_FUNCTIONS                                                                     \
    "To look into the program's own functions: heurt record --hot CMD finds the busy ones and " \
    "records them."

char *report__why_nothing(const struct report *report)
{
    if (report->profile->threads.count)
        return NULL;
    const char *why = trace__meta(report->trace, "why_nothing");
    return why ? memory__format("Nothing was recorded: %s.", why)
               : memory__text("Nothing was recorded: heurt was in no process of this run. That is "
                              "so of programs that are statically linked, have another user's "
                              "rights, or clear their environment. heurt check PROGRAM tells.");
}

static const char *advice(const struct report *report)
{
    if (report->profile->events == 0)
        return "Nothing was recorded: the program called none of the functions that heurt knows "
               "(locks, waits, input and output, sleep). " LOOK_INTO_FUNCTIONS;
    if (first_of(report, STANDING_UNCLEAR) || first_of(report, STANDING_WORKLOAD))
        return "Nothing is ranked: of no class is it known that threads get in each other's way "
               "there.";
    return patched_functions(report)
               ? "Every call and function that was recorded took as long as its fastest "
                 "occurrence. " LOOK_INTO_FUNCTIONS
               : "No known call (lock, wait, input, output) took longer than it "
                 "must. " LOOK_INTO_FUNCTIONS;
}

static void put_advice(const struct report *report, const struct style *style, FILE *out)
{
    char *nothing = report__why_nothing(report);
    paragraph__take(style, out, "  ", nothing ? nothing : memory__text(advice(report)));
}

static void put_none_above(const struct report *report, const struct style *style, FILE *out)
{
    char *text =
        memory__format("No class reaches the threshold of %g.%s", report->profile->threshold,
                       patched_functions(report) ? "" : " " LOOK_INTO_FUNCTIONS);
    paragraph__put(style, out, INK_PLAIN, "  ", text);
    free(text);
}

static void put_where_gains_are_from(const struct profile *profile, const struct style *style,
                                     FILE *out)
{
    if (profile->no_gains)
        paragraph__take(style, out, "    ",
                        memory__format("Gains are not known: %s.", profile->no_gains));
    else if (profile->replayed_share > 0 && profile->replayed_share < 1)
        paragraph__take(style, out, "    ",
                        memory__format("Gains are from %.2g %% of the run, in windows drawn from "
                                       "all of it.",
                                       100 * profile->replayed_share));
}

static void put_whose_gains(const struct report *report, const struct style *style, FILE *out)
{
    if (trace__has_asides(report->trace) && !report->profile->no_gains)
        paragraph__take(style, out, "    ",
                        memory__text("Gains are of the whole run, without what all threads lose "
                                     "there."));
}

static void put_ranking(const struct report *report, const struct style *style, FILE *out)
{
    fputc('\n', out);
    if (!first_of(report, STANDING_RANKED)) {
        put_advice(report, style, out);
        return;
    }
    bool is_wide = style->columns == 0 || style->columns >= WHY_FROM_COLUMNS;
    struct grid grid = grid__start(ranking_columns, RANKING_COLUMNS - !is_wide, 1);
    struct tally tally = put_rows(report, &grid, style);
    grid__end(&grid, style, out);
    put_where_gains_are_from(report->profile, style, out);
    put_whose_gains(report, style, out);
    if (tally.hidden) {
        char number[32];
        char *command = report__hint(report, "report", "--threshold 0");
        char *text =
            memory__format("%s more cost less: %s", count__format(tally.hidden, number), command);
        paragraph__put(style, out, INK_PLAIN, "    ", text);
        free(text);
        free(command);
    }
    if (tally.above == 0)
        put_none_above(report, style, out);
}

/* ---- the end of the screen ------------------------------------------------------------------- */

/* Whether heurt locks has something to tell: anybody waited for anybody. */
static bool has_waits(const struct report *report)
{
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        bool meets = class->what.at.kind == CLASS_LOCK || class->what.at.kind == CLASS_SEMAPHORE ||
                     class->what.at.kind == CLASS_BARRIER || class->what.at.kind == CLASS_CONDITION;
        if (meets && class__standing(class) == STANDING_RANKED)
            return !trace__is_aggregated(report->trace);
    }
    return false;
}

/* Commands that help from here. lead stands in front of them. */
static struct flow start_hints(const char *lead, const struct style *style, FILE *out)
{
    struct flow flow = flow__start(style, out, text__width(lead));
    fputs(lead, out);
    flow.column = flow.indent;
    return flow;
}

static void put_next(const struct report *report, const struct style *style, FILE *out)
{
    struct flow flow = start_hints("  next: ", style, out);
    struct coverage coverage = coverage__collect(report);
    size_t first = first_of(report, STANDING_RANKED);
    first = first ? first : first_of(report, STANDING_UNCLEAR);
    first = first ? first : first_of(report, STANDING_WORKLOAD);
    char *number = memory__format("--classes %zu", first);
    if (first)
        flow__hint(&flow, report, "report", number);
    else
        flow__add(&flow, "heurt record --hot CMD", INK_PLAIN, 1);
    free(number);
    if (coverage.refused.count)
        flow__hint(&flow, report, "report", "--coverage");
    if (report->mpi)
        flow__hint(&flow, report, "mpi", "");
    if (has_waits(report))
        flow__hint(&flow, report, "locks", "");
    if (first_of(report, STANDING_RANKED) && !trace__is_aggregated(report->trace))
        flow__hint(&flow, report, "whatif", "");
    flow__hint(&flow, report, "dump", "");
    flow__end(&flow);
    coverage__free(&coverage);
}

static void put_classes(const struct report *report, const struct style *style, FILE *out)
{
    text__head(report, style, out);
    text__ignored(report, style, out);
    put_ranking(report, style, out);
    fputc('\n', out);
    text__long_functions(report, style, out);
    text__not_interference(report, style, out);
    text__idle(report, style, out);
    text__sampled(report, style, out);
    text__coverage_line(report, out);
    text__warnings(report, style, out);
    put_next(report, style, out);
}

static void put_more(const struct report *report, const struct style *style, FILE *out)
{
    struct flow flow = start_hints("  More: ", style, out);
    const struct vec *findings = &report->findings->rows;
    if (findings->count && VEC_AT(findings, struct finding, 0)->ranked)
        flow__hint(&flow, report, "report", "1");
    flow__hint(&flow, report, "report", "--classes");
    if (report->mpi)
        flow__hint(&flow, report, "mpi", "");
    if (has_waits(report))
        flow__hint(&flow, report, "locks", "");
    if (first_of(report, STANDING_RANKED) && !trace__is_aggregated(report->trace))
        flow__hint(&flow, report, "whatif", "");
    if (report->openmp)
        flow__hint(&flow, report, "openmp", "");
    flow__hint(&flow, report, "view", "");
    flow__take(&flow, memory__text(style->unicode ? "· heurt explain" : "| heurt explain"),
               INK_PLAIN, 1);
    flow__end(&flow);
}

static void put_what_was_found(const struct report *report, const struct style *style, FILE *out)
{
    text__verdict(report, style, out);
    fputc('\n', out);
    text__roles(report, style, out);
    if (report->openmp)
        paragraph__take(style, out, "  ", openmp_use__efficiency(report->openmp));
    fputc('\n', out);
    text__findings(report, style, out);
}

static void put_first_screen(const struct report *report, const struct style *style, FILE *out)
{
    text__head(report, style, out);
    text__ignored(report, style, out);
    fputc('\n', out);
    if (report->profile->events == 0)
        put_advice(report, style, out);
    else
        put_what_was_found(report, style, out);
    text__sampled(report, style, out);
    text__warnings(report, style, out);
    text__requests(report, style, out);
    if (report->profile->threads.count) /* else there is nothing more */
        put_more(report, style, out);
}

static void classes(const struct report *report, size_t rank, const struct style *style, FILE *out)
{
    if (rank && report->findings)
        text__one_finding(report, rank, style, out);
    else if (rank)
        text__one_class(report, rank, style, out);
    else if (report->findings)
        put_first_screen(report, style, out);
    else
        put_classes(report, style, out);
}

const struct presenter presenter_text = {"text", classes, text__coverage, text__audit};
