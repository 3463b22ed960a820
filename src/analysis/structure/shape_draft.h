/* shape_draft.h: bodies that are not finished: what ended in them, and the loops found in that so
 * far. Nothing of it is in the table of shapes before the body ends: a loop may show late that part
 * of its body is a loop, too.
 *
 *     node     what ended: an occurrence, or a loop with its repeat
 *     repeat   a loop's iterations: times by place, and the last iteration as nodes: a loop at its
 * end may go on
 *
 * For shape*.c only. */
#ifndef HEURT_ANALYSIS_STRUCTURE_SHAPE_DRAFT_H
#define HEURT_ANALYSIS_STRUCTURE_SHAPE_DRAFT_H

#include "analysis/structure/shape.h"

struct node {
    uint32_t shape, weight;
    uint64_t start, end, duration;
    struct repeat *repeat; /* of a loop, else NULL; the node's own */
    uint64_t iterations;   /* of a choice, else 0 */
};

/* What stood at a place of a loop's body, in all iterations but the last. */
struct body_place {
    uint32_t shape;
    struct shape_time time;
    struct shape_iterations iterations;
    uint64_t starts, ends; /* Σ since the beginning of the iteration */
    struct repeat *loops;  /* of a loop: all that stood here, as one; else NULL */
};

struct repeat {
    uint32_t shape, item_count;
    uint64_t instance;        /* tells the loops of a draft apart */
    uint64_t iteration_count; /* whole ones, the last one included */
    struct shape_time time;   /* of the iterations but the last */
    uint64_t start, end;      /* of those */
    bool told;                /* some iteration of it was */
    bool has_last;
    struct body_place *places;
    struct node *last; /* the last iteration */
    /* While it goes on: */
    struct node *iteration; /* the one that is not whole: filled nodes */
    uint32_t filled;
    struct repeat *parent; /* the loop in whose iteration it stands, behind its filled nodes */
};

#define KNOWN_MAX 64u /* loops that are told apart while folding */

/* A loop that is there while nodes are folded. */
struct known {
    uint32_t loop;
    bool reduced; /* its body stands nowhere but in it */
};

#define REPEAT_SIZES 20

struct draft {
    struct shapes *shapes;
    struct repeat *spare[REPEAT_SIZES]; /* by size, chained by parent */
    struct vec body;                    /* uint32_t: of the loop that is being reduced */
    struct vec known;                   /* struct known: loops that are there while folding */
    uint32_t longest;                   /* items of one of these */
    const struct vec *rules;            /* uint32_t: other loops to look for; NULL: none */
    bool no_new;                        /* makes no loops but known ones */
    uint64_t instances;
    uint32_t depth; /* of the body that is worked on */
    void (*tell)(void *context, const struct shape_iteration *iteration);
    void *context;
    uint32_t told_depth;
    struct vec iterations; /* struct shape_iteration: that are to be told */
};

void draft__start(struct draft *draft, struct shapes *shapes);
void draft__free(struct draft *draft);

/* ---- repeats --------------------------------------------------------------------------------- */

struct repeat *repeat__new(struct draft *draft, uint32_t loop);
/* With all that is in it; NULL is allowed. */
void repeat__free(struct draft *draft, struct repeat *repeat);
void node__free(struct draft *draft, struct node *node);

/* The loop as it is, without what is of no whole iteration. */
struct node repeat__node(const struct repeat *repeat);

/* Takes the nodes of one more iteration. */
void repeat__add_iteration(struct draft *draft, struct repeat *repeat, const struct node *nodes);
/* The nodes of the iteration that is being filled are a whole one. */
void repeat__finish_iteration(struct draft *draft, struct repeat *repeat);
/* The last iteration is counted like those before; nothing can be added at its end any more. */
void repeat__seal(struct draft *draft, struct repeat *repeat);
/* More iterations of the same loop follow those of repeat. Frees more. */
void repeat__append(struct draft *draft, struct repeat *repeat, struct repeat *more);
/* Everywhere in it, the body of loop becomes one iteration of it. */
void repeat__promote(struct draft *draft, struct repeat *repeat, uint32_t loop,
                     const uint32_t *body, uint32_t period);
/* Its times go to the table. Seals it. */
void repeat__pour(struct draft *draft, struct repeat *repeat);
/* An iteration that ended is to be told, if somebody wants it. */
void draft__note_iteration(struct draft *draft, const struct shape_iteration *iteration);
/* Tells the iterations that were counted, in their order. */
void draft__tell(struct draft *draft);
/* As if all its loops had ran once in no time. */
struct repeat *repeat__of_shape(struct draft *draft, uint32_t loop);

/* ---- folding --------------------------------------------------------------------------------- */

/* Makes loops of what is repeated in a row, in place: the shortest first, and then everywhere, also
 * where it stands but once. Returns how many nodes are left. */
size_t draft__fold(struct draft *draft, struct node *nodes, size_t count);

/* The loops in the nodes become draft->known. */
void draft__note_loops(struct draft *draft, const struct node *nodes, size_t count);

/* Puts the nodes' times at the places of the shape, whose body they are, and frees them. */
void draft__pour(struct draft *draft, uint32_t shape, struct node *nodes, size_t count);

/* The nodes' shapes become the key that is looked up. */
void draft__set_key(struct draft *draft, const struct node *nodes, size_t count);

#endif
