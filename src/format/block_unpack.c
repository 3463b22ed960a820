/* block_unpack.c: a block's bytes become the words again.  They may be any bytes. */
#include "base/memory.h"
#include "format/block.h"
#include "format/block_ticks.h"
#include "format/block_words.h"

#include <stdlib.h>
#include <zstd.h>

struct block_unpacker {
    ZSTD_DCtx *decompressor;
    struct block_shape shape[HEURT_PACKED_WORDS_MAX];
    struct tick_group group[HEURT_PACKED_WORDS_MAX + 1];
    uint16_t tokens[HEURT_PACKED_WORDS_MAX + 1]; /* by group */
    struct memory_of_words memory;
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
           block->shape_bytes <= CONTENT_BYTES_MAX && block->tick_rest_bytes <= CONTENT_BYTES_MAX &&
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

/* ---- shapes ---------------------------------------------------------------------------------- */

struct bytes {
    const uint8_t *at, *end; /* SLACK bytes behind the end can be read */
};

/* False when there are no more, or the number is not whole. */
static inline bool take_number(struct bytes *bytes, uint64_t *number)
{
    if (bytes->at >= bytes->end)
        return false;
    *number = take_varint(&bytes->at);
    return bytes->at <= bytes->end;
}

static bool take_ids_and_words(struct block_unpacker *unpacker, size_t shapes, struct bytes *bytes)
{
    uint64_t id = 0, number;
    for (size_t i = 0; i < shapes; i++) {
        if (!take_number(bytes, &number) || number > ID_MASK)
            return false;
        unpacker->shape[i].id = (uint16_t)(id += number);
    }
    for (size_t i = 0; i < shapes; i++) {
        if (!take_number(bytes, &number) || number >= HEURT_PACKED_WORDS_MAX)
            return false;
        unpacker->shape[i] = shape__of(unpacker->shape[i].id, number);
    }
    return true;
}

static bool take_groups(struct block_unpacker *unpacker, size_t groups, struct bytes *bytes)
{
    for (size_t i = 0; i < groups; i++)
        if (!take_number(bytes, &unpacker->group[i].step))
            return false;
    for (size_t i = 0; i < groups; i++)
        if (!take_number(bytes, &unpacker->group[i].least))
            return false;
    return true;
}

static bool take_expectations(struct block_unpacker *unpacker, size_t shapes, struct bytes *bytes,
                              bool *needs_slots)
{
    *needs_slots = false;
    for (size_t i = 0; i < shapes; i++) {
        size_t places = places_told(&unpacker->shape[i]);
        if (places > (size_t)(bytes->end - bytes->at))
            return false;
        for (size_t place = 0; place < places; place++) {
            uint8_t expected = unpacker->shape[i].expected[place] = *bytes->at++;
            unpacker->shape[i].expects_same &= expected == EXPECT_SAME;
            *needs_slots |= expectation__needs_slots(expected);
        }
    }
    return true;
}

static bool take_shapes(struct block_unpacker *unpacker, const struct heurt_packed_block *block)
{
    struct bytes bytes = {unpacker->content, unpacker->content + block->shape_bytes};
    bool needs_slots;
    if (!take_ids_and_words(unpacker, block->shapes, &bytes) ||
        !take_groups(unpacker, block->shapes + 1, &bytes) ||
        !take_expectations(unpacker, block->shapes, &bytes, &needs_slots))
        return false;
    memory_of_words__empty(&unpacker->memory, needs_slots);
    return bytes.at == bytes.end;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Where the parts of the content begin. */
struct parts {
    const uint8_t *low, *high; /* of the indices; high: NULL when there are none */
    const uint8_t *tokens, *tick_rest, *payload;
};

static struct parts find_parts(const struct block_unpacker *unpacker,
                               const struct heurt_packed_block *block)
{
    struct parts parts = {.low = unpacker->content + block->shape_bytes};
    parts.tokens = parts.low + block->events;
    if (block->shapes > 256) {
        parts.high = parts.tokens;
        parts.tokens += block->events;
    }
    parts.tick_rest = parts.tokens + block->events;
    parts.payload = parts.tick_rest + block->tick_rest_bytes;
    return parts;
}

static inline size_t index_of(const struct parts *parts, size_t event)
{
    return parts->low[event] | (parts->high ? (size_t)parts->high[event] << 8 : 0);
}

static struct whereabouts whereabouts_of(const struct parts *parts, size_t event)
{
    struct whereabouts where = {.index = index_of(parts, event)};
    for (size_t back = 1; back <= 3 && back <= event; back++)
        where.shapes_before |= (uint64_t)(index_of(parts, event - back) + 1) << (back - 1) * 16;
    return where;
}

#define FEW_SHAPES 256u /* an index is a byte */

/* Alternately in four counters: to add to one that has just been added to would have to wait. */
static void count_few(struct block_unpacker *unpacker, const uint8_t *low, size_t events)
{
    uint16_t count[4][FEW_SHAPES] = {0};
    size_t i = 0;
    for (; i + 4 <= events; i += 4) {
        count[0][low[i]]++;
        count[1][low[i + 1]]++;
        count[2][low[i + 2]]++;
        count[3][low[i + 3]]++;
    }
    for (; i < events; i++)
        count[0][low[i]]++;
    for (i = 0; i < FEW_SHAPES; i++)
        unpacker->tokens[i] = (uint16_t)(count[0][i] + count[1][i] + count[2][i] + count[3][i]);
}

/* How many events of each shape there are; false when one is of none. */
static bool count_events(struct block_unpacker *unpacker, const struct heurt_packed_block *block,
                         const struct parts *parts)
{
    uint16_t *count = unpacker->tokens;
    size_t counted = 0;
    if (!parts->high) {
        count_few(unpacker, parts->low, block->events);
    } else {
        memset(count, 0, block->shapes * sizeof *count);
        for (size_t i = 0; i < block->events && index_of(parts, i) < block->shapes; i++)
            count[index_of(parts, i)]++;
    }
    for (size_t i = 0; i < block->shapes; i++)
        counted += count[i];
    count[block->shapes] = 0;
    return counted == block->events;
}

/* What stands behind an event of that shape has its token in the last group. */
static void move_apart(struct block_unpacker *unpacker, const struct heurt_packed_block *block,
                       const struct parts *parts, size_t index)
{
    const uint8_t *end = parts->low + block->events - 1, *at = parts->low;
    for (; (at = memchr(at, (uint8_t)index, (size_t)(end - at))); at++) {
        size_t event = (size_t)(at - parts->low);
        if (index_of(parts, event) != index)
            continue;
        unpacker->tokens[index_of(parts, event + 1)]--;
        unpacker->tokens[block->shapes]++;
    }
}

/* Finds each group's tokens; false when an event is of no shape. */
static bool find_tokens(struct block_unpacker *unpacker, const struct heurt_packed_block *block,
                        const struct parts *parts)
{
    uint16_t *tokens = unpacker->tokens;
    const uint8_t *next = parts->tokens;
    if (!count_events(unpacker, block, parts))
        return false;
    tokens[index_of(parts, 0)]--;
    tokens[block->shapes]++;
    for (size_t i = 0; i < block->shapes; i++)
        if (unpacker->shape[i].is_dated_by_kernel)
            move_apart(unpacker, block, parts, i);
    for (size_t i = 0; i <= block->shapes; next += tokens[i++])
        unpacker->group[i].tokens = next;
    for (size_t i = 0; i < block->shapes; i++) {
        const struct block_shape *shape = &unpacker->shape[i];
        unpacker->group[i].id = shape->id;
        unpacker->group[i].is_bare = !shape->payload_words && !shape->is_dated_by_kernel;
    }
    return true;
}

/* Modulo 2^48. */
static inline uint64_t take_difference(struct tick_group *group, struct bit_reader *rest)
{
    return group->least + take_tick(rest, *group->tokens++) * group->step;
}

/* Takes the words of a shape that expects nothing but EXPECT_SAME, as most do. False, here and
 * below: the payload is used up. */
static inline bool take_same_words(struct bytes *from, struct block_shape *shape, uint64_t *payload)
{
    for (size_t i = 0; i < shape->payload_words; i++) {
        uint64_t *before = &shape->before[place_of(i)];
        if (from->at >= from->end)
            return false;
        payload[i] = *before += unfold_sign(take_varint(&from->at));
    }
    return true;
}

static bool take_words(struct bytes *from, struct block_shape *shape, uint64_t *payload,
                       struct memory_of_words *memory, struct whereabouts where)
{
    for (size_t i = 0; i < shape->payload_words; i++) {
        uint64_t *slot;
        uint64_t expected = memory_of_words__expect(memory, shape, where, payload, i, &slot);
        if (from->at >= from->end)
            return false;
        payload[i] = expected + unfold_sign(take_varint(&from->at));
        *slot = shape->before[place_of(i)] = payload[i];
    }
    return true;
}

static inline bool take_payload(struct block_unpacker *unpacker, const struct parts *parts,
                                struct block_shape *shape, size_t event, uint64_t *payload,
                                struct bytes *from)
{
    bool good = shape->expects_same ? take_same_words(from, shape, payload)
                                    : take_words(from, shape, payload, &unpacker->memory,
                                                 whereabouts_of(parts, event));
    memory_of_words__pass(&unpacker->memory, payload, shape->payload_words);
    return good;
}

/* ---- payload of the kernel's records --------------------------------------------------------- */

/* Leaves room for it. What is counted back from stands in its place. */
static inline void keep_room(struct event_list *list, struct block_shape *shape, size_t event,
                             size_t word, uint64_t *payload, uint64_t tick_difference)
{
    link_event(list, shape, event, word);
    if (is_counted_back(shape, 0))
        *payload = tick_difference;
}

static bool take_halved(const struct event_list *list, const struct block_shape *shape,
                        size_t place, uint64_t *words, struct bytes *from)
{
    uint64_t high = 0;
    for (size_t event = shape->first_event; event; event = list->next[event - 1]) {
        uint64_t *word = &words[list->word[event - 1] + 1 + place], number;
        if (!take_number(from, &number) || (number & 1 && !take_number(from, &high)))
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

static bool take_whole(const struct event_list *list, const struct block_shape *shape, size_t place,
                       uint64_t *words, struct bytes *from)
{
    uint64_t before = 0;
    for (size_t event = shape->first_event; event; event = list->next[event - 1]) {
        uint64_t number;
        if (!take_number(from, &number))
            return false;
        words[list->word[event - 1] + 1 + place] = before += unfold_sign(number);
    }
    return true;
}

static bool put_records(const struct block_unpacker *unpacker, size_t shapes, uint64_t *words,
                        struct bytes *from)
{
    for (size_t i = 0; i < shapes; i++) {
        const struct block_shape *shape = &unpacker->shape[i];
        for (size_t place = 0; shape->first_event && place < shape->payload_words; place++)
            if (!(place < shape->halved ? take_halved : take_whole)(&unpacker->list, shape, place,
                                                                    words, from))
                return false;
    }
    return true;
}

/* ---- the block ------------------------------------------------------------------------------- */

/* Where the events are put: the next one, its word, the tick before it. */
struct putting {
    size_t event;
    uint64_t *to, *end;
    uint64_t tick;
    struct bit_reader rest;
    size_t rest_bits;
};

/* Puts events as long as they are of bare groups and there is room: what comes behind one that the
 * kernel has dated is none of these. */
static __attribute__((noinline)) void put_bare(struct putting *putting, struct tick_group *groups,
                                               const struct parts *parts, size_t events)
{
    struct putting at = *putting;
    while (at.event < events && at.to < at.end && at.rest.at <= at.rest_bits) {
        struct tick_group *group = &groups[index_of(parts, at.event)];
        if (!group->is_bare)
            break;
        at.tick += take_difference(group, &at.rest);
        *at.to++ = at.tick << HEURT_ID_BITS | group->id;
        at.event++;
    }
    *putting = at;
}

static bool put_events(struct block_unpacker *unpacker, const struct heurt_packed_block *block,
                       const struct parts *parts, uint64_t tick, uint64_t *words)
{
    struct bytes payload = {parts->payload, parts->payload + block->payload_bytes};
    struct putting at = {.to = words,
                         .end = words + block->words,
                         .tick = tick,
                         .rest = {.bytes = parts->tick_rest},
                         .rest_bits = block->tick_rest_bytes * 8u};
    for (bool apart = true; at.event < block->events; at.event++) {
        if (!apart)
            put_bare(&at, unpacker->group, parts, block->events);
        if (at.event == block->events)
            break;
        size_t index = index_of(parts, at.event);
        struct block_shape *shape = &unpacker->shape[index];
        if (at.to == at.end || at.rest.at > at.rest_bits ||
            shape->payload_words > (size_t)(at.end - at.to) - 1)
            return false;
        uint64_t difference =
            take_difference(&unpacker->group[apart ? block->shapes : index], &at.rest);
        at.tick += difference;
        *at.to++ = at.tick << HEURT_ID_BITS | shape->id;
        apart = shape->is_dated_by_kernel;
        if (shape->halved)
            keep_room(&unpacker->list, shape, at.event, (size_t)(at.to - 1 - words), at.to,
                      difference);
        else if (shape->payload_words &&
                 !take_payload(unpacker, parts, shape, at.event, at.to, &payload))
            return false;
        at.to += shape->payload_words;
    }
    return put_records(unpacker, block->shapes, words, &payload) && at.to == at.end &&
           payload.at == payload.end && (at.rest.at + 7) / 8 == block->tick_rest_bytes;
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
    struct parts parts = find_parts(unpacker, block);
    return take_shapes(unpacker, block) && find_tokens(unpacker, block, &parts) &&
           put_events(unpacker, block, &parts, start_tick, words);
}
