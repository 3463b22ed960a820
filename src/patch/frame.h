/* frame.h: how a function may be called by somebody else than its caller.
 *
 * The stub of a patched function calls the function's code in one of two ways (layout.h). From a
 * frame of its own, everything at and above the function's return address is further away than the
 * function thinks. That does no harm when the function never touches memory from its return address
 * upwards, and hands nothing on that lies there. With the caller's return address put aside only
 * that address is another one. The proof for both: with the unwind information telling where the
 * stack pointer is, every instruction is looked at; jumps out of the function are returned for the
 * caller to follow.
 *
 * In goes a function, out come the ways in which it may be called and the jumps to be followed. It
 * costs one decoding of the function. It stands on code_file.h and decode.h. */
#ifndef HEURT_PATCH_FRAME_H
#define HEURT_PATCH_FRAME_H

#include "patch/code_file.h"

enum frame_fault {
    FRAME_KEPT,     /* none */
    FRAME_LOOKS_UP, /* at its return address */
    FRAME_SWITCHES, /* to another stack */
    FRAME_FAR,
    FRAME_NO_UNWIND,
    FRAME_CFA_UNKNOWN,
    FRAME_UNWIND_UNFIT,
    FRAME_NOT_UNDERSTOOD,
    FRAME_NOT_CODE,
    FRAME_NO_SIZE,
    FRAME_NOT_IN_FILE, /* the last one */
};

bool frame_fault__is_known(enum frame_fault fault);
const char *frame_fault__text(enum frame_fault fault); /* in plain words; NULL for none */

/* Where control goes when it leaves a function by a jump (or runs over its end). */
struct frame_tail {
    uint64_t address; /* in the same file, or 0 */
    const char *name; /* of a symbol that the loader looks up, or NULL; both empty: not known */
};

/* What the function does by itself. */
struct frame_verdict {
    enum frame_fault fault; /* the first thing for which it cannot be called in either way */
    bool takes_stack;       /* memory above its return address is used */
    bool loops;             /* it jumps to its own beginning */
    bool inner;             /* it is not entered by a call: no return address is on top */
    bool locks;             /* it has instructions that lock memory */
};

struct frame_checker;

struct frame_checker *frame_checker__new(const struct code_file *file);
void frame_checker__free(struct frame_checker *checker); /* NULL is allowed */

/* Appends the function's tails (struct frame_tail) to tails. After a fault the rest of the function
 * is not looked at. */
struct frame_verdict frame_checker__check(struct frame_checker *checker,
                                          const struct code_function *function, struct vec *tails);

#endif
