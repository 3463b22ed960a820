#include "analysis/ledger/class_numbers.h"

#include "analysis/ledger/subclasses.h"
#include "base/memory.h"

#include <stdlib.h>

/* What is the same of a class in two tables of one trace. Compared as bytes: no padding. */
struct class_identity {
    uint64_t kind, process, function, address, site, has_object, object, file, line, key_count;
    uint64_t keys[HEURT_ARGUMENTS_MAX];
};

static struct class_identity identity_of(const struct class_definition *class)
{
    struct class_identity identity = {.kind = class->at.kind,
                                      .process = class->at.process,
                                      .function = (uintptr_t) class->at.function,
                                      .address = class->at.address,
                                      .site = class->at.site,
                                      .has_object = class->has_object,
                                      .object = class->object,
                                      .file = (uintptr_t) class->at.file,
                                      .line = class->at.line,
                                      .key_count = class->keys.count};
    for (size_t i = 0; i < class->keys.count && i < HEURT_ARGUMENTS_MAX; i++)
        identity.keys[i] = VEC_AT(&class->keys, struct profile_key, i)->value;
    return identity;
}

/* A class by structure, of one site. */
struct numbered_part {
    const struct profile_class *class;
};

/* The class of a nest, once it is known. */
struct numbered_nest {
    uint32_t nest, number;
};

struct numbered_site {
    struct vec parts; /* struct numbered_part */
    struct vec nests; /* struct numbered_nest: those that were met */
};

/* The end of an occurrence at a divided site. */
struct numbered_end {
    const struct class_entry *site;
    uint64_t tick;
    uint32_t number;
};

static struct numbered_site *site_at(const struct class_numbers *self, size_t place)
{
    return VEC_AT(&self->sites, struct numbered_site, place);
}

static void add_part(struct class_numbers *self, const struct class_identity *identity,
                     const struct profile_class *class)
{
    uint64_t place = map__put(&self->divided, identity, sizeof *identity, self->sites.count);
    const struct numbered_part part = {class};
    if (place == self->sites.count)
        vec__push(&self->sites, &(struct numbered_site){VEC_OF(struct numbered_part),
                                                        VEC_OF(struct numbered_nest)});
    vec__push(&site_at(self, place)->parts, &part);
}

static void number_classes(struct class_numbers *self, const struct profile *profile)
{
    VEC_EACH (class, &profile->classes, struct profile_class) {
        struct class_identity identity = identity_of(&class->what);
        if (class->recorded < class->count)
            map__put(&self->sampled, &identity, sizeof identity, 1);
        if (class->what.structure)
            add_part(self, &identity, class);
        else if (class->number < CLASS_NOT_NUMBERED)
            map__put(&self->numbers, &identity, sizeof identity, class->number);
    }
}

/* What is found out about an entry is kept in it. */
static void look_up(struct class_numbers *self, struct class_entry *entry)
{
    if (entry->is_looked_up)
        return;
    struct class_identity identity = identity_of(&entry->what);
    uint64_t number = map__get(&self->numbers, &identity, sizeof identity);
    uint64_t site = map__get(&self->divided, &identity, sizeof identity);
    bool sampled = map__get(&self->sampled, &identity, sizeof identity) != MAP_ABSENT;
    entry->number = number == MAP_ABSENT ? CLASS_NOT_NUMBERED : (uint32_t)number;
    entry->numbered_site_and_1 = site == MAP_ABSENT ? 0 : site + 1;
    entry->is_structural = class_kind__is_structural(entry->what.at.kind) && !sampled;
    entry->is_looked_up = 1;
}

uint32_t class_numbers__of(struct class_numbers *self, struct class_entry *entry)
{
    if (!entry)
        return CLASS_NOT_NUMBERED;
    look_up(self, entry);
    return entry->number;
}

/* ---- classes by structure -------------------------------------------------------------------- */

bool class_numbers__is_divided(struct class_numbers *self, struct class_entry *entry)
{
    look_up(self, entry);
    return entry->numbered_site_and_1 > 0;
}

/* Whether the rows from place on, of that level, are what the nest has inside; place is then behind
 * them. Places have the same numbers in both tables, whose threads were walked in one order. */
static bool has_rows(const struct nests *nests, uint32_t nest, uint32_t level,
                     const struct vec *rows, size_t *place)
{
    const struct nest *whole = nests__get(nests, nest);
    for (uint32_t i = 0; i < whole->item_count; i++) {
        uint32_t inside = nests__items(nests, nest)[i].nest;
        const struct nest *item = nests__get(nests, inside);
        const struct profile_inside *row = VEC_AT(rows, struct profile_inside, *place);
        if (*place >= rows->count || row->level != level || row->place != item->place ||
            row->is_irregular != item->is_irregular)
            return false;
        ++*place;
        if (!has_rows(nests, inside, level + 1, rows, place))
            return false;
    }
    return *place == rows->count || VEC_AT(rows, struct profile_inside, *place)->level < level;
}

static uint32_t find_number(struct class_numbers *self, const struct numbered_site *site,
                            uint32_t nest)
{
    uint32_t rest = CLASS_NOT_NUMBERED;
    VEC_EACH (part, &site->parts, struct numbered_part) {
        const struct profile_structure *structure = part->class->what.structure;
        size_t place = 0;
        if (structure->is_rest)
            rest = part->class->number;
        else if (nest != NEST_NONE &&
                 has_rows(self->table.nests, nests__cut(self->table.nests, nest, structure->depth),
                          1, &structure->inside, &place) &&
                 place == structure->inside.count)
            return part->class->number;
    }
    return rest;
}

static uint32_t number_of_nest(struct class_numbers *self, struct numbered_site *site,
                               uint32_t nest)
{
    VEC_EACH (known, &site->nests, struct numbered_nest)
        if (known->nest == nest)
            return known->number;
    const struct numbered_nest found = {nest, find_number(self, site, nest)};
    vec__push(&site->nests, &found);
    return found.number;
}

static bool is_structural(struct class_table *table, struct class_entry *entry)
{
    look_up((struct class_numbers *)table, entry); /* its first member */
    return entry->is_structural;
}

void class_numbers__want_nests(const struct class_numbers *self, struct thread_watcher *watcher)
{
    watcher->nests = self->sites.count > 0;
    watcher->is_structural = is_structural;
}

uint32_t class_numbers__of_watched(struct class_numbers *self, struct class_entry *entry,
                                   const struct thread_watcher *watcher)
{
    if (!class_numbers__is_divided(self, entry))
        return class_numbers__of(self, entry);
    return number_of_nest(self, site_at(self, entry->numbered_site_and_1 - 1),
                          watcher->inside ? watcher->nest : NEST_NONE);
}

struct end_watcher {
    struct thread_watcher watcher; /* first: the fold's walk gives this */
    struct class_numbers *numbers;
};

static void keep_end(struct thread_watcher *watcher, struct class_entry *entry,
                     const struct fold_occurrence *occurrence, const uint64_t *arguments,
                     size_t argument_count)
{
    struct class_numbers *self = ((struct end_watcher *)watcher)->numbers;
    (void)arguments, (void)argument_count;
    if (!class_numbers__is_divided(self, entry))
        return;
    const struct numbered_end end = {entry, occurrence->end,
                                     class_numbers__of_watched(self, entry, watcher)};
    vec__push(&self->ends, &end);
}

void class_numbers__begin_thread(struct class_numbers *self, uint32_t thread)
{
    struct end_watcher watcher = {.watcher = {.occurrence = keep_end}, .numbers = self};
    class_numbers__want_nests(self, &watcher.watcher);
    self->ends.count = self->next_end = 0;
    if (self->sites.count)
        thread__watch(&self->table, thread, &watcher.watcher);
}

uint32_t class_numbers__of_end(struct class_numbers *self, const struct class_entry *site,
                               uint64_t end)
{
    const struct numbered_end *ends = self->ends.items;
    while (self->next_end < self->ends.count && ends[self->next_end].tick < end)
        self->next_end++;
    for (size_t i = self->next_end; i < self->ends.count && ends[i].tick == end; i++) {
        if (ends[i].site != site)
            continue;
        self->next_end = i + 1;
        return ends[i].number;
    }
    return CLASS_NOT_NUMBERED;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The classes of the profile that have keys were made by rules; the same ones are made again. */
static struct vec rules_of(const struct profile *profile)
{
    struct vec rules = VEC_OF(struct profile_rule);
    VEC_EACH (class, &profile->classes, struct profile_class) {
        bool is_function = class->what.at.kind == CLASS_CALL ||
                           class->what.at.kind == CLASS_REGION ||
                           class->what.at.kind == CLASS_ITERATION;
        if (!is_function || !class->what.keys.count)
            continue;
        struct profile_rule rule = {.type = RULE_KEY,
                                    .function = memory__text(class->what.at.function)};
        VEC_EACH (key, &class->what.keys, struct profile_key) {
            char *list = rule.arguments;
            rule.arguments =
                list ? memory__format("%s,%s", list, key->name) : memory__text(key->name);
            free(list);
        }
        vec__push(&rules, &rule);
    }
    return rules;
}

static void free_rules(struct vec *rules)
{
    VEC_EACH (rule, rules, struct profile_rule) {
        free(rule->function);
        free(rule->arguments);
    }
    vec__free(rules);
}

void class_numbers__start(struct class_numbers *self, const struct trace *trace,
                          const struct profile *profile)
{
    *self = (struct class_numbers){.rules = rules_of(profile),
                                   .sites = VEC_OF(struct numbered_site),
                                   .ends = VEC_OF(struct numbered_end)};
    class_table__start(&self->table, trace, &self->rules);
    self->table.nests = nests__new();
    number_classes(self, profile);
}

void class_numbers__free(struct class_numbers *self)
{
    class_table__free(&self->table);
    map__free(&self->numbers);
    map__free(&self->sampled);
    map__free(&self->divided);
    VEC_EACH (site, &self->sites, struct numbered_site) {
        vec__free(&site->parts);
        vec__free(&site->nests);
    }
    vec__free(&self->sites);
    vec__free(&self->ends);
    free_rules(&self->rules);
}
