#include "patch/decode.h"

/* Branches are told by opcode: it is the same in every mode of the decoder. */
static enum branch group_ff(const ZydisDecodedInstruction *zydis)
{
    switch (zydis->raw.modrm.reg) {
    case 2:
        return BRANCH_CALL_INDIRECT;
    case 4:
        return BRANCH_JUMP_INDIRECT;
    case 3:
    case 5:
        return BRANCH_FAR;
    default:
        return BRANCH_NONE;
    }
}

static enum branch one_byte_branch(const ZydisDecodedInstruction *zydis)
{
    switch (zydis->opcode) {
    case 0x70 ... 0x7f:
        return BRANCH_CONDITIONAL;
    case 0xe0 ... 0xe3:
        return BRANCH_SHORT;
    case 0xc7: /* xbegin */
        return zydis->raw.imm[0].is_relative ? BRANCH_ABORTED : BRANCH_NONE;
    case 0xe8:
        return BRANCH_CALL;
    case 0xe9:
    case 0xeb:
        return BRANCH_JUMP;
    case 0xff:
        return group_ff(zydis);
    case 0xc3:
        return BRANCH_RETURN;
    case 0xc2:
        return BRANCH_RETURN_POP;
    case 0xcc:
    case 0xf4:
        return BRANCH_STOP;
    case 0xca:
    case 0xcb:
    case 0xcf:
        return BRANCH_FAR;
    default:
        return BRANCH_NONE;
    }
}

static enum branch branch_of(const ZydisDecodedInstruction *zydis)
{
    if (zydis->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        return BRANCH_NONE;
    if (zydis->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
        return one_byte_branch(zydis);
    if (zydis->opcode_map != ZYDIS_OPCODE_MAP_0F)
        return BRANCH_NONE;
    if (zydis->opcode >= 0x80 && zydis->opcode <= 0x8f)
        return BRANCH_CONDITIONAL;
    if (zydis->mnemonic == ZYDIS_MNEMONIC_UD2)
        return BRANCH_STOP;
    if (zydis->mnemonic == ZYDIS_MNEMONIC_SYSRET || zydis->mnemonic == ZYDIS_MNEMONIC_SYSEXIT)
        return BRANCH_FAR;
    return BRANCH_NONE;
}

void decoder__start(ZydisDecoder *decoder)
{
    ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

bool instruction__decode(struct instruction *instruction, const ZydisDecoder *decoder,
                         const uint8_t *bytes, size_t size, uint64_t address)
{
    ZydisDecodedInstruction *zydis = &instruction->zydis;
    if (ZYAN_FAILED(
            ZydisDecoderDecodeInstruction(decoder, &instruction->context, bytes, size, zydis)))
        return false;
    instruction->address = address;
    instruction->end = address + zydis->length;
    instruction->branch = branch_of(zydis);
    instruction->target = instruction->end + (uint64_t)zydis->raw.imm[0].value.s;
    return true;
}

bool instruction__operands(struct instruction *instruction, const ZydisDecoder *decoder)
{
    return ZYAN_SUCCESS(ZydisDecoderDecodeOperands(decoder, &instruction->context,
                                                   &instruction->zydis, instruction->operands,
                                                   instruction->zydis.operand_count));
}

bool instruction__is_nop(const struct instruction *instruction)
{
    return instruction->zydis.mnemonic == ZYDIS_MNEMONIC_NOP;
}

bool instruction__is_endbr64(const struct instruction *instruction)
{
    return instruction->zydis.mnemonic == ZYDIS_MNEMONIC_ENDBR64;
}

bool instruction__ends_flow(const struct instruction *instruction)
{
    switch (instruction->branch) {
    case BRANCH_JUMP:
    case BRANCH_JUMP_INDIRECT:
    case BRANCH_RETURN:
    case BRANCH_RETURN_POP:
    case BRANCH_STOP:
        return true;
    default:
        return false;
    }
}

bool instruction__has_memory(const struct instruction *instruction)
{
    return (instruction->zydis.attributes & ZYDIS_ATTRIB_HAS_MODRM) &&
           instruction->zydis.raw.modrm.mod != 3;
}

uint64_t instruction__rip_address(const struct instruction *instruction)
{
    const ZydisDecodedInstruction *zydis = &instruction->zydis;
    if (!instruction__has_memory(instruction) || zydis->raw.modrm.mod != 0 ||
        zydis->raw.modrm.rm != 5)
        return 0;
    return instruction->end + (uint64_t)zydis->raw.disp.value;
}

bool instruction__locks_memory(const struct instruction *instruction)
{
    return instruction->zydis.attributes & ZYDIS_ATTRIB_HAS_LOCK ||
           (instruction->zydis.mnemonic == ZYDIS_MNEMONIC_XCHG &&
            instruction__has_memory(instruction)); /* locks without a prefix */
}

bool instruction__is_lea(const struct instruction *instruction)
{
    return instruction->zydis.mnemonic == ZYDIS_MNEMONIC_LEA;
}

int register__number(ZydisRegister name)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
    return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
               ? (int)whole - ZYDIS_REGISTER_RAX
               : -1;
}

bool instruction__writes(const struct instruction *instruction, int number)
{
    for (unsigned i = 0; i < instruction->zydis.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && number >= 0 &&
            register__number(operand->reg.value) == number)
            return true;
    }
    return false;
}

int32_t instruction__adds(const struct instruction *instruction)
{
    const ZydisDecodedOperand *operands = instruction->operands;
    switch (instruction->zydis.mnemonic) {
    case ZYDIS_MNEMONIC_INC:
        return 1;
    case ZYDIS_MNEMONIC_DEC:
        return -1;
    case ZYDIS_MNEMONIC_ADD:
        return operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? (int32_t)operands[1].imm.value.s
                                                                : 0;
    case ZYDIS_MNEMONIC_SUB:
        return operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? -(int32_t)operands[1].imm.value.s
                                                                : 0;
    default:
        return 0;
    }
}
