/* openmp_schedule.c: how long a loop takes that is shared otherwise.
 *
 * What its iterations cost is known by equal parts of them. Threads ask for chunks as they get done
 * with the one before, all at first; who is done first gets the next one, and asking costs a little
 * each time. What comes out ends with the last thread. */
#include "analysis/openmp/internal.h"
#include "base/heap.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define ASKING_NS 150.0    /* for a chunk, with several threads that ask */
#define CHUNKS_MOST 20000u /* that are looked at, of one schedule */
#define NEARLY 1.02        /* as long as the best */
#define THREADS_MOST 1024u

/* When a thread is done. */
static bool is_earlier(const double *a, const double *b)
{
    return *a < *b;
}
HEAP_OF(ends, double, is_earlier)

static double sum_to(const double *sums, double place)
{
    size_t part = (size_t)place;
    if (part >= COST_PARTS)
        return sums[COST_PARTS];
    return sums[part] + (place - (double)part) * (sums[part + 1] - sums[part]);
}

static void add_up(const struct loop_costs *costs, double *sums)
{
    sums[0] = 0;
    for (unsigned i = 0; i < COST_PARTS; i++)
        sums[i + 1] = sums[i] + costs->ns[i];
}

/* Of so many iterations that are left. */
static uint64_t next_chunk(uint64_t left, uint64_t n, uint32_t threads)
{
    uint64_t chunk = n ? n : (left + threads - 1) / threads;
    return chunk < left ? chunk : left;
}

double loop_costs__span_ns(const struct loop_costs *costs, uint64_t n, uint32_t threads,
                           uint32_t cpus)
{
    double sums[COST_PARTS + 1], ends[THREADS_MOST] = {0}, last = 0;
    uint64_t all = costs->iterations, done = 0;
    threads = threads < THREADS_MOST ? threads ? threads : 1 : THREADS_MOST;
    add_up(costs, sums);
    while (done < all) {
        uint64_t chunk = next_chunk(all - done, n, threads);
        double from = (double)done * COST_PARTS / (double)all;
        double to = (double)(done + chunk) * COST_PARTS / (double)all;
        ends[0] += ASKING_NS + sum_to(sums, to) - sum_to(sums, from);
        last = ends[0] > last ? ends[0] : last;
        ends__sink(ends, threads, 0);
        done += chunk;
    }
    double least = costs->ns_in_all / cpus;
    return last > least ? last : least;
}

static const struct shared_loop *loop_with_costs(const struct openmp_use *use,
                                                 const struct region_barrier *barrier)
{
    VEC_EACH (loop, &use->loops, const struct shared_loop)
        if (loop->costs && loop->process == barrier->process && loop->site == barrier->loop_site &&
            loop->region_site == barrier->region_site)
            return loop;
    return NULL;
}

double parallel_region__unevenness(const struct openmp_use *use,
                                   const struct parallel_region *region, uint64_t n)
{
    double span = 0, mean = 0;
    VEC_EACH (barrier, &use->barriers, const struct region_barrier) {
        const struct shared_loop *loop = loop_with_costs(use, barrier);
        if (!loop || barrier->process != region->process || barrier->region_site != region->site)
            continue;
        span += loop_costs__span_ns(loop->costs, n, barrier->threads, UINT32_MAX) *
                (double)barrier->times;
        mean += loop->costs->ns_in_all * (double)barrier->times / barrier->threads;
    }
    return mean > 0 ? span / mean : (double)NAN;
}

uint64_t loop_costs__best_chunk(const struct loop_costs *costs, uint32_t threads, uint32_t cpus)
{
    double best = loop_costs__span_ns(costs, 0, threads, cpus), guided = best;
    uint64_t first = 1, chosen = 0;
    while (costs->iterations / first > CHUNKS_MOST)
        first *= 2;
    for (uint64_t n = first; n <= costs->iterations / threads; n *= 2) {
        double span = loop_costs__span_ns(costs, n, threads, cpus);
        best = span < best ? span : best;
    }
    for (uint64_t n = first; n <= costs->iterations / threads; n *= 2)
        if (loop_costs__span_ns(costs, n, threads, cpus) <= NEARLY * best)
            chosen = n;
    return guided < best ? 0 : chosen;
}
