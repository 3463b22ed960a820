/* source.h: from an address to functions, files and lines, by one file's DWARF.
 *
 * Tables of unit and function ranges are made once, the functions' when their unit is first asked
 * for, so that neither the compiler's .debug_aranges nor a walk of the whole unit is needed.
 *
 * In goes an address of a file, out come the functions, inlined ones too, and lines there. It
 * stands on libdw and interval.h. One thread at a time. */
#ifndef HEURT_SYMBOL_SOURCE_H
#define HEURT_SYMBOL_SOURCE_H

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

struct source;

/* NULL when the module has no DWARF. Valid as long as the module. */
struct source *source__open(Dwfl_Module *module);
void source__free(struct source *source); /* NULL is allowed */

/* One function at an address: the innermost inlined one, or one that holds it. */
struct source_frame {
    const char *name; /* linkage name where there is one; NULL: no function, a line only */
    const char *file; /* or NULL */
    uint32_t line;    /* 0: not known */
};

/* Fills at most max frames, innermost first, and returns how many there are (0: nothing known).
 * The last one is the function that is not inlined. */
size_t source__frames(struct source *source, uint64_t address, struct source_frame *frames,
                      size_t max);

/* The function that a compiler made the one at address of a part of, which is at its lines: its
 * linkage name where there is one; NULL: not known. Functions that have no name of the user's
 * (outlined.h) are passed over. The first time in a unit it costs a walk through all its lines. */
const char *source__user_function(struct source *source, uint64_t address);

/* Fills at most max DIEs of the function at address, of what is inlined there and of the blocks
 * that hold it, outermost first, and returns how many there are. pc: the address as the DWARF has
 * it. */
size_t source__scopes(struct source *source, uint64_t address, Dwarf_Die *scopes, size_t max,
                      Dwarf_Addr *pc);

#endif
