#include "analysis/iterations/iterations.h"

#include "analysis/analysis.h"
#include "analysis/iterations/internal.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

struct iteration_search {
    struct class_table table;
    struct shapes *shapes; /* of calls, without what is in them */
    struct vec parts;      /* struct phase_part: that may become phases */
};

/* ---- threads that do the same ---------------------------------------------------------------- */

static bool has_thread(const struct phase_draft *draft, uint32_t thread)
{
    VEC_EACH (part, &draft->parts, struct phase_part)
        if (part->thread == thread)
            return true;
    return false;
}

static bool is_same_loop(const struct loop_key *left, const struct loop_key *right)
{
    return left->kind == right->kind && left->number == right->number;
}

/* The same loop, or else one that begins with the same call. */
static struct phase_draft *draft_of(struct vec *drafts, const struct phase_part *part)
{
    struct phase_draft *alike = NULL;
    VEC_EACH (draft, drafts, struct phase_draft) {
        const struct phase_part *first = part_at(draft, 0);
        if (has_thread(draft, part->thread))
            continue;
        if (is_same_loop(&first->key, &part->key))
            return draft;
        if (!alike && first->key.kind == part->key.kind && first->head == part->head)
            alike = draft;
    }
    if (alike)
        return alike;
    return vec__push(drafts, &(struct phase_draft){.parts = VEC_OF(struct phase_part)});
}

static uint64_t start_of(const struct phase_draft *draft)
{
    uint64_t start = UINT64_MAX;
    VEC_EACH (part, &draft->parts, struct phase_part)
        if (part->iterations.first_start < start)
            start = part->iterations.first_start;
    return start;
}

static int by_start(const void *left, const void *right)
{
    uint64_t a = start_of(left), b = start_of(right);
    return ORDER(a, b);
}

static bool has_marks(const struct vec *parts)
{
    VEC_EACH (part, parts, struct phase_part)
        if (part->key.kind == LOOP_OF_MARKS)
            return true;
    return false;
}

/* Marks win over loops. Takes over the parts. */
static struct vec drafts_of(struct iteration_search *search)
{
    struct vec drafts = VEC_OF(struct phase_draft);
    bool only_marks = has_marks(&search->parts);
    VEC_EACH (part, &search->parts, struct phase_part) {
        if (only_marks && part->key.kind != LOOP_OF_MARKS)
            iteration_series__free(&part->iterations);
        else
            vec__push(&draft_of(&drafts, part)->parts, part);
    }
    vec__sort(&drafts, by_start);
    VEC_EACH (draft, &drafts, struct phase_draft)
        draft->is_matched = draft__is_matched(draft);
    vec__free(&search->parts);
    return drafts;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static const struct class_definition *class_at(const struct class_table *table, uint32_t place)
{
    VEC_EACH (entry, &table->entries, struct class_entry *)
        if (*entry && (*entry)->place == place)
            return &(*entry)->what;
    return NULL;
}

static bool is_named(const struct vec *places, uint32_t place)
{
    VEC_EACH (named, places, uint32_t)
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

static void name_body(const struct iteration_search *search, const struct phase_part *part,
                      struct iteration_phase *phase)
{
    struct vec places = VEC_OF(uint32_t);
    phase->body = VEC_OF(struct class_definition);
    if (part->key.kind != LOOP_OF_CALLS) {
        vec__push(&places, &part->key.number);
    } else {
        add_places(search->shapes, part->key.number, &places);
        phase->is_choice = shapes__get(search->shapes, part->key.number)->kind == SHAPE_CHOICE;
    }
    phase->body_is_cut = places.count > ITERATIONS_BODY;
    VEC_EACH (place, &places, uint32_t) {
        const struct class_definition *what = class_at(&search->table, *place);
        if (!what || phase->body.count == ITERATIONS_BODY)
            break;
        struct class_definition *named = vec__push(&phase->body, what);
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
           VEC_AT(&phase->body, struct class_definition, 0)->at.kind == CLASS_JOIN;
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
    VEC_EACH (part, &draft->parts, struct phase_part)
        iteration_series__free(&part->iterations);
    vec__free(&draft->parts);
}

/* Marks, work between waits, and what takes enough of some thread's life. */
static bool is_large(const struct phase_draft *draft)
{
    VEC_EACH (part, &draft->parts, struct phase_part)
        if (part->key.kind != LOOP_OF_CALLS ||
            (double)part->outermost >= ITERATIONS_SHARE * (double)part->lifetime)
            return true;
    return false;
}

static void choose_phases(struct iteration_search *search, struct vec *drafts, struct vec *phases)
{
    size_t left = 0;
    VEC_EACH (draft, drafts, struct phase_draft) {
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
    VEC_EACH (phase, phases, struct iteration_phase)
        VEC_EACH (thread, &phase->threads, struct iteration_thread)
            has_phase[thread->thread] = 1;
    for (size_t i = 0; i < count; i++)
        without += !has_phase[i];
    free(has_phase);
    return without;
}

static struct iterations *result_of(struct iteration_search *search)
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
    VEC_EACH (draft, &drafts, struct phase_draft)
        draft__free(draft);
    vec__free(&drafts);
    return iterations;
}

static void *start(struct run *run)
{
    if (trace__is_aggregated(run->trace)) {
        run->code =
            error__set(&run->error, -ENOTSUP,
                       "the run was recorded with --aggregate, which keeps no order of events; "
                       "record it without to see its iterations");
        return NULL;
    }
    struct iteration_search *search = memory__zeroed(1, sizeof *search);
    search->shapes = shapes__new();
    search->parts = VEC_OF(struct phase_part);
    class_table__start(&search->table, run->trace, NULL);
    return search;
}

static void *start_thread(void *self, unsigned lane, uint32_t thread)
{
    struct iteration_search *search = self;
    (void)lane;
    return search__start(&search->table, search->shapes, thread);
}

static void join_thread(void *self, uint32_t thread, void *part)
{
    (void)thread;
    search__end(part, &((struct iteration_search *)self)->parts);
}

static void *finish(void *self)
{
    struct iteration_search *search = self;
    struct iterations *iterations = result_of(search);
    class_table__free(&search->table);
    shapes__free(search->shapes);
    free(search);
    return iterations;
}

static void free_result(void *result)
{
    iterations__free(result);
}

const struct analysis iterations_analysis = {.name = "iterations",
                                             .walk = WALK_IN_ORDER,
                                             .start = start,
                                             .thread = start_thread,
                                             .event = search__event,
                                             .events = search__functions,
                                             .join = join_thread,
                                             .finish = finish,
                                             .free = free_result};

void iterations__free(struct iterations *iterations)
{
    if (!iterations)
        return;
    VEC_EACH (phase, &iterations->phases, struct iteration_phase)
        phase__free(phase);
    vec__free(&iterations->phases);
    free(iterations);
}
