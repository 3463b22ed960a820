#include "analysis/mpi/rank_replay.h"

#include "analysis/mpi/internal.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX
#define SIZE_BINS 40u /* of messages, by powers of two */

struct rank_replay_call {
    uint64_t enter, leave; /* recorded */
    uint64_t own;          /* of it, beyond what it needed of others */
    uint32_t segment;      /* operations of all ranks that it comes behind */
};

struct replayed_rank {
    uint32_t rank, calls;
    size_t first;                  /* of all calls */
    size_t first_need, first_come; /* of all */
    uint64_t begin, end;
};

struct rank_replay {
    struct vec ranks; /* struct replayed_rank */
    struct rank_replay_call *calls;
    struct vec needs, comes; /* struct rank_need, rank_come: by rank and call; ranks are indexes */
    struct vec operations;   /* struct rank_operation */
    uint32_t segments;
    uint64_t *outside; /* by rank and segment: ticks outside of MPI */
    struct rank_network network;
    struct vec path; /* struct rank_path */
    double ns;       /* a tick */
};

static const struct replayed_rank *rank_at(const struct rank_replay *replay, size_t index)
{
    return VEC_AT(&replay->ranks, struct replayed_rank, index);
}

static struct rank_replay_call *call_at(const struct rank_replay *replay, uint32_t rank,
                                        uint32_t call)
{
    return &replay->calls[rank_at(replay, rank)->first + call];
}

/* ---- what is needed -------------------------------------------------------------------------- */

static int by_call(const void *a, const void *b)
{
    const struct rank_need *left = a, *right = b;
    return ORDER(left->rank, right->rank) ?: ORDER(left->call, right->call);
}

static int by_coming(const void *a, const void *b)
{
    const struct rank_come *left = a, *right = b;
    return ORDER(left->rank, right->rank) ?: ORDER(left->call, right->call)
               ?: ORDER(left->operation, right->operation);
}

static uint32_t index_of(const struct rank_replay *replay, uint32_t rank)
{
    const struct replayed_rank *found = VEC_FIND(&replay->ranks, struct replayed_rank, rank, rank);
    return found ? (uint32_t)(found - rank_at(replay, 0)) : NOBODY;
}

static bool is_call(const struct rank_replay *replay, uint32_t rank, uint32_t call)
{
    return rank != NOBODY && call < rank_at(replay, rank)->calls;
}

/* Of an operation, as it was: who came last, or its root. */
static void find_lasts(struct rank_replay *replay)
{
    VEC_EACH (come, &replay->comes, const struct rank_come) {
        struct rank_operation *of =
            VEC_AT(&replay->operations, struct rank_operation, come->operation);
        uint64_t enter = call_at(replay, come->rank, come->call)->enter;
        bool counts = of->root == MPI_NOBODY || rank_at(replay, come->rank)->rank == of->root;
        if (counts &&
            (of->last == NOBODY || enter > call_at(replay, of->last, of->last_call)->enter)) {
            of->last = come->rank;
            of->last_call = come->call;
        }
    }
}

/* Who did what is needed; NOBODY in rank: nobody that is known. */
static struct rank_come source_of(const struct rank_replay *replay, const struct rank_need *need)
{
    if (need->operation == NOBODY)
        return (struct rank_come){need->from, need->from_call, NOBODY};
    const struct rank_operation *of =
        VEC_AT(&replay->operations, struct rank_operation, need->operation);
    return (struct rank_come){of->last, of->last_call, NOBODY};
}

/* When it was there, as recorded. */
static uint64_t needed_at(const struct rank_replay *replay, const struct rank_need *need)
{
    struct rank_come source = source_of(replay, need);
    return call_at(replay, source.rank, source.call)->enter;
}

/* Ranks become indexes; what is of no known call, or came when the call had ended, is left out. */
static void keep_needs(struct rank_replay *replay, struct rank_graph *graph)
{
    VEC_EACH (come, &graph->comes, struct rank_come) {
        come->rank = index_of(replay, come->rank);
        if (is_call(replay, come->rank, come->call))
            vec__push(&replay->comes, come);
    }
    vec__sort(&replay->comes, by_coming);
    vec__append(&replay->operations, &graph->operations);
    find_lasts(replay);
    VEC_EACH (need, &graph->needs, struct rank_need) {
        need->rank = index_of(replay, need->rank);
        need->from = need->operation == NOBODY ? index_of(replay, need->from) : NOBODY;
        struct rank_come source = source_of(replay, need);
        if (is_call(replay, need->rank, need->call) && is_call(replay, source.rank, source.call) &&
            source.rank != need->rank &&
            needed_at(replay, need) <= call_at(replay, need->rank, need->call)->leave)
            vec__push(&replay->needs, need);
    }
    vec__sort(&replay->needs, by_call);
}

/* What each call took itself. */
static void find_own(struct rank_replay *replay)
{
    VEC_EACH (rank, &replay->ranks, struct replayed_rank) {
        uint32_t index = (uint32_t)(rank - rank_at(replay, 0));
        rank->first_need = VEC_FIRST(need, &replay->needs, struct rank_need, need->rank >= index);
        rank->first_come = VEC_FIRST(come, &replay->comes, struct rank_come, come->rank >= index);
        for (uint32_t i = 0; i < rank->calls; i++) {
            struct rank_replay_call *call = call_at(replay, index, i);
            call->own = call->leave - call->enter;
        }
    }
    VEC_EACH (need, &replay->needs, const struct rank_need) {
        struct rank_replay_call *call = call_at(replay, need->rank, need->call);
        uint64_t at = tick__later(needed_at(replay, need), call->enter);
        call->own = tick__earlier(call->own, call->leave - at);
    }
}

/* ---- segments: between two operations of all ------------------------------------------------- */

static uint64_t outside_before(const struct rank_replay *replay, const struct replayed_rank *rank,
                               uint32_t call)
{
    const struct rank_replay_call *calls = &replay->calls[rank->first];
    uint64_t since = call ? calls[call - 1].leave : rank->begin;
    return calls[call].enter > since ? calls[call].enter - since : 0;
}

/* In find_segments an operation of all is one; calls behind it are of the next segment. */
static void find_segments(struct rank_replay *replay)
{
    replay->segments = 1;
    VEC_EACH (rank, &replay->ranks, const struct replayed_rank) {
        uint32_t index = (uint32_t)(rank - rank_at(replay, 0)), segment = 0;
        size_t come = rank->first_come;
        for (uint32_t i = 0; i < rank->calls; i++) {
            call_at(replay, index, i)->segment = segment;
            for (; come < replay->comes.count; come++) {
                const struct rank_come *at = VEC_AT(&replay->comes, struct rank_come, come);
                if (at->rank != index || at->call != i)
                    break;
                segment +=
                    VEC_AT(&replay->operations, struct rank_operation, at->operation)->members ==
                    replay->ranks.count;
            }
        }
        replay->segments = segment + 1 > replay->segments ? segment + 1 : replay->segments;
    }
    replay->outside =
        memory__zeroed(replay->ranks.count * replay->segments + 1, sizeof *replay->outside);
    VEC_EACH (rank, &replay->ranks, const struct replayed_rank)
        for (uint32_t i = 0; i < rank->calls; i++)
            replay->outside[(size_t)(rank - rank_at(replay, 0)) * replay->segments +
                            replay->calls[rank->first + i].segment] +=
                outside_before(replay, rank, i);
}

/* ---- a change -------------------------------------------------------------------------------- */

static double mean_of(const struct rank_replay *replay, uint32_t segment, uint32_t but)
{
    double sum = 0, count = 0;
    for (uint32_t i = 0; i < replay->ranks.count; i++)
        if (i != but) {
            sum += (double)replay->outside[(size_t)i * replay->segments + segment];
            count++;
        }
    return count > 0 ? sum / count : 0;
}

static double whole_of(const struct rank_replay *replay, uint32_t rank)
{
    double sum = 0;
    for (uint32_t i = 0; i < replay->segments; i++)
        sum += (double)replay->outside[(size_t)rank * replay->segments + i];
    return sum;
}

/* How a rank's time outside of MPI changes in each segment: a factor. What has no time there gets
 * none. */
static void find_factors(const struct rank_replay *replay, const struct rank_change *change,
                         uint32_t rank, double all_mean, double *factors)
{
    double whole = whole_of(replay, rank);
    bool is_it = rank_at(replay, rank)->rank == change->rank;
    for (uint32_t i = 0; i < replay->segments; i++) {
        double own = (double)replay->outside[(size_t)rank * replay->segments + i], to = own;
        if (change->type == RANKS_BALANCED)
            to = mean_of(replay, i, NOBODY);
        else if (change->type == RANKS_EVEN)
            to = whole > 0 ? own * all_mean / whole : own;
        else if (change->type == RANK_UNDELAYED && is_it)
            to = fmin(own, mean_of(replay, i, rank));
        factors[i] = own > 0 ? to / own : 1;
    }
}

static double all_mean_of(const struct rank_replay *replay)
{
    double sum = 0;
    for (uint32_t i = 0; i < replay->ranks.count; i++)
        sum += whole_of(replay, i);
    return replay->ranks.count ? sum / (double)replay->ranks.count : 0;
}

/* ---- the replay ------------------------------------------------------------------------------ */

struct rank_replaying {
    const struct rank_replay *replay;
    const struct rank_change *change; /* NULL: none */
    double *factors;                  /* by rank and segment; NULL: all 1 */
    uint64_t *enters;                 /* of all calls, as replayed */
    uint64_t *operations;             /* when their last, or root, came */
    struct rank_replay_place *places; /* of each rank */
    uint32_t *heap;                   /* ranks, by their next event */
    size_t waiting;                   /* in the heap */
};

struct rank_replay_place {
    uint64_t tick; /* replayed, so far */
    size_t need, come;
    uint32_t call;
    bool is_in_call;
};

static uint64_t next_tick(const struct rank_replaying *state, uint32_t rank)
{
    const struct rank_replay_place *place = &state->places[rank];
    const struct rank_replay_call *call = call_at(state->replay, rank, place->call);
    return place->is_in_call ? call->leave : call->enter;
}

/* Who enters comes before who leaves at the same time. */
static bool comes_before(const struct rank_replaying *state, uint32_t a, uint32_t b)
{
    uint64_t left = next_tick(state, a), right = next_tick(state, b);
    if (left != right)
        return left < right;
    if (state->places[a].is_in_call != state->places[b].is_in_call)
        return state->places[b].is_in_call;
    return a < b;
}

static void sink(struct rank_replaying *state, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < state->waiting; at = child) {
        if (child + 1 < state->waiting &&
            comes_before(state, state->heap[child + 1], state->heap[child]))
            child++;
        if (comes_before(state, state->heap[at], state->heap[child]))
            return;
        uint32_t rank = state->heap[at];
        state->heap[at] = state->heap[child];
        state->heap[child] = rank;
    }
}

static void do_enter(struct rank_replaying *state, uint32_t index)
{
    const struct rank_replay *replay = state->replay;
    const struct replayed_rank *rank = rank_at(replay, index);
    struct rank_replay_place *place = &state->places[index];
    uint32_t segment = replay->calls[rank->first + place->call].segment;
    double outside = (double)outside_before(replay, rank, place->call);
    if (state->factors)
        outside *= state->factors[(size_t)index * replay->segments + segment];
    place->tick += (uint64_t)(outside + 0.5);
    state->enters[rank->first + place->call] = place->tick;
    for (; place->come < replay->comes.count; place->come++) {
        const struct rank_come *come = VEC_AT(&replay->comes, struct rank_come, place->come);
        if (come->rank != index || come->call != place->call)
            break;
        const struct rank_operation *of =
            VEC_AT(&replay->operations, struct rank_operation, come->operation);
        uint64_t *at = &state->operations[come->operation];
        if (of->root == MPI_NOBODY || of->root == rank->rank)
            *at = tick__later(*at, place->tick);
    }
}

/* What another network adds to a call that needed that; ticks. */
static double network_change(const struct rank_replaying *state, const struct rank_need *need)
{
    const struct rank_replay *replay = state->replay;
    const struct rank_change *change = state->change;
    double ns = replay->network.base_ns * (change->latency - 1);
    if (need->operation != NOBODY)
        ns *= ceil(log2(
            (double)VEC_AT(&replay->operations, struct rank_operation, need->operation)->members));
    else
        ns += replay->network.byte_ns * (double)need->bytes * (1 / change->bandwidth - 1);
    return need->operation == NOBODY && !need->is_message ? 0 : ns / replay->ns;
}

static void do_leave(struct rank_replaying *state, uint32_t index)
{
    const struct rank_replay *replay = state->replay;
    struct rank_replay_place *place = &state->places[index];
    double own = (double)call_at(replay, index, place->call)->own, more = 0;
    for (; place->need < replay->needs.count; place->need++) {
        const struct rank_need *need = VEC_AT(&replay->needs, struct rank_need, place->need);
        if (need->rank != index || need->call != place->call)
            break;
        uint64_t at = need->operation == NOBODY
                          ? state->enters[rank_at(replay, need->from)->first + need->from_call]
                          : state->operations[need->operation];
        place->tick = tick__later(place->tick, at);
        if (state->change && state->change->type == RANKS_NETWORK)
            more += network_change(state, need);
    }
    place->tick += (uint64_t)fmax(0, own + more);
    place->call++;
}

/* The rank that comes next in the recorded run does its next step. */
static void do_step(struct rank_replaying *state)
{
    uint32_t rank = state->heap[0];
    struct rank_replay_place *place = &state->places[rank];
    if (place->is_in_call)
        do_leave(state, rank);
    else
        do_enter(state, rank);
    place->is_in_call = !place->is_in_call;
    if (place->call == rank_at(state->replay, rank)->calls)
        state->heap[0] = state->heap[--state->waiting];
    sink(state, 0);
}

static uint64_t last_end(const struct rank_replaying *state)
{
    uint64_t begin = UINT64_MAX, end = 0;
    VEC_EACH (rank, &state->replay->ranks, const struct replayed_rank) {
        const struct rank_replay_call *last = &state->replay->calls[rank->first + rank->calls - 1];
        uint64_t rest = rank->calls && rank->end > last->leave ? rank->end - last->leave : 0;
        begin = tick__earlier(begin, rank->begin);
        end = tick__later(end, state->places[rank - rank_at(state->replay, 0)].tick + rest);
    }
    return end > begin ? end - begin : 0;
}

uint64_t rank_replay__wall_ns(const struct rank_replay *replay, const struct rank_change *change)
{
    size_t ranks = replay->ranks.count, calls = 0;
    double all_mean = all_mean_of(replay);
    struct rank_replaying state = {.replay = replay, .change = change};
    state.places = memory__zeroed(ranks + 1, sizeof *state.places);
    state.heap = memory__zeroed(ranks + 1, sizeof *state.heap);
    state.operations = memory__zeroed(replay->operations.count + 1, sizeof *state.operations);
    if (change && change->type != RANKS_NETWORK)
        state.factors = memory__zeroed(ranks * replay->segments + 1, sizeof *state.factors);
    for (uint32_t i = 0; i < ranks; i++) {
        const struct replayed_rank *rank = rank_at(replay, i);
        calls += rank->calls;
        state.places[i] = (struct rank_replay_place){
            .tick = rank->begin, .need = rank->first_need, .come = rank->first_come};
        if (rank->calls)
            state.heap[state.waiting++] = i;
        if (state.factors)
            find_factors(replay, change, i, all_mean, state.factors + (size_t)i * replay->segments);
    }
    state.enters = memory__zeroed(calls + 1, sizeof *state.enters);
    for (size_t i = state.waiting; i-- > 0;)
        sink(&state, i);
    while (state.waiting)
        do_step(&state);
    uint64_t wall = last_end(&state);
    free(state.places);
    free(state.heap);
    free(state.operations);
    free(state.factors);
    free(state.enters);
    return (uint64_t)((double)wall * replay->ns + 0.5);
}

/* ---- the network ----------------------------------------------------------------------------- */

/* Of messages that were there before the call, what the quickest call took, by their size: the
 * smallest one's is the latency with its overheads, and the slope up to the largest the gap a byte.
 */
static void find_network(struct rank_replay *replay)
{
    double least[SIZE_BINS], bytes[SIZE_BINS];
    for (unsigned i = 0; i < SIZE_BINS; i++)
        least[i] = INFINITY;
    VEC_EACH (need, &replay->needs, const struct rank_need) {
        const struct rank_replay_call *call = call_at(replay, need->rank, need->call);
        unsigned bin = need->bytes ? 64u - (unsigned)__builtin_clzll(need->bytes) : 0;
        if (!need->is_message || bin >= SIZE_BINS)
            continue;
        replay->network.messages++;
        double own = (double)call->own * replay->ns;
        if (own < least[bin]) {
            least[bin] = own;
            bytes[bin] = (double)need->bytes;
        }
    }
    double first = INFINITY, first_bytes = 0;
    for (unsigned i = 0; i < SIZE_BINS; i++) {
        if (!isfinite(least[i]))
            continue;
        if (!isfinite(first)) {
            first = least[i];
            first_bytes = bytes[i];
        } else {
            replay->network.byte_ns = fmax(0, (least[i] - first) / (bytes[i] - first_bytes));
        }
    }
    replay->network.base_ns = isfinite(first) ? first : 0;
}

/* ---- the critical path ----------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct rank_path *left = a, *right = b;
    return ORDER(right->outside_ns + right->mpi_ns, left->outside_ns + left->mpi_ns)
               ?: ORDER(left->rank, right->rank);
}

/* What a call needed that was there last, when that was within it. NULL: nothing. */
static const struct rank_need *binding(const struct rank_replay *replay, uint32_t rank,
                                       uint32_t call)
{
    const struct rank_replay_call *at = call_at(replay, rank, call);
    const struct rank_need *last = NULL, *all = replay->needs.items;
    size_t count = replay->needs.count;
    size_t i =
        FIRST_WHERE(k, count, all[k].rank > rank || (all[k].rank == rank && all[k].call >= call));
    for (; i < count && all[i].rank == rank && all[i].call == call; i++)
        if (needed_at(replay, &all[i]) > at->enter &&
            (!last || needed_at(replay, &all[i]) > needed_at(replay, last)))
            last = &all[i];
    return last;
}

/* From the last end backward, on a rank until it waited, then on the one that it waited for. */
static void follow_path(const struct rank_replay *replay, struct rank_path *parts)
{
    uint32_t rank = 0, call;
    for (uint32_t i = 1; i < replay->ranks.count; i++)
        if (rank_at(replay, i)->end > rank_at(replay, rank)->end)
            rank = i;
    uint64_t until = rank_at(replay, rank)->end;
    for (call = rank_at(replay, rank)->calls; call > 0;) {
        const struct rank_replay_call *at = call_at(replay, rank, call - 1);
        const struct rank_need *need = binding(replay, rank, call - 1);
        parts[rank].outside_ns += until > at->leave ? until - at->leave : 0;
        uint64_t since = need ? needed_at(replay, need) : at->enter;
        parts[rank].mpi_ns += tick__earlier(until, at->leave) - since;
        until = since;
        call--;
        if (need) {
            struct rank_come source = source_of(replay, need);
            rank = source.rank;
            call = source.call; /* what comes before its call */
        }
    }
    parts[rank].outside_ns +=
        until > rank_at(replay, rank)->begin ? until - rank_at(replay, rank)->begin : 0;
}

static void find_path(struct rank_replay *replay)
{
    struct rank_path *parts = memory__zeroed(replay->ranks.count + 1, sizeof *parts);
    if (replay->ranks.count)
        follow_path(replay, parts);
    for (uint32_t i = 0; i < replay->ranks.count; i++) {
        parts[i].rank = rank_at(replay, i)->rank;
        parts[i].outside_ns = (uint64_t)((double)parts[i].outside_ns * replay->ns);
        parts[i].mpi_ns = (uint64_t)((double)parts[i].mpi_ns * replay->ns);
        if (parts[i].outside_ns + parts[i].mpi_ns)
            vec__push(&replay->path, &parts[i]);
    }
    vec__sort(&replay->path, by_time);
    free(parts);
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct rank_replay *rank_replay__of(const struct mpi_job *job, struct rank_graph *graph)
{
    struct rank_replay *replay = memory__zeroed(1, sizeof *replay);
    size_t calls = 0;
    *replay = (struct rank_replay){.ranks = VEC_OF(struct replayed_rank),
                                   .needs = VEC_OF(struct rank_need),
                                   .comes = VEC_OF(struct rank_come),
                                   .operations = VEC_OF(struct rank_operation),
                                   .path = VEC_OF(struct rank_path),
                                   .ns = (double)trace__ns(job->run->trace, 1u << 30) / (1u << 30)};
    VEC_EACH (record, &job->records, const struct rank_record) {
        vec__push(&replay->ranks, &(struct replayed_rank){.rank = record->rank,
                                                          .calls = record->main_calls,
                                                          .first = calls,
                                                          .begin = record->begin,
                                                          .end = record->end});
        calls += record->main_calls;
    }
    replay->calls = memory__zeroed(calls + 1, sizeof *replay->calls);
    calls = 0;
    VEC_EACH (record, &job->records, const struct rank_record)
        for (uint32_t i = 0; i < record->main_calls; i++) {
            const struct rank_call *call = rank_record__call(record, i);
            replay->calls[calls++] =
                (struct rank_replay_call){.enter = call->enter, .leave = call->leave};
        }
    keep_needs(replay, graph);
    find_own(replay);
    find_segments(replay);
    find_network(replay);
    find_path(replay);
    return replay;
}

uint64_t rank_replay__recorded_ns(const struct rank_replay *replay)
{
    uint64_t begin = UINT64_MAX, end = 0;
    VEC_EACH (rank, &replay->ranks, const struct replayed_rank) {
        begin = tick__earlier(begin, rank->begin);
        end = tick__later(end, rank->end);
    }
    return end > begin ? (uint64_t)((double)(end - begin) * replay->ns + 0.5) : 0;
}

bool rank_replay__has(const struct rank_replay *replay, uint32_t rank)
{
    return index_of(replay, rank) != NOBODY;
}

struct rank_network rank_replay__network(const struct rank_replay *replay)
{
    return replay->network;
}

const struct vec *rank_replay__path(const struct rank_replay *replay)
{
    return &replay->path;
}

void rank_replay__free(struct rank_replay *replay)
{
    if (!replay)
        return;
    vec__free(&replay->ranks);
    vec__free(&replay->needs);
    vec__free(&replay->comes);
    vec__free(&replay->operations);
    vec__free(&replay->path);
    free(replay->calls);
    free(replay->outside);
    free(replay);
}
