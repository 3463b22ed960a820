#include "symbol/expression.h"

#include <dwarf.h>
#include <string.h>

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
        return push(machine, machine->state->frame_address);
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

bool expression__value(const Dwarf_Op *ops, size_t count, const struct frame_state *state,
                       const struct stack_memory *memory, bool is_address, uint64_t *value)
{
    struct machine machine = {.state = state, .memory = memory};
    for (size_t i = 0; i < count && !machine.failed; i++)
        operate(&machine, &ops[i]);
    uint64_t result = pop(&machine);
    if (machine.failed)
        return false;
    if (!is_address && !machine.is_value)
        return stack_memory__read(memory, result, value);
    *value = result;
    return true;
}
