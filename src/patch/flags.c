#include "patch/flags.h"

#include "patch/decode.h"

enum {
    WAYS_DEEP = 4,          /* branches that are followed one behind the other */
    INSTRUCTIONS_LONG = 48, /* that are looked at between two of them */
    DEC_FLAGS = ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF |
                ZYDIS_CPUFLAG_OF,
};

struct flags_look {
    const struct code_file *file;
    const struct code_function *function;
    ZydisDecoder decoder;
};

/* Shifts by 0 and repetitions that repeat nothing leave the flags as they are. */
static bool may_leave_flags(const struct instruction *instruction)
{
    switch (instruction->zydis.mnemonic) {
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
    case ZYDIS_MNEMONIC_ROL:
    case ZYDIS_MNEMONIC_ROR:
    case ZYDIS_MNEMONIC_RCL:
    case ZYDIS_MNEMONIC_RCR:
    case ZYDIS_MNEMONIC_SHLD:
    case ZYDIS_MNEMONIC_SHRD:
        return true;
    default:
        return instruction->zydis.attributes &
               (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
    }
}

static uint32_t written(const struct instruction *instruction)
{
    const ZydisAccessedFlags *flags = instruction->zydis.cpu_flags;
    if (!flags || may_leave_flags(instruction))
        return 0;
    return flags->modified | flags->set_0 | flags->set_1 | flags->undefined;
}

static bool are_dead(struct flags_look *look, uint64_t at, uint32_t asked, unsigned deep)
{
    struct instruction instruction;
    for (unsigned i = 0; i < INSTRUCTIONS_LONG; i++, at = instruction.end) {
        size_t size;
        const uint8_t *bytes = code_file__bytes(look->file, at, &size);
        if (at < look->function->start || at >= look->function->end || !bytes ||
            !instruction__decode(&instruction, &look->decoder, bytes, size, at))
            return false;
        const ZydisAccessedFlags *flags = instruction.zydis.cpu_flags;
        if (flags && flags->tested & asked)
            return false;
        asked &= ~written(&instruction);
        if (!asked)
            return true;
        switch (instruction.branch) {
        case BRANCH_NONE:
            break;
        case BRANCH_CALL:
        case BRANCH_CALL_INDIRECT:
        case BRANCH_RETURN:
        case BRANCH_RETURN_POP:
        case BRANCH_STOP:
            return true;
        case BRANCH_JUMP:
            return deep && are_dead(look, instruction.target, asked, deep - 1);
        case BRANCH_CONDITIONAL:
        case BRANCH_SHORT:
            return deep && are_dead(look, instruction.target, asked, deep - 1) &&
                   are_dead(look, instruction.end, asked, deep - 1);
        default:
            return false;
        }
    }
    return false;
}

bool flags__are_dead(const struct code_file *file, const struct code_function *function,
                     uint64_t address)
{
    struct flags_look look = {.file = file, .function = function};
    decoder__start(&look.decoder);
    return are_dead(&look, address, DEC_FLAGS, WAYS_DEEP);
}
