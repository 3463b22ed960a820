/* The screen and the document of heurt stat are compared with files in tests/golden/stat. */
#include "golden.h"

#include "present/stat/stat_screens.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS 1000000u

static const struct style wide = {.columns = 100, .unicode = true};
static const struct style narrow = {.columns = 60, .unicode = true};

static void add(struct service_log *log, uint64_t ms, enum service_event event, uint32_t tid,
                uint32_t cpu)
{
    const struct service_record record = {
        event, 70, tid, cpu, ms * MS, event == SERVICE_IS_ANOTHER ? "work\033[2J" : NULL};
    service_log__add(log, &record);
}

/* Two workers that wait in turns, and main, which waits for them. */
static struct service_log made_log(void)
{
    struct service_log log = service_log__of(0, 5 * MS);
    add(&log, 0, SERVICE_IS_ANOTHER, 70, 0);
    add(&log, 1, SERVICE_BEGINS, 71, 0);
    add(&log, 2, SERVICE_RUNS, 71, 1);
    add(&log, 2, SERVICE_BEGINS, 72, 0);
    add(&log, 3, SERVICE_BLOCKS, 70, 0);
    add(&log, 3, SERVICE_RUNS, 72, 0);
    for (uint64_t ms = 10; ms < 90; ms += 20) {
        add(&log, ms, SERVICE_BLOCKS, 71, 1);
        add(&log, ms + 8, SERVICE_RUNS, 71, 1);
        add(&log, ms + 12, SERVICE_IS_PREEMPTED, 72, 0);
        add(&log, ms + 16, SERVICE_RUNS, 72, 1);
    }
    add(&log, 95, SERVICE_ENDS, 71, 1);
    add(&log, 97, SERVICE_ENDS, 72, 1);
    add(&log, 98, SERVICE_RUNS, 70, 0);
    add(&log, 100, SERVICE_ENDS, 70, 0);
    service_log__finish(&log, 100 * MS);
    VEC_EACH (thread, &log.threads, struct service_thread)
        thread->delay_ns = thread->state_ns[SERVICE_WANTS] + MS;
    return log;
}

static struct stat_view view_of(const struct service_log *log)
{
    uint64_t work = service_log__work_ns(log);
    return (struct stat_view){.command = "./work --all",
                              .log = log,
                              .cpus = 2,
                              .cycles_a_second = 2000000000,
                              .task_clock_ns = work + 100000,
                              .usage_ns = work + 500000,
                              .usage_voluntary = 9,
                              .usage_involuntary = 4,
                              .usage_minor = 97,
                              .usage_major = 1,
                              .minor_faults = 55,
                              .major_faults = 0,
                              .counters = {300000000, 450000000, 60000000, 2000000, 500000}};
}

static void shows(const char *name, void (*put)(const struct stat_view *, FILE *),
                  const struct stat_view *view)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    put(view, out);
    fclose(out);
    golden__assert(name, text);
}

static void put_wide(const struct stat_view *view, FILE *out)
{
    stat__put_text(view, &wide, out);
}

static void put_narrow(const struct stat_view *view, FILE *out)
{
    stat__put_text(view, &narrow, out);
}

static void with_counters(void **state)
{
    (void)state;
    struct service_log log = made_log();
    struct stat_view view = view_of(&log);
    shows("stat/counters.txt", put_wide, &view);
    shows("stat/counters.json", stat__put_json, &view);
    service_log__free(&log);
}

static void without_counters_and_of_a_process(void **state)
{
    (void)state;
    struct service_log log = made_log();
    struct stat_view view = view_of(&log);
    for (int i = 0; i < STAT_COUNTERS; i++)
        view.why_no_counter[i] = "no PMU";
    view.pid = 70;
    view.usage_ns = view.usage_voluntary = view.usage_involuntary = UINT64_MAX;
    view.usage_minor = view.usage_major = UINT64_MAX;
    view.task_clock_ns += 20 * MS; /* does not agree */
    view.own_ns = 3 * MS;
    VEC_EACH (thread, &log.threads, struct service_thread)
        thread->delay_ns = UINT64_MAX;
    shows("stat/process.txt", put_narrow, &view);
    service_log__free(&log);
}

static void nothing_seen_is_said(void **state)
{
    (void)state;
    struct service_log log = service_log__of(0, 5 * MS);
    service_log__finish(&log, MS);
    struct stat_view view = view_of(&log);
    view.lost = 3;
    shows("stat/nothing.txt", put_wide, &view);
    service_log__free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_counters),
        cmocka_unit_test(without_counters_and_of_a_process),
        cmocka_unit_test(nothing_seen_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
