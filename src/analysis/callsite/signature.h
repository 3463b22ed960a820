/* signature.h: what is inside of an occurrence, as far as it makes a class of it.
 *
 *     occurrence of a place:  which places were called in it, in order, and what in these,
 *                             NEST_DEPTH levels deep
 *
 * What is repeated in a row stands there once, however often: f that calls g once and f that calls
 * it in a loop are one, "a b" and "a b a b" too. How often is kept beside it. So a callee signature
 * says less than a shape (shape.h), which tells the whole structure of a program; there are fewer
 * of them, and their number is bounded, as they are found in every report.
 *
 * Equal callee signatures have one number. Not thread-safe. For analysis/ only. */
#ifndef HEURT_ANALYSIS_CALLSITE_SIGNATURE_H
#define HEURT_ANALYSIS_CALLSITE_SIGNATURE_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEST_DEPTH 3
#define NEST_NONE UINT32_MAX

struct callee_item {
    uint32_t signature;
    uint64_t least,
        most; /* how often it was there in one occurrence; of a callee signature itself 0, 0 */
};

struct callee_signature {
    uint32_t place;
    uint32_t first_item, item_count;
    uint8_t height;    /* levels inside, at most NEST_DEPTH */
    bool is_irregular; /* too many different ones inside to tell them apart: no items */
    uint32_t cut[NEST_DEPTH];
};

struct callee_signatures;

struct callee_signatures *callee_signatures__new(void);
void callee_signatures__free(struct callee_signatures *signatures); /* NULL is allowed */

/* Finds all callee signatures of others there: a table (uint32_t, by their number) of those that
 * they are. What was not there gets numbers in the order of the others'. places: what places of the
 * others are called here; NULL: the same. free() it. */
uint32_t *callee_signatures__join(struct callee_signatures *signatures,
                                  const struct callee_signatures *others, const uint32_t *places);

/* The callee signature of a place in which nothing was. */
uint32_t callee_signatures__bare(struct callee_signatures *signatures, uint32_t place);

/* Valid until another callee signature is found. Items: the callee signatures of what is in it. */
const struct callee_signature *callee_signatures__get(const struct callee_signatures *signatures,
                                                      uint32_t signature);
const uint32_t *callee_signatures__items(const struct callee_signatures *signatures,
                                         uint32_t signature);

/* What of it is no deeper than depth levels; 0: its place alone. */
uint32_t callee_signatures__cut(struct callee_signatures *signatures, uint32_t signature,
                                unsigned depth);

/* Appends an item behind items that are told apart already; what it repeats is counted. */
void callee_items__append(struct vec *items, const struct callee_item *item);

/* ---- one thread ------------------------------------------------------------------------------ */

struct callee_walk;

struct callee_walk *callee_walk__new(struct callee_signatures *signatures);
void callee_walk__free(struct callee_walk *walk); /* NULL is allowed */

/* An occurrence in the order of their ends; depth: open spans around it. */
struct nested {
    uint32_t place;
    uint32_t depth;
    bool counts; /* is part of what it is in */
};

/* Its callee signature; items (struct callee_item, valid until the next one ends): what was just
 * inside, and how often; NULL: not told apart. */
uint32_t callee_walk__end(struct callee_walk *walk, const struct nested *nested,
                          const struct vec **items);

/* Whatever is open will not be told. */
void callee_walk__forget(struct callee_walk *walk);

#endif
