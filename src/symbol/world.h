/* world.h: the modules of one process, opened when they are first needed, and the proof that a
 * function and everything it may jump to can be called by a stub (see frame.h). */
#ifndef HEURT_SYMBOL_WORLD_H
#define HEURT_SYMBOL_WORLD_H

#include "base/error.h"
#include "base/map.h"
#include "format/layout.h"
#include "format/reader.h"
#include "symbol/code_file.h"
#include "symbol/code_map.h"
#include "symbol/frame.h"
#include "symbol/patterns.h"

#include <stdbool.h>

struct world_verdict;

struct world_module {
    const struct trace_module *module;
    struct pattern_module name;
    struct code_file *file; /* NULL: not opened, or could not be */
    struct code_map *map;   /* NULL: not asked for yet */
    int status;             /* of opening */
    bool tried, exports_ready;
    struct error error;
    struct map exports; /* name of a function that others may call → index into functions */
    struct frame_checker *checker;
    struct vec tails;               /* struct frame_tail */
    struct world_verdict *verdicts; /* one a function */
};

enum unwinder {
    UNWINDER_NOT_ASKED,
    UNWINDER_GCC,
    UNWINDER_LLVM, /* libunwind: it knows frames again by their stack pointers */
};

struct world {
    struct vec modules; /* struct world_module */
    uint32_t query;
    enum unwinder unwinder; /* of exceptions */
};

void world__start(struct world *world, const struct trace_module *modules, size_t count);
void world__free(struct world *world);

/* The module's file, or NULL (then error tells why). */
struct code_file *world_module__open(struct world_module *module);
const struct code_map *world_module__map(struct world_module *module); /* of an open one */

/* What the function does by itself. */
const struct frame_verdict *world__verdict(struct world_module *module,
                                           const struct code_function *function);

/* How a stub may call the function: NULL and the first mechanism that is proven, or why none is;
 * free() it. */
char *world__refusal(struct world *world, struct world_module *module,
                     const struct code_function *function, enum heurt_mechanism *mechanism);

#endif
