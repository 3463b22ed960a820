#include "analysis/timeline/thread_states.h"

#include "base/memory.h"

#include <string.h>

#define STATES_A_BLOCK 64u

struct thread_states thread_states__new(uint64_t begin_ns, size_t most)
{
    return (struct thread_states){.begin_ns = begin_ns,
                                  .stretches = VEC_OF(struct thread_stretch),
                                  .sums = VEC_OF(struct state_times),
                                  .most = most};
}

void thread_states__free(struct thread_states *states)
{
    vec__free(&states->stretches);
    vec__free(&states->sums);
}

static struct thread_stretch *stretch_at(const struct thread_states *states, size_t place)
{
    return VEC_AT(&states->stretches, struct thread_stretch, place);
}

static uint64_t end_of(const struct thread_stretch *stretch)
{
    return stretch->begin_ns + stretch->length_ns;
}

/* Where the last one ends, or the life begins. */
static uint64_t told_until(const struct thread_states *states)
{
    size_t count = states->stretches.count;
    return count ? end_of(stretch_at(states, count - 1)) : states->begin_ns;
}

/* ---- fewer ----------------------------------------------------------------------------------- */

/* Stretches that lie in one grain. */
struct grain {
    size_t count;
    uint64_t number, begin_ns;
    uint64_t ns[2 * THREAD_STATES];
};

static bool is_within(const struct thread_stretch *stretch, uint64_t grain_ns)
{
    return stretch->length_ns && stretch->begin_ns / grain_ns == (end_of(stretch) - 1) / grain_ns;
}

/* Writes one stretch a state behind the others. */
static void put_grain(struct thread_states *states, struct grain *grain)
{
    uint64_t at = grain->begin_ns;
    for (unsigned state = 0; state < 2 * THREAD_STATES; state++) {
        uint64_t ns = grain->ns[state];
        if (ns)
            *stretch_at(states, states->stretches.count++) = (struct thread_stretch){at, ns, state};
        at += ns;
    }
    *grain = (struct grain){0};
}

/* What is written is never ahead of what is read: a grain has no more states than stretches. */
static void put_together(struct thread_states *states)
{
    size_t count = states->stretches.count;
    struct grain grain = {0};
    states->stretches.count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct thread_stretch stretch = *stretch_at(states, i);
        uint64_t number = stretch.begin_ns / states->grain_ns;
        bool is_in = is_within(&stretch, states->grain_ns);
        if (!is_in || (grain.count && number != grain.number))
            put_grain(states, &grain);
        if (!is_in) {
            *stretch_at(states, states->stretches.count++) = stretch;
            continue;
        }
        if (!grain.count++)
            grain.begin_ns = stretch.begin_ns;
        grain.number = number;
        grain.ns[stretch.state] += stretch.length_ns;
    }
    put_grain(states, &grain);
}

static void make_room(struct thread_states *states)
{
    if (!states->grain_ns) {
        uint64_t told_ns = told_until(states) - stretch_at(states, 0)->begin_ns;
        states->grain_ns = told_ns / states->most + 1;
    }
    while (put_together(states), states->stretches.count > states->most / 2 + 2 * THREAD_STATES)
        states->grain_ns *= 2;
}

/* ---- what is told ---------------------------------------------------------------------------- */

void thread_states__add(struct thread_states *states, unsigned state, uint64_t begin_ns,
                        uint64_t end_ns)
{
    uint64_t until_ns = told_until(states);
    begin_ns = begin_ns > until_ns ? begin_ns : until_ns;
    if (begin_ns >= end_ns)
        return;
    size_t count = states->stretches.count;
    struct thread_stretch *last = count ? stretch_at(states, count - 1) : NULL;
    if (last && last->state == state && until_ns == begin_ns) {
        last->length_ns += end_ns - begin_ns;
        return;
    }
    const struct thread_stretch stretch = {begin_ns, end_ns - begin_ns, state};
    vec__push(&states->stretches, &stretch);
    if (states->stretches.count > states->most + 2 * THREAD_STATES)
        make_room(states);
}

/* What is so within a wait, too. */
static bool is_no_wait(unsigned state)
{
    return state == COMPONENT_RUNNABLE || state == COMPONENT_PAGE_FAULT ||
           state == COMPONENT_OVERHEAD;
}

void thread_states__add_wait(struct thread_states *states, unsigned state, uint64_t begin_ns,
                             uint64_t end_ns, bool is_whole)
{
    size_t first = VEC_FIRST(stretch, &states->stretches, struct thread_stretch,
                             stretch->begin_ns >= begin_ns);
    struct vec inside = VEC_OF(struct thread_stretch);
    for (size_t i = first; i < states->stretches.count; i++)
        vec__push(&inside, stretch_at(states, i));
    states->stretches.count = first;
    uint64_t at = begin_ns;
    unsigned rest = states->knows_cpu && !is_whole ? state + STATE_ON_CPU : state;
    VEC_EACH (stretch, &inside, struct thread_stretch) {
        if (is_whole || stretch->state >= STATE_ON_CPU)
            continue;
        thread_states__add(states, rest, at, stretch->begin_ns);
        thread_states__add(states, is_no_wait(stretch->state) ? stretch->state : state,
                           stretch->begin_ns, end_of(stretch));
        at = end_of(stretch);
    }
    thread_states__add(states, rest, at, end_ns);
    vec__free(&inside);
}

void thread_states__end(struct thread_states *states, uint64_t end_ns)
{
    struct state_times sum = {0};
    uint64_t last_ns = told_until(states);
    states->end_ns = end_ns > last_ns ? end_ns : last_ns;
    for (size_t i = 0; i < states->stretches.count; i++) {
        const struct thread_stretch *stretch = stretch_at(states, i);
        if (i % STATES_A_BLOCK == 0)
            vec__push(&states->sums, &sum);
        sum.ns[stretch->state % STATE_ON_CPU] += stretch->length_ns;
    }
    vec__push(&states->sums, &sum);
}

/* ---- what is asked --------------------------------------------------------------------------- */

/* The thread's life up to then, by states. */
static struct state_times times_until(const struct thread_states *states, uint64_t ns)
{
    size_t count =
        VEC_FIRST(stretch, &states->stretches, struct thread_stretch, stretch->begin_ns >= ns);
    size_t block = count / STATES_A_BLOCK;
    struct state_times times = *VEC_AT(&states->sums, struct state_times, block);
    for (size_t i = block * STATES_A_BLOCK; i < count; i++) {
        const struct thread_stretch *stretch = stretch_at(states, i);
        times.ns[stretch->state % STATE_ON_CPU] += stretch->length_ns;
    }
    if (count && end_of(stretch_at(states, count - 1)) > ns)
        times.ns[stretch_at(states, count - 1)->state % STATE_ON_CPU] -=
            end_of(stretch_at(states, count - 1)) - ns;
    uint64_t until = ns < states->end_ns ? ns : states->end_ns, told = 0;
    for (unsigned state = 0; state < THREAD_STATES; state++)
        told += times.ns[state];
    uint64_t lived = until > states->begin_ns ? until - states->begin_ns : 0;
    times.ns[COMPONENT_RUNNING] += lived > told ? lived - told : 0;
    return times;
}

void thread_states__fill(const struct thread_states *states, uint64_t from_ns, uint64_t to_ns,
                         size_t count, struct state_times *buckets)
{
    struct state_times before = times_until(states, from_ns);
    for (size_t i = 0; i < count; i++) {
        uint64_t end_ns =
            from_ns + (uint64_t)((unsigned __int128)(to_ns - from_ns) * (i + 1) / count);
        struct state_times until = times_until(states, end_ns);
        for (unsigned state = 0; state < THREAD_STATES; state++)
            buckets[i].ns[state] = until.ns[state] - before.ns[state];
        before = until;
    }
}
