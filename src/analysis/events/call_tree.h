/* call_tree.h: what was in single occurrences, or in stretches of a thread's time such as
 * iterations of a loop: a tree of calls, and what each was made of.
 *
 * Calls of one place (struct class_entry.place) in the same call are one node with a count. Times
 * are what was recorded: an occurrence that stands for others counts as one. For analysis/ only.
 * Memory: nodes, whatever the number of calls. What is more than INSIDE_LEVELS deep is in the call
 * that is so deep. */
#ifndef HEURT_ANALYSIS_EVENTS_CALL_TREE_H
#define HEURT_ANALYSIS_EVENTS_CALL_TREE_H

#include "analysis/events/spans.h"

#define INSIDE_NONE UINT32_MAX
#define INSIDE_LEVELS 500u

/* Calls of one place within one call. Ticks. */
struct call_tree_node {
    uint32_t parent; /* index into struct call_tree.calls; INSIDE_NONE: just in the whole */
    const struct class_entry *entry; /* the first one's */
    bool has_object;                 /* all had the one of entry */
    uint64_t count;
    uint64_t time;
    int64_t own; /* time less that of the calls in it; a few ticks below 0 where what recording
                    adds was taken off */
    uint64_t components[COMPONENTS]; /* add up to time */
};

struct call_tree {
    /* What is asked for. */
    uint32_t thread;     /* index into trace__threads */
    uint64_t start, end; /* ticks */
    uint32_t depth;      /* spans that are open around it */
    bool is_stretch;     /* no occurrence: whatever ended at depth from start to end is in it */

    /* What is found. Ticks. */
    uint64_t duration;
    int64_t own; /* as of a call: own and those of all calls add up to duration */
    uint64_t components[COMPONENTS]; /* add up to duration */
    struct vec calls; /* struct call_tree_node: parents before what is in them, in their order */
    uint16_t cpu;     /* on which it ended; UINT16_MAX: not known */
    bool is_sampled;  /* calls in it stand for others that were not recorded */
    uint64_t argument_count;
    uint64_t arguments[HEURT_ARGUMENTS_MAX]; /* of an occurrence of a function */
};

/* Fills count of them, which the caller has sorted by thread, then by start, and which do not
 * overlap. One walk over each of their threads. Numbers of places are the table's. */
void call_trees__collect(struct class_table *table, struct call_tree *insides, size_t count);
void call_tree__free(struct call_tree *inside);

#endif
