#include "analysis/findings/internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define OFTEN 1000  /* waits, at least */
#define TOO_OFTEN 2 /* waits for one time that the function takes the lock */

static bool is_of(const struct finder *finder, const struct profile_class *class,
                  const struct symbol *place)
{
    const struct symbol *own = program_frame__of_class(finder->symbols, &class->what);
    return own && strcmp(own->function, place->function) == 0;
}

/* How often the function took locks: once for each thing that it waits for. */
static uint64_t acquisitions_in(const struct finder *finder, const struct symbol *place,
                                bool is_aside)
{
    uint64_t count = 0;
    VEC_EACH (class, &finder->profile->classes, struct profile_class)
        if (class->what.at.kind == CLASS_LOCK && class->what.is_aside == is_aside &&
            is_of(finder, class, place))
            count += class->count;
    return count;
}

/* Of waits that were repeated: those in which nothing was had. */
static double in_vain(const struct finder *finder, const struct profile_class *class)
{
    const struct symbol *place = program_frame__of_class(finder->symbols, &class->what);
    if (class->what.at.kind != CLASS_CONDITION || class->count < OFTEN || !place ||
        strcmp(class->what.at.function, WAIT_FOR_REGION) == 0) /* there is always one to be had */
        return 0;
    uint64_t had = acquisitions_in(finder, place, class->what.is_aside);
    return had && class->count >= TOO_OFTEN * had
               ? (double)(class->count - had) / (double)class->count
               : 0;
}

static const struct profile_blame *first_blame(const struct profile_class *class)
{
    const struct profile_blame *by =
        class->blames.count ? VEC_AT(&class->blames, struct profile_blame, 0) : NULL;
    return by && by->thread != UINT32_MAX ? by : NULL;
}

/* Waits of the thread that those of the herd end. */
static uint64_t waits_for(const struct finder *finder, const struct profile_class *herd,
                          uint32_t thread)
{
    uint64_t ns = 0;
    VEC_EACH (class, &finder->profile->classes, struct profile_class) {
        const struct profile_blame *by = first_blame(class);
        if (class != herd && class->what.at.kind == CLASS_CONDITION && by &&
            class__sum_on(herd, by->thread))
            ns += class__sum_on(class, thread);
    }
    return ns;
}

/* Who wakes them waits until they are away: for a CPU, and for the one that it meant. */
static void add_waker(const struct finder *finder, const struct profile_class *herd,
                      uint32_t thread, double vain, uint64_t *lost)
{
    uint64_t sum, *ns = finder__outside(finder, COMPONENT_OTHER_BLOCKED, &sum);
    const struct profile_thread *row = profile_thread_at(finder, thread);
    uint64_t kept_ns = ns__smaller(
        row->component_ns[COMPONENT_RUNNABLE] + waits_for(finder, herd, thread), row->lifetime_ns);
    lost[thread] += ns[thread] + (uint64_t)(vain * (double)kept_ns);
    free(ns);
}

/* Those who are woken want a CPU for nothing, and who wakes them waits until they are away. */
static void add_herd(struct finder *finder, uint32_t place, double vain)
{
    const struct profile_class *class = profile_class_at(finder->profile, place);
    uint64_t *lost = memory__zeroed(finder->profile->threads.count, sizeof *lost);
    double wakes = class->excess_ns
                       ? vain * (double)class->why_ns[COMPONENT_RUNNABLE] / (double)class->excess_ns
                       : 0;
    VEC_EACH (row, &class->threads, struct profile_thread_row)
        lost[row->thread] += (uint64_t)(wakes * (double)row->excess_ns);
    const struct profile_blame *by = first_blame(class);
    if (by)
        add_waker(finder, class, by->thread, vain, lost);
    struct finding *finding = finder__add(finder, FINDING_CONDITION);
    finding->leader = place;
    finding->place = program_frame__of_class(finder->symbols, &class->what);
    finding->has_object = true;
    finding->objects = 1;
    finding->in_vain = vain;
    finding->confidence = CONFIDENCE_ESTIMATED;
    vec__push(&finding->classes, &place);
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        finding->lost_ns += finder->findings->had_work[i] ? lost[i] : 0;
    finding__set_estimate(finder, finding, lost); /* and what waking costs, with it */
    if (by && finder->own)
        finding->lost_ns += (uint64_t)(vain * (double)finder->own[by->thread].waking_ns);
    finding__forget_gain_of_half(finder, finding);
    free(lost);
}

void finder__add_herds(struct finder *finder)
{
    for (uint32_t i = 0; i < finder->profile->classes.count; i++) {
        double vain = in_vain(finder, profile_class_at(finder->profile, i));
        if (vain > 0)
            add_herd(finder, i, vain);
    }
}
