#include "analysis/findings/internal.h"

#include "analysis/openmp/openmp.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* What one thread works between parallel regions, while those of its team wait for the next one:
 * Amdahl's serial part. What comes before the first region and behind the last one is no part of
 * it. The loss is what the CPUs that the team would have had could do meanwhile, of the time that
 * samples found it at work; the gain is that of work which all could share. Several threads may
 * call regions, as ranks do: those that do so at a time share the CPUs, and what each could save
 * saves that part of the wall time. */

#define PARTS_LEAST_NS 50000000u /* sampled: less does not tell where */
#define TEAM_LEAST 1.1           /* CPUs: with less nobody could help */

static double callers_of(const struct finder *finder)
{
    return fmax(finder->openmp->efficiency.callers, 1);
}

/* The CPUs that the team of one caller can have. */
static double team_of(const struct finder *finder)
{
    return fmin(finder__cpus(finder) / callers_of(finder), finder->openmp->efficiency.threads);
}

uint64_t finder__between_ns(const struct finder *finder)
{
    uint64_t sampled_ns = 0;
    if (!finder->openmp || team_of(finder) < TEAM_LEAST)
        return 0;
    VEC_EACH (part, &finder->openmp->between, const struct serial_part)
        sampled_ns += part->ns;
    return sampled_ns < PARTS_LEAST_NS
               ? 0
               : ns__smaller(sampled_ns, finder->openmp->efficiency.between_ns);
}

/* Who of a team works then changes: the same of each thread that had work. */
static uint64_t *waiting_ns(const struct finder *finder, uint64_t lost_ns)
{
    size_t count = finder->profile->threads.count, teams = 0;
    uint64_t *ns = memory__zeroed(count + 1, sizeof *ns);
    for (size_t i = 0; i < count; i++)
        teams += finder->findings->had_work[i];
    for (size_t i = 0; i < count && teams; i++)
        ns[i] = finder->findings->had_work[i] ? lost_ns / teams : 0;
    return ns;
}

void finder__add_between(struct finder *finder)
{
    uint64_t between_ns = finder__between_ns(finder), wall_ns = finder->profile->wall_ns;
    if (!between_ns)
        return;
    double team = team_of(finder);
    const struct serial_part *most = finder->openmp->between.items;
    struct finding *finding = finder__add(finder, FINDING_IMBALANCE);
    finding->is_between = true;
    finding->lost_ns =
        ns__smaller((uint64_t)((double)between_ns * (team - 1)), finder->findings->working_ns);
    finding->place =
        program_frame__inlined(symbols__get(finder->symbols, most->process, most->address));
    uint64_t *ns = waiting_ns(finder, finding->lost_ns);
    finding__find_told_part(finder, finding, ns);
    double wall = (double)wall_ns;
    double saved = (double)between_ns * (1 - 1 / team) / callers_of(finder);
    finding__set_about(finding, saved < wall ? wall / (wall - saved) : 1);
    finding->is_assumed = true; /* that it can be divided */
    finding->confidence = CONFIDENCE_ESTIMATED;
    free(ns);
}
