#include "symbol/type_layout.h"

#include "base/memory.h"
#include "symbol/member.h"
#include "symbol/type_name.h"

#include <dwarf.h>
#include <stdlib.h>

enum { DEPTH_MAX = 8 };

/* Where a struct is: what its fields have in common. path: the text is another's. */
struct layout_place {
    struct symbol_member at; /* its bytes are not used */
    unsigned depth;
};

static void add_fields(struct vec *fields, const Dwarf_Die *type, const struct layout_place *place);

static bool is_taken_apart(const Dwarf_Die *type)
{
    Dwarf_Die bare;
    return type__is_record(type) && type__bare(type, &bare) &&
           dwarf_tag(&bare) != DW_TAG_union_type && !type__is_of_library(type);
}

/* "[]" for each dimension. False: there are too many, or what an element takes is not known. */
static bool enter_array(struct symbol_member *at, char **path, const Dwarf_Die *type,
                        Dwarf_Die *element)
{
    Dwarf_Die bare;
    uint64_t lengths[ARRAY_DIMENSIONS_MOST], stride = type__size(element);
    size_t count = type__bare(type, &bare) ? array__dimensions(&bare, lengths) : 0;
    if (!stride || !count || at->array_count + count > SYMBOL_ARRAYS_MOST)
        return false;
    for (size_t i = count; i-- > 0;) {
        at->arrays[at->array_count + i] = (struct symbol_array){stride, lengths[i]};
        stride *= lengths[i] ? lengths[i] : 1;
    }
    for (size_t i = 0; i < count; i++) {
        char *longer = memory__format("%s[]", *path);
        free(*path);
        *path = longer;
    }
    at->array_count += (unsigned)count;
    return true;
}

static void push(struct vec *fields, struct symbol_member field, uint64_t bytes, char *path)
{
    field.bytes = bytes;
    field.path = path;
    vec__push(fields, &field);
}

static void add_bits(struct vec *fields, const Dwarf_Die *record, Dwarf_Die *member,
                     const struct layout_place *place)
{
    struct bit_fields bits;
    struct symbol_member field = place->at;
    if (!bit_fields__of(record, member, &bits))
        return;
    field.offset += bits.offset;
    push(fields, field, bits.bytes,
         memory__format("%s%s%s", place->at.path, *place->at.path ? "." : "", bits.name));
    free(bits.name);
}

static void add_member(struct vec *fields, Dwarf_Die *member, const struct layout_place *place)
{
    Dwarf_Die type, element;
    struct layout_place own = {place->at, place->depth + 1};
    uint64_t offset;
    const char *name = dwarf_diename(member);
    if (!declaration__type(member, &type) || !member__offset(member, &offset))
        return;
    bool is_named = dwarf_tag(member) == DW_TAG_member && name && *name;
    char *path = is_named
                     ? memory__format("%s%s%s", place->at.path, *place->at.path ? "." : "", name)
                     : memory__text(place->at.path);
    own.at.offset += offset;
    while (type__element(&type, &element) && enter_array(&own.at, &path, &type, &element))
        type = element;
    own.at.path = path;
    if (is_taken_apart(&type)) {
        add_fields(fields, &type, &own);
    } else if (is_named && fields->count < LAYOUT_FIELDS_MOST) {
        push(fields, own.at, type__size(&type), path);
        return;
    }
    free(path);
}

static void add_fields(struct vec *fields, const Dwarf_Die *type, const struct layout_place *place)
{
    Dwarf_Die bare, child;
    if (place->depth > DEPTH_MAX || !type__bare(type, &bare) || dwarf_child(&bare, &child) != 0)
        return;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_member && dwarf_hasattr(&child, DW_AT_bit_size))
            add_bits(fields, &bare, &child, place);
        else if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
            add_member(fields, &child, place);
    } while (fields->count < LAYOUT_FIELDS_MOST && dwarf_siblingof(&child, &child) == 0);
}

struct vec type_layout__fields(const Dwarf_Die *type)
{
    struct vec fields = VEC_OF(struct symbol_member);
    if (is_taken_apart(type))
        add_fields(&fields, type, &(struct layout_place){.at = {.path = ""}});
    return fields;
}

void type_layout__free(struct vec *fields)
{
    VEC_EACH (field, fields, struct symbol_member)
        free((char *)field->path);
    vec__free(fields);
}
