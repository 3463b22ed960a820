/* shape_walk.h: one thread's occurrences with their shapes. For analysis/ only.
 *
 * Several walks over the same threads, in the same order and with the same table of classes, give
 * the same shapes the same numbers, and find all of them known. */
#ifndef HEURT_ANALYSIS_STRUCTURE_SHAPE_WALK_H
#define HEURT_ANALYSIS_STRUCTURE_SHAPE_WALK_H

#include "analysis/events/spans.h"
#include "analysis/structure/shape.h"

/* Is told of every occurrence that ends, those in it before it, and of locks and semaphores that
 * could be had at once. Symbols are the classes' places (struct class_entry.place). */
struct shape_watcher {
    /* occurrence->components are those of fold.h. shape: of this one. arguments: of its enter
     * event. */
    void (*occurrence)(struct shape_watcher *watcher, struct class_entry *entry,
                       const struct fold_occurrence *occurrence, uint32_t shape);
    /* NULL: nobody wants them. Of loops that iteration_depth or fewer occurrences enclose. */
    void (*iteration)(struct shape_watcher *watcher, const struct shape_iteration *iteration);
    uint32_t iteration_depth;
    /* As in struct thread_watcher; NULL: nobody wants them. */
    void (*opened)(struct shape_watcher *watcher, struct class_entry *entry, uint32_t depth);
    void (*kernel)(struct shape_watcher *watcher, const struct event *event);
    struct watched_event now; /* what is told of; behind the walk: the thread's end */
};

/* Event by event. thread: index into trace__threads. watcher: NULL: nobody wants them. */
struct thread_shape;

struct thread_shape *thread_shape__start(struct class_table *table, struct shapes *shapes,
                                         uint32_t thread, struct shape_watcher *watcher);
void thread_shape__event(struct thread_shape *walk, const struct event *event);
void thread_shape__functions(struct thread_shape *walk, struct event_words *words); /* likewise */
/* The shape of the whole thread (its symbol is UINT32_MAX); spans that are open end there. */
uint32_t thread_shape__end(struct thread_shape *walk);

#endif
