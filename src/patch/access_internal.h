/* access_internal.h: what the two files of access.h share: a function that was decoded, and what
 * its instructions do to memory. */
#ifndef HEURT_PATCH_ACCESS_INTERNAL_H
#define HEURT_PATCH_ACCESS_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "patch/access.h"
#include "patch/code_file.h"
#include "patch/decode.h"
#include "patch/loop_bound.h"

struct access_step {
    uint32_t at; /* from the function's beginning */
    uint8_t bytes;
    bool ends_flow, is_entered;
    /* Of one that reads: whether its loop writes there, too, or does nothing else. */
    enum { WRITES_UNASKED, WRITES_NOT, WRITES_TOO, SPINS } writes;
};

/* Loops that lie within each other are one. */
struct code_region {
    uint64_t start, end; /* offsets in the file; end: where its last branch begins */
    double least_ns;
    int counter; /* number of the register that counts; -1: none does */
    int32_t step;
};

/* A function, decoded. */
struct stepped {
    uint64_t start;     /* offset in the file */
    struct vec steps;   /* struct access_step */
    struct vec regions; /* struct code_region, by start */
    struct vec backs;   /* struct code_region: branches back, from start to end, as they are */
};

struct code_accesses {
    const struct module_functions *functions;
    const uint8_t *bytes; /* NULL: it cannot be read */
    uint64_t size;
    struct vec stepped; /* struct stepped */
    struct map stepped_of_start;
    ZydisDecoder decoder;
    const char *path;
    struct code_file *file; /* NULL: not needed yet, or it cannot be read */
    bool is_no_file;
    struct instruction_times times; /* once a function was met */
};

bool code_accesses__decode(const struct code_accesses *self, uint64_t offset,
                           struct instruction *instruction);
/* The function around an offset of the file. Valid until the next one is asked for. */
const struct stepped *code_accesses__function(struct code_accesses *self, uint64_t offset);

/* The instruction's operand in memory, and what is done there; NULL: it has none. Operands are
 * decoded, here and below. */
const ZydisDecodedOperand *instruction__memory(const struct instruction *instruction);
enum access_kind instruction__access(const struct instruction *instruction,
                                     const ZydisDecodedOperand *operand);
bool instruction__changes(const struct instruction *instruction, ZydisRegister name);
/* is_past: the instruction is done. 0: not known. */
uint64_t instruction__data_address(const struct instruction *instruction,
                                   const ZydisDecodedOperand *operand, bool is_past,
                                   const uint64_t registers[16], uint64_t loaded_at);
bool instruction__is_same_place(const struct instruction *one, const ZydisDecodedOperand *a,
                                const struct instruction *other, const ZydisDecodedOperand *b);

/* asking_loop.c: whether the loop right around an instruction that reads asks for that place and
 * conditions. */
bool asking_loop__is_spun(const struct code_accesses *self, const struct stepped *stepped,
                          const struct instruction *reader, const ZydisDecodedOperand *operand);
/* Who is at a condition, a pause or the way back of such a loop is at what it asks for. False: it
 * is at none. */
bool asking_loop__take(const struct code_accesses *self, const struct stepped *stepped,
                       uint64_t offset, const struct straight_code *state, struct access *access);

#endif
