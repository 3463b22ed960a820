/* classes.h: which class an event's occurrence belongs to, and the classes themselves.
 * For analysis/ only. A table belongs to one fold and is used by one thread. */
#ifndef HEURT_ANALYSIS_CLASSES_H
#define HEURT_ANALYSIS_CLASSES_H

#include "analysis/profile.h"
#include "base/map.h"

/* What one class did on one thread. Ticks. */
struct class_cell {
    uint32_t thread;
    uint64_t count, nested_count;
    uint64_t sum, nested_sum;
};

/* Equal call stacks of one class. */
struct class_stack {
    const uint64_t *frames;
    size_t frame_count;
    uint64_t snapshots;
    uint32_t process; /* serial */
};

/* Where a lock was held from while this class waited. Ticks. */
struct class_holder {
    uint32_t process; /* serial */
    uint64_t site;
    uint64_t wait, waits;
};

struct class_entry {
    /* Most classes of a program with many locks never take any time: no accumulator for them. */
    struct accumulator *accumulator; /* NULL while every occurrence took 0 ticks */
    uint64_t instant;                /* occurrences while there was no accumulator */
    uint32_t open;                   /* spans of this class now open on the folded thread */
    enum component component;        /* what a wait is; COMPONENT_REST: not a wait */
    struct vec cells;                /* struct class_cell; the last one is the folded thread's */
    uint64_t contended, unfinished;
    struct vec stacks;         /* struct class_stack */
    struct vec holders;        /* struct class_holder */
    struct profile_class what; /* kind … keys, idle and ignored; the results are filled in later */
};

/* A function or region of one process image. */
struct function_slot {
    struct class_entry *entry;             /* NULL: keyed, or not called yet */
    const struct trace_function *function; /* NULL: not defined */
    uint8_t key_count;
    uint8_t keys[HEURT_ARGUMENTS_MAX]; /* which payload words */
    const char *key_names[HEURT_ARGUMENTS_MAX];
};

struct function_table {
    struct function_slot *slots; /* by (id - HEURT_EVENT_FUNCTIONS) / 2 */
    size_t count;
    bool filled;
};

struct class_table {
    const struct trace *trace;
    const struct vec *rules;
    struct vec entries;     /* struct class_entry * */
    struct map by_identity; /* what makes a class -> its place in entries */
    struct map modules;     /* build-id or path -> number */
    struct map names;       /* of markers: name and file -> number */
    struct recent_class *recent;
    struct function_table *functions; /* by process */
    struct vec strings;               /* char *: owned, handed on to the profile */
    struct vec warnings;              /* char *: likewise */
    struct map warned;
};

void class_table__start(struct class_table *table, const struct trace *trace,
                        const struct vec *rules);
/* Frees everything that is left in it. */
void class_table__free(struct class_table *table);
void class_entry__free(struct class_entry *entry); /* NULL is allowed */

/* The functions of a process image (index into trace__processes). */
const struct function_table *class_table__functions(struct class_table *table, size_t process);

/* The class of a call of a defined function. */
struct class_entry *class_table__function(struct class_table *table, size_t process,
                                          struct function_slot *slot, const struct event *event);

/* The class of an enter or point with a fixed id; NULL when it is no occurrence of any class. */
struct class_entry *class_table__call(struct class_table *table, size_t process,
                                      const struct event *event);

/* Counts an occurrence whose components add up to duration. nested: inside another
 * occurrence of the class on the same thread. */
void class_entry__add(struct class_entry *entry, uint32_t thread, uint64_t duration,
                      const uint64_t components[COMPONENTS], bool nested);

/* Never NULL; the caller frees it, and the entry has none any more. */
struct accumulator *class_entry__take_accumulator(struct class_entry *entry);

#endif
