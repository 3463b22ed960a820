#include "analysis/events/occurrences.h"

#include "analysis/events/time_off_cpu.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define INTERVALS_MAX (4 * OCCURRENCES_MAX)
#define NONE UINT32_MAX

/* A time off the CPU. */
struct off_period {
    struct interval interval;
    bool preempted;
};

/* What ended so deep (open spans around it) and not yet in what encloses it. */
struct open_occurrence {
    uint32_t count;
    bool locks;
};

/* What is to be done with a class's occurrences, by its number. */
struct class_slot {
    uint32_t kept; /* place in occurrences.classes, or NONE */
    bool has_timelines;
    bool whole; /* all are kept, not only those in windows */
    bool many;  /* too many for that */
};

/* What is kept of one thread, or of all that are joined. */
struct occurrence_collector {
    struct thread_watcher watcher; /* first: the watch gets this */
    struct occurrences all;
    struct class_table *table; /* the lane of the thread */
    struct thread_fold *watch;
    const struct class_slot *slots;
    /* The windows: begin + n · step, all of the same length. */
    uint64_t begin, step, length;
    uint64_t recent;        /* step_of the last tick that was asked for */
    size_t kept, intervals; /* how many there are now */
    /* The thread. */
    uint32_t thread;
    uint16_t cpu;
    bool has_kernel;
    uint32_t *timeline; /* by number of the class: place in all.timelines, or NONE */
    struct vec off;     /* struct off_period */
    struct vec inside;  /* struct open_occurrence, by depth */
};

/* What there is to be done, for all threads. */
struct collection_plan {
    struct class_table *table;
    struct class_slot *slots;
    size_t slot_count;
    uint64_t length; /* of the windows, to begin with */
    bool *nested;    /* by thread: whether it has occurrences of divided sites */
    struct occurrence_collector joined;
};

/* ---- windows --------------------------------------------------------------------------------- */

/* How many steps from the first window on a tick (not before it) is. Those that are asked for
 * follow one another: mostly it is the one of the last time. */
static uint64_t step_of(struct occurrence_collector *self, uint64_t tick)
{
    uint64_t since = tick - self->begin;
    if (since - self->recent * self->step >= self->step)
        self->recent = since / self->step;
    return self->recent;
}

/* The window with that tick, or NONE. */
static uint32_t window_of(struct occurrence_collector *self, uint64_t tick)
{
    if (tick < self->begin)
        return NONE;
    uint64_t place = step_of(self, tick);
    if (place >= self->all.windows.count || tick - self->begin - place * self->step >= self->length)
        return NONE;
    return (uint32_t)place;
}

static const struct window *window_at(const struct occurrence_collector *self, size_t place)
{
    return VEC_AT(&self->all.windows, struct window, place);
}

/* The first window that ends after tick. */
static size_t first_window(struct occurrence_collector *self, uint64_t tick)
{
    size_t place = tick > self->begin ? (size_t)step_of(self, tick) : 0;
    if (place < self->all.windows.count && window_at(self, place)->end <= tick)
        place++;
    return place;
}

static void lay_windows(struct occurrence_collector *self, uint64_t begin, uint64_t end,
                        double share)
{
    uint32_t count = share < 1 ? OCCURRENCE_WINDOWS : 1;
    self->begin = begin;
    self->step = (end - begin) / count + 1;
    self->length = share < 1 ? (uint64_t)((double)self->step * share) + 1 : self->step;
    for (uint64_t i = 0; i < count; i++) {
        struct window window = {.begin = begin + i * self->step};
        window.end = window.begin + self->length;
        vec__push(&self->all.windows, &window);
    }
}

/* ---- less of it ------------------------------------------------------------------------------ */

/* Cuts what is behind its window. */
static void clip_intervals(struct occurrence_collector *self, struct vec *intervals)
{
    size_t left = 0;
    VEC_EACH (interval, intervals, struct interval) {
        uint32_t place = window_of(self, interval->begin);
        if (place == NONE)
            continue;
        struct interval clipped = *interval;
        if (clipped.end > window_at(self, place)->end)
            clipped.end = window_at(self, place)->end;
        *VEC_AT(intervals, struct interval, left++) = clipped;
    }
    self->intervals -= intervals->count - left;
    intervals->count = left;
}

/* The occurrence's arguments stand behind those of the one before it. */
static void move_arguments(struct class_occurrences *class, struct occurrence *occurrence,
                           size_t place)
{
    uint64_t *all = class->arguments.items;
    if (occurrence->argument_count)
        memmove(all + place, all + occurrence->first_argument,
                occurrence->argument_count * sizeof *all);
    occurrence->first_argument = (uint32_t)place;
}

static void drop_outside(struct occurrence_collector *self, struct class_occurrences *class)
{
    struct vec *occurrences = &class->occurrences;
    bool whole = self->slots[class->entry->number].whole;
    size_t left = 0, arguments = 0;
    VEC_EACH (occurrence, occurrences, struct occurrence) {
        occurrence->window = window_of(self, occurrence->start);
        if (occurrence->window == NONE && !whole)
            continue;
        move_arguments(class, occurrence, arguments);
        arguments += occurrence->argument_count;
        *VEC_AT(occurrences, struct occurrence, left++) = *occurrence;
    }
    self->kept -= occurrences->count - left;
    occurrences->count = left;
    class->arguments.count = arguments;
}

static bool meets_window(struct occurrence_collector *self, const struct interval *interval)
{
    size_t place = first_window(self, interval->begin);
    return place < self->all.windows.count && window_at(self, place)->begin < interval->end;
}

static void drop_periods(struct occurrence_collector *self)
{
    size_t left = 0;
    VEC_EACH (period, &self->off, struct off_period) {
        if (meets_window(self, &period->interval))
            *VEC_AT(&self->off, struct off_period, left++) = *period;
    }
    self->intervals -= self->off.count - left;
    self->off.count = left;
}

/* The windows become half as long. */
static void shorten_windows(struct occurrence_collector *self)
{
    self->length /= 2;
    VEC_EACH (window, &self->all.windows, struct window)
        window->end = window->begin + self->length;
    VEC_EACH (class, &self->all.classes, struct class_occurrences)
        drop_outside(self, class);
    VEC_EACH (timeline, &self->all.timelines, struct class_timeline) {
        clip_intervals(self, &timeline->running);
        clip_intervals(self, &timeline->preempted);
    }
    drop_periods(self);
}

/* More begins in the windows than was to be expected of even ones. */
static void keep_within_bounds(struct occurrence_collector *self)
{
    while ((self->kept > OCCURRENCES_MAX * 5 / 4 || self->intervals > INTERVALS_MAX) &&
           self->length)
        shorten_windows(self);
}

/* ---- what happens on a thread ---------------------------------------------------------------- */

static void add_period(struct occurrence_collector *self, uint64_t begin, uint64_t end,
                       bool preempted)
{
    struct off_period period = {{begin, end}, preempted};
    if (begin >= end || !meets_window(self, &period.interval))
        return;
    vec__push(&self->off, &period);
    self->intervals++;
}

static void kernel(struct thread_watcher *watcher, const struct event *event)
{
    struct occurrence_collector *self = (struct occurrence_collector *)watcher;
    const struct off_cpu off = off_cpu__of(event);
    if (event->id == HEURT_EVENT_KERNEL) {
        self->has_kernel = true;
        if (event->words)
            self->cpu = (uint16_t)event->payload[0];
    } else if (off.type == OFF_CPU_BLOCKED || off.type == OFF_CPU_PREEMPTED) {
        self->cpu = off.cpu;
        add_period(self, off.begin, off.end, off.type == OFF_CPU_PREEMPTED);
    }
    keep_within_bounds(self);
}

/* The occurrences that are in one that ends at that depth, which is then counted, too. */
static struct open_occurrence end_at(struct occurrence_collector *self, uint32_t depth,
                                     enum class_kind kind)
{
    while (self->inside.count < depth + 2)
        vec__push(&self->inside, NULL);
    struct open_occurrence *same = VEC_AT(&self->inside, struct open_occurrence, depth);
    struct open_occurrence deeper = same[1];
    bool is_of_lock = kind == CLASS_LOCK || kind == CLASS_SEMAPHORE;
    same[1] = (struct open_occurrence){0};
    same->count += deeper.count + !is_of_lock;
    same->locks |= deeper.locks || kind == CLASS_LOCK;
    return deeper;
}

static struct class_timeline *timeline_of(struct occurrence_collector *self,
                                          struct class_entry *entry)
{
    struct vec *timelines = &self->all.timelines;
    uint32_t *place = &self->timeline[entry->number];
    if (*place == NONE) {
        struct class_timeline fresh = {.entry = entry, .thread = self->thread};
        fresh.running = fresh.preempted = VEC_OF(struct interval);
        *place = (uint32_t)timelines->count;
        vec__push(timelines, &fresh);
    }
    return VEC_AT(timelines, struct class_timeline, *place);
}

/* What of it lies in windows. */
static void add_to_timeline(struct occurrence_collector *self, struct class_entry *entry,
                            uint64_t start, uint64_t end)
{
    for (size_t i = first_window(self, start); i < self->all.windows.count; i++) {
        const struct window *window = window_at(self, i);
        struct interval interval = {start > window->begin ? start : window->begin,
                                    end < window->end ? end : window->end};
        if (interval.begin >= interval.end)
            return;
        vec__push(&timeline_of(self, entry)->running, &interval);
        self->intervals++;
    }
}

static bool is_clean(const struct fold_occurrence *from)
{
    for (unsigned i = 0; i < COMPONENT_OVERHEAD; i++) {
        if (from->components[i])
            return false;
    }
    return true;
}

static void keep(struct occurrence_collector *self, struct class_occurrences *class,
                 const struct fold_occurrence *from, const struct open_occurrence *inside,
                 const uint64_t *arguments, size_t argument_count)
{
    struct occurrence *kept = vec__extend(&class->occurrences, 1);
    *kept = (struct occurrence){.start = from->start,
                                .end = from->end,
                                .duration = from->duration,
                                .own = from->own,
                                .running = from->components[COMPONENT_RUNNING],
                                .thread = self->thread,
                                .window = window_of(self, from->start),
                                .cpu = self->cpu,
                                .is_clean = is_clean(from),
                                .inner = from->inner,
                                .inside = inside->count,
                                .argument_count = (uint32_t)argument_count,
                                .first_argument = (uint32_t) class->arguments.count,
                                .instructions = self->watcher.instructions};
    for (size_t i = 0; i < argument_count; i++)
        vec__push(&class->arguments, &arguments[i]);
    class->has_locks |= inside->locks;
    self->kept++;
}

static void occurrence(struct thread_watcher *watcher, struct class_entry *entry,
                       const struct fold_occurrence *from, const uint64_t *arguments,
                       size_t argument_count)
{
    struct occurrence_collector *self = (struct occurrence_collector *)watcher;
    entry = class_table__part(self->table, entry, watcher->signature);
    const struct class_slot *slot = &self->slots[entry->number];
    struct open_occurrence inside = end_at(self, from->depth, entry->what.at.kind);
    if (slot->has_timelines && !from->inner)
        add_to_timeline(self, entry, from->start, from->end);
    if (entry->fold.component != COMPONENT_RUNNING && !self->has_kernel)
        add_period(self, from->start, from->end, false);
    if (slot->kept != NONE && (slot->whole || window_of(self, from->start) != NONE))
        keep(self, VEC_AT(&self->all.classes, struct class_occurrences, slot->kept), from, &inside,
             arguments, argument_count);
    keep_within_bounds(self);
}

/* Outside of the windows. */
static struct interval quiet(struct thread_watcher *watcher, uint64_t tick)
{
    struct occurrence_collector *self = (struct occurrence_collector *)watcher;
    if (tick < self->begin)
        return (struct interval){0, self->begin};
    size_t place = (size_t)step_of(self, tick), count = self->all.windows.count;
    uint64_t begin = self->begin + place * self->step, end = begin + self->step;
    uint64_t behind = begin + (place < count ? self->length : 0);
    return (struct interval){behind, tick < behind ? behind : end};
}

/* Classes that are kept only in windows. */
static bool may_pass(const struct thread_watcher *watcher, const struct class_entry *entry)
{
    const struct occurrence_collector *self = (const struct occurrence_collector *)watcher;
    return self->slots[entry->number].many;
}

static void passed_over(struct thread_watcher *watcher, uint32_t depth, uint32_t count)
{
    struct occurrence_collector *self = (struct occurrence_collector *)watcher;
    VEC_REACH(&self->inside, struct open_occurrence, depth)->count += count;
}

/* ---- when it was on a CPU -------------------------------------------------------------------- */

static int by_begin(const void *a, const void *b)
{
    const struct off_period *left = a, *right = b;
    return left->interval.begin < right->interval.begin   ? -1
           : left->interval.begin > right->interval.begin ? 1
                                                          : 0;
}

/* What is before the end and not off the CPU, from from on. Returns from where it goes on. */
static uint64_t cut_period(struct class_timeline *cut, const struct off_period *period,
                           uint64_t from, uint64_t end)
{
    struct interval running = {from, period->interval.begin};
    struct interval off = {period->interval.begin > from ? period->interval.begin : from,
                           period->interval.end < end ? period->interval.end : end};
    if (running.begin < running.end)
        vec__push(&cut->running, &running);
    if (off.begin < off.end && period->preempted)
        vec__push(&cut->preempted, &off);
    return period->interval.end > from ? period->interval.end : from;
}

static void cut_timeline(struct occurrence_collector *self, struct class_timeline *timeline)
{
    struct class_timeline cut = {.entry = timeline->entry, .thread = timeline->thread};
    const struct off_period *period = self->off.items;
    const struct off_period *periods_end = period + self->off.count;
    cut.running = cut.preempted = VEC_OF(struct interval);
    VEC_EACH (interval, &timeline->running, struct interval) {
        uint64_t from = interval->begin;
        while (period < periods_end && period->interval.end <= from)
            period++;
        for (const struct off_period *next = period;
             next < periods_end && next->interval.begin < interval->end; next++)
            from = cut_period(&cut, next, from, interval->end);
        struct interval rest = {from, interval->end};
        if (rest.begin < rest.end)
            vec__push(&cut.running, &rest);
    }
    self->intervals += cut.running.count + cut.preempted.count - timeline->running.count;
    vec__free(&timeline->running);
    *timeline = cut;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void end_thread(struct occurrence_collector *self)
{
    if (self->off.count) {
        qsort(self->off.items, self->off.count, sizeof(struct off_period), by_begin);
        VEC_EACH (timeline, &self->all.timelines, struct class_timeline)
            cut_timeline(self, timeline);
    }
    self->intervals -= self->off.count;
    self->off.count = 0;
    keep_within_bounds(self);
}

static void copy_windows(struct occurrence_collector *part,
                         const struct occurrence_collector *joined)
{
    part->all.windows = VEC_OF(struct window);
    part->all.classes = VEC_OF(struct class_occurrences);
    part->all.timelines = VEC_OF(struct class_timeline);
    VEC_EACH (window, &joined->all.windows, struct window)
        vec__push(&part->all.windows,
                  &(struct window){window->begin, window->begin + part->length});
    VEC_EACH (class, &joined->all.classes, struct class_occurrences)
        vec__push(&part->all.classes,
                  &(struct class_occurrences){.entry = class->entry,
                                              .occurrences = VEC_OF(struct occurrence),
                                              .arguments = VEC_OF(uint64_t)});
}

static struct occurrence_collector *new_part(const struct collection_plan *plan, unsigned lane,
                                             uint32_t thread)
{
    struct occurrence_collector *part = memory__zeroed(1, sizeof *part);
    *part = (struct occurrence_collector){.watcher = {.occurrence = occurrence,
                                                      .kernel = kernel,
                                                      .quiet = quiet,
                                                      .may_pass = may_pass,
                                                      .passed_over = passed_over,
                                                      .signatures = plan->nested[thread]},
                                          .table = &plan->table->lanes[lane],
                                          .slots = plan->slots,
                                          .begin = plan->joined.begin,
                                          .step = plan->joined.step,
                                          .length = plan->length,
                                          .thread = thread,
                                          .cpu = UINT16_MAX,
                                          .off = VEC_OF(struct off_period),
                                          .inside = VEC_OF(struct open_occurrence)};
    copy_windows(part, &plan->joined);
    part->timeline = memory__resize(NULL, plan->slot_count, sizeof *part->timeline);
    memset(part->timeline, 0xff, plan->slot_count * sizeof *part->timeline);
    return part;
}

void *occurrences__thread(void *plan, unsigned lane, uint32_t thread)
{
    struct occurrence_collector *part = new_part(plan, lane, thread);
    part->watch = thread_watch__start(part->table, thread, &part->watcher);
    return part;
}

void occurrences__event(void *part, const struct event *event)
{
    thread_watch__event(((struct occurrence_collector *)part)->watch, event);
}

void occurrences__events(void *part, struct event_words *words)
{
    thread_watch__functions(((struct occurrence_collector *)part)->watch, words);
}

void occurrences__end_thread(void *argument)
{
    struct occurrence_collector *part = argument;
    thread_watch__end(part->watch);
    end_thread(part);
    free(part->timeline);
    vec__free(&part->off);
    vec__free(&part->inside);
}

static void join_items(struct vec *all, struct vec *more)
{
    if (!all->count) {
        const struct vec empty = *all;
        *all = *more;
        *more = empty;
    } else if (more->count) {
        memcpy(vec__extend(all, more->count), more->items, more->count * more->item_bytes);
    }
    vec__free(more);
}

static void join_class(struct class_occurrences *into, struct class_occurrences *from)
{
    uint32_t before = (uint32_t)into->arguments.count;
    into->has_locks |= from->has_locks;
    VEC_EACH (occurrence, &from->occurrences, struct occurrence)
        occurrence->first_argument += before;
    join_items(&into->occurrences, &from->occurrences);
    join_items(&into->arguments, &from->arguments);
}

/* Both are kept from the shorter windows of the two. */
void occurrences__join(void *plan, uint32_t thread, void *argument)
{
    struct occurrence_collector *all = &((struct collection_plan *)plan)->joined, *part = argument;
    (void)thread;
    while (part->length > all->length)
        shorten_windows(part);
    while (all->length > part->length)
        shorten_windows(all);
    for (size_t i = 0; i < all->all.classes.count; i++)
        join_class(VEC_AT(&all->all.classes, struct class_occurrences, i),
                   VEC_AT(&part->all.classes, struct class_occurrences, i));
    VEC_EACH (timeline, &part->all.timelines, struct class_timeline)
        vec__push(&all->all.timelines, timeline);
    all->kept += part->kept;
    all->intervals += part->intervals;
    vec__free(&part->all.windows);
    vec__free(&part->all.classes);
    vec__free(&part->all.timelines);
    free(part);
    keep_within_bounds(all);
}

/* ---- what is to be kept ---------------------------------------------------------------------- */

static void choose_class(struct collection_plan *plan, struct class_entry *entry, bool worth)
{
    struct vec *classes = &plan->joined.all.classes;
    struct class_slot *slot = &plan->slots[entry->number];
    *slot = (struct class_slot){.kept = NONE,
                                .has_timelines = class_kind__is_code(entry->what.at.kind),
                                .many = entry->total.accumulator.recorded > OCCURRENCES_FEW};
    if (!worth)
        return;
    struct class_occurrences class = {
        .entry = entry, .occurrences = VEC_OF(struct occurrence), .arguments = VEC_OF(uint64_t)};
    slot->kept = (uint32_t)classes->count;
    slot->whole = !slot->many;
    vec__push(classes, &class);
}

/* Which share of the run has as many occurrences as there is room for, were they even. */
static double share_of_run(const struct collection_plan *plan)
{
    double kept = 1, intervals = 1;
    VEC_EACH (entry, &plan->table->entries, struct class_entry *) {
        const struct class_slot *slot = &plan->slots[(*entry)->number];
        double count = (double)(*entry)->total.accumulator.recorded;
        kept += slot->kept != NONE && !slot->whole ? count : 0;
        intervals += slot->has_timelines ? count : 0;
    }
    double share = OCCURRENCES_MAX / kept, other = INTERVALS_MAX / 2 / intervals;
    return share < other ? share : other;
}

static void choose_windows(struct collection_plan *plan)
{
    uint64_t begin = UINT64_MAX, end = 0;
    VEC_EACH (thread, trace__threads(plan->table->trace), struct trace_thread) {
        begin = thread->start_tick < begin ? thread->start_tick : begin;
        end = thread->end_tick > end ? thread->end_tick : end;
    }
    const uint64_t latest = UINT64_MAX / 4; /* a damaged trace may tell any tick */
    end = end < latest ? end : latest;
    begin = begin < end ? begin : end;
    lay_windows(&plan->joined, begin, end, share_of_run(plan));
    plan->length = plan->joined.length;
}

static bool is_kept_whole(const struct collection_plan *plan, const struct class_entry *entry)
{
    const struct class_slot *slot = &plan->slots[entry->number];
    return slot->kept != NONE && slot->whole;
}

/* A site is passed over when none of its parts is kept whole. */
static bool may_pass_over(const struct collection_plan *plan, const struct class_entry *site)
{
    VEC_EACH (part, &site->division->parts, struct class_part)
        if (is_kept_whole(plan, part->entry))
            return false;
    return !is_kept_whole(plan, site);
}

static void choose(struct collection_plan *plan, bool (*worth)(const struct class_entry *entry))
{
    VEC_EACH (entry, &plan->table->entries, struct class_entry *)
        choose_class(plan, *entry, worth(*entry));
    VEC_EACH (entry, &plan->table->entries, struct class_entry *) {
        const struct class_entry *site = *entry;
        if (!site->division)
            continue;
        plan->slots[site->number].many = may_pass_over(plan, site);
        class_entry__mark_threads(site, plan->nested);
        VEC_EACH (part, &site->division->parts, struct class_part)
            class_entry__mark_threads(part->entry, plan->nested);
    }
    choose_windows(plan);
}

struct collection_plan *occurrences__start(struct class_table *table,
                                           bool (*worth)(const struct class_entry *entry))
{
    uint32_t threads = (uint32_t)trace__threads(table->trace)->count;
    struct collection_plan *plan = memory__zeroed(1, sizeof *plan);
    plan->table = table;
    plan->slot_count = table->entries.count;
    plan->joined.all = (struct occurrences){.table = table,
                                            .windows = VEC_OF(struct window),
                                            .classes = VEC_OF(struct class_occurrences),
                                            .timelines = VEC_OF(struct class_timeline)};
    plan->joined.off = VEC_OF(struct off_period);
    plan->joined.slots = plan->slots = memory__zeroed(plan->slot_count, sizeof *plan->slots);
    plan->nested = memory__zeroed(threads, sizeof *plan->nested);
    class_table__number(table);
    choose(plan, worth);
    class_table__share_nests(table);
    return plan;
}

struct occurrences occurrences__end(struct collection_plan *plan)
{
    struct occurrences all = plan->joined.all;
    free(plan->nested);
    free(plan->slots);
    free(plan);
    return all;
}

void occurrences__free(struct occurrences *occurrences)
{
    VEC_EACH (class, &occurrences->classes, struct class_occurrences) {
        vec__free(&class->occurrences);
        vec__free(&class->arguments);
    }
    VEC_EACH (timeline, &occurrences->timelines, struct class_timeline) {
        vec__free(&timeline->running);
        vec__free(&timeline->preempted);
    }
    vec__free(&occurrences->windows);
    vec__free(&occurrences->classes);
    vec__free(&occurrences->timelines);
}
