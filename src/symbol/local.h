/* local.h: from an address in a stack frame to the variable of the source that lies there.
 *
 * In go a frame and an address in it, out come the variable's name and its line. It costs a walk
 * of the function's DIE. It stands on source.h and member.h. */
#ifndef HEURT_SYMBOL_LOCAL_H
#define HEURT_SYMBOL_LOCAL_H

#include "symbol/source.h"
#include "symbol/variable.h"

struct local_frame {
    uint64_t address;   /* of an instruction in the function, as in the file */
    uint64_t stack_low; /* the stack pointer there */
    uint64_t frame;     /* the canonical frame address */
};

/* The local variable or parameter, or the member of one, that lies at an address of the stack.
 * False: none with a name, or it is not told where it lies. */
bool local__find(struct source *source, const struct local_frame *frame, uint64_t address,
                 struct variable *variable);

#endif
