#include "symbol/pointed.h"

#include "base/memory.h"
#include "symbol/member.h"
#include "symbol/scope.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { TYPE_DEPTH_MAX = 16 };

struct pointed_search {
    struct scope_search scope; /* first: the search gives this */
    const struct frame_state *state;
    const struct stack_memory *memory;
    uint64_t base; /* what DW_OP_fbreg counts from; 0: not known */
    uint64_t object;
    char *name; /* or NULL: not found yet */
};

static bool begin(struct scope_search *scope, Dwarf_Die *function, Dwarf_Addr pc)
{
    struct pointed_search *search = (struct pointed_search *)scope;
    Dwarf_Op *ops;
    size_t count;
    if (!scope__operations(function, DW_AT_frame_base, pc, &ops, &count) ||
        !expression__value(ops, count, search->state, search->memory, true, &search->base))
        search->base = 0;
    return true;
}

/* What the variable holds there. */
static bool value_of(Dwarf_Die *die, Dwarf_Addr pc, const struct pointed_search *search,
                     uint64_t *value)
{
    Dwarf_Op *ops;
    size_t count;
    if (!scope__operations(die, DW_AT_location, pc, &ops, &count))
        return false;
    if (ops[0].atom != DW_OP_fbreg)
        return expression__value(ops, count, search->state, search->memory, false, value);
    return count == 1 && search->base &&
           stack_memory__read(search->memory, search->base + ops[0].number, value);
}

/* ---- types ----------------------------------------------------------------------------------- */

/* name: of the last typedef on the way. */
static bool peel(Dwarf_Die *type, const char **name)
{
    for (unsigned depth = 0; depth < TYPE_DEPTH_MAX; depth++) {
        int tag = dwarf_tag(type);
        if (tag == DW_TAG_typedef)
            *name = dwarf_diename(type);
        else if (tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
                 tag != DW_TAG_restrict_type)
            return true;
        if (!declaration__type(type, type))
            return false;
    }
    return false;
}

/* pointer: gets the type of the variable, whose type is that of what it points to. */
static bool points_to(Dwarf_Die *variable, Dwarf_Die *pointer, Dwarf_Die *target, const char **name)
{
    if (!declaration__type(variable, pointer) || !peel(pointer, name))
        return false;
    int tag = dwarf_tag(pointer);
    *name = NULL;
    if ((tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type &&
         tag != DW_TAG_rvalue_reference_type) ||
        !declaration__type(pointer, target) || !peel(target, name))
        return false;
    tag = dwarf_tag(target);
    if (dwarf_diename(target))
        *name = dwarf_diename(target);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static bool is_of_library(Dwarf_Die *type)
{
    const char *file = declaration__file(type);
    return !file || strncmp(file, "/usr/", 5) == 0;
}

static bool is_of_c(Dwarf_Die *function)
{
    Dwarf_Die unit;
    if (!dwarf_diecu(function, &unit, NULL, NULL))
        return false;
    switch (dwarf_srclang(&unit)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
        return true;
    default:
        return false;
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool points_there(struct scope_search *scope, Dwarf_Die *variable, Dwarf_Addr pc)
{
    struct pointed_search *search = (struct pointed_search *)scope;
    Dwarf_Die pointer, target;
    const char *type;
    uint64_t value;
    if (!points_to(variable, &pointer, &target, &type) || !type || is_of_library(&target) ||
        !value_of(variable, pc, search, &value) || !value ||
        search->object - value >= member__size(&pointer))
        return false;
    char *path = member__path(&pointer, search->object - value);
    if (path[0] == '.')
        search->name = is_of_c(variable)
                           ? memory__format("%s->%s", dwarf_diename(variable), path + 1)
                           : memory__format("%s::%s", type, path + 1);
    free(path);
    return search->name;
}

char *pointed__name(struct source *source, uint64_t address, const struct frame_state *state,
                    const struct stack_memory *memory, uint64_t object)
{
    struct pointed_search search = {
        {begin, points_there}, .state = state, .memory = memory, .object = object};
    scope__search(source, address, &search.scope);
    return search.name;
}
