#include "analysis/callsite/uncontended.h"

#include <string.h>

/* The quiet classes of one call site. */
struct uncontended_site {
    struct class_entry *first;
    uint64_t objects;
};

static bool is_quiet(const struct class_entry *entry)
{
    return (entry->what.at.kind == CLASS_LOCK || entry->what.at.kind == CLASS_SEMAPHORE) &&
           !entry->total.accumulator.maximum && !entry->total.accumulator.nested_count &&
           !entry->total.contended && !entry->total.unfinished;
}

static struct uncontended_site *site_of(struct map *places, struct vec *sites,
                                        const struct class_entry *entry)
{
    uint64_t key[5] = {entry->what.at.kind, entry->what.is_aside,
                       (uintptr_t)entry->what.at.function, entry->what.at.process,
                       entry->what.at.site};
    uint64_t place = map__put(places, key, sizeof key, sites->count);
    if (place < sites->count)
        return VEC_AT(sites, struct uncontended_site, place);
    return vec__push(sites, NULL);
}

static void add_cell(struct vec *cells, const struct class_cell *added)
{
    VEC_EACH (cell, cells, struct class_cell) {
        if (cell->thread == added->thread) {
            cell->count += added->count;
            return;
        }
    }
    vec__push(cells, added);
}

static void put_into(struct class_entry *into, struct class_entry *from)
{
    into->total.accumulator.count += from->total.accumulator.count;
    into->total.accumulator.recorded += from->total.accumulator.recorded;
    VEC_EACH (cell, &from->cells, struct class_cell)
        add_cell(&into->cells, cell);
    vec__free(&from->cells);
    from->joint = into;
}

static void join_site(struct class_table *table, struct map *places, struct vec *sites)
{
    VEC_EACH (entry, &table->entries, struct class_entry *) {
        if (!is_quiet(*entry))
            continue;
        struct uncontended_site *site = site_of(places, sites, *entry);
        if (site->objects <= QUIET_OBJECTS_MAX)
            continue;
        if (!site->first) {
            site->first = *entry;
            site->first->joint = *entry;
            continue;
        }
        put_into(site->first, *entry);
    }
}

void uncontended_classes__join(struct class_table *table)
{
    struct map places = {0};
    struct vec sites = VEC_OF(struct uncontended_site);
    VEC_EACH (entry, &table->entries, struct class_entry *) {
        if (is_quiet(*entry))
            site_of(&places, &sites, *entry)->objects++;
    }
    join_site(table, &places, &sites);
    VEC_EACH (site, &sites, struct uncontended_site) {
        if (!site->first)
            continue;
        struct profile_key key = {"objects", site->objects};
        site->first->what.has_object = false;
        site->first->what.object = 0;
        vec__push(&site->first->what.keys, &key);
    }
    vec__free(&sites);
    map__free(&places);
}
