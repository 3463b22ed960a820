#include "analysis/callsite/site.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- what was found -------------------------------------------------------------------------- */

void callee_ranges__add(struct vec *inside, const struct vec *added)
{
    for (size_t i = 0; i < inside->count && i < added->count; i++) {
        struct callee_item *item = VEC_AT(inside, struct callee_item, i);
        const struct callee_item *other = VEC_AT(added, struct callee_item, i);
        item->least = other->least < item->least ? other->least : item->least;
        item->most = other->most > item->most ? other->most : item->most;
    }
}

struct vec callee_items__cut(struct callee_signatures *signatures, const struct vec *inside,
                             unsigned depth)
{
    struct vec items = VEC_OF(struct callee_item);
    VEC_EACH (item, inside, struct callee_item) {
        struct callee_item cut = *item;
        cut.signature = callee_signatures__cut(signatures, item->signature, depth - 1);
        callee_items__append(&items, &cut);
    }
    return items;
}

static struct class_entry *odd_one(struct site *site)
{
    if (!site->odd)
        site->odd = class_entry__like(site->entry);
    return site->odd;
}

static struct found_signature *find_signature(struct site *site, uint32_t signature)
{
    struct found_signature *found = site->found.items;
    if (site->last < site->found.count && found[site->last].signature == signature)
        return &found[site->last];
    for (size_t i = 0; i < site->found.count; i++) {
        if (found[i].signature != signature)
            continue;
        site->last = i;
        return &found[i];
    }
    return NULL;
}

static void free_found(struct found_signature *found)
{
    class_entry__free(found->entry);
    vec__free(&found->inside);
}

void site__free(struct site *site)
{
    if (!site)
        return;
    VEC_EACH (found, &site->found, struct found_signature)
        free_found(found);
    vec__free(&site->found);
    class_entry__free(site->odd);
    free(site);
}

static void cut_found(struct callee_signatures *signatures, struct found_signature *found,
                      unsigned depth)
{
    struct vec inside = callee_items__cut(signatures, &found->inside, depth);
    vec__free(&found->inside);
    found->inside = inside;
    found->signature = callee_signatures__cut(signatures, found->signature, depth);
}

/* As one with the same callee signature, if there is one. */
static void put_found(struct site *site, struct found_signature *found)
{
    struct found_signature *same = find_signature(site, found->signature);
    if (!same) {
        vec__push(&site->found, found);
        return;
    }
    class_entry__merge(same->entry, found->entry);
    callee_ranges__add(&same->inside, &found->inside);
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
static void coarsen(struct callee_signatures *signatures, struct site *site)
{
    struct vec before = site->found;
    keep_reference(site);
    site->found = VEC_OF(struct found_signature);
    site->last = 0;
    site->depth--;
    VEC_EACH (found, &before, struct found_signature) {
        cut_found(signatures, found, site->depth);
        put_found(site, found);
    }
    vec__free(&before);
}

/* The one with that callee signature; NULL when there is none, and room for it if there can be. */
static struct found_signature *make_room(struct callee_signatures *signatures, struct site *site,
                                         uint32_t signature)
{
    struct found_signature *found =
        find_signature(site, callee_signatures__cut(signatures, signature, site->depth));
    while (!found && site->found.count >= NESTS_OF_SITE && site->depth > 1) {
        coarsen(signatures, site);
        found = find_signature(site, callee_signatures__cut(signatures, signature, site->depth));
    }
    return found;
}

/* ---- one thread ------------------------------------------------------------------------------ */

static void add_inside(struct callee_signatures *signatures, const struct site *site,
                       struct found_signature *found, const struct vec *inside)
{
    if (site->depth == NEST_DEPTH) { /* as it comes */
        callee_ranges__add(&found->inside, inside);
        return;
    }
    struct vec items = callee_items__cut(signatures, inside, site->depth);
    callee_ranges__add(&found->inside, &items);
    vec__free(&items);
}

/* NULL: there is no room for it. */
static struct found_signature *find_or_add(struct callee_signatures *signatures, struct site *site,
                                           uint32_t signature, const struct vec *inside)
{
    struct found_signature *found = make_room(signatures, site, signature);
    if (found) {
        if (inside->count)
            add_inside(signatures, site, found, inside);
        return found;
    }
    if (site->found.count >= NESTS_OF_SITE)
        return NULL;
    const struct found_signature fresh = {
        callee_signatures__cut(signatures, signature, site->depth), class_entry__like(site->entry),
        callee_items__cut(signatures, inside, site->depth)};
    return vec__push(&site->found, &fresh);
}

static const struct vec nothing = {.item_bytes = sizeof(struct callee_item)};

static struct site *new_site(struct class_entry *entry)
{
    struct site *site = memory__zeroed(1, sizeof *site);
    site->entry = entry;
    site->depth = NEST_DEPTH;
    site->found = VEC_OF(struct found_signature);
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
        find_or_add(sites->signatures, site,
                    callee_signatures__bare(sites->signatures, entry->place), &nothing);
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
                                 uint32_t signature, const struct vec *inside, uint64_t duration,
                                 bool stacked)
{
    struct site *site = entry->site;
    if (!site && is_bare(inside) && !stacked)
        return entry;
    if (!site)
        site = start_site(sites, entry);
    struct found_signature *found =
        inside ? find_or_add(sites->signatures, site, signature, inside) : NULL;
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
    VEC_EACH (found, &site->found, struct found_signature)
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
    VEC_EACH (found, &site->found, struct found_signature) {
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
        VEC_EACH (found, &(*site)->found, struct found_signature)
            class_entry__add_counts((*site)->entry, found->entry);
        if ((*site)->odd)
            class_entry__add_counts((*site)->entry, (*site)->odd);
        site__free(*site);
    }
    vec__free(&sites->sites);
    callee_signatures__free(sites->signatures);
    sites->signatures = NULL;
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

/* found: of the whole table's callee signatures. */
static void join_found(struct callee_signatures *signatures, struct site *site,
                       struct found_signature *found)
{
    if (!make_room(signatures, site, found->signature) && site->found.count >= NESTS_OF_SITE) {
        join_odd(site, found->entry);
        vec__free(&found->inside);
        return;
    }
    cut_found(signatures, found, site->depth);
    put_found(site, found);
}

static void join_site(struct callee_signatures *signatures, struct site *site, struct site *more,
                      const uint32_t *joined, uint32_t thread)
{
    while (site->depth > more->depth)
        coarsen(signatures, site);
    VEC_EACH (found, &more->found, struct found_signature) {
        end_thread(site, found->entry, thread);
        found->signature = joined[found->signature];
        VEC_EACH (item, &found->inside, struct callee_item)
            item->signature = joined[item->signature];
        join_found(signatures, site, found);
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
    uint32_t *joined = callee_signatures__join(table->signatures, sites->signatures, places);
    VEC_EACH (more, &sites->sites, struct site *) {
        struct class_entry *entry = (*more)->entry->whole;
        if (!entry->site)
            entry->site = new_site(entry);
        join_site(table->signatures, entry->site, *more, joined, thread);
        site__free(*more);
    }
    free(joined);
    callee_signatures__free(sites->signatures);
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
    VEC_EACH (found, &site->found, struct found_signature) {
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
