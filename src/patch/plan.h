/* plan.h: which functions of a process to patch, and how (Zydis decodes, libelf and libdw tell
 * where functions begin and end, .eh_frame tells where the stack pointer is).
 *
 * In go what was asked for and the modules of one process, out come jumps to be written and what
 * was refused, with reasons. It costs the facts of each module (function_info.h, from the cache
 * mostly) and one match for each symbol. It stands on patterns.h, plan_arguments.h and
 * process_image.h. */
#ifndef HEURT_PATCH_PLAN_H
#define HEURT_PATCH_PLAN_H

#include "base/error.h"
#include "base/vec.h"
#include "format/layout.h"
#include "format/reader.h"

/* What the user asked for. Patterns are fnmatch globs over the plain symbol name and over its
 * demangled form with and without its parameters; "name @module" restricts to a module whose
 * base name matches. */
struct plan_request {
    struct vec functions; /* char *: patterns of -f and -F */
    struct vec modules;   /* char *: globs of -M: every function of these; and, when functions is
                             not empty, only in these */
    struct vec arguments; /* struct plan_arguments */
    char *cache;          /* a directory where what is found out of files is kept; NULL: none */
};

struct plan_arguments {
    char *function; /* pattern */
    char *names;    /* "arg1,arg3" or DWARF parameter names, joined by ',' */
};

struct planned_function {
    struct heurt_plan plan;
    char *name;           /* demangled */
    char *argument_names; /* joined by ',' */
    size_t module;        /* index among those that the plan is for */
};

struct refused_function {
    char *function, *module, *reason;
};

struct plan {
    struct vec functions; /* struct planned_function */
    struct vec refusals;  /* struct refused_function */
    struct vec biases;    /* uint64_t, of each of the modules that it is for */
    struct vec
        unmatched; /* struct refused_function: what was asked for and is not in these modules;
                      another image, or a library that is loaded later, may have it */
};

/* Plans for the modules as one process has them mapped. */
int plan__make(const struct plan_request *request, const struct trace_module *modules,
               size_t module_count, struct plan **plan, struct error *error);
/* The same for the system calls that the modules make themselves and that may be futex(2)
 * (system_calls.h): each is a planned_function of HEURT_MECHANISM_SYSTEM_CALL. cache: as in struct
 * plan_request. What cannot be read or moved is left out. */
struct plan *plan__system_calls(const struct trace_module *modules, size_t module_count,
                                const char *cache);
/* Makes the plan one for a process that has the same files, in the same order, at other places. */
void plan__move(struct plan *plan, const struct trace_module *modules, size_t module_count);
void plan__free(struct plan *plan);

#endif
