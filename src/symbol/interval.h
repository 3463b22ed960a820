/* interval.h: which of many half-open address ranges holds an address. They may nest.
 *
 * In go ranges, out comes the innermost one around an address. Sorting costs O(n log n) once,
 * finding O(log n) and a step for each range that begins later and holds it not. It stands on
 * base/vec.h. */
#ifndef HEURT_SYMBOL_INTERVAL_H
#define HEURT_SYMBOL_INTERVAL_H

#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

struct address_interval {
    uint64_t start, end;
    uint64_t reach; /* the largest end of this and all before it */
    uint32_t rank;  /* of several with one start that hold the address, the highest wins */
    uint32_t value; /* the caller's */
};

#define INTERVALS ((struct vec)VEC_OF(struct address_interval))

void intervals__add(struct vec *intervals, uint64_t start, uint64_t end, uint32_t rank,
                    uint32_t value);
void intervals__sort(struct vec *intervals); /* after the last addition, before the first find */

/* The one with the highest start that holds address, or NULL. */
const struct address_interval *intervals__find(const struct vec *intervals, uint64_t address);

#endif
