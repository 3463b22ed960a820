/* block_pack.c: the words of a block become few bytes. */
#include "base/memory.h"
#include "format/block.h"
#include "format/block_ticks.h"
#include "format/block_words.h"

#include <stdlib.h>
#include <zstd.h>

#define LEVEL 3

/* With fewer events a group's least difference takes more than it saves. */
#define WORTH_A_LEAST 16u

/* Tokens of a group, and payload words of one place, are compressed apart from others when they are
 * so many. */
#define APART_TOKENS 512u
#define APART_BYTES 512u
#define PIECES_MAX (HEURT_PACKED_WORDS_MAX * VARINT_BYTES_MAX / APART_BYTES + 2)

/* Another expectation than EXPECT_SAME is looked for where that one costs so many bits. */
#define DEAR_BITS 512u

/* Between the expectations for the places of a shape. */
struct choice {
    uint64_t cost_bits[PLACES], least_bits[PLACES];
    uint8_t cheapest[PLACES]; /* enum expectation */
    bool is_tried;            /* at any place */
};

struct block_packer {
    ZSTD_CCtx *compressor;
    uint64_t start_tick; /* low 48 bits */
    size_t words, events, shapes;
    uint64_t word[HEURT_PACKED_WORDS_MAX];
    uint16_t first_word[HEURT_PACKED_WORDS_MAX]; /* by event */
    uint16_t shape_of[HEURT_PACKED_WORDS_MAX];   /* by event */
    /* Shapes in the order in which they come up: */
    uint64_t key[HEURT_PACKED_WORDS_MAX];  /* see key_of */
    uint16_t next[HEURT_PACKED_WORDS_MAX]; /* the next one of that id + 1, or 0 */
    uint16_t events_of[HEURT_PACKED_WORDS_MAX];
    uint16_t first[ID_MASK + 1]; /* by id: its first shape + 1, or 0 */
    /* While the block is finished; shapes in the order of their keys: */
    struct shape shape[HEURT_PACKED_WORDS_MAX];
    struct tick_group group[HEURT_PACKED_WORDS_MAX + 1];
    uint32_t tokens_before[HEURT_PACKED_WORDS_MAX + 2]; /* by group: in those in front of it */
    uint16_t group_of[HEURT_PACKED_WORDS_MAX];          /* by event */
    uint64_t difference[HEURT_PACKED_WORDS_MAX];        /* by event: of its tick */
    uint16_t with_words[HEURT_PACKED_WORDS_MAX]; /* events with a payload, but the kernel's */
    size_t with_words_count;
    struct memory_of_words memory;
    struct choice choice[HEURT_PACKED_WORDS_MAX];
    struct event_list list;
    uint8_t part[HEURT_PACKED_WORDS_MAX * (SHAPE_BYTES_MAX + 1) + GROUP_BYTES_MAX];
    uint8_t tick_rest[HEURT_PACKED_WORDS_MAX * TICK_REST_BYTES_MAX + sizeof(uint64_t)];
    uint8_t tokens[HEURT_PACKED_WORDS_MAX]; /* group by group */
    uint8_t *payload_end;
    uint8_t payload[HEURT_PACKED_WORDS_MAX * VARINT_BYTES_MAX];
    size_t pieces, piece_end[PIECES_MAX]; /* of the payload; the last one is its length */
};

static void empty(struct block_packer *packer)
{
    for (size_t i = 0; i < packer->shapes; i++)
        packer->first[packer->key[i] >> 32 & ID_MASK] = 0;
    packer->words = packer->events = packer->shapes = 0;
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

/* ---- events come in -----------------------------------------------------------------------------
 */

void block_packer__begin(struct block_packer *packer, uint64_t start_tick)
{
    packer->start_tick = start_tick & HEURT_TICK_MASK;
    empty(packer);
}

bool block_packer__is_empty(const struct block_packer *packer)
{
    return packer->events == 0;
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
    packer->key[packer->shapes] = key_of(id, payload_words, packer->shapes);
    packer->next[packer->shapes] = packer->events_of[packer->shapes] = 0;
    *link = (uint16_t)(packer->shapes + 1);
    return packer->shapes++;
}

bool block_packer__add(struct block_packer *packer, const uint64_t *event, size_t words)
{
    if (words > HEURT_PACKED_WORDS_MAX - packer->words)
        return false;
    size_t index = find_shape(packer, *event & ID_MASK, words - 1);
    packer->shape_of[packer->events] = (uint16_t)index;
    packer->events_of[index]++;
    packer->first_word[packer->events] = (uint16_t)packer->words;
    memcpy(packer->word + packer->words, event, words * sizeof *event);
    packer->words += words;
    packer->events++;
    return true;
}

static int compare_keys(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* So few events that less than 256 shapes have more, whose indices need one byte then. */
static unsigned few_events(const struct block_packer *packer)
{
    size_t frequent = packer->shapes;
    unsigned few = 0;
    while (frequent > 255) {
        frequent = 0;
        few++;
        for (size_t i = 0; i < packer->shapes; i++)
            frequent += packer->events_of[i] > few;
    }
    return few;
}

/* The frequent shapes, then the others, each in the order of their keys. */
static void sort_shapes(struct block_packer *packer)
{
    uint16_t *rank = packer->next;
    unsigned few = few_events(packer);
    for (size_t i = 0; i < packer->shapes; i++)
        if (packer->events_of[i] <= few)
            packer->key[i] |= RARE;
    qsort(packer->key, packer->shapes, sizeof *packer->key, compare_keys);
    for (size_t i = 0; i < packer->shapes; i++) {
        uint64_t key = packer->key[i];
        rank[key & 0xffff] = (uint16_t)i;
        packer->shape[i] = shape__of(key >> 32 & ID_MASK, key >> 16 & 0xffff);
    }
    for (size_t i = 0; i < packer->events; i++)
        packer->shape_of[i] = rank[packer->shape_of[i]];
}

/* ---- ticks --------------------------------------------------------------------------------------
 */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Which group each event is in, and the least difference in each. */
static void find_groups(struct block_packer *packer)
{
    bool apart = true; /* from the groups of the shapes */
    uint64_t before = packer->start_tick;
    for (size_t i = 0; i <= packer->shapes; i++)
        packer->group[i] = (struct tick_group){.least = UINT64_MAX};
    memset(packer->tokens_before, 0, (packer->shapes + 2) * sizeof *packer->tokens_before);
    for (size_t i = 0; i < packer->events; i++) {
        size_t shape = packer->shape_of[i], group = apart ? packer->shapes : shape;
        uint64_t tick = packer->word[packer->first_word[i]] >> HEURT_ID_BITS;
        uint64_t difference = packer->difference[i] = (tick - before) & HEURT_TICK_MASK;
        struct tick_group *of = &packer->group[packer->group_of[i] = (uint16_t)group];
        if (difference < of->least)
            of->least = difference;
        packer->tokens_before[group + 1]++;
        apart = packer->shape[shape].is_dated_by_kernel;
        before = tick;
    }
    for (size_t i = 0; i <= packer->shapes; i++) {
        if (packer->tokens_before[i + 1] < WORTH_A_LEAST)
            packer->group[i].least = 0;
        packer->tokens_before[i + 1] += packer->tokens_before[i];
    }
}

static void find_steps(struct block_packer *packer)
{
    for (size_t i = 0; i < packer->events; i++) {
        struct tick_group *group = &packer->group[packer->group_of[i]];
        if (group->step != 1)
            group->step = common_divisor(packer->difference[i] - group->least, group->step);
    }
}

/* Lays the tokens down, group by group; the length of the rest. */
static size_t put_ticks(struct block_packer *packer)
{
    struct bit_writer rest = {.bytes = packer->tick_rest};
    rest.bytes[0] = 0;
    uint32_t *next = packer->tokens_before;
    for (size_t i = 0; i < packer->events; i++) {
        size_t group = packer->group_of[i];
        uint64_t step = packer->group[group].step;
        uint64_t above = packer->difference[i] - packer->group[group].least;
        packer->tokens[next[group]++] = put_tick(&rest, step > 1 ? above / step : above);
    }
    memmove(next + 1, next, (packer->shapes + 1) * sizeof *next);
    next[0] = 0;
    return (rest.at + 7) / 8;
}

/* ---- payload ------------------------------------------------------------------------------------
 */

/* Where differences to what is expected go. */
typedef void put_difference(struct block_packer *packer, size_t shape, size_t place,
                            uint64_t difference);

static void find_words(struct block_packer *packer)
{
    packer->with_words_count = 0;
    for (size_t i = 0; i < packer->events; i++) {
        const struct shape *shape = &packer->shape[packer->shape_of[i]];
        if (shape->payload_words && !shape->halved)
            packer->with_words[packer->with_words_count++] = (uint16_t)i;
    }
}

static struct whereabouts whereabouts_of(const struct block_packer *packer, size_t event)
{
    struct whereabouts where = {.index = packer->shape_of[event]};
    for (size_t back = 1; back <= 3 && back <= event; back++)
        where.shapes_before |= (packer->shape_of[event - back] + 1ull) << (back - 1) * 16;
    return where;
}

static inline __attribute__((always_inline)) void put_same_words(struct block_packer *packer,
                                                                 size_t index,
                                                                 const uint64_t *payload,
                                                                 put_difference *put)
{
    struct shape *shape = &packer->shape[index];
    for (size_t i = 0; i < shape->payload_words; i++) {
        size_t place = place_of(i);
        put(packer, index, place, payload[i] - shape->before[place]);
        shape->before[place] = payload[i];
    }
}

static inline __attribute__((always_inline)) void put_expected_words(struct block_packer *packer,
                                                                     struct whereabouts where,
                                                                     const uint64_t *payload,
                                                                     put_difference *put)
{
    struct shape *shape = &packer->shape[where.index];
    for (size_t i = 0; i < shape->payload_words; i++) {
        size_t place = place_of(i);
        uint64_t *slot;
        uint64_t expected =
            memory_of_words__expect(&packer->memory, shape, where, payload, i, &slot);
        put(packer, where.index, place, payload[i] - expected);
        *slot = shape->before[place] = payload[i];
    }
}

/* The words of all events that are not the kernel's, or only of those of shapes that are tried. */
static inline __attribute__((always_inline)) void put_words(struct block_packer *packer,
                                                            put_difference *put, bool tried_only)
{
    memory_of_words__empty(&packer->memory, true);
    for (size_t i = 0; i < packer->shapes; i++)
        memset(packer->shape[i].before, 0, sizeof packer->shape[i].before);
    for (size_t i = 0; i < packer->with_words_count; i++) {
        size_t event = packer->with_words[i], index = packer->shape_of[event];
        const uint64_t *payload = packer->word + packer->first_word[event] + 1;
        if (!tried_only || packer->choice[index].is_tried) {
            if (packer->shape[index].expects_same)
                put_same_words(packer, index, payload, put);
            else
                put_expected_words(packer, whereabouts_of(packer, event), payload, put);
        }
        memory_of_words__pass(&packer->memory, payload, packer->shape[index].payload_words);
    }
}

static void put_varint_of(struct block_packer *packer, size_t shape, size_t place,
                          uint64_t difference)
{
    (void)shape, (void)place;
    packer->payload_end = put_varint(packer->payload_end, fold_sign(difference));
}

/* About what the difference takes, in bits. */
static void add_cost(struct block_packer *packer, size_t shape, size_t place, uint64_t difference)
{
    uint64_t folded = fold_sign(difference);
    if (folded)
        packer->choice[shape].cost_bits[place] += 8u + 64u - (unsigned)__builtin_clzll(folded);
}

/* Expects that where the cheapest one until now is dear; whether it is anywhere. */
static bool expect_where_dear(struct block_packer *packer, uint8_t expectation)
{
    bool any = false;
    for (size_t i = 0; i < packer->shapes; i++) {
        struct choice *choice = &packer->choice[i];
        choice->is_tried = false;
        for (size_t place = 0; place < places_told(&packer->shape[i]); place++) {
            choice->cost_bits[place] = 0;
            if (choice->least_bits[place] < DEAR_BITS)
                continue;
            packer->shape[i].expected[place] = expectation;
            choice->is_tried = true;
        }
        packer->shape[i].expects_same = expectation == EXPECT_SAME;
        any |= choice->is_tried;
    }
    return any;
}

static void keep_cheapest(struct block_packer *packer)
{
    for (size_t i = 0; i < packer->shapes; i++) {
        struct choice *choice = &packer->choice[i];
        for (size_t place = 0; choice->is_tried && place < places_told(&packer->shape[i]);
             place++) {
            if (choice->cost_bits[place] >= choice->least_bits[place])
                continue;
            choice->least_bits[place] = choice->cost_bits[place];
            choice->cheapest[place] = packer->shape[i].expected[place];
        }
    }
}

static void expect_cheapest(struct block_packer *packer)
{
    for (size_t i = 0; i < packer->shapes; i++) {
        struct shape *shape = &packer->shape[i];
        shape->expects_same = true;
        for (size_t place = 0; place < places_told(shape); place++) {
            shape->expected[place] = packer->choice[i].cheapest[place];
            shape->expects_same &= shape->expected[place] == EXPECT_SAME;
        }
    }
}

static void choose_expectations(struct block_packer *packer)
{
    for (size_t i = 0; i < packer->shapes; i++)
        memset(packer->choice[i].least_bits, 0xff, sizeof packer->choice[i].least_bits);
    for (uint8_t tried = 0; tried < EXPECTATIONS && expect_where_dear(packer, tried); tried++) {
        put_words(packer, add_cost, true);
        keep_cheapest(packer);
    }
    expect_cheapest(packer);
}

/* ---- payload of the kernel's records ------------------------------------------------------------
 */

static void link_records(struct block_packer *packer)
{
    for (size_t i = 0; i < packer->events; i++) {
        struct shape *shape = &packer->shape[packer->shape_of[i]];
        if (!shape->halved)
            continue;
        link_event(&packer->list, shape, i, packer->first_word[i]);
        uint64_t *word = packer->word + packer->first_word[i];
        if (shape->halved > 1 && is_counted_from_first(1, word[1]))
            word[2] = HEURT_SITE(word[1] - word[2], HEURT_SITE_HOW(word[2]));
        if (is_counted_back(shape, 0))
            word[1] = HEURT_SITE(packer->difference[i] - word[1], HEURT_SITE_HOW(word[1]));
    }
}

/* The low 48 bits as a signed number. */
static uint64_t low_half(uint64_t word)
{
    return (uint64_t)((int64_t)(word << HEURT_ID_BITS) >> HEURT_ID_BITS);
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

/* Lays the payload down, that of the kernel's records behind that of all others; its length. */
static size_t put_payload(struct block_packer *packer)
{
    packer->payload_end = packer->payload;
    packer->pieces = 0;
    put_words(packer, put_varint_of, false);
    link_records(packer);
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
    return (size_t)(packer->payload_end - packer->payload);
}

/* ---- the frame ----------------------------------------------------------------------------------
 */

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
    for (size_t i = 0; i < packer->shapes; id_before = packer->shape[i++].id)
        at = put_varint(at, (uint16_t)(packer->shape[i].id - id_before));
    for (size_t i = 0; i < packer->shapes; i++)
        at = put_varint(at, packer->shape[i].payload_words);
    for (size_t i = 0; i <= packer->shapes; i++)
        at = put_varint(at, packer->group[i].step);
    for (size_t i = 0; i <= packer->shapes; i++)
        at = put_varint(at, packer->group[i].least);
    for (size_t i = 0; i < packer->shapes; i++)
        for (size_t place = 0; place < places_told(&packer->shape[i]); place++)
            *at++ = packer->shape[i].expected[place];
    return (size_t)(at - packer->part);
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

/* Those of a group with many events apart from others. */
static bool compress_tokens(struct block_packer *packer, ZSTD_outBuffer *out)
{
    const uint32_t *before = packer->tokens_before;
    size_t start = 0;
    for (size_t i = 0; i <= packer->shapes; i++) {
        bool is_apart = before[i + 1] - before[i] >= APART_TOKENS;
        if (is_apart && before[i] > start) {
            if (!compress(packer, out, packer->tokens + start, before[i] - start, ZSTD_e_flush))
                return false;
            start = before[i];
        }
        if (!is_apart && i < packer->shapes)
            continue;
        if (!compress(packer, out, packer->tokens + start, before[i + 1] - start, ZSTD_e_flush))
            return false;
        start = before[i + 1];
    }
    return true;
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

/* All that the block's header tells is known then. */
static void put_parts(struct block_packer *packer, struct heurt_packed_block *block)
{
    sort_shapes(packer);
    find_groups(packer);
    find_steps(packer);
    find_words(packer);
    choose_expectations(packer);
    *block = (struct heurt_packed_block){
        .words = (uint32_t)packer->words,
        .events = (uint32_t)packer->events,
        .shapes = (uint32_t)packer->shapes,
        .shape_bytes = (uint32_t)put_shapes(packer),
        .tick_rest_bytes = (uint32_t)put_ticks(packer),
        .payload_bytes = (uint32_t)put_payload(packer),
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
        compress(packer, &out, packer->tick_rest, block->tick_rest_bytes, ZSTD_e_flush) &&
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
