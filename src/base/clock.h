/* clock.h: times of the system in nanoseconds. */
#ifndef HEURT_BASE_CLOCK_H
#define HEURT_BASE_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

/* What a clock shows; 0 where there is no such clock. */
static inline uint64_t clock__ns(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t timeval__ns(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u;
}

#endif
