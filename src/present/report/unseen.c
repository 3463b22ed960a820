#include "present/report/unseen.h"

#include "base/memory.h"
#include "base/text.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#define ALL_UNSEEN 0.995

static const struct runtime_kind kinds[] = {
    {"OpenMP",
     {"libgomp.so*", "libomp.so*", "libiomp5.so*"},
     "critical sections, locks, barriers, waits for tasks (heurt openmp tells of regions, loops "
     "and "
     "tasks)",
     "tasks that an event ends (detach)"},
    {"oneTBB", {"libtbb.so*"}, "waits and wakes of its workers", "which task is whose"},
    {"the Java virtual machine",
     {"libjvm.so*"},
     "its threads' waits for monitors and for conditions",
     "which monitor, compiled methods"},
    {"CPython",
     {"libpython[23]*", "python[23]*"},
     "functions in C, waits for the GIL",
     "functions in Python"},
    {"V8",
     {"libv8*", "libnode*", "node", "nodejs"},
     "functions in C++, waits of its threads",
     "compiled JavaScript"},
    {"Go",
     {"(go)"},
     "functions, threads",
     "goroutines, and their waits for each other (Go's own profiles of mutexes and blocking tell "
     "them)",
     true,
     NULL},
    {"GHC's runtime",
     {"libHSrts*.so*"},
     "threads of the system, their locks and conditions",
     "Haskell's own threads, and their waits for each other at MVars and in transactions (the "
     "program's +RTS -l, and ThreadScope, tell them)",
     true,
     "ghc_ticker"},
    {"Erlang's virtual machine",
     {"beam.smp"},
     "threads of the system, waits of the schedulers",
     "Erlang's own processes, and their waits for messages (its msacc and eprof tell them)",
     true,
     NULL},
};

static bool is_of(const struct runtime_kind *kind, const char *name)
{
    for (size_t i = 0; i < RUNTIME_GLOBS && kind->globs[i]; i++)
        if (fnmatch(kind->globs[i], name, 0) == 0)
            return true;
    return false;
}

static bool is_within(const struct trace_module *module, uint64_t address)
{
    return address >= module->start && address < module->end;
}

/* A library may be there because another one could use it: whether anything that was recorded of
 * the process was in it, or began in it. */
static bool was_used(const struct report *report, uint32_t process,
                     const struct trace_module *module)
{
    if (!strstr(path__name(module->path), ".so"))
        return true;
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        const struct callsite *at = &class->what.at;
        if (at->process == process &&
            (is_within(module, at->site) || is_within(module, at->address)))
            return true;
    }
    VEC_EACH (thread, trace__threads(report->trace), struct trace_thread)
        if (trace__process_at(report->trace, thread->process)->serial == process &&
            is_within(module, thread->start_routine))
            return true;
    return false;
}

static bool has_thread(const struct report *report, const char *name)
{
    VEC_EACH (thread, trace__threads(report->trace), struct trace_thread)
        if (thread->name && strcmp(thread->name, name) == 0)
            return true;
    return false;
}

static bool is_there(const struct report *report, const struct runtime_kind *kind)
{
    const char *language = trace__meta(report->trace, "runtime");
    if ((language && is_of(kind, language)) || (kind->thread && has_thread(report, kind->thread)))
        return true;
    VEC_EACH (process, trace__processes(report->trace), struct trace_process)
        VEC_EACH (module, &process->modules, struct trace_module)
            if (is_of(kind, path__name(module->path)) && was_used(report, process->serial, module))
                return true;
    return false;
}

const struct runtime_kind *runtime__next(const struct report *report,
                                         const struct runtime_kind *last)
{
    const struct runtime_kind *kind = last ? last + 1 : kinds;
    for (; kind < kinds + sizeof kinds / sizeof *kinds; kind++)
        if (is_there(report, kind))
            return kind;
    return NULL;
}

/* Processes that have left, and their part of the threads' CPU time. */
static unsigned processes_that_left(const struct report *report, double *share)
{
    unsigned count = 0;
    uint64_t all_ns = 0, theirs_ns = 0;
    VEC_EACH (process, trace__processes(report->trace), struct trace_process)
        count += trace_process__left(process);
    for (size_t i = 0; count && i < report->profile->threads.count; i++) {
        uint32_t process = trace__thread_at(report->trace, i)->process;
        uint64_t ns = VEC_AT(&report->profile->threads, struct profile_thread, i)->cpu_ns;
        ns = ns != UINT64_MAX ? ns : 0;
        all_ns += ns;
        theirs_ns += trace_process__left(trace__process_at(report->trace, process)) ? ns : 0;
    }
    *share = all_ns ? (double)theirs_ns / (double)all_ns : 0;
    return count;
}

char *report__left_words(const struct report *report)
{
    char share[16], number[32];
    double part;
    unsigned count = processes_that_left(report, &part);
    return count ? memory__format("%s process%s that changed %s user (%s of the time on a CPU)",
                                  count__format(count, number), count == 1 ? "" : "es",
                                  count == 1 ? "its" : "their", share__format(part, share))
                 : memory__text("");
}

bool report__saw_little(const struct report *report)
{
    double part;
    return processes_that_left(report, &part) && part >= UNSEEN_MOST;
}

char *report__unseen_words(const struct report *report)
{
    double unseen = profile__unseen(report->profile);
    bool may_choose = trace__session(report->trace)->flags & HEURT_SESSION_LIVE;
    bool was_too_short = may_choose && unseen > ALL_UNSEEN && !trace__meta(report->trace, "choice");
    if (isnan(unseen) || unseen < UNSEEN_TOLD)
        return memory__text("");
    if (was_too_short)
        return memory__text("its own functions (the run was too short to choose any; heurt record "
                            "--hot CMD finds the busy ones)");
    return memory__format("single calls of the code that takes %.0f %% of the time on a CPU%s",
                          100 * unseen, may_choose ? " (heurt record --hot CMD records more)" : "");
}

void text__runtimes(const struct report *report, const struct style *style, FILE *out)
{
    const struct runtime_kind *kind = NULL;
    while ((kind = runtime__next(report, kind)))
        paragraph__take(style, out, "  ",
                        memory__format("It runs in %s: seen are %s; not seen are %s.", kind->name,
                                       kind->seen, kind->unseen));
}
