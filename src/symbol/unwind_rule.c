#include "symbol/unwind_rule.h"

#include "base/map.h"
#include "base/memory.h"
#include "symbol/unwind.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

struct unwind_table {
    Dwarf_CFI *eh_frame, *debug_frame; /* NULL: none */
    Dwarf_Addr eh_bias, debug_bias;
    struct map by_address;
    struct vec rules; /* struct unwind_rule * */
};

void unwind_table__free(struct unwind_table *table)
{
    if (!table)
        return;
    VEC_EACH (rule, &table->rules, struct unwind_rule *) {
        free((*rule)->ops);
        free(*rule);
    }
    vec__free(&table->rules);
    map__free(&table->by_address);
    free(table);
}

static struct unwind_table *table_of(struct image *image)
{
    if (!image->unwind) {
        struct unwind_table *table = image->unwind = memory__zeroed(1, sizeof *table);
        table->rules = VEC_OF(struct unwind_rule *);
        if (image->module) {
            table->eh_frame = dwfl_module_eh_cfi(image->module, &table->eh_bias);
            table->debug_frame = dwfl_module_dwarf_cfi(image->module, &table->debug_bias);
        }
    }
    return image->unwind;
}

/* Copies operations behind those that the rule has. */
static void append(struct vec *ops, struct register_rule *which, const Dwarf_Op *from, size_t count)
{
    which->kind = RULE_EXPRESSION;
    which->first = (uint32_t)ops->count;
    which->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        vec__push(ops, &from[i]);
}

static void decode_register(Dwarf_Frame *frame, int number, struct unwind_rule *rule,
                            struct vec *ops)
{
    Dwarf_Op memory[3], *found;
    size_t count;
    struct register_rule *which = &rule->registers[number];
    if (dwarf_frame_register(frame, number, memory, &found, &count) != 0)
        return;
    if (count)
        append(ops, which, found, count);
    else if (!found)
        which->kind = RULE_SAME;
}

static void decode(Dwarf_Frame *frame, struct unwind_rule *rule)
{
    Dwarf_Op *found;
    size_t count;
    bool is_signal = false;
    struct vec ops = VEC_OF(Dwarf_Op);
    dwarf_frame_info(frame, NULL, NULL, &is_signal);
    rule->is_signal = is_signal;
    if (dwarf_frame_cfa(frame, &found, &count) == 0 && count)
        append(&ops, &rule->frame_address, found, count);
    for (int i = 0; i < REGISTERS; i++)
        decode_register(frame, i, rule, &ops);
    rule->ops = ops.items;
}

static struct unwind_rule *rule__new(struct unwind_table *table, uint64_t address)
{
    struct unwind_rule *rule = memory__zeroed(1, sizeof *rule);
    Dwarf_Frame *frame = NULL;
    bool found = table->eh_frame &&
                 dwarf_cfi_addrframe(table->eh_frame, address - table->eh_bias, &frame) == 0;
    if (!found && table->debug_frame)
        found = dwarf_cfi_addrframe(table->debug_frame, address - table->debug_bias, &frame) == 0;
    if (found)
        decode(frame, rule);
    rule->is_missing = !found;
    free(frame);
    return rule;
}

const struct unwind_rule *unwind_table__rule(struct image *image, uint64_t address)
{
    struct unwind_table *table = table_of(image);
    size_t count = table->rules.count;
    size_t index = map__put(&table->by_address, &address, sizeof address, count);
    if (index == count) {
        struct unwind_rule *rule = rule__new(table, address);
        vec__push(&table->rules, &rule);
    }
    return *VEC_AT(&table->rules, struct unwind_rule *, index);
}

bool stack_memory__read(const struct stack_memory *memory, uint64_t address, uint64_t *value)
{
    uint64_t offset = address - memory->start, bytes = memory->words * sizeof(uint64_t);
    if (address < memory->start || bytes < sizeof *value || offset > bytes - sizeof *value)
        return false;
    memcpy(value, (const char *)memory->memory + offset, sizeof *value);
    return true;
}

/* ---- expressions (DWARF 5, section 2.5) ------------------------------------------------------ */

enum { MACHINE_DEPTH = 32 };

struct machine {
    uint64_t stack[MACHINE_DEPTH];
    unsigned depth;
    bool failed;
    bool is_value; /* the result is a value, not the address of one */
    const struct frame_state *state;
    const struct stack_memory *memory;
    uint64_t frame_address;
};

static void push(struct machine *machine, uint64_t value)
{
    if (machine->depth == MACHINE_DEPTH)
        machine->failed = true;
    else
        machine->stack[machine->depth++] = value;
}

static uint64_t pop(struct machine *machine)
{
    if (machine->depth == 0) {
        machine->failed = true;
        return 0;
    }
    return machine->stack[--machine->depth];
}

static uint64_t register_of(struct machine *machine, uint64_t number)
{
    if (number >= REGISTERS || !(machine->state->known & 1u << number)) {
        machine->failed = true;
        return 0;
    }
    return machine->state->registers[number];
}

static uint64_t memory_at(struct machine *machine, uint64_t address)
{
    uint64_t value = 0;
    if (!stack_memory__read(machine->memory, address, &value))
        machine->failed = true;
    return value;
}

/* Operations on the two topmost values; false: not one of them. */
static bool binary_operation(struct machine *machine, unsigned atom)
{
    uint64_t right = pop(machine), left = pop(machine), result;
    switch (atom) {
    case DW_OP_plus:
        result = left + right;
        break;
    case DW_OP_minus:
        result = left - right;
        break;
    case DW_OP_mul:
        result = left * right;
        break;
    case DW_OP_and:
        result = left & right;
        break;
    case DW_OP_or:
        result = left | right;
        break;
    case DW_OP_xor:
        result = left ^ right;
        break;
    case DW_OP_shl:
        result = right < 64 ? left << right : 0;
        break;
    case DW_OP_shr:
        result = right < 64 ? left >> right : 0;
        break;
    case DW_OP_eq:
        result = left == right;
        break;
    case DW_OP_ne:
        result = left != right;
        break;
    case DW_OP_ge:
        result = (int64_t)left >= (int64_t)right;
        break;
    case DW_OP_gt:
        result = (int64_t)left > (int64_t)right;
        break;
    case DW_OP_le:
        result = (int64_t)left <= (int64_t)right;
        break;
    case DW_OP_lt:
        result = (int64_t)left < (int64_t)right;
        break;
    default:
        return false;
    }
    push(machine, result);
    return true;
}

/* Operations whose number is in the operation itself; false: not one of them. */
static bool ranged_operation(struct machine *machine, const Dwarf_Op *op)
{
    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
        push(machine, op->atom - DW_OP_lit0);
    else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
        push(machine, register_of(machine, op->atom - DW_OP_breg0) + op->number);
    else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
        push(machine, register_of(machine, op->atom - DW_OP_reg0));
        machine->is_value = true;
    } else
        return false;
    return true;
}

static void duplicate(struct machine *machine)
{
    uint64_t value = pop(machine);
    push(machine, value);
    push(machine, value);
}

static void operate(struct machine *machine, const Dwarf_Op *op)
{
    if (ranged_operation(machine, op))
        return;
    switch (op->atom) {
    case DW_OP_call_frame_cfa:
        return push(machine, machine->frame_address);
    case DW_OP_plus_uconst:
        return push(machine, pop(machine) + op->number);
    case DW_OP_bregx:
        return push(machine, register_of(machine, op->number) + op->number2);
    case DW_OP_regx:
        machine->is_value = true;
        return push(machine, register_of(machine, op->number));
    case DW_OP_addr:
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts:
        return push(machine, op->number);
    case DW_OP_deref:
        return push(machine, memory_at(machine, pop(machine)));
    case DW_OP_dup:
        return duplicate(machine);
    case DW_OP_drop:
        pop(machine);
        return;
    case DW_OP_nop:
        return;
    case DW_OP_stack_value:
        machine->is_value = true;
        return;
    default:
        machine->failed |= !binary_operation(machine, op->atom);
    }
}

bool unwind_rule__value(const struct unwind_rule *rule, const struct register_rule *which,
                        const struct frame_state *state, const struct stack_memory *memory,
                        uint64_t frame_address, uint64_t *value)
{
    struct machine machine = {.state = state, .memory = memory, .frame_address = frame_address};
    for (uint32_t i = 0; i < which->count && !machine.failed; i++)
        operate(&machine, &rule->ops[which->first + i]);
    uint64_t result = pop(&machine);
    if (machine.failed)
        return false;
    if (which == &rule->frame_address || machine.is_value) {
        *value = result;
        return true;
    }
    return stack_memory__read(memory, result, value);
}
