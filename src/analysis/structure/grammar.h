/* grammar.h: the structure of a string of symbols, as rules that expand to it.
 *
 * A rule is a sequence of items; an item is a symbol or a rule, so many times in a row: runs are
 * loops, and loops hold loops.  a b c b d a b e a b c becomes S = R2 b d R1 e R2, R1 = a b,
 * R2 = R1 c; ((a b) three times, then c) five times becomes S = R2^5, R2 = R1^3 c, R1 = a b.
 *
 * Built while the string arrives, one pass, nothing is lost.  Whenever the string has been ended:
 *
 *     digram uniqueness   no two neighbouring items (counts included) occur twice;
 *     rule utility        every rule but 0 occurs in two places, or in one more than once in a row;
 *     runs                neighbouring items differ; no rule but 0 is a single item.
 *
 * The method, its sources and where it departs from them: docs/structure.md.  Time is linear in the
 * string, memory in the grammar.  One thread at a time; grammars share nothing. */
#ifndef HEURT_ANALYSIS_STRUCTURE_GRAMMAR_H
#define HEURT_ANALYSIS_STRUCTURE_GRAMMAR_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAMMAR_RULE                                                             \
    (UINT32_C(1) << 31) /* symbols are less; of an item: a rule's number follows \
                         */

struct grammar;

struct grammar *grammar__new(void);
void grammar__free(struct grammar *grammar); /* NULL is nothing */

void grammar__add(struct grammar *grammar, uint32_t symbol);

/* Puts in what is still being matched, and numbers the rules: 0 is the whole string, the others
 * follow in the order in which they first occur in it, so equal strings have equal grammars.  More
 * may be added afterwards.  What is below tells the state of the last end. */
void grammar__end(struct grammar *grammar);

struct grammar_item {
    uint32_t symbol; /* or GRAMMAR_RULE | the rule's number */
    uint64_t count;  /* in a row, ≥ 1 */
};

size_t grammar__rules(const struct grammar *grammar); /* ≥ 1 */

/* Appends the rule's items, struct grammar_item, and returns how many. */
size_t grammar__rule(const struct grammar *grammar, size_t rule, struct vec *items);

uint64_t grammar__length(const struct grammar *grammar, size_t rule); /* symbols it expands to */
uint64_t grammar__uses(const struct grammar *grammar,
                       size_t rule);                  /* in the string, loops multiplied */
size_t grammar__size(const struct grammar *grammar);  /* items of all rules */
size_t grammar__bytes(const struct grammar *grammar); /* memory it holds */

/* The expansion of a rule, symbol by symbol.  The grammar must not change meanwhile. */
struct grammar_walk {
    const struct grammar *grammar;
    struct vec levels; /* as deep as the grammar, not as the C stack */
};

void grammar_walk__start(struct grammar_walk *walk, const struct grammar *grammar, size_t rule);
bool grammar_walk__next(struct grammar_walk *walk, uint32_t *symbol); /* false: that was all */
void grammar_walk__stop(struct grammar_walk *walk);

#endif
