/* arena.h: where an aggregating thread keeps what it knows: records in its AGGREGATES chunks, which
 * readers see, and private memory beside them. */
#ifndef HEURT_RUNTIME_ARENA_H
#define HEURT_RUNTIME_ARENA_H

#include "runtime/runtime.h"

struct arena {
    uint8_t *next, *end;         /* what is free of the newest chunk */
    struct heurt_chunk *chunks;  /* newest first; reserved[0] is the unit of the one before */
    uint32_t thread;             /* serial */
    uint64_t sequence;           /* of the next chunk */
    uint8_t *own_next, *own_end; /* what is free of the newest piece of private memory */
    struct arena_piece *pieces;
};

/* How much of the trace may be claimed, in eighths, so that something is left for what matters
 * more: what is already counted must go on being counted. */
enum quota {
    QUOTA_STACKS = 2,
    QUOTA_KEPT_THREADS = 3, /* threads that have ended keep records of their own */
    QUOTA_CLASSES = 6,
    QUOTA_THREADS = 7,
    QUOTA_ALL = 8,
};

/* What is claimed, given back and taken again at a time. */
#define ARENA_UNITS 4u
#define ARENA_BYTES (ARENA_UNITS * HEURT_UNIT_BYTES)

/* Stacks and threads that have ended get a part of no more than this, however much may be claimed:
 * what lives needs the rest. */
#define MODEST_UNITS ((32u << 20) / HEURT_UNIT_BYTES)

bool quota__has(enum quota quota, uint32_t units);

/* A zeroed chunk of that many units, a multiple of ARENA_UNITS: one that was given back, or a
 * claimed one. */
struct heurt_chunk *chunk__take(uint32_t units, enum heurt_chunk_kind kind, uint32_t thread,
                                uint64_t sequence);
/* Nobody writes to it any more. What it counted as lost goes to the session. */
void chunk__give_back(struct heurt_chunk *chunk);

/* Zeroed room for a record of that many bytes, which record__publish shows to readers. */
void *arena__record(struct arena *arena, uint32_t bytes, enum quota quota);
void record__publish(void *record, uint32_t bytes, enum heurt_record_type type);

/* Zeroed private memory, or NULL. */
void *arena__own(struct arena *arena, size_t bytes);

/* Gives everything back. arena__forget: only what is private, in a forked child. */
void arena__free(struct arena *arena);
void arena__forget(struct arena *arena);

/* Private zeroed pages, or NULL. */
void *pages__map(size_t bytes);

static inline void words__clear(void *words, size_t count)
{
    __asm__ volatile("rep stosq" : "+D"(words), "+c"(count) : "a"(0) : "memory");
}

#endif
