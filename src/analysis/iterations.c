#include "analysis/iterations.h"

#include "analysis/iterations_phase.h"
#include "analysis/shape.h"
#include "analysis/spans.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

#define LOOP_DEPTH 8u /* calls around an iteration's loop, at most */

#define LEAST_SHARE (ITERATIONS_SHARE / 5) /* where another thread's has enough */

struct search;

/* The loops that so many calls enclose: of what is called there, whatever is in these calls, so
 * that variants of a call are no other loop. */
struct surface {
    struct search *search;
    uint32_t depth;
    struct shape_builder *builder;
    bool is_empty;
    uint64_t start; /* of the first that is in it */
};

struct search {
    struct thread_watcher watcher; /* first: the watch gives this */
    struct class_table table;
    struct shapes *shapes; /* of the surfaces */
    struct surface surfaces[LOOP_DEPTH + 1];
    struct thread_loops loops; /* of the current thread */
    struct thread_loops marks; /* likewise: marked iterations of one name are a loop */
    bool has_marks;            /* some thread marks its iterations */
    struct vec parts;          /* struct phase_part: that may become phases */
};

/* ---- the loops of a thread ------------------------------------------------------------------- */

static void turn(void *context, const struct shape_turn *turn)
{
    struct surface *surface = context;
    const struct loop_key key = {.number = turn->loop, .depth = surface->depth};
    thread_loops__turn(&surface->search->loops, key, turn->instance, turn->start, turn->end);
}

/* What is around it has ended. */
static void end_surface(struct surface *surface, uint64_t end)
{
    if (!surface->is_empty)
        shape_builder__end(surface->builder, UINT32_MAX, surface->start, end);
    surface->is_empty = true;
}

static void add_to_surface(struct surface *surface, uint32_t place,
                           const struct fold_occurrence *occurrence)
{
    const struct shaped shaped = {.symbol = place,
                                  .weight = 1,
                                  .start = surface->search->watcher.entered,
                                  .end = occurrence->end,
                                  .duration = occurrence->duration};
    if (surface->is_empty)
        surface->start = shaped.start;
    surface->is_empty = false;
    shape_builder__add(surface->builder, &shaped);
}

static void add_mark(struct search *search, uint32_t place,
                     const struct fold_occurrence *occurrence)
{
    const struct loop_key key = {.is_mark = 1, .number = place, .depth = occurrence->depth};
    search->has_marks = true;
    thread_loops__turn(&search->marks, key, 0, search->watcher.entered, occurrence->end);
}

static void occurrence(struct thread_watcher *watcher, struct class_entry *entry,
                       const struct fold_occurrence *occurrence, const uint64_t *arguments,
                       size_t argument_count)
{
    struct search *search = (struct search *)watcher;
    (void)arguments, (void)argument_count;
    if (occurrence->depth > LOOP_DEPTH)
        return;
    for (uint32_t depth = LOOP_DEPTH; depth > occurrence->depth; depth--)
        end_surface(&search->surfaces[depth], occurrence->end);
    add_to_surface(&search->surfaces[occurrence->depth], entry->place, occurrence);
    if (entry->what.kind == CLASS_ITERATION)
        add_mark(search, entry->place, occurrence);
}

static void start_surfaces(struct search *search)
{
    for (uint32_t depth = 0; depth <= LOOP_DEPTH; depth++) {
        struct surface *surface = &search->surfaces[depth];
        *surface = (struct surface){.search = search,
                                    .depth = depth,
                                    .builder = shape_builder__new(search->shapes),
                                    .is_empty = true};
        shape_builder__tell_turns(surface->builder, 0, turn, surface);
    }
}

static void end_surfaces(struct search *search, uint64_t end)
{
    for (uint32_t depth = LOOP_DEPTH + 1; depth-- > 0;) {
        end_surface(&search->surfaces[depth], end);
        shape_builder__free(search->surfaces[depth].builder);
    }
}

static uint32_t head_of(const struct shapes *shapes, uint32_t shape)
{
    while (shapes__get(shapes, shape)->kind != SHAPE_OCCURRENCE)
        shape = shapes__items(shapes, shape)->shape;
    return shapes__get(shapes, shape)->symbol;
}

/* ---- which of them are iterations ------------------------------------------------------------ */

static bool is_candidate(const struct thread_loop *loop, uint64_t lifetime)
{
    if (loop->key.is_mark)
        return loop->outermost > 0;
    return loop->turns.count >= LOOP_TURNS_LEAST && 2 * loop->outermost >= loop->turns.sum &&
           (double)loop->outermost >= LEAST_SHARE * (double)lifetime;
}

/* Moves them out of the thread's loops. */
static void keep_candidates(struct search *search, struct thread_loops *loops, uint64_t lifetime)
{
    thread_loops__end(loops);
    VEC_EACH(loop, &loops->loops, struct thread_loop)
    {
        if (!is_candidate(loop, lifetime))
            continue;
        const struct phase_part part = {.thread = loops->thread,
                                        .lifetime = lifetime,
                                        .head = loop->key.is_mark
                                                    ? loop->key.number
                                                    : head_of(search->shapes, loop->key.number),
                                        .key = loop->key,
                                        .outermost = loop->outermost,
                                        .turns = loop->turns};
        vec__push(&search->parts, &part);
        loop->turns = turn_series__new();
    }
}

static void search_thread(struct search *search, uint32_t thread)
{
    const struct trace_thread *traced =
        VEC_AT(trace__threads(search->table.trace), struct trace_thread, thread);
    uint64_t start = traced->start_tick, end = traced->end_tick;
    uint64_t lifetime = end > start ? end - start : 0;
    thread_loops__start(&search->loops, thread);
    thread_loops__start(&search->marks, thread);
    start_surfaces(search);
    thread__watch(&search->table, thread, &search->watcher);
    end_surfaces(search, end);
    keep_candidates(search, &search->loops, lifetime);
    keep_candidates(search, &search->marks, lifetime);
    thread_loops__free(&search->loops);
    thread_loops__free(&search->marks);
}

/* ---- threads that do the same ---------------------------------------------------------------- */

static bool has_thread(const struct phase_draft *draft, uint32_t thread)
{
    VEC_EACH(part, &draft->parts, struct phase_part)
    if (part->thread == thread)
        return true;
    return false;
}

static bool is_same_loop(const struct loop_key *left, const struct loop_key *right)
{
    return left->is_mark == right->is_mark && left->number == right->number;
}

/* The same loop, or else one that begins with the same call. */
static struct phase_draft *draft_of(struct vec *drafts, const struct phase_part *part)
{
    struct phase_draft *alike = NULL;
    VEC_EACH(draft, drafts, struct phase_draft)
    {
        const struct phase_part *first = part_at(draft, 0);
        if (has_thread(draft, part->thread))
            continue;
        if (is_same_loop(&first->key, &part->key))
            return draft;
        if (!alike && !part->key.is_mark && !first->key.is_mark && first->head == part->head)
            alike = draft;
    }
    if (alike)
        return alike;
    return vec__push(drafts, &(struct phase_draft){.parts = VEC_OF(struct phase_part)});
}

static uint64_t start_of(const struct phase_draft *draft)
{
    uint64_t start = UINT64_MAX;
    VEC_EACH(part, &draft->parts, struct phase_part)
    if (part->turns.first_start < start)
        start = part->turns.first_start;
    return start;
}

static int by_start(const void *left, const void *right)
{
    uint64_t a = start_of(left), b = start_of(right);
    return (a > b) - (a < b);
}

/* Marks win over loops. Takes over the parts. */
static struct vec drafts_of(struct search *search)
{
    struct vec drafts = VEC_OF(struct phase_draft);
    VEC_EACH(part, &search->parts, struct phase_part)
    {
        if (search->has_marks && !part->key.is_mark)
            turn_series__free(&part->turns);
        else
            vec__push(&draft_of(&drafts, part)->parts, part);
    }
    if (drafts.count)
        qsort(drafts.items, drafts.count, sizeof(struct phase_draft), by_start);
    VEC_EACH(draft, &drafts, struct phase_draft)
    draft->is_matched = draft__is_matched(draft);
    vec__free(&search->parts);
    return drafts;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static const struct profile_class *class_at(const struct class_table *table, uint32_t place)
{
    VEC_EACH(entry, &table->entries, struct class_entry *)
    if (*entry && (*entry)->place == place)
        return &(*entry)->what;
    return NULL;
}

static bool is_named(const struct vec *places, uint32_t place)
{
    VEC_EACH(named, places, uint32_t)
    if (*named == place)
        return true;
    return false;
}

/* The occurrences' places, each once, one more than are named. */
static void add_places(const struct shapes *shapes, uint32_t shape, struct vec *places)
{
    const struct shape *what = shapes__get(shapes, shape);
    if (what->kind == SHAPE_OCCURRENCE) {
        if (!is_named(places, what->symbol))
            vec__push(places, &what->symbol);
        return;
    }
    for (uint32_t i = 0; i < what->item_count && places->count <= ITERATIONS_BODY; i++)
        add_places(shapes, shapes__items(shapes, shape)[i].shape, places);
}

static void name_body(const struct search *search, const struct phase_part *part,
                      struct iteration_phase *phase)
{
    struct vec places = VEC_OF(uint32_t);
    phase->body = VEC_OF(struct profile_class);
    if (part->key.is_mark) {
        vec__push(&places, &part->key.number);
    } else {
        add_places(search->shapes, part->key.number, &places);
        phase->is_choice = shapes__get(search->shapes, part->key.number)->kind != SHAPE_LOOP;
    }
    phase->body_is_cut = places.count > ITERATIONS_BODY;
    VEC_EACH(place, &places, uint32_t)
    {
        const struct profile_class *what = class_at(&search->table, *place);
        if (!what || phase->body.count == ITERATIONS_BODY)
            break;
        struct profile_class *named = vec__push(&phase->body, what);
        named->keys = VEC_OF(struct profile_key);
        named->has_object = false;
    }
    vec__free(&places);
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Waiting for each of one's threads is no iteration. */
static bool is_joining(const struct iteration_phase *phase)
{
    return phase->body.count == 1 &&
           VEC_AT(&phase->body, struct profile_class, 0)->kind == CLASS_JOIN;
}

static void phase__free(struct iteration_phase *phase)
{
    vec__free(&phase->body);
    vec__free(&phase->threads);
    vec__free(&phase->outliers);
    vec__free(&phase->kept);
}

static void draft__free(struct phase_draft *draft)
{
    VEC_EACH(part, &draft->parts, struct phase_part)
    turn_series__free(&part->turns);
    vec__free(&draft->parts);
}

/* Marks, and what takes enough of some thread's life. */
static bool is_large(const struct phase_draft *draft)
{
    VEC_EACH(part, &draft->parts, struct phase_part)
    if (part->key.is_mark || (double)part->outermost >= ITERATIONS_SHARE * (double)part->lifetime)
        return true;
    return false;
}

static void choose_phases(struct search *search, struct vec *drafts, struct vec *phases)
{
    size_t left = 0;
    VEC_EACH(draft, drafts, struct phase_draft)
    {
        struct iteration_phase phase = {0};
        name_body(search, part_at(draft, 0), &phase);
        if (!is_large(draft) || is_joining(&phase)) {
            phase__free(&phase);
            draft__free(draft);
            continue;
        }
        vec__push(phases, &phase);
        *VEC_AT(drafts, struct phase_draft, left++) = *draft;
    }
    drafts->count = left;
}

/* Those that have events and are in no phase. */
static uint32_t threads_without(const struct trace *trace, const struct vec *phases)
{
    size_t count = trace__threads(trace)->count;
    uint8_t *has_phase = memory__zeroed(count, 1);
    uint32_t without = 0;
    VEC_EACH(phase, phases, struct iteration_phase)
    VEC_EACH(thread, &phase->threads, struct iteration_thread)
    has_phase[thread->thread] = 1;
    for (size_t i = 0; i < count; i++)
        without += !has_phase[i];
    free(has_phase);
    return without;
}

static struct iterations *result_of(struct search *search)
{
    const struct trace *trace = search->table.trace;
    struct iterations *iterations = memory__zeroed(1, sizeof *iterations);
    struct vec drafts = drafts_of(search);
    iterations->phases = VEC_OF(struct iteration_phase);
    choose_phases(search, &drafts, &iterations->phases);
    for (size_t i = 0; i < drafts.count; i++)
        draft__figures(VEC_AT(&drafts, struct phase_draft, i), trace,
                       VEC_AT(&iterations->phases, struct iteration_phase, i));
    drafts__outliers(&drafts, &search->table, &iterations->phases);
    iterations->threads_without = threads_without(trace, &iterations->phases);
    VEC_EACH(draft, &drafts, struct phase_draft)
    draft__free(draft);
    vec__free(&drafts);
    return iterations;
}

int iterations__compute(const struct trace *trace, struct iterations **iterations,
                        struct error *error)
{
    if (trace__is_aggregated(trace))
        return error__set(error, -ENOTSUP,
                          "the run was recorded with --aggregate, which keeps no order of events; "
                          "record it without to see its iterations");
    struct search search = {
        .watcher = {.at_once = true, .unfinished = true, .occurrence = occurrence},
        .shapes = shapes__new(),
        .parts = VEC_OF(struct phase_part)};
    class_table__start(&search.table, trace, NULL);
    for (uint32_t i = 0; i < trace__threads(trace)->count; i++)
        search_thread(&search, i);
    *iterations = result_of(&search);
    class_table__free(&search.table);
    shapes__free(search.shapes);
    return 0;
}

void iterations__free(struct iterations *iterations)
{
    if (!iterations)
        return;
    VEC_EACH(phase, &iterations->phases, struct iteration_phase)
    phase__free(phase);
    vec__free(&iterations->phases);
    free(iterations);
}
