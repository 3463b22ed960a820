#include "format/part.h"

#include "base/memory.h"
#include "format/trace.h"

#include <stdlib.h>

static void free_edges(struct part_edges *edges)
{
    vec__free(&edges->opening);
    vec__free(&edges->closing);
    vec__free(&edges->stacked);
}

/* Chunks before that one have no event since the tick. */
static size_t first_chunk(const struct trace_thread *thread, uint64_t tick)
{
    size_t from = 0, to = thread->chunks.count;
    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;
        const struct heurt_chunk *chunk =
            *VEC_AT(&thread->chunks, const struct heurt_chunk *, middle);
        *(chunk->start.tick <= tick ? &from : &to) = middle;
    }
    return from;
}

/* What was counted of all of its life is not known of a part of it. */
static void cut(struct trace_thread *thread, uint64_t from, uint64_t to)
{
    bool is_cut = thread->start_tick < from || thread->end_tick > to;
    thread->first_chunk = first_chunk(thread, from);
    thread->ended = thread->ended && thread->end_tick <= to;
    thread->start_tick = thread->start_tick > from ? thread->start_tick : from;
    thread->end_tick = thread->end_tick < to ? thread->end_tick : to;
    if (is_cut)
        thread->cpu_ns = thread->runnable_ns = UINT64_MAX;
}

static void put_threads(struct trace *part, const struct trace *trace, uint64_t from, uint64_t to,
                        struct part_edges *edges)
{
    part->threads = VEC_OF(struct trace_thread);
    VEC_EACH (thread, &trace->threads, struct trace_thread) {
        struct part_edges *own = &edges[thread - (struct trace_thread *)trace->threads.items];
        if (thread->end_tick <= from || thread->start_tick >= to) {
            free_edges(own);
            continue;
        }
        struct trace_thread *row = vec__push(&part->threads, thread);
        cut(row, from, to);
        row->opening = own->opening;
        row->closing = own->closing;
        row->stacked = own->stacked;
    }
}

/* The beginnings of processes and threads are not in it. */
static void put_processes(struct trace *part, const struct trace *trace)
{
    part->processes = VEC_OF(struct trace_process);
    VEC_EACH (process, &trace->processes, struct trace_process) {
        struct trace_process *row = vec__push(&part->processes, process);
        row->begin_cost_ns = row->thread_cost_ns = 0;
    }
}

static uint64_t monotonic_ns(const struct trace *trace, uint64_t tick)
{
    const struct heurt_clock_pair *start = &trace->session.start;
    uint64_t ns = tick > start->tick ? trace__ns(trace, tick - start->tick) : 0;
    return ns < UINT64_MAX - start->monotonic_ns ? start->monotonic_ns + ns : UINT64_MAX;
}

static void put_samples(struct trace *part, const struct trace *trace, uint64_t from, uint64_t to)
{
    uint64_t from_ns = monotonic_ns(trace, from), to_ns = monotonic_ns(trace, to);
    part->samples = VEC_OF(struct heurt_sample);
    VEC_EACH (sample, &trace->samples, struct heurt_sample)
        if (sample->monotonic_ns >= from_ns && sample->monotonic_ns <= to_ns)
            vec__push(&part->samples, sample);
}

/* The command's own figures are those of all the run. */
static void cut_session(struct trace *part, uint64_t to)
{
    struct heurt_session *session = &part->session;
    if (session->end.tick > to)
        session->end.tick = to;
    session->cpu_ns = session->system_ns = session->faults = 0;
    session->others_ns = UINT64_MAX;
}

struct trace *trace__part(const struct trace *trace, uint64_t from_tick, uint64_t to_tick,
                          struct part_edges *edges)
{
    struct trace *part = memory__zeroed(1, sizeof *part);
    *part = *trace;
    part->whole = trace;
    part->from_tick = from_tick > trace->first_tick ? from_tick : trace->first_tick;
    part->behind_tick = to_tick < UINT64_MAX ? to_tick + 1 : UINT64_MAX;
    put_threads(part, trace, part->from_tick, to_tick, edges);
    put_processes(part, trace);
    put_samples(part, trace, part->from_tick, to_tick);
    cut_session(part, to_tick);
    part->first_tick = part->from_tick;
    part->last_tick = to_tick < trace->last_tick ? to_tick : trace->last_tick;
    return part;
}

void trace__close_part(struct trace *part)
{
    if (!part)
        return;
    VEC_EACH (thread, &part->threads, struct trace_thread) {
        vec__free(&thread->opening);
        vec__free(&thread->closing);
        vec__free(&thread->stacked);
    }
    vec__free(&part->threads);
    vec__free(&part->processes);
    vec__free(&part->samples);
    free(part);
}
