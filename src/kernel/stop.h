/* stop.h: stops all threads of another process for a moment, as if nothing had happened to it.
 *
 *     struct stop *stop = stop__new(pid);
 *     if (stop__begin(stop, &error) == 0) {      every thread stands still
 *         … stop__threads, stop__read, stop__write, stop__step …
 *         stop__end(stop);
 *     }
 *     while (!stop__tend(stop)) …                from time to time, until true
 *     stop__free(stop);
 *
 * By ptrace (PTRACE_SEIZE and PTRACE_INTERRUPT): no signal is sent, a process that job control has
 * stopped stays so, signals that come meanwhile are delivered afterwards with what they carry. What
 * a stop changes for system calls is put right:
 *   - a system call that a stop ends with EINTR (epoll_wait, semop, sigtimedwait, io_getevents,
 *     sockets with a timeout …) is made again, with its whole timeout, unless a handler runs: then
 *     EINTR is the truth. The kernel decides it, as it does for other calls, so no signal falls
 *     between;
 *   - a write, sendto, or recvfrom that waits for all (MSG_WAITALL) on a pipe or socket that a stop
 *     ends half done is continued to its end. writev, sendmsg and sendfile are not: they may come
 *     back short, as they may after SIGSTOP and SIGCONT.
 * If this process dies meanwhile, the kernel lets the other one go on.
 *
 * One thing shows through, rarely: a signal that the program ignores by default (SIGCHLD) and that
 * comes while the threads are being seized or let go, one after the other, may end another
 * thread's wait early, as a stop by job control does.
 *
 * A thread in the middle of vfork, or in a sleep that nothing interrupts, does not stop: the
 * attempt is given up after a bounded time, and the thread let go when it comes back.
 * The ends of the process that is our own child are left to who waits for it.
 * All calls about one process from one thread. */
#ifndef HEURT_KERNEL_STOP_H
#define HEURT_KERNEL_STOP_H

#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct stop;

struct stopped_thread {
    pid_t tid;
    struct user_regs_struct registers; /* as it stands; for reading */
    int signal;                        /* delivered when it is let go; 0: none */
    /* private */
    int phase, leaves;
    bool stepping, entered, by_job_control;
    uint64_t done; /* bytes of its transfer */
};

struct stop *stop__new(pid_t pid);
/* Of one thread alone: the others go on. */
struct stop *stop__new_of(pid_t pid, pid_t tid);
/* What still had to be tended goes on without. NULL is allowed. */
void stop__free(struct stop *stop);

/* 0, or with all let go again: -EAGAIN: try later; -EPERM: traced by another (gdb, strace) or not
 * allowed; -ESRCH: it has ended. */
int stop__begin(struct stop *stop, struct error *error);
void stop__end(struct stop *stop);
/* Looks after threads that could not be let go at once. True: there is none left. */
bool stop__tend(struct stop *stop);

/* Between begin and end. */
const struct vec *stop__threads(const struct stop *stop); /* struct stopped_thread */
/* It was let go by others (remote_call.h), or has ended. */
void stopped_thread__let_out(struct stopped_thread *thread);
/* Lets it execute one instruction. -EAGAIN: it is in a system call or about to get a signal, or did
 * not come back in time. */
int stop__step(struct stop *stop, struct stopped_thread *thread);
/* The process' memory, whatever its protection. False: not all of it is mapped. Never short. */
bool stop__read(const struct stop *stop, uint64_t address, void *bytes, size_t count);
bool stop__write(const struct stop *stop, uint64_t address, const void *bytes, size_t count);

#endif
