/* replay_program_away.c: when threads were not on a CPU, and what took it from them. */
#include "analysis/analysis.h"
#include "analysis/events/time_off_cpu.h"
#include "analysis/replay/internal.h"
#include "base/memory.h"

#include <stdlib.h>

/* A thread goes on a CPU or off it. */
struct presence_change {
    uint64_t tick;
    int64_t more;
};

static void put(struct vec *away, uint64_t begin, uint64_t end, enum spending what)
{
    struct away row = {begin, end, what};
    if (begin < end)
        vec__push(away, &row);
}

static void put_interval(struct vec *away, const struct off_cpu *off)
{
    if (off->type == OFF_CPU_PAUSED) {
        put(away, off->begin, off->end, SPENT_PAUSED);
    } else if (off->type != OFF_CPU_FAULT) {
        put(away, off->begin, off->runnable, SPENT_BLOCKED);
        put(away, off->runnable, off->end, SPENT_RUNNABLE);
    }
}

static int by_begin(const void *a, const void *b)
{
    const struct away *left = a, *right = b;
    return left->begin < right->begin ? -1 : left->begin > right->begin;
}

static void take_event(void *part, const struct event *event)
{
    struct thread_away *away = part;
    const struct off_cpu off = off_cpu__of(event);
    away->has_kernel |= off_cpu__is_told(event);
    if (off.type != OFF_CPU_NOTHING)
        put_interval(&away->periods, &off);
}

static void order(void *part)
{
    vec__sort(&((struct thread_away *)part)->periods, by_begin);
}

/* ---- whether the program itself used the CPUs ------------------------------------------------ */

static int by_tick(const void *a, const void *b)
{
    const struct presence_change *left = a, *right = b;
    return left->tick < right->tick ? -1 : left->tick > right->tick;
}

static void add_iteration(struct vec *iterations, uint64_t tick, int64_t more)
{
    struct presence_change iteration = {tick, more};
    vec__push(iterations, &iteration);
}

/* A thread that is off the CPU for one reason and at once for the next changes nothing between. */
static void add_periods(struct vec *iterations, const struct vec *periods)
{
    uint64_t away_until = 0;
    VEC_EACH (away, periods, struct away) {
        if (away->what == SPENT_PAUSED)
            continue;
        if (away->begin != away_until) {
            if (away_until)
                add_iteration(iterations, away_until, 1);
            add_iteration(iterations, away->begin, -1);
        }
        away_until = away->end;
    }
    if (away_until)
        add_iteration(iterations, away_until, 1);
}

/* Afterwards more is how many threads are on a CPU from there on. */
static struct vec iterations_of(const struct trace *trace, const struct thread_away *all)
{
    struct vec iterations = VEC_OF(struct presence_change);
    int64_t running = 0;
    for (size_t i = 0; i < trace__threads(trace)->count; i++) {
        const struct trace_thread *thread = trace__thread_at(trace, i);
        add_iteration(&iterations, thread->start_tick, 1);
        add_iteration(&iterations, thread->end_tick, -1);
        add_periods(&iterations, &all[i].periods);
    }
    if (iterations.count)
        qsort(iterations.items, iterations.count, sizeof(struct presence_change), by_tick);
    VEC_EACH (iteration, &iterations, struct presence_change) {
        running += iteration->more;
        iteration->more = running;
    }
    return iterations;
}

/* The last iteration at or before tick, or the first one; from: it is none before this one. */
static size_t iteration_at(const struct vec *iterations, size_t from, uint64_t tick)
{
    while (from + 1 < iterations->count &&
           VEC_AT(iterations, struct presence_change, from + 1)->tick <= tick)
        from++;
    return from;
}

/* at: the iteration of the period's begin. */
static void divide(const struct vec *iterations, size_t at, int64_t cpus, const struct away *period,
                   struct vec *into)
{
    uint64_t from = period->begin;
    for (size_t i = at; i < iterations->count && from < period->end; i++) {
        uint64_t end = i + 1 < iterations->count
                           ? VEC_AT(iterations, struct presence_change, i + 1)->tick
                           : period->end;
        bool is_free = VEC_AT(iterations, struct presence_change, i)->more < cpus;
        end = end < period->end ? end : period->end;
        if (end <= from)
            continue;
        put(into, from, end, is_free ? SPENT_STOLEN : SPENT_RUNNABLE);
        from = end;
    }
    put(into, from, period->end, SPENT_RUNNABLE);
}

/* While less threads of the program are on a CPU than there are CPUs, what a thread waits for is a
 * CPU that others than the program use. */
static void find_stolen(const struct trace *trace, uint32_t cpus, struct thread_away *all)
{
    struct vec iterations = iterations_of(trace, all);
    for (size_t i = 0; i < trace__threads(trace)->count; i++) {
        struct vec divided = VEC_OF(struct away);
        size_t at = 0;
        VEC_EACH (period, &all[i].periods, struct away) {
            at = iteration_at(&iterations, at, period->begin);
            if (period->what == SPENT_RUNNABLE)
                divide(&iterations, at, cpus, period, &divided);
            else
                vec__push(&divided, period);
        }
        vec__free(&all[i].periods);
        all[i].periods = divided;
    }
    vec__free(&iterations);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void *start(struct run *run)
{
    const struct replay_program *program = run__options(run, &rows_analysis);
    struct thread_away *all = memory__zeroed(program->thread_count, sizeof *all);
    for (size_t i = 0; i < program->thread_count; i++)
        all[i].periods = VEC_OF(struct away);
    return all;
}

static void *thread(void *self, unsigned lane, uint32_t thread)
{
    (void)lane;
    return (struct thread_away *)self + thread;
}

const struct analysis away_analysis = {.name = "off the CPUs",
                                       .walk = WALK_THREADS,
                                       .start = start,
                                       .thread = thread,
                                       .event = take_event,
                                       .end = order};

void program__find_stolen(const struct replay_program *program, struct thread_away *all)
{
    if (program->model.cpus != UINT32_MAX)
        find_stolen(program->trace, program->model.cpus, all);
}

void program__free_away(const struct replay_program *program, struct thread_away *all)
{
    for (size_t i = 0; i < program->thread_count; i++)
        vec__free(&all[i].periods);
    free(all);
}
