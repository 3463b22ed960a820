/* ifunc.h: what to tell of a function that is chosen at run time.
 *
 * In goes a resolver, out comes a sentence, which the caller frees. It costs one decoding of it.
 * It stands on decode.h. */
#ifndef HEURT_PATCH_IFUNC_H
#define HEURT_PATCH_IFUNC_H

#include "patch/code_file.h"

/* The reason of the refusal, with the names of the versions that the function's resolver refers
 * to, where these have names. free() it. */
char *ifunc__refusal(const struct code_file *file, const struct code_function *resolver);

#endif
