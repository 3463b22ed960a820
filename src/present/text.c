/* The first screen. */
#include "base/memory.h"
#include "present/shared.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define BAR_CELLS 20        /* of the whole thread time */
#define CLASSES_AT_LEAST 10 /* shown although below the threshold */
#define IDLE_AT_MOST 4
#define GAIN_FROM_COLUMNS 100 /* a narrower terminal has no room for the column "wall gain" */

/* Takes over text: cleans it, cuts it to the terminal, adds it, frees it. */
static void flow__take(struct flow *flow, char *text, enum ink ink, unsigned gap)
{
    char *clean = text__for_screen(text);
    unsigned room = flow->style->columns;
    if (room && text__width(clean) > room) {
        char *cut = memory__format(
            "%.*s...", (int)text__bytes_of_columns(clean, room > 3 ? room - 3 : 0), clean);
        free(clean);
        clean = cut;
    }
    flow__add(flow, clean, ink, gap);
    free(clean);
    free(text);
}

/* "heurt report -i 'a b' --coverage", to be typed into a shell; -i only where the trace is not the
 * default one. free() it. */
static char *hint(const struct report *report, const char *verb, const char *rest)
{
    const char *blank = *rest ? " " : "", *directory = report->directory;
    if (strcmp(directory, "heurt.data") == 0)
        return memory__format("heurt %s%s%s", verb, blank, rest);
    bool plain = *directory && strspn(directory, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                                                 "WXYZ0123456789_-./+:@%") == strlen(directory);
    const char *quote = plain ? "" : "'";
    char *text =
        memory__format("heurt %s -i %s%s%s%s%s", verb, quote, directory, quote, blank, rest);
    char *clean = text__for_screen(text);
    free(text);
    return clean;
}

/* ---- header ------------------------------------------------------------------------------------
 */

static char *command_line(const struct report *report)
{
    const char *command = trace__meta(report->trace, "command");
    char *text = memory__text(command && *command ? command : "(unknown command)");
    for (char *at = text; *at; at++)
        if (*at == '\n')
            *at = ' ';
    return text;
}

static char *thread_count(const struct report *report)
{
    char number[32];
    size_t count = report->profile->threads.count;
    const char *cpus = trace__meta(report->trace, "cpus");
    char *threads =
        memory__format("%s thread%s", count__format(count, number), count == 1 ? "" : "s");
    if (!cpus || !*cpus)
        return threads;
    char *text = memory__format("%s on %s CPU%s", threads, cpus, strcmp(cpus, "1") ? "s" : "");
    free(threads);
    return text;
}

static void put_header(const struct report *report, const struct style *style, FILE *out)
{
    char number[32], duration[16], size[16];
    const struct heurt_session *session = trace__session(report->trace);
    struct flow flow = flow__start(style, out, 2);
    flow__take(&flow, command_line(report), INK_BOLD, 3);
    flow__take(&flow,
               memory__format("%s wall", duration__format(report->profile->wall_ns, duration)),
               INK_PLAIN, 3);
    flow__take(&flow, thread_count(report), INK_PLAIN, 3);
    flow__take(&flow, memory__format("%s events", count__format(report->profile->events, number)),
               INK_PLAIN, 3);
    flow__take(
        &flow,
        memory__format("%s (%s)", report->directory, bytes__format(report->trace_bytes, size)),
        INK_PLAIN, 3);
    if (trace__is_aggregated(report->trace))
        flow__take(&flow, memory__text("aggregated"), INK_PLAIN, 3);
    if (session->finished && WIFEXITED(session->wait_status) && WEXITSTATUS(session->wait_status))
        flow__take(&flow, memory__format("exit status %d", WEXITSTATUS(session->wait_status)),
                   INK_WARNING, 3);
    flow__end(&flow);
}

/* ---- what the threads did ----------------------------------------------------------------------
 */

static char *work_sentence(const struct report *report)
{
    const struct profile *profile = report->profile;
    size_t unknown;
    uint64_t cpu_ns = report__cpu_ns(report, &unknown);
    char threads[32], missing[32];
    count__format(profile->threads.count, threads);
    if (unknown)
        return memory__format("How much CPU time the threads had is not known for %s of %s.",
                              count__format(unknown, missing), threads);
    if (profile->wall_ns == 0)
        return memory__text("");
    double work = (double)cpu_ns / (double)profile->wall_ns;
    if (work > (double)profile->threads.count)
        work = (double)profile->threads.count; /* the command's CPU time has the loader's in it */
    bool one = profile->threads.count == 1;
    return memory__format("%s thread%s did the work of %.*f.", threads, one ? "" : "s",
                          work < 0.095 ? 2 : 1, work);
}

static char *runnable_sentence(const struct report *report)
{
    size_t unknown;
    char duration[16], share[16];
    uint64_t runnable_ns = report__runnable_ns(report, &unknown);
    double lifetime_ns = (double)report->profile->lifetime_sum_ns;
    if (unknown || lifetime_ns <= 0 || (double)runnable_ns < 0.005 * lifetime_ns)
        return memory__text("");
    return memory__format("They waited %s (%s) for a CPU.", duration__format(runnable_ns, duration),
                          share__format((double)runnable_ns / lifetime_ns, share));
}

static void sum_components(const struct report *report, uint64_t sums[COMPONENTS])
{
    memset(sums, 0, COMPONENTS * sizeof *sums);
    VEC_EACH(thread, &report->profile->threads, struct profile_thread)
    for (int c = 0; c < COMPONENTS; c++)
        sums[c] += thread->component_ns[c];
}

static void put_bar(struct flow *flow, const char *name, double share)
{
    char percent[16];
    char *bar = bar__format(flow->style, share, BAR_CELLS);
    flow__take(flow, memory__format("%s %s %s", name, share__format(share, percent), bar),
               INK_PLAIN, 3);
    free(bar);
}

/* The largest first; what is below half a percent goes unsaid. */
static void put_bars(const struct report *report, const struct style *style, FILE *out)
{
    uint64_t sums[COMPONENTS];
    double all_ns = (double)report->profile->lifetime_sum_ns;
    sum_components(report, sums);
    struct flow flow = flow__start(style, out, 2);
    fputs("  ", out);
    flow.column = flow.indent;
    for (int shown = 0; shown < COMPONENTS; shown++) {
        int most = 0;
        for (int c = 1; c < COMPONENTS; c++)
            most = sums[c] > sums[most] ? c : most;
        if ((double)sums[most] < 0.005 * all_ns)
            break;
        put_bar(&flow, component__words((enum component)most), (double)sums[most] / all_ns);
        sums[most] = 0;
    }
    flow__end(&flow);
}

static void put_thread_time(const struct report *report, const struct style *style, FILE *out)
{
    char duration[16];
    if (report->profile->threads.count == 0)
        return;
    char *work = work_sentence(report), *runnable = runnable_sentence(report);
    uint64_t all_ns = report->profile->lifetime_sum_ns;
    struct flow flow = flow__start(style, out, 2);
    flow__words(&flow, work, INK_PLAIN);
    flow__words(&flow, runnable, INK_PLAIN);
    if (all_ns) {
        char *text = memory__format("Thread time %s:", duration__format(all_ns, duration));
        flow__words(&flow, text, INK_PLAIN);
        free(text);
    }
    flow__end(&flow);
    free(work);
    free(runnable);
    if (all_ns)
        put_bars(report, style, out);
}

/* ---- the ranked table --------------------------------------------------------------------------
 */

static const struct table_column with_gain[] = {
    {"#", ALIGN_RIGHT, false},        {"score", ALIGN_LEFT, false}, {"lost", ALIGN_RIGHT, false},
    {"wall gain", ALIGN_LEFT, false}, {"where", ALIGN_LEFT, true},  {"", ALIGN_LEFT, true},
    {"why", ALIGN_LEFT, true},        {"sure", ALIGN_LEFT, false}};
static const struct table_column without_gain[] = {
    {"#", ALIGN_RIGHT, false},   {"score", ALIGN_LEFT, false}, {"lost", ALIGN_RIGHT, false},
    {"where", ALIGN_LEFT, true}, {"", ALIGN_LEFT, true},       {"why", ALIGN_LEFT, true},
    {"sure", ALIGN_LEFT, false}};

static bool is_ranked(const struct profile_class *class)
{
    return !class->idle && !class->ignored && class->excess_ns > 0;
}

/* Takes over text. */
static void clean_cell(struct table *table, char *text, enum ink ink)
{
    table__cell(table, text__for_screen(text), ink);
    free(text);
}

static void put_class(struct table *table, const struct report *report,
                      const struct profile_class *class, size_t rank, bool gain)
{
    char duration[16], unknown[32];
    bool above = class->score >= report->profile->threshold;
    struct place place = place__of_class(report, class, unknown);
    table__cell(table, memory__format("%zu", rank), INK_PLAIN);
    table__cell(table, memory__format("%.2f", class->score), above ? INK_ALARM : INK_PLAIN);
    table__cell(table,
                memory__format("%s%s", class->recorded < class->count ? "~" : "",
                               duration__format(class->excess_ns, duration)),
                INK_PLAIN);
    if (gain)
        table__cell(table, memory__text("?"), INK_PLAIN);
    clean_cell(table, function__short(place.function), INK_BOLD);
    clean_cell(table, place__source(&place, false), INK_PLAIN);
    clean_cell(table, class__why(report, class), INK_PLAIN);
    table__cell(table, memory__text(confidence__name(class->confidence)), INK_PLAIN);
}

struct tally {
    size_t above;  /* classes at or above the threshold */
    size_t hidden; /* ranked classes that are not shown */
};

static struct tally put_classes(const struct report *report, struct table *table, bool gain)
{
    struct tally tally = {0};
    size_t shown = 0, rank = 0;
    double threshold = report->profile->threshold;
    VEC_EACH(class, &report->profile->classes, struct profile_class)
    {
        rank++;
        if (!is_ranked(class))
            continue;
        bool above = class->score >= threshold;
        tally.above += above;
        if (!above && shown >= CLASSES_AT_LEAST) {
            tally.hidden++;
            continue;
        }
        if (!above && shown == tally.above)
            table__note(table, memory__format("    below the threshold of %g:", threshold));
        put_class(table, report, class, rank, gain);
        shown++;
    }
    return tally;
}

static bool nothing_is_ranked(const struct report *report)
{
    VEC_EACH(class, &report->profile->classes, struct profile_class)
    if (is_ranked(class))
        return false;
    return true;
}

static size_t patched_functions(const struct report *report)
{
    struct coverage coverage = coverage__collect(report);
    size_t count = coverage.instrumented.count + coverage.markers;
    coverage__free(&coverage);
    return count;
}

#define LOOK_INTO_FUNCTIONS                                                                  \
    "To look into the program's own functions: heurt hot -- CMD finds the busy ones, heurt " \
    "record -f NAME -- CMD records them."

static const char *advice(const struct report *report)
{
    if (report->profile->events == 0)
        return "Nothing was recorded: the program called none of the functions that heurt knows "
               "(locks, waits, input and output, sleep). " LOOK_INTO_FUNCTIONS;
    if (patched_functions(report) == 0)
        return "No known call (lock, wait, input, output) took longer than it must, so no time is "
               "lost there. " LOOK_INTO_FUNCTIONS;
    return "Every call and function that was recorded took as long as its fastest occurrence: no "
           "time is lost in them. " LOOK_INTO_FUNCTIONS;
}

static void put_none_above(const struct report *report, const struct style *style, FILE *out)
{
    char *text = memory__format("No class reaches the threshold of %g: in what was recorded no "
                                "thread loses much time to others.%s",
                                report->profile->threshold,
                                patched_functions(report) ? "" : " " LOOK_INTO_FUNCTIONS);
    paragraph__put(style, out, INK_PLAIN, "  ", text);
    free(text);
}

static void put_ranking(const struct report *report, const struct style *style, FILE *out)
{
    fputc('\n', out);
    if (nothing_is_ranked(report)) {
        paragraph__put(style, out, INK_PLAIN, "  ", advice(report));
        return;
    }
    bool gain = style->columns == 0 || style->columns >= GAIN_FROM_COLUMNS;
    struct table table = table__start(gain ? with_gain : without_gain, gain ? 8 : 7, 1);
    struct tally tally = put_classes(report, &table, gain);
    table__end(&table, style, out);
    if (tally.hidden) {
        char number[32];
        char *command = hint(report, "report", "--threshold 0");
        char *text =
            memory__format("%s more cost less: %s", count__format(tally.hidden, number), command);
        paragraph__put(style, out, INK_PLAIN, "    ", text);
        free(text);
        free(command);
    }
    if (tally.above == 0)
        put_none_above(report, style, out);
}

/* ---- what is not in the table
 * -------------------------------------------------------------------- */

struct idle_function {
    const char *name;
    uint64_t sum_ns;
};

static int by_time(const void *left, const void *right)
{
    const struct idle_function *a = left, *b = right;
    return a->sum_ns != b->sum_ns ? (a->sum_ns < b->sum_ns) - (a->sum_ns > b->sum_ns)
                                  : strcmp(a->name, b->name);
}

static struct vec idle_functions(const struct report *report)
{
    struct vec functions = VEC_OF(struct idle_function);
    VEC_EACH(class, &report->profile->classes, struct profile_class)
    {
        if (!class->idle || class->ignored)
            continue;
        struct idle_function *same = NULL;
        VEC_EACH(function, &functions, struct idle_function)
        if (strcmp(function->name, class->function) == 0)
            same = function;
        if (!same) {
            same = vec__push(&functions, NULL);
            same->name = class->function;
        }
        same->sum_ns += class->sum_ns;
    }
    if (functions.count)
        qsort(functions.items, functions.count, functions.item_bytes, by_time);
    return functions;
}

static void put_idle(const struct report *report, const struct style *style, FILE *out)
{
    struct vec functions = idle_functions(report);
    char *list = memory__text("");
    char duration[16];
    for (size_t i = 0; i < functions.count && i < IDLE_AT_MOST; i++) {
        struct idle_function *function = VEC_AT(&functions, struct idle_function, i);
        char *name = text__for_screen(function->name);
        char *longer = memory__format("%s%s%s %s", list, i ? ", " : "", name,
                                      duration__format(function->sum_ns, duration));
        free(name);
        free(list);
        list = longer;
    }
    if (functions.count > IDLE_AT_MOST) {
        char *longer = memory__format("%s and %zu more", list, functions.count - IDLE_AT_MOST);
        free(list);
        list = longer;
    }
    if (functions.count)
        paragraph__put(style, out, INK_PLAIN,
                       "  waiting for events, time or threads, not ranked: ", list);
    free(list);
    vec__free(&functions);
}

static void put_ignored(const struct report *report, FILE *out)
{
    size_t count = 0;
    uint64_t excess_ns = 0;
    char duration[16];
    VEC_EACH(class, &report->profile->classes, struct profile_class)
    {
        count += class->ignored;
        excess_ns += class->ignored ? class->excess_ns : 0;
    }
    if (count)
        fprintf(out, "  ignored as you asked (heurt.rules): %zu class%s, %s\n", count,
                count == 1 ? "" : "es", duration__format(excess_ns, duration));
}

/* What the mark in the table means. */
static void put_sampled(const struct report *report, const struct style *style, FILE *out)
{
    size_t classes = 0;
    uint64_t recorded = 0, count = 0;
    double error = 0;
    char number[32], all[32];
    VEC_EACH(class, &report->profile->classes, struct profile_class)
    {
        if (class->recorded == class->count)
            continue;
        double own = class->sum_ns ? (double)class->sum_error_ns / (double)class->sum_ns : 0;
        error = own > error ? own : error;
        classes++;
        recorded += class->recorded;
        count += class->count;
    }
    if (!classes)
        return;
    char *text = memory__format(
        "%zu class%s: to stay within --overhead %g%%, %s of %s occurrences were recorded, drawn "
        "at random; sums are within %.3g %% (standard error)",
        classes, classes == 1 ? "" : "es", trace__session(report->trace)->overhead_permille / 10.0,
        count__format(recorded, number), count__format(count, all), 100 * error);
    paragraph__put(style, out, INK_PLAIN, "  ~ sampled: ", text);
    free(text);
    if (profile__locks_are_sampled(report->profile))
        paragraph__put(style, out, INK_PLAIN, "  ~ locks: ",
                       "acquisitions that did not wait were sampled, of all locks of a thread "
                       "together: who held a lock is not always known; all waits were recorded");
}

static void put_coverage_line(const struct report *report, FILE *out)
{
    struct coverage coverage = coverage__collect(report);
    size_t all = coverage.instrumented.count + coverage.refused.count;
    char refused[32], asked[32], *command = hint(report, "report", "--coverage");
    if (coverage.refused.count)
        fprintf(out, "  not instrumented: %s of %s function%s (%s)\n",
                count__format(coverage.refused.count, refused), count__format(all, asked),
                all == 1 ? "" : "s", command);
    free(command);
    coverage__free(&coverage);
}

static void put_warnings(const struct report *report, const struct style *style, FILE *out)
{
    struct vec warnings = report__warnings(report);
    VEC_EACH(warning, &warnings, char *)
    {
        char *clean = text__for_screen(*warning);
        paragraph__put(style, out, INK_WARNING, "  warning: ", clean);
        free(clean);
    }
    texts__free(&warnings);
}

static void add_hint(struct flow *flow, const struct report *report, const char *verb,
                     const char *rest)
{
    bool first = flow->column == flow->indent;
    char *command = hint(report, verb, rest);
    char *piece = memory__format("%s%s", first ? "" : flow->style->unicode ? "· " : "| ", command);
    flow__add(flow, piece, INK_PLAIN, 1);
    free(piece);
    free(command);
}

/* Commands that help from here. */
static void put_next(const struct report *report, const struct style *style, FILE *out)
{
    struct flow flow = flow__start(style, out, 8);
    struct coverage coverage = coverage__collect(report);
    fputs("  next: ", out);
    flow.column = flow.indent;
    if (nothing_is_ranked(report))
        flow__add(&flow, "heurt hot -- CMD", INK_PLAIN, 1);
    else
        add_hint(&flow, report, "report", "1");
    if (coverage.refused.count)
        add_hint(&flow, report, "report", "--coverage");
    add_hint(&flow, report, "dump", "");
    flow__end(&flow);
    coverage__free(&coverage);
}

static void summary(const struct report *report, const struct style *style, FILE *out)
{
    put_header(report, style, out);
    put_thread_time(report, style, out);
    put_ranking(report, style, out);
    fputc('\n', out);
    put_idle(report, style, out);
    put_ignored(report, out);
    put_sampled(report, style, out);
    put_coverage_line(report, out);
    put_warnings(report, style, out);
    put_next(report, style, out);
}

const struct presenter presenter_text = {"text", summary, text__one_class, text__coverage};
