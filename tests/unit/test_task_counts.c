/* Counts of a program, from a kernel that is played here: there may be no processor that counts. */
#include "kernel/task_counts.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* A descriptor from which one count can be read. */
static int counts_up_to(uint64_t value, uint64_t enabled, uint64_t running)
{
    const uint64_t words[] = {value, enabled, running};
    int fd = memfd_create("count", MFD_CLOEXEC);
    assert_int_equal(write(fd, words, sizeof words), sizeof words);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static int whole(const struct perf_event_attr *attributes, pid_t pid)
{
    assert_true(attributes->inherit && attributes->exclude_kernel);
    assert_int_equal(attributes->enable_on_exec, pid == 1);
    return counts_up_to(attributes->type == PERF_TYPE_HARDWARE ? 1000 + attributes->config : 7, 10,
                        10);
}

static int without_pmu(const struct perf_event_attr *attributes, pid_t pid)
{
    (void)pid;
    return attributes->type == PERF_TYPE_HARDWARE ? -ENOENT : counts_up_to(7, 10, 10);
}

/* The processor has fewer counters than are asked for. */
static int in_turns(const struct perf_event_attr *attributes, pid_t pid)
{
    (void)pid;
    return attributes->type != PERF_TYPE_HARDWARE             ? counts_up_to(7, 10, 10)
           : attributes->config == PERF_COUNT_HW_CACHE_MISSES ? counts_up_to(0, 10, 0)
                                                              : counts_up_to(100, 10, 5);
}

static int gone(const struct perf_event_attr *attributes, pid_t pid)
{
    (void)attributes;
    (void)pid;
    return -ESRCH;
}

static void a_processor_counts(void **state)
{
    (void)state;
    struct task_counts counts = task_counts__none();
    task_counts__add(&counts, 1, false, whole);
    struct task_count cycles = task_counts__read(&counts, COUNT_CYCLES),
                      misses = task_counts__read(&counts, COUNT_CACHE_MISSES);
    assert_true(cycles.is_known && misses.is_known);
    assert_int_equal(cycles.value, 1000 + PERF_COUNT_HW_CPU_CYCLES);
    assert_int_equal(misses.value, 1000 + PERF_COUNT_HW_CACHE_MISSES);
    task_counts__close(&counts);
}

static void counts_of_threads_are_summed(void **state)
{
    (void)state;
    struct task_counts counts = task_counts__none();
    task_counts__add(&counts, 2, true, whole);
    task_counts__add(&counts, 3, true, whole);
    task_counts__add(&counts, 4, true, gone);
    struct task_count faults = task_counts__read(&counts, COUNT_MINOR_FAULTS);
    assert_true(faults.is_known);
    assert_int_equal(faults.value, 14);
    task_counts__close(&counts);
}

static void what_is_not_counted_has_a_reason(void **state)
{
    (void)state;
    struct task_counts counts = task_counts__none();
    task_counts__add(&counts, 1, false, without_pmu);
    assert_false(task_counts__read(&counts, COUNT_CYCLES).is_known);
    assert_string_equal(task_counts__why_none(&counts, COUNT_CYCLES), "no PMU");
    assert_int_equal(task_counts__read(&counts, COUNT_MAJOR_FAULTS).value, 7);
    task_counts__close(&counts);
}

static void counts_in_turns_are_scaled(void **state)
{
    (void)state;
    struct task_counts counts = task_counts__none();
    task_counts__add(&counts, 1, false, in_turns);
    struct task_count cycles = task_counts__read(&counts, COUNT_CYCLES);
    assert_int_equal(cycles.value, 200);
    assert_true(cycles.counted == 0.5);
    assert_non_null(task_counts__why_none(&counts, COUNT_CACHE_MISSES));
    task_counts__close(&counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_processor_counts),
        cmocka_unit_test(counts_of_threads_are_summed),
        cmocka_unit_test(what_is_not_counted_has_a_reason),
        cmocka_unit_test(counts_in_turns_are_scaled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
