#include "cmd/stat_watch.h"

#include "base/clock.h"
#include "kernel/machine_time.h"
#include "kernel/process_threads.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <x86intrin.h>

#define CLOCK CLOCK_MONOTONIC
#define LOOK_MS 50
#define DELAYS_EVERY_NS 100000000u
#define DELAYS_COST_MOST 500 /* their reading takes one in so many parts of the time at most */
#define ATTACH_ROUNDS 32     /* who makes threads without end has some that are not told */

/* ---- records --------------------------------------------------------------------------------- */

static void begin_log(struct stat_watch *watch, uint64_t ns)
{
    watch->log = service_log__of(ns, watch->interval_ns);
    watch->has_begun = true;
}

static bool translate(enum task_record_kind kind, enum service_event *event)
{
    static const struct {
        enum task_record_kind kind;
        enum service_event event;
    } pairs[] = {
        {TASK_FORKED, SERVICE_BEGINS},     {TASK_ON_CPU, SERVICE_RUNS},
        {TASK_BLOCKED, SERVICE_BLOCKS},    {TASK_PREEMPTED, SERVICE_IS_PREEMPTED},
        {TASK_ENDED, SERVICE_ENDS},        {TASK_NAMED, SERVICE_IS_NAMED},
        {TASK_EXECED, SERVICE_IS_ANOTHER},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].kind == kind) {
            *event = pairs[i].event;
            return true;
        }
    return false;
}

static void take(void *context, const struct task_record *record)
{
    struct stat_watch *watch = context;
    struct service_record told = {.pid = record->pid,
                                  .tid = record->tid,
                                  .cpu = record->cpu,
                                  .time_ns = record->time_ns,
                                  .name = record->name[0] ? record->name : NULL};
    if (!translate(record->kind, &told.event))
        return;
    if (!watch->has_begun)
        begin_log(watch, record->time_ns);
    if (record->time_ns >= watch->log.begin_ns)
        service_log__add(&watch->log, &told);
}

/* ---- waits for a CPU, as the system counts them ---------------------------------------------- */

static void read_delays(struct stat_watch *watch)
{
    uint64_t before = clock__ns(CLOCK);
    for (size_t i = 0; i < watch->log.living.count; i++) {
        size_t index = *VEC_AT(&watch->log.living, size_t, i);
        struct service_thread *thread = VEC_AT(&watch->log.threads, struct service_thread, index);
        uint64_t delay = thread_told__delay_ns((pid_t)thread->pid, thread->tid);
        if (delay != UINT64_MAX)
            thread->delay_ns = delay - *VEC_REACH(&watch->first_delays, uint64_t, index);
    }
    uint64_t now = clock__ns(CLOCK), wait = (now - before) * DELAYS_COST_MOST;
    watch->next_delays_ns = now + (wait > DELAYS_EVERY_NS ? wait : DELAYS_EVERY_NS);
}

/* ---- opening --------------------------------------------------------------------------------- */

static int refuse(pid_t pid, bool is_running, int code, struct error *error)
{
    switch (-code) {
    case ESRCH:
        return error__set(error, code, "there is no process %d", (int)pid);
    case EACCES:
    case EPERM:
        return is_running ? error__set(error, code,
                                       "process %d is not yours to look at, or the kernel refuses "
                                       "its records to this user: run heurt as that user, or see "
                                       "heurt check",
                                       (int)pid)
                          : error__set(error, code,
                                       "the kernel refuses the records of switches to this user; "
                                       "sudo sysctl kernel.perf_event_paranoid=2 allows them "
                                       "(heurt check)");
    case ENOSYS:
        return error__set(error, code, "this kernel has no perf events, which heurt stat needs");
    case EMFILE:
        return error__set(error, code,
                          "too few descriptors for the events of all threads: raise ulimit -n");
    case ENOBUFS:
        return error__set(error, code,
                          "too little locked memory for the kernel's records: raise ulimit -l, or "
                          "let another recording end");
    default:
        return error__set(error, code, "the records of switches cannot be had: %s",
                          strerror(-code));
    }
}

static bool is_among(const struct vec *known, uint32_t tid)
{
    VEC_EACH (other, known, uint32_t)
        if (*other == tid)
            return true;
    return false;
}

/* Returns how many threads were new, or a negative errno. */
static int attach_new(struct stat_watch *watch, struct vec *known)
{
    struct vec tids = process__threads(watch->pid);
    int code = tids.count ? 0 : -ESRCH, added = 0;
    VEC_EACH (tid, &tids, uint32_t) {
        if (code < 0 || is_among(known, *tid))
            continue;
        code = task_events__add_thread(watch->events, *tid);
        code = code == -ESRCH ? 0 : code; /* it is gone again */
        task_counts__add(&watch->counts, (pid_t)*tid, true, NULL);
        vec__push(known, tid);
        added++;
    }
    vec__free(&tids);
    return code < 0 ? code : added;
}

/* Whether a thread that wants a CPU has one, its clock tells. */
static enum service_state state_of(const struct stat_watch *watch, uint32_t tid,
                                   const struct thread_told *told)
{
    return !told->wants_cpu                                      ? SERVICE_BLOCKED
           : task_counts__is_running(&watch->counts, (pid_t)tid) ? SERVICE_ON_CPU
                                                                 : SERVICE_WANTS;
}

static void join_threads(struct stat_watch *watch, const struct vec *known)
{
    watch->first_cpu_ns = task_counts__read(&watch->counts, COUNT_CPU_NS).value;
    begin_log(watch, clock__ns(CLOCK));
    VEC_EACH (tid, known, uint32_t) {
        struct thread_told told;
        if (!thread_told__read(watch->pid, *tid, &told))
            continue;
        const struct service_record record = {.pid = (uint32_t)watch->pid,
                                              .tid = *tid,
                                              .time_ns = watch->log.begin_ns,
                                              .name = told.name};
        service_log__join(&watch->log, &record, state_of(watch, *tid, &told));
        *VEC_REACH(&watch->first_delays, uint64_t, watch->log.threads.count - 1) =
            told.delay_ns == UINT64_MAX ? 0 : told.delay_ns;
    }
}

/* A thread that began while the events of its parent were opened may lack some, so that whoever is
 * new is opened, too, until nobody is. A record that is there twice changes nothing. */
static int attach(struct stat_watch *watch)
{
    struct vec known = VEC_OF(uint32_t);
    int added = task_events__open_running(watch->pid, CLOCK, &watch->events);
    if (added == 0) {
        task_counts__add(&watch->counts, watch->pid, true, NULL);
        vec__push(&known, &(uint32_t){(uint32_t)watch->pid});
        added = 1;
    }
    for (int round = 0; added > 0 && round < ATTACH_ROUNDS; round++)
        added = attach_new(watch, &known);
    if (added >= 0)
        join_threads(watch, &known);
    vec__free(&known);
    return added < 0 ? added : 0;
}

int stat_watch__open(struct stat_watch *watch, pid_t pid, bool is_running, uint64_t interval_ns,
                     struct error *error)
{
    *watch = (struct stat_watch){.pid = pid,
                                 .interval_ns = interval_ns,
                                 .counts = task_counts__none(),
                                 .first_delays = VEC_OF(uint64_t)};
    int code = 0;
    if (is_running && kill(pid, 0) < 0 && errno == ESRCH)
        code = -ESRCH;
    if (code == 0)
        code = is_running ? attach(watch) : task_events__open_switches(pid, CLOCK, &watch->events);
    if (code < 0)
        return refuse(pid, is_running, code, error);
    if (!is_running)
        task_counts__add(&watch->counts, pid, false, NULL);
    watch->own_ns = machine_time__own_ns();
    watch->began_ns = clock__ns(CLOCK);
    watch->began_cycles = __rdtsc();
    return 0;
}

/* ---- following ------------------------------------------------------------------------------- */

void stat_watch__follow(struct stat_watch *watch, int stop_fd)
{
    while (!task_events__wait(watch->events, stop_fd, LOOK_MS)) {
        task_events__drain(watch->events, take, watch);
        if (clock__ns(CLOCK) >= watch->next_delays_ns)
            read_delays(watch);
    }
    task_events__drain(watch->events, take, watch);
    read_delays(watch);
}

void stat_watch__end(struct stat_watch *watch)
{
    uint64_t now = clock__ns(CLOCK), cycles = __rdtsc();
    while (task_events__drain(watch->events, take, watch) &&
           clock__ns(CLOCK) < now + LOOK_MS * 1000000u)
        continue;
    if (!watch->has_begun)
        begin_log(watch, now);
    service_log__finish(&watch->log, watch->log.living.count ? now : watch->log.now_ns);
    watch->lost = task_events__lost(watch->events);
    watch->own_ns = machine_time__own_ns() - watch->own_ns;
    watch->cycles_a_second =
        (uint64_t)((double)(cycles - watch->began_cycles) * 1e9 / (double)(now - watch->began_ns));
}

void stat_watch__free(struct stat_watch *watch)
{
    task_events__close(watch->events);
    task_counts__close(&watch->counts);
    service_log__free(&watch->log);
    vec__free(&watch->first_delays);
}
