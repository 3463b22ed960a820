/* typed_walk.c: the way back from an instruction to those that made what a register holds. */
#include "base/memory.h"
#include "patch/typed_internal.h"
#include "patch/typed_value.h"

enum { RAX = 0, STEPS_MOST = 4000, OPEN_MOST = 48, ROUNDS = 4, DEPTH_MAX = 256 };

/* A place at which ways come together and that is being asked about. */
struct open_merge {
    size_t at;
    struct typed_cell cell;
    struct typed_value assumed;
    bool is_asked; /* a way led back to it */
};

struct typed_walk {
    struct typed_code *code;
    const struct typed_function *function;
    struct open_merge open[OPEN_MOST];
    unsigned open_count;
    unsigned steps, depth;
};

static const struct typed_value unknown = {.kind = TYPED_UNKNOWN};
static const struct typed_value plain_number = {.kind = TYPED_NUMBER, .multiple = 1};

static struct typed_value value_before(struct typed_walk *walk, size_t at, struct typed_cell cell,
                                       int64_t wanted);

static struct typed_cell cell_of(int number)
{
    return (struct typed_cell){.number = (uint8_t)number};
}

static struct typed_value register_before(struct typed_walk *walk, size_t at, ZydisRegister name,
                                          int64_t wanted)
{
    int number = register__number(name);
    return number < 0 ? unknown : value_before(walk, at, cell_of(number), wanted);
}

/* ---- operands in memory ---------------------------------------------------------------------- */

static int64_t displacement_of(const ZydisDecodedOperand *operand)
{
    return operand->mem.disp.has_displacement ? operand->mem.disp.value : 0;
}

static bool is_slot(struct typed_walk *walk, uint64_t address, const ZydisDecodedOperand *operand)
{
    return operand->mem.index == ZYDIS_REGISTER_NONE &&
           typed_code__is_frame(walk->code, address, register__number(operand->mem.base));
}

/* An address that is not relative to a register: of a static object in code at a fixed place. */
static struct typed_value fixed(struct typed_walk *walk, int64_t address)
{
    struct typed_value object =
        walk->code->is_fixed ? typed_code__static(walk->code, (uint64_t)address) : unknown;
    if (object.kind == TYPED_POINTER)
        return object;
    return (struct typed_value){.kind = TYPED_NUMBER, .offset = address};
}

static struct typed_value address_of(struct typed_walk *walk, size_t at,
                                     const struct instruction *instruction,
                                     const ZydisDecodedOperand *operand)
{
    const ZydisDecodedOperandMem *memory = &operand->mem;
    int64_t more = displacement_of(operand);
    struct typed_value value, index = {.kind = TYPED_NUMBER};
    if (memory->segment == ZYDIS_REGISTER_FS || memory->segment == ZYDIS_REGISTER_GS)
        return unknown;
    if (memory->base == ZYDIS_REGISTER_RIP)
        return typed_code__static(walk->code, instruction->end + (uint64_t)more);
    if (memory->index != ZYDIS_REGISTER_NONE)
        index = typed_value__times(
            register_before(walk, at, memory->index, memory->scale <= 1 ? more : 0),
            memory->scale ? memory->scale : 1);
    if (memory->base == ZYDIS_REGISTER_NONE)
        return typed_value__sum(fixed(walk, more), index);
    if (typed_code__is_frame(walk->code, instruction->address, register__number(memory->base)))
        return typed_value__sum(typed_code__local(walk->code, walk->function, instruction->address,
                                                  register__number(memory->base), more),
                                index);
    value = typed_value__sum(register_before(walk, at, memory->base, more), index);
    return typed_value__plus(value, more);
}

/* Eight bytes that are read by the instruction. */
static struct typed_value load_by(struct typed_walk *walk, size_t at,
                                  const struct instruction *instruction,
                                  const ZydisDecodedOperand *operand, int64_t wanted)
{
    if (operand->size != 64)
        return plain_number;
    if (operand->mem.segment != ZYDIS_REGISTER_FS && is_slot(walk, instruction->address, operand))
        return value_before(walk, at,
                            (struct typed_cell){true, (uint8_t)register__number(operand->mem.base),
                                                displacement_of(operand)},
                            wanted);
    struct typed_value address = address_of(walk, at, instruction, operand);
    return typed_code__load(&address);
}

static struct typed_value operand_before(struct typed_walk *walk, size_t at,
                                         const struct instruction *instruction, unsigned index,
                                         int64_t wanted)
{
    const ZydisDecodedOperand *operand = &instruction->operands[index];
    switch (operand->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER:
        return register_before(walk, at, operand->reg.value, wanted);
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        return (struct typed_value){.kind = TYPED_NUMBER, .offset = operand->imm.value.s};
    case ZYDIS_OPERAND_TYPE_MEMORY:
        return load_by(walk, at, instruction, operand, wanted);
    default:
        return unknown;
    }
}

/* ---- instructions that write a register ------------------------------------------------------ */

static struct typed_value only_number(struct typed_value value)
{
    return value.kind == TYPED_NUMBER || value.kind == TYPED_SAME ? value : plain_number;
}

static struct typed_value moved(struct typed_walk *walk, size_t at,
                                const struct instruction *instruction, int64_t wanted)
{
    const ZydisDecodedOperand *source = &instruction->operands[1];
    if (source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return fixed(walk, source->imm.value.s);
    struct typed_value value = operand_before(walk, at, instruction, 1, wanted);
    return instruction->operands[0].size == 64 && source->size == 64 ? value : only_number(value);
}

static struct typed_value added(struct typed_walk *walk, size_t at,
                                const struct instruction *instruction, bool is_less, int64_t wanted)
{
    const ZydisDecodedOperand *operands = instruction->operands;
    if (operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        int64_t more = is_less ? -operands[1].imm.value.s : operands[1].imm.value.s;
        struct typed_value object = fixed(walk, more);
        if (object.kind == TYPED_POINTER)
            return typed_value__sum(object, operand_before(walk, at, instruction, 0, 0));
        return typed_value__plus(operand_before(walk, at, instruction, 0, wanted + more), more);
    }
    struct typed_value one = operand_before(walk, at, instruction, 0, wanted);
    struct typed_value other = operand_before(walk, at, instruction, 1, is_less ? 0 : wanted);
    if (is_less && one.kind == TYPED_POINTER && other.kind == TYPED_POINTER)
        return plain_number;
    if (is_less && other.kind == TYPED_NUMBER)
        other = typed_value__times(other, UINT64_MAX);
    return is_less && other.kind == TYPED_POINTER ? unknown : typed_value__sum(one, other);
}

static struct typed_value multiplied(struct typed_walk *walk, size_t at,
                                     const struct instruction *instruction)
{
    unsigned count = instruction->zydis.operand_count_visible;
    if (count == 1)
        return plain_number;
    unsigned first = count == 3 ? 1 : 0;
    struct typed_value one = only_number(operand_before(walk, at, instruction, first, 0));
    struct typed_value other = only_number(operand_before(walk, at, instruction, first + 1, 0));
    if (one.kind == TYPED_SAME || other.kind == TYPED_SAME)
        return plain_number;
    if (other.multiple == 0)
        return typed_value__times(one, (uint64_t)other.offset);
    return one.multiple == 0 ? typed_value__times(other, (uint64_t)one.offset) : plain_number;
}

static struct typed_value shifted(struct typed_walk *walk, size_t at,
                                  const struct instruction *instruction)
{
    const ZydisDecodedOperand *by = &instruction->operands[1];
    struct typed_value value = only_number(operand_before(walk, at, instruction, 0, 0));
    if (by->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || by->imm.value.u > 32 ||
        value.kind == TYPED_SAME)
        return plain_number;
    return typed_value__times(value, 1ull << by->imm.value.u);
}

static struct typed_value swapped(struct typed_walk *walk, size_t at,
                                  const struct instruction *instruction, int number, int64_t wanted)
{
    const ZydisDecodedOperand *operands = instruction->operands;
    bool is_first = operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    register__number(operands[0].reg.value) == number;
    return operand_before(walk, at, instruction, is_first ? 1 : 0, wanted);
}

/* What is compared and not found the same is then in rax. */
static struct typed_value compared(struct typed_walk *walk, size_t at,
                                   const struct instruction *instruction, int64_t wanted)
{
    return typed_value__either(value_before(walk, at, cell_of(RAX), wanted),
                               operand_before(walk, at, instruction, 0, wanted));
}

static struct typed_value other_result(const struct instruction *instruction)
{
    switch (instruction->zydis.mnemonic) {
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
    case ZYDIS_MNEMONIC_NOT:
    case ZYDIS_MNEMONIC_DIV:
    case ZYDIS_MNEMONIC_IDIV:
    case ZYDIS_MNEMONIC_MUL:
    case ZYDIS_MNEMONIC_BSF:
    case ZYDIS_MNEMONIC_BSR:
    case ZYDIS_MNEMONIC_TZCNT:
    case ZYDIS_MNEMONIC_LZCNT:
    case ZYDIS_MNEMONIC_POPCNT:
        return plain_number;
    default:
        return instruction->operands[0].size == 64 ? unknown : plain_number;
    }
}

/* What the instruction, which writes the register, leaves in it. */
static struct typed_value written(struct typed_walk *walk, size_t at,
                                  const struct instruction *instruction, int number, int64_t wanted)
{
    const ZydisDecodedOperand *operands = instruction->operands;
    switch (instruction->zydis.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVSXD:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVZX:
        return moved(walk, at, instruction, wanted);
    case ZYDIS_MNEMONIC_LEA:
        return operands[0].size == 64
                   ? address_of(walk, at, instruction, &operands[1])
                   : only_number(address_of(walk, at, instruction, &operands[1]));
    case ZYDIS_MNEMONIC_ADD:
        return added(walk, at, instruction, false, wanted);
    case ZYDIS_MNEMONIC_SUB:
        return added(walk, at, instruction, true, wanted);
    case ZYDIS_MNEMONIC_INC:
        return typed_value__plus(operand_before(walk, at, instruction, 0, wanted + 1), 1);
    case ZYDIS_MNEMONIC_DEC:
        return typed_value__plus(operand_before(walk, at, instruction, 0, wanted - 1), -1);
    case ZYDIS_MNEMONIC_CDQE:
        return only_number(value_before(walk, at, cell_of(number), 0));
    case ZYDIS_MNEMONIC_NEG:
        return typed_value__times(only_number(value_before(walk, at, cell_of(number), 0)),
                                  UINT64_MAX);
    case ZYDIS_MNEMONIC_IMUL:
        return multiplied(walk, at, instruction);
    case ZYDIS_MNEMONIC_SHL:
        return shifted(walk, at, instruction);
    case ZYDIS_MNEMONIC_XCHG:
        return swapped(walk, at, instruction, number, wanted);
    case ZYDIS_MNEMONIC_CMPXCHG:
        return compared(walk, at, instruction, wanted);
    case ZYDIS_MNEMONIC_CMOVB ... ZYDIS_MNEMONIC_CMOVZ:
        return typed_value__either(operand_before(walk, at, instruction, 0, wanted),
                                   operand_before(walk, at, instruction, 1, wanted));
    case ZYDIS_MNEMONIC_XOR:
        if (operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            operands[0].reg.value == operands[1].reg.value)
            return (struct typed_value){.kind = TYPED_NUMBER};
        return plain_number;
    default:
        return other_result(instruction);
    }
}

/* ---- back ------------------------------------------------------------------------------------ */

static bool writes_register(const struct instruction *instruction, int number)
{
    for (unsigned i = 0; i < instruction->zydis.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
            register__number(operand->reg.value) == number)
            return true;
    }
    return false;
}

/* The store to a slot that has no variable: only the compiler's own code knows of such. */
static bool writes_slot(const struct instruction *instruction, const struct typed_cell *slot)
{
    const ZydisDecodedOperand *operand = typed_code__memory(instruction);
    return operand && operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
           operand->mem.index == ZYDIS_REGISTER_NONE &&
           register__number(operand->mem.base) == slot->number &&
           displacement_of(operand) > slot->offset - 8 &&
           displacement_of(operand) < slot->offset + 8;
}

static struct typed_value stored(struct typed_walk *walk, size_t at,
                                 const struct instruction *instruction,
                                 const struct typed_cell *slot, int64_t wanted)
{
    const ZydisDecodedOperand *operands = instruction->operands;
    if (instruction->zydis.mnemonic != ZYDIS_MNEMONIC_MOV || operands[0].size != 64 ||
        operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
        displacement_of(&operands[0]) != slot->offset)
        return unknown;
    return operand_before(walk, at, instruction, 1, wanted);
}

static bool is_call(const struct instruction *instruction)
{
    return instruction->branch == BRANCH_CALL || instruction->branch == BRANCH_CALL_INDIRECT;
}

/* Of what an instruction leaves in a register, or is there where ways come together. */
static uint64_t symbol_of(size_t at, int number, bool is_merged)
{
    return ((uint64_t)at << 8 | (uint64_t)number << 1 | is_merged) + 1;
}

/* Whether the instruction makes what is in the cell, and what. */
static bool is_made_by(struct typed_walk *walk, size_t at, const struct typed_cell *cell,
                       int64_t wanted, struct typed_value *value)
{
    struct instruction instruction;
    *value = unknown;
    if (!function_code__decode(&walk->function->code, at, &instruction))
        return true;
    if (cell->is_slot) {
        if (is_call(&instruction))
            return false;
        if (writes_register(&instruction, cell->number))
            return true;
        if (!writes_slot(&instruction, cell))
            return false;
        *value = stored(walk, at, &instruction, cell, wanted);
        return true;
    }
    if (is_call(&instruction)) {
        if (register__is_kept(cell->number))
            return false;
        if (cell->number == RAX && instruction.branch == BRANCH_CALL)
            *value = typed_code__result(walk->code, instruction.target);
        return true;
    }
    if (!writes_register(&instruction, cell->number))
        return false;
    *value = written(walk, at, &instruction, cell->number, wanted);
    if (value->kind == TYPED_NUMBER && value->multiple && !value->symbol)
        value->symbol = symbol_of(at, cell->number, false);
    return true;
}

static bool is_same_cell(const struct typed_cell *one, const struct typed_cell *other)
{
    return one->is_slot == other->is_slot && one->number == other->number &&
           one->offset == other->offset;
}

static struct typed_value value_after(struct typed_walk *walk, size_t at, struct typed_cell cell,
                                      int64_t wanted)
{
    struct typed_value value;
    return is_made_by(walk, at, &cell, wanted, &value) ? value
                                                       : value_before(walk, at, cell, wanted);
}

/* By all ways that lead to the instruction. */
static struct typed_value by_all_ways(struct typed_walk *walk, size_t at, struct typed_cell cell,
                                      int64_t wanted)
{
    const struct function_code *code = &walk->function->code;
    const struct placed_instruction *one =
        VEC_AT(&code->instructions, struct placed_instruction, at);
    struct typed_value value = {.kind = TYPED_SAME};
    bool falls = at > 0 && one[-1].falls;
    if (at == 0 || (!falls && !one->from))
        return unknown;
    if (falls)
        value = value_after(walk, at - 1, cell, wanted);
    for (uint32_t i = 0; i < one->from && value.kind != TYPED_UNKNOWN; i++) {
        uint32_t from = *VEC_AT(&code->from, uint32_t, one->first_from + i);
        value = typed_value__either(value, value_after(walk, from, cell, wanted));
    }
    return value;
}

/* Where loops come together, what their bodies make of a value is looked at until it is found to
 * stay what it was taken for. */
static struct typed_value merged(struct typed_walk *walk, size_t at, struct typed_cell cell,
                                 int64_t wanted)
{
    for (unsigned i = 0; i < walk->open_count; i++) {
        struct open_merge *open = &walk->open[i];
        if (open->at == at && is_same_cell(&open->cell, &cell)) {
            open->is_asked = true;
            return open->assumed;
        }
    }
    if (walk->open_count == OPEN_MOST)
        return unknown;
    struct open_merge *open = &walk->open[walk->open_count++];
    *open = (struct open_merge){.at = at, .cell = cell, .assumed = {.kind = TYPED_SAME}};
    struct typed_value value = unknown;
    for (unsigned round = 0; round < ROUNDS; round++) {
        value = by_all_ways(walk, at, cell, wanted);
        if (!open->is_asked || typed_value__is_same(&value, &open->assumed))
            break;
        if (round + 1 == ROUNDS)
            value = unknown;
        open->assumed = value;
        open->assumed.symbol = 0;
    }
    walk->open_count--;
    if (value.kind == TYPED_NUMBER && value.multiple && !value.symbol && !cell.is_slot)
        value.symbol = symbol_of(at, cell.number, true);
    return value;
}

static struct typed_value value_before(struct typed_walk *walk, size_t at, struct typed_cell cell,
                                       int64_t wanted)
{
    const struct function_code *code = &walk->function->code;
    struct typed_value best = unknown, made;
    if (walk->depth >= DEPTH_MAX)
        return unknown;
    if (cell.is_slot) { /* a variable may be written by who has its address */
        uint64_t address = VEC_AT(&code->instructions, struct placed_instruction, at)->address;
        struct typed_value place =
            typed_code__local(walk->code, walk->function, address, cell.number, cell.offset);
        if (place.kind == TYPED_POINTER)
            return typed_code__load(&place);
    }
    walk->depth++;
    for (;; at--) {
        const struct placed_instruction *one =
            VEC_AT(&code->instructions, struct placed_instruction, at);
        made = typed_code__variable(walk->code, walk->function, one->address, cell, wanted);
        typed_value__improve(&best, &made, wanted);
        if (typed_value__is_best(&best, wanted) || code->is_opaque || ++walk->steps > STEPS_MOST)
            break;
        if (one->is_entered) {
            made = merged(walk, at, cell, wanted);
            typed_value__improve(&best, &made, wanted);
            break;
        }
        if (is_made_by(walk, at - 1, &cell, wanted, &made)) {
            typed_value__improve(&best, &made, wanted);
            break;
        }
    }
    walk->depth--;
    return best;
}

struct typed_value typed_code__value(struct typed_code *self, const struct typed_function *function,
                                     size_t at, struct typed_cell cell, int64_t wanted)
{
    struct typed_walk walk = {.code = self, .function = function};
    return value_before(&walk, at, cell, wanted);
}

struct typed_value typed_code__address(struct typed_code *self,
                                       const struct typed_function *function, size_t at,
                                       const struct instruction *instruction,
                                       const ZydisDecodedOperand *operand)
{
    struct typed_walk walk = {.code = self, .function = function};
    return address_of(&walk, at, instruction, operand);
}
