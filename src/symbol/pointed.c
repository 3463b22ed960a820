#include "symbol/pointed.h"

#include "base/memory.h"
#include "symbol/member.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { SCOPES_MAX = 64, TYPE_DEPTH_MAX = 16 };

struct frame {
    const struct frame_state *state;
    const struct stack_memory *memory;
    Dwarf_Addr pc;
    uint64_t base; /* what DW_OP_fbreg counts from; 0: not known */
};

static bool operations_of(Dwarf_Die *die, unsigned name, Dwarf_Addr pc, Dwarf_Op **ops,
                          size_t *count)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, name, &attribute) &&
           dwarf_getlocation_addr(&attribute, pc, ops, count, 1) == 1 && *count;
}

static uint64_t base_of(Dwarf_Die *function, const struct frame *frame)
{
    Dwarf_Op *ops;
    size_t count;
    uint64_t base;
    return operations_of(function, DW_AT_frame_base, frame->pc, &ops, &count) &&
                   expression__value(ops, count, frame->state, frame->memory, true, &base)
               ? base
               : 0;
}

/* What the variable holds there. */
static bool value_of(Dwarf_Die *die, const struct frame *frame, uint64_t *value)
{
    Dwarf_Op *ops;
    size_t count;
    if (!operations_of(die, DW_AT_location, frame->pc, &ops, &count))
        return false;
    if (ops[0].atom != DW_OP_fbreg)
        return expression__value(ops, count, frame->state, frame->memory, false, value);
    return count == 1 && frame->base &&
           stack_memory__read(frame->memory, frame->base + ops[0].number, value);
}

/* ---- types ----------------------------------------------------------------------------------- */

/* name: of the last typedef on the way. */
static bool peel(Dwarf_Die *type, const char **name)
{
    Dwarf_Attribute attribute;
    for (unsigned depth = 0; depth < TYPE_DEPTH_MAX; depth++) {
        int tag = dwarf_tag(type);
        if (tag == DW_TAG_typedef)
            *name = dwarf_diename(type);
        else if (tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
                 tag != DW_TAG_restrict_type)
            return true;
        if (!dwarf_attr_integrate(type, DW_AT_type, &attribute) ||
            !dwarf_formref_die(&attribute, type))
            return false;
    }
    return false;
}

/* pointer: gets the type of the variable, whose type is that of what it points to. */
static bool points_to(Dwarf_Die *variable, Dwarf_Die *pointer, Dwarf_Die *target, const char **name)
{
    Dwarf_Attribute attribute;
    if (!dwarf_attr_integrate(variable, DW_AT_type, &attribute) ||
        !dwarf_formref_die(&attribute, pointer) || !peel(pointer, name))
        return false;
    int tag = dwarf_tag(pointer);
    *name = NULL;
    if ((tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type &&
         tag != DW_TAG_rvalue_reference_type) ||
        !dwarf_attr_integrate(pointer, DW_AT_type, &attribute) ||
        !dwarf_formref_die(&attribute, target) || !peel(target, name))
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

static char *name_in(Dwarf_Die *variable, const struct frame *frame, uint64_t object)
{
    Dwarf_Die pointer, target;
    const char *type;
    uint64_t value;
    if (!points_to(variable, &pointer, &target, &type) || !type || is_of_library(&target) ||
        !value_of(variable, frame, &value) || !value || object - value >= member__size(&pointer))
        return NULL;
    char *path = member__path(&pointer, object - value), *name = NULL;
    if (path[0] == '.')
        name = is_of_c(variable) ? memory__format("%s->%s", dwarf_diename(variable), path + 1)
                                 : memory__format("%s::%s", type, path + 1);
    free(path);
    return name;
}

static char *name_in_scope(Dwarf_Die *scope, const struct frame *frame, uint64_t object)
{
    Dwarf_Die die;
    char *name = NULL;
    if (!dwarf_haschildren(scope) || dwarf_child(scope, &die) != 0)
        return NULL;
    do {
        int tag = dwarf_tag(&die);
        if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && dwarf_diename(&die))
            name = name_in(&die, frame, object);
    } while (!name && dwarf_siblingof(&die, &die) == 0);
    return name;
}

char *pointed__name(struct source *source, uint64_t address, const struct frame_state *state,
                    const struct stack_memory *memory, uint64_t object)
{
    Dwarf_Die scopes[SCOPES_MAX];
    struct frame frame = {.state = state, .memory = memory};
    size_t count = source__scopes(source, address, scopes, SCOPES_MAX, &frame.pc);
    char *name = NULL;
    frame.base = count ? base_of(&scopes[0], &frame) : 0;
    for (size_t i = count; !name && i-- > 0;)
        name = name_in_scope(&scopes[i], &frame, object);
    return name;
}
