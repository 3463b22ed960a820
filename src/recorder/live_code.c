#include "recorder/live_code.h"

#include "patch/decode.h"

#include <string.h>

static bool rel32(uint64_t target, uint64_t from, int32_t *field)
{
    int64_t distance = (int64_t)(target - from);
    *field = (int32_t)distance;
    return distance == *field;
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
    uint8_t *moved = code + LIVE_STUB_BYTES;
    memcpy(moved, plan->code, plan->code_bytes);
    for (unsigned i = 0; i < plan->fixup_count; i++) {
        const struct heurt_plan_fixup *fixup = &plan->fixups[i];
        int32_t field;
        if (fixup->next == HEURT_FIXUP_ABSOLUTE) {
            memcpy(moved + fixup->offset, &fixup->target, sizeof fixup->target);
            continue;
        }
        if (!rel32(fixup->target, address + LIVE_STUB_BYTES + fixup->next, &field))
            return false;
        memcpy(moved + fixup->offset, &field, sizeof field);
    }
    return true;
}

bool live_code__jump(uint8_t jump[HEURT_PATCH_BYTES], uint64_t from, uint64_t slot)
{
    int32_t field;
    bool reaches = rel32(slot, from + HEURT_PATCH_BYTES, &field);
    jump[0] = 0xe9;
    memcpy(jump + 1, &field, sizeof field);
    return reaches;
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
