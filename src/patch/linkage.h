/* linkage.h: calls into other files, by way of the linkage table (.plt).
 *
 * In goes the address of a stub, out comes the name that it leads to. It costs a decoding of it
 * and a look-up of its slot. It stands on code_file.h and decode.h. */
#ifndef HEURT_PATCH_LINKAGE_H
#define HEURT_PATCH_LINKAGE_H

#include "patch/code_file.h"

#include <stdbool.h>

/* The symbol that the linkage stub at address jumps to, or NULL. */
const char *linkage__name(const struct code_file *file, uint64_t address);

/* Whether a call of address never comes back: functions of libc and the C++ runtime that are known
 * for it, called through the linkage table or, where the file has them itself, by their symbol; and
 * short functions without an instruction that leads out of them. */
bool linkage__never_returns(const struct code_file *file, uint64_t address);

#endif
