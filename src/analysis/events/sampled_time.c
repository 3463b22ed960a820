#include "analysis/events/sampled_time.h"

#include "base/memory.h"
#include "format/sampled_lines.h"

#include <stdlib.h>

bool sampled_time__is_recording(const void *context, uint32_t thread, const struct symbol *symbol)
{
    (void)context, (void)thread;
    return symbol && symbol__is_of_runtime(symbol);
}

struct sampled_time sampled_time__of(const struct trace *trace, const struct symbols *symbols,
                                     sampled_time_question *asks, const void *context)
{
    size_t threads = trace__threads(trace)->count;
    struct sampled_time time = {.ns = memory__zeroed(threads + 1, sizeof *time.ns),
                                .of_ns = memory__zeroed(threads + 1, sizeof *time.of_ns)};
    struct sample_threads *known = sample_threads__new(trace);
    VEC_EACH (sample, trace__samples(trace), const struct heurt_sample) {
        uint32_t thread = sample_threads__of(known, sample);
        if (thread >= threads)
            continue;
        const struct symbol *symbol =
            symbols ? symbols__get(symbols, trace__serial_of(trace, thread), sample->instruction)
                    : NULL;
        time.ns[thread] += sample->weight_ns;
        time.samples++;
        if (!asks(context, thread, symbol))
            continue;
        time.of_ns[thread] += sample->weight_ns;
        time.count++;
    }
    sample_threads__free(known);
    return time;
}

void sampled_time__free(struct sampled_time *time)
{
    free(time->ns);
    free(time->of_ns);
}
