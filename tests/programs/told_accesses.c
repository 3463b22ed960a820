/* told_accesses.c: a program at whose accesses a processor seems to have looked: told_accesses FILE
 * writes what the kernel would have told of them into FILE, in its own form, while it works.
 *
 * For each access to "near" (100 cycles, from the node's memory) there is one to "far" (400 cycles,
 * from another node's, at one place by two instructions in turn), and an operation that is none of
 * memory. In truth it reads a table. It
 * ends with how many accesses it told of each: "told=N". */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 1 << 16, TABLE = 1 << 22, RUN_MS = 600 };

/* PERF_RECORD_SAMPLE of IP, TID, TIME, ADDR, PERIOD, WEIGHT_STRUCT, DATA_SRC. */
struct told {
    struct perf_event_header header;
    uint64_t ip;
    uint32_t pid, tid;
    uint64_t time, address, period, weight, source;
};

static volatile uint32_t table[TABLE / sizeof(uint32_t)];

__attribute__((noinline)) static uint32_t use_near(const volatile uint32_t *near)
{
    return *near;
}

/* Labels that are no symbols of the program. */
extern char far_first[] __asm__(".Lfar_first"), far_second[] __asm__(".Lfar_second");

/* One line of the source with two instructions that access, as an unrolled loop has. */
__attribute__((noinline, used)) static uint32_t use_far(const volatile uint32_t *far)
{
    uint32_t value;
    __asm__ volatile(".Lfar_first: mov (%1), %0\n.Lfar_second: mov (%1), %0"
                     : "=&r"(value)
                     : "r"(far));
    return value + 1;
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct told one(void *at, const volatile void *data, uint64_t cycles, uint64_t source)
{
    return (struct told){{PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP,
                          sizeof(struct told)},
                         (uintptr_t)at,
                         (uint32_t)getpid(),
                         (uint32_t)syscall(SYS_gettid),
                         now_ns(CLOCK_MONOTONIC),
                         (uintptr_t)data,
                         1000,
                         cycles,
                         source};
}

static uint32_t work(void)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < TABLE / sizeof *table; i += 16)
        sum += table[i];
    return sum;
}

int main(int argc, char **argv)
{
    volatile uint32_t *near = calloc(1, BYTES);
    volatile uint32_t *far = calloc(1, BYTES);
    unsigned long told = 0;
    uint32_t sum = use_near(near) + use_far(far);
    int fd = open(argc > 1 ? argv[1] : "/dev/null", O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return 2;
    while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < RUN_MS * 1000000ull) {
        size_t word = told * 64 % (BYTES / sizeof *near);
        struct told some[3] = {
            one((void *)use_near, near + word, 100,
                PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, LOC_RAM) | PERF_MEM_S(LVL, HIT)),
            one(told % 2 ? far_first : far_second, far, 400,
                PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, REM_RAM1) | PERF_MEM_S(LVL, HIT)),
            one((void *)use_far, far, 9000, PERF_MEM_S(OP, NA)),
        };
        if (write(fd, some, sizeof some) != (ssize_t)sizeof some)
            return 3;
        told++;
        sum += work();
    }
    printf("told=%lu sum=%u\n", told, sum);
    free((void *)near);
    free((void *)far);
    return 0;
}
