/* system_calls.h: the system calls that a file's code makes itself and that the runtime has to know
 * of: futex(2), and what limits the process' system calls or changes its user. They are made by
 * syscall instructions, not through libc's functions, which the runtime has hooks for.
 *
 * Where the number is put into eax just before, it is known; elsewhere the moved code looks at it
 * when it runs (for all but those that change the user, for which it has no room). Of libc only the
 * waits are taken that no hook tells (denylist.h). All addresses are addresses in the file. */
#ifndef HEURT_PATCH_SYSTEM_CALLS_H
#define HEURT_PATCH_SYSTEM_CALLS_H

#include "patch/code_file.h"
#include "patch/code_map.h"

enum { SYSTEM_CALL_STARTS = 5 };

struct inline_system_call {
    const struct code_function *function;
    uint64_t address;
    int number; /* MOVE_ANY_CALL: not known */
    /* Where instructions begin that may be moved with it: its own, then those before it that no
     * branch parts from it. */
    uint64_t starts[SYSTEM_CALL_STARTS];
    unsigned start_count;
};

/* Whether the bytes of the instruction are anywhere in a file: most files have none. */
bool system_calls__may_be_in(const char *path);

/* Fills calls (struct inline_system_call). module: the file's name without directories. */
void system_calls__list(const struct code_file *file, const char *module, struct vec *calls);

/* Fills plans (struct heurt_plan) with those of the calls that can be moved (move__system_call). */
void system_calls__plan(const struct code_file *file, const struct code_map *map,
                        const struct vec *calls, struct vec *plans);

#endif
