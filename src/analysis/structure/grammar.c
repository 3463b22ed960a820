#include "analysis/structure/grammar_parts.h"
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
                                .levels = VEC_OF(struct grammar_level),
                                .order = VEC_OF(struct rule_info)};
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

/* ---- adding ---------------------------------------------------------------------------------- */

/* Whether the symbol goes on with the last item. */
static bool repeats(struct grammar *grammar, uint32_t symbol)
{
    uint32_t named = node_at(grammar, last_item(grammar))->symbol;
    if (first_symbol(grammar, named) != symbol)
        return false;
    if (is_rule(named))
        follow__repeat(grammar, symbol);
    else
        rewrite__append(grammar, symbol, 1);
    return true;
}

/* Whether the symbol begins what comes after an item elsewhere, before `end`. */
static bool comes_after(const struct grammar *grammar, uint32_t item, uint32_t symbol, uint32_t end)
{
    uint32_t next = node_at(grammar, item)->next;
    return next != end && !is_guard(grammar, next) &&
           first_symbol(grammar, node_at(grammar, next)->symbol) == symbol;
}

/* Whether the symbol goes on with what followed the last item elsewhere. */
static bool resumes(struct grammar *grammar, uint32_t symbol)
{
    uint32_t last = last_item(grammar);
    const struct grammar_node *item = node_at(grammar, last);
    if (!is_rule(item->symbol))
        return false;
    uint32_t other = node_at(grammar, guard_of(item->symbol))->use_next;
    if (other == last)
        other = item->use_next;
    if (!other || node_at(grammar, other)->count != item->count ||
        !comes_after(grammar, other, symbol, last))
        return false;
    follow__start(grammar, other, false, symbol);
    return true;
}

/* Whether the symbol goes on with what followed the last two items at `found`. What they become is
 * made when it is known how long it is: a rule of the two would go again at once. */
static bool resumes_pair(struct grammar *grammar, uint32_t found, uint32_t symbol)
{
    uint32_t end = node_at(grammar, last_item(grammar))->prev;
    uint32_t right = node_at(grammar, found)->next;
    if (first_symbol(grammar, node_at(grammar, found)->symbol) == symbol ||
        !comes_after(grammar, right, symbol, end))
        return false;
    follow__start(grammar, right, true, symbol);
    return true;
}

static void add(struct grammar *grammar, uint32_t symbol)
{
    while (last_item(grammar) != WHOLE) {
        if (repeats(grammar, symbol))
            return;
        uint32_t found = rewrite__close(grammar);
        if (!found) {
            if (resumes(grammar, symbol))
                return;
            break;
        }
        if (resumes_pair(grammar, found, symbol))
            return;
        rewrite__unite_last(grammar, found);
    }
    rewrite__append(grammar, symbol, 1);
}

/* Adds again what had to be taken back; nothing more is. */
static void add_again(struct grammar *grammar, const uint32_t *symbols, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (grammar->levels.count > 0 && follow__next(grammar, symbols[i]))
            continue;
        if (grammar->levels.count > 0)
            follow__leave(grammar, symbols[i], false);
        add(grammar, symbols[i]);
    }
}

void grammar__add(struct grammar *grammar, uint32_t symbol)
{
    if (grammar->levels.count > 0 && follow__next(grammar, symbol))
        return;
    size_t back = grammar->levels.count > 0 ? follow__leave(grammar, symbol, true) : 0;
    if (back == 0) {
        add(grammar, symbol);
        return;
    }
    uint32_t symbols[RECENT + 1];
    for (size_t i = 0; i < back; i++)
        symbols[i] = grammar->recent[(grammar->recent_end - back + i) % RECENT];
    symbols[back] = symbol;
    add_again(grammar, symbols, back + 1);
}

void grammar__end(struct grammar *grammar)
{
    if (grammar->levels.count > 0)
        follow__leave(grammar, GRAMMAR_RULE, false);
    uint32_t found;
    while (last_item(grammar) != WHOLE && (found = rewrite__close(grammar)))
        rewrite__unite_last(grammar, found);
    numbers__assign(grammar);
}
