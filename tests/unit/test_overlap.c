#include "analysis/cause/overlap.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Made threads: thread 0 is asked, thread 1 goes its way and may cost thread 0 time. */

enum { ASKED, FIRST_OTHER, BLOCKER = 3, OUTER = 6, INSIDE, AROUND, CLASSES };

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
    stage->asked = (struct class_occurrences){.entry = &stage->entries[ASKED],
                                              .occurrences = VEC_OF(struct occurrence)};
    vec__extend(&stage->all.timelines, 64); /* they are pointed to, and must not move */
    stage->all.timelines.count = 0;
    for (size_t i = 0; i < windows; i++) {
        uint64_t begin = 1000000 + i * ticks * 3;
        struct window window = {begin, begin + ticks};
        vec__push(&stage->all.windows, &window);
    }
}

static void strike_stage(struct stage *stage)
{
    VEC_EACH (line, &stage->all.timelines, struct class_timeline) {
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
    VEC_EACH (line, &stage->all.timelines, struct class_timeline) {
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

static void add_preempted(struct stage *stage, unsigned class, uint32_t thread, uint64_t begin,
                          uint64_t end)
{
    struct interval interval = {begin, end};
    vec__push(&line_of(stage, class, thread)->preempted, &interval);
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
    VEC_EACH (window, &stage->all.windows, struct window) {
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
 * share that it is overlapped by the blocker. */
struct play {
    uint64_t shortest, longest, pause;
    double cost;
};

static void play_asked(struct stage *stage, const struct play *play)
{
    const struct vec *blocker = &line_of(stage, BLOCKER, 1)->running;
    size_t from = 0;
    for (uint32_t i = 0; i < stage->all.windows.count; i++) {
        const struct window *window = VEC_AT(&stage->all.windows, struct window, i);
        uint64_t most = play->longest + (uint64_t)play->cost + play->pause;
        uint64_t now = window->begin + between(stage, 0, play->pause);
        while (now + most < window->end) {
            uint64_t base = between(stage, play->shortest, play->longest), ticks = base;
            /* The longer it takes, the more it may meet. */
            for (unsigned turn = 0; turn < 30; turn++)
                ticks = base + (uint64_t)(play->cost * share_of(blocker, &from, now, now + ticks));
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
            assert_ptr_equal(answer.other, &stage.entries[BLOCKER]);
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

static struct overlap_answer ask_and_strike(struct stage *stage, bool preempted)
{
    struct overlap_answer answer = ask(stage, preempted);
    strike_stage(stage);
    return answer;
}

/* Both begin at once, again and again. Thread 1 does one thing for a while and then another;
 * thread 0 is as long as its work is, so that the longer ones meet the other thing. */
static void what_a_long_one_lives_to_see_is_no_overlap(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct stage stage;
        raise_stage(&stage, seed, 1, 400000000);
        uint64_t now = 1000000;
        for (unsigned i = 0; i < 1000; i++) {
            uint64_t first = between(&stage, 45000, 55000), ticks = between(&stage, 40000, 160000);
            add_interval(&stage, FIRST_OTHER, 1, now, now + first);
            add_interval(&stage, BLOCKER, 1, now + first, now + 190000);
            add_occurrence(&stage, 0, 0, now, ticks);
            now += 200000 + between(&stage, 0, 100000);
        }
        assert_false(ask_and_strike(&stage, false).is_found);
    }
}

/* In every other phase thread 0 has more to do, and thread 1 calls a function again and again that
 * it does not call in the phases between. */
static struct overlap_answer play_phases(uint64_t seed, unsigned phases, uint64_t ticks)
{
    struct stage stage;
    raise_stage(&stage, seed, 1, phases * ticks + 1000000);
    for (unsigned phase = 0; phase < phases; phase++) {
        uint64_t begin = 1000000 + phase * ticks, end = begin + ticks - 200000;
        for (uint64_t now = begin; now < end;) {
            uint64_t length = between(&stage, 20000, 40000) + (phase % 2 ? 40000 : 0);
            add_occurrence(&stage, 0, 0, now, length);
            now += length + between(&stage, 0, 20000);
        }
        for (uint64_t now = begin; now < end && phase % 2;) {
            uint64_t length = between(&stage, 10000, 60000);
            add_interval(&stage, BLOCKER, 1, now, now + length);
            now += length + between(&stage, 0, 60000);
        }
    }
    return ask_and_strike(&stage, false);
}

static void phases_of_both_threads_are_no_overlap(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        assert_false(play_phases(seed, 2, 20000000).is_found);
        assert_false(play_phases(seed, 9, 20000000).is_found);
        assert_false(play_phases(seed, 60, 5000000).is_found);
    }
}

/* Both work through pieces of what they do together, and thread 0 has some left when thread 1 has
 * none: short ones, of which some are long meanwhile. cost: of its time, what an overlapped piece
 * takes more. */
static struct overlap_answer play_pieces(uint64_t seed, double cost)
{
    struct stage stage;
    raise_stage(&stage, seed, 1, 400000000);
    for (uint64_t now = 1000000; now < 390000000;) {
        uint64_t first = now;
        bool together = true;
        for (unsigned piece = 0, pieces = 20; piece < pieces; piece++) {
            bool is_long = between(&stage, 0, 99) < (together ? 15 : 1);
            double ticks = (double)between(&stage, 2750, 2850) * (is_long ? 6 : 1);
            ticks *= together ? 1 + cost : 1;
            add_occurrence(&stage, 0, 0, now, (uint64_t)ticks);
            now += (uint64_t)ticks + between(&stage, 10, 50);
            if (together && piece >= between(&stage, 6, 18)) {
                add_interval(&stage, BLOCKER, 1, first, now);
                together = false;
            }
        }
        if (together)
            add_interval(&stage, BLOCKER, 1, first, now);
        now += between(&stage, 0, 20000);
    }
    return ask_and_strike(&stage, false);
}

static void more_of_the_long_pieces_are_no_overlap(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        assert_false(play_pieces(seed, 0).is_found);
        assert_true(play_pieces(seed, 1).is_found);
    }
}

/* One thing that happens once is no evidence, however slow all was while it did. */
static void once_is_not_enough(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct stage stage;
        raise_stage(&stage, seed, 1, 50000000);
        uint64_t begin = 21000000 + seed * 100000, end = begin + 600000;
        add_interval(&stage, BLOCKER, 1, begin, end);
        for (uint64_t now = 1000000; now < 50000000;) {
            uint64_t length = between(&stage, 20000, 22000) + (now > begin && now < end) * 20000;
            add_occurrence(&stage, 0, 0, now, length);
            now += length + between(&stage, 0, 20000);
        }
        assert_false(ask_and_strike(&stage, false).is_found);
    }
}

/* An outer function around the blocker and little else, one around everything, and short ones
 * inside that are only a part of it. */
static void of_nested_functions_the_inner_one_is_named(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct stage stage;
        raise_stage(&stage, seed, 1, 200000000);
        play_others(&stage, 20000, 200000);
        struct vec blockers = line_of(&stage, BLOCKER, 1)->running;
        VEC_EACH (blocker, &blockers, struct interval) {
            uint64_t ticks = blocker->end - blocker->begin;
            add_interval(&stage, OUTER, 1, blocker->begin - 200, blocker->end + 200);
            add_interval(&stage, INSIDE, 1, blocker->begin + ticks / 2,
                         blocker->begin + ticks / 2 + ticks / 10);
        }
        add_interval(&stage, AROUND, 1, 1000000, 201000000);
        play_asked(&stage, &(struct play){50000, 53000, 50000, 60000});
        struct overlap_answer answer = ask(&stage, false);
        assert_true(answer.is_found);
        assert_ptr_equal(answer.other, &stage.entries[BLOCKER]);
        strike_stage(&stage);
    }
}

/* Every now and then an interrupt takes 10 ms. */
static void interrupts_do_not_hide_it(void **state)
{
    (void)state;
    struct stage stage;
    raise_stage(&stage, 7, 1, 200000000);
    play_others(&stage, 20000, 200000);
    play_asked(&stage, &(struct play){50000, 53000, 50000, 60000});
    for (size_t i = 150; i < stage.left.count; i += 200)
        *VEC_AT(&stage.left, double, i) += 20000000;
    struct overlap_answer answer = ask_and_strike(&stage, false);
    assert_true(answer.is_found);
    assert_near(answer.slope, 60000, 0.1);
    assert_true(answer.share < 0.2); /* most of the time went to the interrupts */
}

static void interrupts_make_no_slope(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct stage stage;
        raise_stage(&stage, seed, 1, 40000000);
        play_others(&stage, 20000, 200000);
        play_asked(&stage, &(struct play){50000, 53000, 50000, 0});
        for (unsigned i = 0; i < 10; i++)
            *VEC_AT(&stage.left, double, between(&stage, 0, stage.left.count - 1)) += 20000000;
        assert_false(ask_and_strike(&stage, false).is_found);
    }
}

/* Several threads run the same function, and each slows all others. Their moments are what they
 * are; the cost is added to what is left to explain. */
static void a_function_meets_itself(void **state)
{
    (void)state;
    struct stage stage;
    raise_stage(&stage, 3, 4, 30000000);
    for (uint32_t thread = 0; thread < 4; thread++) {
        for (uint32_t window = 0; window < 4; window++) {
            uint64_t begin = VEC_AT(&stage.all.windows, struct window, window)->begin;
            for (uint64_t now = begin; now < begin + 29000000;) {
                uint64_t ticks = between(&stage, 50000, 60000);
                add_occurrence(&stage, thread, window, now, ticks);
                now += ticks + between(&stage, 0, 500000);
            }
        }
    }
    for (size_t i = 0; i < stage.left.count; i++) {
        const struct occurrence *asked = VEC_AT(&stage.asked.occurrences, struct occurrence, i);
        for (uint32_t thread = 0; thread < 4; thread++) {
            size_t from = 0;
            if (thread != asked->thread)
                *VEC_AT(&stage.left, double, i) +=
                    30000 * share_of(&line_of(&stage, ASKED, thread)->running, &from, asked->start,
                                     asked->end);
        }
    }
    struct overlap_answer answer = ask(&stage, false);
    assert_true(answer.is_found);
    assert_ptr_equal(answer.other, &stage.entries[ASKED]);
    assert_near(answer.slope, 30000, 0.1);
    strike_stage(&stage);
}

/* Two loops that are regular but for a little, and meet in ever other ways. */
static void regular_loops_are_seen_through(void **state)
{
    (void)state;
    struct stage stage;
    raise_stage(&stage, 5, 1, 100000000);
    for (uint64_t now = 1000000; now < 100000000; now += 101000 + between(&stage, 0, 100))
        add_interval(&stage, BLOCKER, 1, now, now + 50000);
    size_t from = 0;
    for (uint64_t now = 1000000; now < 100000000;) {
        const struct vec *blocker = &line_of(&stage, BLOCKER, 1)->running;
        uint64_t ticks = 40000 + between(&stage, 0, 1000);
        ticks += (uint64_t)(20000 * share_of(blocker, &from, now, now + ticks));
        add_occurrence(&stage, 0, 0, now, ticks);
        now += ticks + 80000;
    }
    struct overlap_answer answer = ask(&stage, false);
    assert_true(answer.is_found);
    assert_ptr_equal(answer.other, &stage.entries[BLOCKER]);
    strike_stage(&stage);
}

static void many_occurrences_are_sampled(void **state)
{
    (void)state;
    struct stage stage;
    raise_stage(&stage, 11, 1, 9000000000);
    play_others(&stage, 20000, 200000);
    play_asked(&stage, &(struct play){50000, 53000, 50000, 60000});
    assert_true(stage.left.count > 50000);
    struct overlap_answer answer = ask(&stage, false);
    assert_true(answer.is_found);
    assert_near(answer.slope, 60000, 0.1);
    double excess = 0, cost = 0;
    size_t from = 0;
    for (size_t i = 0; i < stage.left.count; i++) {
        const struct occurrence *asked = VEC_AT(&stage.asked.occurrences, struct occurrence, i);
        excess += *VEC_AT(&stage.left, double, i) - 50000;
        cost += 60000 *
                share_of(&line_of(&stage, BLOCKER, 1)->running, &from, asked->start, asked->end);
    }
    assert_near(answer.share, cost / excess, 0.1);
    strike_stage(&stage);
}

/* Both threads run on one CPU. An occurrence that is preempted by the blocker takes longer
 * afterwards; but not because of what the blocker does on another CPU. many: most occurrences are
 * preempted, and all of them have to be gone by. */
static struct overlap_answer play_turns(uint64_t seed, bool many)
{
    struct stage stage;
    raise_stage(&stage, seed, 1, 400000000);
    uint64_t now = 1000000;
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t first = between(&stage, 20000, 30000), off = between(&stage, 20000, 100000);
        uint64_t rest = between(&stage, 40000, 50000) - first;
        bool preempted = between(&stage, 0, 9) < (many ? 7 : 3);
        if (!preempted) {
            add_occurrence(&stage, 0, 0, now, first + rest);
            now += first + rest;
        } else {
            rest += 30000;
            add_occurrence(&stage, 0, 0, now, first + off + rest);
            struct occurrence *last = VEC_AT(&stage.asked.occurrences, struct occurrence, i);
            last->running = first + rest;
            last->is_clean = false;
            *VEC_AT(&stage.left, double, i) = (double)last->running;
            struct class_timeline *line = line_of(&stage, ASKED, 0);
            line->running.count--;
            add_interval(&stage, ASKED, 0, now, now + first);
            add_interval(&stage, BLOCKER, 1, now + first, now + first + off);
            add_interval(&stage, ASKED, 0, now + first + off, now + first + off + rest);
            now += first + off + rest;
        }
        now += between(&stage, 1000, 100000);
    }
    return ask_and_strike(&stage, false);
}

static void who_ran_instead_is_no_overlap(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        assert_false(play_turns(seed, false).is_found);
        assert_false(play_turns(seed, true).is_found);
    }
}

static void too_little_to_tell(void **state)
{
    (void)state;
    struct stage stage;
    raise_stage(&stage, 1, 1, 2200000);
    play_others(&stage, 20000, 50000);
    play_asked(&stage, &(struct play){50000, 53000, 50000, 60000});
    assert_true(stage.left.count < 30);
    struct overlap_answer answer = ask_and_strike(&stage, false);
    assert_false(answer.is_found);
    assert_null(answer.other);
    /* Always overlapped. */
    raise_stage(&stage, 1, 1, 200000000);
    add_interval(&stage, BLOCKER, 1, 1000000, 201000000);
    play_asked(&stage, &(struct play){50000, 53000, 50000, 60000});
    assert_false(ask_and_strike(&stage, false).is_found);
    /* Nobody else. */
    raise_stage(&stage, 1, 1, 200000000);
    line_of(&stage, BLOCKER, 1);
    play_asked(&stage, &(struct play){50000, 53000, 50000, 60000});
    assert_false(ask_and_strike(&stage, false).is_found);
}

/* Thread 1 is preempted now and then, in the blocker or elsewhere; thread 0 turns until it is back,
 * when it was in the blocker. Else the occurrences are short, but for some that are long anyway. */
static struct overlap_answer play_spinning(uint64_t seed, bool spins)
{
    struct stage stage;
    raise_stage(&stage, seed, 1, 4000000000);
    uint64_t now = 1000000;
    for (unsigned i = 0; i < 60; i++) {
        uint64_t preempted = now + between(&stage, 20000000, 40000000);
        uint64_t back = preempted + between(&stage, 200000, 10000000);
        bool inside = i % 2;
        add_preempted(&stage, inside ? BLOCKER : FIRST_OTHER, 1, preempted, back);
        while (now < back) {
            uint64_t ticks = between(&stage, 2000, 3000);
            bool turns = spins ? inside && now + ticks > preempted : random_of(&stage) % 12000 == 0;
            if (turns)
                ticks = spins ? back - now : between(&stage, 6000000, 10000000);
            add_occurrence(&stage, 0, 0, now, ticks);
            now += ticks + between(&stage, 0, 2000);
        }
    }
    struct overlap_answer answer = ask(&stage, true);
    if (answer.is_found)
        assert_ptr_equal(answer.other, &stage.entries[BLOCKER]);
    strike_stage(&stage);
    return answer;
}

static void who_turns_for_a_preempted_one_is_seen(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct overlap_answer answer = play_spinning(seed, true);
        assert_true(answer.is_found);
        assert_true(answer.met > 0.95);
        assert_true(answer.meets > 0.95);
        assert_near(answer.slope, 7000000, 0.4);
        answer = play_spinning(seed, false);
        assert_false(answer.is_found && answer.met > 0.5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_function_that_costs_time_is_named),
        cmocka_unit_test(a_function_that_costs_nothing_is_not_named),
        cmocka_unit_test(lasting_long_for_another_reason_is_no_overlap),
        cmocka_unit_test(what_a_long_one_lives_to_see_is_no_overlap),
        cmocka_unit_test(phases_of_both_threads_are_no_overlap),
        cmocka_unit_test(more_of_the_long_pieces_are_no_overlap),
        cmocka_unit_test(once_is_not_enough),
        cmocka_unit_test(of_nested_functions_the_inner_one_is_named),
        cmocka_unit_test(interrupts_do_not_hide_it),
        cmocka_unit_test(interrupts_make_no_slope),
        cmocka_unit_test(a_function_meets_itself),
        cmocka_unit_test(regular_loops_are_seen_through),
        cmocka_unit_test(many_occurrences_are_sampled),
        cmocka_unit_test(who_ran_instead_is_no_overlap),
        cmocka_unit_test(too_little_to_tell),
        cmocka_unit_test(who_turns_for_a_preempted_one_is_seen),
    };
    return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
