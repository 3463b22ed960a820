#include "analysis/events/call_tree.h"

#include "fold/kinds.h"

#define NONE UINT32_MAX

/* A call in the tree that grows. Siblings are in the order in which they ended first. */
struct call_node {
    struct call_tree_node call;
    uint32_t first_child, last_child, next; /* next: sibling, or unused node */
};

/* Calls that ended at one depth and are not yet in what encloses them. */
struct call_row {
    uint32_t first, last;
};

/* What the kernel told, of which it is not known yet whether it was in a call. */
struct kernel_record {
    uint64_t begin;
    uint64_t parts[PARTS];
};

struct call_tree_collector {
    struct thread_watcher watcher; /* first: the watch gives this */
    struct call_tree *insides;     /* of the thread */
    size_t count;
    size_t current; /* the first that has not ended */
    struct vec nodes;
    uint32_t unused; /* first one, or NONE */
    struct vec rows; /* struct call_row, by depth less that of the current one's calls */
    struct vec kernel;
    uint64_t gap[PARTS]; /* of a stretch: told by the kernel, in no call */
    uint64_t recording;  /* of a stretch: what was taken off its calls' durations */
    uint16_t cpu;
};

/* ---- nodes ----------------------------------------------------------------------------------- */

static struct call_node *call_node_at(struct call_tree_collector *self, uint32_t node)
{
    return VEC_AT(&self->nodes, struct call_node, node);
}

static uint32_t node__new(struct call_tree_collector *self, const struct call_tree_node *call)
{
    uint32_t number = self->unused;
    if (number == NONE) {
        number = (uint32_t)self->nodes.count;
        vec__push(&self->nodes, NULL);
    } else {
        self->unused = call_node_at(self, number)->next;
    }
    *call_node_at(self, number) = (struct call_node){*call, NONE, NONE, NONE};
    return number;
}

static void node__drop(struct call_tree_collector *self, uint32_t node)
{
    call_node_at(self, node)->next = self->unused;
    self->unused = node;
}

static struct call_row children_of(struct call_tree_collector *self, uint32_t node)
{
    return (struct call_row){call_node_at(self, node)->first_child,
                             call_node_at(self, node)->last_child};
}

static void row__append(struct call_tree_collector *self, struct call_row *row, uint32_t node)
{
    call_node_at(self, node)->next = NONE;
    if (row->first == NONE)
        row->first = node;
    else
        call_node_at(self, row->last)->next = node;
    row->last = node;
}

static uint32_t row__find(struct call_tree_collector *self, const struct call_row *row,
                          uint32_t place)
{
    uint32_t node = row->first;
    while (node != NONE && call_node_at(self, node)->call.entry->place != place)
        node = call_node_at(self, node)->next;
    return node;
}

static void row__add(struct call_tree_collector *self, struct call_row *row, uint32_t node);

/* Each node of from goes into the row, or to the node of its place there. */
static void row__take(struct call_tree_collector *self, struct call_row *row, struct call_row from)
{
    for (uint32_t node = from.first, next; node != NONE; node = next) {
        next = call_node_at(self, node)->next;
        row__add(self, row, node);
    }
}

static void call__join(struct call_tree_node *into, const struct call_tree_node *from)
{
    into->has_object &= from->has_object && from->entry->what.object == into->entry->what.object;
    into->count += from->count;
    into->time += from->time;
    for (unsigned i = 0; i < COMPONENTS; i++)
        into->components[i] += from->components[i];
}

static void row__add(struct call_tree_collector *self, struct call_row *row, uint32_t node)
{
    uint32_t same = row__find(self, row, call_node_at(self, node)->call.entry->place);
    if (same == NONE) {
        row__append(self, row, node);
        return;
    }
    struct call_row children = children_of(self, same);
    call__join(&call_node_at(self, same)->call, &call_node_at(self, node)->call);
    row__take(self, &children, children_of(self, node));
    call_node_at(self, same)->first_child = children.first;
    call_node_at(self, same)->last_child = children.last;
    node__drop(self, node);
}

static struct call_row *row_at(struct call_tree_collector *self, size_t level)
{
    while (self->rows.count <= level)
        vec__push(&self->rows, &(struct call_row){NONE, NONE});
    return VEC_AT(&self->rows, struct call_row, level);
}

/* All that ended on that level and deeper: what was around the deeper ones had no end. */
static struct call_row rows__take(struct call_tree_collector *self, size_t level)
{
    struct call_row all = *row_at(self, level);
    for (size_t i = level + 1; i < self->rows.count; i++) {
        row__take(self, &all, *row_at(self, i));
        *row_at(self, i) = (struct call_row){NONE, NONE};
    }
    *row_at(self, level) = (struct call_row){NONE, NONE};
    return all;
}

/* ---- what the kernel tells of a stretch ------------------------------------------------------ */

static struct kernel_record off_cpu(const struct event *event)
{
    uint64_t off = HEURT_SITE_ADDRESS(event->payload[0]), left = off;
    uint64_t runnable = HEURT_SITE_ADDRESS(event->payload[1]);
    uint32_t how = HEURT_SITE_HOW(event->payload[0]);
    struct kernel_record record = {.begin = event->tick > off ? event->tick - off : 0};
    if (how != HEURT_OFF_PREEMPTED && runnable != HEURT_NOT_KNOWN) {
        record.parts[COMPONENT_RUNNABLE] = runnable < off ? runnable : off;
        left -= record.parts[COMPONENT_RUNNABLE];
    }
    record.parts[off__component(how)] += left;
    return record;
}

static struct kernel_record page_fault(const struct event *event)
{
    uint64_t ticks = HEURT_SITE_ADDRESS(event->payload[0]);
    struct kernel_record record = {.begin = event->tick > ticks ? event->tick - ticks : 0};
    record.parts[COMPONENT_PAGE_FAULT] = ticks;
    return record;
}

/* What began from start to end was in a call, unless it is a gap; what began before was in none. */
static void sort_records(struct call_tree_collector *self, const struct call_tree *inside,
                         uint64_t start, uint64_t end)
{
    size_t left = 0;
    VEC_EACH (record, &self->kernel, struct kernel_record) {
        if (record->begin >= end)
            *VEC_AT(&self->kernel, struct kernel_record, left++) = *record;
        else if (record->begin < start && record->begin >= inside->start)
            for (unsigned i = 0; i < PARTS; i++)
                self->gap[i] += record->parts[i];
    }
    self->kernel.count = left;
}

/* ---- one of them ----------------------------------------------------------------------------- */

static void write_calls(struct call_tree_collector *self, struct call_tree *inside,
                        struct call_row row, uint32_t parent)
{
    for (uint32_t node = row.first, next; node != NONE; node = next) {
        uint32_t number = (uint32_t)inside->calls.count;
        struct call_node *at = call_node_at(self, node);
        next = at->next;
        at->call.parent = parent;
        vec__push(&inside->calls, &at->call);
        write_calls(self, inside, children_of(self, node), number);
        node__drop(self, node);
    }
}

/* What calls had, and what the kernel told of the time between them; the rest ran. */
static void divide_stretch(struct call_tree_collector *self, struct call_tree *inside)
{
    uint64_t in_calls = 0, left;
    VEC_EACH (call, &inside->calls, struct call_tree_node) {
        if (call->parent != INSIDE_NONE)
            continue;
        in_calls += call->time;
        for (unsigned i = 0; i < COMPONENTS; i++)
            inside->components[i] += call->components[i];
    }
    inside->duration = inside->end - inside->start;
    if (inside->duration < in_calls) /* clocks that stepped */
        inside->duration = in_calls;
    left = inside->duration - in_calls;
    for (unsigned i = 0; i < PARTS; i++) {
        uint64_t part = self->gap[i] < left ? self->gap[i] : left;
        inside->components[i] += part;
        left -= part;
    }
    uint64_t recording = self->recording < left ? self->recording : left;
    inside->components[COMPONENT_OVERHEAD] += recording;
    inside->components[COMPONENT_RUNNING] += left - recording;
}

static void find_own(struct call_tree *inside)
{
    struct call_tree_node *calls = inside->calls.items;
    inside->own = (int64_t)inside->duration;
    for (size_t i = 0; i < inside->calls.count; i++) {
        calls[i].own = (int64_t)calls[i].time;
        *(calls[i].parent == INSIDE_NONE ? &inside->own : &calls[calls[i].parent].own) -=
            calls[i].own;
    }
}

static void finish(struct call_tree_collector *self)
{
    struct call_tree *inside = &self->insides[self->current++];
    write_calls(self, inside, rows__take(self, 0), INSIDE_NONE);
    inside->cpu = self->cpu;
    sort_records(self, inside, inside->end, inside->end);
    if (inside->is_stretch)
        divide_stretch(self, inside);
    find_own(inside);
    for (unsigned i = 0; i < PARTS; i++)
        self->gap[i] = 0;
    self->recording = 0;
}

/* The one that is current when a thing begins and ends then, or NULL. */
static struct call_tree *current_at(struct call_tree_collector *self, uint64_t start, uint64_t end)
{
    for (; self->current < self->count; finish(self)) {
        struct call_tree *inside = &self->insides[self->current];
        if (start < inside->start)
            return NULL;
        if (start < inside->end || end == inside->end)
            return inside;
    }
    return NULL;
}

static void kernel(struct thread_watcher *watcher, const struct event *event)
{
    struct call_tree_collector *self = (struct call_tree_collector *)watcher;
    struct kernel_record record;
    if (event->id == HEURT_EVENT_KERNEL && event->words)
        self->cpu = (uint16_t)event->payload[0];
    if (event->id == HEURT_EVENT_OFF_CPU && event->words >= 2) {
        self->cpu = (uint16_t)HEURT_SITE_HOW(event->payload[1]);
        record = off_cpu(event);
    } else if (event->id == HEURT_EVENT_FAULT && event->words) {
        record = page_fault(event);
    } else {
        return;
    }
    const struct call_tree *inside = current_at(self, record.begin, record.begin);
    if (inside && inside->is_stretch)
        vec__push(&self->kernel, &record);
}

static bool is_asked_for(const struct call_tree *inside, uint64_t start,
                         const struct fold_occurrence *occurrence)
{
    return !inside->is_stretch && occurrence->depth == inside->depth && start == inside->start &&
           occurrence->end == inside->end;
}

static void take_whole(struct call_tree *inside, const struct fold_occurrence *occurrence,
                       const uint64_t *arguments, size_t argument_count)
{
    inside->duration = occurrence->duration;
    for (unsigned i = 0; i < COMPONENTS; i++)
        inside->components[i] = occurrence->components[i];
    inside->argument_count = argument_count;
    for (size_t i = 0; i < argument_count; i++)
        inside->arguments[i] = arguments[i];
}

static void take_call(struct call_tree_collector *self, struct call_tree *inside,
                      const struct class_entry *entry, const struct fold_occurrence *occurrence)
{
    uint32_t level = occurrence->depth - inside->depth - !inside->is_stretch;
    if (level >= INSIDE_LEVELS)
        return;
    struct call_tree_node call = {.entry = entry,
                                  .has_object = entry->what.has_object,
                                  .count = 1,
                                  .time = occurrence->duration};
    for (unsigned i = 0; i < COMPONENTS; i++)
        call.components[i] = occurrence->components[i];
    struct call_row children = rows__take(self, level + 1);
    uint32_t node = node__new(self, &call);
    call_node_at(self, node)->first_child = children.first;
    call_node_at(self, node)->last_child = children.last;
    row__add(self, row_at(self, level), node);
    inside->is_sampled |= occurrence->weight > 1;
    if (level == 0) {
        uint64_t start = self->watcher.entered;
        sort_records(self, inside, start, occurrence->end);
        if (occurrence->end - start > occurrence->duration)
            self->recording += occurrence->end - start - occurrence->duration;
    }
}

static void occurrence(struct thread_watcher *watcher, struct class_entry *entry,
                       const struct fold_occurrence *occurrence, const uint64_t *arguments,
                       size_t argument_count)
{
    struct call_tree_collector *self = (struct call_tree_collector *)watcher;
    struct call_tree *inside = current_at(self, watcher->entered, occurrence->end);
    if (!inside)
        return;
    if (is_asked_for(inside, watcher->entered, occurrence)) {
        take_whole(inside, occurrence, arguments, argument_count);
        finish(self);
    } else if (occurrence->end <= inside->end &&
               occurrence->depth >= inside->depth + !inside->is_stretch) {
        take_call(self, inside, entry, occurrence);
    }
}

static void collect_thread(struct class_table *table, struct call_tree *insides, size_t count)
{
    struct call_tree_collector self = {
        .insides = insides, .count = count, .unused = NONE, .cpu = UINT16_MAX};
    self.watcher = (struct thread_watcher){
        .at_once = true, .unfinished = true, .occurrence = occurrence, .kernel = kernel};
    self.nodes = VEC_OF(struct call_node);
    self.rows = VEC_OF(struct call_row);
    self.kernel = VEC_OF(struct kernel_record);
    thread__watch(table, insides->thread, &self.watcher);
    while (self.current < count)
        finish(&self);
    vec__free(&self.nodes);
    vec__free(&self.rows);
    vec__free(&self.kernel);
}

void call_trees__collect(struct class_table *table, struct call_tree *insides, size_t count)
{
    for (size_t i = 0; i < count; i++)
        insides[i].calls = VEC_OF(struct call_tree_node);
    for (size_t first = 0, next; first < count; first = next) {
        next = first;
        while (next < count && insides[next].thread == insides[first].thread)
            next++;
        collect_thread(table, insides + first, next - first);
    }
}

void call_tree__free(struct call_tree *inside)
{
    vec__free(&inside->calls);
}
