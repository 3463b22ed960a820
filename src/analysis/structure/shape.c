#include "analysis/structure/shape.h"

#include "analysis/structure/shape_draft.h"
#include "analysis/structure/shape_table.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define LEAF_SYMBOLS (1u << 20) /* those below have a place of their own */

struct shapes *shapes__new(void)
{
    struct shapes *shapes = memory__zeroed(1, sizeof *shapes);
    shapes->shapes = VEC_OF(struct shape);
    shapes->items = VEC_OF(struct shape_item);
    shapes->hashes = VEC_OF(uint32_t);
    shapes->leaves = VEC_OF(uint32_t);
    shapes->places = VEC_OF(uint32_t);
    shapes->key = VEC_OF(uint32_t);
    return shapes;
}

void shapes__free(struct shapes *shapes)
{
    if (!shapes)
        return;
    vec__free(&shapes->shapes);
    vec__free(&shapes->items);
    vec__free(&shapes->hashes);
    vec__free(&shapes->leaves);
    vec__free(&shapes->places);
    vec__free(&shapes->key);
    free(shapes->slots);
    map__free(&shapes->others);
    map__free(&shapes->cut);
    free(shapes);
}

size_t shapes__count(const struct shapes *shapes)
{
    return shapes->shapes.count;
}

const struct shape *shapes__get(const struct shapes *shapes, uint32_t shape)
{
    return shape_at(shapes, shape);
}

const struct shape_item *shapes__items(const struct shapes *shapes, uint32_t shape)
{
    return shape_items(shapes, shape);
}

static uint64_t excess_of(const struct shape_time *time, uint64_t minimum)
{
    return time->sum - time->count * minimum;
}

uint64_t shape__excess(const struct shape *shape)
{
    return excess_of(&shape->time, shape->time.min);
}

uint64_t shape_item__excess(const struct shapes *shapes, const struct shape_item *item)
{
    const struct shape *shape = shape_at(shapes, item->shape);
    bool iterations = shape->kind == SHAPE_LOOP || shape->kind == SHAPE_CHOICE;
    return iterations ? 0 : excess_of(&item->time, shape->time.min);
}

/* ---- finding one ----------------------------------------------------------------------------- */

bool shapes__are_full(const struct shapes *shapes)
{
    return shapes->shapes.count >= SHAPES_MAX || shapes->items.count >= SHAPE_ITEMS_MAX;
}

/* Multiplied by 2^64 over the golden ratio, item by item (Knuth, vol. 3, 6.4). */
static uint32_t hash_of(enum shape_kind kind, uint32_t symbol, const struct vec *key)
{
    uint64_t hash = ((uint64_t)kind << 32 | symbol) * 0x9e3779b97f4a7c15ull;
    VEC_EACH (item, key, uint32_t)
        hash = ((hash ^ hash >> 29) + *item) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(hash >> 32);
}

static bool is_that(const struct shapes *shapes, uint32_t number, enum shape_kind kind,
                    uint32_t symbol)
{
    const struct shape *shape = shape_at(shapes, number);
    const uint32_t *key = shapes->key.items;
    if (shape->kind != kind || shape->symbol != symbol || shape->other)
        return false;
    if (kind == SHAPE_CHOICE)
        return true;
    if (shape->item_count != shapes->key.count)
        return false;
    const struct shape_item *items = shape_items(shapes, number);
    for (uint32_t i = 0; i < shape->item_count; i++)
        if (items[i].shape != key[i])
            return false;
    return true;
}

/* Where it is, or would be. */
static uint32_t *slot_of(const struct shapes *shapes, uint32_t hash, enum shape_kind kind,
                         uint32_t symbol)
{
    size_t mask = shapes->slot_count - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        uint32_t number = shapes->slots[i];
        if (number == SHAPE_NONE || (*VEC_AT(&shapes->hashes, uint32_t, number) == hash &&
                                     is_that(shapes, number, kind, symbol)))
            return &shapes->slots[i];
    }
}

static void grow(struct shapes *shapes)
{
    shapes->slot_count = shapes->slot_count ? shapes->slot_count * 2 : 64;
    shapes->slots = memory__resize(shapes->slots, shapes->slot_count, sizeof *shapes->slots);
    memset(shapes->slots, 0xff, shapes->slot_count * sizeof *shapes->slots);
    for (uint32_t number = 0; number < shapes->shapes.count; number++) {
        size_t i = *VEC_AT(&shapes->hashes, uint32_t, number) & (shapes->slot_count - 1);
        while (shapes->slots[i] != SHAPE_NONE)
            i = (i + 1) & (shapes->slot_count - 1);
        shapes->slots[i] = number;
    }
}

static uint32_t add_shape(struct shapes *shapes, const struct shape *shape, uint32_t hash)
{
    vec__push(&shapes->shapes, shape);
    vec__push(&shapes->hashes, &hash);
    return (uint32_t)shapes->shapes.count - 1;
}

static uint32_t find_other(struct shapes *shapes, enum shape_kind kind, uint32_t symbol)
{
    const uint32_t key[2] = {kind, symbol};
    uint32_t number = (uint32_t)map__put(&shapes->others, key, sizeof key, shapes->shapes.count);
    if (number == shapes->shapes.count)
        add_shape(shapes, &(struct shape){.kind = kind, .symbol = symbol, .other = true}, 0);
    return number;
}

uint32_t shapes__find(struct shapes *shapes, enum shape_kind kind, uint32_t symbol)
{
    if (shapes->shapes.count * 2 >= shapes->slot_count)
        grow(shapes);
    uint32_t hash = hash_of(kind, symbol, &shapes->key);
    uint32_t *slot = slot_of(shapes, hash, kind, symbol);
    if (*slot != SHAPE_NONE)
        return *slot;
    bool has_other = kind == SHAPE_OCCURRENCE || kind == SHAPE_SEQUENCE;
    if (has_other && shapes->key.count && shapes__are_full(shapes))
        return find_other(shapes, kind, symbol);
    const struct shape shape = {.kind = kind,
                                .symbol = symbol,
                                .first_item = (uint32_t)shapes->items.count,
                                .item_count = (uint32_t)shapes->key.count};
    VEC_EACH (item, &shapes->key, uint32_t)
        vec__push(&shapes->items, &(struct shape_item){.shape = *item});
    return *slot = add_shape(shapes, &shape, hash);
}

uint32_t shapes__known(const struct shapes *shapes, enum shape_kind kind, uint32_t symbol)
{
    if (!shapes->slot_count)
        return SHAPE_NONE;
    return *slot_of(shapes, hash_of(kind, symbol, &shapes->key), kind, symbol);
}

/* What was put in last fills a slot that was free when it came: emptying it leaves all as it was.
 */
void shapes__rewind(struct shapes *shapes, size_t count)
{
    size_t mask = shapes->slot_count - 1;
    while (shapes->shapes.count > count) {
        uint32_t number = (uint32_t)shapes->shapes.count - 1;
        size_t i = *VEC_AT(&shapes->hashes, uint32_t, number) & mask;
        while (shapes->slots[i] != number)
            i = (i + 1) & mask;
        shapes->slots[i] = SHAPE_NONE;
        shapes->items.count = shape_at(shapes, number)->first_item;
        shapes->shapes.count = shapes->hashes.count = number;
    }
}

/* ---- choices --------------------------------------------------------------------------------- */

uint32_t shapes__find_choice(struct shapes *shapes, uint32_t head)
{
    size_t known = shapes->shapes.count;
    shapes->key.count = 0;
    uint32_t choice = shapes__find(shapes, SHAPE_CHOICE, head);
    if (choice == known)
        memset(vec__extend(&shapes->items, SHAPE_ALTERNATIVES_MAX), 0,
               SHAPE_ALTERNATIVES_MAX * sizeof(struct shape_item));
    return choice;
}

bool shapes__is_full_choice(const struct shapes *shapes, uint32_t choice)
{
    return shape_at(shapes, choice)->item_count + 1 >= SHAPE_ALTERNATIVES_MAX ||
           shapes__are_full(shapes);
}

uint32_t shapes__place(const struct shapes *shapes, uint32_t sequence)
{
    bool is_told = sequence < shapes->places.count;
    return is_told ? *VEC_AT(&shapes->places, uint32_t, sequence) : SHAPE_NONE;
}

static uint32_t *place_of(struct shapes *shapes, uint32_t sequence)
{
    while (shapes->places.count <= sequence)
        vec__push(&shapes->places, &(uint32_t){SHAPE_NONE});
    return VEC_AT(&shapes->places, uint32_t, sequence);
}

uint32_t shapes__find_alternative(struct shapes *shapes, uint32_t choice, uint32_t *sequence)
{
    bool known = *sequence != SHAPE_NONE && *place_of(shapes, *sequence) != SHAPE_NONE;
    if (!known && (*sequence == SHAPE_NONE || shapes__is_full_choice(shapes, choice)))
        *sequence = find_other(shapes, SHAPE_SEQUENCE, shape_at(shapes, choice)->symbol);
    uint32_t *place = place_of(shapes, *sequence);
    if (*place == SHAPE_NONE) {
        *place = shape_at(shapes, choice)->item_count++;
        shape_items(shapes, choice)[*place].shape = *sequence;
    }
    return *place;
}

uint32_t shapes__find_leaf(struct shapes *shapes, uint32_t symbol)
{
    if (symbol < shapes->leaves.count && *VEC_AT(&shapes->leaves, uint32_t, symbol) != SHAPE_NONE)
        return *VEC_AT(&shapes->leaves, uint32_t, symbol);
    shapes->key.count = 0;
    uint32_t leaf = shapes__find(shapes, SHAPE_OCCURRENCE, symbol);
    if (symbol >= LEAF_SYMBOLS)
        return leaf;
    while (shapes->leaves.count <= symbol)
        vec__push(&shapes->leaves, &(uint32_t){SHAPE_NONE});
    return *VEC_AT(&shapes->leaves, uint32_t, symbol) = leaf;
}

/* ---- down to a depth ------------------------------------------------------------------------- */

/* The nodes' shapes become a loop's or an occurrence's, and the nodes are freed. */
static uint32_t find_folded(struct draft *draft, const struct shape *whole, struct node *nodes,
                            size_t count)
{
    count = draft__fold(draft, nodes, count);
    draft__set_key(draft, nodes, count);
    bool is_loop = whole->kind == SHAPE_LOOP && count == 1 && nodes[0].repeat;
    uint32_t shape =
        is_loop ? nodes[0].shape : shapes__find(draft->shapes, whole->kind, whole->symbol);
    for (size_t i = 0; i < count; i++)
        node__free(draft, &nodes[i]);
    return shape;
}

static uint32_t find_cut(struct shapes *shapes, uint32_t shape, unsigned depth)
{
    const struct shape whole = *shape_at(shapes, shape);
    bool is_level = whole.kind == SHAPE_OCCURRENCE;
    uint32_t count = is_level && depth == 0 ? 0 : whole.item_count;
    struct node *nodes = memory__zeroed(count + 1, sizeof *nodes);
    struct draft draft;
    draft__start(&draft, shapes);
    for (uint32_t i = 0; i < count; i++) {
        nodes[i].shape = shapes__cut(shapes, shape_items(shapes, shape)[i].shape, depth - is_level);
        if (shape_at(shapes, nodes[i].shape)->kind == SHAPE_LOOP)
            nodes[i].repeat = repeat__of_shape(&draft, nodes[i].shape);
    }
    uint32_t cut = find_folded(&draft, &whole, nodes, count);
    draft__free(&draft);
    free(nodes);
    return cut;
}

uint32_t shapes__cut(struct shapes *shapes, uint32_t shape, unsigned depth)
{
    const struct shape *whole = shape_at(shapes, shape);
    if (whole->kind == SHAPE_CHOICE)
        return shape;
    if (!whole->item_count && (!whole->other || depth))
        return shape;
    const uint32_t key[2] = {shape, depth};
    uint64_t known = map__get(&shapes->cut, key, sizeof key);
    if (known != MAP_ABSENT)
        return (uint32_t)known;
    uint32_t cut = find_cut(shapes, shape, depth);
    map__put(&shapes->cut, key, sizeof key, cut);
    return cut;
}
