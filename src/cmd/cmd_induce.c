/* heurt induce: a program under contention that is made on purpose. */
#include "base/memory.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/heavy_lock.h"
#include "cmd/html_file.h"
#include "cmd/induced_runs.h"
#include "cmd/launch.h"
#include "cmd/options.h"
#include "cmd/pager_print.h"
#include "cmd/values.h"
#include "present/induce/induce_screens.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_DEFAULT 5
#define ROUNDS_MOST 1000
#define LEVELS_MOST 20
#define DEFAULT_LEVELS 4
#define MEMORY_BYTES (64u << 20) /* of each CPU's buffer */
#define DISK_BYTES (64u << 20)
#define BYTES_LEAST (256u << 10)
#define NODE_MOST 1023
#define NODE_NONE UINT64_MAX

struct induce_request {
    uint64_t node, bytes, rounds, width;
    double level; /* below 0: several */
    const char *directory, *table, *output;
    const struct table_format *format; /* NULL: a screen, or JSON */
    bool json, quiet;
    cpu_set_t cpus; /* none: as is fit */
    struct vec levels;
    char **command;
    struct induce_plan plan;
    cpu_set_t program; /* CPUs that are left to it */
    struct heavy_lock lock;
};

/* ---- words ----------------------------------------------------------------------------------- */

/* "CPU 1", "CPUs 2, 3". free() it. */
static char *cpus_text(const cpu_set_t *cpus)
{
    char *text = NULL;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, cpus)) {
            char *number = memory__format("%u", cpu);
            text = text__join(text, ", ", number);
            free(number);
        }
    char *named = memory__format("CPU%s %s", CPU_COUNT(cpus) == 1 ? "" : "s", text ? text : "");
    free(text);
    return named;
}

/* What a request is. */
static const struct induced_unit {
    const char *name;
    double of_request;
} units[INDUCE_KINDS] = {
    [INDUCE_MEMORY] = {"GB/s", 64e-9},    [INDUCE_CACHE] = {"GB/s read", 64e-9},
    [INDUCE_CPU] = {"CPUs", 1e-9},        [INDUCE_DISK] = {"blocks/s", 1},
    [INDUCE_LOCK] = {"times as long", 1},
};

static char *most_text(const struct induce_request *request, const struct inducer *inducer)
{
    const struct induced_unit *unit = &units[request->plan.kind];
    if (request->plan.kind == INDUCE_LOCK)
        return memory__text("twice as long");
    double most = inducer__most(inducer) * unit->of_request;
    if (request->plan.kind == INDUCE_CACHE)
        return memory__format("%.1f MiB of the shared cache", (double)request->plan.bytes / 0x1p20);
    if (inducer__is_of_loss(inducer))
        return memory__format("%.3g GB/s, what a program that streams there has",
                              inducer__streamed(inducer) * 1e-9);
    return memory__format("%.3g %s, what it can take alone", most, unit->name);
}

/* Of memory how much can be taken at all; NULL: nothing is to be said. free() it. */
static char *limit_text(const struct induce_request *request, const struct inducer *inducer)
{
    if (request->plan.kind != INDUCE_MEMORY)
        return NULL;
    struct induce_loss loss = inducer__loss(inducer);
    char *cpus = cpus_text(&request->plan.cpus), *interval, *text;
    interval = isnan(loss.low) ? memory__text("its CPUs were busy")
                               : memory__format("%.0f … %.0f %%", 100 * loss.low, 100 * loss.high);
    if (inducer__is_of_loss(inducer))
        text = memory__format("%s can take at most %.0f %% of it (%s)", cpus, 100 * loss.value,
                              interval);
    else
        text = memory__format("whether a program that streams loses any to %s is not shown (%s): "
                              "levels are parts of what is written alone",
                              cpus, interval);
    free(cpus);
    free(interval);
    return text;
}

static char *taken_text(const struct induce_request *request, const struct inducer *inducer)
{
    bool is_of_loss = inducer && inducer__is_of_loss(inducer);
    char *cpus = cpus_text(is_of_loss ? &request->program : &request->plan.cpus), *text;
    switch (request->plan.kind) {
    case INDUCE_MEMORY:
        text = is_of_loss ? memory__format("of the memory bandwidth of %s that is taken", cpus)
                          : memory__format("of the memory bandwidth that %s can take", cpus);
        break;
    case INDUCE_CACHE:
        text =
            memory__format("of %.1f MiB of the shared cache", (double)request->plan.bytes / 0x1p20);
        break;
    case INDUCE_CPU:
        text = memory__format("of %s", cpus);
        break;
    case INDUCE_LOCK:
        text = memory__format("that %s is held longer", request->lock.name);
        break;
    default:
        text = memory__text("of what one writer can bring to the disk");
    }
    free(cpus);
    return text;
}

static char *where_text(const struct induce_request *request)
{
    if (request->plan.kind == INDUCE_DISK)
        return memory__format("in %s", request->plan.directory);
    if (request->plan.kind == INDUCE_LOCK)
        return memory__text(request->lock.name);
    char *cpus = cpus_text(&request->plan.cpus), *own = cpus_text(&request->program);
    char *text = memory__format("on %s, the program on %s", cpus, own);
    free(cpus);
    free(own);
    return text;
}

/* ---- showing --------------------------------------------------------------------------------- */

struct induce_showing {
    const struct induce_request *request;
    const struct induce_view *view;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct induce_showing *showing = subject;
    const struct induce_request *request = showing->request;
    if (request->json)
        induce__put_json(showing->view, out);
    else if (request->format)
        named_table__put(induce_tables, request->table, showing->view, request->format, style, out);
    else
        induce__put_text(showing->view, style, out);
}

static void put_file(const void *subject, FILE *out)
{
    const struct induce_showing *showing = subject;
    const struct style plain = {.columns = screen__columns(showing->request->width),
                                .unicode = true};
    present(subject, &plain, out);
}

static int show_runs(const struct induce_request *request, const struct inducer *inducer,
                     const struct induced_runs *made)
{
    struct sensitivities told = sensitivities__of(&made->runs);
    char *command = NULL, *most = most_text(request, inducer),
         *taken = taken_text(request, inducer), *where = where_text(request),
         *limit = limit_text(request, inducer);
    struct induce_loss loss = {NAN, NAN, NAN};
    if (inducer)
        loss = inducer__loss(inducer);
    for (char **word = request->command; *word; word++)
        command = text__join(command, " ", *word);
    const struct induce_view view = {.command = command,
                                     .resource = induce_kind__name(request->plan.kind),
                                     .taken_of = taken,
                                     .most = most,
                                     .where = where,
                                     .limit = limit,
                                     .loss = {loss.value, loss.low, loss.high},
                                     .unit_of_requests = units[request->plan.kind].of_request,
                                     .unit = units[request->plan.kind].name,
                                     .told = &told,
                                     .rounds = request->rounds,
                                     .is_of_lock = !inducer,
                                     .is_cut = made->is_cut};
    const struct induce_showing showing = {request, &view};
    int status =
        request->output
            ? html_file__write(DEFAULT_TRACE, request->output, put_file, &showing)
            : show_either(!request->json && !request->format, present, &showing, request->width);
    sensitivities__free(&told);
    free(command);
    free(most);
    free(taken);
    free(where);
    free(limit);
    return status;
}

/* ---- running --------------------------------------------------------------------------------- */

static int make_runs(const struct induce_request *request, struct inducer *inducer)
{
    struct induced_runs made;
    const struct induced_plan plan = {.words = request->command,
                                      .inducer = inducer,
                                      .lock = inducer ? NULL : &request->lock,
                                      .levels = request->levels,
                                      .rounds = request->rounds,
                                      .quiet = request->quiet};
    int status = induced_runs__make(&plan, &made);
    if (status == 0 && made.is_cut && made.runs.count < 2)
        status = EXIT_HEURT;
    if (status == 0)
        status = show_runs(request, inducer, &made);
    induced_runs__free(&made);
    return status;
}

static void say_taken(const struct induce_request *request, const struct inducer *inducer)
{
    const struct induced_unit *unit = &units[request->plan.kind];
    struct induce_told told = inducer__told(inducer);
    char *most = most_text(request, inducer), *where = where_text(request),
         *limit = limit_text(request, inducer);
    if (!request->quiet)
        say("%s, %s: asked for %.3g %%, took %.1f %% (%.3g %s; 100 %% is %s)",
            induce_kind__name(request->plan.kind), where, 100 * told.asked, 100 * told.had,
            told.requests * unit->of_request, unit->name, most);
    if (limit && !request->quiet)
        say("%s", limit);
    free(limit);
    free(most);
    free(where);
}

/* The status of a failure, or 0. */
static int run_beside(const struct induce_request *request, struct inducer *inducer,
                      int *wait_status)
{
    struct launch launch = LAUNCH_INIT;
    struct error error;
    int code = launch__start(request->command, NULL, &launch, &error);
    if (code < 0)
        return failed(&error);
    inducer__set(inducer, request->level);
    code = launch__go(&launch, &error);
    if (code < 0) {
        say("%s", error.text);
        return launch__status_of_failure(code);
    }
    code = launch__wait(&launch, wait_status, &error);
    if (code < 0)
        return failed(&error);
    say_taken(request, inducer);
    code = inducer__failure(inducer);
    if (code)
        say("the process that took the resource had ended by then: %s", strerror(-code));
    return 0;
}

/* Stops it: who ends as the program did does not come back. */
static int run_once(const struct induce_request *request, struct inducer *inducer)
{
    int wait_status = 0, status = run_beside(request, inducer, &wait_status);
    inducer__stop(inducer);
    return status ? status : launch__exit_like(wait_status);
}

/* As many as were asked for; else equal parts of what can be taken. */
static void choose_levels(struct induce_request *request, const struct inducer *inducer)
{
    double most = 0.75;
    if (request->levels.count)
        return;
    if (inducer && inducer__is_of_loss(inducer))
        most = fmin(most, inducer__loss(inducer).value);
    for (unsigned i = 0; i < DEFAULT_LEVELS; i++) {
        double level = round(1000 * most * i / (DEFAULT_LEVELS - 1)) / 1000;
        vec__push(&request->levels, &level);
    }
}

static int run_under(struct induce_request *request)
{
    struct inducer *inducer = NULL;
    struct error error;
    if (request->plan.kind == INDUCE_LOCK) {
        int found = heavy_lock__find(request->command, &request->lock);
        choose_levels(request, NULL);
        return found ? found : make_runs(request, NULL);
    }
    int code = inducer__start(&request->plan, &inducer, &error);
    if (code < 0)
        return failed(&error);
    sched_setaffinity(0, sizeof request->program, &request->program);
    if (request->level >= 0)
        return run_once(request, inducer);
    choose_levels(request, inducer);
    int status = make_runs(request, inducer);
    inducer__stop(inducer);
    return status;
}

/* ---- on which CPUs --------------------------------------------------------------------------- */

/* "0-3,8". */
static bool read_cpus(const char *text, void *member)
{
    cpu_set_t *cpus = member;
    char *copy = memory__text(text), *rest = copy;
    bool is_good = true;
    CPU_ZERO(cpus);
    for (char *word; is_good && (word = strsep(&rest, ","));) {
        char *dash = strchr(word, '-');
        uint64_t first, last;
        if (dash)
            *dash = 0;
        is_good = number__parse(word, 0, CPU_SETSIZE - 1, &first) &&
                  number__parse(dash ? dash + 1 : word, 0, CPU_SETSIZE - 1, &last) && first <= last;
        for (uint64_t cpu = first; is_good && cpu <= last; cpu++)
            CPU_SET((int)cpu, cpus);
    }
    free(copy);
    return is_good;
}

/* 0, or EXIT_USAGE after a sentence. */
static int cpus_of_node(uint64_t node, cpu_set_t *cpus)
{
    char *path = memory__format("/sys/devices/system/node/node%" PRIu64 "/cpulist", node);
    char line[4096] = "";
    FILE *file = fopen(path, "re");
    bool is_read = file && fgets(line, sizeof line, file);
    line[strcspn(line, "\n")] = 0;
    bool is_there = is_read && *line && read_cpus(line, cpus);
    if (file)
        fclose(file);
    free(path);
    if (is_there)
        return 0;
    say("--node %" PRIu64 ": this machine has no such node with CPUs", node);
    return EXIT_USAGE;
}

/* The last half of those, and of one none. */
static cpu_set_t half_of(const cpu_set_t *cpus)
{
    cpu_set_t half;
    int count = CPU_COUNT(cpus) / 2;
    CPU_ZERO(&half);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && CPU_COUNT(&half) < count; cpu--)
        if (CPU_ISSET(cpu, cpus))
            CPU_SET(cpu, &half);
    return half;
}

static int choose_cpus(struct induce_request *request)
{
    cpu_set_t allowed, both, of_node;
    struct induce_plan *plan = &request->plan;
    sched_getaffinity(0, sizeof allowed, &allowed);
    request->program = of_node = allowed;
    CPU_ZERO(&plan->cpus);
    if (plan->kind == INDUCE_DISK || plan->kind == INDUCE_LOCK)
        return 0;
    int status = request->node == NODE_NONE ? 0 : cpus_of_node(request->node, &of_node);
    if (status)
        return status;
    CPU_AND(&of_node, &of_node, &allowed);
    bool is_chosen = CPU_COUNT(&request->cpus) > 0;
    plan->cpus = is_chosen ? request->cpus : plan->kind == INDUCE_CPU ? of_node : half_of(&of_node);
    CPU_AND(&both, &plan->cpus, &of_node);
    if (!CPU_EQUAL(&both, &plan->cpus)) {
        say("--cpus: heurt may not use all of these%s",
            request->node == NODE_NONE ? " here" : ", or they are of another node");
        return EXIT_USAGE;
    }
    if (plan->kind != INDUCE_CPU)
        CPU_XOR(&request->program, &allowed, &plan->cpus);
    plan->program = request->program;
    if (CPU_COUNT(&plan->cpus) && CPU_COUNT(&request->program))
        return 0;
    say("%s is taken from other CPUs than the program's: of the %d that heurt may use here none is "
        "left for %s",
        induce_kind__name(plan->kind), CPU_COUNT(&allowed),
        CPU_COUNT(&plan->cpus) ? "the program" : "that");
    return EXIT_USAGE;
}

/* ---- the command line ------------------------------------------------------------------------ */

static bool read_level(const char *text, void *member)
{
    const char *end;
    double level;
    bool is_good =
        decimal__parse(text, &end, &level) && (!*end || strcmp(end, "%") == 0) && level <= 100;
    if (is_good)
        *(double *)member = level / 100;
    return is_good;
}

/* A vec of double, each once. */
static bool read_levels(const char *text, void *member)
{
    struct vec *levels = member;
    char *copy = memory__text(text), *rest = copy;
    bool is_good = true;
    levels->count = 0;
    for (char *word; is_good && (word = strsep(&rest, ","));) {
        double level = 0;
        is_good = read_level(word, &level) && levels->count < LEVELS_MOST;
        VEC_EACH (other, levels, double)
            is_good = is_good && *other != level;
        if (is_good)
            vec__push(levels, &level);
    }
    free(copy);
    return is_good && levels->count > 1;
}

static const struct option_row option_rows[] = {
    {.kind = OPTION_OPERAND, .name = "memory", .help = "bandwidth, past all caches"},
    {.kind = OPTION_OPERAND, .name = "cache", .help = "bytes of the shared cache"},
    {.kind = OPTION_OPERAND, .name = "cpu", .help = "a share of the program's CPUs"},
    {.kind = OPTION_OPERAND, .name = "disk", .help = "writes that are brought to the disk"},
    {.kind = OPTION_OPERAND, .name = "lock", .help = "the one most waited for is held longer"},
    {.name = "level",
     .value = "PERCENT",
     .help = "one run with so much taken: the program's own output and status",
     .group = 'l',
     .expected = "a number from 0 to 100",
     VALUE(struct induce_request, level, read_level)},
    {.name = "levels",
     .value = "LIST",
     .help = "runs at each of these, in turns (0,25,50,75): who suffers",
     .group = 'l',
     .expected = "two numbers from 0 to 100 or more, each once, as 0,25,50",
     VALUE(struct induce_request, levels, read_levels)},
    {.name = "repeat",
     .value = "N",
     .help = "so many rounds of all levels (5)",
     .expected = "a number of rounds from 1 to 1000",
     NUMBER(struct induce_request, rounds, 1, ROUNDS_MOST)},
    {.name = "cpus",
     .value = "LIST",
     .help = "it is taken from these; without it the last half of the CPUs, of\n"
             "cpu all; but for cpu the program has the others",
     .expected = "numbers of CPUs, as 2,3 or 4-7",
     VALUE(struct induce_request, cpus, read_cpus)},
    {.name = "node",
     .value = "N",
     .help = "with memory and CPUs of this NUMA node alone",
     .expected = "a number from 0 to 1023",
     NUMBER(struct induce_request, node, 0, NODE_MOST)},
    {.name = "bytes",
     .value = "SIZE",
     .help = "of memory the buffer of each CPU (64M), of cache what 100 % are (the\n"
             "largest cache), of disk the file (64M)",
     .expected = "bytes, as 16M",
     VALUE(struct induce_request, bytes, size__parse)},
    {.name = "directory",
     .value = "DIR",
     .help = "of disk: where is written (.)",
     TEXT(struct induce_request, directory)},
    {.letter = 'o',
     .name = "output",
     .value = "FILE",
     .help = "into this file; it is there as a whole or not at all",
     TEXT(struct induce_request, output)},
    {.letter = 'q',
     .name = "quiet",
     .help = "do not say how far it is",
     FLAG(struct induce_request, quiet)},
    {.name = "table",
     .value = "NAME",
     .help = "this table alone: " INDUCE_TABLES,
     TEXT(struct induce_request, table)},
    WIDTH_ROW(struct induce_request, width),
    {.name = "json", .help = "everything as JSON", .group = 'f', FLAG(struct induce_request, json)},
    {.name = "csv",
     .help = "a table (sensitivity) as comma-separated values",
     .group = 'f',
     CONSTANT(struct induce_request, format, &table_csv)},
    {.name = "latex",
     .help = "likewise as LaTeX",
     .group = 'f',
     CONSTANT(struct induce_request, format, &table_latex)},
    {.name = "markdown",
     .help = "likewise as Markdown",
     .group = 'f',
     CONSTANT(struct induce_request, format, &table_markdown)},
    {0},
};

static int choose_kind(const char *name, enum induce_kind *kind)
{
    struct nearest nearest = nearest__to(name);
    for (unsigned i = 0; i < INDUCE_KINDS; i++) {
        if (strcmp(name, induce_kind__name(i)) == 0) {
            *kind = i;
            return 0;
        }
        nearest__offer(&nearest, induce_kind__name(i));
    }
    char *hint = nearest__question(&nearest);
    say("'%.60s' cannot be taken%s memory, cache, cpu, disk and lock can", name,
        *hint ? hint : ";");
    free(hint);
    return EXIT_USAGE;
}

static int choose_bytes(struct induce_request *request)
{
    uint64_t known = request->plan.kind == INDUCE_CACHE  ? induce__cache_bytes()
                     : request->plan.kind == INDUCE_DISK ? DISK_BYTES
                                                         : MEMORY_BYTES;
    request->plan.bytes = request->bytes ? request->bytes : known;
    if (request->plan.kind == INDUCE_LOCK || request->plan.bytes >= BYTES_LEAST)
        return 0;
    if (request->bytes)
        say("--bytes: expected 256K at least");
    else
        say("how large the shared cache is, the system does not tell: --bytes does");
    return EXIT_USAGE;
}

static int check_request(const struct command *self, struct induce_request *request)
{
    bool is_one = request->level >= 0;
    if (request->table && !named_table__of(induce_tables, request->table))
        return wrong_usage(self, "--table: there is no table '%s': " INDUCE_TABLES, request->table);
    if (is_one && (request->table || request->format || request->json || request->output))
        return wrong_usage(self, "--level makes one run, which shows no tables: --levels does");
    if (request->directory && request->plan.kind != INDUCE_DISK)
        return wrong_usage(self, "--directory goes with disk");
    bool is_of_cpus = request->plan.kind != INDUCE_DISK && request->plan.kind != INDUCE_LOCK;
    if (!is_of_cpus && (CPU_COUNT(&request->cpus) || request->node != NODE_NONE))
        return wrong_usage(self, "--cpus and --node do not go with disk and lock");
    if (request->plan.kind == INDUCE_LOCK && (is_one || request->bytes))
        return wrong_usage(self, "--level and --bytes do not go with lock: --levels does");
    if (request->table && !request->format && !request->json)
        request->format = &table_text;
    request->table = request->table ? request->table : "sensitivity";
    request->plan.directory = request->directory ? request->directory : ".";
    request->plan.node = request->node == NODE_NONE ? -1 : (int)request->node;
    int status = choose_bytes(request);
    return status ? status : choose_cpus(request);
}

/* The program's words stand behind the first "--"; 0: there is none. */
static int separator_of(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return i;
    return 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    standard_descriptors__reserve();
    struct induce_request request = {
        .node = NODE_NONE, .rounds = ROUNDS_DEFAULT, .level = -1, .levels = VEC_OF(double)};
    int separator = separator_of(argc, argv);
    int status = options__read(self, separator ? separator : argc, argv, &request);
    if (status == 0 && !separator)
        status = wrong_usage(self, "which program? It stands behind --");
    else if (status == 0 && separator - optind != 1)
        status = wrong_usage(self, "expected one of memory, cache, cpu, disk and lock");
    if (status == 0)
        status = choose_kind(argv[optind], &request.plan.kind);
    request.command = argv + separator + 1;
    if (status == 0)
        status = check_request(self, &request);
    if (status == 0)
        status = run_under(&request);
    vec__free(&request.levels);
    heavy_lock__free(&request.lock);
    return status;
}

const struct command command_induce = {
    .name = "induce",
    .summary = "run a program while a resource is taken from it: who suffers, and how much",
    .rows = option_rows,
    .operands = "memory|cache|cpu|disk|lock -- PROGRAM [ARG]…",
    .run = run};
