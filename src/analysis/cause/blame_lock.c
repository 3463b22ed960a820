/* blame_lock.c: who holds what, and what threads do.
 *
 * Nothing is brought forward before somebody asks: what a thread did is known up to the last change
 * of it, what a lock's holders did up to the last change of them. A thread that waits for a lock
 * asks the lock, which asks its holders. */
#include "analysis/cause/internal.h"

#include "base/memory.h"

#include <stdlib.h>

#define ASKED_AT_MOST 16 /* holders one behind the other; what is behind these stays LOCK */
#define RECENT_LOCKS 1024u

static const struct doing *did_until(struct blame_walk *walk, struct blame_thread *thread,
                                     uint64_t tick, unsigned depth);

/* ---- locks ----------------------------------------------------------------------------------- */

static struct lock_state *lock_at(const struct blame_walk *walk, uint64_t place)
{
    return VEC_AT(&walk->locks, struct lock_state, place);
}

static uint64_t place_of(struct blame_walk *walk, uint32_t own, uint64_t address)
{
    uint32_t process = event__process_of_object(own, address);
    uint64_t hash = (address + process) * 0x9e3779b97f4a7c15ull;
    if (!walk->recent)
        walk->recent = memory__zeroed(RECENT_LOCKS, sizeof *walk->recent);
    struct recent_lock *recent = &walk->recent[hash >> 40 & (RECENT_LOCKS - 1)];
    if (recent->address == address && recent->process_and_1 == process + 1ull)
        return recent->place;
    uint64_t key[2] = {process, address};
    uint64_t place = map__put(&walk->lock_places, key, sizeof key, walk->locks.count);
    *recent = (struct recent_lock){process + 1ull, address, place};
    if (place == walk->locks.count) {
        struct lock_state fresh = {.process = process, .address = address};
        fresh.holders = VEC_OF(struct lock_holder);
        vec__push(&walk->locks, &fresh);
    }
    return place;
}

static struct holder_site *site_of(struct contention *contention, const struct lock_holder *holder)
{
    VEC_EACH (site, &contention->sites, struct holder_site) {
        if (site->site != holder->site)
            continue;
        if (site->thread != holder->thread)
            site->thread = NOBODY;
        return site;
    }
    struct holder_site fresh = {.site = holder->site, .thread = holder->thread};
    return vec__push(&contention->sites, &fresh);
}

/* What was done between two looks, in so many ticks; what does not fit is cut, what is missing is
 * LOCK. */
static void part_of(const struct doing *now, const struct doing *before, uint64_t ticks,
                    struct doing *part)
{
    for (unsigned i = 0; i < COMPONENTS; i++) {
        uint64_t more = now->ticks[i] > before->ticks[i] ? now->ticks[i] - before->ticks[i] : 0;
        part->ticks[i] = take_ticks(&ticks, more);
    }
    part->ticks[COMPONENT_LOCK] += ticks;
}

/* Brings forward what the holder at that place did in the last ticks, of which it has a share. */
static void add_holder(struct blame_walk *walk, struct lock_state *lock, size_t place,
                       uint64_t ticks, unsigned depth)
{
    struct contention *contention = lock->contention;
    const struct lock_holder *holder = VEC_AT(&lock->holders, struct lock_holder, place);
    const struct blame_thread *thread = &walk->threads[holder->thread];
    const struct doing *now =
        did_until(walk, &walk->threads[holder->thread], contention->tick, depth);
    struct doing *before = VEC_AT(&contention->before, struct doing, place), part;
    struct holder_site *site = site_of(contention, holder);
    if (lock->holders.count == 1 && before->changes == now->changes &&
        thread->doing != COMPONENT_LOCK) { /* it did one thing all the time */
        before->ticks[thread->doing] = now->ticks[thread->doing];
        site->doing.ticks[thread->doing] += ticks;
        contention->all.ticks[thread->doing] += ticks;
        return;
    }
    part_of(now, before, ticks, &part);
    *before = *now;
    for (unsigned i = 0; i < COMPONENTS; i++) {
        uint64_t share =
            lock->holders.count == 1 ? part.ticks[i] : part.ticks[i] / lock->holders.count;
        site->doing.ticks[i] += share;
        contention->all.ticks[i] += share;
    }
}

static void bring_forward(struct blame_walk *walk, struct lock_state *lock, uint64_t tick,
                          unsigned depth)
{
    struct contention *contention = lock->contention;
    if (!contention || !contention->waiters || tick <= contention->tick)
        return;
    uint64_t ticks = tick - contention->tick;
    contention->tick = tick;
    for (size_t i = 0; i < lock->holders.count; i++)
        add_holder(walk, lock, i, ticks, depth);
}

/* ---- what threads do ------------------------------------------------------------------------- */

/* A thread that waits for a lock does what that one's holders do. */
static void add_lock_wait(struct blame_walk *walk, struct blame_thread *thread, uint64_t tick,
                          unsigned depth)
{
    struct lock_state *lock = lock_at(walk, thread->place);
    struct doing part;
    thread->asked = true;
    bring_forward(walk, lock, tick, depth + 1);
    thread->asked = false;
    part_of(&lock->contention->all, &thread->lock_did, tick - thread->did_until, &part);
    thread->lock_did = lock->contention->all;
    for (unsigned i = 0; i < COMPONENTS; i++)
        thread->did.ticks[i] += part.ticks[i];
}

static bool waits_for_lock(const struct blame_thread *thread)
{
    return thread->depth && thread->waits[0].id == HEURT_EVENT_LOCK_WAIT;
}

static const struct doing *did_until(struct blame_walk *walk, struct blame_thread *thread,
                                     uint64_t tick, unsigned depth)
{
    if (tick <= thread->did_until || thread->asked)
        return &thread->did;
    if (thread->doing == COMPONENT_LOCK && waits_for_lock(thread) && depth < ASKED_AT_MOST)
        add_lock_wait(walk, thread, tick, depth);
    else
        thread->did.ticks[thread->doing] += tick - thread->did_until;
    thread->did_until = tick;
    return &thread->did;
}

const struct doing *thread__did(struct blame_walk *walk, struct blame_thread *thread, uint64_t tick)
{
    return did_until(walk, thread, tick, 0);
}

static enum component doing_of(const struct blame_thread *thread)
{
    if (thread->ended)
        return COMPONENT_OTHER_BLOCKED;
    if (thread->off != COMPONENT_RUNNING && (thread->off_is_known || !thread->depth))
        return thread->off;
    return thread->depth ? thread->waits[0].component : COMPONENT_RUNNING;
}

void thread__does_else(struct blame_walk *walk, struct blame_thread *thread)
{
    enum component doing = doing_of(thread);
    if (doing == thread->doing)
        return;
    did_until(walk, thread, thread->steps.tick, 0);
    thread->doing = doing;
    thread->did.changes++;
    if (doing != COMPONENT_LOCK || !waits_for_lock(thread))
        return;
    struct lock_state *lock = lock_at(walk, thread->place);
    bring_forward(walk, lock, thread->steps.tick, 0);
    thread->lock_did = lock->contention->all;
}

/* ---- holders --------------------------------------------------------------------------------- */

static bool has_waiters(const struct lock_state *lock)
{
    return lock->contention && lock->contention->waiters;
}

static struct lock_holder *holder_of(const struct lock_state *lock, uint32_t thread)
{
    VEC_EACH (holder, &lock->holders, struct lock_holder) {
        if (holder->thread == thread)
            return holder;
    }
    return NULL;
}

static void keep_before(struct blame_walk *walk, struct contention *contention, uint32_t thread)
{
    vec__push(&contention->before, did_until(walk, &walk->threads[thread], contention->tick, 0));
}

void lock__acquired(struct blame_walk *walk, struct blame_thread *thread, uint64_t site_word,
                    uint64_t address)
{
    struct lock_state *lock = lock_at(walk, place_of(walk, thread->serial, address));
    struct lock_holder *holder = holder_of(lock, thread->index);
    if (holder) {
        holder->depth++;
        return;
    }
    bring_forward(walk, lock, thread->steps.tick, 0);
    if (HEURT_LOCK_KIND(site_word) != HEURT_LOCK_READ) {
        lock->holders.count = 0; /* nobody else can have it: a release was not seen */
        if (lock->contention)
            lock->contention->before.count = 0;
    }
    struct lock_holder fresh = {thread->index, 1, HEURT_SITE_ADDRESS(site_word)};
    vec__push(&lock->holders, &fresh);
    if (has_waiters(lock))
        keep_before(walk, lock->contention, thread->index);
}

static void drop(struct blame_walk *walk, struct lock_state *lock, struct lock_holder *holder,
                 uint64_t tick)
{
    size_t place = (size_t)(holder - VEC_AT(&lock->holders, struct lock_holder, 0));
    bring_forward(walk, lock, tick, 0);
    *holder = *VEC_AT(&lock->holders, struct lock_holder, --lock->holders.count);
    if (has_waiters(lock)) {
        struct vec *before = &lock->contention->before;
        *VEC_AT(before, struct doing, place) = *VEC_AT(before, struct doing, --before->count);
    }
}

/* A release by a thread that is not a holder is ignored: it may be the one before an acquisition
 * that clocks of two CPUs put before it. */
void lock__released(struct blame_walk *walk, struct blame_thread *thread, uint64_t address)
{
    struct lock_state *lock = lock_at(walk, place_of(walk, thread->serial, address));
    struct lock_holder *holder = holder_of(lock, thread->index);
    if (holder && --holder->depth == 0)
        drop(walk, lock, holder, thread->steps.tick);
}

void locks__forget(struct blame_walk *walk, struct blame_thread *thread)
{
    VEC_EACH (lock, &walk->locks, struct lock_state) {
        struct lock_holder *holder =
            lock->process == thread->serial || lock->process == HEURT_NO_SERIAL
                ? holder_of(lock, thread->index)
                : NULL;
        if (holder)
            drop(walk, lock, holder, thread->steps.tick);
    }
}

/* ---- waits ----------------------------------------------------------------------------------- */

static struct contention *new_contention(void)
{
    struct contention *fresh = memory__zeroed(1, sizeof *fresh);
    fresh->sites = VEC_OF(struct holder_site);
    fresh->before = VEC_OF(struct doing);
    return fresh;
}

/* The first one begins to wait. */
static void start_contention(struct blame_walk *walk, struct lock_state *lock, uint64_t tick)
{
    if (!lock->contention)
        lock->contention = new_contention();
    lock->contention->tick = tick;
    lock->contention->sites.count = lock->contention->before.count = 0;
    VEC_EACH (holder, &lock->holders, struct lock_holder)
        keep_before(walk, lock->contention, holder->thread);
}

void lock__wait_begins(struct blame_walk *walk, struct blame_thread *thread)
{
    thread->place = place_of(walk, thread->serial, thread->waits[0].object);
    struct lock_state *lock = lock_at(walk, thread->place);
    if (!has_waiters(lock))
        start_contention(walk, lock, thread->steps.tick);
    bring_forward(walk, lock, thread->steps.tick, 0);
    lock->contention->waiters++;
    thread->before.count = 0;
    VEC_EACH (site, &lock->contention->sites, struct holder_site)
        vec__push(&thread->before, &site->doing);
}

/* The waiter's share of what was done by those who held the lock from that place. */
static void blame_site(const struct blame_walk *walk, const struct lock_state *lock,
                       struct blame_thread *thread, size_t place, uint64_t *left)
{
    static const struct doing nothing;
    const struct holder_site *site = VEC_AT(&lock->contention->sites, struct holder_site, place);
    const struct doing *before =
        place < thread->before.count ? VEC_AT(&thread->before, struct doing, place) : &nothing;
    bool is_shared = lock->process == HEURT_NO_SERIAL && site->thread < walk->thread_count;
    uint32_t process = is_shared ? walk->threads[site->thread].serial : lock->process;
    struct blocker blocker = {process, site->thread, false, site->site};
    struct doing part;
    for (unsigned i = 0; i < COMPONENTS; i++)
        part.ticks[i] = take_ticks(left, site->doing.ticks[i] - before->ticks[i]);
    entry__blame(thread->entry, &blocker, &part);
}

void lock__blame(struct blame_walk *walk, struct blame_thread *thread)
{
    struct lock_state *lock = lock_at(walk, thread->place);
    bring_forward(walk, lock, thread->steps.tick, 0);
    uint64_t left = wait__ticks(thread);
    for (size_t i = 0; thread->entry && i < lock->contention->sites.count; i++)
        blame_site(walk, lock, thread, i, &left);
}

void lock__wait_ends(struct blame_walk *walk, struct blame_thread *thread)
{
    did_until(walk, thread, thread->steps.tick, 0);
    lock_at(walk, thread->place)->contention->waiters--;
}

void held_locks__free(struct blame_walk *walk)
{
    VEC_EACH (lock, &walk->locks, struct lock_state) {
        vec__free(&lock->holders);
        if (!lock->contention)
            continue;
        vec__free(&lock->contention->sites);
        vec__free(&lock->contention->before);
        free(lock->contention);
    }
    vec__free(&walk->locks);
    map__free(&walk->lock_places);
    free(walk->recent);
}
