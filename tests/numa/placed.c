/* placed.c: a program of one thread a NUMA node whose memory lies in a known way, which it prints.
 *
 *     placed one_node        the first thread writes all of it first, each uses its part
 *     placed interleaved     page by page on the next node, each thread uses its part
 *     placed partitioned     each thread writes its part first, and uses it
 *     placed wrong           each thread writes the next one's part first
 *     placed moved           one thread uses it on another node, to which it moves half-way
 *     placed huge            in huge pages, of which each thread uses every other small page
 *
 * It ends with a line "pages=N own=N moved=N": how many pages there are, how many are on the node
 * of the thread that uses them (asked of the kernel), and how many moved. A second argument is how
 * often each thread goes over its part. */
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
#include <unistd.h>

enum { NODES = 4, PAGE = 4096, PAGES = 1024, PART = PAGES / NODES, LINE = 64, HUGE = 2 << 20 };

enum mode { ONE_NODE, INTERLEAVED, PARTITIONED, WRONG, MOVED, HUGE_PAGES, MODES };
static const char *const mode_names[MODES] = {"one_node", "interleaved", "partitioned",
                                              "wrong",    "moved",       "huge"};

static enum mode mode;
static unsigned char *memory;
static unsigned long rounds = 200;
static pthread_barrier_t barrier;

static void go_to(unsigned node) /* CPUs are numbered as nodes */
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(node, &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0)
        exit(3);
}

/* The thread that uses a page. */
static unsigned user_of(unsigned page)
{
    return mode == MOVED ? 2 : mode == HUGE_PAGES ? page % NODES : page / PART;
}

static void touch(unsigned thread)
{
    for (unsigned page = 0; page < PAGES; page++) {
        unsigned by = mode == PARTITIONED  ? user_of(page)
                      : mode == WRONG      ? (user_of(page) + NODES - 1) % NODES
                      : mode == HUGE_PAGES ? page / 512 % NODES
                                           : 0;
        if (by == thread)
            memset(memory + (size_t)page * PAGE, 1, PAGE);
    }
}

static unsigned long move_all(unsigned node)
{
    unsigned long moved = 0;
    for (unsigned page = 0; page < PAGES; page++) {
        void *address = memory + (size_t)page * PAGE;
        int to = (int)node, status = -1;
        if (syscall(SYS_move_pages, 0, 1ul, &address, &to, &status, MPOL_MF_MOVE) == 0)
            moved += status == to;
    }
    return moved;
}

/* A loop that begins with its access: QEMU interrupts a program where a block of its code begins.
 */
static __attribute__((noinline)) void use_page(volatile unsigned char *at,
                                               const volatile unsigned char *end)
{
    do {
        ++*at;
        at += LINE;
    } while (at != end);
}

static void use(unsigned thread)
{
    for (unsigned page = 0; page < PAGES; page++)
        for (unsigned times = 0; times < 8 && user_of(page) == thread; times++)
            use_page(memory + (size_t)page * PAGE, memory + (size_t)(page + 1) * PAGE);
}

static void *work(void *argument)
{
    unsigned thread = (unsigned)(uintptr_t)argument;
    unsigned long *moved = NULL;
    go_to(thread);
    touch(thread);
    pthread_barrier_wait(&barrier);
    for (unsigned long round = 0; round < rounds; round++) {
        if (mode == MOVED && thread == 2 && round == rounds / 2) {
            moved = malloc(sizeof *moved);
            *moved = move_all(2);
        }
        use(thread);
    }
    return moved;
}

static void report(unsigned long moved)
{
    unsigned own = 0;
    for (unsigned page = 0; page < PAGES; page++) {
        void *address = memory + (size_t)page * PAGE;
        int status = -1;
        if (syscall(SYS_move_pages, 0, 1ul, &address, NULL, &status, 0) == 0)
            own += status == (int)user_of(page);
    }
    printf("pages=%u own=%u moved=%lu\n", PAGES, own, moved);
}

/* Huge pages begin at multiples of their size. */
static void make_memory(void)
{
    size_t bytes = (size_t)(PAGES + 1) * PAGE;
    memory = mode == HUGE_PAGES ? aligned_alloc(HUGE, bytes - PAGE) : malloc(bytes);
    if (!memory)
        exit(3);
    if (mode == HUGE_PAGES)
        madvise(memory, bytes - PAGE, MADV_HUGEPAGE);
    memory += mode == HUGE_PAGES ? 0 : PAGE - (uintptr_t)memory % PAGE;
    unsigned long nodes = (1ul << NODES) - 1;
    if (mode == INTERLEAVED &&
        syscall(SYS_mbind, memory, bytes - PAGE, MPOL_INTERLEAVE, &nodes, sizeof nodes * 8, 0) != 0)
        exit(3);
}

int main(int argc, char **argv)
{
    pthread_t threads[NODES];
    unsigned long moved = 0;
    if (argc < 2)
        return 2;
    while (strcmp(mode_names[mode], argv[1]) != 0)
        if (++mode == MODES)
            return 2;
    if (argc > 2)
        rounds = strtoul(argv[2], NULL, 10);
    make_memory();
    pthread_barrier_init(&barrier, NULL, NODES);
    for (uintptr_t i = 0; i < NODES; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (unsigned i = 0; i < NODES; i++) {
        void *result;
        pthread_join(threads[i], &result);
        moved += result ? *(unsigned long *)result : 0;
        free(result);
    }
    report(moved);
    return 0;
}
