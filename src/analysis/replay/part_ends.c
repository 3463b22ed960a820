#include "analysis/replay/part_ends.h"

struct part_end {
    const struct class_entry *site;
    uint64_t tick;
    uint32_t number;
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
    struct part_ends *self = (struct part_ends *)watcher;
    (void)arguments, (void)argument_count;
    uint64_t tick = occurrence->end;
    if (!entry->division || (self->drawn && !drawn_run__tick(self->drawn, tick, &tick)))
        return;
    const struct part_end end = {entry, tick,
                                 class_entry__number(watcher__class(watcher, self->table, entry))};
    vec__push(&self->ends, &end);
}

/* When nothing is in the drawn run. */
static struct interval quiet(struct thread_watcher *watcher, uint64_t tick)
{
    const struct part_ends *self = (struct part_ends *)watcher;
    return (struct interval){tick, drawn_run__next_tick(self->drawn, tick)};
}

/* Only what is in the drawn run. */
static struct thread_watcher watcher_of_drawn(void)
{
    return (struct thread_watcher){.occurrence = keep_end, .quiet = quiet, .signatures = true};
}

void part_ends__start(struct part_ends *self, struct class_table *table,
                      const struct drawn_run *drawn, uint32_t thread)
{
    self->watcher = drawn ? watcher_of_drawn()
                          : (struct thread_watcher){.occurrence = keep_end, .signatures = true};
    self->table = table;
    self->drawn = drawn;
    self->ends.count = self->next = 0;
    if (drawn)
        thread__watch(table, thread, &self->watcher);
    else
        self->watch = thread_watch__start(table, thread, &self->watcher);
}

void part_ends__event(struct part_ends *self, const struct event *event)
{
    if (!self->watch)
        return;
    if (self->next == self->ends.count)
        self->ends.count = self->next = 0;
    thread_watch__event(self->watch, event);
}

void part_ends__end(struct part_ends *self)
{
    if (self->watch)
        thread_watch__end(self->watch);
    self->watch = NULL;
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
