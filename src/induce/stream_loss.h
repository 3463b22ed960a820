/* stream_loss.h: how much of its bandwidth a program that streams loses to the loaders.
 *
 * A probe reads through memory on each of the program's CPUs, in windows of which every second one
 * has the loaders beside it. What is lost is told by pairs of such windows, so that a machine whose
 * memory others use, too, now more and now less, is compared with itself a few milliseconds before:
 *
 *     loss  =  1 − median over pairs of (bytes beside the loaders / bytes without)
 *
 * both in a second of the probes' CPU time; a pair in which they had less than half of their CPUs
 * is none. Its interval is that of a median by order statistics, which assumes nothing of how the
 * ratios scatter: of n pairs the ranks (n ∓ 1.96 √n) / 2 (David and Nagaraja 2003, "Order
 * statistics", 7.1). It is measured at a few rates. Between them it is a line from one to the next,
 * and it never falls with the rate: neighbours that would are averaged (isotonic regression: Barlow
 * et al. 1972, "Statistical inference under order restrictions", 1.2).
 *
 * It stands on internal.h alone. One thread; while it measures it has one on each CPU. */
#ifndef HEURT_INDUCE_STREAM_LOSS_H
#define HEURT_INDUCE_STREAM_LOSS_H

#include "induce/internal.h"

#define LOSS_RATES 4

struct stream_loss {
    struct induce_loss most;      /* at the loaders' full rate */
    double bytes_a_second;        /* that the probe reads without them: median */
    double at[LOSS_RATES];        /* ascending: at (i + 1) / LOSS_RATES of the full rate */
    double had_there[LOSS_RATES]; /* part of what they have alone that they have beside the probe */
};

/* sets: the loaders to a part of their full rate. requests: all of theirs until now. */
struct loss_loaders {
    void (*set)(void *self, double rate);
    uint64_t (*requests)(void *self);
    void *self;
    double most; /* requests a second, alone */
};

/* A negative errno: there is no memory, or no thread. most.value is NaN then. */
int stream_loss__measure(const cpu_set_t *cpus, const struct loss_loaders *loaders,
                         struct stream_loss *loss);
/* What the probes take of memory. */
uint64_t stream_loss__bytes(const cpu_set_t *cpus);

/* Whether something is lost at all: only then the others may be asked. */
bool stream_loss__is_shown(const struct stream_loss *loss);
/* The rate (a part of the full one) at which so much is lost; 1 where that is not enough. */
double stream_loss__rate(const struct stream_loss *loss, double lost);
/* What is lost at a rate that was set, where the loaders had that part of their most. */
double stream_loss__at(const struct stream_loss *loss, double rate, double had);

#endif
