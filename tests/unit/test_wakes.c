/* test_wakes.c: tracepoints of wake-ups: formats, records, the log of them, and this kernel's. */
#include "kernel/wakes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ROOT GOLDEN_DIRECTORY "/machines/root"

/* ---- formats --------------------------------------------------------------------------------- */

static const char waking_format[] =
    "name: sched_waking\nID: 375\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:u32 * uaddr;\toffset:32;\tsize:8;\tsigned:0;\n";

static void fields_are_found_by_name(void **state)
{
    (void)state;
    uint32_t number = 0;
    struct tracepoint_field fields[] = {
        {.name = "pid"}, {.name = "common_pid"}, {.name = "comm"}, {.name = "uaddr"}, {"id", 1, 4}};
    assert_int_equal(tracepoint__parse(waking_format, &number, fields, 5), 0);
    assert_int_equal(number, 375);
    assert_int_equal(fields[0].offset, 24);
    assert_int_equal(fields[0].bytes, 4);
    assert_int_equal(fields[1].offset, 4);
    assert_int_equal(fields[2].bytes, 0); /* no number: comm[16] */
    assert_int_equal(fields[3].offset, 32);
    assert_int_equal(fields[4].bytes, 0);
}

/* Whatever is left of a format: a field is where it is or not there at all. */
static void a_format_may_be_cut_anywhere(void **state)
{
    (void)state;
    for (size_t length = 0; length < sizeof waking_format; length++) {
        char *text = malloc(length + 1); /* to its byte, for the sanitizer */
        memcpy(text, waking_format, length);
        text[length] = 0;
        uint32_t number = 0;
        struct tracepoint_field pid = {.name = "pid"};
        int code = tracepoint__parse(text, &number, &pid, 1);
        free(text);
        assert_int_equal(code, length < strlen("name: sched_waking\nID: 375\n") ? -EBADMSG : 0);
        assert_true(code < 0 || number == 375);
        assert_true(pid.bytes == 0 || (pid.bytes == 4 && pid.offset == 24));
    }
}

static void nonsense_is_no_format(void **state)
{
    (void)state;
    uint32_t number;
    struct tracepoint_field pid = {.name = "pid"};
    assert_int_equal(tracepoint__parse("ID: many\n", &number, &pid, 1), -EBADMSG);
    assert_int_equal(tracepoint__parse("ID: 99999999999\n", &number, &pid, 1), -EBADMSG);
    assert_int_equal(tracepoint__parse("ID: 1\nfield:pid_t pid;\toffset:x;\tsize:4;\n"
                                       "field:pid_t pid\noffset:4;\tsize:4;\n",
                                       &number, &pid, 1),
                     0);
    assert_int_equal(pid.bytes, 0);
}

static void a_field_outside_of_the_record_is_nothing(void **state)
{
    (void)state;
    static const unsigned char raw[] = {1, 2, 3, 4};
    const struct tracepoint_field inside = {"x", 2, 2}, beyond = {"x", 2, 4},
                                  far = {"x", UINT32_MAX, 4};
    assert_int_equal(tracepoint_field__get(&inside, raw, sizeof raw), 0x0403);
    assert_int_equal(tracepoint_field__get(&beyond, raw, sizeof raw), 0);
    assert_int_equal(tracepoint_field__get(&far, raw, sizeof raw), 0);
}

static void a_captured_machine_s_formats_are_read(void **state)
{
    (void)state;
    struct wake_formats formats;
    assert_int_equal(wake_formats__read(ROOT, &formats), 0);
    assert_int_equal(formats.waking, 375);
    assert_int_equal(formats.futex_begin, 522);
    assert_int_equal(formats.futex_end, 521);
    assert_int_equal(formats.block_queued, 2097);
    assert_int_equal(formats.block_done, 2107);
    assert_int_equal(formats.wakee.offset, 24);
    assert_int_equal(formats.operation.offset, 24);
    assert_int_equal(wake_formats__read("/no/such/root", &formats), -ENOENT);
}

/* ---- records --------------------------------------------------------------------------------- */

struct draft {
    struct perf_event_header header;
    unsigned char body[128];
};

struct raw_start { /* common_type … common_pid */
    uint16_t type;
    uint8_t flags, preempt_count;
    uint32_t pid;
};

/* A sample of current (in our namespace 100 less) with a raw record of 64 bytes, at offset 24 a
 * number. */
static struct draft sample(uint16_t type, uint8_t flags, uint32_t current, uint32_t number)
{
    struct draft draft = {{PERF_RECORD_SAMPLE, 0, sizeof(struct perf_event_header) + 20 + 64}, {0}};
    uint32_t head[5] = {50, current - 100, 7000, 0, 64};
    struct raw_start start = {type, flags, 0, current};
    memcpy(draft.body, head, sizeof head);
    memcpy(draft.body + 20, &start, sizeof start);
    memcpy(draft.body + 20 + 24, &number, sizeof number);
    return draft;
}

static struct wake_record decoded(struct draft draft)
{
    struct wake_formats formats;
    struct wake_record record;
    assert_int_equal(wake_formats__read(ROOT, &formats), 0);
    assert_int_equal(wake_record__decode(&formats, 3, &draft, draft.header.size, &record), 0);
    return record;
}

static void records_are_told_apart_by_their_tracepoint(void **state)
{
    (void)state;
    struct wake_record record = decoded(sample(375, 1, 501, 502));
    assert_int_equal(record.kind, WAKE_WAKING);
    assert_int_equal(record.cpu, 3);
    assert_int_equal(record.time_ns, 7000);
    assert_int_equal(record.current, 501);
    assert_int_equal(record.current_tid, 401);
    assert_int_equal(record.current_pid, 50);
    assert_int_equal(record.wakee, 502);
    assert_false(record.in_interrupt);
    assert_true(decoded(sample(375, 8, 501, 502)).in_interrupt);
    assert_true(decoded(sample(375, 16, 501, 502)).in_interrupt);
    assert_int_equal(decoded(sample(522, 0, 501, FUTEX_WAIT | FUTEX_PRIVATE_FLAG)).kind,
                     WAKE_FUTEX_BEGIN);
    assert_int_equal(decoded(sample(522, 0, 501, FUTEX_WAKE | FUTEX_PRIVATE_FLAG)).kind,
                     WAKE_OTHER);
    assert_int_equal(decoded(sample(521, 0, 501, 0)).kind, WAKE_FUTEX_END);
    assert_int_equal(decoded(sample(2097, 0, 501, 0)).kind, WAKE_BLOCK_QUEUED);
    assert_int_equal(decoded(sample(2107, 8, 501, 0)).kind, WAKE_BLOCK_DONE);
    assert_int_equal(decoded(sample(9, 0, 501, 0)).kind, WAKE_OTHER);
    assert_int_equal(decoded(sample(0, 0, 501, 0)).kind, WAKE_OTHER); /* 0: not there */
}

static void a_record_may_be_cut_anywhere(void **state)
{
    (void)state;
    struct wake_formats formats;
    struct draft whole = sample(375, 0, 501, 502);
    assert_int_equal(wake_formats__read(ROOT, &formats), 0);
    for (uint16_t size = 0; size < whole.header.size; size++) {
        struct wake_record record;
        unsigned char *bytes = malloc(size ? size : 1);
        whole.header.size = size;
        memcpy(bytes, &whole, size);
        assert_int_equal(wake_record__decode(&formats, 0, bytes, size, &record), -EBADMSG);
        free(bytes);
        whole.header.size = sizeof(struct perf_event_header) + 20 + 64;
    }
}

static void new_threads_are_told(void **state)
{
    (void)state;
    struct draft draft = {{PERF_RECORD_FORK, 0, sizeof(struct perf_event_header) + 40}, {0}};
    uint32_t body[] = {50, 40, 51, 41, 7000, 0};
    memcpy(draft.body, body, sizeof body);
    struct wake_record record = decoded(draft);
    assert_int_equal(record.kind, WAKE_THREAD_BEGAN);
    assert_int_equal(record.current_tid, 51);
    assert_int_equal(record.time_ns, 7000);
}

static void lost_records_are_counted(void **state)
{
    (void)state;
    struct draft draft = {{PERF_RECORD_LOST, 0, sizeof(struct perf_event_header) + 32}, {0}};
    uint64_t body[] = {1, 12, 0, 7000};
    memcpy(draft.body, body, sizeof body);
    struct wake_record record = decoded(draft);
    assert_int_equal(record.kind, WAKE_LOST);
    assert_int_equal(record.count, 12);
}

/* ---- the log --------------------------------------------------------------------------------- */

#define US 1000u

static void add(struct wake_log *log, enum wake_record_kind kind, uint64_t time_ns,
                uint32_t current, uint32_t wakee)
{
    struct wake_record record = {.kind = kind,
                                 .time_ns = time_ns,
                                 .current = current,
                                 .current_tid = current,
                                 .current_pid = current ? 10 : 0,
                                 .wakee = wakee};
    wake_log__add(log, &record);
}

static void interrupt(struct wake_log *log, enum wake_record_kind kind, uint32_t cpu,
                      uint64_t time_ns, uint32_t wakee)
{
    struct wake_record record = {.kind = kind,
                                 .in_interrupt = true,
                                 .cpu = cpu,
                                 .time_ns = time_ns,
                                 .current = 99,
                                 .current_tid = 99,
                                 .current_pid = 10,
                                 .wakee = wakee};
    wake_log__add(log, &record);
}

static struct wake_log log_of_thread(uint32_t tid)
{
    struct wake_log log = WAKE_LOG_INIT;
    struct wake_record record = {.kind = WAKE_THREAD_BEGAN, .current_tid = tid};
    wake_log__add(&log, &record);
    return log;
}

static struct wake found(struct wake_log *log, uint32_t tid, uint64_t from_ns, uint64_t to_ns)
{
    struct wake wake = {.time_ns = 0};
    if (!wake_log__find(log, tid, from_ns, to_ns, &wake))
        wake.time_ns = 0;
    return wake;
}

static void each_blocked_time_has_its_wake(void **state)
{
    (void)state;
    struct wake_log log = log_of_thread(12);
    add(&log, WAKE_WAKING, 100 * US, 11, 12);
    add(&log, WAKE_WAKING, 200 * US, 13, 12);
    add(&log, WAKE_WAKING, 300 * US, 14, 12);
    assert_int_equal(found(&log, 12, 50 * US, 120 * US).waker, 11);
    assert_int_equal(found(&log, 12, 205 * US, 220 * US).waker, 13);  /* while it was leaving */
    assert_int_equal(found(&log, 12, 206 * US, 230 * US).time_ns, 0); /* not found twice */
    assert_int_equal(found(&log, 12, 330 * US, 400 * US).time_ns, 0); /* too early */
    assert_int_equal(found(&log, 12, 250 * US, 300 * US - 500).waker, 14);
    add(&log, WAKE_WAKING, 500 * US, 12, 77); /* another program's */
    assert_int_equal(found(&log, 77, 0, 900 * US).time_ns, 0);
    assert_int_equal(found(&log, 12, 400 * US, 300 * US).time_ns, 0);
    wake_log__free(&log);
}

static void who_is_interrupted_wakes_nobody(void **state)
{
    (void)state;
    struct wake_log log = log_of_thread(12);
    interrupt(&log, WAKE_WAKING, 0, 100 * US, 12);
    struct wake wake = found(&log, 12, 50 * US, 120 * US);
    assert_int_equal(wake.time_ns, 100 * US);
    assert_int_equal(wake.waker, 0);
    assert_int_equal(wake.reason, WAKE_FROM_OTHER);
    wake_log__free(&log);
}

static void a_wait_in_futex_is_told(void **state)
{
    (void)state;
    struct wake_log log = log_of_thread(12);
    add(&log, WAKE_FUTEX_BEGIN, 10 * US, 12, 0);
    add(&log, WAKE_WAKING, 20 * US, 11, 12);
    add(&log, WAKE_FUTEX_END, 30 * US, 12, 0);
    add(&log, WAKE_WAKING, 40 * US, 11, 12);
    assert_int_equal(found(&log, 12, 15 * US, 25 * US).reason, WAKE_FROM_FUTEX);
    assert_int_equal(found(&log, 12, 35 * US, 45 * US).reason, WAKE_FROM_OTHER);
    wake_log__free(&log);
}

/* Its call's end will be told no more than others' calls. */
static void nobody_is_in_futex_once_that_is_given_up(void **state)
{
    (void)state;
    struct wake_log log = log_of_thread(12);
    add(&log, WAKE_FUTEX_BEGIN, 10 * US, 12, 0);
    wake_log__forget_futexes(&log);
    add(&log, WAKE_WAKING, 20 * US, 11, 12);
    assert_int_equal(found(&log, 12, 15 * US, 25 * US).reason, WAKE_FROM_OTHER);
    wake_log__free(&log);
}

static void a_device_that_is_done_wakes_who_asked_it(void **state)
{
    (void)state;
    struct wake_log log = log_of_thread(12);
    interrupt(&log, WAKE_BLOCK_DONE, 1, 5 * US, 0);
    interrupt(&log, WAKE_WAKING, 1, 6 * US, 12); /* it had asked for nothing */
    add(&log, WAKE_BLOCK_QUEUED, 10 * US, 12, 0);
    interrupt(&log, WAKE_BLOCK_DONE, 1, 50 * US, 0);
    interrupt(&log, WAKE_WAKING, 1, 51 * US, 12);
    interrupt(&log, WAKE_WAKING, 1, 70 * US, 12); /* what it asked for is done */
    assert_int_equal(found(&log, 12, 1 * US, 7 * US).reason, WAKE_FROM_OTHER);
    assert_int_equal(found(&log, 12, 12 * US, 52 * US).reason, WAKE_FROM_DISK);
    assert_int_equal(found(&log, 12, 60 * US, 71 * US).reason, WAKE_FROM_OTHER);
    wake_log__free(&log);
}

/* Read ahead, then sleep: the timer's interrupt wakes it, on whatever CPU, long after. */
static void who_has_asked_and_sleeps_is_not_woken_by_the_device(void **state)
{
    (void)state;
    struct wake_log log = log_of_thread(12);
    add(&log, WAKE_BLOCK_QUEUED, 10 * US, 12, 0);
    interrupt(&log, WAKE_BLOCK_DONE, 1, 50 * US, 0);
    interrupt(&log, WAKE_WAKING, 0, 51 * US, 12);
    interrupt(&log, WAKE_WAKING, 1, 500 * US, 12);
    wake_log__add(&log, &(struct wake_record){
                            .kind = WAKE_THREAD_BEGAN, .current_tid = 11, .parent_tid = 12});
    add(&log, WAKE_WAKING, 600 * US, 11, 12); /* another thread of the program */
    add(&log, WAKE_WAKING, 700 * US, 13, 12); /* the kernel's, to which the device left the rest */
    add(&log, WAKE_WAKING, 800 * US, 13, 12); /* for something else */
    assert_int_equal(found(&log, 12, 20 * US, 52 * US).reason, WAKE_FROM_OTHER);
    assert_int_equal(found(&log, 12, 400 * US, 510 * US).reason, WAKE_FROM_OTHER);
    assert_int_equal(found(&log, 12, 550 * US, 610 * US).reason, WAKE_FROM_OTHER);
    assert_int_equal(found(&log, 12, 650 * US, 710 * US).reason, WAKE_FROM_DISK);
    assert_int_equal(found(&log, 12, 750 * US, 810 * US).reason, WAKE_FROM_OTHER);
    wake_log__free(&log);
}

static void in_another_namespace_threads_are_known_by_their_own_numbers(void **state)
{
    (void)state;
    struct wake_log log = WAKE_LOG_INIT;
    struct wake_record begin = {.kind = WAKE_FUTEX_BEGIN,
                                .time_ns = 10 * US,
                                .current = 50012,
                                .current_tid = 12,
                                .current_pid = 10};
    struct wake_record waking = {.kind = WAKE_WAKING,
                                 .time_ns = 20 * US,
                                 .current = 50011,
                                 .current_tid = 11,
                                 .current_pid = 10,
                                 .wakee = 50012};
    log.other_namespace = true;
    wake_log__add(&log, &begin);
    wake_log__add(&log, &waking);
    assert_int_equal(found(&log, 50012, 15 * US, 25 * US).time_ns, 0);
    assert_int_equal(found(&log, 12, 15 * US, 25 * US).waker, 11);
    wake_log__free(&log);
}

static void the_log_has_a_bound(void **state)
{
    (void)state;
    struct wake_log log = log_of_thread(12);
    for (uint64_t i = 0; i < WAKES_MAX + 3ull; i++)
        add(&log, WAKE_WAKING, (1 + i) * 10 * US, 11, 12);
    assert_int_equal(log.kept, WAKES_MAX);
    assert_int_equal(log.dropped, 3);
    wake_log__free(&log);
}

/* ---- this kernel ----------------------------------------------------------------------------- */

#define TURNS 100

struct known {
    unsigned sleeper, waker, main, turns, blocks;
};

/* Forks wakes_known, which waits for a byte before it execs. */
static pid_t start(int *go, int *output, const char *file)
{
    int to_child[2], from_child[2];
    assert_int_equal(pipe(to_child), 0);
    assert_int_equal(pipe(from_child), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        close(to_child[1]);
        close(from_child[0]);
        dup2(from_child[1], 1);
        close(from_child[1]);
        if (read(to_child[0], &byte, 1) == 1 && fcntl(to_child[0], F_SETFD, FD_CLOEXEC) == 0)
            execl(WAKES_KNOWN, "wakes_known", "100", file, (char *)NULL);
        _exit(127);
    }
    close(to_child[0]);
    close(from_child[1]);
    *go = to_child[1];
    *output = from_child[0];
    return pid;
}

static struct known read_known(int output)
{
    struct known known = {0};
    FILE *in = fdopen(output, "r");
    assert_int_equal(fscanf(in, "sleeper %u waker %u main %u turns %u blocks %u", &known.sleeper,
                            &known.waker, &known.main, &known.turns, &known.blocks),
                     5);
    fclose(in);
    return known;
}

/* Runs the program to its end under wakes; false: this user may not. */
static bool watch(struct wakes **wakes, struct known *known, const char *file)
{
    int go, output;
    struct error error;
    pid_t pid = start(&go, &output, file);
    bool may = wakes__open(pid, CLOCK_MONOTONIC, wakes, &error) == 0;
    if (!may)
        print_message("not tried: %s\n", error.text);
    int sent = may ? (int)write(go, "x", 1) : 1;
    close(go);
    assert_int_equal(sent, 1);
    if (may)
        *known = read_known(output);
    else
        close(output);
    waitpid(pid, NULL, 0);
    if (may)
        wakes__drain(*wakes, true);
    return may;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void this_kernel_tells_who_woke_whom(void **state)
{
    (void)state;
    struct wakes *wakes;
    struct known known;
    struct wake wake;
    uint64_t before_ns = now_ns();
    if (!watch(&wakes, &known, NULL))
        skip();
    unsigned by_waker = 0, in_futex = 0;
    while (wake_log__find(wakes__log(wakes), known.sleeper, before_ns, now_ns(), &wake)) {
        by_waker += wake.waker == known.waker;
        in_futex += wake.waker == known.waker && wake.reason == WAKE_FROM_FUTEX;
    }
    assert_int_equal(wakes__log(wakes)->lost, 0);
    assert_int_equal(by_waker, 2 * known.turns);
    assert_int_equal(in_futex, wakes__sees_futex(wakes) ? known.turns : 0);
    wakes__close(wakes);
}

/* What is read past the page cache is waited for. */
static void this_kernel_tells_waits_for_a_device(void **state)
{
    (void)state;
    static const char zeroes[4096 * TURNS];
    char path[] = "wakes-XXXXXX"; /* here: /tmp may have no device */
    struct wakes *wakes;
    struct known known;
    struct wake wake;
    int fd = mkstemp(path);
    assert_int_equal(write(fd, zeroes, sizeof zeroes), sizeof zeroes);
    assert_int_equal(fsync(fd), 0);
    close(fd);
    uint64_t before_ns = now_ns();
    bool may = watch(&wakes, &known, path);
    unlink(path);
    if (!may || !wakes__sees_block(wakes) || known.blocks == 0) {
        wakes__close(may ? wakes : NULL);
        skip();
    }
    unsigned from_disk = 0, others = 0;
    while (wake_log__find(wakes__log(wakes), known.main, before_ns, now_ns(), &wake))
        from_disk += wake.reason == WAKE_FROM_DISK;
    while (wake_log__find(wakes__log(wakes), known.sleeper, before_ns, now_ns(), &wake))
        others += wake.reason == WAKE_FROM_DISK;
    print_message("reads %u, waits for the device %u\n", known.blocks, from_disk);
    /* Who is preempted on the way finds that it need not wait any more, and of what interrupts an
     * idle CPU some kernels tell nothing. */
    assert_true(from_disk <= known.blocks);
    assert_int_equal(others, 0);
    wakes__close(wakes);
    if (from_disk == 0)
        skip();
}

/* Without rights there is one sentence, and nothing else happens. */
static void nobody_is_told_why_not(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip();
    pid_t pid = fork();
    if (pid == 0) {
        struct wakes *wakes;
        struct error error = {""};
        int code = setuid(65534) < 0 ? 0 : wakes__open(getpid(), CLOCK_MONOTONIC, &wakes, &error);
        bool may = code == 0 && wakes; /* perf_event_paranoid may be -1 */
        _exit(may || (code < 0 && !wakes && strlen(error.text) > 10) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Where tracefs is not mounted: for this process alone. */
static void mount_tracefs(void)
{
    if (access("/sys/kernel/tracing/events", F_OK) == 0 || unshare(CLONE_NEWNS) < 0)
        return;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
        (void)!mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
}

int main(void)
{
    mount_tracefs();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_found_by_name),
        cmocka_unit_test(a_format_may_be_cut_anywhere),
        cmocka_unit_test(nonsense_is_no_format),
        cmocka_unit_test(a_field_outside_of_the_record_is_nothing),
        cmocka_unit_test(a_captured_machine_s_formats_are_read),
        cmocka_unit_test(records_are_told_apart_by_their_tracepoint),
        cmocka_unit_test(a_record_may_be_cut_anywhere),
        cmocka_unit_test(new_threads_are_told),
        cmocka_unit_test(lost_records_are_counted),
        cmocka_unit_test(each_blocked_time_has_its_wake),
        cmocka_unit_test(who_is_interrupted_wakes_nobody),
        cmocka_unit_test(a_wait_in_futex_is_told),
        cmocka_unit_test(nobody_is_in_futex_once_that_is_given_up),
        cmocka_unit_test(a_device_that_is_done_wakes_who_asked_it),
        cmocka_unit_test(who_has_asked_and_sleeps_is_not_woken_by_the_device),
        cmocka_unit_test(in_another_namespace_threads_are_known_by_their_own_numbers),
        cmocka_unit_test(the_log_has_a_bound),
        cmocka_unit_test(this_kernel_tells_who_woke_whom),
        cmocka_unit_test(this_kernel_tells_waits_for_a_device),
        cmocka_unit_test(nobody_is_told_why_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
