/* access_layout.h: exact counts of a program's accesses to memory: what a COUNTS chunk of a trace
 * holds, and what libheurt-access.so, which counts, and libheurt.so, which has the trace, are to
 * each other. Constants and structs, no functions.
 *
 * A COUNTS chunk belongs to one thread. It is a head, then counts, the first of which that has no
 * count ends it:
 *
 *     chunk header   head   count   count   count   ...   0
 *
 * Each is what one thread did with one instruction at one granule of memory, from its first access
 * until something else was allocated there: so all of it belongs to the object that lay there at
 * tick. A granule is 8 bytes (4 for accesses of at most 4); of an access to a row of bytes (memcpy)
 * it is a cache line. An access is counted at its first byte. */
#ifndef HEURT_FORMAT_ACCESS_LAYOUT_H
#define HEURT_FORMAT_ACCESS_LAYOUT_H

#include "format/layout.h"

/* What is done, in the upper part of site (HEURT_SITE): enum heurt_access (READ, WRITE, UPDATE,
 * ATOMIC), whether a row of bytes is accessed, and how many are otherwise. */
#define HEURT_COUNT_ACCESS(site_word) (HEURT_SITE_HOW(site_word) & 0xfu)
#define HEURT_COUNT_IS_ROW 0x10u
#define HEURT_COUNT_WIDTH(site_word) (HEURT_SITE_HOW(site_word) >> 8) /* in bytes; 0: of a row */

struct heurt_access_count {
    uint64_t site;       /* the return address of what counts it, behind the instruction */
    uint64_t address;    /* of the granule */
    uint64_t tick;       /* of the first access */
    uint64_t count;      /* how many there were; stored last */
    uint32_t generation; /* of the line, for who counts */
    uint8_t first;       /* the bytes from the granule's that were accessed, */
    uint8_t behind;      /* and one past them */
    uint8_t region;      /* enum heurt_region: STACK (the thread's own), or UNKNOWN */
    uint8_t reserved;
};

struct heurt_counts_head {
    uint64_t missed; /* accesses of the thread, since this was its chunk, that found no place */
    uint64_t reserved[3];
};

/* Of how many lines of memory it is known apart that something else was allocated there. */
#define HEURT_GENERATIONS 65536u

/* What libheurt-access.so gives to libheurt.so, which fills in where its own code lies: what that
 * copies is no access of the program's. */
struct heurt_access_table {
    uint32_t *generations; /* (atomic) by address / 64, modulo HEURT_GENERATIONS: raised when
                              something is allocated on the line */
    void (*thread_ends)(void);
    uint64_t recorder_code, recorder_bytes;
};

enum heurt_access_room {
    HEURT_ROOM_GIVEN,
    HEURT_ROOM_LATER, /* the thread's record does not begin yet, or is held */
    HEURT_ROOM_NEVER, /* the trace is full, or nothing more is recorded of the thread */
};

#endif
