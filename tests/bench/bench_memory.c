/* bench_memory.c: how fast the analysis of memory reads a trace, and how much memory that takes.
 *
 * Traces of four threads that allocate and free 64 bytes, and of samples at what lies in some of
 * these objects, are written as the recorder would. Each is analysed in a process of its own:
 *
 *     rate = (samples + allocations) / CPU time of opening the trace and of the analysis
 *
 * An allocation is there with the event of its end. Memory is the most anonymous memory that was
 * seen (looked at every millisecond). */
#include "analysis/analysis.h"
#include "analysis/memory/memory_use.h"
#include "base/memory.h"
#include "child.h"
#include "format/writer.h"
#include "measured_run.h"
#include "options.h"
#include "recording.h"
#include "statistics.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_MOST = 99, THREADS = 4, SITES = 64, ROWS = 256 };

#define OBJECT_BYTES 64u
#define FIRST_ADDRESS 0x7f0000000000ull
#define PERIOD_NS 1000000u /* between two samples of one of the threads */
#define FUNCTION_BYTES 4096u

struct shape {
    const char *name, *title;
    unsigned allocations, samples; /* tenths of the rows that are asked for */
    uint64_t places;  /* addresses that objects are allocated at, one after the other */
    uint64_t sampled; /* of these, that samples are in */
    bool is_shared;   /* by the threads; else each has its own */
};

static const struct shape shapes[] = {
    {"allocations", "allocations, few samples", 10, 0, 100000, 100, true},
    {"shared", "samples, 100 shared objects", 0, 10, 100, 100, true},
    {"private", "samples, 100,000 private ones", 1, 9, 100000, 100000, false},
    {"half", "half of each", 5, 5, 100000, 1000, false},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* What one analysis tells, through a pipe. */
struct outcome {
    double cpu_s;
    uint64_t samples, allocations;
};

struct written {
    uint64_t samples, allocations;
};

struct options {
    const char *parent, *only;
    size_t runs, rows; /* rows: millions */
    bool json;
};

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "bench-memory: out of memory (%zu bytes)\n", bytes);
    exit(125);
}

/* ---- the trace ------------------------------------------------------------------------------- */

struct making {
    struct trace_writer *writer;
    const struct shape *shape;
    struct heurt_sample rows[ROWS];
    size_t row_count;
    uint64_t now, seed;
    struct written written;
    int code;
};

static uint64_t chance(struct making *self, uint64_t below)
{
    self->seed = self->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (self->seed >> 33) % below;
}

static void put(struct making *self, uint32_t thread, uint32_t id, const uint64_t *payload,
                size_t words)
{
    int code = trace_writer__event(self->writer, 0, thread, self->now, id, payload, words);
    self->code = code < 0 ? code : self->code;
}

static uint64_t address_of(uint64_t place)
{
    return FIRST_ADDRESS + place * OBJECT_BYTES;
}

/* What lay there is freed before, by whichever thread. */
static void allocate(struct making *self)
{
    uint64_t number = self->written.allocations++, place = number % self->shape->places;
    uint32_t thread = (uint32_t)(number % THREADS);
    self->now += 100;
    if (number >= self->shape->places)
        put(self, thread, HEURT_EVENT_FREED, (const uint64_t[]){address_of(place)}, 1);
    self->now += 100;
    put(self, thread, HEURT_EVENT_ALLOCATED,
        (const uint64_t[]){HEURT_SITE(0x400000 + place % SITES * 16, HEURT_ALLOCATION_MALLOC),
                           address_of(place), OBJECT_BYTES | 1ull << 48},
        3);
}

static void flush_samples(struct making *self)
{
    int code = trace_writer__define(self->writer, HEURT_NO_SERIAL, HEURT_DEFINITION_SAMPLES,
                                    self->rows, self->row_count * sizeof *self->rows);
    self->code = code < 0 ? code : self->code;
    self->row_count = 0;
}

static void sample(struct making *self)
{
    uint64_t place = chance(self, self->shape->sampled), number = self->written.samples++;
    uint32_t thread = (uint32_t)((self->shape->is_shared ? number : place) % THREADS);
    self->now += PERIOD_NS / THREADS;
    self->rows[self->row_count++] =
        (struct heurt_sample){.monotonic_ns = self->now,
                              .instruction = 0x500000 + place % SITES * FUNCTION_BYTES,
                              .address = address_of(place) + thread * 8,
                              .pid = 1,
                              .tid = thread + 1,
                              .weight_ns = PERIOD_NS,
                              .access = thread % 2 ? HEURT_ACCESS_WRITE : HEURT_ACCESS_READ,
                              .region = HEURT_REGION_HEAP,
                              .bytes = 8};
    if (self->row_count == ROWS)
        flush_samples(self);
}

static void fill(struct making *self, uint64_t millions)
{
    const struct shape *shape = self->shape;
    for (uint32_t i = 0; i < THREADS; i++) {
        trace_writer__name_thread(self->writer, i, 1, i + 1);
        put(self, i, HEURT_EVENT_THREAD_START, (const uint64_t[]){i + 1, HEURT_NO_SERIAL, 0}, 3);
    }
    for (uint64_t i = 0; i < shape->places; i++)
        allocate(self);
    for (uint64_t i = 0; i < millions * 100000 && self->code == 0; i++) {
        for (unsigned k = 0; k < shape->allocations; k++)
            allocate(self);
        for (unsigned k = 0; k < shape->samples; k++)
            sample(self);
        if (i % 100 == 0)
            sample(self);
    }
    flush_samples(self);
    for (uint32_t i = 0; i < THREADS; i++)
        put(self, i, HEURT_EVENT_THREAD_END, (const uint64_t[]){0, 0}, 2);
}

static int write_trace(const char *directory, const struct shape *shape, uint64_t millions,
                       struct written *written, struct error *error)
{
    static struct making making;
    struct heurt_session settings = {.clock = HEURT_CLOCK_TSC,
                                     .flags = HEURT_SESSION_OBJECTS,
                                     .limit_units = 1 << 20,
                                     .start = {1000, 1000}};
    making = (struct making){.shape = shape, .seed = 42, .now = 2000};
    int code = trace_writer__create(directory, &settings, &making.writer, error);
    if (code < 0)
        return code;
    fill(&making, millions);
    *written = making.written;
    struct heurt_clock_pair pair = {making.now + 1000, making.now + 1000};
    code = trace_writer__finish(making.writer, 0, pair, error);
    return making.code < 0 ? error__set(error, making.code, "cannot write %s: %s", directory,
                                        strerror(-making.code))
                           : code;
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
    struct symbols *symbols = symbols__new(); /* none has a name */
    struct memory_use *use = NULL;
    struct trace *trace;
    double before = cpu_s();
    int code = trace__open(directory, &trace, error);
    if (code < 0)
        return code;
    code = run__one(trace, symbols, &memory_analysis, NULL, (void **)&use, error);
    outcome->cpu_s = cpu_s() - before;
    if (code == 0 && use) {
        outcome->samples = use->samples;
        outcome->allocations = use->allocations;
        memory_analysis.free(use);
    }
    trace__close(trace);
    symbols__free(symbols);
    return code;
}

static int measure(const char *directory, const struct written *written, struct outcome *outcome,
                   double *memory_kb, struct error *error)
{
    int code = process__measure(analyse, directory, outcome, sizeof *outcome, memory_kb, error);
    if (code == 0 &&
        (outcome->samples != written->samples || outcome->allocations != written->allocations))
        return error__set(error, -ECHILD, "what %s holds was not all found", directory);
    return code;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void print(const struct options *options, const struct shape *shape,
                  const struct written *written, double *cpu, const double *memory_kb,
                  bool is_first)
{
    double most = 0, rate = (double)(written->samples + written->allocations) /
                            samples__middle(cpu, options->runs) / 1e6;
    for (size_t i = 0; i < options->runs; i++)
        most = fmax(most, memory_kb[i]);
    const char *format = options->json
                             ? "%s  {\"trace\": \"%s\", \"allocations\": %.0f, \"samples\": %.0f, "
                               "\"m_rows_s\": %.2f, \"memory_mb\": %.1f}"
                             : "%s%-30s %12.0f %10.0f %8.1f %10.1f\n";
    printf(format, options->json && !is_first ? ",\n" : "", shape->title,
           (double)written->allocations, (double)written->samples, rate, most / 1024);
    fflush(stdout);
}

static int run_shape(const struct options *options, const struct scratch *scratch,
                     const struct shape *shape, bool is_first, struct error *error)
{
    struct written written;
    struct outcome outcome;
    double cpu[RUNS_MOST], memory_kb[RUNS_MOST];
    int code = write_trace(scratch->trace, shape, options->rows, &written, error);
    for (size_t i = 0; i < options->runs && code == 0; i++) {
        code = measure(scratch->trace, &written, &outcome, &memory_kb[i], error);
        cpu[i] = outcome.cpu_s;
    }
    directory__remove(scratch->trace);
    if (code == 0)
        print(options, shape, &written, cpu, memory_kb, is_first);
    return code;
}

static int run_all(const struct options *options, const struct scratch *scratch,
                   struct error *error)
{
    int code = 0;
    if (options->json)
        printf("{\"schema\": \"heurt.bench-memory/1\", \"runs\": %zu, \"traces\": [\n",
               options->runs);
    else
        printf("medians of %zu; million samples and allocations a CPU second; most anonymous "
               "memory, MB\n%-30s %12s %10s %8s %10s\n",
               options->runs, "", "allocations", "samples", "M/s", "memory");
    bool is_first = true;
    for (size_t i = 0; i < SHAPES && code == 0; i++) {
        if (options->only && strcmp(options->only, shapes[i].name) != 0)
            continue;
        code = run_shape(options, scratch, &shapes[i], is_first, error);
        is_first = false;
    }
    if (options->json)
        printf("\n]}\n");
    return code;
}

static const char *shape_name(size_t index)
{
    return index < SHAPES ? shapes[index].name : NULL;
}

int main(int argc, char **argv)
{
    struct options options = {.runs = 5, .rows = 4};
    const struct bench_option table[] = {
        {"runs", "N", .number = &options.runs, .least = 1, .most = RUNS_MOST},
        {"rows", "MILLIONS", .number = &options.rows, .least = 1, .most = 50},
        {"only", "NAME", .text = &options.only, .choice = shape_name},
        {"json", .flag = &options.json},
        {"on", "DIR", .text = &options.parent},
        {NULL},
    };
    struct scratch scratch;
    struct error error;
    int status;
    if (!options__read(argc, argv, table,
                       "MILLIONS: of samples and allocations; DIR: where the traces go (in memory "
                       "when that is possible)\n",
                       &status))
        return status;
    int code = scratch__make(&scratch, options.parent, &error);
    if (code == 0) {
        code = run_all(&options, &scratch, &error);
        directory__remove(scratch.directory);
    }
    if (code < 0)
        fprintf(stderr, "bench-memory: %s\n", error.text);
    return code < 0 ? 125 : 0;
}
