/* blame.c: synchronisation events, what they make threads do, and the waits that are blamed. */
#include "analysis/cause/internal.h"

#include "base/memory.h"

#include <stdlib.h>

/* ---- blames ---------------------------------------------------------------------------------- */

static struct class_blame *blame_of(struct class_entry *entry, const struct blocker *blocker)
{
    VEC_EACH (blame, &entry->blames, struct class_blame) {
        if (blame->site == blocker->site && blame->process == blocker->process &&
            (!blocker->apart || blame->thread == blocker->thread))
            return blame;
    }
    struct class_blame fresh = {
        .process = blocker->process, .thread = blocker->thread, .site = blocker->site};
    return vec__push(&entry->blames, &fresh);
}

void entry__blame(struct class_entry *entry, const struct blocker *blocker,
                  const struct activity *doing)
{
    uint64_t ticks = 0;
    for (unsigned i = 0; i < COMPONENTS; i++)
        ticks += doing->ticks[i];
    if (!ticks)
        return;
    struct class_blame *blame = blame_of(entry, blocker);
    if (blame->thread != blocker->thread)
        blame->thread = NOBODY;
    blame->wait += ticks;
    blame->waits++;
    for (unsigned i = 0; i < COMPONENTS; i++)
        blame->doing[i] += doing->ticks[i];
}

/* ---- waits ----------------------------------------------------------------------------------- */

/* Of none that is blamed: NULL. */
static struct class_entry *class_of_wait(const struct blame_walk *walk,
                                         const struct sync_event *event,
                                         const struct sync_object *object)
{
    const struct trace_thread *thread = trace__thread_at(walk->table->trace, event->thread);
    class_table__begin_thread(walk->table, event->thread);
    return class_table__wait(walk->table, thread->process, object->kind, event->tick,
                             event->site_word, object->address);
}

/* Joins are idle, and would keep the walk going to the end: they only tell what a thread does. */
static void wait_begins(struct blame_walk *walk, struct blame_thread *thread,
                        const struct sync_event *event)
{
    thread->in = COMPONENT_OTHER_BLOCKED;
    if (event->object == SYNC_EVENT_NO_OBJECT)
        return;
    const struct sync_object *object = sync_events__object(walk->sync_events, event->object);
    thread->in = class_kind__component(object->kind);
    thread->entry = class_of_wait(walk, event, object);
    walk->waiting++;
    if (object->kind == CLASS_LOCK)
        lock__wait_begins(walk, thread, event);
    else if (object->kind == CLASS_BARRIER)
        barrier__wait_begins(walk, thread, event);
    else
        signal__wait_begins(walk, thread, event);
}

/* Waits for locks that never ended, as in a deadlock, lasted until the thread's end. */
static uint64_t end_of_wait(const struct blame_walk *walk, const struct sync_event *event)
{
    uint64_t end = event->is_open ? walk->results[event->thread].end : 0;
    return end > event->tick ? end : event->tick;
}

static void lock_wait_ends(struct blame_walk *walk, struct blame_thread *thread,
                           const struct sync_event *event)
{
    uint64_t tick = end_of_wait(walk, event);
    if (!event->unseen || (event->is_open && walk->results[event->thread].unfinished))
        lock__blame(walk, thread, event, tick);
    lock__wait_ends(walk, thread, tick);
}

static void wait_ends(struct blame_walk *walk, struct blame_thread *thread,
                      const struct sync_event *event)
{
    thread->in = COMPONENT_RUNNING;
    if (event->object == SYNC_EVENT_NO_OBJECT)
        return;
    walk->waiting--;
    enum class_kind kind = sync_events__object(walk->sync_events, event->object)->kind;
    if (kind == CLASS_LOCK)
        lock_wait_ends(walk, thread, event);
    else if (kind == CLASS_BARRIER)
        barrier__wait_ends(walk, event);
    else if (event->by != SYNC_EVENT_NOBODY && thread->entry)
        signal__blame(walk, thread, event);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* What changes who holds, or who signals. */
static void take_act(struct blame_walk *walk, struct blame_thread *thread,
                     const struct sync_event *event)
{
    switch (event->type) {
    case SYNC_EVENT_ACQUIRED:
        lock__acquired(walk, event);
        break;
    case SYNC_EVENT_RELEASED:
        lock__released(walk, event);
        break;
    case SYNC_EVENT_SIGNALLED:
        signal__given(walk, event);
        break;
    case SYNC_EVENT_LOST:
        locks__forget(walk, event);
        break;
    case SYNC_EVENT_ENDED:
        thread->ended = !event->is_open;
        break;
    default:
        break;
    }
}

static void take_wait(struct blame_walk *walk, struct blame_thread *thread,
                      const struct sync_event *event)
{
    switch (event->type) {
    case SYNC_EVENT_WAITS:
        wait_begins(walk, thread, event);
        break;
    case SYNC_EVENT_ACQUIRED:
        if (event->since)
            wait_ends(walk, thread, event);
        break;
    case SYNC_EVENT_GAVE_UP:
    case SYNC_EVENT_WOKEN:
    case SYNC_EVENT_LEFT:
    case SYNC_EVENT_JOINED:
        wait_ends(walk, thread, event);
        break;
    case SYNC_EVENT_CALLED:
        thread->in = event->how;
        break;
    case SYNC_EVENT_RETURNED:
        thread->in = COMPONENT_RUNNING;
        break;
    case SYNC_EVENT_OFF:
        thread->off = event->how;
        break;
    case SYNC_EVENT_BACK:
        thread->off = COMPONENT_RUNNING;
        break;
    default:
        break;
    }
}

static void take(struct blame_walk *walk, const struct sync_event *event)
{
    struct blame_thread *thread = &walk->threads[event->thread];
    idle_waits__take(&walk->idle, walk->sync_events, event);
    take_wait(walk, thread, event);
    thread__does_else(walk, thread, end_of_wait(walk, event));
    take_act(walk, thread, event);
    if (event->type == SYNC_EVENT_ENDED)
        thread__does_else(walk, thread, event->tick);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void set_idle(const struct blame_walk *walk, struct class_entry *entry, uint32_t object)
{
    if (entry->what.at.kind != CLASS_CONDITION && entry->what.at.kind != CLASS_SEMAPHORE)
        return;
    entry->idle = idle_waits__at(&walk->idle, object);
    entry->joins = idle_waits__join_at(&walk->idle, object);
}

/* What the walk came to know of a class's object. */
static void tell_of_objects(const struct blame_walk *walk)
{
    VEC_EACH (entry, &walk->table->entries, struct class_entry *) {
        struct class_definition *what = &(*entry)->what;
        if (!what->has_object)
            continue;
        uint32_t object =
            sync_events__find(walk->sync_events, what->at.process, what->at.kind, what->object);
        if (object == SYNC_EVENT_NO_OBJECT)
            continue;
        what->born_site = sync_events__object(walk->sync_events, object)->initialised_site;
        set_idle(walk, *entry, object);
    }
}

static bool anybody_waits_for_locks(const struct class_table *table)
{
    VEC_EACH (entry, &table->entries, struct class_entry *)
        if ((*entry)->what.at.kind == CLASS_LOCK && (*entry)->total.contended)
            return true;
    return false;
}

static void start_thread(struct blame_walk *walk, uint32_t index)
{
    const struct trace *trace = walk->table->trace;
    const struct trace_thread *row = trace__thread_at(trace, index);
    struct blame_thread *thread = &walk->threads[index];
    thread->serial = trace__process_at(trace, row->process)->serial;
    thread->before = VEC_OF(struct activity);
    thread->doing = thread->in = thread->off = COMPONENT_RUNNING;
    thread->did_until = row->start_tick;
}

static void free_walk(struct blame_walk *walk)
{
    for (size_t i = 0; i < walk->thread_count; i++)
        vec__free(&walk->threads[i].before);
    contentions__free(walk);
    blamed_objects__free(walk);
    idle_waits__free(&walk->idle);
    free(walk->threads);
    free(walk);
}

static uint64_t last_wait(const struct trace *trace, const struct thread_result *results)
{
    uint64_t last = 0;
    for (size_t i = 0; i < trace__threads(trace)->count; i++)
        last = results[i].last_wait > last ? results[i].last_wait : last;
    return last;
}

/* Without waits for locks it does not matter who holds any. */
void blame__scope(const struct class_table *table, const struct thread_result *results,
                  struct sync_scope *scope)
{
    size_t threads = trace__threads(table->trace)->count;
    bool *left_out = memory__zeroed(threads, sizeof *left_out);
    bool any = !trace__is_aggregated(table->trace) && last_wait(table->trace, results);
    for (size_t i = 0; i < threads; i++)
        left_out[i] = !any || !results[i].fold.meets;
    scope->left_out = left_out;
    scope->no_locks = !anybody_waits_for_locks(table);
}

void *blame__start(struct class_table *table, const struct thread_result *results,
                   struct sync_events *events)
{
    uint64_t last = last_wait(table->trace, results);
    if (!last)
        return NULL;
    struct blame_walk *walk = memory__zeroed(1, sizeof *walk);
    *walk = (struct blame_walk){.table = table,
                                .results = results,
                                .sync_events = events,
                                .last_wait = last,
                                .thread_count = trace__threads(table->trace)->count,
                                .contentions = VEC_OF(struct contention *),
                                .blamed_objects = VEC_OF(struct blamed_object *),
                                .idle = idle_waits__start()};
    walk->threads = memory__zeroed(walk->thread_count, sizeof *walk->threads);
    for (uint32_t i = 0; i < walk->thread_count; i++)
        start_thread(walk, i);
    return walk;
}

bool blame__take(void *blame, const struct sync_event *event)
{
    struct blame_walk *walk = blame;
    bool wants = walk->waiting || event->tick <= walk->last_wait;
    if (wants)
        take(walk, event);
    return wants;
}

void *blame__end(void *blame)
{
    struct blame_walk *walk = blame;
    idle_waits__find(&walk->idle, walk->thread_count);
    tell_of_objects(walk);
    free_walk(walk);
    return NULL;
}
