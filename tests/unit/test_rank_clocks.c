/* A part of another host: its times, told by the clock of rank 0's. Ticks are ns; both traces begin
 * at BEGIN, and have events of the same times. */
#include "format/rank_parts.h"
#include "format/retime.h"
#include "scene.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define BEGIN 1000000000000000ull
#define HOUR 3600000000000ull
#define EVENTS 1000u

static void write_part(const char *directory, uint32_t rank, uint64_t compared_until)
{
    struct heurt_session settings = {.clock = HEURT_CLOCK_MONOTONIC,
                                     .limit_units = 65536,
                                     .start = {BEGIN, BEGIN},
                                     .host = 1 + rank,
                                     .next_process = part__first_serial(rank),
                                     .next_thread = part__first_serial(rank)};
    struct heurt_process process = {
        .pid = 100 + rank, .tick = BEGIN, .parent_process = HEURT_NO_SERIAL};
    uint32_t serial = part__first_serial(rank);
    struct trace_writer *writer;
    struct error error;
    char body[sizeof process + 8] = "";
    memcpy(body, &process, sizeof process);
    strcpy(body + sizeof process, "/bin/a");
    assert_int_equal(trace_writer__create(directory, &settings, &writer, &error), 0);
    trace_writer__define(writer, serial, HEURT_DEFINITION_PROCESS, body, sizeof body);
    for (uint64_t at = BEGIN; at <= compared_until; at += HOUR) {
        struct heurt_host_clock clock = {
            .host = 1 + rank, .reference = 1, .hosts = 2, .rank = rank, .size = 2};
        clock.is_end = at > BEGIN;
        clock.tick = clock.reference_tick = rank ? at : 0;
        trace_writer__define(writer, serial, HEURT_DEFINITION_CLOCK, &clock, sizeof clock);
    }
    for (uint64_t i = 0; i < EVENTS; i++)
        assert_int_equal(trace_writer__event(writer, serial, serial, BEGIN + i * HOUR / EVENTS,
                                             HEURT_EVENT_PAUSED, (uint64_t[]){1000000}, 1),
                         0);
    trace_writer__finish(writer, 0, (struct heurt_clock_pair){BEGIN + HOUR, BEGIN + HOUR}, &error);
}

static void remove_trace(const char *directory)
{
    char path[128];
    snprintf(path, sizeof path, "%s/" HEURT_EVENTS_FILE, directory);
    unlink(path);
    rmdir(directory);
}

struct parts {
    char root[32], whole[64], part[64];
};

static void write_parts(struct parts *parts, uint64_t compared_until)
{
    strcpy(parts->root, "/tmp/heurt-clocks-XXXXXX");
    assert_non_null(mkdtemp(parts->root));
    snprintf(parts->whole, sizeof parts->whole, "%s/t", parts->root);
    snprintf(parts->part, sizeof parts->part, "%s/t.rank1-7", parts->root);
    write_part(parts->whole, 0, compared_until);
    write_part(parts->part, 1, compared_until);
}

static void remove_parts(const struct parts *parts)
{
    remove_trace(parts->whole);
    remove_trace(parts->part);
    rmdir(parts->root);
}

/* How far the events of rank 1 are from where they truly are, at most; they stay in order, and the
 * spans that they tell of are right but for so much. */
static uint64_t farthest(const char *directory, uint64_t ppm)
{
    struct trace *trace;
    struct error error;
    struct trace_cursor cursor;
    struct event event;
    uint64_t farthest = 0, before = 0, i = 0;
    assert_int_equal(trace__open(directory, &trace, &error), 0);
    assert_int_equal(trace__damaged_chunks(trace), 0);
    const struct trace_thread *thread =
        VEC_AT(trace__threads(trace), struct trace_thread, trace__threads(trace)->count - 1);
    trace_cursor__start(&cursor, trace, thread);
    for (; trace_cursor__next(&cursor, &event); i++) {
        uint64_t truth = BEGIN + i * HOUR / EVENTS;
        uint64_t off = event.tick > truth ? event.tick - truth : truth - event.tick;
        farthest = off > farthest ? off : farthest;
        assert_true(event.tick > before);
        before = event.tick;
        assert_in_range(event.payload[0], 1000000 - ppm - 2, 1000000 + ppm + 2);
    }
    assert_int_equal(i, EVENTS);
    trace_cursor__stop(&cursor);
    trace__close(trace);
    return farthest;
}

static void shifted_by(double ms, double ppm)
{
    struct parts parts;
    struct error error;
    write_parts(&parts, BEGIN + HOUR);
    assert_int_equal(trace_part__shift(parts.part, (int64_t)(ms * 1e6), ppm, &error), 0);
    uint64_t apart = farthest(parts.part, 1000);
    assert_true(apart >= 40000000);
    assert_int_equal(trace_part__append(parts.whole, parts.part, 1, &error), 0);
    apart = farthest(parts.whole, 0);
    if (apart > 20)
        fail_msg("%llu ns apart", (unsigned long long)apart);
    remove_parts(&parts);
}

static void offset_and_drift(void **state)
{
    (void)state;
    shifted_by(50, 100);
    shifted_by(-50, -100);
    shifted_by(10000, -1000);
}

/* Of one comparison the rates are those of both hosts' CLOCK_MONOTONIC. */
static void compared_at_the_start_alone(void **state)
{
    struct parts parts;
    struct error error;
    (void)state;
    write_parts(&parts, BEGIN);
    assert_int_equal(trace_part__shift(parts.part, 50000000, 0, &error), 0);
    assert_int_equal(trace_part__append(parts.whole, parts.part, 1, &error), 0);
    assert_true(farthest(parts.whole, 0) <= 20);
    remove_parts(&parts);
}

static void never_compared(void **state)
{
    struct parts parts;
    struct error error;
    (void)state;
    write_parts(&parts, 0);
    assert_int_equal(trace_part__append(parts.whole, parts.part, 1, &error), -EXDEV);
    assert_non_null(strstr(error.text, "is of another host, whose clock was not compared"));
    remove_parts(&parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offset_and_drift),
        cmocka_unit_test(compared_at_the_start_alone),
        cmocka_unit_test(never_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
