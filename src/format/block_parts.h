/* block_parts.h: what packing and unpacking a block have in common; only theirs.
 *
 * The events of a block are of shapes.  A tick is told as the difference to the one before, and
 * differences of one group, as a rule those of one shape, as multiples of the group's step above
 * its least one.  A payload word is told as the difference to what is expected where it stands. */
#ifndef HEURT_FORMAT_BLOCK_PARTS_H
#define HEURT_FORMAT_BLOCK_PARTS_H

#include "format/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARINT_BYTES_MAX 10
#define TICK_VARINT_BYTES_MAX 7 /* of 48 bits */
#define GROUP_BYTES_MAX (2 * TICK_VARINT_BYTES_MAX)
#define SHAPE_BYTES_MAX (3 + 2 + GROUP_BYTES_MAX) /* of 16 bits and of HEURT_PACKED_WORDS_MAX */
#define TICK_REST_BYTES_MAX 6
#define EVENT_BYTES_MAX (SHAPE_BYTES_MAX + 2 + 1 + TICK_REST_BYTES_MAX)
#define WORD_BYTES_MAX (1 + VARINT_BYTES_MAX) /* what is expected may be told for each */
_Static_assert(EVENT_BYTES_MAX >= WORD_BYTES_MAX, "a payload word takes less than an event");
#define CONTENT_BYTES_MAX (HEURT_PACKED_WORDS_MAX * EVENT_BYTES_MAX + GROUP_BYTES_MAX)
#define SLACK 16 /* that may be read behind the content */

#define PADDED(bytes) (((size_t)(bytes) + 7) & ~(size_t)7)

#define ID_MASK ((1u << HEURT_ID_BITS) - 1)

/* Payload words have so many places; the last one stands for all behind it. */
#define PLACES 8

struct block_shape {
    uint16_t id;
    bool is_dated_by_kernel; /* OFF_CPU, FAULT */
    bool expects_same;       /* while unpacking: EXPECT_SAME everywhere */
    uint32_t payload_words;
    /* So many of the first words are halved: they hold a number in 48 bits and a small one above,
     * whose changes have nothing to do with each other. */
    uint32_t halved;
    uint16_t first_event, last_event; /* + 1, of a shape with halved words; 0: none */
    uint8_t expected[PLACES];         /* enum expectation */
    uint64_t before[PLACES];          /* the last word at this place */
};

static inline struct block_shape shape__of(uint32_t id, size_t payload_words)
{
    size_t halved = id == HEURT_EVENT_OFF_CPU ? 2 : id == HEURT_EVENT_FAULT ? 1 : 0;
    return (struct block_shape){.id = (uint16_t)id,
                                .is_dated_by_kernel = halved > 0,
                                .expects_same = true,
                                .payload_words = (uint32_t)payload_words,
                                .halved =
                                    (uint32_t)(halved < payload_words ? halved : payload_words)};
}

static inline size_t place_of(size_t word)
{
    return word < PLACES ? word : PLACES - 1;
}

/* For so many words of a shape it is told what is expected of them. */
static inline size_t places_told(const struct block_shape *shape)
{
    return shape->halved ? 0 : shape->payload_words < PLACES ? shape->payload_words : PLACES;
}

static inline size_t content_bytes(const struct heurt_packed_block *block)
{
    if (!block->events)
        return block->words * sizeof(uint64_t);
    size_t index_bytes = block->shapes > 256 ? 2 : 1;
    return block->shape_bytes + block->events * (index_bytes + 1) + block->tick_rest_bytes +
           block->payload_bytes;
}

/* ---- records of the kernel ------------------------------------------------------------------- */

/* The events of shapes with halved words: their payload comes behind that of all others, and place
 * by place. */
struct event_list {
    uint16_t next[HEURT_PACKED_WORDS_MAX]; /* of the same shape, + 1; 0: none */
    uint16_t word[HEURT_PACKED_WORDS_MAX]; /* of the block: its first one */
};

static inline void link_event(struct event_list *list, struct block_shape *shape, size_t event,
                              size_t word)
{
    uint16_t *link = shape->first_event ? &list->next[shape->last_event - 1] : &shape->first_event;
    *link = shape->last_event = (uint16_t)(event + 1);
    list->next[event] = 0;
    list->word[event] = (uint16_t)word;
}

/* The time off the CPU is told as the time on it since the event before: where that was the
 * beginning of a wait, it is the shorter one. */
static inline bool is_counted_back(const struct block_shape *shape, size_t place)
{
    return shape->id == HEURT_EVENT_OFF_CPU && place == 0;
}

/* Who was preempted only waited for a CPU, as a rule all the time: the second word is told as the
 * difference to the first. */
static inline bool is_counted_from_first(size_t place, uint64_t first)
{
    return place == 1 && HEURT_SITE_HOW(first) == HEURT_OFF_PREEMPTED;
}

/* numbers of variable length: 7 bits a byte, the lowest first, all but the last with bit 7 */

static inline uint8_t *put_varint(uint8_t *to, uint64_t number)
{
    for (; number >= 128; number >>= 7)
        *to++ = (uint8_t)number | 128;
    *to++ = (uint8_t)number;
    return to;
}

/* Reads at most VARINT_BYTES_MAX bytes from at. */
static inline uint64_t take_varint(const uint8_t **at)
{
    uint64_t byte = *(*at)++, number = byte & 127;
    for (unsigned shift = 7; byte & 128 && shift < 64; shift += 7) {
        byte = *(*at)++;
        number |= (byte & 127) << shift;
    }
    return number;
}

/* Small numbers of either sign as small numbers. */
static inline uint64_t fold_sign(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t unfold_sign(uint64_t folded)
{
    return folded >> 1 ^ (0 - (folded & 1));
}

#endif
