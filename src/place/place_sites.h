/* place_sites.h: where a policy's rules are in this process: the modules that they name are found
 * by their build-ids.
 *
 * It costs a walk over the modules and their notes, and is repeated only when modules were added
 * and rules are still without one. Any thread may ask; the loader's lock is taken meanwhile, not
 * ours. */
#ifndef HEURT_PLACE_PLACE_SITES_H
#define HEURT_PLACE_PLACE_SITES_H

#include "place/place_policy.h"

void place_sites__find(struct place_policy *policy);
struct place_range {
    uint64_t start, end; /* equal: it is not there */
};
/* Where the module is whose path ends so. */
struct place_range place_sites__range(const char *name);
/* How many modules were added to this process until now. */
uint64_t place_sites__modules(void);

#endif
