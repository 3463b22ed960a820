#include "symbol/variable.h"

#include "base/memory.h"
#include "base/vec.h"
#include "symbol/interval.h"
#include "symbol/member.h"
#include "symbol/name.h"

#include <dwarf.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Which DIEs have been read: those of functions, of which there are many, only when an object was
 * not found among the others. */
enum variable_level { LEVEL_NONE, LEVEL_GLOBAL, LEVEL_LOCAL };

struct variables {
    Dwfl_Module *module;
    bool has_symbol_table;
    struct vec names;   /* const char *: of the symbols, as they stand in the file */
    struct vec symbols; /* struct address_interval: values are indices into names */
    enum variable_level level;
    Dwarf_Addr bias;  /* what to subtract from an address for the Dwarf's own */
    struct vec dies;  /* Dwarf_Die */
    struct vec found; /* struct address_interval: values are indices into dies */
};

/* ---- the symbol table ------------------------------------------------------------------------ */

static uint32_t rank_of(const GElf_Sym *symbol, const char *name)
{
    return (GELF_ST_BIND(symbol->st_info) == STB_LOCAL ? 0 : 2) + (name[0] == '_' ? 0 : 1);
}

static void read_symbols(struct variables *variables)
{
    int count = dwfl_module_getsymtab(variables->module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name =
            dwfl_module_getsym_info(variables->module, i, &symbol, &address, NULL, NULL, NULL);
        if (!name || !*name || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || !symbol.st_size ||
            symbol.st_shndx == SHN_UNDEF)
            continue;
        intervals__add(&variables->symbols, address, address + symbol.st_size,
                       rank_of(&symbol, name), (uint32_t)variables->names.count);
        vec__push(&variables->names, &name);
    }
    intervals__sort(&variables->symbols);
}

struct variables *variables__open(Dwfl_Module *module, bool has_symbol_table)
{
    struct variables *variables = memory__zeroed(1, sizeof *variables);
    *variables = (struct variables){.module = module,
                                    .has_symbol_table = has_symbol_table,
                                    .names = VEC_OF(const char *),
                                    .symbols = INTERVALS,
                                    .dies = VEC_OF(Dwarf_Die),
                                    .found = INTERVALS};
    read_symbols(variables);
    return variables;
}

void variables__free(struct variables *variables)
{
    if (!variables)
        return;
    vec__free(&variables->names);
    vec__free(&variables->symbols);
    vec__free(&variables->dies);
    vec__free(&variables->found);
    free(variables);
}

/* ---- DWARF ----------------------------------------------------------------------------------- */

/* The address of a variable that has one in the file: a location of this one operation. */
static bool address_of(Dwarf_Die *die, Dwarf_Addr *address)
{
    Dwarf_Attribute location, indexed;
    Dwarf_Op *operations;
    size_t count;
    if (!dwarf_attr(die, DW_AT_location, &location) ||
        dwarf_getlocation(&location, &operations, &count) != 0 || count != 1)
        return false;
    switch (operations[0].atom) {
    case DW_OP_addr:
        *address = operations[0].number;
        return true;
    case DW_OP_addrx:
    case DW_OP_GNU_addr_index:
        return dwarf_getlocation_attr(&location, operations, &indexed) == 0 &&
               dwarf_formaddr(&indexed, address) == 0;
    default:
        return false;
    }
}

static void add_variable(struct variables *variables, Dwarf_Die *die)
{
    Dwarf_Addr address;
    if (!address_of(die, &address))
        return;
    uint64_t bytes = member__size(die);
    intervals__add(&variables->found, address, address + (bytes ? bytes : 1), 0,
                   (uint32_t)variables->dies.count);
    vec__push(&variables->dies, die);
}

/* Whether variables of that level stand in such a DIE. */
static bool holds_variables(int tag, enum variable_level level)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
        return true;
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
        return level == LEVEL_LOCAL;
    default:
        return false;
    }
}

enum { DEPTH_MAX = 64 };

static void add_variables(struct variables *variables, Dwarf_Die *parent, enum variable_level level,
                          unsigned depth)
{
    Dwarf_Die die;
    if (depth > DEPTH_MAX || !dwarf_haschildren(parent) || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_variable)
            add_variable(variables, &die);
        else if (holds_variables(tag, level))
            add_variables(variables, &die, level, depth + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
}

static void read_level(struct variables *variables, enum variable_level level)
{
    Dwarf *dwarf = dwfl_module_getdwarf(variables->module, &variables->bias);
    Dwarf_CU *cu = NULL;
    uint8_t type;
    Dwarf_Die die, sub;
    variables->level = level;
    variables->dies.count = variables->found.count = 0;
    while (dwarf && dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, &sub) == 0)
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            add_variables(variables, type == DW_UT_skeleton ? &sub : &die, level, 0);
    intervals__sort(&variables->found);
}

/* The DIE of the variable that holds address. */
static const struct address_interval *find_die(struct variables *variables, uint64_t address)
{
    const struct address_interval *found = NULL;
    for (enum variable_level level = LEVEL_GLOBAL; level <= LEVEL_LOCAL && !found; level++) {
        if (variables->level < level)
            read_level(variables, level);
        found = intervals__find(&variables->found, address - variables->bias);
    }
    return found;
}

/* The linkage name tells the namespace and the class; a variable of C has none. */
static char *name_of(Dwarf_Die *die, const char *symbol)
{
    Dwarf_Attribute attribute;
    const char *linkage = NULL, *name = dwarf_diename(die);
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        linkage = dwarf_formstring(&attribute);
    bool is_mangled = symbol && strncmp(symbol, "_Z", 2) == 0;
    if (linkage || is_mangled || !name)
        return linkage || symbol ? symbol_name__variable(linkage ? linkage : symbol) : NULL;
    return memory__text(name);
}

static bool from_die(struct variables *variables, const struct address_interval *found,
                     uint64_t address, const char *symbol, struct variable *variable)
{
    Dwarf_Die *die = VEC_AT(&variables->dies, Dwarf_Die, found->value);
    int line = 0;
    char *name = name_of(die, symbol);
    if (!name)
        return false;
    char *path = member__path(die, address - variables->bias - found->start);
    *variable = (struct variable){.name = memory__format("%s%s", name, path),
                                  .file = declaration__file(die)};
    if (dwarf_decl_line(die, &line) == 0 && line > 0)
        variable->line = (uint32_t)line;
    free(path);
    free(name);
    return true;
}

/* Of a symbol that is called so and has room for several of them: how long one is; 0: it is none.
 * Without debug information nothing else tells an array from a struct. */
static uint64_t element_bytes(const char *name, uint64_t bytes)
{
    static const struct {
        const char *part;
        uint64_t bytes;
    } kinds[] = {{"mutex", sizeof(pthread_mutex_t)},
                 {"rwlock", sizeof(pthread_rwlock_t)},
                 {"cond", sizeof(pthread_cond_t)}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcasestr(name, kinds[i].part) && bytes > kinds[i].bytes &&
            bytes % kinds[i].bytes == 0)
            return kinds[i].bytes;
    return 0;
}

static void from_symbol(const char *symbol, uint64_t offset, uint64_t bytes,
                        struct variable *variable)
{
    char *name = symbol_name__variable(symbol);
    uint64_t element = element_bytes(name, bytes);
    *variable = (struct variable){0};
    variable->name = element && offset % element == 0
                         ? memory__format("%s[%" PRIu64 "]", name, offset / element)
                     : offset ? memory__format("%s+0x%" PRIx64, name, offset)
                              : memory__text(name);
    free(name);
}

bool variables__find(struct variables *variables, uint64_t address, struct variable *variable)
{
    const struct address_interval *symbol = intervals__find(&variables->symbols, address);
    if (!symbol && variables->has_symbol_table)
        return false;
    const char *name = symbol ? *VEC_AT(&variables->names, const char *, symbol->value) : NULL;
    const struct address_interval *die = find_die(variables, address);
    if (die && from_die(variables, die, address, name, variable))
        return true;
    if (symbol)
        from_symbol(name, address - symbol->start, symbol->end - symbol->start, variable);
    return symbol != NULL;
}

bool variables__object(struct variables *variables, uint64_t address, Dwarf_Die *die,
                       uint64_t *begin)
{
    const struct address_interval *found = find_die(variables, address);
    if (!found)
        return false;
    *die = *VEC_AT(&variables->dies, Dwarf_Die, found->value);
    *begin = found->start + variables->bias;
    return true;
}

char *variable__name(Dwarf_Die *die)
{
    return name_of(die, NULL);
}
