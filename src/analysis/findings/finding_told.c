#include "analysis/findings/internal.h"

#include "base/memory.h"

#include <stdlib.h>

static bool is_aside(const struct finder *finder, uint32_t class)
{
    return profile_class_at(finder->profile, class)->what.is_aside;
}

uint64_t finder__told_ns(const struct finder *finder, const uint64_t *ns)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        if (finder->findings->had_work[i] && !trace__thread_at(finder->trace, i)->is_aside)
            sum += ns[i];
    return sum;
}

void finding__find_told_part(const struct finder *finder, struct finding *finding,
                             const uint64_t *lost)
{
    uint64_t all_ns = 0, told_ns = finder__told_ns(finder, lost);
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        all_ns += finder->findings->had_work[i] ? lost[i] : 0;
    finding->told_part = all_ns ? (double)told_ns / (double)all_ns : 0;
}

void finding__forget_gain_of_half(const struct finder *finder, struct finding *finding)
{
    if (profile_class_at(finder->profile, finding->leader)->twin_and_1)
        finding->wall_gain[0] = finding->wall_gain[1] = 0;
}

/* ---- a finding ------------------------------------------------------------------------------- */

/* How much of the time that its classes took is that of threads that are not aside. */
static double part_of_classes(const struct finder *finder, const struct finding *finding)
{
    uint64_t all_ns = 0, told_ns = 0;
    VEC_EACH (place, &finding->classes, uint32_t) {
        const struct profile_class *class = profile_class_at(finder->profile, *place);
        all_ns += class->sum_ns;
        told_ns += class->what.is_aside ? 0 : class->sum_ns;
    }
    return all_ns ? (double)told_ns / (double)all_ns : 0;
}

/* What each class lost is known; what is slower beside a lock is with the first one. */
static void tell_of_losses(const struct finder *finder, struct finding *finding)
{
    uint64_t lost_ns = 0;
    size_t kept = 0;
    *VEC_AT(&finding->losses, uint64_t, 0) -= finding->beside_ns;
    for (size_t i = 0; i < finding->losses.count; i++) {
        uint64_t ns = *VEC_AT(&finding->losses, uint64_t, i);
        if (is_aside(finder, *VEC_AT(&finding->classes, uint32_t, i)))
            continue;
        lost_ns += ns;
        *VEC_AT(&finding->losses, uint64_t, kept++) = ns;
    }
    finding->losses.count = kept;
    finding->beside_ns = kept ? finding->told_beside_ns : 0;
    if (kept)
        *VEC_AT(&finding->losses, uint64_t, 0) += finding->beside_ns;
    finding->lost_ns = lost_ns + finding->beside_ns;
}

static void keep_classes(const struct finder *finder, struct vec *places)
{
    size_t kept = 0;
    VEC_EACH (place, places, uint32_t)
        if (!is_aside(finder, *place))
            *VEC_AT(places, uint32_t, kept++) = *place;
    places->count = kept;
}

static uint32_t objects_of(const struct finder *finder, const struct finding *finding)
{
    uint32_t objects = 0;
    for (size_t i = 0; i < finding->classes.count; i++) {
        const struct profile_class *class =
            profile_class_at(finder->profile, *VEC_AT(&finding->classes, uint32_t, i));
        bool is_new = class->what.has_object;
        for (size_t k = 0; k < i && is_new; k++) {
            const struct profile_class *other =
                profile_class_at(finder->profile, *VEC_AT(&finding->classes, uint32_t, k));
            is_new = other->what.object != class->what.object ||
                     other->what.at.kind != class->what.at.kind;
        }
        objects += is_new;
    }
    return objects;
}

/* Where it is follows from samples, or from what one thread does, and not from classes. */
static bool has_own_place(const struct finding *finding)
{
    return finding->sharing || finding->is_dealing || finding->remote ||
           finding->category == FINDING_IMBALANCE || finding->category == FINDING_SPINNING ||
           finding->category == FINDING_RETRY ||
           (finding->category == FINDING_TASK && finding->classes.count == 0);
}

/* A class of the others leads it no more. What no class tells was told of the process as a whole.
 */
static void find_leader(const struct finder *finder, struct finding *finding)
{
    const uint32_t *first = finding->classes.items;
    if (finding->leader != FINDING_NO_CLASS && !is_aside(finder, finding->leader))
        return;
    finding->leader = finding->classes.count ? *first : FINDING_NO_CLASS;
    if (has_own_place(finding))
        return;
    finding->place = finding->classes.count
                         ? program_frame__of_class(finder->symbols,
                                                   &profile_class_at(finder->profile, *first)->what)
                         : NULL;
    finding->has_object &= finding->classes.count > 0;
}

static uint64_t error_of(const struct finder *finder, const struct finding *finding)
{
    uint64_t ns = 0;
    VEC_EACH (place, &finding->classes, uint32_t)
        ns += profile_class_at(finder->profile, *place)->sum_error_ns;
    return ns;
}

static void tell_of_some(const struct finder *finder, struct finding *finding)
{
    bool is_replayed = finding__can_be_replayed(finder->profile, finding),
         has_losses = finding->losses.count > 0;
    double part = finding->told_part < 0 ? part_of_classes(finder, finding) : finding->told_part;
    finding->is_of_some = true;
    VEC_EACH (place, &finding->classes, uint32_t)
        if (is_replayed)
            vec__push(&finding->removed, place);
    if (has_losses)
        tell_of_losses(finder, finding);
    else
        finding->lost_ns = (uint64_t)((double)finding->lost_ns * part);
    keep_classes(finder, &finding->classes);
    keep_classes(finder, &finding->beside);
    find_leader(finder, finding);
    if (!has_losses)
        return;
    finding->error_ns = error_of(finder, finding);
    finding->objects = objects_of(finder, finding);
    finding->has_object &= finding->objects > 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void tell_of_times(struct finder *finder)
{
    struct findings *findings = finder->findings;
    uint64_t runnable_ns, *ns = finder__outside(finder, COMPONENT_RUNNABLE, &runnable_ns);
    findings->runnable_ns = finder__told_ns(finder, ns);
    findings->idle_ns = finder__told_ns(finder, finder->idle_ns);
    findings->short_ns = finder__told_ns(finder, finder->short_ns);
    findings->working_ns = findings->working_threads = 0;
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        bool *had_work = &findings->had_work[i];
        *had_work = *had_work && !trace__thread_at(finder->trace, i)->is_aside;
        findings->working_ns += *had_work ? profile_thread_at(finder, i)->lifetime_ns : 0;
        findings->working_threads += *had_work;
    }
    free(ns);
}

void finder__tell_of_some(struct finder *finder)
{
    struct vec *rows = &finder->findings->rows;
    size_t kept = 0;
    if (!trace__has_asides(finder->trace))
        return;
    VEC_EACH (finding, rows, struct finding) {
        tell_of_some(finder, finding);
        if (finding->lost_ns)
            *VEC_AT(rows, struct finding, kept++) = *finding;
        else
            finding__free(finding);
    }
    rows->count = kept;
    tell_of_times(finder);
}
