/* allocation_sampling.h: what a thread and a process know of allocations that are told (objects.h).
 */
#ifndef HEURT_RUNTIME_ALLOCATION_SAMPLING_H
#define HEURT_RUNTIME_ALLOCATION_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which of its allocations a thread tells (objects.h). */
struct allocation_sampling {
    uint32_t whole_left;     /* so many are told, whatever they are */
    uint32_t patience;       /* so many are not, until it looks whether more may be told so */
    uint32_t bytes_left;     /* of those that are not: to the drawn byte, it included */
    uint32_t after;          /* from behind that to the end of its block */
    uint64_t random;         /* 0: nothing is drawn yet */
    uint64_t tick;           /* when it looked last */
    uint64_t operator_frame; /* stack pointer of the operator new that it is in; 0: in none */
    uint64_t operator_site;  /* and where that was called */
    uint64_t counted_chunks; /* of accesses that it counts, so far */
};

#define EARLY_BYTES 2048
#define CXX_OPERATORS 20
#define OBJECT_PLACES 65536u
#define CALLER_WORDS 64u

struct allocating {
    uint16_t places[OBJECT_PLACES]; /* (atomic) told objects by where they begin (objects.h) */
    uint64_t *objects; /* addresses that were told, by hash; NULL: nothing is told of them */
    uint64_t callers[CALLER_WORDS]; /* (atomic) a bit for each of which a stack was taken */
    int32_t stacks_left;            /* (atomic) that may still be taken */
    int32_t whole_left;             /* (atomic) allocations that its threads may still tell whole */
    const struct heurt_access_table *counting; /* (atomic) of who counts accesses; NULL: nobody */
    uint32_t counts_are_full;                  /* (atomic) that this is so was said */
    bool finds_allocator; /* the search for the functions behind is under way */
    size_t early_used;
    char early[EARLY_BYTES] __attribute__((aligned(16))); /* what that allocates */
    void *cxx_operators[CXX_OPERATORS]; /* (atomic) those behind ours; NULL: not looked for yet */
};

#endif
