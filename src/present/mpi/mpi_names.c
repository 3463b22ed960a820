/* What ranks and places of MPI are called, and which of them are asked for. */
#include "analysis/openmp/openmp.h"
#include "base/memory.h"
#include "base/text.h"
#include "present/mpi/mpi_screens.h"
#include "present/shared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MOST 4u /* "1–3" is one */

bool mpi_report__shows(const struct mpi_report *shown, const struct mpi_site *site)
{
    char unknown[32];
    if (!shown->site)
        return true;
    if (strcmp(message_call__name(site->call), shown->site) == 0)
        return true;
    struct place place = place__of_site(shown->report, site->process, site->site, unknown);
    char *source = place__source(&place, false);
    bool is_it = strcmp(place.function, shown->site) == 0 || strcmp(source, shown->site) == 0;
    free(source);
    return is_it;
}

bool mpi_report__has_any(const struct mpi_report *shown)
{
    if (shown->is_one_rank)
        return VEC_FIND(&shown->use->ranks, struct mpi_rank, rank, shown->rank);
    VEC_EACH (site, &shown->use->sites, const struct mpi_site)
        if (mpi_report__shows(shown, site))
            return true;
    return false;
}

struct mpi_efficiency mpi_report__efficiency(const struct mpi_report *shown)
{
    const struct openmp_use *openmp = shown->report->openmp;
    struct mpi_regions regions = {0};
    if (openmp && openmp->regions.count) {
        regions.threads = openmp->efficiency.threads;
        regions.work_ns = openmp->efficiency.times.work_ns;
        VEC_EACH (region, &openmp->regions, const struct parallel_region)
            regions.ns += region->is_nested ? 0 : region->ns;
    }
    return mpi_use__efficiency(shown->use, &regions);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* The end of the run of neighbours that begins there. */
static size_t run_end(const struct vec *ranks, size_t begin, uint32_t block)
{
    const uint32_t *all = ranks->items;
    size_t end = begin + 1;
    while (end < ranks->count && all[end] == all[end - 1] + block)
        end++;
    return end;
}

char *ranks__text(const struct vec *ranks, uint32_t block, const struct style *style)
{
    const uint32_t *all = ranks->items;
    bool is_one = ranks->count == 1 && block == 1;
    char *text = memory__text(is_one ? "rank" : "ranks");
    unsigned runs = 0;
    for (size_t i = 0, end; i < ranks->count; i = end, runs++) {
        end = run_end(ranks, i, block);
        uint32_t last = all[end - 1] + block - 1;
        bool is_last = end == ranks->count;
        if (runs == RUNS_MOST)
            return text__append(text, " and %zu more", (ranks->count - i) * block);
        text = text__append(text, "%s%" PRIu32, !runs ? " " : is_last ? " and " : ", ", all[i]);
        if (last > all[i])
            text = text__append(text, "%s%" PRIu32, style->unicode ? "–" : "-", last);
    }
    return text;
}

/* ---- who waits ------------------------------------------------------------------------------- */

static size_t first_wait(const struct mpi_use *use, uint32_t site)
{
    return VEC_FIRST(row, &use->rank_waits, struct mpi_rank_wait, row->site >= site);
}

/* Those that waited for that one there. */
static struct vec waiters_of(const struct mpi_use *use, uint32_t site, uint32_t other)
{
    struct vec ranks = VEC_OF(uint32_t);
    for (size_t i = first_wait(use, site); i < use->rank_waits.count; i++) {
        const struct mpi_rank_wait *row = VEC_AT(&use->rank_waits, struct mpi_rank_wait, i);
        if (row->site != site)
            break;
        bool is_new = !ranks.count || *VEC_AT(&ranks, uint32_t, ranks.count - 1) != row->rank;
        if (row->other == other && is_new)
            vec__push(&ranks, &row->rank);
    }
    return ranks;
}

char *mpi_site__who_waits(const struct mpi_use *use, const struct mpi_site *site,
                          const struct style *style)
{
    uint32_t index = (uint32_t)(site - VEC_AT(&use->sites, struct mpi_site, 0));
    if (site->late == MPI_NOBODY)
        return NULL;
    struct vec ranks = waiters_of(use, index, site->late & ~(use->detail_block - 1));
    char *who = ranks.count ? ranks__text(&ranks, use->detail_block, style) : memory__text("ranks");
    char *text = memory__format("%s wait%s for rank %" PRIu32, who,
                                ranks.count == 1 && use->detail_block == 1 ? "s" : "", site->late);
    free(who);
    vec__free(&ranks);
    return text;
}
