/* register_value.h: what a register held before an instruction, where later ones have overwritten
 * it: unoptimised code loads a pointer and what it points to into one register. The value is worked
 * out from the instructions before it in the same block, from registers that are as they were, and
 * from what the process has where a pointer was loaded from.
 *
 * What is loaded is read when the sample is looked at, some milliseconds later: a variable that
 * holds a pointer is mostly what it was, one that counts is not. So memory is read for whole
 * pointers alone.
 *
 * In go a row of instructions and the registers behind its last one, out comes a value. It costs
 * decoding some instructions, and a read of memory. It stands on decode.h. */
#ifndef HEURT_PATCH_REGISTER_VALUE_H
#define HEURT_PATCH_REGISTER_VALUE_H

#include "patch/decode.h"

/* Reads a word of the process's memory; false: it cannot be had. */
struct memory_reader {
    bool (*read)(void *context, uint64_t address, uint64_t *word); /* NULL: nobody reads */
    void *context;
};

/* Instructions of which each, but the first, is come to from the one before it alone. */
struct straight_code {
    /* Decodes the one of that number, with operands, at addresses of the file. */
    bool (*decode)(const void *context, size_t number, struct instruction *instruction);
    const void *context;
    size_t first, interrupted; /* numbers; all before interrupted were done */
    const uint64_t *registers; /* 16, then */
    uint64_t loaded_at;        /* what to add to an address of the file */
    struct memory_reader memory;
};

/* The address that the memory operand of the instruction of that number meant; false: not known. */
bool straight_code__address(const struct straight_code *code, size_t number,
                            const ZydisDecodedOperand *operand, uint64_t *address);

#endif
