/* decode.h: one x86-64 instruction at a time, by Zydis, with what matters for patching told in
 * plain terms. Addresses are addresses in the file.
 *
 * In go bytes and their address, out comes one instruction, or that it is none. It costs one call
 * of Zydis, allocates nothing, and may be called from any thread. */
#ifndef HEURT_PATCH_DECODE_H
#define HEURT_PATCH_DECODE_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum branch {
    BRANCH_NONE,
    BRANCH_JUMP,          /* jmp rel: target */
    BRANCH_CONDITIONAL,   /* jcc rel: target */
    BRANCH_SHORT,         /* loop, jrcxz: target; there is no form that reaches further */
    BRANCH_ABORTED,       /* xbegin rel: target, where the transaction goes on when it fails */
    BRANCH_CALL,          /* call rel: target */
    BRANCH_JUMP_INDIRECT, /* jmp through a register or memory */
    BRANCH_CALL_INDIRECT,
    BRANCH_RETURN,
    BRANCH_RETURN_POP, /* ret n: takes n bytes of arguments off the stack */
    BRANCH_STOP,       /* ud2, hlt, int3: nothing goes on behind it */
    BRANCH_FAR,        /* far jumps, calls and returns, iret */
};

/* It may go on at its target within the function. */
static inline bool branch__is_direct(enum branch branch)
{
    return branch == BRANCH_JUMP || branch == BRANCH_CONDITIONAL || branch == BRANCH_SHORT ||
           branch == BRANCH_ABORTED;
}

struct instruction {
    ZydisDecodedInstruction zydis;
    ZydisDecoderContext context;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT]; /* after instruction__operands */
    uint64_t address;
    uint64_t end;    /* address of the next one */
    uint64_t target; /* of a relative branch */
    enum branch branch;
};

/* Decodes the one at bytes, which stands at address. False: no instruction. */
bool instruction__decode(struct instruction *instruction, const ZydisDecoder *decoder,
                         const uint8_t *bytes, size_t size, uint64_t address);
/* Fills operands (costs half as much again as the decoding). */
bool instruction__operands(struct instruction *instruction, const ZydisDecoder *decoder);

void decoder__start(ZydisDecoder *decoder);

bool instruction__is_nop(const struct instruction *instruction);
bool instruction__is_endbr64(const struct instruction *instruction);
/* Whether control never goes on to the next instruction. */
bool instruction__ends_flow(const struct instruction *instruction);

/* The address that a [rip+disp] operand means, or 0 when there is none. */
uint64_t instruction__rip_address(const struct instruction *instruction);

/* rax 0 … r15 15 as the processor numbers them, whatever part of the register is named; -1: none.
 */
int register__number(ZydisRegister name);
/* Whether it writes the register of that number, or a part of it; needs operands. */
bool instruction__writes(const struct instruction *instruction, int number);

/* What it adds to the register, or memory, that it writes; 0: it does something else. Needs
 * operands. */
int32_t instruction__adds(const struct instruction *instruction);

bool instruction__has_memory(const struct instruction *instruction); /* named by ModRM */
bool instruction__locks_memory(const struct instruction *instruction);
bool instruction__is_lea(const struct instruction *instruction);

#endif
