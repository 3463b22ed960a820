/* bench_choice.c: what `heurt record` chooses by itself, beside what perf says is hot, and what
 * recording costs then.
 *
 * choice.sh runs each program plain, under heurt and under perf, in turns.  perf's set is that of
 * the functions with at least 1 % of its samples, heurt's that of the functions that it chose,
 * whether it could patch them or had to refuse; both of the functions that have names, as perf has
 * only addresses of the others.
 *
 *     covered = share of perf's samples in its set that are in heurt's set too
 *
 * heurt looks closely at the beginning of a run only, perf at all of it.  ratio: time with / time
 * plain, of the CPU (all processes, heurt's own too) and on the wall; medians over the rounds. */
#include "child.h"
#include "figure.h"
#include "options.h"
#include "recording.h"
#include "statistics.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_LEAST = 5, RUNS_MOST = SAMPLES_MOST, FUNCTIONS_MOST = 128 };

struct program {
    const char *name, *title;
};

static const struct program programs[] = {
    {"python", "python3, a loop over integers"},
    {"sqlite", "sqlite3, joins in memory"},
    {"pbzip2", "pbzip2 -p2"},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

enum way { PLAIN, HEURT, PERF, WAYS };

struct function {
    char name[256]; /* module and function */
    double percent; /* of perf's samples; NAN: not in its set */
    bool chosen, patched;
};

/* Both sets. */
struct choice {
    struct function functions[FUNCTIONS_MOST];
    size_t count;
    size_t unnamed; /* of heurt's, not among the functions */
};

struct samples {
    char missing[512]; /* why there are no figures; empty: there are */
    bool failed;       /* it was there, but did not work */
    double wall_s[WAYS][RUNS_MOST], cpu_s[WAYS][RUNS_MOST];
    double covered[RUNS_MOST];
    struct choice choice; /* of the last round */
};

struct options {
    const char *heurt, *script, *parent, *only;
    size_t runs;
    bool json;
    char no_perf[256]; /* why perf cannot run; empty: it can */
};

static bool chosen(const struct options *options, size_t program)
{
    return !options->only || strcmp(options->only, programs[program].name) == 0;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double children_cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* *output: what choice.sh printed (free() it); NULL: it does not matter. */
static int ask(const struct options *options, const struct scratch *scratch, const char *program,
               const char *step, char **output, struct error *error)
{
    struct words words = {0};
    char *text;
    words__add(&words, (const char *const[]){options->script, program, step, NULL});
    int code = child__run(&words, scratch->log, &text, error);
    if (output)
        *output = text;
    else
        free(text);
    return code;
}

static int run(const struct options *options, const struct scratch *scratch,
               const struct program *program, enum way way, struct samples *samples, size_t round,
               struct error *error)
{
    struct words words = {0};
    char *text;
    words__add(&words, (const char *const[]){options->script, program->name, "run", NULL});
    if (way == HEURT)
        words__add(&words, (const char *const[]){options->heurt, "record", "-q", "-o", "trace",
                                                 "--", NULL});
    if (way == PERF)
        words__add(&words, (const char *const[]){"perf", "record", "-q", "-e", "cpu-clock", "-F",
                                                 "999", "-o", "perf.data", "--", NULL});
    double wall_s = now_s(), cpu_s = children_cpu_s();
    int code = child__run(&words, scratch->log, &text, error);
    samples->wall_s[way][round] = now_s() - wall_s;
    samples->cpu_s[way][round] = children_cpu_s() - cpu_s;
    free(text);
    return code;
}

/* ---- the two sets ---------------------------------------------------------------------------- */

/* "libc.so.6 free" and "libc.so free" are the same: what follows .so is left out. */
static struct function *choice__find(struct choice *choice, const char *module, const char *name)
{
    char key[sizeof choice->functions->name];
    const char *so = strstr(module, ".so");
    snprintf(key, sizeof key, "%.*s %s", (int)(so ? so - module : (long)strlen(module)), module,
             name);
    for (size_t i = 0; i < choice->count; i++)
        if (strcmp(choice->functions[i].name, key) == 0)
            return &choice->functions[i];
    if (choice->count == FUNCTIONS_MOST)
        return NULL;
    struct function *function = &choice->functions[choice->count++];
    *function = (struct function){.percent = NAN};
    memcpy(function->name, key, sizeof key);
    return function;
}

/* A line "WORD MODULE FUNCTION". */
static void choice__add(struct choice *choice, char *line, enum way way)
{
    char *module = strchr(line, ' '), *name = module ? strchr(module + 1, ' ') : NULL;
    if (!name)
        return;
    *module++ = *name++ = '\0';
    bool named = strncmp(name, "0x", 2) != 0 && *name != '+';
    if (!named)
        choice->unnamed += way == HEURT;
    struct function *function = named ? choice__find(choice, module, name) : NULL;
    if (function && way == PERF)
        function->percent = strtod(line, NULL);
    if (function && way == HEURT) {
        function->chosen = true;
        function->patched = strcmp(line, "patched") == 0;
    }
}

static int choice__read(struct choice *choice, const struct options *options,
                        const struct scratch *scratch, enum way way, struct error *error)
{
    char *text, *rest;
    int code = ask(options, scratch, way == PERF ? "perf" : "heurt", "list", &text, error);
    if (code != 0)
        return code;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        choice__add(choice, line, way);
    free(text);
    return 0;
}

struct agreement {
    size_t perf, heurt, both;
    double covered; /* 0 … 1; NAN: perf's set is empty */
};

static struct agreement choice__agreement(const struct choice *choice)
{
    struct agreement agreement = {0};
    double all = 0, covered = 0;
    for (size_t i = 0; i < choice->count; i++) {
        const struct function *function = &choice->functions[i];
        bool hot = !isnan(function->percent);
        agreement.perf += hot;
        agreement.heurt += function->chosen;
        agreement.both += hot && function->chosen;
        all += hot ? function->percent : 0;
        covered += hot && function->chosen ? function->percent : 0;
    }
    agreement.covered = all > 0 ? covered / all : NAN;
    return agreement;
}

static int measure(const struct options *options, const struct scratch *scratch,
                   const struct program *program, struct samples *samples, size_t round,
                   struct error *error)
{
    int code = 0;
    samples->choice = (struct choice){0};
    directory__remove("trace");
    for (enum way way = PLAIN; way < WAYS && code == 0; way++)
        if (way != PERF || !*options->no_perf)
            code = run(options, scratch, program, way, samples, round, error);
    for (enum way way = HEURT; way < WAYS && code == 0; way++)
        if (way != PERF || !*options->no_perf)
            code = choice__read(&samples->choice, options, scratch, way, error);
    samples->covered[round] = choice__agreement(&samples->choice).covered;
    return code;
}

/* ---- output ---------------------------------------------------------------------------------- */

static double ratio(double (*seconds)[RUNS_MOST], enum way way, size_t runs)
{
    double ratios[RUNS_MOST];
    for (size_t i = 0; i < runs; i++)
        ratios[i] = seconds[way][i] / seconds[PLAIN][i];
    return samples__median(ratios, runs);
}

static void print_functions(const struct choice *choice, bool with_perf)
{
    for (size_t i = 0; i < choice->count; i++) {
        const struct function *function = &choice->functions[i];
        char percent[16] = "-";
        if (!isnan(function->percent))
            snprintf(percent, sizeof percent, "%.1f", function->percent);
        printf("    %6s  %-8s  %s\n", with_perf ? percent : "?",
               function->patched  ? "patched"
               : function->chosen ? "refused"
                                  : "-",
               function->name);
    }
    if (choice->unnamed)
        printf("    %6s  %-8s  and %zu functions without names\n", "", "chosen", choice->unnamed);
}

static void print_program(const struct options *options, const struct program *program,
                          struct samples *samples)
{
    if (*samples->missing) {
        printf("%-32s %s: %s\n", program->title, samples->failed ? "failed" : "skipped",
               samples->missing);
        return;
    }
    struct agreement agreement = choice__agreement(&samples->choice);
    printf("%-32s %8.2f %8.2f %8.2f", program->title,
           samples__middle(samples->cpu_s[PLAIN], options->runs),
           ratio(samples->cpu_s, HEURT, options->runs),
           ratio(samples->wall_s, HEURT, options->runs));
    if (*options->no_perf)
        printf(" %8s %5s %5zu %5s %9s\n", "-", "-", agreement.heurt, "-", "-");
    else
        printf(" %8.2f %5zu %5zu %5zu %7.0f %%\n", ratio(samples->cpu_s, PERF, options->runs),
               agreement.perf, agreement.heurt, agreement.both,
               100 * samples__middle(samples->covered, options->runs));
    print_functions(&samples->choice, !*options->no_perf);
}

static void print_table(const struct options *options, struct samples *samples)
{
    printf("medians of %zu rounds in which all took turns; functions (those of the last round): of "
           "at least 1 %%;\ncovered: perf's samples in its functions that heurt chose, too\n",
           options->runs);
    if (*options->no_perf)
        printf("nothing to compare with: %s\n", options->no_perf);
    printf("%-32s %8s %17s %8s %17s %9s\n", "", "plain", "with heurt: ratio", "perf:", "functions",
           "");
    printf("%-32s %8s %8s %8s %8s %5s %5s %5s %9s\n", "", "CPU s", "CPU", "wall", "CPU", "perf",
           "heurt", "both", "covered");
    for (size_t i = 0; i < PROGRAMS; i++)
        if (chosen(options, i))
            print_program(options, &programs[i], &samples[i]);
}

static struct json_object *json__functions(const struct choice *choice)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < choice->count; i++) {
        struct json_object *object = json_object_new_object();
        const struct function *function = &choice->functions[i];
        json_object_object_add(object, "function", json_object_new_string(function->name));
        figure__add(object, "perf_percent", function->percent);
        json_object_object_add(object, "chosen", json_object_new_boolean(function->chosen));
        json_object_object_add(object, "patched", json_object_new_boolean(function->patched));
        json_object_array_add(list, object);
    }
    return list;
}

static void json__conclude(struct json_object *object, const struct options *options,
                           struct samples *samples)
{
    figure__add(object, "plain_cpu_s", samples__middle(samples->cpu_s[PLAIN], options->runs));
    figure__add(object, "plain_wall_s", samples__middle(samples->wall_s[PLAIN], options->runs));
    figure__add(object, "heurt_cpu_ratio", ratio(samples->cpu_s, HEURT, options->runs));
    figure__add(object, "heurt_wall_ratio", ratio(samples->wall_s, HEURT, options->runs));
    if (!*options->no_perf) {
        figure__add(object, "perf_cpu_ratio", ratio(samples->cpu_s, PERF, options->runs));
        figure__add(object, "covered", samples__middle(samples->covered, options->runs));
    }
    json_object_object_add(object, "functions", json__functions(&samples->choice));
    json_object_object_add(object, "unnamed", json_object_new_int((int)samples->choice.unnamed));
}

static void print_json(const struct options *options, struct samples *samples)
{
    struct json_object *all = json_object_new_object(), *list = json_object_new_array();
    json_object_object_add(all, "schema", json_object_new_string("heurt.bench-choice/1"));
    json_object_object_add(all, "runs", json_object_new_int((int)options->runs));
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (!chosen(options, i))
            continue;
        struct json_object *object = json_object_new_object();
        json_object_object_add(object, "name", json_object_new_string(programs[i].name));
        if (*samples[i].missing)
            figure__missing(object, samples[i].failed, samples[i].missing);
        else
            json__conclude(object, options, &samples[i]);
        json_object_array_add(list, object);
    }
    json_object_object_add(all, "programs", list);
    puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
    json_object_put(all);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void samples__fail(struct samples *samples, const struct scratch *scratch,
                          const struct error *error)
{
    child__reason(scratch->log, error, samples->missing, sizeof samples->missing);
    samples->failed = true;
}

/* Why something cannot run here, to a text of that size; empty: it can. */
static int check(const struct options *options, const struct scratch *scratch, const char *name,
                 char *missing, size_t bytes, struct error *error)
{
    char *text;
    int code = ask(options, scratch, name, "check", &text, error);
    if (code == 0)
        snprintf(missing, bytes, "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
    return code;
}

static void prepare(const struct options *options, const struct scratch *scratch,
                    const struct program *program, struct samples *samples)
{
    struct error error;
    int code =
        check(options, scratch, program->name, samples->missing, sizeof samples->missing, &error);
    if (code == 0 && !*samples->missing)
        code = ask(options, scratch, program->name, "prepare", NULL, &error);
    if (code != 0)
        samples__fail(samples, scratch, &error);
}

static int run_all(struct options *options, const struct scratch *scratch, struct error *error)
{
    static struct samples samples[PROGRAMS];
    int code = check(options, scratch, "perf", options->no_perf, sizeof options->no_perf, error);
    for (size_t i = 0; i < PROGRAMS && code == 0; i++)
        if (chosen(options, i))
            prepare(options, scratch, &programs[i], &samples[i]);
    for (size_t round = 0; round < options->runs && code == 0; round++) {
        for (size_t i = 0; i < PROGRAMS; i++) {
            if (!chosen(options, i) || *samples[i].missing)
                continue;
            unlink(scratch->log);
            if (measure(options, scratch, &programs[i], &samples[i], round, error) != 0)
                samples__fail(&samples[i], scratch, error);
        }
    }
    if (code == 0)
        (options->json ? print_json : print_table)(options, samples);
    return code;
}

/* The script works in the scratch directory and finds what was built by these. */
static int enter(const struct options *options, const struct scratch *scratch, struct error *error)
{
    setenv("HEURT", options->heurt, 1);
    setenv("JSON_GET", BENCH_JSON_GET, 1);
    setenv("LC_ALL", "C", 1);
    if (chdir(scratch->directory) != 0)
        return error__set(error, -errno, "cannot enter %s: %s", scratch->directory,
                          strerror(errno));
    return 0;
}

static const char *program_name(size_t index)
{
    return index < PROGRAMS ? programs[index].name : NULL;
}

int main(int argc, char **argv)
{
    struct options options = {.heurt = BENCH_HEURT, .script = BENCH_SCRIPT, .runs = 5};
    const struct bench_option table[] = {
        {"runs", "N", .number = &options.runs, .least = RUNS_LEAST, .most = RUNS_MOST},
        {"json", .flag = &options.json},
        {"on", "DIR", .text = &options.parent},
        {"only", "NAME", .text = &options.only, .choice = program_name},
        {"command", "HEURT", .text = &options.heurt},
        {NULL},
    };
    struct scratch scratch;
    struct error error;
    int status;
    if (!options__read(argc, argv, table,
                       "N: 5 to 99; DIR: an absolute path, where the traces go (in memory when "
                       "possible)\n",
                       &status))
        return status;
    int code = scratch__make(&scratch, options.parent, &error);
    if (code == 0)
        code = enter(&options, &scratch, &error);
    if (code == 0)
        code = run_all(&options, &scratch, &error);
    if (code < 0)
        fprintf(stderr, "bench-choice: %s\n", error.text);
    directory__remove(scratch.directory);
    return code < 0 ? 125 : 0;
}
