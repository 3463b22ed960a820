/* missing.h: why a function that was asked for has no code of its own: the compiler has put it into
 * others. */
#ifndef HEURT_PATCH_MISSING_H
#define HEURT_PATCH_MISSING_H

#include "base/vec.h"

/* A sentence's end: where the function is inlined, by DWARF, and what to do about it; NULL: nowhere
 * that is known. asked: as in struct plan_request. paths: char *, of the modules that were
 * searched. To be freed. */
char *missing__explain(const char *asked, const struct vec *paths);

#endif
