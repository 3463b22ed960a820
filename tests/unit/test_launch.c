#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/launch.h"
#include "recorder/install.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct error error;

static char **shell(const char *script)
{
    static char *arguments[4] = {"sh", "-c", NULL, NULL};
    arguments[2] = (char *)script;
    return arguments;
}

static int run_to_end(char **argv, int output)
{
    struct launch launch = LAUNCH_INIT;
    int wait_status;
    launch.output = output;
    assert_int_equal(launch__start(argv, NULL, &launch, &error), 0);
    assert_int_equal(launch__go(&launch, &error), 0);
    assert_int_equal(launch__wait(&launch, &wait_status, &error), 0);
    assert_true(launch.ended_ns > launch.started_ns);
    return wait_status;
}

static int new_output(void)
{
    int fd = memfd_create("output", MFD_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

/* What was written to it, which is closed. free() it. */
static char *text_of(int fd)
{
    char text[8192];
    ssize_t bytes = pread(fd, text, sizeof text - 1, 0);
    assert_true(bytes >= 0);
    text[bytes] = 0;
    close(fd);
    return memory__text(text);
}

static void ends_are_told(void **state)
{
    (void)state;
    int status = run_to_end(shell("exit 7"), -1);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    assert_int_equal(launch__exit_like(status), 7);
    status = run_to_end(shell("kill -KILL $$"), -1);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void failed_starts_are_told_apart(void **state)
{
    (void)state;
    struct {
        char *name;
        int code, status;
    } cases[] = {
        {"no-such-program-anywhere", -ENOENT, EXIT_NOT_FOUND},
        {"/no/such/program", -ENOENT, EXIT_NOT_FOUND},
        {"/dev/null", -EACCES, EXIT_CANNOT_RUN},
        {"/etc", -EACCES, EXIT_CANNOT_RUN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *argv[] = {cases[i].name, NULL};
        struct launch launch = LAUNCH_INIT;
        assert_int_equal(launch__start(argv, NULL, &launch, &error), 0);
        int code = launch__go(&launch, &error);
        assert_int_equal(code, cases[i].code);
        assert_int_equal(launch__status_of_failure(code), cases[i].status);
        assert_non_null(strstr(error.text, cases[i].name));
        assert_int_equal(launch.end_fd, -1);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
        assert_int_equal(errno, ECHILD);
    }
}

static void nothing_runs_before_the_go(void **state)
{
    (void)state;
    int output = new_output();
    struct launch launch = LAUNCH_INIT;
    launch.output = output;
    assert_int_equal(launch__start(shell("echo ran"), NULL, &launch, &error), 0);
    launch__abandon(&launch);
    char *text = text_of(output);
    assert_string_equal(text, "");
    free(text);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void no_descriptor_of_ours_is_inherited(void **state)
{
    (void)state;
    extern char **environ;
    int expected = new_output(), found = new_output();
    char **list = shell("echo /proc/self/fd/*");
    posix_spawn_file_actions_t actions;
    pid_t pid;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, expected, STDOUT_FILENO);
    assert_int_equal(posix_spawn(&pid, "/bin/sh", &actions, NULL, list, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    waitpid(pid, NULL, 0);
    run_to_end(list, found);
    char *before = text_of(expected), *after = text_of(found);
    assert_non_null(strstr(after, "/proc/self/fd/1 "));
    assert_string_equal(after, before);
    free(before);
    free(after);
}

/* The hexadecimal mask that a line of /proc/PID/status names. */
static unsigned long long mask_in(const char *status, const char *key)
{
    const char *line = strstr(status, key);
    assert_non_null(line);
    return strtoull(line + strlen(key), NULL, 16);
}

#define BIT(signal_number) (1ull << ((signal_number)-1))

/* Signals of the program; SIGQUIT is ignored by whoever ran heurt, SIGINT is not. */
static void the_program_gets_the_signals_that_we_got(void **state)
{
    (void)state;
    char *argv[] = {"cat", "/proc/self/status", NULL};
    int output = new_output();
    sigset_t some, before;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigprocmask(SIG_BLOCK, &some, &before);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGCHLD, SIG_IGN); /* as some shells' children have it: ends must be told still */
    int status = run_to_end(argv, output);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_ptr_equal(signal(SIGQUIT, SIG_DFL), SIG_IGN);
    assert_ptr_equal(signal(SIGCHLD, SIG_DFL), SIG_IGN);
    sigprocmask(SIG_SETMASK, &before, NULL);
    char *text = text_of(output);
    assert_true(mask_in(text, "SigBlk:") & BIT(SIGUSR1));
    assert_false(mask_in(text, "SigBlk:") & (BIT(SIGTERM) | BIT(SIGCHLD) | BIT(SIGUSR2)));
    unsigned long long ignored = mask_in(text, "SigIgn:");
    assert_true(ignored & BIT(SIGQUIT));
    assert_true(ignored & BIT(SIGCHLD));
    assert_false(ignored & (BIT(SIGINT) | BIT(SIGTERM)));
    free(text);
}

static void what_a_process_sends_us_is_passed_on(void **state)
{
    (void)state;
    static const int passed[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        struct launch launch = LAUNCH_INIT;
        struct sigaction now;
        int wait_status;
        assert_int_equal(launch__start(shell("ulimit -c 0; exec sleep 600"), NULL, &launch, &error),
                         0);
        assert_int_equal(launch__go(&launch, &error), 0);
        raise(passed[i]);
        assert_int_equal(launch__wait(&launch, &wait_status, &error), 0);
        assert_true(WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == passed[i]);
        sigaction(passed[i], NULL, &now);
        assert_ptr_equal(now.sa_handler, SIG_DFL);
    }
}

static void check_that_the_end_can_be_polled(bool by_thread)
{
    struct launch launch = LAUNCH_INIT;
    int wait_status;
    assert_int_equal(launch__start(shell("exit 3"), NULL, &launch, &error), 0);
    assert_int_equal(launch.watched, by_thread);
    struct pollfd polled = {launch.end_fd, POLLIN, 0};
    assert_int_equal(poll(&polled, 1, 0), 0);
    assert_true(fcntl(launch.end_fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(launch__go(&launch, &error), 0);
    assert_int_equal(poll(&polled, 1, 60000), 1);
    assert_int_equal(launch__wait(&launch, &wait_status, &error), 0);
    assert_int_equal(WEXITSTATUS(wait_status), 3);
}

static void the_end_can_be_polled(void **state)
{
    (void)state;
    check_that_the_end_can_be_polled(false);
}

/* In a child, since a filter cannot be taken back. */
static void the_end_can_be_polled_without_pidfd(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        struct sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
            _exit(77);
        check_that_the_end_can_be_polled(true);
        _exit(0);
    }
    int wait_status;
    assert_int_equal(waitpid(pid, &wait_status, 0), pid);
    assert_true(WIFEXITED(wait_status));
    if (WEXITSTATUS(wait_status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(wait_status), 0);
}

static void signals_are_raised_again_without_a_core(void **state)
{
    (void)state;
    const int signals[] = {SIGSEGV, SIGTERM, SIGKILL, SIGINT};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
            setrlimit(RLIMIT_CORE, &limit);
            signal(signals[i], SIG_IGN);
            _exit(launch__exit_like(signals[i]));
        }
        int wait_status;
        assert_int_equal(waitpid(pid, &wait_status, 0), pid);
        assert_true(WIFSIGNALED(wait_status));
        assert_int_equal(WTERMSIG(wait_status), signals[i]);
        assert_false(WCOREDUMP(wait_status));
    }
}

static void closed_standard_descriptors_stay_closed_for_the_program(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        close(STDIN_FILENO);
        standard_descriptors__reserve();
        if (fcntl(STDIN_FILENO, F_GETFD) != FD_CLOEXEC || new_output() <= STDERR_FILENO)
            _exit(1);
        int status = run_to_end(shell("test ! -e /proc/$$/fd/0"), -1);
        _exit(WEXITSTATUS(status));
    }
    int wait_status;
    assert_int_equal(waitpid(pid, &wait_status, 0), pid);
    assert_int_equal(wait_status, 0);
}

static void make_file(const char *directory, const char *name)
{
    char *path = memory__format("%s/%s", directory, name);
    for (char *slash = path + strlen(directory) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    free(path);
}

static void expect_runtime(const char *directory, const char *expected)
{
    char *executable = memory__format("%s/bin/heurt", directory), *found;
    assert_int_equal(runtime__find_beside(executable, &found, &error), 0);
    assert_string_equal(found + strlen(directory), expected);
    free(found);
    free(executable);
}

static void the_runtime_is_found_beside_the_program(void **state)
{
    (void)state;
    char directory[] = "/tmp/heurt-launch-XXXXXX", *found = NULL;
    assert_non_null(mkdtemp(directory));
    char *executable = memory__format("%s/bin/heurt", directory);
    make_file(directory, "bin/heurt");
    assert_int_equal(runtime__find_beside(executable, &found, &error), -ENOENT);
    assert_non_null(strstr(error.text, RUNTIME_ENVIRONMENT));
    make_file(directory, "runtime/libheurt.so");
    expect_runtime(directory, "/runtime/libheurt.so");
    make_file(directory, "lib/heurt/libheurt.so"); /* installed before the build tree */
    expect_runtime(directory, "/lib/heurt/libheurt.so");
    make_file(directory, "a b/bin/heurt");
    make_file(directory, "a b/lib/heurt/libheurt.so");
    free(executable);
    executable = memory__format("%s/a b/bin/heurt", directory);
    assert_int_equal(runtime__find_beside(executable, &found, &error), -EINVAL);
    free(executable);
    char *remove[] = {"rm", "-r", directory, NULL};
    run_to_end(remove, -1);
}

int main(void)
{
    /* Whoever runs the tests may have these ignored. */
    static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_told),
        cmocka_unit_test(failed_starts_are_told_apart),
        cmocka_unit_test(nothing_runs_before_the_go),
        cmocka_unit_test(no_descriptor_of_ours_is_inherited),
        cmocka_unit_test(the_program_gets_the_signals_that_we_got),
        cmocka_unit_test(what_a_process_sends_us_is_passed_on),
        cmocka_unit_test(the_end_can_be_polled),
        cmocka_unit_test(the_end_can_be_polled_without_pidfd),
        cmocka_unit_test(signals_are_raised_again_without_a_core),
        cmocka_unit_test(closed_standard_descriptors_stay_closed_for_the_program),
        cmocka_unit_test(the_runtime_is_found_beside_the_program),
    };
    return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
