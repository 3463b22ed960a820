/* heurt scale: one program with several numbers of threads, or on several numbers of CPUs. */
#include "base/memory.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/launch.h"
#include "cmd/options.h"
#include "cmd/pager_print.h"
#include "cmd/sweep.h"
#include "cmd/sweep_evidence.h"
#include "cmd/values.h"
#include "present/scaling/scaling_screens.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REPEAT_DEFAULT 3
#define COUNTS_MOST 64 /* in a list */

struct scale_request {
    const char *directory, *table;
    const struct table_format *format; /* NULL: a screen, or JSON */
    bool json;
    uint64_t width;
    struct sweep_plan plan;
    char **command;
};

/* ---- showing --------------------------------------------------------------------------------- */

static char *refusal_text(const struct refused_run *run)
{
    char *text = memory__format("%" PRIu32 " thread%s", run->place.threads,
                                run->place.threads == 1 ? "" : "s");
    if (run->place.pinned)
        text = text__append(text, " on %" PRIu32 " CPU%s", run->place.pinned,
                            run->place.pinned == 1 ? "" : "s");
    return text__append(text, ", %s: %s", run->place.is_recorded ? "recorded" : "alone", run->why);
}

/* Of the first run that was recorded with the most threads (or CPUs) that laws are of; NULL: there
 * is none. free() it. */
static char *trace_to_look_at(const struct sweep *sweep, const struct scaling *scaling)
{
    if (scaling->last == SIZE_MAX)
        return NULL;
    const struct scaling_count *last =
        VEC_AT(&scaling->counts, struct scaling_count, scaling->last);
    VEC_EACH (entry, &sweep->entries, struct sweep_entry)
        if (entry->place.is_recorded && entry->place.threads == last->threads &&
            entry->cpus == last->cpus && sweep_entry__is_good(entry))
            return sweep__trace(sweep, &entry->place);
    return NULL;
}

struct scale_showing {
    const struct scale_request *request;
    const struct scaling_view *view;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct scale_showing *showing = subject;
    const struct scale_request *request = showing->request;
    if (request->json)
        scaling__put_json(showing->view, out);
    else if (request->format)
        named_table__put(scaling_tables, request->table, showing->view, request->format, style,
                         out);
    else
        scaling__put_text(showing->view, style, out);
}

static uint32_t most_cpus(const struct sweep_evidence *evidence)
{
    uint32_t most = 0;
    VEC_EACH (run, &evidence->runs, struct sweep_run)
        most = run->cpus > most ? run->cpus : most;
    return most ? most : sweep__cpus();
}

static int show_evidence(const struct scale_request *request, const struct sweep *sweep,
                         const struct sweep_evidence *evidence)
{
    struct scaling scaling = scaling__of(&evidence->runs);
    struct vec speedups = speedup__rows(&evidence->runs), refused = VEC_OF(char *);
    char *command = sweep__command(sweep), *trace = trace_to_look_at(sweep, &scaling);
    VEC_EACH (run, &evidence->refused, struct refused_run) {
        char *text = refusal_text(run);
        vec__push(&refused, &text);
    }
    const struct scaling_view view = {.command = command,
                                      .directory = sweep->directory,
                                      .scaling = &scaling,
                                      .speedups = &speedups,
                                      .refused = &refused,
                                      .trace = trace,
                                      .cpus = most_cpus(evidence),
                                      .seen = evidence->heeds_nothing ? evidence->seen_most : 0,
                                      .is_openmp = evidence->is_openmp,
                                      .cycles_a_second = evidence->cycles_a_second};
    const struct scale_showing showing = {request, &view};
    int status = show_either(!request->json && !request->format, present, &showing, request->width);
    scaling__free(&scaling);
    vec__free(&speedups);
    texts__free(&refused);
    free(command);
    free(trace);
    return status;
}

static int show_sweep(const struct scale_request *request, const struct sweep *sweep)
{
    struct sweep_evidence evidence;
    int status = sweep_evidence__load(sweep, &evidence);
    status = status ? status : show_evidence(request, sweep, &evidence);
    sweep_evidence__free(&evidence);
    return status;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* What it has is told, also when it was interrupted. */
static int make_and_show(const struct scale_request *request)
{
    struct sweep sweep;
    struct error error;
    int code = request->command ? sweep__open(request->directory, request->command, &sweep, &error)
                                : sweep__read(request->directory, &sweep, &error);
    int made = code == 0 && request->command ? sweep__make(&sweep, &request->plan) : 0;
    bool is_told = code == 0 && (made == 0 || (made > 128 && sweep.entries.count));
    int status = code < 0 ? failed(&error) : is_told ? show_sweep(request, &sweep) : 0;
    sweep__free(&sweep);
    return made ? made : status;
}

/* ---- the command line ------------------------------------------------------------------------ */

static int by_size(const void *left, const void *right)
{
    return order__u32(left, right);
}

/* "1,2,4": a vec of uint32_t, ascending, each once. */
static bool read_counts(const char *text, void *member)
{
    struct vec *counts = member;
    char *copy = memory__text(text), *rest = copy;
    bool is_good = true;
    counts->count = 0;
    for (char *word; is_good && (word = strsep(&rest, ","));) {
        uint64_t number;
        is_good = number__parse(word, 1, SWEEP_COUNT_MOST, &number) && counts->count < COUNTS_MOST;
        if (is_good)
            vec__push(counts, &(uint32_t){(uint32_t)number});
    }
    free(copy);
    size_t kept = 0;
    vec__sort(counts, by_size);
    VEC_EACH (count, counts, uint32_t)
        if (!kept || *VEC_AT(counts, uint32_t, kept - 1) != *count)
            *VEC_AT(counts, uint32_t, kept++) = *count;
    counts->count = kept;
    return is_good;
}

static const struct option_row option_rows[] = {
    {.name = "threads",
     .value = "LIST",
     .help = "so many threads, such as 1,2,4: in OMP_NUM_THREADS, and in place of\n"
             "each {} in the program's words; without it 1, 2, 4 … up to the CPUs",
     .expected = "numbers from 1 to 1024, as 1,2,4",
     VALUE(struct scale_request, plan.threads, read_counts)},
    {.name = "cores",
     .value = "LIST",
     .help = "on so many CPUs; without --threads always with as many threads as\n"
             "the largest of these",
     .expected = "numbers from 1 to 1024, as 1,2",
     VALUE(struct scale_request, plan.cores, read_counts)},
    {.name = "repeat",
     .value = "N",
     .help = "so many runs of each alone, and as many recorded (3)",
     .expected = "a number of runs from 1 to 1000",
     NUMBER(struct scale_request, plan.repeat, 1, SWEEP_REPEAT_MOST)},
    {.letter = 'o',
     .name = "output",
     .value = "DIR",
     .help = "the runs; heurt.scale. What is there of the same command is not\n"
             "run again",
     TEXT(struct scale_request, directory)},
    {.letter = 'q',
     .name = "quiet",
     .help = "do not say how far it is",
     FLAG(struct scale_request, plan.quiet)},
    {.name = "table",
     .value = "NAME",
     .help = "this table alone: " SCALING_TABLES,
     TEXT(struct scale_request, table)},
    WIDTH_ROW(struct scale_request, width),
    {.name = "json", .help = "everything as JSON", .group = 'f', FLAG(struct scale_request, json)},
    {.name = "csv",
     .help = "a table (parts) as comma-separated values",
     .group = 'f',
     CONSTANT(struct scale_request, format, &table_csv)},
    {.name = "latex",
     .help = "likewise as LaTeX",
     .group = 'f',
     CONSTANT(struct scale_request, format, &table_latex)},
    {.name = "markdown",
     .help = "likewise as Markdown",
     .group = 'f',
     CONSTANT(struct scale_request, format, &table_markdown)},
    {0},
};

/* 1, 2, 4 … and the number of CPUs. */
static void fill_threads(struct sweep_plan *plan)
{
    uint32_t cpus = sweep__cpus();
    if (plan->threads.count)
        return;
    if (plan->cores.count) {
        vec__push(&plan->threads, VEC_AT(&plan->cores, uint32_t, plan->cores.count - 1));
        return;
    }
    for (uint32_t threads = 1; threads < cpus; threads *= 2)
        vec__push(&plan->threads, &threads);
    vec__push(&plan->threads, &cpus);
}

static int check_request(const struct command *self, struct scale_request *request)
{
    const struct vec *cores = &request->plan.cores;
    uint32_t cpus = sweep__cpus(),
             most = cores->count ? *VEC_AT(cores, uint32_t, cores->count - 1) : 0;
    if (request->table && !named_table__of(scaling_tables, request->table))
        return wrong_usage(self, "--table: there is no table '%s': " SCALING_TABLES,
                           request->table);
    if (!request->command && (request->plan.threads.count || cores->count))
        return wrong_usage(self, "which program?");
    if (most > cpus) {
        say("--cores %" PRIu32 ": heurt may use %" PRIu32 " CPU%s here", most, cpus,
            cpus == 1 ? "" : "s");
        return EXIT_USAGE;
    }
    if (request->table && !request->format && !request->json)
        request->format = &table_text;
    request->table = request->table ? request->table : "parts";
    fill_threads(&request->plan);
    return 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    standard_descriptors__reserve();
    struct scale_request request = {
        .directory = SWEEP_DIRECTORY,
        .plan = {VEC_OF(uint32_t), VEC_OF(uint32_t), REPEAT_DEFAULT, false}};
    int status = options__read(self, argc, argv, &request);
    if (status == 0) {
        request.command = optind < argc ? argv + optind : NULL;
        status = check_request(self, &request);
    }
    if (status == 0)
        status = make_and_show(&request);
    vec__free(&request.plan.threads);
    vec__free(&request.plan.cores);
    return status;
}

const struct command command_scale = {
    .name = "scale",
    .summary = "run a program with more and more threads: what limits it, and where",
    .rows = option_rows,
    .operands = "[--] [PROGRAM [ARG]…]",
    .runs_a_program = true,
    .run = run};
