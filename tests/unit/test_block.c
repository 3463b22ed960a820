/* test_block.c: a block gives back the words that it was made of, bit for bit, whatever they are,
 * and becomes small where they follow a structure; an invented block does no harm. */
#include "format/block.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* after the headers that it needs */
#include <cmocka.h>
#include <zstd.h>

static uint64_t random_state;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint64_t below(uint64_t bound)
{
    return random_number() % bound;
}

/* Of any length in bits. */
static uint64_t random_word(void)
{
    return random_number() >> below(64);
}

#define BLOCK_BYTES (1u << 20)

struct block_test {
    struct block_packer *packer;
    struct block_unpacker *unpacker;
    uint64_t start_tick;
    uint64_t words[HEURT_PACKED_WORDS_MAX], unpacked[HEURT_PACKED_WORDS_MAX + 1];
    size_t count;                   /* of words */
    uint64_t blocks, events, bytes; /* until now */
    uint64_t block[BLOCK_BYTES / 8];
};

static int start(void **state)
{
    struct block_test *test = calloc(1, sizeof *test);
    random_state = 0x9e3779b97f4a7c15ull;
    test->packer = block_packer__new();
    test->unpacker = block_unpacker__new();
    *state = test;
    return 0;
}

static int stop(void **state)
{
    struct block_test *test = *state;
    block_packer__free(test->packer);
    block_unpacker__free(test->unpacker);
    free(test);
    return 0;
}

#define BLOCK(test) cmocka_unit_test_setup_teardown(test, start, stop)

static void assert_unpacked(struct block_test *test, size_t bytes)
{
    const struct heurt_packed_block *block = (const void *)test->block;
    assert_true(bytes > 0);
    assert_int_equal(block__length(block, bytes), bytes);
    assert_int_equal(block__length(block, BLOCK_BYTES), bytes);
    assert_true(block__length(block, bytes - 1) == SIZE_MAX);
    assert_int_equal(block->words, test->count);
    memset(test->unpacked, 0x5a, sizeof test->unpacked);
    assert_true(block_unpacker__unpack(test->unpacker, block, test->start_tick, test->unpacked));
    assert_memory_equal(test->words, test->unpacked, test->count * sizeof *test->words);
    assert_true(test->unpacked[test->count] == 0x5a5a5a5a5a5a5a5a);
    test->blocks++;
    test->events += block->events;
    test->bytes += bytes;
}

static void finish_block(struct block_test *test)
{
    if (block_packer__is_empty(test->packer))
        return;
    assert_unpacked(test, block_packer__finish(test->packer, test->block, BLOCK_BYTES));
    test->count = 0;
}

static void begin_chunk(struct block_test *test, uint64_t tick)
{
    test->start_tick = tick;
    test->count = 0;
    block_packer__begin(test->packer, tick);
}

/* Also as the first event of the next block, where the block is full. */
static void add_event(struct block_test *test, uint64_t tick, uint16_t id, const uint64_t *payload,
                      size_t payload_words)
{
    static uint64_t event[HEURT_PACKED_WORDS_MAX];
    event[0] = tick << HEURT_ID_BITS | id;
    if (payload_words)
        memcpy(event + 1, payload, payload_words * sizeof *event);
    if (!block_packer__add(test->packer, event, payload_words + 1)) {
        finish_block(test);
        assert_true(block_packer__add(test->packer, event, payload_words + 1));
    }
    memcpy(test->words + test->count, event, (payload_words + 1) * sizeof *event);
    test->count += payload_words + 1;
}

/* ---- events by chance ------------------------------------------------------------------------ */

/* How wild they are. */
struct style {
    unsigned ids, payload_most;
    uint64_t tick_mask, word_mask;
};

static void add_wild_events(struct block_test *test, const struct style *style, size_t most)
{
    static uint64_t payload[HEURT_PACKED_WORDS_MAX];
    uint64_t tick = random_number();
    begin_chunk(test, tick);
    for (size_t words; (words = below(style->payload_most + 1)) + test->count < most;) {
        tick += random_word() & style->tick_mask;
        for (size_t i = 0; i < words; i++)
            payload[i] = random_word() & style->word_mask;
        add_event(test, tick, (uint16_t)(1 + below(style->ids)), payload, words);
    }
}

static void blocks_keep_every_word(void **state)
{
    static const struct style styles[] = {
        {1, 0, 0, 0},                      /* always the same */
        {4, 2, 0xff, 0xffff},              /* a tight loop */
        {1000, 6, 0xfffff, UINT64_MAX},    /* many functions: two bytes an index */
        {65535, 0, UINT64_MAX, 0},         /* every event another one; ticks step back */
        {3, 3000, UINT64_MAX, UINT64_MAX}, /* stacks of all lengths */
        {65535, 8, UINT64_MAX, UINT64_MAX},
        {60, 4, 0xffffff, UINT64_MAX},      /* the kernel's records among them */
        {60, 3000, UINT64_MAX, UINT64_MAX}, /* of lengths that they never have */
    };
    struct block_test *test = *state;
    for (size_t round = 0; round < 300; round++) {
        size_t most = round % 7 ? 1 + random_word() % 18000 : HEURT_PACKED_WORDS_MAX;
        if (most > HEURT_PACKED_WORDS_MAX)
            most = HEURT_PACKED_WORDS_MAX;
        add_wild_events(test, &styles[round % 8], most);
        if (block_packer__is_empty(test->packer))
            continue;
        assert_unpacked(test, block_packer__finish(test->packer, test->block, BLOCK_BYTES));
        assert_unpacked(test, block_packer__plain(test->packer, test->words, test->count,
                                                  test->block, BLOCK_BYTES));
    }
}

static void a_block_without_room_is_none(void **state)
{
    struct block_test *test = *state;
    add_wild_events(test, &(struct style){1000, 6, 0xfffff, UINT64_MAX}, 4000);
    size_t bytes = block_packer__finish(test->packer, test->block, BLOCK_BYTES);
    assert_unpacked(test, bytes);
    for (size_t room = 0; room < bytes; room += room < 64 ? 1 : 97) {
        block_packer__begin(test->packer, test->start_tick);
        assert_true(block_packer__add(test->packer, test->words, 1));
        assert_true(block_packer__add(test->packer, test->words, 4000));
        assert_int_equal(block_packer__finish(test->packer, test->block, room), 0);
    }
    assert_true(block_packer__is_empty(test->packer));
}

/* ---- events of programs ---------------------------------------------------------------------- */

/* A thread of a made-up program that runs: loops of loops of what is in a small table of calls and
 * locks. */
struct program {
    struct block_test *test;
    uint64_t tick;
    uint64_t step;   /* of the clock: what it shows are multiples */
    uint64_t jitter; /* what takes always the same time takes less than so many ticks more */
    unsigned functions, locks;
    bool by_chance; /* which function comes next */
    unsigned
        surprise; /* now and then, about one event in so many, comes something else; 0: never */
};

static void pass_time(struct program *program, uint64_t ticks)
{
    program->tick += ticks + (program->jitter ? below(program->jitter) : 0);
}

static void put(struct program *program, uint16_t id, const uint64_t *payload, size_t words)
{
    uint64_t tick = program->tick - program->tick % program->step;
    add_event(program->test, tick, id, payload, words);
}

/* Records of the kernel on a clock of their own, stacks, waits of any length, and steps back. */
static void put_surprise(struct program *program)
{
    uint64_t payload[600] = {below(500)};
    switch (below(5)) {
    case 0:
        pass_time(program, random_word() >> 30);
        payload[0] = HEURT_OFF(random_word() >> 34, below(3));
        payload[1] = HEURT_BACK(below(2) ? HEURT_NOT_KNOWN : payload[0], below(8));
        add_event(program->test, program->tick, HEURT_EVENT_OFF_CPU, payload, 3);
        break;
    case 1:
        payload[0] = HEURT_OFF(1000 + below(300), below(2));
        payload[1] = 0x7f0000000000 + below(1000) * 4096;
        payload[2] = 0x401000 + below(4) * 16;
        add_event(program->test, program->tick, HEURT_EVENT_FAULT, payload, 3);
        break;
    case 2:
        for (size_t i = 1; i <= payload[0]; i++)
            payload[i] = below(2) ? 0 : random_word();
        put(program, HEURT_EVENT_STACK, payload, payload[0] + 1);
        break;
    case 3:
        program->tick += random_word() >> below(40);
        break;
    default:
        program->tick -= below(1000);
    }
}

static void run_function(struct program *program, unsigned number, unsigned depth)
{
    uint16_t id = (uint16_t)(HEURT_EVENT_FUNCTIONS + 2 * number);
    uint64_t site[2] = {HEURT_SITE(0x401000 + 64 * number, 0),
                        0x602000 + 40ull * (number % (program->locks + 1))};
    if (program->surprise && below(program->surprise) == 0)
        put_surprise(program);
    put(program, id, NULL, 0);
    if (number < program->locks) {
        pass_time(program, 20);
        put(program, HEURT_EVENT_LOCK_ACQUIRED, site, 2);
        pass_time(program, 70 + number);
        put(program, HEURT_EVENT_LOCK_RELEASED, site, 2);
    }
    for (unsigned i = 0; depth && i < 2 + number % 3; i++)
        run_function(program, (number * 5 + 3 * i + 1) % program->functions, depth - 1);
    pass_time(program, 30 + 7 * number % 90);
    put(program, id | 1, NULL, 0);
    pass_time(program, 12);
}

static void run_program(struct program *program, uint64_t events)
{
    struct block_test *test = program->test;
    test->blocks = test->events = test->bytes = 0;
    begin_chunk(test, program->tick);
    while (test->events < events)
        for (unsigned i = 0; i < 4; i++)
            if (program->by_chance)
                run_function(program, (unsigned)below(program->functions), 0);
            else
                run_function(program, i % program->functions, 3);
    finish_block(test);
}

/* Of all combinations of clocks, times, sizes of the program and surprises. */
static void programs_keep_every_word(void **state)
{
    static const uint64_t steps[] = {1, 26, 1000}, jitters[] = {0, 26, 3000, 1ull << 20};
    static const unsigned sizes[] = {1, 7, 100, 3000}, surprises[] = {0, 500, 3};
    for (size_t i = 0; i < 3 * 4 * 4 * 3; i++) {
        struct program program = {.test = *state,
                                  .tick = random_word(),
                                  .step = steps[i % 3],
                                  .jitter = jitters[i / 3 % 4],
                                  .functions = sizes[i / 12 % 4],
                                  .locks = sizes[i / 12 % 4] / 3,
                                  .surprise = surprises[i / 48]};
        run_program(&program, 20000);
        assert_true(program.test->blocks > 1);
    }
}

/* What is beside the program's structure is its clock's low bits: nothing, or bits of chance. */
static double bytes_an_event(struct program program)
{
    run_program(&program, 200000);
    return (double)program.test->bytes / (double)program.test->events;
}

static void structure_costs_little(void **state)
{
    struct program program = {.test = *state, .tick = 1000, .step = 1, .functions = 30};
    double calls = bytes_an_event(program);
    program.locks = 25; /* 25 sites and locks, which an event cannot be told by */
    double locks = bytes_an_event(program);
    program.jitter = 26;
    double fine = bytes_an_event(program); /* 4.7 bits of chance are 0.59 bytes */
    program.step = 26;
    double coarse = bytes_an_event(program); /* a difference of two chances at most */
    print_message("bytes an event: calls %.3f, with locks %.3f, with chance %.3f, on a coarse "
                  "clock %.3f\n",
                  calls, locks, fine, coarse);
    assert_true(calls <= 0.06);
    assert_true(locks <= 0.12);
    assert_true(fine <= 0.75);
    assert_true(coarse <= 0.35);
}

/* Which function comes next is chance, and with it how long the lock is held; site and lock follow
 * from the function. */
static void what_follows_from_the_place_costs_little(void **state)
{
    struct program program = {
        .test = *state, .tick = 1000, .step = 1, .functions = 25, .locks = 25, .by_chance = true};
    double locks = bytes_an_event(program);
    print_message("bytes an event: locks by chance %.3f\n", locks);
    assert_true(locks <= 0.6);
}

/* ---- invented blocks ------------------------------------------------------------------------- */

/* Lets the content of a block be what it is, but for a few bytes, in a good frame. */
static size_t change_content(struct block_test *test, size_t bytes)
{
    static uint8_t content[1 << 20];
    struct heurt_packed_block *block = (void *)test->block;
    size_t length = ZSTD_decompress(content, sizeof content, block + 1, block->frame_bytes);
    assert_false(ZSTD_isError(length));
    for (uint64_t n = 1 + below(8); n; n--) {
        size_t most = below(2) ? block->shape_bytes : length; /* much depends on shapes */
        content[below(most)] = (uint8_t)(below(2) ? random_number() : below(4));
    }
    memset(block + 1, 0, bytes - sizeof *block);
    size_t frame = ZSTD_compress(block + 1, BLOCK_BYTES - sizeof *block, content, length, 1);
    assert_false(ZSTD_isError(frame));
    block->frame_bytes = (uint32_t)frame;
    return sizeof *block + ((frame + 7) & ~(size_t)7);
}

/* Some become other events, others are refused; nothing is written outside of the words. */
static void an_invented_block_does_no_harm(void **state)
{
    struct block_test *test = *state;
    size_t taken = 0, refused = 0;
    for (size_t round = 0; round < 2000; round++) {
        add_wild_events(test, &(struct style){70, 3, 0xfffff, UINT64_MAX}, 1 + below(2000));
        if (block_packer__is_empty(test->packer))
            continue;
        size_t count = test->count;
        size_t bytes = block_packer__finish(test->packer, test->block, BLOCK_BYTES);
        const struct heurt_packed_block *block = (const void *)test->block;
        assert_int_equal(block__length(block, bytes), bytes);
        bytes = change_content(test, bytes);
        assert_int_equal(block__length(block, bytes), bytes);
        uint64_t *words = malloc(count * sizeof *words); /* just so many */
        bool good = block_unpacker__unpack(test->unpacker, block, 1, words);
        taken += good;
        refused += !good;
        free(words);
    }
    assert_true(taken > 100);
    assert_true(refused > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BLOCK(blocks_keep_every_word),
        BLOCK(a_block_without_room_is_none),
        BLOCK(programs_keep_every_word),
        BLOCK(structure_costs_little),
        BLOCK(what_follows_from_the_place_costs_little),
        BLOCK(an_invented_block_does_no_harm),
    };
    return cmocka_run_group_tests_name("block", tests, NULL, NULL);
}
