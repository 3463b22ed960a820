/* placement_plan.h: what can be done to the placement of a program from outside: a policy for all
 * of its memory, or one for each object, as it is allocated.
 *
 * In go a placement and the objects that it is of, out come actions. Of an object with owners each
 * part goes to the node that accesses it most (NumaMMA's rule: of pages with more than 8 accesses;
 * samples are fewer than accesses, so that parts are as long as 8 samples need). */
#ifndef HEURT_ANALYSIS_MEMORY_PLACEMENT_PLAN_H
#define HEURT_ANALYSIS_MEMORY_PLACEMENT_PLAN_H

#include "analysis/memory/placement.h"

enum placement_do {
    PLACE_INTERLEAVE, /* page by page over all nodes */
    PLACE_PARTS,      /* parts of each object on nodes */
    PLACE_CYCLE,      /* page by page on nodes, in turn */
    PLACE_EACH,       /* each object of the place that allocates on a node, in turn */
};

struct placement_part {
    uint64_t page; /* where it begins, in the object; of PLACE_CYCLE in the cycle */
    uint32_t node; /* index */
};

struct placement_action {
    uint32_t object; /* index of memory_use's */
    enum placement_do what;
    bool no_huge_pages;
    struct vec parts;                 /* struct placement_part; of PLACE_EACH page counts objects */
    uint64_t pages;                   /* of the whole object, that parts are of */
    uint64_t least_bytes, most_bytes; /* of objects that it is for */
    uint64_t address;                 /* of a variable: where its sampled pages begin; else 0 */
    double local; /* what part of its time would be local, about; NaN: the same */
};

enum placement_whole {
    PLAN_NOTHING,    /* there is nothing to be done, or nothing that can be from outside */
    PLAN_INTERLEAVE, /* all memory over all nodes */
    PLAN_BIND,       /* threads and memory on one node */
    PLAN_OBJECTS,
};

struct placement_plan {
    enum placement_whole whole;
    uint32_t node;      /* of PLAN_BIND: index */
    struct vec actions; /* struct placement_action, that of most remote time first */
};

struct placement_plan placement_plan__make(const struct placement *placement,
                                           const struct memory_use *use);
void placement_plan__free(struct placement_plan *plan);

#endif
