/* type_layout.h: the fields of a struct, with those of the structs in it.
 *
 * In goes the DIE of a type, out comes each field: its offset, its bytes, and its path
 * ("head.next", "rows[].hits"). Unions, and what libraries define, are not taken apart; bit fields
 * that share bytes are one. It costs a walk of the type. It stands on member.h. */
#ifndef HEURT_SYMBOL_TYPE_LAYOUT_H
#define HEURT_SYMBOL_TYPE_LAYOUT_H

#include "base/vec.h"
#include "format/symbols.h"

#include <elfutils/libdw.h>
#include <stdint.h>

/* At most so many are found. */
enum { LAYOUT_FIELDS_MOST = 64 };

/* struct symbol_member, in the order in which they are declared, none of what is no struct;
 * type_layout__free it. */
struct vec type_layout__fields(const Dwarf_Die *type);
void type_layout__free(struct vec *fields);

#endif
