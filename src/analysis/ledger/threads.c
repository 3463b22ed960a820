#include "analysis/ledger/threads.h"

#include "analysis/analysis.h"
#include "analysis/events/time_off_cpu.h"
#include "base/memory.h"

#include <stdlib.h>

#define COMPONENT(component, key, title, help) \
    COLUMN_KEYED(key "_ns", thread_row, component_ns[component], title, "ns", help)

static const struct column columns[] = {
    COLUMN(thread_row, tid, "thread", "", "number that the kernel gave the thread"),
    COLUMN(thread_row, pid, NULL, "", "process that it belongs to"),
    COLUMN(thread_row, name, "name", "", "name of the thread"),
    COLUMN(thread_row, start_ns, NULL, "ns", "when it began, since the start of the run"),
    COLUMN(thread_row, lifetime_ns, "life", "ns", "how long it lived"),
    COLUMN(thread_row, cpu_ns, "on CPUs", "ns", "CPU time, as the kernel counts it"),
    COLUMN(thread_row, runnable_ns, NULL, "ns", "waited for a CPU, as the kernel counts it"),
    COMPONENT(COMPONENT_RUNNING, "running", "worked", "life less all that follows"),
    COMPONENT(COMPONENT_LOCK, "lock", "lock", "waited for locks"),
    COMPONENT(COMPONENT_CONDITION, "condition", "condition",
              "waited at condition variables and semaphores"),
    COMPONENT(COMPONENT_BARRIER, "barrier", "barrier", "waited at barriers"),
    COMPONENT(COMPONENT_DISK, "disk", NULL, "waited for files"),
    COMPONENT(COMPONENT_NETWORK, "network", NULL, "waited for sockets"),
    COMPONENT(COMPONENT_MESSAGE, "message", NULL, "waited for messages"),
    COMPONENT(COMPONENT_SLEEP, "sleep", NULL, "slept"),
    COMPONENT(COMPONENT_PAGE_FAULT, "page_fault", NULL, "was in page faults"),
    COMPONENT(COMPONENT_RUNNABLE, "wanted_cpu", "wanted a CPU", "wanted a CPU and had none"),
    COMPONENT(COMPONENT_OTHER_BLOCKED, "other_blocked", "other waits",
              "joined, polled, or was blocked in what nobody knows"),
    COMPONENT(COMPONENT_OVERHEAD, "overhead", NULL, "was being recorded"),
    COLUMN(thread_row, switches, "switches", "", "times that it was off the CPU"),
    COLUMN(thread_row, preemptions, "preempted", "", "of these, while it wanted to go on"),
    COLUMN(thread_row, faults, NULL, "", "page faults that are in the trace"),
    COLUMN(thread_row, events, NULL, "", "events that it wrote"),
    COLUMN(thread_row, ended, NULL, "", "whether its end is in the trace"),
};
_Static_assert(COMPONENTS == 12, "every component has a column");

const struct table threads_table = TABLE(thread_row, "threads", "a row a thread", columns);

static void *start(struct run *run)
{
    return memory__zeroed(trace__threads(run->trace)->count + 1, sizeof(struct thread_switches));
}

static void *thread(void *self, unsigned lane, uint32_t thread)
{
    (void)lane;
    return (struct thread_switches *)self + thread;
}

static void event(void *part, const struct event *event)
{
    struct thread_switches *counts = part;
    enum off_cpu_type type = off_cpu__of(event).type;
    counts->faults += type == OFF_CPU_FAULT;
    counts->switches += type == OFF_CPU_BLOCKED || type == OFF_CPU_PREEMPTED;
    counts->preemptions += type == OFF_CPU_PREEMPTED;
}

const struct analysis threads_analysis = {.name = "threads",
                                          .walk = WALK_THREADS,
                                          .start = start,
                                          .thread = thread,
                                          .event = event,
                                          .free = free};

static void fill_row(const struct trace *trace, const struct profile_thread *result,
                     const struct thread_switches *switches, struct thread_row *row)
{
    const struct trace_thread *thread = trace__thread_at(trace, result->thread);
    bool has_switches = result->has_kernel && !trace__is_aggregated(trace);
    row->tid = thread->tid;
    row->pid = thread->pid;
    row->name = thread->name;
    row->start_ns = trace__since_start_ns(trace, thread->start_tick);
    row->lifetime_ns = result->lifetime_ns;
    row->cpu_ns = result->cpu_ns;
    row->runnable_ns = result->runnable_ns;
    for (unsigned i = 0; i < COMPONENTS; i++)
        row->component_ns[i] = result->component_ns[i];
    row->events = result->events;
    row->ended = thread->ended;
    row->switches = has_switches ? switches->switches : UINT64_MAX;
    row->preemptions = has_switches ? switches->preemptions : UINT64_MAX;
    row->faults = has_switches ? switches->faults : UINT64_MAX;
}

struct table_rows threads__rows(const struct trace *trace, const struct profile *profile,
                                const struct thread_switches *switches)
{
    struct table_rows rows = table_rows__of(&threads_table);
    VEC_EACH (thread, &profile->threads, struct profile_thread)
        fill_row(trace, thread, &switches[thread->thread], table_rows__add(&rows));
    return rows;
}
