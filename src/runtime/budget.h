/* budget.h: a thread's bookkeeping of what recording costs it (budget.c). */
#ifndef HEURT_RUNTIME_BUDGET_H
#define HEURT_RUNTIME_BUDGET_H

#include "runtime/block_sampling.h"
#include "runtime/share.h"

#include <stdbool.h>
#include <stdint.h>

/* A function that was seen often enough in this thread to be looked at. */
struct budget_site {
    uint32_t id;     /* 0: free */
    uint32_t wanted; /* length of the next block; 1: to be recorded at every occurrence */
    struct block_sampling drawing; /* block is 0 while it is not sampled */
    uint32_t gap;     /* as drawn; what is left of it stands in the thread's countdowns */
    uint32_t passed;  /* occurrences up to the last drawn one that no window has counted; of
                         a function that is not sampled: an estimate for this window */
    uint32_t counted; /* of the gap under way, occurrences that a window has counted */
    int32_t stack;    /* countdown to the next call stack when the window began … */
    bool is_known;    /* … if it was looked at then; not of sampled functions */
    bool wished;      /* its unpatching was asked for */
};

/* Sites of one hash lie together, so that each can be freed alone. */
#define SITE_WAYS 8
#define SITES 512

/* The window: the time since the budget was last looked at. */
struct budget {
    uint64_t random;
    uint64_t cpu_ns;        /* when the window began */
    uint64_t tick;          /* likewise */
    uint64_t period;        /* ticks after which a window ends though the chunk is not full */
    const uint64_t *looked; /* words of the chunk before it belong to earlier windows */
    uint64_t renewal;       /* ticks that a new chunk took */
    uint64_t debt;          /* ticks spent above the budget and not yet saved */
    uint64_t calls_over;    /* ticks for which leaving out alone was too much */
    uint64_t others_over;   /* likewise, for the hooks' events */
    uint32_t drawn;         /* occurrences in the window */
    uint32_t busy;          /* > 0: sites are being changed: a signal handler leaves them alone */
    struct share shares[SITES]; /* of the sites that occurred */
    uint16_t share_sites[SITES];
    struct budget_site sites[SITES];
};

#endif
