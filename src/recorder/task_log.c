#include "recorder/task_log.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { OFF_CPU_WORDS = 4, FAULT_WORDS = 4, LOST_WORDS = 2 };
enum { FLUSHED_WORDS = 400, WORDS_MOST = 512, WORDS_FIRST = 32 };

enum { ON_CPU, OFF_BLOCKED, OFF_PREEMPTED };

/* Of what was measured last. */
struct mean {
    uint64_t sum, count;
};

/* A thread that lives. */
struct logged_task {
    uint32_t pid, tid;
    struct heurt_life life;
    uint64_t since_ns; /* that it is on or off the CPU */
    int state;
    uint32_t cpu;
    /* The page fault that has begun and not ended. */
    uint64_t fault_ns; /* 0: there is none */
    uint64_t fault_address, fault_off_ns;
    size_t fault_at; /* place in words at which it began */
    size_t off_at;   /* likewise of the last OFF_CPU */
    /* Where faults are so many that not each is told. */
    uint64_t told_ns; /* the end of the last one that is */
    uint64_t untold;  /* how many are known, and not yet written */
    bool is_thinned;  /* the last record of one stands for others, too */
    struct mean faults;
    /* Waiting for a CPU, as the system counts it: when it was last asked, and what the records told
     * since. */
    uint64_t delay_ns, blocked_ns, preempted_ns;
    uint64_t *words; /* not yet written */
    size_t count, capacity;
    uint64_t first_tick;
};

enum { RECENT = 256 };

struct task_log {
    struct task_log_settings settings;
    struct vec tasks;                   /* struct logged_task *; NULL: it has ended */
    struct map places;                  /* tid → index of tasks */
    struct logged_task *recent[RECENT]; /* by tid, to save looking */
    struct task_clock_pair first, last;
    struct mean faults; /* of all threads */
    uint64_t rate;      /* ticks a ns << RATE_BITS */
    uint64_t lost;      /* records that no thread is known to miss */
    uint64_t refused;   /* events */
};

/* ---- times ----------------------------------------------------------------------------------- */

#define RATE_BITS 40

void task_log__set_clock(struct task_log *log, struct task_clock_pair pair)
{
    if (!log->first.ns)
        log->first = pair;
    log->last = pair;
    uint64_t ns = pair.ns - log->first.ns;
    if (ns && pair.ns > log->first.ns)
        log->rate =
            (uint64_t)(((unsigned __int128)(pair.tick - log->first.tick) << RATE_BITS) / ns);
}

uint64_t task_log__ticks(const struct task_log *log, uint64_t ns)
{
    return log->settings.ticks_are_ns ? ns
                                      : (uint64_t)((unsigned __int128)ns * log->rate >> RATE_BITS);
}

static uint64_t tick_at(const struct task_log *log, uint64_t ns)
{
    if (log->settings.ticks_are_ns)
        return ns;
    return ns >= log->last.ns ? log->last.tick + task_log__ticks(log, ns - log->last.ns)
                              : log->last.tick - task_log__ticks(log, log->last.ns - ns);
}

/* ---- threads --------------------------------------------------------------------------------- */

static struct logged_task **place_of(struct task_log *log, uint32_t tid)
{
    uint64_t index = map__put(&log->places, &tid, sizeof tid, log->tasks.count);
    if (index == log->tasks.count)
        vec__push(&log->tasks, NULL);
    return VEC_AT(&log->tasks, struct logged_task *, index);
}

static struct logged_task *find(struct task_log *log, uint32_t tid)
{
    struct logged_task *task = log->recent[tid % RECENT];
    if (task && task->tid == tid)
        return task;
    task = *place_of(log, tid);
    log->recent[tid % RECENT] = task;
    return task;
}

/* state: what it does from then on. */
static struct logged_task *begin(struct task_log *log, const struct task_record *record, int state)
{
    struct logged_task *task = memory__zeroed(1, sizeof *task);
    uint64_t tick = tick_at(log, record->time_ns);
    task->pid = record->pid;
    task->tid = record->tid;
    task->cpu = record->cpu;
    task->life = (struct heurt_life){.start_tick = tick, .end_tick = tick};
    task->since_ns = task->told_ns = record->time_ns;
    task->state = state;
    *place_of(log, record->tid) = task;
    log->recent[record->tid % RECENT] = task;
    return task;
}

static void forget(struct task_log *log, struct logged_task *task)
{
    log->recent[task->tid % RECENT] = NULL;
    *place_of(log, task->tid) = NULL;
    free(task->words);
    free(task);
}

/* ---- events ---------------------------------------------------------------------------------- */

static uint64_t *claim(struct logged_task *task, uint64_t tick, uint32_t id, size_t words)
{
    if (task->count + words > task->capacity) {
        task->capacity = task->capacity ? 2 * task->capacity : WORDS_FIRST;
        task->words = memory__resize(task->words, task->capacity, sizeof *task->words);
    }
    if (!task->count)
        task->first_tick = tick;
    uint64_t *at = task->words + task->count;
    task->count += words;
    at[0] = tick << HEURT_ID_BITS | id;
    return at;
}

static size_t words_of(uint64_t first)
{
    uint32_t id = (uint32_t)first & ((1u << HEURT_ID_BITS) - 1);
    return id == HEURT_EVENT_OFF_CPU ? OFF_CPU_WORDS
           : id == HEURT_EVENT_FAULT ? FAULT_WORDS
                                     : LOST_WORDS;
}

static bool is_wait(const uint64_t *at)
{
    return words_of(at[0]) == OFF_CPU_WORDS && HEURT_SITE_HOW(at[1]) != HEURT_OFF_PREEMPTED;
}

/* Something about the thread is missing, or contradicts what came before. */
static void tell_gap(struct task_log *log, struct logged_task *task, uint64_t now_ns)
{
    task->fault_ns = 0;
    uint64_t *at = claim(task, tick_at(log, now_ns), HEURT_EVENT_KERNEL_LOST, LOST_WORDS);
    at[1] = 1;
    if (log->lost)
        log->lost--;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Looking costs some 10 µs, of the recorder: at most one part in thirty of what was blocked. */
#define DELAY_WORTH_NS 300000u

/* What the thread waited for a CPU since the last look, less what it was preempted, is divided
 * among all that was blocked since then, and what is not yet written gets its part. */
static void divide_delay(struct task_log *log, struct logged_task *task)
{
    uint64_t delay;
    if (task->blocked_ns < DELAY_WORTH_NS || !log->settings.delay ||
        !log->settings.delay(log->settings.context, task->pid, task->tid, &delay))
        return;
    uint64_t waited = delay - task->delay_ns, blocked = task->blocked_ns;
    waited = waited > task->preempted_ns ? waited - task->preempted_ns : 0;
    waited = waited < blocked ? waited : blocked;
    for (size_t i = 0; i < task->count; i += words_of(task->words[i])) {
        uint64_t *at = task->words + i;
        if (!is_wait(at))
            continue;
        uint64_t off = HEURT_SITE_ADDRESS(at[1]);
        uint64_t part = (uint64_t)((unsigned __int128)off * waited / blocked);
        at[2] = HEURT_BACK(part, HEURT_SITE_HOW(at[2]));
    }
    task->life.runnable_ns += waited;
    task->delay_ns = delay;
    task->blocked_ns = task->preempted_ns = 0;
}

static void write_run(struct task_log *log, struct logged_task *task)
{
    struct heurt_run run = {.pid = task->pid,
                            .tid = task->tid,
                            .tick = task->count ? task->first_tick : task->life.end_tick,
                            .life = task->life};
    divide_delay(log, task);
    run.life.runnable_ns = task->life.runnable_ns;
    if (!log->settings.write(log->settings.context, &run, task->words, task->count))
        for (size_t i = 0; i < task->count; i += words_of(task->words[i]))
            log->refused++;
    task->count = task->fault_at = task->off_at = 0;
}

/* What happened within a page fault waits for its end, which tells that it did. */
static void write_when_full(struct task_log *log, struct logged_task *task)
{
    bool waits = task->fault_ns && task->fault_off_ns;
    if (task->count >= WORDS_MOST || (task->count >= FLUSHED_WORDS && !waits))
        write_run(log, task);
}

/* ---- how long page faults take --------------------------------------------------------------- */

#define MEAN_OF 64

static void remember(struct mean *mean, uint64_t value)
{
    if (mean->count == MEAN_OF) {
        mean->count /= 2;
        mean->sum /= 2;
    }
    mean->count++;
    mean->sum += value;
}

/* 0: nothing was measured. */
static uint64_t mean_fault(const struct task_log *log, const struct logged_task *task)
{
    const struct mean *mean = task->faults.count ? &task->faults : &log->faults;
    return mean->count ? mean->sum / mean->count : 0;
}

#define OLD_FAULT_MEANS 8

/* Where not each end is told, one that began is over by now. */
static void forget_old_fault(const struct task_log *log, struct logged_task *task, uint64_t now_ns)
{
    uint64_t mean = mean_fault(log, task);
    if (task->is_thinned && mean &&
        now_ns - task->fault_ns - task->fault_off_ns > OLD_FAULT_MEANS * mean)
        task->fault_ns = 0;
}

/* ---- on and off ------------------------------------------------------------------------------ */

static void went_off(struct task_log *log, struct logged_task *task, uint64_t now_ns,
                     bool preempted)
{
    forget_old_fault(log, task, now_ns);
    if (task->state != ON_CPU)
        tell_gap(log, task, now_ns);
    else if (now_ns > task->since_ns)
        task->life.cpu_ns += now_ns - task->since_ns;
    task->state = preempted ? OFF_PREEMPTED : OFF_BLOCKED;
    task->since_ns = now_ns;
}

static enum heurt_off how_off(const struct task_log *log, const struct logged_task *task)
{
    if (task->state == OFF_PREEMPTED)
        return HEURT_OFF_PREEMPTED;
    return log->settings.stopped &&
                   log->settings.stopped(log->settings.context, task->pid, task->since_ns)
               ? HEURT_OFF_STOPPED
               : HEURT_OFF_BLOCKED;
}

static void came_on(struct task_log *log, struct logged_task *task, uint64_t now_ns)
{
    uint64_t off_ns = now_ns > task->since_ns ? now_ns - task->since_ns : 0;
    bool preempted = task->state == OFF_PREEMPTED;
    if (task->state == ON_CPU) {
        tell_gap(log, task, now_ns);
        return;
    }
    if (task->fault_ns)
        task->fault_off_ns += off_ns;
    *(preempted ? &task->preempted_ns : &task->blocked_ns) += off_ns;
    if (preempted)
        task->life.runnable_ns += off_ns;
    uint64_t tick = tick_at(log, now_ns), ticks = task_log__ticks(log, off_ns);
    task->off_at = task->count;
    if (!task->life.cpu_ns)
        task->life.wait_ticks = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
    uint64_t *at = claim(task, tick, HEURT_EVENT_OFF_CPU, OFF_CPU_WORDS);
    at[1] = HEURT_OFF(ticks, how_off(log, task));
    at[2] = HEURT_BACK(preempted ? ticks : HEURT_NOT_KNOWN, task->cpu);
    at[3] = 0;
    task->state = ON_CPU;
    task->since_ns = now_ns;
}

/* ---- page faults ----------------------------------------------------------------------------- */

static void put_fault(struct task_log *log, struct logged_task *task,
                      const struct task_record *record, uint64_t end_ns, uint64_t on_ns,
                      enum heurt_fault how)
{
    uint64_t *at = claim(task, tick_at(log, end_ns), HEURT_EVENT_FAULT, FAULT_WORDS);
    at[1] = HEURT_OFF(task_log__ticks(log, on_ns), how);
    at[2] = record->address;
    at[3] = record->code;
    task->told_ns = end_ns;
    write_when_full(log, task);
}

/* Those that the kernel only counts are divided evenly over the time on the CPU since the last one
 * that it told; the last of them has a record if is_told. */
static void put_untold(struct task_log *log, struct logged_task *task,
                       const struct task_record *record, uint64_t until_ns, bool is_told)
{
    uint64_t since = task->told_ns > task->since_ns ? task->told_ns : task->since_ns;
    uint64_t count = task->untold, on_ns = mean_fault(log, task);
    uint64_t span = until_ns > since ? until_ns - since : 0;
    on_ns = count && on_ns > span / count ? span / count : on_ns;
    for (uint64_t i = 1; i <= count; i++) {
        uint64_t end_ns = since + (uint64_t)((unsigned __int128)span * i / count);
        put_fault(log, task, record, end_ns, on_ns,
                  i == count && is_told ? HEURT_FAULT_ESTIMATED : HEURT_FAULT_COUNTED);
    }
    task->untold = 0;
}

static void fault_began(struct logged_task *task, const struct task_record *record)
{
    /* One that has no end became a signal, or its end was lost or is not told: nor is it. */
    task->fault_ns = record->time_ns;
    task->fault_address = record->address;
    task->fault_off_ns = 0;
    task->fault_at = task->count;
    task->is_thinned = record->count > 1;
}

static void was_off_in_fault(struct logged_task *task, size_t since)
{
    for (size_t i = since; i < task->count; i += words_of(task->words[i]))
        if (is_wait(task->words + i))
            task->words[i + 1] = HEURT_OFF(HEURT_SITE_ADDRESS(task->words[i + 1]), HEURT_OFF_FAULT);
}

/* Its beginning and its end are told. */
static void put_measured(struct task_log *log, struct logged_task *task,
                         const struct task_record *record)
{
    int64_t on_ns = (int64_t)(record->time_ns - task->fault_ns - task->fault_off_ns);
    int64_t least = on_ns / 4, with_way = on_ns + log->settings.way_of_fault_ns;
    on_ns = with_way > least ? with_way : least;
    on_ns = on_ns > 0 ? on_ns : 0;
    remember(&task->faults, (uint64_t)on_ns);
    remember(&log->faults, (uint64_t)on_ns);
    was_off_in_fault(task, task->fault_at);
    /* Where it was off, events of later times are written already: the others wait for the next. */
    if (!task->fault_off_ns)
        put_untold(log, task, record, task->fault_ns, false);
    task->fault_ns = 0;
    put_fault(log, task, record, record->time_ns, (uint64_t)on_ns, HEURT_FAULT_MEASURED);
}

#define MAJOR_FAULT_NS 1000000u /* on the CPU, when it has what it waited for */

/* Its beginning is not: because the kernel thins them out, or because it was lost. */
static void put_end_of_fault(struct task_log *log, struct logged_task *task,
                             const struct task_record *record)
{
    if (record->is_major && record->time_ns - task->since_ns < MAJOR_FAULT_NS)
        was_off_in_fault(task, task->off_at);
    put_untold(log, task, record, record->time_ns, true);
}

static void fault_ended(struct task_log *log, struct logged_task *task,
                        const struct task_record *record)
{
    bool is_measured = task->fault_ns && task->fault_address == record->address;
    if (!is_measured && log->lost && record->count == 1) {
        tell_gap(log, task, record->time_ns);
        return;
    }
    task->is_thinned = record->count > 1;
    task->untold += record->count - is_measured;
    if (is_measured)
        put_measured(log, task, record);
    else
        put_end_of_fault(log, task, record);
    task->fault_ns = 0;
}

/* ---- beginnings and ends --------------------------------------------------------------------- */

static void end(struct task_log *log, struct logged_task *task, uint64_t now_ns, uint32_t flags)
{
    if (task->state == ON_CPU)
        went_off(log, task, now_ns, false);
    else
        came_on(log, task, now_ns);
    task->life.end_tick = tick_at(log, now_ns);
    task->life.flags |= flags;
    write_run(log, task);
    forget(log, task);
}

/* Exec ends all other threads of the process; the one that called it goes on as the first, whatever
 * it was before. */
static void end_others(struct task_log *log, const struct task_record *record)
{
    VEC_EACH (place, &log->tasks, struct logged_task *)
        if (*place && (*place)->pid == record->pid && (*place)->tid != record->tid)
            end(log, *place, record->time_ns, HEURT_LIFE_ENDED);
}

static void name(struct logged_task *task, const struct task_record *record)
{
    memcpy(task->life.name, record->name, sizeof task->life.name - 1);
}

/* A new thread has the name of the one that made it, until it says another. */
static void forked(struct task_log *log, const struct task_record *record)
{
    struct logged_task *before = find(log, record->tid), *leader = find(log, record->pid);
    if (before)
        end(log, before, record->time_ns, HEURT_LIFE_ENDED);
    struct logged_task *task = begin(log, record, OFF_PREEMPTED);
    if (leader && leader != before)
        memcpy(task->life.name, leader->life.name, sizeof task->life.name);
}

static void execed(struct task_log *log, struct logged_task *task, const struct task_record *record)
{
    name(task, record);
    task->life.exec_tick = tick_at(log, record->time_ns);
    task->fault_ns = 0;
    end_others(log, record);
}

/* ---- records --------------------------------------------------------------------------------- */

static void add_to(struct task_log *log, struct logged_task *task, const struct task_record *record)
{
    task->cpu = record->kind == TASK_FAULT_ENDS ? task->cpu : record->cpu;
    task->life.end_tick = tick_at(log, record->time_ns);
    switch (record->kind) {
    case TASK_NAMED:
        name(task, record);
        break;
    case TASK_EXECED:
        execed(log, task, record);
        break;
    case TASK_BLOCKED:
    case TASK_PREEMPTED:
        went_off(log, task, record->time_ns, record->kind == TASK_PREEMPTED);
        break;
    case TASK_ON_CPU:
        came_on(log, task, record->time_ns);
        break;
    case TASK_FAULT_BEGINS:
        fault_began(task, record);
        break;
    case TASK_FAULT_ENDS:
        fault_ended(log, task, record);
        break;
    case TASK_ENDED:
        end(log, task, record->time_ns, HEURT_LIFE_ENDED);
        return;
    default:
        break;
    }
    write_when_full(log, task);
}

void task_log__add(struct task_log *log, const struct task_record *record)
{
    if (record->kind == TASK_LOST)
        log->lost += record->count;
    else if (record->kind == TASK_FORKED)
        forked(log, record);
    if (record->kind == TASK_LOST || record->kind == TASK_FORKED || record->kind == TASK_OTHER ||
        !record->tid)
        return;
    struct logged_task *task = find(log, record->tid);
    if (!task) /* the command's first thread, at its exec; another's beginning was lost */
        task = begin(log, record, record->kind == TASK_ON_CPU ? OFF_PREEMPTED : ON_CPU);
    add_to(log, task, record);
}

void task_log__flush(struct task_log *log)
{
    VEC_EACH (place, &log->tasks, struct logged_task *)
        if (*place && !((*place)->fault_ns && (*place)->fault_off_ns))
            write_run(log, *place);
}

void task_log__finish(struct task_log *log, uint64_t now_ns)
{
    VEC_EACH (place, &log->tasks, struct logged_task *)
        if (*place)
            end(log, *place, now_ns, 0);
}

struct task_log *task_log__new(const struct task_log_settings *settings)
{
    struct task_log *log = memory__zeroed(1, sizeof *log);
    log->settings = *settings;
    log->tasks = VEC_OF(struct logged_task *);
    log->rate = 1ull << RATE_BITS;
    return log;
}

void task_log__free(struct task_log *log)
{
    if (!log)
        return;
    VEC_EACH (place, &log->tasks, struct logged_task *)
        if (*place)
            forget(log, *place);
    vec__free(&log->tasks);
    map__free(&log->places);
    free(log);
}

uint64_t task_log__refused(const struct task_log *log)
{
    return log->refused;
}
