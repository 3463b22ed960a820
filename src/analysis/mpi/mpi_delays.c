/* Whose delay each wait was. A wait's time is gone through on the rank that was waited for: what
 * that one spent outside of MPI is its own delay, by what it did; what it waited for others itself
 * is theirs, and so on; the rest of its calls of MPI is nobody's.
 *
 * That is done in rounds, backward along chains of waits. A wait that lies within others as a whole
 * is passed on once, with how many these are: so a round takes time by calls and waits, however
 * long the waits are. */
#include "analysis/mpi/internal.h"
#include "base/memory.h"

#include <stdlib.h>

#define DEPTH_MOST 32u /* of chains of ranks that wait for each other */
#define STRIDE 64u     /* calls between two sums that are kept */

/* So many others waited for that rank in that time. */
struct delay_range {
    uint64_t begin, end;
    uint32_t rank, times;
};

/* Outside of MPI, until some time. */
struct outside_time {
    uint64_t all, blocked, no_cpu;
};

/* What is kept of a rank meanwhile. */
struct delaying {
    const struct rank_record *record;
    struct vec sums; /* struct outside_time: at the enter of each STRIDE-th call */
    uint32_t *times; /* by call: how many waits it lies within as a whole, in this round; */
    uint32_t *next;  /* in the next one: differences to the call before */
};

struct delay_round {
    struct mpi_job *job;
    struct vec delaying; /* struct delaying, by records */
    struct vec parts;    /* struct delay_range: parts of waits, in this round; */
    struct vec next;     /* in the next one */
};

/* ---- outside of MPI -------------------------------------------------------------------------- */

static uint64_t overlap(uint64_t a_begin, uint64_t a_end, uint64_t begin, uint64_t end)
{
    begin = tick__later(begin, a_begin);
    end = tick__earlier(end, a_end);
    return end > begin ? end - begin : 0;
}

/* Adds the time from begin to end, which is outside; *off is the first that ends behind begin. */
static void add_outside(const struct rank_record *record, uint64_t begin, uint64_t end, size_t *off,
                        struct outside_time *sum)
{
    if (end <= begin)
        return;
    sum->all += end - begin;
    for (; *off < record->offs.count; ++*off) {
        const struct rank_off *at = VEC_AT(&record->offs, struct rank_off, *off);
        sum->blocked += overlap(at->begin, at->runnable, begin, end);
        sum->no_cpu += overlap(at->runnable, at->end, begin, end);
        if (at->end >= end)
            return;
    }
}

static size_t first_off(const struct rank_record *record, uint64_t tick)
{
    return VEC_FIRST(off, &record->offs, struct rank_off, off->end > tick);
}

static void keep_sums(struct delaying *delaying)
{
    const struct rank_record *record = delaying->record;
    const struct rank_call *calls = record->calls.items;
    struct outside_time sum = {0};
    uint64_t since = record->begin;
    size_t off = 0;
    for (uint32_t i = 0; i < record->main_calls; i++) {
        add_outside(record, since, calls[i].enter, &off, &sum);
        since = calls[i].leave;
        if (i % STRIDE == 0)
            vec__push(&delaying->sums, &sum);
    }
}

/* at: the first call that is entered at tick or later. */
static struct outside_time outside_until(const struct delaying *delaying, size_t at, uint64_t tick)
{
    const struct rank_record *record = delaying->record;
    const struct rank_call *calls = record->calls.items;
    struct outside_time sum = {0};
    uint64_t since = record->begin;
    size_t i = 0;
    if (at) {
        size_t kept = (at - 1) / STRIDE;
        sum = *VEC_AT(&delaying->sums, struct outside_time, kept);
        i = kept * STRIDE;
        since = calls[i++].leave;
    }
    size_t off = first_off(record, since);
    for (; i < at; i++) {
        add_outside(record, since, calls[i].enter, &off, &sum);
        since = calls[i].leave;
    }
    add_outside(record, since, tick, &off, &sum);
    return sum;
}

/* ---- a wait on the rank that was waited for -------------------------------------------------- */

static size_t first_entered(const struct rank_record *record, uint64_t tick)
{
    const struct rank_call *calls = record->calls.items;
    return FIRST_WHERE(at, record->main_calls, calls[at].enter >= tick);
}

static void add_own(const struct delaying *delaying, struct mpi_rank *sums, size_t from, size_t to,
                    const struct delay_range *range)
{
    struct outside_time before = outside_until(delaying, from, range->begin);
    struct outside_time until = outside_until(delaying, to, range->end);
    uint64_t all = until.all - before.all, blocked = until.blocked - before.blocked,
             no_cpu = until.no_cpu - before.no_cpu;
    sums->delay_ns += range->times * all;
    sums->delay_blocked_ns += range->times * blocked;
    sums->delay_no_cpu_ns += range->times * no_cpu;
    sums->delay_work_ns += range->times * (all > blocked + no_cpu ? all - blocked - no_cpu : 0);
}

/* Of a call that is only partly in the range. */
static void pass_part(struct delay_round *round, const struct rank_call *call,
                      const struct delay_range *range)
{
    struct delay_range part = {tick__later(call->enter, range->begin),
                               tick__earlier(call->enter + call->waited, range->end), call->blocker,
                               range->times};
    if (call->wait != MPI_WAIT_NONE && part.end > part.begin)
        vec__push(&round->next, &part);
}

static void take_range(struct delay_round *round, const struct delay_range *range)
{
    struct mpi_rank *sums = VEC_FIND(&round->job->use->ranks, struct mpi_rank, rank, range->rank);
    if (!sums)
        return;
    struct delaying *delaying = VEC_AT(&round->delaying, struct delaying,
                                       sums - VEC_AT(&round->job->use->ranks, struct mpi_rank, 0));
    const struct rank_call *calls = delaying->record->calls.items;
    size_t from = first_entered(delaying->record, range->begin);
    size_t to = first_entered(delaying->record, range->end);
    add_own(delaying, sums, from, to, range);
    if (from)
        pass_part(round, &calls[from - 1], range);
    if (to > from && calls[to - 1].enter + calls[to - 1].waited > range->end)
        pass_part(round, &calls[--to], range);
    if (to > from) {
        delaying->next[from] += range->times;
        if (to < delaying->record->main_calls)
            delaying->next[to] -= range->times;
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* What is to be given on in this round, and where that stands. */
struct round_place {
    size_t part, record, call;
};

static void give(const struct delay_round *round, const struct delay_range *range,
                 struct vec *given)
{
    uint32_t owner = mpi_job__owner(round->job, range->rank);
    if (owner != MPI_NOBODY)
        vec__push(&given[owner], range);
}

static uint32_t times_of(const struct delaying *delaying, size_t call, unsigned depth)
{
    if (depth == 0) /* the waits themselves, of all threads */
        return 1;
    return call < delaying->record->main_calls ? delaying->times[call] : 0;
}

/* At most so many as a step has. False: there is no more. */
static bool give_some(const struct delay_round *round, unsigned depth, struct round_place *place,
                      struct vec *given)
{
    size_t room = round->job->exchange->step_items;
    for (; place->part < round->parts.count && room; place->part++, room--)
        give(round, VEC_AT(&round->parts, struct delay_range, place->part), given);
    for (; place->record < round->delaying.count && room; place->record++, place->call = 0) {
        const struct delaying *delaying = VEC_AT(&round->delaying, struct delaying, place->record);
        for (; place->call < delaying->record->calls.count && room; place->call++) {
            const struct rank_call *call =
                rank_record__call(delaying->record, (uint32_t)place->call);
            uint32_t times = times_of(delaying, place->call, depth);
            if (call->wait == MPI_WAIT_NONE || !times)
                continue;
            give(round,
                 &(struct delay_range){call->enter, call->enter + call->waited, call->blocker,
                                       times},
                 given);
            room--;
        }
        if (place->call < delaying->record->calls.count)
            return true;
    }
    return place->part < round->parts.count || place->record < round->delaying.count;
}

/* True: some process had something to give. */
static bool take_round(struct delay_round *round, unsigned depth)
{
    struct round_place place = {0};
    uint64_t taken_all = 0;
    for (bool is_more = true; mpi_job__sum(round->job, is_more);) {
        struct vec *given = mpi_given__of(round->job, sizeof(struct delay_range));
        struct vec taken = VEC_OF(struct delay_range);
        is_more = is_more && give_some(round, depth, &place, given);
        mpi_job__swap(round->job, given, &taken);
        mpi_given__free(round->job, given);
        VEC_EACH (range, &taken, const struct delay_range)
            take_range(round, range);
        taken_all += taken.count;
        vec__free(&taken);
    }
    return mpi_job__sum(round->job, taken_all);
}

static void turn_over(struct delay_round *round)
{
    struct vec done = round->parts;
    round->parts = round->next;
    round->next = done;
    round->next.count = 0;
    VEC_EACH (delaying, &round->delaying, struct delaying) {
        uint32_t times = 0;
        for (uint32_t i = 0; i < delaying->record->main_calls; i++) {
            times += delaying->next[i];
            delaying->times[i] = times;
            delaying->next[i] = 0;
        }
    }
}

void mpi_job__find_delays(struct mpi_job *job)
{
    struct delay_round round = {job, VEC_OF(struct delaying), VEC_OF(struct delay_range),
                                VEC_OF(struct delay_range)};
    VEC_EACH (record, &job->records, const struct rank_record) {
        struct delaying *delaying = vec__push(&round.delaying, NULL);
        *delaying =
            (struct delaying){record, VEC_OF(struct outside_time),
                              memory__zeroed(record->main_calls + 1ul, sizeof *delaying->times),
                              memory__zeroed(record->main_calls + 1ul, sizeof *delaying->next)};
        keep_sums(delaying);
    }
    for (unsigned depth = 0; depth < DEPTH_MOST && take_round(&round, depth); depth++)
        turn_over(&round);
    VEC_EACH (delaying, &round.delaying, struct delaying) {
        vec__free(&delaying->sums);
        free(delaying->times);
        free(delaying->next);
    }
    vec__free(&round.delaying);
    vec__free(&round.parts);
    vec__free(&round.next);
}
