/* class_entry.c: one class, whatever table it is of. */
#include "analysis/callsite/classes.h"
#include "analysis/callsite/site.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct class_entry *class_entry__new(const struct class_definition *what)
{
    struct class_entry *entry = memory__zeroed(1, sizeof *entry);
    entry->what = *what;
    entry->what.keys = VEC_OF(struct profile_key);
    VEC_EACH (key, &what->keys, struct profile_key)
        vec__push(&entry->what.keys, key);
    entry->fold.sums = &entry->sums;
    entry->whole = entry;
    entry->cells = VEC_OF(struct class_cell);
    entry->stacks = VEC_OF(struct class_stack);
    entry->blames = VEC_OF(struct class_blame);
    entry->evidence = VEC_OF(struct class_evidence);
    return entry;
}

void profile_structure__free(struct profile_structure *structure)
{
    if (!structure)
        return;
    vec__free(&structure->inside);
    free(structure);
}

void class_entry__forget_results(struct class_entry *entry)
{
    free(entry->histogram);
    entry->histogram = NULL;
    memset(entry->fold.histogram, 0, sizeof entry->fold.histogram);
    vec__free(&entry->cells);
    vec__free(&entry->stacks);
    vec__free(&entry->blames);
    vec__free(&entry->evidence);
}

void class_entry__free(struct class_entry *entry)
{
    if (!entry)
        return;
    class_entry__forget_results(entry);
    vec__free(&entry->what.keys);
    if (entry->division)
        vec__free(&entry->division->parts);
    free(entry->division);
    site__free(entry->site);
    free(entry->identity);
    profile_structure__free(entry->what.structure);
    free(entry);
}

void class_entry__end_thread(struct class_entry *entry)
{
    const struct accumulator *part = &entry->sums.accumulator;
    if (part->count) {
        struct class_cell cell = {.thread = entry->thread_and_1 - 1,
                                  .count = part->count,
                                  .nested_count = part->nested_count,
                                  .sum = part->sum,
                                  .nested_sum = part->nested_sum};
        vec__push(&entry->cells, &cell);
    }
    accumulator__merge(&entry->total.accumulator, part);
    entry->total.contended += entry->sums.contended;
    entry->total.unfinished += entry->sums.unfinished;
    entry->sums = (struct class_sums){0};
    entry->thread_and_1 = 0;
}

void class_entry__add_histogram(struct class_entry *entry)
{
    entry->histogram =
        memory__zeroed((size_t)HISTOGRAM_BLOCKS * HISTOGRAM_BLOCK_BUCKETS, sizeof(uint64_t));
    for (size_t i = 0; i < HISTOGRAM_BLOCKS; i++)
        entry->fold.histogram[i] = entry->histogram + i * HISTOGRAM_BLOCK_BUCKETS;
}

/* ---- call stacks ----------------------------------------------------------------------------- */

static struct class_stack *stack_like(struct vec *stacks, const struct class_stack *like)
{
    VEC_EACH (stack, stacks, struct class_stack)
        if (stack->frame_count == like->frame_count &&
            !memcmp(stack->frames, like->frames, like->frame_count * sizeof *like->frames))
            return stack;
    return NULL;
}

void class_stacks__add(struct vec *stacks, const struct class_stack *added)
{
    struct class_stack *stack = stack_like(stacks, added);
    if (stack)
        stack->snapshots += added->snapshots;
    else
        vec__push(stacks, added);
}

/* ---- parts of a site ------------------------------------------------------------------------- */

struct class_entry *class_entry__like(const struct class_entry *site)
{
    struct class_entry *entry = class_entry__new(&site->what);
    entry->place = site->place;
    entry->is_structural = site->is_structural;
    entry->fold.component = site->fold.component;
    entry->fold.patched = site->fold.patched;
    return entry;
}

void class_entry__mark_threads(const struct class_entry *entry, bool *threads)
{
    VEC_EACH (cell, &entry->cells, struct class_cell)
        threads[cell->thread] = true;
}

static void add_to_cell(struct class_cell *cell, const struct class_cell *added)
{
    cell->count += added->count;
    cell->nested_count += added->nested_count;
    cell->sum += added->sum;
    cell->nested_sum += added->nested_sum;
}

/* Both are in the order of threads, and so is what becomes of them. */
static void merge_cells(struct vec *into, const struct vec *from)
{
    struct vec both = VEC_OF(struct class_cell);
    const struct class_cell *left = into->items, *left_end = left + into->count;
    const struct class_cell *right = from->items, *right_end = right + from->count;
    while (left < left_end || right < right_end) {
        bool is_left = right == right_end || (left < left_end && left->thread <= right->thread);
        struct class_cell *cell = vec__push(&both, is_left ? left++ : right++);
        if (is_left && right < right_end && right->thread == cell->thread)
            add_to_cell(cell, right++);
    }
    vec__free(into);
    *into = both;
}

void class_entry__add_counts(struct class_entry *into, const struct class_entry *from)
{
    if (!from->histogram)
        return;
    if (!into->histogram)
        class_entry__add_histogram(into);
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->histogram[i] += from->histogram[i];
}

void class_entry__merge(struct class_entry *into, const struct class_entry *from)
{
    accumulator__merge(&into->sums.accumulator, &from->sums.accumulator);
    accumulator__merge(&into->total.accumulator, &from->total.accumulator);
    merge_cells(&into->cells, &from->cells);
    VEC_EACH (stack, &from->stacks, struct class_stack)
        class_stacks__add(&into->stacks, stack);
    class_entry__add_counts(into, from);
}

void class_entry__forget_stacks(struct class_entry *entry, const struct class_entry *of)
{
    VEC_EACH (other, &of->stacks, struct class_stack) {
        struct class_stack *stack = stack_like(&entry->stacks, other);
        if (stack)
            stack->snapshots -= other->snapshots;
    }
    size_t left = 0;
    VEC_EACH (stack, &entry->stacks, struct class_stack) {
        if (stack->snapshots)
            *VEC_AT(&entry->stacks, struct class_stack, left++) = *stack;
    }
    entry->stacks.count = left;
}

void class_entry__set_undisturbed(struct class_entry *entry)
{
    struct accumulator *accumulator = &entry->total.accumulator;
    entry->fastest = accumulator->minimum;
    if (class_kind__waits_for_threads(entry->what.at.kind))
        accumulator__compare_with_nothing(accumulator);
}

bool class_entry__is_shown(const struct class_entry *entry)
{
    if (entry->joint && entry->joint != entry)
        return false;
    return !entry->division || entry->total.accumulator.count || entry->total.unfinished;
}

uint32_t class_entry__number(const struct class_entry *entry)
{
    if (!entry || entry->joint || !class_entry__is_shown(entry) ||
        entry->number >= CLASS_NOT_NUMBERED)
        return CLASS_NOT_NUMBERED;
    return entry->number;
}
