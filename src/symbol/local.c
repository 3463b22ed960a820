#include "symbol/local.h"

#include "base/memory.h"
#include "symbol/member.h"
#include "symbol/scope.h"

#include <dwarf.h>
#include <stdlib.h>

enum { RBP = DW_OP_reg6, RSP = DW_OP_reg7 };

struct local_search {
    struct scope_search scope; /* first: the search gives this */
    const struct local_frame *frame;
    uint64_t base; /* what DW_OP_fbreg counts from */
    uint64_t address;
    struct variable *variable;
};

static bool only_operation(Dwarf_Die *die, unsigned name, Dwarf_Addr pc, Dwarf_Op *operation)
{
    Dwarf_Op *operations;
    size_t count;
    if (!scope__operations(die, name, pc, &operations, &count) || count != 1)
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

static void describe(Dwarf_Die *die, uint64_t offset, struct variable *variable)
{
    int line = 0;
    char *path = member__path(die, offset);
    variable->name = memory__format("%s%s", dwarf_diename(die), path);
    variable->file = declaration__file(die);
    variable->line = dwarf_decl_line(die, &line) == 0 && line > 0 ? (uint32_t)line : 0;
    free(path);
}

static bool begin(struct scope_search *scope, Dwarf_Die *function, Dwarf_Addr pc)
{
    struct local_search *search = (struct local_search *)scope;
    search->base = frame_base(function, pc, search->frame);
    return search->base != 0;
}

static bool lies_there(struct scope_search *scope, Dwarf_Die *die, Dwarf_Addr pc)
{
    const struct local_search *search = (struct local_search *)scope;
    Dwarf_Op operation;
    if (!only_operation(die, DW_AT_location, pc, &operation) || operation.atom != DW_OP_fbreg)
        return false;
    uint64_t offset = search->address - (search->base + operation.number);
    if (offset >= member__size(die))
        return false;
    describe(die, offset, search->variable);
    return true;
}

bool local__find(struct source *source, const struct local_frame *frame, uint64_t address,
                 struct variable *variable)
{
    struct local_search search = {
        {begin, lies_there}, .frame = frame, .address = address, .variable = variable};
    return scope__search(source, frame->address, &search.scope);
}
