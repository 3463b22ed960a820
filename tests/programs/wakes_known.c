/* wakes_known TURNS [FILE]: one thread wakes another one TURNS times through a pipe, then as often
 * through a futex, each time when it has seen that the other one is off its CPU. With FILE (of at
 * least 4096 * TURNS bytes) the main thread then reads so many blocks from the device. */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLOCK 4096

static int turns, ends[2];
static uint32_t turn, word;
static uint32_t sleeper, waker;

static void *sleeps(void *unused)
{
    char byte;
    (void)unused;
    __atomic_store_n(&sleeper, (uint32_t)gettid(), __ATOMIC_RELEASE);
    for (int i = 0; i < turns; i++) {
        __atomic_add_fetch(&turn, 1, __ATOMIC_RELEASE);
        if (read(ends[0], &byte, 1) != 1)
            exit(1);
    }
    for (uint32_t i = 0; i < (uint32_t)turns; i++) {
        __atomic_add_fetch(&turn, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == i)
            syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, i, NULL, NULL, 0);
    }
    return NULL;
}

/* Whether the sleeper sleeps, and how often it has gone to sleep. */
static int look(unsigned long *times)
{
    char path[64], line[256];
    int is_asleep = 0;
    snprintf(path, sizeof path, "/proc/self/task/%u/status", sleeper);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "State:", 6) == 0)
            is_asleep = strstr(line, "S (") != NULL;
        sscanf(line, "voluntary_ctxt_switches: %lu", times);
    }
    if (file)
        fclose(file);
    return is_asleep;
}

/* Returns when the sleeper has gone to sleep in that turn. */
static void await(uint32_t number)
{
    static unsigned long before;
    unsigned long times = before;
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != number)
        sched_yield();
    while (!look(&times) || times == before)
        sched_yield();
    before = times;
}

static void *wakes(void *unused)
{
    (void)unused;
    waker = (uint32_t)gettid();
    while (!__atomic_load_n(&sleeper, __ATOMIC_ACQUIRE))
        sched_yield();
    uint32_t number = 0;
    for (int i = 0; i < turns; i++) {
        await(++number);
        if (write(ends[1], "x", 1) != 1)
            exit(1);
    }
    for (uint32_t i = 0; i < (uint32_t)turns; i++) {
        await(++number);
        __atomic_store_n(&word, i + 1, __ATOMIC_RELEASE);
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    return NULL;
}

static int has_read;

/* With the least priority, until all is read. */
static void *keeps_busy(void *unused)
{
    (void)unused;
    struct sched_param parameter = {.sched_priority = 0};
    pthread_setschedparam(pthread_self(), SCHED_IDLE, &parameter);
    while (!__atomic_load_n(&has_read, __ATOMIC_ACQUIRE))
        ;
    return NULL;
}

static int read_blocks(const char *path)
{
    void *block;
    int blocks = 0, fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (fd < 0 || posix_memalign(&block, BLOCK, BLOCK) != 0)
        return 0;
    while (blocks < turns && pread(fd, block, BLOCK, (off_t)blocks * BLOCK) == BLOCK)
        blocks++;
    free(block);
    close(fd);
    return blocks;
}

/* No CPU idles meanwhile: Linux tells perf nothing of what interrupts an idle one. */
static int read_blocks_busily(const char *path)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[64];
    int count = 0;
    while (count < cpus && count < 64 &&
           pthread_create(&threads[count], NULL, keeps_busy, NULL) == 0)
        count++;
    int blocks = read_blocks(path);
    __atomic_store_n(&has_read, 1, __ATOMIC_RELEASE);
    while (count > 0)
        pthread_join(threads[--count], NULL);
    return blocks;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    turns = argc > 1 ? atoi(argv[1]) : 100;
    if (pipe(ends) < 0 || pthread_create(&threads[0], NULL, sleeps, NULL) != 0 ||
        pthread_create(&threads[1], NULL, wakes, NULL) != 0)
        return 1;
    pthread_join(threads[1], NULL);
    pthread_join(threads[0], NULL);
    int blocks = argc > 2 ? read_blocks_busily(argv[2]) : 0;
    printf("sleeper %u\nwaker %u\nmain %d\nturns %d\nblocks %d\n", sleeper, waker, getpid(), turns,
           blocks);
    return 0;
}
