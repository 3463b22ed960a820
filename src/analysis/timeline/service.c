#include "analysis/timeline/service.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct service_log service_log__of(uint64_t begin_ns, uint64_t interval_ns)
{
    struct service_log log = {.threads = VEC_OF(struct service_thread),
                              .levels = VEC_OF(struct service_level),
                              .living = VEC_OF(size_t),
                              .latest = VEC_OF(size_t),
                              .begin_ns = begin_ns,
                              .end_ns = begin_ns,
                              .now_ns = begin_ns};
    for (unsigned i = 0; i < SERVICE_SCALES; i++) {
        uint64_t length = interval_ns * SERVICE_SCALE(i);
        log.intervals[i] =
            (struct service_interval){.length_ns = length, .next_ns = begin_ns + length};
    }
    return log;
}

void service_log__free(struct service_log *log)
{
    vec__free(&log->threads);
    vec__free(&log->levels);
    vec__free(&log->living);
    vec__free(&log->latest);
    map__free(&log->numbers);
}

static struct service_thread *thread_at(const struct service_log *log, size_t place)
{
    return VEC_AT(&log->threads, struct service_thread, *VEC_AT(&log->living, size_t, place));
}

/* Which thread lives with that number: its index, or SIZE_MAX. */
static size_t *latest_of(struct service_log *log, uint32_t tid)
{
    uint64_t index = map__put(&log->numbers, &tid, sizeof tid, log->latest.count);
    if (index == log->latest.count)
        vec__push(&log->latest, &(size_t){SIZE_MAX});
    return VEC_AT(&log->latest, size_t, index);
}

struct service_thread *service_log__living(struct service_log *log, uint32_t tid)
{
    size_t index = *latest_of(log, tid);
    return index == SIZE_MAX ? NULL : VEC_AT(&log->threads, struct service_thread, index);
}

/* ---- intervals ------------------------------------------------------------------------------- */

/* Its service until now. */
static uint64_t service_at(const struct service_thread *thread, uint64_t now_ns)
{
    uint64_t running = thread->state == SERVICE_ON_CPU && now_ns > thread->since_ns
                           ? now_ns - thread->since_ns
                           : 0;
    return thread->state_ns[SERVICE_ON_CPU] + running;
}

/* What it ran in this interval, which is counted herewith. */
static uint64_t take_part(struct service_thread *thread, unsigned scale, uint64_t now_ns)
{
    uint64_t service = service_at(thread, now_ns);
    uint64_t part = service > thread->counted_ns[scale] ? service - thread->counted_ns[scale] : 0;
    thread->counted_ns[scale] += part;
    return part;
}

static void end_interval(struct service_log *log, unsigned scale, uint64_t now_ns)
{
    struct service_interval *interval = &log->intervals[scale];
    uint64_t sum = interval->ended_sum_ns, most = interval->ended_most_ns;
    for (size_t i = 0; i < log->living.count; i++) {
        uint64_t part = take_part(thread_at(log, i), scale, now_ns);
        sum += part;
        most = part > most ? part : most;
    }
    interval->sum_ns += sum;
    interval->longest_ns += most;
    interval->ended_sum_ns = interval->ended_most_ns = 0;
}

/* Where nobody runs for long, intervals are passed over: they count nothing. */
static void pass_intervals(struct service_log *log, unsigned scale, uint64_t now_ns)
{
    struct service_interval *interval = &log->intervals[scale];
    while (interval->next_ns <= now_ns) {
        end_interval(log, scale, interval->next_ns);
        uint64_t idle = log->running ? 0 : (now_ns - interval->next_ns) / interval->length_ns;
        interval->next_ns += interval->length_ns * (idle + 1);
    }
}

/* ---- times ----------------------------------------------------------------------------------- */

static void advance(struct service_log *log, uint64_t now_ns)
{
    if (now_ns <= log->now_ns)
        return;
    for (unsigned scale = 0; scale < SERVICE_SCALES; scale++)
        pass_intervals(log, scale, now_ns);
    uint64_t ns = now_ns - log->now_ns;
    uint32_t most = log->running + log->wanting;
    VEC_REACH(&log->levels, struct service_level, most);
    VEC_AT(&log->levels, struct service_level, log->running)->running_ns += ns;
    struct service_level *wanting = VEC_AT(&log->levels, struct service_level, most);
    wanting->wanting_ns += ns;
    wanting->work_ns += ns * log->running;
    log->now_ns = now_ns;
}

static void count(struct service_log *log, const struct service_thread *thread, uint32_t change)
{
    if (thread->state == SERVICE_ON_CPU)
        log->running += change;
    else if (thread->state == SERVICE_WANTS)
        log->wanting += change;
}

static void enter(struct service_log *log, struct service_thread *thread, enum service_state state,
                  uint64_t now_ns)
{
    thread->state_ns[thread->state] += now_ns - thread->since_ns;
    count(log, thread, -1u);
    thread->state = state;
    thread->since_ns = now_ns;
    thread->is_guessed = false;
    count(log, thread, 1);
}

/* The last one that lives takes its place among them. */
static void leave_living(struct service_log *log, struct service_thread *thread)
{
    size_t last = *VEC_AT(&log->living, size_t, --log->living.count);
    *VEC_AT(&log->living, size_t, thread->place) = last;
    VEC_AT(&log->threads, struct service_thread, last)->place = thread->place;
    *latest_of(log, thread->tid) = SIZE_MAX;
}

static void end(struct service_log *log, struct service_thread *thread)
{
    thread->state_ns[thread->state] += log->now_ns - thread->since_ns;
    count(log, thread, -1u);
    thread->since_ns = thread->end_ns = log->now_ns;
    thread->has_ended = true;
    for (unsigned scale = 0; scale < SERVICE_SCALES; scale++) {
        struct service_interval *interval = &log->intervals[scale];
        uint64_t part = take_part(thread, scale, log->now_ns);
        interval->ended_sum_ns += part;
        interval->ended_most_ns = part > interval->ended_most_ns ? part : interval->ended_most_ns;
    }
    leave_living(log, thread);
}

/* ---- records --------------------------------------------------------------------------------- */

static void set_name(struct service_thread *thread, const char *name)
{
    if (name)
        snprintf(thread->name, sizeof thread->name, "%s", name);
}

/* A new thread has the name of who made it; that this is the first of its process is likely. */
static void inherit_name(struct service_log *log, struct service_thread *thread)
{
    const struct service_thread *first = service_log__living(log, thread->pid);
    if (first && first != thread && !thread->name[0])
        memcpy(thread->name, first->name, sizeof thread->name);
}

static struct service_thread *begin(struct service_log *log, const struct service_record *record,
                                    enum service_state state)
{
    struct service_thread *thread = service_log__living(log, record->tid);
    size_t index = log->threads.count;
    if (thread) /* its end was lost */
        end(log, thread);
    thread = vec__push(&log->threads, NULL);
    *thread = (struct service_thread){.pid = record->pid,
                                      .tid = record->tid,
                                      .begin_ns = log->now_ns,
                                      .end_ns = log->now_ns,
                                      .since_ns = log->now_ns,
                                      .delay_ns = UINT64_MAX,
                                      .place = log->living.count,
                                      .state = state};
    set_name(thread, record->name);
    vec__push(&log->living, &index);
    *latest_of(log, record->tid) = index;
    inherit_name(log, thread);
    count(log, thread, 1);
    return thread;
}

void service_log__join(struct service_log *log, const struct service_record *record,
                       enum service_state state)
{
    advance(log, record->time_ns);
    if (!service_log__living(log, record->tid))
        begin(log, record, state)->is_guessed = true;
}

/* What it seemed to do when it was joined was another thing: its times are put right, those of all
 * threads together stay what they are. */
static void correct(struct service_log *log, struct service_thread *thread,
                    enum service_state state)
{
    thread->state_ns[state] += log->now_ns - thread->since_ns;
    thread->since_ns = log->now_ns;
}

static void take_run(struct service_log *log, struct service_thread *thread, uint32_t cpu)
{
    thread->migrations += thread->has_cpu && thread->cpu != cpu;
    thread->cpu = cpu;
    thread->has_cpu = true;
    if (thread->is_guessed && thread->state == SERVICE_ON_CPU)
        correct(log, thread, SERVICE_WANTS);
    if (thread->is_guessed || thread->state != SERVICE_ON_CPU)
        enter(log, thread, SERVICE_ON_CPU, log->now_ns);
}

static void take_leave(struct service_log *log, struct service_thread *thread, uint32_t cpu,
                       bool is_preempted)
{
    if (thread->state != SERVICE_ON_CPU && !thread->is_guessed)
        return;
    if (thread->state != SERVICE_ON_CPU)
        correct(log, thread, SERVICE_ON_CPU);
    thread->voluntary += !is_preempted;
    thread->involuntary += is_preempted;
    thread->cpu = cpu;
    thread->has_cpu = true;
    enter(log, thread, is_preempted ? SERVICE_WANTS : SERVICE_BLOCKED, log->now_ns);
}

/* Of a thread whose beginning was lost, that it runs tells that it is there. */
static struct service_thread *thread_of(struct service_log *log,
                                        const struct service_record *record)
{
    struct service_thread *thread = service_log__living(log, record->tid);
    bool is_there = record->event != SERVICE_ENDS && record->event != SERVICE_IS_NAMED;
    if (thread || !is_there)
        return thread;
    return begin(log, record, record->event == SERVICE_RUNS ? SERVICE_BLOCKED : SERVICE_ON_CPU);
}

void service_log__add(struct service_log *log, const struct service_record *record)
{
    advance(log, record->time_ns);
    struct service_thread *thread;
    if (record->event == SERVICE_BEGINS) {
        begin(log, record, SERVICE_WANTS);
        return;
    }
    thread = thread_of(log, record);
    if (!thread)
        return;
    switch (record->event) {
    case SERVICE_RUNS:
        take_run(log, thread, record->cpu);
        break;
    case SERVICE_BLOCKS:
    case SERVICE_IS_PREEMPTED:
        take_leave(log, thread, record->cpu, record->event == SERVICE_IS_PREEMPTED);
        break;
    case SERVICE_ENDS:
        end(log, thread);
        break;
    case SERVICE_IS_ANOTHER:
    case SERVICE_IS_NAMED:
        set_name(thread, record->name);
        break;
    case SERVICE_BEGINS:
        break;
    }
}

void service_log__finish(struct service_log *log, uint64_t end_ns)
{
    advance(log, end_ns);
    while (log->living.count)
        end(log, thread_at(log, log->living.count - 1));
    for (unsigned scale = 0; scale < SERVICE_SCALES; scale++)
        end_interval(log, scale, log->now_ns);
    log->end_ns = log->now_ns;
}

/* ---- figures --------------------------------------------------------------------------------- */

uint64_t service_log__work_ns(const struct service_log *log)
{
    uint64_t work = 0;
    VEC_EACH (level, &log->levels, struct service_level)
        work += level->work_ns;
    return work;
}

uint64_t service_log__active_ns(const struct service_log *log)
{
    uint64_t active = 0;
    for (size_t count = 1; count < log->levels.count; count++)
        active += VEC_AT(&log->levels, struct service_level, count)->running_ns;
    return active;
}

static double ratio(double one, double other)
{
    return other > 0 ? one / other : NAN;
}

double service_log__at_work(const struct service_log *log)
{
    return ratio((double)service_log__work_ns(log), (double)service_log__active_ns(log));
}

double service_interval__at_work(const struct service_interval *interval)
{
    return ratio((double)interval->sum_ns, (double)interval->longest_ns);
}

double service_log__mean_running(const struct service_log *log)
{
    return ratio((double)service_log__work_ns(log), (double)(log->end_ns - log->begin_ns));
}

double service_log__mean_wanting(const struct service_log *log)
{
    double sum = 0;
    for (size_t count = 1; count < log->levels.count; count++)
        sum +=
            (double)count * (double)VEC_AT(&log->levels, struct service_level, count)->wanting_ns;
    return ratio(sum, (double)(log->end_ns - log->begin_ns));
}

double service_log__modelled(const struct service_log *log, uint32_t cpus)
{
    double time = 0;
    for (size_t count = 1; count < log->levels.count; count++)
        time += (double)VEC_AT(&log->levels, struct service_level, count)->work_ns /
                (double)(count < cpus ? count : cpus);
    return ratio((double)service_log__work_ns(log), time);
}
