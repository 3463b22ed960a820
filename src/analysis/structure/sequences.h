/* sequences.h: what happens in the same order in several places of a program.
 *
 * The bodies of all shapes, as their items look on the surface (outline.h), are one string, with
 * ends between them that occur but once. Its grammar's rules (grammar.h) are the sequences: of
 * a b c b d a b e a b c these are a b, three times, and (a b) c, twice.
 *
 * Linear in the items of all bodies. */
#ifndef HEURT_ANALYSIS_STRUCTURE_SEQUENCES_H
#define HEURT_ANALYSIS_STRUCTURE_SEQUENCES_H

#include "analysis/structure/structure.h"

struct sequence_item {
    bool is_sequence;
    uint32_t what;  /* index into sequences.rows, or the number of a shape: a surface */
    uint64_t count; /* in a row */
};

struct sequence {
    struct vec items;     /* struct sequence_item: 2 or more */
    uint64_t length;      /* items with those of the sequences in it */
    uint64_t places;      /* in bodies: 2 or more */
    uint64_t occurrences; /* how often that happened: a body counts as often as it occurred */
    uint64_t sum_ns;      /* what its items took, all together */
};

struct sequences {
    struct vec rows; /* struct sequence, by sum_ns */
    uint64_t lifetime_ns;
};

struct sequences *sequences__find(const struct trace *trace, const struct structure *structure);
void sequences__free(struct sequences *sequences); /* NULL is allowed */

/* Of all threads' lifetimes. */
double sequence__share(const struct sequences *sequences, const struct sequence *sequence);

#endif
