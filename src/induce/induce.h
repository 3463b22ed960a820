/* induce.h: contention that is made on purpose: a process beside the program that takes so much of
 * one resource.
 *
 *     inducer__start    forks it; it measures what it can take when nobody else does: 100 %
 *     inducer__set      from now on that part of it; 0: it sleeps
 *     inducer__told     what it has had since
 *     inducer__stop     kills it
 *
 *     memory  non-temporal stores, whole lines one after the other through a buffer: they go past
 *             all caches, so that memory is busy, and what others have in the shared cache stays
 *             there. A request is a line of 64 bytes. How much a program that streams loses by
 *             it is measured beforehand (stream_loss.h), where its CPUs are known.
 *     cache   reads so many bytes again and again, each line once a round: they stay in the shared
 *             cache, and what was there leaves it. A request is a line.
 *     cpu     computes on the program's CPUs. A request is a nanosecond of CPU time.
 *     disk    writes blocks of 64 KiB into a file without a name, and has each brought to the disk.
 *             A request is such a block.
 *
 * What it takes is held by a feedback: after each few requests it is asked how many there should be
 * by now. It never makes more; what it could not have for 10 ms it does not ask for later.
 *
 * The process ends with the one that started it, whatever ends that one; it is the first to be
 * killed when memory is short. It gets no signals of the terminal. In go a plan and a level, out
 * come counts. Nothing is printed. It stands on base/ and the kernel. One thread. */
#ifndef HEURT_INDUCE_INDUCE_H
#define HEURT_INDUCE_INDUCE_H

#include "base/error.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* INDUCE_LOCK is taken within the program (runtime/longer_holds.h): no process here does it. */
enum induce_kind {
    INDUCE_MEMORY,
    INDUCE_CACHE,
    INDUCE_CPU,
    INDUCE_DISK,
    INDUCE_LOCK,
    INDUCE_KINDS
};

struct induce_plan {
    enum induce_kind kind;
    cpu_set_t cpus;    /* that it works on; of the disk: none */
    cpu_set_t program; /* memory: the program's, whose loss is measured there; none: it is not */
    int node;          /* its memory is of that NUMA node; -1: of where it runs */
    uint64_t bytes;    /* memory: of each CPU's buffer; cache: of 100 %; disk: of the file */
    const char *directory; /* disk: where the file is */
};

struct inducer;

/* It sleeps. A negative errno with a sentence: -ENOMEM where it would take more than half of the
 * memory that is left, or of the disk. It takes half a second, and 1.5 s more where the loss is
 * measured. inducer__stop it. */
int inducer__start(const struct induce_plan *plan, struct inducer **inducer, struct error *error);
void inducer__stop(struct inducer *inducer); /* NULL is allowed */
/* Requests a second, alone, at 100 %. */
double inducer__most(const struct inducer *inducer);
/* Of the bandwidth of a program that streams on all CPUs of its own, what it loses at 100 % of the
 * above, with the interval in which the truth lies in 95 of 100; NaN: not measured. */
struct induce_loss {
    double value, low, high;
};
struct induce_loss inducer__loss(const struct inducer *inducer);
/* What such a program has otherwise, bytes a second; 0: not measured. */
double inducer__streamed(const struct inducer *inducer);
/* Whether that loss is no chance. Levels are parts of the program's bandwidth then, and not of what
 * the process itself has alone; what cannot be lost is not taken. */
bool inducer__is_of_loss(const struct inducer *inducer);
/* level: from 0 to 1. */
void inducer__set(struct inducer *inducer, double level);

/* Since the last inducer__set. */
struct induce_told {
    double asked, had; /* parts of the most, or of what a program that streams has otherwise; of a
                          cache of its bytes */
    double requests;   /* a second */
};
struct induce_told inducer__told(const struct inducer *inducer);
/* 0, or why it does no more: a negative errno. */
int inducer__failure(const struct inducer *inducer);

/* "memory"; NULL of others. */
const char *induce_kind__name(unsigned kind);
/* Of the largest cache; 0: not known. */
uint64_t induce__cache_bytes(void);

#endif
