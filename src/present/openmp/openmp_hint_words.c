/* What to try with parallel regions, in words, and the command that replays the run with it. */
#include "analysis/events/openmp_acts.h"
#include "base/memory.h"
#include "base/text.h"
#include "present/openmp/openmp_names.h"
#include "present/openmp/openmp_screens.h"
#include "present/report/report_parts.h"

#include <inttypes.h>
#include <stdlib.h>

#define NEARLY_LEAST 0.9 /* of a replay's gain: others cost what they cost */
#define NEARLY_MOST 1.1

const char *openmp_hint__name(unsigned kind)
{
    static const char *const names[] = {[HINT_DYNAMIC] = "dynamic",
                                        [HINT_GUIDED] = "guided",
                                        [HINT_EVEN] = "even",
                                        [HINT_COLLAPSE] = "collapse",
                                        [HINT_NOWAIT] = "nowait",
                                        [HINT_LARGER_CHUNKS] = "larger chunks",
                                        [HINT_LARGER_TASKS] = "larger tasks",
                                        [HINT_FEWER_WAITS] = "fewer waits for tasks",
                                        [HINT_NO_TASKWAIT] = "no taskwait",
                                        [HINT_JOIN_REGIONS] = "join regions",
                                        [HINT_REDUCTION] = "reduction",
                                        [HINT_SHORTER_SECTION] = "shorter section",
                                        [HINT_SEVERAL_LOCKS] = "several locks",
                                        [HINT_FEWER_THREADS] = "fewer threads",
                                        [HINT_BIND] = "bind",
                                        [HINT_PASSIVE] = "passive"};
    return kind < sizeof names / sizeof *names ? names[kind] : "?";
}

size_t openmp_hint__rank(const struct openmp_use *use, const struct openmp_hint *hint)
{
    size_t rank = 0;
    VEC_EACH (region, &use->regions, const struct parallel_region) {
        rank++;
        if (region->process == hint->process && region->site == hint->region_site)
            return rank;
    }
    return 0;
}

/* free() it. */
static char *lock_name(const struct report *report, const struct openmp_hint *hint)
{
    const char *name = report__variable(report, hint->process, hint->lock);
    return name ? memory__text(name) : memory__format("0x%" PRIx64, hint->lock);
}

/* Of a factor: 1.05 is not told as 1.0. */
static int digits_of(double factor)
{
    return factor < 1.1 ? 2 : 1;
}

static char *schedule_words(const struct openmp_hint *hint, const char *place)
{
    char factor[24];
    snprintf(factor, sizeof factor, "%.*f", digits_of(hint->figure), hint->figure);
    if (hint->kind == HINT_GUIDED)
        return memory__format("schedule(guided) for the loop at %s: its busiest thread has %s× the "
                              "work of the average one",
                              place, factor);
    if (hint->n)
        return memory__format("schedule(dynamic, %" PRIu64 ") for the loop at %s: its busiest "
                              "thread has %s× the work of the average one",
                              hint->n, place, factor);
    return memory__format("schedule(dynamic, n) or (guided) for the loop at %s, with n as many as "
                          "take some 20 us: its busiest thread has %s× the work of the average one",
                          place, factor);
}

static char *lock_words(const struct report *report, const struct openmp_hint *hint,
                        const char *place)
{
    char held[16], *lock = lock_name(report, hint), *words = NULL;
    duration__format((uint64_t)hint->figure, held);
    if (hint->kind == HINT_REDUCTION)
        words = memory__format("atomic, or a reduction, in place of the critical section at %s, "
                               "which is held for %s only",
                               place, held);
    else if (hint->kind == HINT_SEVERAL_LOCKS)
        words =
            memory__format("several locks in place of %s (one for each part of what it guards), "
                           "which is held for %s at %s",
                           lock, held, place);
    else
        words = memory__format("less in the section at %s, which is held for %s", place, held);
    free(lock);
    return words;
}

static char *words_of(const struct openmp_report *shown, const struct openmp_hint *hint,
                      const char *place)
{
    char time[16], share[16];
    duration__format((uint64_t)hint->figure, time);
    switch (hint->kind) {
    case HINT_DYNAMIC:
    case HINT_GUIDED:
        return schedule_words(hint, place);
    case HINT_EVEN:
        return memory__format(
            "divide the work that ends at %s evenly (a loop: schedule(dynamic) or "
            "(guided)): the busiest thread has %.*f× that of the average one",
            place, digits_of(hint->figure), hint->figure);
    case HINT_COLLAPSE:
        return memory__format("collapse(2) for the loop at %s, if the next loop in it may run in "
                              "any order, too: %.0f iterations are few for %" PRIu32 " threads",
                              place, hint->figure, shown->use->efficiency.threads);
    case HINT_NOWAIT:
        return memory__format("nowait at %s: does what follows need what the others do before it?",
                              place);
    case HINT_LARGER_CHUNKS:
        return memory__format("schedule(dynamic, %" PRIu64
                              ") for the loop at %s: its chunks take %s",
                              hint->n, place, time);
    case HINT_LARGER_TASKS:
        return memory__format("%" PRIu64 "× as much in a task made at %s (taskloop: grainsize; "
                              "recursion: final), which takes %s",
                              hint->n, place, time);
    case HINT_FEWER_WAITS:
        return memory__format("depend() on tasks made at %s in place of the wait for them, or more "
                              "before it: it is for %" PRIu64
                              " at a time, and threads have none to "
                              "run for %s of their time",
                              place, hint->n, share__format(hint->figure, share));
    case HINT_NO_TASKWAIT:
        return memory__format("no taskwait behind tasks made at %s: does the task that waits need "
                              "what they made? Else it may end before them; else depend(). Threads "
                              "wait in one for its own for %s of their time",
                              place, share__format(hint->figure, share));
    case HINT_JOIN_REGIONS:
        return memory__format("one parallel region around several: that of %s takes %s", place,
                              time);
    case HINT_FEWER_THREADS:
        return memory__format("OMP_NUM_THREADS=%" PRIu64
                              ", as many as there are CPUs: threads of %s "
                              "want one for %s of their time",
                              hint->n, place, share__format(hint->figure, share));
    case HINT_BIND:
        return memory__format("OMP_PROC_BIND=close OMP_PLACES=cores: threads change their CPU %.0f "
                              "times a second",
                              hint->figure);
    case HINT_PASSIVE:
        return memory__format("OMP_WAIT_POLICY=passive: there are more threads than CPUs, and they "
                              "wait for %s of their time",
                              share__format(hint->figure, share));
    default:
        return lock_words(shown->report, hint, place);
    }
}

char *openmp_hint__words(const struct openmp_report *shown, const struct openmp_hint *hint)
{
    char *place =
        openmp_place__in_region(shown->report, hint->process,
                                hint->site ? hint->site : hint->region_site, hint->region_site);
    char *words = words_of(shown, hint, place);
    free(place);
    return words;
}

char *openmp_hint__command(const struct openmp_report *shown, const struct openmp_hint *hint)
{
    size_t rank = openmp_hint__rank(shown->use, hint);
    char *rest = NULL, *command;
    if (hint->kind == HINT_DYNAMIC && hint->n)
        rest = memory__format("--schedule %zu=dynamic,%" PRIu64, rank, hint->n);
    else if (hint->kind == HINT_GUIDED)
        rest = memory__format("--schedule %zu=guided", rank);
    else if (hint->kind == HINT_DYNAMIC || hint->kind == HINT_EVEN)
        rest = memory__format("--balance %zu", rank);
    if (!rank || !rest) {
        free(rest);
        return NULL;
    }
    command = report__hint(shown->report, "whatif", rest);
    free(rest);
    return command;
}

void openmp_hint__gain(const struct openmp_hint *hint, double gain[2])
{
    gain[0] = hint->is_bound ? 1 : 1 + (hint->gain - 1) * NEARLY_LEAST;
    gain[1] = hint->is_bound ? hint->gain : 1 + (hint->gain - 1) * NEARLY_MOST;
}
