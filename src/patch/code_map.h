/* code_map.h: every place of a file's code that something may jump to, found in one pass over all
 * of it: targets of branches and calls, entries of jump tables, addresses that code or data hold,
 * symbols, starts of unwind ranges, and landing pads of exceptions. It errs on the side of too
 * many.
 *
 * In goes a file, out comes for any address whether something enters there. It costs one decoding
 * of all code, and a bit for each of its bytes. It stands on decode.h and landing.h. */
#ifndef HEURT_PATCH_CODE_MAP_H
#define HEURT_PATCH_CODE_MAP_H

#include "patch/code_file.h"

#include <stdbool.h>

struct code_map;

struct code_map *code_map__make(const struct code_file *file); /* code_map__free it */
void code_map__free(struct code_map *map);                     /* NULL is allowed */

/* Whether something may jump to an address in [from, to). */
bool code_map__is_entered(const struct code_map *map, uint64_t from, uint64_t to);

#endif
