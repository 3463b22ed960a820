/* move.h: the first instructions of a function, or others of it, rewritten so that they can run
 * elsewhere.
 *
 * In goes a function, out comes the code that stands for its first instructions, or why there is
 * none. It costs a decoding of a few instructions. It stands on code_map.h and decode.h. */
#ifndef HEURT_PATCH_MOVE_H
#define HEURT_PATCH_MOVE_H

#include "format/layout.h"
#include "patch/code_file.h"
#include "patch/code_map.h"

#include <stdbool.h>

enum move_fault {
    MOVE_DONE, /* none */
    MOVE_TOO_SHORT,
    MOVE_NOT_CODE,
    MOVE_CUT,    /* the function ends within an instruction */
    MOVE_NARROW, /* 32-bit addresses */
    MOVE_CALL,   /* returns into what is overwritten */
    MOVE_STRANGE_CALL,
    MOVE_FAR,
    MOVE_ENTERED, /* the last one */
};

bool move_fault__is_known(enum move_fault fault);
const char *move_fault__text(enum move_fault fault); /* in plain words; NULL for none */

/* Fills address, skip, moved, code, fixups and original of plan, all in addresses of the file. */
enum move_fault move__plan(const struct code_file *file, const struct code_map *map,
                           const struct code_function *function, struct heurt_plan *plan);

/* The same for the instructions at body, anywhere in the function (skip is 0, address is body): all
 * control that comes there may be led to the moved code. */
enum move_fault move__place(const struct code_file *file, const struct code_map *map,
                            const struct code_function *function, uint64_t body,
                            struct heurt_plan *plan);

#define MOVE_ANY_CALL (-1)
/* The same for instructions from body on that hold the system call at system_call, a little further
 * on: the moved code asks the runtime when it is futex(2) (HEURT_MECHANISM_SYSTEM_CALL). At most
 * four instructions before it may be moved. */
enum move_fault move__system_call(const struct code_file *file, const struct code_map *map,
                                  const struct code_function *function, uint64_t body,
                                  uint64_t system_call, int number, struct heurt_plan *plan);

#endif
