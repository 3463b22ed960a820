/* flags.h: whether what a patch does to the processor's flags can be seen.
 *
 * In goes a place in a function, out comes a proof or none. It costs a decoding of the ways from
 * there, which are given up after a bounded number. It stands on decode.h. */
#ifndef HEURT_PATCH_FLAGS_H
#define HEURT_PATCH_FLAGS_H

#include "patch/code_file.h"

#include <stdbool.h>

/* Whether nobody reads what PF, AF, ZF, SF and OF are at that instruction of the function: each is
 * written again before it is read on every way that is followed; callers and callees look at none
 * (System V ABI). CF is not asked of: dec leaves it. */
bool flags__are_dead(const struct code_file *file, const struct code_function *function,
                     uint64_t address);

#endif
