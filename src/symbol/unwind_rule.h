/* unwind_rule.h: how the caller's registers are found from one address of a file (inside of the
 * unwinder).
 *
 * In goes an address, out comes its rule, decoded from the call-frame information once. It stands
 * on libdw, expression.h and image.h. */
#ifndef HEURT_SYMBOL_UNWIND_RULE_H
#define HEURT_SYMBOL_UNWIND_RULE_H

#include "symbol/expression.h"
#include "symbol/image.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
