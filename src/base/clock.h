/* clock.h: times of the system in nanoseconds. */
#ifndef HEURT_BASE_CLOCK_H
#define HEURT_BASE_CLOCK_H

#include <stdbool.h>
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

/* How long to wait for another process. Time in which this one did not run itself, because all of
 * them were stopped, is not counted. */
struct patience {
    uint64_t left_ns, last_ns;
};
#define PATIENCE_STEP_NS 20000000u /* more at a time is not counted */

static inline struct patience patience__of(uint64_t ns)
{
    return (struct patience){ns, clock__ns(CLOCK_MONOTONIC)};
}

static inline bool patience__is_over(struct patience *patience)
{
    uint64_t now_ns = clock__ns(CLOCK_MONOTONIC), step_ns = now_ns - patience->last_ns;
    step_ns = step_ns < PATIENCE_STEP_NS ? step_ns : PATIENCE_STEP_NS;
    patience->left_ns -= step_ns < patience->left_ns ? step_ns : patience->left_ns;
    patience->last_ns = now_ns;
    return patience->left_ns == 0;
}

#endif
