/* sampled_time.h: which part of its CPU time a thread spent in some code, as samples tell.
 *
 * In go the samples that the recorder took of the program's own code while it ran (it takes none
 * of the kernel's), and a question about each; out comes, by thread, for how much time they stand.
 * A sample stands for the time since the one before it. They begin some time after the program:
 * who knows a thread's CPU time takes the parts of that. Costs O(log n) a sample. */
#ifndef HEURT_ANALYSIS_EVENTS_SAMPLED_TIME_H
#define HEURT_ANALYSIS_EVENTS_SAMPLED_TIME_H

#include "format/reader.h"
#include "format/symbols.h"

struct sampled_time {
    uint64_t *ns;            /* of all samples, by trace__threads */
    uint64_t *of_ns;         /* of those that are asked for, likewise */
    uint32_t samples, count; /* all; of those that are asked for */
};

/* Whether a sample's code is asked for. symbol: where it is; NULL: not known. */
typedef bool sampled_time_question(const void *context, uint32_t thread,
                                   const struct symbol *symbol);

/* Of the recording's own code; context is not looked at. */
sampled_time_question sampled_time__is_recording;

/* sampled_time__free it. symbols: NULL: none are known. */
struct sampled_time sampled_time__of(const struct trace *trace, const struct symbols *symbols,
                                     sampled_time_question *asks, const void *context);
void sampled_time__free(struct sampled_time *time);

/* What is asked for, of all of a thread's samples: 0 … 1. */
static inline double sampled_time__part(const struct sampled_time *time, size_t thread)
{
    return time->ns[thread] ? (double)time->of_ns[thread] / (double)time->ns[thread] : 0;
}

#endif
