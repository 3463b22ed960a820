#include "patch/dwarf_bytes.h"

#include <string.h>

uint64_t dwarf_bytes__number(struct dwarf_bytes *bytes, size_t size)
{
    uint64_t value = 0;
    if ((size_t)(bytes->end - bytes->at) < size) {
        bytes->broken = true;
        bytes->at = bytes->end;
        return 0;
    }
    memcpy(&value, bytes->at, size);
    bytes->at += size;
    return value;
}

uint64_t dwarf_bytes__uleb(struct dwarf_bytes *bytes)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = dwarf_bytes__number(bytes, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

int64_t dwarf_bytes__sleb(struct dwarf_bytes *bytes)
{
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
        uint64_t byte = dwarf_bytes__number(bytes, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
        if (byte & 0x80)
            continue;
        if (shift < 64 && (byte & 0x40))
            value |= ~0ull << shift;
        return (int64_t)value;
    }
}
