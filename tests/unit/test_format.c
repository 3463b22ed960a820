#include "format/reader.h"
#include "format/writer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Every test has an empty directory of its own and works in it. */
static int enter_directory(void **state)
{
    char *path = strdup("/tmp/heurt-test-XXXXXX");
    assert_non_null(mkdtemp(path));
    *state = path;
    return chdir(path);
}

static int leave_directory(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", (char *)*state);
    assert_int_equal(chdir("/"), 0);
    free(*state);
    return system(command) ? -1 : 0;
}

static const struct heurt_session settings = {
    .clock = HEURT_CLOCK_MONOTONIC,
    .limit_units = 4096,
    .start = {1000, 1000},
    .stack_every = 10000,
    .socket = "heurt-test",
};
static const struct heurt_clock_pair at_end = {9000, 9000};

static struct trace_writer *create(const char *directory)
{
    struct trace_writer *writer;
    struct error error = {""};
    if (trace_writer__create(directory, &settings, &writer, &error) < 0)
        fail_msg("%s", error.text);
    return writer;
}

static struct trace *open_trace(const char *directory)
{
    struct trace *trace;
    struct error error = {""};
    if (trace__open(directory, &trace, &error) < 0)
        fail_msg("%s", error.text);
    return trace;
}

static void finish(struct trace_writer *writer)
{
    struct error error = {""};
    if (trace_writer__finish(writer, 0x0300, at_end, &error) < 0)
        fail_msg("%s", error.text);
}

static void put(struct trace_writer *writer, uint32_t thread, uint64_t tick, uint32_t id,
                uint64_t first, uint64_t second)
{
    uint64_t payload[] = {first, second, HEURT_NO_SERIAL};
    size_t words = id == HEURT_EVENT_THREAD_START ? 3 : id % 2 ? 1 : 2;
    assert_int_equal(trace_writer__event(writer, 0, thread, tick, id, payload, words), 0);
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    assert_int_equal(trace_writer__meta(writer, "command", "./app\n-x"), 0);
    assert_int_equal(trace_writer__refuse(writer, 0, "f", "/bin/app", "too short"), 0);
    put(writer, 0, 1500, HEURT_EVENT_THREAD_START, 1, HEURT_NO_SERIAL);
    put(writer, 0, 2000, HEURT_EVENT_LOCK_WAIT, 0x401000, 0x7000);
    put(writer, 0, 3000, HEURT_EVENT_LOCK_WAIT | 1, 0, 0);
    put(writer, 0, 4000, HEURT_EVENT_THREAD_END, 123, 456);
    finish(writer);

    struct trace *trace = open_trace("t");
    const struct heurt_session *session = trace__session(trace);
    assert_int_equal(session->flags & HEURT_SESSION_CLOSED, HEURT_SESSION_CLOSED);
    assert_int_equal(session->wait_status, 0x0300);
    assert_int_equal(session->stack_every, 10000);
    assert_int_equal(session->recorder_pid, getpid());
    assert_string_equal(session->socket, "heurt-test");
    assert_string_equal(trace__meta(trace, "command"), "./app\n-x");
    assert_null(trace__meta(trace, "host"));
    assert_int_equal(trace__wall_ns(trace), 8000);
    assert_int_equal(trace__damaged_chunks(trace), 0);
    assert_int_equal(trace__events_lost(trace), 0);
    assert_int_equal(trace__processes(trace)->count, 1);
    const struct trace_process *process = VEC_AT(trace__processes(trace), struct trace_process, 0);
    assert_int_equal(process->refusals.count, 1);
    assert_string_equal(VEC_AT(&process->refusals, struct trace_refusal, 0)->reason, "too short");
    assert_int_equal(trace__threads(trace)->count, 1);
    const struct trace_thread *thread = VEC_AT(trace__threads(trace), struct trace_thread, 0);
    assert_int_equal(thread->start_tick, 1500);
    assert_int_equal(thread->end_tick, 4000);
    assert_true(thread->ended);
    assert_int_equal(thread->cpu_ns, 123);
    assert_int_equal(thread->runnable_ns, 456);

    struct trace_cursor cursor;
    struct event event;
    trace_cursor__start(&cursor, trace, thread);
    assert_true(trace_cursor__next(&cursor, &event));
    assert_true(trace_cursor__next(&cursor, &event));
    assert_int_equal(event.tick, 2000);
    assert_int_equal(event.id, HEURT_EVENT_LOCK_WAIT);
    assert_int_equal(event.words, 2);
    assert_int_equal(event.payload[0], 0x401000);
    assert_int_equal(event.payload[1], 0x7000);
    assert_true(trace_cursor__next(&cursor, &event));
    assert_int_equal(event.id, HEURT_EVENT_LOCK_WAIT | 1);
    assert_true(trace_cursor__next(&cursor, &event));
    assert_false(trace_cursor__next(&cursor, &event));
    assert_false(trace_cursor__next(&cursor, &event));
    trace__close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_is_read, enter_directory, leave_directory),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
