/* The names by which screens call a thread. */
#include "analysis/callsite/program_frame.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "present/shared.h"

#include <fnmatch.h>
#include <stdlib.h>

/* The function in which it started; NULL: it is a first thread, or that is not known. free() it. */
static char *start_of(const struct report *report, const struct trace_thread *thread)
{
    uint32_t serial = trace__process_at(report->trace, thread->process)->serial;
    const struct symbol *symbol =
        thread->start_routine
            ? program_frame__inlined(symbols__get(report->symbols, serial, thread->start_routine))
            : NULL;
    return symbol ? function__bare(symbol->function) : NULL;
}

static bool is_number_of(const char *text, const struct trace_thread *thread)
{
    char *end;
    unsigned long tid = strtoul(text, &end, 10);
    return *text && !*end && tid == thread->tid;
}

bool report__is_thread(const struct report *report, const struct trace_thread *thread,
                       const char *pattern)
{
    char *start = start_of(report, thread);
    bool is_meant = is_number_of(pattern, thread) || fnmatch(pattern, thread->name, 0) == 0 ||
                    (thread->tid == thread->pid && fnmatch(pattern, "main", 0) == 0) ||
                    (start && fnmatch(pattern, start, 0) == 0);
    free(start);
    return is_meant;
}

char *thread_names__question(const struct report *report, const char *typed)
{
    struct nearest nearest = nearest__to(typed);
    const struct vec *threads = trace__threads(report->trace);
    char **starts = memory__zeroed(threads->count + 1, sizeof *starts);
    nearest__offer(&nearest, "main");
    for (size_t i = 0; i < threads->count; i++) {
        const struct trace_thread *thread = trace__thread_at(report->trace, i);
        nearest__offer(&nearest, thread->name);
        if ((starts[i] = start_of(report, thread)))
            nearest__offer(&nearest, starts[i]);
    }
    char *question = nearest__question(&nearest);
    for (size_t i = 0; i < threads->count; i++)
        free(starts[i]);
    free(starts);
    return question;
}
