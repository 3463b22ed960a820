/* excerpt.h: a trace that has another one's processes and threads, and events of its own.
 *
 * In goes a trace and, for each of its threads, events as words; out comes a trace that is read as
 * any other. It stands on reader.h. */
#ifndef HEURT_FORMAT_EXCERPT_H
#define HEURT_FORMAT_EXCERPT_H

#include "format/reader.h"

/* What one thread has in it. */
struct excerpt_thread {
    uint64_t start_tick, end_tick;
    struct vec words; /* uint64_t: events, as excerpt__put_event writes them */
};

/* Writes an event, whose tick is no more than 2^47 from the one before, and returns how many words
 * it takes: its payload's and at most 2. The payload may stand where it is written, or behind. */
size_t excerpt__put_event(uint64_t *at, const struct event *event);

/* threads: by index into trace__threads; their words are freed as they are taken. end_tick: of the
 * command. What the kernel told stands among the events: of CPU times nothing is known. Lives no
 * longer than trace, and is freed by trace__close_excerpt. */
struct trace *trace__excerpt(const struct trace *trace, struct excerpt_thread *threads,
                             uint64_t end_tick);
/* Its events will not be walked over any more, and take no memory. */
void trace__empty_excerpt(struct trace *excerpt);
void trace__close_excerpt(struct trace *excerpt); /* NULL is allowed */

#endif
