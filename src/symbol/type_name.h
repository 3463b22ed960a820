/* type_name.h: types by DWARF: what they are, and how the source names them.
 *
 * In go DIEs of types, out come names ("lreg_args", "Counter<int>", "Pool::Slot") and the types of
 * what pointers point to. A name costs a descent from the unit to the type. It stands on member.h.
 */
#ifndef HEURT_SYMBOL_TYPE_NAME_H
#define HEURT_SYMBOL_TYPE_NAME_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* Without qualifiers and typedefs. False: void, or it leads nowhere. */
bool type__bare(const Dwarf_Die *type, Dwarf_Die *bare);
/* A struct, class or union that is not only declared. */
bool type__is_record(const Dwarf_Die *type);
/* What a pointer or reference points to, with its typedefs; false: no pointer, or one to void. */
bool type__target(const Dwarf_Die *type, Dwarf_Die *target);
bool type__is_pointer(const Dwarf_Die *type);
/* Of an array: of its elements, without dimensions. */
bool type__element(const Dwarf_Die *type, Dwarf_Die *element);
/* Defined where libraries are installed. */
bool type__is_of_library(const Dwarf_Die *type);
/* The same type, whatever it is called. */
bool type__is_same(const Dwarf_Die *one, const Dwarf_Die *other);

/* As the source names it: by its typedef where that is the program's own. free() it; NULL: it has
 * none. */
char *type__name(const Dwarf_Die *type);

#endif
