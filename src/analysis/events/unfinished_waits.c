#include "analysis/events/unfinished_waits.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define SENTENCES_MAX 5

struct process_end {
    uint64_t last; /* tick of its last event */
    bool ended;    /* a thread of it came to its end: it was not killed */
    bool runs;     /* a thread that neither ended nor was stuck */
    bool to_end;   /* it lived as long as the command */
};

/* The last image of the process that was started first, which is the command. */
static size_t last_image(const struct trace *trace)
{
    size_t last = 0;
    for (size_t i = 0; i < trace__processes(trace)->count; i++) {
        if (trace__process_at(trace, i)->pid == trace__process_at(trace, 0)->pid)
            last = i;
    }
    return last;
}

static struct process_end *process_ends(const struct trace *trace,
                                        const struct thread_result *results)
{
    size_t count = trace__processes(trace)->count;
    struct process_end *ends = memory__zeroed(count, sizeof *ends);
    for (size_t i = 0; i < trace__threads(trace)->count; i++) {
        const struct trace_thread *thread = trace__thread_at(trace, i);
        struct process_end *end = &ends[thread->process];
        end->ended |= thread->ended;
        end->runs |= !thread->ended && !results[i].unfinished;
        if (thread->end_tick > end->last)
            end->last = thread->end_tick;
    }
    /* Of another process than the command only its last events are known; when all of its threads
     * were stuck, it hung. */
    for (size_t i = 0; i < count; i++)
        ends[i].to_end = i == last_image(trace) || (!ends[i].ended && !ends[i].runs);
    return ends;
}

static uint64_t end_of_trace(const struct trace *trace)
{
    uint64_t end = trace__session(trace)->end.tick;
    for (size_t i = 0; i < trace__threads(trace)->count; i++) {
        if (trace__thread_at(trace, i)->end_tick > end)
            end = trace__thread_at(trace, i)->end_tick;
    }
    return end;
}

static uint64_t unfinished_ticks(const struct thread_result *result)
{
    return result->end > result->unfinished_since ? result->end - result->unfinished_since : 0;
}

/* The kernel saw its end: it is not prolonged. */
static bool is_end_known(const struct trace_thread *thread)
{
    return thread->life && thread->life->life.flags & HEURT_LIFE_ENDED;
}

void unfinished_waits__prolong(const struct trace *trace, struct thread_result *results)
{
    struct process_end *ends = process_ends(trace, results);
    uint64_t end_tick = end_of_trace(trace);
    for (size_t i = 0; i < trace__threads(trace)->count; i++) {
        if (!results[i].unfinished)
            continue;
        const struct process_end *end = &ends[trace__thread_at(trace, i)->process];
        uint64_t until = end->to_end ? end_tick : end->last;
        if (until > results[i].end && !is_end_known(trace__thread_at(trace, i)))
            results[i].end = until;
        results[i].fold.parts[results[i].unfinished->fold.component] +=
            unfinished_ticks(&results[i]);
    }
    free(ends);
}

/* A pool's threads wait for work when a program ends; locks, barriers and joins do not. */
static bool is_worth_saying(const struct trace *trace, size_t thread,
                            const struct thread_result *result, const struct process_end *ends)
{
    const struct trace_thread *row = trace__thread_at(trace, thread);
    if (row->is_aside || !result->unfinished ||
        unfinished_ticks(result) <= (result->end - row->start_tick) / 2)
        return false;
    switch (result->unfinished->what.at.kind) {
    case CLASS_BARRIER: /* its threads wait for the next region, too */
        return strcmp(result->unfinished->what.at.function, END_OF_REGION) != 0;
    case CLASS_LOCK:
    case CLASS_JOIN:
        return true;
    case CLASS_CONDITION:
    case CLASS_SEMAPHORE:
    case CLASS_FUTEX:
        return !ends[row->process].ended;
    default:
        return false;
    }
}

/* " called from main (app.c:12)", or "". free() it. */
static char *caller_of(const struct symbols *symbols, const struct class_definition *what)
{
    const struct symbol *symbol =
        symbols ? symbols__get(symbols, what->at.process, what->at.site) : NULL;
    if (!symbol)
        return memory__text("");
    if (!symbol->file)
        return memory__format(" called from %s", symbol->function);
    return memory__format(" called from %s (%s:%u)", symbol->function, symbol->file, symbol->line);
}

static void say(const struct trace *trace, const struct symbols *symbols, size_t thread,
                const struct thread_result *result, struct vec *warnings)
{
    const struct trace_thread *row = trace__thread_at(trace, thread);
    char *caller = caller_of(symbols, &result->unfinished->what);
    char *sentence = memory__format(
        "thread %u%s%s was still in %s%s after %.3g s when the trace ended", row->tid,
        *row->name ? " " : "", row->name, result->unfinished->what.at.function, caller,
        (double)trace__ns(trace, unfinished_ticks(result)) / 1e9);
    vec__push(warnings, &sentence);
    free(caller);
}

void unfinished_waits__warn(const struct trace *trace, const struct symbols *symbols,
                            const struct thread_result *results, struct vec *warnings)
{
    struct process_end *ends = process_ends(trace, results);
    size_t found = 0;
    for (size_t i = 0; i < trace__threads(trace)->count; i++) {
        if (is_worth_saying(trace, i, &results[i], ends) && found++ < SENTENCES_MAX)
            say(trace, symbols, i, &results[i], warnings);
    }
    if (found > SENTENCES_MAX) {
        char *sentence = memory__format("%zu more threads were still waiting when the trace ended",
                                        found - SENTENCES_MAX);
        vec__push(warnings, &sentence);
    }
    free(ends);
}
