#include "patch/retry_loop.h"

#include "base/memory.h"
#include "patch/decode.h"
#include "patch/spin_code.h"

#include <stdlib.h>
#include <string.h>

#define BRANCH_WITHIN                                                          \
    4 /* instructions behind the exchange: where it is asked whether it failed \
       */

struct retry_code {
    struct vec instructions; /* struct instruction, by address */
    bool *is_member;         /* by instruction: of the loop that is looked at */
};

static const struct instruction *code_at(const struct retry_code *code, size_t i)
{
    return VEC_AT(&code->instructions, struct instruction, i);
}

/* SIZE_MAX: none begins there. */
static size_t number_at(const struct retry_code *code, uint64_t address)
{
    size_t count = code->instructions.count;
    size_t i = FIRST_WHERE(k, count, code_at(code, k)->address >= address);
    return i < count && code_at(code, i)->address == address ? i : SIZE_MAX;
}

static bool read_code(struct retry_code *code, const uint8_t *bytes, uint64_t size, uint64_t offset)
{
    ZydisDecoder decoder;
    struct instruction instruction;
    bool has_exchange = false;
    decoder__start(&decoder);
    code->instructions = VEC_OF(struct instruction);
    for (uint64_t at = 0; at < size; at += instruction.zydis.length) {
        if (!instruction__decode(&instruction, &decoder, bytes + at, size - at, offset + at) ||
            !instruction__operands(&instruction, &decoder))
            break;
        has_exchange |= instruction.zydis.mnemonic == ZYDIS_MNEMONIC_CMPXCHG;
        vec__push(&code->instructions, &instruction);
    }
    code->is_member = memory__zeroed(code->instructions.count + 1, sizeof *code->is_member);
    return has_exchange;
}

static bool tries(const struct instruction *instruction)
{
    return instruction->zydis.mnemonic == ZYDIS_MNEMONIC_CMPXCHG &&
           instruction__locks_memory(instruction);
}

static bool goes_to_member(const struct retry_code *code, size_t to)
{
    return to < code->instructions.count && code->is_member[to];
}

/* Where an instruction goes on: behind it, and where it branches to. SIZE_MAX: nowhere. */
static void next_of(const struct retry_code *code, size_t i, size_t next[2])
{
    const struct instruction *instruction = code_at(code, i);
    next[0] = instruction__ends_flow(instruction) ? SIZE_MAX : i + 1;
    next[1] =
        branch__is_direct(instruction->branch) ? number_at(code, instruction->target) : SIZE_MAX;
}

/* What leads to the branch back without passing where that leads to. */
static void find_members(struct retry_code *code, size_t head, size_t back)
{
    size_t count = code->instructions.count;
    memset(code->is_member, 0, count * sizeof *code->is_member);
    code->is_member[head] = code->is_member[back] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = count; i-- > 0;) {
            size_t next[2];
            next_of(code, i, next);
            bool leads = (next[0] != head && goes_to_member(code, next[0])) ||
                         (next[1] != head && goes_to_member(code, next[1]));
            changed |= leads && !code->is_member[i];
            code->is_member[i] |= leads;
        }
    }
}

/* The only one that tries among the members; SIZE_MAX: there is none, or are several. */
static size_t exchange_of(const struct retry_code *code)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < code->instructions.count; i++) {
        if (!code->is_member[i] || !tries(code_at(code, i)))
            continue;
        if (found != SIZE_MAX)
            return SIZE_MAX;
        found = i;
    }
    return found;
}

/* The branch that asks whether it failed: then it stays in the loop, else it leaves. The flag is
 * asked itself, or was put into a register (sete) that is. */
static bool is_left_by_success(const struct retry_code *code, size_t exchange)
{
    bool is_kept = false, is_asked = false;
    for (size_t i = exchange + 1; i <= exchange + BRANCH_WITHIN && i < code->instructions.count;
         i++) {
        size_t next[2];
        ZydisMnemonic how = code_at(code, i)->zydis.mnemonic;
        is_kept |= how == ZYDIS_MNEMONIC_SETZ;
        is_asked |= how == ZYDIS_MNEMONIC_TEST;
        if (code_at(code, i)->branch != BRANCH_CONDITIONAL)
            continue;
        if ((how != ZYDIS_MNEMONIC_JZ && how != ZYDIS_MNEMONIC_JNZ) || (is_asked && !is_kept))
            return false;
        next_of(code, i, next);
        bool fails_to_target = (how == ZYDIS_MNEMONIC_JNZ) != is_asked;
        return goes_to_member(code, next[fails_to_target]) &&
               !goes_to_member(code, next[!fails_to_target]);
    }
    return false;
}

/* It calls something, or has a loop of its own that computes. */
static bool works(const struct retry_code *code, size_t exchange)
{
    for (size_t i = 0; i < code->instructions.count; i++) {
        const struct instruction *instruction = code_at(code, i);
        if (!code->is_member[i])
            continue;
        if (instruction->branch == BRANCH_CALL || instruction->branch == BRANCH_CALL_INDIRECT)
            return true;
        size_t to = branch__is_direct(instruction->branch) ? number_at(code, instruction->target)
                                                           : SIZE_MAX;
        bool is_inner = to <= i && code->is_member[to] && (exchange < to || exchange > i);
        for (size_t k = is_inner ? to : SIZE_MAX; is_inner && k <= i; k++)
            if (!instruction__may_spin(code_at(code, k), NULL) &&
                !instruction__has_memory(code_at(code, k)))
                return true;
    }
    return false;
}

static void add_loop(const struct retry_code *code, size_t exchange, struct vec *loops)
{
    struct retry_loop loop = {.exchange = code_at(code, exchange)->address,
                              .is_static = instruction__rip_address(code_at(code, exchange)) != 0,
                              .members = VEC_OF(uint64_t)};
    for (size_t i = 0; i < code->instructions.count; i++)
        if (code->is_member[i])
            vec__push(&loop.members, &code_at(code, i)->address);
    vec__push(loops, &loop);
}

struct vec retry_loops__find(const uint8_t *bytes, uint64_t size, uint64_t offset)
{
    struct vec loops = VEC_OF(struct retry_loop);
    struct retry_code code;
    bool may_be = read_code(&code, bytes, size, offset);
    for (size_t back = 0; may_be && back < code.instructions.count; back++) {
        const struct instruction *instruction = code_at(&code, back);
        size_t head = branch__is_direct(instruction->branch) ? number_at(&code, instruction->target)
                                                             : SIZE_MAX;
        if (head > back)
            continue;
        find_members(&code, head, back);
        size_t exchange = exchange_of(&code);
        if (exchange != SIZE_MAX && is_left_by_success(&code, exchange) && works(&code, exchange))
            add_loop(&code, exchange, &loops);
    }
    free(code.is_member);
    vec__free(&code.instructions);
    return loops;
}

void retry_loops__free(struct vec *loops)
{
    VEC_EACH (loop, loops, struct retry_loop)
        vec__free(&loop->members);
    vec__free(loops);
}

const struct retry_loop *retry_loops__at(const struct vec *loops, uint64_t offset)
{
    const struct retry_loop *found = NULL;
    VEC_EACH (loop, loops, const struct retry_loop)
        VEC_EACH (member, &loop->members, const uint64_t)
            if (*member == offset && (!found || loop->members.count < found->members.count))
                found = loop;
    return found;
}
