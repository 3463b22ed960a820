#include "analysis/iterations/internal.h"

#include "analysis/events/call_tree.h"
#include "base/memory.h"

#include <stdlib.h>

#define INSIDES_MAX 4096u /* iterations of a phase that are looked into, at most */

/* ---- usual iterations ------------------------------------------------------------------------ */

static uint64_t distance(uint64_t left, uint64_t right)
{
    return left > right ? left - right : right - left;
}

/* The sample that took about as long as the median. */
static size_t usual_sample(const struct phase_draft *draft, const struct phase_part *part,
                           const struct trace *trace, uint64_t median_ns)
{
    size_t nearest = 0;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < part->iterations.samples.count; i++) {
        struct iteration_sample iteration =
            draft->is_matched ? matched__iteration(draft, i) : *sample_at(part, i);
        uint64_t away = distance(trace__ns(trace, iteration.end - iteration.start), median_ns);
        if (away < least) {
            least = away;
            nearest = i;
        }
    }
    return nearest;
}

/* ---- those that stand out -------------------------------------------------------------------- */

static bool stands_out(const struct trace *trace, const struct iteration_phase *phase,
                       uint64_t duration)
{
    return trace__ns(trace, duration) > phase->threshold_ns;
}

static void offer_matched(const struct phase_draft *draft, const struct trace *trace,
                          const struct iteration_phase *phase, struct extremes *worst)
{
    const struct iteration_series *iterations = &part_at(draft, 0)->iterations;
    for (size_t i = 0; i < iterations->samples.count; i++) {
        struct iteration_sample iteration = matched__iteration(draft, i);
        const struct extreme one = {.key = iteration.longest,
                                    .start = iteration.start,
                                    .end = iteration.end,
                                    .duration = iteration.longest,
                                    .index = i * iterations->stride};
        if (stands_out(trace, phase, iteration.longest))
            extremes__offer(worst, &one);
    }
}

static void offer_single(const struct phase_draft *draft, const struct trace *trace,
                         const struct iteration_phase *phase, struct extremes *worst)
{
    VEC_EACH (part, &draft->parts, struct phase_part)
        VEC_EACH (iteration, &part->iterations.worst.kept, struct extreme)
            if (stands_out(trace, phase, iteration->duration))
                extremes__offer(worst, iteration);
}

static size_t at_most(const struct phase_draft *draft)
{
    size_t iterations =
        draft->is_matched ? INSIDES_MAX / (draft->parts.count + 1) : ITERATIONS_OUTLIERS;
    return iterations > ITERATIONS_OUTLIERS ? ITERATIONS_OUTLIERS : iterations ? iterations : 1;
}

static struct extremes worst_of(const struct phase_draft *draft, const struct trace *trace,
                                const struct iteration_phase *phase)
{
    struct extremes worst = extremes__of(at_most(draft));
    if (draft->is_matched)
        offer_matched(draft, trace, phase, &worst);
    else
        offer_single(draft, trace, phase, &worst);
    extremes__sort(&worst);
    return worst;
}

/* None of a thread of which all iterations stand out. */
static void find_usual(struct phase_draft *draft, const struct trace *trace,
                       const struct iteration_phase *phase)
{
    VEC_EACH (part, &draft->parts, struct phase_part) {
        size_t nearest = usual_sample(draft, part, trace, phase->median_ns);
        const struct iteration_sample *usual = sample_at(part, nearest);
        if (draft->is_matched || !stands_out(trace, phase, usual->end - usual->start))
            part->usual = usual;
    }
}

/* ---- what is in them ------------------------------------------------------------------------- */

/* An iteration that is looked into. */
struct outlier_look {
    struct call_tree inside; /* first: sorted by it */
    size_t phase, part;
    size_t outlier; /* SIZE_MAX: the part's usual iteration */
    uint64_t index;
};

static void add_look(struct vec *looks, const struct phase_draft *draft, size_t phase, size_t part,
                     size_t outlier, uint64_t index, uint64_t start, uint64_t end)
{
    const struct phase_part *of = part_at(draft, part);
    const struct outlier_look look = {.inside = {.thread = of->thread,
                                                 .start = start,
                                                 .end = end,
                                                 .depth = of->key.depth,
                                                 .is_stretch = true},
                                      .phase = phase,
                                      .part = part,
                                      .outlier = outlier,
                                      .index = index};
    vec__push(looks, &look);
}

static size_t part_of_thread(const struct phase_draft *draft, uint32_t thread)
{
    size_t part = 0;
    while (part_at(draft, part)->thread != thread)
        part++;
    return part;
}

static void look_at(struct vec *looks, const struct phase_draft *draft, size_t phase,
                    size_t outlier, const struct extreme *iteration)
{
    if (!draft->is_matched) {
        add_look(looks, draft, phase, part_of_thread(draft, iteration->thread), outlier,
                 iteration->index, iteration->start, iteration->end);
        return;
    }
    for (size_t i = 0; i < draft->parts.count; i++) {
        const struct phase_part *part = part_at(draft, i);
        const struct iteration_sample *own =
            sample_at(part, iteration->index / part->iterations.stride);
        add_look(looks, draft, phase, i, outlier, iteration->index, own->start, own->end);
    }
}

static void look_at_usual(struct vec *looks, const struct phase_draft *draft, size_t phase)
{
    for (size_t i = 0; i < draft->parts.count; i++) {
        const struct phase_part *part = part_at(draft, i);
        if (!part->usual)
            continue;
        uint64_t index = (uint64_t)(part->usual - sample_at(part, 0)) * part->iterations.stride;
        add_look(looks, draft, phase, i, SIZE_MAX, index, part->usual->start, part->usual->end);
    }
}

static void start_outlier(struct iteration_phase *phase, const struct extreme *iteration,
                          const struct trace *trace)
{
    const struct iteration_outlier outlier = {
        .iteration = {.index = iteration->index,
                      .thread = iteration->thread,
                      .start_ns = trace__since_start_ns(trace, iteration->start),
                      .duration_ns = trace__ns(trace, iteration->duration),
                      .depth = iteration->depth,
                      .start_tick = iteration->start,
                      .end_tick = iteration->end},
        .more_ns = INT64_MIN};
    vec__push(&phase->outliers, &outlier);
}

/* Which iterations are looked into: the phase's outliers, and the usual ones of its threads. */
static void choose_looks(struct phase_draft *draft, const struct trace *trace, size_t phase,
                         struct iteration_phase *shown, struct vec *looks)
{
    struct extremes worst = worst_of(draft, trace, shown);
    if (worst.kept.count) {
        find_usual(draft, trace, shown);
        look_at_usual(looks, draft, phase);
    }
    VEC_EACH (iteration, &worst.kept, struct extreme) {
        look_at(looks, draft, phase, shown->outliers.count, iteration);
        start_outlier(shown, iteration, trace);
    }
    extremes__free(&worst);
}

/* ---- against the usual one ------------------------------------------------------------------- */

/* What a place did in one iteration more than in the other. Ticks. */
struct place_more {
    const struct class_entry *entry; /* NULL: the iteration's own */
    int64_t own, calls;
};

static void add_places(struct vec *places, struct map *by_place, const struct call_tree *inside,
                       int sign)
{
    VEC_AT(places, struct place_more, 0)->own += sign * inside->own;
    VEC_EACH (call, &inside->calls, struct call_tree_node) {
        size_t place =
            map__put(by_place, &call->entry->place, sizeof call->entry->place, places->count);
        if (place == places->count)
            vec__push(places, &(struct place_more){.entry = call->entry});
        struct place_more *more = VEC_AT(places, struct place_more, place);
        more->own += sign * call->own;
        more->calls += sign * (int64_t)call->count;
    }
}

static struct place_more most_of(const struct call_tree *slow, const struct call_tree *usual)
{
    struct vec places = VEC_OF(struct place_more);
    struct map by_place = {0};
    vec__push(&places, NULL);
    add_places(&places, &by_place, slow, 1);
    add_places(&places, &by_place, usual, -1);
    struct place_more most = *VEC_AT(&places, struct place_more, 0);
    VEC_EACH (more, &places, struct place_more)
        if (more->own > most.own)
            most = *more;
    map__free(&by_place);
    vec__free(&places);
    return most;
}

static void fill_outlier(struct iteration_outlier *outlier, const struct outlier_look *slow,
                         const struct outlier_look *usual, const struct trace *trace)
{
    int64_t sum = 0, sum_ns = 0;
    for (unsigned i = 0; i < COMPONENTS; i++) {
        sum += (int64_t)(slow->inside.components[i] - usual->inside.components[i]);
        outlier->component_more_ns[i] = trace__ns_between(trace, sum) - sum_ns;
        sum_ns += outlier->component_more_ns[i];
    }
    struct place_more most = most_of(&slow->inside, &usual->inside);
    outlier->more_ns = sum_ns;
    outlier->usual_index = usual->index;
    outlier->place = (struct class_definition){0};
    if (most.entry) {
        outlier->place = most.entry->what;
        outlier->place.keys = VEC_OF(struct profile_key);
    }
    outlier->place_more_ns = trace__ns_between(trace, most.own);
    outlier->place_more_calls = most.calls;
    outlier->iteration.thread = slow->inside.thread;
    outlier->iteration.depth = slow->inside.depth;
    outlier->iteration.start_tick = slow->inside.start;
    outlier->iteration.end_tick = slow->inside.end;
}

/* What it did longer than usual, but for waiting for others. Ticks. */
static int64_t worked_more(const struct call_tree *slow, const struct call_tree *usual)
{
    int64_t more = 0;
    for (unsigned i = 0; i < COMPONENTS; i++)
        if (i != COMPONENT_LOCK && i != COMPONENT_CONDITION && i != COMPONENT_BARRIER)
            more += (int64_t)(slow->components[i] - usual->components[i]);
    return more;
}

/* The iteration with which an outlier is compared: of its thread, or else of any. */
static const struct outlier_look *usual_of(const struct vec *looks, const struct outlier_look *slow)
{
    const struct outlier_look *other = NULL;
    VEC_EACH (look, looks, struct outlier_look) {
        if (look->outlier != SIZE_MAX || look->phase != slow->phase)
            continue;
        if (look->part == slow->part)
            return look;
        other = look;
    }
    return other;
}

/* Of all threads' iterations of that number the one that made the others wait: it worked longer. */
static void compare(struct iteration_phase *phase, size_t number, size_t outlier,
                    const struct vec *looks, const struct trace *trace)
{
    const struct outlier_look *worst = NULL;
    int64_t most = 0;
    VEC_EACH (look, looks, struct outlier_look) {
        if (look->phase != number || look->outlier != outlier)
            continue;
        int64_t more = worked_more(&look->inside, &usual_of(looks, look)->inside);
        if (!worst || more > most) {
            worst = look;
            most = more;
        }
    }
    fill_outlier(VEC_AT(&phase->outliers, struct iteration_outlier, outlier), worst,
                 usual_of(looks, worst), trace);
}

static int by_thread_and_start(const void *left, const void *right)
{
    const struct call_tree *a = left, *b = right;
    return ORDER(a->thread, b->thread) ?: ORDER(a->start, b->start);
}

static void look_inside(struct class_table *table, struct vec *looks)
{
    struct call_tree *insides = memory__zeroed(looks->count, sizeof *insides);
    vec__sort(looks, by_thread_and_start);
    for (size_t i = 0; i < looks->count; i++)
        insides[i] = VEC_AT(looks, struct outlier_look, i)->inside;
    call_trees__collect(table, insides, looks->count);
    for (size_t i = 0; i < looks->count; i++)
        VEC_AT(looks, struct outlier_look, i)->inside = insides[i];
    free(insides);
}

void drafts__outliers(const struct vec *drafts, struct class_table *table, struct vec *phases)
{
    struct vec looks = VEC_OF(struct outlier_look);
    for (size_t i = 0; i < drafts->count; i++)
        choose_looks(VEC_AT(drafts, struct phase_draft, i), table->trace, i,
                     VEC_AT(phases, struct iteration_phase, i), &looks);
    look_inside(table, &looks);
    for (size_t i = 0; i < phases->count; i++) {
        struct iteration_phase *phase = VEC_AT(phases, struct iteration_phase, i);
        for (size_t outlier = 0; outlier < phase->outliers.count; outlier++)
            compare(phase, i, outlier, &looks, table->trace);
    }
    VEC_EACH (look, &looks, struct outlier_look)
        call_tree__free(&look->inside);
    vec__free(&looks);
}
