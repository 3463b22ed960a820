/* shape_table.h: what the files of shape.h share of the table of shapes. */
#ifndef HEURT_ANALYSIS_STRUCTURE_SHAPE_TABLE_H
#define HEURT_ANALYSIS_STRUCTURE_SHAPE_TABLE_H

#include "analysis/structure/shape.h"
#include "base/map.h"

struct shapes {
    struct vec shapes; /* struct shape */
    struct vec items;  /* struct shape_item: the bodies, one behind the other */
    struct vec hashes; /* uint32_t, by shape */
    struct vec leaves; /* uint32_t, by symbol: the shape without a body, or SHAPE_NONE */
    struct vec key;    /* uint32_t: the body that is looked up */
    uint32_t *slots;   /* by hash: a shape, or SHAPE_NONE */
    size_t slot_count; /* a power of two, or 0 */
    struct vec places; /* uint32_t, by shape: of a sequence: its place in its choice */
    struct map others; /* kind, symbol -> its shape whose body is not known */
    struct map cut;    /* shape, depth -> number */
};

static inline struct shape *shape_at(const struct shapes *shapes, uint32_t shape)
{
    return VEC_AT(&shapes->shapes, struct shape, shape);
}

static inline struct shape_item *shape_items(const struct shapes *shapes, uint32_t shape)
{
    return VEC_AT(&shapes->items, struct shape_item, shape_at(shapes, shape)->first_item);
}

/* No room for shapes that are not known. */
bool shapes__are_full(const struct shapes *shapes);

/* The shape of that kind and symbol with the body that is in shapes->key. When there is no room for
 * a new occurrence or sequence: the symbol's other. A loop is always made: ask before. */
uint32_t shapes__find(struct shapes *shapes, enum shape_kind kind, uint32_t symbol);

/* The same; SHAPE_NONE: there is none yet. */
uint32_t shapes__known(const struct shapes *shapes, enum shape_kind kind, uint32_t symbol);
/* The choice with that head. Its items have room, so that they may be added. */
uint32_t shapes__find_choice(struct shapes *shapes, uint32_t head);
/* Where the iterations of the sequence are counted, which becomes the choice's alternative if there
 * is room, else where its others are. Gives the sequence that they are counted for. */
uint32_t shapes__find_alternative(struct shapes *shapes, uint32_t choice, uint32_t *sequence);
/* SHAPE_NONE: it is no alternative. */
uint32_t shapes__place(const struct shapes *shapes, uint32_t sequence);
/* There is no room for another alternative but other. */
bool shapes__is_full_choice(const struct shapes *shapes, uint32_t choice);
/* Takes loops away that were found last, until so many shapes are left. */
void shapes__rewind(struct shapes *shapes, size_t count);

/* The shape of a symbol's occurrences with nothing in them. */
uint32_t shapes__find_leaf(struct shapes *shapes, uint32_t symbol);

static inline void shape_time__add(struct shape_time *time, uint64_t duration, uint64_t weight)
{
    if (!time->count || duration < time->min)
        time->min = duration;
    if (duration > time->max)
        time->max = duration;
    time->count += weight;
    time->sum += weight * duration;
}

static inline void shape_time__merge(struct shape_time *into, const struct shape_time *time)
{
    if (!time->count)
        return;
    if (!into->count || time->min < into->min)
        into->min = time->min;
    if (time->max > into->max)
        into->max = time->max;
    into->count += time->count;
    into->sum += time->sum;
}

static inline void shape_iterations__merge(struct shape_iterations *into,
                                           const struct shape_iterations *iterations)
{
    if (!iterations->sum)
        return;
    if (!into->sum || iterations->min < into->min)
        into->min = iterations->min;
    if (iterations->max > into->max)
        into->max = iterations->max;
    into->sum += iterations->sum;
}

static inline void shape_iterations__add(struct shape_iterations *iterations, uint64_t count)
{
    shape_iterations__merge(iterations,
                            &(struct shape_iterations){.sum = count, .min = count, .max = count});
}

#endif
