#include "analysis/class_numbers.h"

#include "base/memory.h"

#include <stdlib.h>

/* What is the same of a class in two tables of one trace. Compared as bytes: no padding. */
struct class_identity {
    uint64_t kind, process, function, address, site, has_object, object, file, line, key_count;
    uint64_t keys[HEURT_ARGUMENTS_MAX];
};

static struct class_identity identity_of(const struct profile_class *class)
{
    struct class_identity identity = {.kind = class->kind,
                                      .process = class->process,
                                      .function = (uintptr_t) class->function,
                                      .address = class->address,
                                      .site = class->site,
                                      .has_object = class->has_object,
                                      .object = class->object,
                                      .file = (uintptr_t) class->file,
                                      .line = class->line,
                                      .key_count = class->keys.count};
    for (size_t i = 0; i < class->keys.count && i < HEURT_ARGUMENTS_MAX; i++)
        identity.keys[i] = VEC_AT(&class->keys, struct profile_key, i)->value;
    return identity;
}

static void number_classes(struct class_numbers *self, const struct profile *profile)
{
    VEC_EACH(class, &profile->classes, struct profile_class)
    {
        struct class_identity identity = identity_of(class);
        if (class->number < CLASS_NOT_NUMBERED)
            map__put(&self->numbers, &identity, sizeof identity, class->number);
    }
}

/* The number is kept in the entry once it is known. */
uint32_t class_numbers__of(struct class_numbers *self, struct class_entry *entry)
{
    if (!entry)
        return CLASS_NOT_NUMBERED;
    if (!entry->what.recorded) {
        struct class_identity identity = identity_of(&entry->what);
        uint64_t number = map__get(&self->numbers, &identity, sizeof identity);
        entry->what.number = number == MAP_ABSENT ? CLASS_NOT_NUMBERED : (uint32_t)number;
        entry->what.recorded = 1; /* looked up */
    }
    return entry->what.number;
}

/* The classes of the profile that have keys were made by rules; the same ones are made again. */
static struct vec rules_of(const struct profile *profile)
{
    struct vec rules = VEC_OF(struct profile_rule);
    VEC_EACH(class, &profile->classes, struct profile_class)
    {
        bool is_function = class->kind == CLASS_CALL || class->kind == CLASS_REGION ||
                           class->kind == CLASS_ITERATION;
        if (!is_function || !class->keys.count)
            continue;
        struct profile_rule rule = {.type = RULE_KEY, .function = memory__text(class->function)};
        VEC_EACH(key, &class->keys, struct profile_key)
        {
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
    VEC_EACH(rule, rules, struct profile_rule)
    {
        free(rule->function);
        free(rule->arguments);
    }
    vec__free(rules);
}

void class_numbers__start(struct class_numbers *self, const struct trace *trace,
                          const struct profile *profile)
{
    *self = (struct class_numbers){.rules = rules_of(profile)};
    class_table__start(&self->table, trace, &self->rules);
    number_classes(self, profile);
}

void class_numbers__free(struct class_numbers *self)
{
    class_table__free(&self->table);
    map__free(&self->numbers);
    free_rules(&self->rules);
}
