/* unwind_rule.h: how the caller's registers are found from one address of a file (inside of the
 * unwinder). Register numbers are DWARF's for x86-64 (psABI figure 3.36); 16 is rip.
 *
 * In goes an address, out comes its rule, decoded from the call-frame information once. It stands
 * on libdw and image.h. */
#ifndef HEURT_SYMBOL_UNWIND_RULE_H
#define HEURT_SYMBOL_UNWIND_RULE_H

#include "symbol/image.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
};

enum rule_kind {
    RULE_UNDEFINED,
    RULE_SAME,
    RULE_EXPRESSION,
};

struct register_rule {
    enum rule_kind kind;
    uint32_t first, count; /* operations of an expression, indices into ops */
};

struct unwind_rule {
    bool is_missing;                    /* no call frame information here */
    bool is_signal;                     /* the caller was interrupted: its address is exact */
    struct register_rule frame_address; /* the canonical frame address */
    struct register_rule registers[REGISTERS];
    Dwarf_Op *ops;
};

/* The rule at an address of the file, decoded at the first call. Belongs to the image. */
const struct unwind_rule *unwind_table__rule(struct image *image, uint64_t address);

/* Reads 8 bytes of the snapshot; false outside of it. */
struct stack_memory {
    uint64_t start;
    const uint64_t *memory;
    size_t words;
};
bool stack_memory__read(const struct stack_memory *memory, uint64_t address, uint64_t *value);

/* Evaluates a rule's expression in a frame. frame_address is what DW_OP_call_frame_cfa yields.
 * For the frame address itself the result is the value; for a register it is the value at the
 * location, or the value that the expression names. False when it cannot be known. */
bool unwind_rule__value(const struct unwind_rule *rule, const struct register_rule *which,
                        const struct frame_state *state, const struct stack_memory *memory,
                        uint64_t frame_address, uint64_t *value);

#endif
