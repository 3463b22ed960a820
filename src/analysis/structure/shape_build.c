#include "analysis/structure/shape_level.h"

#include "base/memory.h"

#include <stdlib.h>

#define PLAIN_MOST 8u
#define PLAIN_SYMBOLS (1u << 20)

struct shape_builder *shape_builder__new(struct shapes *shapes)
{
    struct shape_builder *builder = memory__zeroed(1, sizeof *builder);
    draft__start(&builder->draft, shapes);
    builder->nodes = VEC_OF(struct node);
    builder->levels = VEC_OF(struct shape_level);
    builder->moved = VEC_OF(struct node);
    builder->trial = VEC_OF(struct node);
    builder->plain = VEC_OF(uint32_t);
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
    VEC_EACH (level, &builder->levels, struct shape_level) {
        free_open(&builder->draft, level->cursor);
        vec__free(&level->rules);
    }
    VEC_EACH (node, &builder->nodes, struct node)
        node__free(&builder->draft, node);
    draft__free(&builder->draft);
    vec__free(&builder->nodes);
    vec__free(&builder->levels);
    vec__free(&builder->moved);
    vec__free(&builder->trial);
    vec__free(&builder->plain);
    free(builder);
}

void shape_builder__tell_iterations(struct shape_builder *builder, uint32_t depth,
                                    void (*tell)(void *context,
                                                 const struct shape_iteration *iteration),
                                    void *context)
{
    builder->draft.tell = tell;
    builder->draft.context = context;
    builder->draft.told_depth = depth;
}

/* ---- levels ---------------------------------------------------------------------------------- */

static struct shape_level *last_level(struct shape_builder *builder)
{
    size_t count = builder->levels.count;
    return count ? VEC_AT(&builder->levels, struct shape_level, count - 1) : NULL;
}

/* That depth's, which is none but the deepest. */
static struct shape_level *open_level(struct shape_builder *builder, uint32_t depth)
{
    struct shape_level *level = last_level(builder);
    if (level && level->depth == depth)
        return level;
    level = vec__extend(&builder->levels, 1);
    *level = (struct shape_level){.depth = depth,
                                  .first = builder->nodes.count,
                                  .raw = builder->nodes.count,
                                  .fold_at = LEVEL_WINDOW,
                                  .choice = SHAPE_NONE,
                                  .rules = VEC_OF(uint32_t)};
    return level;
}

/* What stands behind the last loop is raw: an iteration of another may have begun in it. Folding
 * costs about as much as there is: what comes shall be as much. */
void level__settle(struct shape_builder *builder, struct shape_level *level)
{
    size_t count = builder->nodes.count, settled = count - level->first;
    level->raw = count;
    while (level->raw > level->first && !builder__node(builder, level->raw - 1)->repeat &&
           !builder__node(builder, level->raw - 1)->iterations)
        level->raw--;
    level->fold_at = count - level->raw + (settled > LEVEL_WINDOW ? settled : LEVEL_WINDOW);
}

static void put(struct shape_builder *builder, struct shape_level *level, const struct node *node)
{
    if (level->choice != SHAPE_NONE) {
        level__put_choice(builder, level, node);
        return;
    }
    if (level->cursor) {
        if (level__goes_on(&builder->draft, level, node))
            return;
        level__dissolve(builder, level);
    }
    *(struct node *)vec__extend(&builder->nodes, 1) = *node;
    level->folded = false;
    if (builder->nodes.count - level->raw >= level->fold_at)
        level__decide(builder, level, false);
}

/* level: the deepest. */
static void append(struct shape_builder *builder, struct shape_level *level,
                   const struct node *node)
{
    builder->draft.depth = level->depth;
    put(builder, level, node);
    if (builder->draft.iterations.count)
        draft__tell(&builder->draft);
}

/* What goes on in the deepest level is over. */
static void close_level(struct shape_builder *builder, struct shape_level *level)
{
    builder->draft.depth = level->depth;
    if (level->choice != SHAPE_NONE)
        level__close_choice(builder, level);
    level__close_loops(builder, level);
}

static void pop_level(struct shape_builder *builder)
{
    struct shape_level *level = last_level(builder);
    builder->nodes.count = level->first;
    if (level->rules.items)
        vec__free(&level->rules);
    builder->levels.count--;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Whether the level's nodes are few and just as they came: what they become depends on their shapes
 * alone. */
static bool is_plain(struct shape_builder *builder, const struct shape_level *level)
{
    const struct node *nodes = builder__node(builder, level->first);
    size_t count = builder->nodes.count - level->first;
    if (level->cursor || level->folded || level->choice != SHAPE_NONE || level->rules.count ||
        count > PLAIN_MOST)
        return false;
    for (size_t i = 0; i < count; i++)
        if (nodes[i].repeat || nodes[i].iterations)
            return false;
    return true;
}

static bool consists_of(const struct shapes *shapes, uint32_t shape, const struct node *nodes,
                        size_t count)
{
    const struct shape_item *items = shape_items(shapes, shape);
    if (shape_at(shapes, shape)->item_count != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (items[i].shape != nodes[i].shape)
            return false;
    return true;
}

/* Mostly, plain nodes are those of the last time. SHAPE_NONE: they are not. */
static uint32_t find_again(struct shape_builder *builder, const struct shape_level *level,
                           uint32_t symbol)
{
    size_t count = builder->nodes.count - level->first;
    uint32_t shape =
        symbol < builder->plain.count ? *VEC_AT(&builder->plain, uint32_t, symbol) : SHAPE_NONE;
    bool is_it = shape != SHAPE_NONE && consists_of(builder->draft.shapes, shape,
                                                    builder__node(builder, level->first), count);
    return is_it ? shape : SHAPE_NONE;
}

static void keep_plain(struct shape_builder *builder, uint32_t symbol, uint32_t shape)
{
    if (symbol >= PLAIN_SYMBOLS || shapes__are_full(builder->draft.shapes))
        return;
    while (builder->plain.count <= symbol)
        vec__push(&builder->plain, &(uint32_t){SHAPE_NONE});
    *VEC_AT(&builder->plain, uint32_t, symbol) = shape;
}

static uint32_t fold_body(struct shape_builder *builder, struct shape_level *level, uint32_t symbol)
{
    struct draft *draft = &builder->draft;
    size_t before = builder->nodes.count;
    bool plain = is_plain(builder, level);
    uint32_t shape = plain ? find_again(builder, level, symbol) : SHAPE_NONE;
    if (shape != SHAPE_NONE)
        return shape;
    close_level(builder, level);
    if (!level->folded)
        level__decide(builder, level, true);
    size_t count = builder->nodes.count - level->first;
    draft__set_key(draft, builder__node(builder, level->first), count);
    shape = shapes__find(draft->shapes, SHAPE_OCCURRENCE, symbol);
    if (plain && before == builder->nodes.count)
        keep_plain(builder, symbol, shape);
    return shape;
}

/* The deepest level becomes the body of an occurrence. */
static uint32_t close_body(struct shape_builder *builder, uint32_t symbol)
{
    struct draft *draft = &builder->draft;
    struct shape_level *level = last_level(builder);
    uint32_t shape = fold_body(builder, level, symbol);
    draft->depth = level->depth;
    draft__pour(draft, shape, builder__node(builder, level->first),
                builder->nodes.count - level->first);
    if (draft->iterations.count)
        draft__tell(draft);
    pop_level(builder);
    return shape;
}

/* Takes the levels deeper than depth away; their nodes are in builder->moved, the last first. */
static void take_deeper(struct shape_builder *builder, uint32_t depth)
{
    struct shape_level *level;
    builder->moved.count = 0;
    while ((level = last_level(builder)) && level->depth > depth) {
        close_level(builder, level);
        while (builder->nodes.count > level->first)
            vec__push(&builder->moved, builder__node(builder, --builder->nodes.count));
        pop_level(builder);
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
static bool is_body(struct shape_builder *builder, const struct shape_level *level, uint32_t depth,
                    uint64_t start)
{
    size_t above = builder->levels.count - 1;
    return level->depth == depth + 1 && builder__node(builder, level->first)->start >= start &&
           (!above || VEC_AT(&builder->levels, struct shape_level, above - 1)->depth <= depth);
}

static uint32_t find_shape(struct shape_builder *builder, uint32_t symbol, uint32_t depth,
                           uint64_t start)
{
    struct shape_level *level = last_level(builder);
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
    struct shape_level *level = last_level(builder);
    if (level && level->depth > 0)
        adopt(builder, 0, UINT64_MAX);
    uint32_t shape =
        level ? close_body(builder, symbol) : shapes__find_leaf(builder->draft.shapes, symbol);
    shape_time__add(&shape_at(builder->draft.shapes, shape)->time, end - start, 1);
    return shape;
}
