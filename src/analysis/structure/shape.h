/* shape.h: shapes: of what an occurrence consists, apart from how long it took and how often its
 * loops turned.
 *
 *     occurrence of a symbol      what happened in it, in order: a body of items
 *     loop                        a body that is repeated in a row; how often is no part of it
 *
 * Equal shapes are one (they have one number), in whatever thread and wherever: a body is a row of
 * numbers of shapes. What the shape of a body is depends on what ended in it and in which order, on
 * nothing else. What is a loop somewhere in a body is a loop everywhere in it, also where it turned
 * but once. Each place in a body knows the times of what stood there. Times of a shape deeper down
 * are those of all its places together.
 *
 * A body that is long and does not become short when loops are made of it is cut into iterations
 * where some symbol, the head, begins:
 *
 *     choice      a row of iterations, each of which is one of several alternatives. Its symbol is
 * the head, which is all that makes it this choice: threads with other mixes of alternatives have
 * the same. Its items are the alternatives that were seen, in whatever thread; an item's time is
 * that of its iterations. There may come more. sequence    an alternative of the choice with that
 * symbol: a body that begins with it. Only items of choices are sequences. One that is marked other
 * stands for those that are not told apart.
 *
 * A choice stands where a loop could stand, with iterations and time like it.
 *
 * Symbols are numbers of the caller's, ticks are the caller's too. Not thread-safe. For analysis/
 * only. Memory: shapes and the places in them, whatever the number of occurrences. */
#ifndef HEURT_ANALYSIS_STRUCTURE_SHAPE_H
#define HEURT_ANALYSIS_STRUCTURE_SHAPE_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHAPE_NONE UINT32_MAX

enum shape_kind {
    SHAPE_OCCURRENCE,
    SHAPE_LOOP,
    SHAPE_CHOICE,
    SHAPE_SEQUENCE,
};

#define SHAPE_ALTERNATIVES_MAX 65u /* of a choice, the one marked other among them */

/* There are not many more shapes or items than these. When they are there, an occurrence with a
 * body that is not known has its symbol's other shape, and new loops are not made. */
#define SHAPES_MAX (1u << 20)
#define SHAPE_ITEMS_MAX (1u << 22)

/* Ticks. An occurrence that stands for several (sampled) counts as so many. */
struct shape_time {
    uint64_t count, sum;
    uint64_t min, max; /* of one; 0 when count is 0 */
};

/* Iterations of the loops or choices that stood at a place. */
struct shape_iterations {
    uint64_t sum;
    uint64_t min, max; /* of one loop */
};

/* A place in a body. */
struct shape_item {
    uint32_t shape;
    struct shape_time time; /* of a loop or choice: from the beginning of its first to the end of
                               its last iteration */
    struct shape_iterations iterations; /* of a loop or choice, else 0 */
};

struct shape {
    enum shape_kind kind;
    uint32_t symbol; /* of an occurrence; of a choice or sequence: its head; of a loop 0 */
    bool other;      /* an occurrence or sequence: of many bodies, none of which is known */
    uint32_t first_item, item_count;
    struct shape_time time; /* of all that have this shape; of a loop or choice: its iterations */
};

struct shapes;

struct shapes *shapes__new(void);
void shapes__free(struct shapes *shapes); /* NULL is allowed */

size_t shapes__count(const struct shapes *shapes);
/* Valid until the next occurrence is added. */
const struct shape *shapes__get(const struct shapes *shapes, uint32_t shape);
const struct shape_item *shapes__items(const struct shapes *shapes, uint32_t shape);

/* What all that have this shape lost: Σ (d − d_min), ticks; of a loop: its iterations. Iterations
 * of a choice are to be compared with others of the same alternative: ask for these. */
uint64_t shape__excess(const struct shape *shape);
/* What they lost at that place; of a loop or choice 0 (its iterations are the shape's). */
uint64_t shape_item__excess(const struct shapes *shapes, const struct shape_item *item);

/* The number of the shape that is the same down to depth levels of occurrences inside (loops are no
 * level) and has nothing below: 0: the bare symbol. shape itself when it is no deeper. What becomes
 * alike in a row becomes a loop. A choice stays: its head tells all that it is. */
uint32_t shapes__cut(struct shapes *shapes, uint32_t shape, unsigned depth);

/* ---- from occurrences to shapes -------------------------------------------------------------- */

/* One that ended. */
struct shaped {
    uint32_t symbol;
    uint32_t weight; /* how many it stands for, ≥ 1 */
    uint32_t depth;  /* occurrences that are open around it, 0: none */
    uint64_t start, end;
    uint64_t duration; /* ≤ end − start */
};

/* Takes a thread's occurrences in the order of their ends. */
struct shape_builder;

struct shape_builder *shape_builder__new(struct shapes *shapes);
void shape_builder__free(struct shape_builder *builder); /* NULL is allowed */

/* One iteration of a loop or choice. It is told late: some iterations later, at the latest when the
 * body ends that the loop is in; those of a loop inside of an iteration before it. Iterations of a
 * loop that was part of another one's body, until it turned twice in a row, are not told. */
struct shape_iteration {
    uint32_t loop; /* its shape, as far as it is known: a later iteration may show that part of its
                      body is a loop, too, which makes it another shape */
    uint32_t alternative; /* the sequence, of a choice; else SHAPE_NONE */
    uint32_t depth;       /* occurrences that are open around it */
    bool first;           /* of that loop */
    uint64_t
        instance; /* the same for all iterations of one loop, and of no other of that builder */
    uint64_t start, end;
};

/* Every iteration of loops that depth or fewer occurrences enclose is told from now on. */
void shape_builder__tell_iterations(struct shape_builder *builder, uint32_t depth,
                                    void (*tell)(void *context,
                                                 const struct shape_iteration *iteration),
                                    void *context);

/* Returns the occurrence's shape. What ended deeper since the last one of that depth is its body.
 */
uint32_t shape_builder__add(struct shape_builder *builder, const struct shaped *occurrence);

/* Adds what encloses all that is there, as shape_builder__add with depth 0 does, and empties the
 * builder. */
uint32_t shape_builder__end(struct shape_builder *builder, uint32_t symbol, uint64_t start,
                            uint64_t end);

#endif
