/* raw.h: system calls that touch neither errno nor libc. Results are negative errno. */
#ifndef HEURT_RUNTIME_RAW_H
#define HEURT_RUNTIME_RAW_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

static inline long raw__call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#define RAW0(name) raw__call(SYS_##name, 0, 0, 0, 0, 0, 0)
#define RAW1(name, a) raw__call(SYS_##name, (long)(a), 0, 0, 0, 0, 0)
#define RAW2(name, a, b) raw__call(SYS_##name, (long)(a), (long)(b), 0, 0, 0, 0)
#define RAW3(name, a, b, c) raw__call(SYS_##name, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define RAW4(name, a, b, c, d) \
    raw__call(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define RAW6(name, a, b, c, d, e, f) \
    raw__call(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* What pthread_self returns, which itself may be a function that is recorded. */
static inline uint64_t raw__thread_pointer(void)
{
    uint64_t pointer;
    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

static inline uint64_t raw__clock_ns(int clock)
{
    struct timespec now;
    if (RAW2(clock_gettime, clock, &now) < 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
