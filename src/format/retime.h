/* retime.h: what was recorded by one host's clock, told by another one's.
 *
 *     its tick     ──┬──────────┬──►          of two points, or of one and both clocks' rates,
 *     the other's  ──┴──────────┴──►          a line: where its times are on the other's clock
 *
 * In goes a trace that is not packed, chunk by chunk, out come these with all times changed: those
 * of events, of definitions, of what the kernel told, and spans of time likewise. Nothing else is.
 * Order stays. It stands on trace.h. */
#ifndef HEURT_FORMAT_RETIME_H
#define HEURT_FORMAT_RETIME_H

#include "format/trace.h"

struct clock_map {
    uint64_t from, to;       /* one moment: its tick, the other's */
    double rate;             /* the other's ticks to one of its */
    uint64_t from_ns, to_ns; /* that moment on CLOCK_MONOTONIC of both */
    double ns_rate;
};

static inline uint64_t clock_map__tick(const struct clock_map *map, uint64_t tick)
{
    return map->to + (uint64_t)(int64_t)((long double)(int64_t)(tick - map->from) * map->rate);
}
static inline uint64_t clock_map__ns(const struct clock_map *map, uint64_t ns)
{
    return map->to_ns +
           (uint64_t)(int64_t)((long double)(int64_t)(ns - map->from_ns) * map->ns_rate);
}

/* copy: of a chunk of the trace, so many bytes of it; changed. */
void trace__retime_chunk(const struct trace *trace, const struct heurt_chunk *chunk, void *copy,
                         size_t bytes, const struct clock_map *map);
/* The session's own times. */
void session__retime(struct heurt_session *session, const struct clock_map *map);

#endif
