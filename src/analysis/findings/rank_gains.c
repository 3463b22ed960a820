#include "analysis/findings/rank_gains.h"

#include "analysis/mpi/mpi.h"
#include "analysis/mpi/rank_replay.h"

#include <math.h>

#define MISFIT 0.05 /* of a gain, to either side */

/* Ranks of one host cannot be done sooner than its CPUs allow. */
static uint64_t least_ns(const struct mpi_use *use, uint32_t cpus)
{
    uint64_t work_ns = 0;
    VEC_EACH (rank, &use->ranks, const struct mpi_rank)
        work_ns += rank->work_ns;
    return use->hosts < 2 && cpus ? work_ns / cpus : 0;
}

static double gain_of(const struct mpi_use *use, uint32_t cpus, enum rank_change_type type)
{
    uint64_t before = rank_replay__recorded_ns(use->replay), least = least_ns(use, cpus),
             after = rank_replay__wall_ns(use->replay, &(struct rank_change){.type = type});
    after = after > least ? after : least;
    return after && after < before ? (double)before / (double)after : 1;
}

void rank_gains__fill(const struct mpi_use *use, uint32_t cpus, struct findings *findings)
{
    const double gains[] = {gain_of(use, cpus, RANKS_BALANCED), gain_of(use, cpus, RANKS_EVEN)};
    double low = fmin(gains[0], gains[1]), high = fmax(gains[0], gains[1]);
    uint64_t first_ns = 0;
    VEC_EACH (finding, &findings->rows, struct finding)
        if (finding->category == FINDING_MESSAGE && finding->lost_ns > first_ns)
            first_ns = finding->lost_ns;
    VEC_EACH (finding, &findings->rows, struct finding) {
        if (finding->category != FINDING_MESSAGE || !first_ns)
            continue;
        double part = (double)finding->lost_ns / (double)first_ns;
        finding->wall_gain[0] = fmax(1, 1 / (1 - part * (1 - 1 / low)) * (1 - MISFIT));
        finding->wall_gain[1] = 1 / (1 - part * (1 - 1 / high)) * (1 + (high > 1 ? MISFIT : 0));
    }
    findings__rank(findings);
}
