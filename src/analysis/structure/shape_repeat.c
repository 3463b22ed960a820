#include "analysis/structure/shape_draft.h"

#include "analysis/structure/shape_table.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void draft__start(struct draft *draft, struct shapes *shapes)
{
    *draft = (struct draft){.shapes = shapes,
                            .body = VEC_OF(uint32_t),
                            .known = VEC_OF(struct known),
                            .iterations = VEC_OF(struct shape_iteration)};
}

void draft__free(struct draft *draft)
{
    for (unsigned i = 0; i < REPEAT_SIZES; i++) {
        while (draft->spare[i]) {
            struct repeat *spare = draft->spare[i];
            draft->spare[i] = spare->parent;
            free(spare);
        }
    }
    vec__free(&draft->body);
    vec__free(&draft->known);
    vec__free(&draft->iterations);
}

/* ---- their memory ---------------------------------------------------------------------------- */

static unsigned size_of(uint32_t item_count)
{
    unsigned size = 0;
    while ((1u << size) < item_count)
        size++;
    return size;
}

static struct repeat *take_spare(struct draft *draft, unsigned size)
{
    struct repeat *repeat = draft->spare[size];
    if (repeat) {
        draft->spare[size] = repeat->parent;
        return repeat;
    }
    size_t items = (size_t)1 << size;
    return memory__zeroed(1, sizeof *repeat + items * sizeof(struct body_place) +
                                 2 * items * sizeof(struct node));
}

static struct repeat *make_repeat(struct draft *draft, uint32_t item_count)
{
    unsigned size = size_of(item_count);
    struct repeat *repeat = take_spare(draft, size);
    struct body_place *places = (struct body_place *)(repeat + 1);
    struct node *nodes = (struct node *)(places + ((size_t)1 << size));
    *repeat = (struct repeat){.item_count = item_count,
                              .instance = draft->instances++,
                              .places = places,
                              .last = nodes,
                              .iteration = nodes + ((size_t)1 << size)};
    memset(places, 0, item_count * sizeof *places);
    return repeat;
}

/* Its block is as large as its item_count was when it was made; promoting makes that less. */
static void give_back(struct draft *draft, struct repeat *repeat)
{
    const char *first = (const char *)repeat->places;
    const char *nodes =
        (const char *)(repeat->last < repeat->iteration ? repeat->last : repeat->iteration);
    unsigned size = size_of((uint32_t)((size_t)(nodes - first) / sizeof(struct body_place)));
    repeat->parent = draft->spare[size];
    draft->spare[size] = repeat;
}

struct repeat *repeat__new(struct draft *draft, uint32_t loop)
{
    struct repeat *repeat = make_repeat(draft, shape_at(draft->shapes, loop)->item_count);
    const struct shape_item *items = shape_items(draft->shapes, loop);
    repeat->shape = loop;
    for (uint32_t i = 0; i < repeat->item_count; i++)
        repeat->places[i].shape = items[i].shape;
    return repeat;
}

void node__free(struct draft *draft, struct node *node)
{
    repeat__free(draft, node->repeat);
    node->repeat = NULL;
}

void repeat__free(struct draft *draft, struct repeat *repeat)
{
    if (!repeat)
        return;
    for (uint32_t i = 0; i < repeat->item_count; i++)
        repeat__free(draft, repeat->places[i].loops);
    for (uint32_t i = 0; repeat->has_last && i < repeat->item_count; i++)
        node__free(draft, &repeat->last[i]);
    for (uint32_t i = 0; i < repeat->filled; i++)
        node__free(draft, &repeat->iteration[i]);
    give_back(draft, repeat);
}

/* ---- iterations ------------------------------------------------------------------------------ */

struct node repeat__node(const struct repeat *repeat)
{
    uint64_t end = repeat->has_last ? repeat->last[repeat->item_count - 1].end : repeat->end;
    return (struct node){.shape = repeat->shape,
                         .weight = 1,
                         .start = repeat->start,
                         .end = end,
                         .duration = end - repeat->start,
                         .repeat = (struct repeat *)repeat};
}

static void merge(struct draft *draft, struct repeat *into, struct repeat *more)
{
    into->iteration_count += more->iteration_count;
    shape_time__merge(&into->time, &more->time);
    for (uint32_t i = 0; i < into->item_count; i++) {
        struct body_place *place = &into->places[i], *other = &more->places[i];
        shape_time__merge(&place->time, &other->time);
        shape_iterations__merge(&place->iterations, &other->iterations);
        place->starts += other->starts;
        place->ends += other->ends;
        if (place->loops && other->loops)
            merge(draft, place->loops, other->loops);
        else if (other->loops)
            place->loops = other->loops;
        other->loops = NULL;
    }
    more->has_last = false;
    more->filled = 0;
    give_back(draft, more);
}

/* The node of an iteration goes to its place. */
static void commit(struct draft *draft, struct body_place *place, struct node *node, uint64_t since)
{
    shape_time__add(&place->time, node->duration, node->weight);
    place->starts += node->start - since;
    place->ends += node->end - since;
    if (node->iterations)
        shape_iterations__add(&place->iterations, node->iterations);
    if (!node->repeat)
        return;
    shape_iterations__add(&place->iterations, node->repeat->iteration_count);
    repeat__seal(draft, node->repeat);
    if (place->loops)
        merge(draft, place->loops, node->repeat);
    else
        place->loops = node->repeat;
    node->repeat = NULL;
}

void draft__note_iteration(struct draft *draft, const struct shape_iteration *iteration)
{
    if (draft->tell && draft->depth <= draft->told_depth)
        vec__push(&draft->iterations, iteration);
}

static void note_iteration(struct draft *draft, struct repeat *repeat, uint64_t start, uint64_t end)
{
    const struct shape_iteration iteration = {.loop = repeat->shape,
                                              .alternative = SHAPE_NONE,
                                              .depth = draft->depth,
                                              .first = !repeat->told,
                                              .instance = repeat->instance,
                                              .start = start,
                                              .end = end};
    repeat->told = true;
    draft__note_iteration(draft, &iteration);
}

static int by_end(const void *left, const void *right)
{
    const struct shape_iteration *one = left, *other = right;
    return ORDER(one->end, other->end) ?: ORDER(other->start, one->start);
}

/* As most often. */
static bool are_in_order(const struct vec *iterations)
{
    for (size_t i = 1; i < iterations->count; i++) {
        const struct shape_iteration *iteration = VEC_AT(iterations, struct shape_iteration, i);
        if (by_end(iteration - 1, iteration) > 0)
            return false;
    }
    return true;
}

void draft__tell(struct draft *draft)
{
    if (!are_in_order(&draft->iterations))
        vec__sort(&draft->iterations, by_end);
    VEC_EACH (iteration, &draft->iterations, struct shape_iteration)
        draft->tell(draft->context, iteration);
    draft->iterations.count = 0;
}

void repeat__seal(struct draft *draft, struct repeat *repeat)
{
    if (!repeat->has_last)
        return;
    uint64_t start = repeat->last[0].start, end = repeat->last[repeat->item_count - 1].end;
    shape_time__add(&repeat->time, end - start, 1);
    for (uint32_t i = 0; i < repeat->item_count; i++)
        commit(draft, &repeat->places[i], &repeat->last[i], start);
    repeat->end = end;
    repeat->has_last = false;
    note_iteration(draft, repeat, start, end);
}

void repeat__finish_iteration(struct draft *draft, struct repeat *repeat)
{
    repeat__seal(draft, repeat);
    struct node *whole = repeat->iteration;
    repeat->iteration = repeat->last;
    repeat->last = whole;
    repeat->has_last = true;
    repeat->filled = 0;
    if (!repeat->iteration_count++)
        repeat->start = whole[0].start;
}

void repeat__add_iteration(struct draft *draft, struct repeat *repeat, const struct node *nodes)
{
    memcpy(repeat->iteration, nodes, repeat->item_count * sizeof *nodes);
    repeat__finish_iteration(draft, repeat);
}

void repeat__append(struct draft *draft, struct repeat *repeat, struct repeat *more)
{
    repeat__seal(draft, repeat);
    if (more->has_last) {
        struct node *last = repeat->last;
        memcpy(last, more->last, repeat->item_count * sizeof *last);
        repeat->has_last = true;
        more->has_last = false;
    }
    if (more->time.count)
        repeat->end = more->end;
    merge(draft, repeat, more);
}

void repeat__pour(struct draft *draft, struct repeat *repeat)
{
    repeat__seal(draft, repeat);
    shape_time__merge(&shape_at(draft->shapes, repeat->shape)->time, &repeat->time);
    struct shape_item *items = shape_items(draft->shapes, repeat->shape);
    for (uint32_t i = 0; i < repeat->item_count; i++) {
        shape_time__merge(&items[i].time, &repeat->places[i].time);
        shape_iterations__merge(&items[i].iterations, &repeat->places[i].iterations);
        if (repeat->places[i].loops)
            repeat__pour(draft, repeat->places[i].loops);
    }
}

/* ---- what shows late to be a loop ------------------------------------------------------------ */

static bool stands_at(const struct repeat *repeat, uint32_t at, const uint32_t *body,
                      uint32_t period)
{
    for (uint32_t i = 0; i < period; i++)
        if (at + i >= repeat->item_count || repeat->places[at + i].shape != body[i])
            return false;
    return true;
}

/* Of the iterations only the sum is known. The least is not less than the parts' least together;
 * what passed between the parts is taken to be the same in all. */
static struct shape_time time_of_parts(const struct repeat *parts, uint64_t count, uint64_t sum)
{
    struct shape_time time = {.count = count, .sum = sum};
    uint64_t in_parts = 0, mean = count ? sum / count : 0;
    for (uint32_t i = 0; i < parts->item_count; i++) {
        time.min += parts->places[i].time.min;
        time.max += parts->places[i].time.max;
        in_parts += parts->places[i].time.sum;
    }
    if (sum > in_parts && count)
        time.max += (sum - in_parts + count - 1) / count;
    if (time.min > mean)
        time.min = mean;
    if (time.max < mean)
        time.max = mean;
    return time;
}

/* The places from at on, as many as loop has, become one place of that loop with one iteration
 * each. */
static void promote_at(struct draft *draft, struct repeat *repeat, uint32_t at, uint32_t loop)
{
    struct repeat *parts = repeat__new(draft, loop);
    uint64_t first = repeat->places[at].starts;
    uint64_t sum = repeat->places[at + parts->item_count - 1].ends - first;
    for (uint32_t i = 0; i < parts->item_count; i++) {
        parts->places[i] = repeat->places[at + i];
        parts->places[i].starts -= first;
        parts->places[i].ends -= first;
    }
    uint64_t count = repeat->time.count;
    parts->iteration_count = count;
    parts->time = time_of_parts(parts, count, sum);
    repeat->places[at] = (struct body_place){.shape = loop,
                                             .time = parts->time,
                                             .iterations = {.sum = count, .min = 1, .max = 1},
                                             .starts = first,
                                             .ends = first + sum,
                                             .loops = parts};
}

static void find_shape_again(struct draft *draft, struct repeat *repeat)
{
    struct vec *key = &draft->shapes->key;
    key->count = 0;
    for (uint32_t i = 0; i < repeat->item_count; i++)
        vec__push(key, &repeat->places[i].shape);
    repeat->shape = shapes__find(draft->shapes, SHAPE_LOOP, 0);
}

/* Whether the body stands somewhere in the loop. */
static bool contains_body(const struct shapes *shapes, uint32_t shape, const uint32_t *body,
                          uint32_t period)
{
    uint32_t count = shape_at(shapes, shape)->item_count;
    const struct shape_item *items = shape_items(shapes, shape);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t alike = 0;
        while (alike < period && i + alike < count && items[i + alike].shape == body[alike])
            alike++;
        if (alike == period || (shape_at(shapes, items[i].shape)->kind == SHAPE_LOOP &&
                                contains_body(shapes, items[i].shape, body, period)))
            return true;
    }
    return false;
}

static void promote_inside(struct draft *draft, struct repeat *repeat, uint32_t loop,
                           const uint32_t *body, uint32_t period)
{
    for (uint32_t i = 0; i < repeat->item_count; i++) {
        struct body_place *place = &repeat->places[i];
        struct repeat *last = repeat->has_last ? repeat->last[i].repeat : NULL;
        if (place->loops) {
            repeat__promote(draft, place->loops, loop, body, period);
            place->shape = place->loops->shape;
        }
        if (last) {
            repeat__promote(draft, last, loop, body, period);
            place->shape = repeat->last[i].shape = last->shape;
        }
    }
}

static struct node make_iteration(struct draft *draft, uint32_t loop, const struct node *nodes)
{
    struct repeat *repeat = repeat__new(draft, loop);
    repeat__add_iteration(draft, repeat, nodes);
    return repeat__node(repeat);
}

void repeat__promote(struct draft *draft, struct repeat *repeat, uint32_t loop,
                     const uint32_t *body, uint32_t period)
{
    if (repeat->shape == loop || !contains_body(draft->shapes, repeat->shape, body, period))
        return;
    promote_inside(draft, repeat, loop, body, period);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < repeat->item_count; kept++) {
        bool stands = stands_at(repeat, i, body, period);
        if (stands)
            promote_at(draft, repeat, i, loop);
        repeat->places[kept] = repeat->places[i];
        if (repeat->has_last)
            repeat->last[kept] =
                stands ? make_iteration(draft, loop, &repeat->last[i]) : repeat->last[i];
        i += stands ? period : 1;
    }
    repeat->item_count = kept;
    find_shape_again(draft, repeat);
}

struct repeat *repeat__of_shape(struct draft *draft, uint32_t loop)
{
    struct repeat *repeat = repeat__new(draft, loop);
    repeat->iteration_count = 1;
    for (uint32_t i = 0; i < repeat->item_count; i++) {
        uint32_t shape = repeat->places[i].shape;
        if (shape_at(draft->shapes, shape)->kind == SHAPE_LOOP)
            repeat->places[i].loops = repeat__of_shape(draft, shape);
    }
    return repeat;
}
