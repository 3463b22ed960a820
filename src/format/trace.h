/* trace.h: the inside of an open trace, for the files of this room only. */
#ifndef HEURT_FORMAT_TRACE_H
#define HEURT_FORMAT_TRACE_H

#include "base/vec.h"
#include "format/reader.h"

/* Chunks with damage, each counted once; cursors of several threads may write to it. */
struct damage {
    uint64_t places;  /* (atomic) */
    uint64_t *chunks; /* (atomic) a bit for each unit that begins a damaged chunk */
};

struct trace_meta {
    const char *key, *value;
};

struct trace {
    const char *bytes; /* the claimed part of the file, or what there is of it */
    size_t size;
    size_t mapped_bytes; /* 0: not mapped by us */
    void *copy;          /* of memory that was not aligned, or NULL */
    struct heurt_session session;
    struct vec processes, threads;
    struct vec metas;                    /* struct trace_meta */
    struct vec owned;                    /* void *: freed with the trace */
    uint64_t first_tick;                 /* of all threads' starts */
    uint64_t last_tick;                  /* of all threads' ends */
    struct heurt_clock_pair first, last; /* the clocks' rate is measured between these */
    struct damage *damage;
};

/* event.c: payload words + 1 of the ids below HEURT_EVENT_FUNCTIONS; 0: not defined. */
#define PAYLOAD_VARIABLE 255
extern const uint8_t event_payload_words[HEURT_EVENT_FUNCTIONS];

/* cursor.c: first and last events of each thread. */
void trace_thread__find_bounds(const struct trace *trace, struct trace_thread *thread);
void trace__mark_damaged(const struct trace *trace, const struct heurt_chunk *chunk);
/* One past the chunk's last byte that lies within the file. */
const char *trace__chunk_end(const struct trace *trace, const struct heurt_chunk *chunk);

/* definitions.c: fills the processes (which are there, by serial), metas and thread names.
 * chunks: const struct heurt_chunk *, in the order in which they were written. */
void trace__read_definitions(struct trace *trace, const struct vec *chunks);
struct trace_process *trace__process(const struct trace *trace, uint32_t serial);
struct trace_thread *trace__thread(const struct trace *trace, uint32_t serial);

#endif
