/* outline_bodies.h: what one row of an outline stands for, and what that consists of. For
 * outline*.c only. */
#ifndef HEURT_ANALYSIS_STRUCTURE_OUTLINE_BODIES_H
#define HEURT_ANALYSIS_STRUCTURE_OUTLINE_BODIES_H

#include "analysis/structure/outline.h"

/* What is found out about all shapes. */
struct outline_shapes {
    struct shapes *shapes;
    struct vec loop_sums; /* uint64_t, by shape: what all its loops took; 0 of other shapes */
    bool is_sampled;      /* of some calls one was recorded that stands for several */
    struct vec surfaces;  /* uint32_t, by shape: its surface + 1; 0: not asked for yet */
};

void outline_shapes__start(struct outline_shapes *known, struct shapes *shapes);
void outline_shapes__free(struct outline_shapes *known);
/* Shapes with equal surfaces may be shown as one. */
uint32_t outline_shapes__surface(struct outline_shapes *known, uint32_t shape);

/* What a row of that shape is. */
enum outline_kind shape__row_kind(const struct shape *shape);

/* Roots of a group that parts know of; more of them share the last bit. */
#define OUTLINE_ROOTS 64u

/* All occurrences of one shape that a row stands for. Ticks. */
struct outline_part {
    uint32_t shape;
    uint64_t bodies; /* occurrences; of a loop: iterations */
    struct shape_time
        time; /* of a loop: of loops, but min and max of iterations, UINT64_MAX: not known */
    struct shape_iterations iterations;
    uint64_t excess;
    uint64_t roots;          /* bits: in which of the group's roots */
    bool is_count_estimated; /* bodies */
    bool is_estimated, is_excess_estimated;
};

/* What a row stands for: shapes of one surface. */
struct outline_node {
    uint32_t surface;
    struct vec parts; /* struct outline_part; once tidy, by shape, and no two of one */
    size_t tidy;      /* so many were tidied last */
};

void node__add(struct outline_node *node, const struct outline_part *part);
void node__join(struct outline_node *node, const struct outline_node *other);
void node__tidy(struct outline_node *node);
uint64_t node__sum(const struct outline_node *node);            /* ticks */
struct outline_part node__all(const struct outline_node *node); /* shape: of the first one */

/* The bodies of the node's parts, beside each other: struct outline_node, tidy. Of very many parts
 * those that took the most time; *left_out are the last ones of the node, whose bodies are not
 * looked at. free: nodes__free. */
struct vec node__body(struct outline_shapes *known, struct outline_node *node, size_t *left_out);
void nodes__free(struct vec *nodes);

#endif
