/* block_pack_payload.c: the payload words of a block's events as differences to what is expected of
 * them. */
#include "format/block_pack.h"

/* Another expectation than EXPECT_SAME is looked for where that one costs so many bits. */
#define DEAR_BITS 512u

/* Where differences to what is expected go. */
typedef void put_difference(struct packed_payload *payload, size_t shape, size_t place,
                            uint64_t difference);

static void find_words(struct packed_payload *payload, const struct block_events *events)
{
    payload->with_words_count = 0;
    for (size_t i = 0; i < events->events; i++) {
        const struct block_shape *shape = &events->shape[events->shape_of[i]];
        if (shape->payload_words && !shape->halved)
            payload->with_words[payload->with_words_count++] = (uint16_t)i;
    }
}

static struct whereabouts whereabouts_of(const struct block_events *events, size_t event)
{
    struct whereabouts where = {.index = events->shape_of[event]};
    for (size_t back = 1; back <= 3 && back <= event; back++)
        where.shapes_before |= (events->shape_of[event - back] + 1ull) << (back - 1) * 16;
    return where;
}

static inline __attribute__((always_inline)) void
put_same_words(struct packed_payload *payload, struct block_events *events, size_t index,
               const uint64_t *words, put_difference *put)
{
    struct block_shape *shape = &events->shape[index];
    for (size_t i = 0; i < shape->payload_words; i++) {
        size_t place = place_of(i);
        put(payload, index, place, words[i] - shape->before[place]);
        shape->before[place] = words[i];
    }
}

static inline __attribute__((always_inline)) void
put_expected_words(struct packed_payload *payload, struct block_events *events,
                   struct whereabouts where, const uint64_t *words, put_difference *put)
{
    struct block_shape *shape = &events->shape[where.index];
    for (size_t i = 0; i < shape->payload_words; i++) {
        size_t place = place_of(i);
        uint64_t *slot;
        uint64_t expected =
            memory_of_words__expect(&payload->memory, shape, where, words, i, &slot);
        put(payload, where.index, place, words[i] - expected);
        *slot = shape->before[place] = words[i];
    }
}

/* The words of all events that are not the kernel's, or only of those of shapes that are tried. */
static inline __attribute__((always_inline)) void put_words(struct packed_payload *payload,
                                                            struct block_events *events,
                                                            put_difference *put, bool tried_only)
{
    memory_of_words__empty(&payload->memory, true);
    for (size_t i = 0; i < events->shapes; i++)
        memset(events->shape[i].before, 0, sizeof events->shape[i].before);
    for (size_t i = 0; i < payload->with_words_count; i++) {
        size_t event = payload->with_words[i], index = events->shape_of[event];
        const uint64_t *words = events->word + events->first_word[event] + 1;
        if (!tried_only || payload->choice[index].is_tried) {
            if (events->shape[index].expects_same)
                put_same_words(payload, events, index, words, put);
            else
                put_expected_words(payload, events, whereabouts_of(events, event), words, put);
        }
        memory_of_words__pass(&payload->memory, words, events->shape[index].payload_words);
    }
}

static void put_varint_of(struct packed_payload *payload, size_t shape, size_t place,
                          uint64_t difference)
{
    (void)shape, (void)place;
    payload->end = put_varint(payload->end, fold_sign(difference));
}

/* About what the difference takes, in bits. */
static void add_cost(struct packed_payload *payload, size_t shape, size_t place,
                     uint64_t difference)
{
    uint64_t folded = fold_sign(difference);
    if (folded)
        payload->choice[shape].cost_bits[place] += 8u + 64u - (unsigned)__builtin_clzll(folded);
}

/* Expects that where the cheapest one until now is dear; whether it is anywhere. */
static bool expect_where_dear(struct packed_payload *payload, struct block_events *events,
                              uint8_t expectation)
{
    bool any = false;
    for (size_t i = 0; i < events->shapes; i++) {
        struct expectation_costs *choice = &payload->choice[i];
        choice->is_tried = false;
        for (size_t place = 0; place < places_told(&events->shape[i]); place++) {
            choice->cost_bits[place] = 0;
            if (choice->least_bits[place] < DEAR_BITS)
                continue;
            events->shape[i].expected[place] = expectation;
            choice->is_tried = true;
        }
        events->shape[i].expects_same = expectation == EXPECT_SAME;
        any |= choice->is_tried;
    }
    return any;
}

static void keep_cheapest(struct packed_payload *payload, struct block_events *events)
{
    for (size_t i = 0; i < events->shapes; i++) {
        struct expectation_costs *choice = &payload->choice[i];
        for (size_t place = 0; choice->is_tried && place < places_told(&events->shape[i]);
             place++) {
            if (choice->cost_bits[place] >= choice->least_bits[place])
                continue;
            choice->least_bits[place] = choice->cost_bits[place];
            choice->cheapest[place] = events->shape[i].expected[place];
        }
    }
}

/* Whether any place expects something else than EXPECT_SAME. */
static bool expect_cheapest(struct packed_payload *payload, struct block_events *events)
{
    bool any = false;
    for (size_t i = 0; i < events->shapes; i++) {
        struct block_shape *shape = &events->shape[i];
        shape->expects_same = true;
        for (size_t place = 0; place < places_told(shape); place++) {
            shape->expected[place] = payload->choice[i].cheapest[place];
            shape->expects_same &= shape->expected[place] == EXPECT_SAME;
        }
        any |= !shape->expects_same;
    }
    return any;
}

static void put_and_cost(struct packed_payload *payload, size_t shape, size_t place,
                         uint64_t difference)
{
    put_varint_of(payload, shape, place, difference);
    add_cost(payload, shape, place, difference);
}

/* As a rule EXPECT_SAME does everywhere, and that is all. */
static void put_cheapest(struct packed_payload *payload, struct block_events *events)
{
    for (size_t i = 0; i < events->shapes; i++)
        memset(payload->choice[i].least_bits, 0xff, sizeof payload->choice[i].least_bits);
    expect_where_dear(payload, events, EXPECT_SAME);
    put_words(payload, events, put_and_cost, false);
    keep_cheapest(payload, events);
    for (uint8_t tried = EXPECT_SAME + 1;
         tried < EXPECTATIONS && expect_where_dear(payload, events, tried); tried++) {
        put_words(payload, events, add_cost, true);
        keep_cheapest(payload, events);
    }
    if (!expect_cheapest(payload, events))
        return;
    payload->end = payload->bytes;
    put_words(payload, events, put_varint_of, false);
}

/* ---- payload of the kernel's records --------------------------------------------------------- */

static void link_records(struct packed_payload *payload, struct block_events *events,
                         const uint64_t *tick_difference)
{
    for (size_t i = 0; i < events->events; i++) {
        struct block_shape *shape = &events->shape[events->shape_of[i]];
        if (!shape->halved)
            continue;
        link_event(&payload->records, shape, i, events->first_word[i]);
        uint64_t *word = events->word + events->first_word[i];
        if (shape->halved > 1 && is_counted_from_first(1, word[1]))
            word[2] = HEURT_SITE(word[1] - word[2], HEURT_SITE_HOW(word[2]));
        if (is_counted_back(shape, 0))
            word[1] = HEURT_SITE(tick_difference[i] - word[1], HEURT_SITE_HOW(word[1]));
    }
}

/* The low 48 bits as a signed number. */
static uint64_t low_half(uint64_t word)
{
    return (uint64_t)((int64_t)(word << HEURT_ID_BITS) >> HEURT_ID_BITS);
}

static void put_halved(struct packed_payload *payload, const struct block_events *events,
                       const struct block_shape *shape, size_t place)
{
    uint64_t high_before = 0;
    for (size_t event = shape->first_event; event; event = payload->records.next[event - 1]) {
        uint64_t word = events->word[payload->records.word[event - 1] + 1 + place];
        uint64_t high = HEURT_SITE_HOW(word), changes = high != high_before;
        payload->end = put_varint(payload->end, fold_sign(low_half(word)) << 1 | changes);
        if (changes)
            payload->end = put_varint(payload->end, high);
        high_before = high;
    }
}

static void put_whole(struct packed_payload *payload, const struct block_events *events,
                      const struct block_shape *shape, size_t place)
{
    uint64_t before = 0;
    for (size_t event = shape->first_event; event; event = payload->records.next[event - 1]) {
        uint64_t word = events->word[payload->records.word[event - 1] + 1 + place];
        payload->end = put_varint(payload->end, fold_sign(word - before));
        before = word;
    }
}

static void end_piece(struct packed_payload *payload, size_t least_bytes)
{
    size_t end = (size_t)(payload->end - payload->bytes);
    if (end - (payload->pieces ? payload->piece_end[payload->pieces - 1] : 0) >= least_bytes)
        payload->piece_end[payload->pieces++] = end;
}

/* Lays down the payload of the kernel's records. */
static void put_records(struct packed_payload *payload, const struct block_events *events)
{
    for (size_t i = 0; i < events->shapes; i++) {
        const struct block_shape *shape = &events->shape[i];
        for (size_t place = 0; shape->halved && place < shape->payload_words; place++) {
            if (place < shape->halved)
                put_halved(payload, events, shape, place);
            else
                put_whole(payload, events, shape, place);
            end_piece(payload, APART_BYTES);
        }
    }
}

void packed_payload__make(struct packed_payload *payload, struct block_events *events,
                          const uint64_t *tick_difference)
{
    payload->end = payload->bytes;
    payload->pieces = 0;
    find_words(payload, events);
    put_cheapest(payload, events);
    end_piece(payload, APART_BYTES);
    link_records(payload, events, tick_difference);
    put_records(payload, events);
    end_piece(payload, 0);
}
