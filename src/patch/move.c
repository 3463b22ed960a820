#include "patch/move.h"

#include "patch/decode.h"

#include <string.h>
#include <sys/syscall.h>

struct move {
    const struct code_file *file;
    const struct code_function *function;
    uint64_t body;        /* where what is moved begins */
    uint64_t system_call; /* of what is moved: that is led through the runtime; 0: none */
    int number;           /* which it is, or MOVE_ANY_CALL */
    ZydisDecoder decoder;
    struct instruction instruction;
    struct heurt_plan *plan;
};

const char *move_fault__text(enum move_fault fault)
{
    static const char *const texts[] = {
        [MOVE_TOO_SHORT] = "it is shorter than the jump that would be written over it",
        [MOVE_NOT_CODE] = "it holds bytes that are no instruction",
        [MOVE_CUT] = "it ends within an instruction",
        [MOVE_NARROW] = "its first instructions use 32-bit addresses relative to their own",
        [MOVE_CALL] = "a call among its first bytes returns into what would be overwritten",
        [MOVE_STRANGE_CALL] = "its first instructions hold a call that is not understood",
        [MOVE_FAR] = "its first instructions leave by a far jump",
        [MOVE_ENTERED] = "something jumps into its first instructions",
    };
    return texts[fault];
}

bool move_fault__is_known(enum move_fault fault)
{
    return (unsigned)fault <= MOVE_ENTERED;
}

/* What the jump to the stub is written over. */
static bool is_overwritten(const struct move *move, uint64_t address)
{
    return address - move->body < HEURT_PATCH_BYTES;
}

/* Whether the instruction at address has to be moved, too. */
static bool is_needed(const struct move *move, uint64_t address)
{
    return is_overwritten(move, address) || address <= move->system_call;
}

static bool decode(struct move *move, uint64_t address)
{
    size_t size;
    const uint8_t *bytes = code_file__bytes(move->file, address, &size);
    return bytes && instruction__decode(&move->instruction, &move->decoder, bytes, size, address);
}

/* ---- writing the moved code ------------------------------------------------------------------ */

static void emit_bytes(struct move *move, const void *bytes, size_t count)
{
    struct heurt_plan *plan = move->plan;
    memcpy(plan->code + plan->code_bytes, bytes, count);
    plan->code_bytes = (uint8_t)(plan->code_bytes + count);
}

static void add_fixup(struct move *move, uint64_t target, unsigned offset, unsigned next)
{
    struct heurt_plan *plan = move->plan;
    plan->fixups[plan->fixup_count++] =
        (struct heurt_plan_fixup){.target = target, .offset = offset, .next = next};
}

/* opcode, then a 32-bit distance to target. */
static void emit_jump(struct move *move, const uint8_t *opcode, size_t opcode_bytes,
                      uint64_t target)
{
    emit_bytes(move, opcode, opcode_bytes);
    unsigned offset = move->plan->code_bytes;
    emit_bytes(move, &(int32_t){0}, 4);
    add_fixup(move, target, offset, offset + 4);
}

static void emit_copy(struct move *move, const uint8_t *bytes)
{
    const struct instruction *instruction = &move->instruction;
    unsigned length = instruction->zydis.length, at = move->plan->code_bytes;
    uint64_t target = instruction__rip_address(instruction);
    emit_bytes(move, bytes, length);
    if (target)
        add_fixup(move, target, at + instruction->zydis.raw.disp.offset, at + length);
}

/* loop and jrcxz reach 127 bytes: taken, they get to a jump that reaches further.
 *
 *         loop 1f; jmp 2f; 1: jmp target; 2: */
static void emit_short(struct move *move)
{
    const struct instruction *instruction = &move->instruction;
    if (instruction->zydis.address_width != 64)
        emit_bytes(move, &(uint8_t){0x67}, 1); /* counts in ecx */
    emit_bytes(move, (uint8_t[]){instruction->zydis.opcode, 2, 0xeb, 5}, 4);
    emit_jump(move, (const uint8_t[]){0xe9}, 1, instruction->target);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* jmp through the memory that the call names relative to rsp, which is 8 less than it was. */
static void emit_jump_by_stack(struct move *move, const uint8_t *bytes)
{
    const ZydisDecodedInstruction *zydis = &move->instruction.zydis;
    enum { FAR_DISPLACEMENT = 0x80, JUMP = 4 << 3, BY_SIB = 4 };
    int32_t displacement = (int32_t)zydis->raw.disp.value + 8;
    emit_bytes(move, bytes, zydis->raw.modrm.offset);
    emit_bytes(move, (uint8_t[]){FAR_DISPLACEMENT | JUMP | BY_SIB, bytes[zydis->raw.sib.offset]},
               2);
    emit_bytes(move, &displacement, sizeof displacement);
}

static bool is_by_stack(const ZydisDecodedInstruction *zydis)
{
    return zydis->raw.modrm.mod != 3 && zydis->raw.modrm.rm == 4 && zydis->raw.sib.base == 4 &&
           !zydis->raw.rex.B;
}

static void emit_jump_as_call(struct move *move, const uint8_t *bytes)
{
    const struct instruction *instruction = &move->instruction;
    const ZydisDecodedInstruction *zydis = &instruction->zydis;
    enum { CALL_TO_JUMP = 0x10 ^ 0x20 }; /* the opcode's digit: /2, /4 */
    if (instruction->branch == BRANCH_CALL)
        emit_jump(move, (const uint8_t[]){0xe9}, 1, instruction->target);
    else if (is_by_stack(zydis))
        emit_jump_by_stack(move, bytes);
    else {
        unsigned at = move->plan->code_bytes;
        emit_copy(move, bytes);
        move->plan->code[at + zydis->raw.modrm.offset] ^= CALL_TO_JUMP;
    }
}

/* push *return_address(%rip); jmp target; return_address: .quad behind the original call
 *
 * Whoever is called returns to the original code and shows it to unwinders, which know nothing of
 * the moved code. */
static enum move_fault emit_call(struct move *move, const uint8_t *bytes)
{
    const struct instruction *instruction = &move->instruction;
    const ZydisDecodedInstruction *zydis = &instruction->zydis;
    struct heurt_plan *plan = move->plan;
    if (is_overwritten(move, instruction->end))
        return MOVE_CALL;
    bool by_rsp = zydis->raw.modrm.mod == 3 && zydis->raw.modrm.rm == 4 && !zydis->raw.rex.B;
    if (instruction->branch == BRANCH_CALL_INDIRECT && (by_rsp || zydis->operand_width != 64))
        return MOVE_STRANGE_CALL;
    emit_bytes(move, (uint8_t[]){0xff, 0x35, 0, 0, 0, 0}, 6);
    unsigned pushed = plan->code_bytes;
    emit_jump_as_call(move, bytes);
    int32_t distance = (int32_t)(plan->code_bytes - pushed);
    memcpy(plan->code + pushed - sizeof distance, &distance, sizeof distance);
    add_fixup(move, instruction->end, plan->code_bytes, HEURT_FIXUP_ABSOLUTE);
    emit_bytes(move, &(uint64_t){0}, 8);
    return MOVE_DONE;
}

/* ---- system calls ---------------------------------------------------------------------------- */

/* rcx and r11 are nobody's there: the instruction destroys them.  Neither flags nor stack are
 * touched.  Of a call whose number is not known three are asked for.
 *
 *         lea -202(%rax), %ecx; jecxz 1f
 *         syscall; jmp 3f
 *     1:  lea 2f(%rip), %rcx; jmp *8(%rcx)
 *     2:  .quad behind the original call; .quad the runtime's stub, which goes on at
 *     3: */
static void emit_system_call(struct move *move)
{
    static const uint8_t call[] = {0x0f, 0x05, 0xeb, 26, 0x48, 0x8d, 0x0d,
                                   3,    0,    0,    0,  0xff, 0x61, 0x08};
    enum { TEST = 9, LEFT = 4 }; /* bytes: of a test, of the call that is made there */
    const int any[] = {SYS_futex, SYS_prctl, SYS_seccomp};
    const int *numbers = move->number == MOVE_ANY_CALL ? any : &move->number;
    unsigned count = move->number == MOVE_ANY_CALL ? sizeof any / sizeof *any : 1;
    _Static_assert(sizeof call + 2 * 8 == HEURT_SYSTEM_CALL_BACK, "as the runtime goes back");
    for (unsigned i = 0; i < count; i++) {
        int32_t less = -numbers[i];
        emit_bytes(move, (uint8_t[]){0x8d, 0x88}, 2);
        emit_bytes(move, &less, sizeof less);
        emit_bytes(move, (uint8_t[]){0x67, 0xe3, (uint8_t)((count - 1 - i) * TEST + LEFT)}, 3);
    }
    emit_bytes(move, call, sizeof call);
    add_fixup(move, move->instruction.end, move->plan->code_bytes, HEURT_FIXUP_ABSOLUTE);
    emit_bytes(move, &(uint64_t){0}, 8);
    add_fixup(move, 0, move->plan->code_bytes, HEURT_FIXUP_SYSTEM_CALL);
    emit_bytes(move, &(uint64_t){0}, 8);
}

/* ---- taking the original code ---------------------------------------------------------------- */

static enum move_fault emit(struct move *move, const uint8_t *bytes)
{
    const struct instruction *instruction = &move->instruction;
    uint8_t opcode = instruction->zydis.opcode;
    if (instruction->zydis.address_width != 64 && instruction__rip_address(instruction))
        return MOVE_NARROW;
    switch (instruction->branch) {
    case BRANCH_CALL:
    case BRANCH_CALL_INDIRECT:
        return emit_call(move, bytes);
    case BRANCH_FAR:
        return MOVE_FAR;
    case BRANCH_SHORT:
        emit_short(move);
        break;
    case BRANCH_ABORTED:
        emit_jump(move, (const uint8_t[]){0xc7, 0xf8}, 2, instruction->target);
        break;
    case BRANCH_JUMP:
        emit_jump(move, (const uint8_t[]){0xe9}, 1, instruction->target);
        break;
    case BRANCH_CONDITIONAL:
        emit_jump(move, (const uint8_t[]){0x0f, 0x80 | (opcode & 0x0f)}, 2, instruction->target);
        break;
    default:
        if (move->system_call && instruction->address == move->system_call)
            emit_system_call(move);
        else if (!instruction__is_nop(instruction))
            emit_copy(move, bytes);
    }
    return MOVE_DONE;
}

static bool is_padding(const struct move *move)
{
    return instruction__is_nop(&move->instruction) || move->instruction.zydis.opcode == 0xcc;
}

/* Control has ended before enough bytes were moved: what follows may be taken too when nobody ever
 * runs it, that is when it only fills up to the next function. */
static enum move_fault take_padding(struct move *move, uint64_t at)
{
    while (is_overwritten(move, at)) {
        if (at >= move->function->end && cfa_table__find(&move->file->cfa, at))
            return MOVE_TOO_SHORT;
        if (!decode(move, at) || !is_padding(move))
            return MOVE_TOO_SHORT;
        at = move->instruction.end;
    }
    move->plan->moved = HEURT_PATCH_BYTES;
    return MOVE_DONE;
}

static bool is_call(const struct move *move)
{
    return move->instruction.branch == BRANCH_CALL ||
           move->instruction.branch == BRANCH_CALL_INDIRECT;
}

static enum move_fault take_instructions(struct move *move)
{
    struct heurt_plan *plan = move->plan;
    size_t size;
    uint64_t start = move->body, at = start;
    const uint8_t *bytes = code_file__bytes(move->file, start, &size);
    while (is_needed(move, at)) {
        if (at >= move->function->end)
            return MOVE_TOO_SHORT;
        if (!bytes || !decode(move, at))
            return MOVE_NOT_CODE;
        enum move_fault fault = emit(move, bytes + (at - start));
        if (fault)
            return fault;
        at = move->instruction.end;
        if (at > move->function->end)
            return MOVE_CUT;
        plan->moved = (uint8_t)(at - start);
        if (instruction__ends_flow(&move->instruction))
            return is_overwritten(move, at) ? take_padding(move, at) : MOVE_DONE;
    }
    if (!is_call(move)) /* which returns there */
        emit_jump(move, (const uint8_t[]){0xe9}, 1, at);
    return MOVE_DONE;
}

/* No moved branch may lead into what is overwritten, but to where all others enter it; a call of
 * itself enters the function as others do. */
static bool leads_back(const struct move *move)
{
    const struct heurt_plan *plan = move->plan;
    for (unsigned i = 0; i < plan->fixup_count; i++)
        if (is_overwritten(move, plan->fixups[i].target) && plan->fixups[i].target != plan->address)
            return true;
    return false;
}

static enum move_fault move_body(struct move *move, const struct code_map *map)
{
    struct heurt_plan *plan = move->plan;
    enum move_fault fault = take_instructions(move);
    if (fault)
        return fault;
    if (leads_back(move) ||
        code_map__is_entered(map, plan->address + 1, move->body + HEURT_PATCH_BYTES))
        return MOVE_ENTERED;
    size_t size;
    const uint8_t *bytes = code_file__bytes(move->file, move->body, &size);
    memcpy(plan->original, bytes, plan->moved);
    return MOVE_DONE;
}

enum move_fault move__plan(const struct code_file *file, const struct code_map *map,
                           const struct code_function *function, struct heurt_plan *plan)
{
    struct move move = {.file = file, .function = function, .plan = plan};
    decoder__start(&move.decoder);
    plan->address = function->start;
    if (!decode(&move, function->start))
        return MOVE_NOT_CODE;
    plan->skip = instruction__is_endbr64(&move.instruction) ? move.instruction.zydis.length : 0;
    move.body = function->start + plan->skip;
    return move_body(&move, map);
}

enum move_fault move__place(const struct code_file *file, const struct code_map *map,
                            const struct code_function *function, uint64_t body,
                            struct heurt_plan *plan)
{
    struct move move = {.file = file, .function = function, .body = body, .plan = plan};
    decoder__start(&move.decoder);
    *plan = (struct heurt_plan){.address = body};
    return move_body(&move, map);
}

enum move_fault move__system_call(const struct code_file *file, const struct code_map *map,
                                  const struct code_function *function, uint64_t body,
                                  uint64_t system_call, int number, struct heurt_plan *plan)
{
    struct move move = {.file = file,
                        .function = function,
                        .body = body,
                        .system_call = system_call,
                        .number = number,
                        .plan = plan};
    decoder__start(&move.decoder);
    *plan = (struct heurt_plan){.address = body, .mechanism = HEURT_MECHANISM_SYSTEM_CALL};
    /* Who enters behind what is overwritten would make the call unseen. */
    if (code_map__is_entered(map, body + 1, system_call + 1))
        return MOVE_ENTERED;
    return move_body(&move, map);
}
