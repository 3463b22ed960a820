#include "analysis/structure/shape_draft.h"

#include "analysis/structure/shape_table.h"

void draft__set_key(struct draft *draft, const struct node *nodes, size_t count)
{
    struct vec *key = &draft->shapes->key;
    key->count = 0;
    uint32_t *shapes = vec__extend(key, count);
    for (size_t i = 0; i < count; i++)
        shapes[i] = nodes[i].shape;
}

/* ---- where something is repeated ------------------------------------------------------------- */

/* Whether the period nodes around that anchor, a multiple of period, are followed by their equals.
 * first: where the leftmost of such begins. */
static bool is_repeated_at(const struct node *nodes, size_t count, size_t period, size_t anchor,
                           size_t *first)
{
    size_t begin = anchor, end = anchor;
    while (end + period < count && end - begin < period &&
           nodes[end].shape == nodes[end + period].shape)
        end++;
    if (end == begin)
        return false;
    while (begin > 0 && nodes[begin - 1].shape == nodes[begin - 1 + period].shape)
        begin--;
    *first = begin;
    return end - begin >= period;
}

/* Among period neighbours is one multiple of period, so that it is enough to look there: Main and
 * Lorentz, An O(n log n) Algorithm for Finding All Repetitions in a String, 1984. */
static bool find_repeated(const struct node *nodes, size_t count, size_t period, size_t *first)
{
    for (size_t anchor = 0; anchor + period < count; anchor += period)
        if (nodes[anchor].shape == nodes[anchor + period].shape &&
            is_repeated_at(nodes, count, period, anchor, first))
            return true;
    return false;
}

/* ---- making loops ---------------------------------------------------------------------------- */

static bool is_iteration(const struct node *nodes, size_t left, const uint32_t *body,
                         uint32_t period)
{
    if (left < period)
        return false;
    for (uint32_t i = 0; i < period; i++)
        if (nodes[i].shape != body[i])
            return false;
    return true;
}

/* That loop where it is at the very end of a node: the node's own, or the last thing in its last
 * iteration. NULL: it is not. */
static struct repeat *ends_with(const struct node *node, uint32_t loop)
{
    struct repeat *repeat = node->repeat;
    while (repeat && repeat->shape != loop)
        repeat = repeat->has_last ? repeat->last[repeat->item_count - 1].repeat : NULL;
    return repeat;
}

/* Something was added at the end of its last iteration, or behind that. */
static void prolong(struct node *node)
{
    struct repeat *repeat = node->repeat;
    struct node *last = &repeat->last[repeat->item_count - 1];
    if (repeat->has_last && last->repeat)
        prolong(last);
    *node = repeat__node(repeat);
}

/* One more iteration behind the nodes that are done. Returns how many these are then. */
static size_t put_iteration(struct draft *draft, struct node *done, size_t count, uint32_t loop,
                            const struct node *iteration)
{
    struct repeat *repeat = count ? ends_with(&done[count - 1], loop) : NULL;
    if (repeat) {
        repeat__add_iteration(draft, repeat, iteration);
        prolong(&done[count - 1]);
        return count;
    }
    repeat = repeat__new(draft, loop);
    repeat__add_iteration(draft, repeat, iteration);
    done[count] = repeat__node(repeat);
    return count + 1;
}

static size_t put_node(struct draft *draft, struct node *done, size_t count,
                       const struct node *node)
{
    struct repeat *repeat = node->repeat && count ? ends_with(&done[count - 1], node->shape) : NULL;
    if (!repeat) {
        done[count] = *node;
        return count + 1;
    }
    repeat__append(draft, repeat, node->repeat);
    prolong(&done[count - 1]);
    return count;
}

static const uint32_t *body_of(struct draft *draft, uint32_t loop, uint32_t *period)
{
    const struct shape_item *items = shape_items(draft->shapes, loop);
    *period = shape_at(draft->shapes, loop)->item_count;
    draft->body.count = 0;
    for (uint32_t i = 0; i < *period; i++)
        vec__push(&draft->body, &items[i].shape);
    return draft->body.items;
}

/* Everywhere the loop's body becomes an iteration of it. As shorter periods went before, no two
 * places where the body stands overlap: its beginning would be repeated where they meet. */
static size_t reduce(struct draft *draft, struct node *nodes, size_t count, uint32_t loop)
{
    uint32_t period;
    const uint32_t *body = body_of(draft, loop, &period);
    size_t done = 0;
    for (size_t i = 0; i < count;) {
        if (is_iteration(nodes + i, count - i, body, period)) {
            done = put_iteration(draft, nodes, done, loop, nodes + i);
            i += period;
            continue;
        }
        struct node node = nodes[i++];
        if (node.repeat) {
            repeat__promote(draft, node.repeat, loop, body, period);
            node.shape = node.repeat->shape;
        }
        done = put_node(draft, nodes, done, &node);
    }
    return done;
}

/* ---- folding --------------------------------------------------------------------------------- */

static struct known *find_known(const struct draft *draft, uint32_t loop)
{
    VEC_EACH (known, &draft->known, struct known)
        if (known->loop == loop)
            return known;
    return NULL;
}

static void note_loop(struct draft *draft, uint32_t shape, bool reduced)
{
    const struct shape *loop = shape_at(draft->shapes, shape);
    if (loop->kind != SHAPE_LOOP || draft->known.count >= KNOWN_MAX || find_known(draft, shape))
        return;
    if (loop->item_count > draft->longest)
        draft->longest = loop->item_count;
    vec__push(&draft->known, &(struct known){.loop = shape, .reduced = reduced});
    for (uint32_t i = 0; i < loop->item_count; i++)
        note_loop(draft, shape_items(draft->shapes, shape)[i].shape, reduced);
}

static void note_more_loops(struct draft *draft, const struct node *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (nodes[i].repeat)
            note_loop(draft, nodes[i].shape, false);
}

void draft__note_loops(struct draft *draft, const struct node *nodes, size_t count)
{
    draft->known.count = 0;
    draft->longest = 0;
    note_more_loops(draft, nodes, count);
}

/* There are more iterations of that loop than before, and so perhaps of those that it is a part of.
 */
static void note_parts(struct draft *draft, uint32_t part)
{
    VEC_EACH (known, &draft->known, struct known) {
        const struct shape_item *items = shape_items(draft->shapes, known->loop);
        uint32_t count = shape_at(draft->shapes, known->loop)->item_count;
        for (uint32_t i = 0; i < count; i++)
            known->reduced &= items[i].shape != part;
    }
}

/* Whether the end of an iteration stands once more behind the loop. */
static bool is_continued(const struct node *loop, const struct node *end, uint32_t period)
{
    for (const struct repeat *repeat = loop->repeat; repeat && repeat->has_last;
         repeat = repeat->last[repeat->item_count - 1].repeat) {
        const struct node *tail = repeat->last + repeat->item_count - period;
        uint32_t alike = 0;
        while (period < repeat->item_count && alike < period && loop + 1 + alike < end &&
               tail[alike].shape == loop[1 + alike].shape)
            alike++;
        if (alike == period)
            return true;
    }
    return false;
}

static bool find_continued(const struct draft *draft, const struct node *nodes, size_t count,
                           size_t period, size_t *first)
{
    for (size_t i = 0; period < draft->longest && i + period < count; i++) {
        if (nodes[i].repeat && is_continued(&nodes[i], nodes + count, (uint32_t)period)) {
            *first = i + 1;
            return true;
        }
    }
    return false;
}

/* A loop with that period that is there, or that what is repeated makes; SHAPE_NONE: there is none.
 */
static uint32_t find_loop(struct draft *draft, const struct node *nodes, size_t count,
                          size_t period)
{
    size_t first;
    VEC_EACH (known, &draft->known, struct known)
        if (!known->reduced && shape_at(draft->shapes, known->loop)->item_count == period) {
            known->reduced = true;
            return known->loop;
        }
    if (draft->no_new)
        return SHAPE_NONE;
    bool found = (2 * period <= count && find_repeated(nodes, count, period, &first)) ||
                 find_continued(draft, nodes, count, period, &first);
    if (!found)
        return SHAPE_NONE;
    draft__set_key(draft, nodes + first, period);
    uint32_t loop = shapes__find(draft->shapes, SHAPE_LOOP, 0);
    note_loop(draft, loop, true);
    return loop;
}

size_t draft__fold(struct draft *draft, struct node *nodes, size_t count)
{
    if (count < 2 - (draft->rules != NULL) || shapes__are_full(draft->shapes))
        return count;
    draft__note_loops(draft, nodes, count);
    for (size_t i = 0; draft->rules && i < draft->rules->count; i++)
        note_loop(draft, *VEC_AT(draft->rules, uint32_t, i), false);
    bool grows = draft->known.count > 0;
    for (size_t period = 1; period <= count; period++) {
        uint32_t loop = find_loop(draft, nodes, count, period);
        if (loop == SHAPE_NONE)
            continue;
        count = reduce(draft, nodes, count, loop);
        note_parts(draft, loop);
        if (grows) /* parts of loops may have become loops, and so the loops others */
            note_more_loops(draft, nodes, count);
        period = 0;
    }
    return count;
}

void draft__pour(struct draft *draft, uint32_t shape, struct node *nodes, size_t count)
{
    struct shape_item *places = shape_items(draft->shapes, shape);
    for (size_t i = 0; i < count; i++) {
        struct repeat *repeat = nodes[i].repeat;
        shape_time__add(&places[i].time, nodes[i].duration, nodes[i].weight);
        if (nodes[i].iterations)
            shape_iterations__add(&places[i].iterations, nodes[i].iterations);
        if (!repeat)
            continue;
        shape_iterations__add(&places[i].iterations, repeat->iteration_count);
        repeat__pour(draft, repeat);
        node__free(draft, &nodes[i]);
    }
}
