#include "analysis/structure/outline_groups.h"

#include "base/map.h"
#include "base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct grouper {
    const struct trace *trace;
    struct outline_shapes *known;
    struct map by_root; /* shape -> index into gatherings */
    struct map by_key;  /* group_key -> the same */
    struct vec gatherings;
};

/* What takes most of a root's time; SHAPE_NONE: it has no body. */
static uint32_t main_item(const struct shapes *shapes, uint32_t root)
{
    uint32_t found = SHAPE_NONE;
    uint64_t most = 0;
    for (uint32_t i = 0; i < shapes__get(shapes, root)->item_count; i++) {
        const struct shape_item *item = &shapes__items(shapes, root)[i];
        if (found != SHAPE_NONE && item->time.sum <= most)
            continue;
        found = item->shape;
        most = item->time.sum;
    }
    return found;
}

static char *without_digits(const char *name)
{
    char *text = memory__text(name), *to = text;
    for (const char *from = text; *from; from++)
        if (!isdigit((unsigned char)*from))
            *to++ = *from;
    *to = '\0';
    return text;
}

/* What threads of one group have in common. free() it. */
static char *group_key(struct grouper *grouper, const struct structure_thread *thread)
{
    const struct trace_thread *traced = trace__thread_at(grouper->trace, thread->thread);
    const struct trace_process *process = trace__process_at(grouper->trace, traced->process);
    uint32_t item = main_item(grouper->known->shapes, thread->root);
    uint32_t surface =
        item == SHAPE_NONE ? SHAPE_NONE : outline_shapes__surface(grouper->known, item);
    char *name = without_digits(traced->name);
    char *key = memory__format("%s\n%s\n%u", process->path, name, surface);
    free(name);
    return key;
}

/* Index into gatherings; their count: the thread begins a new one. */
static size_t group_of(struct grouper *grouper, const struct structure_thread *thread)
{
    uint64_t group = map__get(&grouper->by_root, &thread->root, sizeof thread->root);
    if (group != MAP_ABSENT)
        return group;
    char *key = group_key(grouper, thread);
    group = map__put(&grouper->by_key, key, strlen(key), grouper->gatherings.count);
    free(key);
    return map__put(&grouper->by_root, &thread->root, sizeof thread->root, group);
}

static void add_thread(struct grouper *grouper, const struct structure_thread *thread)
{
    size_t group = group_of(grouper, thread);
    if (group == grouper->gatherings.count) {
        struct outline_gathering *added = vec__push(&grouper->gatherings, NULL);
        added->roots.parts = VEC_OF(struct outline_part);
        added->threads = VEC_OF(const struct structure_thread *);
    }
    struct outline_gathering *gathering =
        VEC_AT(&grouper->gatherings, struct outline_gathering, group);
    const struct outline_part part = {
        .shape = thread->root, .bodies = 1, .time = {.count = 1, .sum = thread->lifetime}};
    node__add(&gathering->roots, &part);
    vec__push(&gathering->threads, &thread);
    gathering->lifetime += thread->lifetime;
}

static void number_roots(struct outline_gathering *gathering)
{
    struct vec *roots = &gathering->roots.parts;
    node__tidy(&gathering->roots);
    for (size_t i = 0; i < roots->count; i++) {
        struct outline_part *root = VEC_AT(roots, struct outline_part, i);
        size_t bit = i < OUTLINE_ROOTS ? i : OUTLINE_ROOTS - 1;
        root->roots = 1ull << bit;
        gathering->root_threads[bit] += (uint32_t)root->bodies;
    }
}

static uint32_t first_thread(const struct outline_gathering *gathering)
{
    return (*VEC_AT(&gathering->threads, const struct structure_thread *, 0))->thread;
}

static int by_lifetime(const void *left, const void *right)
{
    const struct outline_gathering *one = left, *other = right;
    int order = ORDER(other->lifetime, one->lifetime);
    return order ?: ORDER(first_thread(one), first_thread(other));
}

struct vec gatherings__of(const struct trace *trace, const struct structure *structure,
                          struct outline_shapes *known)
{
    struct grouper grouper = {
        .trace = trace, .known = known, .gatherings = VEC_OF(struct outline_gathering)};
    VEC_EACH (thread, &structure->threads, struct structure_thread)
        add_thread(&grouper, thread);
    VEC_EACH (gathering, &grouper.gatherings, struct outline_gathering)
        number_roots(gathering);
    vec__sort(&grouper.gatherings, by_lifetime);
    map__free(&grouper.by_root);
    map__free(&grouper.by_key);
    return grouper.gatherings;
}

void gatherings__free(struct vec *gatherings)
{
    VEC_EACH (gathering, gatherings, struct outline_gathering) {
        vec__free(&gathering->roots.parts);
        vec__free(&gathering->threads);
    }
    vec__free(gatherings);
}
