/* span_counters.c: see span_counters.h. */
#include "cmd/span_counters.h"

#include "base/memory.h"

#include <stdlib.h>

struct counted_thread {
    bool is_alive;
    enum component state;
    int waits;
    bool counts[SPAN_COUNTERS]; /* what it adds to each now */
};

struct span_counters {
    struct counted_thread *threads;
    bool knows_cpu;
    uint64_t begin_ns, step_ns; /* of the piece that is open */
    uint64_t now_ns;
    uint64_t value[SPAN_COUNTERS];
    uint64_t sum[SPAN_COUNTERS]; /* value by ns, since begin_ns */
    void (*tell)(void *own, uint64_t ns, enum span_counter counter, double value);
    void *own;
};

struct span_counters *span_counters__new(const struct span_run *run, bool knows_cpu,
                                         void (*tell)(void *own, uint64_t ns,
                                                      enum span_counter counter, double value),
                                         void *own)
{
    struct span_counters *counters = memory__zeroed(1, sizeof *counters);
    uint64_t ns = run->to_ns > run->from_ns ? run->to_ns - run->from_ns : 0;
    *counters = (struct span_counters){
        .threads = memory__zeroed(run->thread_count + 1, sizeof *counters->threads),
        .knows_cpu = knows_cpu,
        .begin_ns = run->from_ns,
        .now_ns = run->from_ns,
        .step_ns = ns / SPAN_COUNTS + 1,
        .tell = tell,
        .own = own};
    for (uint32_t i = 0; i < run->thread_count; i++)
        counters->threads[i].state = COMPONENT_RUNNING;
    return counters;
}

static void add_until(struct span_counters *counters, uint64_t ns)
{
    for (unsigned i = 0; i < SPAN_COUNTERS; i++)
        counters->sum[i] += counters->value[i] * (ns - counters->now_ns);
    counters->now_ns = ns;
}

static void tell_piece(struct span_counters *counters)
{
    uint64_t ns = counters->now_ns - counters->begin_ns;
    for (unsigned i = 0; i < SPAN_COUNTERS; i++) {
        if (ns)
            counters->tell(counters->own, counters->begin_ns, (enum span_counter)i,
                           (double)counters->sum[i] / (double)ns);
        counters->sum[i] = 0;
    }
    counters->begin_ns = counters->now_ns;
}

static void go_to(struct span_counters *counters, uint64_t ns)
{
    while (ns >= counters->begin_ns + counters->step_ns) {
        add_until(counters, counters->begin_ns + counters->step_ns);
        tell_piece(counters);
    }
    if (ns > counters->now_ns)
        add_until(counters, ns);
}

static void set(struct span_counters *counters, struct counted_thread *thread,
                enum span_counter counter, bool counts)
{
    counters->value[counter] += counts;
    counters->value[counter] -= thread->counts[counter];
    thread->counts[counter] = counts;
}

static void count_anew(struct span_counters *counters, struct counted_thread *thread)
{
    bool has_cpu = thread->is_alive &&
                   (thread->state == COMPONENT_RUNNING || thread->state == COMPONENT_PAGE_FAULT);
    set(counters, thread, SPAN_CPUS, has_cpu && (counters->knows_cpu || !thread->waits));
    set(counters, thread, SPAN_RUNNING, has_cpu && !thread->waits);
    set(counters, thread, SPAN_WANTING, thread->is_alive && thread->state == COMPONENT_RUNNABLE);
}

void span_counters__alive(struct span_counters *counters, uint32_t thread, uint64_t ns, bool is)
{
    go_to(counters, ns);
    counters->threads[thread].is_alive = is;
    count_anew(counters, &counters->threads[thread]);
}

void span_counters__state(struct span_counters *counters, uint32_t thread, uint64_t ns,
                          enum component state)
{
    go_to(counters, ns);
    counters->threads[thread].state = state;
    count_anew(counters, &counters->threads[thread]);
}

void span_counters__wait(struct span_counters *counters, uint32_t thread, uint64_t ns, int deeper)
{
    go_to(counters, ns);
    counters->threads[thread].waits += deeper;
    count_anew(counters, &counters->threads[thread]);
}

void span_counters__end(struct span_counters *counters)
{
    if (!counters)
        return;
    tell_piece(counters);
    free(counters->threads);
    free(counters);
}
