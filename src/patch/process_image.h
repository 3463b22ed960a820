/* process_image.h: the modules of one process, opened when they are first needed, and the proof
 * that a function and everything it may jump to can be called by a stub (see frame.h).
 *
 * In go modules, out come facts of their functions and the ways in which each may be called. A
 * module costs its opening once, a function its proof and those of what it jumps to. It stands on
 * function_info.h. */
#ifndef HEURT_PATCH_PROCESS_IMAGE_H
#define HEURT_PATCH_PROCESS_IMAGE_H

#include "base/error.h"
#include "base/map.h"
#include "format/layout.h"
#include "format/reader.h"
#include "patch/function_info.h"
#include "patch/patterns.h"

#include <stdbool.h>

struct process_module {
    const struct trace_module *module;
    struct pattern_module name;
    struct function_info *info; /* NULL: not opened, or could not be */
    int status;                 /* of opening */
    bool tried, exports_ready;
    struct error error;
    struct map exports; /* name of a function that others may call → index into functions */
    uint32_t *queries;  /* one a function: the last one that came there */
};

enum unwinder {
    UNWINDER_NOT_ASKED,
    UNWINDER_GCC,
    UNWINDER_LLVM, /* libunwind: it knows frames again by their stack pointers */
};

struct process_image {
    struct vec modules; /* struct process_module */
    const char *cache;  /* directory of what is known of files, or NULL */
    uint32_t query;
    enum unwinder unwinder; /* of exceptions */
};

/* cache is kept, not copied. */
void process_image__start(struct process_image *image, const struct trace_module *modules,
                          size_t count, const char *cache);
void process_image__free(struct process_image *image);

/* What is known of the module's file, or NULL (then error tells why). */
struct function_info *process_image__open(const struct process_image *image,
                                          struct process_module *module);

/* How a stub may call the function: NULL and the first mechanism that is proven, or why none is;
 * free() it. */
char *process_image__refusal(struct process_image *image, struct process_module *module,
                             struct info_function *function, enum heurt_mechanism *mechanism);

#endif
