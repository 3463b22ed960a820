#include "analysis/timeline/thread_times.h"

#include "analysis/events/spans.h"
#include "analysis/events/time_off_cpu.h"
#include "base/extremes.h"
#include "base/memory.h"

#include <stdlib.h>

struct thread_times_walk {
    const struct trace *trace;
    const struct profile *profile;
    struct class_table *table;
    struct vec waits_as; /* unsigned, by the class's number: a state */
    struct vec extremes; /* struct extremes, likewise */
    struct thread_times *thread_times;
    size_t most; /* stretches of a thread */
};

/* One thread's. */
struct thread_times_part {
    struct watched_part watched; /* first: the watch gives this */
    struct thread_times_walk *walk;
    struct thread_states *states;
    uint32_t thread;
    bool is_over;             /* what is told now has no end of its own */
    unsigned unfinished;      /* state of the outermost wait that was open at the end */
    uint64_t unfinished_from; /* ns; UINT64_MAX: it was in none */
};

static uint64_t since_start(const struct thread_times_part *part, uint64_t tick)
{
    return trace__since_start_ns(part->walk->trace, tick);
}

/* ---- occurrences ----------------------------------------------------------------------------- */

static struct extremes *extremes_of(struct thread_times_walk *walk, uint32_t number)
{
    while (walk->extremes.count <= number) {
        const struct extremes none = extremes__of(OCCURRENCES_KEPT);
        vec__push(&walk->extremes, &none);
    }
    return VEC_AT(&walk->extremes, struct extremes, number);
}

static void keep_longest(struct thread_times_part *part, struct class_entry *entry,
                         const struct fold_occurrence *occurrence)
{
    uint32_t number =
        class_entry__number(watcher__class(&part->watched.watcher, part->walk->table, entry));
    if (number == CLASS_NOT_NUMBERED)
        return;
    const struct extreme one = {.key = occurrence->duration,
                                .start = part->watched.watcher.entered,
                                .duration = occurrence->duration,
                                .thread = part->thread};
    extremes__offer(extremes_of(part->walk, number), &one);
}

static unsigned state_of(const struct thread_times_walk *walk, const struct class_entry *entry)
{
    uint32_t number = class_entry__number(entry);
    if (number < walk->waits_as.count)
        return *VEC_AT(&walk->waits_as, unsigned, number);
    return entry->idle ? STATE_IDLE : (unsigned)entry->fold.component;
}

static void tell_wait(struct thread_times_part *part, const struct class_entry *entry,
                      const struct fold_occurrence *occurrence)
{
    unsigned state = state_of(part->walk, entry);
    uint64_t begin_ns = since_start(part, part->watched.watcher.entered);
    thread_states__add_wait(part->states, state, begin_ns, since_start(part, occurrence->end),
                            entry->what.at.kind == CLASS_YIELD);
    if (part->is_over) {
        part->unfinished = state;
        part->unfinished_from = begin_ns;
    }
}

static void occurrence(struct thread_watcher *watcher, struct class_entry *entry,
                       const struct fold_occurrence *occurrence, const uint64_t *arguments,
                       size_t argument_count)
{
    struct thread_times_part *part = (struct thread_times_part *)watcher;
    (void)arguments, (void)argument_count;
    if (entry->fold.component != COMPONENT_RUNNING)
        tell_wait(part, entry, occurrence);
    if (!part->is_over)
        keep_longest(part, entry, occurrence);
}

static const struct profile_thread *row_of(const struct thread_times_part *part)
{
    return VEC_AT(&part->walk->profile->threads, struct profile_thread, part->thread);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static struct vec waits_of(const struct profile *profile, const struct findings *findings)
{
    struct vec waits = VEC_OF(unsigned);
    for (size_t i = 0; i < profile->classes.count; i++) {
        uint32_t number = VEC_AT(&profile->classes, struct profile_class, i)->number;
        *VEC_REACH(&waits, unsigned, number) = (unsigned)findings->waits_as[i];
    }
    return waits;
}

static void *start(struct run *run)
{
    const struct findings *findings = run__result(run, &findings_analysis);
    const struct profile *profile = run__result(run, &profile_analysis);
    size_t threads = trace__threads(run->trace)->count;
    if (!profile || !findings || trace__is_aggregated(run->trace))
        return NULL;
    struct thread_times_walk *walk = memory__zeroed(1, sizeof *walk);
    *walk =
        (struct thread_times_walk){.trace = run->trace,
                                   .profile = profile,
                                   .table = profile__table(profile),
                                   .waits_as = waits_of(profile, findings),
                                   .extremes = VEC_OF(struct extremes),
                                   .thread_times = memory__zeroed(1, sizeof *walk->thread_times),
                                   .most = threads ? STRETCHES_KEPT / threads : 0};
    walk->most = walk->most > STRETCHES_LEAST ? walk->most : STRETCHES_LEAST;
    walk->thread_times->threads = memory__zeroed(threads, sizeof *walk->thread_times->threads);
    walk->thread_times->thread_count = threads;
    walk->thread_times->begin_ns = threads ? UINT64_MAX : 0;
    return walk;
}

static void *thread(void *self, unsigned lane, uint32_t thread)
{
    struct thread_times_walk *walk = self;
    struct thread_times_part *part = memory__zeroed(1, sizeof *part);
    (void)lane;
    part->walk = walk;
    part->thread = thread;
    part->states = &walk->thread_times->threads[thread];
    *part->states = thread_states__new(
        since_start(part, trace__thread_at(walk->trace, thread)->start_tick), walk->most);
    part->states->knows_cpu = row_of(part)->has_kernel;
    part->unfinished_from = UINT64_MAX;
    part->watched.watcher =
        (struct thread_watcher){.occurrence = occurrence,
                                .unfinished = true,
                                .signatures = class_table__has_parts(walk->table)};
    part->watched.watch = thread_watch__start(walk->table, thread, &part->watched.watcher);
    return part;
}

static void event(void *self, const struct event *event)
{
    struct thread_times_part *part = self;
    struct off_cpu off = off_cpu__of(event);
    if (off.type != OFF_CPU_NOTHING) {
        uint64_t runnable_ns = since_start(part, off.runnable), end_ns = since_start(part, off.end);
        thread_states__add(part->states, off.why, since_start(part, off.begin), runnable_ns);
        if (off.type == OFF_CPU_BLOCKED || off.type == OFF_CPU_PREEMPTED)
            thread_states__add(part->states, COMPONENT_RUNNABLE, runnable_ns, end_ns);
    }
    thread_watch__event(part->watched.watch, event);
}

/* A thread that was in a wait when the trace ended waited on, as in the profile. */
static void end_life(struct thread_times_part *part)
{
    const struct profile_thread *row = row_of(part);
    uint64_t from_ns = part->unfinished_from;
    uint64_t end_ns = part->states->begin_ns + row->lifetime_ns;
    bool is_idle = row->idle_end_ns && row->idle_end == part->unfinished;
    if (from_ns != UINT64_MAX)
        thread_states__add_wait(part->states, is_idle ? STATE_IDLE : part->unfinished, from_ns,
                                end_ns, false);
    thread_states__end(part->states, end_ns);
    struct thread_times *thread_times = part->walk->thread_times;
    if (part->states->end_ns > thread_times->end_ns)
        thread_times->end_ns = part->states->end_ns;
    if (part->states->begin_ns < thread_times->begin_ns)
        thread_times->begin_ns = part->states->begin_ns;
}

static void end(void *self)
{
    struct thread_times_part *part = self;
    part->is_over = true;
    part->states->knows_cpu = false; /* what it did since then, the kernel has not told */
    thread_watch__end(part->watched.watch);
    end_life(part);
}

/* ---- the result ------------------------------------------------------------------------------ */

static struct vec rows_of(const struct thread_times_walk *walk, struct extremes *extremes)
{
    struct vec rows = VEC_OF(struct kept_occurrence);
    extremes__sort(extremes);
    VEC_EACH (one, &extremes->kept, struct extreme) {
        const struct kept_occurrence row = {trace__since_start_ns(walk->trace, one->start),
                                            trace__ns(walk->trace, one->duration), one->thread};
        vec__push(&rows, &row);
    }
    return rows;
}

static void *finish(void *self)
{
    struct thread_times_walk *walk = self;
    struct thread_times *thread_times = walk->thread_times;
    const struct vec *classes = &walk->profile->classes;
    thread_times->class_count = classes->count;
    if (thread_times->end_ns < thread_times->begin_ns)
        thread_times->end_ns = thread_times->begin_ns;
    thread_times->longest = memory__zeroed(classes->count, sizeof *thread_times->longest);
    for (size_t i = 0; i < classes->count; i++) {
        uint32_t number = VEC_AT(classes, struct profile_class, i)->number;
        thread_times->longest[i] = number < walk->extremes.count
                                       ? rows_of(walk, extremes_of(walk, number))
                                       : VEC_OF(struct kept_occurrence);
    }
    VEC_EACH (extremes, &walk->extremes, struct extremes)
        extremes__free(extremes);
    vec__free(&walk->extremes);
    vec__free(&walk->waits_as);
    free(walk);
    return thread_times;
}

static void free_thread_times(void *result)
{
    struct thread_times *thread_times = result;
    for (size_t i = 0; i < thread_times->thread_count; i++)
        thread_states__free(&thread_times->threads[i]);
    for (size_t i = 0; i < thread_times->class_count; i++)
        vec__free(&thread_times->longest[i]);
    free(thread_times->threads);
    free(thread_times->longest);
    free(thread_times);
}

const struct analysis thread_times_analysis = {
    .name = "thread_times",
    .after = (const struct analysis *const[]){&findings_analysis, NULL},
    .walk = WALK_IN_ORDER,
    .start = start,
    .thread = thread,
    .event = event,
    .events = watched_part__events,
    .end = end,
    .join = watched_part__free,
    .finish = finish,
    .free = free_thread_times,
};
