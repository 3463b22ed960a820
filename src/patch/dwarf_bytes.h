/* dwarf_bytes.h: numbers as DWARF and the tables of exceptions write them, one after the other.
 *
 * In goes a string of bytes, which the caller keeps; out come numbers, and zeroes from the place on
 * at which one would run past the end (broken). Each costs its bytes. It stands on libc alone; any
 * thread may read with a place of its own. */
#ifndef HEURT_PATCH_DWARF_BYTES_H
#define HEURT_PATCH_DWARF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in the bytes. */
struct dwarf_bytes {
    const uint8_t *at, *end;
    bool broken; /* a number would have run past the end */
};

/* A little-endian number of size bytes, 8 at most. */
uint64_t dwarf_bytes__number(struct dwarf_bytes *bytes, size_t size);
/* LEB128 (DWARF 5, 7.6), unsigned and signed; bits above the 64th are dropped. */
uint64_t dwarf_bytes__uleb(struct dwarf_bytes *bytes);
int64_t dwarf_bytes__sleb(struct dwarf_bytes *bytes);

#endif
