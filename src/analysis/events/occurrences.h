/* occurrences.h: single occurrences of a trace's classes, kept from windows of its time.
 *
 * What explains the time on the CPU has to be looked for among single occurrences, of which a trace
 * has too many. So windows are laid over the run, evenly, all of the same length, whole for all
 * threads, and so short that about OCCURRENCES_MAX occurrences begin in them; a run that has no
 * more is one window. Of a class, the occurrences are in the order of threads, then of their ends.
 * An occurrence is kept when it begins in a window, and may end behind it, where nothing is known
 * of others. Of classes that have only few, all are kept, in windows or not.
 *
 *     run      |----------------------------------------------------------|
 *     windows     [--]        [--]        [--]        [--]        [--]
 *
 * For analysis/ only. Memory: OCCURRENCES_MAX times about 120 bytes, whatever the trace's length.
 */
#ifndef HEURT_ANALYSIS_EVENTS_OCCURRENCES_H
#define HEURT_ANALYSIS_EVENTS_OCCURRENCES_H

#include "analysis/events/spans.h"

#define OCCURRENCES_MAX 400000u
#define OCCURRENCE_WINDOWS 64u
#define OCCURRENCES_FEW 2000u /* a class that has no more is kept whole */

/* Ticks. */
struct occurrence {
    uint64_t start, end;
    uint64_t duration;
    uint64_t own;     /* without the occurrences nested in it */
    uint64_t running; /* its component */
    uint32_t thread;  /* index into trace__threads */
    uint32_t window;  /* in which it began; UINT32_MAX: in none */
    uint16_t cpu;     /* on which it ended; UINT16_MAX: not known */
    bool is_clean;    /* neither waited nor was off the CPU, no page fault */
    bool inner;       /* inside of one of its own class: no excess */
    uint32_t inside; /* occurrences nested in it, at any depth, but those of locks and semaphores */
    uint32_t argument_count, first_argument; /* in the class's arguments */
    uint64_t instructions;                   /* retired by it; 0: not recorded */
};

struct class_occurrences {
    struct class_entry *entry;
    struct vec occurrences; /* struct occurrence */
    struct vec arguments;   /* uint64_t: of the occurrences, in their order */
    bool has_locks;         /* a lock was waited for in one of them */
};

/* When a class was open on a thread and the thread was on a CPU, or (second) when it was preempted
 * in it. An occurrence becomes one or more intervals, by begin; those of one thread and class do
 * not overlap. */
struct class_timeline {
    struct class_entry *entry;
    uint32_t thread;
    struct vec running;   /* struct interval */
    struct vec preempted; /* struct interval */
};

struct window {
    uint64_t begin, end;
};

struct occurrences {
    struct vec windows; /* struct window, by begin */
    struct vec classes; /* struct class_occurrences: only those whose excess is worth it */
    struct vec
        timelines; /* struct class_timeline: of all functions, regions and loops, windows only */
    struct class_table *table; /* of the classes */
};

/* The parts of an analysis by threads (analysis.h) that keeps them: whose table was folded on as
 * many lanes. worth: whether a class's occurrences are to be kept. Numbers the classes. */
struct collection_plan;

struct collection_plan *occurrences__start(struct class_table *table,
                                           bool (*worth)(const struct class_entry *entry));
void *occurrences__thread(void *plan, unsigned lane, uint32_t thread);
void occurrences__event(void *part, const struct event *event);
void occurrences__events(void *part, struct event_words *words);
void occurrences__end_thread(void *part);
void occurrences__join(void *plan, uint32_t thread, void *part);
/* argument_count of them; NULL: there are none. */
static inline const uint64_t *occurrence__arguments(const struct class_occurrences *class,
                                                    const struct occurrence *occurrence)
{
    bool any = occurrence->argument_count > 0;
    return any ? VEC_AT(&class->arguments, uint64_t, occurrence->first_argument) : NULL;
}

struct occurrences occurrences__end(struct collection_plan *plan); /* occurrences__free it */
void occurrences__free(struct occurrences *occurrences);

#endif
