/* test_lives.c: what the recorder's log of the kernel's records adds to threads: events between
 * their own, their ends, and threads that recorded nothing. A tick is a nanosecond. */
#include "format/pack.h"
#include "walk.h"
#include "writing.h"

enum { PID = 100, TID = 1000 }; /* of process 0 and thread 0, as the test's writer numbers them */

static uint64_t off(uint64_t ticks, enum heurt_off how)
{
    return HEURT_OFF(ticks, how);
}

static size_t put_off(uint64_t *words, uint64_t tick, uint64_t ticks, enum heurt_off how,
                      uint32_t cpu)
{
    words[0] = tick << HEURT_ID_BITS | HEURT_EVENT_OFF_CPU;
    words[1] = off(ticks, how);
    words[2] = HEURT_BACK(how == HEURT_OFF_PREEMPTED ? ticks : HEURT_NOT_KNOWN, cpu);
    words[3] = 0;
    return 4;
}

static void put_run(struct trace_writer *writer, uint32_t tid, struct heurt_life life,
                    const uint64_t *words, size_t count)
{
    struct heurt_run run = {
        .pid = PID, .tid = tid, .tick = count ? words[0] >> HEURT_ID_BITS : 0, .life = life};
    assert_int_equal(trace_writer__run(writer, &run, words, count), 0);
}

static struct heurt_life life_of(uint64_t start, uint64_t end, uint64_t cpu_ns)
{
    return (struct heurt_life){.start_tick = start,
                               .end_tick = end,
                               .cpu_ns = cpu_ns,
                               .runnable_ns = 7,
                               .flags = HEURT_LIFE_ENDED,
                               .name = "by-the-kernel"};
}

static void pack(const char *directory)
{
    const struct pack_options options = {.threads = 2};
    enum pack_outcome outcome;
    struct error error = {""};
    if (trace__pack(directory, &options, &outcome, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(outcome, PACK_DONE);
}

static const struct trace_thread *thread_at(const struct trace *trace, size_t index)
{
    assert_true(index < trace__threads(trace)->count);
    return VEC_AT(trace__threads(trace), struct trace_thread, index);
}

/* The events as "tick:id", each followed by a space. */
static void spell(const struct trace *trace, size_t index, char *text, size_t size)
{
    struct trace_cursor cursor;
    struct event event;
    size_t at = 0;
    trace_cursor__start(&cursor, trace, thread_at(trace, index));
    while (trace_cursor__next(&cursor, &event))
        at += (size_t)snprintf(text + at, size - at, "%llu:%u ", (unsigned long long)event.tick,
                               event.id);
}

static void expect_events(const struct trace *trace, size_t index, const char *expected)
{
    char text[1024] = "";
    spell(trace, index, text, sizeof text);
    assert_string_equal(text, expected);
}

/* Before packing and after it. */
static void with_both(void (*check)(const struct trace *trace))
{
    for (int packed = 0; packed < 2; packed++) {
        struct trace *trace = open_trace("t");
        check(trace);
        assert_int_equal(trace__damaged_chunks(trace), 0);
        trace__close(trace);
        if (!packed)
            pack("t");
    }
}

static void check_order(const struct trace *trace)
{
    /* What is off until 300 ns after a wait was left happened within the wait. */
    expect_events(trace, 0,
                  "1000100:2 1000100:58 1000200:6 1000500:54 1000400:7 "
                  "1002000:6 1003000:54 1004000:7 1010000:4 ");
    assert_int_equal(thread_at(trace, 0)->end_tick, 1010000); /* as it told itself */
    struct trace_cursor cursor;
    struct event event;
    trace_cursor__start(&cursor, trace, thread_at(trace, 0));
    while (trace_cursor__next(&cursor, &event)) {
        if (event.id == HEURT_EVENT_KERNEL)
            assert_int_equal(event.payload[0], 5); /* where it was before it began to record */
        if (event.id == HEURT_EVENT_OFF_CPU && event.tick == 1000500)
            assert_int_equal(HEURT_SITE_ADDRESS(event.payload[0]), 250);
    }
}

static void the_kernels_events_stand_in_what_they_happened_in(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    put(writer, 0, 1000100, HEURT_EVENT_THREAD_START, 1, 0);
    put(writer, 0, 1000200, HEURT_EVENT_LOCK_WAIT, 0x400000, 0x7000);
    put(writer, 0, 1000400, HEURT_EVENT_LOCK_WAIT | 1, 0, 0);
    put(writer, 0, 1002000, HEURT_EVENT_LOCK_WAIT, 0x400000, 0x7000);
    put(writer, 0, 1004000, HEURT_EVENT_LOCK_WAIT | 1, 0, 0);
    put(writer, 0, 1010000, HEURT_EVENT_THREAD_END, 5000, 6000);
    uint64_t words[64];
    size_t count = put_off(words, 1000050, 40, HEURT_OFF_PREEMPTED, 5);
    count += put_off(words + count, 1000500, 250, HEURT_OFF_BLOCKED, 1);
    put_run(writer, TID, life_of(1000000, 1000500, 300), words, count);
    count = put_off(words, 1003000, 900, HEURT_OFF_BLOCKED, 1);
    count += put_off(words + count, 1011000, 200, HEURT_OFF_BLOCKED, 1); /* behind its end */
    put_run(writer, TID, life_of(1000000, 1011000, 9000), words, count);
    finish(writer);
    with_both(check_order);
}

/* Of each OFF_CPU: where it ends, ticks, ticks without a CPU, and whether a wait for the next
 * region has begun. */
static void check_late_leave(const struct trace *trace)
{
    static const uint64_t expected[][4] = {{1003000, 2000, 0, 0}, {1005000, 2000, 1500, 1}};
    struct trace_cursor cursor;
    struct event event;
    size_t told = 0;
    bool waits = false;
    trace_cursor__start(&cursor, trace, thread_at(trace, 0));
    while (trace_cursor__next(&cursor, &event)) {
        waits |= event.id == HEURT_EVENT_CONDITION_WAIT;
        if (event.id != HEURT_EVENT_OFF_CPU)
            continue;
        assert_true(told < sizeof expected / sizeof *expected);
        assert_int_equal(event.tick, expected[told][0]);
        assert_int_equal(HEURT_SITE_ADDRESS(event.payload[0]), expected[told][1]);
        assert_int_equal(HEURT_SITE_HOW(event.payload[0]), HEURT_OFF_BLOCKED);
        assert_int_equal(HEURT_SITE_ADDRESS(event.payload[1]), expected[told][2]);
        assert_int_equal(HEURT_SITE_HOW(event.payload[1]), 1);
        assert_int_equal(waits, expected[told][3]);
        told++;
    }
    assert_int_equal(told, sizeof expected / sizeof *expected);
}

/* The end of a region, told when the thread is let go. */
static void what_is_off_is_of_two_waits_where_the_first_ended_meanwhile(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    put(writer, 0, 1000100, HEURT_EVENT_THREAD_START, 1, 0);
    put(writer, 0, 1000200, HEURT_EVENT_BARRIER_WAIT, 0x400000, 0x7000);
    put(writer, 0, 1003000, HEURT_EVENT_BARRIER_WAIT | 1, 0, 0);
    put(writer, 0, 1003000, HEURT_EVENT_CONDITION_WAIT, 0x400000, 0x7000);
    put(writer, 0, 1006000, HEURT_EVENT_CONDITION_WAIT | 1, 0, 0);
    put(writer, 0, 1010000, HEURT_EVENT_THREAD_END, 5000, 6000);
    uint64_t words[64];
    size_t count = put_off(words, 1005000, 4000, HEURT_OFF_BLOCKED, 1);
    words[2] = HEURT_BACK(1500, 1);
    put_run(writer, TID, life_of(1000000, 1011000, 9000), words, count);
    finish(writer);
    with_both(check_late_leave);
}

static void check_short(const struct trace *trace)
{
    const struct trace_thread *thread = thread_at(trace, 0);
    assert_int_equal(thread->cpu_ns, 5000); /* its own count */
    assert_int_equal(thread->runnable_ns, 7);
}

/* It did not ask how long it had waited for a CPU; the kernel's records tell something of it. */
static void a_short_thread_has_waited_as_long_as_the_records_tell(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    put(writer, 0, 1000100, HEURT_EVENT_THREAD_START, 1, 0);
    put(writer, 0, 1010000, HEURT_EVENT_THREAD_END, 5000, UINT64_MAX);
    put_run(writer, TID, life_of(1000000, 1011000, 9000), NULL, 0);
    finish(writer);
    with_both(check_short);
}

static void check_ends(const struct trace *trace)
{
    assert_int_equal(trace__threads(trace)->count, 3);
    const struct trace_thread *first = thread_at(trace, 0), *silent = thread_at(trace, 1),
                              *again = thread_at(trace, 2);
    assert_int_equal(first->start_tick, 2000);
    assert_int_equal(first->end_tick, 50000000);
    assert_int_equal(first->cpu_ns, 123);
    assert_int_equal(first->runnable_ns, 7);
    assert_string_equal(first->name, "by-the-kernel");
    assert_int_equal(silent->tid, TID + 5);
    assert_int_equal(silent->pid, PID);
    assert_int_equal(silent->start_tick, 3000000);
    assert_int_equal(silent->end_tick, 4000000);
    assert_int_equal(silent->cpu_ns, 77);
    assert_true(silent->ended);
    expect_events(trace, 1, "3000000:58 3500000:54 ");
    assert_int_equal(again->tid, TID + 5); /* the tid was given again */
    assert_int_equal(again->start_tick, 6000000);
    expect_events(trace, 2, "6000000:58 ");
    assert_int_equal(walk_trace(trace).events, 2 + 2 + 1);
}

static void threads_live_as_long_as_the_kernel_says(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    uint64_t words[8];
    put(writer, 0, 2000, HEURT_EVENT_THREAD_START, 1, 0);
    put_run(writer, TID + 5, life_of(3000000, 4000000, 77), words,
            put_off(words, 3500000, 100, HEURT_OFF_BLOCKED, 1));
    put_run(writer, TID + 5, life_of(6000000, 7000000, 78), NULL, 0);
    put_run(writer, TID, life_of(1500, 50000000, 123), NULL, 0);
    /* Of a process that nobody recorded: */
    struct heurt_run other = {.pid = PID + 50, .tid = PID + 50, .life = life_of(1500, 2500, 9)};
    assert_int_equal(trace_writer__run(writer, &other, NULL, 0), 0);
    finish(writer);
    with_both(check_ends);
}

/* The image that was recorded ends where the exec is; its successor was not recorded. */
static void an_unrecorded_program_takes_nothing_over(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    struct heurt_life life = life_of(1500, 50000000, 123), thread = life_of(30000000, 40000000, 5);
    struct heurt_run run = {.pid = PID, .tid = PID, .life = life};
    run.life.exec_tick = 20000000;
    put(writer, 0, 2000, HEURT_EVENT_THREAD_START, 1, 0);
    put(writer, 0, 3000, HEURT_EVENT_LOCK_ACQUIRED, 1, 0);
    assert_int_equal(trace_writer__run(writer, &run, NULL, 0), 0);
    put_run(writer, TID + 7, thread, NULL, 0);
    finish(writer);
    struct trace *trace = open_trace("t");
    assert_int_equal(trace__threads(trace)->count, 2); /* the recorded one, and the first thread */
    assert_int_equal(thread_at(trace, 1)->tid, PID);
    assert_int_equal(thread_at(trace, 1)->end_tick, 20000000);
    trace__close(trace);
}

static void define_image(struct trace_writer *writer, uint32_t serial, uint64_t tick)
{
    struct {
        struct heurt_process process;
        char path[16];
    } body = {{.pid = PID, .parent_process = serial ? 0 : HEURT_NO_SERIAL, .tick = tick},
              "/bin/it"};
    assert_int_equal(
        trace_writer__define(writer, serial, HEURT_DEFINITION_PROCESS, &body, sizeof body), 0);
}

/* A shell's child becomes another program within less than clocks may differ. */
static void a_short_image_does_not_live_as_long_as_its_successor(void **state)
{
    (void)state;
    for (uint32_t images = 1; images <= 2; images++) {
        struct trace_writer *writer = create("t");
        struct heurt_life life = life_of(1500, 50000000, 123);
        life.exec_tick = 3500;
        put(writer, 0, 2000, HEURT_EVENT_THREAD_START, 1, 0);
        put(writer, 0, 3000, HEURT_EVENT_LOCK_ACQUIRED, 1, 0);
        put_run(writer, TID, life, NULL, 0);
        for (uint32_t i = 0; i < images; i++)
            define_image(writer, i, i ? 400000 : 2000);
        finish(writer);
        struct trace *trace = open_trace("t");
        assert_int_equal(thread_at(trace, 0)->end_tick, images > 1 ? 3000 : 50000000);
        trace__close(trace);
        assert_int_equal(system("rm -rf t"), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(the_kernels_events_stand_in_what_they_happened_in),
        IN_DIRECTORY(what_is_off_is_of_two_waits_where_the_first_ended_meanwhile),
        IN_DIRECTORY(a_short_thread_has_waited_as_long_as_the_records_tell),
        IN_DIRECTORY(threads_live_as_long_as_the_kernel_says),
        IN_DIRECTORY(an_unrecorded_program_takes_nothing_over),
        IN_DIRECTORY(a_short_image_does_not_live_as_long_as_its_successor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
