#include "analysis/shape.h"

#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct shapes {
    struct vec shapes;  /* struct shape */
    struct vec items;   /* struct shape_item: the bodies, one behind the other */
    struct vec key;     /* uint32_t: of the shape that is looked up */
    struct map numbers; /* kind, symbol, shapes of the items -> number */
    struct map cut;     /* shape, depth -> number */
};

/* ---- times ----------------------------------------------------------------------------------- */

static void time__add(struct shape_time *time, uint64_t duration, uint64_t weight)
{
    if (!time->count || duration < time->min)
        time->min = duration;
    if (duration > time->max)
        time->max = duration;
    time->count += weight;
    time->sum += weight * duration;
}

static void turns__add(struct shape_turns *turns, uint64_t count)
{
    if (!turns->sum || count < turns->min)
        turns->min = count;
    if (count > turns->max)
        turns->max = count;
    turns->sum += count;
}

static uint64_t excess_of(const struct shape_time *time, uint64_t minimum)
{
    return time->sum - time->count * minimum;
}

/* ---- the table ---------------------------------------------------------------------------------
 */

struct shapes *shapes__new(void)
{
    struct shapes *shapes = memory__zeroed(1, sizeof *shapes);
    shapes->shapes = VEC_OF(struct shape);
    shapes->items = VEC_OF(struct shape_item);
    shapes->key = VEC_OF(uint32_t);
    return shapes;
}

void shapes__free(struct shapes *shapes)
{
    if (!shapes)
        return;
    vec__free(&shapes->shapes);
    vec__free(&shapes->items);
    vec__free(&shapes->key);
    map__free(&shapes->numbers);
    map__free(&shapes->cut);
    free(shapes);
}

size_t shapes__count(const struct shapes *shapes)
{
    return shapes->shapes.count;
}

static struct shape *shape_at(const struct shapes *shapes, uint32_t shape)
{
    return VEC_AT(&shapes->shapes, struct shape, shape);
}

static struct shape_item *items_of(const struct shapes *shapes, uint32_t shape)
{
    return VEC_AT(&shapes->items, struct shape_item, shape_at(shapes, shape)->first_item);
}

const struct shape *shapes__get(const struct shapes *shapes, uint32_t shape)
{
    return shape_at(shapes, shape);
}

const struct shape_item *shapes__items(const struct shapes *shapes, uint32_t shape)
{
    return items_of(shapes, shape);
}

uint64_t shape__excess(const struct shape *shape)
{
    return excess_of(&shape->time, shape->time.min);
}

uint64_t shape_item__excess(const struct shapes *shapes, const struct shape_item *item)
{
    const struct shape *shape = shape_at(shapes, item->shape);
    return shape->kind == SHAPE_LOOP ? 0 : excess_of(&item->time, shape->time.min);
}

static void key__begin(struct shapes *shapes, enum shape_kind kind, uint32_t symbol)
{
    shapes->key.count = 0;
    vec__push(&shapes->key, &(uint32_t){kind});
    vec__push(&shapes->key, &symbol);
}

static void key__add(struct shapes *shapes, uint32_t item)
{
    vec__push(&shapes->key, &item);
}

/* The shape that the key tells. */
static uint32_t key__find(struct shapes *shapes)
{
    const uint32_t *key = shapes->key.items;
    size_t items = shapes->key.count - 2;
    uint32_t number = (uint32_t)map__put(&shapes->numbers, key, shapes->key.count * sizeof *key,
                                         shapes->shapes.count);
    if (number < shapes->shapes.count)
        return number;
    struct shape shape = {.kind = (enum shape_kind)key[0],
                          .symbol = key[1],
                          .first_item = (uint32_t)shapes->items.count,
                          .item_count = (uint32_t)items};
    vec__push(&shapes->shapes, &shape);
    for (size_t i = 0; i < items; i++)
        vec__push(&shapes->items, &(struct shape_item){.shape = key[2 + i]});
    return number;
}

static uint32_t find_cut(struct shapes *shapes, uint32_t shape, unsigned depth)
{
    const struct shape whole = *shape_at(shapes, shape);
    bool is_level = whole.kind == SHAPE_OCCURRENCE;
    uint32_t count = is_level && depth == 0 ? 0 : whole.item_count;
    uint32_t *body = memory__zeroed(count, sizeof *body);
    for (uint32_t i = 0; i < count; i++)
        body[i] = shapes__cut(shapes, items_of(shapes, shape)[i].shape, depth - is_level);
    key__begin(shapes, whole.kind, whole.symbol);
    for (uint32_t i = 0; i < count; i++)
        key__add(shapes, body[i]);
    free(body);
    return key__find(shapes);
}

uint32_t shapes__cut(struct shapes *shapes, uint32_t shape, unsigned depth)
{
    const uint32_t key[2] = {shape, depth};
    uint64_t known = map__get(&shapes->cut, key, sizeof key);
    if (known != MAP_ABSENT)
        return (uint32_t)known;
    uint32_t cut = find_cut(shapes, shape, depth);
    map__put(&shapes->cut, key, sizeof key, cut);
    return cut;
}

/* ---- building ----------------------------------------------------------------------------------
 */

#define PERIOD_MAX 32u /* items of a loop's body that is found */

/* What ended, and is not yet in a body. */
struct pending {
    uint32_t shape, weight;
    uint64_t start, end, duration;
    uint64_t turns; /* of a loop, else 0 */
};

struct shape_builder {
    struct shapes *shapes;
    struct vec *levels; /* by depth: struct pending */
    size_t level_count;
    void (*tell)(void *context, const struct shape_turn *turn); /* NULL: nobody wants them */
    void *context;
    uint32_t told_depth;
};

struct shape_builder *shape_builder__new(struct shapes *shapes)
{
    struct shape_builder *builder = memory__zeroed(1, sizeof *builder);
    builder->shapes = shapes;
    return builder;
}

void shape_builder__free(struct shape_builder *builder)
{
    if (!builder)
        return;
    for (size_t i = 0; i < builder->level_count; i++)
        vec__free(&builder->levels[i]);
    free(builder->levels);
    free(builder);
}

void shape_builder__tell_turns(struct shape_builder *builder, uint32_t depth,
                               void (*tell)(void *context, const struct shape_turn *turn),
                               void *context)
{
    builder->tell = tell;
    builder->context = context;
    builder->told_depth = depth;
}

static struct vec *level_at(struct shape_builder *builder, size_t depth)
{
    if (depth >= builder->level_count) {
        builder->levels = memory__resize(builder->levels, depth + 1, sizeof *builder->levels);
        while (builder->level_count <= depth)
            builder->levels[builder->level_count++] = VEC_OF(struct pending);
    }
    return &builder->levels[depth];
}

/* The items' times go to the places of the shape's body. */
static void absorb(struct shapes *shapes, uint32_t shape, const struct pending *items,
                   uint32_t count)
{
    struct shape_item *places = items_of(shapes, shape);
    for (uint32_t i = 0; i < count; i++) {
        time__add(&places[i].time, items[i].duration, items[i].weight);
        if (items[i].turns)
            turns__add(&places[i].turns, items[i].turns);
    }
}

static void add_turn(struct shape_builder *builder, uint32_t depth, struct pending *loop,
                     const struct pending *items, uint32_t period)
{
    const struct shape_turn turn = {.loop = loop->shape,
                                    .depth = depth,
                                    .first = !loop->turns,
                                    .start = items[0].start,
                                    .end = items[period - 1].end};
    absorb(builder->shapes, loop->shape, items, period);
    time__add(&shape_at(builder->shapes, loop->shape)->time, turn.end - turn.start, 1);
    loop->turns++;
    loop->end = turn.end;
    loop->duration = loop->end - loop->start;
    if (builder->tell && depth <= builder->told_depth)
        builder->tell(builder->context, &turn);
}

static bool are_equal(const struct pending *left, const struct pending *right, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;)
        if (left[i].shape != right[i].shape)
            return false;
    return true;
}

/* The last period items are one more turn of the loop before them. */
static bool continues(const struct shapes *shapes, const struct vec *level, uint32_t period)
{
    if (level->count <= period)
        return false;
    const struct pending *items = VEC_AT(level, struct pending, level->count - period);
    const struct shape *loop = shape_at(shapes, items[-1].shape);
    if (loop->kind != SHAPE_LOOP || loop->item_count != period)
        return false;
    const struct shape_item *body = items_of(shapes, items[-1].shape);
    for (uint32_t i = 0; i < period; i++)
        if (body[i].shape != items[i].shape)
            return false;
    return true;
}

static uint32_t find_loop(struct shapes *shapes, const struct pending *items, uint32_t period)
{
    key__begin(shapes, SHAPE_LOOP, 0);
    for (uint32_t i = 0; i < period; i++)
        key__add(shapes, items[i].shape);
    return key__find(shapes);
}

/* The last items twice become a loop. */
static void make_loop(struct shape_builder *builder, uint32_t depth, uint32_t period)
{
    struct vec *level = &builder->levels[depth];
    struct pending *items = VEC_AT(level, struct pending, level->count - 2 * period);
    struct pending loop = {
        .shape = find_loop(builder->shapes, items, period), .weight = 1, .start = items[0].start};
    add_turn(builder, depth, &loop, items, period);
    add_turn(builder, depth, &loop, items + period, period);
    level->count -= 2 * period;
    vec__push(level, &loop);
}

static bool fold_once(struct shape_builder *builder, uint32_t depth)
{
    struct vec *level = &builder->levels[depth];
    for (uint32_t period = 1; period <= PERIOD_MAX && period < level->count; period++) {
        struct pending *tail = VEC_AT(level, struct pending, level->count - period);
        if (continues(builder->shapes, level, period)) {
            add_turn(builder, depth, &tail[-1], tail, period);
            level->count -= period;
            return true;
        }
        if (2 * period <= level->count && are_equal(tail - period, tail, period)) {
            make_loop(builder, depth, period);
            return true;
        }
    }
    return false;
}

static void append(struct shape_builder *builder, uint32_t depth, const struct pending *item)
{
    vec__push(level_at(builder, depth), item);
    while (fold_once(builder, depth))
        continue;
}

/* Moves the first count items of the level to the end of what is at depth. */
static void move_up(struct shape_builder *builder, size_t level, size_t count, uint32_t depth)
{
    struct vec *from = &builder->levels[level];
    for (size_t i = 0; i < count; i++)
        append(builder, depth, VEC_AT(from, struct pending, i));
    memmove(from->items, VEC_AT(from, struct pending, count),
            (from->count - count) * sizeof(struct pending));
    from->count -= count;
}

/* What ended on deeper levels before an occurrence began that is now at depth: what was around it
 * was left without an end. */
static void adopt(struct shape_builder *builder, uint32_t depth, uint64_t start)
{
    for (size_t i = depth + 1; i < builder->level_count; i++) {
        const struct vec *level = &builder->levels[i];
        size_t count = 0;
        while (count < level->count && VEC_AT(level, struct pending, count)->end <= start &&
               VEC_AT(level, struct pending, count)->start < start)
            count++;
        if (count)
            move_up(builder, i, count, depth);
    }
}

static struct vec *body_at(struct shape_builder *builder, uint32_t depth)
{
    level_at(builder, depth);
    adopt(builder, depth, UINT64_MAX);
    return &builder->levels[depth];
}

static uint32_t close_body(struct shapes *shapes, struct vec *body, uint32_t symbol)
{
    key__begin(shapes, SHAPE_OCCURRENCE, symbol);
    VEC_EACH(item, body, struct pending)
    key__add(shapes, item->shape);
    uint32_t shape = key__find(shapes);
    absorb(shapes, shape, body->items, (uint32_t)body->count);
    body->count = 0;
    return shape;
}

uint32_t shape_builder__add(struct shape_builder *builder, const struct shaped *occurrence)
{
    struct shapes *shapes = builder->shapes;
    level_at(builder, occurrence->depth);
    adopt(builder, occurrence->depth, occurrence->start);
    struct vec *body = body_at(builder, occurrence->depth + 1);
    struct pending item = {.shape = close_body(shapes, body, occurrence->symbol),
                           .weight = occurrence->weight,
                           .start = occurrence->start,
                           .end = occurrence->end,
                           .duration = occurrence->duration};
    time__add(&shape_at(shapes, item.shape)->time, item.duration, item.weight);
    append(builder, occurrence->depth, &item);
    return item.shape;
}

uint32_t shape_builder__end(struct shape_builder *builder, uint32_t symbol, uint64_t start,
                            uint64_t end)
{
    struct shapes *shapes = builder->shapes;
    uint32_t shape = close_body(shapes, body_at(builder, 0), symbol);
    time__add(&shape_at(shapes, shape)->time, end - start, 1);
    return shape;
}
