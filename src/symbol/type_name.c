#include "symbol/type_name.h"

#include "base/memory.h"
#include "base/text.h"
#include "symbol/member.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16 };

static bool is_alias(int tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

bool type__bare(const Dwarf_Die *type, Dwarf_Die *bare)
{
    Dwarf_Die next = *type;
    for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
        if (!is_alias(dwarf_tag(&next))) {
            *bare = next;
            return true;
        }
        if (!declaration__type(&next, &next))
            return false;
    }
    return false;
}

static int bare_tag(const Dwarf_Die *type, Dwarf_Die *bare)
{
    return type__bare(type, bare) ? dwarf_tag(bare) : 0;
}

bool type__is_record(const Dwarf_Die *type)
{
    Dwarf_Die bare;
    int tag = bare_tag(type, &bare);
    return (tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type) &&
           !dwarf_hasattr(&bare, DW_AT_declaration);
}

bool type__is_pointer(const Dwarf_Die *type)
{
    Dwarf_Die bare;
    int tag = bare_tag(type, &bare);
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
           tag == DW_TAG_rvalue_reference_type;
}

bool type__target(const Dwarf_Die *type, Dwarf_Die *target)
{
    Dwarf_Die bare, pointed;
    return type__is_pointer(type) && type__bare(type, &bare) && declaration__type(&bare, target) &&
           type__bare(target, &pointed);
}

bool type__element(const Dwarf_Die *type, Dwarf_Die *element)
{
    Dwarf_Die bare;
    return bare_tag(type, &bare) == DW_TAG_array_type && declaration__type(&bare, element);
}

bool type__is_of_library(const Dwarf_Die *type)
{
    Dwarf_Die bare;
    const char *file = type__bare(type, &bare) ? declaration__file(&bare) : NULL;
    return file && strncmp(file, "/usr/", 5) == 0;
}

bool type__is_same(const Dwarf_Die *one, const Dwarf_Die *other)
{
    Dwarf_Die left, right;
    return type__bare(one, &left) && type__bare(other, &right) && left.addr == right.addr;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Moves die to its last child that begins at offset or before. */
static bool descend(Dwarf_Die *die, Dwarf_Off offset)
{
    Dwarf_Die child, next;
    if (!dwarf_haschildren(die) || dwarf_child(die, &child) != 0 ||
        dwarf_dieoffset(&child) > offset)
        return false;
    while (dwarf_siblingof(&child, &next) == 0 && dwarf_dieoffset(&next) <= offset)
        child = next;
    *die = child;
    return true;
}

static bool is_scope(Dwarf_Die *die)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_namespace:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        return dwarf_diename(die) != NULL;
    default:
        return false;
    }
}

/* With the namespaces and classes around it, which stand where it is declared. */
static char *scoped_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die scope, declared;
    char *name = memory__text("");
    if (dwarf_attr(die, DW_AT_specification, &attribute) &&
        dwarf_formref_die(&attribute, &declared) && dwarf_diename(&declared))
        die = &declared;
    Dwarf_Off offset = dwarf_dieoffset(die);
    if (!dwarf_cu_die(die->cu, &scope, NULL, NULL, NULL, NULL, NULL, NULL))
        return text__append(name, "%s", dwarf_diename(die));
    for (unsigned depth = 0; depth < DEPTH_MAX && descend(&scope, offset); depth++) {
        if (dwarf_dieoffset(&scope) == offset)
            break;
        if (is_scope(&scope))
            name = text__append(name, "%s::", dwarf_diename(&scope));
    }
    return text__append(name, "%s", dwarf_diename(die));
}

static char *name_of(const Dwarf_Die *type, unsigned depth);

static char *pointer_name(Dwarf_Die *pointer, unsigned depth)
{
    Dwarf_Die target;
    const char *mark = dwarf_tag(pointer) == DW_TAG_pointer_type ? "*" : "&";
    char *of = type__target(pointer, &target) ? name_of(&target, depth + 1) : memory__text("void");
    if (!of)
        return NULL;
    char *name = memory__format("%s%s%s", of, of[strlen(of) - 1] == '*' ? "" : " ", mark);
    free(of);
    return name;
}

/* The first typedef on the way that the program itself has; a name that a library gives to types
 * that it gets tells nothing. */
static bool own_typedef(const Dwarf_Die *type, Dwarf_Die *found)
{
    Dwarf_Die next = *type;
    for (unsigned depth = 0; depth < DEPTH_MAX && is_alias(dwarf_tag(&next)); depth++) {
        const char *file = dwarf_tag(&next) == DW_TAG_typedef ? declaration__file(&next) : NULL;
        if (file && strncmp(file, "/usr/", 5) != 0) {
            *found = next;
            return true;
        }
        if (!declaration__type(&next, &next))
            return false;
    }
    return false;
}

/* The last typedef on the way, whoever has it. */
static bool last_typedef(const Dwarf_Die *type, Dwarf_Die *found)
{
    Dwarf_Die next = *type;
    bool is_found = false;
    for (unsigned depth = 0; depth < DEPTH_MAX && is_alias(dwarf_tag(&next)); depth++) {
        if (dwarf_tag(&next) == DW_TAG_typedef) {
            *found = next;
            is_found = true;
        }
        if (!declaration__type(&next, &next))
            break;
    }
    return is_found;
}

static char *name_of(const Dwarf_Die *type, unsigned depth)
{
    Dwarf_Die bare, alias;
    if (depth > DEPTH_MAX)
        return NULL;
    if (own_typedef(type, &alias))
        return scoped_name(&alias);
    if (!type__bare(type, &bare))
        return NULL;
    if (type__is_pointer(&bare))
        return pointer_name(&bare, depth);
    if (dwarf_diename(&bare))
        return scoped_name(&bare);
    return last_typedef(type, &alias) ? scoped_name(&alias) : NULL;
}

char *type__name(const Dwarf_Die *type)
{
    return name_of(type, 0);
}
