/* allocations.h: which object of the program's lay at an address at a time, as ALLOCATED and FREED
 * tell it.
 *
 * In go a trace and the addresses that are asked for, out comes for each of them the object that
 * lived there then. It costs a pass over the events that are of no function; memory is bounded by
 * the objects at these addresses, each as often as the logarithm of how many of them it has at most
 * twice, and by how many were freed. It stands on reader.h. Once made, any
 * number of threads may ask. */
#ifndef HEURT_FORMAT_ALLOCATIONS_H
#define HEURT_FORMAT_ALLOCATIONS_H

#include "format/reader.h"

struct allocation {
    uint32_t thread; /* index into trace__threads: who allocated it */
    enum heurt_allocation call;
    bool is_drawn; /* it stands for others of its site, too */
    uint64_t site; /* the call's return address */
    /* Likewise, of the call by which the program's own code asked for it: from the site's caller,
     * or one further out, where the site is in a library's code; as long as nobody knows better,
     * the site. */
    uint64_t born;
    uint16_t context; /* those of one site and context were called alike, most likely; 0: unknown */
    uint64_t address, bytes;
    uint64_t tick, freed_tick; /* UINT64_MAX: not seen to be freed */
    uint32_t number;           /* of the object, from 0 */
};

struct allocations;

/* addresses: uint64_t, in any order; emptied of what is there twice, and sorted. */
struct allocations *allocations__find(const struct trace *trace, struct vec *addresses);
void allocations__free(struct allocations *self); /* NULL is allowed */

/* The object at that address, one of those that were asked for, of the process with that index,
 * or of whom it was forked from, at that tick. NULL: none was told. Lives as long as self. */
const struct allocation *allocations__at(const struct allocations *self, size_t process,
                                         uint64_t address, uint64_t tick);
/* Likewise; *until: the answer stays the same up to that tick, at least. */
const struct allocation *allocations__at_until(const struct allocations *self, size_t process,
                                               uint64_t address, uint64_t tick, uint64_t *until);
/* All at asked addresses: struct allocation, by number. Who knows where they were born may say so,
 * before others ask. */
struct vec *allocations__all(const struct allocations *self);

/* The thread (its serial) and tick of the call stack of an allocation, or of another of its process
 * that was called alike (symbols__get_stack). False: none was taken. */
bool allocations__stack(const struct allocations *self, const struct allocation *allocation,
                        uint32_t *thread, uint64_t *tick);

/* Allocations that the trace tells of, in all. */
uint64_t allocations__count(const struct allocations *self);

#endif
