/* locks_audit.c: whether the parts of the analysis of locks add up, in ticks. */
#include "analysis/locks/internal.h"

void locks_check__add(struct locks_result *result, const struct locks_check *check)
{
    struct locks_check *row = vec__push(&result->checks, check);
    row->is_good = row->is_most ? row->left <= row->right : row->left == row->right;
}

static void check(struct locks_result *result, struct locks_check check)
{
    locks_check__add(result, &check);
}

/* What the parts come to. */
struct totals {
    uint64_t acquisitions, contended, wait, hold;
};

static void add_sites(struct totals *totals, const struct lock_state *state)
{
    VEC_EACH (site, &state->sites, struct site_sums) {
        totals->acquisitions += site->acquisitions;
        totals->contended += site->contended;
        totals->wait += site->wait;
        totals->hold += site->hold;
    }
}

static void add_sides(struct totals *totals, const struct lock_state *state)
{
    for (int i = 0; i < 2; i++) {
        totals->acquisitions += state->sides[i].acquisitions;
        totals->contended += state->sides[i].contended;
        totals->wait += state->sides[i].wait.sum;
        totals->hold += state->sides[i].hold.sum;
    }
}

static struct totals of_threads(const struct locks_walk *walk)
{
    struct totals totals = {0};
    for (size_t i = 0; i < walk->thread_count; i++) {
        totals.acquisitions += walk->threads[i].acquisitions;
        totals.contended += walk->threads[i].contended;
        totals.wait += walk->threads[i].wait;
        totals.hold += walk->threads[i].hold;
    }
    return totals;
}

static void compare(struct locks_result *result, const struct totals *left,
                    const struct totals *right, const char *of, const char *with)
{
    check(result, (struct locks_check){"acquisitions", of, with, left->acquisitions,
                                       right->acquisitions, false, false});
    check(result, (struct locks_check){"acquisitions that waited", of, with, left->contended,
                                       right->contended, false, false});
    check(result,
          (struct locks_check){"ticks waited", of, with, left->wait, right->wait, false, false});
    check(result,
          (struct locks_check){"ticks held", of, with, left->hold, right->hold, false, false});
}

/* Ticks waited, and waits, as pairs, histograms and steps have them. */
static void check_waits(const struct locks_walk *walk, struct locks_result *result)
{
    struct totals sides = {0};
    uint64_t waits = 0, in_pairs = 0, pair_ticks = 0, in_buckets = 0, steps = 0;
    VEC_EACH (state, &walk->states, struct lock_state) {
        add_sides(&sides, state);
        VEC_EACH (pair, &state->pairs, struct pair_sums) {
            in_pairs += pair->waits;
            pair_ticks += pair->wait;
        }
        for (int i = 0; i < 2; i++) {
            const struct times *times = &state->sides[i].wait;
            waits += times->count;
            for (int j = 0; times->buckets && j < LOCKS_BUCKETS; j++)
                in_buckets += times->buckets[j];
        }
        for (uint64_t i = 0; state->acquiring && i < walk->axis.steps; i++)
            steps += state->acquiring[i];
    }
    bool cut = walk->pressures == PRESSURES_MOST || walk->from || walk->to != UINT64_MAX;
    check(result, (struct locks_check){"waits", "pairs", "objects", in_pairs, waits, false, false});
    check(result,
          (struct locks_check){"waits", "histograms", "objects", in_buckets, waits, false, false});
    check(result, (struct locks_check){"ticks waited", "pairs", "objects", pair_ticks, sides.wait,
                                       false, false});
    check(result, (struct locks_check){"ticks waited", "steps of time", "objects", steps,
                                       sides.wait, cut, false});
}

static void check_cover(const struct locks_walk *walk, struct locks_result *result)
{
    uint64_t hold = 0, covered = 0;
    for (size_t i = 0; i < walk->thread_count; i++) {
        hold += walk->threads[i].hold;
        covered += walk->threads[i].covered;
    }
    if (!walk->is_sampled)
        check(result, (struct locks_check){"ticks held", "sections, nested ones once",
                                           "sections, each", covered, hold, true, false});
}

void locks_audit__ticks(const struct locks_walk *walk, struct locks_result *result)
{
    struct totals locks = {0}, sites = {0}, all = {0}, threads = of_threads(walk);
    VEC_EACH (state, &walk->states, struct lock_state) {
        add_sites(&sites, state);
        add_sides(&all, state);
        if (state->kind == CLASS_LOCK)
            add_sides(&locks, state);
    }
    compare(result, &locks, &threads, "locks", "threads");
    compare(result, &sites, &all, "sites", "objects");
    check_waits(walk, result);
    check_cover(walk, result);
}
