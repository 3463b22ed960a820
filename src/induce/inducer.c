/* The process that takes a resource, as seen by the one that starts it. */
#include "induce/stream_loss.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/mempolicy.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WINDOW_NS 100000000u /* of one measurement of the most */
#define WINDOWS 3
#define READY_NS 20000000000u /* to have the memory that it asks for */
#define NODES_MOST 1024

struct inducer {
    struct induce_plan plan;
    pid_t pid;
    int file;
    unsigned loaders;
    struct induce_board *board;
    size_t board_bytes;
    double most;             /* requests a second */
    struct stream_loss loss; /* by it a program that streams */
    struct induce_setting {
        double asked, rate; /* rate: a part of the most */
        uint64_t began_ns, before;
    } set; /* the last */
};

const char *induce_kind__name(unsigned kind)
{
    static const char *const names[INDUCE_KINDS] = {"memory", "cache", "cpu", "disk", "lock"};
    return kind < INDUCE_KINDS ? names[kind] : NULL;
}

static uint64_t number_in(const char *path, const char *key, uint64_t unit)
{
    char line[128];
    uint64_t number = UINT64_MAX;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0 &&
            sscanf(line + strlen(key), " %" SCNu64, &number) == 1) {
            number *= unit;
            break;
        }
    if (file)
        fclose(file);
    return number;
}

/* Of the first CPU the largest; a C library may tell of all sockets' together. */
uint64_t induce__cache_bytes(void)
{
    uint64_t most = 0;
    for (unsigned index = 0; index < 8; index++) {
        char path[64];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%u/size", index);
        uint64_t bytes = number_in(path, "", 1024); /* "32768K" */
        most = bytes != UINT64_MAX && bytes > most ? bytes : most;
    }
    return most;
}

/* ---- in the process that takes it ------------------------------------------------------------ */

static void write_word(const char *path, const char *word)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file >= 0 && write(file, word, strlen(word)) < 0)
        errno = 0; /* then it is no more than not the first */
    if (file >= 0)
        close(file);
}

/* What the threads touch first is theirs then. */
static int bind_memory(int node)
{
    unsigned long nodes[NODES_MOST / (8 * sizeof(long))] = {0};
    if (node < 0)
        return 0;
    nodes[(unsigned)node / (8 * sizeof(long))] = 1ul << ((unsigned)node % (8 * sizeof(long)));
    return syscall(SYS_set_mempolicy, MPOL_BIND, nodes, (unsigned long)NODES_MOST) < 0 ? -errno : 0;
}

static int start_loaders(const struct inducer *inducer)
{
    struct induce_loader *loaders = memory__zeroed(inducer->loaders, sizeof *loaders);
    int cpu = -1, code = bind_memory(inducer->plan.node);
    unsigned a_cpu = inducer->plan.kind == INDUCE_CPU ? LOADERS_A_CPU : 1;
    for (unsigned i = 0; code == 0 && i < inducer->loaders; i++) {
        for (bool is_next = i % a_cpu == 0 && inducer->plan.kind != INDUCE_DISK; is_next;)
            is_next = !CPU_ISSET(++cpu, &inducer->plan.cpus);
        bool is_divided = inducer->plan.kind == INDUCE_CACHE;
        loaders[i] = (struct induce_loader){
            .plan = &inducer->plan,
            .board = inducer->board,
            .index = i,
            .cpu = cpu,
            .file = inducer->file,
            .bytes = is_divided ? inducer->plan.bytes / inducer->loaders : inducer->plan.bytes};
        pthread_t thread;
        code = -pthread_create(&thread, NULL, induce_loader__work, &loaders[i]);
    }
    return code;
}

/* Ends by a signal alone; the terminal stops it with the others. */
static _Noreturn void take(const struct inducer *inducer, pid_t parent)
{
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGTSTP);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        raise(SIGKILL);
    prctl(PR_SET_NAME, "heurt-induce");
    write_word("/proc/self/oom_score_adj", "1000");
    int code = start_loaders(inducer);
    if (code)
        atomic_store(&inducer->board->failure, code);
    for (;;)
        pause();
}

/* ---- what it may take ------------------------------------------------------------------------ */

/* Of the machine, and of the control group where it has a limit. */
static uint64_t memory_left(void)
{
    uint64_t left = number_in("/proc/meminfo", "MemAvailable:", 1024),
             limit = number_in("/sys/fs/cgroup/memory.max", "", 1),
             used = number_in("/sys/fs/cgroup/memory.current", "", 1);
    if (limit != UINT64_MAX && used != UINT64_MAX && limit > used && limit - used < left)
        left = limit - used;
    return left;
}

static int check_memory(const struct induce_plan *plan, unsigned loaders, struct error *error)
{
    uint64_t probes = stream_loss__bytes(&plan->program);
    uint64_t wanted = plan->kind == INDUCE_MEMORY  ? plan->bytes * loaders + probes
                      : plan->kind == INDUCE_CACHE ? plan->bytes
                                                   : 0,
             left = memory_left();
    if (wanted <= left / 2)
        return 0;
    return error__set(error, -ENOMEM,
                      "it would take %" PRIu64 " MiB, and half of the memory that is left is "
                      "%" PRIu64 " MiB: the machine might swap; fewer CPUs, or --bytes, take less",
                      wanted >> 20, left >> 21);
}

static int open_file(const struct induce_plan *plan, struct error *error)
{
    struct statfs disk;
    int file = open(plan->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), code = -errno;
    if (file < 0)
        return error__set(error, code, "no file can be made in %s: %s", plan->directory,
                          strerror(-code));
    if (fstatfs(file, &disk) == 0 && (disk.f_type == TMPFS_MAGIC || disk.f_type == RAMFS_MAGIC))
        code = error__set(error, -EINVAL,
                          "%s is in memory: what is written there comes to no disk; --directory "
                          "names another",
                          plan->directory);
    else if (disk.f_bavail * (uint64_t)disk.f_bsize / 2 < plan->bytes)
        code = error__set(error, -ENOSPC,
                          "%" PRIu64 " MiB are more than half of what is left on the disk of %s; "
                          "--bytes takes less",
                          plan->bytes >> 20, plan->directory);
    else if ((code = -posix_fallocate(file, 0, (off_t)plan->bytes)) < 0)
        error__set(error, code, "a file of %" PRIu64 " MiB cannot be made in %s: %s",
                   plan->bytes >> 20, plan->directory, strerror(-code));
    if (code == 0)
        return file;
    close(file);
    return code;
}

/* ---- from outside ---------------------------------------------------------------------------- */

static uint64_t requests_of(const struct inducer *inducer)
{
    uint64_t requests = 0;
    for (unsigned i = 0; i < inducer->loaders; i++)
        requests += atomic_load(&inducer->board->tallies[i].requests);
    return requests;
}

static void sleep_ns(uint64_t ns)
{
    struct timespec rest = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
        ;
}

static void set_rate(struct inducer *inducer, double rate)
{
    uint64_t number = (atomic_load(&inducer->board->setting) >> 32) + 1;
    inducer->set = (struct induce_setting){.asked = rate,
                                           .rate = rate,
                                           .began_ns = clock__ns(CLOCK_MONOTONIC),
                                           .before = requests_of(inducer)};
    atomic_store(&inducer->board->setting, number << 32 | (uint32_t)(rate * LEVEL_ONE + 0.5));
}

/* The best of a few: a neighbour makes it less, and nothing makes it more. */
static void measure_most(struct inducer *inducer)
{
    if (inducer->plan.kind == INDUCE_CPU) {
        inducer->most = 1e9 * CPU_COUNT(&inducer->plan.cpus);
    } else {
        set_rate(inducer, 1);
        for (unsigned i = 0; i < WINDOWS; i++) {
            uint64_t before = requests_of(inducer), began_ns = clock__ns(CLOCK_MONOTONIC);
            sleep_ns(WINDOW_NS);
            double most = (double)(requests_of(inducer) - before) * 1e9 /
                          (double)(clock__ns(CLOCK_MONOTONIC) - began_ns);
            inducer->most = most > inducer->most ? most : inducer->most;
        }
    }
    atomic_store(&inducer->board->rate, (uint64_t)(inducer->most / inducer->loaders));
    set_rate(inducer, 0);
}

static void set_loaders(void *self, double rate)
{
    set_rate(self, rate);
}

static uint64_t requests_of_loaders(void *self)
{
    return requests_of(self);
}

static int measure_loss(struct inducer *inducer)
{
    const struct loss_loaders loaders = {set_loaders, requests_of_loaders, inducer, inducer->most};
    bool is_of_memory = inducer->plan.kind == INDUCE_MEMORY;
    return is_of_memory && CPU_COUNT(&inducer->plan.program)
               ? stream_loss__measure(&inducer->plan.program, &loaders, &inducer->loss)
               : 0;
}

int inducer__failure(const struct inducer *inducer)
{
    siginfo_t end = {.si_pid = 0};
    bool is_known = waitid(P_PID, (id_t)inducer->pid, &end, WEXITED | WNOHANG | WNOWAIT) == 0;
    return is_known && end.si_pid == 0 ? atomic_load(&inducer->board->failure) : -ESRCH;
}

static int await_ready(const struct inducer *inducer, struct error *error)
{
    uint64_t until = clock__ns(CLOCK_MONOTONIC) + READY_NS;
    int code = inducer__failure(inducer);
    while (code == 0 && atomic_load(&inducer->board->ready) < inducer->loaders) {
        sleep_ns(1000000);
        code = clock__ns(CLOCK_MONOTONIC) > until ? -ETIMEDOUT : inducer__failure(inducer);
    }
    return code ? error__set(error, code, "the process that takes the %s cannot begin: %s",
                             induce_kind__name(inducer->plan.kind), strerror(-code))
                : 0;
}

static int fork_process(struct inducer *inducer, struct error *error)
{
    pid_t parent = getpid();
    inducer->board_bytes =
        sizeof *inducer->board + inducer->loaders * sizeof inducer->board->tallies[0];
    inducer->board =
        mmap(NULL, inducer->board_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (inducer->board == MAP_FAILED || (inducer->pid = fork()) < 0)
        return error__set(error, -errno, "cannot start a process beside the program: %s",
                          strerror(errno));
    if (inducer->pid == 0)
        take(inducer, parent);
    return await_ready(inducer, error);
}

int inducer__start(const struct induce_plan *plan, struct inducer **made, struct error *error)
{
    struct inducer *inducer = memory__zeroed(1, sizeof *inducer);
    unsigned cpus = (unsigned)CPU_COUNT(&plan->cpus);
    *inducer = (struct inducer){.plan = *plan,
                                .file = -1,
                                .board = MAP_FAILED,
                                .loss = {.most = {NAN, NAN, NAN}},
                                .loaders = plan->kind == INDUCE_DISK  ? 1
                                           : plan->kind == INDUCE_CPU ? cpus * LOADERS_A_CPU
                                                                      : cpus};
    int code = check_memory(plan, inducer->loaders, error);
    if (code == 0 && plan->kind == INDUCE_DISK) {
        inducer->file = open_file(plan, error);
        code = inducer->file < 0 ? inducer->file : 0;
    }
    code = code ? code : fork_process(inducer, error);
    if (code == 0) {
        measure_most(inducer);
        code = measure_loss(inducer);
        code = code ? code : inducer__failure(inducer);
        if (code)
            error__set(error, code, "the %s cannot be used: %s", induce_kind__name(plan->kind),
                       strerror(-code));
    }
    if (code == 0)
        *made = inducer;
    else
        inducer__stop(inducer);
    return code;
}

void inducer__stop(struct inducer *inducer)
{
    if (!inducer)
        return;
    if (inducer->pid > 0) {
        kill(inducer->pid, SIGKILL);
        while (waitpid(inducer->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (inducer->board != MAP_FAILED)
        munmap(inducer->board, inducer->board_bytes);
    if (inducer->file >= 0)
        close(inducer->file);
    free(inducer);
}

double inducer__most(const struct inducer *inducer)
{
    return inducer->most;
}

struct induce_loss inducer__loss(const struct inducer *inducer)
{
    return inducer->loss.most;
}

double inducer__streamed(const struct inducer *inducer)
{
    return inducer->loss.bytes_a_second;
}

bool inducer__is_of_loss(const struct inducer *inducer)
{
    return stream_loss__is_shown(&inducer->loss);
}

void inducer__set(struct inducer *inducer, double level)
{
    bool is_of_loss = inducer__is_of_loss(inducer);
    set_rate(inducer, is_of_loss ? stream_loss__rate(&inducer->loss, level) : level);
    inducer->set.asked = level;
}

struct induce_told inducer__told(const struct inducer *inducer)
{
    const struct induce_setting *set = &inducer->set;
    double ns = (double)(clock__ns(CLOCK_MONOTONIC) - set->began_ns);
    double requests = (double)(requests_of(inducer) - set->before) * 1e9 / ns;
    double had = inducer->plan.kind == INDUCE_CACHE ? set->asked : requests / inducer->most;
    if (inducer__is_of_loss(inducer))
        had = stream_loss__at(&inducer->loss, set->rate, had);
    return (struct induce_told){set->asked, had, requests};
}
