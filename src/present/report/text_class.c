/* One class in depth, and the list of what was instrumented. */
#include "base/memory.h"
#include "present/shared.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_AT_MOST 32
#define STACKS_AT_MOST 5
#define BAR_CELLS 20

/* ---- who and what ---------------------------------------------------------------------------- */

static void put_title(const struct report *report, const struct profile_class *class, size_t rank,
                      const struct style *style, FILE *out)
{
    char unknown[32];
    struct place place = place__of_class(report, &class->what, unknown);
    bool hooked = class__is_hooked(&class->what) && class->what.at.site;
    char *text = hooked
                     ? memory__format("class %zu: %s called by %s", rank, class->what.at.function,
                                      place.function)
                     : memory__format("class %zu: %s", rank, class__function(report, &class->what));
    char *clean = text__for_screen(text);
    ink__put(style, out, INK_BOLD, clean);
    fputc('\n', out);
    free(clean);
    free(text);
    if (place.file)
        paragraph__take(style, out, "  source   ", place__source(&place, true));
    if (place.module)
        paragraph__take(style, out, "  module   ", memory__text(place.module));
}

static void put_identity(const struct report *report, const struct profile_class *class,
                         const struct style *style, FILE *out)
{
    paragraph__take(style, out, "  kind     ", memory__text(class_kind__name(class->what.at.kind)));
    if (class->what.has_object)
        paragraph__take(style, out, "  object   ", class__object_text(report, &class->what));
    if (class->what.keys.count)
        paragraph__take(style, out, "  key      ", class__keys(&class->what));
    const struct trace_process *process = report__process(report, class->what.at.process);
    if (process && trace__processes(report->trace)->count > 1)
        paragraph__take(style, out, "  process  ",
                        memory__format("%s (pid %u)", process->path, process->pid));
    if (class->idle)
        paragraph__take(
            style, out, "  ranked   ",
            memory__text("no: it waits for work, for events, for time or for a thread's end"));
    if (class->what.ignored)
        paragraph__take(style, out, "  ranked   ",
                        memory__text("no: a rule of this trace hides it"));
}

static char *confidence_reason(const struct profile_class *class)
{
    char number[32], open[32], error[16];
    count__format(class->count, number);
    bool concluded = class->cause >= REASON_WORKLOAD && class->cause != REASON_UNEXPLAINED;
    if (class->confidence == CONFIDENCE_WEAK && concluded && class->recorded >= 100)
        return memory__text("weak: the evidence for the cause (below) may be chance");
    if (class->confidence == CONFIDENCE_WEAK)
        return memory__format("weak: of only %s occurrence%s the fastest may itself have been "
                              "disturbed, so more than this may be lost",
                              number, class->count == 1 ? "" : "s");
    if (class->recorded < class->count)
        return memory__format("estimated: %s of %s occurrences were recorded, drawn at random, and "
                              "stand for all; lost is ± %s (standard error)",
                              count__format(class->recorded, open), number,
                              duration__format(class->sum_error_ns, error));
    if (class->unfinished)
        return memory__format("estimated: %s of %s occurrences have no end of their own in the "
                              "trace",
                              count__format(class->unfinished, open), number);
    if (concluded)
        return memory__text("estimated: the cause is concluded from single occurrences (below)");
    return memory__text("estimated: a part of it was not measured itself");
}

static double interference_ns(const struct profile_class *class)
{
    double sum = 0;
    for (unsigned i = 0; i < REASONS; i++)
        if (i < COMPONENT_OVERHEAD || (i >= REASON_OVERLAP && i <= REASON_SPIN))
            sum += (double)class->why_ns[i];
    return sum;
}

static char *verdict_reason(const struct profile_class *class)
{
    char share[16];
    double excess = (double)class->excess_ns;
    if (class->excess_ns == 0)
        return memory__text("nothing is lost");
    if (class->idle)
        return memory__text("none: to wait for work, for time or for a thread's end is no loss");
    if (class->verdict == VERDICT_INTERFERENCE) {
        share__format(interference_ns(class) / excess, share);
        bool is_shared =
            class->why_ns[REASON_FALSE_SHARING] > 0 || class->why_ns[REASON_TRUE_SHARING] > 0;
        return memory__format("interference, mostly %s: waits, preemption%s and others at work are "
                              "%s of what is lost",
                              reason__words(class->cause), is_shared ? ", shared lines" : "",
                              share);
    }
    if (class->verdict == VERDICT_WORKLOAD) {
        share__format((double)class->why_ns[REASON_WORKLOAD] / excess, share);
        return memory__format("work varies, not ranked: %s of what is lost goes with what there "
                              "was to do",
                              share);
    }
    share__format((double)class->why_ns[REASON_UNEXPLAINED] / excess, share);
    return memory__format("not enough evidence, not ranked: %s of what is lost is not explained",
                          share);
}

/* In a part of a run classes have other numbers than those that heurt whatif knows. */
static char *gain_in_part(const struct report *report, const struct profile_class *class,
                          const struct style *style)
{
    char gain[GAIN_BYTES];
    gain__format(class->wall_gain, style->unicode, gain);
    if (!(class->wall_gain[0] > 0))
        return memory__text("not known");
    if (strcmp(gain, "none") == 0)
        return memory__text("none: the program as a whole waits for others");
    return memory__format("%s faster as a whole without this loss%s", gain,
                          trace__has_asides(report->trace) ? ", in all threads" : "");
}

/* What the program as a whole would gain. */
static char *gain_text(const struct report *report, const struct profile_class *class, size_t rank,
                       const struct style *style)
{
    char gain[GAIN_BYTES];
    if (report->profile->no_gains)
        return memory__format("not known: %s", report->profile->no_gains);
    if (report__is_of_part(report))
        return gain_in_part(report, class, style);
    char *number = memory__format("%zu", rank);
    char *command = report__hint(report, "whatif", number);
    char *text = NULL;
    gain__format(class->wall_gain, style->unicode, gain);
    if (!(class->wall_gain[0] > 0))
        text = memory__format("%s tells how much less wall time it would take without this loss",
                              command);
    else if (strcmp(gain, "none") == 0)
        text = memory__format("none: the program as a whole waits for others (%s tells more)",
                              command);
    else
        text =
            memory__format("%s faster as a whole without this loss (%s tells more)", gain, command);
    free(command);
    free(number);
    return text;
}

static void put_verdict(const struct report *report, const struct profile_class *class, size_t rank,
                        const struct style *style, FILE *out)
{
    char lost[16], all[16], own[16];
    paragraph__take(style, out, "  lost     ",
                    memory__format("%s of %s thread time", duration__format(class->excess_ns, lost),
                                   duration__format(report->profile->lifetime_sum_ns, all)));
    paragraph__take(style, out, "  gain     ", gain_text(report, class, rank, style));
    paragraph__take(style, out, "  own      ",
                    memory__format("%s outside of recorded calls within it (exclusive)",
                                   duration__format(class->exclusive_excess_ns, own)));
    paragraph__take(style, out, "  score    ",
                    memory__format("%.4f on the thread that loses most, %.4f over all threads "
                                   "(threshold %g)",
                                   class->score, class->score_all, report->profile->threshold));
    paragraph__take(style, out, "  verdict  ", verdict_reason(class));
    paragraph__take(style, out, "  why      ", class__why(report, class, style));
    if (class->confidence != CONFIDENCE_MEASURED)
        paragraph__take(style, out, "  note     ", confidence_reason(class));
    char some[32], every[32], share[16];
    if ((class->what.at.kind == CLASS_LOCK || class->what.at.kind == CLASS_SEMAPHORE) &&
        class->count)
        paragraph__take(
            style, out, "  blocked  ",
            memory__format("%s of %s times (%s)", count__format(class->contended, some),
                           count__format(class->count, every),
                           share__format((double)class->contended / (double)class->count, share)));
}

static void put_durations(const struct profile_class *class, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"times", RIGHT}, {"min", RIGHT}, {"p50", RIGHT},
                                                 {"p99", RIGHT},   {"max", RIGHT}, {"sum", RIGHT}};
    heading__put(style, out, "durations");
    struct grid grid = grid__start(columns, 6, 2);
    grid__count(&grid, class->count);
    grid__duration(&grid, class->min_ns);
    grid__duration(&grid, class->p50_ns);
    grid__duration(&grid, class->p99_ns);
    grid__duration(&grid, class->max_ns);
    grid__duration(&grid, class->sum_ns);
    grid__end(&grid, style, out);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const char *low_confidence(enum confidence confidence)
{
    return confidence == CONFIDENCE_MEASURED ? "" : confidence__name(confidence);
}

/* How sure the part of a reason is; "": it was measured, or nothing is known of that. */
static const char *reason_confidence(const struct profile_class *class, enum reason reason)
{
    const struct profile_evidence *evidence = class__evidence(class, reason);
    if (evidence)
        return low_confidence(evidence->confidence);
    if (reason >= REASON_WORKLOAD)
        return "";
    bool estimate = reason == (enum reason)COMPONENT_OVERHEAD ||
                    reason == (enum reason)COMPONENT_PAGE_FAULT || class->recorded < class->count;
    return low_confidence(estimate ? CONFIDENCE_ESTIMATED : CONFIDENCE_MEASURED);
}

/* A component can be smaller than in the fastest occurrence; then its part is negative. */
static void put_component(struct grid *grid, const struct profile_class *class, enum reason reason,
                          const struct style *style)
{
    int64_t ns = class->why_ns[reason];
    double share = (double)ns / (double)class->excess_ns;
    char buffer[16];
    duration__format(ns < 0 ? -(uint64_t)ns : (uint64_t)ns, buffer);
    grid__cell(grid, memory__format("%s%s", ns < 0 ? "-" : "", buffer), INK_PLAIN);
    grid__share(grid, share);
    grid__cell(grid, memory__text(reason__words(reason)), INK_PLAIN);
    grid__cell(grid, memory__text(reason_confidence(class, reason)), INK_PLAIN);
    grid__cell(grid, bar__format(style, share, BAR_CELLS), INK_PLAIN);
}

/* Those that are not 0, the largest first; returns how many. */
static unsigned largest_reasons(const struct profile_class *class, enum reason reasons[REASONS])
{
    unsigned count = 0;
    for (unsigned reason = 0; reason < REASONS; reason++) {
        if (!class->why_ns[reason])
            continue;
        unsigned place = count++;
        for (; place && class->why_ns[reasons[place - 1]] < class->why_ns[reason]; place--)
            reasons[place] = reasons[place - 1];
        reasons[place] = (enum reason)reason;
    }
    return count;
}

static void put_components(const struct profile_class *class, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"lost", RIGHT}, {"share", RIGHT}, {"to", LEFT}, {"", LEFT}, {"", LEFT}};
    if (class->excess_ns == 0)
        return;
    heading__put(style, out, "what the lost time went to (adds up to all of it)");
    struct grid grid = grid__start(columns, 5, 2);
    enum reason reasons[REASONS];
    for (unsigned left = largest_reasons(class, reasons), i = 0; i < left; i++)
        put_component(&grid, class, reasons[i], style);
    grid__end(&grid, style, out);
}

/* ---- evidence -------------------------------------------------------------------------------- */

/* "thread 4002", or "". */
static char *thread_text(const struct report *report, const char *before, uint32_t thread)
{
    const struct vec *threads = trace__threads(report->trace);
    return thread < threads->count
               ? memory__format("%sthread %u", before,
                                VEC_AT(threads, struct trace_thread, thread)->tid)
               : memory__text("");
}

static char *other_text(const struct report *report, const struct profile_class *class,
                        const struct profile_evidence *evidence)
{
    char longer[16];
    char *name = evidence__other(report, class, evidence);
    char *thread = thread_text(report, ", mostly in ", evidence->thread);
    double slope = evidence->slope_ns > 0 ? evidence->slope_ns : 0;
    duration__format(slope < 1e18 ? (uint64_t)slope : 0, longer);
    size_t rank = report__rank_of(report, evidence->other);
    char *number = rank ? memory__format(" (#%zu)", rank) : memory__text("");
    char *text = memory__format(
        "%s longer when %s%s %s all the time%s", longer,
        strcmp(name, "itself") ? name : "the same class", number,
        evidence->reason == REASON_OVERLAP ? "runs on another CPU" : "is preempted", thread);
    free(name);
    free(thread);
    free(number);
    return text;
}

static char *evidence_text(const struct report *report, const struct profile_class *class,
                           const struct profile_evidence *evidence)
{
    if (evidence->reason == REASON_OVERLAP || evidence->reason == REASON_SPIN)
        return other_text(report, class, evidence);
    if (evidence->reason == REASON_WORKLOAD)
        return memory__format("its duration follows %s",
                              evidence->argument ? evidence->argument : "what there was to do");
    if (evidence->reason == REASON_FALSE_SHARING || evidence->reason == REASON_TRUE_SHARING)
        return memory__format(
            "samples: threads write %s bytes of cache line 0x%" PRIx64 " and others",
            evidence->reason == REASON_FALSE_SHARING ? "different" : "the same", evidence->line);
    if (evidence->reason == REASON_REMOTE_MEMORY)
        return memory__text("samples: threads are at memory of other NUMA nodes");
    if (evidence->reason == REASON_SLOW_MACHINE)
        return memory__text("other classes were slower on that CPU then, too");
    return memory__text("");
}

static char *fraction_text(double fraction)
{
    return memory__format("%.2f", fraction);
}

static void put_evidence(const struct report *report, const struct profile_class *class,
                         const struct style *style, FILE *out)
{
    struct grid_column columns[] = {{"for", LEFT},
                                    {style->unicode ? "r²" : "r2", LEFT},
                                    {"chance", LEFT},
                                    {"because", WRAPPED},
                                    {"confidence", LEFT}};
    if (class->evidence.count == 0)
        return;
    heading__put(style, out, "evidence (beside it the chance level)");
    struct grid grid = grid__start(columns, 5, 2);
    VEC_EACH (evidence, &class->evidence, struct profile_evidence) {
        grid__cell(&grid, memory__text(reason__words(evidence->reason)), INK_PLAIN);
        bool is_sampled = isnan(evidence->explained);
        grid__cell(&grid, is_sampled ? memory__text("") : fraction_text(evidence->explained),
                   INK_PLAIN);
        grid__cell(&grid, is_sampled ? memory__text("") : fraction_text(evidence->null), INK_PLAIN);
        grid__take(&grid, evidence_text(report, class, evidence), INK_PLAIN);
        grid__cell(&grid, memory__text(confidence__name(evidence->confidence)), INK_PLAIN);
    }
    grid__end(&grid, style, out);
}

static void put_doubts(const struct profile_class *class, const struct style *style, FILE *out)
{
    if (class->doubts == 0)
        return;
    heading__put(style, out, "caveats");
    for (unsigned i = 0; i < DOUBTS; i++)
        if (class->doubts & 1u << i)
            paragraph__put(style, out, INK_PLAIN, "  - ", doubt__words(i));
}

/* ---- who is to blame ------------------------------------------------------------------------- */

static void put_blame(struct grid *grid, const struct report *report,
                      const struct profile_blame *blame, uint64_t all_ns)
{
    char unknown[32];
    struct place place = place__of_site(report, blame->process, blame->site, unknown);
    char *thread = thread_text(report, "", blame->thread);
    grid__share(grid, all_ns ? (double)blame->wait_ns / (double)all_ns : 0);
    grid__duration(grid, blame->wait_ns);
    grid__count(grid, blame->waits);
    grid__take(grid, memory__text(place.function), INK_BOLD);
    grid__take(grid, place__source(&place, true), INK_PLAIN);
    grid__take(grid, memory__text(*thread ? thread + strlen("thread ") : "several"), INK_PLAIN);
    grid__cell(grid, blame__meanwhile(report, blame), INK_PLAIN);
    free(thread);
}

static const char *blame_heading(enum class_kind kind)
{
    switch (kind) {
    case CLASS_BARRIER:
        return "who came last";
    case CLASS_CONDITION:
        return "who signalled";
    case CLASS_SEMAPHORE:
        return "who posted";
    default:
        return "who held the lock meanwhile";
    }
}

static void put_blames(const struct report *report, const struct profile_class *class,
                       const struct style *style, FILE *out)
{
    const struct grid_column columns[] = {
        {"share", RIGHT},
        {"waited", RIGHT},
        {"times", RIGHT},
        {class->what.at.kind == CLASS_LOCK ? "acquired by" : "by", WRAPPED},
        {"", WRAPPED},
        {"tid", LEFT},
        {"and meanwhile", WRAPPED}};
    uint64_t all_ns = profile_class__held_ns(report->profile, class), unknown_ns = all_ns;
    if (class->blames.count == 0)
        return;
    heading__put(style, out, blame_heading(class->what.at.kind));
    struct grid grid = grid__start(columns, 7, 2);
    VEC_EACH (blame, &class->blames, struct profile_blame) {
        put_blame(&grid, report, blame, all_ns);
        unknown_ns -= blame->wait_ns;
    }
    if (unknown_ns) {
        grid__share(&grid, (double)unknown_ns / (double)all_ns);
        grid__duration(&grid, unknown_ns);
        grid__take(&grid, memory__text(""), INK_PLAIN);
        grid__take(&grid, memory__text("not known: acquisitions were sampled"), INK_PLAIN);
        for (int i = 0; i < 3; i++)
            grid__take(&grid, memory__text(""), INK_PLAIN);
    }
    grid__end(&grid, style, out);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void put_thread(struct grid *grid, const struct report *report,
                       const struct profile_thread_row *row)
{
    const struct vec *threads = trace__threads(report->trace);
    const struct trace_thread *thread =
        row->thread < threads->count ? VEC_AT(threads, struct trace_thread, row->thread) : NULL;
    grid__cell(grid, thread ? memory__format("%u", thread->tid) : memory__text("?"), INK_PLAIN);
    grid__take(grid, memory__text(thread ? thread->name : ""), INK_PLAIN);
    grid__cell(grid, memory__format("%.4f", row->score), INK_PLAIN);
    grid__duration(grid, row->excess_ns);
    grid__count(grid, row->count);
    grid__duration(grid, row->sum_ns);
}

static void put_threads(const struct report *report, const struct profile_class *class,
                        const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"tid", RIGHT},  {"name", LEFT},   {"score", LEFT},
                                                 {"lost", RIGHT}, {"times", RIGHT}, {"sum", RIGHT}};
    heading__put(style, out, "threads");
    struct grid grid = grid__start(columns, 6, 2);
    for (size_t i = 0; i < class->threads.count && i < THREADS_AT_MOST; i++)
        put_thread(&grid, report, VEC_AT(&class->threads, struct profile_thread_row, i));
    if (class->threads.count > THREADS_AT_MOST)
        grid__note(&grid, memory__format("and %zu more that lose less (--json has them all)",
                                         class->threads.count - THREADS_AT_MOST));
    grid__end(&grid, style, out);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

void stack__put(const struct report *report, const struct profile_stack *stack, unsigned indent,
                const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"", WRAPPED}, {"", WRAPPED}, {"", WRAPPED}};
    struct vec texts;
    struct vec frames = stack__frames(report, stack, &texts);
    struct grid grid = grid__start(columns, 3, indent);
    VEC_EACH (frame, &frames, struct frame) {
        grid__take(&grid, memory__text(frame->place.function), INK_PLAIN);
        grid__take(&grid, place__source(&frame->place, true), INK_PLAIN);
        grid__cell(&grid, memory__text(frame->inlined ? "inlined" : ""), INK_DIM);
    }
    grid__end_without_titles(&grid, style, out);
    vec__free(&frames);
    texts__free(&texts);
}

static void put_stack(const struct report *report, const struct profile_stack *stack,
                      const struct style *style, FILE *out)
{
    char share[16];
    fprintf(out, "  %s\n", share__format(stack->share, share));
    stack__put(report, stack, 6, style, out);
}

void class_stacks__put(const struct report *report, const struct profile_class *class, size_t most,
                       const struct style *style, FILE *out)
{
    size_t count = class->what.stacks.count;
    if (count == 0)
        return;
    heading__put(style, out, "call stacks (innermost first; share of those that were taken)");
    for (size_t i = 0; i < count && i < most; i++)
        put_stack(report, VEC_AT(&class->what.stacks, struct profile_stack, i), style, out);
    if (count > most)
        fprintf(out, "  and %zu rarer ones (--json has them all)\n", count - most);
}

/* Of a call no more than what its caller makes. */
static void put_how_to_hide(const struct report *report, const struct profile_class *class,
                            const struct style *style, FILE *out)
{
    char unknown[32];
    struct place place = place__of_class(report, &class->what, unknown);
    bool has_caller = class__is_hooked(&class->what) && place.function != unknown;
    char *subject = memory__format("%s%s%s", class->what.at.function, has_caller ? " in " : "",
                                   has_caller ? place.function : "");
    char *option = memory__format("--ignore '%s'", subject);
    char *hint = report__hint(report, "report", option);
    paragraph__take(style, out, "  ",
                    memory__format("To hide it in reports of this trace: %s; --forget '%s' takes "
                                   "it back.",
                                   hint, subject));
    free(hint);
    free(option);
    free(subject);
}

static void put_feedback(const struct report *report, const struct profile_class *class,
                         const struct style *style, FILE *out)
{
    heading__put(style, out, "if this is no interference");
    if (class__has_arguments(report, class))
        paragraph__take(
            style, out, "  ",
            memory__format("Where its duration rightly depends on an argument, compare only "
                           "equal ones: heurt report --key '%s=NAME'.",
                           class->what.at.function));
    else if (class->what.at.kind == CLASS_CALL)
        paragraph__take(
            style, out, "  ",
            memory__format("Where its duration rightly depends on an argument, compare only equal "
                           "ones: record the argument (heurt record -A '%s=arg1') and make "
                           "it a key: heurt report --key '%s=arg1'.",
                           class->what.at.function, class->what.at.function));
    put_how_to_hide(report, class, style, out);
}

void text__one_class(const struct report *report, size_t rank, const struct style *style, FILE *out)
{
    if (rank < 1 || rank > report->profile->classes.count)
        return;
    const struct profile_class *class =
        VEC_AT(&report->profile->classes, struct profile_class, rank - 1);
    put_title(report, class, rank, style, out);
    put_identity(report, class, style, out);
    put_verdict(report, class, rank, style, out);
    put_durations(class, style, out);
    fputc('\n', out);
    histogram__put(report, class, style, out);
    class_structure__put(class->what.structure, style, out);
    put_components(class, style, out);
    put_evidence(report, class, style, out);
    text__lines_of_class(report, class, style, out);
    put_doubts(class, style, out);
    put_blames(report, class, style, out);
    put_threads(report, class, style, out);
    class_stacks__put(report, class, STACKS_AT_MOST, style, out);
    put_feedback(report, class, style, out);
}

/* ---- coverage -------------------------------------------------------------------------------- */

static size_t rows_alike(const struct vec *rows, size_t from, bool by_reason)
{
    const struct coverage_row *first = VEC_AT(rows, struct coverage_row, from);
    size_t i = from + 1;
    for (; i < rows->count; i++) {
        const struct coverage_row *row = VEC_AT(rows, struct coverage_row, i);
        if (strcmp(by_reason ? row->reason : row->module,
                   by_reason ? first->reason : first->module) != 0)
            break;
    }
    return i - from;
}

/* One heading a reason (or a module), then its functions. */
static void put_groups(const struct vec *rows, bool by_reason, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"", WRAPPED}, {"", WRAPPED}};
    for (size_t i = 0; i < rows->count;) {
        size_t alike = rows_alike(rows, i, by_reason);
        const struct coverage_row *first = VEC_AT(rows, struct coverage_row, i);
        const char *heading = by_reason ? first->reason : first->module;
        char *lead = memory__format("%6zu  ", alike);
        paragraph__take(style, out, lead, memory__text(*heading ? heading : "(module not known)"));
        free(lead);
        struct grid grid = grid__start(columns, 2, 10);
        for (size_t end = i + alike; i < end; i++) {
            const struct coverage_row *row = VEC_AT(rows, struct coverage_row, i);
            grid__take(&grid, memory__text(row->function), INK_PLAIN);
            grid__take(&grid, memory__text(by_reason ? row->module : ""), INK_DIM);
        }
        grid__end_without_titles(&grid, style, out);
    }
}

void text__coverage(const struct report *report, const struct style *style, FILE *out)
{
    struct coverage coverage = coverage__collect(report);
    size_t done = coverage.instrumented.count, refused = coverage.refused.count;
    char first[32], second[32], third[32];
    if (done + refused == 0)
        paragraph__put(style, out, INK_PLAIN, "",
                       "No function was asked for (heurt record -f NAME, -F FILE, -M MODULE): only "
                       "the calls that heurt knows were recorded.");
    else
        fprintf(out, "%s function%s asked for: %s instrumented, %s not.\n",
                count__format(done + refused, first), done + refused == 1 ? " was" : "s were",
                count__format(done, second), count__format(refused, third));
    const char *choice = trace__meta(report->trace, "choice");
    if (choice) {
        char *clean = text__for_screen(choice);
        char *sentence = memory__format("Nobody asked: %s.", clean);
        paragraph__put(style, out, INK_PLAIN, "", sentence);
        free(sentence);
        free(clean);
    }
    if (coverage.markers)
        fprintf(out, "%s marked region%s in the source.\n", count__format(coverage.markers, first),
                coverage.markers == 1 ? "" : "s");
    if (refused)
        heading__put(style, out, "not instrumented, by reason");
    put_groups(&coverage.refused, true, style, out);
    if (done)
        heading__put(style, out, "instrumented, by module");
    put_groups(&coverage.instrumented, false, style, out);
    coverage__free(&coverage);
}
