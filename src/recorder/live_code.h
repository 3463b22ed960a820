/* live_code.h: the bytes of a patch: the recorder's twin of what src/runtime/patch.c writes. */
#ifndef HEURT_RECORDER_LIVE_CODE_H
#define HEURT_RECORDER_LIVE_CODE_H

#include "format/layout.h"

#include <stdbool.h>
#include <stddef.h>

/* How far the moved code is behind the beginning of a function's slot. */
#define LIVE_STUB_BYTES 24

/* The code for the slot at that address of the process: the way to the stub, then the moved
 * instructions. False: it cannot reach what it refers to. */
bool live_code__write(uint8_t code[HEURT_LIVE_SLOT_BYTES], uint64_t address, uint32_t id,
                      uint64_t stub, const struct heurt_plan *plan);

/* The code of a slot of either kind. */
struct live_code {
    uint8_t code[HEURT_LIVE_LOOP_SLOT_BYTES];
    size_t bytes;
    size_t start; /* where the jump leads */
};

/* What a loop's slot needs to know. */
struct loop_code {
    const struct heurt_plan *plan;
    uint32_t id;
    int64_t counter; /* where a thread's counter is, from its thread pointer */
    uint64_t stub;
    bool saves_flags;
};

/* How far the moved code is behind the beginning of a loop's slot. */
#define LIVE_LOOP_MOVED_BYTES 48

/* The code for a loop's slot at that address of the process: counts the thread's counter down, and
 * goes on in the moved instructions. Returns where in it the loop's jump leads; 0: it cannot reach
 * what it refers to. */
size_t live_code__write_loop(uint8_t code[HEURT_LIVE_LOOP_SLOT_BYTES], uint64_t address,
                             const struct loop_code *loop);

/* The jump that stands at from and leads to slot. False: it does not reach. */
bool live_code__jump(uint8_t jump[HEURT_PATCH_BYTES], uint64_t from, uint64_t slot);

/* Which of the bytes that a plan moves is meant by an offset in its moved code; the one behind them
 * all for what comes behind. */
uint64_t live_code__original(const struct heurt_plan *plan, uint64_t offset);

/* Whether a call among the bytes that the jump replaces returns into the middle of them: such a
 * function cannot be patched while threads may be in that call. */
bool live_code__has_return_inside(const struct heurt_plan *plan);

#endif
