#include "format/access_counts.h"

#include "format/trace.h"

static uint32_t thread_of(const struct trace *trace, const struct heurt_chunk *chunk)
{
    const struct trace_thread *threads = trace->threads.items;
    const struct trace_thread *thread = trace__thread(trace, chunk->thread);
    return thread && !thread->is_aside ? (uint32_t)(thread - threads) : UINT32_MAX;
}

static void add_chunk(const struct trace *trace, const struct heurt_chunk *chunk,
                      struct access_counts *counts)
{
    const char *end = trace__chunk_end(trace, chunk);
    const struct heurt_counts_head *head = (const struct heurt_counts_head *)(chunk + 1);
    const struct heurt_access_count *count = (const struct heurt_access_count *)(head + 1);
    struct counted_access counted = {.thread = thread_of(trace, chunk)};
    if (counted.thread == UINT32_MAX || (const char *)count > end)
        return;
    counts->missed += head->missed;
    for (; (const char *)(count + 1) <= end && count->count; count++) {
        counted.count = count;
        vec__push(&counts->all, &counted);
    }
}

struct access_counts access_counts__of(const struct trace *trace)
{
    struct access_counts counts = {.all = VEC_OF(struct counted_access)};
    VEC_EACH (chunk, &trace->counted, const struct heurt_chunk *)
        if (!trace->whole)
            add_chunk(trace, *chunk, &counts);
    return counts;
}

void access_counts__free(struct access_counts *counts)
{
    vec__free(&counts->all);
}

bool trace__counts_accesses(const struct trace *trace)
{
    return trace->counted.count > 0 && !trace->whole;
}
