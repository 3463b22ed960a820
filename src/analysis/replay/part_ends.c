#include "analysis/replay/part_ends.h"

#include "analysis/events/spans.h"

struct part_end {
    const struct class_entry *site;
    uint64_t tick;
    uint32_t number;
};

struct end_watcher {
    struct thread_watcher watcher; /* first: the fold's walk gives this */
    struct class_table *table;
    const struct drawn_run *drawn;
    struct vec *ends;
};

struct part_ends part_ends__new(void)
{
    return (struct part_ends){.ends = VEC_OF(struct part_end)};
}

void part_ends__free(struct part_ends *ends)
{
    vec__free(&ends->ends);
}

static void keep_end(struct thread_watcher *watcher, struct class_entry *entry,
                     const struct fold_occurrence *occurrence, const uint64_t *arguments,
                     size_t argument_count)
{
    struct end_watcher *self = (struct end_watcher *)watcher;
    (void)arguments, (void)argument_count;
    uint64_t tick = occurrence->end;
    if (!entry->division || (self->drawn && !drawn_run__tick(self->drawn, tick, &tick)))
        return;
    const struct part_end end = {entry, tick,
                                 class_entry__number(watcher__class(watcher, self->table, entry))};
    vec__push(self->ends, &end);
}

void part_ends__collect(struct part_ends *ends, struct class_table *table,
                        const struct drawn_run *drawn, uint32_t thread)
{
    struct end_watcher watcher = {.watcher = {.occurrence = keep_end, .nests = true},
                                  .table = table,
                                  .drawn = drawn,
                                  .ends = &ends->ends};
    ends->ends.count = ends->next = 0;
    thread__watch(table, thread, &watcher.watcher);
}

uint32_t part_ends__class(struct part_ends *self, const struct class_entry *site, uint64_t end)
{
    const struct part_end *ends = self->ends.items;
    while (self->next < self->ends.count && ends[self->next].tick < end)
        self->next++;
    for (size_t i = self->next; i < self->ends.count && ends[i].tick == end; i++) {
        if (ends[i].site != site)
            continue;
        self->next = i + 1;
        return ends[i].number;
    }
    return CLASS_NOT_NUMBERED;
}
