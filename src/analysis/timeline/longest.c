#include "analysis/timeline/longest.h"

#include "analysis/analysis.h"
#include "analysis/events/spans.h"
#include "base/heap.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct longest_walk {
    const struct trace *trace;
    const struct profile *profile;
    struct class_table *table;
    struct vec heaps; /* struct vec of struct long_occurrence in ticks, by the class's number */
    uint64_t offers;
};

/* One thread's. */
struct longest_part {
    struct watched_part watched; /* first: the watch gives this */
    struct longest_walk *walk;
    uint32_t thread;
};

/* Whether left is the one to go first. */
static bool is_shorter(const struct long_occurrence *left, const struct long_occurrence *right)
{
    return left->duration_ns != right->duration_ns ? left->duration_ns < right->duration_ns
                                                   : left->offer > right->offer;
}

HEAP_OF(longest, struct long_occurrence, is_shorter)

static struct vec *heap_of(struct longest_walk *walk, uint32_t number)
{
    const struct vec none = VEC_OF(struct long_occurrence);
    while (walk->heaps.count <= number)
        vec__push(&walk->heaps, &none);
    return VEC_AT(&walk->heaps, struct vec, number);
}

static void offer(struct vec *heap, const struct long_occurrence *one)
{
    struct long_occurrence *items = heap->items;
    if (heap->count < LONGEST_KEPT) {
        vec__push(heap, one);
        longest__rise(heap->items, heap->count - 1);
    } else if (is_shorter(items, one)) {
        items[0] = *one;
        longest__sink(items, heap->count, 0);
    }
}

static void keep(struct thread_watcher *watcher, struct class_entry *entry,
                 const struct fold_occurrence *occurrence, const uint64_t *arguments,
                 size_t argument_count)
{
    struct longest_part *part = (struct longest_part *)watcher;
    (void)arguments, (void)argument_count;
    uint32_t number = class_entry__number(watcher__class(watcher, part->walk->table, entry));
    if (number == CLASS_NOT_NUMBERED)
        return;
    struct long_occurrence one = {.start_ns = watcher->entered,
                                  .duration_ns = occurrence->duration,
                                  .thread = part->thread,
                                  .offer = part->walk->offers++};
    memcpy(one.component_ns, occurrence->components, sizeof one.component_ns);
    offer(heap_of(part->walk, number), &one);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void *start(struct run *run)
{
    const struct profile *profile = run__result(run, &profile_analysis);
    if (!profile || trace__is_aggregated(run->trace))
        return NULL;
    struct longest_walk *walk = memory__zeroed(1, sizeof *walk);
    *walk = (struct longest_walk){.trace = run->trace,
                                  .profile = profile,
                                  .table = profile__table(profile),
                                  .heaps = VEC_OF(struct vec)};
    return walk;
}

static void *thread(void *self, unsigned lane, uint32_t thread)
{
    struct longest_part *part = memory__zeroed(1, sizeof *part);
    (void)lane;
    part->walk = self;
    part->thread = thread;
    part->watched.watcher = (struct thread_watcher){
        .occurrence = keep, .signatures = class_table__has_parts(part->walk->table)};
    part->watched.watch = thread_watch__start(part->walk->table, thread, &part->watched.watcher);
    return part;
}

/* ---- the result ------------------------------------------------------------------------------ */

static int by_length(const void *left, const void *right)
{
    return is_shorter(left, right) - is_shorter(right, left);
}

/* Ticks become ns; what rounding leaves over ran. */
static void to_ns(const struct trace *trace, struct long_occurrence *one)
{
    uint64_t rest_ns = trace__ns(trace, one->duration_ns);
    one->start_ns = trace__since_start_ns(trace, one->start_ns);
    one->duration_ns = rest_ns;
    for (unsigned i = 0; i < COMPONENTS; i++) {
        uint64_t ns = trace__ns(trace, one->component_ns[i]);
        one->component_ns[i] = i == COMPONENT_RUNNING || ns > rest_ns ? rest_ns : ns;
        rest_ns -= one->component_ns[i];
    }
}

static struct vec rows_of(const struct longest_walk *walk, uint32_t number)
{
    if (number >= walk->heaps.count)
        return VEC_OF(struct long_occurrence);
    struct vec *heap = VEC_AT(&walk->heaps, struct vec, number), rows = *heap;
    *heap = VEC_OF(struct long_occurrence);
    vec__sort(&rows, by_length);
    VEC_EACH (one, &rows, struct long_occurrence)
        to_ns(walk->trace, one);
    return rows;
}

static void *finish(void *self)
{
    struct longest_walk *walk = self;
    struct longest *longest = memory__zeroed(1, sizeof *longest);
    const struct vec *classes = &walk->profile->classes;
    longest->class_count = classes->count;
    longest->classes = memory__zeroed(classes->count, sizeof *longest->classes);
    for (size_t i = 0; i < classes->count; i++)
        longest->classes[i] = rows_of(walk, VEC_AT(classes, struct profile_class, i)->number);
    VEC_EACH (heap, &walk->heaps, struct vec)
        vec__free(heap);
    vec__free(&walk->heaps);
    free(walk);
    return longest;
}

static void free_longest(void *result)
{
    struct longest *longest = result;
    for (size_t i = 0; i < longest->class_count; i++)
        vec__free(&longest->classes[i]);
    free(longest->classes);
    free(longest);
}

const struct analysis longest_analysis = {
    .name = "longest",
    .after = (const struct analysis *const[]){&profile_analysis, NULL},
    .walk = WALK_IN_ORDER,
    .start = start,
    .thread = thread,
    .event = watched_part__event,
    .events = watched_part__events,
    .end = watched_part__end,
    .join = watched_part__free,
    .finish = finish,
    .free = free_longest,
};
