/* samples.h: the occurrences that are looked at, and lines through them.
 *
 * All that lie whole in a window; or, when there are too many, the slowest and of the others every
 * so many-th, which then weighs as much as those that it stands for.
 *
 * Occurrences are compared with those of their own thread and block alone, a block being a window
 * that was halved as often as the level says: what differs from block to block has many reasons.
 * For analysis/ only. */
#ifndef HEURT_ANALYSIS_SAMPLES_H
#define HEURT_ANALYSIS_SAMPLES_H

#include "analysis/overlap.h"

#define BLOCK_LEVELS 16 /* the windows are halved less often */
#define BLOCKS_LEAST 2  /* and, if need be, so often, whatever finest says */

struct sample {
    uint64_t start, end;
    double weight; /* so many occurrences it stands for */
    size_t owner;  /* index into owners */
    const struct window *window;
};

/* A thread that has occurrences. */
struct owner {
    uint32_t thread;
    size_t first, end; /* of its samples */
};

struct samples {
    const struct overlap_question *question;
    struct vec items;   /* struct sample: by thread, then by time */
    struct vec lefts;   /* double, by sample: what is left to explain beyond the smallest, at
                           most clip */
    struct vec owners;  /* struct owner */
    double length;      /* of occurrences, on average */
    uint64_t reference; /* 19 of 20 last that long */
    double smallest, clip;
    double excess;                  /* of all over the smallest, not clipped */
    unsigned finest;                /* level at which blocks still have enough occurrences */
    uint64_t *blocks[BLOCK_LEVELS]; /* by level, by sample: number of the block in
                                       which it began, over all windows */
};

/* A line through shares and what is left. */
struct fit {
    double slope, explained;
};

/* Sums of products of the deviations from the averages of thread and block, weighted. */
struct sums {
    double weight, x, y, xx, xy, yy;
};

#define WHOLE_THREADS UINT32_MAX /* a level above all: no blocks */

/* No samples at all when there are fewer than 30 occurrences. */
void samples__take(struct samples *samples, const struct overlap_question *question);
void samples__free(struct samples *samples);

/* First tick and end of a sample's block. */
struct interval sample__block(const struct sample *sample, uint64_t number, unsigned level);

/* Whether the occurrence can be among them. */
bool overlap_question__counts(const struct overlap_question *question,
                              const struct occurrence *occurrence);

/* x, y: by sample. blocks: gets struct sums of each block; NULL: not wanted. */
struct sums samples__deviations(const struct samples *samples, const double *x, const double *y,
                                unsigned level, struct vec *blocks);
/* All 0 when there is none. */
struct fit sums__fit(const struct sums *sums);
/* x: by sample; y: what is left. */
struct fit samples__fit(const struct samples *samples, const double *x, unsigned level);

void quantile__sort(double *values, size_t count);
double quantile__of_sorted(const double *sorted, size_t count, double share);

#endif
