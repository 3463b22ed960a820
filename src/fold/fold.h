/* fold.h: the fold over one thread's events: open spans, occurrences, what they are made of.
 *
 *     events ──► open spans ──► occurrences ──► one accumulator a class
 *
 * Used by the analyses and inside the recorded program, as accumulate.h is: it allocates nothing.
 * Who folds keeps the classes and gives the room (struct fold_keeper).  A fold belongs to one
 * thread at a time.
 *
 * In go events in their order, out come occurrences, given to the keeper's accumulators. An event
 * costs O(1); memory is the keeper's. It stands on accumulate.h, kinds.h and format/event.h. */
#ifndef HEURT_FOLD_FOLD_H
#define HEURT_FOLD_FOLD_H

#include "fold/accumulate.h"
#include "format/event.h"

#include <stdbool.h>
#include <stddef.h>

/* What a class did on a thread. It stands so in AGGREGATES chunks, as struct open_span and struct
 * fold_state do: src/format/layout.h knows their sizes. */
struct class_sums {
    struct accumulator accumulator;
    uint64_t contended;  /* locks and semaphores: occurrences that waited */
    uint64_t unfinished; /* entered and never left */
};

/* A class as the fold knows it. */
struct fold_class {
    struct class_sums *sums;
    /* Occurrences by duration; NULL: none, or no room. Those of 0 ticks are not in it: they are
     * what is missing to the accumulator's count. */
    uint64_t *histogram[HISTOGRAM_BLOCKS];
    /* The class of the same function with whatever arguments, which only counts the open spans;
     * NULL: there is none. An occurrence inside of one with other arguments is of the class that
     * the keeper's inner_class gives. */
    struct fold_class *outer;
    uint32_t number;          /* for the keeper */
    uint32_t open;            /* its spans that are now open on the thread */
    enum component component; /* what a wait is; COMPONENT_RUNNING: not a wait */
    uint32_t bias, cost;      /* ticks: struct heurt_function */
    bool patched;             /* a function, which an exception can leave */
};

/* A sampled function whose next occurrence has a weight. */
struct drawn {
    uint32_t id, weight;
};
#define DRAWN_AT_MOST 4 /* of handlers that interrupted each other between the two events */

/* An entered and not yet left function, region or wait. */
struct open_span {
    uint64_t start;           /* in the thread's own time: see struct fold_state */
    struct fold_class *class; /* in a file: means nothing to a reader */
    uint32_t number;          /* of the class */
    uint32_t id;
    uint32_t weight;   /* how many occurrences it stands for */
    uint32_t parted;   /* 1: parts is valid; else all 0 */
    uint64_t nested;   /* in the occurrences just inside of it */
    uint64_t overhead; /* what recording all those inside of it cost */
    uint64_t parts[PARTS];
};

/* One that ended, as who watches is told: see struct fold. */
struct fold_occurrence {
    struct fold_class *class; /* in which it was counted */
    uint64_t start, end;      /* ticks; end − start is more than duration where the recording used
                                 the thread for itself, or needed time to see it */
    uint64_t duration, own;   /* own: without the occurrences nested in it */
    uint64_t components[COMPONENTS];
    uint32_t weight;
    uint32_t depth; /* open spans around it */
    bool inner;     /* inside of one of its own class */
};

/* What is known of a thread besides its classes. Ticks.
 * A thread's own time stands still while the recording uses the thread for itself (PAUSED), so
 * that this is in no span. */
struct fold_state {
    uint64_t parts[PARTS]; /* in outermost spans that ended, and outside of all */
    uint64_t covered;      /* in outermost spans that ended */
    uint64_t events;
    uint64_t overhead;     /* estimate of what recording cost the thread */
    uint64_t unmatched;    /* leaves without an enter */
    uint64_t dropped;      /* outermost spans that were taken for unfinished, for want of room */
    uint64_t paused;       /* in all pauses */
    uint64_t pause_end;    /* of the last one */
    uint64_t pause_length; /* likewise */
    uint64_t
        kernel_since;     /* tick since when the kernel's records are complete; 0: there are none */
    uint64_t kernel_lost; /* records of the kernel that were lost */
    uint64_t off_cpu_count, fault_count; /* its records */
    uint64_t fault_off;                  /* ticks off the CPU because of page faults */
    uint64_t counted_faults;             /* of fault_count: without records, which cost something */
    uint64_t creating;                   /* ticks in calls that made threads */
    uint32_t depth;                      /* open spans */
    uint32_t meets; /* 1: has events of locks, conditions, barriers, semaphores or futexes, or made
                       such objects */
    uint32_t drawn_count;
    uint32_t paused_off; /* of paused, off the CPU; in units of 1024 ticks */
    struct drawn drawn[DRAWN_AT_MOST];
};

/* What the clock of the thread's own time shows at that tick. */
static inline uint64_t fold_state__own_time(const struct fold_state *state, uint64_t tick)
{
    if (tick >= state->pause_end)
        return tick - state->paused;
    /* Taken before the pause, though written behind it. */
    uint64_t begin = state->pause_end - state->pause_length;
    return (tick < begin ? tick : begin) - (state->paused - state->pause_length);
}

_Static_assert(sizeof(struct fold_state) == HEURT_FOLD_STATE_WORDS * 8, "as in layout.h");
_Static_assert(sizeof(struct class_sums) == HEURT_CLASS_SUMS_WORDS * 8, "as in layout.h");
_Static_assert(sizeof(struct open_span) == HEURT_OPEN_SPAN_WORDS * 8, "as in layout.h");
_Static_assert(HISTOGRAM_BLOCK_BUCKETS == HEURT_BLOCK_BUCKETS, "as in layout.h");

struct fold;

struct fold_keeper {
    /* The class of a function's enter or a hooked call's event; NULL: an occurrence of none. */
    struct fold_class *(*function_class)(struct fold *fold, const struct event *event);
    struct fold_class *(*call_class)(struct fold *fold, const struct event *event);
    /* The class of a page fault; NULL: it is an occurrence of none, and so are all if this is. */
    struct fold_class *(*fault_class)(struct fold *fold, const struct event *event);
    /* Where an occurrence of a class with an outer one that is inside of it is counted. */
    struct fold_class *(*inner_class)(struct fold *fold, struct fold_class *class);
    /* Gives the class room for that block of its histogram, zeroed, or does not. */
    void (*add_block)(struct fold *fold, struct fold_class *class, unsigned block);
    /* Gives the fold room for more open spans than capacity, or does not. */
    void (*add_spans)(struct fold *fold);
    /* The event that comes is one of class, and its call stack was taken just before it. */
    void (*take_stack)(struct fold *fold, struct fold_class *class);
};

struct fold {
    const struct fold_keeper *keeper;
    struct fold_state *state;
    struct open_span *spans;
    uint32_t capacity; /* of spans */
    /* Classes of functions by (id - HEURT_EVENT_FUNCTIONS) / 2; NULL: ask the keeper. */
    struct fold_class **functions;
    size_t function_count;
    /* Ticks: struct heurt_process. */
    uint32_t event_cost, left_out_cost, off_cpu_cost, fault_cost;
    /* Is told of every occurrence that ends, which then is not counted; NULL: nobody. */
    void (*watch)(struct fold *fold, const struct fold_occurrence *occurrence);
    /* Likewise of locks and semaphores that could be had at once; NULL: nobody. */
    void (*watch_at_once)(struct fold *fold, const struct fold_occurrence *occurrence);
    /* The class in which an occurrence of class is counted that ends, or could be had at once, with
     * state->depth spans around it; NULL: in its own. */
    struct fold_class *(*divide)(struct fold *fold, struct fold_class *class, uint64_t duration);
    /* The event before was a STACK; its payload stays valid until the next event. */
    bool snapshot;
    struct event stack;
};

void fold__event(struct fold *fold, const struct event *event);
/* What most events are: a known function is entered or left, and no more is told of it. Its class,
 * when such an event is the words' next one; else NULL. */
static inline struct fold_class *fold__next_function(const struct fold *fold,
                                                     const struct event_words *words, uint32_t *id,
                                                     uint64_t *tick)
{
    if (words->at >= words->end || fold->snapshot || fold->state->drawn_count)
        return NULL;
    *id = event__id(*words->at);
    *tick = event__whole_tick(words->tick, *words->at);
    uint32_t place = (*id - HEURT_EVENT_FUNCTIONS) / 2;
    return place < fold->function_count && event_words__has_plain(words, *id, *tick)
               ? fold->functions[place]
               : NULL;
}
/* Folds it. False, and nothing is done: it needs more than a look at the innermost span. */
bool fold__function(struct fold *fold, struct fold_class *class, uint32_t id, uint64_t tick);
/* Folds such events, from the words' first one on, as far as there are. */
void fold__functions(struct fold *fold, struct event_words *words);

/* The end of what is known: spans that are still open become unfinished, those below keep (from
 * the bottom) stay. */
void fold__close(struct fold *fold, uint32_t keep);

#endif
