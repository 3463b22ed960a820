/* What a sweep comes to, in sentences. */
#include "base/memory.h"
#include "present/scaling/scaling_screens.h"
#include "present/shared.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONSTANT_FROM 0.97    /* sigma: it does not divide at all */
#define GOOD_FROM 0.95        /* efficiency ahead: nothing limits */
#define OTHERS_FROM_SHARE 0.2 /* of the CPUs: it was no measure of the program alone */
#define CPU_GROWTH_FROM 1.3   /* CPU time: it is not the same work */
#define SCATTER_TOLD_FROM 0.1 /* of runs of one count */

char *scaling__count_text(enum scaling_axis axis, double count)
{
    return memory__format("%.0f %s%s", count, axis == SCALING_CPUS ? "CPU" : "thread",
                          count == 1 ? "" : "s");
}

/* ---- laws ------------------------------------------------------------------------------------ */

/* "12 % (10–14)"; "12 %" where no interval is known. free() it. */
static char *percent_text(const struct law_interval *share)
{
    double percent = 100 * share->value;
    int digits = percent < 9.95 ? 1 : 0;
    char *text = memory__format("%.*f %%", digits, percent);
    return isnan(share->high) ? text
                              : text__append(text, " (%.*f–%.*f)", digits, 100 * share->low, digits,
                                             100 * share->high);
}

/* Also where a law does not divide at all. */
static char *amdahl_text(const struct law *law, const char *what)
{
    if (law->sigma.value >= CONSTANT_FROM)
        return memory__format("takes as long with any number of %s", what);
    char *share = percent_text(&law->sigma);
    char *text = memory__format("%s of it does not divide among %s (Amdahl's law)", share, what);
    free(share);
    return text;
}

static char *universal_text(const struct law *law, const char *what)
{
    char *sigma = percent_text(&law->sigma), *kappa = percent_text(&law->kappa);
    char *text = memory__format("%s of it does not divide among %s, and each pair of them adds %s "
                                "(Universal Scalability Law: σ, κ)",
                                sigma, what, kappa);
    free(sigma);
    free(kappa);
    return text;
}

static char *refusal_text(const struct law *law, const char *what)
{
    switch (law->refusal) {
    case LAW_NOISE:
        return memory__format("its times differ too much between equal runs (by %.0f %%) for a law",
                              100 * law->scatter);
    case LAW_MISFIT:
        return memory__format("no law fits: at %.0f %s it is %.0f %% %s", law->misfit_at, what,
                              100 * fabs(law->misfit), law->misfit > 0 ? "more" : "less");
    case LAW_SUPERLINEAR:
        return memory__format("falls faster than the number of %s explains (caches?)", what);
    default:
        return memory__text("too few counts for a law");
    }
}

char *law__text(const struct law *law, enum scaling_axis axis)
{
    const char *what = axis == SCALING_CPUS ? "CPUs" : "threads";
    switch (law->kind) {
    case LAW_LINEAR:
        return memory__format("divides among %s", what);
    case LAW_AMDAHL:
        return amdahl_text(law, what);
    case LAW_UNIVERSAL:
        return universal_text(law, what);
    case LAW_OVERHEAD:
        return memory__format("grows with the number of %s: others cause it", what);
    default:
        return refusal_text(law, what);
    }
}

/* ---- the verdict ----------------------------------------------------------------------------- */

/* "2.1 (2.0–2.3)". free() it. */
static char *times_text(const struct law_interval *speedup)
{
    char *text = memory__format("%.1f", speedup->value);
    bool is_known = !isnan(speedup->low) && !isnan(speedup->high);
    bool is_wide = is_known && speedup->high - speedup->low >= 0.1;
    return is_wide ? text__append(text, " (%.1f–%.1f)", speedup->low, speedup->high) : text;
}

/* How a part's name reads at the beginning of a sentence. free() it. */
static char *subject_text(const char *label)
{
    static const struct {
        const char *label, *text;
    } begins[] = {
        {"working in ", "Work in "},        {"working", "Work"},
        {"lock ", "Waiting for the lock "}, {"between parallel ", "Work between parallel "},
        {"starting and ", "Starting and "}, {"no thread recorded", "Starting and ending"},
        {"wanted a CPU", "Wanting a CPU"},  {"all else", "What is small"},
        {"page faults", "Page faults"},
    };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        size_t length = strlen(begins[i].label);
        if (strncmp(label, begins[i].label, length) == 0)
            return memory__format("%s%s", begins[i].text, label + length);
    }
    if (!strstr(label, " region "))
        return memory__format("Waiting (%s)", label);
    char *text = memory__text(label);
    *text = (char)toupper((unsigned char)*text);
    return text;
}

static char *speedup_text(const struct scaling_view *view)
{
    const struct scaling *scaling = view->scaling;
    const struct scaling_count *first =
        VEC_AT(&scaling->counts, struct scaling_count, scaling->first);
    bool is_sure = scaling->law.kind != LAW_NONE && scaling->law.is_tested;
    char *times[SCALING_AHEAD], *at = scaling__count_text(scaling->axis, scaling->ahead[0]);
    for (size_t i = 0; i < SCALING_AHEAD; i++) {
        const struct law_interval speedup = scaling__speedup_ahead(scaling, i);
        times[i] = times_text(&speedup);
    }
    char *text = memory__format("with %s the program would be %s%s times as fast as with %.0f, not "
                                "%.0f; with %.0f %s",
                                at, is_sure ? "" : "about ", times[0], first->count,
                                scaling->ahead[0] / first->count, scaling->ahead[1], times[1]);
    for (size_t i = 0; i < SCALING_AHEAD; i++)
        free(times[i]);
    free(at);
    double most = law__fastest(&scaling->law);
    return most < scaling->ahead[1] ? text__append(text, "; it is fastest with about %.0f", most)
                                    : text;
}

static char *limited_text(const struct scaling_view *view)
{
    const struct scaling *scaling = view->scaling;
    const struct scaling_part *limit = scaling__limit(scaling);
    const struct law_interval speedup = scaling__speedup_ahead(scaling, 0);
    double first = VEC_AT(&scaling->counts, struct scaling_count, scaling->first)->count;
    char *at = scaling__count_text(scaling->axis, scaling->ahead[0]), *text;
    if (speedup.value * first / scaling->ahead[0] >= GOOD_FROM) {
        text = memory__format("Nothing limits it up to %s: it would be %.1f times as fast there as "
                              "with %.0f.",
                              at, speedup.value, first);
    } else {
        char *subject = limit ? subject_text(limit->label) : NULL;
        char *times = speedup_text(view);
        text = memory__format("%s limits: %s.", subject ? subject : "No single part", times);
        free(subject);
        free(times);
    }
    free(at);
    return text;
}

static char *nothing_told_text(const struct scaling_view *view)
{
    const struct scaling *scaling = view->scaling;
    bool is_any = false;
    VEC_EACH (count, &scaling->counts, struct scaling_count)
        is_any = is_any || count->alone;
    if (!is_any)
        return memory__text("No run ended well: nothing is known of how the program scales.");
    return memory__format("How the program scales is not known: that takes two counts of threads "
                          "that its %" PRIu32 " CPU%s can run at a time, with runs that end well.",
                          view->cpus, view->cpus == 1 ? "" : "s");
}

static const struct scaling_count *used_count(const struct scaling *scaling, size_t place)
{
    return VEC_AT(&scaling->counts, struct scaling_count, place);
}

/* What takes from the verdict. Takes over text. */
static char *with_doubts(const struct scaling_view *view, char *text)
{
    const struct scaling *scaling = view->scaling;
    char first[16], last[16];
    if (scaling__cpu_growth(scaling) >= CPU_GROWTH_FROM)
        text = text__append(
            text,
            " But its CPU time grows from %s to %s: threads do more work, or spin "
            "while they wait%s.",
            duration__format((uint64_t)used_count(scaling, scaling->first)->cpu_ns, first),
            duration__format((uint64_t)used_count(scaling, scaling->last)->cpu_ns, last),
            view->is_openmp ? " (OMP_WAIT_POLICY=passive lets them sleep)" : "");
    if (scaling->others >= OTHERS_FROM_SHARE * view->cpus)
        text = text__append(
            text, " Other programs used %.1f of the %" PRIu32 " CPUs meanwhile: that is rough.",
            scaling->others, view->cpus);
    return text;
}

char *scaling__sentence(const struct scaling_view *view)
{
    const struct scaling *scaling = view->scaling;
    if (view->seen)
        return memory__format("The program had %" PRIu32 " thread%s with every count: nothing told "
                              "it how many. Put {} into its command where that number belongs.",
                              view->seen, view->seen == 1 ? "" : "s");
    if (scaling->law.refusal == LAW_FEW)
        return nothing_told_text(view);
    if (scaling->law.refusal == LAW_NOISE)
        return with_doubts(view, memory__format("Equal runs differ too much (by %.0f %%) to tell "
                                                "how the program scales: a quieter machine or "
                                                "longer runs would, or more of them (--repeat).",
                                                100 * scaling->law.scatter));
    return with_doubts(view, limited_text(view));
}

/* ---- what to try ----------------------------------------------------------------------------- */

char *scaling__try(const struct scaling_view *view)
{
    static const struct {
        const char *label, *text;
    } tries[] = {
        {"between parallel", "make what runs between the regions parallel, too"},
        {"starting and", "longer runs: starting and ending takes as long with any number"},
        {"no thread recorded", "longer runs: starting and ending takes as long with any number"},
        {"waiting at the end", "schedule(dynamic) or (guided) for its loop, or smaller tasks"},
        {"waiting at barriers", "fewer barriers (nowait), or work that is divided more evenly"},
        {"waiting for locks", "a reduction, or less work while the lock is held"},
        {"having no task", "more and smaller tasks, made by several threads"},
        {"beginning and", "fewer and larger parallel regions"},
        {"lock ", "less work while the lock is held, or one lock for each part of the data"},
        {"working", "divide that work among the threads, too"},
        {"work in", "divide that work among the threads, too"},
    };
    const struct scaling_part *limit = scaling__limit(view->scaling);
    for (size_t i = 0; limit && !view->seen && i < sizeof tries / sizeof *tries; i++)
        if (strncmp(limit->label, tries[i].label, strlen(tries[i].label)) == 0)
            return memory__text(tries[i].text);
    return NULL;
}

/* ---- speed-up loss --------------------------------------------------------------------------- */

char *speedup_row__refusal(const struct speedup_row *row)
{
    char here[32], first[32];
    switch (row->refusal) {
    case SPEEDUP_NO_FIRST:
        return memory__text("no runs on one CPU to compare with");
    case SPEEDUP_SPIN:
        return memory__text("threads wait on a CPU (they spin), which looks like work: "
                            "OMP_WAIT_POLICY=passive");
    case SPEEDUP_WORK:
        return memory__format("the work is not the same: %s %s, and on one CPU %s",
                              count__format(row->here.count, here), row->here.what,
                              count__format(row->first.count, first));
    case SPEEDUP_SWITCHES:
        return memory__text("the kernel did not tell when threads were on a CPU (heurt check)");
    default:
        return NULL;
    }
}

/* ---- notes ----------------------------------------------------------------------------------- */

static void note(struct vec *notes, char *text)
{
    vec__push(notes, &text);
}

static void note_law(const struct scaling_view *view, struct vec *notes)
{
    const struct scaling *scaling = view->scaling;
    const struct law *law = &scaling->law;
    char measured[16], predicted[16];
    if (law->refusal == LAW_FEW || law->refusal == LAW_NOISE || view->seen)
        return;
    char *text = law__text(law, scaling->axis);
    char *whole = memory__format("The whole: %s.", text);
    free(text);
    if (law->kind != LAW_NONE && law->is_tested)
        whole =
            text__append(whole, " It lies within %.1f %% of each count.", 100 * fabs(law->misfit));
    else if (law->kind != LAW_NONE)
        whole = text__append(whole,
                             " %s counts do not test that law: what is told of more %s holds if it "
                             "is the right one.",
                             law->counts == 2 ? "Two" : "Three",
                             scaling->axis == SCALING_CPUS ? "CPUs" : "threads");
    if (law->kind != LAW_NONE && isnan(law->quantile))
        whole =
            text__append(whole, " Of one run each it is not known how sure that is (--repeat).");
    if (scaling->is_of_parts && !isnan(scaling->whole_ahead[0].value))
        whole = text__append(whole, " What the table has for it ahead is the sum of its parts.");
    note(notes, whole);
    if (isnan(scaling->held_out.value))
        return;
    const struct scaling_count *last =
        VEC_AT(&scaling->counts, struct scaling_count, scaling->last);
    note(notes, memory__format("Tried on what is known: from the smaller counts the law says %s "
                               "for %.0f; measured: %s.",
                               duration__format((uint64_t)scaling->held_out.value, predicted),
                               last->count, duration__format((uint64_t)last->wall_ns, measured)));
}

static void note_ahead(const struct scaling_view *view, struct vec *notes)
{
    const struct scaling *scaling = view->scaling;
    bool is_told = scaling->parts.count && !view->seen && !isnan(scaling->whole_ahead[0].value);
    if (is_told && scaling->axis == SCALING_THREADS)
        note(notes,
             memory__format("at %.0f: as the laws tell, on as many CPUs.", scaling->ahead[0]));
}

static void note_crowded(const struct scaling_view *view, struct vec *notes)
{
    if (view->scaling->axis == SCALING_CPUS)
        return;
    VEC_EACH (count, &view->scaling->counts, struct scaling_count)
        if (count->is_crowded) {
            note(notes, memory__format("*: more threads than the %" PRIu32 " CPU%s: that is "
                                       "another thing than scaling, and used for no law.",
                                       count->cpus, count->cpus == 1 ? "" : "s"));
            return;
        }
}

static void note_scatter(const struct scaling_view *view, struct vec *notes)
{
    double most = 0;
    VEC_EACH (count, &view->scaling->counts, struct scaling_count)
        if (count->is_used && count->scatter > most)
            most = count->scatter;
    if (most > SCATTER_TOLD_FROM)
        note(notes, memory__format("Equal runs differ by up to %.0f %%: the machine is not quiet, "
                                   "or the program's work varies.",
                                   100 * most));
    if (view->scaling->others > 0 && view->scaling->others < OTHERS_FROM_SHARE * view->cpus)
        note(notes, memory__format("Other programs used %.1f of the %" PRIu32 " CPU%s meanwhile.",
                                   view->scaling->others, view->cpus, view->cpus == 1 ? "" : "s"));
}

static void note_recording(const struct scaling_view *view, struct vec *notes)
{
    if (!isnan(view->scaling->recording))
        note(notes, memory__format("Times are those of runs alone; what they went to is from the "
                                   "recorded runs (%+.1f %%), scaled to them.",
                                   100 * view->scaling->recording));
}

struct vec scaling__notes(const struct scaling_view *view)
{
    struct vec notes = VEC_OF(char *);
    note_law(view, &notes);
    note_ahead(view, &notes);
    note_crowded(view, &notes);
    note_scatter(view, &notes);
    VEC_EACH (text, view->refused, char *)
        note(&notes, memory__format("Left out, it failed: %s.", *text));
    note_recording(view, &notes);
    note(&notes,
         memory__text("Not looked at: other inputs, and memory bandwidth (no counters); what "
                      "more CPUs share, this machine cannot tell."));
    return notes;
}
