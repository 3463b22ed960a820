/* Following an expansion.
 *
 * Once the string has gone through all that stood where the last item stands too, or through a rule
 * once, what comes next is likely what came next there.  As long as it is, the string only moves
 * through that expansion; the grammar changes where it leaves it.
 *
 * levels[0] is in the rule (or the whole string) that the expansion is taken from, levels[n + 1] in
 * the rule that levels[n].node names.  When the last item's own repetition is followed, levels[0]
 * is in its rule. */
#include "analysis/structure/grammar_parts.h"

static struct grammar_level *top_level(const struct grammar *grammar)
{
    return VEC_AT(&grammar->levels, struct grammar_level, grammar->levels.count - 1);
}

static void descend(struct grammar *grammar, uint32_t node, uint64_t done)
{
    *(struct grammar_level *)vec__extend(&grammar->levels, 1) = (struct grammar_level){done, node};
}

/* The first of the items that the string stands at, which it cannot follow. */
static uint32_t own_end(const struct grammar *grammar)
{
    uint32_t last = last_item(grammar);
    return grammar->pair ? node_at(grammar, last)->prev : last;
}

/* The string has gone through all of the first level: is at a guard, or at its own last item. */
static void reach_end(struct grammar *grammar)
{
    struct grammar_level *level = top_level(grammar);
    if (grammar->from) {
        grammar->ended = true;
        return;
    }
    rewrite__open(grammar);
    node_at(grammar, last_item(grammar))->count++;
    level->node = node_at(grammar, level->node)->next;
}

/* The top level's node has been gone through once more. */
static void pass(struct grammar *grammar)
{
    for (;;) {
        struct grammar_level *level = top_level(grammar);
        if (++level->done < node_at(grammar, level->node)->count)
            return;
        level->done = 0;
        level->node = node_at(grammar, level->node)->next;
        bool first = grammar->levels.count == 1;
        if (is_guard(grammar, level->node) || (first && level->node == own_end(grammar))) {
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

bool follow__next(struct grammar *grammar, uint32_t symbol)
{
    uint32_t expected = node_at(grammar, top_level(grammar)->node)->symbol;
    if (grammar->ended || first_symbol(grammar, expected) != symbol)
        return false;
    for (; is_rule(expected); expected = node_at(grammar, top_level(grammar)->node)->symbol)
        descend(grammar, node_at(grammar, guard_of(expected))->next, 0);
    grammar->recent[grammar->recent_end++ % RECENT] = symbol;
    pass(grammar);
    return true;
}

void follow__start(struct grammar *grammar, uint32_t from, bool pair, uint32_t symbol)
{
    grammar->from = from;
    grammar->pair = pair;
    descend(grammar, node_at(grammar, from)->next, 0);
    follow__next(grammar, symbol);
}

void follow__repeat(struct grammar *grammar, uint32_t symbol)
{
    grammar->from = 0;
    grammar->pair = false;
    descend(grammar, node_at(grammar, guard_of(node_at(grammar, last_item(grammar))->symbol))->next,
            0);
    follow__next(grammar, symbol);
}

/* ---- loops that go on ------------------------------------------------------------------------ */

/* The first item that the string has gone through at a level, behind where it started. */
static uint32_t first_followed(const struct grammar *grammar, size_t index)
{
    if (index == 0 && grammar->from)
        return node_at(grammar, grammar->from)->next;
    uint32_t named = index == 0 ? last_item(grammar)
                                : VEC_AT(&grammar->levels, struct grammar_level, index - 1)->node;
    return node_at(grammar, guard_of(node_at(grammar, named)->symbol))->next;
}

/* How many last items below the named one there are down to the first that begins with the symbol;
 * 0: none does. */
static size_t depth_of_end(const struct grammar *grammar, uint32_t named, uint32_t symbol)
{
    for (size_t depth = 1; is_rule(named); depth++) {
        named = node_at(grammar, node_at(grammar, guard_of(named))->prev)->symbol;
        if (first_symbol(grammar, named) == symbol)
            return depth;
    }
    return 0;
}

/* Before the string leaves for the symbol: when what it has just gone through ends with an item
 * that begins with the symbol, that item may go on, a loop with more iterations than where it was
 * followed.  Goes back to before the end of that item, so that it is put in apart. */
static void step_back(struct grammar *grammar, uint32_t symbol)
{
    size_t top = grammar->levels.count - 1;
    struct grammar_level *level = top_level(grammar);
    bool turned = level->done == 0 && level->node == first_followed(grammar, top);
    uint32_t item = turned             ? last_item(grammar) /* once more */
                    : level->done == 0 ? node_at(grammar, level->node)->prev
                                       : level->node;
    const struct grammar_node *node = node_at(grammar, item);
    uint64_t done = level->done ? level->done : node->count;
    if (first_symbol(grammar, node->symbol) == symbol) {
        *level = (struct grammar_level){done, item};
        return;
    }
    size_t depth = depth_of_end(grammar, node->symbol, symbol);
    if (depth == 0)
        return;
    if (turned) {
        rewrite__open(grammar);
        node_at(grammar, item)->count--;
        grammar->levels.count = 0;
    } else {
        *level = (struct grammar_level){done - 1, item};
    }
    while (depth-- > 0) {
        item = node_at(grammar, guard_of(node_at(grammar, item)->symbol))->prev;
        uint64_t count = node_at(grammar, item)->count;
        descend(grammar, item, depth > 0 ? count - 1 : count);
    }
}

/* Symbols that so many of it expand to; when they are more than `most`, anything more.  What a rule
 * of a longer one names is shorter by one at least, which bounds the depth. */
static size_t short_length(const struct grammar *grammar, uint32_t symbol, uint64_t count,
                           size_t most)
{
    if (count > most)
        return most + 1;
    if (!is_rule(symbol) || count == 0)
        return count;
    size_t length = 0;
    uint32_t guard = guard_of(symbol);
    for (uint32_t item = node_at(grammar, guard)->next; item != guard && length <= most;
         item = node_at(grammar, item)->next)
        length += short_length(grammar, node_at(grammar, item)->symbol,
                               node_at(grammar, item)->count, most - 1);
    return count * length;
}

/* What a string is compared with: `left` recent symbols, then one more. */
struct expected {
    size_t left;
    uint32_t last;
    bool ended;
};

/* Whether the expansion begins with what is expected, or is all of its beginning. */
static bool begins(const struct grammar *grammar, uint32_t symbol, struct expected *expected,
                   unsigned deepest)
{
    if (!is_rule(symbol)) {
        uint32_t next = expected->left
                            ? grammar->recent[(grammar->recent_end - expected->left) % RECENT]
                            : expected->last;
        expected->ended = expected->left == 0;
        expected->left -= expected->left > 0;
        return next == symbol;
    }
    uint32_t guard = guard_of(symbol);
    for (uint32_t item = node_at(grammar, guard)->next; item != guard;
         item = node_at(grammar, item)->next)
        for (uint64_t i = 0; i < node_at(grammar, item)->count && !expected->ended; i++)
            if (deepest == 0 ||
                !begins(grammar, node_at(grammar, item)->symbol, expected, deepest - 1))
                return false;
    return true;
}

/* Whether the item ends with one that begins with the last `behind` symbols and then the symbol. */
static bool goes_on(const struct grammar *grammar, uint32_t item, size_t behind, uint32_t symbol)
{
    uint32_t first = grammar->recent[(grammar->recent_end - behind) % RECENT];
    uint32_t named = node_at(grammar, item)->symbol;
    while (first_symbol(grammar, named) != first) {
        if (!is_rule(named))
            return false;
        named = node_at(grammar, node_at(grammar, guard_of(named))->prev)->symbol;
    }
    return is_rule(named) &&
           begins(grammar, named, &(struct expected){.left = behind, .last = symbol}, RECENT);
}

/* Goes back to behind an item of a level that goes on.  `behind`: what the string has gone through
 * since the level's node; returned: since the item, or since the level's beginning. */
static size_t take_back_to(struct grammar *grammar, size_t index, size_t behind, uint32_t symbol,
                           bool *found)
{
    struct grammar_level *level = VEC_AT(&grammar->levels, struct grammar_level, index);
    uint32_t first = first_followed(grammar, index);
    for (uint32_t item = level->node; behind <= RECENT && item != first;) {
        item = node_at(grammar, item)->prev;
        *found = behind > 0 && goes_on(grammar, item, behind, symbol);
        if (*found) {
            *level = (struct grammar_level){.node = node_at(grammar, item)->next};
            return behind;
        }
        const struct grammar_node *node = node_at(grammar, item);
        behind += short_length(grammar, node->symbol, node->count, RECENT);
    }
    return behind;
}

/* Where the string could go on with a loop, or with what came after it where it was followed, and
 * both began alike, the latter was followed.  When it was the loop after all, goes back to there,
 * and returns how many symbols that takes back; at most RECENT. */
static size_t take_back(struct grammar *grammar, uint32_t symbol)
{
    size_t behind = 0;
    bool found = false;
    for (size_t i = grammar->levels.count; i-- > 0 && behind <= RECENT;) {
        struct grammar_level level = *VEC_AT(&grammar->levels, struct grammar_level, i);
        behind += short_length(grammar, node_at(grammar, level.node)->symbol, level.done, RECENT);
        behind = take_back_to(grammar, i, behind, symbol, &found);
        if (found) {
            grammar->levels.count = i + 1;
            grammar->ended = false;
            return behind;
        }
    }
    return 0;
}

/* ---- leaving it ------------------------------------------------------------------------------ */

static void append_copy(struct grammar *grammar, uint32_t item)
{
    const struct grammar_node *node = node_at(grammar, item);
    rewrite__append(grammar, node->symbol, node->count);
}

/* Puts in the items first … last that stand in the expansion. */
static void leave_items(struct grammar *grammar, size_t index, uint32_t first, uint32_t last)
{
    if (index == 0 && grammar->from)
        rewrite__extend_last(grammar,
                             grammar->pair ? node_at(grammar, grammar->from)->prev : grammar->from,
                             last, grammar->pair);
    else if (first == last)
        append_copy(grammar, first);
    else
        rewrite__append(grammar, GRAMMAR_RULE | rewrite__new_rule(grammar, first, last), 1);
}

/* Puts in what the string has gone through at a level: whole items, then iterations of the next. */
static void leave_level(struct grammar *grammar, size_t index, uint32_t first)
{
    struct grammar_level level = *VEC_AT(&grammar->levels, struct grammar_level, index);
    uint32_t last = node_at(grammar, level.node)->prev;
    if (level.node != first)
        leave_items(grammar, index, first, last);
    if (level.done > 0)
        rewrite__append(grammar, node_at(grammar, level.node)->symbol, level.done);
}

size_t follow__leave(struct grammar *grammar, uint32_t symbol, bool may_take_back)
{
    size_t back = may_take_back ? take_back(grammar, symbol) : 0;
    step_back(grammar, back ? grammar->recent[(grammar->recent_end - back) % RECENT] : symbol);
    uint32_t first = first_followed(grammar, 0);
    for (size_t i = 0; i < grammar->levels.count; i++) {
        uint32_t next = i + 1 == grammar->levels.count ? 0 : first_followed(grammar, i + 1);
        leave_level(grammar, i, first);
        first = next;
    }
    grammar->levels.count = 0;
    grammar->ended = false;
    rewrite__settle(grammar);
    return back;
}
