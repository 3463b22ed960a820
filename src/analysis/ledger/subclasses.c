#include "analysis/ledger/subclasses.h"

#include "analysis/run.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SCORE 0.01  /* of one thread, for a site to be worth it */
#define NESTS_OF_SITE 32u /* where there are more, less deep ones; then what comes later is odd */
#define PARTS_MOST 4u
#define ENOUGH 100u       /* occurrences for a minimum */
#define LEAST_COVERED 0.8 /* of the site's occurrences are in the parts */

/* Occurrences of a site that have one nest, as a class of its own. */
struct found_nest {
    uint32_t nest;
    struct class_entry *entry;
    struct vec inside; /* struct nest_item: what was just inside */
};

struct site {
    struct class_entry *entry;
    unsigned depth;          /* to which its nests are cut */
    struct vec found;        /* struct found_nest */
    size_t last;             /* place in found of the one that was asked for last */
    struct class_entry *odd; /* of those that found no room */
};

struct walk {
    struct class_table *table;
    const struct symbols *symbols;
    bool *threads;       /* by thread: whether it has occurrences of the sites */
    struct vec sites;    /* struct site */
    uint32_t *by_number; /* place in sites by number of the entry; NOT_SOUGHT */
    struct vec places;   /* const struct class_entry *: one of each place, by its number */
};
#define NOT_SOUGHT UINT32_MAX

/* What was found on one thread. */
struct walk_part {
    struct thread_watcher watcher; /* first: the fold's walk gives this */
    const struct walk *walk;
    struct class_table *lane;
    uint32_t thread;
    uint32_t
        site_depth; /* spans around the outermost open one of a site; UINT32_MAX: none is open */
    struct site *sites;  /* as the walk's */
    struct nests *nests; /* that theirs are of: the lane's while it walks */
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
    return entry->fold.component == COMPONENT_RUNNING &&
           entry->total.accumulator.recorded >= ENOUGH && has_inside(entry) &&
           class_entry__has_score(entry, table->trace, results, LEAST_SCORE);
}

static void seek_sites(struct walk *walk, const struct thread_result *results)
{
    const struct vec *entries = &walk->table->entries;
    walk->by_number = memory__resize(NULL, entries->count, sizeof *walk->by_number);
    memset(walk->by_number, 0xff, entries->count * sizeof *walk->by_number);
    VEC_EACH (entry, entries, struct class_entry *) {
        if (!is_sought(walk->table, results, *entry))
            continue;
        walk->by_number[(*entry)->number] = (uint32_t)walk->sites.count;
        class_entry__mark_threads(*entry, walk->threads);
        vec__push(&walk->sites, &(struct site){.entry = *entry,
                                               .depth = NEST_DEPTH,
                                               .found = VEC_OF(struct found_nest)});
    }
}

/* ---- what makes structure -------------------------------------------------------------------- */

bool class_kind__is_structural(enum class_kind kind)
{
    switch (kind) {
    case CLASS_CONDITION:
    case CLASS_JOIN:
    case CLASS_POLL:
    case CLASS_SLEEP:
    case CLASS_YIELD:
    case CLASS_MEMORY_MAP:
    case CLASS_FAULT:
    case CLASS_FUTEX:
        return false;
    default:
        return true;
    }
}

static void mark_structural(struct class_table *table)
{
    VEC_EACH (entry, &table->entries, struct class_entry *) {
        const struct accumulator *accumulator = &(*entry)->total.accumulator;
        (*entry)->is_structural = !(*entry)->by_chance &&
                                  class_kind__is_structural((*entry)->what.at.kind) &&
                                  accumulator->recorded == accumulator->count;
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void add_ranges(struct vec *inside, const struct vec *added)
{
    for (size_t i = 0; i < inside->count && i < added->count; i++) {
        struct nest_item *item = VEC_AT(inside, struct nest_item, i);
        const struct nest_item *other = VEC_AT(added, struct nest_item, i);
        item->least = other->least < item->least ? other->least : item->least;
        item->most = other->most > item->most ? other->most : item->most;
    }
}

static void copy_items(struct vec *into, const struct vec *items)
{
    VEC_EACH (item, items, struct nest_item)
        vec__push(into, item);
}

static struct class_entry *odd_one(struct site *site)
{
    if (!site->odd)
        site->odd = class_entry__like(site->entry);
    return site->odd;
}

/* What was just inside, cut to what nests of that depth have of it. */
static struct vec cut_items(struct nests *nests, const struct vec *inside, unsigned depth)
{
    struct vec items = VEC_OF(struct nest_item);
    VEC_EACH (item, inside, struct nest_item) {
        struct nest_item cut = *item;
        cut.nest = nests__cut(nests, item->nest, depth - 1);
        nest_items__append(&items, &cut);
    }
    return items;
}

static struct found_nest *find_nest(struct site *site, uint32_t nest)
{
    struct found_nest *found = site->found.items;
    if (site->last < site->found.count && found[site->last].nest == nest)
        return &found[site->last];
    for (size_t i = 0; i < site->found.count; i++) {
        if (found[i].nest != nest)
            continue;
        site->last = i;
        return &found[i];
    }
    return NULL;
}

static void free_found(struct found_nest *found)
{
    class_entry__free(found->entry);
    vec__free(&found->inside);
}

static void cut_found(struct nests *nests, struct found_nest *found, unsigned depth)
{
    struct vec inside = cut_items(nests, &found->inside, depth);
    vec__free(&found->inside);
    found->inside = inside;
    found->nest = nests__cut(nests, found->nest, depth);
}

/* As one with the same nest, if there is one. */
static void put_found(struct site *site, struct found_nest *found)
{
    struct found_nest *same = find_nest(site, found->nest);
    if (!same) {
        vec__push(&site->found, found);
        return;
    }
    class_entry__merge(same->entry, found->entry);
    add_ranges(&same->inside, &found->inside);
    free_found(found);
}

/* Cuts what was found by one level more: some become one. */
static void coarsen(struct nests *nests, struct site *site)
{
    struct vec before = site->found;
    site->found = VEC_OF(struct found_nest);
    site->last = 0;
    site->depth--;
    VEC_EACH (found, &before, struct found_nest) {
        cut_found(nests, found, site->depth);
        put_found(site, found);
    }
    vec__free(&before);
}

static void add_inside(struct nests *nests, const struct site *site, struct found_nest *found,
                       const struct vec *inside)
{
    if (site->depth == NEST_DEPTH) { /* as it comes */
        add_ranges(&found->inside, inside);
        return;
    }
    struct vec items = cut_items(nests, inside, site->depth);
    add_ranges(&found->inside, &items);
    vec__free(&items);
}

/* The class of the site's occurrences with that nest; inside: what this one has. */
static struct class_entry *class_of_nest(struct nests *nests, struct site *site, uint32_t nest,
                                         const struct vec *inside)
{
    struct found_nest *found = find_nest(site, nests__cut(nests, nest, site->depth));
    while (!found && site->found.count >= NESTS_OF_SITE && site->depth > 1) {
        coarsen(nests, site);
        found = find_nest(site, nests__cut(nests, nest, site->depth));
    }
    if (!found && site->found.count >= NESTS_OF_SITE)
        return odd_one(site);
    if (found) {
        add_inside(nests, site, found, inside);
        return found->entry;
    }
    const struct found_nest fresh = {nests__cut(nests, nest, site->depth),
                                     class_entry__like(site->entry),
                                     cut_items(nests, inside, site->depth)};
    vec__push(&site->found, &fresh);
    return fresh.entry;
}

/* As the fold counts it. */
static void count(struct class_entry *entry, const struct fold_occurrence *from)
{
    struct accumulator *accumulator = &entry->sums.accumulator;
    if (from->inner)
        accumulator__add_nested(accumulator, from->duration, from->own, from->components,
                                from->weight);
    else
        accumulator__add(accumulator, from->duration, from->own, from->components, from->weight);
    if (!from->duration)
        return;
    if (!entry->histogram)
        class_entry__add_histogram(entry);
    entry->histogram[histogram__bucket(from->duration)] += from->weight;
}

static struct site *site_of(const struct walk_part *part, const struct class_entry *entry)
{
    uint32_t place = part->walk->by_number[entry->number];
    return place == NOT_SOUGHT ? NULL : &part->sites[place];
}

static void occurrence(struct thread_watcher *watcher, struct class_entry *entry,
                       const struct fold_occurrence *from, const uint64_t *arguments,
                       size_t argument_count)
{
    struct walk_part *part = (struct walk_part *)watcher;
    struct site *site = site_of(part, entry);
    (void)arguments, (void)argument_count;
    if (!site)
        return;
    entry = watcher->inside ? class_of_nest(part->lane->nests, site, watcher->nest, watcher->inside)
                            : odd_one(site);
    count(entry, from);
    if (watcher->stack)
        class_table__add_stack(part->lane, part->walk->symbols, entry, part->thread,
                               watcher->stack);
}

static void opened(struct thread_watcher *watcher, struct class_entry *entry, uint32_t depth)
{
    struct walk_part *part = (struct walk_part *)watcher;
    if (depth <= part->site_depth)
        part->site_depth = site_of(part, entry) ? depth : UINT32_MAX;
}

/* What is in none of the sites need not be told. */
static bool passes_over(struct thread_watcher *watcher, const struct class_entry *entry,
                        uint64_t tick, uint32_t depth)
{
    const struct walk_part *part = (const struct walk_part *)watcher;
    (void)tick;
    return part->site_depth >= depth && !site_of(part, entry);
}

static void passed_over(struct thread_watcher *watcher, uint32_t depth)
{
    (void)watcher, (void)depth;
}

static void *walk_thread(void *self, unsigned lane, uint32_t thread)
{
    const struct walk *walk = self;
    if (!walk->threads[thread])
        return NULL;
    struct walk_part *part = memory__zeroed(1, sizeof *part);
    *part = (struct walk_part){.watcher = {.occurrence = occurrence,
                                           .opened = opened,
                                           .passes_over = passes_over,
                                           .passed_over = passed_over,
                                           .nests = true},
                               .walk = walk,
                               .lane = &walk->table->lanes[lane],
                               .thread = thread,
                               .site_depth = UINT32_MAX};
    part->lane->nests = nests__new();
    part->sites = memory__zeroed(walk->sites.count, sizeof *part->sites);
    for (size_t i = 0; i < walk->sites.count; i++)
        part->sites[i] = (struct site){.entry = VEC_AT(&walk->sites, struct site, i)->entry,
                                       .depth = NEST_DEPTH,
                                       .found = VEC_OF(struct found_nest)};
    thread__watch(part->lane, thread, &part->watcher);
    part->nests = part->lane->nests;
    part->lane->nests = NULL;
    return part;
}

/* ---- what threads found ---------------------------------------------------------------------- */

static void end_thread(struct class_entry *entry, uint32_t thread)
{
    entry->thread_and_1 = thread + 1;
    class_entry__end_thread(entry);
}

static void join_odd(struct site *site, struct class_entry *odd)
{
    class_entry__merge(odd_one(site), odd);
    class_entry__free(odd);
}

/* found: of the walk's nests. */
static void join_found(struct nests *nests, struct site *site, struct found_nest *found)
{
    struct found_nest *same = find_nest(site, nests__cut(nests, found->nest, site->depth));
    while (!same && site->found.count >= NESTS_OF_SITE && site->depth > 1) {
        coarsen(nests, site);
        same = find_nest(site, nests__cut(nests, found->nest, site->depth));
    }
    if (!same && site->found.count >= NESTS_OF_SITE) {
        join_odd(site, found->entry);
        vec__free(&found->inside);
        return;
    }
    cut_found(nests, found, site->depth);
    put_found(site, found);
}

static void join_site(struct nests *nests, struct site *site, struct site *more,
                      const uint32_t *joined, uint32_t thread)
{
    while (site->depth > more->depth)
        coarsen(nests, site);
    VEC_EACH (found, &more->found, struct found_nest) {
        end_thread(found->entry, thread);
        found->nest = joined[found->nest];
        VEC_EACH (item, &found->inside, struct nest_item)
            item->nest = joined[item->nest];
        join_found(nests, site, found);
    }
    vec__free(&more->found);
    if (more->odd) {
        end_thread(more->odd, thread);
        join_odd(site, more->odd);
    }
}

static void join_thread(void *self, uint32_t thread, void *argument)
{
    struct walk *walk = self;
    struct walk_part *part = argument;
    if (!part)
        return;
    uint32_t *joined = nests__join(walk->table->nests, part->nests);
    for (size_t i = 0; i < walk->sites.count; i++)
        join_site(walk->table->nests, VEC_AT(&walk->sites, struct site, i), &part->sites[i], joined,
                  thread);
    free(joined);
    nests__free(part->nests);
    free(part->sites);
    free(part);
}

static void walk_threads(struct walk *walk)
{
    static const struct thread_walk threads = {walk_thread, join_thread};
    run__threads(&threads, walk, (uint32_t)trace__threads(walk->table->trace)->count,
                 walk->table->lane_count);
}

/* ---- the depth ------------------------------------------------------------------------------- */

/* Nests of a site that are one when they are cut. */
struct group {
    uint32_t nest;
    uint64_t recorded, count, sum;
};

static struct group *group_of(struct vec *groups, uint32_t nest)
{
    VEC_EACH (group, groups, struct group)
        if (group->nest == nest)
            return group;
    return vec__push(groups, &(struct group){.nest = nest});
}

static int by_sum(const void *a, const void *b)
{
    const struct group *left = a, *right = b;
    if (left->sum != right->sum)
        return left->sum < right->sum ? 1 : -1;
    return left->nest < right->nest ? -1 : left->nest > right->nest;
}

static struct vec groups_at(struct nests *nests, const struct site *site, unsigned depth)
{
    struct vec groups = VEC_OF(struct group);
    VEC_EACH (found, &site->found, struct found_nest) {
        const struct accumulator *accumulator = &found->entry->total.accumulator;
        struct group *group = group_of(&groups, nests__cut(nests, found->nest, depth));
        group->recorded += accumulator->recorded;
        group->count += accumulator->count;
        group->sum += accumulator->sum;
    }
    if (groups.count)
        qsort(groups.items, groups.count, sizeof(struct group), by_sum);
    return groups;
}

/* Only those that become parts are left. False: they are too few, or not enough of the site. */
static bool keep_parts(const struct site *site, struct vec *groups)
{
    const struct accumulator *all = &site->entry->total.accumulator;
    uint64_t counted = 0;
    size_t parts = 0;
    for (size_t i = 0; i < groups->count && parts < PARTS_MOST; i++) {
        const struct group group = *VEC_AT(groups, struct group, i);
        if (group.recorded < ENOUGH)
            continue;
        *VEC_AT(groups, struct group, parts++) = group;
        counted += group.count;
    }
    groups->count = parts;
    return parts > 1 && (double)counted >= LEAST_COVERED * (double)all->count;
}

/* Its parts by the greatest depth at which they are few; none: by no depth. */
static struct vec choose_parts(struct nests *nests, const struct site *site, unsigned *depth)
{
    for (*depth = site->depth; *depth > 0; --*depth) {
        struct vec groups = groups_at(nests, site, *depth);
        if (keep_parts(site, &groups))
            return groups;
        vec__free(&groups);
    }
    return VEC_OF(struct group);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void list_places(struct walk *walk)
{
    VEC_EACH (entry, &walk->table->entries, struct class_entry *) {
        while (walk->places.count <= (*entry)->place)
            vec__push(&walk->places, NULL);
        *VEC_AT(&walk->places, const struct class_entry *, (*entry)->place) = *entry;
    }
}

static void describe_inside(const struct walk *walk, uint32_t nest, uint32_t level,
                            struct vec *rows)
{
    const struct nests *nests = walk->table->nests;
    const struct nest whole = *nests__get(nests, nest);
    for (uint32_t i = 0; i < whole.item_count; i++) {
        uint32_t inside = nests__items(nests, nest)[i].nest;
        const struct nest *item = nests__get(nests, inside);
        const struct class_entry *entry =
            *VEC_AT(&walk->places, const struct class_entry *, item->place);
        struct profile_inside row = {.level = level,
                                     .place = item->place,
                                     .kind = entry->what.at.kind,
                                     .function = entry->what.at.function,
                                     .is_irregular = item->is_irregular};
        vec__push(rows, &row);
        describe_inside(walk, inside, level + 1, rows);
    }
}

/* What was just inside of all that has that nest. */
static struct vec items_of_part(struct nests *nests, const struct site *site, unsigned depth,
                                uint32_t nest)
{
    struct vec all = VEC_OF(struct nest_item);
    VEC_EACH (found, &site->found, struct found_nest) {
        if (nests__cut(nests, found->nest, depth) != nest)
            continue;
        struct vec items = cut_items(nests, &found->inside, depth);
        if (!all.count)
            copy_items(&all, &items);
        add_ranges(&all, &items);
        vec__free(&items);
    }
    return all;
}

static struct profile_structure *new_structure(unsigned depth, uint32_t nest)
{
    struct profile_structure *structure = memory__zeroed(1, sizeof *structure);
    structure->depth = depth;
    structure->nest = nest;
    structure->is_rest = nest == NEST_NONE;
    structure->inside = VEC_OF(struct profile_inside);
    return structure;
}

static struct profile_structure *structure_of(const struct walk *walk, const struct site *site,
                                              unsigned depth, uint32_t nest)
{
    struct profile_structure *structure = new_structure(depth, nest);
    struct vec items = items_of_part(walk->table->nests, site, depth, nest);
    size_t place = 0;
    describe_inside(walk, nest, 1, &structure->inside);
    VEC_EACH (row, &structure->inside, struct profile_inside) {
        if (row->level > 1 || place >= items.count)
            continue;
        row->least = VEC_AT(&items, struct nest_item, place)->least;
        row->most = VEC_AT(&items, struct nest_item, place++)->most;
    }
    vec__free(&items);
    return structure;
}

static struct class_entry *make_part(const struct walk *walk, const struct site *site,
                                     unsigned depth, uint32_t nest)
{
    struct class_entry *entry = class_entry__like(site->entry);
    VEC_EACH (found, &site->found, struct found_nest)
        if (nests__cut(walk->table->nests, found->nest, depth) == nest)
            class_entry__merge(entry, found->entry);
    entry->what.structure = structure_of(walk, site, depth, nest);
    vec__push(&walk->table->entries, &entry);
    return entry;
}

static bool is_of_part(const struct class_division *division, uint32_t nest)
{
    VEC_EACH (part, &division->parts, struct class_part)
        if (part->nest == nest)
            return true;
    return false;
}

/* What is in no part stays the site's own, and what never ended. */
static void keep_rest(struct nests *nests, const struct site *site)
{
    struct class_entry *entry = site->entry;
    entry->total.accumulator = (struct accumulator){0};
    entry->cells.count = 0;
    free(entry->histogram);
    entry->histogram = NULL;
    VEC_EACH (found, &site->found, struct found_nest)
        class_entry__forget_stacks(entry, found->entry);
    if (site->odd)
        class_entry__forget_stacks(entry, site->odd);
    VEC_EACH (found, &site->found, struct found_nest)
        if (!is_of_part(entry->division, nests__cut(nests, found->nest, entry->division->depth)))
            class_entry__merge(entry, found->entry);
    if (site->odd)
        class_entry__merge(entry, site->odd);
}

static void divide(const struct walk *walk, const struct site *site, unsigned depth,
                   const struct vec *groups)
{
    struct class_division *division = memory__zeroed(1, sizeof *division);
    *division = (struct class_division){depth, VEC_OF(struct class_part)};
    VEC_EACH (group, groups, struct group) {
        struct class_part part = {group->nest, make_part(walk, site, depth, group->nest)};
        vec__push(&division->parts, &part);
    }
    site->entry->division = division;
    site->entry->what.structure = new_structure(depth, NEST_NONE);
    keep_rest(walk->table->nests, site);
}

static void divide_site(const struct walk *walk, const struct site *site)
{
    unsigned depth;
    struct vec groups = choose_parts(walk->table->nests, site, &depth);
    if (groups.count)
        divide(walk, site, depth, &groups);
    vec__free(&groups);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void free_site(struct site *site)
{
    VEC_EACH (found, &site->found, struct found_nest)
        free_found(found);
    vec__free(&site->found);
    class_entry__free(site->odd);
}

void classes__divide(struct class_table *table, const struct symbols *symbols,
                     const struct thread_result *results)
{
    struct walk walk = {.table = table,
                        .symbols = symbols,
                        .sites = VEC_OF(struct site),
                        .places = VEC_OF(const struct class_entry *)};
    walk.threads = memory__zeroed(trace__threads(table->trace)->count, sizeof *walk.threads);
    class_table__number(table);
    seek_sites(&walk, results);
    if (walk.sites.count) {
        table->nests = nests__new();
        mark_structural(table);
        list_places(&walk);
        walk_threads(&walk);
    }
    VEC_EACH (site, &walk.sites, struct site) {
        divide_site(&walk, site);
        free_site(site);
    }
    vec__free(&walk.sites);
    vec__free(&walk.places);
    free(walk.by_number);
    free(walk.threads);
}
