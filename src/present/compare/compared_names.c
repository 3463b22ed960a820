/* What a comparison needs of a run besides figures, by the names that screens have for it: its
 * loops, and who calls whom. */
#include "present/compare/compared_names.h"
#include "base/memory.h"
#include "base/text.h"
#include "present/shared.h"

#include <stdlib.h>
#include <string.h>

/* ---- loops ----------------------------------------------------------------------------------- */

/* "pthread_mutex_lock in take"; of code the name of the function. free() it. */
static char *name_in_body(const struct report *report, const struct class_definition *what,
                          const struct vec *renames)
{
    char unknown[32];
    struct place place = place__of_class(report, what, unknown);
    const char *function = place.function == unknown ? "?" : place.function;
    if (renames)
        function = renames__of(renames, function);
    return class__is_hooked(what) ? memory__format("%s in %s", what->at.function, function)
                                  : memory__text(function);
}

static unsigned sort_of(const struct iteration_phase *phase)
{
    return phase->is_marked ? 1 : phase->is_between_waits ? 2 : 0;
}

static struct told_phase told_phase__of(const struct report *report,
                                        const struct iteration_phase *phase,
                                        const struct vec *renames)
{
    struct told_phase told = {.text = phase__text(report, phase),
                              .sort = sort_of(phase),
                              .body = VEC_OF(char *),
                              .iterations = phase->iterations,
                              .threads = phase->threads.count,
                              .median_ns = phase->median_ns,
                              .sum_ns = phase->sum_ns};
    VEC_EACH (what, &phase->body, struct class_definition) {
        char *name = name_in_body(report, what, renames);
        vec__push(&told.body, &name);
    }
    return told;
}

struct vec told_phases__of(const struct report *report, const struct iterations *iterations,
                           const struct vec *renames)
{
    struct vec phases = VEC_OF(struct told_phase);
    if (iterations)
        VEC_EACH (phase, &iterations->phases, struct iteration_phase) {
            struct told_phase told = told_phase__of(report, phase, renames);
            vec__push(&phases, &told);
        }
    return phases;
}

/* ---- who calls whom -------------------------------------------------------------------------- */

struct calls_reading {
    const struct report *report;
    const struct structure *structure;
    struct vec *calls;
    const char *previous; /* the last call in this body; "": there is none */
};

static const struct class_definition *place_at(const struct calls_reading *reading, uint32_t symbol)
{
    return symbol == STRUCTURE_THREAD
               ? NULL
               : &VEC_AT(&reading->structure->places, struct structure_place, symbol)->what;
}

/* The function of the program; "": it is the thread itself, or not known. */
static const char *function_at(const struct calls_reading *reading,
                               const struct class_definition *what)
{
    char unknown[32];
    if (!what)
        return "";
    struct place place = place__of_class(reading->report, what, unknown);
    return place.function == unknown || strncmp(place.function, "0x", 2) == 0 ? "" : place.function;
}

static void add_call(struct calls_reading *reading, const char *caller, const char *callee,
                     bool is_library)
{
    const struct function_call call = {caller, callee, reading->previous, is_library};
    if (*callee && strcmp(caller, callee) != 0)
        vec__push(reading->calls, &call);
}

/* A call that heurt knows is made by the function that it stands in, which need not be recorded. */
static void add_item(struct calls_reading *reading, const char *caller, uint32_t symbol)
{
    const struct class_definition *what = place_at(reading, symbol);
    const char *function = function_at(reading, what);
    if (!what)
        return;
    add_call(reading, caller, function, false);
    if (class__is_hooked(what))
        add_call(reading, function, what->at.function, true);
    reading->previous = class__is_hooked(what) ? what->at.function : function;
}

/* Loops are no calls: what is in them is called by who they stand in. */
static void add_body(struct calls_reading *reading, const char *caller, uint32_t shape,
                     unsigned depth)
{
    const struct shapes *shapes = reading->structure->shapes;
    const struct shape *of = shapes__get(shapes, shape);
    const struct shape_item *items = shapes__items(shapes, shape);
    for (uint32_t i = 0; i < of->item_count; i++) {
        const struct shape *item = shapes__get(shapes, items[i].shape);
        if (item->kind == SHAPE_OCCURRENCE)
            add_item(reading, caller, item->symbol);
        else if (depth < NESTED_MOST)
            add_body(reading, caller, items[i].shape, depth + 1);
    }
}

struct vec function_calls__of(const struct report *report, const struct structure *structure)
{
    struct vec calls = VEC_OF(struct function_call);
    struct calls_reading reading = {report, structure, &calls, ""};
    size_t count = structure ? shapes__count(structure->shapes) : 0;
    for (uint32_t shape = 0; shape < count; shape++) {
        const struct shape *of = shapes__get(structure->shapes, shape);
        reading.previous = "";
        if (of->kind == SHAPE_OCCURRENCE)
            add_body(&reading, function_at(&reading, place_at(&reading, of->symbol)), shape, 0);
    }
    return calls;
}
