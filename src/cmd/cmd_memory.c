/* heurt memory: which memory threads use, by object, field and cache line. */
#include "analysis/memory/oracle.h"
#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/html_file.h"
#include "cmd/kept_print.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/values.h"
#include "cmd/waiting.h"
#include "present/memory/memory_picture.h"
#include "present/memory/memory_screens.h"
#include "recorder/memory_names.h"

#include <getopt.h>
#include <string.h>

/* "thread=3", "object=1". */
struct flow_asked {
    const char *thread, *object; /* NULL: not that */
};

struct memory_request {
    const char *directory;
    const struct memory_presenter *presenter;
    const char *object;  /* a number, or a part of its title; NULL: all */
    const char *picture; /* a file; NULL: a screen */
    struct flow_asked flow;
    uint64_t width;        /* 0: not given */
    enum memory_view view; /* but the flow */
    const char *counted;   /* the trace of a run that counts; NULL: samples are not judged */
    bool all;
};

struct memory_showing {
    const struct memory_presenter *presenter;
    const struct memory_report *shown;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct memory_showing *showing = subject;
    showing->presenter->put(showing->shown, style, out);
}

/* By its place among the threads, as the screens call it; else by its number, or one of its names.
 */
static bool is_meant(const struct report *report, size_t place, const char *asked)
{
    uint64_t number;
    if (number__parse(asked, 0, trace__threads(report->trace)->count - 1, &number))
        return number == place;
    return report__is_thread(report, trace__thread_at(report->trace, place), asked);
}

/* False after a sentence: no thread is meant. */
static bool choose_thread(const struct memory_request *request, struct memory_report *shown)
{
    const char *asked = request->flow.thread;
    size_t count = trace__threads(shown->report->trace)->count;
    for (size_t i = 0; asked && i < count && !shown->thread; i++)
        if (is_meant(shown->report, i, asked))
            shown->thread = i + 1;
    if (asked && !shown->thread)
        say("no thread is '%s': of %zu threads, heurt tables threads lists them", asked, count);
    return !asked || shown->thread;
}

/* False after a sentence: no object is meant. */
static bool choose(const struct memory_request *request, struct memory_report *shown)
{
    size_t count = shown->use ? shown->use->objects.count : 0;
    for (size_t i = 0; request->object && i < count && !shown->rank; i++)
        if (memory_object__is(shown->report, VEC_AT(&shown->use->objects, struct memory_object, i),
                              i + 1, request->object))
            shown->rank = i + 1;
    if (!request->object || shown->rank)
        return true;
    if (count)
        say("no object is '%s': of %zu objects, heurt memory lists those of most time",
            request->object, count);
    else
        say("no object is '%s': no sample tells of any", request->object);
    return false;
}

#define TYPES_MOST 50 /* objects of which is found out what they are */

/* When the run ended this was found of what threads share alone: it takes a while. */
static void find_names(const struct loaded *loaded)
{
    const struct memory_use *use = run__result(&loaded->run, &memory_analysis);
    size_t left = TYPES_MOST;
    if (!use)
        return;
    VEC_EACH (object, &use->objects, const struct memory_object) {
        const struct trace_process *process = trace__process_at(loaded->trace, object->process);
        if (left-- == 0)
            break;
        if (object->site)
            symbols__ask_made_type(loaded->symbols, process->serial, object->site);
    }
    memory_names__find(loaded->trace, loaded->symbols, true);
}

static enum memory_view view_of(const struct memory_request *request)
{
    return request->flow.thread || request->flow.object ? MEMORY_FLOW : request->view;
}

static void put_picture(const void *subject, FILE *out)
{
    memory_picture__put(subject, true, out);
}

/* 0, or an exit status after a sentence. */
static int draw(const struct memory_request *request, const struct memory_report *shown)
{
    if (shown->use && shown->use->objects.count)
        return html_file__write(request->directory, request->picture, put_picture, shown);
    say("there is nothing to draw: no sample tells of an object");
    return EXIT_HEURT;
}

static int show(const struct memory_request *request, const struct loaded *loaded,
                const struct kept_print *print)
{
    struct memory_report shown = {.report = &loaded->report,
                                  .use = run__result(&loaded->run, &memory_analysis),
                                  .view = view_of(request),
                                  .all = request->all};
    find_names(loaded);
    if (!choose(request, &shown) || !choose_thread(request, &shown))
        return EXIT_USAGE;
    if (request->picture)
        return draw(request, &shown);
    return kept_print__make(print, loaded->trace, present,
                            &(struct memory_showing){request->presenter, &shown});
}

/* The samples against what the same program counted in another run. */
static int judge(const struct memory_request *request, const struct loaded *loaded,
                 const struct loaded *counted, const struct kept_print *print)
{
    const struct oracle_side samples = {run__result(&loaded->run, &memory_analysis), loaded->trace,
                                        loaded->symbols},
                             counts = {run__result(&counted->run, &memory_analysis), counted->trace,
                                       counted->symbols};
    struct memory_oracle *oracle = memory_oracle__compare(&samples, &counts);
    if (!oracle) {
        say("%s", !samples.use || !samples.use->samples
                      ? "nothing to compare: the run has no samples"
                      : "nothing to compare: the other run counts no accesses (man heurt-memory, "
                        "libheurt-access.so)");
        return EXIT_HEURT;
    }
    struct memory_report shown = {
        .report = &loaded->report, .use = samples.use, .oracle = oracle, .all = request->all};
    int status = kept_print__make(print, loaded->trace, present,
                                  &(struct memory_showing){request->presenter, &shown});
    memory_oracle__free(oracle);
    return status;
}

static int judge_by(const struct memory_request *request, const struct loaded *loaded,
                    const struct kept_print *print)
{
    struct loaded counted;
    int status = loaded__open(request->counted, &counted);
    if (status)
        return status;
    run__ask(&counted.run, &memory_analysis, NULL);
    status = loaded__profile(&counted, CLASSES_BY_SITE);
    status = status ? status : judge(request, loaded, &counted, print);
    loaded__close(&counted);
    return status;
}

static int make_memory(const struct memory_request *request, const struct kept_print *print)
{
    struct loaded loaded;
    int status = loaded__open(request->directory, &loaded);
    if (status)
        return status;
    run__ask(&loaded.run, &memory_analysis, NULL);
    status = loaded__profile(&loaded, CLASSES_BY_SITE);
    if (!status)
        status = (request->counted ? judge_by : show)(request, &loaded, print);
    loaded__close(&loaded);
    return status;
}

static int memory_of(const struct memory_request *request)
{
    /* What depends on another trace is not kept. */
    char *what = request->counted
                     ? NULL
                     : memory__format("memory %s%s %d %s%s %s", request->presenter->name,
                                      request->all ? " all" : "", (int)view_of(request),
                                      request->flow.thread ? "thread " : "",
                                      request->flow.thread ? request->flow.thread : "",
                                      request->object ? request->object : "");
    struct kept_print print = kept_print__of(request->directory, what,
                                             request->presenter == &memory_text, request->width);
    int status = 0;
    if (request->picture || !kept_print__show(&print, &status))
        status = make_memory(request, &print);
    kept_print__free(&print);
    return status;
}

/* member: a struct flow_asked. */
static bool read_flow(const char *text, void *member)
{
    static const char thread[] = "thread=", object[] = "object=";
    struct flow_asked *asked = member;
    if (strncmp(text, thread, strlen(thread)) == 0)
        asked->thread = text + strlen(thread);
    else if (strncmp(text, object, strlen(object)) == 0)
        asked->object = text + strlen(object);
    const char *given = asked->thread ? asked->thread : asked->object;
    return given && *given;
}

static const struct option_row option_rows[] = {
    INPUT_ROW(struct memory_request, directory),
    {.name = "lines",
     .help = "cache lines, byte by byte: who reads and writes what, and when",
     CHOICE(struct memory_request, view, MEMORY_LINES),
     .group = 'v'},
    {.name = "pages",
     .help = "how much time which threads spend at which pages",
     CHOICE(struct memory_request, view, MEMORY_PAGES),
     .group = 'v'},
    {.name = "flow",
     .value = "thread=T|object=N",
     .help = "in time: what a thread is at, or who is at an object",
     .expected = "thread= and a thread, or object= and an object",
     VALUE(struct memory_request, flow, read_flow),
     .group = 'v'},
    {.name = "picture",
     .value = "FILE",
     .help = "that as a picture (SVG) in place of a screen",
     TEXT(struct memory_request, picture)},
    {.name = "all", .help = "also what takes little time", FLAG(struct memory_request, all)},
    {.name = "counted",
     .value = "DIR",
     .help = "hold the samples against what the program counted in that run",
     TEXT(struct memory_request, counted)},
    WIDTH_ROW(struct memory_request, width),
    FORMAT_ROW(struct memory_request, presenter, json, &memory_json),
    FORMAT_ROW(struct memory_request, presenter, csv, &memory_csv),
    {0},
};

static int run(const struct command *self, int argc, char **argv)
{
    struct memory_request request = {.directory = DEFAULT_TRACE, .presenter = &memory_text};
    int status = options__read(self, argc, argv, &request);
    if (status)
        return status;
    if (argc - optind > 1)
        return wrong_usage(self, "one object at a time");
    request.object = argv[optind];
    if (request.object && request.flow.object)
        return wrong_usage(self, "one object at a time");
    if (request.picture && view_of(&request) == MEMORY_OBJECTS)
        return wrong_usage(self, "--picture goes with --lines, --pages or --flow");
    request.object = request.flow.object ? request.flow.object : request.object;
    return memory_of(&request);
}

const struct command command_memory = {
    .name = "memory",
    .summary = "show which memory threads use: objects, their fields and cache lines",
    .rows = option_rows,
    .operands = "[OBJECT]",
    .run = run};
