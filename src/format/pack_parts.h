/* pack_parts.h: the inside of packing a trace, for the files of this room only.
 *
 * The new file is a row of chunks behind the session's header, which comes last: without it the
 * file is none. It stands on trace.h and block.h. */
#ifndef HEURT_FORMAT_PACK_PARTS_H
#define HEURT_FORMAT_PACK_PARTS_H

#include "format/pack.h"
#include "format/trace.h"

/* A place of the trace, or a life, and what it becomes. */
struct packed_piece {
    struct trace_place place;
    const struct trace_life *life; /* NULL: a place */
    char *packed;                  /* a chunk, or NULL: it stays as it is */
    size_t bytes;                  /* of packed */
    size_t words;                  /* of the chunk, of the events that were packed */
};

/* Packs what can be packed. No room for more than the chunk has now: then it stays as it is. */
void piece__pack(const struct trace *trace, struct block_packer *packer,
                 struct packed_piece *piece);

/* The new file in a trace's directory, which it replaces in the end; negative errno. */
int new_events__create(int directory);
/* Appends behind *length, which it raises, unless that fails: negative errno. */
int new_events__append(int fd, uint64_t *length, const void *bytes, size_t count);

/* Writes all of them there. Negative errno. */
int new_events__write(int fd, const char *bytes, size_t count, uint64_t offset);

/* What pack_ahead__start does, without its thread; and what that does now and then: it packs what
 * is finished. Negative errno: it will not do so again. */
struct pack_ahead *pack_ahead__new(const char *directory);
int pack_ahead__look(struct pack_ahead *ahead);

/* What was packed ahead, once nobody packs ahead any more. */
struct packed_ahead {
    int fd;          /* of the new file; -1: there is none, and nothing else holds */
    uint64_t length; /* bytes of it */
    uint64_t *units; /* a bit for each unit of the trace that begins a chunk in it; the ahead's */
};

/* Ends it, for the trace in the file events. Chunks that have changed since are not among it. */
struct packed_ahead pack_ahead__take(struct pack_ahead *ahead, const struct trace *trace,
                                     int events);

static inline bool packed_ahead__has(const struct packed_ahead *ahead, const struct trace *trace,
                                     const struct heurt_chunk *chunk)
{
    size_t unit = (size_t)((const char *)chunk - trace->bytes) / HEURT_UNIT_BYTES;
    return ahead->fd >= 0 && chunk && ahead->units[unit / 64] & 1ull << unit % 64;
}

#endif
