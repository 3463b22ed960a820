/* expression.h: values of DWARF's expressions in a frame of a stack snapshot.
 *
 * In go operations (DWARF 5, section 2.5), the frame's registers and a copy of the stack, out comes
 * the value, or that it cannot be known. It stands on libdw. */
#ifndef HEURT_SYMBOL_EXPRESSION_H
#define HEURT_SYMBOL_EXPRESSION_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DWARF's numbers for x86-64 (psABI figure 3.36); 16 is rip. */
enum {
    REGISTER_RBX = 3,
    REGISTER_RBP = 6,
    REGISTER_RSP = 7,
    REGISTER_R12 = 12,
    REGISTER_RIP = 16,
    REGISTERS = 17,
};

/* What is known of a frame: registers of which the mask has no bit are not known. */
struct frame_state {
    uint64_t registers[REGISTERS];
    uint32_t known;
    uint64_t frame_address; /* the canonical one: what DW_OP_call_frame_cfa yields; 0: not known */
};

/* A copy of the stack. */
struct stack_memory {
    uint64_t start;
    const uint64_t *memory;
    size_t words;
};

/* Reads 8 bytes; false outside of it. */
bool stack_memory__read(const struct stack_memory *memory, uint64_t address, uint64_t *value);

/* is_address: the result is the address of what is asked for; else what lies there, or the value
 * that the operations name. False when it cannot be known. */
bool expression__value(const Dwarf_Op *ops, size_t count, const struct frame_state *state,
                       const struct stack_memory *memory, bool is_address, uint64_t *value);

#endif
