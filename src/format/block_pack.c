/* block_pack.c: the words of a block become few bytes. */
#include "format/block_pack.h"
#include "base/memory.h"
#include "base/vec.h"
#include "format/block.h"

#include <stdlib.h>
#include <zstd.h>

#define LEVEL 3

/* Tokens of a group are compressed apart from others when they are so many. */
#define APART_TOKENS 512u

struct block_packer {
    ZSTD_CCtx *compressor;
    struct block_events events;
    /* Shapes in the order in which they come up: */
    uint64_t key[HEURT_PACKED_WORDS_MAX];       /* see key_of */
    uint16_t next[HEURT_PACKED_WORDS_MAX];      /* the next one of that id + 1, or 0 */
    uint16_t events_of[HEURT_PACKED_WORDS_MAX]; /* how many */
    uint16_t first[ID_MASK + 1];                /* by id: its first shape + 1, or 0 */
    /* While the block is finished: */
    struct packed_ticks ticks;
    struct packed_payload payload;
    uint8_t part[HEURT_PACKED_WORDS_MAX * (SHAPE_BYTES_MAX + 1) + GROUP_BYTES_MAX];
};

static void empty(struct block_packer *packer)
{
    for (size_t i = 0; i < packer->events.shapes; i++)
        packer->first[packer->key[i] >> 32 & ID_MASK] = 0;
    packer->events.words = packer->events.events = packer->events.shapes = 0;
}

struct block_packer *block_packer__new(void)
{
    struct block_packer *packer = memory__zeroed(1, sizeof *packer);
    packer->compressor = ZSTD_createCCtx();
    if (!packer->compressor)
        out_of_memory(sizeof *packer);
    ZSTD_CCtx_setParameter(packer->compressor, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(packer->compressor, ZSTD_c_checksumFlag, 1);
    return packer;
}

void block_packer__free(struct block_packer *packer)
{
    if (packer)
        ZSTD_freeCCtx(packer->compressor);
    free(packer);
}

/* ---- events come in -------------------------------------------------------------------------- */

void block_packer__begin(struct block_packer *packer, uint64_t start_tick)
{
    packer->events.start_tick = start_tick & HEURT_TICK_MASK;
    empty(packer);
}

bool block_packer__is_empty(const struct block_packer *packer)
{
    return packer->events.events == 0;
}

#define RARE (1ull << 63)

/* Sorts shapes by their ids, then by their payload words; tells which one it was. */
static uint64_t key_of(uint16_t id, size_t payload_words, size_t index)
{
    _Static_assert(HEURT_PACKED_WORDS_MAX <= 1 << 16, "16 bits for words and for shapes");
    return (uint64_t)id << 32 | payload_words << 16 | index;
}

static size_t find_shape(struct block_packer *packer, uint16_t id, size_t payload_words)
{
    uint16_t *link = &packer->first[id];
    while (*link) {
        size_t index = *link - 1u;
        if (packer->key[index] >> 16 == key_of(id, payload_words, index) >> 16)
            return index;
        link = &packer->next[index];
    }
    packer->key[packer->events.shapes] = key_of(id, payload_words, packer->events.shapes);
    packer->next[packer->events.shapes] = packer->events_of[packer->events.shapes] = 0;
    *link = (uint16_t)(packer->events.shapes + 1);
    return packer->events.shapes++;
}

bool block_packer__add(struct block_packer *packer, const uint64_t *event, size_t words)
{
    if (words > HEURT_PACKED_WORDS_MAX - packer->events.words)
        return false;
    size_t index = find_shape(packer, *event & ID_MASK, words - 1);
    packer->events.shape_of[packer->events.events] = (uint16_t)index;
    packer->events_of[index]++;
    packer->events.first_word[packer->events.events] = (uint16_t)packer->events.words;
    memcpy(packer->events.word + packer->events.words, event, words * sizeof *event);
    packer->events.words += words;
    packer->events.events++;
    return true;
}

/* So few events that less than 256 shapes have more, whose indices need one byte then. */
static unsigned few_events(const struct block_packer *packer)
{
    size_t frequent = packer->events.shapes;
    unsigned few = 0;
    while (frequent > 255) {
        frequent = 0;
        few++;
        for (size_t i = 0; i < packer->events.shapes; i++)
            frequent += packer->events_of[i] > few;
    }
    return few;
}

/* The frequent shapes, then the others, each in the order of their keys. */
static void sort_shapes(struct block_packer *packer)
{
    uint16_t *rank = packer->next;
    unsigned few = few_events(packer);
    for (size_t i = 0; i < packer->events.shapes; i++)
        if (packer->events_of[i] <= few)
            packer->key[i] |= RARE;
    qsort(packer->key, packer->events.shapes, sizeof *packer->key, order__u64);
    for (size_t i = 0; i < packer->events.shapes; i++) {
        uint64_t key = packer->key[i];
        rank[key & 0xffff] = (uint16_t)i;
        packer->events.shape[i] = shape__of(key >> 32 & ID_MASK, key >> 16 & 0xffff);
    }
    for (size_t i = 0; i < packer->events.events; i++)
        packer->events.shape_of[i] = rank[packer->events.shape_of[i]];
}

/* ---- the frame ------------------------------------------------------------------------------- */

/* Compresses one more part of the frame into its blocks of its own, with statistics of its own.
 * False when there is no room for it. */
static bool compress(struct block_packer *packer, ZSTD_outBuffer *out, const void *part,
                     size_t bytes, ZSTD_EndDirective directive)
{
    ZSTD_inBuffer in = {part, bytes, 0};
    return ZSTD_compressStream2(packer->compressor, out, &in, directive) == 0;
}

/* Begins the frame behind the block's header. */
static bool start_frame(struct block_packer *packer, const struct heurt_packed_block *block,
                        size_t capacity, ZSTD_outBuffer *out)
{
    if (capacity < sizeof *block + sizeof(uint64_t))
        return false;
    *out = (ZSTD_outBuffer){(char *)block + sizeof *block,
                            (capacity - sizeof *block) & ~(sizeof(uint64_t) - 1), 0};
    ZSTD_CCtx_reset(packer->compressor, ZSTD_reset_session_only);
    return !ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(packer->compressor, content_bytes(block)));
}

/* Ends the frame and completes the header; the length of the block, or 0. */
static size_t end_frame(struct block_packer *packer, struct heurt_packed_block *block,
                        ZSTD_outBuffer *out)
{
    if (!compress(packer, out, NULL, 0, ZSTD_e_end))
        return 0;
    block->frame_bytes = (uint32_t)out->pos;
    size_t padded = PADDED(out->pos);
    memset((char *)out->dst + out->pos, 0, padded - out->pos);
    return sizeof *block + padded;
}

/* Lays what is to be known of the shapes into the packer's part, kind by kind; its length. */
static size_t put_shapes(struct block_packer *packer)
{
    uint8_t *at = packer->part;
    uint16_t id_before = 0;
    for (size_t i = 0; i < packer->events.shapes; id_before = packer->events.shape[i++].id)
        at = put_varint(at, (uint16_t)(packer->events.shape[i].id - id_before));
    for (size_t i = 0; i < packer->events.shapes; i++)
        at = put_varint(at, packer->events.shape[i].payload_words);
    for (size_t i = 0; i <= packer->events.shapes; i++)
        at = put_varint(at, packer->ticks.group[i].step);
    for (size_t i = 0; i <= packer->events.shapes; i++)
        at = put_varint(at, packer->ticks.group[i].least);
    for (size_t i = 0; i < packer->events.shapes; i++)
        for (size_t place = 0; place < places_told(&packer->events.shape[i]); place++)
            *at++ = packer->events.shape[i].expected[place];
    return (size_t)(at - packer->part);
}

/* The low bytes of all indices, then the high ones if any needs one. */
static bool compress_indices(struct block_packer *packer, ZSTD_outBuffer *out)
{
    uint8_t *low = packer->part, *high = low + packer->events.events;
    for (size_t i = 0; i < packer->events.events; i++) {
        low[i] = (uint8_t)packer->events.shape_of[i];
        high[i] = (uint8_t)(packer->events.shape_of[i] >> 8);
    }
    size_t index_bytes = packer->events.shapes > 256 ? 2 : 1;
    return compress(packer, out, low, packer->events.events * index_bytes, ZSTD_e_flush);
}

/* Compresses the tokens of a group with many events apart from others. */
static bool compress_tokens(struct block_packer *packer, ZSTD_outBuffer *out)
{
    const uint32_t *before = packer->ticks.tokens_before;
    size_t start = 0;
    for (size_t i = 0; i <= packer->events.shapes; i++) {
        bool is_apart = before[i + 1] - before[i] >= APART_TOKENS;
        if (is_apart && before[i] > start) {
            if (!compress(packer, out, packer->ticks.tokens + start, before[i] - start,
                          ZSTD_e_flush))
                return false;
            start = before[i];
        }
        if (!is_apart && i < packer->events.shapes)
            continue;
        if (!compress(packer, out, packer->ticks.tokens + start, before[i + 1] - start,
                      ZSTD_e_flush))
            return false;
        start = before[i + 1];
    }
    return true;
}

static bool compress_payload(struct block_packer *packer, ZSTD_outBuffer *out)
{
    size_t start = 0;
    for (size_t i = 0; i < packer->payload.pieces; start = packer->payload.piece_end[i++])
        if (!compress(packer, out, packer->payload.bytes + start,
                      packer->payload.piece_end[i] - start, ZSTD_e_flush))
            return false;
    return true;
}

/* All that the block's header tells is known then. */
static void put_parts(struct block_packer *packer, struct heurt_packed_block *block)
{
    sort_shapes(packer);
    packed_ticks__make(&packer->ticks, &packer->events);
    packed_payload__make(&packer->payload, &packer->events, packer->ticks.difference);
    *block = (struct heurt_packed_block){
        .words = (uint32_t)packer->events.words,
        .events = (uint32_t)packer->events.events,
        .shapes = (uint32_t)packer->events.shapes,
        .shape_bytes = (uint32_t)put_shapes(packer),
        .tick_rest_bytes = (uint32_t)packer->ticks.rest_bytes,
        .payload_bytes = (uint32_t)(packer->payload.end - packer->payload.bytes),
    };
}

size_t block_packer__finish(struct block_packer *packer, void *to, size_t capacity)
{
    ZSTD_outBuffer out;
    struct heurt_packed_block *block = to;
    size_t bytes = 0;
    if (capacity < sizeof *block)
        return 0;
    put_parts(packer, block);
    if (start_frame(packer, block, capacity, &out) &&
        compress(packer, &out, packer->part, block->shape_bytes, ZSTD_e_flush) &&
        compress_indices(packer, &out) && compress_tokens(packer, &out) &&
        compress(packer, &out, packer->ticks.rest, block->tick_rest_bytes, ZSTD_e_flush) &&
        compress_payload(packer, &out))
        bytes = end_frame(packer, block, &out);
    empty(packer);
    return bytes;
}

size_t block_packer__plain(struct block_packer *packer, const void *words, size_t count, void *to,
                           size_t capacity)
{
    ZSTD_outBuffer out;
    struct heurt_packed_block *block = to;
    if (capacity < sizeof *block)
        return 0;
    *block = (struct heurt_packed_block){.words = (uint32_t)count};
    if (!start_frame(packer, block, capacity, &out) ||
        !compress(packer, &out, words, count * sizeof(uint64_t), ZSTD_e_flush))
        return 0;
    return end_frame(packer, block, &out);
}
