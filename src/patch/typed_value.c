#include "patch/typed_value.h"

#include "base/memory.h"
#include "patch/field_access.h"
#include "patch/typed_internal.h"
#include "symbol/member.h"
#include "symbol/source.h"
#include "symbol/type_name.h"
#include "symbol/variable.h"

#include <dwarf.h>
#include <elf.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RSP = 4, RBP = 5, RANK_BEST = 5 };

/* ---- functions ------------------------------------------------------------------------------- */

static const uint8_t *bytes_of(const void *file, uint64_t address, uint64_t *size)
{
    const struct typed_code *self = file;
    VEC_EACH (section, &self->sections, struct typed_section)
        if (address - section->start < section->size) {
            *size = section->size - (address - section->start);
            return section->bytes + (address - section->start);
        }
    return NULL;
}

static void read_sections(struct typed_code *self)
{
    GElf_Addr bias;
    GElf_Ehdr file;
    Elf *elf = image__is_open(self->image) ? dwfl_module_getelf(self->image->module, &bias) : NULL;
    self->is_fixed = elf && gelf_getehdr(elf, &file) && file.e_type == ET_EXEC;
    for (Elf_Scn *scn = NULL; elf && (scn = elf_nextscn(elf, scn));) {
        GElf_Shdr header;
        Elf_Data *data;
        if (!gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_ALLOC) ||
            header.sh_type == SHT_NOBITS || !(data = elf_rawdata(scn, NULL)) || !data->d_buf)
            continue;
        struct typed_section section = {header.sh_addr, data->d_size, data->d_buf};
        vec__push(&self->sections, &section);
    }
}

struct typed_code *typed_code__new(struct image *image)
{
    struct typed_code *self = memory__zeroed(1, sizeof *self);
    self->image = image;
    self->sections = VEC_OF(struct typed_section);
    self->functions = VEC_OF(struct typed_function *);
    self->layouts = VEC_OF(struct typed_layout *);
    read_sections(self);
    return self;
}

void typed_code__free(struct typed_code *self)
{
    if (!self)
        return;
    VEC_EACH (function, &self->functions, struct typed_function *) {
        function_code__free(&(*function)->code);
        variable_places__free(&(*function)->variables);
        free((*function)->held);
        free((*function)->is_held);
        free(*function);
    }
    VEC_EACH (layout, &self->layouts, struct typed_layout *) {
        made_type__clear(&(*layout)->type);
        free(*layout);
    }
    vec__free(&self->functions);
    vec__free(&self->sections);
    vec__free(&self->layouts);
    free(self);
}

static const struct typed_function *usable(const struct typed_function *function)
{
    return function->is_known ? function : NULL;
}

const struct typed_function *typed_code__function(struct typed_code *self, uint64_t address)
{
    VEC_EACH (known, &self->functions, struct typed_function *)
        if (address >= (*known)->variables.start && address < (*known)->variables.end)
            return usable(*known);
    struct typed_function *function = memory__zeroed(1, sizeof *function);
    bool has_variables = variable_places__read(self->image, address, &function->variables);
    if (!has_variables) {
        function->variables.start = address;
        function->variables.end = address + 1;
    }
    function->is_known =
        has_variables && function_code__read(&function->code, self, bytes_of,
                                             function->variables.start, function->variables.end);
    size_t count = function->variables.places.count;
    function->held = memory__zeroed(count + 1, sizeof *function->held);
    function->is_held = memory__zeroed(count + 1, sizeof *function->is_held);
    vec__push(&self->functions, &function);
    return usable(function);
}

/* ---- registers ------------------------------------------------------------------------------- */

bool register__is_kept(int number)
{
    enum { RBX = 3, R12 = 12 };
    return number == RBX || number == RSP || number == RBP || number >= R12;
}

const ZydisDecodedOperand *typed_code__memory(const struct instruction *instruction)
{
    if (!instruction__has_memory(instruction) || instruction__is_nop(instruction))
        return NULL;
    for (unsigned i = 0; i < instruction->zydis.operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
            (operand->mem.type == ZYDIS_MEMOP_TYPE_MEM ||
             operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN))
            return operand;
    }
    return NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

static const struct typed_value unknown = {.kind = TYPED_UNKNOWN};

static struct typed_value number(uint64_t multiple)
{
    return (struct typed_value){.kind = TYPED_NUMBER, .multiple = multiple};
}

static uint64_t magnitude(uint64_t multiple)
{
    return (int64_t)multiple < 0 ? 0 - multiple : multiple;
}

/* Multiples of numbers may be negative. */
static uint64_t greatest_divisor(uint64_t one, uint64_t other)
{
    one = magnitude(one);
    other = magnitude(other);
    while (other) {
        uint64_t rest = one % other;
        one = other;
        other = rest;
    }
    return one;
}

static int64_t modulo(int64_t value, uint64_t size)
{
    int64_t rest = value % (int64_t)size;
    return rest < 0 ? rest + (int64_t)size : rest;
}

static uint64_t distance(int64_t one, int64_t other)
{
    return one > other ? (uint64_t)one - (uint64_t)other : (uint64_t)other - (uint64_t)one;
}

/* To be called when the type is known. */
static void weigh(struct typed_value *value)
{
    value->size = type__size(&value->type);
    value->worth = !value->size                        ? WORTH_NOTHING
                   : !type__is_record(&value->type)    ? WORTH_PLAIN
                   : type__is_of_library(&value->type) ? WORTH_LIBRARY
                                                       : WORTH_OWN;
}

struct typed_value typed_value__of(const Dwarf_Die *type, const char *origin)
{
    struct typed_value value = {.kind = TYPED_POINTER};
    if (!type__is_pointer(type))
        return type__is_record(type) ? unknown : number(1);
    if (!type__target(type, &value.type))
        return unknown;
    weigh(&value);
    snprintf(value.origin, sizeof value.origin, "%s", origin ? origin : "");
    return value;
}

struct typed_value typed_value__plus(struct typed_value value, int64_t more)
{
    if (value.kind == TYPED_POINTER || value.kind == TYPED_NUMBER)
        value.offset = (int64_t)((uint64_t)value.offset + (uint64_t)more);
    return value;
}

struct typed_value typed_value__times(struct typed_value value, uint64_t factor)
{
    if (value.kind == TYPED_NUMBER) {
        value.multiple *= factor;
        value.offset = (int64_t)((uint64_t)value.offset * factor);
    } else if (value.kind == TYPED_POINTER && factor != 1)
        return unknown;
    return value;
}

struct typed_value typed_value__sum(struct typed_value one, struct typed_value other)
{
    if (one.kind == TYPED_NUMBER && other.kind == TYPED_POINTER)
        return typed_value__sum(other, one);
    if (one.kind == TYPED_SAME && other.kind != TYPED_UNKNOWN)
        return one;
    if (other.kind == TYPED_SAME && one.kind != TYPED_UNKNOWN)
        return other;
    if (other.kind != TYPED_NUMBER || (one.kind != TYPED_NUMBER && one.kind != TYPED_POINTER))
        return unknown;
    one.is_any |= other.is_any;
    other.is_any = one.is_any;
    if (one.kind == TYPED_NUMBER && one.multiple == 0)
        return typed_value__plus(other, one.offset);
    if (one.symbol && one.symbol == other.symbol) {
        one.multiple += other.multiple;
    } else {
        one.symbol = other.multiple == 0 ? one.symbol : 0;
        one.multiple = greatest_divisor(one.multiple, other.multiple);
    }
    return typed_value__plus(one, other.offset);
}

static bool is_null(const struct typed_value *value)
{
    return value->kind == TYPED_NUMBER && value->multiple == 0 && value->offset == 0;
}

/* What it is when it may be either. */
struct typed_value typed_value__either(struct typed_value one, struct typed_value other)
{
    if (one.kind == TYPED_SAME)
        return other;
    if (other.kind == TYPED_SAME)
        return one;
    if (is_null(&one) && other.kind == TYPED_POINTER)
        return other;
    if (is_null(&other) && one.kind == TYPED_POINTER)
        return one;
    if (one.kind != other.kind || one.storage != other.storage || one.kind == TYPED_UNKNOWN)
        return unknown;
    if (one.kind == TYPED_POINTER && !type__is_same(&one.type, &other.type))
        return unknown;
    if (one.storage != STORAGE_POINTED && one.variable.addr != other.variable.addr)
        return unknown;
    if (one.symbol && one.symbol == other.symbol && one.multiple == other.multiple &&
        one.offset == other.offset)
        return one;
    uint64_t apart = distance(one.offset, other.offset);
    one.symbol = 0;
    one.multiple = greatest_divisor(greatest_divisor(one.multiple, other.multiple), apart);
    one.is_any |= other.is_any;
    if (one.kind == TYPED_NUMBER && apart) { /* what begins at zero is an index from the first on */
        one.is_any |= one.offset && other.offset;
        one.offset = one.offset && other.offset ? one.offset : 0;
    }
    return one;
}

bool typed_value__is_same(const struct typed_value *one, const struct typed_value *other)
{
    return one->kind == other->kind && one->storage == other->storage &&
           one->multiple == other->multiple && one->offset == other->offset &&
           one->is_any == other->is_any &&
           (one->kind != TYPED_POINTER || type__is_same(&one->type, &other->type));
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* One element of an array, which is known. */
static bool enter_element(struct typed_field *field, int64_t *offset)
{
    struct member_place place;
    Dwarf_Die element;
    if (!type__element(&field->type, &element))
        return true;
    uint64_t bytes = type__size(&element);
    if (!bytes || bytes > INT64_MAX || *offset < 0 ||
        !member__find(&field->type, (uint64_t)*offset / bytes * bytes, 0, true, &place))
        return false;
    field->element = memory__format("%.*s", (int)strspn(place.path, "[]0123456789"), place.path);
    free(place.path);
    field->type = element;
    *offset = modulo(*offset, bytes);
    return true;
}

/* An array is gone along by its elements. What is folded into an address may lead to what lies
 * before it, so that the offset must be in the first of the elements that are gone along. */
static bool enter_array(struct typed_field *field, int64_t *offset, uint64_t *multiple, bool is_any)
{
    Dwarf_Die element;
    if (!*multiple)
        return enter_element(field, offset);
    if (!type__element(&field->type, &element))
        return true;
    if (is_any)
        return false;
    uint64_t bytes = type__size(&element), all = type__size(&field->type);
    uint64_t first = all && *multiple >= all ? bytes : *multiple;
    if (!bytes || bytes > INT64_MAX || *multiple % bytes || *offset < 0 ||
        (uint64_t)*offset >= first)
        return false;
    field->is_element = true;
    field->type = element;
    *offset = modulo(*offset, bytes);
    *multiple = 0;
    return true;
}

static bool find_member(struct typed_field *field, uint64_t offset, uint64_t multiple)
{
    struct member_place place;
    if (!member__find(&field->type, offset, multiple, false, &place))
        return false;
    if (!*place.path && type__is_record(&field->type)) {
        free(place.path);
        if (!member__find(&field->type, offset, multiple, true, &place))
            return false;
    }
    field->path = place.path;
    field->leaf = place.type;
    field->inside = place.inside;
    field->offset = offset;
    return true;
}

bool typed_value__field(const struct typed_value *value, struct typed_field *field)
{
    *field = (struct typed_field){.type = value->type};
    int64_t offset = value->offset;
    uint64_t multiple = value->multiple;
    if (value->kind != TYPED_POINTER || !enter_array(field, &offset, &multiple, value->is_any))
        return false;
    uint64_t size = type__size(&field->type);
    bool is_within = offset >= 0 && (uint64_t)offset < size;
    if (!size || size > INT64_MAX)
        return false;
    if (multiple && multiple % size == 0) {
        if (value->storage != STORAGE_POINTED)
            return false;
        field->is_element = true;
        offset = modulo(offset, size);
        multiple = 0;
    } else if (multiple && value->is_any) {
        return false;
    } else if (!is_within) {
        if (multiple || value->storage != STORAGE_POINTED)
            return false;
        field->is_element = true;
        field->is_guess = type__is_record(&field->type);
        offset = modulo(offset, size);
    }
    if (find_member(field, (uint64_t)offset, multiple))
        return true;
    typed_field__free(field);
    return false;
}

void typed_field__free(struct typed_field *field)
{
    free(field->element);
    free(field->path);
}

/* ---- variables ------------------------------------------------------------------------------- */

/* Which of two names of one value tells more: the program's own structs before all else, then those
 * of libraries, then plain values. */
static unsigned rank_of(const struct typed_value *value, int64_t wanted)
{
    int64_t offset = value->offset + wanted;
    if (value->kind != TYPED_POINTER)
        return value->kind == TYPED_NUMBER;
    if (value->worth <= WORTH_PLAIN)
        return value->worth == WORTH_PLAIN ? 3 : 1;
    bool is_within = (offset >= 0 && (uint64_t)offset < value->size) ||
                     (value->multiple && value->multiple % value->size == 0);
    return !is_within ? 2 : value->worth == WORTH_LIBRARY ? 4 : RANK_BEST;
}

/* Of two numbers the one that is known better, of two objects the larger one. */
static bool tells_more(const struct typed_value *one, const struct typed_value *other,
                       int64_t wanted)
{
    unsigned left = rank_of(one, wanted), right = rank_of(other, wanted);
    if (one->kind == TYPED_UNKNOWN)
        return true;
    if (one->kind == TYPED_NUMBER && other->kind == TYPED_NUMBER)
        return !other->multiple ||
               (one->multiple && magnitude(other->multiple) >= magnitude(one->multiple));
    return right > left || (right == left && left >= 4 && other->size > one->size);
}

void typed_value__improve(struct typed_value *value, const struct typed_value *other,
                          int64_t wanted)
{
    if (other->kind != TYPED_UNKNOWN && tells_more(value, other, wanted))
        *value = *other;
}

bool typed_value__is_best(const struct typed_value *value, int64_t wanted)
{
    return rank_of(value, wanted) == RANK_BEST;
}

/* The type of what lies in a variable at an offset that a place holds. */
static bool piece_type(const struct variable_place *place, uint64_t more, Dwarf_Die *type)
{
    struct member_place member;
    if (!member__find(&place->type, place->piece + more, 0, true, &member))
        return false;
    free(member.path);
    *type = member.type;
    return member.inside == 0;
}

static const char *name_of(const struct variable_place *place)
{
    Dwarf_Die variable = place->variable;
    return dwarf_diename(&variable);
}

/* A struct that the caller has, and of which the function has the address. Of other variables it
 * may only be told that memory has their value, which is a member then. */
static bool is_passed_in_memory(const struct variable_place *place)
{
    Dwarf_Die variable = place->variable;
    return place->home == HOME_MEMORY && place->depth == 1 &&
           dwarf_tag(&variable) == DW_TAG_formal_parameter && type__is_record(&place->type);
}

/* A variable that is the register plus an offset, or lies there. */
static struct typed_value from_register(const struct variable_place *place)
{
    Dwarf_Die type;
    struct typed_value value = unknown;
    if (place->home == HOME_REGISTER && piece_type(place, 0, &type)) {
        value = typed_value__of(&type, name_of(place));
        return place->offset ? typed_value__plus(value, -place->offset) : value;
    }
    if (is_passed_in_memory(place)) {
        value = (struct typed_value){.kind = TYPED_POINTER,
                                     .type = place->type,
                                     .offset = (int64_t)place->piece - place->offset};
        weigh(&value);
        snprintf(value.origin, sizeof value.origin, "%s", name_of(place) ? name_of(place) : "");
    }
    return value;
}

static const struct typed_value *held_by(const struct typed_function *function, size_t index)
{
    if (!function->is_held[index])
        function->held[index] =
            from_register(VEC_AT(&function->variables.places, struct variable_place, index));
    function->is_held[index] = true;
    return &function->held[index];
}

/* Whether a place on the stack is given from the register that an operand is. */
static bool from_same_base(struct typed_code *self, const struct variable_place *place,
                           uint64_t address, int base, int64_t *offset)
{
    uint8_t frame;
    int64_t frame_offset;
    *offset = place->offset;
    if (place->home == HOME_MEMORY)
        return place->number == base;
    if (place->home != HOME_FRAME ||
        !frame_address__rule(self->image, address, &frame, &frame_offset) || frame != base)
        return false;
    *offset += frame_offset;
    return true;
}

bool typed_code__is_frame(struct typed_code *self, uint64_t address, int number)
{
    uint8_t frame;
    int64_t offset;
    return number == RSP ||
           (number == RBP && frame_address__rule(self->image, address, &frame, &offset) &&
            frame == RBP);
}

/* The variable on the stack that holds base + offset. */
struct typed_value typed_code__local(struct typed_code *self, const struct typed_function *function,
                                     uint64_t address, int base, int64_t offset)
{
    struct typed_value found = unknown;
    unsigned depth = 0;
    VEC_EACH (place, &function->variables.places, const struct variable_place) {
        int64_t begin;
        if (address < place->start || address >= place->end || place->home == HOME_REGISTER ||
            !from_same_base(self, place, address, base, &begin))
            continue;
        uint64_t size = type__size(&place->type) - place->piece;
        if (offset < begin || (uint64_t)(offset - begin) >= size || place->depth < depth)
            continue;
        depth = place->depth;
        found = (struct typed_value){.kind = TYPED_POINTER,
                                     .storage = STORAGE_LOCAL,
                                     .type = place->type,
                                     .variable = place->variable,
                                     .function = place->function,
                                     .offset = offset - begin + (int64_t)place->piece};
    }
    if (found.kind == TYPED_POINTER)
        weigh(&found);
    return found;
}

struct typed_value typed_code__variable(struct typed_code *self,
                                        const struct typed_function *function, uint64_t address,
                                        struct typed_cell cell, int64_t wanted)
{
    struct typed_value found = unknown;
    if (cell.is_slot || typed_code__is_frame(self, address, cell.number))
        return unknown;
    const struct vec *places = &function->variables.places;
    for (size_t i = variable_places__of(&function->variables, cell.number); i < places->count;
         i++) {
        const struct variable_place *place = VEC_AT(places, struct variable_place, i);
        if (place->home == HOME_FRAME || place->number != cell.number)
            break;
        if (address >= place->start && address < place->end)
            typed_value__improve(&found, held_by(function, i), wanted);
    }
    return found;
}

struct typed_value typed_code__static(struct typed_code *self, uint64_t address)
{
    struct typed_value value = {.kind = TYPED_POINTER, .storage = STORAGE_STATIC};
    struct image *image = self->image;
    uint64_t begin;
    if (!image__is_data(image, address))
        return unknown;
    if (!image->variables)
        image->variables = variables__open(image->module, image__has_symbol_table(image));
    if (!variables__object(image->variables, address, &value.variable, &begin) ||
        !declaration__type(&value.variable, &value.type))
        return unknown;
    value.offset = (int64_t)(address - begin);
    weigh(&value);
    return value;
}

/* "stats.buffer": a member that is a pointer, as the place where that was found. */
static char *origin_of(const struct typed_value *address, const struct typed_field *field)
{
    Dwarf_Die variable = address->variable;
    bool is_plain = field->path[0] == '.';
    if (address->storage != STORAGE_POINTED)
        return memory__format("%s%s%s", dwarf_diename(&variable) ? dwarf_diename(&variable) : "",
                              field->element ? field->element : "", field->path);
    char *type = type__is_record(&field->type) ? type__name(&field->type) : NULL;
    if (type__is_of_library(&field->type) || (type && !is_plain))
        type = (free(type), memory__text(""));
    char *origin = type ? memory__format("%s%s", type, *type ? field->path : "")
                        : memory__format("%s[]", address->origin);
    free(type);
    return origin;
}

struct typed_value typed_code__load(const struct typed_value *address)
{
    struct typed_field field;
    if (address->kind != TYPED_POINTER)
        return address->kind == TYPED_SAME ? *address : unknown;
    if (!typed_value__field(address, &field))
        return unknown;
    char *origin = origin_of(address, &field);
    struct typed_value value =
        field.inside || field.is_guess ? unknown : typed_value__of(&field.leaf, origin);
    free(origin);
    typed_field__free(&field);
    return value;
}

struct typed_value typed_code__result(struct typed_code *self, uint64_t target)
{
    enum { SCOPES_MAX = 4 };
    Dwarf_Die scopes[SCOPES_MAX], type;
    Dwarf_Addr pc;
    struct source *source = image__source(self->image);
    if (!source || !source__scopes(source, target, scopes, SCOPES_MAX, &pc) ||
        !declaration__type(&scopes[0], &type))
        return unknown;
    return typed_value__of(&type, "");
}
