#include "symbol/move.h"

#include "symbol/decode.h"

#include <string.h>

struct move {
    const struct code_file *file;
    const struct code_function *function;
    uint64_t bias;
    ZydisDecoder decoder;
    struct instruction instruction;
    struct heurt_plan *plan;
};

static const char *const TOO_SHORT = "it is shorter than the jump that would be written over it";

static uint64_t body_of(const struct move *move)
{
    return move->function->start + move->plan->skip;
}

static bool decode(struct move *move, uint64_t address)
{
    size_t size;
    const uint8_t *bytes = code_file__bytes(move->file, address, &size);
    return bytes && instruction__decode(&move->instruction, &move->decoder, bytes, size, address);
}

static void add_fixup(struct move *move, uint64_t target, unsigned offset, unsigned next)
{
    struct heurt_plan *plan = move->plan;
    plan->fixups[plan->fixup_count++] =
        (struct heurt_plan_fixup){.target = target + move->bias, .offset = offset, .next = next};
}

/* opcode, then a 32-bit distance to target. */
static void emit_jump(struct move *move, const uint8_t *opcode, size_t opcode_bytes,
                      uint64_t target)
{
    struct heurt_plan *plan = move->plan;
    memcpy(plan->code + plan->code_bytes, opcode, opcode_bytes);
    unsigned offset = plan->code_bytes + (unsigned)opcode_bytes;
    add_fixup(move, target, offset, offset + 4);
    plan->code_bytes = (uint8_t)(offset + 4);
}

static void emit_copy(struct move *move, const uint8_t *bytes)
{
    struct heurt_plan *plan = move->plan;
    const struct instruction *instruction = &move->instruction;
    unsigned length = instruction->zydis.length;
    memcpy(plan->code + plan->code_bytes, bytes, length);
    uint64_t target = instruction__rip_address(instruction);
    if (target)
        add_fixup(move, target, plan->code_bytes + instruction->zydis.raw.disp.offset,
                  plan->code_bytes + length);
    plan->code_bytes = (uint8_t)(plan->code_bytes + length);
}

static const char *emit(struct move *move, const uint8_t *bytes)
{
    const struct instruction *instruction = &move->instruction;
    if (instruction->zydis.address_width != 64)
        return "its first instructions use 32-bit addresses";
    switch (instruction->branch) {
    case BRANCH_CALL:
    case BRANCH_CALL_INDIRECT:
        return "a call is among its first instructions";
    case BRANCH_SHORT:
        return "its first instructions hold a loop or jrcxz, which reaches only 127 bytes";
    case BRANCH_FAR:
        return "its first instructions leave by a far jump";
    case BRANCH_JUMP:
        emit_jump(move, (const uint8_t[]){0xe9}, 1, instruction->target);
        return NULL;
    case BRANCH_CONDITIONAL:
        emit_jump(move, (const uint8_t[]){0x0f, 0x80 | (instruction->zydis.opcode & 0x0f)}, 2,
                  instruction->target);
        return NULL;
    default:
        emit_copy(move, bytes);
        return NULL;
    }
}

static bool is_padding(const struct move *move)
{
    return instruction__is_nop(&move->instruction) || move->instruction.zydis.opcode == 0xcc;
}

/* Control has ended before enough bytes were moved: what follows may be taken too when nobody ever
 * runs it, that is when it only fills up to the next function. */
static const char *take_padding(struct move *move, uint64_t at)
{
    uint64_t needed = body_of(move) + HEURT_PATCH_BYTES;
    while (at < needed) {
        if (at >= move->function->end && cfa_table__find(&move->file->cfa, at))
            return TOO_SHORT;
        if (!decode(move, at) || !is_padding(move))
            return TOO_SHORT;
        at = move->instruction.end;
    }
    move->plan->moved = HEURT_PATCH_BYTES;
    return NULL;
}

static const char *take_instructions(struct move *move)
{
    struct heurt_plan *plan = move->plan;
    size_t size;
    uint64_t start = body_of(move), at = start;
    const uint8_t *bytes = code_file__bytes(move->file, start, &size);
    while (at - start < HEURT_PATCH_BYTES) {
        if (at >= move->function->end)
            return TOO_SHORT;
        if (!bytes || !decode(move, at))
            return "it holds bytes that are no instruction";
        const char *refusal = emit(move, bytes + (at - start));
        if (refusal)
            return refusal;
        at = move->instruction.end;
        if (at > move->function->end)
            return "it ends within an instruction";
        plan->moved = (uint8_t)(at - start);
        if (instruction__ends_flow(&move->instruction))
            return at - start < HEURT_PATCH_BYTES ? take_padding(move, at) : NULL;
    }
    emit_jump(move, (const uint8_t[]){0xe9}, 1, at);
    return NULL;
}

/* No moved branch may lead into what is overwritten. */
static bool leads_into_moved(const struct move *move)
{
    const struct heurt_plan *plan = move->plan;
    uint64_t start = body_of(move);
    for (unsigned i = 0; i < plan->fixup_count; i++) {
        uint64_t target = plan->fixups[i].target - move->bias;
        if (target >= start && target < start + plan->moved)
            return true;
    }
    return false;
}

const char *move__plan(const struct code_file *file, const struct code_map *map,
                       const struct code_function *function, uint64_t bias, struct heurt_plan *plan)
{
    struct move move = {.file = file, .function = function, .bias = bias, .plan = plan};
    decoder__start(&move.decoder);
    plan->address = function->start + bias;
    if (!decode(&move, function->start))
        return "it holds bytes that are no instruction";
    plan->skip = instruction__is_endbr64(&move.instruction) ? move.instruction.zydis.length : 0;
    const char *refusal = take_instructions(&move);
    if (refusal)
        return refusal;
    uint64_t body = body_of(&move);
    if (leads_into_moved(&move) ||
        code_map__is_entered(map, function->start + 1, body + plan->moved))
        return "something jumps into its first instructions";
    size_t size;
    const uint8_t *bytes = code_file__bytes(file, body, &size);
    memcpy(plan->original, bytes, plan->moved);
    return NULL;
}

static bool locks_memory(const struct instruction *instruction)
{
    return instruction->zydis.attributes & ZYDIS_ATTRIB_HAS_LOCK ||
           (instruction->zydis.mnemonic == ZYDIS_MNEMONIC_XCHG &&
            instruction__has_memory(instruction)); /* locks without a prefix */
}

bool move__is_locking(const struct code_file *file, const struct code_function *function)
{
    ZydisDecoder decoder;
    struct instruction instruction;
    decoder__start(&decoder);
    for (uint64_t at = function->start; at < function->end; at = instruction.end) {
        size_t size;
        const uint8_t *bytes = code_file__bytes(file, at, &size);
        if (!bytes || !instruction__decode(&instruction, &decoder, bytes, size, at))
            return false;
        if (locks_memory(&instruction))
            return true;
    }
    return false;
}

bool move__is_entry(const struct code_file *file, const struct code_function *function)
{
    const struct cfa_range *range = cfa_table__find(&file->cfa, function->start);
    if (!range)
        return false;
    struct vec rows = VEC_OF(struct cfa_row);
    cfa_range__rows(range, &rows);
    bool fits = false;
    VEC_EACH(row, &rows, struct cfa_row)
    if (function->start >= row->start && function->start < row->end)
        fits = row->base == CFA_RSP && row->offset == 8;
    vec__free(&rows);
    return fits;
}
