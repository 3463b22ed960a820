#include "analysis/shape.h"

#include "analysis/shape_draft.h"
#include "analysis/shape_table.h"
#include "base/memory.h"

#include <stdlib.h>

#define WINDOW 256u /* nodes that are folded together, at least */

/* What ended with as many occurrences open around it, and is in no body yet. Levels without any are
 * not there. */
struct level {
    uint32_t depth;
    size_t first;          /* its nodes are those from here up to the next level's */
    size_t fold_at;        /* folds its nodes when they are so many */
    bool folded;           /* nothing came since they were */
    struct repeat *cursor; /* the innermost loop of those that go on at the level's end, of which
                              the outermost is the last node; NULL: there is none */
};

struct shape_builder {
    struct draft draft;
    struct vec nodes;  /* struct node: in the order of time, and so of depth */
    struct vec levels; /* struct level: the deepest is the last */
    struct vec moved;  /* struct node: on their way to another level */
};

struct shape_builder *shape_builder__new(struct shapes *shapes)
{
    struct shape_builder *builder = memory__zeroed(1, sizeof *builder);
    draft__start(&builder->draft, shapes);
    builder->nodes = VEC_OF(struct node);
    builder->levels = VEC_OF(struct level);
    builder->moved = VEC_OF(struct node);
    return builder;
}

/* But the outermost, which is a node's. */
static void free_open(struct draft *draft, struct repeat *cursor)
{
    while (cursor && cursor->parent) {
        struct repeat *parent = cursor->parent;
        repeat__free(draft, cursor);
        cursor = parent;
    }
}

void shape_builder__free(struct shape_builder *builder)
{
    if (!builder)
        return;
    VEC_EACH(level, &builder->levels, struct level)
    free_open(&builder->draft, level->cursor);
    VEC_EACH(node, &builder->nodes, struct node)
    node__free(&builder->draft, node);
    draft__free(&builder->draft);
    vec__free(&builder->nodes);
    vec__free(&builder->levels);
    vec__free(&builder->moved);
    free(builder);
}

void shape_builder__tell_turns(struct shape_builder *builder, uint32_t depth,
                               void (*tell)(void *context, const struct shape_turn *turn),
                               void *context)
{
    builder->draft.tell = tell;
    builder->draft.context = context;
    builder->draft.told_depth = depth;
}

/* ---- levels ------------------------------------------------------------------------------------
 */

static struct level *last_level(struct shape_builder *builder)
{
    size_t count = builder->levels.count;
    return count ? VEC_AT(&builder->levels, struct level, count - 1) : NULL;
}

static struct node *node_at(struct shape_builder *builder, size_t index)
{
    return VEC_AT(&builder->nodes, struct node, index);
}

/* That depth's, which is none but the deepest. */
static struct level *open_level(struct shape_builder *builder, uint32_t depth)
{
    struct level *level = last_level(builder);
    if (level && level->depth == depth)
        return level;
    return vec__push(
        &builder->levels,
        &(struct level){.depth = depth, .first = builder->nodes.count, .fold_at = WINDOW});
}

/* ---- loops that go on --------------------------------------------------------------------------
 */

/* The loop that the last turn of this one may be continued in: that of its last node, and so on. */
static struct repeat *reopen(struct repeat *repeat)
{
    while (repeat->has_last && repeat->last[repeat->item_count - 1].repeat) {
        struct repeat *inner = repeat->last[repeat->item_count - 1].repeat;
        struct node *turn = repeat->last;
        repeat->last = repeat->turn;
        repeat->turn = turn;
        repeat->has_last = false;
        repeat->filled = repeat->item_count - 1;
        repeat->turn_count--;
        inner->parent = repeat;
        repeat = inner;
    }
    return repeat;
}

/* What stands before it is over. */
static void fill(struct draft *draft, struct repeat *repeat, const struct node *node)
{
    struct repeat *before = repeat->filled ? repeat->turn[repeat->filled - 1].repeat : NULL;
    if (before)
        repeat__seal(draft, before);
    repeat->turn[repeat->filled++] = *node;
    if (repeat->filled == repeat->item_count)
        repeat__finish_turn(draft, repeat);
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

/* Whether the node is what comes next in the loops that go on. */
static bool goes_on(struct draft *draft, struct level *level, const struct node *node)
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

/* ---- loops that do not go on -------------------------------------------------------------------
 */

static void push_closed(struct shape_builder *builder, struct repeat *repeat)
{
    repeat->filled = 0;
    repeat->parent = NULL;
    if (!repeat->turn_count) {
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
    const struct node *turn = repeat->turn;
    struct node *kept = filled ? vec__extend(&builder->moved, filled) : NULL;
    for (uint32_t i = 0; i < filled; i++)
        kept[i] = turn[i];
    push_closed(builder, repeat);
    builder->moved.count -= filled;
    for (uint32_t i = 0; i < filled; i++)
        vec__push(&builder->nodes, &kept[i]);
}

/* Folding costs about as much as there is: what came since shall be as much. */
static void set_fold_at(struct shape_builder *builder, struct level *level)
{
    size_t count = builder->nodes.count - level->first;
    level->fold_at = count + (count > WINDOW ? count : WINDOW);
}

/* The loops that went on stand there as nodes, and what is of no whole turn behind them. */
static void dissolve(struct shape_builder *builder, struct level *level)
{
    struct repeat *cursor = level->cursor;
    level->cursor = NULL;
    level->folded = false;
    builder->nodes.count--;
    push_open(builder, cursor);
    set_fold_at(builder, level);
}

/* ---- folding a level ---------------------------------------------------------------------------
 */

/* What stands behind the last loop, if that loop goes on with it. */
static void resume_behind(struct shape_builder *builder, struct level *level, size_t loop)
{
    size_t rest = builder->nodes.count - loop, taken = 0, base = builder->moved.count;
    for (size_t i = 0; i < rest; i++)
        vec__push(&builder->moved, node_at(builder, loop + i));
    builder->nodes.count = loop;
    level->cursor = reopen(node_at(builder, loop - 1)->repeat);
    while (taken < rest &&
           goes_on(&builder->draft, level, VEC_AT(&builder->moved, struct node, base + taken)))
        taken++;
    if (taken < rest)
        dissolve(builder, level);
    for (; taken < rest; taken++)
        vec__push(&builder->nodes, VEC_AT(&builder->moved, struct node, base + taken));
    builder->moved.count = base;
}

static void resume(struct shape_builder *builder, struct level *level)
{
    size_t loop = builder->nodes.count;
    while (loop > level->first && !node_at(builder, loop - 1)->repeat)
        loop--;
    if (loop > level->first)
        resume_behind(builder, level, loop);
}

static void fold(struct shape_builder *builder, struct level *level)
{
    struct vec *nodes = &builder->nodes;
    nodes->count = level->first + draft__fold(&builder->draft, node_at(builder, level->first),
                                              nodes->count - level->first);
    level->folded = true;
}

static void put(struct shape_builder *builder, struct level *level, const struct node *node)
{
    builder->draft.depth = level->depth;
    if (level->cursor) {
        if (goes_on(&builder->draft, level, node))
            return;
        dissolve(builder, level);
    }
    vec__push(&builder->nodes, node);
    level->folded = false;
    if (builder->nodes.count - level->first < level->fold_at)
        return;
    fold(builder, level);
    resume(builder, level);
    set_fold_at(builder, level);
}

/* level: the deepest. */
static void append(struct shape_builder *builder, struct level *level, const struct node *node)
{
    put(builder, level, node);
    if (builder->draft.turns.count)
        draft__tell(&builder->draft);
}

/* The loops that go on at the end of the deepest level are over. */
static void close_loops(struct shape_builder *builder, struct level *level)
{
    struct repeat *repeat = level->cursor;
    while (repeat && !repeat->filled && repeat->parent)
        level->cursor = repeat = leave(&builder->draft, repeat);
    if (!repeat)
        return;
    if (repeat->filled) {
        dissolve(builder, level);
        return;
    }
    *node_at(builder, builder->nodes.count - 1) = repeat__node(repeat);
    level->cursor = NULL;
}

/* ---- bodies ------------------------------------------------------------------------------------
 */

/* The deepest level becomes the body of an occurrence. */
static uint32_t close_body(struct shape_builder *builder, uint32_t symbol)
{
    struct draft *draft = &builder->draft;
    struct level *level = last_level(builder);
    draft->depth = level->depth;
    close_loops(builder, level);
    if (!level->folded)
        fold(builder, level);
    struct node *nodes = node_at(builder, level->first);
    size_t count = builder->nodes.count - level->first;
    draft__set_key(draft, nodes, count);
    uint32_t shape = shapes__find(draft->shapes, SHAPE_OCCURRENCE, symbol);
    draft__pour(draft, shape, nodes, count);
    draft__tell(draft);
    builder->nodes.count = level->first;
    builder->levels.count--;
    return shape;
}

/* Takes the levels deeper than depth away; their nodes are in builder->moved, the last first. */
static void take_deeper(struct shape_builder *builder, uint32_t depth)
{
    struct level *level;
    builder->moved.count = 0;
    while ((level = last_level(builder)) && level->depth > depth) {
        builder->draft.depth = level->depth;
        close_loops(builder, level);
        while (builder->nodes.count > level->first)
            vec__push(&builder->moved, node_at(builder, --builder->nodes.count));
        builder->levels.count--;
    }
}

/* What ended deeper before start was left by what was around it, and stands at depth. What began
 * since is one level. */
static void adopt(struct shape_builder *builder, uint32_t depth, uint64_t start)
{
    take_deeper(builder, depth);
    struct vec taken = builder->moved; /* others need one, too */
    builder->moved = VEC_OF(struct node);
    while (taken.count--) {
        const struct node *node = VEC_AT(&taken, struct node, taken.count);
        bool before = node->end <= start && node->start < start;
        append(builder, open_level(builder, depth + !before), node);
    }
    vec__free(&taken);
}

/* Whether the deepest level is the body of what began at start at that depth. */
static bool is_body(struct shape_builder *builder, const struct level *level, uint32_t depth,
                    uint64_t start)
{
    size_t above = builder->levels.count - 1;
    return level->depth == depth + 1 && node_at(builder, level->first)->start >= start &&
           (!above || VEC_AT(&builder->levels, struct level, above - 1)->depth <= depth);
}

static uint32_t find_shape(struct shape_builder *builder, uint32_t symbol, uint32_t depth,
                           uint64_t start)
{
    struct level *level = last_level(builder);
    if (level && level->depth > depth && !is_body(builder, level, depth, start)) {
        adopt(builder, depth, start);
        level = last_level(builder);
    }
    if (!level || level->depth <= depth)
        return shapes__find_leaf(builder->draft.shapes, symbol);
    return close_body(builder, symbol);
}

uint32_t shape_builder__add(struct shape_builder *builder, const struct shaped *occurrence)
{
    const struct node node = {
        .shape = find_shape(builder, occurrence->symbol, occurrence->depth, occurrence->start),
        .weight = occurrence->weight,
        .start = occurrence->start,
        .end = occurrence->end,
        .duration = occurrence->duration,
    };
    shape_time__add(&shape_at(builder->draft.shapes, node.shape)->time, node.duration, node.weight);
    append(builder, open_level(builder, occurrence->depth), &node);
    return node.shape;
}

uint32_t shape_builder__end(struct shape_builder *builder, uint32_t symbol, uint64_t start,
                            uint64_t end)
{
    struct level *level = last_level(builder);
    if (level && level->depth > 0)
        adopt(builder, 0, UINT64_MAX);
    uint32_t shape =
        level ? close_body(builder, symbol) : shapes__find_leaf(builder->draft.shapes, symbol);
    shape_time__add(&shape_at(builder->draft.shapes, shape)->time, end - start, 1);
    return shape;
}
