#include "symbol/variable_places.h"

#include "symbol/member.h"
#include "symbol/source.h"
#include "symbol/unwind_rule.h"

#include <dwarf.h>

enum { SCOPES_MAX = 64, DEPTH_MAX = 64, PLACES_MOST = 1 << 15, RANGES_MOST = 8 };

struct places_walk {
    struct variable_places *found;
    uint64_t bias; /* what to add to an address of the DWARF for the file's */
    enum variable_home base_home;
    uint8_t base_number;
    int64_t base_offset; /* what DW_OP_fbreg counts from: these plus its own */
    bool has_base;
    unsigned depth;
    Dwarf_Die function; /* the innermost one */
    struct {
        uint64_t start, end;
    } ranges[RANGES_MOST]; /* of the innermost block, as the DWARF has them */
    unsigned range_count;
};

/* DWARF's numbers for x86-64 (psABI figure 3.36) as the processor's; false: no general register. */
static bool number_of(uint64_t dwarf, uint8_t *number)
{
    static const uint8_t numbers[] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};
    if (dwarf >= sizeof numbers)
        return false;
    *number = numbers[dwarf];
    return true;
}

/* A register plus offset; false: another operation. */
static bool register_operation(const Dwarf_Op *op, uint8_t *number, int64_t *offset)
{
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        *offset = (int64_t)op->number;
        return number_of(op->atom - DW_OP_breg0, number);
    }
    *offset = (int64_t)op->number2;
    return op->atom == DW_OP_bregx && number_of(op->number, number);
}

static bool whole_register(const Dwarf_Op *op, uint8_t *number)
{
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
        return number_of(op->atom - DW_OP_reg0, number);
    return op->atom == DW_OP_regx && number_of(op->number, number);
}

static void read_base(struct places_walk *walk, Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation(&attribute, &ops, &count) != 0 || count != 1)
        return;
    walk->has_base = true;
    walk->base_home = HOME_MEMORY;
    if (ops[0].atom == DW_OP_call_frame_cfa)
        walk->base_home = HOME_FRAME;
    else
        walk->has_base = whole_register(&ops[0], &walk->base_number) ||
                         register_operation(&ops[0], &walk->base_number, &walk->base_offset);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Adds what an operation adds to an address; false: another operation. */
static size_t added_by(const Dwarf_Op *ops, size_t count, int64_t *offset)
{
    bool is_number = count > 1 && (ops[0].atom == DW_OP_constu || ops[0].atom == DW_OP_consts ||
                                   (ops[0].atom >= DW_OP_const1u && ops[0].atom <= DW_OP_const8s));
    if (count && ops[0].atom == DW_OP_plus_uconst) {
        *offset += (int64_t)ops[0].number;
        return 1;
    }
    if (is_number && ops[1].atom == DW_OP_plus)
        *offset += (int64_t)ops[0].number;
    else if (is_number && ops[1].atom == DW_OP_minus)
        *offset -= (int64_t)ops[0].number;
    else
        return 0;
    return 2;
}

/* One simple place at the beginning of the operations, and how many of these tell it; 0: another
 * one. */
static size_t simple_place(const struct places_walk *walk, const Dwarf_Op *ops, size_t count,
                           struct variable_place *place)
{
    size_t at = 1, more;
    if (whole_register(&ops[0], &place->number)) {
        place->home = HOME_REGISTER;
        place->offset = 0;
        return 1;
    }
    if (ops[0].atom == DW_OP_fbreg && walk->has_base) {
        place->home = walk->base_home;
        place->number = walk->base_number;
        place->offset = walk->base_offset + (int64_t)ops[0].number;
    } else if (ops[0].atom == DW_OP_call_frame_cfa) {
        place->home = HOME_FRAME;
        place->offset = 0;
    } else if (register_operation(&ops[0], &place->number, &place->offset)) {
        place->home = HOME_MEMORY;
    } else {
        return 0;
    }
    while ((more = added_by(ops + at, count - at, &place->offset)))
        at += more;
    if (at < count && ops[at].atom == DW_OP_stack_value) {
        if (place->home != HOME_MEMORY)
            return 0;
        place->home = HOME_REGISTER;
        at++;
    }
    return at;
}

static void add_place(struct places_walk *walk, const struct variable_place *place, uint64_t start,
                      uint64_t end)
{
    for (unsigned i = 0; i < walk->range_count; i++) {
        struct variable_place part = *place;
        part.start = start > walk->ranges[i].start ? start : walk->ranges[i].start;
        part.end = end < walk->ranges[i].end ? end : walk->ranges[i].end;
        if (part.start >= part.end || walk->found->places.count >= PLACES_MOST)
            continue;
        part.start += walk->bias;
        part.end += walk->bias;
        vec__push(&walk->found->places, &part);
    }
}

/* A variable that is in several places at once is told piece by piece. */
static void add_location(struct places_walk *walk, const struct variable_place *variable,
                         uint64_t start, uint64_t end, const Dwarf_Op *ops, size_t count)
{
    struct variable_place place = *variable;
    for (size_t at = 0; at < count;) {
        size_t used =
            ops[at].atom == DW_OP_piece ? 0 : simple_place(walk, ops + at, count - at, &place);
        bool is_piece = at + used < count && ops[at + used].atom == DW_OP_piece;
        if (!is_piece && (!used || at + used < count))
            return;
        if (used)
            add_place(walk, &place, start, end);
        if (!is_piece)
            return;
        place.piece += ops[at + used].number;
        at += used + 1;
    }
}

static void add_variable(struct places_walk *walk, Dwarf_Die *die)
{
    struct variable_place place = {
        .variable = *die, .function = walk->function, .depth = (uint16_t)walk->depth};
    Dwarf_Attribute attribute;
    Dwarf_Addr base, start, end;
    Dwarf_Op *ops;
    size_t count;
    ptrdiff_t next = 0;
    if (!dwarf_attr(die, DW_AT_location, &attribute) || !declaration__type(die, &place.type))
        return;
    while ((next = dwarf_getlocations(&attribute, next, &base, &start, &end, &ops, &count)) > 0)
        if (count)
            add_location(walk, &place, start, end, ops, count);
}

/* ---- the function ---------------------------------------------------------------------------- */

static bool read_ranges(struct places_walk *walk, Dwarf_Die *die)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t next = 0;
    unsigned count = 0;
    while (count < RANGES_MOST && (next = dwarf_ranges(die, next, &base, &start, &end)) > 0) {
        walk->ranges[count].start = start;
        walk->ranges[count++].end = end;
    }
    if (count)
        walk->range_count = count;
    return count != 0;
}

static void add_scope(const struct places_walk *outer, Dwarf_Die *scope)
{
    struct places_walk walk = *outer;
    Dwarf_Die die;
    int tag = dwarf_tag(scope);
    walk.depth++;
    if (tag == DW_TAG_inlined_subroutine || walk.depth == 1)
        walk.function = *scope;
    if (walk.depth > DEPTH_MAX || !read_ranges(&walk, scope) || !dwarf_haschildren(scope) ||
        dwarf_child(scope, &die) != 0)
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_variable:
        case DW_TAG_formal_parameter:
            add_variable(&walk, &die);
            break;
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
        case DW_TAG_inlined_subroutine:
            add_scope(&walk, &die);
            break;
        default:
            break;
        }
    } while (walk.found->places.count < PLACES_MOST && dwarf_siblingof(&die, &die) == 0);
}

/* The range of the function's code that holds pc. */
static bool find_range(struct variable_places *places, uint64_t pc, uint64_t bias)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t next = 0;
    while ((next = dwarf_ranges(&places->function, next, &base, &start, &end)) > 0)
        if (pc >= start && pc < end) {
            places->start = start + bias;
            places->end = end + bias;
            return true;
        }
    return false;
}

enum { NUMBER_OF_FRAME = 16 };

static uint8_t register_of(const struct variable_place *place)
{
    return place->home == HOME_FRAME ? NUMBER_OF_FRAME : place->number;
}

static int by_register(const void *left, const void *right)
{
    const struct variable_place *one = left, *other = right;
    return ORDER(register_of(one), register_of(other)) ?: ORDER(other->depth, one->depth)
               ?: ORDER((uintptr_t)one->variable.addr, (uintptr_t)other->variable.addr)
               ?: ORDER(one->start, other->start) ?: ORDER(one->piece, other->piece);
}

size_t variable_places__of(const struct variable_places *places, uint8_t number)
{
    size_t at =
        VEC_FIRST(place, &places->places, struct variable_place, register_of(place) >= number);
    bool is_found = at < places->places.count &&
                    register_of(VEC_AT(&places->places, struct variable_place, at)) == number;
    return is_found ? at : SIZE_MAX;
}

bool variable_places__read(struct image *image, uint64_t address, struct variable_places *places)
{
    Dwarf_Die scopes[SCOPES_MAX];
    Dwarf_Addr pc;
    struct source *source = image__source(image);
    *places = (struct variable_places){.places = VEC_OF(struct variable_place)};
    if (!source || !source__scopes(source, address, scopes, SCOPES_MAX, &pc))
        return false;
    places->function = scopes[0];
    if (!find_range(places, pc, address - pc))
        return false;
    struct places_walk walk = {.found = places, .bias = address - pc};
    read_base(&walk, &scopes[0]);
    add_scope(&walk, &scopes[0]);
    vec__sort(&places->places, by_register);
    return true;
}

void variable_places__free(struct variable_places *places)
{
    vec__free(&places->places);
}

bool frame_address__rule(struct image *image, uint64_t address, uint8_t *number, int64_t *offset)
{
    const struct unwind_rule *rule = unwind_table__rule(image, address);
    const struct register_rule *frame = &rule->frame_address;
    return !rule->is_missing && frame->kind == RULE_EXPRESSION && frame->count == 1 &&
           register_operation(&rule->ops[frame->first], number, offset);
}
