/* kernel_known.c: switches and page faults that the program counts itself.
 *
 *     kernel_known switches    a thread that sleeps SLEEPS times in known_window
 *     kernel_known faults      one that touches PAGES fresh pages there
 *     kernel_known storms      one that touches STORM_PAGES fresh pages, STORMS times, each time in
 *                              one call of known_window: more than its first ring holds
 *     kernel_known preempted   two that share one CPU and compute in known_window
 *     kernel_known forks       a child by fork, one by the bare call, one that is another program
 *     kernel_known unchanged   says which descriptors are open in threads, and errno
 *     kernel_known under seccomp       sleeps SLEEPS times when only few system calls are allowed
 *
 * What it prints of a thread is between two looks at the system's own counts just around the call
 * of known_window.  Before it the thread releases a lock, so that what was before is recorded
 * before. */
#include "known.h"

#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { SLEEPS = 25, PAGES = 400, BUSY_MS = 150, STORMS = 4, STORM_PAGES = 3000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile char *pages;

static long long ns_of(clockid_t clock)
{
    struct timespec now;
    syscall(SYS_clock_gettime, clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* No hook sees it. */
static void sleep_bare(void)
{
    const struct timespec time = {0, 300000};
    syscall(SYS_nanosleep, &time, NULL);
}

static void sleep_often(void)
{
    for (int i = 0; i < SLEEPS; i++)
        sleep_bare();
}

static void touch_pages(void)
{
    long bytes = sysconf(_SC_PAGESIZE);
    for (int i = 0; i < PAGES; i++)
        pages[i * bytes] = 1;
}

static void touch_many(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = STORM_PAGES * page;
    char *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    KNOWN_CHECK(fresh != MAP_FAILED);
    madvise(fresh, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < STORM_PAGES; i++)
        *(volatile char *)(fresh + i * page) = 1;
    munmap(fresh, bytes);
}

static void compute(void)
{
    long long until = ns_of(CLOCK_THREAD_CPUTIME_ID) + BUSY_MS * 1000000LL;
    while (ns_of(CLOCK_THREAD_CPUTIME_ID) < until)
        for (volatile int i = 0; i < 10000; i++)
            ;
}

void known_window(void (*work)(void));

KNOWN_FUNCTION void known_window(void (*work)(void))
{
    __asm__ volatile("nop\n nop\n nop\n nop\n nop"); /* room for a patch in front of the call */
    work();
    __asm__ volatile("" : : : "memory"); /* no jump to it instead of a call */
}

struct counts {
    struct rusage usage;
    long long wall_ns, cpu_ns;
};

static struct counts counts_now(void)
{
    struct counts counts = {.wall_ns = ns_of(CLOCK_MONOTONIC),
                            .cpu_ns = ns_of(CLOCK_THREAD_CPUTIME_ID)};
    syscall(SYS_getrusage, RUSAGE_THREAD, &counts.usage);
    return counts;
}

static void *count(void *work)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    struct counts before = counts_now();
    known_window((void (*)(void))work);
    struct counts after = counts_now();
    pthread_mutex_lock(&mutex); /* one line after the other */
    printf("tid=%d blocked=%ld preempted=%ld faults=%ld wall=%lld cpu=%lld\n", known__tid(),
           after.usage.ru_nvcsw - before.usage.ru_nvcsw,
           after.usage.ru_nivcsw - before.usage.ru_nivcsw,
           after.usage.ru_minflt - before.usage.ru_minflt, after.wall_ns - before.wall_ns,
           after.cpu_ns - before.cpu_ns);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void run_threads(void *(*routine)(void *), void (*work)(void), int threads)
{
    pthread_t ids[2];
    for (int i = 0; i < threads; i++)
        KNOWN_CHECK(pthread_create(&ids[i], NULL, routine, (void *)work) == 0);
    for (int i = 0; i < threads; i++)
        KNOWN_CHECK(pthread_join(ids[i], NULL) == 0);
}

static void map_pages(void)
{
    size_t bytes = PAGES * (size_t)sysconf(_SC_PAGESIZE);
    pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    KNOWN_CHECK(pages != MAP_FAILED);
    madvise((void *)pages, bytes, MADV_NOHUGEPAGE);
    printf("low=0x%llx\n", (unsigned long long)(uintptr_t)pages);
    printf("high=0x%llx\n", (unsigned long long)(uintptr_t)(pages + bytes));
}

static void stay_on_one_cpu(void)
{
    cpu_set_t allowed, one;
    KNOWN_CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &allowed))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    KNOWN_CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}

/* ---- processes ------------------------------------------------------------------------------- */

static void await_child(long child, int expected)
{
    int status = -1;
    KNOWN_CHECK(child > 0);
    KNOWN_CHECK(waitpid((pid_t)child, &status, 0) == child && WIFEXITED(status) &&
                WEXITSTATUS(status) == expected);
}

static void fork_all(void)
{
    sleep_bare();
    pid_t child = fork();
    if (child == 0) {
        count((void *)sleep_often);
        fflush(stdout);
        _exit(3);
    }
    await_child(child, 3);
    /* Nobody is told of this one; what it does must work all the same. */
    long bare = syscall(SYS_fork);
    if (bare == 0) {
        sleep_bare();
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        syscall(SYS_exit_group, 4);
    }
    await_child(bare, 4);
    sleep_bare();
    child = vfork();
    if (child == 0) {
        execl("/proc/self/exe", "kernel_known", "switches", (char *)NULL);
        _exit(9);
    }
    await_child(child, 0);
    count((void *)sleep_often);
}

/* ---- what a program sees of it --------------------------------------------------------------- */

static void *say_what_is_open(void *unused)
{
    DIR *directory = opendir("/proc/self/fd");
    KNOWN_CHECK(directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            printf("fd=%s\n", entry->d_name);
    closedir(directory);
    errno = 77;
    sleep_bare();
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    printf("errno=%d\n", errno);
    return unused;
}

/* ---- few system calls ------------------------------------------------------------------------ */

static void allow_few(void)
{
    static const unsigned allowed[] = {SYS_write, SYS_nanosleep,  SYS_clock_nanosleep,
                                       SYS_futex, SYS_newfstatat, SYS_exit_group,
                                       SYS_exit};
    enum { CALLS = sizeof allowed / sizeof *allowed };
    struct sock_filter filter[2 + 2 * CALLS];
    unsigned at = 0;
    filter[at++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < CALLS; i++) {
        filter[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
        filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog program = {(unsigned short)at, filter};
    KNOWN_CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    KNOWN_CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0);
}

static void sleep_caged(void)
{
    printf("sleeps=%d\n", SLEEPS);
    fflush(stdout);
    allow_few();
    const struct timespec time = {0, 300000};
    for (int i = 0; i < SLEEPS; i++)
        KNOWN_CHECK(nanosleep(&time, NULL) == 0);
    syscall(SYS_exit_group, 0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "switches";
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(what, "switches") == 0) {
        run_threads(count, sleep_often, 1);
    } else if (strcmp(what, "faults") == 0) {
        map_pages();
        run_threads(count, touch_pages, 1);
    } else if (strcmp(what, "storms") == 0) {
        for (int i = 0; i < STORMS; i++)
            count((void *)touch_many);
    } else if (strcmp(what, "preempted") == 0) {
        stay_on_one_cpu();
        run_threads(count, compute, 2);
    } else if (strcmp(what, "forks") == 0) {
        fork_all();
    } else if (strcmp(what, "unchanged") == 0) {
        say_what_is_open(NULL);
        run_threads(say_what_is_open, NULL, 1);
    } else if (strcmp(what, "caged") == 0) {
        sleep_caged();
    } else {
        return 2;
    }
    return 0;
}
