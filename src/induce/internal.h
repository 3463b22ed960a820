/* What the process that takes the resource, and the one that started it, share. */
#ifndef HEURT_INDUCE_INTERNAL_H
#define HEURT_INDUCE_INTERNAL_H

#include "induce/induce.h"

#include <stdatomic.h>

#define LOADERS_A_CPU                                                          \
    4 /* of "cpu": the share of one beside a busy thread is half, of four 80 % \
       */
#define BLOCK_BYTES 65536u
#define LINE_BYTES 64u
#define LEVEL_ONE 1000000u

struct induce_tally {
    _Alignas(LINE_BYTES) _Atomic uint64_t requests;
};

/* In memory that both have. */
struct induce_board {
    _Atomic uint64_t setting; /* a number that each setting has one more of << 32, and the level */
    _Atomic uint64_t rate;    /* of one loader at 100 %, requests a second; 0: as many as it can */
    _Atomic uint32_t ready;   /* loaders */
    _Atomic int failure;      /* a negative errno */
    struct induce_tally tallies[];
};

/* One thread of the process. */
struct induce_loader {
    const struct induce_plan *plan;
    struct induce_board *board;
    unsigned index;
    int cpu;  /* -1: any */
    int file; /* of the disk */
    char *memory;
    uint64_t bytes, at; /* of its part of the memory or of the file */
};

/* In the process: does not return. */
void *induce_loader__work(void *self);

#endif
