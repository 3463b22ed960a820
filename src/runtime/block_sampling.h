/* block_sampling.h: which occurrences of a sampled function are recorded.
 *
 * Consecutive occurrences form blocks; of each block of k one is drawn, each with probability 1/k,
 * and stands for all k (docs/accuracy.md).  Lengths of blocks may differ from block to block, but
 * the next one's is settled before its first occurrence.
 *
 *     block of 4        block of 6                    gap:   occurrences from one drawn (excluded)
 *     . . X .           . X . . . .                          to the next one (included)
 *         |--after = 2|   position = 1                after: from the drawn one (included) to the
 *         '------ gap = 3 -'                                 end of its block
 *
 * Nothing but arithmetic: the runtime uses it, and the tests. */
#ifndef HEURT_RUNTIME_BLOCK_SAMPLING_H
#define HEURT_RUNTIME_BLOCK_SAMPLING_H

#include <stdint.h>

struct block_sampling {
    uint32_t block; /* length of the block whose occurrence is drawn: its weight; 0: not sampled */
    uint32_t after;
};

/* Uniform in [0, below), but for a part of below / 2^32. xorshift64*; *random is not 0. */
static inline uint32_t random__below(uint64_t *random, uint32_t below)
{
    uint64_t value = *random;
    value ^= value >> 12;
    value ^= value << 25;
    value ^= value >> 27;
    *random = value;
    return (uint32_t)((value * 0x2545f4914f6cdd1dull >> 32) * below >> 32);
}

/* Draws from a block that begins with the next occurrence, when passed occurrences of the block
 * before are still to come. Returns the gap. */
static inline uint32_t block_sampling__place(struct block_sampling *drawing, uint32_t passed,
                                             uint32_t block, uint64_t *random)
{
    uint32_t position = random__below(random, block);
    drawing->block = block;
    drawing->after = block - position;
    return passed + position + 1;
}

/* The first draw of a function that was recorded at every occurrence until now. */
static inline uint32_t block_sampling__begin(struct block_sampling *drawing, uint32_t block,
                                             uint64_t *random)
{
    return block_sampling__place(drawing, 0, block, random);
}

/* The drawn occurrence has come: the next draw is from a block of that length. */
static inline uint32_t block_sampling__next(struct block_sampling *drawing, uint32_t block,
                                            uint64_t *random)
{
    return block_sampling__place(drawing, drawing->after - 1, block, random);
}

#endif
