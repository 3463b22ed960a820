/* targets.h: what the changes that were asked for mean in one trace.
 *
 * In goes what was asked and the profile of a trace, out come changes by number and address, or a
 * sentence. It costs one pass over the classes. It stands on changes.h and present/present.h. */
#ifndef HEURT_CMD_TARGETS_H
#define HEURT_CMD_TARGETS_H

#include "cmd/changes.h"
#include "present/openmp/openmp_screens.h"
#include "present/present.h"

/* A mutex, reader-writer lock or spin lock. */
struct lock_target {
    uint32_t process; /* serial */
    uint64_t address;
    size_t classes;   /* of the report */
    uint64_t lost_ns; /* by these */
};

/* All of the report that have classes of their own, the costliest first. struct lock_target. */
struct vec targets__locks(const struct report *report);

/* Adds the changes (struct change). -EINVAL with a sentence when there is no such class, function
 * or lock, or a name means several; it lists them then. The lock is told to *lock when the change
 * is to one lock (else its classes stay 0). openmp: for changes of regions, kept by them; NULL:
 * there are none. */
int asked__resolve(const struct asked *asked, const struct report *report,
                   const struct openmp_use *openmp, struct vec *changes, struct lock_target *lock,
                   struct error *error);

#endif
