#include "patch/spin_code.h"

static bool only_reads(const struct instruction *instruction, const ZydisDecodedOperand *memory)
{
    return !instruction__locks_memory(instruction) &&
           !(memory->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
}

/* Whether it takes what is there and leaves something: a spin lock's way to ask. */
bool instruction__exchanges(const struct instruction *instruction)
{
    return instruction->zydis.mnemonic == ZYDIS_MNEMONIC_XCHG ||
           instruction->zydis.mnemonic == ZYDIS_MNEMONIC_CMPXCHG;
}

/* What only sets a register, whatever is in memory. */
static bool is_move(const struct instruction *instruction, const ZydisDecodedOperand *memory)
{
    const ZydisDecodedOperand *operands = instruction->operands;
    return !memory && (instruction->zydis.mnemonic == ZYDIS_MNEMONIC_MOV ||
                       (instruction->zydis.mnemonic == ZYDIS_MNEMONIC_XOR &&
                        operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                        operands[0].reg.value == operands[1].reg.value));
}

/* What may stand in a loop that only waits for what it reads: moves, comparisons, branches, pauses,
 * exchanges, a count of rounds. */
bool instruction__may_spin(const struct instruction *instruction, const ZydisDecodedOperand *memory)
{
    if (memory && !only_reads(instruction, memory))
        return instruction__exchanges(instruction);
    switch (instruction->zydis.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_XOR:
        return memory ? instruction->zydis.mnemonic == ZYDIS_MNEMONIC_MOV
                      : is_move(instruction, memory);
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSXD:
        return memory;
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_PAUSE:
        return true;
    default:
        return instruction__is_nop(instruction) || branch__is_direct(instruction->branch) ||
               (!memory && instruction__adds(instruction) != 0);
    }
}

void spin_registers__add(struct spin_registers *registers, const struct instruction *instruction,
                         const ZydisDecodedOperand *memory)
{
    int number = register__number(instruction->operands[0].reg.value);
    registers->exchanges |= memory && instruction__exchanges(instruction);
    registers->compares |= memory && instruction->zydis.mnemonic == ZYDIS_MNEMONIC_CMPXCHG;
    if (instruction->operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER || number < 0)
        return;
    if (is_move(instruction, memory))
        registers->set |= 1u << number;
    else if (instruction__adds(instruction))
        registers->counted |= 1u << number;
    else if (memory && instruction__writes(instruction, number))
        registers->read |= 1u << number;
}

/* Whether it asks if a count of rounds has come to what is read: that needs nobody else. */
bool spin_registers__count(const struct spin_registers *registers,
                           const struct instruction *instruction, const ZydisDecodedOperand *memory)
{
    unsigned asked = 0;
    for (unsigned i = 0; i < 2; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            register__number(operand->reg.value) >= 0)
            asked |= 1u << register__number(operand->reg.value);
    }
    return instruction->zydis.mnemonic == ZYDIS_MNEMONIC_CMP && asked & registers->counted &&
           (memory || asked & registers->read);
}

/* Whether what a loop sets fits to waiting: only an exchange needs a register that is set each
 * time, and one that compares with what it found last time makes a new value of that. */
bool spin_registers__wait(const struct spin_registers *registers)
{
    return registers->exchanges ? !registers->compares || registers->set & 1 : !registers->set;
}

/* A condition beside what is waited for: a variable or a spilled register that is compared. Its
 * address is the same each time. */
bool instruction__is_condition(const struct instruction *instruction,
                               const ZydisDecodedOperand *memory)
{
    bool compares = instruction->zydis.mnemonic == ZYDIS_MNEMONIC_CMP ||
                    instruction->zydis.mnemonic == ZYDIS_MNEMONIC_TEST;
    bool is_fixed =
        memory->mem.index == ZYDIS_REGISTER_NONE &&
        (memory->mem.base == ZYDIS_REGISTER_RIP || memory->mem.base == ZYDIS_REGISTER_NONE ||
         memory->mem.base == ZYDIS_REGISTER_RSP);
    return compares && is_fixed && only_reads(instruction, memory);
}
