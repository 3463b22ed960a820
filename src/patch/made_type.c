/* made_type.c: what a call gives that allocates, by what the code behind it does with the result.
 */
#include "base/memory.h"
#include "patch/field_access.h"
#include "patch/typed_internal.h"
#include "symbol/member.h"
#include "symbol/source.h"
#include "symbol/type_layout.h"
#include "symbol/type_name.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 200, SLOTS_MOST = 8, RAX = 0 };

/* Where the result is kept. */
struct made_search {
    struct typed_code *code;
    const struct typed_function *function;
    bool holds[16];
    struct typed_cell slots[SLOTS_MOST];
    unsigned slot_count;
    Dwarf_Die type;
    bool is_found;
};

/* Takes the type of a pointer that the result is kept in; one to void tells nothing. */
static void take(struct made_search *search, const Dwarf_Die *pointer)
{
    Dwarf_Die target;
    if (!search->is_found && type__target(pointer, &target) && type__size(&target)) {
        search->type = target;
        search->is_found = true;
    }
}

static void take_value(struct made_search *search, const struct typed_value *value)
{
    if (!search->is_found && value->kind == TYPED_POINTER && value->offset == 0 &&
        !value->multiple && type__size(&value->type)) {
        search->type = value->type;
        search->is_found = true;
    }
}

/* The variables that are said to be in a register that holds it. */
static void look_at_variables(struct made_search *search, uint64_t address)
{
    for (int number = 0; number < 16 && !search->is_found; number++) {
        if (!search->holds[number])
            continue;
        struct typed_cell cell = {.number = (uint8_t)number};
        struct typed_value value =
            typed_code__variable(search->code, search->function, address, cell, 0);
        take_value(search, &value);
    }
}

static int held_register(const struct made_search *search, const ZydisDecodedOperand *operand)
{
    int number = operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->size == 64
                     ? register__number(operand->reg.value)
                     : -1;
    return number >= 0 && search->holds[number] ? number : -1;
}

static struct typed_cell slot_of(const ZydisDecodedOperand *operand)
{
    return (struct typed_cell){true, (uint8_t)register__number(operand->mem.base),
                               operand->mem.disp.has_displacement ? operand->mem.disp.value : 0};
}

static bool is_slot(struct made_search *search, uint64_t address,
                    const ZydisDecodedOperand *operand)
{
    return operand->mem.index == ZYDIS_REGISTER_NONE &&
           typed_code__is_frame(search->code, address, register__number(operand->mem.base));
}

/* The result is stored: what the place is declared to hold. */
static void store(struct made_search *search, size_t at, const struct instruction *instruction)
{
    const ZydisDecodedOperand *operand = &instruction->operands[0];
    struct typed_field field;
    struct typed_value place =
        typed_code__address(search->code, search->function, at, instruction, operand);
    if (typed_value__field(&place, &field)) {
        if (!field.inside && !field.is_guess)
            take(search, &field.leaf);
        typed_field__free(&field);
    }
    if (is_slot(search, instruction->address, operand) && search->slot_count < SLOTS_MOST)
        search->slots[search->slot_count++] = slot_of(operand);
}

static bool is_kept_slot(struct made_search *search, uint64_t address,
                         const ZydisDecodedOperand *operand)
{
    if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->size != 64 ||
        !is_slot(search, address, operand))
        return false;
    struct typed_cell cell = slot_of(operand);
    for (unsigned i = 0; i < search->slot_count; i++)
        if (search->slots[i].number == cell.number && search->slots[i].offset == cell.offset)
            return true;
    return false;
}

static void forget_written(struct made_search *search, const struct instruction *instruction)
{
    for (unsigned i = 0; i < instruction->zydis.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        int number = operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                             operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE
                         ? register__number(operand->reg.value)
                         : -1;
        if (number >= 0)
            search->holds[number] = false;
    }
}

static void move(struct made_search *search, size_t at, const struct instruction *instruction)
{
    const ZydisDecodedOperand *operands = instruction->operands;
    bool is_held = held_register(search, &operands[1]) >= 0 ||
                   is_kept_slot(search, instruction->address, &operands[1]);
    if (is_held && operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
        return store(search, at, instruction);
    forget_written(search, instruction);
    int number = operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[0].size == 64
                     ? register__number(operands[0].reg.value)
                     : -1;
    if (number >= 0)
        search->holds[number] = is_held;
}

/* The parameter of a function of the file that the result is passed as. */
static void pass(struct made_search *search, uint64_t target)
{
    static const int numbers[] = {7, 6, 2, 1, 8, 9}; /* psABI: rdi rsi rdx rcx r8 r9 */
    enum { SCOPES_MAX = 4, REGISTERS_MAX = sizeof numbers / sizeof *numbers };
    Dwarf_Die scopes[SCOPES_MAX], die, type;
    Dwarf_Addr pc;
    unsigned index = 0;
    struct source *source = image__source(search->code->image);
    if (!source || !source__scopes(source, target, scopes, SCOPES_MAX, &pc) ||
        dwarf_child(&scopes[0], &die) != 0)
        return;
    do {
        if (dwarf_tag(&die) != DW_TAG_formal_parameter)
            continue;
        if (!declaration__type(&die, &type) || !type__is_pointer(&type))
            return; /* what is passed otherwise may take other registers */
        if (search->holds[numbers[index++]])
            take(search, &type);
    } while (!search->is_found && index < REGISTERS_MAX && dwarf_siblingof(&die, &die) == 0);
}

static void call(struct made_search *search, const struct instruction *instruction)
{
    if (instruction->branch == BRANCH_CALL)
        pass(search, instruction->target);
    for (int number = 0; number < 16; number++)
        search->holds[number] &= register__is_kept(number);
}

static void give_back(struct made_search *search)
{
    Dwarf_Die function = search->function->variables.function, type;
    if (search->holds[RAX] && declaration__type(&function, &type))
        take(search, &type);
}

static bool holds_any(const struct made_search *search)
{
    bool any = search->slot_count > 0;
    for (int number = 0; number < 16; number++)
        any |= search->holds[number];
    return any;
}

/* Goes on along the way on which the result is there. False: the way ends. */
static bool go_on(struct made_search *search, size_t *at)
{
    struct instruction instruction;
    const struct function_code *code = &search->function->code;
    if (!function_code__decode(code, *at, &instruction))
        return false;
    switch (instruction.branch) {
    case BRANCH_NONE:
        if (instruction.zydis.mnemonic == ZYDIS_MNEMONIC_MOV)
            move(search, *at, &instruction);
        else
            forget_written(search, &instruction);
        break;
    case BRANCH_CALL:
    case BRANCH_CALL_INDIRECT:
        call(search, &instruction);
        break;
    case BRANCH_JUMP:
        *at = function_code__at(code, instruction.target);
        return *at != SIZE_MAX;
    case BRANCH_CONDITIONAL:
        break;
    case BRANCH_RETURN:
        give_back(search);
        return false;
    default:
        return false;
    }
    return ++*at < code->instructions.count;
}

/* Of what libraries put around an object, the type that they were made for. */
static bool first_argument(const Dwarf_Die *type, Dwarf_Die *argument)
{
    Dwarf_Die bare, die;
    if (!type__is_of_library(type) || !type__bare(type, &bare) || dwarf_child(&bare, &die) != 0)
        return false;
    do
        if (dwarf_tag(&die) == DW_TAG_template_type_parameter && declaration__type(&die, argument))
            return type__is_record(argument) && !type__is_of_library(argument);
    while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

static bool is_pointer_counter(const Dwarf_Die *type)
{
    Dwarf_Die bare;
    const char *name = type__bare(type, &bare) ? dwarf_diename(&bare) : NULL;
    return name && strncmp(name, "_Sp_counted_ptr_inplace<", 24) == 0;
}

/* A member of a library's class, or of one that it is made of. */
static bool find_of_library(const Dwarf_Die *type, const char *wanted, unsigned depth,
                            struct symbol_member *found)
{
    enum { BASES_MOST = 4 };
    Dwarf_Die bare, child, inner;
    uint64_t offset;
    if (depth > BASES_MOST || !type__bare(type, &bare) || dwarf_child(&bare, &child) != 0)
        return false;
    do {
        const char *name = dwarf_diename(&child);
        int tag = dwarf_tag(&child);
        bool is_it = tag == DW_TAG_member && name && strcmp(name, wanted) == 0;
        if ((!is_it && tag != DW_TAG_inheritance) || !member__offset(&child, &offset))
            continue;
        if (is_it)
            *found = (struct symbol_member){offset, member__size(&child), .path = wanted};
        else if (declaration__type(&child, &inner) &&
                 find_of_library(&inner, wanted, depth + 1, found))
            found->offset += offset;
        else
            continue;
        return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* Of an object that lies at an offset of what is allocated, of size bytes in all. Takes over the
 * paths of the fields. */
static void describe(const Dwarf_Die *die, uint64_t offset, uint64_t size, struct symbol_type *type)
{
    *type = (struct symbol_type){.name = type__name(die), .size = size};
    if (!type->name)
        return;
    struct vec fields = type_layout__fields(die);
    VEC_EACH (field, &fields, struct symbol_member)
        field->offset += offset;
    type->members = fields.items;
    type->member_count = fields.count;
}

/* A std::shared_ptr's counts stand before its object, in what is allocated for both. */
static void describe_counted(const Dwarf_Die *counter, const Dwarf_Die *inner, uint64_t offset,
                             struct symbol_type *type)
{
    static const char *const counts[] = {"_M_use_count", "_M_weak_count"};
    describe(inner, offset, type__size(counter), type);
    struct vec fields = VEC_OF(struct symbol_member);
    for (size_t i = 0; i < type->member_count; i++)
        vec__push(&fields, &type->members[i]);
    for (size_t i = 0; i < sizeof counts / sizeof *counts && type->name; i++) {
        struct symbol_member count;
        if (!find_of_library(counter, counts[i], 0, &count))
            continue;
        count.path = memory__text(count.path);
        vec__push(&fields, &count);
    }
    free((struct symbol_member *)type->members);
    type->members = fields.items;
    type->member_count = fields.count;
}

const struct symbol_type *typed_code__layout(struct typed_code *self, const Dwarf_Die *type)
{
    Dwarf_Die bare;
    if (!type__is_record(type) || !type__bare(type, &bare))
        return NULL;
    VEC_EACH (known, &self->layouts, struct typed_layout *)
        if ((*known)->die == bare.addr)
            return &(*known)->type;
    struct typed_layout *layout = memory__zeroed(1, sizeof *layout);
    layout->die = bare.addr;
    describe(type, 0, type__size(type), &layout->type);
    if (!layout->type.name)
        layout->type.name = memory__text("");
    vec__push(&self->layouts, &layout);
    return &layout->type;
}

bool made_type__find(struct typed_code *code, uint64_t return_address, struct symbol_type *type)
{
    struct made_search search = {.code = code, .holds[RAX] = true};
    struct symbol_member object;
    Dwarf_Die inner;
    search.function = typed_code__function(code, return_address - 1);
    size_t at =
        search.function ? function_code__at(&search.function->code, return_address) : SIZE_MAX;
    if (at == SIZE_MAX || search.function->code.is_opaque)
        return false;
    for (unsigned steps = 0; steps < STEPS_MOST && !search.is_found && holds_any(&search);
         steps++) {
        look_at_variables(
            &search,
            VEC_AT(&search.function->code.instructions, struct placed_instruction, at)->address);
        if (!search.is_found && !go_on(&search, &at))
            break;
    }
    if (!search.is_found)
        return false;
    if (is_pointer_counter(&search.type) && first_argument(&search.type, &inner) &&
        find_of_library(&search.type, "_M_impl", 0, &object))
        describe_counted(&search.type, &inner, object.offset, type);
    else
        describe(&search.type, 0, type__size(&search.type), type);
    return type->name;
}

void made_type__clear(struct symbol_type *type)
{
    for (size_t i = 0; i < type->member_count; i++)
        free((char *)type->members[i].path);
    free((struct symbol_member *)type->members);
    free((char *)type->name);
    *type = (struct symbol_type){0};
}
