/* member.h: from an offset in an object to the member there, by the DWARF of its type.
 *
 * In goes a DIE and an offset, out comes a path such as ".head.lock". It costs a walk of the types
 * down to there. It stands on libdw. */
#ifndef HEURT_SYMBOL_MEMBER_H
#define HEURT_SYMBOL_MEMBER_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is to be written behind the object's name: ".choice.guard", "[3].lock"; empty for the object
 * itself. It ends at what the source calls a lock, not within the library's own insides, and with
 * "+0x28" where no member is there. variable: a DIE that has a type. free() it. */
char *member__path(Dwarf_Die *variable, uint64_t offset);

/* Where the DIE is declared, by its unit's own table: since DWARF 5 file 0 is one, too, which
 * dwarf_decl_file does not know. NULL: not told. Valid as long as the Dwarf. */
const char *declaration__file(Dwarf_Die *die);

/* The type that it names, which may be die itself afterwards. A class in a type unit is only
 * declared where it is used: here it is the whole one. False: it has none. */
bool declaration__type(Dwarf_Die *die, Dwarf_Die *type);
/* Bytes of its type, 0: not known. */
uint64_t member__size(Dwarf_Die *variable);

#endif
