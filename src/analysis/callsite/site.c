#include "analysis/callsite/site.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- what was found -------------------------------------------------------------------------- */

void nest_ranges__add(struct vec *inside, const struct vec *added)
{
    for (size_t i = 0; i < inside->count && i < added->count; i++) {
        struct nest_item *item = VEC_AT(inside, struct nest_item, i);
        const struct nest_item *other = VEC_AT(added, struct nest_item, i);
        item->least = other->least < item->least ? other->least : item->least;
        item->most = other->most > item->most ? other->most : item->most;
    }
}

struct vec nest_items__cut(struct nests *nests, const struct vec *inside, unsigned depth)
{
    struct vec items = VEC_OF(struct nest_item);
    VEC_EACH (item, inside, struct nest_item) {
        struct nest_item cut = *item;
        cut.nest = nests__cut(nests, item->nest, depth - 1);
        nest_items__append(&items, &cut);
    }
    return items;
}

static struct class_entry *odd_one(struct site *site)
{
    if (!site->odd)
        site->odd = class_entry__like(site->entry);
    return site->odd;
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

void site__free(struct site *site)
{
    if (!site)
        return;
    VEC_EACH (found, &site->found, struct found_nest)
        free_found(found);
    vec__free(&site->found);
    class_entry__free(site->odd);
    free(site);
}

static void cut_found(struct nests *nests, struct found_nest *found, unsigned depth)
{
    struct vec inside = nest_items__cut(nests, &found->inside, depth);
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
    nest_ranges__add(&same->inside, &found->inside);
    free_found(found);
}

/* Of classes that become one, only one keeps the components of its fastest occurrence. */
static void keep_reference(struct site *site)
{
    if (!site->fastest)
        return;
    memcpy(site->reference, site->fastest->sums.accumulator.component_reference,
           sizeof site->reference);
    site->fastest = NULL;
}

/* Cuts what was found by one level more: some become one. */
static void coarsen(struct nests *nests, struct site *site)
{
    struct vec before = site->found;
    keep_reference(site);
    site->found = VEC_OF(struct found_nest);
    site->last = 0;
    site->depth--;
    VEC_EACH (found, &before, struct found_nest) {
        cut_found(nests, found, site->depth);
        put_found(site, found);
    }
    vec__free(&before);
}

/* The one with that nest; NULL when there is none, and room for it if there can be. */
static struct found_nest *make_room(struct nests *nests, struct site *site, uint32_t nest)
{
    struct found_nest *found = find_nest(site, nests__cut(nests, nest, site->depth));
    while (!found && site->found.count >= NESTS_OF_SITE && site->depth > 1) {
        coarsen(nests, site);
        found = find_nest(site, nests__cut(nests, nest, site->depth));
    }
    return found;
}

/* ---- one thread ------------------------------------------------------------------------------ */

static void add_inside(struct nests *nests, const struct site *site, struct found_nest *found,
                       const struct vec *inside)
{
    if (site->depth == NEST_DEPTH) { /* as it comes */
        nest_ranges__add(&found->inside, inside);
        return;
    }
    struct vec items = nest_items__cut(nests, inside, site->depth);
    nest_ranges__add(&found->inside, &items);
    vec__free(&items);
}

/* NULL: there is no room for it. */
static struct found_nest *find_or_add(struct nests *nests, struct site *site, uint32_t nest,
                                      const struct vec *inside)
{
    struct found_nest *found = make_room(nests, site, nest);
    if (found) {
        if (inside->count)
            add_inside(nests, site, found, inside);
        return found;
    }
    if (site->found.count >= NESTS_OF_SITE)
        return NULL;
    const struct found_nest fresh = {nests__cut(nests, nest, site->depth),
                                     class_entry__like(site->entry),
                                     nest_items__cut(nests, inside, site->depth)};
    return vec__push(&site->found, &fresh);
}

static const struct vec nothing = {.item_bytes = sizeof(struct nest_item)};

static struct site *new_site(struct class_entry *entry)
{
    struct site *site = memory__zeroed(1, sizeof *site);
    site->entry = entry;
    site->depth = NEST_DEPTH;
    site->found = VEC_OF(struct found_nest);
    return site;
}

/* The site of a lane's class on the thread. What it did before had nothing inside. */
static struct site *start_site(struct thread_sites *sites, struct class_entry *entry)
{
    const struct accumulator *before = &entry->sums.accumulator;
    struct site *site = entry->site = new_site(entry);
    vec__push(&sites->sites, &site);
    site->minimum = UINT64_MAX;
    if (before->count) {
        find_or_add(sites->nests, site, nests__bare(sites->nests, entry->place), &nothing);
        site->minimum = before->minimum;
        site->fastest = entry;
    }
    return site;
}

static bool is_bare(const struct vec *inside)
{
    return inside && !inside->count;
}

struct class_entry *sites__class(struct thread_sites *sites, struct class_entry *entry,
                                 uint32_t nest, const struct vec *inside, uint64_t duration,
                                 bool stacked)
{
    struct site *site = entry->site;
    if (!site && is_bare(inside) && !stacked)
        return entry;
    if (!site)
        site = start_site(sites, entry);
    struct found_nest *found = inside ? find_or_add(sites->nests, site, nest, inside) : NULL;
    struct class_entry *into = !found ? odd_one(site) : is_bare(inside) ? entry : found->entry;
    if (duration < site->minimum) {
        site->minimum = duration;
        site->fastest = into;
    }
    return into;
}

struct class_entry *site__stacked(const struct class_entry *entry, struct class_entry *counted)
{
    struct site *site = entry->site;
    if (counted != entry)
        return counted;
    VEC_EACH (found, &site->found, struct found_nest)
        if (!found->inside.count)
            return found->entry;
    return counted;
}

/* ---- the end of a thread --------------------------------------------------------------------- */

/* The site's class gets the sums of all; what it had is that of the occurrences with nothing
 * inside. */
static void add_up(struct site *site)
{
    struct accumulator all = {0}, *own = &site->entry->sums.accumulator;
    keep_reference(site);
    VEC_EACH (found, &site->found, struct found_nest) {
        struct accumulator *sums = &found->entry->sums.accumulator;
        if (!found->inside.count)
            *sums = *own;
        accumulator__merge(&all, sums);
    }
    if (site->odd)
        accumulator__merge(&all, &site->odd->sums.accumulator);
    *own = all;
    accumulator__set_reference(own, all.minimum, site->reference);
}

void sites__end_thread(struct thread_sites *sites)
{
    VEC_EACH (site, &sites->sites, struct site *) {
        add_up(*site);
        (*site)->entry->site = NULL;
    }
}

void sites__give_up(struct thread_sites *sites)
{
    sites__end_thread(sites);
    VEC_EACH (site, &sites->sites, struct site *) {
        VEC_EACH (found, &(*site)->found, struct found_nest)
            class_entry__add_counts((*site)->entry, found->entry);
        if ((*site)->odd)
            class_entry__add_counts((*site)->entry, (*site)->odd);
        site__free(*site);
    }
    vec__free(&sites->sites);
    nests__free(sites->nests);
    sites->nests = NULL;
}

/* ---- what threads found ---------------------------------------------------------------------- */

static void end_thread(struct site *site, struct class_entry *found, uint32_t thread)
{
    class_entry__add_counts(site->entry, found);
    found->thread_and_1 = thread + 1;
    class_entry__end_thread(found);
}

static void join_odd(struct site *site, struct class_entry *odd)
{
    class_entry__merge(odd_one(site), odd);
    class_entry__free(odd);
}

/* found: of the whole table's nests. */
static void join_found(struct nests *nests, struct site *site, struct found_nest *found)
{
    if (!make_room(nests, site, found->nest) && site->found.count >= NESTS_OF_SITE) {
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
        end_thread(site, found->entry, thread);
        found->nest = joined[found->nest];
        VEC_EACH (item, &found->inside, struct nest_item)
            item->nest = joined[item->nest];
        join_found(nests, site, found);
    }
    more->found.count = 0;
    if (more->odd) {
        end_thread(site, more->odd, thread);
        join_odd(site, more->odd);
        more->odd = NULL;
    }
}

void class_table__join_sites(struct class_table *table, uint32_t thread, struct thread_sites *sites,
                             const uint32_t *places)
{
    uint32_t *joined = nests__join(table->nests, sites->nests, places);
    VEC_EACH (more, &sites->sites, struct site *) {
        struct class_entry *entry = (*more)->entry->whole;
        if (!entry->site)
            entry->site = new_site(entry);
        join_site(table->nests, entry->site, *more, joined, thread);
        site__free(*more);
    }
    free(joined);
    nests__free(sites->nests);
    vec__free(&sites->sites);
}

/* Takes off what another class of the site has in its histogram. */
static void take_off(uint64_t *counts, const struct class_entry *other)
{
    for (size_t i = 0; other->histogram && i < HISTOGRAM_BUCKETS; i++)
        counts[i] -= other->histogram[i];
}

/* Occurrences with nothing inside were counted in the site's histogram alone. */
void site__complete(struct site *site)
{
    struct class_entry *bare = site->odd;
    struct class_entry *rest = class_entry__like(site->entry);
    class_entry__add_counts(rest, site->entry);
    VEC_EACH (found, &site->found, struct found_nest) {
        bare = found->inside.count ? bare : found->entry;
        if (rest->histogram)
            take_off(rest->histogram, found->entry);
    }
    if (rest->histogram && site->odd)
        take_off(rest->histogram, site->odd);
    if (bare)
        class_entry__add_counts(bare, rest);
    class_entry__free(rest);
}
