#include "patch/preserved.h"

#include "patch/decode.h"

static bool is_rbx(ZydisRegister reg)
{
    return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg) == ZYDIS_REGISTER_RBX;
}

static bool uses_rbx(const struct instruction *instruction)
{
    for (int i = 0; i < instruction->zydis.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER && is_rbx(operand->reg.value))
            return true;
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
            (is_rbx(operand->mem.base) || is_rbx(operand->mem.index)))
            return true;
    }
    return false;
}

/* push rbx, or a store of it into the frame. */
static bool is_saving(const struct instruction *instruction)
{
    const ZydisDecodedOperand *to = &instruction->operands[0], *from = &instruction->operands[1];
    if (instruction->zydis.mnemonic == ZYDIS_MNEMONIC_PUSH)
        return to->type == ZYDIS_OPERAND_TYPE_REGISTER;
    return instruction->zydis.mnemonic == ZYDIS_MNEMONIC_MOV &&
           to->type == ZYDIS_OPERAND_TYPE_MEMORY &&
           (to->mem.base == ZYDIS_REGISTER_RSP || to->mem.base == ZYDIS_REGISTER_RBP) &&
           from->type == ZYDIS_OPERAND_TYPE_REGISTER && from->reg.value == ZYDIS_REGISTER_RBX;
}

bool preserved__rbx(const struct code_file *file, const struct code_function *function)
{
    ZydisDecoder decoder;
    struct instruction instruction;
    struct cfa_cursor cfa = CFA_CURSOR(&file->cfa);
    bool kept = true;
    decoder__start(&decoder);
    for (uint64_t at = function->start; kept && at < function->end; at = instruction.end) {
        size_t size;
        const uint8_t *bytes = code_file__bytes(file, at, &size);
        if (!bytes || !instruction__decode(&instruction, &decoder, bytes, size, at) ||
            !instruction__operands(&instruction, &decoder))
            break;
        if (cfa_cursor__seek(&cfa, at) && !cfa.row.rbx_saved && uses_rbx(&instruction))
            kept = is_saving(&instruction);
    }
    cfa_cursor__free(&cfa);
    return kept;
}
