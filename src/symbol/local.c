#include "symbol/local.h"

#include "base/memory.h"
#include "symbol/member.h"

#include <dwarf.h>
#include <stdlib.h>

enum { SCOPES_MAX = 64, RBP = DW_OP_reg6, RSP = DW_OP_reg7 };

static bool only_operation(Dwarf_Die *die, unsigned name, Dwarf_Addr pc, Dwarf_Op *operation)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t length;
    if (!dwarf_attr_integrate(die, name, &attribute) ||
        dwarf_getlocation_addr(&attribute, pc, &operations, &length, 1) != 1 || length != 1)
        return false;
    *operation = operations[0];
    return true;
}

/* What DW_OP_fbreg counts from; 0: not known. A frame pointer is taken to be where the ABI has it.
 */
static uint64_t frame_base(Dwarf_Die *function, Dwarf_Addr pc, const struct local_frame *frame)
{
    Dwarf_Op operation;
    if (!only_operation(function, DW_AT_frame_base, pc, &operation))
        return 0;
    switch (operation.atom) {
    case DW_OP_call_frame_cfa:
        return frame->frame;
    case RBP:
        return frame->frame - 16;
    case RSP:
        return frame->stack_low;
    default:
        return 0;
    }
}

static bool lies_at(Dwarf_Die *die, Dwarf_Addr pc, uint64_t base, uint64_t address,
                    uint64_t *offset)
{
    Dwarf_Op operation;
    int tag = dwarf_tag(die);
    if ((tag != DW_TAG_variable && tag != DW_TAG_formal_parameter) ||
        !only_operation(die, DW_AT_location, pc, &operation) || operation.atom != DW_OP_fbreg)
        return false;
    *offset = address - (base + operation.number);
    return *offset < member__size(die);
}

static void describe(Dwarf_Die *die, uint64_t offset, struct variable *variable)
{
    int line = 0;
    char *path = member__path(die, offset);
    variable->name = memory__format("%s%s", dwarf_diename(die), path);
    variable->file = declaration__file(die);
    variable->line = dwarf_decl_line(die, &line) == 0 && line > 0 ? (uint32_t)line : 0;
    free(path);
}

static bool find_in(Dwarf_Die *scope, Dwarf_Addr pc, uint64_t base, uint64_t address,
                    struct variable *variable)
{
    Dwarf_Die die;
    uint64_t offset;
    if (!dwarf_haschildren(scope) || dwarf_child(scope, &die) != 0)
        return false;
    do {
        if (dwarf_diename(&die) && lies_at(&die, pc, base, address, &offset)) {
            describe(&die, offset, variable);
            return true;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

bool local__find(struct source *source, const struct local_frame *frame, uint64_t address,
                 struct variable *variable)
{
    Dwarf_Die scopes[SCOPES_MAX];
    Dwarf_Addr pc;
    size_t count = source__scopes(source, frame->address, scopes, SCOPES_MAX, &pc);
    uint64_t base = count ? frame_base(&scopes[0], pc, frame) : 0;
    for (size_t i = count; base && i-- > 0;) {
        if (find_in(&scopes[i], pc, base, address, variable))
            return true;
    }
    return false;
}
