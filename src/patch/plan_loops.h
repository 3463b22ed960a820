/* plan_loops.h: which loops of a file are worth marking, and how: those of hot functions in which
 * enough of the sampled time was spent.
 *
 * In go sampled places of a module, out come jumps to be written, by loop. It costs what loops.h
 * does for each hot function. It stands on function_info.h, loops.h and symbol/source.h. */
#ifndef HEURT_PATCH_PLAN_LOOPS_H
#define HEURT_PATCH_PLAN_LOOPS_H

#include "base/vec.h"
#include "format/layout.h"
#include "format/reader.h"

#include <stdbool.h>

/* A sampled instruction. */
struct hot_place {
    const char *path; /* of its file */
    uint64_t address; /* in the file */
    uint64_t weight_ns;
};

/* All addresses are addresses in the file. */
struct planned_loop {
    struct heurt_plan plan; /* address is the place of the jump, skip is 0 */
    uint64_t function;      /* the beginning of the function that it is in */
    uint64_t address;       /* of the loop's head */
    uint32_t parent;        /* place in the list of the nearest planned loop around it, which stands
                               before it; PLANNED_NO_PARENT: none */
    bool saves_flags;       /* what its place does to the arithmetic flags must be undone */
    char *name; /* "function (loop at file:line)", demangled, inlined functions by DWARF */
    char *file; /* of its beginning in the source; "": not known */
    uint32_t line;
    uint64_t weight_ns; /* sampled in it and the loops inside of it */
};

#define PLANNED_NO_PARENT UINT32_MAX

/* Fills loops (struct planned_loop) with those of the module's functions in which at least least_ns
 * of the places' (struct hot_place) time was spent. Very short innermost ones are left out when the
 * loop around them is there. cache: as in struct plan_request. */
void plan_loops__make(const struct trace_module *module, const struct vec *places,
                      uint64_t least_ns, const char *cache, struct vec *loops);
void plan_loops__free(struct vec *loops);

#endif
