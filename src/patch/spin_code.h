/* spin_code.h: what may stand in a loop that only waits for what it reads.
 *
 * Such a loop asks for one place of memory, and may ask for conditions beside it; it writes nothing
 * but what it exchanges, and ends by what others do. Pure; safe from any thread. For patch/ only.
 */
#ifndef HEURT_PATCH_SPIN_CODE_H
#define HEURT_PATCH_SPIN_CODE_H

#include "patch/decode.h"

/* Registers, a bit each: those that the instructions of a loop count with, read into, and set. */
struct spin_registers {
    unsigned counted, read, set;
    bool exchanges, compares; /* there is an exchange; one that depends on what rax has */
};

/* The instructions' operands are decoded; memory: the one that it accesses; NULL: none. */
bool instruction__exchanges(const struct instruction *instruction);
bool instruction__may_spin(const struct instruction *instruction,
                           const ZydisDecodedOperand *memory);
/* Not NULL here: what it compares is a variable, or a register that was spilled, which has the same
 * address each time. */
bool instruction__is_condition(const struct instruction *instruction,
                               const ZydisDecodedOperand *memory);

void spin_registers__add(struct spin_registers *registers, const struct instruction *instruction,
                         const ZydisDecodedOperand *memory);
/* Whether it asks if a count of rounds has come to what is read: that needs nobody else. */
bool spin_registers__count(const struct spin_registers *registers,
                           const struct instruction *instruction,
                           const ZydisDecodedOperand *memory);
/* Whether what a loop sets fits to waiting. */
bool spin_registers__wait(const struct spin_registers *registers);

#endif
