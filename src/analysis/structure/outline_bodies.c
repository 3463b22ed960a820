#include "analysis/structure/outline_bodies.h"

#include <stdlib.h>
#include <string.h>

#define UNTIDY_PARTS 16u
#define WORK_MAX (1u << 19) /* nodes that are moved to lay a row's bodies beside each other */
#define ALIGN_WINDOW 64u    /* items that are looked at for one of the same surface */
#define DENSE_FROM                                                                \
    0.8 /* of a loop's time is in its iterations: else these are no measure of it \
         */

/* ---- kinds of shapes: all that is to be known of them is here -------------------------------- */

/* A choice is shown as a loop whose iterations differ: of the alternatives' bodies beside each
 * other. */
static bool is_loop(const struct shape *shape)
{
    return shape->kind == SHAPE_LOOP || shape->kind == SHAPE_CHOICE;
}

enum outline_kind shape__row_kind(const struct shape *shape)
{
    return is_loop(shape) ? OUTLINE_LOOP : OUTLINE_OCCURRENCE;
}

uint32_t outline_shapes__surface(struct outline_shapes *known, uint32_t shape)
{
    uint32_t *surface = VEC_AT(&known->surfaces, uint32_t, shape);
    if (!*surface)
        *surface = shapes__cut(known->shapes, shape, 0) + 1;
    return *surface - 1;
}

static uint64_t whole_sum(struct outline_shapes *known, uint32_t shape)
{
    const struct shape *what = shapes__get(known->shapes, shape);
    return is_loop(what) ? *VEC_AT(&known->loop_sums, uint64_t, shape) : what->time.sum;
}

static uint64_t bodies_of(const struct shape *shape, const struct shape_item *item)
{
    return is_loop(shape) ? item->iterations.sum : item->time.count;
}

/* Zeroes, one a shape. */
static struct vec one_a_shape(const struct shapes *shapes, size_t bytes)
{
    struct vec vec = {.item_bytes = bytes};
    size_t count = shapes__count(shapes);
    if (count)
        memset(vec__extend(&vec, count), 0, count * bytes);
    return vec;
}

/* An item is once in each body, unless it stands for several. */
static void look_at(struct outline_shapes *known, uint32_t number)
{
    const struct shape *shape = shapes__get(known->shapes, number);
    const struct shape_item *items = shapes__items(known->shapes, number);
    for (uint32_t i = 0; i < shape->item_count; i++) {
        known->is_sampled |= items[i].time.count > shape->time.count;
        if (is_loop(shapes__get(known->shapes, items[i].shape)))
            *VEC_AT(&known->loop_sums, uint64_t, items[i].shape) += items[i].time.sum;
    }
}

/* Surfaces are shapes, too; there may be more of them afterwards, and nobody asks for theirs. */
void outline_shapes__start(struct outline_shapes *known, struct shapes *shapes)
{
    uint32_t count = (uint32_t)shapes__count(shapes);
    *known = (struct outline_shapes){.shapes = shapes,
                                     .loop_sums = one_a_shape(shapes, sizeof(uint64_t)),
                                     .surfaces = one_a_shape(shapes, sizeof(uint32_t))};
    for (uint32_t i = 0; i < count; i++)
        look_at(known, i);
}

void outline_shapes__free(struct outline_shapes *known)
{
    vec__free(&known->loop_sums);
    vec__free(&known->surfaces);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static uint64_t scaled(uint64_t value, uint64_t part, uint64_t whole)
{
    if (part == whole || !whole)
        return value;
    return (uint64_t)((unsigned __int128)value * part / whole);
}

/* What is there is there once at least. */
static uint64_t scaled_count(uint64_t count, uint64_t part, uint64_t whole)
{
    uint64_t some = scaled(count, part, whole);
    return count && !some ? 1 : some;
}

/* What all iterations of a loop lost. Iterations of a choice: over the fastest of the same
 * alternative. */
static uint64_t loop_excess(const struct shapes *shapes, uint32_t number)
{
    const struct shape *loop = shapes__get(shapes, number);
    uint64_t excess = 0;
    if (loop->kind == SHAPE_LOOP)
        return shape__excess(loop);
    for (uint32_t i = 0; i < loop->item_count; i++)
        excess += shape_item__excess(shapes, &shapes__items(shapes, number)[i]);
    return excess;
}

/* An item of a shape of which all occurrences are there. */
static struct outline_part whole_part(struct outline_shapes *known, const struct shape_item *item)
{
    const struct shapes *shapes = known->shapes;
    const struct shape *shape = shapes__get(shapes, item->shape);
    struct outline_part part = {.shape = item->shape,
                                .bodies = bodies_of(shape, item),
                                .time = item->time,
                                .iterations = item->iterations,
                                .excess = shape_item__excess(shapes, item)};
    if (!is_loop(shape))
        return part;
    part.is_excess_estimated = part.bodies != shape->time.count;
    part.excess =
        scaled(loop_excess(shapes, item->shape), item->time.sum, whole_sum(known, item->shape));
    bool is_dense = (double)shape->time.sum >= DENSE_FROM * (double)whole_sum(known, item->shape);
    part.time.min = is_dense ? shape->time.min : UINT64_MAX;
    part.time.max = is_dense ? shape->time.max : UINT64_MAX;
    return part;
}

/* The item in the bodies of outer alone. */
static struct outline_part part_in(struct outline_shapes *known, const struct outline_part *outer,
                                   const struct shape_item *item)
{
    struct outline_part part = whole_part(known, item);
    uint64_t all = shapes__get(known->shapes, outer->shape)->time.count;
    part.roots = outer->roots;
    part.is_estimated = outer->is_estimated || outer->bodies != all;
    bool varies = part.iterations.min != part.iterations.max ||
                  shapes__get(known->shapes, outer->shape)->kind == SHAPE_CHOICE;
    part.is_count_estimated = outer->is_count_estimated || (part.is_estimated && varies);
    part.is_excess_estimated |= part.is_estimated;
    if (outer->bodies == all)
        return part;
    uint64_t sum = whole_sum(known, outer->shape);
    part.bodies = scaled_count(part.bodies, outer->bodies, all);
    part.time.count = scaled_count(part.time.count, outer->bodies, all);
    part.iterations.sum = scaled_count(part.iterations.sum, outer->bodies, all);
    part.time.sum = scaled(part.time.sum, outer->time.sum, sum);
    part.excess = scaled(part.excess, outer->time.sum, sum);
    return part;
}

static uint64_t lesser(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

static uint64_t greater(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

/* What both stand for. */
static void part__join(struct outline_part *part, const struct outline_part *other)
{
    part->roots |= other->roots;
    part->bodies += other->bodies;
    part->time.count += other->time.count;
    part->time.sum += other->time.sum;
    part->time.min =
        part->time.max == UINT64_MAX ? UINT64_MAX : lesser(part->time.min, other->time.min);
    part->time.max = greater(part->time.max, other->time.max);
    part->iterations.sum += other->iterations.sum;
    part->iterations.min = lesser(part->iterations.min, other->iterations.min);
    part->iterations.max = greater(part->iterations.max, other->iterations.max);
    part->excess += other->excess;
    part->is_count_estimated |= other->is_count_estimated;
    part->is_estimated |= other->is_estimated;
    part->is_excess_estimated |= other->is_excess_estimated;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static int by_shape(const void *left, const void *right)
{
    uint32_t one = ((const struct outline_part *)left)->shape,
             other = ((const struct outline_part *)right)->shape;
    return ORDER(one, other);
}

/* No two parts are of one shape from here on, and they stand by it. */
void node__tidy(struct outline_node *node)
{
    struct outline_part *parts = node->parts.items;
    size_t kept = 0, count = node->parts.count;
    if (node->tidy == count)
        return;
    qsort(parts, count, sizeof *parts, by_shape);
    for (size_t i = 1; i < count; i++)
        if (parts[i].shape == parts[kept].shape)
            part__join(&parts[kept], &parts[i]);
        else
            parts[++kept] = parts[i];
    node->parts.count = node->tidy = kept + 1;
}

void node__add(struct outline_node *node, const struct outline_part *part)
{
    vec__push(&node->parts, part);
    if (node->parts.count > 2 * node->tidy + UNTIDY_PARTS)
        node__tidy(node);
}

void node__join(struct outline_node *node, const struct outline_node *other)
{
    VEC_EACH (part, &other->parts, struct outline_part)
        node__add(node, part);
}

struct outline_part node__all(const struct outline_node *node)
{
    struct outline_part all = *VEC_AT(&node->parts, struct outline_part, 0);
    for (size_t i = 1; i < node->parts.count; i++)
        part__join(&all, VEC_AT(&node->parts, struct outline_part, i));
    return all;
}

uint64_t node__sum(const struct outline_node *node)
{
    uint64_t sum = 0;
    VEC_EACH (part, &node->parts, struct outline_part)
        sum += part->time.sum;
    return sum;
}

void nodes__free(struct vec *nodes)
{
    VEC_EACH (node, nodes, struct outline_node)
        vec__free(&node->parts);
    vec__free(nodes);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Neighbours with one surface are one node. */
static void append(struct vec *nodes, uint32_t surface, const struct outline_part *part)
{
    struct outline_node *last =
        nodes->count ? VEC_AT(nodes, struct outline_node, nodes->count - 1) : NULL;
    if (last && last->surface == surface) {
        node__add(last, part);
        return;
    }
    struct outline_node node = {.surface = surface, .parts = VEC_OF(struct outline_part)};
    vec__push(&node.parts, part);
    vec__push(nodes, &node);
}

static void append_alternatives(struct outline_shapes *known, struct vec *nodes,
                                const struct outline_part *choice);

/* The items of a part's body. A loop that ran once there is what it consists of. */
static void append_body(struct outline_shapes *known, struct vec *nodes,
                        const struct outline_part *part)
{
    const struct shapes *shapes = known->shapes;
    uint32_t count = shapes__get(shapes, part->shape)->item_count;
    if (shapes__get(shapes, part->shape)->kind == SHAPE_CHOICE) {
        append_alternatives(known, nodes, part);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t shape = shapes__items(shapes, part->shape)[i].shape;
        uint32_t surface = outline_shapes__surface(known, shape);
        struct outline_part item = part_in(known, part, &shapes__items(shapes, part->shape)[i]);
        if (is_loop(shapes__get(shapes, shape)) && item.iterations.max == 1)
            append_body(known, nodes, &item);
        else
            append(nodes, surface, &item);
    }
}

/* The next node of that surface, from first on; nodes->count: there is none near. */
static size_t find_surface(const struct vec *nodes, size_t first, uint32_t surface)
{
    size_t end = lesser(nodes->count, first + ALIGN_WINDOW);
    for (size_t i = first; i < end; i++)
        if (VEC_AT(nodes, struct outline_node, i)->surface == surface)
            return i;
    return nodes->count;
}

static void move_nodes(struct vec *to, const struct vec *from, size_t *at, size_t end)
{
    while (*at < end)
        vec__push(to, VEC_AT(from, struct outline_node, (*at)++));
}

/* Lays other beside nodes; takes over both. Between two that are in both, those of nodes come
 * first. */
static struct vec lay_beside(struct vec *nodes, struct vec *other)
{
    struct vec both = VEC_OF(struct outline_node);
    size_t at = 0, held = 0;
    for (size_t i = 0; i < other->count; i++) {
        struct outline_node *node = VEC_AT(other, struct outline_node, i);
        size_t found = find_surface(nodes, at, node->surface);
        if (found == nodes->count)
            continue;
        move_nodes(&both, nodes, &at, found);
        move_nodes(&both, other, &held, i);
        struct outline_node *joined = vec__push(&both, VEC_AT(nodes, struct outline_node, at++));
        node__join(joined, node);
        vec__free(&node->parts);
        held = i + 1;
    }
    move_nodes(&both, nodes, &at, nodes->count);
    move_nodes(&both, other, &held, other->count);
    vec__free(nodes);
    vec__free(other);
    return both;
}

/* Of a choice with one iteration they stand behind what is there. */
static void append_alternatives(struct outline_shapes *known, struct vec *nodes,
                                const struct outline_part *choice)
{
    const struct shapes *shapes = known->shapes;
    struct vec all = VEC_OF(struct outline_node);
    for (uint32_t i = 0; i < shapes__get(shapes, choice->shape)->item_count; i++) {
        struct vec body = VEC_OF(struct outline_node);
        struct outline_part sequence =
            part_in(known, choice, &shapes__items(shapes, choice->shape)[i]);
        append_body(known, &body, &sequence);
        all = lay_beside(&all, &body);
    }
    size_t at = 0;
    move_nodes(nodes, &all, &at, all.count);
    vec__free(&all);
}

static int by_time(const void *left, const void *right)
{
    const struct outline_part *one = left, *other = right;
    return ORDER(other->time.sum, one->time.sum) ?: by_shape(left, right);
}

struct vec node__body(struct outline_shapes *known, struct outline_node *node, size_t *left_out)
{
    struct vec nodes = VEC_OF(struct outline_node);
    size_t count = node->parts.count, looked_at = 0;
    if (count > 1)
        qsort(node->parts.items, count, sizeof(struct outline_part), by_time);
    for (size_t work = 0; looked_at < count && work < WORK_MAX; looked_at++) {
        struct vec body = VEC_OF(struct outline_node);
        append_body(known, &body, VEC_AT(&node->parts, struct outline_part, looked_at));
        work += nodes.count + body.count;
        nodes = lay_beside(&nodes, &body);
    }
    *left_out = count - looked_at;
    VEC_EACH (child, &nodes, struct outline_node)
        node__tidy(child);
    return nodes;
}
