/* loop_bound.h: how long an iteration of a loop takes at least, when all it accesses is in the
 * first cache and nobody else takes it away: the larger of what can be begun in a cycle, and of
 * what each iteration needs from the one before it, through registers, flags and memory.
 *
 * It is a run of the code on paper (as by llvm-mca, or uiCA: Abel and Reineke, 2022): an
 * instruction begins when what it reads is there, and its result is there some cycles later. How
 * long additions, memory that is written and read again, and locked instructions take is measured
 * on this machine; others by what is usual (Fog, instruction tables). Each conditional branch goes
 * on behind itself, each jump and each call to its target; addresses are told apart by the
 * registers that they are made of.
 *
 * In goes code, out comes a time. It costs some ten passes over the loop. It stands on decode.h. */
#ifndef HEURT_PATCH_LOOP_BOUND_H
#define HEURT_PATCH_LOOP_BOUND_H

#include "patch/decode.h"

/* Of this machine, in ns. */
struct instruction_times {
    double cycle;  /* of an addition */
    double update; /* from a value's being ready to what is read where it is written */
    double atomic; /* of a locked addition */
};

/* Measures them: some 100 µs. Any thread. */
struct instruction_times instruction_times__measure(void);

/* The file's bytes; addresses are offsets in it. */
struct counted_code {
    const ZydisDecoder *decoder;
    const uint8_t *bytes;
    uint64_t size;
    uint64_t start, end; /* the first instruction, and the branch that leads back to it */
};

/* In ns; 0: it is not known (it calls what is not seen, or is long). */
double counted_code__least_ns(const struct counted_code *code,
                              const struct instruction_times *times);

#endif
