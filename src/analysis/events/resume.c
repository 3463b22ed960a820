#include "analysis/events/resume.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct resuming {
    struct fold *fold;
    struct class_table *table;
    const struct trace_thread *thread;
    struct class_entry **entries; /* by number; NULL: of no class */
};

static struct class_entry *entry_of(const struct resuming *resuming,
                                    const struct heurt_class_record *record)
{
    size_t process = resuming->thread->process;
    struct event event = {record->tick, record->id, record->words, record->payload};
    if (record->flags & HEURT_CLASS_OTHER)
        return class_table__other(resuming->table, process, (enum class_kind)record->payload[0]);
    if (record->id >= HEURT_EVENT_FUNCTIONS)
        return class_table__function(resuming->table, process, &event);
    return class_table__call(resuming->table, process, &event);
}

/* Occurrences that were inside of ones with other arguments are nested when these are one class. */
static void make_nested(struct accumulator *accumulator)
{
    accumulator->nested_count = accumulator->count;
    accumulator->nested_sum = accumulator->sum;
    memset(accumulator->component_sum, 0, sizeof accumulator->component_sum);
}

static void add_class(struct resuming *resuming, const struct heurt_class_record *record,
                      size_t number)
{
    struct class_entry *entry = entry_of(resuming, record);
    struct class_sums sums;
    resuming->entries[number] = entry;
    if (!entry)
        return;
    memcpy(&sums, record->sums, sizeof sums);
    if (record->flags & HEURT_CLASS_INNER && entry->what.keys.count < record->words)
        make_nested(&sums.accumulator);
    class_table__occupy(resuming->table, entry);
    accumulator__merge(&entry->sums.accumulator, &sums.accumulator);
    entry->sums.contended += sums.contended;
    entry->sums.unfinished += sums.unfinished;
}

static struct class_entry *numbered(const struct resuming *resuming, uint32_t number)
{
    return number < resuming->thread->aggregate->classes.count ? resuming->entries[number] : NULL;
}

static void add_histogram(const struct resuming *resuming,
                          const struct heurt_histogram_record *record)
{
    struct class_entry *entry = numbered(resuming, record->number);
    const uint32_t block = record->block;
    if (!entry || block >= HISTOGRAM_BLOCKS)
        return;
    if (!entry->histogram)
        class_entry__add_histogram(entry);
    for (unsigned i = 0; i < HISTOGRAM_BLOCK_BUCKETS; i++)
        entry->fold.histogram[block][i] += record->counts[i];
}

static void open_spans(const struct resuming *resuming, uint32_t depth)
{
    const struct trace_aggregate *aggregate = resuming->thread->aggregate;
    struct fold *fold = resuming->fold;
    for (uint32_t i = 0; i < depth && i < aggregate->span_count; i++) {
        struct open_span span;
        memcpy(&span, aggregate->spans + (size_t)i * HEURT_OPEN_SPAN_WORDS, sizeof span);
        struct class_entry *entry = numbered(resuming, span.number);
        if (!entry)
            continue;
        if (fold->state->depth == fold->capacity)
            fold->keeper->add_spans(fold);
        span.class = &entry->fold;
        entry->fold.open++;
        fold->spans[fold->state->depth++] = span;
    }
}

void fold__resume(struct fold *fold, struct class_table *table, const struct trace_thread *thread,
                  void (*stack)(struct fold *fold, struct fold_class *class, uint64_t tick))
{
    const struct trace_aggregate *aggregate = thread->aggregate;
    struct resuming resuming = {fold, table, thread, NULL};
    resuming.entries = memory__zeroed(aggregate->classes.count, sizeof *resuming.entries);
    memcpy(fold->state, aggregate->record->state, sizeof *fold->state);
    if (fold->state->drawn_count > DRAWN_AT_MOST)
        fold->state->drawn_count = 0;
    uint32_t depth = fold->state->depth;
    fold->state->depth = 0;
    for (size_t i = 0; i < aggregate->classes.count; i++)
        add_class(&resuming, *VEC_AT(&aggregate->classes, const struct heurt_class_record *, i), i);
    VEC_EACH (record, &aggregate->histograms, const struct heurt_histogram_record *)
        add_histogram(&resuming, *record);
    VEC_EACH (record, &aggregate->stacks, const struct heurt_stack_record *) {
        struct class_entry *entry = numbered(&resuming, (*record)->number);
        if (entry)
            stack(fold, &entry->fold, (*record)->tick);
    }
    open_spans(&resuming, depth);
    free(resuming.entries);
}
