/* bench-structure: how fast the structure of a string is found, and in how much memory.
 *
 * Strings of symbols are made up in blocks while they are added; making them is not measured.  Each
 * measurement is a process of its own: its CPU time, the bytes that the grammar holds at the end,
 * and by how much the process's largest resident set grew.  The exponent is the slope of log time
 * over log length, least squares.
 *
 * Beside it, the search that compares the string with itself at every distance, as tools do that
 * look for repetitions without remembering what they have seen; and the structure of traces, whose
 * events are read and matched first. */
#include "analysis/structure/grammar.h"
#include "base/memory.h"
#include "child.h"
#include "figure.h"
#include "options.h"
#include "recording.h"
#include "statistics.h"
#include "traced_structure.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 1 << 16, LENGTHS_MOST = 8, RUNS_MOST = SAMPLES_MOST };
enum { REQUESTS = 1000, REQUEST_CALLS = 50 };

struct options {
    const char *parent; /* of the traces */
    const char *only;   /* a kind's name, "search" or "traces"; NULL: all */
    size_t runs;
    uint64_t most; /* symbols, events */
};

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "bench-structure: out of memory (%zu bytes)\n", bytes);
    exit(125);
}

/* ---- strings --------------------------------------------------------------------------------- */

struct maker {
    uint64_t random, position;
    uint32_t *symbols; /* BLOCK and what one phrase has more */
    size_t count;
    uint32_t alphabet;
    uint32_t requests[REQUESTS][REQUEST_CALLS];
};

static uint32_t random_below(struct maker *maker, uint32_t limit)
{
    maker->random = maker->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((maker->random >> 32) * limit >> 32);
}

static void put(struct maker *maker, uint32_t symbol)
{
    maker->symbols[maker->count++] = symbol;
}

static void put_loop(struct maker *maker)
{
    for (uint32_t i = 0; i < 3; i++)
        put(maker, i);
}

static void put_nest(struct maker *maker)
{
    for (unsigned i = 0; i < 10; i++) {
        for (unsigned k = 0; k < 4; k++) {
            put(maker, 0);
            put(maker, 1);
        }
        put(maker, 2);
    }
    put(maker, 3);
    put(maker, 4);
}

/* An iteration of which an inner loop converges sooner or later, and one in a hundred saves. */
static void put_solver(struct maker *maker)
{
    put(maker, 0);
    for (uint32_t turns = 3 + random_below(maker, 6); turns > 0; turns--)
        for (uint32_t i = 1; i < 4; i++)
            put(maker, i);
    put(maker, 4);
    if (random_below(maker, 100) == 0)
        put(maker, 5);
    put(maker, 6);
}

static void put_request(struct maker *maker)
{
    uint32_t request = random_below(maker, REQUESTS);
    for (size_t i = 0; i < REQUEST_CALLS; i++)
        put(maker, maker->requests[request][i]);
}

/* The word as the coding of a rotation by the golden ratio, in units of 2^-64 turns. */
static void put_fibonacci(struct maker *maker)
{
    uint64_t before = maker->position;
    maker->position += UINT64_C(11400714819323198485);
    put(maker, maker->position < before);
}

static void put_random(struct maker *maker)
{
    put(maker, random_below(maker, maker->alphabet));
}

struct kind {
    const char *name, *title;
    void (*put)(struct maker *maker);
    uint32_t alphabet;
};

static const struct kind kinds[] = {
    {"loop", "a loop of 3 calls", put_loop, 0},
    {"nest", "a nest of 3 loops", put_nest, 0},
    {"solver", "iterations that vary", put_solver, 0},
    {"requests", "1,000 sequences of 50, in random order", put_request, 0},
    {"fibonacci", "the Fibonacci word", put_fibonacci, 0},
    {"random-4", "random, 4 symbols", put_random, 4},
    {"random-1000", "random, 1,000 symbols", put_random, 1000},
    {"random-1000000", "random, 1,000,000 symbols", put_random, 1000000},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], KIND_SOLVER = 2 };

static struct maker *new_maker(const struct kind *kind)
{
    struct maker *maker = memory__zeroed(1, sizeof *maker);
    maker->symbols = memory__zeroed(BLOCK + 256, sizeof *maker->symbols);
    maker->random = 1;
    maker->alphabet = kind->alphabet;
    for (size_t i = 0; i < REQUESTS; i++)
        for (size_t k = 0; k < REQUEST_CALLS; k++)
            maker->requests[i][k] = random_below(maker, 200);
    return maker;
}

static void free_maker(struct maker *maker)
{
    free(maker->symbols);
    free(maker);
}

static size_t fill(struct maker *maker, const struct kind *kind, uint64_t most)
{
    maker->count = 0;
    while (maker->count < BLOCK && maker->count < most)
        kind->put(maker);
    return maker->count < most ? maker->count : (size_t)most;
}

/* ---- one measurement ------------------------------------------------------------------------- */

struct measured {
    double cpu_s, bytes, resident_bytes, rules, items;
};

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double resident_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

static struct measured measure_here(const struct kind *kind, uint64_t length)
{
    struct maker *maker = new_maker(kind);
    struct measured measured = {0};
    fill(maker, kind, length);
    double resident_before = resident_bytes();
    maker->count = 0;
    struct grammar *grammar = grammar__new();
    for (uint64_t added = 0; added < length;) {
        size_t count = fill(maker, kind, length - added);
        double before = cpu_seconds();
        for (size_t i = 0; i < count; i++)
            grammar__add(grammar, maker->symbols[i]);
        measured.cpu_s += cpu_seconds() - before;
        added += count;
    }
    double before = cpu_seconds();
    grammar__end(grammar);
    measured.cpu_s += cpu_seconds() - before;
    measured.resident_bytes = resident_bytes() - resident_before;
    measured.bytes = (double)grammar__bytes(grammar);
    measured.rules = (double)grammar__rules(grammar);
    measured.items = (double)grammar__size(grammar);
    grammar__free(grammar);
    free_maker(maker);
    return measured;
}

/* In a child, whose memory nobody used before. */
static struct measured measure(const struct kind *kind, uint64_t length)
{
    int ends[2];
    struct measured measured = {.cpu_s = NAN};
    if (pipe(ends) != 0)
        return measured;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        measured = measure_here(kind, length);
        _exit(write(ends[1], &measured, sizeof measured) == sizeof measured ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &measured, sizeof measured) != sizeof measured)
        measured = (struct measured){.cpu_s = NAN};
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return measured;
}

static struct measured measure_runs(const struct kind *kind, uint64_t length, size_t runs)
{
    struct measured measured = {0};
    double cpu_s[RUNS_MOST];
    for (size_t i = 0; i < runs; i++) {
        measured = measure(kind, length);
        cpu_s[i] = measured.cpu_s;
    }
    measured.cpu_s = samples__median(cpu_s, runs);
    return measured;
}

/* ---- the search that is quadratic ------------------------------------------------------------ */

/* How many stretches of any length stand right behind their like. */
static uint64_t search(const uint32_t *symbols, size_t length)
{
    uint64_t found = 0;
    for (size_t distance = 1; distance <= length / 2; distance++) {
        size_t alike = 0;
        for (size_t i = distance; i < length; i++) {
            alike = symbols[i] == symbols[i - distance] ? alike + 1 : 0;
            found += alike == distance;
        }
    }
    return found;
}

static double search_seconds(const struct kind *kind, size_t length)
{
    struct maker *maker = new_maker(kind);
    fill(maker, kind, length);
    double before = cpu_seconds();
    volatile uint64_t found = search(maker->symbols, length);
    (void)found;
    double seconds = cpu_seconds() - before;
    free_maker(maker);
    return seconds;
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* Points of a line in logarithms. */
struct points {
    double length[LENGTHS_MOST], seconds[LENGTHS_MOST];
    size_t count;
};

static void add_point(struct points *points, double length, double seconds)
{
    points->length[points->count] = log(length);
    points->seconds[points->count++] = log(seconds);
}

static double exponent_of(const struct points *points)
{
    return points->count < 2 ? NAN
                             : samples__fit(points->length, points->seconds, points->count).slope;
}

static struct json_object *with_exponent(struct json_object *rows, const struct points *points)
{
    struct json_object *object = json_object_new_object();
    json_object_object_add(object, "rows", rows);
    figure__add(object, "exponent", exponent_of(points));
    return object;
}

static void tell_row(struct json_object *rows, uint64_t length, struct measured measured)
{
    double rate = (double)length / measured.cpu_s;
    if (!rows) {
        printf("    %11.0f %10.3f %10.1f %12.1f %12.1f %10.0f %10.0f\n", (double)length,
               measured.cpu_s, rate / 1e6, measured.bytes / 1e6, measured.resident_bytes / 1e6,
               measured.rules, measured.items);
        fflush(stdout);
        return;
    }
    struct json_object *row = json_object_new_object();
    json_object_object_add(row, "symbols", json_object_new_int64((int64_t)length));
    figure__add(row, "cpu_s", measured.cpu_s);
    figure__add(row, "symbols_per_second", rate);
    figure__add(row, "grammar_bytes", measured.bytes);
    figure__add(row, "resident_bytes", measured.resident_bytes);
    figure__add(row, "rules", measured.rules);
    figure__add(row, "items", measured.items);
    json_object_array_add(rows, row);
}

static struct json_object *tell_kind(const struct kind *kind, uint64_t most, size_t runs, bool json)
{
    struct json_object *rows = json ? json_object_new_array() : NULL;
    struct points points = {.count = 0};
    if (!json)
        printf("%s\n", kind->title);
    for (uint64_t length = 100000; length <= most && points.count < LENGTHS_MOST; length *= 10) {
        struct measured measured = measure_runs(kind, length, runs);
        tell_row(rows, length, measured);
        add_point(&points, (double)length, measured.cpu_s);
    }
    if (!json) {
        printf("    exponent %.2f\n", exponent_of(&points));
        return NULL;
    }
    struct json_object *object = with_exponent(rows, &points);
    json_object_object_add(object, "string", json_object_new_string(kind->name));
    return object;
}

static struct json_object *tell_search(size_t runs, bool json)
{
    static const size_t lengths[] = {1000, 3000, 10000, 30000};
    struct json_object *rows = json ? json_object_new_array() : NULL;
    struct points points = {.count = 0};
    if (!json)
        printf("the search that compares at every distance, on: %s\n", kinds[KIND_SOLVER].title);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        double seconds = search_seconds(&kinds[KIND_SOLVER], lengths[i]);
        double factor = seconds / measure_runs(&kinds[KIND_SOLVER], lengths[i], runs).cpu_s;
        add_point(&points, (double)lengths[i], seconds);
        if (!json) {
            printf("    %11zu %10.4f s, %.0f times the grammar's\n", lengths[i], seconds, factor);
            continue;
        }
        struct json_object *row = json_object_new_object();
        json_object_object_add(row, "symbols", json_object_new_int64((int64_t)lengths[i]));
        figure__add(row, "cpu_s", seconds);
        figure__add(row, "factor", factor);
        json_object_array_add(rows, row);
    }
    if (!json) {
        printf("    exponent %.2f\n", exponent_of(&points));
        return NULL;
    }
    return with_exponent(rows, &points);
}

static void tell_trace(struct json_object *rows, const struct traced_structure *traced)
{
    double rate = (double)traced->events / traced->cpu_s;
    if (!rows) {
        printf("    %11.0f %10.3f %10.1f %12s %12.1f %10.0f\n", (double)traced->events,
               traced->cpu_s, rate / 1e6, "", traced->memory_bytes / 1e6, (double)traced->shapes);
        fflush(stdout);
        return;
    }
    struct json_object *row = json_object_new_object();
    json_object_object_add(row, "events", json_object_new_int64((int64_t)traced->events));
    figure__add(row, "cpu_s", traced->cpu_s);
    figure__add(row, "events_per_second", rate);
    figure__add(row, "memory_bytes", traced->memory_bytes);
    figure__add(row, "shapes", (double)traced->shapes);
    json_object_array_add(rows, row);
}

static int tell_traces(const struct options *given, struct json_object *json, struct error *error)
{
    struct json_object *rows = json ? json_object_new_array() : NULL;
    struct points points = {.count = 0};
    struct scratch scratch;
    int code = scratch__make(&scratch, given->parent, error);
    if (code < 0)
        return code;
    if (!json)
        printf("traces of iterations that vary: events, CPU s, million/s, resident MB, shapes\n");
    for (uint64_t events = 100000;
         events <= given->most && points.count < LENGTHS_MOST && code == 0; events *= 10) {
        struct traced_structure traced = {0};
        code = traced_structure__measure(scratch.trace, events, given->runs, &traced, error);
        if (code < 0)
            break;
        tell_trace(rows, &traced);
        add_point(&points, (double)traced.events, traced.cpu_s);
    }
    directory__remove(scratch.directory);
    if (!json)
        printf("    exponent %.2f\n", exponent_of(&points));
    else
        json_object_object_add(json, "traces", with_exponent(rows, &points));
    return code;
}

static bool is_chosen(const struct options *given, const char *name)
{
    return !given->only || strcmp(given->only, name) == 0;
}

static const char *choice(size_t index)
{
    static const char *const others[] = {"search", "traces", NULL};
    return index < KINDS ? kinds[index].name : others[index - KINDS];
}

static void tell_strings(const struct options *given, struct json_object *json)
{
    struct json_object *strings = json ? json_object_new_array() : NULL;
    bool headed = json != NULL;
    for (size_t i = 0; i < KINDS; i++) {
        if (!is_chosen(given, kinds[i].name))
            continue;
        if (!headed)
            printf("    %11s %10s %10s %12s %12s %10s %10s\n", "symbols", "CPU s", "million/s",
                   "grammar MB", "resident MB", "rules", "items");
        headed = true;
        struct json_object *object = tell_kind(&kinds[i], given->most, given->runs, json);
        if (json)
            json_object_array_add(strings, object);
    }
    if (json)
        json_object_object_add(json, "strings", strings);
}

static int tell_all(const struct options *given, struct json_object *json, struct error *error)
{
    tell_strings(given, json);
    if (is_chosen(given, "search")) {
        struct json_object *searched = tell_search(given->runs, json);
        if (json)
            json_object_object_add(json, "search", searched);
    }
    return is_chosen(given, "traces") ? tell_traces(given, json, error) : 0;
}

int main(int argc, char **argv)
{
    struct options given = {.runs = 3};
    size_t millions = 100;
    bool as_json = false;
    int status = 0;
    const struct bench_option options[] = {
        {.name = "json", .flag = &as_json},
        {.name = "runs", .argument = "N", .number = &given.runs, .least = 1, .most = RUNS_MOST},
        {.name = "millions", .argument = "N", .number = &millions, .least = 1, .most = 1000},
        {.name = "on", .argument = "DIR", .text = &given.parent},
        {.name = "only", .argument = "NAME", .text = &given.only, .choice = choice},
        {0},
    };
    if (!options__read(argc, argv, options,
                       "  --millions N: the longest string and trace\n  --on DIR: where the traces "
                       "go\n",
                       &status))
        return status;
    given.most = millions * UINT64_C(1000000);
    struct json_object *json = as_json ? json_object_new_object() : NULL;
    struct error error = {""};
    int code = tell_all(&given, json, &error);
    if (code < 0)
        fprintf(stderr, "bench-structure: %s\n", error.text);
    else if (json)
        printf("%s\n", json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY));
    json_object_put(json);
    return code < 0 ? 125 : 0;
}
