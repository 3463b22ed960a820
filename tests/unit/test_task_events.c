/* What the kernel tells of a program's threads: records, and this kernel's. */
#include "kernel/task_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- records --------------------------------------------------------------------------------- */

struct bytes {
    unsigned char bytes[128];
    size_t size;
};

static void put(struct bytes *to, const void *from, size_t size)
{
    memcpy(to->bytes + to->size, from, size);
    to->size += size;
}

static void put_word(struct bytes *to, uint64_t word)
{
    put(to, &word, sizeof word);
}

static void put_tail(struct bytes *to)
{
    put_word(to, 7 | 8ull << 32); /* pid, tid */
    put_word(to, 1000);
    put_word(to, 3);
}

static struct bytes record_of(uint32_t type, uint16_t misc)
{
    struct bytes bytes = {.size = 0};
    struct perf_event_header header = {.type = type, .misc = misc};
    put(&bytes, &header, sizeof header);
    return bytes;
}

static struct task_record decode(struct bytes *bytes)
{
    struct task_record record;
    uint16_t size = (uint16_t)bytes->size;
    memcpy(bytes->bytes + offsetof(struct perf_event_header, size), &size, sizeof size);
    assert_int_equal(task_record__decode(bytes->bytes, bytes->size, &record), 0);
    for (size_t less = 0; less < bytes->size; less++) { /* to its byte, for the sanitizer */
        unsigned char *cut = malloc(less + 1);
        struct task_record other;
        memcpy(cut, bytes->bytes, less);
        assert_int_equal(task_record__decode(cut, less, &other), -EBADMSG);
        size = (uint16_t)less;
        if (less >= sizeof(struct perf_event_header))
            memcpy(cut + offsetof(struct perf_event_header, size), &size, sizeof size);
        task_record__decode(cut, less, &other);
        free(cut);
    }
    return record;
}

static void switches_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        uint16_t misc;
        enum task_record_kind kind;
    } cases[] = {
        {0, TASK_ON_CPU},
        {PERF_RECORD_MISC_SWITCH_OUT, TASK_BLOCKED},
        {PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, TASK_PREEMPTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes bytes = record_of(PERF_RECORD_SWITCH, cases[i].misc);
        put_tail(&bytes);
        struct task_record record = decode(&bytes);
        assert_int_equal(record.kind, cases[i].kind);
        assert_int_equal(record.pid, 7);
        assert_int_equal(record.tid, 8);
        assert_int_equal(record.cpu, 3);
        assert_int_equal(record.time_ns, 1000);
    }
}

static void a_fault_begins_with_an_address_and_ends(void **state)
{
    (void)state;
    struct bytes begins = record_of(PERF_RECORD_SAMPLE, 0), ends = record_of(PERF_RECORD_SAMPLE, 0);
    put_word(&begins, 7 | 8ull << 32);
    put_word(&begins, 1000);
    put_word(&begins, 0xabc000);
    put_word(&begins, 3);
    put_word(&begins, 20);
    struct task_record record = decode(&begins);
    assert_int_equal(record.kind, TASK_FAULT_BEGINS);
    assert_int_equal(record.address, 0xabc000);
    assert_int_equal(record.cpu, 3);
    assert_int_equal(record.count, 20);
    put_word(&ends, 0x401234);
    put_word(&ends, 7 | 8ull << 32);
    put_word(&ends, 1200);
    put_word(&ends, 0xabc000);
    struct bytes major = ends;
    put_word(&ends, 3);
    put_word(&ends, 21);
    record = decode(&ends);
    assert_int_equal(record.kind, TASK_FAULT_ENDS);
    assert_int_equal(record.tid, 8);
    assert_int_equal(record.time_ns, 1200);
    assert_int_equal(record.address, 0xabc000);
    assert_int_equal(record.code, 0x401234);
    assert_int_equal(record.count, 21);
    assert_false(record.is_major);
    record = decode(&major);
    assert_int_equal(record.kind, TASK_FAULT_ENDS);
    assert_int_equal(record.address, 0xabc000);
    assert_int_equal(record.count, 1);
    assert_true(record.is_major);
}

static void threads_begin_have_names_and_end(void **state)
{
    (void)state;
    struct bytes fork = record_of(PERF_RECORD_FORK, 0),
                 exec = record_of(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    put_word(&fork, 9 | 7ull << 32); /* pid, parent's */
    put_word(&fork, 10 | 8ull << 32);
    put_word(&fork, 900);
    put_tail(&fork);
    struct task_record record = decode(&fork);
    assert_int_equal(record.kind, TASK_FORKED);
    assert_int_equal(record.pid, 9);
    assert_int_equal(record.tid, 10);
    assert_int_equal(record.time_ns, 900);
    put_word(&exec, 7 | 8ull << 32);
    put(&exec, "a-program\0\0\0\0\0\0", 16);
    put_tail(&exec);
    record = decode(&exec);
    assert_int_equal(record.kind, TASK_EXECED);
    assert_string_equal(record.name, "a-program");
    assert_int_equal(record.time_ns, 1000);
}

/* Its tail is that of whatever event wrote it. */
static void losses_are_counted(void **state)
{
    (void)state;
    for (int with_cpu = 0; with_cpu < 2; with_cpu++) {
        struct bytes lost = record_of(PERF_RECORD_LOST, 0);
        struct task_record record;
        put_word(&lost, 99);
        put_word(&lost, 12);
        put_tail(&lost);
        lost.size -= with_cpu ? 0 : 8;
        uint16_t size = (uint16_t)lost.size;
        memcpy(lost.bytes + offsetof(struct perf_event_header, size), &size, sizeof size);
        assert_int_equal(task_record__decode(lost.bytes, lost.size, &record), 0);
        assert_int_equal(record.kind, TASK_LOST);
        assert_int_equal(record.count, 12);
        assert_int_equal(record.tid, 8);
        assert_int_equal(record.time_ns, 1000);
    }
}

/* ---- this kernel's --------------------------------------------------------------------------- */

struct seen {
    pid_t pid;
    unsigned forked, ended, on, off, faults, execs;
    uint64_t last_ns;
    bool in_order;
};

static void take(void *context, const struct task_record *record)
{
    struct seen *seen = context;
    seen->in_order &= record->time_ns >= seen->last_ns;
    seen->last_ns = record->time_ns;
    seen->forked += record->kind == TASK_FORKED;
    seen->ended += record->kind == TASK_ENDED;
    seen->on += record->kind == TASK_ON_CPU;
    seen->off += record->kind == TASK_BLOCKED || record->kind == TASK_PREEMPTED;
    seen->faults += record->kind == TASK_FAULT_ENDS ? (unsigned)record->count : 0;
    seen->execs += record->kind == TASK_EXECED && record->pid == (uint32_t)seen->pid &&
                   strcmp(record->name, "sh") == 0;
}

/* A shell that starts 20 others, one after the other: nothing is drained meanwhile. */
static void all_that_a_program_starts_is_told(void **state)
{
    (void)state;
    int go[2];
    assert_int_equal(pipe(go), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        if (read(go[0], &byte, 1) == 1)
            execlp("sh", "sh", "-c", "i=0; while [ $i -lt 20 ]; do (:); i=$((i+1)); done", NULL);
        _exit(1);
    }
    struct task_events *events;
    if (task_events__open(pid, CLOCK_MONOTONIC, &events) < 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        skip();
    }
    assert_int_equal(write(go[1], "", 1), 1);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    struct seen seen = {.pid = pid, .in_order = true};
    assert_true(task_events__drain(events, take, &seen) > 100);
    assert_int_equal(seen.execs, 1);
    assert_int_equal(seen.forked, 20);
    assert_int_equal(seen.ended, 21);
    assert_true(seen.on >= 20);
    assert_true(seen.off >= 20);    /* the shell waits for each */
    assert_true(seen.faults >= 20); /* told or counted: one of each, at least */
    assert_true(seen.in_order);
    assert_int_equal(task_events__lost(events), 0);
    task_events__close(events);
    close(go[0]);
    close(go[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(switches_are_told_apart),
        cmocka_unit_test(a_fault_begins_with_an_address_and_ends),
        cmocka_unit_test(threads_begin_have_names_and_end),
        cmocka_unit_test(losses_are_counted),
        cmocka_unit_test(all_that_a_program_starts_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
