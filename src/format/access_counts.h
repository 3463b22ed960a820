/* access_counts.h: accesses to memory that a program counted, by thread (access_layout.h).
 *
 * In goes a trace, out comes each count that is in it. It costs a pass over its COUNTS chunks; what
 * comes out leads into the trace. It stands on reader.h. */
#ifndef HEURT_FORMAT_ACCESS_COUNTS_H
#define HEURT_FORMAT_ACCESS_COUNTS_H

#include "format/access_layout.h"
#include "format/reader.h"

struct counted_access {
    uint32_t thread; /* index into trace__threads */
    const struct heurt_access_count *count;
};

struct access_counts {
    struct vec all;  /* struct counted_access */
    uint64_t missed; /* accesses that found no place */
};

/* Of all but threads that are aside; none of a part of a run, for counts have no time. */
struct access_counts access_counts__of(const struct trace *trace);
void access_counts__free(struct access_counts *counts);

/* Whether the program counts: a library of it does. */
bool trace__counts_accesses(const struct trace *trace);

/* The first byte that is accessed there. */
static inline uint64_t access_count__address(const struct heurt_access_count *count)
{
    return count->address + count->first;
}

/* The last byte of the call that counts: so it is looked up as it is, and is no instruction's
 * address, which may be sampled. */
static inline uint64_t access_count__site(const struct heurt_access_count *count)
{
    return HEURT_SITE_ADDRESS(count->site) - 1;
}

#endif
