#include "kernel/stop.h"

#include "base/clock.h"
#include "base/memory.h"
#include "format/layout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EVENT_STOP 128 /* PTRACE_EVENT_STOP */
#define ROUNDS_MAX 200 /* looks for threads that were born meanwhile */
#define BEGIN_NS 300000000u
#define BAD_MOMENTS_MAX 20
#define STEP_NS 20000000u
#define END_NS 5000000u

/* Kernel threads in a process' list, which never run its code: io_uring's and vhost's workers. */
#define FLAG_KTHREAD 0x00200000u
#define FLAG_IO_WORKER 0x00000010u
#define FLAG_USER_WORKER 0x00004000u

enum phase {
    ASKED = 0, /* to stop */
    STOPPED,
    CONTINUING, /* in the rest of a transfer */
    ENDING,     /* dead, or about to die */
};

enum leaves { LEAVES_FIRST, LEAVES_BETWEEN, LEAVES_LAST };

struct stop {
    pid_t pid;
    pid_t only; /* this thread; 0: all */
    bool is_own_child;
    unsigned bad_moments; /* in a row */
    struct vec threads;   /* struct stopped_thread */
    int memory_fd;
};

/* What waitid told. */
struct stop_change {
    enum { NOTHING, HAS_STOPPED, HAS_ENDED } kind;
    int signal; /* without 0x80, which marks a system call's entry and exit */
    int event;
    bool at_call;
};

/* ---- what /proc tells ------------------------------------------------------------------------ */

struct thread_info {
    char state;
    pid_t parent;
    unsigned flags;
};

static bool thread_info__read(pid_t pid, pid_t tid, struct thread_info *info)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[count > 0 ? count : 0] = 0;
    const char *rest = strrchr(text, ')');
    return rest && sscanf(rest + 1, " %c %d %*d %*d %*d %*d %u", &info->state, &info->parent,
                          &info->flags) == 3;
}

static bool is_dead(pid_t pid, pid_t tid)
{
    struct thread_info info;
    return !thread_info__read(pid, tid, &info) || info.state == 'Z' || info.state == 'X';
}

/* Whether it is in a sleep that nothing interrupts: for a disk, for a vforked child. */
static bool sleeps_deeply(pid_t pid, pid_t tid)
{
    struct thread_info info;
    return thread_info__read(pid, tid, &info) && info.state == 'D';
}

static bool waits_for_vfork(pid_t pid, pid_t tid)
{
    char path[64];
    long call = -1;
    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", pid, tid);
    FILE *in = fopen(path, "re");
    if (in && fscanf(in, "%ld", &call) != 1)
        call = -1;
    if (in)
        fclose(in);
    return call == SYS_vfork || call == SYS_clone || call == SYS_clone3;
}

/* Whether signals that are mostly ignored are sent to that thread: SIGCHLD goes to the one that has
 * the child, those of the whole process to its first. */
static bool gets_idle_signals(pid_t pid, pid_t tid)
{
    char path[64], byte;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool has_children = fd >= 0 && read(fd, &byte, 1) == 1;
    if (fd >= 0)
        close(fd);
    return has_children || tid == pid;
}

static bool never_runs_code(pid_t pid, pid_t tid)
{
    struct thread_info info;
    return thread_info__read(pid, tid, &info) &&
           info.flags & (FLAG_KTHREAD | FLAG_IO_WORKER | FLAG_USER_WORKER);
}

#define SIGNAL_BIT(number) (1ull << ((number)-1))

struct signal_sets {
    unsigned long long pending; /* for any thread of the process */
    unsigned long long blocked, ignored, caught;
};

static struct signal_sets signal_sets__read(pid_t pid, pid_t tid)
{
    struct signal_sets sets = {0};
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, tid);
    FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "ShdPnd: %llx", &sets.pending) == 1 ||
            sscanf(line, "SigBlk: %llx", &sets.blocked) == 1 ||
            sscanf(line, "SigIgn: %llx", &sets.ignored) == 1 ||
            sscanf(line, "SigCgt: %llx", &sets.caught) == 1)
            continue;
    if (in)
        fclose(in);
    return sets;
}

/* The signals that do nothing when they are delivered. */
static unsigned long long signal_sets__idle(const struct signal_sets *sets)
{
    return sets->ignored | ((SIGNAL_BIT(SIGCHLD) | SIGNAL_BIT(SIGURG) | SIGNAL_BIT(SIGWINCH) |
                             SIGNAL_BIT(SIGCONT)) &
                            ~sets->caught);
}

/* Whether the program has a handler for that signal. */
static bool is_caught(const struct stop *stop, const struct stopped_thread *thread, int number)
{
    return number > 0 && signal_sets__read(stop->pid, thread->tid).caught & SIGNAL_BIT(number);
}

static bool is_pipe_or_socket(const struct stop *stop, uint64_t descriptor)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", stop->pid, (int)descriptor);
    return stat(path, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

/* ---- one thread ------------------------------------------------------------------------------ */

/* Takes the next thing that happened to it, but for the end of our own child. */
static struct stop_change look(const struct stop *stop, pid_t tid)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)tid, &info, WEXITED | WSTOPPED | __WALL | WNOHANG | WNOWAIT) < 0)
        return (struct stop_change){.kind = errno == EINTR ? NOTHING : HAS_ENDED};
    if (info.si_pid == 0)
        return (struct stop_change){.kind = NOTHING};
    bool ended = info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED;
    if (ended && stop->is_own_child && tid == stop->pid)
        return (struct stop_change){.kind = HAS_ENDED};
    info.si_pid = 0;
    if (waitid(P_PID, (id_t)tid, &info, (ended ? WEXITED : WSTOPPED) | __WALL | WNOHANG) < 0 ||
        info.si_pid == 0)
        return (struct stop_change){.kind = NOTHING};
    return (struct stop_change){
        .kind = ended ? HAS_ENDED : HAS_STOPPED,
        .signal = info.si_status & 0x7f,
        .event = info.si_status >> 8,
        .at_call = !ended && info.si_status == (SIGTRAP | 0x80),
    };
}

/* A sample that the runtime takes, and no signal of the program's: it may be left out. */
static bool is_of_timers(const siginfo_t *info)
{
    return info->si_code == SI_TIMER && (int64_t)info->si_value.sival_ptr == HEURT_TIMER_VALUE;
}

static bool is_timers(const struct stopped_thread *thread, int number)
{
    siginfo_t info = {0};
    return number && ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) == 0 &&
           is_of_timers(&info);
}

/* One of them is still to be delivered to the thread. */
static bool awaits_timers(const struct stopped_thread *thread)
{
    enum { MOST = 8 };
    siginfo_t pending[MOST];
    struct __ptrace_peeksiginfo_args which = {.nr = MOST};
    long count = ptrace(PTRACE_PEEKSIGINFO, thread->tid, &which, pending);
    for (long i = 0; i < count; i++)
        if (is_of_timers(&pending[i]))
            return true;
    return false;
}

/* What the thread's stop means: a signal that waits to be delivered, or nothing. */
static void take_stop(struct stopped_thread *thread, const struct stop_change *change)
{
    bool is_step = thread->stepping && change->event == 0 && change->signal == SIGTRAP;
    thread->signal = change->event == 0 && !is_step && !change->at_call ? change->signal : 0;
    if (is_timers(thread, thread->signal))
        thread->signal = 0;
    thread->stepping = false;
    thread->by_job_control = change->event && change->signal != SIGTRAP;
    bool read = ptrace(PTRACE_GETREGS, thread->tid, NULL, &thread->registers) == 0;
    thread->phase = read ? STOPPED : ENDING;
}

static void detach(struct stopped_thread *thread, int signal_number)
{
    bool done = ptrace(PTRACE_DETACH, thread->tid, NULL, (void *)(intptr_t)signal_number) == 0;
    thread->phase = ENDING; /* not done: it was killed meanwhile, and its end has to be collected */
    if (done)
        thread->tid = 0;
}

static void resume(struct stopped_thread *thread, int signal_number)
{
    if (ptrace(PTRACE_SYSCALL, thread->tid, NULL, (void *)(intptr_t)signal_number) != 0)
        thread->phase = ENDING;
}

static bool is_in_call(const struct stopped_thread *thread)
{
    return (int64_t)thread->registers.orig_rax >= 0;
}

/* ---- letting a thread go as if it had not been stopped --------------------------------------- */

/* Whether the system call is one of those that end with EINTR although no handler has run
 * (signal(7), "Interruption of system calls and library functions by stop signals"), and that may
 * be made again since nothing was done. */
static bool is_repeatable(uint64_t call)
{
    static const uint16_t calls[] = {
        SYS_epoll_wait,   SYS_epoll_pwait, 441 /* epoll_pwait2 */,
        SYS_semop,        SYS_semtimedop,  SYS_rt_sigtimedwait,
        SYS_io_getevents, SYS_connect,     333 /* io_pgetevents */,
        SYS_read,         SYS_readv,       426 /* io_uring_enter */,
        SYS_recvfrom,     SYS_recvmsg,     SYS_recvmmsg,
        SYS_accept,       SYS_accept4,     SYS_write,
        SYS_writev,       SYS_sendto,      SYS_sendmsg,
        SYS_sendmmsg,
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (calls[i] == call)
            return true;
    return false;
}

/* What the kernel itself gives a call that is to be made again, unless a handler runs: then it ends
 * with EINTR (ERESTARTNOHAND in its linux/errno.h). Tracers see it, programs never. */
#define RESTART_UNLESS_HANDLED (-514)
#define RESTART (-512) /* ERESTARTSYS */

/* Whether it stands behind its system call, with the result: when the kernel has set it back to
 * make the call again, it stands before it, and rax is the call's number. */
static bool has_result(const struct stopped_thread *thread)
{
    return is_in_call(thread) && thread->registers.rip == thread->registers.rcx;
}

static bool was_interrupted(const struct stopped_thread *thread)
{
    return has_result(thread) && (int64_t)thread->registers.rax == -EINTR &&
           is_repeatable(thread->registers.orig_rax);
}

static bool is_half_done(const struct stop *stop, const struct stopped_thread *thread)
{
    const struct user_regs_struct *registers = &thread->registers;
    if (!has_result(thread) || (int64_t)registers->rax <= 0 || registers->rax >= registers->rdx ||
        (thread->signal && is_caught(stop, thread, thread->signal)))
        return false;
    bool transfers = registers->orig_rax == SYS_write || registers->orig_rax == SYS_sendto ||
                     (registers->orig_rax == SYS_recvfrom && registers->r10 & MSG_WAITALL);
    return transfers && is_pipe_or_socket(stop, registers->rdi);
}

static bool set_registers(struct stopped_thread *thread, const struct user_regs_struct *registers)
{
    bool done = ptrace(PTRACE_SETREGS, thread->tid, NULL, registers) == 0;
    if (!done)
        thread->phase = ENDING;
    return done;
}

/* Sends it into its call again, for what is left to be transferred. */
static void call_again(struct stopped_thread *thread, int signal_number)
{
    struct user_regs_struct registers = thread->registers;
    registers.rax = registers.orig_rax;
    registers.orig_rax = ~0ull; /* no call is under way that the kernel would restart */
    registers.rip -= 2;         /* syscall */
    registers.rsi += thread->done;
    registers.rdx -= thread->done;
    thread->phase = CONTINUING;
    thread->entered = false;
    if (set_registers(thread, &registers))
        resume(thread, signal_number);
}

/* As it was found, but with that result. */
static void give_result(struct stopped_thread *thread, int64_t result, int signal_number)
{
    thread->registers.rax = (uint64_t)result;
    if (set_registers(thread, &thread->registers))
        detach(thread, signal_number);
}

static void let_go(const struct stop *stop, struct stopped_thread *thread)
{
    if (was_interrupted(thread)) {
        give_result(thread, RESTART_UNLESS_HANDLED, thread->signal);
    } else if (is_half_done(stop, thread)) {
        thread->done = thread->registers.rax;
        call_again(thread, thread->signal);
    } else {
        detach(thread, thread->signal);
    }
}

/* The rest of a transfer has ended: with all, with an error, or by a signal. */
static void end_transfer(struct stopped_thread *thread)
{
    struct user_regs_struct registers = {.rax = 0};
    ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers);
    int64_t result = (int64_t)registers.rax;
    if (result > 0)
        thread->done += (uint64_t)result;
    if (thread->done < thread->registers.rdx && (result > 0 || result == RESTART))
        call_again(thread, 0); /* a signal: if it has a handler, it comes before the call */
    else
        give_result(thread, (int64_t)thread->done, 0);
}

static void go_on(const struct stop *stop, struct stopped_thread *thread,
                  const struct stop_change *change)
{
    if (change->at_call && thread->entered) {
        end_transfer(thread);
    } else if (!change->event && is_timers(thread, change->signal)) {
        resume(thread, 0);
    } else if (change->at_call || (change->event && change->signal == SIGTRAP)) {
        thread->entered = change->at_call; /* else our interrupt, which a signal had overtaken */
        resume(thread, 0);
    } else if (change->event || is_caught(stop, thread, change->signal)) {
        give_result(thread, (int64_t)thread->done, change->event ? 0 : change->signal);
    } else {
        resume(thread, change->signal);
    }
}

/* One that is still ours after stop__end, to which something happened. */
static void advance(const struct stop *stop, struct stopped_thread *thread,
                    const struct stop_change *change)
{
    if (change->kind == HAS_ENDED)
        thread->tid = 0;
    else if (thread->phase == CONTINUING)
        go_on(stop, thread, change);
    else {
        take_stop(thread, change);
        if (thread->phase == STOPPED)
            let_go(stop, thread);
    }
}

/* ---- all threads ----------------------------------------------------------------------------- */

static void drop_gone(struct stop *stop)
{
    struct stopped_thread *threads = stop->threads.items;
    size_t kept = 0;
    for (size_t i = 0; i < stop->threads.count; i++)
        if (threads[i].tid)
            threads[kept++] = threads[i];
    stop->threads.count = kept;
}

static bool is_known(const struct stop *stop, pid_t tid)
{
    VEC_EACH (thread, &stop->threads, const struct stopped_thread)
        if (thread->tid == tid)
            return true;
    return false;
}

/* 0, also when it is gone or runs no code. */
static int seize(struct stop *stop, pid_t tid, struct error *error)
{
    if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD) != 0) {
        int code = -errno;
        if (code == -ESRCH || is_dead(stop->pid, tid) || never_runs_code(stop->pid, tid))
            return 0;
        return error__set(error, code,
                          "process %d cannot be stopped for a moment (traced by a debugger, or not "
                          "allowed: kernel.yama.ptrace_scope, another user's rights): %s",
                          stop->pid, strerror(-code));
    }
    vec__push(&stop->threads, &(struct stopped_thread){.tid = tid, .phase = ASKED});
    return 0;
}

static bool is_meant(const struct stop *stop, pid_t tid)
{
    return tid > 0 && (!stop->only || tid == stop->only);
}

/* The threads that are not known yet; late: those of them that get idle signals. The kernel's list
 * breaks off at a thread that ends while it is read: it is whole when as many were listed as there
 * are (a directory has two links more). */
static int list_new(const struct stop *stop, struct vec *tids, struct vec *late, bool *whole)
{
    char path[64];
    struct stat status;
    size_t listed = 0;
    snprintf(path, sizeof path, "/proc/%d/task", stop->pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return -ESRCH;
    for (struct dirent *entry; (entry = readdir(tasks));) {
        pid_t tid = (pid_t)atoi(entry->d_name);
        listed += tid > 0;
        if (is_meant(stop, tid) && !is_known(stop, tid))
            vec__push(gets_idle_signals(stop->pid, tid) ? late : tids, &tid);
    }
    *whole = fstat(dirfd(tasks), &status) == 0 && listed + 2 >= status.st_nlink;
    closedir(tasks);
    return 0;
}

/* How many threads were not known, or may have been overlooked; or a negative errno. All are seized
 * before the first stops, and those that get signals of which most programs want to know nothing
 * last: a signal that is ignored is not ignored while the thread is traced that it is sent to, and
 * could wake another one that is not, whose call would end with EINTR without anybody to see it. */
static int seize_new(struct stop *stop, struct error *error)
{
    struct vec tids = VEC_OF(pid_t), late = VEC_OF(pid_t);
    size_t known = stop->threads.count;
    bool whole = false;
    int code = list_new(stop, &tids, &late, &whole);
    if (code < 0)
        error__set(error, code, "process %d has ended", stop->pid);
    VEC_EACH (tid, &late, const pid_t)
        vec__push(&tids, tid);
    VEC_EACH (tid, &tids, const pid_t)
        if (code >= 0 && !is_known(stop, *tid))
            code = seize(stop, *tid, error);
    vec__free(&late);
    vec__free(&tids);
    for (size_t i = known; i < stop->threads.count; i++)
        ptrace(PTRACE_INTERRUPT, VEC_AT(&stop->threads, struct stopped_thread, i)->tid, NULL, NULL);
    return code < 0 ? code : (int)(stop->threads.count - known) + !whole;
}

/* False: not all stand still yet. */
static bool gather(struct stop *stop)
{
    bool all = true;
    VEC_EACH (thread, &stop->threads, struct stopped_thread) {
        if (thread->phase == STOPPED)
            continue;
        struct stop_change change = look(stop, thread->tid);
        if (change.kind == HAS_ENDED)
            thread->tid = 0;
        else if (change.kind == HAS_STOPPED)
            take_stop(thread, &change);
        else if (thread->tid == stop->pid && is_dead(stop->pid, thread->tid))
            thread->phase = ENDING; /* others of its process live, so nobody can collect it yet */
        all &= !thread->tid || thread->phase == STOPPED ||
               (thread->phase == ENDING && thread->tid == stop->pid);
    }
    drop_gone(stop);
    return all;
}

static void pause_a_little(unsigned *ns)
{
    nanosleep(&(struct timespec){.tv_nsec = *ns}, NULL);
    if (*ns < 1000000)
        *ns *= 2;
}

static bool gather_until(struct stop *stop, uint64_t deadline_ns)
{
    unsigned pause_ns = 20000;
    while (!gather(stop)) {
        if (clock__ns(CLOCK_MONOTONIC) > deadline_ns)
            return false;
        pause_a_little(&pause_ns);
    }
    return true;
}

/* A thread that will not stop soon is better not asked: the others would stand still in vain, and
 * go on while it is still traced (see drop_idle_signals). Some programs always have one that waits
 * for a disk: when that was seen often, it is waited for. */
static bool is_good_moment(struct stop *stop)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", stop->pid);
    DIR *tasks = opendir(path);
    bool good = true;
    for (struct dirent *entry; tasks && good && (entry = readdir(tasks));) {
        pid_t tid = (pid_t)atoi(entry->d_name);
        good = !is_meant(stop, tid) || !sleeps_deeply(stop->pid, tid) ||
               (stop->bad_moments >= BAD_MOMENTS_MAX && !waits_for_vfork(stop->pid, tid));
    }
    if (tasks)
        closedir(tasks);
    stop->bad_moments = good ? 0 : stop->bad_moments + 1;
    return good;
}

static int stop_all(struct stop *stop, struct error *error)
{
    if (!is_good_moment(stop))
        return error__set(error, -EAGAIN, "a thread of process %d is in a sleep that nothing ends",
                          stop->pid);
    uint64_t deadline_ns = clock__ns(CLOCK_MONOTONIC) + BEGIN_NS;
    for (unsigned round = 0; round < ROUNDS_MAX; round++) {
        int fresh = seize_new(stop, error);
        if (fresh < 0)
            return fresh;
        if (fresh == 0 && stop->threads.count == 0)
            return error__set(error, -ESRCH, "process %d has ended", stop->pid);
        if (fresh == 0)
            return 0;
        if (!gather_until(stop, deadline_ns))
            break;
    }
    return error__set(error, -EAGAIN, "a thread of process %d does not stop", stop->pid);
}

int stop__begin(struct stop *stop, struct error *error)
{
    struct thread_info info;
    if (!stop__tend(stop))
        return error__set(error, -EAGAIN, "a thread of process %d is in the middle of a call",
                          stop->pid);
    stop->is_own_child = thread_info__read(stop->pid, stop->pid, &info) && info.parent == getpid();
    int code = stop_all(stop, error);
    if (code == 0) {
        /* Not before: an exec would have left us with the memory of the old program. */
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/mem", stop->pid);
        stop->memory_fd = open(path, O_RDWR | O_CLOEXEC);
        if (stop->memory_fd < 0)
            code = error__set(error, -errno, "the memory of process %d cannot be opened: %s",
                              stop->pid, strerror(errno));
    }
    if (code < 0)
        stop__end(stop);
    return code;
}

/* Waits until a thread that was resumed has stopped again. */
static void await_stop(struct stop *stop, struct stopped_thread *thread)
{
    uint64_t deadline_ns = clock__ns(CLOCK_MONOTONIC) + STEP_NS;
    unsigned pause_ns = 5000;
    while (thread->phase == ASKED && clock__ns(CLOCK_MONOTONIC) < deadline_ns) {
        struct stop_change change = look(stop, thread->tid);
        if (change.kind == HAS_STOPPED)
            take_stop(thread, &change);
        else if (change.kind == HAS_ENDED)
            thread->phase = ENDING;
        else
            pause_a_little(&pause_ns);
    }
    if (thread->phase == ASKED)
        ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
}

/* A signal that the program ignores is dropped as it is sent, but not while a thread is traced:
 * then it is kept, and would wake some thread that has been let go, whose write came back short.
 * One of those that still stand takes it now: with a signal to take it comes no further than its
 * delivery, where it stops. */
static void drop_idle_signals(struct stop *stop)
{
    VEC_EACH (thread, &stop->threads, struct stopped_thread) {
        if (thread->phase != STOPPED || thread->signal || thread->by_job_control)
            continue;
        struct signal_sets sets = signal_sets__read(stop->pid, thread->tid);
        unsigned long long idle = signal_sets__idle(&sets);
        if (!(sets.pending & idle))
            return;
        if (!(sets.pending & idle & ~sets.blocked) ||
            ptrace(PTRACE_CONT, thread->tid, NULL, NULL) != 0)
            continue;
        thread->phase = ASKED;
        await_stop(stop, thread);
        if (thread->phase == STOPPED && thread->signal && SIGNAL_BIT(thread->signal) & idle)
            thread->signal = 0;
    }
}

/* The handler of a sample would end a call with EINTR that our stop has interrupted: as it comes no
 * further than its delivery, it is taken away. */
static void drop_timers(struct stop *stop)
{
    VEC_EACH (thread, &stop->threads, struct stopped_thread) {
        if (thread->phase != STOPPED || thread->signal || thread->by_job_control ||
            !awaits_timers(thread) || ptrace(PTRACE_CONT, thread->tid, NULL, NULL) != 0)
            continue;
        thread->phase = ASKED;
        await_stop(stop, thread); /* take_stop leaves the signal out */
    }
}

void stop__end(struct stop *stop)
{
    if (stop->memory_fd >= 0)
        close(stop->memory_fd);
    stop->memory_fd = -1;
    drop_idle_signals(stop);
    drop_timers(stop);
    /* The other way round than they were seized, those whose call was interrupted last. What is
     * asked of /proc is asked before, so that the time between is short. */
    VEC_EACH (thread, &stop->threads, struct stopped_thread)
        thread->leaves = gets_idle_signals(stop->pid, thread->tid) ? LEAVES_FIRST
                         : was_interrupted(thread)                 ? LEAVES_LAST
                                                                   : LEAVES_BETWEEN;
    for (int turn = LEAVES_FIRST; turn <= LEAVES_LAST; turn++)
        VEC_EACH (thread, &stop->threads, struct stopped_thread)
            if (thread->tid && thread->phase == STOPPED && thread->leaves == turn)
                let_go(stop, thread);
    uint64_t deadline_ns = clock__ns(CLOCK_MONOTONIC) + END_NS;
    unsigned pause_ns = 20000;
    while (!stop__tend(stop) && clock__ns(CLOCK_MONOTONIC) < deadline_ns)
        pause_a_little(&pause_ns);
}

bool stop__tend(struct stop *stop)
{
    VEC_EACH (thread, &stop->threads, struct stopped_thread) {
        if (!thread->tid)
            continue;
        struct stop_change change = look(stop, thread->tid);
        if (change.kind != NOTHING)
            advance(stop, thread, &change);
        else if (thread->tid == stop->pid && stop->is_own_child && thread->phase == ENDING)
            thread->tid = 0; /* who waits for our child collects it */
    }
    drop_gone(stop);
    return stop->threads.count == 0;
}

struct stop *stop__new(pid_t pid)
{
    struct stop *stop = memory__zeroed(1, sizeof *stop);
    stop->pid = pid;
    stop->memory_fd = -1;
    stop->threads = VEC_OF(struct stopped_thread);
    return stop;
}

struct stop *stop__new_of(pid_t pid, pid_t tid)
{
    struct stop *stop = stop__new(pid);
    stop->only = tid;
    return stop;
}

void stop__free(struct stop *stop)
{
    if (!stop)
        return;
    vec__free(&stop->threads);
    free(stop);
}

/* ---- while it is stopped --------------------------------------------------------------------- */

void stopped_thread__let_out(struct stopped_thread *thread)
{
    thread->phase = ENDING;
    thread->tid = 0;
}

const struct vec *stop__threads(const struct stop *stop)
{
    return &stop->threads;
}

int stop__step(struct stop *stop, struct stopped_thread *thread)
{
    if (thread->phase != STOPPED || thread->signal || thread->by_job_control ||
        is_in_call(thread) || ptrace(PTRACE_SINGLESTEP, thread->tid, NULL, NULL) != 0)
        return -EAGAIN;
    thread->phase = ASKED;
    thread->stepping = true;
    await_stop(stop, thread);
    return thread->phase == STOPPED && !thread->signal ? 0 : -EAGAIN;
}

bool stop__read(const struct stop *stop, uint64_t address, void *bytes, size_t count)
{
    return pread(stop->memory_fd, bytes, count, (off_t)address) == (ssize_t)count;
}

/* For kernels that do not let /proc/PID/mem write where the program itself may not. */
static bool poke(pid_t tid, uint64_t address, const uint8_t *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        uint64_t at = (address + done) & ~7ull;
        size_t skip = address + done - at;
        size_t part = count - done < 8 - skip ? count - done : 8 - skip;
        errno = 0;
        long word = ptrace(PTRACE_PEEKDATA, tid, (void *)at, NULL);
        if (errno)
            return false;
        memcpy((uint8_t *)&word + skip, bytes + done, part);
        if (ptrace(PTRACE_POKEDATA, tid, (void *)at, (void *)word) != 0)
            return false;
        done += part;
    }
    return true;
}

bool stop__write(const struct stop *stop, uint64_t address, const void *bytes, size_t count)
{
    if (pwrite(stop->memory_fd, bytes, count, (off_t)address) == (ssize_t)count)
        return true;
    VEC_EACH (thread, &stop->threads, const struct stopped_thread)
        if (thread->phase == STOPPED)
            return poke(thread->tid, address, bytes, count);
    return false;
}
