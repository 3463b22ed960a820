/* What a report comes to, in a sentence or two. */
#include "base/memory.h"
#include "base/text.h"
#include "present/mpi/mpi_screens.h"
#include "present/openmp/openmp_screens.h"
#include "present/report/findings_words.h"
#include "present/report/report_parts.h"
#include "present/report/unseen.h"

#include <stdlib.h>
#include <string.h>

#define CERTAIN_FROM 1.01 /* a gain that is at least so much */
#define LITTLE_BELOW 1.1  /* a gain that is at most so much */
#define TOLD_PART 5       /* of their time: what takes so much of it is told */

/* "One lock holds 4 threads back.": those that waited for it. */
static char *waiters_of(const struct report *report, const struct finding *finding,
                        const char *what)
{
    size_t threads = trace__threads(report->trace)->count, count = 0;
    bool *waits = memory__zeroed(threads + 1, sizeof *waits);
    char number[32];
    VEC_EACH (place, &finding->classes, uint32_t)
        VEC_EACH (row, &VEC_AT(&report->profile->classes, struct profile_class, *place)->threads,
                  struct profile_thread_row)
            if (row->excess_ns && row->thread < threads)
                waits[row->thread] = true;
    for (size_t i = 0; i < threads; i++)
        count += waits[i] && report->findings->had_work[i];
    free(waits);
    return memory__format("%s %s thread%s back.", what, count__format(count, number),
                          count == 1 ? "" : "s");
}

static char *what_is_wrong(const struct report *report, const struct finding *finding)
{
    char *workers = workers__text(report), *text;
    if (finding->is_gil)
        text = waiters_of(report, finding, "Python's GIL holds");
    else if (finding->is_ordered)
        text = waiters_of(report, finding, "An ordered section holds");
    else if (finding->category == FINDING_LOCK && finding->objects == 1)
        text = waiters_of(report, finding, "One lock holds");
    else if (trace__has_asides(report->trace))
        text = finding__verdict(report, finding);
    else if (finding->bound_cpus)
        text = memory__format("%s wanted a CPU while other CPUs were free: they stay on %u of the "
                              "%s CPUs.",
                              workers, finding->bound_cpus, trace__meta(report->trace, "cpus"));
    else if (finding->category == FINDING_CPU &&
             profile__cpus_of_others(report->profile, report->trace) > 0)
        text = memory__format("%s wanted CPUs that other programs used.", workers);
    else if (finding->category == FINDING_CPU)
        text = memory__format("%s wanted more CPUs than there were for them.", workers);
    else
        text = finding__verdict(report, finding);
    free(workers);
    return text;
}

/* A time only where something is certain to be gained. */
static char *without_it(const struct report *report, const struct finding *finding,
                        const struct style *style)
{
    char gain[GAIN_BYTES], duration[16];
    bool is_sure = finding->confidence == CONFIDENCE_MEASURED && !finding->is_assumed;
    gain__format(finding->wall_gain, style->unicode, gain);
    if (strcmp(gain, "none") == 0)
        return memory__text("Without that the run would take as long: others are waited for.");
    if (strcmp(gain, "?") == 0)
        return memory__text("What would be gained is not known.");
    const char *times = style->unicode ? "×" : "x";
    bool of_all = trace__has_asides(report->trace);
    if (finding->wall_gain[0] < CERTAIN_FROM && finding->wall_gain[1] < LITTLE_BELOW)
        return memory__format("The %srun would hardly be faster without: %.2f%s at most.",
                              of_all ? "whole " : "", finding->wall_gain[1], times);
    if (finding->wall_gain[0] < CERTAIN_FROM)
        return memory__format("Without that%s up to %.1f%s faster.",
                              of_all ? ", in all threads, the whole run would be" : ":",
                              finding->wall_gain[1], times);
    return memory__format("Without that%s %s %s (%s faster).",
                          of_all ? ", in all threads, the whole run would take" : ":",
                          is_sure ? "about" : "perhaps",
                          duration__format(finding->wall_without_ns, duration), gain);
}

/* Of the threads that had work. */
static void sum_roles(const struct report *report, struct role *sum)
{
    VEC_EACH (role, &report->findings->roles, struct role) {
        if (!role->had_work)
            continue;
        sum->lifetime_ns += role->lifetime_ns;
        sum->idle_ns += role->idle_ns;
        sum->asked_ns += role->asked_ns;
        for (unsigned i = 0; i < COMPONENTS; i++)
            sum->component_ns[i] += role->component_ns[i];
    }
}

/* "worked 60 % of its time, was idle for 20 % and wanted a CPU for 20 %": parts are words of what,
 * which are freed. */
static char *joined(char **parts, size_t count)
{
    char *text = memory__text("");
    for (size_t i = 0; i < count; i++) {
        text = text__append(text, "%s%s", !i ? "" : i + 1 < count ? ", " : " and ", parts[i]);
        free(parts[i]);
    }
    return text;
}

static char *part_of(const char *form, uint64_t ns, const struct role *sum)
{
    char share[16];
    return memory__format("%s %s", form,
                          share__format((double)ns / (double)sum->lifetime_ns, share));
}

/* What threads that had work did with their time. */
static char *did(const struct role *sum, bool one)
{
    const uint64_t *ns = sum->component_ns;
    char *parts[5], share[16];
    size_t count = 0;
    share__format((double)ns[COMPONENT_RUNNING] / (double)sum->lifetime_ns, share);
    parts[count++] = memory__format("worked %s of %s time", share, one ? "its" : "their");
    if (sum->idle_ns >= sum->lifetime_ns / 100)
        parts[count++] = part_of(one ? "was idle for" : "were idle for", sum->idle_ns, sum);
    if (ns[COMPONENT_RUNNABLE] >= sum->lifetime_ns / TOLD_PART)
        parts[count++] = part_of("wanted a CPU for", ns[COMPONENT_RUNNABLE], sum);
    if (sum->asked_ns >= sum->lifetime_ns / TOLD_PART)
        parts[count++] = part_of("yielded or asked for", sum->asked_ns, sum);
    if (ns[COMPONENT_OTHER_BLOCKED] >= sum->lifetime_ns / TOLD_PART)
        parts[count++] =
            part_of("had waits of unknown cause for", ns[COMPONENT_OTHER_BLOCKED], sum);
    return joined(parts, count);
}

#define LOST_IN_REGIONS \
    0.15 /* of what threads could do: then there is something, if no one cause */

static bool loses_in_regions(const struct report *report)
{
    return report->openmp && !trace__has_asides(report->trace) &&
           1 - efficiency__of_regions(&report->openmp->efficiency) -
                   efficiency__no_cpu(&report->openmp->efficiency) >=
               LOST_IN_REGIONS;
}

#define UNKNOWN_PART 4 /* of the time: more in waits of unknown cause is said first */

/* As far as one could see. */
static char *found_nothing(const struct report *report, const struct role *sum)
{
    if (loses_in_regions(report))
        return memory__text("No single cause is large enough, and parallel regions lose much of "
                            "their threads' time (heurt openmp)");
    const struct runtime_kind *kind = NULL;
    bool hides_waits = false;
    while ((kind = runtime__next(report, kind)))
        hides_waits |= kind->hides_waits;
    return memory__text(
        hides_waits ? "No interference found among its threads, and what goes on in "
                      "its runtime is not seen"
        : report__saw_little(report)
            ? "Little can be said: most of the work was in processes that changed "
              "their user, which left the recording"
        : sum->component_ns[COMPONENT_OTHER_BLOCKED] > sum->lifetime_ns / UNKNOWN_PART
            ? "No interference found in what is known"
            : "No interference found");
}

/* " Other programs used 1.2 of the 2 CPUs: …", where threads wanted some, or "". Who yields has no
 * CPU, either, while others have it. */
static char *cpus_of_others(const struct report *report, const struct role *sum)
{
    double cpus = profile__cpus_of_others(report->profile, report->trace);
    const char *all = trace__meta(report->trace, "cpus");
    uint64_t wanted_ns = sum->component_ns[COMPONENT_RUNNABLE] + sum->asked_ns;
    bool wanted = wanted_ns >= sum->lifetime_ns / TOLD_PART;
    return wanted && cpus > 0 && all && *all
               ? memory__format(" Other programs used %.1f of the %s CPUs: a quiet machine tells "
                                "more.",
                                cpus, all)
               : memory__text("");
}

#define BUSY_PART 0.8

/* " It worked alone: …", where the program is one process that hardly waits and there are more CPUs
 * than one, or "". */
static char *works_alone(const struct report *report, const struct role *sum)
{
    const char *cpus = trace__meta(report->trace, "cpus");
    double worked = (double)sum->component_ns[COMPONENT_RUNNING];
    bool is_alone =
        report->findings->working_threads == 1 && worked >= BUSY_PART * (double)sum->lifetime_ns &&
        trace__processes(report->trace)->count == 1 && !trace__has_asides(report->trace);
    return is_alone && cpus && atoi(cpus) > 1
               ? memory__format(
                     " It worked alone: with its work divided among threads, the %s CPUs "
                     "could share it.",
                     cpus)
               : memory__text("");
}

static char *nothing_wrong(const struct report *report)
{
    struct role sum = {0};
    sum_roles(report, &sum);
    char *found = found_nothing(report, &sum);
    if (!sum.lifetime_ns)
        return text__append(found, ".");
    char *workers = workers__text(report),
         *what = did(&sum, report->findings->working_threads == 1);
    char *others = cpus_of_others(report, &sum);
    char *alone = *others ? memory__text("") : works_alone(report, &sum);
    char *text = memory__format("%s: %s %s.%s%s", found, workers, what, alone, others);
    free(found);
    free(alone);
    free(others);
    free(what);
    free(workers);
    return text;
}

/* What others took is said already where that is the finding. */
static char *others_beside(const struct report *report, const struct finding *finding)
{
    struct role sum = {0};
    sum_roles(report, &sum);
    return finding->category == FINDING_CPU || trace__has_asides(report->trace)
               ? memory__text("")
               : cpus_of_others(report, &sum);
}

/* Of ranks of MPI: who is waited for. NULL: nobody stands out. */
static char *late_rank(const struct report *report)
{
    return report->mpi && !trace__has_asides(report->trace) ? mpi_use__verdict(report) : NULL;
}

void text__verdict(const struct report *report, const struct style *style, FILE *out)
{
    const struct finding *finding = findings__verdict(report->findings);
    char *late = late_rank(report);
    bool is_of_ranks = late && finding && finding->category == FINDING_MESSAGE;
    if (late && !is_of_ranks)
        paragraph__take(style, out, "  ", memory__text(late));
    if (!finding) {
        paragraph__take(style, out, "  ", nothing_wrong(report));
        free(late);
        return;
    }
    char *wrong = is_of_ranks ? memory__text(late) : what_is_wrong(report, finding);
    char *without = without_it(report, finding, style);
    free(late);
    char *others = others_beside(report, finding);
    paragraph__take(style, out, "  ", memory__format("%s %s%s", wrong, without, others));
    free(others);
    free(wrong);
    free(without);
}
