#include "recorder/kept_plans.h"

#include "symbol/kept_file.h"

#include <stdlib.h>
#include <string.h>

/* Of all plans that are kept, but the last: some 60 MB. */
enum { FUNCTIONS_KEPT_MAX = 150000 };

struct kept_plan {
    struct vec key; /* char */
    struct plan *plan;
    unsigned used; /* greater: later */
};

void kept_plans__start(struct kept_plans *kept)
{
    *kept = (struct kept_plans){.items = VEC_OF(struct kept_plan), .wanted = VEC_OF(char)};
}

static void drop(struct kept_plans *kept, size_t index)
{
    struct kept_plan *items = kept->items.items;
    vec__free(&items[index].key);
    plan__free(items[index].plan);
    items[index] = items[--kept->items.count];
}

void kept_plans__free(struct kept_plans *kept)
{
    while (kept->items.count)
        drop(kept, kept->items.count - 1);
    vec__free(&kept->items);
    vec__free(&kept->wanted);
}

static void append(struct vec *key, const void *bytes, size_t count)
{
    memcpy(vec__extend(key, count), bytes, count);
}

/* A file that is mapped twice may be so at one place or at two, which makes a difference. */
static bool is_repeated(const struct trace_module *modules, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(modules[i].path, modules[index].path) == 0)
            return true;
    return false;
}

/* Leaves kept->wanted empty where such a plan cannot be told from another. */
static void want(struct kept_plans *kept, uint64_t what, const struct trace_module *modules,
                 size_t count)
{
    kept->wanted.count = 0;
    append(&kept->wanted, &what, sizeof what);
    for (size_t i = 0; i < count; i++) {
        const struct trace_module *module = &modules[i];
        if (!module->build_id_bytes || is_repeated(modules, i)) {
            kept->wanted.count = 0;
            return;
        }
        struct kept_identity identity =
            kept_identity__of(module->path, module->build_id, module->build_id_bytes);
        append(&kept->wanted, &identity, sizeof identity);
        append(&kept->wanted, module->path, strlen(module->path) + 1);
    }
}

static bool is_wanted(const struct kept_plans *kept, const struct kept_plan *item)
{
    return item->key.count == kept->wanted.count &&
           memcmp(item->key.items, kept->wanted.items, item->key.count) == 0;
}

struct plan *kept_plans__find(struct kept_plans *kept, uint64_t what,
                              const struct trace_module *modules, size_t count)
{
    want(kept, what, modules, count);
    if (!kept->wanted.count)
        return NULL;
    VEC_EACH (item, &kept->items, struct kept_plan) {
        if (!is_wanted(kept, item))
            continue;
        item->used = ++kept->uses;
        plan__move(item->plan, modules, count);
        return item->plan;
    }
    return NULL;
}

/* Those that were not used for longest go first. */
static void make_room(struct kept_plans *kept)
{
    size_t functions = 0, oldest = 0;
    for (size_t i = 0; i < kept->items.count; i++) {
        const struct kept_plan *items = kept->items.items;
        functions += items[i].plan->functions.count + items[i].plan->refusals.count;
        if (items[i].used < items[oldest].used)
            oldest = i;
    }
    if (functions <= FUNCTIONS_KEPT_MAX)
        return;
    drop(kept, oldest);
    make_room(kept);
}

void kept_plans__keep(struct kept_plans *kept, struct plan *plan)
{
    make_room(kept);
    struct kept_plan *item = vec__push(&kept->items, NULL);
    item->key = kept->wanted; /* without one it is never found again */
    item->plan = plan;
    item->used = kept->wanted.count ? ++kept->uses : 0;
    kept->wanted = VEC_OF(char);
}
