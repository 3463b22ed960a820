/* classes.h: which class an event's occurrence belongs to, and the classes themselves.
 * For analysis/ only. A table is used by one thread. So that several fold side by side, a table has
 * lanes: tables for one thread each, whose classes are joined to those of the whole, what a thread
 * did in the order of the trace's threads. */
#ifndef HEURT_ANALYSIS_CALLSITE_CLASSES_H
#define HEURT_ANALYSIS_CALLSITE_CLASSES_H

#include "analysis/callsite/definition.h"
#include "analysis/callsite/evidence.h"
#include "analysis/callsite/rules.h"
#include "analysis/callsite/signature.h"
#include "base/map.h"
#include "fold/fold.h"
#include "format/symbols.h"

/* What one class did on one thread. Ticks. */
struct class_cell {
    uint32_t thread;
    uint64_t count, nested_count;
    uint64_t sum, nested_sum;
};

/* What is found out about a class's time on the CPU. Ticks. */
struct class_evidence {
    int64_t ticks;                   /* of the excess */
    const struct class_entry *other; /* OVERLAP, SPIN; else NULL */
    struct profile_evidence shown;   /* but ns and other */
};

/* What the thread lost; minimum: of the whole class. */
static inline uint64_t class_cell__excess(const struct class_cell *cell, uint64_t minimum)
{
    return cell->sum - cell->nested_sum - (cell->count - cell->nested_count) * minimum;
}

/* Equal call stacks of one class. */
struct class_stack {
    const uint64_t *frames;
    size_t frame_count;
    uint64_t snapshots;
    uint32_t process; /* serial */
};

/* Where a lock was held from while this class waited. Ticks. */
struct class_blame {
    uint32_t process; /* serial */
    uint32_t thread;  /* as in struct profile_blame */
    uint64_t site;
    uint64_t wait, waits;
    uint64_t doing[COMPONENTS];
};

/* A class of what has a certain callee signature, of a site that is divided into such. */
struct class_part {
    uint32_t signature; /* cut to the division's depth */
    struct class_entry *entry;
};

struct site;         /* site.h */
struct thread_sites; /* likewise */

struct class_division {
    unsigned depth;
    struct vec parts; /* struct class_part; what is of none of them stays the site's */
};

struct class_entry {
    struct fold_class fold;  /* as the fold of the current thread sees it */
    struct class_sums sums;  /* of that thread */
    struct class_sums total; /* of the threads before it */
    uint64_t *histogram;     /* of all; NULL while every occurrence took 0 ticks */
    uint32_t place;          /* number of its place in the code: classes of one place differ only
                                in what they work on: lock, arguments, size, descriptor */
    uint32_t thread_and_1;   /* whose sums are in sums; 0: nobody's */
    struct vec cells;        /* struct class_cell */
    struct vec stacks;       /* struct class_stack */
    struct vec blames;       /* struct class_blame */
    struct vec evidence;     /* struct class_evidence */
    unsigned doubts;         /* enum doubt */
    uint64_t
        fastest; /* ticks of the fastest occurrence, once it is known what they are compared with */
    bool is_worth;                   /* a look at its occurrences */
    bool has_calls;                  /* hooked calls were just inside of it */
    bool is_structural;              /* it is part of the callee signatures that it is in */
    struct class_division *division; /* NULL: it is not divided */
    struct site *site; /* what was inside of its occurrences; NULL: that is not asked, or nothing */
    struct class_definition what;
    uint32_t number;           /* 0, 1, 2 …: in the profile, too */
    bool by_chance;            /* it happens, or is recorded, only sometimes (calls.h) */
    bool idle;                 /* it waits for work, events, time or the end of a thread */
    bool joins;                /* at a condition or semaphore, for the end of a thread */
    struct class_entry *joint; /* the one class of many uncontended ones (uncontended.h) that it is
                                  in, or is; NULL: it is itself alone */
    struct class_entry *whole; /* itself; of a lane's: the same class of the whole table */
    struct class_entry *twin; /* the same of threads that are aside, or that are not; NULL: of none;
                                 of the whole table, as it is asked for */
    struct class_identity *identity; /* of a lane's; else NULL */
};

/* A function or region of one process image. */
struct function_slot {
    const struct trace_function *function; /* NULL: not defined */
    uint64_t marker;                       /* number of a marker's name */
    uint8_t key_count;
    uint8_t keys[HEURT_ARGUMENTS_MAX]; /* which payload words */
    const char *key_names[HEURT_ARGUMENTS_MAX];
};

struct function_table {
    struct function_slot *slots;  /* by (id - HEURT_EVENT_FUNCTIONS) / 2; lanes have the whole's */
    struct class_entry **entries; /* likewise; NULL: keyed, or not called yet */
    size_t count;
    bool filled;
    struct fold_class **classes; /* of the current thread: what a fold has as functions */
    struct vec used;             /* size_t: places in classes that are not NULL */
};

struct class_table {
    const struct trace *trace;
    size_t process_count;
    const struct vec *rules;
    struct callee_signatures *signatures; /* NULL: no site is divided by them */
    struct vec entries;                   /* struct class_entry * */
    struct map by_identity;               /* what makes a class -> its place in entries */
    struct map by_place;                  /* the same without what it works on -> number */
    struct map modules;                   /* build-id or path -> number */
    struct map names;                     /* of markers: name and file -> number */
    struct recent_class *recent;
    struct function_table *functions; /* by process; behind them those of threads that are aside */
    struct vec strings;               /* char *: owned, handed on to the profile */
    struct vec warnings;              /* char *: likewise */
    struct map warned;
    uint32_t thread;                  /* the current one: index into trace__threads */
    bool is_aside;                    /* that one: it has classes of its own */
    struct vec occupied;              /* struct class_entry *: have its sums */
    struct class_table *whole;        /* of a lane: the table that it is a lane of; else NULL */
    const struct class_table *before; /* the trace was folded into it before: what was drawn there
                                         is part of no callee signature. NULL: it was not */
    bool is_drawn;                    /* (atomic) of some occurrences not all were recorded */
    bool is_joined;                   /* a lane whose classes have those of the whole */
    struct class_table *lanes;
    unsigned lane_count;
};

void class_table__start(struct class_table *table, const struct trace *trace,
                        const struct vec *rules);
/* Frees everything that is left in it. */
void class_table__free(struct class_table *table);
void class_entry__free(struct class_entry *entry); /* NULL is allowed */

/* The call stack that the thread (index into trace__threads) had at that tick is one of the
 * class's. symbols: NULL: none are known. */
void class_table__add_stack(const struct class_table *table, const struct symbols *symbols,
                            struct class_entry *entry, uint32_t thread, uint64_t tick);

/* A class like the site's, without any occurrences yet. The table does not know it. */
struct class_entry *class_entry__like(const struct class_entry *site);
/* Counts what it did on the current thread among what it did on all. */
void class_entry__end_thread(struct class_entry *entry);
/* Sets those (by index) on which it occurred. */
void class_entry__mark_threads(const struct class_entry *entry, bool *threads);
/* Frees what was found out about it, when results have been made of that. */
void class_entry__forget_results(struct class_entry *entry);
/* Adds what another class of the same site has. */
void class_entry__merge(struct class_entry *into, const struct class_entry *from);
/* Takes off what another class of the same site has of its call stacks. */
void class_entry__forget_stacks(struct class_entry *entry, const struct class_entry *of);
/* Whether any site is divided: only then callee signatures have to be known to tell a class. */
bool class_table__has_parts(const struct class_table *table);
/* The class of an occurrence at that site that has that callee signature (of the table's;
 * NEST_NONE: not known). */
struct class_entry *class_table__part(struct class_table *table, struct class_entry *site,
                                      uint32_t signature);
/* All is counted: what waits for threads is compared with no wait, everything else with its fastest
 * occurrence (fastest is set). */
void class_entry__set_undisturbed(struct class_entry *entry);
/* Whether it is a class of the result: a site whose parts have all of it is none. */
bool class_entry__is_shown(const struct class_entry *entry);

/* Whether not all of its occurrences were recorded. */
static inline bool class_entry__is_drawn(const struct class_entry *entry)
{
    return entry->total.accumulator.recorded < entry->total.accumulator.count;
}

#define CLASS_NOT_NUMBERED 0xffffffu /* numbers fit into 24 bits */

/* The number of an event's class; it is the same in every walk once all classes have theirs.
 * CLASS_NOT_NUMBERED: it is none of the result, or one of many uncontended ones that are one there.
 * entry: NULL is allowed. */
uint32_t class_entry__number(const struct class_entry *entry);

/* The functions of a process image (index into trace__processes), for the current thread. */
struct function_table *class_table__functions(struct class_table *table, size_t process);

/* What comes is the thread's (index into trace__threads), until class_table__forget_thread: the
 * classes that the table is asked for are those of threads that are aside, where it is (reader.h).
 */
void class_table__begin_thread(struct class_table *table, uint32_t thread);
/* Forgets what the classes did on the thread. */
void class_table__forget_thread(struct class_table *table);

/* As many tables for threads that fold side by side; class_table__free frees them. */
void class_table__add_lanes(struct class_table *table, unsigned count);
/* What the lane's classes did on its thread, which has ended: to be joined once. */
struct vec class_table__take_thread(struct class_table *lane);
/* Counts it among what they did on all threads, in whose order it is joined; frees both. */
void class_table__join_thread(struct class_table *table, uint32_t thread, struct vec *rows,
                              struct thread_sites *sites);
/* All threads are joined: what is left in the lanes is the table's, too. From here on lanes may be
 * asked for classes, but know of no new ones. */
void class_table__join_lanes(struct class_table *table);
/* The lanes get the table's callee signatures, under the same numbers. */
void class_table__share_nests(struct class_table *table);
void class_table__forget_lanes(struct class_table *table);

/* The class of a call of a defined function. */
struct class_entry *class_table__function(struct class_table *table, size_t process,
                                          const struct event *event);

/* The class of an enter or point with a fixed id; NULL when it is no occurrence of any class. */
struct class_entry *class_table__call(struct class_table *table, size_t process,
                                      const struct event *event);

/* The class of a wait at an object: its kind, and what its event tells of the call (layout.h). */
struct class_entry *class_table__wait(struct class_table *table, size_t process,
                                      enum class_kind kind, uint64_t tick, uint64_t site_word,
                                      uint64_t object);

/* In an aggregated run: the class of all of a kind that found no room in the program. */
struct class_entry *class_table__other(struct class_table *table, size_t process,
                                       enum class_kind kind);

/* The class's sums are those of the current thread from here on. */
void class_table__occupy(struct class_table *table, struct class_entry *entry);

/* Numbers the classes that are there. */
void class_table__number(struct class_table *table);

struct class_entry *class_entry__new(const struct class_definition *what);
/* Adds what another class has in its histogram. */
void class_entry__add_counts(struct class_entry *into, const struct class_entry *from);
/* Adds a stack (struct class_stack), or its snapshots to those of an equal one. */
void class_stacks__add(struct vec *stacks, const struct class_stack *added);

/* Makes room for the histogram. */
void class_entry__add_histogram(struct class_entry *entry);

#endif
