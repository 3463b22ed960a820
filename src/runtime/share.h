/* share.h: who may record how much of what a thread's budget leaves: the functions that occur most
 * often are held to one common rate, the others are recorded whole.  No libc, no state. */
#ifndef HEURT_RUNTIME_SHARE_H
#define HEURT_RUNTIME_SHARE_H

#include <stdint.h>

/* What an occurrence costs beside being recorded, in ticks. */
struct costs {
    uint32_t drawn; /* what a drawn one costs more */
    uint32_t left_out;
};

/* Blocks that are shorter save next to nothing; longer ones would save less than one in a hundred
 * of what leaving out costs. */
#define BLOCK_LEAST 4u
#define BLOCK_MOST 1024u

struct share {
    uint32_t occurrences; /* in some time */
    uint32_t recorded;    /* ticks that recording one costs */
    uint32_t block;       /* result: one in so many; 1: all */
};

/* allowance: ticks that all of them may cost together in that time. */
void share__divide(struct share *shares, unsigned count, const struct costs *costs,
                   uint64_t allowance);

#endif
