#include "recorder/stop_log.h"

#include "base/clock.h"
#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>

struct stop_time {
    uint32_t pid; /* 0: none */
    uint64_t begin_ns, end_ns;
};

struct stop_log {
    clockid_t clock;
    pthread_mutex_t mutex;
    struct stop_time stops[STOPS_KEPT]; /* a ring */
    size_t count;                       /* that ever were */
};

struct stop_log *stop_log__new(clockid_t clock)
{
    struct stop_log *log = memory__zeroed(1, sizeof *log);
    log->clock = clock;
    pthread_mutex_init(&log->mutex, NULL);
    return log;
}

void stop_log__free(struct stop_log *log)
{
    if (log)
        pthread_mutex_destroy(&log->mutex);
    free(log);
}

void stop_log__begins(struct stop_log *log, uint32_t pid)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->mutex);
    log->stops[log->count++ % STOPS_KEPT] =
        (struct stop_time){pid, clock__ns(log->clock), UINT64_MAX};
    pthread_mutex_unlock(&log->mutex);
}

void stop_log__ended(struct stop_log *log)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->mutex);
    if (log->count)
        log->stops[(log->count - 1) % STOPS_KEPT].end_ns = clock__ns(log->clock);
    pthread_mutex_unlock(&log->mutex);
}

bool stop_log__covers(struct stop_log *log, uint32_t pid, uint64_t ns)
{
    bool covers = false;
    if (!log)
        return false;
    pthread_mutex_lock(&log->mutex);
    for (size_t i = 0; i < STOPS_KEPT && !covers; i++) {
        const struct stop_time *stop = &log->stops[i];
        covers = stop->pid == pid && pid && ns >= stop->begin_ns && ns <= stop->end_ns;
    }
    pthread_mutex_unlock(&log->mutex);
    return covers;
}
