#include "symbol/source.h"

#include "base/memory.h"
#include "base/vec.h"
#include "symbol/interval.h"
#include "symbol/outlined.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A compilation unit. With split DWARF the lines are in the skeleton, the functions elsewhere. */
struct unit {
    Dwarf_Die lines;
    Dwarf_Die functions_die;
    bool is_read;
    struct vec functions; /* Dwarf_Die */
    struct vec ranges;    /* struct address_interval: values are indices into functions */
    bool has_extents;
    struct vec extents; /* struct extent: of all that are written in it */
};

/* The lines of a function. */
struct extent {
    Dwarf_Die die;
    const char *file;
    int first, last; /* last 0: it has no code of its own */
};

struct source {
    Dwarf_Addr bias;   /* what to subtract from an address for the Dwarf's own */
    struct vec units;  /* struct unit */
    struct vec ranges; /* struct address_interval: values are indices into units */
};

static void add_ranges(struct vec *ranges, Dwarf_Die *die, uint32_t value)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0)
        intervals__add(ranges, start, end, 0, value);
}

struct source *source__open(Dwfl_Module *module)
{
    Dwarf_Addr bias;
    Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
    if (!dwarf)
        return NULL;
    struct source *source = memory__zeroed(1, sizeof *source);
    *source = (struct source){.bias = bias, .units = VEC_OF(struct unit), .ranges = INTERVALS};
    Dwarf_CU *cu = NULL;
    uint8_t type;
    Dwarf_Die die, sub;
    while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, &sub) == 0) {
        if (type != DW_UT_compile && type != DW_UT_skeleton)
            continue;
        add_ranges(&source->ranges, &die, (uint32_t)source->units.count);
        struct unit unit = {.lines = die,
                            .functions_die = type == DW_UT_skeleton ? sub : die,
                            .functions = VEC_OF(Dwarf_Die),
                            .ranges = INTERVALS,
                            .extents = VEC_OF(struct extent)};
        vec__push(&source->units, &unit);
    }
    intervals__sort(&source->ranges);
    return source;
}

void source__free(struct source *source)
{
    if (!source)
        return;
    VEC_EACH (unit, &source->units, struct unit) {
        vec__free(&unit->functions);
        vec__free(&unit->ranges);
        vec__free(&unit->extents);
    }
    vec__free(&source->units);
    vec__free(&source->ranges);
    free(source);
}

/* DIEs in which functions may stand: a closure's is in the block that makes it. */
static bool may_hold_functions(int tag)
{
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
        return true;
    default:
        return false;
    }
}

enum { DEPTH_MAX = 64 };

/* Functions inside of functions (Ada, D, Fortran, Rust's closures) are found too. */
static void add_functions(struct unit *unit, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die;
    if (depth > DEPTH_MAX || !dwarf_haschildren(parent) || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram) {
            size_t before = unit->ranges.count;
            add_ranges(&unit->ranges, &die, (uint32_t)unit->functions.count);
            if (unit->ranges.count > before)
                vec__push(&unit->functions, &die);
        }
        if (may_hold_functions(tag))
            add_functions(unit, &die, depth + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
}

static struct unit *unit_at(struct source *source, uint64_t address)
{
    const struct address_interval *range = intervals__find(&source->ranges, address);
    if (!range)
        return NULL;
    struct unit *unit = VEC_AT(&source->units, struct unit, range->value);
    if (!unit->is_read) {
        unit->is_read = true;
        add_functions(unit, &unit->functions_die, 0);
        intervals__sort(&unit->ranges);
    }
    return unit;
}

static bool holds_code(Dwarf_Die *die, uint64_t address)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
        return dwarf_haspc(die, address) > 0;
    default:
        return false;
    }
}

/* Moves die to its child that holds address; false when there is none. */
static bool descend(Dwarf_Die *die, uint64_t address)
{
    Dwarf_Die child;
    if (!dwarf_haschildren(die) || dwarf_child(die, &child) != 0)
        return false;
    do {
        if (holds_code(&child, address)) {
            *die = child;
            return true;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* The function and what is inlined there, outermost first. */
static size_t chain_at(struct unit *unit, uint64_t address, Dwarf_Die chain[DEPTH_MAX])
{
    const struct address_interval *range = intervals__find(&unit->ranges, address);
    if (!range)
        return 0;
    Dwarf_Die die = *VEC_AT(&unit->functions, Dwarf_Die, range->value);
    size_t count = 0;
    chain[count++] = die;
    while (count < DEPTH_MAX && descend(&die, address))
        if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
            chain[count++] = die;
    return count;
}

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) &&
        !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        return dwarf_diename(die);
    return dwarf_formstring(&attribute);
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &number) != 0)
        return 0;
    return number;
}

static void place_of_line(struct unit *unit, uint64_t address, struct source_frame *frame)
{
    Dwarf_Line *line = dwarf_getsrc_die(&unit->lines, address);
    int number = 0;
    if (!line)
        return;
    frame->file = dwarf_linesrc(line, NULL, NULL);
    if (dwarf_lineno(line, &number) == 0 && number > 0)
        frame->line = (uint32_t)number;
}

static void place_of_call(struct unit *unit, Dwarf_Die *inlined, struct source_frame *frame)
{
    Dwarf_Files *files;
    size_t count;
    Dwarf_Word file = number_of(inlined, DW_AT_call_file);
    frame->line = (uint32_t)number_of(inlined, DW_AT_call_line);
    if (dwarf_getsrcfiles(&unit->functions_die, &files, &count) == 0 && file < count)
        frame->file = dwarf_filesrc(files, file, NULL, NULL);
}

size_t source__frames(struct source *source, uint64_t address, struct source_frame *frames,
                      size_t max)
{
    address -= source->bias;
    struct unit *unit = unit_at(source, address);
    if (!unit || max == 0)
        return 0;
    Dwarf_Die chain[DEPTH_MAX];
    size_t depth = chain_at(unit, address, chain);
    size_t count = depth < max ? depth : max;
    frames[0] = (struct source_frame){0};
    place_of_line(unit, address, &frames[0]);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            frames[i] = (struct source_frame){0};
            place_of_call(unit, &chain[depth - i], &frames[i]);
        }
        frames[i].name = name_of(&chain[depth - 1 - i]);
    }
    if (count == 0)
        return frames[0].file ? 1 : 0;
    return count;
}

size_t source__scopes(struct source *source, uint64_t address, Dwarf_Die *scopes, size_t max,
                      Dwarf_Addr *pc)
{
    *pc = address - source->bias;
    struct unit *unit = unit_at(source, *pc);
    const struct address_interval *range = unit ? intervals__find(&unit->ranges, *pc) : NULL;
    if (!range || !max)
        return 0;
    size_t count = 0;
    scopes[count++] = *VEC_AT(&unit->functions, Dwarf_Die, range->value);
    Dwarf_Die die = scopes[0];
    while (count < max && descend(&die, *pc))
        scopes[count++] = die;
    return count;
}

/* ---- functions that were made of a part of another one --------------------------------------- */

static bool is_user_function(Dwarf_Die *die)
{
    const char *name = dwarf_tag(die) == DW_TAG_subprogram ? name_of(die) : NULL;
    return name && !dwarf_hasattr_integrate(die, DW_AT_artificial) && !outlined__is_nameless(name);
}

/* The unit's own file is number 0 with DWARF 5, for which dwarf_decl_file knows none. */
static const char *file_of(struct unit *unit, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Files *files;
    size_t count;
    if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) ||
        dwarf_formudata(&attribute, &number) != 0 ||
        dwarf_getsrcfiles(&unit->functions_die, &files, &count) != 0 || number >= count)
        return NULL;
    return dwarf_filesrc(files, number, NULL, NULL);
}

/* Those that are inlined wherever they are called, too. */
static void add_extents(struct unit *unit, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die;
    if (depth > DEPTH_MAX || !dwarf_haschildren(parent) || dwarf_child(parent, &die) != 0)
        return;
    do {
        struct extent extent = {.die = die};
        if (is_user_function(&die) && !dwarf_hasattr(&die, DW_AT_declaration) &&
            (extent.file = file_of(unit, &die)) && dwarf_decl_line(&die, &extent.first) == 0)
            vec__push(&unit->extents, &extent);
        if (may_hold_functions(dwarf_tag(&die)))
            add_extents(unit, &die, depth + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
}

static int by_die(const void *a, const void *b)
{
    const struct extent *left = a, *right = b;
    return ORDER((uintptr_t)left->die.addr, (uintptr_t)right->die.addr);
}

static void extend(struct unit *unit, const Dwarf_Die *function, const char *file, int line)
{
    struct extent asked = {.die = *function};
    struct extent *extent =
        bsearch(&asked, unit->extents.items, unit->extents.count, sizeof asked, by_die);
    if (extent && line > extent->last && strcmp(extent->file, file) == 0)
        extent->last = line;
}

static void find_last_lines(struct unit *unit)
{
    Dwarf_Lines *lines;
    size_t count = 0;
    if (!unit->extents.count || dwarf_getsrclines(&unit->lines, &lines, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *row = dwarf_onesrcline(lines, i);
        Dwarf_Addr address;
        int line = 0;
        const char *file = dwarf_linesrc(row, NULL, NULL);
        const struct address_interval *range =
            dwarf_lineaddr(row, &address) == 0 ? intervals__find(&unit->ranges, address) : NULL;
        if (range && file && dwarf_lineno(row, &line) == 0)
            extend(unit, VEC_AT(&unit->functions, Dwarf_Die, range->value), file, line);
    }
}

/* The innermost that has the line; where none has, the last that begins before it: what is inlined
 * everywhere has no code that tells its end. */
static struct extent *extent_at(struct unit *unit, const char *file, int line)
{
    struct extent *found = NULL, *before = NULL;
    VEC_EACH (extent, &unit->extents, struct extent) {
        if (extent->first > line || strcmp(extent->file, file) != 0)
            continue;
        if (!before || extent->first >= before->first)
            before = extent;
        if (extent->last >= line && (!found || extent->first >= found->first))
            found = extent;
    }
    return found ? found : before;
}

const char *source__user_function(struct source *source, uint64_t address)
{
    address -= source->bias;
    struct unit *unit = unit_at(source, address);
    const struct address_interval *range = unit ? intervals__find(&unit->ranges, address) : NULL;
    Dwarf_Line *begin = range ? dwarf_getsrc_die(&unit->lines, range->start) : NULL;
    const char *file = begin ? dwarf_linesrc(begin, NULL, NULL) : NULL;
    int line = 0;
    if (!file || dwarf_lineno(begin, &line) != 0)
        return NULL;
    if (!unit->has_extents) {
        unit->has_extents = true;
        add_extents(unit, &unit->functions_die, 0);
        vec__sort(&unit->extents, by_die);
        find_last_lines(unit);
    }
    struct extent *extent = extent_at(unit, file, line);
    return extent ? name_of(&extent->die) : NULL;
}
