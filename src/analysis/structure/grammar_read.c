#include "analysis/structure/grammar_parts.h"

/* ---- numbers --------------------------------------------------------------------------------- */

enum { SEEN = 1 }; /* a rule's number while they are given: what it is, plus this */

static struct rule_info *facts_of(const struct grammar *grammar, size_t rule)
{
    return VEC_AT(&grammar->order, struct rule_info, rule);
}

static uint32_t number_of(const struct grammar *grammar, uint32_t symbol)
{
    return node_at(grammar, guard_of(symbol))->number - SEEN;
}

static void forget_numbers(struct grammar *grammar)
{
    VEC_EACH (info, &grammar->order, struct rule_info)
        node_at(grammar, info->guard)->number = 0;
    grammar->order.count = 0;
    grammar->items = 0;
}

static void give_number(struct grammar *grammar, uint32_t guard)
{
    *(struct rule_info *)vec__extend(&grammar->order, 1) = (struct rule_info){.guard = guard};
    node_at(grammar, guard)->number = (uint32_t)grammar->order.count - 1 + SEEN;
}

/* Appends the number of every rule once, after those that it names. */
static void rules_from_below(struct grammar *grammar, struct vec *numbers)
{
    struct vec path = VEC_OF(uint32_t); /* the item to look at next, a rule each */
    give_number(grammar, WHOLE);
    vec__push(&path, &node_at(grammar, WHOLE)->next);
    while (path.count > 0) {
        uint32_t *item = VEC_AT(&path, uint32_t, path.count - 1);
        const struct grammar_node *node = node_at(grammar, *item);
        if (is_guard(grammar, *item)) {
            uint32_t number = node->number - SEEN;
            vec__push(numbers, &number);
            path.count--;
            continue;
        }
        *item = node->next;
        grammar->items++;
        if (is_rule(node->symbol) && !node_at(grammar, guard_of(node->symbol))->number) {
            give_number(grammar, guard_of(node->symbol));
            vec__push(&path, &node_at(grammar, guard_of(node->symbol))->next);
        }
    }
    vec__free(&path);
}

static void measure(struct grammar *grammar, struct rule_info *info)
{
    for (uint32_t item = node_at(grammar, info->guard)->next; item != info->guard;
         item = node_at(grammar, item)->next) {
        const struct grammar_node *node = node_at(grammar, item);
        uint64_t length =
            is_rule(node->symbol) ? facts_of(grammar, number_of(grammar, node->symbol))->length : 1;
        info->length += node->count * length;
    }
}

static void use_named(struct grammar *grammar, const struct rule_info *info)
{
    for (uint32_t item = node_at(grammar, info->guard)->next; item != info->guard;
         item = node_at(grammar, item)->next) {
        const struct grammar_node *node = node_at(grammar, item);
        if (is_rule(node->symbol))
            facts_of(grammar, number_of(grammar, node->symbol))->uses += info->uses * node->count;
    }
}

void numbers__assign(struct grammar *grammar)
{
    struct vec numbers = VEC_OF(uint32_t);
    forget_numbers(grammar);
    rules_from_below(grammar, &numbers);
    VEC_EACH (number, &numbers, uint32_t)
        measure(grammar, facts_of(grammar, *number));
    facts_of(grammar, 0)->uses = 1;
    for (size_t i = numbers.count; i-- > 0;)
        use_named(grammar, facts_of(grammar, *VEC_AT(&numbers, uint32_t, i)));
    vec__free(&numbers);
}

/* ---- questions ------------------------------------------------------------------------------- */

size_t grammar__rules(const struct grammar *grammar)
{
    return grammar->order.count;
}

size_t grammar__rule(const struct grammar *grammar, size_t rule, struct vec *items)
{
    uint32_t guard = facts_of(grammar, rule)->guard;
    size_t before = items->count;
    for (uint32_t item = node_at(grammar, guard)->next; item != guard;
         item = node_at(grammar, item)->next) {
        const struct grammar_node *node = node_at(grammar, item);
        uint32_t symbol =
            is_rule(node->symbol) ? GRAMMAR_RULE | number_of(grammar, node->symbol) : node->symbol;
        vec__push(items, &(struct grammar_item){.symbol = symbol, .count = node->count});
    }
    return items->count - before;
}

uint64_t grammar__length(const struct grammar *grammar, size_t rule)
{
    return facts_of(grammar, rule)->length;
}

uint64_t grammar__uses(const struct grammar *grammar, size_t rule)
{
    return facts_of(grammar, rule)->uses;
}

size_t grammar__size(const struct grammar *grammar)
{
    return grammar->items;
}

static size_t vec_bytes(const struct vec *vec)
{
    return vec->capacity * vec->item_bytes;
}

size_t grammar__bytes(const struct grammar *grammar)
{
    return sizeof *grammar + grammar->node_capacity * sizeof *grammar->nodes +
           grammar->digrams.size * sizeof *grammar->digrams.slots + vec_bytes(&grammar->checks) +
           vec_bytes(&grammar->doubts) + vec_bytes(&grammar->levels) + vec_bytes(&grammar->order);
}

/* ---- the expansion --------------------------------------------------------------------------- */

static void enter(struct grammar_walk *walk, uint32_t guard)
{
    struct grammar_level level = {.node = node_at(walk->grammar, guard)->next};
    vec__push(&walk->levels, &level);
}

void grammar_walk__start(struct grammar_walk *walk, const struct grammar *grammar, size_t rule)
{
    *walk = (struct grammar_walk){.grammar = grammar, .levels = VEC_OF(struct grammar_level)};
    enter(walk, facts_of(grammar, rule)->guard);
}

bool grammar_walk__next(struct grammar_walk *walk, uint32_t *symbol)
{
    while (walk->levels.count > 0) {
        struct grammar_level *level =
            VEC_AT(&walk->levels, struct grammar_level, walk->levels.count - 1);
        const struct grammar_node *node = node_at(walk->grammar, level->node);
        if (is_guard(walk->grammar, level->node)) {
            walk->levels.count--;
        } else if (level->done == node->count) {
            *level = (struct grammar_level){.node = node->next};
        } else {
            level->done++;
            if (!is_rule(node->symbol)) {
                *symbol = node->symbol;
                return true;
            }
            enter(walk, guard_of(node->symbol));
        }
    }
    return false;
}

void grammar_walk__stop(struct grammar_walk *walk)
{
    vec__free(&walk->levels);
}
