/* Loops of one thread that may be iterations. */
#include "analysis/events/spans.h"
#include "analysis/iterations/internal.h"
#include "base/memory.h"

#include <stdlib.h>

#define LOOP_DEPTH 8u                      /* calls around an iteration's loop, at most */
#define LEAST_SHARE (ITERATIONS_SHARE / 5) /* where another thread's has enough */
#define MOST 0.5 /* of a thread's life: what takes less does not tell what it does */

struct loop_search;

/* The loops that so many calls enclose: of what is called there, whatever is in these calls, so
 * that variants of a call are no other loop. */
struct loop_signature {
    struct loop_search *search;
    uint32_t depth;
    struct shape_builder *builder;
    uint64_t start;  /* of the first call that is in it */
    uint64_t calls;  /* 0: it is empty */
    uint64_t bodies; /* that have ended */
};

/* Waits for work at one place: what is done between them are iterations. */
struct work_loop {
    uint64_t since;         /* end of the last wait */
    uint64_t calls, bodies; /* of the surface, then */
};

struct loop_search {
    struct thread_watcher watcher; /* first: the watch gives this */
    struct shapes *shapes;         /* of the surfaces */
    const struct trace_thread *thread;
    struct thread_fold *watch;
    struct loop_signature surfaces[LOOP_DEPTH + 1];
    uint32_t deepest; /* below it all surfaces are empty */
    struct thread_loops loops, marks, waits;
    struct map by_wait; /* place, depth -> place in works */
    struct vec works;   /* struct work_loop */
};

/* ---- loops of calls -------------------------------------------------------------------------- */

static void iteration(void *context, const struct shape_iteration *iteration)
{
    struct loop_signature *surface = context;
    const struct loop_key key = {
        .kind = LOOP_OF_CALLS, .number = iteration->loop, .depth = surface->depth};
    thread_loops__iteration(&surface->search->loops, key, iteration->instance, iteration->start,
                            iteration->end);
}

/* What is around it has ended. */
static void end_surface(struct loop_signature *surface, uint64_t end)
{
    if (!surface->calls)
        return;
    shape_builder__end(surface->builder, UINT32_MAX, surface->start, end);
    surface->calls = 0;
    surface->bodies++;
}

static void add_to_surface(struct loop_signature *surface, uint32_t place,
                           const struct fold_occurrence *occurrence)
{
    const struct shaped shaped = {.symbol = place,
                                  .weight = 1,
                                  .start = surface->search->watcher.entered,
                                  .end = occurrence->end,
                                  .duration = occurrence->duration};
    if (surface->calls++ == 0)
        surface->start = shaped.start;
    shape_builder__add(surface->builder, &shaped);
}

/* ---- work between waits, marks --------------------------------------------------------------- */

static bool is_wait_for_work(enum class_kind kind)
{
    return kind == CLASS_POLL || kind == CLASS_CONDITION || kind == CLASS_SEMAPHORE ||
           kind == CLASS_SLEEP;
}

static struct work_loop *work_at(struct loop_search *search, struct loop_key key)
{
    size_t place = map__put(&search->by_wait, &key, sizeof key, search->works.count);
    if (place == search->works.count)
        vec__push(&search->works, NULL);
    return VEC_AT(&search->works, struct work_loop, place);
}

/* Two waits with no call between them are one. */
static void add_wait(struct loop_search *search, const struct class_entry *entry,
                     const struct fold_occurrence *occurrence)
{
    const struct loop_signature *surface = &search->surfaces[occurrence->depth];
    const struct loop_key key = {.kind = entry->what.at.kind == CLASS_POLL ? LOOP_OF_EVENTS
                                                                           : LOOP_OF_WAITS,
                                 .number = entry->place,
                                 .depth = occurrence->depth};
    struct work_loop *work = work_at(search, key);
    if (work->since && work->bodies == surface->bodies && work->calls + 1 < surface->calls)
        thread_loops__iteration(&search->waits, key, 0, work->since, search->watcher.entered);
    *work = (struct work_loop){occurrence->end, surface->calls, surface->bodies};
}

static void add_mark(struct loop_search *search, uint32_t place,
                     const struct fold_occurrence *occurrence)
{
    const struct loop_key key = {
        .kind = LOOP_OF_MARKS, .number = place, .depth = occurrence->depth};
    thread_loops__iteration(&search->marks, key, 0, search->watcher.entered, occurrence->end);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void occurrence(struct thread_watcher *watcher, struct class_entry *entry,
                       const struct fold_occurrence *occurrence, const uint64_t *arguments,
                       size_t argument_count)
{
    struct loop_search *search = (struct loop_search *)watcher;
    (void)arguments, (void)argument_count;
    if (occurrence->depth > LOOP_DEPTH)
        return;
    for (; search->deepest > occurrence->depth; search->deepest--)
        end_surface(&search->surfaces[search->deepest], occurrence->end);
    search->deepest = occurrence->depth;
    add_to_surface(&search->surfaces[occurrence->depth], entry->place, occurrence);
    if (is_wait_for_work(entry->what.at.kind))
        add_wait(search, entry, occurrence);
    if (entry->what.at.kind == CLASS_ITERATION)
        add_mark(search, entry->place, occurrence);
}

static void start_surfaces(struct loop_search *search)
{
    for (uint32_t depth = 0; depth <= LOOP_DEPTH; depth++) {
        struct loop_signature *surface = &search->surfaces[depth];
        *surface = (struct loop_signature){
            .search = search, .depth = depth, .builder = shape_builder__new(search->shapes)};
        shape_builder__tell_iterations(surface->builder, 0, iteration, surface);
    }
}

static void end_surfaces(struct loop_search *search, uint64_t end)
{
    for (uint32_t depth = LOOP_DEPTH + 1; depth-- > 0;) {
        end_surface(&search->surfaces[depth], end);
        shape_builder__free(search->surfaces[depth].builder);
    }
}

/* ---- which of them may be iterations --------------------------------------------------------- */

static bool takes(const struct thread_loop *loop, double share, uint64_t lifetime)
{
    return loop->iterations.count >= LOOP_ITERATIONS_LEAST &&
           2 * loop->outermost >= loop->iterations.sum &&
           (double)loop->outermost >= share * (double)lifetime;
}

static uint32_t head_of(const struct shapes *shapes, const struct loop_key *key)
{
    uint32_t shape = key->number;
    if (key->kind != LOOP_OF_CALLS)
        return shape;
    while (shapes__get(shapes, shape)->kind == SHAPE_LOOP)
        shape = shapes__items(shapes, shape)->shape;
    return shapes__get(shapes, shape)->symbol;
}

/* Moves the iterations. */
static void keep(const struct loop_search *search, const struct thread_loops *loops,
                 struct thread_loop *loop, uint64_t lifetime, struct vec *parts)
{
    const struct phase_part part = {.thread = loops->thread,
                                    .lifetime = lifetime,
                                    .head = head_of(search->shapes, &loop->key),
                                    .key = loop->key,
                                    .outermost = loop->outermost,
                                    .iterations = loop->iterations};
    vec__push(parts, &part);
    loop->iterations = iteration_series__new();
}

static void keep_marks(struct loop_search *search, uint64_t lifetime, struct vec *parts)
{
    VEC_EACH (loop, &search->marks.loops, struct thread_loop)
        if (loop->outermost)
            keep(search, &search->marks, loop, lifetime, parts);
}

/* From the first iteration to the last it is most of the thread's life, and the work between the
 * waits is more than between those of other places. */
static struct thread_loop *work_of(const struct loop_search *search, bool only_events,
                                   uint64_t lifetime)
{
    struct thread_loop *most = NULL;
    VEC_EACH (loop, &search->waits.loops, struct thread_loop) {
        const struct iteration_series *iterations = &loop->iterations;
        if ((loop->key.kind == LOOP_OF_EVENTS || !only_events) && takes(loop, 0, lifetime) &&
            (double)(iterations->last_end - iterations->first_start) >= MOST * (double)lifetime &&
            (!most || loop->outermost > most->outermost))
            most = loop;
    }
    return most;
}

/* But for choices, whose head says less than a wait. */
static uint64_t time_in_loops(const struct loop_search *search, uint64_t lifetime)
{
    uint64_t told = 0;
    VEC_EACH (loop, &search->loops.loops, struct thread_loop)
        if (takes(loop, LEAST_SHARE, lifetime) &&
            shapes__get(search->shapes, loop->key.number)->kind == SHAPE_LOOP)
            told += loop->outermost;
    return told;
}

/* The work between waits for events; else loops, or where these take less than most of the thread's
 * life, the work between other waits if there is such. */
static void keep_loops(struct loop_search *search, uint64_t lifetime, struct vec *parts)
{
    bool loops_tell = (double)time_in_loops(search, lifetime) >= MOST * (double)lifetime;
    struct thread_loop *work = work_of(search, loops_tell, lifetime);
    if (work)
        keep(search, &search->waits, work, lifetime, parts);
    VEC_EACH (loop, &search->loops.loops, struct thread_loop)
        if (!work && takes(loop, LEAST_SHARE, lifetime))
            keep(search, &search->loops, loop, lifetime, parts);
}

struct loop_search *search__start(struct class_table *table, struct shapes *shapes, uint32_t thread)
{
    struct loop_search *search = memory__zeroed(1, sizeof *search);
    *search = (struct loop_search){
        .watcher = {.at_once = true, .unfinished = true, .occurrence = occurrence},
        .shapes = shapes,
        .thread = trace__thread_at(table->trace, thread),
        .works = VEC_OF(struct work_loop)};
    thread_loops__start(&search->loops, thread);
    thread_loops__start(&search->marks, thread);
    thread_loops__start(&search->waits, thread);
    start_surfaces(search);
    search->watch = thread_watch__start(table, thread, &search->watcher);
    return search;
}

void search__event(void *search, const struct event *event)
{
    thread_watch__event(((struct loop_search *)search)->watch, event);
}

void search__functions(void *search, struct event_words *words)
{
    thread_watch__functions(((struct loop_search *)search)->watch, words);
}

void search__end(struct loop_search *search, struct vec *parts)
{
    uint64_t start = search->thread->start_tick, end = search->thread->end_tick;
    struct thread_loops *const all[] = {&search->loops, &search->marks, &search->waits};
    thread_watch__end(search->watch);
    end_surfaces(search, end);
    for (int i = 0; i < 3; i++)
        thread_loops__end(all[i]);
    keep_marks(search, end > start ? end - start : 0, parts);
    keep_loops(search, end > start ? end - start : 0, parts);
    for (int i = 0; i < 3; i++)
        thread_loops__free(all[i]);
    map__free(&search->by_wait);
    vec__free(&search->works);
    free(search);
}
