#include "analysis/grammar_parts.h"
#include "base/memory.h"

#include <stdlib.h>

enum { FIRST_NODES = 64 };

struct grammar *grammar__new(void)
{
    struct grammar *grammar = memory__zeroed(1, sizeof *grammar);
    *grammar = (struct grammar){.nodes = memory__zeroed(FIRST_NODES, sizeof *grammar->nodes),
                                .node_capacity = FIRST_NODES,
                                .node_count = 1,
                                .checks = VEC_OF(uint32_t),
                                .doubts = VEC_OF(uint32_t),
                                .levels = VEC_OF(struct level),
                                .order = VEC_OF(struct rule_facts)};
    grammar__end(grammar);
    return grammar;
}

void grammar__free(struct grammar *grammar)
{
    if (!grammar)
        return;
    free(grammar->nodes);
    free(grammar->digrams.slots);
    vec__free(&grammar->checks);
    vec__free(&grammar->doubts);
    vec__free(&grammar->levels);
    vec__free(&grammar->order);
    free(grammar);
}

/* ---- following an expansion ------------------------------------------------------------------ */

/* Once the string has gone through all that stood where the last item stands too, or through a rule
 * once, what comes next is likely what came next there.  As long as it is, the string only moves
 * through that expansion; the grammar changes where it leaves it.
 *
 * levels[0] is in the rule (or the whole string) that the expansion is taken from, levels[n + 1] in
 * the rule that levels[n].node names.  When the last item's own repetition is followed, levels[0]
 * is in its rule. */

static struct level *top_level(const struct grammar *grammar)
{
    return VEC_AT(&grammar->levels, struct level, grammar->levels.count - 1);
}

static void descend(struct grammar *grammar, uint32_t node)
{
    *(struct level *)vec__extend(&grammar->levels, 1) = (struct level){.node = node};
}

/* All that stands at the first level has been gone through, so that the string is at its guard or
 * at its own last item. */
static void reach_end(struct grammar *grammar)
{
    struct level *level = top_level(grammar);
    uint32_t last = last_item(grammar);
    level->done = 0;
    if (!grammar->from) {
        rewrite__open(grammar);
        node_at(grammar, last)->count++;
        level->node = node_at(grammar, level->node)->next;
        return;
    }
    grammar->levels.count = 0;
    rewrite__extend_last(grammar, grammar->from, node_at(grammar, level->node)->prev);
    rewrite__settle(grammar);
}

/* The top level's node has been gone through once more. */
static void pass(struct grammar *grammar)
{
    for (;;) {
        struct level *level = top_level(grammar);
        if (++level->done < node_at(grammar, level->node)->count)
            return;
        level->done = 0;
        level->node = node_at(grammar, level->node)->next;
        bool first = grammar->levels.count == 1;
        if (is_guard(grammar, level->node) || (first && level->node == last_item(grammar))) {
            if (first) {
                reach_end(grammar);
                return;
            }
            grammar->levels.count--;
            continue;
        }
        return;
    }
}

/* False: the expansion does not go on with the symbol. */
static bool follow(struct grammar *grammar, uint32_t symbol)
{
    uint32_t expected = node_at(grammar, top_level(grammar)->node)->symbol;
    if (first_symbol(grammar, expected) != symbol)
        return false;
    for (; is_rule(expected); expected = node_at(grammar, top_level(grammar)->node)->symbol)
        descend(grammar, node_at(grammar, guard_of(expected))->next);
    pass(grammar);
    return true;
}

/* ---- leaving it ------------------------------------------------------------------------------ */

/* The first item that the string has gone through at a level, beyond the one that it started from.
 */
static uint32_t first_followed(const struct grammar *grammar, size_t index)
{
    if (index == 0 && grammar->from)
        return node_at(grammar, grammar->from)->next;
    uint32_t named =
        index == 0 ? last_item(grammar) : VEC_AT(&grammar->levels, struct level, index - 1)->node;
    return node_at(grammar, guard_of(node_at(grammar, named)->symbol))->next;
}

static void append_copy(struct grammar *grammar, uint32_t item)
{
    const struct node *node = node_at(grammar, item);
    rewrite__append(grammar, node->symbol, node->count);
}

/* Puts in the items first … last that stand in the expansion. */
static void leave_items(struct grammar *grammar, size_t index, uint32_t first, uint32_t last)
{
    if (index == 0 && grammar->from)
        rewrite__extend_last(grammar, grammar->from, last);
    else if (first == last)
        append_copy(grammar, first);
    else
        rewrite__append(grammar, GRAMMAR_RULE | rewrite__new_rule(grammar, first, last), 1);
}

/* Puts in what the string has gone through at a level: whole items, then repetitions of the next
 * one.  When the symbol that comes begins the last whole item, that one may not be complete. */
static void leave_level(struct grammar *grammar, size_t index, uint32_t first, uint32_t symbol)
{
    struct level level = *VEC_AT(&grammar->levels, struct level, index);
    uint32_t last = node_at(grammar, level.node)->prev;
    bool whole = level.node != first;
    bool apart =
        whole && level.done == 0 && first_symbol(grammar, node_at(grammar, last)->symbol) == symbol;
    if (whole && !(apart && first == last))
        leave_items(grammar, index, first, apart ? node_at(grammar, last)->prev : last);
    if (apart)
        append_copy(grammar, last);
    if (level.done > 0)
        rewrite__append(grammar, node_at(grammar, level.node)->symbol, level.done);
}

/* The string does not go on with what was followed, but with the symbol. */
static void leave(struct grammar *grammar, uint32_t symbol)
{
    uint32_t first = first_followed(grammar, 0);
    for (size_t i = 0; i < grammar->levels.count; i++) {
        bool top = i + 1 == grammar->levels.count;
        uint32_t next = top ? 0 : first_followed(grammar, i + 1);
        leave_level(grammar, i, first, top ? symbol : GRAMMAR_RULE);
        first = next;
    }
    grammar->levels.count = 0;
    rewrite__settle(grammar);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static void start(struct grammar *grammar, uint32_t from, uint32_t node, uint32_t symbol)
{
    grammar->from = from;
    descend(grammar, node);
    follow(grammar, symbol);
}

/* Whether the symbol goes on with the last item. */
static bool repeats(struct grammar *grammar, uint32_t symbol)
{
    uint32_t named = node_at(grammar, last_item(grammar))->symbol;
    if (first_symbol(grammar, named) != symbol)
        return false;
    if (is_rule(named))
        start(grammar, 0, node_at(grammar, guard_of(named))->next, symbol);
    else
        rewrite__append(grammar, symbol, 1);
    return true;
}

/* Whether the symbol goes on with what followed the last item elsewhere. */
static bool resumes(struct grammar *grammar, uint32_t symbol)
{
    uint32_t last = last_item(grammar);
    const struct node *item = node_at(grammar, last);
    if (!is_rule(item->symbol))
        return false;
    uint32_t other = node_at(grammar, guard_of(item->symbol))->use_next;
    if (other == last)
        other = item->use_next;
    if (!other || node_at(grammar, other)->count != item->count)
        return false;
    uint32_t next = node_at(grammar, other)->next;
    if (is_guard(grammar, next) || next == last ||
        first_symbol(grammar, node_at(grammar, next)->symbol) != symbol)
        return false;
    start(grammar, other, next, symbol);
    return true;
}

void grammar__add(struct grammar *grammar, uint32_t symbol)
{
    if (grammar->levels.count > 0) {
        if (follow(grammar, symbol))
            return;
        leave(grammar, symbol);
    }
    while (last_item(grammar) != WHOLE) {
        if (repeats(grammar, symbol))
            return;
        if (rewrite__close(grammar))
            continue;
        if (resumes(grammar, symbol))
            return;
        break;
    }
    rewrite__append(grammar, symbol, 1);
}

void grammar__end(struct grammar *grammar)
{
    if (grammar->levels.count > 0)
        leave(grammar, GRAMMAR_RULE);
    while (last_item(grammar) != WHOLE && rewrite__close(grammar))
        ;
    numbers__assign(grammar);
}
