/* Whom ranks of MPI wait for in the end, what that one does meanwhile, and who they are. */
#include "analysis/openmp/openmp.h"
#include "base/memory.h"
#include "base/text.h"
#include "present/mpi/mpi_screens.h"
#include "present/shared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MUCH_MORE 3u /* a third of what each of the others waited on the average */

const struct mpi_rank *mpi_use__culprit(const struct mpi_use *use)
{
    const struct mpi_rank *latest = mpi_use__latest(use);
    uint64_t sum_ns = 0;
    VEC_EACH (rank, &use->ranks, const struct mpi_rank)
        sum_ns += rank->delay_ns;
    return latest && latest->delay_ns >= sum_ns - latest->delay_ns ? latest : NULL;
}

bool mpi_use__knows_doing(const struct mpi_use *use, const struct mpi_rank *rank)
{
    uint64_t more_ns = rank->did_ns - rank->did_others_ns;
    return more_ns && use->ranks.count > 1 &&
           more_ns * MUCH_MORE >= rank->delay_ns / (use->ranks.count - 1);
}

char *mpi_rank__doing(const struct report *report, const struct mpi_rank *rank)
{
    char unknown[32];
    if (!mpi_use__knows_doing(report->mpi, rank))
        return NULL;
    struct place place = place__of_site(report, rank->process, rank->did_site, unknown);
    return place__text(&place);
}

char *mpi_use__job(const struct report *report, const struct style *style)
{
    const struct mpi_use *use = report->mpi;
    uint32_t threads = report->openmp ? report->openmp->efficiency.threads : 1;
    char *text = memory__format("%zu rank%s", use->ranks.count, use->ranks.count == 1 ? "" : "s");
    if (threads > 1)
        text = text__append(text, " %s %" PRIu32 " threads", style->unicode ? "×" : "x", threads);
    return use->hosts > 1 ? text__append(text, " on %" PRIu32 " hosts", use->hosts) : text;
}

/* ---- who waits at a place -------------------------------------------------------------------- */

static bool is_at(const struct report *report, const struct mpi_site *site, const struct place *at)
{
    char unknown[32];
    struct place place = place__of_site(report, site->process, site->site, unknown);
    return place.line == at->line && strcmp(place.function, at->function) == 0;
}

const struct mpi_site *mpi_use__site_of(const struct report *report, const struct callsite *call)
{
    char unknown[32];
    if (!report->mpi)
        return NULL;
    struct place at = place__of_site(report, call->process, call->site, unknown);
    VEC_EACH (site, &report->mpi->sites, const struct mpi_site)
        if (strcmp(message_call__name(site->call), call->function) == 0 && is_at(report, site, &at))
            return site;
    return NULL;
}

const struct mpi_rank *mpi_site__culprit(const struct mpi_use *use, const struct mpi_site *site)
{
    const struct mpi_rank *culprit = mpi_use__culprit(use);
    return culprit ? culprit : VEC_FIND(&use->ranks, struct mpi_rank, rank, site->late);
}

char *mpi_site__waits(const struct report *report, const struct mpi_site *site)
{
    static const struct style plain = {0};
    char *who = mpi_site__who_waits(report->mpi, site, &plain);
    const struct mpi_rank *culprit = mpi_site__culprit(report->mpi, site);
    if (!who || !culprit)
        return who;
    char *doing = mpi_rank__doing(report, culprit);
    bool is_direct = culprit->rank == site->late;
    if (!is_direct)
        who = text__append(who, ", in the end for rank %" PRIu32, culprit->rank);
    if (doing)
        who = text__append(who, ", which is in %s meanwhile", doing);
    free(doing);
    return who;
}
