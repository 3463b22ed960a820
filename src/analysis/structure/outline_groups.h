/* outline_groups.h: threads that do the same. For outline*.c only. */
#ifndef HEURT_ANALYSIS_STRUCTURE_OUTLINE_GROUPS_H
#define HEURT_ANALYSIS_STRUCTURE_OUTLINE_GROUPS_H

#include "analysis/structure/outline_bodies.h"

struct outline_gathering {
    struct outline_node roots;            /* tidy; each part knows its bit */
    struct vec threads;                   /* const struct structure_thread *, as trace__threads */
    uint64_t lifetime;                    /* ticks: of all of them */
    uint32_t root_threads[OUTLINE_ROOTS]; /* by bit: how many have that root */
};

/* struct outline_gathering, the longest lifetime first. free: gatherings__free. */
struct vec gatherings__of(const struct trace *trace, const struct structure *structure,
                          struct outline_shapes *known);
void gatherings__free(struct vec *gatherings);

#endif
