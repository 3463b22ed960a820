/* signature.h: what is inside of an occurrence, as far as it makes a class of it.
 *
 *     occurrence of a place:  which places were called in it, in order, and what in these,
 *                             NEST_DEPTH levels deep
 *
 * What is repeated in a row stands there once, however often: f that calls g once and f that calls
 * it in a loop are one, "a b" and "a b a b" too. How often is kept beside it. So a nest says less
 * than a shape (shape.h), which tells the whole structure of a program; there are fewer of them,
 * and their number is bounded, as they are found in every report.
 *
 * Equal nests have one number. Not thread-safe. For analysis/ only. */
#ifndef HEURT_ANALYSIS_CALLSITE_SIGNATURE_H
#define HEURT_ANALYSIS_CALLSITE_SIGNATURE_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEST_DEPTH 3
#define NEST_NONE UINT32_MAX

struct nest_item {
    uint32_t nest;
    uint64_t least, most; /* how often it was there in one occurrence; of a nest itself 0, 0 */
};

struct nest {
    uint32_t place;
    uint32_t first_item, item_count;
    uint8_t height;    /* levels inside, at most NEST_DEPTH */
    bool is_irregular; /* too many different ones inside to tell them apart: no items */
    uint32_t cut[NEST_DEPTH];
};

struct nests;

struct nests *nests__new(void);
void nests__free(struct nests *nests); /* NULL is allowed */

/* Finds all nests of others there: a table (uint32_t, by their number) of those that they are. What
 * was not there gets numbers in the order of the others'. places: what places of the others are
 * called here; NULL: the same. free() it. */
uint32_t *nests__join(struct nests *nests, const struct nests *others, const uint32_t *places);

/* The nest of a place in which nothing was. */
uint32_t nests__bare(struct nests *nests, uint32_t place);

/* Valid until another nest is found. Items: the nests of what is in it. */
const struct nest *nests__get(const struct nests *nests, uint32_t nest);
const uint32_t *nests__items(const struct nests *nests, uint32_t nest);

/* What of it is no deeper than depth levels; 0: its place alone. */
uint32_t nests__cut(struct nests *nests, uint32_t nest, unsigned depth);

/* Appends an item behind items that are told apart already; what it repeats is counted. */
void nest_items__append(struct vec *items, const struct nest_item *item);

/* ---- one thread ------------------------------------------------------------------------------ */

struct nest_walk;

struct nest_walk *nest_walk__new(struct nests *nests);
void nest_walk__free(struct nest_walk *walk); /* NULL is allowed */

/* An occurrence in the order of their ends; depth: open spans around it. */
struct nested {
    uint32_t place;
    uint32_t depth;
    bool counts; /* is part of what it is in */
};

/* Its nest; items (struct nest_item, valid until the next one ends): what was just inside, and how
 * often; NULL: not told apart. */
uint32_t nest_walk__end(struct nest_walk *walk, const struct nested *nested,
                        const struct vec **items);

/* Whatever is open will not be told. */
void nest_walk__forget(struct nest_walk *walk);

#endif
