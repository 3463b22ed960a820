/* frame.h: whether a function may be called from a frame of somebody else's.
 *
 * The stub of a patched function calls the function's code, so that everything at and above its
 * return address is 16 bytes further away than the function thinks. That does no harm when the
 * function never touches memory from its return address upwards, and hands nothing on that lies
 * there. The proof: with the unwind information telling where the stack pointer is, every
 * instruction is looked at; jumps out of the function are returned for the caller to follow. */
#ifndef HEURT_SYMBOL_FRAME_H
#define HEURT_SYMBOL_FRAME_H

#include "symbol/code_file.h"

enum frame_fault {
    FRAME_KEPT, /* none */
    FRAME_TAKES_STACK,
    FRAME_LOOKS_UP, /* its return address */
    FRAME_SWITCHES, /* to another stack */
    FRAME_FAR,
    FRAME_NO_UNWIND,
    FRAME_CFA_UNKNOWN,
    FRAME_UNWIND_UNFIT,
    FRAME_NOT_UNDERSTOOD,
    FRAME_NOT_CODE,
    FRAME_NO_SIZE,
    FRAME_NOT_IN_FILE,
};

const char *frame_fault__text(enum frame_fault fault); /* in plain words; NULL for none */

/* Where control goes when it leaves a function by a jump (or runs over its end). */
struct frame_tail {
    uint64_t address; /* in the same file, or 0 */
    const char *name; /* of a symbol that the loader looks up, or NULL; both empty: not known */
};

struct frame_checker;

struct frame_checker *frame_checker__new(const struct code_file *file);
void frame_checker__free(struct frame_checker *checker); /* NULL is allowed */

/* Appends the function's tails (struct frame_tail) to tails and says whether the function itself
 * keeps to its own frame. *loops: it jumps to its own beginning. */
enum frame_fault frame_checker__check(struct frame_checker *checker,
                                      const struct code_function *function, struct vec *tails,
                                      bool *loops);

#endif
