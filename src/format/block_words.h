/* block_words.h: what is expected where a payload word stands.  For each place of a shape one
 * expectation holds in the whole block.
 *
 * In go the place of a word and the words before it, out comes what is expected there; it costs a
 * few instructions a word. It stands on block_parts.h. */
#ifndef HEURT_FORMAT_BLOCK_WORDS_H
#define HEURT_FORMAT_BLOCK_WORDS_H

#include "format/block_parts.h"

enum expectation {
    EXPECT_SAME,         /* the word at this place of the last event of the shape */
    EXPECT_AFTER_SAME,   /* … that came next when the word before was the same one as now */
    EXPECT_AFTER_ONE,    /* … of the last one behind an event of the same shape */
    EXPECT_AFTER_THREE,  /* … behind events of the same three shapes */
    EXPECT_AFTER_WORD,   /* … behind the same word within the event */
    EXPECT_LAST_PAYLOAD, /* the word at this place of the last event that has a payload */
    EXPECTATIONS,
};

static inline bool expectation__needs_slots(unsigned expectation)
{
    return expectation >= EXPECT_AFTER_SAME && expectation <= EXPECT_AFTER_WORD;
}

/* What words have followed what. Slots may be shared by chance: then the expectation is a wrong
 * one, and no harm done. */
#define SLOT_BITS 11

struct memory_of_words {
    const uint64_t *payload; /* of the last event that has one; the kernel's do not count */
    size_t payload_words;
    uint64_t nowhere;
    uint64_t slots[1 << SLOT_BITS]; /* 0: nothing yet */
};

/* Before a block, when any place of it needs the slots. */
static inline void memory_of_words__empty(struct memory_of_words *memory, bool needs_slots)
{
    memory->payload = NULL;
    memory->payload_words = 0;
    if (needs_slots)
        memset(memory->slots, 0, sizeof memory->slots);
}

static inline uint64_t *memory_of_words__slot(struct memory_of_words *memory, size_t index,
                                              size_t place, uint64_t context)
{
    uint64_t key = (context ^ (index * PLACES + place + 1) * 0x9e3779b97f4a7c15ull);
    key = (key ^ key >> 32) * 0xd6e8feb86659fd93ull;
    return &memory->slots[key >> (64 - SLOT_BITS)];
}

/* Where an event of a block stands: the index of its shape, and those of the up to three events in
 * front of it + 1, 16 bits each, the last one lowest. */
struct whereabouts {
    size_t index;
    uint64_t shapes_before;
};

/* What is expected as word number i of a payload of that shape; *slot is where to put the word that
 * is found there. */
static inline uint64_t memory_of_words__expect(struct memory_of_words *memory,
                                               const struct block_shape *shape,
                                               struct whereabouts where, const uint64_t *payload,
                                               size_t i, uint64_t **slot)
{
    size_t place = place_of(i);
    uint64_t context;
    *slot = &memory->nowhere;
    switch (shape->expected[place]) {
    case EXPECT_AFTER_SAME:
        context = shape->before[place];
        break;
    case EXPECT_AFTER_ONE:
        context = where.shapes_before & 0xffff;
        break;
    case EXPECT_AFTER_THREE:
        context = where.shapes_before;
        break;
    case EXPECT_AFTER_WORD:
        context = i ? payload[i - 1] : 0;
        break;
    case EXPECT_LAST_PAYLOAD:
        return i < memory->payload_words ? memory->payload[i] : shape->before[place];
    default:
        return shape->before[place];
    }
    *slot = memory_of_words__slot(memory, where.index, place, context);
    return **slot ? **slot : shape->before[place];
}

/* After each event with a payload that is not the kernel's. */
static inline void memory_of_words__pass(struct memory_of_words *memory, const uint64_t *payload,
                                         size_t payload_words)
{
    memory->payload = payload;
    memory->payload_words = payload_words;
}

#endif
