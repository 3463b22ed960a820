#include "traced_structure.h"

#include "analysis/analysis.h"
#include "analysis/structure/structure.h"
#include "child.h"
#include "format/reader.h"
#include "format/writer.h"
#include "statistics.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the program ----------------------------------------------------------------------------- */

enum function { ITERATION, SWEEP, RELAX, EXCHANGE, SAVE, FUNCTIONS };

static const char *const names[FUNCTIONS] = {"iteration", "sweep", "relax", "exchange", "save"};

struct program {
    struct trace_writer *writer;
    uint64_t tick, events, random;
    int code;
};

static uint32_t random_below(struct program *program, uint32_t limit)
{
    program->random =
        program->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((program->random >> 32) * limit >> 32);
}

static void put(struct program *program, uint32_t id)
{
    program->tick += 50 + random_below(program, 100);
    int code = trace_writer__event(program->writer, 0, 0, program->tick, id, NULL, 0);
    program->code = code < 0 ? code : program->code;
    program->events++;
}

static void enter(struct program *program, enum function function)
{
    put(program, HEURT_EVENT_FUNCTIONS + 2 * function);
}

static void leave(struct program *program, enum function function)
{
    put(program, (HEURT_EVENT_FUNCTIONS + 2 * function) | 1);
}

static void call(struct program *program, enum function function)
{
    enter(program, function);
    leave(program, function);
}

static void iterate(struct program *program)
{
    enter(program, ITERATION);
    for (uint32_t turns = 3 + random_below(program, 6); turns > 0; turns--) {
        enter(program, SWEEP);
        call(program, RELAX);
        leave(program, SWEEP);
    }
    call(program, EXCHANGE);
    if (random_below(program, 100) == 0)
        call(program, SAVE);
    leave(program, ITERATION);
}

static int define_function(struct trace_writer *writer, enum function function)
{
    struct {
        struct heurt_function function;
        char texts[32];
    } body = {.function = {.id = HEURT_EVENT_FUNCTIONS + 2 * function,
                           .kind = HEURT_FUNCTION_PATCHED,
                           .address = 0x401000 + 0x100u * function}};
    size_t length = strlen(names[function]);
    memcpy(body.texts, names[function], length);
    return trace_writer__define(writer, 0, HEURT_DEFINITION_FUNCTION, &body,
                                sizeof body.function + length + 3);
}

static int define_program(struct trace_writer *writer)
{
    struct {
        struct heurt_process process;
        char path[8];
    } body = {{.pid = 2, .parent_pid = 1, .tick = 1000, .parent_process = HEURT_NO_SERIAL},
              "solver"};
    int code = trace_writer__define(writer, 0, HEURT_DEFINITION_PROCESS, &body,
                                    sizeof body.process + strlen(body.path) + 1);
    for (enum function i = 0; i < FUNCTIONS && code == 0; i++)
        code = define_function(writer, i);
    return code;
}

static int write_trace(const char *directory, uint64_t events, struct traced_structure *measured,
                       struct error *error)
{
    struct heurt_session settings = {
        .clock = HEURT_CLOCK_TSC, .limit_units = 1 << 20, .start = {1000, 1000}};
    struct program program = {.tick = 1000, .random = 1};
    int code = trace_writer__create(directory, &settings, &program.writer, error);
    if (code < 0)
        return code;
    program.code = define_program(program.writer);
    uint64_t start[3] = {1, HEURT_NO_SERIAL};
    if (program.code == 0)
        program.code = trace_writer__event(program.writer, 0, 0, program.tick,
                                           HEURT_EVENT_THREAD_START, start, 3);
    while (program.events < events && program.code == 0)
        iterate(&program);
    measured->events = program.events;
    struct heurt_clock_pair end = {program.tick + 1, 1000 + (program.tick - 999) * 2 / 5};
    code = trace_writer__finish(program.writer, 0, end, error);
    return program.code < 0 ? error__set(error, program.code, "cannot write %s", directory) : code;
}

/* ---- one look, in a process of its own ------------------------------------------------------- */

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double anonymous_bytes(void)
{
    char line[256];
    double kb = 0;
    FILE *in = fopen("/proc/self/status", "re");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "RssAnon: %lf", &kb) == 1)
            break;
    if (in)
        fclose(in);
    return kb * 1024;
}

static int look(const char *directory, struct traced_structure *measured, struct error *error)
{
    struct trace *trace;
    struct structure *structure;
    double bytes = anonymous_bytes(), before = cpu_seconds();
    int code = trace__open(directory, &trace, error);
    if (code < 0)
        return code;
    code = run__one(trace, NULL, &structure_analysis, NULL, (void **)&structure, error);
    measured->cpu_s = cpu_seconds() - before;
    measured->memory_bytes = anonymous_bytes() - bytes;
    if (code == 0) {
        measured->shapes = shapes__count(structure->shapes);
        structure__free(structure);
    }
    trace__close(trace);
    return code;
}

static int look_in_child(const char *directory, struct traced_structure *measured,
                         struct error *error)
{
    int ends[2];
    if (pipe(ends) < 0)
        return error__set(error, -errno, "cannot make a pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct error why = {""};
        if (look(directory, measured, &why) < 0)
            fprintf(stderr, "%s\n", why.text);
        else if (write(ends[1], measured, sizeof *measured) == sizeof *measured)
            _exit(0);
        _exit(1);
    }
    close(ends[1]);
    bool told = child > 0 && read(ends[0], measured, sizeof *measured) == sizeof *measured;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return told ? 0 : error__set(error, -ECHILD, "%s was not looked at", directory);
}

int traced_structure__measure(const char *directory, uint64_t events, size_t runs,
                              struct traced_structure *measured, struct error *error)
{
    double cpu_s[SAMPLES_MOST];
    int code = write_trace(directory, events, measured, error);
    for (size_t i = 0; i < runs && code == 0; i++) {
        code = look_in_child(directory, measured, error);
        cpu_s[i] = measured->cpu_s;
    }
    directory__remove(directory);
    if (code == 0)
        measured->cpu_s = samples__median(cpu_s, runs);
    return code;
}
