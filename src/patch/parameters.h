/* parameters.h: what a function takes, from DWARF or from its mangled name.
 *
 * In goes a function, out come its parameters in order, and where its result goes. It costs a walk
 * of its DIE. It stands on libdw and symbol/name.h. */
#ifndef HEURT_PATCH_PARAMETERS_H
#define HEURT_PATCH_PARAMETERS_H

#include "patch/code_file.h"

#include <stdbool.h>

enum parameter_class {
    PARAMETER_INTEGER,  /* takes the next integer register */
    PARAMETER_FLOATING, /* takes none of these */
    PARAMETER_OTHER,    /* by value in memory, or in several registers: not followed */
};

struct parameter {
    const char *name; /* owned by the file; NULL: has none */
    enum parameter_class class;
};

enum result_place {
    RESULT_IN_REGISTERS,
    RESULT_IN_MEMORY, /* a hidden first parameter tells where */
    RESULT_UNKNOWN,
};

struct parameters {
    struct vec items; /* struct parameter */
    bool variadic;
    bool altered; /* the compiler does not keep to the ABI for this function */
    enum result_place result;
};

/* Reads them from DWARF. False: there is none for this function. vec__free(&items) if true. */
bool parameters__read(const struct code_file *file, const struct code_function *function,
                      struct parameters *parameters);

/* Whether it is certain that the function takes nothing on the stack. */
bool parameters__fit_registers(const struct code_file *file, const struct code_function *function);

/* The same from a C++ symbol alone: all its parameters are numbers, pointers or references and fit
 * even if there is a this and a hidden place for the result. */
bool symbol__fits_registers(const char *symbol);

#endif
