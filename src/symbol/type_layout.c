#include "symbol/type_layout.h"

#include "base/memory.h"
#include "symbol/member.h"
#include "symbol/type_name.h"

#include <dwarf.h>
#include <stdlib.h>

enum { DEPTH_MAX = 8 };

static void add_fields(struct vec *fields, const Dwarf_Die *type, uint64_t at, const char *path,
                       unsigned depth);

static bool is_taken_apart(const Dwarf_Die *type)
{
    Dwarf_Die bare;
    return type__is_record(type) && type__bare(type, &bare) &&
           dwarf_tag(&bare) != DW_TAG_union_type && !type__is_of_library(type);
}

static void add_member(struct vec *fields, Dwarf_Die *member, uint64_t at, const char *path,
                       unsigned depth)
{
    Dwarf_Die type, element;
    uint64_t offset;
    const char *name = dwarf_diename(member);
    if (dwarf_hasattr(member, DW_AT_bit_size) || !declaration__type(member, &type) ||
        !member__offset(member, &offset))
        return;
    bool is_named = dwarf_tag(member) == DW_TAG_member && name && *name;
    bool is_array = type__element(&type, &element);
    char *own = is_named
                    ? memory__format("%s%s%s%s", path, *path ? "." : "", name, is_array ? "[]" : "")
                    : memory__text(path);
    if (is_taken_apart(&type)) {
        add_fields(fields, &type, at + offset, own, depth + 1);
    } else if (is_named && fields->count < LAYOUT_FIELDS_MOST) {
        vec__push(fields, &(struct layout_field){at + offset, type__size(&type), own});
        return;
    }
    free(own);
}

static void add_fields(struct vec *fields, const Dwarf_Die *type, uint64_t at, const char *path,
                       unsigned depth)
{
    Dwarf_Die bare, child;
    if (depth > DEPTH_MAX || !type__bare(type, &bare) || dwarf_child(&bare, &child) != 0)
        return;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
            add_member(fields, &child, at, path, depth);
    } while (fields->count < LAYOUT_FIELDS_MOST && dwarf_siblingof(&child, &child) == 0);
}

struct vec type_layout__fields(const Dwarf_Die *type)
{
    struct vec fields = VEC_OF(struct layout_field);
    if (is_taken_apart(type))
        add_fields(&fields, type, 0, "", 0);
    return fields;
}

void type_layout__free(struct vec *fields)
{
    VEC_EACH (field, fields, struct layout_field)
        free(field->path);
    vec__free(fields);
}
