/* live_code.h: the bytes of a patch: the recorder's twin of what src/runtime/patch.c writes. */
#ifndef HEURT_RECORDER_LIVE_CODE_H
#define HEURT_RECORDER_LIVE_CODE_H

#include "format/layout.h"

#include <stdbool.h>

/* How far the moved code is behind the beginning of a function's slot. */
#define LIVE_STUB_BYTES 24

/* The code for the slot at that address of the process: the way to the stub, then the moved
 * instructions. False: it cannot reach what it refers to. */
bool live_code__write(uint8_t code[HEURT_LIVE_SLOT_BYTES], uint64_t address, uint32_t id,
                      uint64_t stub, const struct heurt_plan *plan);

/* The jump that stands at from and leads to slot. False: it does not reach. */
bool live_code__jump(uint8_t jump[HEURT_PATCH_BYTES], uint64_t from, uint64_t slot);

/* Whether a call among the bytes that the jump replaces returns into the middle of them: such a
 * function cannot be patched while threads may be in that call. */
bool live_code__has_return_inside(const struct heurt_plan *plan);

#endif
