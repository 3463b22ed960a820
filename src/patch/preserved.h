/* preserved.h: whether a function keeps rbx for its caller as the ABI says. A stub that puts the
 * return address aside remembers in rbx where.
 *
 * In goes a function, out comes yes or no. It costs one decoding of it. It stands on code_file.h
 * and decode.h. */
#ifndef HEURT_PATCH_PRESERVED_H
#define HEURT_PATCH_PRESERVED_H

#include "patch/code_file.h"

#include <stdbool.h>

/* False: the function uses rbx where its unwind information does not say that it is saved; it then
 * takes something in it, leaves something in it, or hides from unwinders what it was. Code without
 * unwind information is taken to keep it. */
bool preserved__rbx(const struct code_file *file, const struct code_function *function);

#endif
