/* move.h: the first instructions of a function, rewritten so that they can run elsewhere. */
#ifndef HEURT_SYMBOL_MOVE_H
#define HEURT_SYMBOL_MOVE_H

#include "format/layout.h"
#include "symbol/code_file.h"
#include "symbol/code_map.h"

/* Fills address, skip, moved, code, fixups and original of plan for a function of a file that is
 * mapped with bias. Returns NULL, or why it cannot be done, in plain words (static). */
const char *move__plan(const struct code_file *file, const struct code_map *map,
                       const struct code_function *function, uint64_t bias,
                       struct heurt_plan *plan);

/* Whether the function has instructions that lock memory: then its end is worth waiting for. */
bool move__is_locking(const struct code_file *file, const struct code_function *function);

/* Whether the function's entry looks like one: the caller's return address is on top. */
bool move__is_entry(const struct code_file *file, const struct code_function *function);

#endif
