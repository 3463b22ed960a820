/* Every change takes the digrams that it breaks out of the index, and leaves the nodes where new
 * ones begin in `checks` and the rules that lost an item in `doubts`.  Both are looked at when the
 * change is done; that a node or a rule has become another one by then does no harm, for what is
 * asked of it holds of any. */
#include "analysis/structure/grammar_parts.h"
#include "base/memory.h"

/* ---- nodes ----------------------------------------------------------------------------------- */

static uint32_t new_node(struct grammar *grammar)
{
    uint32_t node = grammar->free_node;
    if (node) {
        grammar->free_node = node_at(grammar, node)->next;
    } else {
        if (grammar->node_count == grammar->node_capacity) {
            if (grammar->node_count >= GRAMMAR_RULE / 2)
                out_of_memory(2 * grammar->node_count * sizeof(struct grammar_node));
            grammar->node_capacity = 2 * grammar->node_capacity;
            grammar->nodes =
                memory__resize(grammar->nodes, grammar->node_capacity, sizeof *grammar->nodes);
        }
        node = (uint32_t)grammar->node_count++;
    }
    *node_at(grammar, node) = (struct grammar_node){.symbol = SYMBOL_FREE};
    return node;
}

static void free_node(struct grammar *grammar, uint32_t node)
{
    *node_at(grammar, node) =
        (struct grammar_node){.symbol = SYMBOL_FREE, .next = grammar->free_node};
    grammar->free_node = node;
}

static void link_nodes(struct grammar *grammar, uint32_t left, uint32_t right)
{
    node_at(grammar, left)->next = right;
    node_at(grammar, right)->prev = left;
}

static void check(struct grammar *grammar, uint32_t node)
{
    *(uint32_t *)vec__extend(&grammar->checks, 1) = node;
}

static void doubt(struct grammar *grammar, uint32_t guard)
{
    if (guard != WHOLE)
        *(uint32_t *)vec__extend(&grammar->doubts, 1) = guard;
}

/* ---- what items name ------------------------------------------------------------------------- */

static void put_symbol(struct grammar *grammar, uint32_t item, uint32_t symbol)
{
    struct grammar_node *node = node_at(grammar, item);
    node->symbol = symbol;
    if (!is_rule(symbol))
        return;
    struct grammar_node *guard = node_at(grammar, guard_of(symbol));
    node->use_prev = guard_of(symbol);
    node->use_next = guard->use_next;
    if (guard->use_next)
        node_at(grammar, guard->use_next)->use_prev = item;
    guard->use_next = item;
    guard->use_prev++;
}

static void unname(struct grammar *grammar, uint32_t item)
{
    const struct grammar_node *node = node_at(grammar, item);
    if (!is_rule(node->symbol))
        return;
    node_at(grammar, node->use_prev)->use_next = node->use_next;
    if (node->use_next)
        node_at(grammar, node->use_next)->use_prev = node->use_prev;
    node_at(grammar, guard_of(node->symbol))->use_prev--;
    doubt(grammar, guard_of(node->symbol));
}

static uint32_t new_item(struct grammar *grammar, uint32_t symbol, uint64_t count)
{
    uint32_t item = new_node(grammar);
    node_at(grammar, item)->count = count;
    put_symbol(grammar, item, symbol);
    return item;
}

static void free_item(struct grammar *grammar, uint32_t item)
{
    unname(grammar, item);
    free_node(grammar, item);
}

/* ---- changes of a rule's items --------------------------------------------------------------- */

/* A rule whose last but one item went is a single one now. */
static void doubt_single(struct grammar *grammar, uint32_t item)
{
    const struct grammar_node *node = node_at(grammar, item);
    if (node->next == node->prev)
        doubt(grammar, node->next);
}

/* Makes an item and its right neighbour one when they are the same symbol. */
static bool join(struct grammar *grammar, uint32_t item)
{
    uint32_t other = node_at(grammar, item)->next;
    if (is_guard(grammar, item) || is_guard(grammar, other) ||
        node_at(grammar, item)->symbol != node_at(grammar, other)->symbol)
        return false;
    digrams__remove(grammar, node_at(grammar, item)->prev);
    digrams__remove(grammar, other);
    node_at(grammar, item)->count += node_at(grammar, other)->count;
    link_nodes(grammar, item, node_at(grammar, other)->next);
    free_item(grammar, other);
    check(grammar, node_at(grammar, item)->prev);
    check(grammar, item);
    doubt_single(grammar, item);
    return true;
}

/* Takes an item's digrams out of the index, before it changes. */
static void touch(struct grammar *grammar, uint32_t item)
{
    digrams__remove(grammar, node_at(grammar, item)->prev);
    digrams__remove(grammar, item);
}

/* After an item has changed, its digrams being out of the index. */
static void touched(struct grammar *grammar, uint32_t item)
{
    uint32_t prev = node_at(grammar, item)->prev;
    check(grammar, prev);
    check(grammar, item);
    doubt_single(grammar, item);
    join(grammar, item);
    join(grammar, prev);
}

/* The item and its right neighbour, which are what the rule is, become the rule. */
static void replace_pair(struct grammar *grammar, uint32_t item, uint32_t guard)
{
    uint32_t other = node_at(grammar, item)->next;
    touch(grammar, item);
    digrams__remove(grammar, other);
    link_nodes(grammar, item, node_at(grammar, other)->next);
    free_item(grammar, other);
    unname(grammar, item);
    node_at(grammar, item)->count = 1;
    put_symbol(grammar, item, GRAMMAR_RULE | guard);
    touched(grammar, item);
}

uint32_t rewrite__new_rule(struct grammar *grammar, uint32_t first, uint32_t last)
{
    uint32_t prev = node_at(grammar, first)->prev, next = node_at(grammar, last)->next;
    digrams__remove(grammar, prev);
    digrams__remove(grammar, last);
    uint32_t guard = new_node(grammar);
    node_at(grammar, guard)->symbol = first_symbol(grammar, node_at(grammar, first)->symbol);
    link_nodes(grammar, guard, first);
    link_nodes(grammar, last, guard);
    uint32_t item = new_item(grammar, GRAMMAR_RULE | guard, 1);
    link_nodes(grammar, prev, item);
    link_nodes(grammar, item, next);
    check(grammar, prev);
    check(grammar, item);
    return guard;
}

/* ---- the rules of the rules ------------------------------------------------------------------ */

/* The guard of the rule that first … last are all of; WHOLE: they are not. */
static uint32_t rule_of(const struct grammar *grammar, uint32_t first, uint32_t last)
{
    uint32_t prev = node_at(grammar, first)->prev;
    return is_guard(grammar, prev) && prev == node_at(grammar, last)->next ? prev : WHOLE;
}

static uint32_t rule_of_pair(const struct grammar *grammar, uint32_t left)
{
    return rule_of(grammar, left, node_at(grammar, left)->next);
}

/* The same digram at two places, of which indexed is in the index. */
static void unite(struct grammar *grammar, uint32_t item, uint32_t indexed)
{
    uint32_t guard = rule_of_pair(grammar, indexed);
    if (!guard && (guard = rule_of_pair(grammar, item))) {
        digrams__remove(grammar, indexed);
        digrams__find_or_insert(grammar, item);
        item = indexed;
    }
    if (!guard)
        guard = rewrite__new_rule(grammar, indexed, node_at(grammar, indexed)->next);
    replace_pair(grammar, item, guard);
}

static void check_digram(struct grammar *grammar, uint32_t item)
{
    if (is_guard(grammar, item) || is_guard(grammar, node_at(grammar, item)->next) ||
        (grammar->open && node_at(grammar, item)->next == last_item(grammar)))
        return;
    uint32_t found = digrams__find_or_insert(grammar, item);
    if (found && found != item)
        unite(grammar, item, found);
}

/* The only item that names the rule becomes what the rule is.  That item is never the last one of
 * the whole string, which may be open: where an item goes, one that names the same stays in the
 * rule that took its place. */
static void expand(struct grammar *grammar, uint32_t guard, uint32_t item)
{
    touch(grammar, item);
    uint32_t prev = node_at(grammar, item)->prev, next = node_at(grammar, item)->next;
    uint32_t first = node_at(grammar, guard)->next, last = node_at(grammar, guard)->prev;
    link_nodes(grammar, prev, first);
    link_nodes(grammar, last, next);
    free_node(grammar, item);
    free_node(grammar, guard);
    check(grammar, prev);
    check(grammar, last);
    join(grammar, last);
    join(grammar, prev);
}

/* Whatever names a rule that is a single item becomes that item. */
static void dissolve(struct grammar *grammar, uint32_t guard)
{
    uint32_t only = node_at(grammar, guard)->next;
    uint32_t symbol = node_at(grammar, only)->symbol;
    uint64_t count = node_at(grammar, only)->count;
    for (uint32_t item; (item = node_at(grammar, guard)->use_next);) {
        touch(grammar, item);
        unname(grammar, item);
        node_at(grammar, item)->count *= count;
        put_symbol(grammar, item, symbol);
        touched(grammar, item);
    }
    free_item(grammar, only);
    free_node(grammar, guard);
}

static void check_rule(struct grammar *grammar, uint32_t guard)
{
    const struct grammar_node *node = node_at(grammar, guard);
    if (!is_guard(grammar, guard) || node->symbol == SYMBOL_FREE || guard == WHOLE)
        return;
    if (node->next == node->prev)
        dissolve(grammar, guard);
    else if (node->use_prev == 1 && node_at(grammar, node->use_next)->count == 1)
        expand(grammar, guard, node->use_next);
}

void rewrite__settle(struct grammar *grammar)
{
    for (;;) {
        if (grammar->doubts.count > 0)
            check_rule(grammar, *VEC_AT(&grammar->doubts, uint32_t, --grammar->doubts.count));
        else if (grammar->checked < grammar->checks.count)
            check_digram(grammar, *VEC_AT(&grammar->checks, uint32_t, grammar->checked++));
        else
            break;
    }
    grammar->checks.count = grammar->checked = 0;
}

/* ---- the end of the whole string ------------------------------------------------------------- */

void rewrite__open(struct grammar *grammar)
{
    if (!grammar->open)
        digrams__remove(grammar, node_at(grammar, last_item(grammar))->prev);
    grammar->open = true;
}

void rewrite__append(struct grammar *grammar, uint32_t symbol, uint64_t count)
{
    uint32_t last = last_item(grammar);
    if (last != WHOLE && node_at(grammar, last)->symbol == symbol) {
        rewrite__open(grammar);
        node_at(grammar, last)->count += count;
        return;
    }
    if (last != WHOLE && grammar->open)
        check(grammar, node_at(grammar, last)->prev);
    uint32_t item = new_item(grammar, symbol, count);
    link_nodes(grammar, last, item);
    link_nodes(grammar, item, WHOLE);
    grammar->open = true;
}

uint32_t rewrite__close(struct grammar *grammar)
{
    uint32_t prev = node_at(grammar, last_item(grammar))->prev;
    if (!grammar->open)
        return 0;
    uint32_t found = prev == WHOLE ? 0 : digrams__find_or_insert(grammar, prev);
    grammar->open = found != 0;
    return found;
}

void rewrite__unite_last(struct grammar *grammar, uint32_t found)
{
    unite(grammar, node_at(grammar, last_item(grammar))->prev, found);
    rewrite__settle(grammar);
}

void rewrite__extend_last(struct grammar *grammar, uint32_t first, uint32_t last, bool pair)
{
    uint32_t guard = rule_of(grammar, first, last);
    if (!guard)
        guard = rewrite__new_rule(grammar, first, last);
    uint32_t item = last_item(grammar);
    rewrite__open(grammar);
    if (pair) {
        item = node_at(grammar, item)->prev;
        digrams__remove(grammar, node_at(grammar, item)->prev);
        free_item(grammar, node_at(grammar, item)->next);
        link_nodes(grammar, item, WHOLE);
    }
    unname(grammar, item);
    node_at(grammar, item)->count = 1;
    put_symbol(grammar, item, GRAMMAR_RULE | guard);
    join(grammar, node_at(grammar, item)->prev);
}
