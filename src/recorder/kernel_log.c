#include "recorder/kernel_log.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/worker.h"
#include "recorder/cache.h"
#include "recorder/kept_costs.h"
#include "recorder/task_log.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <x86intrin.h>

struct kernel_log {
    struct trace_writer *writer;
    struct task_events *events;
    struct task_log *tasks;
    struct stop_log *stops; /* or NULL */
    clockid_t clock;
    bool by_counter; /* the trace's ticks are the counter's, else ns of CLOCK_MONOTONIC */
    int stop_fd;
    uint64_t flushed_ns;
    uint64_t sample_ns; /* told at the end: no process had a hand in it then */
    pthread_t thread;
    struct first_worker first;
};

/* ---- clocks ---------------------------------------------------------------------------------- */

enum { PAIR_TRIES = 4, PAIR_TICKS_MOST = 2000 }; /* one that took longer was interrupted */

static void take_pair(struct kernel_log *log, bool any)
{
    struct task_clock_pair best = {0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < PAIR_TRIES; i++) {
        uint64_t before = __rdtsc(), ns = clock__ns(log->clock), took = __rdtsc() - before;
        if (took >= least)
            continue;
        least = took;
        best = (struct task_clock_pair){ns, log->by_counter ? before + took / 2 : ns};
    }
    if (least < PAIR_TICKS_MOST || any)
        task_log__set_clock(log->tasks, best);
}

/* ---- what the log asks for ------------------------------------------------------------------- */

static bool write_run(void *context, const struct heurt_run *run, const uint64_t *words,
                      size_t count)
{
    struct kernel_log *log = context;
    return trace_writer__run(log->writer, run, words, count) == 0;
}

/* The second of the numbers: CPU ns, ns that it waited for a CPU, turns. */
static bool read_delay(void *context, uint32_t pid, uint32_t tid, uint64_t *ns)
{
    char path[64], text[96];
    (void)context;
    snprintf(path, sizeof path, "/proc/%u/task/%u/schedstat", pid, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = 0;
    char *end;
    const char *space = strchr(text, ' ');
    *ns = space ? strtoull(space, &end, 10) : 0;
    return space && end != space + 1;
}

static bool was_stopped(void *context, uint32_t pid, uint64_t ns)
{
    const struct kernel_log *log = context;
    return stop_log__covers(log->stops, pid, ns);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* A ring that fills faster wakes the thread before. */
enum { LOOK_LEAST_MS = 4, LOOK_MOST_MS = 64 };
#define FLUSH_NS 500000000u /* what is lost at most when the recorder is killed */

static void add(void *context, const struct task_record *record)
{
    struct kernel_log *log = context;
    task_log__add(log->tasks, record);
}

static size_t look(struct kernel_log *log)
{
    take_pair(log, false);
    size_t count = task_events__drain(log->events, add, log);
    uint64_t now = clock__ns(log->clock);
    if (now - log->flushed_ns > FLUSH_NS) {
        task_log__flush(log->tasks);
        log->flushed_ns = now;
        trace_writer__session(log->writer)->kernel_lost = task_events__lost(log->events);
    }
    return count;
}

static void work(struct kernel_log *log)
{
    int wait_ms = LOOK_LEAST_MS;
    while (!task_events__wait(log->events, log->stop_fd, wait_ms)) {
        worker__has_waited(&log->first);
        if (look(log))
            wait_ms = LOOK_LEAST_MS;
        else if (wait_ms < LOOK_MOST_MS)
            wait_ms *= 2;
    }
}

/* The program may have a thousand threads that fill the rings one after another. */
static void *work_first(void *context)
{
    struct kernel_log *log = context;
    worker__go_first(&log->first);
    work(log);
    worker__go_last(&log->first);
    return NULL;
}

static void free_log(struct kernel_log *log)
{
    task_events__close(log->events);
    task_log__free(log->tasks);
    if (log->stop_fd >= 0)
        close(log->stop_fd);
    free(log);
}

struct kernel_log *kernel_log__start(pid_t pid, struct trace_writer *writer, struct stop_log *stops)
{
    struct heurt_session *session = trace_writer__session(writer);
    struct kernel_log *log = memory__zeroed(1, sizeof *log);
    struct task_costs costs;
    log->writer = writer;
    log->stops = stops;
    log->by_counter = session->clock == HEURT_CLOCK_TSC;
    log->clock = log->by_counter ? CLOCK_MONOTONIC_RAW : CLOCK_MONOTONIC;
    log->stop_fd = eventfd(0, EFD_CLOEXEC);
    char *kept = cache__directory("costs");
    costs = kept_costs__get(kept, log->clock);
    free(kept);
    log->tasks = task_log__new(&(struct task_log_settings){
        .write = write_run,
        .delay = read_delay,
        .stopped = was_stopped,
        .context = log,
        .way_of_fault_ns = costs.way_of_fault_ns,
        .ticks_are_ns = !log->by_counter,
    });
    log->flushed_ns = clock__ns(log->clock);
    take_pair(log, true);
    if (log->stop_fd < 0 || task_events__open(pid, log->clock, &log->events) < 0 ||
        worker__start(&log->thread, work_first, log) < 0) {
        free_log(log);
        return NULL;
    }
    take_pair(log, true);
    session->fault_ticks = (uint32_t)task_log__ticks(log->tasks, costs.fault_ns);
    session->thread_cost_ns = (uint32_t)costs.thread_ns;
    log->sample_ns = costs.sample_ns;
    session->off_cpu_ticks = (uint32_t)task_log__ticks(log->tasks, costs.off_cpu_ns);
    __atomic_fetch_or(&session->flags, HEURT_SESSION_KERNEL_LOG, __ATOMIC_SEQ_CST);
    return log;
}

void kernel_log__stop(struct kernel_log *log)
{
    if (!log)
        return;
    eventfd_write(log->stop_fd, 1);
    pthread_join(log->thread, NULL);
    look(log);
    task_log__finish(log->tasks, clock__ns(log->clock));
    struct heurt_session *session = trace_writer__session(log->writer);
    session->kernel_lost = task_events__lost(log->events) + task_log__refused(log->tasks);
    session->sample_ns = (uint32_t)log->sample_ns;
    free_log(log);
}
