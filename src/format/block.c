#include "format/block.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL 1

/* Payload words are taken as differences to the word before at the same place in an event of the
 * same shape; the last place stands for all behind it. */
#define PLACES 8

/* A tick's difference to the one before is a byte below SHORT_TICKS, else SHORT_TICKS - 1 + the
 * number of its bytes, which are among the long ticks. */
#define SHORT_TICKS 250u
#define TICK_BYTES_MAX 6

#define VARINT_BYTES_MAX 10
#define SHAPE_BYTES_MAX (3 + 2) /* of 16 bits and of HEURT_PACKED_WORDS_MAX */
#define EVENT_BYTES_MAX (SHAPE_BYTES_MAX + 2 + 1 + TICK_BYTES_MAX)
_Static_assert(EVENT_BYTES_MAX >= VARINT_BYTES_MAX, "a payload word takes less than an event");
#define CONTENT_BYTES_MAX (HEURT_PACKED_WORDS_MAX * EVENT_BYTES_MAX)
/* Payload words of one place are compressed apart from others when they are so many. */
#define APART_BYTES 512u
#define PIECES_MAX (HEURT_PACKED_WORDS_MAX * VARINT_BYTES_MAX / APART_BYTES + 2)
#define SLACK 16 /* that may be read behind the content */

#define PADDED(bytes) (((size_t)(bytes) + 7) & ~(size_t)7)

#define ID_MASK ((1u << HEURT_ID_BITS) - 1)

struct shape {
    uint16_t id;
    uint16_t next; /* while packing: the next shape of that id + 1, or 0 */
    uint32_t payload_words;
    uint32_t halved;                  /* see halved_words */
    uint16_t first_event, last_event; /* + 1, of a shape that has any; 0: none */
    uint64_t before[PLACES];
};

/* The events of shapes with halved words: their payload comes behind that of all others, and place
 * by place. */
struct event_list {
    uint16_t next[HEURT_PACKED_WORDS_MAX]; /* of the same shape, + 1; 0: none */
    uint16_t word[HEURT_PACKED_WORDS_MAX]; /* of the block: its first one */
};

static void link_event(struct event_list *list, struct shape *shape, size_t event, size_t word)
{
    uint16_t *link = shape->first_event ? &list->next[shape->last_event - 1] : &shape->first_event;
    *link = shape->last_event = (uint16_t)(event + 1);
    list->next[event] = 0;
    list->word[event] = (uint16_t)word;
}

/* So many of the first payload words hold a number in 48 bits and a small one above, whose changes
 * have nothing to do with each other. */
static uint32_t halved_words(uint32_t id, size_t payload_words)
{
    uint32_t halved = id == HEURT_EVENT_OFF_CPU ? 2 : id == HEURT_EVENT_FAULT ? 1 : 0;
    return halved < payload_words ? halved : (uint32_t)payload_words;
}

/* The time off the CPU is told as the time on it since the event before: where that was the
 * beginning of a wait, it is the shorter one. */
static bool is_counted_back(const struct shape *shape, size_t place)
{
    return shape->id == HEURT_EVENT_OFF_CPU && place == 0;
}

/* Who was preempted only waited for a CPU, as a rule all the time: the second word is told as the
 * difference to the first. */
static bool is_counted_from_first(size_t place, uint64_t first)
{
    return place == 1 && HEURT_SITE_HOW(first) == HEURT_OFF_PREEMPTED;
}

static size_t place_of(size_t word)
{
    return word < PLACES ? word : PLACES - 1;
}

/* ---- numbers of variable length: 7 bits a byte, the lowest first, all but the last with bit 7 --
 */

static uint8_t *put_varint(uint8_t *to, uint64_t number)
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
static uint64_t fold_sign(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t unfold_sign(uint64_t folded)
{
    return folded >> 1 ^ (0 - (folded & 1));
}

/* The low 48 bits as a signed number. */
static uint64_t low_half(uint64_t word)
{
    return (uint64_t)((int64_t)(word << HEURT_ID_BITS) >> HEURT_ID_BITS);
}

/* ---- packing ------------------------------------------------------------------------------------
 */

struct block_packer {
    ZSTD_CCtx *compressor;
    uint64_t start_tick, tick; /* low 48 bits */
    size_t words, events, shapes;
    uint16_t first[ID_MASK + 1]; /* by id: its first shape + 1, or 0 */
    struct shape shape[HEURT_PACKED_WORDS_MAX];
    uint16_t shape_of[HEURT_PACKED_WORDS_MAX]; /* by event */
    uint8_t ticks[HEURT_PACKED_WORDS_MAX];     /* by event */
    uint8_t *long_ticks_end, *payload_end;
    uint8_t long_ticks[HEURT_PACKED_WORDS_MAX * TICK_BYTES_MAX];
    uint8_t payload[HEURT_PACKED_WORDS_MAX * VARINT_BYTES_MAX];
    size_t pieces, piece_end[PIECES_MAX]; /* of the payload; the last one is its length */
    struct event_list list;
    uint64_t word[HEURT_PACKED_WORDS_MAX]; /* only those of events in the list */
    uint8_t part[HEURT_PACKED_WORDS_MAX * SHAPE_BYTES_MAX];
};

static void empty(struct block_packer *packer)
{
    for (size_t i = 0; i < packer->shapes; i++)
        packer->first[packer->shape[i].id] = 0;
    packer->words = packer->events = packer->shapes = 0;
    packer->tick = packer->start_tick;
    packer->long_ticks_end = packer->long_ticks;
    packer->payload_end = packer->payload;
}

struct block_packer *block_packer__new(void)
{
    struct block_packer *packer = memory__zeroed(1, sizeof *packer);
    packer->compressor = ZSTD_createCCtx();
    if (!packer->compressor)
        out_of_memory(sizeof *packer);
    ZSTD_CCtx_setParameter(packer->compressor, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(packer->compressor, ZSTD_c_checksumFlag, 1);
    empty(packer);
    return packer;
}

void block_packer__free(struct block_packer *packer)
{
    if (packer)
        ZSTD_freeCCtx(packer->compressor);
    free(packer);
}

void block_packer__begin(struct block_packer *packer, uint64_t start_tick)
{
    packer->start_tick = start_tick & HEURT_TICK_MASK;
    empty(packer);
}

bool block_packer__is_empty(const struct block_packer *packer)
{
    return packer->events == 0;
}

static size_t find_shape(struct block_packer *packer, uint16_t id, size_t payload_words)
{
    uint16_t *link = &packer->first[id];
    while (*link) {
        struct shape *shape = &packer->shape[*link - 1];
        if (shape->payload_words == payload_words)
            return *link - 1u;
        link = &shape->next;
    }
    packer->shape[packer->shapes] = (struct shape){.id = id,
                                                   .payload_words = (uint32_t)payload_words,
                                                   .halved = halved_words(id, payload_words)};
    *link = (uint16_t)(packer->shapes + 1);
    return packer->shapes++;
}

/* Returns the difference to the tick before. */
static uint64_t add_tick(struct block_packer *packer, uint64_t tick)
{
    uint64_t difference = (tick - packer->tick) & HEURT_TICK_MASK;
    uint8_t *token = &packer->ticks[packer->events];
    packer->tick = tick;
    if (difference < SHORT_TICKS) {
        *token = (uint8_t)difference;
        return difference;
    }
    *token = SHORT_TICKS - 1;
    for (uint64_t rest = difference; rest; rest >>= 8) {
        *packer->long_ticks_end++ = (uint8_t)rest;
        ++*token;
    }
    return difference;
}

static void keep_event(struct block_packer *packer, struct shape *shape, const uint64_t *event,
                       uint64_t tick_difference)
{
    uint64_t *word = packer->word + packer->words;
    link_event(&packer->list, shape, packer->events, packer->words);
    memcpy(word, event, (shape->payload_words + 1) * sizeof *word);
    if (shape->halved > 1 && is_counted_from_first(1, word[1]))
        word[2] = HEURT_SITE(word[1] - word[2], HEURT_SITE_HOW(word[2]));
    if (is_counted_back(shape, 0))
        word[1] = HEURT_SITE(tick_difference - word[1], HEURT_SITE_HOW(word[1]));
}

static void add_payload(struct block_packer *packer, struct shape *shape, const uint64_t *payload)
{
    for (size_t i = 0; i < shape->payload_words; i++) {
        uint64_t *before = &shape->before[place_of(i)];
        packer->payload_end = put_varint(packer->payload_end, fold_sign(payload[i] - *before));
        *before = payload[i];
    }
}

bool block_packer__add(struct block_packer *packer, const uint64_t *event, size_t words)
{
    if (words > HEURT_PACKED_WORDS_MAX - packer->words)
        return false;
    size_t index = find_shape(packer, *event & ID_MASK, words - 1);
    struct shape *shape = &packer->shape[index];
    packer->shape_of[packer->events] = (uint16_t)index;
    uint64_t difference = add_tick(packer, *event >> HEURT_ID_BITS);
    if (shape->halved)
        keep_event(packer, shape, event, difference);
    else
        add_payload(packer, shape, event + 1);
    packer->words += words;
    packer->events++;
    return true;
}

/* Compresses one more part of the frame into its blocks of its own, with statistics of its own.
 * False when there is no room for it. */
static bool compress(struct block_packer *packer, ZSTD_outBuffer *out, const void *part,
                     size_t bytes, ZSTD_EndDirective directive)
{
    ZSTD_inBuffer in = {part, bytes, 0};
    return ZSTD_compressStream2(packer->compressor, out, &in, directive) == 0;
}

static size_t content_bytes(const struct heurt_packed_block *block)
{
    if (!block->events)
        return block->words * sizeof(uint64_t);
    size_t index_bytes = block->shapes > 256 ? 2 : 1;
    return block->shape_bytes + block->events * (index_bytes + 1) + block->long_tick_bytes +
           block->payload_bytes;
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

/* The low bytes of all indices, then the high ones if any needs one. */
static bool compress_indices(struct block_packer *packer, ZSTD_outBuffer *out)
{
    uint8_t *low = packer->part, *high = low + packer->events;
    for (size_t i = 0; i < packer->events; i++) {
        low[i] = (uint8_t)packer->shape_of[i];
        high[i] = (uint8_t)(packer->shape_of[i] >> 8);
    }
    size_t index_bytes = packer->shapes > 256 ? 2 : 1;
    return compress(packer, out, low, packer->events * index_bytes, ZSTD_e_flush);
}

/* Lays the shapes into the packer's part; their length. */
static size_t put_shapes(struct block_packer *packer)
{
    uint8_t *at = packer->part;
    for (size_t i = 0; i < packer->shapes; i++) {
        at = put_varint(at, packer->shape[i].id);
        at = put_varint(at, packer->shape[i].payload_words);
    }
    return (size_t)(at - packer->part);
}

static void put_halved(struct block_packer *packer, const struct shape *shape, size_t place)
{
    uint64_t high_before = 0;
    for (size_t event = shape->first_event; event; event = packer->list.next[event - 1]) {
        uint64_t word = packer->word[packer->list.word[event - 1] + 1 + place];
        uint64_t high = HEURT_SITE_HOW(word), changes = high != high_before;
        packer->payload_end =
            put_varint(packer->payload_end, fold_sign(low_half(word)) << 1 | changes);
        if (changes)
            packer->payload_end = put_varint(packer->payload_end, high);
        high_before = high;
    }
}

static void put_whole(struct block_packer *packer, const struct shape *shape, size_t place)
{
    uint64_t before = 0;
    for (size_t event = shape->first_event; event; event = packer->list.next[event - 1]) {
        uint64_t word = packer->word[packer->list.word[event - 1] + 1 + place];
        packer->payload_end = put_varint(packer->payload_end, fold_sign(word - before));
        before = word;
    }
}

static void end_piece(struct block_packer *packer, size_t least_bytes)
{
    size_t end = (size_t)(packer->payload_end - packer->payload);
    if (end - (packer->pieces ? packer->piece_end[packer->pieces - 1] : 0) >= least_bytes)
        packer->piece_end[packer->pieces++] = end;
}

/* Lays the payload of the events that were kept behind that of the others. */
static void put_kept_payload(struct block_packer *packer)
{
    packer->pieces = 0;
    end_piece(packer, APART_BYTES);
    for (size_t i = 0; i < packer->shapes; i++) {
        const struct shape *shape = &packer->shape[i];
        for (size_t place = 0; shape->halved && place < shape->payload_words; place++) {
            if (place < shape->halved)
                put_halved(packer, shape, place);
            else
                put_whole(packer, shape, place);
            end_piece(packer, APART_BYTES);
        }
    }
    end_piece(packer, 0);
}

static bool compress_payload(struct block_packer *packer, ZSTD_outBuffer *out)
{
    size_t start = 0;
    for (size_t i = 0; i < packer->pieces; start = packer->piece_end[i++])
        if (!compress(packer, out, packer->payload + start, packer->piece_end[i] - start,
                      ZSTD_e_flush))
            return false;
    return true;
}

size_t block_packer__finish(struct block_packer *packer, void *to, size_t capacity)
{
    ZSTD_outBuffer out;
    struct heurt_packed_block *block = to;
    size_t bytes = 0;
    if (capacity < sizeof *block)
        return 0;
    put_kept_payload(packer);
    *block = (struct heurt_packed_block){
        .words = (uint32_t)packer->words,
        .events = (uint32_t)packer->events,
        .shapes = (uint32_t)packer->shapes,
        .shape_bytes = (uint32_t)put_shapes(packer),
        .long_tick_bytes = (uint32_t)(packer->long_ticks_end - packer->long_ticks),
        .payload_bytes = (uint32_t)(packer->payload_end - packer->payload),
    };
    if (start_frame(packer, block, capacity, &out) &&
        compress(packer, &out, packer->part, block->shape_bytes, ZSTD_e_flush) &&
        compress_indices(packer, &out) &&
        compress(packer, &out, packer->ticks, packer->events, ZSTD_e_flush) &&
        compress(packer, &out, packer->long_ticks, block->long_tick_bytes, ZSTD_e_flush) &&
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

/* ---- unpacking ----------------------------------------------------------------------------------
 */

struct block_unpacker {
    ZSTD_DCtx *decompressor;
    struct shape shape[HEURT_PACKED_WORDS_MAX];
    struct event_list list;
    uint8_t content[CONTENT_BYTES_MAX + SLACK];
};

struct block_unpacker *block_unpacker__new(void)
{
    struct block_unpacker *unpacker = memory__resize(NULL, 1, sizeof *unpacker);
    unpacker->decompressor = ZSTD_createDCtx();
    if (!unpacker->decompressor)
        out_of_memory(sizeof *unpacker);
    return unpacker;
}

void block_unpacker__free(struct block_unpacker *unpacker)
{
    if (unpacker)
        ZSTD_freeDCtx(unpacker->decompressor);
    free(unpacker);
}

static bool is_possible(const struct heurt_packed_block *block)
{
    return block->words > 0 && block->words <= HEURT_PACKED_WORDS_MAX &&
           block->events <= block->words && block->shapes <= block->events &&
           block->shape_bytes <= CONTENT_BYTES_MAX && block->long_tick_bytes <= CONTENT_BYTES_MAX &&
           block->payload_bytes <= CONTENT_BYTES_MAX && content_bytes(block) <= CONTENT_BYTES_MAX;
}

size_t block__length(const void *bytes_of_block, size_t bytes)
{
    static const struct heurt_packed_block end;
    const struct heurt_packed_block *block = bytes_of_block;
    if (bytes < sizeof *block || memcmp(block, &end, sizeof end) == 0)
        return 0;
    if (!is_possible(block) || block->frame_bytes > bytes - sizeof *block)
        return SIZE_MAX;
    size_t length = sizeof *block + PADDED(block->frame_bytes);
    return length <= bytes ? length : SIZE_MAX;
}

static bool take_shapes(struct block_unpacker *unpacker, const struct heurt_packed_block *block)
{
    const uint8_t *at = unpacker->content, *end = at + block->shape_bytes;
    for (size_t i = 0; i < block->shapes; i++) {
        if (at >= end)
            return false;
        uint64_t id = take_varint(&at);
        uint64_t words = at < end ? take_varint(&at) : UINT64_MAX;
        if (at > end || id > ID_MASK || words >= HEURT_PACKED_WORDS_MAX)
            return false;
        unpacker->shape[i] = (struct shape){.id = (uint16_t)id,
                                            .payload_words = (uint32_t)words,
                                            .halved = halved_words((uint32_t)id, words)};
    }
    return at == end;
}

/* The parts of the content, and where the words go. */
struct parts {
    const uint8_t *low, *high; /* of the indices; high: NULL when there are none */
    const uint8_t *ticks;
    const uint8_t *long_ticks, *long_ticks_end;
    const uint8_t *payload, *payload_end;
    uint64_t *words, *to, *to_end;
};

static struct parts find_parts(const struct block_unpacker *unpacker,
                               const struct heurt_packed_block *block, uint64_t *words)
{
    struct parts parts = {.low = unpacker->content + block->shape_bytes};
    parts.ticks = parts.low + block->events;
    if (block->shapes > 256) {
        parts.high = parts.ticks;
        parts.ticks += block->events;
    }
    parts.long_ticks = parts.ticks + block->events;
    parts.long_ticks_end = parts.payload = parts.long_ticks + block->long_tick_bytes;
    parts.payload_end = parts.payload + block->payload_bytes;
    parts.words = parts.to = words;
    parts.to_end = words + block->words;
    return parts;
}

/* The difference that a token stands for; reads at most 8 bytes of the long ticks. */
static inline uint64_t take_tick(struct parts *parts, uint8_t token)
{
    if (token < SHORT_TICKS)
        return token;
    uint64_t number;
    unsigned bytes = token - (SHORT_TICKS - 1);
    memcpy(&number, parts->long_ticks, sizeof number);
    parts->long_ticks += bytes;
    return number & ((1ull << 8 * bytes) - 1);
}

/* False: the payload does not fit. */
static inline bool take_payload(struct parts *parts, struct shape *shape)
{
    if (shape->payload_words > (size_t)(parts->to_end - parts->to))
        return false;
    for (size_t i = 0; i < shape->payload_words; i++) {
        if (parts->payload >= parts->payload_end)
            return false;
        uint64_t *before = &shape->before[place_of(i)];
        *parts->to++ = *before += unfold_sign(take_varint(&parts->payload));
    }
    return true;
}

/* Leaves room for the event's payload, to which its first word has been made. What is counted back
 * from stands in its place. */
static bool keep_room(struct block_unpacker *unpacker, struct parts *parts, struct shape *shape,
                      size_t event, uint64_t tick_difference)
{
    if (shape->payload_words > (size_t)(parts->to_end - parts->to))
        return false;
    link_event(&unpacker->list, shape, event, (size_t)(parts->to - 1 - parts->words));
    if (is_counted_back(shape, 0))
        *parts->to = tick_difference;
    parts->to += shape->payload_words;
    return true;
}

/* One of the payload's numbers; false when there are no more. */
static inline bool take_number(struct parts *parts, uint64_t *number)
{
    if (parts->payload >= parts->payload_end)
        return false;
    *number = take_varint(&parts->payload);
    return true;
}

static bool take_halved(const struct event_list *list, const struct shape *shape, size_t place,
                        struct parts *parts)
{
    uint64_t high = 0;
    for (size_t event = shape->first_event; event; event = list->next[event - 1]) {
        uint64_t *word = &parts->words[list->word[event - 1] + 1 + place], number;
        if (!take_number(parts, &number) || (number & 1 && !take_number(parts, &high)))
            return false;
        uint64_t low = unfold_sign(number >> 1);
        if (is_counted_back(shape, place))
            low = *word - low;
        else if (place && is_counted_from_first(place, word[-1]))
            low = word[-1] - low;
        *word = HEURT_SITE(low, high);
    }
    return true;
}

static bool take_whole(const struct event_list *list, const struct shape *shape, size_t place,
                       struct parts *parts)
{
    uint64_t before = 0;
    for (size_t event = shape->first_event; event; event = list->next[event - 1]) {
        uint64_t number;
        if (!take_number(parts, &number))
            return false;
        parts->words[list->word[event - 1] + 1 + place] = before += unfold_sign(number);
    }
    return true;
}

static bool put_kept(const struct block_unpacker *unpacker, size_t shapes, struct parts *parts)
{
    for (size_t i = 0; i < shapes; i++) {
        const struct shape *shape = &unpacker->shape[i];
        for (size_t place = 0; shape->first_event && place < shape->payload_words; place++)
            if (!(place < shape->halved ? take_halved : take_whole)(&unpacker->list, shape, place,
                                                                    parts))
                return false;
    }
    return true;
}

static bool put_events(struct block_unpacker *unpacker, const struct heurt_packed_block *block,
                       uint64_t tick, struct parts parts)
{
    for (size_t i = 0; i < block->events; i++) {
        size_t index = parts.low[i] | (parts.high ? (size_t)parts.high[i] << 8 : 0);
        if (index >= block->shapes || parts.to == parts.to_end ||
            parts.long_ticks > parts.long_ticks_end)
            return false;
        struct shape *shape = &unpacker->shape[index];
        uint64_t difference = take_tick(&parts, parts.ticks[i]);
        tick += difference;
        *parts.to++ = tick << HEURT_ID_BITS | shape->id;
        if (shape->halved ? !keep_room(unpacker, &parts, shape, i, difference)
                          : !take_payload(&parts, shape))
            return false;
    }
    return put_kept(unpacker, block->shapes, &parts) && parts.to == parts.to_end &&
           parts.long_ticks == parts.long_ticks_end && parts.payload == parts.payload_end;
}

bool block_unpacker__unpack(struct block_unpacker *unpacker, const struct heurt_packed_block *block,
                            uint64_t start_tick, uint64_t *words)
{
    size_t bytes = content_bytes(block);
    void *to = block->events ? (void *)unpacker->content : (void *)words;
    if (ZSTD_decompressDCtx(unpacker->decompressor, to, bytes, block + 1, block->frame_bytes) !=
        bytes)
        return false;
    if (!block->events)
        return true;
    memset(unpacker->content + bytes, 0, SLACK);
    return take_shapes(unpacker, block) &&
           put_events(unpacker, block, start_tick, find_parts(unpacker, block, words));
}
