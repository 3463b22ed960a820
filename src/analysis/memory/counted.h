/* counted.h: accesses that the program counted itself (docs/heurt-memory.md, libheurt-access.so):
 * what threads do at each object, to the access, and what that makes of the lines that they share.
 *
 * In goes each count with the object that it belongs to, out come what threads do there by
 * instruction, and the accesses at lines of each kind. It costs sorting the counts. It stands on
 * format/access_counts.h. */
#ifndef HEURT_ANALYSIS_MEMORY_COUNTED_H
#define HEURT_ANALYSIS_MEMORY_COUNTED_H

#include "format/access_counts.h"
#include "format/allocations.h"

/* What threads do at a line, as all that they did there tells it. */
enum counted_kind {
    COUNTED_PRIVATE,       /* one thread uses it */
    COUNTED_READ_ONLY,     /* several do, and none writes */
    COUNTED_FALSE_SHARING, /* one writes there, and others use other bytes */
    COUNTED_TRUE_SHARING,  /* one writes what others use */
    COUNTED_KINDS
};

/* What a thread did in an object with one instruction, or more exactly: with the accesses that the
 * compiler announced from one place. */
struct counted_row {
    uint32_t thread; /* index into trace__threads */
    uint64_t site;   /* the call that counted it: access_count__site */
    enum heurt_access access;
    uint64_t count;
    uint64_t address, bytes;         /* of the data where it did most, from the first byte */
    uint64_t most;                   /* accesses there */
    uint64_t tick;                   /* of the first of them */
    uint64_t places;                 /* granules, each as often as something else lay there */
    const struct allocation *object; /* there; NULL: nothing that was told */
};

struct counted_use {
    bool is_told;                   /* the program counts, and the whole run is looked at */
    uint64_t reads, writes, missed; /* of all objects; accesses that found no place */
};

/* In an object, an update is a read and a write. */
struct counted_object {
    uint64_t reads, writes;
    uint64_t by_kind[COUNTED_KINDS]; /* accesses at lines of that kind */
    struct vec rows;                 /* struct counted_row, that of most accesses first */
};

static inline bool access__reads(enum heurt_access access)
{
    return access != HEURT_ACCESS_WRITE;
}

static inline bool access__writes(enum heurt_access access)
{
    return access != HEURT_ACCESS_READ && access != HEURT_ACCESS_SPIN;
}

/* The kind of lines at which most of the object's accesses were. */
enum counted_kind counted_object__kind(const struct counted_object *object);

#endif
