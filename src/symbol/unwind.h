/* unwind.h: the call chain in a stack snapshot, by the files' call frame information.
 *
 * The rules of an address are decoded once and kept with its file, so that a snapshot costs a few
 * table look-ups a frame; libdwfl's own unwinder decodes them anew each time, and holds one process
 * only.
 *
 * In go registers and a copy of the stack, out come return addresses. It stands on address_space.h
 * and unwind_rule.h. One thread at a time. */
#ifndef HEURT_SYMBOL_UNWIND_H
#define HEURT_SYMBOL_UNWIND_H

#include "symbol/address_space.h"
#include "symbol/expression.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The payload of a STACK event without its first word. */
struct snapshot {
    uint64_t tick;
    const uint64_t *registers;  /* HEURT_STACK_REGISTERS: rip rsp rbp rbx r12 r13 r14 r15 */
    struct stack_memory memory; /* from rsp upwards */
};

struct unwound_frame {
    uint64_t address; /* rip, or a return address */
    bool is_exact;    /* false: a return address, the call lies before it */
    /* Its part of the stack is from the stack pointer to the canonical frame address; that is 0
     * where it is not known, as of the last one, or code without call frame information. */
    struct frame_state state;
};

enum { UNWIND_FRAMES_MAX = 128 };

/* Fills frames, innermost first, without those inside the runtime, and returns their number.
 * Ends where the snapshot ends. */
size_t unwind__frames(struct space *space, const struct snapshot *snapshot,
                      struct unwound_frame frames[UNWIND_FRAMES_MAX]);

/* The rules of one image; image.c frees them. */
struct unwind_table;
void unwind_table__free(struct unwind_table *table); /* NULL is allowed */

#endif
