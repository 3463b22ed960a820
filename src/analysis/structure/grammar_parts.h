/* grammar_parts.h: what the files of the grammar share; for grammar*.c only.
 *
 * Nodes link by their place in one array.  A rule is a ring of nodes that is closed by a guard; its
 * name as a symbol is GRAMMAR_RULE | the guard's place.  Node 0 is the guard of the whole string,
 * so 0 also says "none" where neither that guard nor a rule's item can be meant.
 *
 *     guard of R ⇄ item ⇄ item ⇄ … ⇄ guard of R        items that name R form a list, which R's
 *                                                       guard heads, through use_next and use_prev
 */
#ifndef HEURT_ANALYSIS_STRUCTURE_GRAMMAR_PARTS_H
#define HEURT_ANALYSIS_STRUCTURE_GRAMMAR_PARTS_H

#include "analysis/structure/grammar.h"

struct grammar_node {
    uint64_t count;  /* in a row; 0: a guard, or free */
    uint32_t symbol; /* of a guard: the first symbol that its rule expands to; SYMBOL_FREE: free */
    uint32_t next, prev;
    uint32_t use_next; /* of a guard: the item that was the last to name its rule */
    uint32_t use_prev; /* of a guard: the number of items that name it */
    uint32_t number;   /* of a guard: its rule's, as of the last end */
};

enum { WHOLE = 0 };              /* the guard of the whole string */
#define SYMBOL_FREE GRAMMAR_RULE /* the whole string is no item */

/* Where each pair of neighbours is: open addressing, linear probing.  A slot keeps the hash, so
 * that neither growing nor removing reads nodes, and few misses do. */
struct digrams {
    struct digram_slot {
        uint32_t hash;
        uint32_t node; /* the left one; 0: empty */
    } * slots;
    size_t size, count; /* size: a power of 2 */
};

/* A level of the expansion that the string is following. */
struct grammar_level {
    uint64_t done; /* repetitions of the node's symbol that the string has gone through */
    uint32_t node;
};

enum { RECENT = 16 }; /* a power of 2 */

struct grammar {
    struct grammar_node *nodes;
    size_t node_count, node_capacity;
    uint32_t free_node; /* the first free one, linked by next; 0: none */
    bool open;          /* the last item may still grow: the digram that it ends is not indexed */
    struct digrams digrams;
    struct vec checks; /* uint32_t: nodes whose digram is new */
    size_t checked;    /* of these, done */
    struct vec doubts; /* uint32_t: guards of rules that may be of no use any more */
    struct vec levels; /* struct grammar_level: the expansion that is followed; empty: none */
    uint32_t from;     /* the occurrence of the last item that is followed; 0: its own repetition */
    bool pair;         /* it is one of the last two items */
    bool ended;        /* all of it has been gone through */
    uint32_t recent[RECENT]; /* symbols that were followed */
    uint32_t recent_end;     /* where the next one goes */
    struct vec order;        /* struct rule_info, by number */
    size_t items;            /* of all rules, as of the last end */
};

struct rule_info {
    uint32_t guard;
    uint64_t length, uses;
};

static inline struct grammar_node *node_at(const struct grammar *grammar, uint32_t node)
{
    return &grammar->nodes[node];
}

static inline bool is_rule(uint32_t symbol)
{
    return symbol & GRAMMAR_RULE;
}

static inline uint32_t guard_of(uint32_t symbol)
{
    return symbol & ~GRAMMAR_RULE;
}

static inline bool is_guard(const struct grammar *grammar, uint32_t node)
{
    return node_at(grammar, node)->count == 0;
}

static inline uint32_t last_item(const struct grammar *grammar)
{
    return node_at(grammar, WHOLE)->prev;
}

static inline uint32_t first_symbol(const struct grammar *grammar, uint32_t symbol)
{
    return is_rule(symbol) ? node_at(grammar, guard_of(symbol))->symbol : symbol;
}

/* ---- grammar_digrams.c: a digram is named by its left node, which has a right one ------------ */

/* The node where the same digram is indexed; 0: nowhere, and here from now on. */
uint32_t digrams__find_or_insert(struct grammar *grammar, uint32_t node);
/* Nothing when it is not indexed here. */
void digrams__remove(struct grammar *grammar, uint32_t node);

/* ---- grammar_rewrite.c: changes that keep what the rules expand to --------------------------- */

/* Appends to the whole string, or lets its last item grow; what was last is closed by it. */
void rewrite__append(struct grammar *grammar, uint32_t symbol, uint64_t count);
/* The last item may grow from now on. */
void rewrite__open(struct grammar *grammar);
/* The last item is complete. 0: the digram that it ends is new, and indexed; else where it is. */
uint32_t rewrite__close(struct grammar *grammar);
/* The last two items and those found become the same; what is last then is open. */
void rewrite__unite_last(struct grammar *grammar, uint32_t found);
/* Makes a rule of first … last, neighbours, which are not a whole rule, and returns the guard. */
uint32_t rewrite__new_rule(struct grammar *grammar, uint32_t first, uint32_t last);
/* The last item, which is the same as first, or the last pair, which are the same as first and the
 * next, become what first … last are. */
void rewrite__extend_last(struct grammar *grammar, uint32_t first, uint32_t last, bool pair);
/* Until all digrams are unique and all rules of use. */
void rewrite__settle(struct grammar *grammar);

/* ---- grammar_follow.c: what stands elsewhere foretells what comes next ----------------------- */

/* Begins with the expansion of what comes after `from`, which the symbol is the first of.  `from`
 * is the same item as the last one; pair: it and the one before it as the last two, which are open.
 */
void follow__start(struct grammar *grammar, uint32_t from, bool pair, uint32_t symbol);
/* Begins with the last item once more, a rule of which the symbol is the first. */
void follow__repeat(struct grammar *grammar, uint32_t symbol);
/* False: what is followed does not go on with the symbol. */
bool follow__next(struct grammar *grammar, uint32_t symbol);
/* Puts in what was followed, which does not go on with the symbol, and follows nothing any more.
 * Returns how many of the recent symbols have to be added again, if any may. */
size_t follow__leave(struct grammar *grammar, uint32_t symbol, bool may_take_back);

/* ---- grammar_read.c -------------------------------------------------------------------------- */

/* Numbers the rules, and counts what the grammar holds. */
void numbers__assign(struct grammar *grammar);

#endif
