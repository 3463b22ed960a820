/* locks_side.c: acquisitions, waits and holds of a lock; sites, pairs, the longest waits. */
#include "analysis/locks/internal.h"
#include "base/memory.h"

/* ---- durations ------------------------------------------------------------------------------- */

void times__add(const struct locks_walk *walk, struct times *times, uint64_t ticks, uint64_t weight)
{
    if (!times->buckets)
        times->buckets = memory__zeroed(LOCKS_BUCKETS, sizeof *times->buckets);
    unsigned bucket = walk->first_bucket[log2_of(ticks)];
    while (bucket + 1 < LOCKS_BUCKETS && ticks >= walk->bucket_ticks[bucket + 1])
        bucket++;
    times->buckets[bucket] += weight;
    times->count += weight;
    times->sum += ticks * weight;
    times->max = ticks > times->max ? ticks : times->max;
}

/* ---- sites and pairs ------------------------------------------------------------------------- */

/* Most locks have one or two of them: the first needs no more room than itself. */
static void *push_compact(struct vec *vec)
{
    if (!vec->capacity) {
        vec->items = memory__zeroed(1, vec->item_bytes);
        vec->capacity = 1;
    }
    return vec__push(vec, NULL);
}

static struct cached_place *cached(struct cached_place *places, uint32_t object, uint64_t first,
                                   uint64_t second)
{
    uint64_t hash = (first + second * 31 + ((uint64_t)object << 20)) * 0x9e3779b97f4a7c15ull;
    struct cached_place *place = &places[hash >> 40 & (CACHE_PLACES - 1)];
    if (place->object_and_1 == object + 1 && place->first == first && place->second == second)
        return place;
    *place = (struct cached_place){first, second, 0, 0};
    return place;
}

static uint32_t find_site(struct locks_walk *walk, struct lock_state *state, uint64_t site)
{
    for (uint32_t i = 0; i < state->sites.count; i++) {
        if (VEC_AT(&state->sites, struct site_sums, i)->site == site)
            return i;
    }
    if (state->sites.count >= SITES_MOST - 1) { /* the last row is for all others */
        walk->sites_are_full = true;
        if (state->sites.count == SITES_MOST)
            return SITES_MOST - 1;
        site = 0;
    }
    ((struct site_sums *)push_compact(&state->sites))->site = site;
    return (uint32_t)state->sites.count - 1;
}

static uint32_t site_of(struct locks_walk *walk, struct lock_state *state, uint32_t object,
                        uint64_t site)
{
    struct cached_place *place = cached(walk->sites, object, site, 0);
    if (!place->object_and_1) {
        place->place = find_site(walk, state, site);
        place->object_and_1 = object + 1;
    }
    return place->place;
}

static uint32_t find_pair(struct locks_walk *walk, struct lock_state *state, uint64_t holder_site,
                          uint64_t waiter_site)
{
    for (uint32_t i = 0; i < state->pairs.count; i++) {
        const struct pair_sums *pair = VEC_AT(&state->pairs, struct pair_sums, i);
        if (pair->holder_site == holder_site && pair->waiter_site == waiter_site)
            return i;
    }
    if (state->pairs.count >= PAIRS_MOST - 1) { /* the last row is for all others */
        walk->pairs_are_full = true;
        if (state->pairs.count == PAIRS_MOST)
            return PAIRS_MOST - 1;
        holder_site = waiter_site = 0;
    }
    struct pair_sums *pair = push_compact(&state->pairs);
    pair->holder_site = holder_site;
    pair->waiter_site = waiter_site;
    return (uint32_t)state->pairs.count - 1;
}

static void add_pair(struct locks_walk *walk, struct lock_state *state, uint32_t object,
                     const struct long_wait *wait)
{
    struct cached_place *place = cached(walk->pairs, object, wait->holder_site, wait->site);
    if (!place->object_and_1) {
        place->place = find_pair(walk, state, wait->holder_site, wait->site);
        place->object_and_1 = object + 1;
    }
    struct pair_sums *pair = VEC_AT(&state->pairs, struct pair_sums, place->place);
    pair->waits++;
    pair->wait += wait->wait;
}

/* ---- waits ----------------------------------------------------------------------------------- */

static void keep_long_wait(struct lock_state *state, const struct long_wait *wait)
{
    struct vec *longest = &state->longest;
    if (longest->count == LOCK_LONGEST) {
        if (VEC_AT(longest, struct long_wait, LOCK_LONGEST - 1)->wait >= wait->wait)
            return;
        longest->count--;
    }
    push_compact(longest);
    size_t place = longest->count - 1;
    for (; place && VEC_AT(longest, struct long_wait, place - 1)->wait < wait->wait; place--)
        *VEC_AT(longest, struct long_wait, place) = *VEC_AT(longest, struct long_wait, place - 1);
    *VEC_AT(longest, struct long_wait, place) = *wait;
}

/* Where who ended the wait had acquired the lock; of a signal or an arrival where it was made. */
static uint64_t holder_site(const struct lock_state *state, const struct sync_event *sync_event)
{
    if (sync_event->by == SYNC_EVENT_NOBODY)
        return 0;
    if (state->kind == CLASS_LOCK && state->releaser == sync_event->by &&
        state->released == sync_event->by_tick)
        return state->released_site;
    return sync_event->by_site;
}

/* A wait that counts. */
static void add_wait(struct locks_walk *walk, struct lock_state *state,
                     const struct sync_event *sync_event)
{
    struct long_wait wait = {sync_event->thread, sync_event->by,
                             sync_event->site,   holder_site(state, sync_event),
                             sync_event->since,  sync_event__ticks(sync_event)};
    uint32_t site = site_of(walk, state, sync_event->object, sync_event->site);
    times__add(walk, &state->sides[sync_event->how & 1].wait, wait.wait, 1);
    VEC_AT(&state->sites, struct site_sums, site)->wait += wait.wait;
    add_pair(walk, state, sync_event->object, &wait);
    keep_long_wait(state, &wait);
    if (sync_event->type != SYNC_EVENT_GAVE_UP && sync_event->by != SYNC_EVENT_NOBODY &&
        sync_event->by != sync_event->thread && sync_event->tick >= sync_event->by_tick)
        times__add(walk, &state->wake, sync_event->tick - sync_event->by_tick, 1);
    if (state->kind == CLASS_LOCK)
        walk->threads[sync_event->thread].wait += wait.wait;
    pressure__waited(walk, state, sync_event, wait.wait);
}

void lock_state__wait_ended(struct locks_walk *walk, struct lock_state *state,
                            const struct sync_event *sync_event)
{
    lock_state__left(walk, state, sync_event);
    if (!is_in_time(walk, sync_event->tick) ||
        !locks_filter__counts(walk, state, sync_event->thread, sync_event->site,
                              sync_event__ticks(sync_event)))
        return;
    struct side *side = &state->sides[sync_event->how & 1];
    add_wait(walk, state, sync_event);
    if (sync_event->type == SYNC_EVENT_GAVE_UP) {
        side->gave_up++;
        return;
    }
    uint32_t site = site_of(walk, state, sync_event->object, sync_event->site);
    side->acquisitions++;
    side->contended++;
    VEC_AT(&state->sites, struct site_sums, site)->acquisitions++;
    VEC_AT(&state->sites, struct site_sums, site)->contended++;
}

/* ---- acquisitions ---------------------------------------------------------------------------- */

/* Adds one that counts; returns its site's place. */
static uint32_t add_acquisition(struct locks_walk *walk, struct lock_state *state,
                                const struct sync_event *sync_event)
{
    struct side *side = &state->sides[sync_event->how & 1];
    struct lock_thread *thread = &walk->threads[sync_event->thread];
    uint32_t place = site_of(walk, state, sync_event->object, sync_event->site);
    struct site_sums *site = VEC_AT(&state->sites, struct site_sums, place);
    bool contended = sync_event->since != 0;
    side->acquisitions += sync_event->weight;
    side->contended += contended;
    site->acquisitions += sync_event->weight;
    site->contended += contended;
    if (state->kind == CLASS_LOCK) {
        thread->acquisitions += sync_event->weight;
        thread->contended += contended;
    }
    if (contended)
        add_wait(walk, state, sync_event);
    return place;
}

/* Drops what the walk over synchronisation events no longer holds to be held: what was lost among
 * events. acquired: the lock that is being acquired. */
static void drop_lost(struct locks_walk *walk, uint32_t index, uint32_t acquired)
{
    struct lock_thread *thread = &walk->threads[index];
    const struct vec *held = sync_events__held(walk->sync_events, index);
    size_t kept = 0;
    thread->counting = 0;
    for (size_t i = 0; i < thread->sections.count; i++) {
        struct section section = *VEC_AT(&thread->sections, struct section, i);
        bool is_held = false;
        VEC_EACH (lock, held, struct held_lock)
            is_held |= lock->object == section.object && lock->object != acquired;
        if (!is_held)
            continue;
        *VEC_AT(&thread->sections, struct section, kept++) = section;
        thread->counting += section.counts;
    }
    thread->sections.count = kept;
}

static void begin_section(struct locks_walk *walk, const struct sync_event *sync_event,
                          const struct section *section)
{
    struct lock_thread *thread = &walk->threads[sync_event->thread];
    if (thread->sections.count != sync_event->held)
        drop_lost(walk, sync_event->thread, sync_event->object);
    if (section->counts && !thread->counting++) {
        thread->covered_since = sync_event->tick;
        thread->covered_weight = section->weight;
        thread->covered_paused = 0;
    }
    *(struct section *)vec__extend(&thread->sections, 1) = *section;
}

void lock_state__acquired(struct locks_walk *walk, struct lock_state *state,
                          const struct sync_event *sync_event)
{
    uint64_t waited = sync_event->since ? sync_event__ticks(sync_event) : 0;
    struct section section = {sync_event->object, 0, sync_event->weight, false};
    if (sync_event->since)
        lock_state__left(walk, state, sync_event);
    section.counts = sync_event->weight && locks_filter__counts(walk, state, sync_event->thread,
                                                                sync_event->site, waited);
    walk->is_sampled |= sync_event->weight != 1;
    walk->drawn += sync_event->weight > 1;
    walk->drawn_of += sync_event->weight > 1 ? sync_event->weight : 0;
    if (section.counts && is_in_time(walk, sync_event->tick))
        section.site = add_acquisition(walk, state, sync_event);
    else if (section.counts)
        section.site = site_of(walk, state, sync_event->object, sync_event->site);
    if (state->kind != CLASS_LOCK)
        return;
    begin_section(walk, sync_event, &section);
    if (sync_event->held)
        lock_order__take(walk, sync_event);
}

void lock_state__busy(struct locks_walk *walk, struct lock_state *state,
                      const struct sync_event *sync_event)
{
    if (is_in_time(walk, sync_event->tick) &&
        locks_filter__counts(walk, state, sync_event->thread, sync_event->site, 0))
        state->sides[sync_event->how & 1].busy++;
}

/* ---- sections -------------------------------------------------------------------------------- */

static bool take_section(struct lock_thread *thread, uint32_t object, struct section *section)
{
    struct section *sections = thread->sections.items;
    size_t place = thread->sections.count;
    while (place && sections[place - 1].object != object)
        place--;
    if (!place)
        return false;
    *section = sections[place - 1];
    for (; place < thread->sections.count; place++)
        sections[place - 1] = sections[place];
    thread->sections.count--;
    return true;
}

/* Nested sections are counted once: from where the first of them began to where the last ended. Of
 * sampled ones the first stands for others, which is too much where those were nested. */
static void cover_section(struct lock_thread *thread, const struct sync_event *released,
                          bool in_time)
{
    if (released->paused > thread->covered_paused)
        thread->covered_paused = released->paused;
    if (--thread->counting || !in_time)
        return;
    uint64_t ticks = released->tick - thread->covered_since;
    if (ticks > thread->covered_paused)
        thread->covered += (ticks - thread->covered_paused) * thread->covered_weight;
}

static void end_section(struct locks_walk *walk, struct lock_state *state,
                        const struct sync_event *released, const struct section *section)
{
    struct lock_thread *thread = &walk->threads[released->thread];
    bool in_time = is_in_time(walk, released->tick);
    if (!section->counts)
        return;
    if (in_time) {
        uint64_t held = sync_event__ticks(released);
        uint64_t weight = section->weight;
        times__add(walk, &state->sides[released->how & 1].hold, held, weight);
        /* Horvitz and Thompson's estimate for draws with probability 1/weight. */
        walk->hold_variance += (double)weight * (double)(weight - 1) * (double)held * (double)held;
        VEC_AT(&state->sites, struct site_sums, section->site)->hold += held * section->weight;
        thread->hold += held * section->weight;
    }
    cover_section(thread, released, in_time);
}

void lock_state__released(struct locks_walk *walk, struct lock_state *state,
                          const struct sync_event *sync_event)
{
    struct lock_thread *thread = &walk->threads[sync_event->thread];
    struct section section;
    state->releaser = sync_event->thread;
    state->released = sync_event->tick;
    state->released_site = sync_event->since ? sync_event->acquired_site : 0;
    if (sync_event->since && take_section(thread, sync_event->object, &section))
        end_section(walk, state, sync_event, &section);
}
