/* block_pack.h: the inside of packing a block: its events, and what becomes of their ticks and
 * payload before zstd.
 *
 * In go the words of a block, out come groups of ticks and pieces of payload for zstd. It costs a
 * few passes over at most HEURT_PACKED_WORDS_MAX words, and stands on block_ticks.h and
 * block_words.h. */
#ifndef HEURT_FORMAT_BLOCK_PACK_H
#define HEURT_FORMAT_BLOCK_PACK_H

#include "format/block_ticks.h"
#include "format/block_words.h"

/* The events of the block, in their order. */
struct block_events {
    uint64_t start_tick; /* low 48 bits */
    size_t words, events, shapes;
    uint64_t word[HEURT_PACKED_WORDS_MAX];
    uint16_t first_word[HEURT_PACKED_WORDS_MAX]; /* by event */
    uint16_t shape_of[HEURT_PACKED_WORDS_MAX];   /* by event */
    struct block_shape shape[HEURT_PACKED_WORDS_MAX];
};

struct packed_ticks {
    struct tick_group group[HEURT_PACKED_WORDS_MAX + 1];
    uint64_t difference[HEURT_PACKED_WORDS_MAX];        /* by event */
    uint16_t group_of[HEURT_PACKED_WORDS_MAX];          /* by event */
    uint32_t tokens_before[HEURT_PACKED_WORDS_MAX + 2]; /* by group: in those in front of it */
    uint8_t tokens[HEURT_PACKED_WORDS_MAX];             /* group by group */
    size_t rest_bytes;
    uint8_t rest[HEURT_PACKED_WORDS_MAX * TICK_REST_BYTES_MAX + sizeof(uint64_t)];
};

/* block_pack_ticks.c: from events whose shapes have got their order. */
void packed_ticks__make(struct packed_ticks *ticks, const struct block_events *events);

/* Payload words of one place are compressed apart from others when they are so many. */
#define APART_BYTES 512u
#define PIECES_MAX (HEURT_PACKED_WORDS_MAX * VARINT_BYTES_MAX / APART_BYTES + 2)

/* Between the expectations for the places of a shape. */
struct expectation_costs {
    uint64_t cost_bits[PLACES], least_bits[PLACES];
    uint8_t cheapest[PLACES]; /* enum expectation */
    bool is_tried;            /* at any place */
};

struct packed_payload {
    uint8_t *end;
    uint8_t bytes[HEURT_PACKED_WORDS_MAX * VARINT_BYTES_MAX];
    size_t pieces, piece_end[PIECES_MAX];        /* to compress apart; the last one is the length */
    uint16_t with_words[HEURT_PACKED_WORDS_MAX]; /* events with a payload, but the kernel's */
    size_t with_words_count;
    struct memory_of_words memory;
    struct expectation_costs choice[HEURT_PACKED_WORDS_MAX];
    struct event_list records; /* the kernel's */
};

/* block_pack_payload.c: chooses what the shapes expect, and changes the payload of the kernel's
 * records to what is told of it. The differences of ticks are by event. */
void packed_payload__make(struct packed_payload *payload, struct block_events *events,
                          const uint64_t *tick_difference);

#endif
