/* functions.h: the functions of one ELF file, by address: names from its symbol tables (.symtab,
 * .dynsym, .gnu_debugdata, a debug file found by build-id or link), and where unwind information
 * tells it, the beginning of functions that have no name.
 *
 * An object is used by one thread at a time. */
#ifndef HEURT_SYMBOL_FUNCTIONS_H
#define HEURT_SYMBOL_FUNCTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module_functions;

/* Reads the file. Negative errno with a sentence; module_functions__close it. */
int module_functions__open(const char *path, struct module_functions **functions,
                           struct error *error);
void module_functions__close(struct module_functions *functions); /* NULL is allowed */

/* The address that a loaded byte of the file gets (without bias); false: it is not loaded. */
bool module_functions__address(const struct module_functions *functions, uint64_t file_offset,
                               uint64_t *file_address);

/* The other way round. */
bool module_functions__offset(const struct module_functions *functions, uint64_t file_address,
                              uint64_t *file_offset);

/* The symbol of the function around an address in the file, as in the symbol table (mangled,
 * perhaps with a version), or NULL. *start is where the function begins; without a name, where
 * unwind information says so, else file_address itself. */
const char *module_functions__find(const struct module_functions *functions, uint64_t file_address,
                                   uint64_t *start);

/* The name of the section with that address (".plt", ".text"), or NULL. */
const char *module_functions__section(const struct module_functions *functions,
                                      uint64_t file_address);

/* DT_SONAME, or NULL. */
const char *module_functions__soname(const struct module_functions *functions);

/* How many functions have a name. */
size_t module_functions__count(const struct module_functions *functions);

/* What else decides how well a module can be recorded. */
struct module_traits {
    bool is_position_independent;
    bool has_endbr64; /* built for indirect branch tracking: functions begin with endbr64 */
    bool has_unwind_table;
    size_t unwound_functions; /* entries of that table */
};

struct module_traits module_functions__traits(const struct module_functions *functions);

#endif
