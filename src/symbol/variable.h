/* variable.h: from a data address to the static object, or field of one, that lies there.
 *
 * In goes a data address of a file, out come the object's name and where it is declared. The first
 * question costs a walk of the file's DWARF, others a search. It stands on libdwfl, interval.h and
 * member.h. One thread at a time. */
#ifndef HEURT_SYMBOL_VARIABLE_H
#define HEURT_SYMBOL_VARIABLE_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

struct variables;

/* The objects of one file; what DWARF has is read when the first of them is asked for. With a
 * symbol table, what is in none of its objects is nothing. Valid as long as the module. */
struct variables *variables__open(Dwfl_Module *module, bool has_symbol_table);
void variables__free(struct variables *variables); /* NULL is allowed */

struct variable {
    char *name;       /* "queue.head_lock", "tables[3].lock", "cache::mutex"; free() it */
    const char *file; /* where it is declared; NULL: not known */
    uint32_t line;
};

/* address: as in the file. False: nothing with a name. */
bool variables__find(struct variables *variables, uint64_t address, struct variable *variable);

/* The DIE of the object at that address, and where it begins. */
bool variables__object(struct variables *variables, uint64_t address, Dwarf_Die *die,
                       uint64_t *begin);
/* Its name: "cache::table"; free() it. NULL: it has none. */
char *variable__name(Dwarf_Die *die);

#endif
