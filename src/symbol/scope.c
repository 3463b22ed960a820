#include "symbol/scope.h"

#include <dwarf.h>

enum { SCOPES_MAX = 64 };

static bool search_in(Dwarf_Die *scope, Dwarf_Addr pc, struct scope_search *search)
{
    Dwarf_Die die;
    if (!dwarf_haschildren(scope) || dwarf_child(scope, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);
        if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && dwarf_diename(&die) &&
            search->variable(search, &die, pc))
            return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

bool scope__search(struct source *source, uint64_t address, struct scope_search *search)
{
    Dwarf_Die scopes[SCOPES_MAX];
    Dwarf_Addr pc;
    size_t count = source__scopes(source, address, scopes, SCOPES_MAX, &pc);
    bool is_found = false;
    if (!count || !search->begin(search, &scopes[0], pc))
        return false;
    for (size_t i = count; !is_found && i-- > 0;)
        is_found = search_in(&scopes[i], pc, search);
    return is_found;
}

bool scope__operations(Dwarf_Die *die, unsigned name, Dwarf_Addr pc, Dwarf_Op **operations,
                       size_t *count)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, name, &attribute) &&
           dwarf_getlocation_addr(&attribute, pc, operations, count, 1) == 1 && *count;
}
