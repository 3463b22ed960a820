/* blame.c: the threads' events by time, and the waits they are in. */
#include "analysis/cause/internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- blames ---------------------------------------------------------------------------------- */

uint64_t wait__ticks(const struct blame_thread *thread)
{
    uint64_t ticks = thread->steps.tick - thread->began;
    uint64_t paused = thread->paused - thread->paused_before;
    return ticks > paused ? ticks - paused : 0;
}

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
                  const struct doing *doing)
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

/* ---- waits begin ----------------------------------------------------------------------------- */

/* Calls for the disk, the network or time, and joins (which are idle, and would keep the walk going
 * to the end) only tell what a thread does. */
static bool is_blamed(uint32_t id)
{
    return id != HEURT_EVENT_IO && id != HEURT_EVENT_SLEEP && id != HEURT_EVENT_JOIN &&
           id != HEURT_EVENT_MEMORY_MAP;
}

static void outermost_begins(struct blame_walk *walk, struct blame_thread *thread,
                             struct class_entry *entry)
{
    thread->entry = entry;
    thread->began = thread->steps.tick;
    thread->paused_before = thread->paused;
    walk->waiting += is_blamed(thread->waits[0].id);
    switch (thread->waits[0].id) {
    case HEURT_EVENT_LOCK_WAIT:
        lock__wait_begins(walk, thread);
        break;
    case HEURT_EVENT_BARRIER_WAIT:
        barrier__wait_begins(walk, thread);
        break;
    case HEURT_EVENT_CONDITION_WAIT:
        signal__wait_begins(walk, thread, CLASS_CONDITION);
        break;
    case HEURT_EVENT_SEMAPHORE_WAIT:
        signal__wait_begins(walk, thread, CLASS_SEMAPHORE);
        break;
    case HEURT_EVENT_FUTEX_WAIT:
        signal__wait_begins(walk, thread, CLASS_FUTEX);
        break;
    default:
        break;
    }
    thread__does_else(walk, thread);
}

/* ---- waits end ------------------------------------------------------------------------------- */

static bool result_is_acquired(const struct step *step)
{
    return step->words && (step->payload[0] == 0 || step->payload[0] == 130); /* EOWNERDEAD */
}

static bool result_is_round(const struct step *step)
{
    return step->words && ((int64_t)step->payload[0] == 0 || (int64_t)step->payload[0] == -1);
}

static bool result_is_good(const struct step *step)
{
    return step->words && step->payload[0] == 0;
}

/* step: its leave event, or NULL: it is not known how it ended. */
static void outermost_ends(struct blame_walk *walk, struct blame_thread *thread,
                           const struct step *step)
{
    walk->waiting -= is_blamed(thread->waits[0].id);
    switch (thread->waits[0].id) {
    case HEURT_EVENT_LOCK_WAIT:
        if (step)
            lock__blame(walk, thread);
        lock__wait_ends(walk, thread);
        break;
    case HEURT_EVENT_BARRIER_WAIT:
        barrier__wait_ends(walk, thread, step && result_is_round(step));
        break;
    case HEURT_EVENT_CONDITION_WAIT:
    case HEURT_EVENT_SEMAPHORE_WAIT:
    case HEURT_EVENT_FUTEX_WAIT:
        if (step)
            signal__wait_ends(walk, thread, result_is_good(step));
        break;
    default:
        break;
    }
}

/* However the open waits ended, they did. */
static void forget_waits(struct blame_walk *walk, struct blame_thread *thread)
{
    if (thread->depth)
        outermost_ends(walk, thread, NULL);
    thread->depth = 0;
    thread__does_else(walk, thread);
}

static void wait_begins(struct blame_walk *walk, struct blame_thread *thread,
                        const struct event *event)
{
    enum class_kind kind = call__kind(event);
    if (kind == CLASS_KINDS)
        return;
    if (thread->depth == WAITS_AT_MOST)
        forget_waits(walk, thread); /* handlers left them by longjmp */
    struct open_wait *wait = &thread->waits[thread->depth++];
    *wait = (struct open_wait){event->id, class_kind__component(kind), event->payload[0],
                               event->payload[1], event->words > 2 ? event->payload[2] : 0};
    if (event->id == HEURT_EVENT_CONDITION_WAIT && event->words > 2)
        lock__released(walk, thread, wait->mutex);
    if (thread->depth == 1)
        outermost_begins(
            walk, thread,
            is_blamed(event->id)
                ? class_table__call(walk->table, thread->steps.cursor.thread->process, event)
                : NULL);
}

/* What the thread holds after the wait. */
static void take_over(struct blame_walk *walk, struct blame_thread *thread,
                      const struct open_wait *wait, const struct step *step)
{
    if (wait->id == HEURT_EVENT_LOCK_WAIT && result_is_acquired(step))
        lock__acquired(walk, thread, wait->site, wait->object);
    else if (wait->id == HEURT_EVENT_CONDITION_WAIT && wait->mutex)
        lock__acquired(walk, thread, HEURT_SITE(HEURT_SITE_ADDRESS(wait->site), HEURT_LOCK_MUTEX),
                       wait->mutex);
    else if (wait->id == HEURT_EVENT_SEMAPHORE_WAIT && result_is_good(step))
        semaphore__taken(walk, thread, wait->object, 1);
}

static void wait_ends(struct blame_walk *walk, struct blame_thread *thread, const struct step *step)
{
    uint32_t place = thread->depth;
    while (place && thread->waits[place - 1].id != (step->id & ~1u))
        place--;
    if (!place)
        return;
    const struct open_wait wait = thread->waits[place - 1];
    if (place == 1)
        outermost_ends(walk, thread, step);
    thread->depth = place - 1;
    thread__does_else(walk, thread);
    take_over(walk, thread, &wait, step);
}

/* ---- off the CPU ----------------------------------------------------------------------------- */

static void off_step(struct blame_walk *walk, struct blame_thread *thread, const struct step *step)
{
    if (thread->steps.phase == OFF_ENDS) {
        thread->off = COMPONENT_RUNNING;
    } else if (thread->steps.phase == OFF_RUNNABLE) {
        thread->off = COMPONENT_RUNNABLE;
        thread->off_is_known = true;
    } else if (step->id == HEURT_EVENT_FAULT) {
        thread->off = COMPONENT_PAGE_FAULT;
        thread->off_is_known = true;
    } else {
        uint32_t how = HEURT_SITE_HOW(step->payload[0]);
        thread->off = off__component(how);
        thread->off_is_known = how == HEURT_OFF_PREEMPTED || how == HEURT_OFF_FAULT;
    }
    thread__does_else(walk, thread);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void semaphore_acquired(struct blame_walk *walk, struct blame_thread *thread,
                               const struct step *step)
{
    semaphore__taken(walk, thread, step->payload[1], thread->drawn ? thread->drawn : 1);
    thread->drawn = 0;
}

/* False: it is the beginning of a wait. */
static bool point(struct blame_walk *walk, struct blame_thread *thread, const struct step *step)
{
    switch (step->id) {
    case HEURT_EVENT_LOCK_ACQUIRED:
        lock__acquired(walk, thread, step->payload[0], step->payload[1]);
        break;
    case HEURT_EVENT_LOCK_RELEASED:
        lock__released(walk, thread, step->payload[1]);
        break;
    case HEURT_EVENT_CONDITION_SIGNALLED:
        signal__given(walk, thread, CLASS_CONDITION, step->payload[0], step->payload[1]);
        break;
    case HEURT_EVENT_SEMAPHORE_POSTED:
        signal__given(walk, thread, CLASS_SEMAPHORE, step->payload[0], step->payload[1]);
        break;
    case HEURT_EVENT_FUTEX_WOKEN:
        signal__given(walk, thread, CLASS_FUTEX, step->payload[0], step->payload[1]);
        break;
    case HEURT_EVENT_SEMAPHORE_ACQUIRED:
        semaphore_acquired(walk, thread, step);
        break;
    case HEURT_EVENT_SAMPLED:
        if (HEURT_SAMPLED_ID(step->payload[0]) == HEURT_EVENT_SEMAPHORE_ACQUIRED)
            thread->drawn = HEURT_SAMPLED_BLOCK(step->payload[0]);
        break;
    case HEURT_EVENT_PAUSED:
        thread->paused += step->payload[0];
        break;
    case HEURT_EVENT_THREAD_END:
        thread->ended = true;
        forget_waits(walk, thread);
        break;
    case HEURT_EVENT_LOST:
        locks__forget(walk, thread);
        forget_waits(walk, thread);
        break;
    case HEURT_EVENT_UNWOUND: /* the wait it was in is gone */
        forget_waits(walk, thread);
        break;
    default:
        return false;
    }
    return true;
}

static void take_step(struct blame_walk *walk, struct blame_thread *thread)
{
    const struct step *step = step_thread__step(&thread->steps);
    struct event event = {step->tick, step->id, step->words, step->payload};
    if (step__is_off(step))
        off_step(walk, thread, step);
    else if (step->id & 1)
        wait_ends(walk, thread, step);
    else if (!point(walk, thread, step))
        wait_begins(walk, thread, &event);
}

/* ---- the merge ------------------------------------------------------------------------------- */

/* By id: payload words that the walk needs of an event, and 1; 0: it does not want the event. */
static const uint8_t wanted_words[STEPS_IDS] = {
    [HEURT_EVENT_THREAD_END] = 1,
    [HEURT_EVENT_LOCK_WAIT] = 3,
    [HEURT_EVENT_LOCK_WAIT | 1] = 1,
    [HEURT_EVENT_LOCK_ACQUIRED] = 3,
    [HEURT_EVENT_LOCK_RELEASED] = 3,
    [HEURT_EVENT_CONDITION_WAIT] = 3,
    [HEURT_EVENT_CONDITION_WAIT | 1] = 1,
    [HEURT_EVENT_CONDITION_SIGNALLED] = 3,
    [HEURT_EVENT_BARRIER_WAIT] = 3,
    [HEURT_EVENT_BARRIER_WAIT | 1] = 1,
    [HEURT_EVENT_SEMAPHORE_WAIT] = 3,
    [HEURT_EVENT_SEMAPHORE_WAIT | 1] = 1,
    [HEURT_EVENT_SEMAPHORE_ACQUIRED] = 3,
    [HEURT_EVENT_SEMAPHORE_POSTED] = 3,
    [HEURT_EVENT_JOIN] = 3,
    [HEURT_EVENT_JOIN | 1] = 1,
    [HEURT_EVENT_IO] = 4,
    [HEURT_EVENT_IO | 1] = 1,
    [HEURT_EVENT_SLEEP] = 3,
    [HEURT_EVENT_SLEEP | 1] = 1,
    [HEURT_EVENT_MEMORY_MAP] = 4,
    [HEURT_EVENT_MEMORY_MAP | 1] = 1,
    [HEURT_EVENT_FUTEX_WAIT] = 3,
    [HEURT_EVENT_FUTEX_WAIT | 1] = 1,
    [HEURT_EVENT_FUTEX_WOKEN] = 3,
    [HEURT_EVENT_UNWOUND] = 1,
    [HEURT_EVENT_LOST] = 1,
    [HEURT_EVENT_SAMPLED] = 2,
    [HEURT_EVENT_PAUSED] = 2,
    [HEURT_EVENT_OFF_CPU] = 3,
    [HEURT_EVENT_FAULT] = 2,
};

static void merge(struct blame_walk *walk)
{
    struct step_thread *earliest;
    steps__order(&walk->steps);
    while ((earliest = steps__earliest(&walk->steps)) &&
           (walk->waiting || earliest->tick <= walk->last_wait)) {
        take_step(walk, (struct blame_thread *)earliest);
        steps__go_on(&walk->steps);
    }
}

/* Waits for locks that never ended, as in a deadlock. */
static void close_waits(struct blame_walk *walk)
{
    for (size_t i = 0; i < walk->thread_count; i++) {
        struct blame_thread *thread = &walk->threads[i];
        if (!thread->depth || thread->waits[0].id != HEURT_EVENT_LOCK_WAIT ||
            !walk->results[i].unfinished)
            continue;
        if (walk->results[i].end > thread->steps.tick)
            thread->steps.tick = walk->results[i].end;
        lock__blame(walk, thread);
    }
}

static void start_thread(struct blame_walk *walk, uint32_t index)
{
    const struct trace *trace = walk->table->trace;
    const struct trace_thread *row = VEC_AT(trace__threads(trace), struct trace_thread, index);
    struct blame_thread *thread = &walk->threads[index];
    thread->index = index;
    thread->serial = VEC_AT(trace__processes(trace), struct trace_process, row->process)->serial;
    thread->before = VEC_OF(struct doing);
    thread->doing = thread->off = COMPONENT_RUNNING;
    thread->steps.tick = thread->did_until = row->start_tick;
    const struct fold_state *fold = &walk->results[index].fold;
    bool has_kernel = fold->off_cpu_count || fold->fault_count;
    if (fold->meets && step_thread__start(&thread->steps, trace, index, walk->wanted, has_kernel))
        steps__add(&walk->steps, &thread->steps);
}

/* What the walk has to look at. Without waits for locks it does not matter who holds any. */
static void choose_events(struct blame_walk *walk)
{
    bool locks = false;
    VEC_EACH (entry, &walk->table->entries, struct class_entry *)
        locks |= (*entry)->what.at.kind == CLASS_LOCK && (*entry)->total.contended;
    memcpy(walk->wanted, wanted_words, sizeof wanted_words);
    if (!locks)
        walk->wanted[HEURT_EVENT_LOCK_ACQUIRED] = walk->wanted[HEURT_EVENT_LOCK_RELEASED] = 0;
}

static void free_walk(struct blame_walk *walk)
{
    for (size_t i = 0; i < walk->thread_count; i++) {
        step_thread__stop(&walk->threads[i].steps);
        vec__free(&walk->threads[i].before);
    }
    held_locks__free(walk);
    meetings__free(walk);
    steps__free(&walk->steps);
    free(walk->threads);
}

static uint64_t last_wait(const struct trace *trace, const struct thread_result *results)
{
    uint64_t last = 0;
    for (size_t i = 0; i < trace__threads(trace)->count; i++)
        last = results[i].last_wait > last ? results[i].last_wait : last;
    return last;
}

void blame__find(struct class_table *table, const struct thread_result *results)
{
    struct blame_walk walk = {.table = table,
                              .results = results,
                              .thread_count = trace__threads(table->trace)->count,
                              .last_wait = last_wait(table->trace, results)};
    if (!walk.last_wait)
        return;
    choose_events(&walk);
    walk.locks = VEC_OF(struct lock_state);
    walk.meetings = VEC_OF(struct meeting);
    walk.threads = memory__zeroed(walk.thread_count, sizeof *walk.threads);
    steps__start(&walk.steps, walk.thread_count);
    for (uint32_t i = 0; i < walk.thread_count; i++)
        start_thread(&walk, i);
    merge(&walk);
    close_waits(&walk);
    meetings__find_idle(&walk);
    free_walk(&walk);
}
