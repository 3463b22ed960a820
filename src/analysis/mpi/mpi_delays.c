/* Whose delay each wait was. What the rank that was waited for did since the two met last is
 * compared with what the waiting one did: what it spent outside of MPI beyond that is its own
 * delay, by what it did; what it waited for others itself is theirs, and so on; the rest is
 * nobody's. Of more than the wait's time it is the last.
 *
 * So each tick of a wait is one of the other rank's, or nobody's: sums are the same in whatever
 * order they are made. Waits are taken backward by windows of time, each in rounds along chains
 * of waits within it. A wait that belongs to others as a whole is passed on once, with how many
 * these are: a round takes time by calls and waits of its window, however long the waits are. */
#include "analysis/mpi/internal.h"
#include "base/memory.h"

#include <stdlib.h>

#define DEPTH_MOST 256u /* of chains of waits in one window */
#define WINDOWS_MOST 256u
#define WINDOW_CALLS 8u /* of a rank, about, where the windows are not too many */
#define STRIDE 16u      /* calls between two sums that are kept */
#define LOOK_BACK 64u   /* calls, for when two ranks met last */

/* So many others waited for that rank in that time. */
struct delay_range {
    uint64_t begin, end;
    uint64_t since, outside; /* the two met last; what the waiter was outside of MPI since then */
    uint32_t rank, waiter, times;
};

/* Of a rank until some time: outside of MPI, and what it waited. */
struct past {
    uint64_t outside, blocked, no_cpu, waited;
};

/* What is kept of a rank meanwhile. */
struct delaying {
    const struct rank_record *record;
    struct vec sums;      /* struct past: at the enter of each STRIDE-th call */
    uint32_t *times;      /* by call: how many waits it belongs to as a whole, in this round; */
    uint32_t *next;       /* in the next one: differences to the call behind */
    uint32_t first, last; /* the window's calls: up to before last */
    uint32_t behind;      /* what next adds up to behind the window */
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
                        struct past *sum)
{
    if (end <= begin)
        return;
    sum->outside += end - begin;
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

static uint64_t wait_end(const struct rank_call *call)
{
    return call->enter + call->waited;
}

static void keep_sums(struct delaying *delaying)
{
    const struct rank_record *record = delaying->record;
    const struct rank_call *calls = record->calls.items;
    struct past sum = {0};
    uint64_t since = record->begin;
    size_t off = 0;
    for (uint32_t i = 0; i < record->main_calls; i++) {
        add_outside(record, since, calls[i].enter, &off, &sum);
        since = calls[i].leave;
        if (i % STRIDE == 0)
            vec__push(&delaying->sums, &sum);
        sum.waited += calls[i].waited;
    }
}

static size_t first_entered(const struct rank_record *record, uint64_t tick)
{
    const struct rank_call *calls = record->calls.items;
    return FIRST_WHERE(at, record->main_calls, calls[at].enter >= tick);
}

/* at: the first call that is entered at tick or later. */
static struct past past_at(const struct delaying *delaying, size_t at, uint64_t tick)
{
    const struct rank_record *record = delaying->record;
    const struct rank_call *calls = record->calls.items;
    size_t i = 0;
    struct past sum = {0};
    uint64_t since = record->begin;
    if (at) {
        size_t kept = (at - 1) / STRIDE;
        sum = *VEC_AT(&delaying->sums, struct past, kept);
        i = kept * STRIDE;
        sum.waited += tick__earlier(calls[i].waited, tick - calls[i].enter);
        since = calls[i++].leave;
    }
    size_t off = first_off(record, since);
    for (; i < at; i++) {
        add_outside(record, since, calls[i].enter, &off, &sum);
        sum.waited += tick__earlier(calls[i].waited, tick - calls[i].enter);
        since = calls[i].leave;
    }
    add_outside(record, since, tick, &off, &sum);
    return sum;
}

static struct past past_until(const struct delaying *delaying, uint64_t tick)
{
    return past_at(delaying, first_entered(delaying->record, tick), tick);
}

/* Which of a past is measured. */
struct measure {
    bool outside, waited;
};

static uint64_t measured(const struct past *past, struct measure measure)
{
    return (measure.outside ? past->outside : 0) + (measure.waited ? past->waited : 0);
}

/* A tick at which the measure is so much. */
static uint64_t tick_of(const struct delaying *delaying, struct measure measure, uint64_t value)
{
    const struct rank_record *record = delaying->record;
    const struct rank_call *calls = record->calls.items;
    const struct past *sums = delaying->sums.items;
    size_t kept = FIRST_WHERE(at, delaying->sums.count, measured(&sums[at], measure) > value);
    if (!kept)
        return record->begin + value;
    uint64_t left = value - measured(&sums[kept - 1], measure);
    for (size_t i = (kept - 1) * STRIDE; i < record->main_calls; i++) {
        if (measure.waited && calls[i].waited >= left)
            return calls[i].enter + left;
        left -= measure.waited ? calls[i].waited : 0;
        uint64_t end = i + 1 < record->main_calls ? calls[i + 1].enter : record->end;
        uint64_t outside = end > calls[i].leave ? end - calls[i].leave : 0;
        if (measure.outside && outside >= left)
            return calls[i].leave + left;
        left -= measure.outside ? outside : 0;
    }
    return record->end;
}

/* ---- a wait, of who waits -------------------------------------------------------------------- */

static bool is_of_all(const struct rank_call *call)
{
    return call->wait == MPI_WAIT_BARRIER || call->wait == MPI_WAIT_ALL ||
           call->wait == MPI_WAIT_FENCE;
}

/* When the rank that waits in a call had waited for its blocker, or with all, before. Where it has
 * not for long: some time before; what both did since then can be compared as well. */
static uint64_t met_before(const struct rank_record *record, size_t at)
{
    const struct rank_call *calls = record->calls.items;
    for (size_t i = at; i-- > 0;) {
        if (is_of_all(&calls[i]) ||
            (calls[i].wait != MPI_WAIT_NONE && calls[i].blocker == calls[at].blocker))
            return wait_end(&calls[i]);
        if (at - i == LOOK_BACK)
            return calls[i].enter;
    }
    return record->begin;
}

/* Of the wait in a call, from begin to end. */
static struct delay_range range_of(const struct delaying *delaying, size_t at, uint64_t begin,
                                   uint64_t end, uint32_t times)
{
    const struct rank_record *record = delaying->record;
    const struct rank_call *call = rank_record__call(record, (uint32_t)at);
    struct delay_range range = {begin, end, begin, 0, call->blocker, record->rank, times};
    if (at < record->main_calls) {
        range.since = tick__earlier(met_before(record, at), begin);
        range.outside =
            past_at(delaying, at, call->enter).outside - past_until(delaying, range.since).outside;
    }
    return range;
}

/* ---- on the rank that was waited for --------------------------------------------------------- */

static void add_own(struct mpi_rank *sums, const struct past *since, const struct past *until,
                    uint32_t times)
{
    uint64_t outside = until->outside - since->outside, blocked = until->blocked - since->blocked,
             no_cpu = until->no_cpu - since->no_cpu;
    sums->delay_ns += times * outside;
    sums->delay_blocked_ns += times * blocked;
    sums->delay_no_cpu_ns += times * no_cpu;
    sums->delay_work_ns += times * (outside > blocked + no_cpu ? outside - blocked - no_cpu : 0);
}

/* Of a call that is only partly meant. */
static void pass_part(struct delay_round *round, const struct delaying *delaying, size_t at,
                      uint64_t begin, const struct delay_range *range)
{
    const struct rank_call *call = rank_record__call(delaying->record, (uint32_t)at);
    begin = tick__later(call->enter, begin);
    uint64_t end = tick__earlier(wait_end(call), range->end);
    if (call->wait == MPI_WAIT_NONE || end <= begin)
        return;
    struct delay_range part = range_of(delaying, at, begin, end, range->times);
    vec__push(&round->next, &part);
}

/* to: its first call that is entered at the range's end or later. */
static void pass_waits(struct delay_round *round, struct delaying *delaying, uint64_t since,
                       size_t to, const struct delay_range *range)
{
    const struct rank_call *calls = delaying->record->calls.items;
    size_t from = first_entered(delaying->record, since);
    if (from)
        pass_part(round, delaying, from - 1, since, range);
    if (to > from && wait_end(&calls[to - 1]) > range->end)
        pass_part(round, delaying, --to, since, range);
    if (to > from) {
        delaying->next[to - 1] += range->times;
        if (from)
            delaying->next[from - 1] -= range->times;
    }
}

/* It waited for that one itself since then: only one of both worked at a time. */
static bool has_waited_for(const struct rank_record *record, size_t to,
                           const struct delay_range *range)
{
    const struct rank_call *calls = record->calls.items;
    for (size_t i = to; i-- > 0 && to - i <= LOOK_BACK && wait_end(&calls[i]) > range->since;)
        if (calls[i].wait != MPI_WAIT_NONE && calls[i].blocker == range->waiter)
            return true;
    return false;
}

static void take_range(struct delay_round *round, const struct delay_range *range)
{
    static const struct measure OUTSIDE = {true, false}, WAITED = {false, true},
                                BOTH = {true, true};
    struct mpi_rank *sums = VEC_FIND(&round->job->use->ranks, struct mpi_rank, rank, range->rank);
    if (!sums)
        return;
    struct delaying *delaying = VEC_AT(&round->delaying, struct delaying,
                                       sums - VEC_AT(&round->job->use->ranks, struct mpi_rank, 0));
    size_t to = first_entered(delaying->record, range->end);
    bool is_in_turn = has_waited_for(delaying->record, to, range);
    uint64_t since = is_in_turn ? range->begin : range->since;
    uint64_t as_usual = is_in_turn ? 0 : range->outside, time = range->end - range->begin;
    struct past before = past_until(delaying, since), until = past_at(delaying, to, range->end);
    uint64_t own = range->end; /* from here on it is its own delay, */
    uint64_t waits = since;    /* from here on that of those that it waited for */
    if (until.outside - before.outside > as_usual)
        own = tick__later(since, tick_of(delaying, OUTSIDE, before.outside + as_usual));
    struct past then = own < range->end ? past_until(delaying, own) : until;
    uint64_t later = measured(&until, BOTH) - measured(&then, BOTH);
    if (later >= time) {
        waits = tick_of(delaying, BOTH, measured(&until, BOTH) - time);
        then = past_until(delaying, waits);
    } else if (then.waited - before.waited > time - later) {
        waits = tick_of(delaying, WAITED, then.waited - (time - later));
    }
    add_own(sums, &then, &until, range->times);
    pass_waits(round, delaying, waits, to, range);
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

static void give_call(const struct delay_round *round, const struct delaying *delaying, size_t at,
                      uint32_t times, struct vec *given)
{
    const struct rank_call *call = rank_record__call(delaying->record, (uint32_t)at);
    struct delay_range range = range_of(delaying, at, call->enter, wait_end(call), times);
    give(round, &range, given);
}

/* At most so many as a step has. False: there is no more. */
static bool give_some(const struct delay_round *round, struct round_place *place, struct vec *given)
{
    size_t room = round->job->exchange->step_items;
    for (; place->part < round->parts.count && room; place->part++, room--)
        give(round, VEC_AT(&round->parts, struct delay_range, place->part), given);
    for (; place->record < round->delaying.count && room; place->record++, place->call = 0) {
        const struct delaying *delaying = VEC_AT(&round->delaying, struct delaying, place->record);
        size_t count = delaying->last - delaying->first;
        for (; place->call < count && room; place->call++) {
            size_t at = delaying->first + place->call;
            if (!delaying->times[at] ||
                rank_record__call(delaying->record, (uint32_t)at)->wait == MPI_WAIT_NONE)
                continue;
            give_call(round, delaying, at, delaying->times[at], given);
            room--;
        }
        if (place->call < count)
            return true;
    }
    return place->part < round->parts.count || place->record < round->delaying.count;
}

/* True: some process had something to give. */
static bool take_round(struct delay_round *round)
{
    struct round_place place = {0};
    uint64_t taken_all = 0;
    for (bool is_more = true; mpi_job__sum(round->job, is_more);) {
        struct vec *given = mpi_given__of(round->job, sizeof(struct delay_range));
        struct vec taken = VEC_OF(struct delay_range);
        is_more = is_more && give_some(round, &place, given);
        mpi_job__swap(round->job, given, &taken);
        mpi_given__free(round->job, given);
        VEC_EACH (range, &taken, const struct delay_range)
            take_range(round, range);
        taken_all += taken.count;
        vec__free(&taken);
    }
    return mpi_job__sum(round->job, taken_all);
}

/* What was found for the window in a round is to be given on in the next one; each wait itself in
 * the first. */
static void turn_over(struct delay_round *round, bool is_first)
{
    struct vec done = round->parts;
    round->parts = round->next;
    round->next = done;
    round->next.count = 0;
    VEC_EACH (delaying, &round->delaying, struct delaying) {
        uint32_t found = 0, times = is_first ? delaying->behind + 1 : 0;
        for (uint32_t i = delaying->last; i-- > delaying->first;) {
            found += delaying->next[i];
            delaying->times[i] = times + found;
            delaying->next[i] = 0;
        }
        delaying->behind += found;
    }
}

/* The waits that end at the tick or later, and have not been taken. */
static void take_window(struct delay_round *round, uint64_t tick)
{
    VEC_EACH (delaying, &round->delaying, struct delaying) {
        const struct rank_call *calls = delaying->record->calls.items;
        delaying->last = delaying->first;
        while (delaying->first && wait_end(&calls[delaying->first - 1]) >= tick)
            delaying->first--;
    }
    turn_over(round, true);
    for (unsigned depth = 0; depth < DEPTH_MOST && take_round(round); depth++)
        turn_over(round, false);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* From begin to end, with so many calls of a rank at most. */
struct delay_span {
    uint64_t begin, end, calls;
};

static struct delay_span span_of(struct mpi_job *job)
{
    struct vec spans = VEC_OF(struct delay_span);
    struct delay_span all = {UINT64_MAX, 0, 0};
    VEC_EACH (record, &job->records, const struct rank_record)
        vec__push(&spans, &(struct delay_span){record->begin, record->end, record->main_calls});
    mpi_job__share(job, &spans);
    VEC_EACH (span, &spans, const struct delay_span) {
        all.begin = tick__earlier(all.begin, span->begin);
        all.end = tick__later(all.end, span->end);
        all.calls = tick__later(all.calls, span->calls);
    }
    vec__free(&spans);
    return all;
}

/* Those of other threads than the one that called MPI_Init. */
static void put_other_threads(struct delay_round *round)
{
    VEC_EACH (delaying, &round->delaying, const struct delaying) {
        const struct rank_record *record = delaying->record;
        for (size_t at = record->main_calls; at < record->calls.count; at++) {
            const struct rank_call *call = rank_record__call(record, (uint32_t)at);
            struct delay_range range = range_of(delaying, at, call->enter, wait_end(call), 1);
            if (call->wait != MPI_WAIT_NONE)
                vec__push(&round->next, &range);
        }
    }
}

static void take_windows(struct delay_round *round)
{
    struct delay_span span = span_of(round->job);
    uint64_t count = tick__earlier(span.calls / WINDOW_CALLS + 1, WINDOWS_MOST);
    uint64_t ticks = span.end > span.begin ? (span.end - span.begin) / count + 1 : 1;
    for (uint64_t window = count; window-- > 1;)
        take_window(round, span.begin + window * ticks);
    take_window(round, 0);
}

void mpi_job__find_delays(struct mpi_job *job)
{
    struct delay_round round = {job, VEC_OF(struct delaying), VEC_OF(struct delay_range),
                                VEC_OF(struct delay_range)};
    VEC_EACH (record, &job->records, const struct rank_record) {
        struct delaying *delaying = vec__push(&round.delaying, NULL);
        *delaying =
            (struct delaying){record,
                              VEC_OF(struct past),
                              memory__zeroed(record->main_calls + 1ul, sizeof *delaying->times),
                              memory__zeroed(record->main_calls + 1ul, sizeof *delaying->next),
                              record->main_calls,
                              record->main_calls,
                              0};
        keep_sums(delaying);
    }
    put_other_threads(&round);
    take_windows(&round);
    VEC_EACH (delaying, &round.delaying, struct delaying) {
        vec__free(&delaying->sums);
        free(delaying->times);
        free(delaying->next);
    }
    vec__free(&round.delaying);
    vec__free(&round.parts);
    vec__free(&round.next);
}
