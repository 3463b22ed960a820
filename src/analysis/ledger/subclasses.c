#include "analysis/ledger/subclasses.h"

#include "analysis/callsite/calls.h"
#include "analysis/callsite/site.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SCORE 0.01 /* of one thread, for a site to be worth it */
#define PARTS_MOST 4u
#define ENOUGH 100u       /* occurrences for a minimum */
#define LEAST_COVERED 0.8 /* of the site's occurrences are in the parts */

/* What dividing needs of the whole table. */
struct divider {
    struct class_table *table;
    struct vec places; /* const struct class_entry *: one of each place, by its number */
};

/* ---- which sites ----------------------------------------------------------------------------- */

/* Whether anything was called in it. */
static bool has_inside(const struct class_entry *entry)
{
    const struct accumulator *accumulator = &entry->total.accumulator;
    return entry->has_calls || accumulator->own_sum < accumulator->sum;
}

static bool is_sought(const struct class_table *table, const struct thread_result *results,
                      const struct class_entry *entry)
{
    return entry->site && entry->total.accumulator.recorded >= ENOUGH && has_inside(entry) &&
           class_entry__has_score(entry, table->trace, results, LEAST_SCORE);
}

/* ---- the depth ------------------------------------------------------------------------------- */

/* Callee signatures of a site that are one when they are cut. */
struct subclass_group {
    uint32_t signature;
    uint64_t recorded, count, sum;
};

static struct subclass_group *group_of(struct vec *groups, uint32_t signature)
{
    VEC_EACH (group, groups, struct subclass_group)
        if (group->signature == signature)
            return group;
    return vec__push(groups, &(struct subclass_group){.signature = signature});
}

static int by_sum(const void *a, const void *b)
{
    const struct subclass_group *left = a, *right = b;
    if (left->sum != right->sum)
        return left->sum < right->sum ? 1 : -1;
    return left->signature < right->signature ? -1 : left->signature > right->signature;
}

static struct vec groups_at(struct callee_signatures *signatures, const struct site *site,
                            unsigned depth)
{
    struct vec groups = VEC_OF(struct subclass_group);
    VEC_EACH (found, &site->found, struct found_signature) {
        const struct accumulator *accumulator = &found->entry->total.accumulator;
        struct subclass_group *group =
            group_of(&groups, callee_signatures__cut(signatures, found->signature, depth));
        group->recorded += accumulator->recorded;
        group->count += accumulator->count;
        group->sum += accumulator->sum;
    }
    if (groups.count)
        qsort(groups.items, groups.count, sizeof(struct subclass_group), by_sum);
    return groups;
}

/* Only those that become parts are left. False: they are too few, or not enough of the site. */
static bool keep_parts(const struct site *site, struct vec *groups)
{
    const struct accumulator *all = &site->entry->total.accumulator;
    uint64_t counted = 0;
    size_t parts = 0;
    for (size_t i = 0; i < groups->count && parts < PARTS_MOST; i++) {
        const struct subclass_group group = *VEC_AT(groups, struct subclass_group, i);
        if (group.recorded < ENOUGH)
            continue;
        *VEC_AT(groups, struct subclass_group, parts++) = group;
        counted += group.count;
    }
    groups->count = parts;
    return parts > 1 && (double)counted >= LEAST_COVERED * (double)all->count;
}

/* Its parts by the greatest depth at which they are few; none: by no depth. */
static struct vec choose_parts(struct callee_signatures *signatures, const struct site *site,
                               unsigned *depth)
{
    for (*depth = site->depth; *depth > 0; --*depth) {
        struct vec groups = groups_at(signatures, site, *depth);
        if (keep_parts(site, &groups))
            return groups;
        vec__free(&groups);
    }
    return VEC_OF(struct subclass_group);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void list_places(struct divider *divider)
{
    VEC_EACH (entry, &divider->table->entries, struct class_entry *) {
        *VEC_REACH(&divider->places, const struct class_entry *, (*entry)->place) = *entry;
    }
}

static void describe_inside(const struct divider *divider, uint32_t signature, uint32_t level,
                            struct vec *rows)
{
    const struct callee_signatures *signatures = divider->table->signatures;
    const struct callee_signature whole = *callee_signatures__get(signatures, signature);
    for (uint32_t i = 0; i < whole.item_count; i++) {
        uint32_t inside = callee_signatures__items(signatures, signature)[i];
        const struct callee_signature *item = callee_signatures__get(signatures, inside);
        const struct class_entry *entry =
            *VEC_AT(&divider->places, const struct class_entry *, item->place);
        struct profile_inside row = {.level = level,
                                     .place = item->place,
                                     .kind = entry->what.at.kind,
                                     .function = entry->what.at.function,
                                     .is_irregular = item->is_irregular};
        vec__push(rows, &row);
        describe_inside(divider, inside, level + 1, rows);
    }
}

static void copy_items(struct vec *into, const struct vec *items)
{
    VEC_EACH (item, items, struct callee_item)
        vec__push(into, item);
}

/* What was just inside of all that has that callee signature. */
static struct vec items_of_part(struct callee_signatures *signatures, const struct site *site,
                                unsigned depth, uint32_t signature)
{
    struct vec all = VEC_OF(struct callee_item);
    VEC_EACH (found, &site->found, struct found_signature) {
        if (callee_signatures__cut(signatures, found->signature, depth) != signature)
            continue;
        struct vec items = callee_items__cut(signatures, &found->inside, depth);
        if (!all.count)
            copy_items(&all, &items);
        callee_ranges__add(&all, &items);
        vec__free(&items);
    }
    return all;
}

static struct profile_structure *new_structure(unsigned depth, uint32_t signature)
{
    struct profile_structure *structure = memory__zeroed(1, sizeof *structure);
    structure->depth = depth;
    structure->signature = signature;
    structure->is_rest = signature == NEST_NONE;
    structure->inside = VEC_OF(struct profile_inside);
    return structure;
}

static struct profile_structure *structure_of(const struct divider *divider,
                                              const struct site *site, unsigned depth,
                                              uint32_t signature)
{
    struct profile_structure *structure = new_structure(depth, signature);
    struct vec items = items_of_part(divider->table->signatures, site, depth, signature);
    size_t place = 0;
    describe_inside(divider, signature, 1, &structure->inside);
    VEC_EACH (row, &structure->inside, struct profile_inside) {
        if (row->level > 1 || place >= items.count)
            continue;
        row->least = VEC_AT(&items, struct callee_item, place)->least;
        row->most = VEC_AT(&items, struct callee_item, place++)->most;
    }
    vec__free(&items);
    return structure;
}

static struct class_entry *make_part(const struct divider *divider, const struct site *site,
                                     unsigned depth, uint32_t signature)
{
    struct class_entry *entry = class_entry__like(site->entry);
    VEC_EACH (found, &site->found, struct found_signature)
        if (callee_signatures__cut(divider->table->signatures, found->signature, depth) ==
            signature)
            class_entry__merge(entry, found->entry);
    entry->what.structure = structure_of(divider, site, depth, signature);
    vec__push(&divider->table->entries, &entry);
    return entry;
}

static bool is_of_part(const struct class_division *division, uint32_t signature)
{
    VEC_EACH (part, &division->parts, struct class_part)
        if (part->signature == signature)
            return true;
    return false;
}

/* What is in no part stays the site's own, and what never ended. */
static void keep_rest(struct callee_signatures *signatures, const struct site *site)
{
    struct class_entry *entry = site->entry;
    entry->total.accumulator = (struct accumulator){0};
    entry->cells.count = 0;
    free(entry->histogram);
    entry->histogram = NULL;
    VEC_EACH (found, &site->found, struct found_signature)
        class_entry__forget_stacks(entry, found->entry);
    if (site->odd)
        class_entry__forget_stacks(entry, site->odd);
    VEC_EACH (found, &site->found, struct found_signature)
        if (!is_of_part(entry->division, callee_signatures__cut(signatures, found->signature,
                                                                entry->division->depth)))
            class_entry__merge(entry, found->entry);
    if (site->odd)
        class_entry__merge(entry, site->odd);
}

static void divide(const struct divider *divider, const struct site *site, unsigned depth,
                   const struct vec *groups)
{
    struct class_division *division = memory__zeroed(1, sizeof *division);
    *division = (struct class_division){depth, VEC_OF(struct class_part)};
    VEC_EACH (group, groups, struct subclass_group) {
        struct class_part part = {group->signature,
                                  make_part(divider, site, depth, group->signature)};
        vec__push(&division->parts, &part);
    }
    site->entry->division = division;
    site->entry->what.structure = new_structure(depth, NEST_NONE);
    keep_rest(divider->table->signatures, site);
}

static void divide_site(const struct divider *divider, const struct site *site)
{
    unsigned depth;
    struct vec groups = choose_parts(divider->table->signatures, site, &depth);
    if (groups.count)
        divide(divider, site, depth, &groups);
    vec__free(&groups);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void free_sites(struct class_table *table)
{
    VEC_EACH (entry, &table->entries, struct class_entry *) {
        site__free((*entry)->site);
        (*entry)->site = NULL;
    }
}

void classes__divide(struct class_table *table, const struct thread_result *results)
{
    struct divider divider = {table, VEC_OF(const struct class_entry *)};
    size_t sites = table->entries.count; /* parts come behind them */
    VEC_EACH (entry, &table->entries, struct class_entry *)
        (*entry)->is_structural &= !class_entry__is_drawn(*entry);
    list_places(&divider);
    for (size_t i = 0; i < sites; i++) {
        struct class_entry *entry = *VEC_AT(&table->entries, struct class_entry *, i);
        if (!is_sought(table, results, entry))
            continue;
        site__complete(entry->site);
        divide_site(&divider, entry->site);
    }
    if (!class_table__has_parts(table)) {
        callee_signatures__free(table->signatures);
        table->signatures = NULL;
    }
    free_sites(table);
    vec__free(&divider.places);
}
