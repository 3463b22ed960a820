#include "base/memory.h"
#include "kernel/facilities.h"
#include "kernel/machine_info.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct error error;

static int read_text(const char *text, struct machine_trials *trials)
{
    char path[] = "/tmp/heurt-facts-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    int code = machine_trials__read(path, trials, &error);
    unlink(path);
    return code;
}

static void captured_trials_are_read(void **state)
{
    (void)state;
    struct machine_trials trials;
    assert_int_equal(read_text("# x\n\ncpu_clock 0 # y\n cycles -2\nlocked_bytes -1\n", &trials),
                     0);
    assert_int_equal(trials.cpu_clock, 0);
    assert_int_equal(trials.cycles, -2);
    assert_int_equal(trials.bpf, -ENOSYS); /* not named */
    assert_true(trials.locked_bytes == UINT64_MAX);
    assert_int_equal(trials.disk_free_bytes, 0);
}

static void lines_that_are_no_trials_are_refused(void **state)
{
    (void)state;
    struct machine_trials trials;
    assert_int_equal(read_text("cpu_clock 0\nclock 0\n", &trials), -EINVAL);
    assert_non_null(strstr(error.text, "line 2"));
    assert_int_equal(read_text("cpu_clock\n", &trials), -EINVAL);
    assert_int_equal(read_text("cpu_clock yes\n", &trials), -EINVAL);
    assert_int_equal(machine_trials__read("/no/such/file", &trials, &error), -ENOENT);
}

static void a_machine_without_proc_and_sys_is_unknown(void **state)
{
    (void)state;
    struct machine_info info;
    struct machine_trials trials;
    struct vec facilities = VEC_OF(struct facility);
    machine_info__read("/no/such/root", &info);
    assert_null(info.kernel);
    assert_int_equal(info.perf_event_paranoid, INFO_UNKNOWN);
    assert_int_equal(info.cpu_count, 0);
    assert_int_equal(read_text("", &trials), 0);
    facilities__judge(&info, &trials, &facilities);
    assert_true(facilities.count > 10);
    VEC_EACH (facility, &facilities, struct facility)
        assert_non_null(facility->found);
    facilities__free(&facilities);
    machine_info__free(&info);
}

/* What is tried here must agree with what this process can see of itself. */
static void this_machine_can_be_asked(void **state)
{
    (void)state;
    struct machine_info info;
    struct machine_trials trials, nowhere;
    machine_info__read("", &info);
    machine_trials__make("/tmp", &trials);
    assert_int_equal(info.cpu_count, sysconf(_SC_NPROCESSORS_ONLN));
    assert_non_null(info.kernel);
    assert_true(trials.disk_free_bytes > 0);
    assert_true(trials.descriptors > 2);
    assert_true(trials.memory_free_bytes > 0);
    machine_trials__make("/no/such/directory", &nowhere);
    assert_int_equal(nowhere.disk_free_bytes, 0);
    machine_info__free(&info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captured_trials_are_read),
        cmocka_unit_test(lines_that_are_no_trials_are_refused),
        cmocka_unit_test(a_machine_without_proc_and_sys_is_unknown),
        cmocka_unit_test(this_machine_can_be_asked),
    };
    return cmocka_run_group_tests_name("facts", tests, NULL, NULL);
}
