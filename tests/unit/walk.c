#include "walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "walk: not so: %s\n", what);
    abort();
}

static uint64_t walk_bytes(const void *bytes, size_t count)
{
    uint64_t sum = count;
    for (size_t i = 0; i < count; i++)
        sum = sum * 31 + ((const uint8_t *)bytes)[i];
    return sum;
}

static uint64_t walk_text(const char *text)
{
    return walk_bytes(text, strlen(text));
}

static uint64_t walk_modules(const struct trace_process *process)
{
    uint64_t sum = 0;
    VEC_EACH (module, &process->modules, struct trace_module) {
        sum += module->tick ^ module->gone_tick ^ module->bias;
        sum += walk_text(module->path) + walk_bytes(module->build_id, module->build_id_bytes);
        sum += (uintptr_t)trace_process__module(process, module->start, module->tick) != 0;
    }
    return sum;
}

static uint64_t walk_process(const struct trace_process *process)
{
    uint64_t sum = process->tick ^ process->pid ^ process->parent_pid ^ process->parent_serial;
    const struct trace_function *before = NULL;
    VEC_EACH (function, &process->functions, struct trace_function) {
        check(!before || before->id < function->id, "functions are in order");
        check(trace_process__function(process, function->id) == function, "a function is found");
        check(trace_process__payload_words(process, function->id) >= 0, "a function has words");
        sum += function->address ^ function->line ^ function->kind;
        sum += walk_text(function->name) + walk_text(function->file);
        sum += walk_text(function->argument_names);
        before = function;
    }
    VEC_EACH (refusal, &process->refusals, struct trace_refusal)
        sum +=
            walk_text(refusal->function) + walk_text(refusal->module) + walk_text(refusal->reason);
    VEC_EACH (note, &process->notes, const char *)
        sum += walk_text(*note);
    return sum + walk_text(process->path) + walk_modules(process);
}

static uint64_t walk_event(const struct event *event)
{
    uint64_t sum = event->tick ^ event->id;
    for (uint32_t i = 0; i < event->words; i++)
        sum = sum * 31 + event->payload[i];
    return sum;
}

static uint64_t walk_words(const uint64_t *words, size_t count)
{
    return walk_bytes(words, count * sizeof *words);
}

static uint64_t walk_aggregate(const struct trace_aggregate *aggregate)
{
    uint64_t sum = walk_bytes(aggregate->record, sizeof *aggregate->record);
    uint32_t number = 0;
    VEC_EACH (class, &aggregate->classes, const struct heurt_class_record *) {
        check((*class)->number == number++, "classes are in order");
        sum += walk_bytes(*class, sizeof **class) + walk_words((*class)->payload, (*class)->words);
    }
    VEC_EACH (histogram, &aggregate->histograms, const struct heurt_histogram_record *)
        sum += walk_bytes(*histogram, sizeof **histogram);
    VEC_EACH (stack, &aggregate->stacks, const struct heurt_stack_record *)
        sum += walk_words((const uint64_t *)(*stack + 1), (*stack)->words);
    return sum + walk_words(aggregate->spans, aggregate->span_count * HEURT_OPEN_SPAN_WORDS);
}

static struct walk walk_thread(const struct trace *trace, const struct trace_thread *thread)
{
    struct walk walk = {.sum = walk_text(thread->name) + thread->cpu_ns};
    struct trace_cursor cursor;
    struct event event;
    check(thread->process < trace__processes(trace)->count, "a thread has a process");
    check(thread->start_tick <= thread->end_tick, "a thread ends after its start");
    trace_cursor__start(&cursor, trace, thread);
    for (; trace_cursor__next(&cursor, &event); walk.events++)
        walk.sum += walk_event(&event);
    if (thread->aggregate)
        walk.sum += walk_aggregate(thread->aggregate);
    return walk;
}

static uint64_t merged_events(const struct trace *trace, uint64_t *sum)
{
    struct trace_merge *merge = trace_merge__start(trace);
    struct event event;
    size_t thread;
    uint64_t events = 0;
    for (; trace_merge__next(merge, &event, &thread); events++) {
        check(thread < trace__threads(trace)->count, "an event has a thread");
        *sum += walk_event(&event);
    }
    trace_merge__free(merge);
    return events;
}

struct walk walk_trace(const struct trace *trace)
{
    struct walk walk = {0};
    VEC_EACH (process, trace__processes(trace), struct trace_process)
        walk.sum += walk_process(process);
    VEC_EACH (thread, trace__threads(trace), struct trace_thread) {
        struct walk one = walk_thread(trace, thread);
        walk.sum += one.sum + trace__since_start_ns(trace, thread->end_tick);
        walk.events += one.events;
    }
    check(merged_events(trace, &walk.sum) == walk.events, "a merge gives every event");
    walk.sum += trace__wall_ns(trace) + trace__events_lost(trace) + trace__damaged_chunks(trace);
    const char *command = trace__meta(trace, "command");
    walk.sum += command ? walk_text(command) : 0;
    return walk;
}

uint64_t walk_symbols(const struct symbols *symbols, uint32_t process, uint64_t address)
{
    uint64_t sum = 0;
    const char *const *warnings;
    const uint64_t *frames;
    for (const struct symbol *symbol = symbols__get(symbols, process, address); symbol;
         symbol = symbol->inlined_by)
        sum += walk_text(symbol->function) + walk_text(symbol->module) + symbol->line +
               (symbol->file ? walk_text(symbol->file) : 0);
    const struct symbol *variable = symbols__variable(symbols, process, address);
    if (variable)
        sum += walk_text(variable->function) + variable->line;
    for (size_t n = symbols__warnings(symbols, &warnings); n-- > 0;)
        sum += walk_text(warnings[n]);
    for (size_t n = symbols__get_stack(symbols, process, address, &frames); n-- > 0;)
        sum += frames[n];
    return sum;
}
