#include "analysis/overlap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Made threads: thread 0 is asked, thread 1 goes its way and may cost thread 0 time. */

enum { ASKED, FIRST_OTHER, CULPRIT = 3, OUTER = 6, CLASSES };

struct stage {
    uint64_t random;
    struct class_entry entries[CLASSES];
    struct occurrences all;
    struct class_occurrences asked;
    struct vec left; /* double */
};

static uint64_t random_of(struct stage *stage)
{
    stage->random ^= stage->random >> 12;
    stage->random ^= stage->random << 25;
    stage->random ^= stage->random >> 27;
    return stage->random * 0x2545f4914f6cdd1du >> 11;
}

/* From low to high. */
static uint64_t between(struct stage *stage, uint64_t low, uint64_t high)
{
    return low + random_of(stage) % (high - low + 1);
}

static void raise_stage(struct stage *stage, uint64_t seed, size_t windows, uint64_t ticks)
{
    *stage = (struct stage){.random = (seed + 1) * 0x9e3779b97f4a7c15u,
                            .left = VEC_OF(double),
                            .all = {VEC_OF(struct window), VEC_OF(struct class_occurrences),
                                    VEC_OF(struct class_timeline)}};
    stage->asked = (struct class_occurrences){&stage->entries[ASKED], VEC_OF(struct occurrence)};
    for (size_t i = 0; i < windows; i++) {
        uint64_t begin = 1000000 + i * ticks * 3;
        struct window window = {begin, begin + ticks};
        vec__push(&stage->all.windows, &window);
    }
}

static void strike_stage(struct stage *stage)
{
    VEC_EACH(line, &stage->all.timelines, struct class_timeline)
    {
        vec__free(&line->running);
        vec__free(&line->preempted);
    }
    vec__free(&stage->all.timelines);
    vec__free(&stage->all.windows);
    vec__free(&stage->asked.occurrences);
    vec__free(&stage->left);
}

static struct class_timeline *line_of(struct stage *stage, unsigned class, uint32_t thread)
{
    VEC_EACH(line, &stage->all.timelines, struct class_timeline)
    {
        if (line->entry == &stage->entries[class] && line->thread == thread)
            return line;
    }
    struct class_timeline new = {&stage->entries[class], thread, VEC_OF(struct interval),
                                 VEC_OF(struct interval)};
    return vec__push(&stage->all.timelines, &new);
}

static void add_interval(struct stage *stage, unsigned class, uint32_t thread, uint64_t begin,
                         uint64_t end)
{
    struct interval interval = {begin, end};
    vec__push(&line_of(stage, class, thread)->running, &interval);
}

static void add_occurrence(struct stage *stage, uint32_t thread, uint32_t window, uint64_t start,
                           uint64_t ticks)
{
    struct occurrence occurrence = {.start = start,
                                    .end = start + ticks,
                                    .duration = ticks,
                                    .own = ticks,
                                    .running = ticks,
                                    .thread = thread,
                                    .window = window,
                                    .is_clean = true};
    double left = (double)ticks;
    vec__push(&stage->asked.occurrences, &occurrence);
    vec__push(&stage->left, &left);
    add_interval(stage, ASKED, thread, start, start + ticks);
}

/* Without prefix sums and searches. */
static double share_of(const struct vec *intervals, size_t *from, uint64_t start, uint64_t end)
{
    uint64_t ticks = 0;
    while (*from < intervals->count && VEC_AT(intervals, struct interval, *from)->end <= start)
        ++*from;
    for (size_t i = *from; i < intervals->count; i++) {
        const struct interval *interval = VEC_AT(intervals, struct interval, i);
        if (interval->begin >= end)
            break;
        uint64_t begin = interval->begin > start ? interval->begin : start;
        uint64_t until = interval->end < end ? interval->end : end;
        ticks += until - begin;
    }
    return (double)ticks / (double)(end - start);
}

static struct overlap_answer ask(struct stage *stage, bool preempted)
{
    struct overlap_question question = {&stage->all, &stage->asked, stage->left.items, preempted};
    struct overlap_answer answer;
    overlap__ask(&question, &answer);
    return answer;
}

/* Thread 1 calls its five functions in no order, of irregular length and with pauses. */
static void play_others(struct stage *stage, uint64_t shortest, uint64_t longest)
{
    for (unsigned class = FIRST_OTHER; class < OUTER; class ++)
        line_of(stage, class, 1);
    VEC_EACH(window, &stage->all.windows, struct window)
    {
        uint64_t now = window->begin + between(stage, 0, longest);
        while (now + 2 * longest < window->end) {
            unsigned class = (unsigned)between(stage, FIRST_OTHER, OUTER - 1);
            uint64_t ticks = between(stage, shortest, longest);
            add_interval(stage, class, 1, now, now + ticks);
            now += ticks + between(stage, 0, longest);
        }
    }
}

/* How an occurrence of thread 0 lasts: shortest … longest, whatever others do, and cost times the
 * share that it is overlapped by the culprit. */
struct play {
    uint64_t shortest, longest, pause;
    double cost;
};

static void play_asked(struct stage *stage, const struct play *play)
{
    const struct vec *culprit = &line_of(stage, CULPRIT, 1)->running;
    size_t from = 0;
    for (uint32_t i = 0; i < stage->all.windows.count; i++) {
        const struct window *window = VEC_AT(&stage->all.windows, struct window, i);
        uint64_t most = play->longest + (uint64_t)play->cost + play->pause;
        uint64_t now = window->begin + between(stage, 0, play->pause);
        while (now + most < window->end) {
            uint64_t base = between(stage, play->shortest, play->longest), ticks = base;
            /* The longer it takes, the more it may meet. */
            for (unsigned turn = 0; turn < 30; turn++)
                ticks = base + (uint64_t)(play->cost * share_of(culprit, &from, now, now + ticks));
            add_occurrence(stage, 0, i, now, ticks);
            now += ticks + between(stage, 0, play->pause);
        }
    }
}

static void assert_near(double value, double expected, double part)
{
    if (value < expected * (1 - part) || value > expected * (1 + part))
        fail_msg("%g is not %g", value, expected);
}

static void the_function_that_costs_time_is_named(void **state)
{
    (void)state;
    static const struct {
        size_t windows;
        uint64_t ticks, shortest, longest;
    } cases[] = {
        {1, 200000000, 20000, 200000}, /* about as long as what is asked */
        {1, 200000000, 2000, 20000},   {1, 400000000, 500000, 2000000}, /* much longer */
        {64, 4000000, 20000, 200000},  {1, 20000000, 20000, 200000},    /* few */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint64_t seed = 0; seed < 5; seed++) {
            struct stage stage;
            raise_stage(&stage, seed, cases[i].windows, cases[i].ticks);
            play_others(&stage, cases[i].shortest, cases[i].longest);
            play_asked(&stage, &(struct play){50000, 53000, 50000, 60000});
            struct overlap_answer answer = ask(&stage, false);
            assert_true(answer.is_found);
            assert_ptr_equal(answer.other, &stage.entries[CULPRIT]);
            assert_int_equal(answer.thread, 1);
            assert_near(answer.slope, 60000, 0.1);
            strike_stage(&stage);
        }
    }
}

static unsigned found_in(uint64_t seeds, const struct play *play, size_t windows, uint64_t ticks)
{
    unsigned found = 0;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        struct stage stage;
        raise_stage(&stage, seed, windows, ticks);
        play_others(&stage, 20000, 200000);
        play_asked(&stage, play);
        struct overlap_answer answer = ask(&stage, false);
        found += answer.is_found;
        strike_stage(&stage);
    }
    return found;
}

static void a_function_that_costs_nothing_is_not_named(void **state)
{
    (void)state;
    struct play play = {50000, 53000, 50000, 0};
    assert_true(found_in(50, &play, 1, 20000000) <= 1);
    assert_int_equal(found_in(10, &play, 64, 2000000), 0);
}

static void lasting_long_for_another_reason_is_no_overlap(void **state)
{
    (void)state;
    struct play play = {20000, 200000, 50000, 0};
    assert_true(found_in(100, &play, 1, 10000000) <= 2);
    assert_true(found_in(100, &play, 1, 100000000) <= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_function_that_costs_time_is_named),
        cmocka_unit_test(a_function_that_costs_nothing_is_not_named),
        cmocka_unit_test(lasting_long_for_another_reason_is_no_overlap),
    };
    return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
