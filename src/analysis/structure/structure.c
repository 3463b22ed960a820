#include "analysis/structure/structure.h"

#include "analysis/analysis.h"
#include "analysis/callsite/rules.h"
#include "analysis/structure/shape_walk.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

/* What callers see, and what it stands on. */
struct owned_structure {
    struct structure shown;
    struct class_table table;  /* of the names */
    const char *pattern;       /* of threads; while it walks */
    struct thread_shape *walk; /* of the thread */
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

static void *start_thread(void *self, unsigned lane, uint32_t thread)
{
    struct owned_structure *owned = self;
    (void)lane;
    if (owned->pattern &&
        !rule__is_thread(owned->pattern, trace__thread_at(owned->table.trace, thread)))
        return NULL;
    owned->walk = thread_shape__start(&owned->table, owned->shown.shapes, thread, NULL);
    return owned;
}

static void take_event(void *part, const struct event *event)
{
    thread_shape__event(((struct owned_structure *)part)->walk, event);
}

static void take_functions(void *part, struct event_words *words)
{
    thread_shape__functions(((struct owned_structure *)part)->walk, words);
}

static void join_thread(void *self, uint32_t index, void *part)
{
    struct owned_structure *owned = part;
    const struct trace_thread *thread = trace__thread_at(owned->table.trace, index);
    struct structure_thread row = {
        .thread = index,
        .root = thread_shape__end(owned->walk),
        .lifetime =
            thread->end_tick > thread->start_tick ? thread->end_tick - thread->start_tick : 0,
    };
    (void)self;
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

static void *start(struct run *run)
{
    const char *pattern = run->options;
    run->code = trace__is_aggregated(run->trace)
                    ? error__set(&run->error, -ENOTSUP,
                                 "the run was recorded with --aggregate, which keeps no order of "
                                 "events; record it without to see its structure")
                    : rule__find_thread(pattern, run->trace, &run->error);
    if (run->code < 0)
        return NULL;
    struct owned_structure *owned = memory__zeroed(1, sizeof *owned);
    owned->pattern = pattern;
    owned->shown.shapes = shapes__new();
    owned->shown.places = VEC_OF(struct structure_place);
    owned->shown.threads = VEC_OF(struct structure_thread);
    class_table__start(&owned->table, run->trace, NULL);
    return owned;
}

static void *finish(void *self)
{
    struct owned_structure *owned = self;
    VEC_EACH (entry, &owned->table.entries, struct class_entry *)
        describe(&owned->shown, *entry);
    add_excesses(&owned->shown);
    return &owned->shown;
}

static void free_structure(void *result)
{
    structure__free(result);
}

const struct analysis structure_analysis = {.name = "structure",
                                            .walk = WALK_IN_ORDER,
                                            .start = start,
                                            .thread = start_thread,
                                            .event = take_event,
                                            .events = take_functions,
                                            .join = join_thread,
                                            .finish = finish,
                                            .free = free_structure};

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
