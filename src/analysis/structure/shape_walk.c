#include "analysis/structure/shape_walk.h"

#include "base/memory.h"

#include <stdlib.h>

struct thread_shape {
    struct thread_watcher watcher; /* first: the fold's walk gives this */
    struct shape_builder *builder;
    struct shape_watcher *told;
    const struct trace_thread *thread;
    struct thread_fold *watch;
};

static void occurrence(struct thread_watcher *watcher, struct class_entry *entry,
                       const struct fold_occurrence *occurrence, const uint64_t *arguments,
                       size_t argument_count)
{
    struct thread_shape *walk = (struct thread_shape *)watcher;
    if (entry->by_chance)
        return;
    const struct shaped shaped = {.symbol = entry->place,
                                  .weight = occurrence->weight,
                                  .depth = occurrence->depth,
                                  .start = watcher->entered,
                                  .end = occurrence->end,
                                  .duration = occurrence->duration};
    uint32_t shape = shape_builder__add(walk->builder, &shaped);
    (void)arguments, (void)argument_count;
    if (!walk->told)
        return;
    walk->told->now = walk->watcher.now;
    walk->told->occurrence(walk->told, entry, occurrence, shape);
}

static void opened(struct thread_watcher *watcher, struct class_entry *entry, uint32_t depth)
{
    struct shape_watcher *told = ((struct thread_shape *)watcher)->told;
    if (entry->by_chance)
        return;
    told->now = watcher->now;
    told->opened(told, entry, depth);
}

static void kernel(struct thread_watcher *watcher, const struct event *event)
{
    struct shape_watcher *told = ((struct thread_shape *)watcher)->told;
    told->now = watcher->now;
    told->kernel(told, event);
}

static void iteration(void *context, const struct shape_iteration *iteration)
{
    struct shape_watcher *watcher = context;
    watcher->iteration(watcher, iteration);
}

struct thread_shape *thread_shape__start(struct class_table *table, struct shapes *shapes,
                                         uint32_t thread, struct shape_watcher *watcher)
{
    struct thread_shape *walk = memory__zeroed(1, sizeof *walk);
    *walk = (struct thread_shape){
        .watcher = {.occurrence = occurrence, .at_once = true, .unfinished = true},
        .builder = shape_builder__new(shapes),
        .told = watcher,
        .thread = trace__thread_at(table->trace, thread)};
    if (watcher && watcher->iteration)
        shape_builder__tell_iterations(walk->builder, watcher->iteration_depth, iteration, watcher);
    if (watcher) {
        walk->watcher.opened = watcher->opened ? opened : NULL;
        walk->watcher.kernel = watcher->kernel ? kernel : NULL;
    }
    walk->watch = thread_watch__start(table, thread, &walk->watcher);
    return walk;
}

void thread_shape__event(struct thread_shape *walk, const struct event *event)
{
    thread_watch__event(walk->watch, event);
}

void thread_shape__functions(struct thread_shape *walk, struct event_words *words)
{
    thread_watch__functions(walk->watch, words);
}

uint32_t thread_shape__end(struct thread_shape *walk)
{
    thread_watch__end(walk->watch);
    if (walk->told)
        walk->told->now = walk->watcher.now;
    uint32_t root = shape_builder__end(walk->builder, UINT32_MAX, walk->thread->start_tick,
                                       walk->thread->end_tick);
    shape_builder__free(walk->builder);
    free(walk);
    return root;
}
