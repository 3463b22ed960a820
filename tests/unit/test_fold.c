/* Folding a trace's words, where the simple events of functions are taken many at a time, finds
 * what folding event by event does. */
#include "fold/fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FUNCTIONS = 4, ROOM = 16, WORDS = 3000, ROUNDS = 50 };

static const uint32_t first_id = HEURT_EVENT_FUNCTIONS;

struct folded {
    struct fold fold; /* first: the keeper gets this */
    struct fold_state state;
    struct fold_class classes[FUNCTIONS], *known[FUNCTIONS];
    struct class_sums sums[FUNCTIONS];
    uint64_t blocks[FUNCTIONS][HISTOGRAM_BLOCKS][HISTOGRAM_BLOCK_BUCKETS];
    struct open_span spans[ROOM];
};

static struct fold_class *no_class(struct fold *fold, const struct event *event)
{
    (void)fold, (void)event;
    return NULL;
}

static void add_block(struct fold *fold, struct fold_class *class, unsigned block)
{
    struct folded *folded = (struct folded *)fold;
    class->histogram[block] = folded->blocks[class->number][block];
}

static void add_spans(struct fold *fold)
{
    (void)fold; /* there is no more room: the outermost are dropped */
}

static const struct fold_keeper keeper = {.function_class = no_class,
                                          .call_class = no_class,
                                          .add_block = add_block,
                                          .add_spans = add_spans};

/* Of the last function, which has a payload, nothing is known. */
static void start(struct folded *folded)
{
    memset(folded, 0, sizeof *folded);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        folded->classes[i] = (struct fold_class){.sums = &folded->sums[i],
                                                 .number = i,
                                                 .component = COMPONENT_RUNNING,
                                                 .bias = i,
                                                 .cost = 2 * i,
                                                 .patched = true};
        folded->known[i] = i + 1 < FUNCTIONS ? &folded->classes[i] : NULL;
    }
    folded->fold = (struct fold){.keeper = &keeper,
                                 .state = &folded->state,
                                 .spans = folded->spans,
                                 .capacity = ROOM,
                                 .functions = folded->known,
                                 .function_count = FUNCTIONS,
                                 .event_cost = 3,
                                 .off_cpu_cost = 5};
}

/* Functions that are entered and left, some without an end or a beginning; times off the CPU,
 * which make parts; unwinding, pauses, weights. */
static size_t put_event(uint64_t *words, uint64_t tick)
{
    unsigned what = (unsigned)rand() % 100;
    uint32_t id = first_id + (uint32_t)(rand() % (2 * FUNCTIONS));
    size_t payload = id / 2 == first_id / 2 + FUNCTIONS - 1 ? 1 : 0;
    if (what >= 90) {
        static const uint32_t others[] = {HEURT_EVENT_OFF_CPU, HEURT_EVENT_UNWOUND,
                                          HEURT_EVENT_PAUSED, HEURT_EVENT_SAMPLED};
        id = others[what % 4];
        payload = id == HEURT_EVENT_OFF_CPU ? 3 : id == HEURT_EVENT_UNWOUND ? 0 : 1;
    }
    words[0] = tick << HEURT_ID_BITS | id;
    words[1] = id == HEURT_EVENT_SAMPLED ? HEURT_SAMPLED(first_id, 3) : 2;
    words[2] = words[3] = 0;
    return 1 + payload;
}

static size_t fold_one(struct folded *folded, const uint64_t *at, uint64_t *tick,
                       const uint8_t *payload_words)
{
    struct event event = {.tick = event__whole_tick(*tick, *at),
                          .id = event__id(*at),
                          .words = payload_words[event__id(*at)] - 1u,
                          .payload = at + 1};
    *tick = event.tick;
    fold__event(&folded->fold, &event);
    return 1 + event.words;
}

static void fold_all(struct folded *folded, const uint64_t *words, const uint64_t *end,
                     const uint8_t *payload_words, bool many_at_a_time)
{
    struct event_words left = {.at = words,
                               .end = end,
                               .until = UINT64_MAX,
                               .payload_words = payload_words,
                               .payload_ids = first_id + 2 * FUNCTIONS};
    start(folded);
    while (left.at < end) {
        if (many_at_a_time)
            fold__functions(&folded->fold, &left);
        if (left.at < end)
            left.at += fold_one(folded, left.at, &left.tick, payload_words);
    }
    fold__close(&folded->fold, 0);
}

static void words_and_events_are_folded_alike(void **state)
{
    (void)state;
    static uint64_t words[4 * WORDS];
    static struct folded one, other;
    static uint8_t payload_words[HEURT_EVENT_FUNCTIONS + 2 * FUNCTIONS];
    memset(payload_words, 1, sizeof payload_words);
    payload_words[HEURT_EVENT_OFF_CPU] = 4;
    payload_words[HEURT_EVENT_PAUSED] = payload_words[HEURT_EVENT_SAMPLED] = 2;
    payload_words[first_id + 2 * FUNCTIONS - 2] = payload_words[first_id + 2 * FUNCTIONS - 1] = 2;
    for (unsigned round = 0; round < ROUNDS; round++) {
        srand(round);
        uint64_t tick = 1000, *end = words;
        for (unsigned i = 0; i < WORDS; i++)
            end += put_event(end, tick += (uint64_t)(rand() % 20));
        fold_all(&one, words, end, payload_words, false);
        fold_all(&other, words, end, payload_words, true);
        assert_memory_equal(&one.state, &other.state, sizeof one.state);
        assert_memory_equal(one.sums, other.sums, sizeof one.sums);
        assert_memory_equal(one.blocks, other.blocks, sizeof one.blocks);
        assert_true(one.sums[0].accumulator.count > 0);
    }
}

/* A wait with a record of the kernel's in it, which costs 5 ticks: the wait is shorter by them, so
 * that what is left of the thread's time, less what recording cost, is what it ran. */
static void what_recording_a_wait_costs_is_no_running_time(void **state)
{
    (void)state;
    enum { WAIT = 100, LIFE = 150 };
    static struct folded folded;
    uint8_t payload_words[HEURT_EVENT_FUNCTIONS + 2 * FUNCTIONS];
    memset(payload_words, 1, sizeof payload_words);
    payload_words[HEURT_EVENT_OFF_CPU] = 4;
    const uint64_t words[] = {1000ull << HEURT_ID_BITS | first_id,
                              1080ull << HEURT_ID_BITS | HEURT_EVENT_OFF_CPU,
                              40,
                              UINT64_MAX,
                              0,
                              (1000ull + WAIT) << HEURT_ID_BITS | (first_id + 1)};
    uint64_t tick = 0;
    start(&folded);
    folded.classes[0].component = COMPONENT_LOCK;
    for (const uint64_t *at = words; at < words + sizeof words / sizeof *words;)
        at += fold_one(&folded, at, &tick, payload_words);
    const struct accumulator *sums = &folded.sums[0].accumulator;
    assert_int_equal(sums->count, 1);
    assert_int_equal(sums->component_sum[COMPONENT_OVERHEAD], 5);
    assert_int_equal(sums->component_sum[COMPONENT_LOCK], WAIT - 5);
    assert_int_equal(folded.state.overhead, 5);
    assert_int_equal(LIFE - folded.state.parts[COMPONENT_LOCK] - folded.state.overhead,
                     LIFE - WAIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_events_are_folded_alike),
        cmocka_unit_test(what_recording_a_wait_costs_is_no_running_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
