/* aggregates.c: what a thread's events came to in an aggregated run. Only pointers are kept: the
 * records stay where they are in the file. */
#include "base/memory.h"
#include "format/trace.h"

#include <stdlib.h>

static struct trace_aggregate *aggregate_of(struct trace_thread *thread)
{
    if (!thread->aggregate) {
        thread->aggregate = memory__zeroed(1, sizeof *thread->aggregate);
        *thread->aggregate = (struct trace_aggregate){
            .classes = VEC_OF(const struct heurt_class_record *),
            .histograms = VEC_OF(const struct heurt_histogram_record *),
            .stacks = VEC_OF(const struct heurt_stack_record *),
        };
    }
    return thread->aggregate;
}

void trace_thread__free_aggregate(struct trace_thread *thread)
{
    if (!thread->aggregate)
        return;
    vec__free(&thread->aggregate->classes);
    vec__free(&thread->aggregate->histograms);
    vec__free(&thread->aggregate->stacks);
    free(thread->aggregate);
    thread->aggregate = NULL;
}

static bool read_thread(struct trace_thread *thread, const struct heurt_thread_record *record,
                        uint32_t bytes)
{
    if (bytes < sizeof *record || thread->aggregate->record)
        return false;
    thread->aggregate->record = record;
    thread->merged_threads = record->merged_threads;
    thread->merged_ticks = record->merged_ticks;
    if (record->merged_threads)
        thread->name = "ended threads";
    return true;
}

static bool read_class(struct trace_aggregate *aggregate, const struct heurt_class_record *record,
                       uint32_t bytes)
{
    if (bytes < sizeof *record || record->number != aggregate->classes.count ||
        record->words > HEURT_ARGUMENTS_MAX)
        return false;
    vec__push(&aggregate->classes, &record);
    return true;
}

static bool read_histogram(struct trace_aggregate *aggregate,
                           const struct heurt_histogram_record *record, uint32_t bytes)
{
    if (bytes < sizeof *record)
        return false;
    vec__push(&aggregate->histograms, &record);
    return true;
}

static bool read_spans(struct trace_aggregate *aggregate, const struct heurt_spans_record *record,
                       uint32_t bytes)
{
    const uint64_t span_bytes = HEURT_OPEN_SPAN_WORDS * sizeof(uint64_t);
    if (bytes < sizeof *record || record->capacity > (bytes - sizeof *record) / span_bytes)
        return false;
    aggregate->spans = (const uint64_t *)(record + 1);
    aggregate->span_count = record->capacity;
    return true;
}

static bool read_stack(struct trace_aggregate *aggregate, const struct heurt_stack_record *record,
                       uint32_t bytes)
{
    if (bytes < sizeof *record || record->words > (bytes - sizeof *record) / sizeof(uint64_t))
        return false;
    vec__push(&aggregate->stacks, &record);
    return true;
}

static bool read_record(struct trace_thread *thread, const struct heurt_record *record,
                        uint32_t bytes)
{
    const void *whole = record;
    switch (record->type) {
    case HEURT_RECORD_THREAD:
        return read_thread(thread, whole, bytes);
    case HEURT_RECORD_CLASS:
        return read_class(thread->aggregate, whole, bytes);
    case HEURT_RECORD_HISTOGRAM:
        return read_histogram(thread->aggregate, whole, bytes);
    case HEURT_RECORD_SPANS:
        return read_spans(thread->aggregate, whole, bytes);
    case HEURT_RECORD_STACK:
        return read_stack(thread->aggregate, whole, bytes);
    default:
        return false;
    }
}

void trace_thread__read_aggregate(const struct trace *trace, struct trace_thread *thread,
                                  const struct heurt_chunk *chunk)
{
    const char *at = (const char *)(chunk + 1), *end = trace__chunk_end(trace, chunk);
    aggregate_of(thread);
    while ((size_t)(end - at) >= sizeof(struct heurt_record)) {
        const struct heurt_record *record = (const void *)at;
        if (!record->type)
            return;
        if (record->bytes < sizeof *record || record->bytes % 8 || record->bytes > end - at ||
            !read_record(thread, record, record->bytes)) {
            trace__mark_damaged(trace, chunk);
            return;
        }
        at += record->bytes;
    }
}
