/* denylist.h: functions that are not patched because of what they are.
 *
 * In go names of a module and a function, out comes a sentence, a constant, or NULL. It costs a
 * search in a table, and stands on nothing. */
#ifndef HEURT_PATCH_DENYLIST_H
#define HEURT_PATCH_DENYLIST_H

#include <stdbool.h>

/* Why the function name of the module with that base name must not be patched, or NULL. */
const char *denylist__function(const char *module, const char *name);

/* Why heurt does not choose that function by itself, which a user may: the C library's and the
 * OpenMP runtimes' own waits and the insides of malloc and of other allocators are their caller's
 * time. name: without a version; NULL: it has none. NULL: it may be chosen. */
const char *denylist__chosen(const char *module, const char *name);

/* Why a system call that the function makes itself is none of ours, or NULL: of the C library and
 * the loader, only the wait for their own locks (stdio, malloc, …) is told by no hook. */
const char *denylist__system_call(const char *module, const char *name);

/* The runtime itself and what is not a file (the vdso): nothing of these is ever asked for by a
 * pattern. The sentence says why, for a user who names them. NULL for any other module. */
const char *denylist__module(const char *module);

/* Chosen at run time by the C library; their versions take nothing on the stack. */
bool denylist__is_c_library(const char *module);

#endif
