/* block_ticks.h: differences of ticks as tokens of a byte, of which zstd learns how frequent each
 * is, and bits about which nothing can be learned.
 *
 * In goes a difference of two ticks, out come its token and its bits, or the other way round; both
 * cost a few instructions. It stands on block_parts.h. */
#ifndef HEURT_FORMAT_BLOCK_TICKS_H
#define HEURT_FORMAT_BLOCK_TICKS_H

#include "format/block_parts.h"

/* A token below TOKEN_WIDE is the number itself. From there on four tokens stand for the numbers of
 * a length in bits, by the two bits behind the highest one; the rest follows as bits. TOKEN_WHOLE:
 * all bits of the number follow. */
#define TOKEN_WIDE 128u
#define TOKEN_WHOLE 252u
#define WIDE_BITS_LEAST 5u /* that follow the first wide tokens */

/* Differences are least + n * step. Those of a shape are a group; but the first event of a block,
 * and events behind one that the kernel has dated, are a group of their own: their differences tell
 * nothing about the program's rhythm, and are no multiples of a coarse clock's step. */
struct tick_group {
    uint64_t least, step;
    /* While unpacking; what each event needs lies together. */
    const uint8_t *tokens; /* the next one */
    uint16_t id;           /* of the shape */
    bool is_bare;          /* the shape has no payload, and the kernel has not dated it */
};

/* Bits of bytes, the lowest first. */
struct bit_writer {
    uint8_t *bytes; /* the first one is zero; up to eight behind the end are written */
    size_t at;      /* bits */
};

struct bit_reader {
    const uint8_t *bytes; /* of which eight behind the end can be read */
    size_t at;            /* bits */
};

/* Count: at most 48. */
static inline void bit_writer__put(struct bit_writer *bits, uint64_t number, unsigned count)
{
    uint8_t *at = bits->bytes + bits->at / 8;
    uint64_t here = *at | number << bits->at % 8;
    memcpy(at, &here, sizeof here);
    bits->at += count;
}

static inline uint64_t bit_reader__take(struct bit_reader *bits, unsigned count)
{
    uint64_t here;
    memcpy(&here, bits->bytes + bits->at / 8, sizeof here);
    here >>= bits->at % 8;
    bits->at += count;
    return here & ((1ull << count) - 1);
}

/* Number: below 2^48. Returns the token. */
static inline uint8_t put_tick(struct bit_writer *rest, uint64_t number)
{
    if (number < TOKEN_WIDE)
        return (uint8_t)number;
    unsigned bits = 61u - (unsigned)__builtin_clzll(number);
    unsigned token = TOKEN_WIDE + 4 * (bits - WIDE_BITS_LEAST) + (number >> bits & 3);
    if (token >= TOKEN_WHOLE) {
        bit_writer__put(rest, number, 48);
        return TOKEN_WHOLE;
    }
    bit_writer__put(rest, number & ((1ull << bits) - 1), bits);
    return (uint8_t)token;
}

static inline uint64_t take_tick(struct bit_reader *rest, uint8_t token)
{
    if (token < TOKEN_WIDE)
        return token;
    if (token >= TOKEN_WHOLE)
        return bit_reader__take(rest, 48);
    unsigned wide = token - TOKEN_WIDE, bits = wide / 4 + WIDE_BITS_LEAST;
    return (uint64_t)(4 | wide % 4) << bits | bit_reader__take(rest, bits);
}

#endif
