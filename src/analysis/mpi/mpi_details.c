/* What each rank did at each place, and whom it waited for there. Where there are more rows than a
 * table is good for, blocks of 2, 4, 8 … ranks that stand side by side are one, as in pairs. */
#include "analysis/mpi/internal.h"
#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>

struct mpi_details mpi_details__of(void)
{
    return (struct mpi_details){VEC_OF(struct mpi_rank_site), VEC_OF(struct mpi_rank_wait), 1};
}

/* ---- rows that are one ----------------------------------------------------------------------- */

static int by_site(const void *a, const void *b)
{
    const struct mpi_rank_site *left = a, *right = b;
    return ORDER(left->site, right->site) ?: ORDER(left->rank, right->rank);
}

static int by_wait(const void *a, const void *b)
{
    const struct mpi_rank_wait *left = a, *right = b;
    return ORDER(left->site, right->site) ?: ORDER(left->rank, right->rank)
               ?: ORDER(left->other, right->other) ?: ORDER(left->wait, right->wait);
}

static void join_sites(struct vec *sites)
{
    size_t kept = 0;
    vec__sort(sites, by_site);
    VEC_EACH (row, sites, const struct mpi_rank_site) {
        struct mpi_rank_site *last = VEC_AT(sites, struct mpi_rank_site, kept ? kept - 1 : 0);
        if (!kept || by_site(last, row)) {
            *VEC_AT(sites, struct mpi_rank_site, kept++) = *row;
            continue;
        }
        last->count += row->count;
        last->ns += row->ns;
        last->waited_ns += row->waited_ns;
        last->most_ns = tick__later(last->most_ns, row->most_ns);
        last->bytes += row->bytes;
        last->before_ns += row->before_ns;
    }
    sites->count = kept;
}

static void join_waits(struct vec *waits)
{
    size_t kept = 0;
    vec__sort(waits, by_wait);
    VEC_EACH (row, waits, const struct mpi_rank_wait) {
        struct mpi_rank_wait *last = VEC_AT(waits, struct mpi_rank_wait, kept ? kept - 1 : 0);
        if (!kept || by_wait(last, row)) {
            *VEC_AT(waits, struct mpi_rank_wait, kept++) = *row;
            continue;
        }
        last->count += row->count;
        last->ns += row->ns;
    }
    waits->count = kept;
}

void mpi_details__join(struct mpi_details *details)
{
    for (;; details->block *= 2) {
        uint32_t mask = ~(details->block - 1);
        VEC_EACH (row, &details->sites, struct mpi_rank_site)
            row->rank &= mask;
        VEC_EACH (row, &details->waits, struct mpi_rank_wait) {
            row->rank &= mask;
            row->other &= mask;
        }
        join_sites(&details->sites);
        join_waits(&details->waits);
        if (details->sites.count <= MPI_PAIRS_MOST && details->waits.count <= MPI_PAIRS_MOST)
            return;
    }
}

/* ---- one rank -------------------------------------------------------------------------------- */

static void add_call(struct mpi_rank_site *row, const struct rank_call *call, uint64_t before)
{
    uint64_t took = call->leave - call->enter;
    row->count++;
    row->ns += took;
    row->waited_ns += call->waited;
    row->most_ns = tick__later(row->most_ns, took);
    row->before_ns += before;
}

static struct mpi_rank_wait *wait_of(struct vec *waits, struct map *places,
                                     const struct mpi_rank_wait *key)
{
    const uint32_t words[] = {key->site, key->wait, key->other};
    uint64_t at = map__put(places, words, sizeof words, waits->count);
    return at == waits->count ? vec__push(waits, key) : VEC_AT(waits, struct mpi_rank_wait, at);
}

static void add_wait(struct vec *waits, struct map *places, const struct rank_record *record,
                     const struct rank_call *call, uint32_t number)
{
    struct mpi_rank_wait *row =
        wait_of(waits, places,
                &(struct mpi_rank_wait){number, record->rank, call->wait, call->blocker, 0, 0});
    row->count++;
    row->ns += call->waited;
}

/* What of a wait is of another kind than the call's. */
static void divide_wait(struct vec *waits, struct map *places, const struct rank_record *record,
                        const struct rank_split *split, const uint32_t *numbers)
{
    const struct rank_call *call = rank_record__call(record, split->call);
    uint64_t ticks[MPI_WAITS] = {0};
    ticks[call->wait] = call->waited;
    rank_split__move(split, call, ticks);
    for (uint32_t wait = 1; wait < MPI_WAITS; wait++) {
        uint64_t before = wait == call->wait ? call->waited : 0;
        if (ticks[wait] == before)
            continue;
        struct mpi_rank_wait *row = wait_of(
            waits, places,
            &(struct mpi_rank_wait){numbers[call->place], record->rank, wait, call->blocker, 0, 0});
        row->ns += ticks[wait] - before;
        row->count += before == 0;
    }
}

void mpi_details__add(struct mpi_details *details, const struct rank_record *record,
                      const uint32_t *numbers)
{
    struct mpi_details own = mpi_details__of();
    struct map places = {0};
    uint64_t since = record->begin;
    uint32_t at = 0;
    VEC_EACH (place, &record->places, const struct rank_place)
        vec__push(&own.sites, &(struct mpi_rank_site){.rank = record->rank,
                                                      .site = numbers[own.sites.count],
                                                      .count = place->repeated,
                                                      .bytes = place->bytes});
    VEC_EACH (call, &record->calls, const struct rank_call) {
        bool is_main = at++ < record->main_calls;
        add_call(VEC_AT(&own.sites, struct mpi_rank_site, call->place), call,
                 is_main && call->enter > since ? call->enter - since : 0);
        since = call->leave;
        if (call->wait != MPI_WAIT_NONE)
            add_wait(&own.waits, &places, record, call, numbers[call->place]);
    }
    VEC_EACH (split, &record->splits, const struct rank_split)
        divide_wait(&own.waits, &places, record, split, numbers);
    map__free(&places);
    vec__append(&details->sites, &own.sites);
    vec__append(&details->waits, &own.waits);
    vec__free(&own.sites);
    vec__free(&own.waits);
    if (details->sites.count >= 2 * (size_t)MPI_PAIRS_MOST ||
        details->waits.count >= 2 * (size_t)MPI_PAIRS_MOST)
        mpi_details__join(details);
}
