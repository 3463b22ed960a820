/* blame_lock.c: what holders of locks did, and what threads do.
 *
 * Nothing is brought forward before somebody asks: what a thread did is known up to the last change
 * of it, what a lock's holders did up to the last change of them. A thread that waits for a lock
 * asks the lock, which asks its holders. */
#include "analysis/cause/internal.h"

#include "base/memory.h"

#include <stdlib.h>

#define ASKED_AT_MOST 16 /* holders one behind the other; what is behind these stays LOCK */

static const struct activity *did_until(struct blame_walk *walk, struct blame_thread *thread,
                                        uint64_t tick, unsigned depth);

/* ---- locks ----------------------------------------------------------------------------------- */

/* NULL: nobody ever waited. */
static struct contention *contention_at(const struct blame_walk *walk, uint32_t object)
{
    return object < walk->contentions.count
               ? *VEC_AT(&walk->contentions, struct contention *, object)
               : NULL;
}

static bool has_waiters(const struct contention *contention)
{
    return contention && contention->waiters;
}

static struct contention_site *site_of(struct contention *contention,
                                       const struct lock_holder *holder)
{
    VEC_EACH (site, &contention->sites, struct contention_site) {
        if (site->site != holder->site)
            continue;
        if (site->thread != holder->thread)
            site->thread = NOBODY;
        return site;
    }
    struct contention_site fresh = {.site = holder->site, .thread = holder->thread};
    return vec__push(&contention->sites, &fresh);
}

/* What was done between two looks, in so many ticks; what does not fit is cut, what is missing is
 * LOCK. */
static void part_of(const struct activity *now, const struct activity *before, uint64_t ticks,
                    struct activity *part)
{
    for (unsigned i = 0; i < COMPONENTS; i++) {
        uint64_t more = now->ticks[i] > before->ticks[i] ? now->ticks[i] - before->ticks[i] : 0;
        part->ticks[i] = take_ticks(&ticks, more);
    }
    part->ticks[COMPONENT_LOCK] += ticks;
}

/* Brings forward what a holder did in the last ticks, of which it has a share. */
static void add_holder(struct blame_walk *walk, struct contention *contention,
                       struct holder *holder, uint64_t ticks, unsigned depth)
{
    struct blame_thread *thread = &walk->threads[holder->is.thread];
    const struct activity *now = did_until(walk, thread, contention->tick, depth);
    struct activity part;
    struct contention_site *site = site_of(contention, &holder->is);
    size_t holders = contention->holders.count;
    if (holders == 1 && holder->before.changes == now->changes &&
        thread->doing != COMPONENT_LOCK) { /* it did one thing all the time */
        holder->before.ticks[thread->doing] = now->ticks[thread->doing];
        site->doing.ticks[thread->doing] += ticks;
        contention->all.ticks[thread->doing] += ticks;
        return;
    }
    part_of(now, &holder->before, ticks, &part);
    holder->before = *now;
    for (unsigned i = 0; i < COMPONENTS; i++) {
        uint64_t share = holders == 1 ? part.ticks[i] : part.ticks[i] / holders;
        site->doing.ticks[i] += share;
        contention->all.ticks[i] += share;
    }
}

static void bring_forward(struct blame_walk *walk, struct contention *contention, uint64_t tick,
                          unsigned depth)
{
    if (!has_waiters(contention) || tick <= contention->tick)
        return;
    uint64_t ticks = tick - contention->tick;
    contention->tick = tick;
    VEC_EACH (holder, &contention->holders, struct holder)
        add_holder(walk, contention, holder, ticks, depth);
}

/* ---- what threads do ------------------------------------------------------------------------- */

/* A thread that waits for a lock does what that one's holders do. */
static void add_lock_wait(struct blame_walk *walk, struct blame_thread *thread, uint64_t tick,
                          unsigned depth)
{
    struct contention *contention = contention_at(walk, thread->lock);
    struct activity part;
    thread->asked = true;
    bring_forward(walk, contention, tick, depth + 1);
    thread->asked = false;
    part_of(&contention->all, &thread->lock_did, tick - thread->did_until, &part);
    thread->lock_did = contention->all;
    for (unsigned i = 0; i < COMPONENTS; i++)
        thread->did.ticks[i] += part.ticks[i];
}

static const struct activity *did_until(struct blame_walk *walk, struct blame_thread *thread,
                                        uint64_t tick, unsigned depth)
{
    if (tick <= thread->did_until || thread->asked)
        return &thread->did;
    if (thread->doing == COMPONENT_LOCK && depth < ASKED_AT_MOST)
        add_lock_wait(walk, thread, tick, depth);
    else
        thread->did.ticks[thread->doing] += tick - thread->did_until;
    thread->did_until = tick;
    return &thread->did;
}

const struct activity *thread__did(struct blame_walk *walk, struct blame_thread *thread,
                                   uint64_t tick)
{
    return did_until(walk, thread, tick, 0);
}

/* That it was preempted, or had a page fault, says more than the wait that it is in. */
static enum component doing_of(const struct blame_thread *thread)
{
    if (thread->ended)
        return COMPONENT_OTHER_BLOCKED;
    bool says_more = thread->off == COMPONENT_RUNNABLE || thread->off == COMPONENT_PAGE_FAULT ||
                     thread->in == COMPONENT_RUNNING;
    return thread->off != COMPONENT_RUNNING && says_more ? thread->off : thread->in;
}

void thread__does_else(struct blame_walk *walk, struct blame_thread *thread, uint64_t tick)
{
    enum component doing = doing_of(thread);
    if (doing == thread->doing)
        return;
    did_until(walk, thread, tick, 0);
    thread->doing = doing;
    thread->did.changes++;
    if (doing != COMPONENT_LOCK)
        return;
    struct contention *contention = contention_at(walk, thread->lock);
    bring_forward(walk, contention, tick, 0);
    thread->lock_did = contention->all;
}

/* ---- holders --------------------------------------------------------------------------------- */

static void add_new_holder(struct blame_walk *walk, struct contention *contention,
                           const struct lock_holder *is)
{
    struct holder fresh = {*is, *did_until(walk, &walk->threads[is->thread], contention->tick, 0)};
    vec__push(&contention->holders, &fresh);
}

void lock__acquired(struct blame_walk *walk, const struct sync_event *event)
{
    struct contention *contention = contention_at(walk, event->object);
    if (!has_waiters(contention))
        return;
    bring_forward(walk, contention, event->tick, 0);
    if (event->how == SYNC_EVENT_EXCLUSIVE)
        contention->holders.count = 0; /* nobody else can have it: a release was not seen */
    add_new_holder(walk, contention, &(struct lock_holder){event->thread, event->site});
}

static void drop(struct blame_walk *walk, struct contention *contention, uint32_t thread,
                 uint64_t tick)
{
    struct vec *holders = &contention->holders;
    for (size_t i = 0; i < holders->count; i++) {
        struct holder *holder = VEC_AT(holders, struct holder, i);
        if (holder->is.thread != thread)
            continue;
        bring_forward(walk, contention, tick, 0);
        *holder = *VEC_AT(holders, struct holder, --holders->count);
        return;
    }
}

/* Whom a thread keeps waiting that ended with the lock, it goes on to. */
void lock__released(struct blame_walk *walk, const struct sync_event *event)
{
    struct contention *contention = contention_at(walk, event->object);
    if (has_waiters(contention) && !event->at_end)
        drop(walk, contention, event->thread, event->tick);
}

void locks__forget(struct blame_walk *walk, const struct sync_event *event)
{
    VEC_EACH (contention, &walk->contentions, struct contention *)
        if (has_waiters(*contention))
            drop(walk, *contention, event->thread, event->tick);
}

/* ---- waits ----------------------------------------------------------------------------------- */

static struct contention *contention_of(struct blame_walk *walk, uint32_t object)
{
    struct contention **place = VEC_REACH(&walk->contentions, struct contention *, object);
    if (!*place) {
        *place = memory__zeroed(1, sizeof **place);
        (*place)->sites = VEC_OF(struct contention_site);
        (*place)->holders = VEC_OF(struct holder);
    }
    return *place;
}

/* The first one begins to wait. */
static void start_contention(struct blame_walk *walk, struct contention *contention,
                             const struct sync_event *event)
{
    struct vec holders = VEC_OF(struct lock_holder);
    contention->tick = event->tick;
    contention->sites.count = contention->holders.count = 0;
    sync_events__holders(walk->sync_events, event->object, &holders);
    VEC_EACH (holder, &holders, struct lock_holder)
        add_new_holder(walk, contention, holder);
    vec__free(&holders);
}

void lock__wait_begins(struct blame_walk *walk, struct blame_thread *thread,
                       const struct sync_event *event)
{
    struct contention *contention = contention_of(walk, event->object);
    thread->lock = event->object;
    if (!has_waiters(contention))
        start_contention(walk, contention, event);
    bring_forward(walk, contention, event->tick, 0);
    contention->waiters++;
    thread->before.count = 0;
    VEC_EACH (site, &contention->sites, struct contention_site)
        vec__push(&thread->before, &site->doing);
}

/* The process of who held it from that place; of several, none where the lock is shared. */
static uint32_t process_of(const struct blame_walk *walk, const struct sync_object *lock,
                           const struct contention_site *site)
{
    return site->thread != NOBODY ? walk->threads[site->thread].serial
                                  : event__process_of_object(lock->process, lock->address);
}

/* The waiter's share of what was done by those who held the lock from that place. */
static void blame_site(const struct blame_walk *walk, struct blame_thread *thread, size_t place,
                       uint64_t *left)
{
    static const struct activity nothing;
    const struct contention *contention = contention_at(walk, thread->lock);
    const struct contention_site *site = VEC_AT(&contention->sites, struct contention_site, place);
    const struct activity *before =
        place < thread->before.count ? VEC_AT(&thread->before, struct activity, place) : &nothing;
    const struct sync_object *lock = sync_events__object(walk->sync_events, thread->lock);
    struct blocker blocker = {process_of(walk, lock, site), site->thread, false, site->site};
    struct activity part;
    for (unsigned i = 0; i < COMPONENTS; i++)
        part.ticks[i] = take_ticks(left, site->doing.ticks[i] - before->ticks[i]);
    entry__blame(thread->entry, &blocker, &part);
}

void lock__blame(struct blame_walk *walk, struct blame_thread *thread,
                 const struct sync_event *event, uint64_t tick)
{
    const struct contention *contention = contention_at(walk, thread->lock);
    bring_forward(walk, contention_at(walk, thread->lock), tick, 0);
    uint64_t left = sync_event__ticks(event) + (tick - event->tick);
    for (size_t i = 0; thread->entry && i < contention->sites.count; i++)
        blame_site(walk, thread, i, &left);
}

void lock__wait_ends(struct blame_walk *walk, struct blame_thread *thread, uint64_t tick)
{
    did_until(walk, thread, tick, 0);
    contention_at(walk, thread->lock)->waiters--;
}

void contentions__free(struct blame_walk *walk)
{
    VEC_EACH (contention, &walk->contentions, struct contention *) {
        if (!*contention)
            continue;
        vec__free(&(*contention)->sites);
        vec__free(&(*contention)->holders);
        free(*contention);
    }
    vec__free(&walk->contentions);
}
