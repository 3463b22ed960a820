#include "analysis/structure/shape_level.h"

/* ---- loops that go on ------------------------------------------------------------------------ */

/* The loop that the last iteration of this one may be continued in: that of its last node, and so
 * on. */
static struct repeat *reopen(struct repeat *repeat)
{
    while (repeat->has_last && repeat->last[repeat->item_count - 1].repeat) {
        struct repeat *inner = repeat->last[repeat->item_count - 1].repeat;
        struct node *iteration = repeat->last;
        repeat->last = repeat->iteration;
        repeat->iteration = iteration;
        repeat->has_last = false;
        repeat->filled = repeat->item_count - 1;
        repeat->iteration_count--;
        inner->parent = repeat;
        repeat = inner;
    }
    return repeat;
}

/* What stands before it is over. */
static void fill(struct draft *draft, struct repeat *repeat, const struct node *node)
{
    struct repeat *before = repeat->filled ? repeat->iteration[repeat->filled - 1].repeat : NULL;
    if (before)
        repeat__seal(draft, before);
    repeat->iteration[repeat->filled++] = *node;
    if (repeat->filled == repeat->item_count)
        repeat__finish_iteration(draft, repeat);
}

/* The loop is over; what comes belongs to the one around it. */
static struct repeat *leave(struct draft *draft, struct repeat *repeat)
{
    struct repeat *parent = repeat->parent;
    const struct node node = repeat__node(repeat);
    repeat->parent = NULL;
    fill(draft, parent, &node);
    return parent;
}

/* Whether an item of a loop's body begins with such a node. */
static bool begins_with(const struct shapes *shapes, uint32_t item, uint32_t shape)
{
    while (item != shape && shape_at(shapes, item)->kind == SHAPE_LOOP)
        item = shape_items(shapes, item)[0].shape;
    return item == shape;
}

/* Puts the node where it is expected. Returns the loop in which it goes on from there. */
static struct repeat *enter(struct draft *draft, struct repeat *repeat, const struct node *node)
{
    if (!repeat->filled)
        repeat__seal(draft, repeat);
    while (repeat->places[repeat->filled].shape != node->shape) {
        struct repeat *inner = repeat__new(draft, repeat->places[repeat->filled].shape);
        inner->parent = repeat;
        repeat = inner;
    }
    if (!node->repeat) {
        fill(draft, repeat, node);
        return repeat;
    }
    node->repeat->parent = repeat;
    return reopen(node->repeat);
}

bool level__goes_on(struct draft *draft, struct shape_level *level, const struct node *node)
{
    for (;;) {
        struct repeat *repeat = level->cursor;
        uint32_t expected = repeat->places[repeat->filled].shape;
        if (begins_with(draft->shapes, expected, node->shape)) {
            level->cursor = enter(draft, repeat, node);
            return true;
        }
        if (repeat->filled || !repeat->parent)
            return false;
        level->cursor = leave(draft, repeat);
    }
}

/* ---- loops that do not go on ----------------------------------------------------------------- */

static void push_closed(struct shape_builder *builder, struct repeat *repeat)
{
    repeat->filled = 0;
    repeat->parent = NULL;
    if (!repeat->iteration_count) {
        repeat__free(&builder->draft, repeat);
        return;
    }
    const struct node node = repeat__node(repeat);
    vec__push(&builder->nodes, &node);
}

static void push_open(struct shape_builder *builder, struct repeat *repeat)
{
    if (repeat->parent)
        push_open(builder, repeat->parent);
    uint32_t filled = repeat->filled;
    const struct node *iteration = repeat->iteration;
    struct node *kept = filled ? vec__extend(&builder->moved, filled) : NULL;
    for (uint32_t i = 0; i < filled; i++)
        kept[i] = iteration[i];
    push_closed(builder, repeat);
    builder->moved.count -= filled;
    for (uint32_t i = 0; i < filled; i++)
        vec__push(&builder->nodes, &kept[i]);
}

void level__dissolve(struct shape_builder *builder, struct shape_level *level)
{
    struct repeat *cursor = level->cursor;
    level->cursor = NULL;
    level->folded = false;
    builder->nodes.count--;
    push_open(builder, cursor);
    level__settle(builder, level);
}

/* What stands behind the last loop, if that loop goes on with it. */
static void resume_behind(struct shape_builder *builder, struct shape_level *level, size_t loop)
{
    size_t rest = builder->nodes.count - loop, taken = 0, base = builder->moved.count;
    for (size_t i = 0; i < rest; i++)
        vec__push(&builder->moved, builder__node(builder, loop + i));
    builder->nodes.count = loop;
    level->cursor = reopen(builder__node(builder, loop - 1)->repeat);
    while (taken < rest && level__goes_on(&builder->draft, level,
                                          VEC_AT(&builder->moved, struct node, base + taken)))
        taken++;
    if (taken < rest)
        level__dissolve(builder, level);
    for (; taken < rest; taken++)
        vec__push(&builder->nodes, VEC_AT(&builder->moved, struct node, base + taken));
    builder->moved.count = base;
}

void level__resume(struct shape_builder *builder, struct shape_level *level)
{
    size_t loop = builder->nodes.count;
    while (loop > level->first && !builder__node(builder, loop - 1)->repeat)
        loop--;
    if (loop > level->first)
        resume_behind(builder, level, loop);
}

void level__close_loops(struct shape_builder *builder, struct shape_level *level)
{
    struct repeat *repeat = level->cursor;
    while (repeat && !repeat->filled && repeat->parent)
        level->cursor = repeat = leave(&builder->draft, repeat);
    if (!repeat)
        return;
    if (repeat->filled) {
        level__dissolve(builder, level);
        return;
    }
    *builder__node(builder, builder->nodes.count - 1) = repeat__node(repeat);
    level->cursor = NULL;
}
