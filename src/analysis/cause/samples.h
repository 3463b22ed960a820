/* samples.h: the occurrences that are looked at, and lines through them.
 *
 * All that lie whole in a window; or, when there are too many, the slowest and of the others every
 * so many-th, which then weighs as much as those that it stands for.
 *
 * What a thread cost that was off the CPU in between is no matter of who ran on other CPUs; so
 * lines go by the clean occurrences alone when these are half of all or more. What of an occurrence
 * was not on a CPU is never looked at: who ran then ran perhaps on the very same one.
 *
 * Occurrences are compared with those of their own thread and block alone, a block being a window
 * that was halved as often as the level says: what differs from block to block has many reasons.
 * For analysis/ only. */
#ifndef HEURT_ANALYSIS_CAUSE_SAMPLES_H
#define HEURT_ANALYSIS_CAUSE_SAMPLES_H

#include "analysis/cause/overlap.h"

#define BLOCK_LEVELS 16 /* the windows are halved less often */
#define BLOCKS_LEAST 2  /* and, if need be, so often, whatever finest says */

struct sample {
    uint64_t start, end;
    double weight;  /* so many occurrences it stands for */
    size_t owner;   /* index into owners */
    bool is_fitted; /* lines go by it */
    const struct window *window;
    size_t first_piece, piece_count; /* in pieces: when it was on a CPU */
    uint64_t length;                 /* of the pieces, at least 1 */
};

/* A thread that has occurrences. */
struct owner {
    uint32_t thread;
    const struct vec *running; /* struct interval: of the class on it; NULL: not known */
    size_t place;              /* of the last sample in it */
};

struct samples {
    const struct overlap_question *question;
    struct vec items;   /* struct sample: by thread, then by time */
    struct vec lefts;   /* double, by sample: what is left to explain beyond the smallest, at
                           most clip */
    struct vec owners;  /* struct owner */
    struct vec pieces;  /* struct interval */
    size_t fitted;      /* how many of them lines go by */
    double length;      /* half of them are that long on a CPU */
    uint64_t reference; /* 19 of 20 are that long on a CPU */
    bool clean;         /* lines go by clean ones */
    double smallest, clip;
    double slow;                    /* beyond the smallest: from there on they are slow ones */
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

/* The sample's piece of that number, cut to left ticks, which become less by it. */
static inline struct interval sample__piece(const struct samples *samples,
                                            const struct sample *sample, size_t number,
                                            uint64_t *left)
{
    struct interval piece =
        *VEC_AT(&samples->pieces, struct interval, sample->first_piece + number);
    if (piece.end - piece.begin > *left)
        piece.end = piece.begin + *left;
    *left -= piece.end - piece.begin;
    return piece;
}

/* Whether the occurrence can be among them. */
bool overlap_question__counts(const struct overlap_question *question,
                              const struct occurrence *occurrence);

/* x, y: by sample. blocks: gets struct sums of each block; NULL: not wanted. */
struct sums samples__deviations(const struct samples *samples, const double *x, const double *y,
                                unsigned level, struct vec *blocks);
/* x: by sample; y: what is left. */
struct fit samples__fit(const struct samples *samples, const double *x, unsigned level);

/* The same slope by what is typical: how much longer those last whose x is above the average of
 * their thread and block than those below it, at a quarter, at half and at three quarters of
 * either, over what x differs by; the largest of the three. Where two kinds of work come with
 * different x, there are more of the long kind above, and a line rises; but neither kind lasts
 * longer there. 0: x does not differ. */
double samples__typical_slope(const struct samples *samples, const double *x, unsigned level);

void quantile__sort(double *values, size_t count);
double quantile__of_sorted(const double *sorted, size_t count, double share);

#endif
