/* test_off_cpu.c: OFF_CPU events completed in a trace from a log of wakes. */
#include "fixture.h"
#include "format/amend.h"
#include "recorder/off_cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Ticks are four a ns, and the log's clock began at another time. */
#define TICK(ns) ((ns)*4ull + 1000)
#define CLOCK_START_NS 77000000ull
static const struct wake_clock wake_clock = {.first = {TICK(0), CLOCK_START_NS},
                                             .last = {TICK(1000000), CLOCK_START_NS + 1000000}};

struct scene {
    char directory[64];
    struct wake_log log;
};

/* The tid of a thread in made traces is 1000 + its serial. */
static void wake(struct scene *scene, uint32_t tid, uint64_t ns, uint32_t waker)
{
    struct wake_record record = {.kind = WAKE_WAKING,
                                 .time_ns = CLOCK_START_NS + ns,
                                 .current = waker,
                                 .current_tid = waker,
                                 .current_pid = 100,
                                 .wakee = tid};
    wake_log__add(&scene->log, &record);
}

static void futex(struct scene *scene, uint32_t tid, uint64_t ns, bool begins)
{
    struct wake_record record = {.kind = begins ? WAKE_FUTEX_BEGIN : WAKE_FUTEX_END,
                                 .time_ns = CLOCK_START_NS + ns,
                                 .current = tid,
                                 .current_tid = tid,
                                 .current_pid = 100};
    wake_log__add(&scene->log, &record);
}

/* An OFF_CPU event of the fixture's text: off from ns to ns. */
static void off(char *text, uint64_t from, uint64_t to, unsigned how)
{
    sprintf(text + strlen(text), "%llu off_cpu 0x%llx/%u 0xffffffffffff/3 0\n", TICK(to),
            4ull * (to - from), how);
}

static struct scene begin(const char *events)
{
    struct scene scene = {.directory = "/tmp/heurt-off-cpu-XXXXXX", .log = WAKE_LOG_INIT};
    struct error error = {""};
    char text[4096];
    struct wake_record began = {.kind = WAKE_THREAD_BEGAN, .current_tid = 1003};
    wake_log__add(&scene.log, &began);
    assert_non_null(mkdtemp(scene.directory));
    snprintf(text, sizeof text, "clock tsc\nstart 1000 5\nend %llu 1000005\nthread 3 worker\n%s",
             TICK(1000000), events);
    if (fixture__write(scene.directory, text, &error) < 0)
        fail_msg("%s", error.text);
    return scene;
}

static void complete(struct scene *scene)
{
    struct trace *trace;
    struct error error = {""};
    if (trace__open(scene->directory, &trace, &error) < 0 ||
        off_cpu__complete(trace, scene->directory, &scene->log, &wake_clock, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(trace__damaged_chunks(trace), 0);
    trace__close(trace);
    wake_log__free(&scene->log);
}

/* The payload of the n-th OFF_CPU event, as read from the file; then nothing is left of it. */
static void take(struct scene *scene, uint64_t (*words)[3], size_t count)
{
    struct trace *trace;
    struct trace_cursor cursor;
    struct event event;
    struct error error = {""};
    char path[128];
    size_t at = 0;
    assert_int_equal(trace__open(scene->directory, &trace, &error), 0);
    trace_cursor__start(&cursor, trace, VEC_AT(trace__threads(trace), struct trace_thread, 0));
    while (trace_cursor__next(&cursor, &event))
        if (event.id == HEURT_EVENT_OFF_CPU) {
            assert_true(at < count);
            memcpy(words[at++], event.payload, sizeof words[0]);
        }
    assert_int_equal(at, count);
    trace__close(trace);
    snprintf(path, sizeof path, "%s/" HEURT_EVENTS_FILE, scene->directory);
    unlink(path);
    rmdir(scene->directory);
}

static void assert_words(const uint64_t words[3], uint64_t off_ns, unsigned how,
                         uint64_t runnable_ns, uint32_t waker)
{
    assert_int_equal(HEURT_SITE_ADDRESS(words[0]), 4 * off_ns);
    assert_int_equal(HEURT_SITE_HOW(words[0]), how);
    if (runnable_ns == HEURT_NOT_KNOWN)
        assert_int_equal(HEURT_SITE_ADDRESS(words[1]), HEURT_NOT_KNOWN);
    else
        assert_int_equal(HEURT_SITE_ADDRESS(words[1]), 4 * runnable_ns);
    assert_int_equal(HEURT_SITE_HOW(words[1]), 3); /* the CPU stays */
    assert_int_equal(words[2], waker);
}

static void blocked_times_get_their_wake_and_waker(void **state)
{
    (void)state;
    char text[1024] = "";
    uint64_t words[3][3];
    off(text, 10000, 20000, HEURT_OFF_BLOCKED);
    off(text, 30000, 40000, HEURT_OFF_BLOCKED);
    off(text, 50000, 60000, HEURT_OFF_FAULT);
    struct scene scene = begin(text);
    wake(&scene, 1003, 18000, 1001);
    futex(&scene, 1003, 29000, true);
    wake(&scene, 1003, 30500, 1002);
    futex(&scene, 1003, 41000, false);
    wake(&scene, 1004, 55000, 1002); /* another thread */
    wake(&scene, 1003, 59000, 0);
    complete(&scene);
    take(&scene, words, 3);
    assert_words(words[0], 10000, HEURT_OFF_BLOCKED, 2000, 1001);
    assert_words(words[1], 10000, HEURT_OFF_FUTEX, 9500, 1002);
    assert_words(words[2], 10000, HEURT_OFF_FAULT, 1000, 0);
}

static void what_is_preempted_or_not_told_stays(void **state)
{
    (void)state;
    char text[1024] = "";
    uint64_t words[3][3];
    off(text, 10000, 20000, HEURT_OFF_PREEMPTED);
    off(text, 30000, 40000, HEURT_OFF_BLOCKED);
    off(text, 60000, 90000, HEURT_OFF_BLOCKED);
    struct scene scene = begin(text);
    wake(&scene, 1003, 15000, 1001);
    wake(&scene, 1003, 200000, 1001);
    complete(&scene);
    take(&scene, words, 3);
    assert_words(words[0], 10000, HEURT_OFF_PREEMPTED, HEURT_NOT_KNOWN, 0);
    assert_words(words[1], 10000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 0);
    assert_words(words[2], 30000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 0);
}

/* A wake-up that is seen before the thread has gone, or after it is back: its time is clamped. */
static void runnable_time_lies_within_the_time_off(void **state)
{
    (void)state;
    char text[1024] = "";
    uint64_t words[2][3];
    off(text, 100000, 120000, HEURT_OFF_BLOCKED);
    off(text, 200000, 220000, HEURT_OFF_BLOCKED);
    struct scene scene = begin(text);
    wake(&scene, 1003, 99000, 1001);
    wake(&scene, 1003, 220400, 1002);
    complete(&scene);
    take(&scene, words, 2);
    assert_words(words[0], 20000, HEURT_OFF_BLOCKED, 20000, 1001);
    assert_words(words[1], 20000, HEURT_OFF_BLOCKED, 0, 1002);
}

/* Whatever an event claims, nothing is written but its own words. */
static void times_out_of_range_do_no_harm(void **state)
{
    (void)state;
    char text[1024] = "";
    uint64_t words[2][3];
    sprintf(text, "%llu off_cpu 0xffffffffffff/0 5/3 9\n%llu off_cpu 0/0 5/3 9\n", TICK(100),
            TICK(200));
    struct scene scene = begin(text);
    wake(&scene, 1003, 50, 1001);
    wake(&scene, 1003, 900000000, 1002);
    complete(&scene);
    take(&scene, words, 2);
    assert_int_equal(words[0][0], HEURT_TICK_MASK); /* longer than the time there was */
    assert_int_equal(words[0][2], 9);
    assert_int_equal(HEURT_SITE_ADDRESS(words[1][0]), 0);
    assert_int_equal(HEURT_SITE_ADDRESS(words[1][1]), 0);
}

static void count(void *context, uint32_t tid, uint64_t tick, uint64_t words[3])
{
    (void)tid, (void)tick, (void)words;
    ++*(int *)context;
}

/* The file may have been cut since it was opened, or be gone. */
static void a_file_that_is_gone_is_an_error(void **state)
{
    (void)state;
    char text[1024] = "", path[128];
    struct trace *trace;
    struct error error = {""};
    int calls = 0;
    off(text, 10000, 20000, HEURT_OFF_BLOCKED);
    struct scene scene = begin(text);
    assert_int_equal(trace__open(scene.directory, &trace, &error), 0);
    assert_int_equal(trace__amend_off_cpu(trace, scene.directory, count, &calls, &error), 0);
    assert_int_equal(calls, 1);
    snprintf(path, sizeof path, "%s/" HEURT_EVENTS_FILE, scene.directory);
    unlink(path);
    assert_true(trace__amend_off_cpu(trace, scene.directory, count, &calls, &error) < 0);
    assert_non_null(strstr(error.text, scene.directory));
    assert_int_equal(calls, 1);
    trace__close(trace);
    rmdir(scene.directory);
    wake_log__free(&scene.log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocked_times_get_their_wake_and_waker),
        cmocka_unit_test(what_is_preempted_or_not_told_stays),
        cmocka_unit_test(runnable_time_lies_within_the_time_off),
        cmocka_unit_test(times_out_of_range_do_no_harm),
        cmocka_unit_test(a_file_that_is_gone_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
