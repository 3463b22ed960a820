/* binary.h: what kind of program a file is, before it is started.
 *
 * In goes a program's name, out come its path and what it is, or a sentence. It costs a search
 * along PATH and a look at the file's headers. It stands on libelf and libdwelf. */
#ifndef HEURT_SYMBOL_BINARY_H
#define HEURT_SYMBOL_BINARY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct binary {
    char *path;  /* found along PATH as execvp would */
    bool is_elf; /* else a script or something only the kernel knows */
    bool is_64bit_x86;
    bool has_interpreter; /* dynamically linked: LD_PRELOAD works */
    bool is_privileged;   /* setuid, setgid or file capabilities that this user does not have */
    bool has_symbols;     /* .symtab */
    bool is_go;           /* by the section that Go's linker writes */
    char *first_library;  /* a sanitizer's, needed and wanting to be loaded first; or NULL */
    bool needs_mpi;       /* a library of MPI is among those that it needs itself */
    bool has_debug_info;  /* .debug_info, or a debug file found by build-id or link */
};

/* Finds name along PATH and inspects it. -ENOENT, -EACCES, -ENOEXEC with a sentence.
 * Fills *binary; binary__free it. */
int binary__inspect(const char *name, struct binary *binary, struct error *error);
void binary__free(struct binary *binary); /* leaves it empty */

/* Whether the library, a file's name or path, is a sanitizer's that insists on being loaded first.
 */
bool binary__wants_to_be_first(const char *library);

/* Whether a runtime can be loaded into it at all. When not, the error says why and what to do
 * (32-bit or foreign, statically linked, privileged). Scripts can: their interpreter is asked. */
bool binary__is_recordable(const struct binary *binary, struct error *error);

#endif
