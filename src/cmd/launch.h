/* launch.h: starting a program, watching it, and ending as it ended.
 *
 *     launch__start   forks; the child waits, so that perf events or a socket can be attached to it
 *     launch__go      lets it exec; tells an exec that failed from a program that runs
 *     launch__wait    collects its end
 *     launch__exit_like
 *
 * From launch__start on, this process passes on INT, QUIT, TERM, HUP, USR1, USR2 and WINCH when a
 * process sent them, and not when the terminal did, which sends them to the program too;
 * launch__wait undoes that.  The program gets signal mask and
 * dispositions exactly as this process had inherited them, and no descriptor of ours.
 * One launch at a time; not thread-safe.
 *
 * In goes a command line, out come its end and what it used. It costs a fork and an exec, and a
 * watching thread on kernels without pidfd_open(2). It stands on libc alone. */
#ifndef HEURT_CMD_LAUNCH_H
#define HEURT_CMD_LAUNCH_H

#include "base/error.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define LAUNCH_SIGNALS 8 /* those whose disposition this process changes meanwhile */

struct launch {
    int output;    /* set before the start: becomes the program's stdout (stays open here); or -1 */
    unsigned cpus; /* likewise: the first so many of those that it may use; 0: all of them */
    pid_t pid;
    int end_fd;           /* becomes readable when the program has ended: for poll(2) */
    uint64_t started_ns;  /* CLOCK_MONOTONIC at launch__go */
    uint64_t ended_ns;    /* and when its end was collected */
    struct rusage usage;  /* of the program and the descendants it waited for; after the wait */
    const char *name;     /* argv[0], for sentences */
    int go_fd, failed_fd; /* private from here on */
    bool watched;         /* end_fd is an eventfd that a thread writes: no pidfd_open here */
    pthread_t watcher;
    sigset_t mask;
    struct sigaction dispositions[LAUNCH_SIGNALS];
};

#define LAUNCH_INIT                                              \
    {                                                            \
        .output = -1, .end_fd = -1, .go_fd = -1, .failed_fd = -1 \
    }

/* Opens /dev/null in place of each of 0, 1, 2 that is closed, so that no file of ours lands there;
 * close-on-exec, so that the program finds them closed as they were. Call it before anything is
 * opened. */
void standard_descriptors__reserve(void);

/* Forks a child that waits for launch__go. envp NULL: this process' environment.
 * Returns 0 or a negative errno with a sentence. */
int launch__start(char **argv, char **envp, struct launch *launch, struct error *error);

/* Lets the child exec argv[0], found along PATH. When it could not: collects the child and returns
 * the negative errno of exec with a sentence; launch__status_of_failure makes 126 or 127 of it. */
int launch__go(struct launch *launch, struct error *error);
int launch__status_of_failure(int code);

/* Ends the waiting child instead of launch__go, e.g. when nothing could be attached to it. */
void launch__abandon(struct launch *launch);

/* Waits until the program has ended, frees everything. wait_status as by waitpid(2). */
int launch__wait(struct launch *launch, int *wait_status, struct error *error);

/* The exit status to end with; a signal that killed the program is raised here first, with core
 * dumps off, so that a shell sees the same end.  Does not return then. */
int launch__exit_like(int wait_status);

#endif
