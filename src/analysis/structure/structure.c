#include "analysis/structure/structure.h"

#include "analysis/callsite/rules.h"
#include "analysis/structure/shape_walk.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

/* What callers see, and what it stands on. */
struct owned_structure {
    struct structure shown;
    struct class_table table; /* of the names */
};

static struct structure_place *place_at(struct structure *structure, uint32_t place)
{
    return VEC_AT(&structure->places, struct structure_place, place);
}

/* What its first class is, without what tells classes of the place apart. */
static void describe(struct structure *structure, const struct class_entry *entry)
{
    while (structure->places.count <= entry->place)
        vec__push(&structure->places, NULL);
    struct structure_place *place = place_at(structure, entry->place);
    if (place->what.at.function)
        return;
    place->what = entry->what;
    place->what.has_object = false;
    place->what.object = 0;
    place->what.keys = VEC_OF(struct profile_key);
}

static void add_thread(struct owned_structure *owned, uint32_t index)
{
    const struct trace_thread *thread =
        VEC_AT(trace__threads(owned->table.trace), struct trace_thread, index);
    uint32_t root = thread__shape(&owned->table, owned->shown.shapes, index, NULL);
    struct structure_thread row = {
        .thread = index,
        .root = root,
        .lifetime =
            thread->end_tick > thread->start_tick ? thread->end_tick - thread->start_tick : 0,
    };
    vec__push(&owned->shown.threads, &row);
}

static void add_excesses(struct structure *structure)
{
    for (uint32_t i = 0; i < shapes__count(structure->shapes); i++) {
        const struct shape *shape = shapes__get(structure->shapes, i);
        if (shape->kind == SHAPE_OCCURRENCE && shape->symbol != STRUCTURE_THREAD)
            place_at(structure, shape->symbol)->excess += shape__excess(shape);
    }
}

static int add_threads(struct owned_structure *owned, const char *pattern, struct error *error)
{
    const struct vec *threads = trace__threads(owned->table.trace);
    for (uint32_t i = 0; i < threads->count; i++)
        if (!pattern || rule__is_thread(pattern, VEC_AT(threads, struct trace_thread, i)))
            add_thread(owned, i);
    return rule__find_thread(pattern, owned->table.trace, error);
}

int structure__compute(const struct trace *trace, struct structure **structure, struct error *error)
{
    return structure__of_threads(trace, NULL, structure, error);
}

int structure__of_threads(const struct trace *trace, const char *pattern,
                          struct structure **structure, struct error *error)
{
    if (trace__is_aggregated(trace))
        return error__set(error, -ENOTSUP,
                          "the run was recorded with --aggregate, which keeps no order of events; "
                          "record it without to see its structure");
    struct owned_structure *owned = memory__zeroed(1, sizeof *owned);
    owned->shown.shapes = shapes__new();
    owned->shown.places = VEC_OF(struct structure_place);
    owned->shown.threads = VEC_OF(struct structure_thread);
    class_table__start(&owned->table, trace, NULL);
    int code = add_threads(owned, pattern, error);
    if (code < 0) {
        structure__free(&owned->shown);
        return code;
    }
    VEC_EACH (entry, &owned->table.entries, struct class_entry *)
        describe(&owned->shown, *entry);
    add_excesses(&owned->shown);
    *structure = &owned->shown;
    return 0;
}

struct speller {
    struct thread_watcher watcher; /* first: the walk gives this */
    struct grammar *grammar;
};

static void spell(struct thread_watcher *watcher, struct class_entry *entry,
                  const struct fold_occurrence *occurrence, const uint64_t *arguments,
                  size_t argument_count)
{
    (void)occurrence, (void)arguments, (void)argument_count;
    grammar__add(((struct speller *)watcher)->grammar, entry->place);
}

struct grammar *structure__grammar(struct structure *structure, size_t thread)
{
    struct owned_structure *owned = (struct owned_structure *)structure;
    struct speller speller = {.watcher = {.occurrence = spell, .at_once = true, .unfinished = true},
                              .grammar = grammar__new()};
    thread__watch(&owned->table,
                  VEC_AT(&structure->threads, struct structure_thread, thread)->thread,
                  &speller.watcher);
    grammar__end(speller.grammar);
    return speller.grammar;
}

void structure__free(struct structure *structure)
{
    if (!structure)
        return;
    struct owned_structure *owned = (struct owned_structure *)structure;
    shapes__free(structure->shapes);
    vec__free(&structure->places);
    vec__free(&structure->threads);
    class_table__free(&owned->table);
    free(owned);
}
