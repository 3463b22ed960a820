/* program_frame.h: the program's own code in a call: code of the system (libc, libstdc++, libgomp
 * and their headers) works on behalf of its caller. Symbols belong to the table they come from. For
 * analysis/ and present/. */
#ifndef HEURT_ANALYSIS_CALLSITE_PROGRAM_FRAME_H
#define HEURT_ANALYSIS_CALLSITE_PROGRAM_FRAME_H

#include "analysis/callsite/definition.h"
#include "format/symbols.h"

/* Code of the system, or of heurt's own library. */
bool symbol__is_system(const struct symbol *symbol);

/* Code of a runtime of OpenMP. */
bool symbol__is_of_openmp(const struct symbol *symbol);

/* The first frame of the program in a chain of inlined calls; NULL: none is. */
const struct symbol *program_frame__inlined(const struct symbol *symbol);

/* The first frame of the program in the class's most frequent stack, from its site (or, of a
 * function, from the top) outwards; NULL: not known. */
const struct symbol *program_frame__in_stack(const struct symbols *symbols,
                                             const struct class_definition *class);

/* It gives memory on behalf of its caller, by its name: xmalloc, g_malloc0, Pool::allocate. */
bool symbol__allocates(const struct symbol *symbol);

/* A runtime's own scheduler waits there for work, of which the program tells nothing. */
bool program_frame__is_scheduler(const struct symbols *symbols,
                                 const struct class_definition *class);
/* The class waits by something else (a condition, a futex, a semaphore, descriptors) in code that
 * takes a lock on behalf of its caller: a monitor, or a lock of the program's own, by the names in
 * its stack. */
bool program_frame__takes_lock(const struct symbols *symbols, const struct class_definition *class);

/* That lock is the one under which CPython runs what is written in Python. */
bool program_frame__takes_gil(const struct symbols *symbols, const struct class_definition *class);

/* Where the program is in an occurrence of the class: of a function of its own, that; else who
 * calls. NULL: not known. */
const struct symbol *program_frame__of_class(const struct symbols *symbols,
                                             const struct class_definition *class);

#endif
