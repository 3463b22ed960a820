/* counts.h: what a thread counts: how often it accessed which memory with which instruction.
 *
 * A program that is compiled with -fsanitize=thread calls a function in front of each access; these
 * are ours in place of the sanitizer's (entry_*.c). Each count is a record in the trace
 * (format/access_layout.h), so that nothing is lost when the program is killed; a table of the
 * thread's own, in memory that no child gets, finds it.
 *
 *   what                   who writes                       how
 *   heurt_counting         its thread, and its handlers     a handler that comes while a record is
 *                                                           made makes none: it counts as missed
 *   index                  likewise                         an older, smaller one stays mapped
 * until the thread ends: who was interrupted may still read it a record's count       likewise one
 * instruction generations            whoever allocates (libheurt.so)  atomic addition
 *
 * Without a recording nothing is counted: an access costs a call and two loads. It stands on
 * libheurt.so where that is loaded, and on libc; it never takes memory from the program's heap. */
#ifndef HEURT_ACCESS_COUNTS_H
#define HEURT_ACCESS_COUNTS_H

#include "format/access_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Open addressing by count__hash. Who is interrupted by a handler that makes a longer one goes on
 * in this one. A forked child finds it wiped: an index of one place, which is free. */
struct counts_index {
    uint64_t mask; /* its length less 1, a power of 2 */
    struct counts_index *before;
    size_t bytes; /* that it was mapped with; 0: it is no more this process' */
    uint64_t reserved[5];
    struct heurt_access_count *places[]; /* NULL: free */
};

struct own_counts {
    struct counts_index *index;
    uint64_t used;                         /* places */
    struct heurt_access_count *next, *end; /* what is free of the newest chunk */
    struct heurt_counts_head *head;        /* of that; NULL: there is none */
    uint32_t units;                        /* of the next chunk */
    bool is_busy;                          /* a record is being made */
    bool is_full;                          /* no more can be had */
};

extern __thread struct own_counts heurt_counting
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
extern struct heurt_access_table heurt_joined __attribute__((visibility("hidden")));
extern uint32_t heurt_generations[HEURT_GENERATIONS] __attribute__((visibility("hidden")));

/* The words of a line of memory have their places side by side. */
static inline uint64_t count__hash(uint64_t site, uint64_t address)
{
    uint64_t line = address / 64, mixed = (site ^ line << 17 ^ line) * 0x9e3779b97f4a7c15ull;
    return (mixed ^ mixed >> 32) << 3 | (address / 8 & 7);
}

static inline uint32_t generation__of(uint64_t address)
{
    return heurt_generations[address / 64 % HEURT_GENERATIONS];
}

/* One instruction, so that no handler's is lost. */
static inline void count__raise(uint64_t *count)
{
    __asm__ volatile("incq %0" : "+m"(*count) : : "cc");
}

/* The rest of count__access: not in the first place where it is looked for, or not yet there. */
void count__find(uint64_t site, uint64_t granule, unsigned first, unsigned behind);

/* site: HEURT_SITE(return address, what is done). granule: its address; the access is to the bytes
 * from first to one before behind. */
static inline void count__access(uint64_t site, uint64_t granule, unsigned first, unsigned behind)
{
    const struct counts_index *index = heurt_counting.index;
    struct heurt_access_count *count = index->places[count__hash(site, granule) & index->mask];
    if (likely(count && count->site == site && count->address == granule &&
               count->generation == generation__of(granule) && count->first <= first &&
               count->behind >= behind))
        count__raise(&count->count);
    else
        count__find(site, granule, first, behind);
}

/* An access of so many bytes, a constant. */
static inline void count__bytes(uint64_t site, uint64_t address, unsigned bytes)
{
    uint64_t granule = address & ~(uint64_t)(bytes <= 4 ? 3 : 7);
    unsigned first = (unsigned)(address - granule);
    count__access(site | HEURT_SITE(0, bytes << 8), granule, first, first + bytes);
}

/* A row of bytes: once at each cache line. */
void count__row(uint64_t site, uint64_t address, size_t bytes);

#define COUNT_SITE(access) HEURT_SITE(__builtin_return_address(0), access)

#endif
