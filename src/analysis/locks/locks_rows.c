/* locks_rows.c: from what the walk kept to the tables of locks.h. */
#include "analysis/locks/internal.h"
#include "base/memory.h"
#include "base/ratio.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums ------------------------------------------------------------------------------------ */

static struct lock_times times_ns(const struct trace *trace, const struct times *times)
{
    struct lock_times result = {
        times->count, trace__ns(trace, times->sum), trace__ns(trace, times->max), {0}};
    if (times->buckets)
        memcpy(result.buckets, times->buckets, sizeof result.buckets);
    return result;
}

static struct lock_side side_ns(const struct trace *trace, const struct side *side)
{
    return (struct lock_side){.acquisitions = side->acquisitions,
                              .contended = side->contended,
                              .busy = side->busy,
                              .gave_up = side->gave_up,
                              .wait = times_ns(trace, &side->wait),
                              .hold = times_ns(trace, &side->hold)};
}

static uint64_t *steps_ns(const struct locks_walk *walk, const uint64_t *ticks)
{
    if (!ticks)
        return NULL;
    uint64_t *ns = memory__zeroed(walk->axis.steps, sizeof *ns);
    for (uint64_t i = 0; i < walk->axis.steps; i++)
        ns[i] = (int64_t)ticks[i] > 0 ? trace__ns(walk->trace, ticks[i]) : 0;
    return ns;
}

/* ---- tables of a lock ------------------------------------------------------------------------ */

static int by_wait_of_site(const void *a, const void *b)
{
    const struct site_sums *left = a, *right = b;
    int order = ORDER(right->wait, left->wait) ?: ORDER(right->hold, left->hold);
    return order ?: ORDER(left->site, right->site);
}

static int by_wait_of_pair(const void *a, const void *b)
{
    const struct pair_sums *left = a, *right = b;
    int order = ORDER(right->wait, left->wait) ?: ORDER(left->holder_site, right->holder_site);
    return order ?: ORDER(left->waiter_site, right->waiter_site);
}

static struct vec sites_of(const struct trace *trace, struct lock_state *state)
{
    struct vec sites = VEC_OF(struct lock_site);
    vec__sort(&state->sites, by_wait_of_site);
    VEC_EACH (site, &state->sites, struct site_sums) {
        struct lock_site row = {site->site, site->acquisitions, site->contended,
                                trace__ns(trace, site->wait), trace__ns(trace, site->hold)};
        vec__push(&sites, &row);
    }
    return sites;
}

static struct vec pairs_of(const struct trace *trace, struct lock_state *state)
{
    struct vec pairs = VEC_OF(struct lock_pair);
    vec__sort(&state->pairs, by_wait_of_pair);
    VEC_EACH (pair, &state->pairs, struct pair_sums) {
        struct lock_pair row = {pair->holder_site, pair->waiter_site, pair->waits,
                                trace__ns(trace, pair->wait)};
        vec__push(&pairs, &row);
    }
    return pairs;
}

static struct vec longest_of(const struct locks_walk *walk, const struct lock_state *state)
{
    const struct trace *trace = walk->trace;
    struct vec longest = VEC_OF(struct lock_wait);
    VEC_EACH (wait, &state->longest, struct long_wait) {
        struct lock_wait row = {wait->thread,
                                wait->holder,
                                wait->site,
                                wait->holder_site,
                                trace__since_start_ns(trace, wait->since),
                                trace__ns(trace, wait->wait)};
        const struct trace_thread *thread = trace__thread_at(trace, wait->thread);
        if (walk->symbols)
            row.frame_count =
                symbols__get_stack(walk->symbols, thread->serial, wait->since, &row.frames);
        vec__push(&longest, &row);
    }
    return longest;
}

static void take_last_arriver(const struct lock_state *state, struct lock_row *row)
{
    row->last_arriver = SYNC_EVENT_NOBODY;
    if (!state->round)
        return;
    VEC_EACH (arriver, &state->round->arrivers, struct arriver) {
        if (arriver->rounds > row->last_arrivals ||
            (arriver->rounds == row->last_arrivals && arriver->thread < row->last_arriver)) {
            row->last_arriver = arriver->thread;
            row->last_arrivals = arriver->rounds;
        }
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static uint64_t wait_of(const struct lock_state *state)
{
    return state->sides[0].wait.sum + state->sides[1].wait.sum;
}

static uint64_t hold_of(const struct lock_state *state)
{
    return state->sides[0].hold.sum + state->sides[1].hold.sum;
}

static void make_row(struct locks_walk *walk, uint32_t object, struct lock_row *row)
{
    const struct trace *trace = walk->trace;
    struct lock_state *state = VEC_AT(&walk->states, struct lock_state, object);
    *row = (struct lock_row){
        .object = *sync_events__object(walk->sync_events, object),
        .exclusive = side_ns(trace, &state->sides[SYNC_EVENT_EXCLUSIVE]),
        .shared = side_ns(trace, &state->sides[SYNC_EVENT_SHARED]),
        .wait_share = walk->lifetimes ? (double)wait_of(state) / (double)walk->lifetimes : 0.0,
        .is_idle = idle_waits__at(&walk->idle, object),
        .wake = times_ns(trace, &state->wake),
        .signals = state->signals,
        .broadcasts = state->broadcasts,
        .signals_for_nobody = state->signals_for_nobody,
        .rounds = state->rounds,
        .spread = times_ns(trace, &state->spread),
        .sites = sites_of(trace, state),
        .pairs = pairs_of(trace, state),
        .longest = longest_of(walk, state),
        .acquiring_ns = steps_ns(walk, state->acquiring),
    };
    take_last_arriver(state, row);
}

struct ranked_lock {
    unsigned group; /* 0: waits that are a loss, 1: idle ones, 2: none */
    uint64_t wait, hold;
    uint32_t object;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked_lock *left = a, *right = b;
    int order = ORDER(left->group, right->group) ?: ORDER(right->wait, left->wait);
    order = order ?: ORDER(right->hold, left->hold);
    return order ?: ORDER(left->object, right->object);
}

/* Whether anything of it counts: of signals alone, not when long waits are asked for. */
static bool is_shown(const struct locks_walk *walk, const struct lock_state *state)
{
    bool tries = state->sides[0].busy || state->sides[1].busy;
    return state->sites.count || (!walk->least_wait && (state->signals || tries));
}

static struct vec rank(const struct locks_walk *walk)
{
    struct vec ranking = VEC_OF(struct ranked_lock);
    for (uint32_t i = 0; i < walk->states.count; i++) {
        const struct lock_state *state = VEC_AT(&walk->states, struct lock_state, i);
        unsigned group = idle_waits__at(&walk->idle, i) ? 1 : wait_of(state) ? 0 : 2;
        struct ranked_lock row = {group, wait_of(state), hold_of(state), i};
        if (is_shown(walk, state))
            vec__push(&ranking, &row);
    }
    vec__sort(&ranking, by_rank);
    return ranking;
}

/* row_of: by object, filled. */
static void make_rows(struct locks_walk *walk, struct locks_result *result, uint32_t *row_of)
{
    struct vec ranking = rank(walk);
    size_t count = ranking.count < LOCKS_ROWS_MOST ? ranking.count : LOCKS_ROWS_MOST;
    memset(row_of, 0xff, walk->states.count * sizeof *row_of);
    if (count)
        vec__extend(&result->rows, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t object = VEC_AT(&ranking, struct ranked_lock, i)->object;
        make_row(walk, object, VEC_AT(&result->rows, struct lock_row, i));
        row_of[object] = i;
    }
    for (size_t i = count; i < ranking.count; i++) {
        uint32_t object = VEC_AT(&ranking, struct ranked_lock, i)->object;
        result->left_out[VEC_AT(&walk->states, struct lock_state, object)->kind]++;
    }
    if (ranking.count > count) {
        char *text = memory__format("%zu locks are left out of the table, those with the least "
                                    "waiting; the sums are of all",
                                    ranking.count - count);
        vec__push(&result->warnings, &text);
    }
    vec__free(&ranking);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void add_threads(const struct locks_walk *walk, struct locks_result *result)
{
    uint64_t wait = 0, hold = 0, covered = 0;
    for (size_t i = 0; i < walk->thread_count; i++) {
        const struct lock_thread *thread = &walk->threads[i];
        result->acquisitions += thread->acquisitions;
        result->contended += thread->contended;
        wait += thread->wait;
        hold += thread->hold;
        covered += thread->covered;
    }
    result->wait_ns = trace__ns(walk->trace, wait);
    result->hold_sum_ns = trace__ns(walk->trace, hold);
    result->hold_covered_ns = trace__ns(walk->trace, covered < hold ? covered : hold);
}

static uint64_t wall_ns(const struct locks_walk *walk)
{
    uint64_t wall = trace__wall_ns(walk->trace);
    if (!walk->filter->from_ns && !walk->filter->to_ns)
        return wall;
    uint64_t first = UINT64_MAX;
    VEC_EACH (thread, trace__threads(walk->trace), struct trace_thread)
        first = thread->start_tick < first ? thread->start_tick : first;
    uint64_t from_ns = trace__since_start_ns(walk->trace, first), to_ns = from_ns + wall;
    from_ns = walk->filter->from_ns > from_ns ? walk->filter->from_ns : from_ns;
    to_ns = walk->filter->to_ns && walk->filter->to_ns < to_ns ? walk->filter->to_ns : to_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

static void warn(struct locks_result *result, char *sentence)
{
    vec__push(&result->warnings, &sentence);
}

static void warn_of_function(const struct locks_walk *walk, struct locks_result *result)
{
    char *question = nearest__question(&walk->nearest_function);
    warn(result,
         memory__format("no lock was acquired in a function %s%s", walk->filter->site, question));
    free(question);
}

static void add_warnings(const struct locks_walk *walk, struct locks_result *result)
{
    uint64_t lost = trace__events_lost(walk->trace);
    if (walk->filter->site && !walk->matched_functions)
        warn_of_function(walk, result);
    else if (!result->rows.count && walk->states.count)
        warn(result, memory__text("nothing that threads did with locks passes the filter"));
    if (walk->sites_are_full)
        warn(result,
             memory__format("of locks with more than %u places of acquisition the last ones "
                            "to be seen are one row",
                            SITES_MOST - 1));
    if (walk->pairs_are_full)
        warn(result, memory__format("of locks with more than %u pairs of who waited for whom the "
                                    "last ones to be seen are one row",
                                    PAIRS_MOST - 1));
    if (walk->pressures == PRESSURES_MOST)
        warn(result, memory__format("the pressure over time is kept of the first %u locks alone "
                                    "that somebody waited for",
                                    PRESSURES_MOST));
    if (lost)
        warn(result, memory__format(
                         "%" PRIu64 " events were lost; waits and sections may be missing", lost));
}

/* ---- figures of a row ------------------------------------------------------------------------ */

uint64_t lock_row__wait_ns(const struct lock_row *row)
{
    return row->exclusive.wait.sum_ns + row->shared.wait.sum_ns;
}

uint64_t lock_row__acquisitions(const struct lock_row *row)
{
    return row->exclusive.acquisitions + row->shared.acquisitions;
}

uint64_t lock_row__contended(const struct lock_row *row)
{
    return row->exclusive.contended + row->shared.contended;
}

uint64_t lock_times__mean_ns(const struct lock_times *times)
{
    return times->count ? times->sum_ns / times->count : 0;
}

double locks__pressure(uint64_t acquiring_ns, uint64_t running_ns)
{
    return acquiring_ns && !running_ns ? INFINITY : ratio(acquiring_ns, running_ns);
}

/* ---- the result ------------------------------------------------------------------------------ */

void locks_result__fill(struct locks_walk *walk, struct locks_result *result)
{
    uint32_t *row_of = memory__zeroed(walk->states.count + 1, sizeof *row_of);
    result->wall_ns = wall_ns(walk);
    result->lifetime_sum_ns = trace__ns(walk->trace, walk->lifetimes);
    result->step_ns = walk->axis.step_ns;
    result->steps = walk->axis.steps;
    result->steps_from_ns = walk->axis.from_ns;
    result->acquiring_ns = steps_ns(walk, walk->acquiring);
    result->running_ns = steps_ns(walk, walk->running);
    result->is_sampled = walk->is_sampled;
    result->drawn = walk->drawn;
    result->drawn_of = walk->drawn_of;
    result->hold_error_ns = trace__ns(walk->trace, (uint64_t)sqrt(walk->hold_variance));
    add_threads(walk, result);
    result->wait_share = ratio(result->wait_ns, result->lifetime_sum_ns);
    make_rows(walk, result, row_of);
    locks_path__fill(walk, row_of, result);
    lock_order__find(walk, row_of, result);
    add_warnings(walk, result);
    free(row_of);
}
