#include "recorder/live_code.h"

#include "patch/decode.h"

#include <string.h>

static bool rel32(uint64_t target, uint64_t from, int32_t *field)
{
    int64_t distance = (int64_t)(target - from);
    *field = (int32_t)distance;
    return distance == *field;
}

/* The moved instructions at code, which is for address. */
static bool write_moved(uint8_t *moved, uint64_t address, const struct heurt_plan *plan)
{
    memcpy(moved, plan->code, plan->code_bytes);
    for (unsigned i = 0; i < plan->fixup_count; i++) {
        const struct heurt_plan_fixup *fixup = &plan->fixups[i];
        int32_t field;
        if (fixup->next == HEURT_FIXUP_ABSOLUTE) {
            memcpy(moved + fixup->offset, &fixup->target, sizeof fixup->target);
            continue;
        }
        if (!rel32(fixup->target, address + fixup->next, &field))
            return false;
        memcpy(moved + fixup->offset, &field, sizeof field);
    }
    return true;
}

bool live_code__write(uint8_t code[HEURT_LIVE_SLOT_BYTES], uint64_t address, uint32_t id,
                      uint64_t stub, const struct heurt_plan *plan)
{
    /* push $id; jmp *0(%rip); .quad stub */
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
    memset(code, 0, HEURT_LIVE_SLOT_BYTES);
    code[0] = 0x68;
    memcpy(code + 1, &id, sizeof id);
    memcpy(code + 5, jump, sizeof jump);
    memcpy(code + 5 + sizeof jump, &stub, sizeof stub);
    return write_moved(code + LIVE_STUB_BYTES, address + LIVE_STUB_BYTES, plan);
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* Bytes that are written one behind the other. */
struct writing {
    uint8_t *code;
    size_t at;
};

static void put(struct writing *to, const void *bytes, size_t count)
{
    memcpy(to->code + to->at, bytes, count);
    to->at += count;
}

#define PUT(to, ...)                                 \
    do {                                             \
        static const uint8_t put_[] = {__VA_ARGS__}; \
        put(to, put_, sizeof put_);                  \
    } while (0)

/* The last four bytes of an instruction that leads to target in the same slot. */
static void put_distance(struct writing *to, size_t target)
{
    int32_t distance = (int32_t)target - (int32_t)(to->at + sizeof distance);
    put(to, &distance, sizeof distance);
}

enum {
    LOOP_SLOW = 160, /* where the way is that is rarely taken */
    LOOP_STUB = HEURT_LIVE_LOOP_SLOT_BYTES - 8,
    COUNT_BYTES = 14,      /* decl %fs:counter; jle slow */
    COUNT_KEPT_BYTES = 36, /* with what keeps the flags around it */
    KEPT_BACK = 12,        /* of these, what comes behind */
};

/* decl leaves CF alone. A counter that is not positive has run out, or was never set. */
static void put_count(struct writing *to, int32_t counter)
{
    PUT(to, 0x64, 0xff, 0x0c, 0x25); /* decl %fs:counter */
    put(to, &counter, sizeof counter);
    PUT(to, 0x0f, 0x8e); /* jle */
    put_distance(to, LOOP_SLOW);
}

/* Around it, where somebody may still want to know the flags: they are in rax meanwhile, which is
 * on the stack, below the 128 bytes that the function may use there. */
static void put_count_kept(struct writing *to, int32_t counter)
{
    PUT(to, 0x48, 0x8d, 0x64, 0x24, 0x80, 0x50); /* lea -128(%rsp), %rsp; push %rax */
    PUT(to, 0x9f, 0x0f, 0x90, 0xc0);             /* lahf; seto %al */
    put_count(to, counter);
    PUT(to, 0x04, 0x7f, 0x9e, 0x58);                         /* add $127, %al; sahf; pop */
    PUT(to, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00); /* lea 128(%rsp), %rsp */
}

/* The stub finds the loop's stack pointer at the same distance either way (stub.S). */
static void put_slow(struct writing *to, const struct loop_code *loop)
{
    if (!loop->saves_flags)
        PUT(to, 0x48, 0x8d, 0xa4, 0x24, 0x78, 0xff, 0xff, 0xff); /* lea -136(%rsp), %rsp */
    PUT(to, 0x68);                                               /* push $id */
    put(to, &loop->id, sizeof loop->id);
    PUT(to, 0xff, 0x15); /* call *stub */
    put_distance(to, LOOP_STUB);
    PUT(to, 0x48, 0x8d, 0x64, 0x24, 0x08); /* lea 8(%rsp), %rsp */
    if (!loop->saves_flags)
        PUT(to, 0x48, 0x8d, 0xa4, 0x24, 0x88, 0x00, 0x00, 0x00); /* lea 136(%rsp), %rsp */
    PUT(to, 0xe9);                                               /* jmp */
    put_distance(to, LIVE_LOOP_MOVED_BYTES - (loop->saves_flags ? KEPT_BACK : 0));
}

size_t live_code__write_loop(uint8_t code[HEURT_LIVE_LOOP_SLOT_BYTES], uint64_t address,
                             const struct loop_code *loop)
{
    size_t start = LIVE_LOOP_MOVED_BYTES - (loop->saves_flags ? COUNT_KEPT_BYTES : COUNT_BYTES);
    struct writing to = {code, start};
    int32_t counter = (int32_t)loop->counter;
    memset(code, 0xcc, HEURT_LIVE_LOOP_SLOT_BYTES);
    if (loop->saves_flags)
        put_count_kept(&to, counter);
    else
        put_count(&to, counter);
    to.at = LOOP_SLOW;
    put_slow(&to, loop);
    memcpy(code + LOOP_STUB, &loop->stub, sizeof loop->stub);
    bool reaches =
        write_moved(code + LIVE_LOOP_MOVED_BYTES, address + LIVE_LOOP_MOVED_BYTES, loop->plan);
    return reaches && counter == loop->counter ? start : 0;
}

bool live_code__jump(uint8_t jump[HEURT_PATCH_BYTES], uint64_t from, uint64_t slot)
{
    int32_t field;
    bool reaches = rel32(slot, from + HEURT_PATCH_BYTES, &field);
    jump[0] = 0xe9;
    memcpy(jump + 1, &field, sizeof field);
    return reaches;
}

/* As patch/move.c writes it; UINT64_MAX: whatever its length is. */
static uint64_t moved_bytes(const struct instruction *instruction)
{
    enum { JUMP = 5, CONDITIONAL = 6 };
    switch (instruction->branch) {
    case BRANCH_JUMP:
        return JUMP;
    case BRANCH_CONDITIONAL:
        return CONDITIONAL;
    case BRANCH_NONE:
        return instruction->zydis.length;
    default:
        return UINT64_MAX;
    }
}

uint64_t live_code__original(const struct heurt_plan *plan, uint64_t offset)
{
    ZydisDecoder decoder;
    decoder__start(&decoder);
    struct instruction instruction;
    uint64_t at = 0, moved = 0;
    for (; at < plan->moved; at = instruction.end) {
        if (!instruction__decode(&instruction, &decoder, plan->original + at, plan->moved - at, at))
            break;
        uint64_t bytes = instruction__is_nop(&instruction) ? 0 : moved_bytes(&instruction);
        if (offset - moved < bytes)
            break;
        moved += bytes;
    }
    return at;
}

bool live_code__has_return_inside(const struct heurt_plan *plan)
{
    ZydisDecoder decoder;
    decoder__start(&decoder);
    struct instruction instruction;
    for (uint64_t at = 0; at < HEURT_PATCH_BYTES; at = instruction.end) {
        if (!instruction__decode(&instruction, &decoder, plan->original + at, plan->moved - at, at))
            return true;
        bool calls =
            instruction.branch == BRANCH_CALL || instruction.branch == BRANCH_CALL_INDIRECT;
        if (calls && instruction.end < HEURT_PATCH_BYTES)
            return true;
    }
    return false;
}
