/* bench_export.c: how fast heurt export writes the formats of viewers, in how much memory.
 *
 * Traces of four threads that call functions within functions and, one time in eight, take one of
 * 64 locks, mostly without waiting, are written as the runtime would. Each is then exported by the
 * command itself, into a file in memory or on disk:
 *
 *     events/s = events of the trace / CPU time of the command, user's and system's
 *     bytes    = length of what it wrote (a file, or all files of a directory) / events of the
 * trace
 *
 * --sqlite is the tables of all analyses, and not the events; it is measured beside the others.
 * Memory is the most anonymous memory that was seen (looked at every 2 ms). */
#include "base/memory.h"
#include "child.h"
#include "format/pack.h"
#include "format/writer.h"
#include "measured_run.h"
#include "options.h"
#include "recording.h"

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, LOCKS = 64, FUNCTIONS = 40 };

struct options {
    const char *parent, *format;
    size_t events, most; /* millions */
    bool raw;
};

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "bench-export: out of memory (%zu bytes)\n", bytes);
    exit(125);
}

/* ---- the program that is simulated ----------------------------------------------------------- */

struct simulated {
    struct trace_writer *writer;
    uint64_t ticks[THREADS];
    uint64_t free_at[LOCKS]; /* when the lock's last owner gave it up */
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
    const uint64_t payload[3] = {first, second, 0};
    int code =
        trace_writer__event(program->writer, 0, thread, program->ticks[thread], id, payload, words);
    program->code = code < 0 ? code : program->code;
    program->events++;
}

static void work(struct simulated *program, uint32_t thread)
{
    program->ticks[thread] += 200 + chance(program, 1000);
}

/* Who comes before it is free waits until then. */
static void take_lock(struct simulated *program, uint32_t thread)
{
    uint32_t lock = (uint32_t)chance(program, LOCKS);
    uint64_t address = 0x555500000000ull + lock * 64ull, site = 0x400000 + lock % 8 * 32;
    if (program->ticks[thread] < program->free_at[lock]) {
        put(program, thread, HEURT_EVENT_LOCK_WAIT, site, address, 2);
        program->ticks[thread] = program->free_at[lock] + 500;
        put(program, thread, HEURT_EVENT_LOCK_WAIT | 1, 0, 0, 1);
    } else {
        put(program, thread, HEURT_EVENT_LOCK_ACQUIRED, site, address, 2);
    }
    work(program, thread);
    put(program, thread, HEURT_EVENT_LOCK_RELEASED, 0x401000, address, 2);
    program->free_at[lock] = program->ticks[thread];
}

/* A function calls three others. */
static void call(struct simulated *program, uint32_t thread, uint32_t function, unsigned depth)
{
    uint32_t id = HEURT_EVENT_FUNCTIONS + 2 * function;
    put(program, thread, id, 0, 0, 0);
    work(program, thread);
    if (chance(program, 8) == 0)
        take_lock(program, thread);
    for (uint64_t calls = depth ? chance(program, 4) : 0; calls; calls--)
        call(program, thread, (function * 3 + (uint32_t)chance(program, 3)) % FUNCTIONS, depth - 1);
    work(program, thread);
    put(program, thread, id | 1, 0, 0, 0);
}

static uint32_t earliest(const struct simulated *program)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i < THREADS; i++)
        if (program->ticks[i] < program->ticks[found])
            found = i;
    return found;
}

static int define_functions(struct trace_writer *writer)
{
    int code = 0;
    for (uint32_t i = 0; i < FUNCTIONS && code == 0; i++) {
        struct {
            struct heurt_function function;
            char texts[32];
        } body = {.function = {.id = HEURT_EVENT_FUNCTIONS + 2 * i,
                               .kind = HEURT_FUNCTION_PATCHED,
                               .address = 0x410000 + 64ull * i}};
        snprintf(body.texts, sizeof body.texts - 2, "function_%u", i);
        code = trace_writer__define(writer, 0, HEURT_DEFINITION_FUNCTION, &body, sizeof body);
    }
    return code;
}

static int write_trace(const char *directory, uint64_t events, uint64_t *written,
                       struct error *error)
{
    struct heurt_session settings = {
        .clock = HEURT_CLOCK_TSC, .limit_units = 1 << 20, .start = {1000, 1000}};
    struct simulated program = {.seed = 42};
    int code = trace_writer__create(directory, &settings, &program.writer, error);
    if (code < 0)
        return code;
    program.code = define_functions(program.writer);
    for (uint32_t i = 0; i < THREADS; i++) {
        program.ticks[i] = 1000 + i;
        put(&program, i, HEURT_EVENT_THREAD_START, i + 1, HEURT_NO_SERIAL, 3);
    }
    while (program.events < events && program.code == 0)
        call(&program, earliest(&program), (uint32_t)chance(&program, 4), 3);
    *written = program.events;
    uint64_t end = 0;
    for (uint32_t i = 0; i < THREADS; i++)
        end = program.ticks[i] > end ? program.ticks[i] : end;
    const struct heurt_clock_pair pair = {end, 1000 + (end - 1000) * 2 / 5};
    code = trace_writer__finish(program.writer, 0, pair, error);
    return program.code < 0 ? error__set(error, program.code, "cannot write %s", directory) : code;
}

/* ---- one export ------------------------------------------------------------------------------ */

struct measured {
    double cpu_s, memory_mb, bytes;
};

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static uint64_t bytes_found; /* by add_length */

static int add_length(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)path, (void)at;
    bytes_found += type == FTW_F ? (uint64_t)status->st_size : 0;
    return 0;
}

static double length_of(const char *path)
{
    bytes_found = 0;
    nftw(path, add_length, 16, FTW_PHYS);
    return (double)bytes_found;
}

static int measure(const struct scratch *scratch, const char *format, struct measured *measured,
                   struct error *error)
{
    char file[400], option[64];
    struct rusage used;
    int status = 0;
    snprintf(file, sizeof file, "%s/exported", scratch->directory);
    snprintf(option, sizeof option, "--%s", format);
    pid_t process = fork();
    if (process == 0) {
        execl(BENCH_HEURT, "heurt", "export", "-i", scratch->trace, option, "-o", file,
              (char *)NULL);
        _exit(127);
    }
    *measured = (struct measured){0};
    while (process > 0 && wait4(process, &status, WNOHANG, &used) == 0) {
        measured->memory_mb = fmax(measured->memory_mb, process__anonymous_kb(process) / 1024);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    measured->bytes = length_of(file);
    if (unlink(file) < 0)
        directory__remove(file);
    measured->cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
    return process > 0 && status == 0 ? 0
                                      : error__set(error, -ECHILD, "--%s was not written", format);
}

static int run_length(const struct options *options, const struct scratch *scratch, size_t millions,
                      struct error *error)
{
    static const char *const formats[] = {"perfetto", "folded", "speedscope", "firefox",
                                          "chrome",   "pprof",  "otf2",       "ctf",
                                          "paje",     "sqlite", NULL};
    struct pack_options pack = {0};
    enum pack_outcome outcome;
    uint64_t events;
    int code = write_trace(scratch->trace, millions * 1000000ull, &events, error);
    if (code == 0 && !options->raw)
        code = trace__pack(scratch->trace, &pack, &outcome, error);
    for (size_t i = 0; formats[i] && code == 0; i++) {
        struct measured measured;
        if (options->format && strcmp(options->format, formats[i]) != 0)
            continue;
        code = measure(scratch, formats[i], &measured, error);
        if (code == 0)
            printf("%12s %11.0f %8.2f %8.2f %8.1f\n", formats[i], (double)events,
                   (double)events / measured.cpu_s / 1e6, measured.bytes / (double)events,
                   measured.memory_mb);
        fflush(stdout);
    }
    directory__remove(scratch->trace);
    return code;
}

int main(int argc, char **argv)
{
    struct options options = {.events = 10};
    const struct bench_option table[] = {
        {"events", "MILLIONS", .number = &options.events, .least = 1, .most = 200},
        {"most", "MILLIONS", .number = &options.most, .least = 1, .most = 200},
        {"format", "FORMAT", .text = &options.format},
        {"raw", .flag = &options.raw},
        {"on", "DIR", .text = &options.parent},
        {NULL},
    };
    struct scratch scratch;
    struct error error;
    int status;
    if (!options__read(argc, argv, table,
                       "MILLIONS: of events in the trace, and in a second one; DIR: where traces "
                       "and exports go (in memory when that is possible)\n",
                       &status))
        return status;
    int code = scratch__make(&scratch, options.parent, &error);
    printf("%12s %11s %8s %8s %8s\n", "format", "events", "M/s", "bytes", "MB");
    if (code == 0)
        code = run_length(&options, &scratch, options.events, &error);
    if (code == 0 && options.most)
        code = run_length(&options, &scratch, options.most, &error);
    if (code < 0)
        fprintf(stderr, "bench-export: %s\n", error.text);
    directory__remove(scratch.directory);
    return code < 0 ? 125 : 0;
}
