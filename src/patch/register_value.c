#include "patch/register_value.h"

#define DEPTH_MOST 12u /* of values that are made of values */

static bool value_before(const struct straight_code *code, size_t number, ZydisRegister name,
                         unsigned depth, uint64_t *value);

static bool is_whole(ZydisRegister name)
{
    return name >= ZYDIS_REGISTER_RAX && name <= ZYDIS_REGISTER_R15;
}

static bool address_at(const struct straight_code *code, size_t number,
                       const struct instruction *instruction, const ZydisDecodedOperand *operand,
                       unsigned depth, uint64_t *address)
{
    const ZydisDecodedOperandMem *memory = &operand->mem;
    uint64_t base = 0, index = 0;
    if (memory->segment == ZYDIS_REGISTER_FS || memory->segment == ZYDIS_REGISTER_GS)
        return false;
    if (memory->base == ZYDIS_REGISTER_RIP)
        base = instruction->end + code->loaded_at;
    else if (memory->base != ZYDIS_REGISTER_NONE &&
             !value_before(code, number, memory->base, depth, &base))
        return false;
    if (memory->index != ZYDIS_REGISTER_NONE &&
        !value_before(code, number, memory->index, depth, &index))
        return false;
    *address = base + index * memory->scale +
               (memory->disp.has_displacement ? (uint64_t)memory->disp.value : 0);
    return true;
}

static bool loaded_value(const struct straight_code *code, size_t number,
                         const struct instruction *instruction, const ZydisDecodedOperand *from,
                         unsigned depth, uint64_t *value)
{
    uint64_t address;
    return from->size == 64 && code->memory.read &&
           address_at(code, number, instruction, from, depth, &address) &&
           code->memory.read(code->memory.context, address, value);
}

static bool moved_value(const struct straight_code *code, size_t number,
                        const struct instruction *instruction, unsigned depth, uint64_t *value)
{
    const ZydisDecodedOperand *from = &instruction->operands[1];
    switch (from->type) {
    case ZYDIS_OPERAND_TYPE_MEMORY:
        return loaded_value(code, number, instruction, from, depth, value);
    case ZYDIS_OPERAND_TYPE_REGISTER:
        return is_whole(from->reg.value) &&
               value_before(code, number, from->reg.value, depth, value);
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        *value = from->imm.value.u;
        return true;
    default:
        return false;
    }
}

/* sign: +1, −1. */
static bool summed_value(const struct straight_code *code, size_t number,
                         const struct instruction *instruction, int64_t sign, unsigned depth,
                         uint64_t *value)
{
    uint64_t own, more;
    const ZydisDecodedOperand *operands = instruction->operands;
    if (!is_whole(operands[0].reg.value) ||
        !value_before(code, number, operands[0].reg.value, depth, &own) ||
        !moved_value(code, number, instruction, depth, &more))
        return false;
    *value = own + (uint64_t)sign * more;
    return true;
}

/* What the instruction left in the register that it writes. */
static bool made_value(const struct straight_code *code, size_t number,
                       const struct instruction *instruction, unsigned depth, uint64_t *value)
{
    const ZydisDecodedOperand *operands = instruction->operands;
    if (operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER || !is_whole(operands[0].reg.value))
        return false;
    switch (instruction->zydis.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        return moved_value(code, number, instruction, depth, value);
    case ZYDIS_MNEMONIC_LEA:
        return address_at(code, number, instruction, &operands[1], depth, value);
    case ZYDIS_MNEMONIC_ADD:
        return summed_value(code, number, instruction, 1, depth, value);
    case ZYDIS_MNEMONIC_SUB:
        return summed_value(code, number, instruction, -1, depth, value);
    default:
        return false;
    }
}

/* The register's value when the instruction of that number began. */
static bool value_before(const struct straight_code *code, size_t number, ZydisRegister name,
                         unsigned depth, uint64_t *value)
{
    struct instruction instruction;
    int wanted = register__number(name);
    bool is_changed = false;
    if (wanted < 0 || !is_whole(name) || depth >= DEPTH_MOST)
        return false;
    for (size_t i = number; i < code->interrupted && !is_changed; i++) {
        if (!code->decode(code->context, i, &instruction))
            return false;
        is_changed = instruction__writes(&instruction, wanted);
    }
    *value = code->registers[wanted];
    if (!is_changed)
        return true;
    for (size_t i = number; i-- > code->first;) {
        if (!code->decode(code->context, i, &instruction))
            return false;
        if (instruction__writes(&instruction, wanted))
            return made_value(code, i, &instruction, depth + 1, value);
    }
    return false;
}

bool straight_code__address(const struct straight_code *code, size_t number,
                            const ZydisDecodedOperand *operand, uint64_t *address)
{
    struct instruction instruction;
    return code->decode(code->context, number, &instruction) &&
           address_at(code, number, &instruction, operand, 0, address);
}
