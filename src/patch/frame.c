#include "patch/frame.h"

#include "base/memory.h"
#include "patch/decode.h"

#include <stdlib.h>
#include <string.h>

enum {
    REGISTERS = 16,
    RETURN_ADDRESS = -8, /* where it lies, from the CFA */
    SUM_WINDOW = 32,     /* bytes between the addition that makes a table jump and the jump */
};

/* What a register is known to hold: the CFA plus offset. */
struct alias {
    bool known;
    int64_t offset;
};

struct frame_checker {
    const struct code_file *file;
    ZydisDecoder decoder;
    struct instruction instruction;
    struct vec *tails;
    struct cfa_cursor cfa;
    const struct code_function *function;
    uint64_t body; /* the first instruction that is not endbr64 */
    struct frame_verdict verdict;
    struct alias aliases[REGISTERS];
    unsigned alias_count;
    int64_t framed_depth; /* CFA - rsp where rbp tells the CFA: a lower bound; 0: unknown */
    bool in_prologue;     /* the lower bound still grows */
    ZydisRegister sum;    /* the register that the last addition of two registers wrote */
    uint64_t sum_at;
    bool flow_ended;
};

const char *frame_fault__text(enum frame_fault fault)
{
    static const char *const texts[] = {
        [FRAME_LOOKS_UP] = "it looks at its return address",
        [FRAME_SWITCHES] = "it switches stacks",
        [FRAME_FAR] = "it leaves by a far return or jump",
        [FRAME_NO_UNWIND] = "no unwind information",
        [FRAME_CFA_UNKNOWN] = "its unwind information does not tell where its stack pointer is",
        [FRAME_UNWIND_UNFIT] = "its unwind information does not fit its code",
        [FRAME_NOT_UNDERSTOOD] = "it holds an instruction that is not understood",
        [FRAME_NOT_CODE] = "it holds bytes that are no instruction",
        [FRAME_NO_SIZE] = "its size is not known",
        [FRAME_NOT_IN_FILE] = "its code is not in the file",
    };
    return texts[fault];
}

bool frame_fault__is_known(enum frame_fault fault)
{
    return (unsigned)fault <= FRAME_NOT_IN_FILE;
}

static void refuse(struct frame_checker *checker, enum frame_fault fault)
{
    if (!checker->verdict.fault)
        checker->verdict.fault = fault;
}

/* ---- the unwind information at an instruction ------------------------------------------------ */

static void enter_row(struct frame_checker *checker)
{
    enum cfa_base before = checker->cfa.row.base;
    int64_t offset_before = checker->cfa.row.offset;
    if (!cfa_cursor__seek(&checker->cfa, checker->instruction.address)) {
        if (!instruction__is_nop(&checker->instruction) &&
            checker->instruction.branch != BRANCH_STOP)
            refuse(checker, FRAME_NO_UNWIND);
        return;
    }
    if (checker->cfa.row.base == CFA_UNKNOWN)
        refuse(checker, FRAME_CFA_UNKNOWN);
    /* push rbp; mov rbp, rsp lies just behind; an epilogue ends in a jump or return. */
    if (before == CFA_RSP && checker->cfa.row.base == CFA_RBP && !checker->flow_ended) {
        checker->framed_depth = offset_before;
        checker->in_prologue = true;
    }
}

/* ---- addresses relative to the CFA ----------------------------------------------------------- */

static int number_of(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
        return -1;
    return (int)(whole - ZYDIS_REGISTER_RAX);
}

/* Whether the register's distance from the CFA is known. */
static bool offset_of(const struct frame_checker *checker, ZydisRegister reg, int64_t *offset)
{
    if (reg == ZYDIS_REGISTER_RSP) {
        *offset =
            checker->cfa.row.base == CFA_RSP ? -checker->cfa.row.offset : -checker->framed_depth;
        return *offset != 0;
    }
    if (reg == ZYDIS_REGISTER_RBP && checker->cfa.row.base == CFA_RBP) {
        *offset = -checker->cfa.row.offset;
        return true;
    }
    int number = number_of(reg);
    if (number < 0 || !checker->aliases[number].known)
        return false;
    *offset = checker->aliases[number].offset;
    return true;
}

/* Memory from offset to offset + size is used; size 0: its address is taken. */
static void use_stack(struct frame_checker *checker, int64_t offset, int64_t size)
{
    if (offset + size < RETURN_ADDRESS || (size && offset + size == RETURN_ADDRESS))
        return;
    if (offset < 0)
        refuse(checker, FRAME_LOOKS_UP);
    else
        checker->verdict.takes_stack = true;
}

static bool writes(const ZydisDecodedOperand *operand)
{
    return operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
}

static bool is_register(const ZydisDecodedOperand *operand, ZydisRegister reg)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->reg.value == reg;
}

static void check_memory(struct frame_checker *checker, const ZydisDecodedOperand *operand)
{
    const ZydisDecodedInstruction *zydis = &checker->instruction.zydis;
    bool address_only = operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN;
    int64_t offset;
    if (operand->mem.segment == ZYDIS_REGISTER_FS || operand->mem.segment == ZYDIS_REGISTER_GS ||
        !offset_of(checker, operand->mem.base, &offset))
        return;
    if (address_only && is_register(&checker->instruction.operands[0], ZYDIS_REGISTER_RSP))
        return;
    offset += operand->mem.disp.value;
    if (zydis->mnemonic == ZYDIS_MNEMONIC_POP)
        offset += 8; /* the address is computed after rsp has gone up */
    use_stack(checker, offset, address_only ? 0 : operand->size / 8);
}

/* rsp as a value: whoever holds it can reach up from it. */
static void check_rsp_read(struct frame_checker *checker)
{
    ZydisMnemonic mnemonic = checker->instruction.zydis.mnemonic;
    if (mnemonic == ZYDIS_MNEMONIC_CMP || mnemonic == ZYDIS_MNEMONIC_TEST)
        return;
    int64_t offset;
    if (offset_of(checker, ZYDIS_REGISTER_RSP, &offset))
        use_stack(checker, offset, 0);
}

static void check_rsp_write(struct frame_checker *checker)
{
    const ZydisDecodedOperand *operands = checker->instruction.operands;
    int64_t offset;
    bool anchored = checker->cfa.row.base == CFA_RBP;
    switch (checker->instruction.zydis.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_AND:
        return;
    case ZYDIS_MNEMONIC_LEA:
        anchored |= offset_of(checker, operands[1].mem.base, &offset);
        break;
    case ZYDIS_MNEMONIC_MOV:
        anchored |= operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    offset_of(checker, operands[1].reg.value, &offset);
        break;
    default:
        anchored = false;
    }
    if (!anchored)
        refuse(checker, FRAME_SWITCHES);
}

static void check_operand(struct frame_checker *checker, const ZydisDecodedOperand *operand)
{
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
        check_memory(checker, operand);
    if (!is_register(operand, ZYDIS_REGISTER_RSP))
        return;
    if (writes(operand))
        check_rsp_write(checker);
    else
        check_rsp_read(checker);
}

/* ---- registers that hold an address in the frame --------------------------------------------- */

static void forget(struct frame_checker *checker, int number)
{
    if (number < 0 || !checker->aliases[number].known)
        return;
    checker->aliases[number].known = false;
    checker->alias_count--;
}

static void forget_all(struct frame_checker *checker)
{
    for (int i = 0; i < REGISTERS; i++)
        forget(checker, i);
}

/* The registers that a call may change (System V ABI): all but rbx, rsp, rbp, r12 to r15. */
static void forget_called(struct frame_checker *checker)
{
    static const int volatile_numbers[] = {0, 1, 2, 6, 7, 8, 9, 10, 11};
    for (size_t i = 0; i < sizeof volatile_numbers / sizeof *volatile_numbers; i++)
        forget(checker, volatile_numbers[i]);
}

/* What the instruction leaves in its first operand: a known address or not. */
static bool copied_address(const struct frame_checker *checker, int64_t *offset)
{
    const struct instruction *instruction = &checker->instruction;
    const ZydisDecodedOperand *source = &instruction->operands[1];
    if (instruction->zydis.operand_count_visible != 2 || instruction->zydis.operand_width != 64)
        return false;
    if (instruction__is_lea(instruction) && source->mem.index == ZYDIS_REGISTER_NONE &&
        offset_of(checker, source->mem.base, offset)) {
        *offset += source->mem.disp.value;
        return true;
    }
    return instruction->zydis.mnemonic == ZYDIS_MNEMONIC_MOV &&
           source->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           offset_of(checker, source->reg.value, offset);
}

static void follow_registers(struct frame_checker *checker)
{
    struct instruction *instruction = &checker->instruction;
    int64_t offset = 0;
    bool copied = copied_address(checker, &offset);
    for (int i = 0; i < instruction->zydis.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER && writes(operand))
            forget(checker, number_of(operand->reg.value));
    }
    if (!copied || instruction->operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
        return;
    int number = number_of(instruction->operands[0].reg.value);
    if (number < 0 || instruction->operands[0].reg.value == ZYDIS_REGISTER_RSP)
        return;
    checker->aliases[number] = (struct alias){true, offset};
    checker->alias_count++;
}

/* ---- one instruction ------------------------------------------------------------------------- */

/* Whether the operands have to be looked at: something of rsp or rbp (by the low three bits of
 * their numbers), or a register known to point into the frame may be meant. */
static bool is_of_interest(const struct frame_checker *checker)
{
    const ZydisDecodedInstruction *zydis = &checker->instruction.zydis;
    if (checker->alias_count)
        return true;
    if (!(zydis->attributes & ZYDIS_ATTRIB_HAS_MODRM))
        return (zydis->opcode & 7) == 4; /* push, pop and xchg of rsp are among these */
    unsigned reg = zydis->raw.modrm.reg & 7, rm = zydis->raw.modrm.rm & 7;
    if (reg == 4 || zydis->raw.modrm.mod == 3)
        return reg == 4 || rm == 4;
    unsigned base = rm == 4 ? zydis->raw.sib.base & 7 : rm;
    return base == 4 || base == 5;
}

/* Keeps the lower bound of the frame's depth where only rbp tells where the CFA is: what the
 * prologue pushes and reserves counts, up to the first branch. */
static void follow_depth(struct frame_checker *checker, bool operands_known)
{
    const struct instruction *instruction = &checker->instruction;
    if (checker->cfa.row.base != CFA_RBP || !checker->in_prologue)
        return;
    if (instruction->branch != BRANCH_NONE)
        checker->in_prologue = false;
    else if (instruction->zydis.mnemonic == ZYDIS_MNEMONIC_PUSH)
        checker->framed_depth += 8;
    else if (operands_known && instruction->zydis.mnemonic == ZYDIS_MNEMONIC_SUB &&
             is_register(&instruction->operands[0], ZYDIS_REGISTER_RSP) &&
             instruction->operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        checker->framed_depth += instruction->operands[1].imm.value.s;
}

/* add r64, r64: the last step of a position-independent table jump. */
static void follow_sum(struct frame_checker *checker)
{
    const ZydisDecodedInstruction *zydis = &checker->instruction.zydis;
    if (zydis->mnemonic != ZYDIS_MNEMONIC_ADD || zydis->raw.modrm.mod != 3 ||
        (zydis->opcode != 0x01 && zydis->opcode != 0x03) || !zydis->raw.rex.W)
        return;
    unsigned reg = zydis->opcode == 0x01
                       ? (zydis->raw.modrm.rm & 7) | (unsigned)zydis->raw.rex.B << 3
                       : (zydis->raw.modrm.reg & 7) | (unsigned)zydis->raw.rex.R << 3;
    checker->sum = ZYDIS_REGISTER_RAX + reg;
    checker->sum_at = checker->instruction.address;
}

static bool has_bare_frame(const struct frame_checker *checker)
{
    return checker->cfa.row.base == CFA_RSP && checker->cfa.row.offset == 8;
}

static void check_stack(struct frame_checker *checker)
{
    struct instruction *instruction = &checker->instruction;
    ZydisMnemonic mnemonic = instruction->zydis.mnemonic;
    if (mnemonic == ZYDIS_MNEMONIC_POP && checker->cfa.row.base == CFA_RSP &&
        checker->cfa.row.offset < 16)
        refuse(checker, FRAME_LOOKS_UP);
    if (mnemonic == ZYDIS_MNEMONIC_ENTER)
        refuse(checker, FRAME_NOT_UNDERSTOOD);
    bool known = is_of_interest(checker);
    if (known && !instruction__operands(instruction, &checker->decoder)) {
        refuse(checker, FRAME_NOT_UNDERSTOOD);
        return;
    }
    for (int i = 0; known && i < instruction->zydis.operand_count_visible; i++)
        check_operand(checker, &instruction->operands[i]);
    if (known)
        follow_registers(checker);
    follow_depth(checker, known);
    follow_sum(checker);
}

/* ---- branches -------------------------------------------------------------------------------- */

static void add_tail(struct frame_checker *checker, uint64_t address, const char *name)
{
    vec__push(checker->tails, &(struct frame_tail){address, name});
}

static void jump_to(struct frame_checker *checker, uint64_t target)
{
    if (target < checker->function->start || target >= checker->function->end)
        add_tail(checker, target, NULL);
    else if (target == checker->function->start || target == checker->body)
        checker->verdict.loops = true;
}

/* Whether the words at table are addresses in the function. */
static bool is_fixed_table(const struct frame_checker *checker, uint64_t table)
{
    size_t size;
    uint64_t word;
    const uint8_t *bytes = code_file__bytes(checker->file, table, &size);
    if (!bytes || size < sizeof word)
        return false;
    memcpy(&word, bytes, sizeof word);
    return word >= checker->function->start && word < checker->function->end;
}

/* A jump through a register or memory leads into the function (a table) or out of it. It leads out
 * only where the frame has been taken down. */
static void jump_indirect(struct frame_checker *checker)
{
    struct instruction *instruction = &checker->instruction;
    if (!has_bare_frame(checker))
        return;
    if (!instruction__operands(instruction, &checker->decoder)) {
        refuse(checker, FRAME_NOT_UNDERSTOOD);
        return;
    }
    const ZydisDecodedOperand *operand = &instruction->operands[0];
    uint64_t slot = instruction__rip_address(instruction);
    if (slot)
        add_tail(checker, 0, code_file__slot(checker->file, slot));
    else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        if (operand->reg.value != checker->sum ||
            instruction->address - checker->sum_at > SUM_WINDOW)
            add_tail(checker, 0, NULL);
    } else if (operand->mem.base != ZYDIS_REGISTER_NONE || operand->mem.scale != 8 ||
               !is_fixed_table(checker, (uint64_t)operand->mem.disp.value))
        add_tail(checker, 0, NULL);
}

static void check_branch(struct frame_checker *checker)
{
    const struct instruction *instruction = &checker->instruction;
    switch (instruction->branch) {
    case BRANCH_JUMP:
    case BRANCH_CONDITIONAL:
    case BRANCH_SHORT:
    case BRANCH_ABORTED:
        jump_to(checker, instruction->target);
        break;
    case BRANCH_JUMP_INDIRECT:
        jump_indirect(checker);
        break;
    case BRANCH_RETURN:
        if (!has_bare_frame(checker))
            refuse(checker, FRAME_UNWIND_UNFIT);
        break;
    case BRANCH_RETURN_POP:
        checker->verdict.takes_stack = true;
        break;
    case BRANCH_FAR:
        refuse(checker, FRAME_FAR);
        break;
    case BRANCH_CALL:
    case BRANCH_CALL_INDIRECT:
        forget_called(checker);
        break;
    default:
        break;
    }
}

static void follow_flow(struct frame_checker *checker)
{
    const struct instruction *instruction = &checker->instruction;
    if (instruction__is_nop(instruction))
        return;
    checker->flow_ended = instruction__ends_flow(instruction);
    if (checker->flow_ended)
        forget_all(checker);
    /* The last call of a function may be of one that does not return. */
    checker->flow_ended |=
        instruction->branch == BRANCH_CALL || instruction->branch == BRANCH_CALL_INDIRECT;
}

/* ---- the function ---------------------------------------------------------------------------- */

static void begin(struct frame_checker *checker, const struct code_function *function,
                  struct vec *tails)
{
    checker->function = function;
    checker->tails = tails;
    checker->verdict = (struct frame_verdict){0};
    checker->body = function->start;
    checker->framed_depth = 0;
    checker->in_prologue = false;
    checker->flow_ended = false;
    checker->sum = ZYDIS_REGISTER_NONE;
    cfa_cursor__rewind(&checker->cfa);
    forget_all(checker);
}

static void check_entry(struct frame_checker *checker)
{
    if (!cfa_cursor__seek(&checker->cfa, checker->function->start))
        refuse(checker, FRAME_NO_UNWIND);
    else
        checker->verdict.inner = !has_bare_frame(checker);
}

static void check_code(struct frame_checker *checker, const uint8_t *bytes)
{
    uint64_t start = checker->function->start, end = checker->function->end;
    struct instruction *instruction = &checker->instruction;
    check_entry(checker);
    for (uint64_t at = start; at < end && !checker->verdict.fault; at = instruction->end) {
        if (!instruction__decode(instruction, &checker->decoder, bytes + (at - start), end - at,
                                 at)) {
            refuse(checker, FRAME_NOT_CODE);
            return;
        }
        if (at == start && instruction__is_endbr64(instruction))
            checker->body = instruction->end;
        checker->verdict.locks |= instruction__locks_memory(instruction);
        enter_row(checker);
        check_stack(checker);
        check_branch(checker);
        follow_flow(checker);
    }
    if (!checker->flow_ended && !checker->verdict.fault)
        add_tail(checker, end, NULL);
}

struct frame_verdict frame_checker__check(struct frame_checker *checker,
                                          const struct code_function *function, struct vec *tails)
{
    size_t size;
    const uint8_t *bytes = code_file__bytes(checker->file, function->start, &size);
    begin(checker, function, tails);
    if (function->end == function->start)
        refuse(checker, FRAME_NO_SIZE);
    else if (!bytes || size < function->end - function->start)
        refuse(checker, FRAME_NOT_IN_FILE);
    else
        check_code(checker, bytes);
    return checker->verdict;
}

struct frame_checker *frame_checker__new(const struct code_file *file)
{
    struct frame_checker *checker = memory__zeroed(1, sizeof *checker);
    checker->file = file;
    checker->cfa = CFA_CURSOR(&file->cfa);
    decoder__start(&checker->decoder);
    return checker;
}

void frame_checker__free(struct frame_checker *checker)
{
    if (!checker)
        return;
    cfa_cursor__free(&checker->cfa);
    free(checker);
}
