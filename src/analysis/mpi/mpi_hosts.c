/* Ranks of several hosts: how well their clocks are known, and how times are repaired by which a
 * message would have been received before it was sent. */
#include "analysis/mpi/internal.h"

#include <stdlib.h>

/* A lag is made up for by the time that follows it: each so many ticks become one less. */
#define AMORTISED_IN 100u

static int by_rank(const void *a, const void *b)
{
    const struct rank_host *left = a, *right = b;
    return ORDER(left->rank, right->rank);
}

static int by_host(const void *a, const void *b)
{
    const struct rank_host *left = a, *right = b;
    return ORDER(left->host, right->host);
}

static const struct vec *clocks_of(const struct mpi_job *job, const struct rank_record *record)
{
    const struct trace_process *process = trace__process_of(job->run->trace, record->process);
    return process && process->clocks.count ? &process->clocks : NULL;
}

/* The worse of both comparisons: between them the error is between theirs, if clocks drift evenly.
 */
static void add_host(struct mpi_job *job, const struct rank_record *record)
{
    const struct vec *clocks = clocks_of(job, record);
    struct rank_host host = {.rank = record->rank};
    if (!clocks)
        return;
    VEC_EACH (clock, clocks, const struct heurt_host_clock) {
        host.host = clock->host;
        host.error = tick__later(host.error, clock->tick ? clock->error_ticks : 0);
    }
    const struct heurt_host_clock *first = clocks->items;
    job->use->compared_once += first->tick && first->hosts > 1 && clocks->count == 1;
    vec__push(&job->hosts, &host);
}

/* Of two hosts whose clocks are worst: that of rank 0's host is right by definition. */
static void find_error(struct mpi_job *job)
{
    struct vec hosts = VEC_OF(struct rank_host);
    uint64_t worst = 0, second = 0;
    vec__append(&hosts, &job->hosts);
    vec__sort(&hosts, by_host);
    for (size_t i = 0; i < hosts.count; i++) {
        const struct rank_host *host = VEC_AT(&hosts, struct rank_host, i);
        if (i && host[-1].host == host->host)
            continue;
        job->use->hosts++;
        second = tick__later(second, tick__earlier(worst, host->error));
        worst = tick__later(worst, host->error);
    }
    job->use->clock_error_ns = worst + second; /* ticks, until all is gathered */
    vec__free(&hosts);
}

void mpi_job__find_hosts(struct mpi_job *job)
{
    job->hosts = VEC_OF(struct rank_host);
    VEC_EACH (record, &job->records, const struct rank_record)
        add_host(job, record);
    job->use->compared_once = mpi_job__sum(job, job->use->compared_once);
    mpi_job__share(job, &job->hosts);
    vec__sort(&job->hosts, by_rank);
    find_error(job);
    if (job->use->hosts < 2)
        job->hosts.count = 0;
}

uint64_t mpi_job__clock_error(const struct mpi_job *job, uint32_t rank, uint32_t other)
{
    const struct rank_host *a = VEC_FIND(&job->hosts, struct rank_host, rank, rank);
    const struct rank_host *b = VEC_FIND(&job->hosts, struct rank_host, rank, other);
    return a && b && a->host != b->host ? a->error + b->error : 0;
}

/* ---- repair ---------------------------------------------------------------------------------- */

static int by_tick(const void *a, const void *b)
{
    const struct clock_lag *left = a, *right = b;
    return ORDER(left->tick, right->tick) ?: ORDER(right->by, left->by);
}

/* What is left of a lag by then. */
static uint64_t left_of(const struct clock_lag *lag, uint64_t tick)
{
    uint64_t made_up = (tick - lag->tick) / AMORTISED_IN;
    return made_up < lag->by ? lag->by - made_up : 0;
}

/* Lags that are greater than what is left of those before them. */
static size_t keep_effective(struct clock_lag *lags, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!kept || lags[i].by > left_of(&lags[kept - 1], lags[i].tick))
            lags[kept++] = lags[i];
    return kept;
}

static void make_later(uint64_t *tick, const struct clock_lag *lags, size_t count)
{
    size_t behind = FIRST_WHERE(i, count, lags[i].tick > *tick);
    if (behind && *tick != UINT64_MAX)
        *tick += left_of(&lags[behind - 1], *tick);
}

void rank_record__repair(struct rank_record *record, struct clock_lag *lags, size_t count)
{
    struct vec *const posts[] = {&record->sends, &record->receives, &record->collectives,
                                 &record->accesses, &record->locks};
    qsort(lags, count, sizeof *lags, by_tick);
    count = keep_effective(lags, count);
    VEC_EACH (call, &record->calls, struct rank_call) {
        make_later(&call->enter, lags, count);
        make_later(&call->leave, lags, count);
    }
    for (size_t i = 0; i < sizeof posts / sizeof *posts; i++)
        VEC_EACH (post, posts[i], struct rank_post)
            make_later(&post->tick, lags, count);
    VEC_EACH (off, &record->offs, struct rank_off) {
        make_later(&off->begin, lags, count);
        make_later(&off->runnable, lags, count);
        make_later(&off->end, lags, count);
    }
    make_later(&record->begin, lags, count);
    make_later(&record->end, lags, count);
}
