#include "analysis/callsite/signature.h"

#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define PERIOD_MOST 8u        /* items of what is repeated */
#define ITEMS_MOST 24u        /* of a nest, what is repeated counted once */
#define NESTS_MOST (1u << 16) /* of those that have items */

struct nests {
    struct vec nests;   /* struct nest */
    struct vec items;   /* uint32_t: what is in each nest, one's behind the other's */
    struct vec key;     /* uint32_t: of the nest that is looked up */
    struct map numbers; /* place, irregular, nests of the items -> number */
    struct vec bare;    /* uint32_t: by place, its nest without items, or NEST_NONE */
    struct vec last; /* uint32_t: by place, its nest with items that was found last, or NEST_NONE */
};

struct nests *nests__new(void)
{
    struct nests *nests = memory__zeroed(1, sizeof *nests);
    nests->nests = VEC_OF(struct nest);
    nests->items = VEC_OF(uint32_t);
    nests->key = VEC_OF(uint32_t);
    nests->bare = VEC_OF(uint32_t);
    nests->last = VEC_OF(uint32_t);
    return nests;
}

void nests__free(struct nests *nests)
{
    if (!nests)
        return;
    vec__free(&nests->nests);
    vec__free(&nests->items);
    vec__free(&nests->key);
    map__free(&nests->numbers);
    vec__free(&nests->bare);
    vec__free(&nests->last);
    free(nests);
}

static struct nest *nest_at(const struct nests *nests, uint32_t nest)
{
    return VEC_AT(&nests->nests, struct nest, nest);
}

const struct nest *nests__get(const struct nests *nests, uint32_t nest)
{
    return nest_at(nests, nest);
}

const uint32_t *nests__items(const struct nests *nests, uint32_t nest)
{
    return VEC_AT(&nests->items, uint32_t, nest_at(nests, nest)->first_item);
}

/* ---- finding --------------------------------------------------------------------------------- */

static uint8_t height_of(const struct nests *nests, const struct vec *items)
{
    uint8_t height = 0;
    VEC_EACH (item, items, struct nest_item) {
        uint8_t inside = nest_at(nests, item->nest)->height;
        height = inside >= height ? inside + 1 : height;
    }
    return height;
}

static uint32_t add_nest(struct nests *nests, uint32_t place, bool irregular,
                         const struct vec *items)
{
    struct nest nest = {.place = place,
                        .first_item = (uint32_t)nests->items.count,
                        .item_count = (uint32_t)items->count,
                        .height = irregular ? 1 : height_of(nests, items),
                        .is_irregular = irregular};
    for (unsigned i = 0; i < NEST_DEPTH; i++)
        nest.cut[i] = NEST_NONE;
    VEC_EACH (item, items, struct nest_item)
        vec__push(&nests->items, &item->nest);
    vec__push(&nests->nests, &nest);
    return (uint32_t)nests->nests.count - 1;
}

static const struct vec no_items = {.item_bytes = sizeof(struct nest_item)};

/* The nest of a place with these items; irregular: whatever they are. */
static uint32_t find(struct nests *nests, uint32_t place, bool irregular, const struct vec *items)
{
    const uint32_t head[2] = {place, irregular};
    nests->key.count = 0;
    memcpy(vec__extend(&nests->key, 2), head, sizeof head);
    VEC_EACH (item, items, struct nest_item)
        vec__push(&nests->key, &item->nest);
    size_t bytes = nests->key.count * sizeof(uint32_t);
    uint64_t known = map__get(&nests->numbers, nests->key.items, bytes);
    if (known != MAP_ABSENT)
        return (uint32_t)known;
    if (items->count && nests->nests.count >= NESTS_MOST)
        return find(nests, place, true, &no_items);
    map__put(&nests->numbers, nests->key.items, bytes, nests->nests.count);
    return add_nest(nests, place, irregular, items);
}

uint32_t *nests__join(struct nests *nests, const struct nests *others, const uint32_t *places)
{
    uint32_t *joined = memory__zeroed(others->nests.count, sizeof *joined);
    struct vec items = VEC_OF(struct nest_item);
    for (uint32_t i = 0; i < others->nests.count; i++) {
        const struct nest *nest = nest_at(others, i);
        items.count = 0;
        for (uint32_t k = 0; k < nest->item_count; k++)
            vec__push(&items, &(struct nest_item){.nest = joined[nests__items(others, i)[k]]});
        uint32_t place = places ? places[nest->place] : nest->place;
        joined[i] = find(nests, place, nest->is_irregular, &items);
    }
    vec__free(&items);
    return joined;
}

static bool are_equal(const struct nest_item *left, const struct nest_item *right, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (left[i].nest != right[i].nest)
            return false;
    return true;
}

/* Whether it is the last one once more, which is then counted: as most often. */
static inline bool repeats_last(struct vec *items, const struct nest_item *item)
{
    struct nest_item *last =
        items->count ? VEC_AT(items, struct nest_item, items->count - 1) : NULL;
    if (!last || last->nest != item->nest)
        return false;
    last->least += item->least;
    last->most += item->most;
    return true;
}

void nest_items__append(struct vec *items, const struct nest_item *item)
{
    if (repeats_last(items, item))
        return;
    vec__push(items, item);
    for (size_t period = 2; period <= PERIOD_MOST && 2 * period <= items->count; period++) {
        struct nest_item *last = VEC_AT(items, struct nest_item, items->count - period);
        if (!are_equal(last - period, last, period))
            continue;
        for (size_t i = 0; i < period; i++) {
            last[i - period].least += last[i].least;
            last[i - period].most += last[i].most;
        }
        items->count -= period;
        return;
    }
}

static uint32_t *number_at(struct vec *numbers, uint32_t place)
{
    while (numbers->count <= place)
        vec__push(numbers, &(uint32_t){NEST_NONE});
    return VEC_AT(numbers, uint32_t, place);
}

uint32_t nests__bare(struct nests *nests, uint32_t place)
{
    uint32_t *bare = number_at(&nests->bare, place);
    if (*bare == NEST_NONE)
        *bare = find(nests, place, false, &no_items);
    return *bare;
}

static bool consists_of(const struct nests *nests, uint32_t nest, const struct vec *items)
{
    const uint32_t *known = nests__items(nests, nest);
    const struct nest_item *wanted = items->items;
    if (nest_at(nests, nest)->item_count != items->count)
        return false;
    for (size_t i = 0; i < items->count; i++)
        if (known[i] != wanted[i].nest)
            return false;
    return true;
}

/* Mostly it is the one of the last time. */
static uint32_t find_again(struct nests *nests, uint32_t place, const struct vec *items)
{
    uint32_t *last = number_at(&nests->last, place);
    if (*last != NEST_NONE && consists_of(nests, *last, items))
        return *last;
    uint32_t found = find(nests, place, false, items);
    if (nest_at(nests, found)->item_count == items->count)
        *last = found;
    return found;
}

static uint32_t find_cut(struct nests *nests, uint32_t nest, unsigned depth)
{
    const struct nest whole = *nest_at(nests, nest);
    struct vec items = VEC_OF(struct nest_item);
    for (uint32_t i = 0; depth && i < whole.item_count; i++) {
        uint32_t inside = nests__items(nests, nest)[i];
        const struct nest_item item = {.nest = nests__cut(nests, inside, depth - 1)};
        nest_items__append(&items, &item);
    }
    uint32_t cut = find(nests, whole.place, false, &items);
    vec__free(&items);
    return cut;
}

static inline uint32_t cut_of(struct nests *nests, uint32_t nest, unsigned depth)
{
    const struct nest *whole = nest_at(nests, nest);
    if (depth >= whole->height)
        return nest;
    if (whole->cut[depth] != NEST_NONE)
        return whole->cut[depth];
    uint32_t cut = find_cut(nests, nest, depth);
    nest_at(nests, nest)->cut[depth] = cut;
    return cut;
}

uint32_t nests__cut(struct nests *nests, uint32_t nest, unsigned depth)
{
    return cut_of(nests, nest, depth);
}

/* ---- one thread ------------------------------------------------------------------------------ */

/* What ended so deep, and not yet in what encloses it. */
struct level {
    struct vec items;  /* struct nest_item */
    bool is_irregular; /* too many different ones: none is kept */
};

struct nest_walk {
    struct nests *nests;
    struct vec levels;  /* struct level, by depth */
    struct vec closed;  /* struct nest_item */
    uint32_t deepest_1; /* levels from there on are empty */
};

struct nest_walk *nest_walk__new(struct nests *nests)
{
    struct nest_walk *walk = memory__zeroed(1, sizeof *walk);
    walk->nests = nests;
    walk->levels = VEC_OF(struct level);
    walk->closed = VEC_OF(struct nest_item);
    return walk;
}

void nest_walk__free(struct nest_walk *walk)
{
    if (!walk)
        return;
    VEC_EACH (level, &walk->levels, struct level)
        vec__free(&level->items);
    vec__free(&walk->levels);
    vec__free(&walk->closed);
    free(walk);
}

static struct level *level_at(struct nest_walk *walk, uint32_t depth)
{
    while (walk->levels.count <= depth)
        vec__push(&walk->levels, &(struct level){.items = VEC_OF(struct nest_item)});
    return VEC_AT(&walk->levels, struct level, depth);
}

static void empty(struct level *level)
{
    level->items.count = 0;
    level->is_irregular = false;
}

static void empty_from(struct nest_walk *walk, uint32_t depth)
{
    for (uint32_t i = depth; i < walk->deepest_1; i++)
        empty(level_at(walk, i));
    walk->deepest_1 = depth;
}

static void append(struct nest_walk *walk, const struct nested *nested, uint32_t nest)
{
    struct level *level = level_at(walk, nested->depth);
    if (walk->deepest_1 <= nested->depth)
        walk->deepest_1 = nested->depth + 1;
    if (level->is_irregular)
        return;
    const struct nest_item item = {cut_of(walk->nests, nest, NEST_DEPTH - 1), 1, 1};
    nest_items__append(&level->items, &item);
    level->is_irregular = level->items.count > ITEMS_MOST;
}

/* What is deeper than the body was in spans without an end, and is of no nest. */
static uint32_t close(struct nest_walk *walk, const struct nested *nested, const struct vec **items)
{
    uint32_t nest;
    *items = &no_items;
    if (walk->deepest_1 <= nested->depth + 1)
        return nests__bare(walk->nests, nested->place);
    struct level *body = level_at(walk, nested->depth + 1);
    if (body->is_irregular) {
        nest = find(walk->nests, nested->place, true, &no_items);
        *items = NULL;
    } else {
        struct vec taken = body->items;
        nest = find_again(walk->nests, nested->place, &taken);
        body->items = walk->closed;
        walk->closed = taken;
        *items = nests__get(walk->nests, nest)->is_irregular ? NULL : &walk->closed;
    }
    empty_from(walk, nested->depth + 1);
    return nest;
}

void nest_walk__forget(struct nest_walk *walk)
{
    empty_from(walk, 0);
}

/* What most occurrences are: nothing was in it, as in the one before it. Its nest, or NEST_NONE. */
static inline uint32_t end_again(struct nest_walk *walk, const struct nested *nested)
{
    const struct vec *bare = &walk->nests->bare;
    if (walk->deepest_1 != nested->depth + 1 || nested->place >= bare->count)
        return NEST_NONE;
    const struct nest_item item = {*VEC_AT(bare, uint32_t, nested->place), 1, 1};
    struct level *level = VEC_AT(&walk->levels, struct level, nested->depth);
    return !level->is_irregular && repeats_last(&level->items, &item) ? item.nest : NEST_NONE;
}

uint32_t nest_walk__end(struct nest_walk *walk, const struct nested *nested,
                        const struct vec **items)
{
    uint32_t again = nested->counts ? end_again(walk, nested) : NEST_NONE;
    if (again != NEST_NONE) {
        *items = &no_items;
        return again;
    }
    uint32_t nest = close(walk, nested, items);
    if (nested->counts)
        append(walk, nested, nest);
    return nest;
}
