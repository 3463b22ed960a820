/* spans.h: one thread's events folded into the classes of a table. For analysis/ only. */
#ifndef HEURT_ANALYSIS_EVENTS_SPANS_H
#define HEURT_ANALYSIS_EVENTS_SPANS_H

#include "analysis/callsite/classes.h"

#include <stdbool.h>

/* What the fold leaves about a thread. Ticks. */
struct thread_result {
    struct fold_state fold;
    struct class_entry *unfinished; /* the outermost wait that was open at the end, or NULL */
    uint64_t unfinished_since;
    uint64_t last_wait; /* tick of its last one in which others may have kept it; 0: none */
    uint64_t end;       /* of its life; later than the last event when it was stuck */
    uint64_t served; /* of its waits for messages: others were at work on what it had asked them */
    /* How often it came back to a CPU, and how often to another one than before. */
    uint32_t backs, moves;
    uint16_t cpu; /* the last one */
};

/* Of the thread (index into trace__threads). Ticks. */
uint64_t thread_result__lifetime(const struct thread_result *results, const struct trace *trace,
                                 uint32_t thread);
/* Whether the class lost so much of the life of one of its threads. */
bool class_entry__has_score(const struct class_entry *entry, const struct trace *trace,
                            const struct thread_result *results, double least);

/* One thread's events, folded into the classes of a lane: start, each event, end; then joined, in
 * the order of threads, to those of the whole table. Spans that are open at the end become
 * unfinished. symbols: NULL: none are known.
 * by_signature: the table's classes have sites afterwards; where occurrences were drawn
 * (table->is_drawn), only if the table knows from one before of which classes. */
struct thread_fold;

struct thread_fold *thread_fold__start(struct class_table *lane, const struct symbols *symbols,
                                       uint32_t thread, bool by_signature,
                                       struct thread_result *result);
void thread_fold__event(void *fold, const struct event *event);
void thread_fold__functions(void *fold, struct event_words *words); /* fold__functions */
void thread_fold__end(void *fold);
void thread_fold__join(struct thread_fold *fold, struct class_table *table, uint32_t thread);

/* An event that is told of. */
struct watched_event {
    uint64_t number; /* of the thread's: 0, 1, … as a cursor gives them; at its end how many */
    uint64_t tick;
    uint64_t own_time; /* fold_state__own_time */
};

/* Ticks, without the end. */
struct interval {
    uint64_t begin, end;
};

/* Folds the thread's events again, but counts nothing. arguments: the
 * payload of the enter event of the occurrence. Classes are told as the whole table has them. */
struct thread_watcher {
    bool at_once;    /* locks and semaphores that could be had at once are told, too */
    bool unfinished; /* spans that are open at the end are told as if they ended there */
    void (*occurrence)(struct thread_watcher *watcher, struct class_entry *entry,
                       const struct fold_occurrence *occurrence, const uint64_t *arguments,
                       size_t argument_count);
    /* Every span that begins; depth: the spans around it. NULL: nobody wants them. */
    void (*opened)(struct thread_watcher *watcher, struct class_entry *entry, uint32_t depth);
    /* Every OFF_CPU, FAULT and KERNEL event; NULL: nobody wants them. */
    void (*kernel)(struct thread_watcher *watcher, const struct event *event);
    /* A time with the tick in it in which no calls need be told that begin then, which is much
     * faster: such a call is then no span, and what is in it counts as just inside of what is
     * around it. Empty: they are wanted; NULL: they always are. In an open call of a divided site,
     * whose callee signature is not known before its end, they are told all the same. */
    struct interval (*quiet)(struct thread_watcher *watcher, uint64_t tick);
    /* Whether calls of that class are ever left out; NULL: of all. */
    bool (*may_pass)(const struct thread_watcher *watcher, const struct class_entry *entry);
    /* So many that were passed over ended; depth: the spans around them. NULL: nobody asks. */
    void (*passed_over)(struct thread_watcher *watcher, uint32_t depth, uint32_t count);
    /* Retired in the occurrence that is told; 0: not recorded. */
    uint64_t instructions;
    /* The tick of its enter event. occurrence->start is later by what pauses took of it. */
    uint64_t entered;
    struct watched_event now; /* what is told of; not for who passes over calls */
    bool signatures;    /* the callee signatures of what is told are wanted; the table has room for
                           them: */
    uint32_t signature; /* of the occurrence; NEST_NONE: not told of hooked calls */
    const struct vec *inside; /* struct callee_item: what was just inside; NULL: not known */
};

/* The class of the occurrence that the watcher is told of, which wants callee signatures if the
 * table has parts. */
struct class_entry *watcher__class(const struct thread_watcher *watcher, struct class_table *table,
                                   struct class_entry *entry);
/* Event by event. table: a lane, or one that has none; the watcher lives until the end. */
struct thread_fold *thread_watch__start(struct class_table *table, uint32_t thread,
                                        struct thread_watcher *watcher);
void thread_watch__event(struct thread_fold *watch, const struct event *event);
void thread_watch__functions(struct thread_fold *watch, struct event_words *words); /* likewise */
void thread_watch__end(struct thread_fold *watch);
/* What the part of an analysis by threads begins with that only listens to a watcher; its functions
 * are such an analysis' event, events, end and join. */
struct watched_part {
    struct thread_watcher watcher; /* first: the watch gives this */
    struct thread_fold *watch;
};
void watched_part__event(void *part, const struct event *event);
void watched_part__events(void *part, struct event_words *words);
void watched_part__end(void *part);
void watched_part__free(void *self, uint32_t thread, void *part);

/* All events of the thread, in a walk of its own. */
void thread__watch(struct class_table *table, uint32_t thread, struct thread_watcher *watcher);

#endif
