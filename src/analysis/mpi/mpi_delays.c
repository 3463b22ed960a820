/* Whose delay each wait was. A wait's time is gone through on the rank that was waited for: what
 * that one spent outside of MPI is its own delay, by what it did; what it waited for others itself
 * is theirs, and so on; the rest of its calls of MPI is nobody's. */
#include "analysis/mpi/internal.h"

#define DEPTH_MOST 32u /* of chains of ranks that wait for each other */

struct delay_range {
    uint64_t begin, end;
};

static uint64_t overlap(uint64_t a_begin, uint64_t a_end, const struct delay_range *range)
{
    uint64_t begin = a_begin > range->begin ? a_begin : range->begin;
    uint64_t end = tick__earlier(a_end, range->end);
    return end > begin ? end - begin : 0;
}

/* Outside of MPI: on a CPU, without one, blocked. Ticks, in members of ns. */
static void add_own(const struct rank_record *record, struct mpi_rank *sums,
                    const struct delay_range *range)
{
    uint64_t blocked = 0, no_cpu = 0;
    size_t first = VEC_FIRST(off, &record->offs, struct rank_off, off->end > range->begin);
    for (size_t i = first; i < record->offs.count; i++) {
        const struct rank_off *off = VEC_AT(&record->offs, struct rank_off, i);
        if (off->begin >= range->end)
            break;
        blocked += overlap(off->begin, off->runnable, range);
        no_cpu += overlap(off->runnable, off->end, range);
    }
    uint64_t all = range->end - range->begin;
    sums->delay_ns += all;
    sums->delay_blocked_ns += blocked;
    sums->delay_no_cpu_ns += no_cpu;
    sums->delay_work_ns += all > blocked + no_cpu ? all - blocked - no_cpu : 0;
}

static void blame(struct mpi_job *job, uint32_t rank, struct delay_range range, unsigned depth);

/* In the call: while it waited, its own blocker's. */
static void pass_on(struct mpi_job *job, const struct rank_call *call,
                    const struct delay_range *range, unsigned depth)
{
    uint64_t waits_until = call->enter + call->waited;
    struct delay_range part = {call->enter > range->begin ? call->enter : range->begin,
                               tick__earlier(waits_until, range->end)};
    if (call->wait != MPI_WAIT_NONE && part.end > part.begin)
        blame(job, call->blocker, part, depth + 1);
}

static void blame(struct mpi_job *job, uint32_t rank, struct delay_range range, unsigned depth)
{
    const struct rank_record *record = mpi_job__rank(job, rank);
    struct mpi_rank *sums = VEC_FIND(&job->use->ranks, struct mpi_rank, rank, rank);
    if (!record || !sums || depth == DEPTH_MOST)
        return;
    const struct rank_call *calls = record->calls.items;
    size_t at = FIRST_WHERE(place, record->main_calls, calls[place].leave > range.begin);
    for (; range.begin < range.end; at++) {
        uint64_t enter = at < record->main_calls ? calls[at].enter : UINT64_MAX;
        struct delay_range outside = {range.begin, tick__earlier(enter, range.end)};
        if (outside.end > outside.begin)
            add_own(record, sums, &outside);
        if (enter >= range.end)
            return;
        pass_on(job, &calls[at], &range, depth);
        range.begin = calls[at].leave > range.begin ? calls[at].leave : range.begin;
    }
}

void mpi_job__find_delays(struct mpi_job *job)
{
    const struct trace *trace = job->run->trace;
    VEC_EACH (record, &job->records, const struct rank_record)
        VEC_EACH (call, &record->calls, const struct rank_call)
            if (call->wait != MPI_WAIT_NONE)
                blame(job, call->blocker,
                      (struct delay_range){call->enter, call->enter + call->waited}, 0);
    VEC_EACH (rank, &job->use->ranks, struct mpi_rank) {
        rank->delay_ns = trace__ns(trace, rank->delay_ns);
        rank->delay_work_ns = trace__ns(trace, rank->delay_work_ns);
        rank->delay_no_cpu_ns = trace__ns(trace, rank->delay_no_cpu_ns);
        rank->delay_blocked_ns = trace__ns(trace, rank->delay_blocked_ns);
    }
}
