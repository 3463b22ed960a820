/* Below the table: what is not ranked, and why. */
#include "base/memory.h"
#include "base/text.h"
#include "present/shared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_AT_MOST 4
#define APART_AT_MOST 4   /* classes of one kind below the threshold */
#define APART_FROM 0.005  /* the smallest score that does not show as 0.00 */
#define WITHIN_FROM 0.005 /* of a sum: an error that is worth telling */
#define GUESS_FROM 0.5

/* Takes over both; between is put between them unless text is empty. */
static char *append(char *text, const char *between, char *more)
{
    text = text__join(text, between, more);
    free(more);
    return text;
}

/* ---- classes that are no interference, or of which it is not known --------------------------- */

/* "#6 parse_chunk 0.31 (93 % with n)" */
static char *apart_text(const struct report *report, const struct profile_class *class, size_t rank)
{
    char unknown[32], share[16];
    struct place place = place__of_class(report, &class->what, unknown);
    enum reason reason =
        class->verdict == VERDICT_WORKLOAD ? REASON_WORKLOAD : class__main_reason(class);
    share__format((double)class->why_ns[reason] / (double)class->excess_ns, share);
    const struct profile_evidence *evidence = class__evidence(class, reason);
    const char *with = evidence ? evidence->argument : NULL;
    char *name = class__name(report, class, &place);
    char *why = reason == REASON_WORKLOAD && with
                    ? memory__format("%s with %s", share, with)
                    : memory__format("%s %s", reason__words(reason), share);
    char *text = memory__format("#%zu %s %s%.2f (%s)", rank, name,
                                class->recorded < class->count ? "~" : "", class->score, why);
    char *clean = text__for_screen(text);
    free(text);
    free(name);
    free(why);
    return clean;
}

/* What would show more of a class of which not enough is known; NULL: its arguments, or nobody
 * knows. */
static const char *what_would_tell(const struct report *report, const struct profile_class *class)
{
    if (trace__is_aggregated(report->trace))
        return "a run without --aggregate";
    if (profile__without_kernel(report->profile))
        return "the kernel's records (heurt check)";
    if (class->doubts & DOUBT_FEW)
        return "a longer run";
    if (class__is_hooked(&class->what) || !class__has_arguments(report, class))
        return NULL;
    return "the functions inside (heurt record -f NAME)";
}

struct apart {
    char *list, *hints, *arguments;
    size_t shown, hidden;
};

static void add_hints(const struct report *report, const struct profile_class *class,
                      struct apart *apart)
{
    const char *what = what_would_tell(report, class);
    if (what && !strstr(apart->hints, what))
        apart->hints = append(apart->hints, ", ", memory__text(what));
    if (class->what.at.kind != CLASS_CALL || class__has_arguments(report, class) ||
        trace__is_aggregated(report->trace) || apart->shown >= APART_AT_MOST)
        return;
    char *name = text__for_screen(class->what.at.function);
    apart->arguments = append(apart->arguments, " ", memory__format("-A '%s=arg1'", name));
    free(name);
}

/* All that reach the threshold, else the largest few. */
static struct apart collect_apart(const struct report *report, enum standing standing)
{
    struct apart apart = {memory__text(""), memory__text(""), memory__text(""), 0, 0};
    size_t rank = 0;
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        rank++;
        if (class__standing(class) != standing)
            continue;
        if (class->score < report->profile->threshold &&
            (apart.shown >= APART_AT_MOST || class->score < APART_FROM)) {
            apart.hidden++;
            continue;
        }
        apart.list = append(apart.list, ", ", apart_text(report, class, rank));
        add_hints(report, class, &apart);
        apart.shown++;
    }
    return apart;
}

/* The lead is part of the paragraph, which is indented less than it is long. */
static void put_apart(const struct report *report, enum standing standing, const char *lead,
                      const struct style *style, FILE *out)
{
    struct apart apart = collect_apart(report, standing);
    char number[32];
    bool one = apart.hidden == 1;
    count__format(apart.hidden, number);
    if (apart.hidden && apart.shown)
        apart.list = append(apart.list, " and ",
                            memory__format("%s more that cost%s less", number, one ? "s" : ""));
    else if (apart.hidden)
        apart.list = append(apart.list, "",
                            memory__format("%s class%s next to nothing", number,
                                           one ? " that costs" : "es that cost"));
    if (*apart.list)
        paragraph__put(style, out, INK_PLAIN, lead, apart.list);
    if (*apart.arguments)
        apart.hints =
            append(apart.hints, ", ",
                   memory__format("recorded arguments (heurt record %s), what other threads run "
                                  "meanwhile (-f)",
                                  apart.arguments));
    if (standing == STANDING_UNCLEAR && *apart.hints)
        paragraph__put(style, out, INK_PLAIN, "    what would tell more: ", apart.hints);
    free(apart.arguments);
    free(apart.list);
    free(apart.hints);
}

void text__not_interference(const struct report *report, const struct style *style, FILE *out)
{
    put_apart(report, STANDING_UNCLEAR, "  not enough evidence, not ranked: ", style, out);
    put_apart(report, STANDING_WORKLOAD, "  work varies, not ranked: ", style, out);
}

/* ---- what is not in the table ---------------------------------------------------------------- */

struct idle_function {
    const char *name;
    uint64_t sum_ns;
};

static int by_time(const void *left, const void *right)
{
    const struct idle_function *a = left, *b = right;
    return ORDER(b->sum_ns, a->sum_ns) ?: strcmp(a->name, b->name);
}

static struct vec idle_functions(const struct report *report)
{
    struct vec functions = VEC_OF(struct idle_function);
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        if (!class->idle || class->what.ignored ||
            !class__is_hooked(&class->what)) /* these are in functions */
            continue;
        struct idle_function *same = NULL;
        VEC_EACH (function, &functions, struct idle_function)
            if (strcmp(function->name, class->what.at.function) == 0)
                same = function;
        if (!same) {
            same = vec__push(&functions, NULL);
            same->name = class->what.at.function;
        }
        same->sum_ns += class->sum_ns;
    }
    vec__sort(&functions, by_time);
    return functions;
}

void text__idle(const struct report *report, const struct style *style, FILE *out)
{
    struct vec functions = idle_functions(report);
    char *list = memory__text("");
    char duration[16];
    for (size_t i = 0; i < functions.count && i < IDLE_AT_MOST; i++) {
        struct idle_function *function = VEC_AT(&functions, struct idle_function, i);
        char *name = text__for_screen(function->name);
        list = text__append(list, "%s%s %s", i ? ", " : "", name,
                            duration__format(function->sum_ns, duration));
        free(name);
    }
    if (functions.count > IDLE_AT_MOST)
        list = text__append(list, " and %zu more", functions.count - IDLE_AT_MOST);
    if (functions.count)
        paragraph__put(style, out, INK_PLAIN,
                       "  waiting for events, time or threads, not ranked: ", list);
    free(list);
    vec__free(&functions);
}

void text__ignored(const struct report *report, const struct style *style, FILE *out)
{
    size_t count = 0;
    uint64_t excess_ns = 0;
    char duration[16], number[32], *all = report__hint(report, "report", "--no-rules");
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        count += class->what.ignored;
        excess_ns += class->what.ignored ? class->excess_ns : 0;
    }
    if (count)
        paragraph__take(style, out, "  ",
                        memory__format("%s class%s hidden, as rules of this trace say: %s lost "
                                       "there. All: %s",
                                       count__format(count, number), count == 1 ? " is" : "es are",
                                       duration__format(excess_ns, duration), all));
    free(all);
}

#define SUM_FROM 0.01 /* of the threads' time: what takes less is on no screen */

/* "; sums are within 12 %": how far those of sampled classes may be off. */
static void within__format(double error, char text[48])
{
    if (error < WITHIN_FROM)
        *text = '\0';
    else if (error < GUESS_FROM)
        snprintf(text, 48, "; sums are within %.2g %%", 100 * error);
    else
        snprintf(text, 48, "; some sums are no more than guesses");
}

/* What the mark in the table means. */
void text__sampled(const struct report *report, const struct style *style, FILE *out)
{
    uint64_t recorded = 0, count = 0;
    double error = 0;
    char number[32], all[32], within[48];
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        if (class->recorded == class->count)
            continue;
        double own = class->sum_ns ? (double)class->sum_error_ns / (double)class->sum_ns : 0;
        bool is_large =
            (double)class->sum_ns >= SUM_FROM * (double)report->profile->lifetime_sum_ns;
        error = is_large && own > error ? own : error;
        recorded += class->recorded;
        count += class->count;
    }
    if (!count)
        return;
    const struct heurt_session *session = trace__session(report->trace);
    const char *form = session->later_ns /* the user did not ask */
                           ? "%s of %s occurrences, at random, so that recording and this report "
                             "take little (--overhead %g%% records more)%s"
                           : "%s of %s occurrences, at random, as --overhead asks (%g %%)%s";
    within__format(error, within);
    paragraph__take(style, out, "  ~ sampled: ",
                    memory__format(form, count__format(recorded, number), count__format(count, all),
                                   session->overhead_permille / 10.0, within));
    if (profile__locks_are_sampled(report->profile))
        paragraph__put(style, out, INK_PLAIN, "  ~ locks: ",
                       "every wait is recorded, but only some times that a lock was free "
                       "(heurt record --locks all)");
}

void text__coverage_line(const struct report *report, FILE *out)
{
    struct coverage coverage = coverage__collect(report);
    size_t all = coverage.instrumented.count + coverage.refused.count;
    char refused[32], asked[32], *command = report__hint(report, "report", "--coverage");
    if (coverage.refused.count)
        fprintf(out, "  not instrumented: %s of %s function%s (%s)\n",
                count__format(coverage.refused.count, refused), count__format(all, asked),
                all == 1 ? "" : "s", command);
    free(command);
    coverage__free(&coverage);
}
