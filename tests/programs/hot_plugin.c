/* hot_plugin.c: the part of hot_known that lies in a library: so much CPU time of the thread. */
#include <time.h>

static inline __attribute__((always_inline)) long cpu_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000l + now.tv_nsec;
}

void plugged(long ns);

__attribute__((noinline)) void plugged(long ns)
{
    long until = cpu_ns() + ns;
    while (cpu_ns() < until) {
        long turns = 1000000;
        __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(turns));
    }
}
