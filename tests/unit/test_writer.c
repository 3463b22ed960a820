/* test_writer.c: where a trace is put, what is in the way, and how it ends. */
#include "walk.h"
#include "writing.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- the directory --------------------------------------------------------------------------- */

static void write_trace_called(const char *directory, const char *command)
{
    struct trace_writer *writer = create(directory);
    assert_int_equal(trace_writer__meta(writer, "command", command), 0);
    finish(writer);
}

static void assert_command(const char *directory, const char *command)
{
    struct trace *trace = open_trace(directory);
    assert_string_equal(trace__meta(trace, "command"), command);
    trace__close(trace);
}

static int create_fails(const char *directory, const char *sentence)
{
    struct trace_writer *writer = (void *)1;
    struct error error = {""};
    int code = trace_writer__create(directory, &settings, &writer, &error);
    assert_true(code < 0);
    assert_null(writer);
    if (!strstr(error.text, sentence))
        fail_msg("no \"%s\" in: %s", sentence, error.text);
    return code;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void older_traces_are_moved_one_place(void **state)
{
    (void)state;
    write_trace_called("t", "first");
    write_text("t/symbols", "{}");
    write_trace_called("t/", "second");
    assert_command("t.old", "first");
    assert_int_equal(access("t.old/symbols", F_OK), 0);
    write_trace_called("t", "third");
    assert_command("t.old", "second");
    assert_int_equal(access("t.old/symbols", F_OK), -1);
    assert_command("t", "third");
}

static void an_empty_directory_is_used(void **state)
{
    (void)state;
    assert_int_equal(mkdir("t", 0700), 0);
    write_trace_called("t", "first");
    assert_command("t", "first");
    assert_int_equal(access("t.old", F_OK), -1);
}

static void what_is_not_a_trace_is_left_alone(void **state)
{
    (void)state;
    mkdir("home", 0700);
    write_text("home/thesis", "years of work");
    assert_int_equal(create_fails("home", "not a trace of heurt"), -EEXIST);
    write_text("file", "text");
    assert_int_equal(create_fails("file", "not a trace of heurt"), -EEXIST);
    mkdir("named", 0700);
    write_text("named/events", "not heurt's");
    assert_int_equal(create_fails("named", "not a trace of heurt"), -EEXIST);
    write_trace_called("mixed", "first");
    write_text("mixed/thesis", "years of work");
    assert_int_equal(create_fails("mixed", "not a trace of heurt"), -EEXIST);
    write_trace_called("t", "first");
    mkdir("t.old", 0700);
    write_text("t.old/thesis", "years of work");
    assert_int_equal(create_fails("t", "t.old exists and is not a trace"), -EEXIST);
    assert_command("t", "first");
    assert_int_equal(access("home/thesis", F_OK), 0);
    assert_int_equal(access("mixed/thesis", F_OK), 0);
    assert_int_equal(access("t.old/thesis", F_OK), 0);
}

static void a_trace_being_recorded_is_left_alone(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    assert_int_equal(create_fails("t", "being recorded"), -EBUSY);
    finish(writer);
    write_trace_called("t", "second");
}

static void places_that_cannot_be_are_told(void **state)
{
    (void)state;
    char name[5000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_int_equal(create_fails(name, "too long"), -ENAMETOOLONG);
    name[300] = 0;
    assert_int_equal(create_fails(name, "too long"), -ENAMETOOLONG);
    name[254] = 0; /* fits, but not with .old */
    write_trace_called(name, "first");
    assert_true(create_fails(name, "") < 0);
    assert_command(name, "first");
    assert_int_equal(create_fails("no/such", "does not exist"), -ENOENT);
    write_text("file", "text");
    assert_int_equal(create_fails("file/t", "is a file, not a directory"), -ENOTDIR);
    assert_int_equal(create_fails("", "empty"), -EINVAL);
}

/* In a child with a file system of its own; skipped where that is not allowed. The child's exit
 * status: 0 good, 77 cannot be tried. */
static void in_child(int (*try)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(try());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static bool mount_here(const char *options, unsigned long flags)
{
    return (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
           mkdir("disk", 0700) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "disk", "tmpfs", flags, options) == 0;
}

/* Whether creation fails with that sentence and leaves nothing behind. */
static bool fails_on_disk(const char *sentence)
{
    struct trace_writer *writer;
    struct error error = {""};
    return trace_writer__create("disk/t", &settings, &writer, &error) < 0 &&
           strstr(error.text, sentence) && access("disk/t", F_OK) < 0;
}

static int try_read_only(void)
{
    if (!mount_here("size=64k", MS_RDONLY))
        return 77;
    return fails_on_disk("read-only") ? 0 : 1;
}

static int try_full_disk(void)
{
    if (!mount_here("size=64k", 0))
        return 77;
    struct trace_writer *writer;
    const uint64_t payload[2] = {1, 2};
    if (trace_writer__create("disk/t", &settings, &writer, NULL) < 0)
        return 1;
    uint64_t tick = 1000;
    while (trace_writer__event(writer, 0, 0, tick, HEURT_EVENT_LOCK_ACQUIRED, payload, 2) == 0)
        tick++;
    if (trace_writer__define(writer, 1, HEURT_DEFINITION_NOTE, "x", 2) != -ENOSPC)
        return 2;
    if (trace_writer__finish(writer, 0, at_end, NULL) < 0)
        return 3;
    struct trace *trace;
    if (trace__open("disk/t", &trace, NULL) < 0)
        return 4;
    bool good = walk_trace(trace).events == tick - 1000 && trace__events_lost(trace) == 1;
    trace__close(trace);
    if (!good)
        return 5;
    int fd = open("disk/filler", O_WRONLY | O_CREAT, 0600);
    static const char zeroes[4096];
    while (write(fd, zeroes, sizeof zeroes) > 0)
        ;
    if (rename("disk/t", "disk/u") < 0)
        return 6;
    return fails_on_disk("no room on the disk") ? 0 : 7;
}

static void a_read_only_disk_is_told(void **state)
{
    (void)state;
    in_child(try_read_only);
}

static void a_full_disk_is_an_error_and_never_a_signal(void **state)
{
    (void)state;
    in_child(try_full_disk);
}

static int try_file_size_limit(void)
{
    struct trace_writer *writer;
    struct rlimit limit = {4 * HEURT_UNIT_BYTES + 100, 4 * HEURT_UNIT_BYTES + 100};
    if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
        return 77;
    if (trace_writer__create("t", &settings, &writer, NULL) < 0)
        return 1;
    if (trace_writer__session(writer)->limit_units != 4)
        return 2;
    if (trace_writer__finish(writer, 0, at_end, NULL) < 0)
        return 3;
    limit.rlim_cur = HEURT_UNIT_BYTES;
    setrlimit(RLIMIT_FSIZE, &limit);
    struct error error = {""};
    if (trace_writer__create("u", &settings, &writer, &error) != -EFBIG)
        return 4;
    return strstr(error.text, "ulimit -f") && access("u", F_OK) < 0 ? 0 : 5;
}

static void the_limit_on_file_sizes_bounds_the_trace(void **state)
{
    (void)state;
    in_child(try_file_size_limit);
}

static void open_fails(const char *directory, const char *sentence)
{
    struct trace *trace = (void *)1;
    struct error error = {""};
    assert_true(trace__open(directory, &trace, &error) < 0);
    assert_null(trace);
    if (!strstr(error.text, sentence))
        fail_msg("no \"%s\" in: %s", sentence, error.text);
}

static void what_is_not_a_trace_is_told(void **state)
{
    (void)state;
    open_fails("t", "there is no trace t");
    mkdir("t", 0700);
    open_fails("t", "not a trace of heurt");
    write_text("t/events", "");
    open_fails("t", "not a trace of heurt");
    write_text("t/events", "text");
    open_fails("t", "not a trace of heurt");
    open_fails("t/events", "not a trace of heurt");
    assert_int_equal(truncate("t/events", 40000), 0);
    open_fails("t", "not a trace of heurt");
    write_trace_called("u", "first");
    int fd = open("u/events", O_WRONLY);
    assert_int_equal(
        pwrite(fd, &(uint32_t){HEURT_VERSION + 1}, 4, offsetof(struct heurt_session, version)), 4);
    close(fd);
    char sentence[32];
    snprintf(sentence, sizeof sentence, "has format %u", HEURT_VERSION + 1);
    open_fails("u", sentence);
}

/* ---- the end of a recording ------------------------------------------------------------------ */

static void the_file_is_cut_to_what_was_claimed(void **state)
{
    (void)state;
    struct stat status;
    struct trace_writer *writer = create("t");
    assert_int_equal(stat("t/events", &status), 0);
    assert_int_equal(status.st_size, settings.limit_units * HEURT_UNIT_BYTES);
    assert_in_range(status.st_blocks * 512, HEURT_UNIT_BYTES, 4 * HEURT_UNIT_BYTES);
    put(writer, 0, 2000, HEURT_EVENT_LOCK_ACQUIRED, 1, 2);
    /* Somebody else has claimed and not yet written. */
    __atomic_fetch_add(&trace_writer__session(writer)->next_unit, 3, __ATOMIC_SEQ_CST);
    finish(writer);
    assert_int_equal(stat("t/events", &status), 0);
    assert_int_equal(status.st_size, 5 * HEURT_UNIT_BYTES);
    struct trace *trace = open_trace("t");
    assert_int_equal(trace__damaged_chunks(trace), 1);
    trace__close(trace);
}

static off_t bytes_on_disk(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_blocks * 512;
}

static void what_is_claimed_next_is_prepared(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    uint64_t *next = &trace_writer__session(writer)->next_unit;
    trace_writer__prepare(writer);
    assert_false(trace_writer__prepare(writer)); /* nobody claimed anything since */
    put(writer, 0, 2000, HEURT_EVENT_LOCK_ACQUIRED, 1, 2);
    __atomic_fetch_add(next, 100, __ATOMIC_SEQ_CST);
    off_t before = bytes_on_disk("t/events");
    assert_true(trace_writer__prepare(writer));
    assert_true(bytes_on_disk("t/events") >= before + 200 * (off_t)HEURT_UNIT_BYTES);
    put(writer, 0, 2500, HEURT_EVENT_LOCK_ACQUIRED, 1, 2);
    finish(writer);
    struct trace *trace = open_trace("t");
    assert_int_equal(walk_trace(trace).events, 2); /* what was written stands */
    trace__close(trace);
}

static void preparing_ends_where_the_trace_ends(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    uint64_t *next = &trace_writer__session(writer)->next_unit;
    __atomic_store_n(next, settings.limit_units - 3, __ATOMIC_SEQ_CST);
    assert_true(trace_writer__prepare(writer));
    assert_in_range(bytes_on_disk("t/events"), 4 * HEURT_UNIT_BYTES, 10 * HEURT_UNIT_BYTES);
    __atomic_store_n(next, settings.limit_units + 5, __ATOMIC_SEQ_CST); /* failed claims */
    assert_true(trace_writer__prepare(writer));
    assert_false(trace_writer__prepare(writer));
    __atomic_store_n(next, settings.limit_units, __ATOMIC_SEQ_CST);
    finish(writer);
}

static int try_prepare_full_disk(void)
{
    if (!mount_here("size=256k", 0))
        return 77;
    struct trace_writer *writer;
    if (trace_writer__create("disk/t", &settings, &writer, NULL) < 0)
        return 1;
    for (int i = 0; i < 3; i++) {
        __atomic_fetch_add(&trace_writer__session(writer)->next_unit, 100, __ATOMIC_SEQ_CST);
        if (!trace_writer__prepare(writer))
            return 2;
    }
    return trace_writer__finish(writer, 0, at_end, NULL) < 0 ? 3 : 0;
}

static void preparing_on_a_full_disk_does_nothing(void **state)
{
    (void)state;
    in_child(try_prepare_full_disk);
}

static void a_recorder_that_was_killed_leaves_a_trace(void **state)
{
    (void)state;
    struct trace_writer *writer = create("t");
    put(writer, 0, 1500, HEURT_EVENT_THREAD_START, 1, HEURT_NO_SERIAL);
    put(writer, 0, 2500, HEURT_EVENT_LOCK_ACQUIRED, 1, 2);
    struct trace *trace = open_trace("t"); /* as it is at this moment */
    const struct trace_thread *thread = VEC_AT(trace__threads(trace), struct trace_thread, 0);
    assert_int_equal(walk_trace(trace).events, 2);
    assert_false(thread->ended);
    assert_int_equal(thread->end_tick, 2500);
    assert_true(thread->cpu_ns == UINT64_MAX);
    assert_int_equal(trace__wall_ns(trace), 1000);
    assert_int_equal(trace__damaged_chunks(trace), 0);
    trace__close(trace);
    finish(writer);
}

static void a_full_trace_counts_what_is_lost(void **state)
{
    (void)state;
    struct heurt_session small = settings;
    struct trace_writer *writer;
    small.limit_units = 9; /* chunks of 1, 2 and 4 units, and one that does not fit */
    assert_int_equal(trace_writer__create("t", &small, &writer, NULL), 0);
    const uint64_t payload[2] = {1, 2};
    int code = 0;
    uint64_t written = 0;
    for (; code == 0; written += code == 0)
        code = trace_writer__event(writer, 0, 0, 1000 + written, HEURT_EVENT_LOCK_ACQUIRED, payload,
                                   2);
    assert_int_equal(code, -ENOSPC);
    assert_int_equal(trace_writer__event(writer, 0, 1, 1000, HEURT_EVENT_LOCK_ACQUIRED, payload, 2),
                     -ENOSPC);
    finish(writer);
    struct trace *trace = open_trace("t");
    assert_int_equal(walk_trace(trace).events, written);
    assert_int_equal(trace__events_lost(trace), 2);
    assert_int_equal(VEC_AT(trace__threads(trace), struct trace_thread, 0)->events_lost, 1);
    assert_int_equal(trace__damaged_chunks(trace), 0); /* the unused unit at the end is none */
    trace__close(trace);
}

/* A part of the file that is lost while it is mapped reads as zeroes. */
static void what_the_file_loses_does_not_stop_the_writer(void **state)
{
    (void)state;
    static const char nothing[64 * HEURT_UNIT_BYTES];
    struct trace_writer *writer = create("t");
    struct heurt_run run = {.pid = 1, .tid = 1, .tick = 1000};
    put(writer, 0, 2000, HEURT_EVENT_LOCK_ACQUIRED, 1, 2);
    assert_int_equal(trace_writer__run(writer, &run, NULL, 0), 0);
    int file = open("t/events", O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(file, nothing, sizeof nothing - HEURT_UNIT_BYTES, HEURT_UNIT_BYTES),
                     sizeof nothing - HEURT_UNIT_BYTES);
    close(file);
    for (int i = 0; i < 1000; i++) {
        put(writer, 0, 2001, HEURT_EVENT_LOCK_ACQUIRED, 1, 2);
        assert_int_equal(trace_writer__run(writer, &run, NULL, 0), 0);
    }
    finish(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(older_traces_are_moved_one_place),
        IN_DIRECTORY(an_empty_directory_is_used),
        IN_DIRECTORY(what_is_not_a_trace_is_left_alone),
        IN_DIRECTORY(a_trace_being_recorded_is_left_alone),
        IN_DIRECTORY(places_that_cannot_be_are_told),
        IN_DIRECTORY(a_read_only_disk_is_told),
        IN_DIRECTORY(a_full_disk_is_an_error_and_never_a_signal),
        IN_DIRECTORY(the_limit_on_file_sizes_bounds_the_trace),
        IN_DIRECTORY(what_is_not_a_trace_is_told),
        IN_DIRECTORY(the_file_is_cut_to_what_was_claimed),
        IN_DIRECTORY(what_is_claimed_next_is_prepared),
        IN_DIRECTORY(preparing_ends_where_the_trace_ends),
        IN_DIRECTORY(preparing_on_a_full_disk_does_nothing),
        IN_DIRECTORY(a_recorder_that_was_killed_leaves_a_trace),
        IN_DIRECTORY(a_full_trace_counts_what_is_lost),
        IN_DIRECTORY(what_the_file_loses_does_not_stop_the_writer),
    };
    return cmocka_run_group_tests_name("writer", tests, NULL, NULL);
}
