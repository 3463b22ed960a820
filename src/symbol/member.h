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
/* Where a member begins in its struct; false: it is no part that lies at a fixed place. */
bool member__offset(Dwarf_Die *member, uint64_t *offset);
/* The lengths of an array's dimensions, outermost first; 0 where not known. array: itself, no
 * typedef of it. */
enum { ARRAY_DIMENSIONS_MOST = 8 };
size_t array__dimensions(const Dwarf_Die *array, uint64_t lengths[ARRAY_DIMENSIONS_MOST]);

/* The bit fields of a struct that lie in the same bytes, or in the same unit of their type: an
 * access does not tell which of them is meant. */
struct bit_fields {
    uint64_t offset, bytes; /* of all of them together */
    char *name;             /* "level", "level–seen"; free() it */
};
/* member: one of them. False: it is not the first, or has no name, or no place. */
bool bit_fields__of(const Dwarf_Die *record, Dwarf_Die *member, struct bit_fields *found);

/* Bytes of its type, 0: not known. */
uint64_t member__size(Dwarf_Die *variable);
/* The same of a type itself. */
uint64_t type__size(const Dwarf_Die *type);

/* What lies at an offset of an object. */
struct member_place {
    char *path;      /* as member__path has it; free() it */
    Dwarf_Die type;  /* of what has no members itself */
    uint64_t inside; /* the offset in that */
};
/* stride: if not 0, the offset is one of several, so far apart, the first one: it must be the first
 * element of an array with elements of that size, which the path has as "[]". is_own: names that
 * libraries keep for themselves are told, too. False: nothing is there. */
bool member__find(const Dwarf_Die *type, uint64_t offset, uint64_t stride, bool is_own,
                  struct member_place *place);

#endif
