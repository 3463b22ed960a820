#include "analysis/callsite/signature.h"

#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define PERIOD_MOST 8u        /* items of what is repeated */
#define ITEMS_MOST 24u        /* of a callee signature, what is repeated counted once */
#define NESTS_MOST (1u << 16) /* of those that have items */

struct callee_signatures {
    struct vec signatures; /* struct callee_signature */
    struct vec items;   /* uint32_t: what is in each callee signature, one's behind the other's */
    struct vec key;     /* uint32_t: of the callee signature that is looked up */
    struct map numbers; /* place, irregular, callee signatures of the items -> number */
    struct vec bare;    /* uint32_t: by place, its callee signature without items, or NEST_NONE */
    struct vec last; /* uint32_t: by place, its callee signature with items that was found last, or
                        NEST_NONE */
};

struct callee_signatures *callee_signatures__new(void)
{
    struct callee_signatures *signatures = memory__zeroed(1, sizeof *signatures);
    signatures->signatures = VEC_OF(struct callee_signature);
    signatures->items = VEC_OF(uint32_t);
    signatures->key = VEC_OF(uint32_t);
    signatures->bare = VEC_OF(uint32_t);
    signatures->last = VEC_OF(uint32_t);
    return signatures;
}

void callee_signatures__free(struct callee_signatures *signatures)
{
    if (!signatures)
        return;
    vec__free(&signatures->signatures);
    vec__free(&signatures->items);
    vec__free(&signatures->key);
    map__free(&signatures->numbers);
    vec__free(&signatures->bare);
    vec__free(&signatures->last);
    free(signatures);
}

static struct callee_signature *signature_at(const struct callee_signatures *signatures,
                                             uint32_t signature)
{
    return VEC_AT(&signatures->signatures, struct callee_signature, signature);
}

const struct callee_signature *callee_signatures__get(const struct callee_signatures *signatures,
                                                      uint32_t signature)
{
    return signature_at(signatures, signature);
}

const uint32_t *callee_signatures__items(const struct callee_signatures *signatures,
                                         uint32_t signature)
{
    return VEC_AT(&signatures->items, uint32_t, signature_at(signatures, signature)->first_item);
}

/* ---- finding --------------------------------------------------------------------------------- */

static uint8_t height_of(const struct callee_signatures *signatures, const struct vec *items)
{
    uint8_t height = 0;
    VEC_EACH (item, items, struct callee_item) {
        uint8_t inside = signature_at(signatures, item->signature)->height;
        height = inside >= height ? inside + 1 : height;
    }
    return height;
}

static uint32_t add_nest(struct callee_signatures *signatures, uint32_t place, bool irregular,
                         const struct vec *items)
{
    struct callee_signature signature = {.place = place,
                                         .first_item = (uint32_t)signatures->items.count,
                                         .item_count = (uint32_t)items->count,
                                         .height = irregular ? 1 : height_of(signatures, items),
                                         .is_irregular = irregular};
    for (unsigned i = 0; i < NEST_DEPTH; i++)
        signature.cut[i] = NEST_NONE;
    VEC_EACH (item, items, struct callee_item)
        vec__push(&signatures->items, &item->signature);
    vec__push(&signatures->signatures, &signature);
    return (uint32_t)signatures->signatures.count - 1;
}

static const struct vec no_items = {.item_bytes = sizeof(struct callee_item)};

/* The callee signature of a place with these items; irregular: whatever they are. */
static uint32_t find(struct callee_signatures *signatures, uint32_t place, bool irregular,
                     const struct vec *items)
{
    const uint32_t head[2] = {place, irregular};
    signatures->key.count = 0;
    memcpy(vec__extend(&signatures->key, 2), head, sizeof head);
    VEC_EACH (item, items, struct callee_item)
        vec__push(&signatures->key, &item->signature);
    size_t bytes = signatures->key.count * sizeof(uint32_t);
    uint64_t known = map__get(&signatures->numbers, signatures->key.items, bytes);
    if (known != MAP_ABSENT)
        return (uint32_t)known;
    if (items->count && signatures->signatures.count >= NESTS_MOST)
        return find(signatures, place, true, &no_items);
    map__put(&signatures->numbers, signatures->key.items, bytes, signatures->signatures.count);
    return add_nest(signatures, place, irregular, items);
}

uint32_t *callee_signatures__join(struct callee_signatures *signatures,
                                  const struct callee_signatures *others, const uint32_t *places)
{
    uint32_t *joined = memory__zeroed(others->signatures.count, sizeof *joined);
    struct vec items = VEC_OF(struct callee_item);
    for (uint32_t i = 0; i < others->signatures.count; i++) {
        const struct callee_signature *signature = signature_at(others, i);
        items.count = 0;
        for (uint32_t k = 0; k < signature->item_count; k++)
            vec__push(&items, &(struct callee_item){
                                  .signature = joined[callee_signatures__items(others, i)[k]]});
        uint32_t place = places ? places[signature->place] : signature->place;
        joined[i] = find(signatures, place, signature->is_irregular, &items);
    }
    vec__free(&items);
    return joined;
}

static bool are_equal(const struct callee_item *left, const struct callee_item *right, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (left[i].signature != right[i].signature)
            return false;
    return true;
}

/* Whether it is the last one once more, which is then counted: as most often. */
static inline bool repeats_last(struct vec *items, const struct callee_item *item)
{
    struct callee_item *last =
        items->count ? VEC_AT(items, struct callee_item, items->count - 1) : NULL;
    if (!last || last->signature != item->signature)
        return false;
    last->least += item->least;
    last->most += item->most;
    return true;
}

void callee_items__append(struct vec *items, const struct callee_item *item)
{
    if (repeats_last(items, item))
        return;
    *(struct callee_item *)vec__extend(items, 1) = *item;
    for (size_t period = 2; period <= PERIOD_MOST && 2 * period <= items->count; period++) {
        struct callee_item *last = VEC_AT(items, struct callee_item, items->count - period);
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

uint32_t callee_signatures__bare(struct callee_signatures *signatures, uint32_t place)
{
    uint32_t *bare = number_at(&signatures->bare, place);
    if (*bare == NEST_NONE)
        *bare = find(signatures, place, false, &no_items);
    return *bare;
}

static bool consists_of(const struct callee_signatures *signatures, uint32_t signature,
                        const struct vec *items)
{
    const uint32_t *known = callee_signatures__items(signatures, signature);
    const struct callee_item *wanted = items->items;
    if (signature_at(signatures, signature)->item_count != items->count)
        return false;
    for (size_t i = 0; i < items->count; i++)
        if (known[i] != wanted[i].signature)
            return false;
    return true;
}

/* Mostly it is the one of the last time. */
static uint32_t find_again(struct callee_signatures *signatures, uint32_t place,
                           const struct vec *items)
{
    uint32_t *last = number_at(&signatures->last, place);
    if (*last != NEST_NONE && consists_of(signatures, *last, items))
        return *last;
    uint32_t found = find(signatures, place, false, items);
    if (signature_at(signatures, found)->item_count == items->count)
        *last = found;
    return found;
}

static uint32_t find_cut(struct callee_signatures *signatures, uint32_t signature, unsigned depth)
{
    const struct callee_signature whole = *signature_at(signatures, signature);
    struct vec items = VEC_OF(struct callee_item);
    for (uint32_t i = 0; depth && i < whole.item_count; i++) {
        uint32_t inside = callee_signatures__items(signatures, signature)[i];
        const struct callee_item item = {.signature =
                                             callee_signatures__cut(signatures, inside, depth - 1)};
        callee_items__append(&items, &item);
    }
    uint32_t cut = find(signatures, whole.place, false, &items);
    vec__free(&items);
    return cut;
}

static inline uint32_t cut_of(struct callee_signatures *signatures, uint32_t signature,
                              unsigned depth)
{
    const struct callee_signature *whole = signature_at(signatures, signature);
    if (depth >= whole->height)
        return signature;
    if (whole->cut[depth] != NEST_NONE)
        return whole->cut[depth];
    uint32_t cut = find_cut(signatures, signature, depth);
    signature_at(signatures, signature)->cut[depth] = cut;
    return cut;
}

uint32_t callee_signatures__cut(struct callee_signatures *signatures, uint32_t signature,
                                unsigned depth)
{
    return cut_of(signatures, signature, depth);
}

/* ---- one thread ------------------------------------------------------------------------------ */

/* What ended so deep, and not yet in what encloses it. */
struct signature_level {
    struct vec items;  /* struct callee_item */
    bool is_irregular; /* too many different ones: none is kept */
};

struct callee_walk {
    struct callee_signatures *signatures;
    struct vec levels;  /* struct signature_level, by depth */
    struct vec closed;  /* struct callee_item */
    uint32_t deepest_1; /* levels from there on are empty */
};

struct callee_walk *callee_walk__new(struct callee_signatures *signatures)
{
    struct callee_walk *walk = memory__zeroed(1, sizeof *walk);
    walk->signatures = signatures;
    walk->levels = VEC_OF(struct signature_level);
    walk->closed = VEC_OF(struct callee_item);
    return walk;
}

void callee_walk__free(struct callee_walk *walk)
{
    if (!walk)
        return;
    VEC_EACH (level, &walk->levels, struct signature_level)
        vec__free(&level->items);
    vec__free(&walk->levels);
    vec__free(&walk->closed);
    free(walk);
}

static struct signature_level *level_at(struct callee_walk *walk, uint32_t depth)
{
    while (walk->levels.count <= depth)
        vec__push(&walk->levels, &(struct signature_level){.items = VEC_OF(struct callee_item)});
    return VEC_AT(&walk->levels, struct signature_level, depth);
}

static void empty(struct signature_level *level)
{
    level->items.count = 0;
    level->is_irregular = false;
}

static void empty_from(struct callee_walk *walk, uint32_t depth)
{
    for (uint32_t i = depth; i < walk->deepest_1; i++)
        empty(level_at(walk, i));
    walk->deepest_1 = depth;
}

static void append(struct callee_walk *walk, const struct nested *nested, uint32_t signature)
{
    struct signature_level *level = level_at(walk, nested->depth);
    if (walk->deepest_1 <= nested->depth)
        walk->deepest_1 = nested->depth + 1;
    if (level->is_irregular)
        return;
    const struct callee_item item = {cut_of(walk->signatures, signature, NEST_DEPTH - 1), 1, 1};
    callee_items__append(&level->items, &item);
    level->is_irregular = level->items.count > ITEMS_MOST;
}

/* What is deeper than the body was in spans without an end, and is of no callee signature. */
static uint32_t close(struct callee_walk *walk, const struct nested *nested,
                      const struct vec **items)
{
    uint32_t signature;
    *items = &no_items;
    if (walk->deepest_1 <= nested->depth + 1)
        return callee_signatures__bare(walk->signatures, nested->place);
    struct signature_level *body = level_at(walk, nested->depth + 1);
    if (body->is_irregular) {
        signature = find(walk->signatures, nested->place, true, &no_items);
        *items = NULL;
    } else {
        struct vec taken = body->items;
        signature = find_again(walk->signatures, nested->place, &taken);
        body->items = walk->closed;
        walk->closed = taken;
        *items = callee_signatures__get(walk->signatures, signature)->is_irregular ? NULL
                                                                                   : &walk->closed;
    }
    empty_from(walk, nested->depth + 1);
    return signature;
}

void callee_walk__forget(struct callee_walk *walk)
{
    empty_from(walk, 0);
}

/* What most occurrences are: nothing was in it, as in the one before it. Its callee signature, or
 * NEST_NONE. */
static inline uint32_t end_again(struct callee_walk *walk, const struct nested *nested)
{
    const struct vec *bare = &walk->signatures->bare;
    if (walk->deepest_1 != nested->depth + 1 || nested->place >= bare->count)
        return NEST_NONE;
    const struct callee_item item = {*VEC_AT(bare, uint32_t, nested->place), 1, 1};
    struct signature_level *level = VEC_AT(&walk->levels, struct signature_level, nested->depth);
    return !level->is_irregular && repeats_last(&level->items, &item) ? item.signature : NEST_NONE;
}

uint32_t callee_walk__end(struct callee_walk *walk, const struct nested *nested,
                          const struct vec **items)
{
    bool counts = nested->counts && nested->depth > 0; /* what is outermost is in nothing */
    uint32_t again = counts ? end_again(walk, nested) : NEST_NONE;
    if (again != NEST_NONE) {
        *items = &no_items;
        return again;
    }
    uint32_t signature = close(walk, nested, items);
    if (counts)
        append(walk, nested, signature);
    return signature;
}
