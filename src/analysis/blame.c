#include "analysis/blame.h"

#include "base/memory.h"

#include <stdlib.h>

struct holder {
    uint32_t thread; /* index */
    uint32_t depth;  /* of a recursive lock */
    uint32_t site;   /* place in lock_state.sites */
};

struct lock_site {
    uint64_t site;
    uint64_t held; /* ticks, up to lock_state.tick; a share where several held it */
};

struct lock_state {
    uint32_t process; /* index */
    uint64_t address;
    uint64_t tick;      /* of its last change */
    struct vec holders; /* struct holder */
    struct vec sites;   /* struct lock_site */
};

/* One thread in the merge. */
struct lock_thread {
    struct trace_cursor cursor;
    struct event event; /* its next one of locks */
    uint64_t tick;      /* of event, never stepping back */
    uint32_t index;
    /* The wait that is open. */
    struct class_entry *wait;
    uint64_t wait_site, wait_lock;
    struct vec before; /* uint64_t: held by lock_state.sites when the wait began */
    /* The open condition wait, which has released its mutex. */
    bool in_condition;
    uint64_t condition_site, condition_mutex;
};

/* Where locks were found lately, so that most need no map. Direct-mapped. */
struct recent_lock {
    uint64_t process_and_1, address;
    uint64_t place; /* in locks */
};

#define RECENT_LOCKS 1024u

struct holders {
    struct class_table *table;
    const struct thread_result *results;
    struct lock_thread *threads;
    struct lock_thread **heap; /* earliest first */
    size_t count;
    struct map by_address; /* process index and address -> place in locks */
    struct vec locks;      /* struct lock_state */
    struct recent_lock *recent;
};

/* ---- locks ---------------------------------------------------------------------------------- */

static uint32_t process_of(const struct lock_thread *thread)
{
    return thread->cursor.thread->process;
}

static struct lock_state *fresh_lock(struct holders *holders, uint32_t process, uint64_t address,
                                     uint64_t tick)
{
    struct lock_state *fresh = vec__push(&holders->locks, NULL);
    *fresh = (struct lock_state){.process = process, .address = address, .tick = tick};
    fresh->holders = VEC_OF(struct holder);
    fresh->sites = VEC_OF(struct lock_site);
    return fresh;
}

static struct lock_state *lock_of(struct holders *holders, uint32_t process, uint64_t address,
                                  uint64_t tick)
{
    uint64_t hash = (address + process) * 0x9e3779b97f4a7c15ull;
    struct recent_lock *recent = &holders->recent[hash >> 40 & (RECENT_LOCKS - 1)];
    if (recent->address == address && recent->process_and_1 == process + 1ull)
        return VEC_AT(&holders->locks, struct lock_state, recent->place);
    uint64_t key[2] = {process, address};
    uint64_t place = map__put(&holders->by_address, key, sizeof key, holders->locks.count);
    *recent = (struct recent_lock){process + 1ull, address, place};
    return place < holders->locks.count ? VEC_AT(&holders->locks, struct lock_state, place)
                                        : fresh_lock(holders, process, address, tick);
}

/* The lock, brought forward to tick. */
static struct lock_state *lock_at(struct holders *holders, const struct lock_thread *thread,
                                  uint64_t address, uint64_t tick)
{
    struct lock_state *lock = lock_of(holders, process_of(thread), address, tick);
    if (tick <= lock->tick)
        return lock;
    VEC_EACH(holder, &lock->holders, struct holder)
    VEC_AT(&lock->sites, struct lock_site, holder->site)->held +=
        (tick - lock->tick) / lock->holders.count;
    lock->tick = tick;
    return lock;
}

static uint32_t site_of(struct lock_state *lock, uint64_t site)
{
    for (uint32_t i = 0; i < lock->sites.count; i++) {
        if (VEC_AT(&lock->sites, struct lock_site, i)->site == site)
            return i;
    }
    struct lock_site fresh = {.site = site};
    vec__push(&lock->sites, &fresh);
    return (uint32_t)lock->sites.count - 1;
}

static struct holder *holder_of(const struct lock_state *lock, uint32_t thread)
{
    VEC_EACH(holder, &lock->holders, struct holder)
    {
        if (holder->thread == thread)
            return holder;
    }
    return NULL;
}

static void hold(struct lock_state *lock, uint32_t thread, uint64_t site, uint32_t kind)
{
    struct holder *holder = holder_of(lock, thread);
    if (holder) {
        holder->depth++;
        return;
    }
    if (kind != HEURT_LOCK_READ)
        lock->holders.count = 0; /* nobody else can have it: a release was not seen */
    struct holder fresh = {thread, 1, site_of(lock, site)};
    vec__push(&lock->holders, &fresh);
}

static void drop(struct lock_state *lock, struct holder *holder)
{
    *holder = *VEC_AT(&lock->holders, struct holder, lock->holders.count - 1);
    lock->holders.count--;
}

/* A release by a thread that is not a holder is ignored: it may be the one before an acquisition
 * that clocks of two CPUs put before it. */
static void release(struct lock_state *lock, uint32_t thread)
{
    struct holder *holder = holder_of(lock, thread);
    if (holder && --holder->depth == 0)
        drop(lock, holder);
}

/* ---- waits ---------------------------------------------------------------------------------- */

static void wait_begins(struct lock_thread *thread, const struct lock_state *lock,
                        struct class_entry *entry)
{
    thread->wait = entry;
    thread->wait_site = thread->event.payload[0];
    thread->wait_lock = thread->event.payload[1];
    thread->before.count = 0;
    VEC_EACH(site, &lock->sites, struct lock_site)
    vec__push(&thread->before, &site->held);
}

static void count_holder(struct class_entry *entry, uint32_t process, uint64_t site, uint64_t wait)
{
    VEC_EACH(holder, &entry->blames, struct class_blame)
    {
        if (holder->site == site && holder->process == process) {
            holder->wait += wait;
            holder->doing[COMPONENT_RUNNING] += wait;
            holder->waits++;
            return;
        }
    }
    struct class_blame fresh = {
        .process = process, .thread = UINT32_MAX, .site = site, .wait = wait, .waits = 1};
    fresh.doing[COMPONENT_RUNNING] = wait;
    vec__push(&entry->blames, &fresh);
}

static void wait_ends(const struct holders *holders, struct lock_thread *thread,
                      const struct lock_state *lock)
{
    uint32_t process =
        VEC_AT(trace__processes(holders->table->trace), struct trace_process, lock->process)
            ->serial;
    for (size_t i = 0; i < lock->sites.count; i++) {
        const struct lock_site *site = VEC_AT(&lock->sites, struct lock_site, i);
        uint64_t before = i < thread->before.count ? *VEC_AT(&thread->before, uint64_t, i) : 0;
        if (site->held > before)
            count_holder(thread->wait, process, site->site, site->held - before);
    }
    thread->wait = NULL;
}

/* ---- events --------------------------------------------------------------------------------- */

static void lock_wait(struct holders *holders, struct lock_thread *thread)
{
    if (thread->wait)
        return; /* a signal handler's wait within a wait: the outermost counts */
    struct class_entry *entry =
        class_table__call(holders->table, process_of(thread), &thread->event);
    if (entry)
        wait_begins(thread, lock_at(holders, thread, thread->event.payload[1], thread->tick),
                    entry);
}

static bool result_is_acquired(uint64_t result)
{
    return result == 0 || result == 130; /* EOWNERDEAD */
}

static void lock_wait_left(struct holders *holders, struct lock_thread *thread)
{
    if (!thread->wait)
        return;
    struct lock_state *lock = lock_at(holders, thread, thread->wait_lock, thread->tick);
    wait_ends(holders, thread, lock);
    if (thread->event.words && result_is_acquired(thread->event.payload[0]))
        hold(lock, thread->index, HEURT_SITE_ADDRESS(thread->wait_site),
             HEURT_SITE_HOW(thread->wait_site));
}

static void condition_wait(struct holders *holders, struct lock_thread *thread)
{
    if (thread->event.words < 3)
        return;
    thread->in_condition = true;
    thread->condition_site = HEURT_SITE_ADDRESS(thread->event.payload[0]);
    thread->condition_mutex = thread->event.payload[2];
    release(lock_at(holders, thread, thread->condition_mutex, thread->tick), thread->index);
}

static void condition_wait_left(struct holders *holders, struct lock_thread *thread)
{
    if (thread->in_condition)
        hold(lock_at(holders, thread, thread->condition_mutex, thread->tick), thread->index,
             thread->condition_site, HEURT_LOCK_MUTEX);
    thread->in_condition = false;
}

/* Releases may be among what was lost. */
static void events_lost(struct holders *holders, struct lock_thread *thread)
{
    VEC_EACH(lock, &holders->locks, struct lock_state)
    {
        struct holder *holder =
            lock->process == process_of(thread) ? holder_of(lock, thread->index) : NULL;
        if (holder)
            drop(lock_at(holders, thread, lock->address, thread->tick), holder);
    }
    thread->wait = NULL;
    thread->in_condition = false;
}

static void lock_event(struct holders *holders, struct lock_thread *thread)
{
    const struct event *event = &thread->event;
    switch (event->id) {
    case HEURT_EVENT_LOCK_WAIT:
        lock_wait(holders, thread);
        break;
    case HEURT_EVENT_LOCK_WAIT | 1:
        lock_wait_left(holders, thread);
        break;
    case HEURT_EVENT_LOCK_ACQUIRED:
        hold(lock_at(holders, thread, event->payload[1], thread->tick), thread->index,
             HEURT_SITE_ADDRESS(event->payload[0]), HEURT_SITE_HOW(event->payload[0]));
        break;
    case HEURT_EVENT_LOCK_RELEASED:
        release(lock_at(holders, thread, event->payload[1], thread->tick), thread->index);
        break;
    case HEURT_EVENT_CONDITION_WAIT:
        condition_wait(holders, thread);
        break;
    case HEURT_EVENT_CONDITION_WAIT | 1:
        condition_wait_left(holders, thread);
        break;
    default:
        events_lost(holders, thread);
        break;
    }
}

/* ---- the merge ------------------------------------------------------------------------------ */

static bool is_wanted(const struct event *event)
{
    switch (event->id) {
    case HEURT_EVENT_LOCK_WAIT:
    case HEURT_EVENT_LOCK_ACQUIRED:
    case HEURT_EVENT_LOCK_RELEASED:
        return event->words >= 2;
    case HEURT_EVENT_CONDITION_WAIT:
    case HEURT_EVENT_LOCK_WAIT | 1:
    case HEURT_EVENT_CONDITION_WAIT | 1:
    case HEURT_EVENT_LOST:
        return true;
    default:
        return false;
    }
}

/* Goes on to the thread's next event of locks. */
static bool advance(struct lock_thread *thread)
{
    while (trace_cursor__next(&thread->cursor, &thread->event)) {
        if (!is_wanted(&thread->event))
            continue;
        if (thread->event.tick > thread->tick)
            thread->tick = thread->event.tick;
        return true;
    }
    return false;
}

static bool is_before(const struct lock_thread *a, const struct lock_thread *b)
{
    return a->tick < b->tick || (a->tick == b->tick && a->index < b->index);
}

static void sift_down(struct lock_thread **heap, size_t count, size_t place)
{
    for (;;) {
        size_t least = place, left = 2 * place + 1;
        for (size_t child = left; child < count && child <= left + 1; child++) {
            if (is_before(heap[child], heap[least]))
                least = child;
        }
        if (least == place)
            return;
        struct lock_thread *swapped = heap[place];
        heap[place] = heap[least];
        heap[least] = swapped;
        place = least;
    }
}

static void merge(struct holders *holders)
{
    for (size_t place = holders->count / 2; place-- > 0;)
        sift_down(holders->heap, holders->count, place);
    while (holders->count) {
        struct lock_thread *thread = holders->heap[0];
        lock_event(holders, thread);
        if (!advance(thread))
            holders->heap[0] = holders->heap[--holders->count];
        sift_down(holders->heap, holders->count, 0);
    }
}

/* Waits that never ended, as in a deadlock. */
static void close_waits(struct holders *holders, size_t threads)
{
    for (size_t i = 0; i < threads; i++) {
        struct lock_thread *thread = &holders->threads[i];
        if (thread->wait && holders->results[i].stuck)
            wait_ends(holders, thread,
                      lock_at(holders, thread, thread->wait_lock, holders->results[i].end));
    }
}

static void start_threads(struct holders *holders)
{
    const struct vec *threads = trace__threads(holders->table->trace);
    for (uint32_t i = 0; i < threads->count; i++) {
        struct lock_thread *thread = &holders->threads[i];
        thread->index = i;
        thread->before = VEC_OF(uint64_t);
        if (!holders->results[i].fold.locks)
            continue;
        trace_cursor__start(&thread->cursor, holders->table->trace,
                            VEC_AT(threads, struct trace_thread, i));
        if (advance(thread))
            holders->heap[holders->count++] = thread;
    }
}

static bool any_lock_waits(const struct class_table *table)
{
    VEC_EACH(entry, &table->entries, struct class_entry *)
    {
        if ((*entry)->what.kind == CLASS_LOCK && (*entry)->total.contended)
            return true;
    }
    return false;
}

void blame__find(struct class_table *table, const struct thread_result *results)
{
    if (!any_lock_waits(table))
        return;
    size_t threads = trace__threads(table->trace)->count;
    struct holders holders = {.table = table, .results = results};
    holders.locks = VEC_OF(struct lock_state);
    holders.threads = memory__zeroed(threads, sizeof *holders.threads);
    holders.heap = memory__zeroed(threads, sizeof(struct lock_thread *));
    holders.recent = memory__zeroed(RECENT_LOCKS, sizeof *holders.recent);
    start_threads(&holders);
    merge(&holders);
    close_waits(&holders, threads);
    for (size_t i = 0; i < threads; i++) {
        trace_cursor__stop(&holders.threads[i].cursor);
        vec__free(&holders.threads[i].before);
    }
    VEC_EACH(lock, &holders.locks, struct lock_state)
    {
        vec__free(&lock->holders);
        vec__free(&lock->sites);
    }
    vec__free(&holders.locks);
    map__free(&holders.by_address);
    free(holders.recent);
    free(holders.heap);
    free(holders.threads);
}
