/* sample_index.h: samples by thread and by the code that they are at, so that each place that
 * shares lines looks at its own samples alone.
 *
 * In goes a trace, out come numbers of its samples. It costs a look-up and some words a sample. It
 * stands on format/sampled_lines.h. Once made, any number of threads may ask. */
#ifndef HEURT_ANALYSIS_MEMORY_SAMPLE_INDEX_H
#define HEURT_ANALYSIS_MEMORY_SAMPLE_INDEX_H

#include "format/reader.h"

#include <stdbool.h>

struct sample_index {
    const struct trace *trace;
    uint32_t *thread_of; /* by trace__samples: index into trace__threads, or UINT32_MAX */
    uint64_t *ns;        /* by trace__threads: what all its samples stand for */
    uint32_t *longest;   /* likewise: what one stands for at most, ns */
    struct vec codes;    /* struct sampled_code, by instruction, then thread */
    uint32_t *numbers;   /* of samples: a code's side by side, by time */
};

/* The samples of a thread at one instruction. */
struct sampled_code {
    uint64_t instruction;
    uint32_t thread;
    uint32_t first, count; /* in numbers */
};

struct sample_index sample_index__make(const struct trace *trace);
void sample_index__free(struct sample_index *self);

/* Numbers of samples (uint64_t), ascending: those at instructions from least to most of threads
 * that are_of says; vec__free them. */
struct vec sample_index__at(const struct sample_index *self, uint64_t least, uint64_t most,
                            const bool *are_of);

#endif
