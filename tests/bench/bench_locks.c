/* bench_locks.c: how fast the analysis of locks reads a trace, and how much memory that takes.
 *
 * Traces of threads that lock, work and unlock, mostly without waiting, are written as the runtime
 * would, by a small simulation: who finds a lock held waits for it. Each is then analysed raw and
 * packed, in a process of its own:
 *
 *     events/s = events / CPU time of opening the trace and of locks__compute
 *
 * Memory is the most anonymous memory that was seen (looked at every millisecond): pages of the
 * mapped trace, which the system may drop at any time, are not the analysis's. The last traces
 * differ only in their length. */
#include "analysis/analysis.h"
#include "analysis/locks/locks.h"
#include "base/memory.h"
#include "child.h"
#include "format/pack.h"
#include "format/writer.h"
#include "measured_run.h"
#include "options.h"
#include "recording.h"
#include "statistics.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_MOST = 99, THREADS_MOST = 4, LOCKS_MOST = 1000 };

struct shape {
    uint32_t threads, locks;
    unsigned tenths; /* of the events that are asked for */
};

static const struct shape shapes[] = {
    {2, 1, 1}, {4, 1, 1}, {4, 1000, 1}, {4, 64, 1}, {4, 64, 4}, {4, 64, 10},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

enum form { RAW, PACKED, FORMS };

/* What one analysis tells, through a pipe. */
struct outcome {
    double cpu_s;
    uint64_t acquisitions, contended, good;
};

struct result {
    uint64_t events;
    struct outcome outcome;
    double bytes[FORMS], cpu_s[FORMS][RUNS_MOST], memory_kb[FORMS][RUNS_MOST];
};

struct options {
    const char *parent;
    size_t runs, events; /* events: millions */
    bool json;
};

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "bench-locks: out of memory (%zu bytes)\n", bytes);
    exit(125);
}

/* ---- the program that is simulated ----------------------------------------------------------- */

#define NOTHING UINT32_MAX
#define OUTSIDE_TICKS 4000 /* between two sections, at most */
#define SECTION_TICKS 200
#define WAKE_TICKS 3000

struct simulated {
    struct trace_writer *writer;
    uint64_t ticks[THREADS_MOST]; /* of what the thread does next */
    uint32_t held[THREADS_MOST][2], depth[THREADS_MOST];
    bool waits[THREADS_MOST];
    uint32_t owners[LOCKS_MOST + 1], waiters[LOCKS_MOST + 1][THREADS_MOST];
    uint32_t waiter_counts[LOCKS_MOST + 1];
    uint64_t seed, events;
    int code;
};

static uint64_t chance(struct simulated *program, uint64_t below)
{
    program->seed = program->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (program->seed >> 33) % below;
}

static void put(struct simulated *program, uint32_t thread, uint32_t id, uint64_t first,
                uint64_t second, size_t words)
{
    uint64_t payload[3] = {first, second, 0};
    int code =
        trace_writer__event(program->writer, 0, thread, program->ticks[thread], id, payload, words);
    program->code = code < 0 ? code : program->code;
    program->events++;
}

static uint64_t address_of(uint32_t lock)
{
    return 0x555500000000ull + lock * 64ull;
}

static void got(struct simulated *program, uint32_t thread, uint32_t lock)
{
    program->owners[lock] = thread;
    program->held[thread][program->depth[thread]++] = lock;
    program->ticks[thread] += 20 + chance(program, SECTION_TICKS);
}

static void acquire(struct simulated *program, uint32_t thread, uint32_t lock)
{
    uint64_t site = 0x400000 + lock % 8 * 32;
    if (program->owners[lock] == NOTHING) {
        put(program, thread, HEURT_EVENT_LOCK_ACQUIRED, site, address_of(lock), 2);
        got(program, thread, lock);
        return;
    }
    put(program, thread, HEURT_EVENT_LOCK_WAIT, site, address_of(lock), 2);
    program->waiters[lock][program->waiter_counts[lock]++] = thread;
    program->waits[thread] = true;
}

static void hand_over(struct simulated *program, uint32_t from, uint32_t lock)
{
    uint32_t *waiters = program->waiters[lock], next = waiters[0];
    memmove(waiters, waiters + 1, --program->waiter_counts[lock] * sizeof *waiters);
    program->waits[next] = false;
    program->ticks[next] = program->ticks[from] + 500 + chance(program, WAKE_TICKS);
    put(program, next, HEURT_EVENT_LOCK_WAIT | 1, 0, 0, 1);
    got(program, next, lock);
}

static void release(struct simulated *program, uint32_t thread)
{
    uint32_t lock = program->held[thread][--program->depth[thread]];
    put(program, thread, HEURT_EVENT_LOCK_RELEASED, 0x401000, address_of(lock), 2);
    program->owners[lock] = NOTHING;
    if (program->waiter_counts[lock])
        hand_over(program, thread, lock);
    program->ticks[thread] +=
        20 + (program->depth[thread] ? SECTION_TICKS : chance(program, OUTSIDE_TICKS));
}

/* One section in 32 has another one in it, of the lock that follows. */
static void step(struct simulated *program, const struct shape *shape, uint32_t thread)
{
    uint32_t outer = program->depth[thread] ? program->held[thread][0] : 0;
    if (!program->depth[thread])
        acquire(program, thread, (uint32_t)chance(program, shape->locks));
    else if (program->depth[thread] == 1 && outer + 1 < shape->locks && chance(program, 32) == 0)
        acquire(program, thread, outer + 1);
    else
        release(program, thread);
}

static uint32_t earliest(const struct simulated *program, uint32_t threads)
{
    uint32_t found = NOTHING;
    for (uint32_t i = 0; i < threads; i++) {
        if (!program->waits[i] && (found == NOTHING || program->ticks[i] < program->ticks[found]))
            found = i;
    }
    return found;
}

static void simulate(struct simulated *program, const struct shape *shape, uint64_t events)
{
    memset(program->owners, 0xff, sizeof program->owners);
    for (uint32_t i = 0; i < shape->threads; i++) {
        program->ticks[i] = 1000 + i;
        put(program, i, HEURT_EVENT_THREAD_START, i + 1, HEURT_NO_SERIAL, 3);
    }
    while (program->events < events && program->code == 0)
        step(program, shape, earliest(program, shape->threads));
}

static int write_trace(const char *directory, const struct shape *shape, uint64_t events,
                       struct result *result, struct error *error)
{
    static struct simulated program;
    struct heurt_session settings = {
        .clock = HEURT_CLOCK_TSC, .limit_units = 1 << 20, .start = {1000, 1000}};
    program = (struct simulated){.seed = 42};
    int code = trace_writer__create(directory, &settings, &program.writer, error);
    if (code < 0)
        return code;
    simulate(&program, shape, events);
    result->events = program.events;
    uint64_t end = 0;
    for (uint32_t i = 0; i < shape->threads; i++)
        end = program.ticks[i] > end ? program.ticks[i] : end;
    struct heurt_clock_pair pair = {end, 1000 + (end - 1000) * 2 / 5};
    code = trace_writer__finish(program.writer, 0, pair, error);
    return program.code < 0 ? error__set(error, program.code, "cannot write %s", directory) : code;
}

/* ---- one analysis, in a process of its own --------------------------------------------------- */

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int analyse(const char *directory, void *into, struct error *error)
{
    struct outcome *outcome = into;
    struct locks_filter everything = {0};
    struct locks_result *result;
    struct trace *trace;
    double before = cpu_s();
    int code = trace__open(directory, &trace, error);
    if (code < 0)
        return code;
    code = run__one(trace, NULL, &locks_analysis, &everything, (void **)&result, error);
    outcome->cpu_s = cpu_s() - before;
    if (code == 0) {
        outcome->acquisitions = result->acquisitions;
        outcome->contended = result->contended;
        outcome->good = 1;
        VEC_EACH (check, &result->checks, struct locks_check)
            outcome->good &= check->is_good;
        locks__free(result);
    }
    trace__close(trace);
    return code;
}

static int measure(const char *directory, struct outcome *outcome, double *memory_kb,
                   struct error *error)
{
    int code = process__measure(analyse, directory, outcome, sizeof *outcome, memory_kb, error);
    return code < 0 || outcome->good
               ? code
               : error__set(error, -ECHILD, "the sums of %s do not add up", directory);
}

/* ---- traces ---------------------------------------------------------------------------------- */

static double length_of(const char *trace)
{
    char path[400];
    struct stat status = {0};
    snprintf(path, sizeof path, "%s/" HEURT_EVENTS_FILE, trace);
    stat(path, &status);
    return (double)status.st_size;
}

static int measure_form(const struct options *options, const char *trace, struct result *result,
                        enum form form, struct error *error)
{
    int code = 0;
    result->bytes[form] = length_of(trace);
    for (size_t run = 0; run < options->runs && code == 0; run++) {
        code = measure(trace, &result->outcome, &result->memory_kb[form][run], error);
        result->cpu_s[form][run] = result->outcome.cpu_s;
    }
    return code;
}

static int run_shape(const struct options *options, const struct scratch *scratch,
                     const struct shape *shape, struct result *result, struct error *error)
{
    struct pack_options pack = {0};
    enum pack_outcome outcome;
    uint64_t events = options->events * 100000ull * shape->tenths;
    int code = write_trace(scratch->trace, shape, events, result, error);
    if (code == 0)
        code = measure_form(options, scratch->trace, result, RAW, error);
    if (code == 0)
        code = trace__pack(scratch->trace, &pack, &outcome, error);
    if (code == 0)
        code = measure_form(options, scratch->trace, result, PACKED, error);
    directory__remove(scratch->trace);
    return code;
}

static double rate(const struct options *options, struct result *result, enum form form)
{
    return (double)result->events / samples__middle(result->cpu_s[form], options->runs) / 1e6;
}

static double memory_mb(const struct options *options, const struct result *result, enum form form)
{
    double most = 0;
    for (size_t i = 0; i < options->runs; i++)
        most = fmax(most, result->memory_kb[form][i]);
    return most / 1024;
}

static void print(const struct options *options, const struct shape *shape, struct result *result,
                  bool first)
{
    const char *format =
        options->json
            ? "%s  {\"threads\": %u, \"locks\": %u, \"events\": %.0f, \"contended_share\": %.4f, "
              "\"bytes\": %.0f, \"packed_bytes\": %.0f, \"m_events_s\": %.2f, "
              "\"packed_m_events_s\": %.2f, \"memory_mb\": %.2f, \"packed_memory_mb\": %.2f}"
            : "%s%7u %6u %11.0f %10.4f %13.0f %13.0f %8.1f %8.1f %8.2f %8.2f\n";
    printf(format, options->json && !first ? ",\n" : "", shape->threads, shape->locks,
           (double)result->events,
           (double)result->outcome.contended / (double)result->outcome.acquisitions,
           result->bytes[RAW], result->bytes[PACKED], rate(options, result, RAW),
           rate(options, result, PACKED), memory_mb(options, result, RAW),
           memory_mb(options, result, PACKED));
    fflush(stdout);
}

static int run_all(const struct options *options, const struct scratch *scratch,
                   struct error *error)
{
    static struct result result;
    int code = 0;
    if (options->json)
        printf("{\"schema\": \"heurt.bench-locks/1\", \"runs\": %zu, \"traces\": [\n",
               options->runs);
    else
        printf("medians of %zu; million events a CPU second; most anonymous memory, MB\n"
               "%7s %6s %11s %10s %13s %13s %8s %8s %8s %8s\n",
               options->runs, "threads", "locks", "events", "contended", "bytes", "packed",
               "events/s", "packed", "memory", "packed");
    for (size_t i = 0; i < SHAPES && code == 0; i++) {
        code = run_shape(options, scratch, &shapes[i], &result, error);
        if (code == 0)
            print(options, &shapes[i], &result, i == 0);
    }
    if (options->json)
        printf("\n]}\n");
    return code;
}

int main(int argc, char **argv)
{
    struct options options = {.runs = 5, .events = 50};
    const struct bench_option table[] = {
        {"runs", "N", .number = &options.runs, .least = 1, .most = RUNS_MOST},
        {"events", "MILLIONS", .number = &options.events, .least = 1, .most = 150},
        {"json", .flag = &options.json},
        {"on", "DIR", .text = &options.parent},
        {NULL},
    };
    struct scratch scratch;
    struct error error;
    int status;
    if (!options__read(argc, argv, table,
                       "MILLIONS: of events in the longest trace; DIR: where the traces go (in "
                       "memory when that is possible)\n",
                       &status))
        return status;
    int code = scratch__make(&scratch, options.parent, &error);
    if (code < 0) {
        fprintf(stderr, "bench-locks: %s\n", error.text);
        return 125;
    }
    code = run_all(&options, &scratch, &error);
    if (code < 0)
        fprintf(stderr, "bench-locks: %s\n", error.text);
    directory__remove(scratch.directory);
    return code < 0 ? 125 : 0;
}
