/* shape_level.h: the builder's levels: what ended with as many occurrences open around it, and is
 * in no body yet. Of a level there are
 *
 *     settled nodes | raw ones          folded, what came since: to be folded together
 *     settled nodes, of which the last is a loop that goes on (its cursor)
 *     settled nodes, a choice | an iteration  cut where its head begins
 *
 * and never many more nodes than LEVEL_NODES. For shape*.c only. */
#ifndef HEURT_ANALYSIS_STRUCTURE_SHAPE_LEVEL_H
#define HEURT_ANALYSIS_STRUCTURE_SHAPE_LEVEL_H

#include "analysis/structure/shape_draft.h"
#include "analysis/structure/shape_table.h"

#define LEVEL_WINDOW 256u /* raw nodes that are folded together, at least */
#define LEVEL_NODES 4096u

struct shape_level {
    uint32_t depth;
    bool folded;           /* nothing came since its nodes were */
    size_t first;          /* its nodes are those from here up to the next level's */
    size_t raw;            /* the first of those that are not settled */
    size_t fold_at;        /* raw nodes that are looked at together */
    struct repeat *cursor; /* the innermost loop of those that go on, of which the outermost is the
                              last node; NULL: there is none */
    uint32_t choice;       /* its shape; the node before raw; SHAPE_NONE: there is none */
    uint64_t instance;     /* of the choice */
    struct vec rules;      /* uint32_t: loops that were seen in its iterations */
    uint64_t seen[2];      /* bits: alternatives that were */
};

struct shape_builder {
    struct draft draft;
    struct vec nodes;  /* struct node: in the order of time, and so of depth */
    struct vec levels; /* struct shape_level: the deepest is the last */
    struct vec moved;  /* struct node: on their way to another place */
    struct vec trial;  /* struct node: folded to see what becomes of it */
    struct vec plain;  /* uint32_t: by symbol: a shape whose body was found as it came, short and
                          without loops; SHAPE_NONE: none */
};

static inline struct node *builder__node(struct shape_builder *builder, size_t index)
{
    return VEC_AT(&builder->nodes, struct node, index);
}

/* All that is said of a level is of the deepest one. */

/* Waits for more to fold. */
void level__settle(struct shape_builder *builder, struct shape_level *level);

/* ---- loops that go on (shape_follow.c) ------------------------------------------------------- */

/* Whether the node is what comes next in the loops that go on. Takes it. */
bool level__goes_on(struct draft *draft, struct shape_level *level, const struct node *node);
/* The loops that went on stand there as nodes, and what is of no whole iteration behind them. */
void level__dissolve(struct shape_builder *builder, struct shape_level *level);
/* When what stands behind the last loop is the beginning of its next iteration, it goes on. */
void level__resume(struct shape_builder *builder, struct shape_level *level);
/* The loops that go on are over. */
void level__close_loops(struct shape_builder *builder, struct shape_level *level);

/* ---- what does not become short (shape_long.c) ----------------------------------------------- */

/* Folds what is raw, or makes a choice of it, or neither, to wait for more. */
void level__decide(struct shape_builder *builder, struct shape_level *level, bool is_end);
/* The level has a choice: the node is one of its iteration's, or begins the next. */
void level__put_choice(struct shape_builder *builder, struct shape_level *level,
                       const struct node *node);
void level__close_choice(struct shape_builder *builder, struct shape_level *level);

#endif
