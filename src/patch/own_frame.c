#include "patch/own_frame.h"

#include <string.h>

enum { RBP = 5 };

/* push %rbp; mov %rsp,%rbp: in both encodings, and behind endbr64. */
static bool keeps_frame(const uint8_t *code, size_t done)
{
    static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa};
    static const uint8_t prologues[][4] = {{0x55, 0x48, 0x89, 0xe5}, {0x55, 0x48, 0x8b, 0xec}};
    size_t at = done >= 8 && memcmp(code, landing, sizeof landing) == 0 ? sizeof landing : 0;
    if (done < at + 4)
        return false;
    return memcmp(code + at, prologues[0], 4) == 0 || memcmp(code + at, prologues[1], 4) == 0;
}

/* call *…: of a register, or of memory: FF with 2 in the middle of the byte behind it. */
static bool is_indirect_call(const uint8_t before[8])
{
    static const unsigned lengths[] = {2, 3, 6, 7};
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const uint8_t *call = before + 8 - lengths[i];
        if (call[0] == 0xff && (call[1] >> 3 & 7) == 2)
            return true;
    }
    return false;
}

bool own_frame__is_gone(const uint8_t *code, size_t done, uint64_t start,
                        const uint64_t registers[16], struct memory_reader memory)
{
    uint64_t return_address, word;
    uint8_t before[8];
    int32_t distance;
    if (!memory.read || !keeps_frame(code, done))
        return false;
    if (!memory.read(memory.context, registers[RBP] + 8, &return_address) ||
        !memory.read(memory.context, return_address - sizeof word, &word))
        return true;
    memcpy(before, &word, sizeof before);
    memcpy(&distance, before + 4, sizeof distance);
    return before[3] == 0xe8 ? return_address + (uint64_t)(int64_t)distance != start
                             : !is_indirect_call(before);
}
