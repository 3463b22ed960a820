/* sampled_lines.h: cache lines that samples of several threads found in use, one of them writing,
 * and such that a thread spins at. Threads of several processes may share memory, too.
 *
 * In goes a trace, out come its samples at such lines. It costs a look-up a sample, and sorting
 * those that are at such lines. It stands on reader.h. */
#ifndef HEURT_FORMAT_SAMPLED_LINES_H
#define HEURT_FORMAT_SAMPLED_LINES_H

#include "format/reader.h"

#include <stdbool.h>

#define CACHE_LINE_BYTES 64u

struct sampled_line {
    uint32_t process; /* of the first sample: index into trace__processes */
    uint64_t address; /* of its first byte, in that process */
    size_t first, count;
};

/* One sample at such a line. */
struct line_sample {
    const struct heurt_sample *sample;
    uint32_t thread; /* index into trace__threads */
    uint64_t address;
    uint64_t memory; /* whose line it is: a process's own, by its number, or one of several */
    uint64_t line;   /* in that */
};

struct sampled_lines {
    struct vec lines;   /* struct sampled_line */
    struct vec samples; /* struct line_sample: a line's side by side, by time */
};

struct sampled_lines sampled_lines__find(const struct trace *trace);
void sampled_lines__free(struct sampled_lines *lines);

/* Whether its access writes, whatever it does besides. */
static inline bool sample__writes(const struct heurt_sample *sample)
{
    return sample->access != HEURT_ACCESS_READ && sample->access != HEURT_ACCESS_SPIN;
}

/* When it was taken. */
uint64_t sample__tick(const struct trace *trace, const struct heurt_sample *sample);

/* The thread of a sample: index into trace__threads; UINT32_MAX: it is not known. */
struct sample_threads;
struct sample_threads *sample_threads__new(const struct trace *trace);
uint32_t sample_threads__of(const struct sample_threads *threads,
                            const struct heurt_sample *sample);
void sample_threads__free(struct sample_threads *threads);

#endif
