/* What the kernel's records cost, kept from run to run (src/recorder/kept_costs.c). */
#include "recorder/kept_costs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Of the kept file. */
enum { BOOT_ID_AT = 8, SINCE_AT = 56, RUNS_AT = 64, FAULT_AT = 80, FILE_BYTES = 112 };

static char directory[] = "/tmp/heurt-costs-XXXXXX";
static char path[sizeof directory + 32];

static int begin(void **state)
{
    (void)state;
    strcpy(directory + sizeof directory - 7, "XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/kernel.costs", directory);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(directory);
}

static uint64_t word_at(off_t at)
{
    uint64_t word = 0;
    int fd = open(path, O_RDONLY);
    assert_int_equal(pread(fd, &word, sizeof word, at), sizeof word);
    close(fd);
    return word;
}

static void put_word(off_t at, uint64_t word)
{
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, &word, sizeof word, at), sizeof word);
    close(fd);
}

static uint64_t fault_ns(void)
{
    return kept_costs__get(directory, CLOCK_MONOTONIC_RAW).fault_ns;
}

#define NEVER_MEASURED 123456789u

static void what_some_runs_measured_is_kept(void **state)
{
    (void)state;
    struct stat status;
    for (uint64_t runs = 1; runs <= 4; runs++) {
        fault_ns();
        assert_int_equal(word_at(RUNS_AT), runs);
    }
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, FILE_BYTES);
    put_word(FAULT_AT, NEVER_MEASURED);
    assert_int_equal(fault_ns(), NEVER_MEASURED);
    assert_int_equal(word_at(RUNS_AT), 4);
}

static void the_least_counts_while_it_is_measured(void **state)
{
    (void)state;
    fault_ns();
    put_word(FAULT_AT, 1);
    assert_int_equal(fault_ns(), 1);
    put_word(FAULT_AT, NEVER_MEASURED);
    if (task_events__costs(CLOCK_MONOTONIC_RAW).fault_ns)
        assert_true(fault_ns() < NEVER_MEASURED);
}

static void old_ones_and_those_of_another_start_are_measured_anew(void **state)
{
    (void)state;
    const struct {
        off_t at;
        uint64_t word;
    } changes[] = {{BOOT_ID_AT, 0x3030303030303030}, {SINCE_AT, UINT64_MAX}, {0, 0}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        fault_ns();
        put_word(RUNS_AT, 4);
        put_word(FAULT_AT, NEVER_MEASURED);
        put_word(changes[i].at, changes[i].word);
        assert_true(fault_ns() != NEVER_MEASURED);
        assert_int_equal(word_at(RUNS_AT), 1);
    }
    assert_int_equal(truncate(path, 50), 0);
    assert_true(fault_ns() != NEVER_MEASURED);
}

static void without_a_directory_they_are_measured(void **state)
{
    (void)state;
    kept_costs__get(NULL, CLOCK_MONOTONIC_RAW);
    assert_int_equal(access(path, F_OK), -1);
    fault_ns();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(what_some_runs_measured_is_kept),
        TEST(the_least_counts_while_it_is_measured),
        TEST(old_ones_and_those_of_another_start_are_measured_anew),
        TEST(without_a_directory_they_are_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
