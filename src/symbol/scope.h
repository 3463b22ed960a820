/* scope.h: the variables that code at an address sees.
 *
 * In goes an address of a file, out comes each variable and parameter with a name, those of inner
 * blocks first. It costs a pass over the function's debug information. It stands on source.h. */
#ifndef HEURT_SYMBOL_SCOPE_H
#define HEURT_SYMBOL_SCOPE_H

#include "symbol/source.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* Who looks for a variable. pc: the address as the debug information counts it. */
struct scope_search {
    /* Told first; false: the search is over. */
    bool (*begin)(struct scope_search *self, Dwarf_Die *function, Dwarf_Addr pc);
    /* True: it is found, and the search is over. */
    bool (*variable)(struct scope_search *self, Dwarf_Die *variable, Dwarf_Addr pc);
};

bool scope__search(struct source *source, uint64_t address, struct scope_search *search);

/* The operations of an attribute that tells a place, as it is at pc. */
bool scope__operations(Dwarf_Die *die, unsigned attribute, Dwarf_Addr pc, Dwarf_Op **operations,
                       size_t *count);

#endif
