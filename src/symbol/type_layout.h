/* type_layout.h: the fields of a struct, with those of the structs in it.
 *
 * In goes the DIE of a type, out comes each field: its offset, its bytes, and its path
 * ("head.next"). Arrays ("counts[]"), unions, and what libraries define are not taken apart, bit
 * fields left out. It costs a walk of the type. It stands on member.h. */
#ifndef HEURT_SYMBOL_TYPE_LAYOUT_H
#define HEURT_SYMBOL_TYPE_LAYOUT_H

#include "base/vec.h"

#include <elfutils/libdw.h>
#include <stdint.h>

struct layout_field {
    uint64_t offset, bytes;
    char *path;
};

/* At most so many are found. */
enum { LAYOUT_FIELDS_MOST = 64 };

/* struct layout_field, in the order in which they are declared; type_layout__free it. */
struct vec type_layout__fields(const Dwarf_Die *type);
void type_layout__free(struct vec *fields);

#endif
