/* function_code.h: the instructions of one range of a function's code and what may come before
 * each, without a look at the rest of the file (flow.h looks at all of it).
 *
 * Places that exceptions go on at, which nothing of the code leads to, have nothing before them.
 * Where a jump through a register or memory has no table that can be read, what comes before is
 * not known of any place in the function.
 *
 * In go bytes, out come instructions. It costs one decoding. It stands on decode.h. */
#ifndef HEURT_PATCH_FUNCTION_CODE_H
#define HEURT_PATCH_FUNCTION_CODE_H

#include "base/vec.h"
#include "patch/decode.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes of the file from an address on; NULL: it has none there. */
typedef const uint8_t *code_bytes(const void *file, uint64_t address, uint64_t *size);

struct placed_instruction {
    uint64_t address;
    uint64_t target;           /* of a direct branch or call */
    uint8_t branch;            /* enum branch */
    bool is_entered;           /* something jumps here */
    bool falls;                /* the next one may follow */
    uint32_t first_from, from; /* places in from of the branches that lead here */
};

struct function_code {
    uint64_t start, end;
    const uint8_t *bytes;
    struct vec instructions; /* struct placed_instruction, by address */
    struct vec from;         /* uint32_t: places in instructions */
    bool is_opaque;          /* jumps lead to places that are not known */
    ZydisDecoder decoder;
};

/* False: not all of it are instructions. function_code__free it in any case. */
bool function_code__read(struct function_code *code, const void *file, code_bytes *bytes,
                         uint64_t start, uint64_t end);
void function_code__free(struct function_code *code);

/* The place of the instruction at that address, or SIZE_MAX. */
size_t function_code__at(const struct function_code *code, uint64_t address);
/* That instruction with its operands. */
bool function_code__decode(const struct function_code *code, size_t at,
                           struct instruction *instruction);

#endif
