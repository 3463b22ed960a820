/* test_ticks.c: what the bench of packing says about ticks. */
#include "ticks.h"
#include "walk.h"
#include "writing.h"

enum { ROUNDS = 20000, STEP = 26 };

static uint64_t state_of_chance = 88172645463325252;

static uint64_t below(uint64_t bound)
{
    state_of_chance ^= state_of_chance << 13;
    state_of_chance ^= state_of_chance >> 7;
    state_of_chance ^= state_of_chance << 17;
    return state_of_chance % bound;
}

/* Locks that are got after exactly 3 steps and held for 1 to values steps, by chance. */
static void write_locks(uint64_t values)
{
    struct trace_writer *writer = create("t");
    uint64_t tick = 1000 * STEP;
    for (size_t i = 0; i < ROUNDS; i++) {
        tick += 3 * STEP;
        put(writer, 0, tick, HEURT_EVENT_LOCK_ACQUIRED, 1, 2);
        tick += (1 + below(values)) * STEP;
        put(writer, 0, tick, HEURT_EVENT_LOCK_RELEASED, 1, 2);
    }
    finish(writer);
}

static double entropy(uint64_t step_wanted)
{
    double bytes;
    uint64_t step;
    struct error error = {""};
    assert_int_equal(ticks__entropy("t", &bytes, &step, &error), 0);
    assert_int_equal(step, step_wanted);
    return bytes;
}

/* Of two events one has 4 bits of chance: a quarter of a byte an event. */
static void entropy_is_what_the_id_does_not_tell(void **state)
{
    (void)state;
    write_locks(1);
    assert_true(entropy(STEP) == 0);
    write_locks(16);
    double bytes = entropy(STEP);
    assert_true(bytes > 0.249 && bytes < 0.251);
}

/* The difference of two numbers by chance below 26 has 5.4 bits. */
static void a_finer_clock_has_the_same_order_and_more_chance(void **state)
{
    (void)state;
    struct error error = {""};
    write_locks(1);
    struct trace *trace = open_trace("t");
    struct walk before = walk_trace(trace);
    trace__close(trace);
    assert_int_equal(ticks__refine("t", STEP, &error), 0);
    double bytes = entropy(1);
    assert_true(bytes > 5.3 / 8 && bytes < 5.5 / 8);
    trace = open_trace("t");
    assert_int_equal(walk_trace(trace).events, before.events);
    struct trace_cursor cursor;
    struct event event;
    uint64_t last = 0;
    trace_cursor__start(&cursor, trace, trace__threads(trace)->items);
    for (size_t i = 0; trace_cursor__next(&cursor, &event); i++, last = event.tick) {
        uint64_t was = (1000 + i / 2 * 4 + 3 + i % 2) * STEP;
        assert_in_range(event.tick, was, was + STEP - 1);
        assert_true(event.tick > last);
    }
    trace__close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(entropy_is_what_the_id_does_not_tell, enter_directory,
                                        leave_directory),
        cmocka_unit_test_setup_teardown(a_finer_clock_has_the_same_order_and_more_chance,
                                        enter_directory, leave_directory),
    };
    return cmocka_run_group_tests_name("ticks", tests, NULL, NULL);
}
