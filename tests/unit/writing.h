/* writing.h: what the tests that write traces share: an empty directory for each test, and short
 * forms that end the test when something fails. */
#ifndef HEURT_TESTS_WRITING_H
#define HEURT_TESTS_WRITING_H

#include "format/reader.h"
#include "format/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Every test has an empty directory of its own and works in it. */
static inline int enter_directory(void **state)
{
    char *path = strdup("/tmp/heurt-format-XXXXXX");
    assert_non_null(mkdtemp(path));
    *state = path;
    return chdir(path);
}

static inline int leave_directory(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", (char *)*state);
    assert_int_equal(chdir("/"), 0);
    free(*state);
    return system(command) ? -1 : 0;
}

static const struct heurt_session settings = {
    .clock = HEURT_CLOCK_MONOTONIC,
    .limit_units = 16384,
    .start = {1000, 1000},
    .stack_every = 10000,
};
static const struct heurt_clock_pair at_end = {9000, 9000};

static inline struct trace_writer *create(const char *directory)
{
    struct trace_writer *writer;
    struct error error = {""};
    if (trace_writer__create(directory, &settings, &writer, &error) < 0)
        fail_msg("%s", error.text);
    return writer;
}

static inline struct trace *open_trace(const char *directory)
{
    struct trace *trace;
    struct error error = {""};
    if (trace__open(directory, &trace, &error) < 0)
        fail_msg("%s", error.text);
    return trace;
}

static inline void finish(struct trace_writer *writer)
{
    struct error error = {""};
    if (trace_writer__finish(writer, 0x0300, at_end, &error) < 0)
        fail_msg("%s", error.text);
}

static inline void put(struct trace_writer *writer, uint32_t thread, uint64_t tick, uint32_t id,
                       uint64_t first, uint64_t second)
{
    uint64_t payload[] = {first, second, HEURT_NO_SERIAL};
    size_t words = id == HEURT_EVENT_THREAD_START ? 3 : id % 2 ? 1 : 2;
    assert_int_equal(trace_writer__event(writer, 0, thread, tick, id, payload, words), 0);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

#endif
