#include "cmd/repeat.h"

#include "base/memory.h"
#include "cmd/command.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *name_of(const char *directory, uint64_t number)
{
    return memory__format("%s.%" PRIu64, directory, number);
}

/* What heurt compare would take for this set, or for a run of it. 0, or EXIT_HEURT after a
 * sentence.
 */
static int refuse_older(const char *directory, uint64_t count)
{
    char *next = name_of(directory, count + 1);
    const char *there = access(directory, F_OK) == 0 ? directory
                        : access(next, F_OK) == 0    ? next
                                                     : NULL;
    if (there)
        say("%.200s is there from an earlier recording, and heurt compare would take it for this "
            "set's: remove it, or give another name with -o",
            there);
    free(next);
    return there ? EXIT_HEURT : 0;
}

static int run_apart(const char *directory, int (*once)(void *subject, const char *directory),
                     void *subject, int *wait_status)
{
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGQUIT, SIG_DFL);
        _exit(once(subject, directory));
    }
    if (pid < 0) {
        say("cannot start a process for the next run: %s", strerror(errno));
        return EXIT_HEURT;
    }
    while (waitpid(pid, wait_status, 0) < 0 && errno == EINTR)
        ;
    return 0;
}

static int run_all(const char *directory, uint64_t count,
                   int (*once)(void *subject, const char *directory), void *subject,
                   int *wait_status)
{
    int status = 0;
    for (uint64_t i = 1; status == 0 && *wait_status == 0 && i <= count; i++) {
        char *name = name_of(directory, i);
        status = run_apart(name, once, subject, wait_status);
        if (*wait_status)
            say("run %" PRIu64 " of %" PRIu64 " did not end well: no more are made", i, count);
        free(name);
    }
    return status;
}

int repeat__run(const char *directory, uint64_t count,
                int (*once)(void *subject, const char *directory), void *subject, int *wait_status)
{
    int status = refuse_older(directory, count);
    if (status)
        return status;
    signal(SIGINT, SIG_IGN); /* the run that is interrupted tells */
    signal(SIGQUIT, SIG_IGN);
    *wait_status = 0;
    status = run_all(directory, count, once, subject, wait_status);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    return status;
}
