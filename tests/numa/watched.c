/* watched.c: a program of one thread a NUMA node, whose memory lies in a known way, for who moves
 * it while it runs.
 *
 *     watched PATTERN [SECONDS]
 *
 * It ends with a line "pages=N own=N nodes=A,B,C,D first=N": how many pages there are, how many are
 * on the node of the thread that uses each (of pages that several use none), how many are on each
 * node, and how many are where they were in the beginning. There are few pages, as an emulated
 * machine takes few samples: each must have some. Without arguments it does nothing. */
#include <errno.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NODES = 4, PAGE = 4096, PAGES = 64, PART = PAGES / NODES, LINE = 64, HUGE = 2 << 20 };

enum pattern {
    PRIVATE_REMOTE, /* each thread's pages are on the next node */
    SHARED_READ,    /* on node 0, read by all */
    SHARED_WRITTEN, /* on node 0, written by all */
    MASTER,         /* on node 0, each used by one thread */
    MIGRATING,      /* two threads change places after a third of the time */
    PING_PONG,      /* used by node 1 and node 2 in turn, a second each */
    HOT_HUGE,       /* a large page on node 0, which all use */
    LOCAL,
    TINY,  /* on node 0, used from others, but hardly ever */
    FORK,  /* a process a node: a quarter is the parent's still, the rest its own, on node 0 */
    FILED, /* a file of node 0 that four processes map and read */
    MIXED, /* a quarter each: private remote, shared written, shared read, local */
    PATTERNS
};
static const char *const names[PATTERNS] = {
    "private_remote", "shared_read", "shared_written", "master", "migrating", "ping_pong",
    "hot_huge",       "local",       "tiny",           "fork",   "file",      "mixed"};

static enum pattern pattern;
static unsigned char *memory;
static int first_node[PAGES];
static double seconds = 10, begun;
static pthread_barrier_t barrier;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void go_to(unsigned node) /* CPUs are numbered as nodes */
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(node, &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0)
        exit(3);
}

static unsigned char *page_at(unsigned page)
{
    return memory + (size_t)page * PAGE;
}

/* The thread that alone uses a page; NODES: several do. */
static unsigned user_of(unsigned page)
{
    switch (pattern) {
    case SHARED_READ:
    case SHARED_WRITTEN:
    case PING_PONG:
    case HOT_HUGE:
    case FILED:
        return NODES;
    case FORK:
        return page % PART < PART / 4 ? NODES : page / PART;
    case MIXED:
        return page / PART == 0 || page / PART == 3 ? page % NODES : NODES;
    default:
        return page / PART;
    }
}

static unsigned toucher_of(unsigned page)
{
    switch (pattern) {
    case PRIVATE_REMOTE:
        return (user_of(page) + 1) % NODES;
    case LOCAL:
    case MIGRATING:
        return user_of(page);
    case MIXED:
        return page / PART == 0   ? (user_of(page) + 1) % NODES
               : page / PART == 3 ? user_of(page)
                                  : 0;
    default:
        return 0;
    }
}

static void touch(unsigned thread)
{
    for (unsigned page = 0; page < PAGES; page++)
        if (toucher_of(page) == thread)
            memset(page_at(page), 1, PAGE);
}

/* Loops that begin with their access: QEMU interrupts a program where a block of its code begins.
 */
static __attribute__((noinline)) void write_page(volatile unsigned char *at,
                                                 const volatile unsigned char *end)
{
    do {
        *at = 1;
        at += LINE;
    } while (at != end);
}

static __attribute__((noinline)) void read_page(const volatile unsigned char *at,
                                                const volatile unsigned char *end)
{
    do {
        (void)*at;
        at += LINE;
    } while (at != end);
}

static bool only_reads(unsigned page)
{
    return pattern == SHARED_READ || pattern == FILED || (pattern == MIXED && page / PART == 2) ||
           (pattern == FORK && user_of(page) == NODES);
}

static bool uses(unsigned thread, unsigned page)
{
    if (pattern == PING_PONG)
        return thread == 1 + (unsigned)(now() - begun) % 2;
    return user_of(page) == thread || user_of(page) == NODES;
}

static void use(unsigned thread)
{
    for (unsigned page = 0; page < PAGES; page++)
        for (unsigned times = 0; times < 8 && uses(thread, page); times++) {
            if (only_reads(page))
                read_page(page_at(page), page_at(page + 1));
            else
                write_page(page_at(page), page_at(page + 1));
        }
}

static void work(unsigned thread)
{
    bool is_moved = false;
    while (now() - begun < seconds) {
        if (pattern == MIGRATING && !is_moved && now() - begun > seconds / 3) {
            go_to(thread == 1 ? 3 : thread == 3 ? 1 : thread);
            is_moved = true;
        }
        use(thread);
        if (pattern == TINY || (pattern == PING_PONG && (thread == 0 || thread == 3)))
            usleep(100000);
    }
}

static int node_of(unsigned page)
{
    void *address = page_at(page);
    int status = -ENOENT;
    syscall(SYS_move_pages, 0, 1ul, &address, NULL, &status, 0);
    return status;
}

static void remember(void)
{
    for (unsigned page = 0; page < PAGES; page++)
        first_node[page] = node_of(page);
}

static void report(unsigned first_page, unsigned pages)
{
    unsigned own = 0, first = 0, on[NODES] = {0};
    for (unsigned page = first_page; page < first_page + pages; page++) {
        int node = node_of(page);
        unsigned user = user_of(page);
        if (pattern == MIGRATING && user % 2)
            user = 4 - user;
        own += user != NODES && node == (int)user;
        first += node == first_node[page];
        if (node >= 0 && node < NODES)
            on[node]++;
    }
    printf("pages=%u own=%u nodes=%u,%u,%u,%u first=%u\n", pages, own, on[0], on[1], on[2], on[3],
           first);
}

static void *run_thread(void *argument)
{
    unsigned thread = (unsigned)(uintptr_t)argument;
    go_to(thread);
    touch(thread);
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        remember();
    pthread_barrier_wait(&barrier);
    work(thread);
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[NODES];
    pthread_barrier_init(&barrier, NULL, NODES);
    for (uintptr_t i = 0; i < NODES; i++)
        pthread_create(&threads[i], NULL, run_thread, (void *)i);
    for (unsigned i = 0; i < NODES; i++)
        pthread_join(threads[i], NULL);
    report(0, PAGES);
}

/* Each writes its own pages while it is still on node 0, which makes copies of them there. */
static void run_child(unsigned child)
{
    for (unsigned page = 0; page < PAGES; page++)
        if (user_of(page) == child)
            memset(page_at(page), 2, PAGE);
    remember();
    go_to(child);
    work(child);
    report(pattern == FORK ? child * PART : 0, pattern == FORK ? PART : PAGES);
    exit(0);
}

static void run_processes(void)
{
    go_to(0);
    touch(0);
    for (unsigned child = 0; child < NODES; child++)
        if (fork() == 0)
            run_child(child);
    while (wait(NULL) > 0)
        continue;
}

static void make_memory(void)
{
    size_t bytes = (size_t)PAGES * PAGE;
    int flags = MAP_ANONYMOUS | MAP_PRIVATE, fd = -1;
    if (pattern == FILED) {
        fd = memfd_create("watched", 0);
        flags = MAP_SHARED;
        if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
            exit(3);
    }
    memory = mmap(NULL, bytes + HUGE, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (memory == MAP_FAILED)
        exit(3);
    if (pattern == HOT_HUGE) {
        memory += HUGE - (uintptr_t)memory % HUGE;
        madvise(memory, HUGE, MADV_HUGEPAGE);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 0;
    while (strcmp(names[pattern], argv[1]) != 0)
        if (++pattern == PATTERNS)
            return 2;
    if (argc > 2)
        seconds = strtod(argv[2], NULL);
    make_memory();
    begun = now();
    if (pattern == FORK || pattern == FILED)
        run_processes();
    else
        run_threads();
    return 0;
}
