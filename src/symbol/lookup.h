/* lookup.h: the symbol of one address, as symbols.h wants it.
 *
 * In goes an address of a process at a tick, out comes an entry in the table of symbols. It costs
 * what address_space.h, source.h and variable.h cost, on which it stands. One thread at a time. */
#ifndef HEURT_SYMBOL_LOOKUP_H
#define HEURT_SYMBOL_LOOKUP_H

#include "format/symbols.h"
#include "symbol/address_space.h"
#include "symbol/local.h"
#include "symbol/unwind.h"

#include <stdbool.h>
#include <stdint.h>

/* Looks up address in the space and keeps it in symbols under process and address. A return
 * address is looked up as the call before it. True when it got a name. */
bool lookup__put(struct symbols *symbols, uint32_t process, struct space *space, uint64_t address,
                 uint64_t tick, bool is_return);

/* Keeps the static object, or field of one, at a data address; true when there is one with a name.
 */
bool lookup__put_variable(struct symbols *symbols, uint32_t process, struct space *space,
                          uint64_t address, uint64_t tick);

/* The same of an object on the stack, in a frame of the function at frame->address (here an address
 * in the process). */
bool lookup__put_local(struct symbols *symbols, uint32_t process, struct space *space,
                       const struct local_frame *frame, uint64_t address, uint64_t tick);

/* The member that lies at an object's address, by what variables of the frame point to; NULL: not
 * known. free() it. */
char *lookup__pointed(struct space *space, const struct unwound_frame *frame,
                      const struct stack_memory *memory, uint64_t object, uint64_t tick);

/* Why addresses of this image have no names; warns once an image. */
void lookup__warn(struct symbols *symbols, struct image *image);

#endif
