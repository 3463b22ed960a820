/* pointed.h: from an address on the heap to the member of what a variable of a frame points to.
 *
 * In go a frame of a stack snapshot and an object's address, out comes the name of the member that
 * lies there, by the DWARF of the pointers, references and `this` that the frame's function and
 * what is inlined in it hold at that instruction. It costs a walk of the function's DIE. It stands
 * on source.h, expression.h and member.h. */
#ifndef HEURT_SYMBOL_POINTED_H
#define HEURT_SYMBOL_POINTED_H

#include "symbol/expression.h"
#include "symbol/source.h"

#include <stdbool.h>

/* "Cache::mutex"; of a program in C "cache->mutex". The innermost variable that points to an object
 * of the program's own types, and not to what a library defines. address: of an instruction in the
 * function, as in the file. free() it; NULL: no variable is known to point there. */
char *pointed__name(struct source *source, uint64_t address, const struct frame_state *state,
                    const struct stack_memory *memory, uint64_t object);

#endif
