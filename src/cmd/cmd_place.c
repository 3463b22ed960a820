/* heurt place: on which NUMA nodes memory is, from where it is accessed, and a script that places
 * it.
 */
#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/kept_print.h"
#include "cmd/launch.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/place_replay.h"
#include "cmd/place_service.h"
#include "cmd/values.h"
#include "cmd/whole_file.h"
#include "present/place/place_screens.h"
#include "recorder/install.h"
#include "recorder/memory_names.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct place_request {
    const char *directory;
    const struct place_presenter *presenter;
    const char *object; /* a number, or a part of its title; NULL: all */
    const char *output; /* of the script; NULL: stdout */
    uint64_t width;     /* 0: not given */
    bool all, thresholds;
    struct place_replay replay; /* its width and format are the request's; interval and thresholds
                                   are the service's, too */
    struct place_service service;
    bool status; /* of the services that run */
};

struct place_showing {
    const struct place_presenter *presenter;
    const struct place_report *shown;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct place_showing *showing = subject;
    showing->presenter->put(showing->shown, style, out);
}

/* False after a sentence: no object is meant. */
static bool choose(const struct place_request *request, struct place_report *shown)
{
    size_t rank = 0;
    if (!request->object || !shown->placement)
        return true;
    VEC_EACH (object, &shown->placement->objects, struct placement_object) {
        const struct memory_object *of =
            VEC_AT(&shown->use->objects, struct memory_object, object->object);
        if (memory_object__is(shown->report, of, ++rank, request->object) && !shown->rank)
            shown->rank = rank;
    }
    if (!shown->rank)
        say("no object is '%s': of %zu objects, heurt place lists those of most remote time",
            request->object, rank);
    return shown->rank;
}

/* Executable, for its owner alone: it tells of the program. */
static int write_script(const struct place_request *request, const struct place_report *shown)
{
    struct whole_file file;
    struct style style = {0};
    if (!request->output) {
        place_script.put(shown, &style, stdout);
        return fflush(stdout) ? EXIT_HEURT : 0;
    }
    int status = whole_file__open(&file, request->directory, request->output);
    if (status)
        return status;
    place_script.put(shown, &style, file.out);
    int failed = fflush(file.out) || (file.beside && fchmod(fileno(file.out), 0700)) ? errno : 0;
    return whole_file__close(&file, failed);
}

static int show(const struct place_request *request, const struct loaded *loaded,
                const struct kept_print *print)
{
    char *library = place_library__find();
    struct place_report shown = {.report = &loaded->report,
                                 .use = run__result(&loaded->run, &memory_analysis),
                                 .placement = run__result(&loaded->run, &placement_analysis),
                                 .all = request->all,
                                 .library = library};
    int status = 0;
    memory_names__find(loaded->trace, loaded->symbols, true);
    if (!choose(request, &shown))
        status = EXIT_USAGE;
    else if (request->presenter == &place_script)
        status = write_script(request, &shown);
    else
        status = kept_print__make(print, loaded->trace, present,
                                  &(struct place_showing){request->presenter, &shown});
    free(library);
    return status;
}

static int make_place(const struct place_request *request, const struct kept_print *print)
{
    struct loaded loaded;
    int status = loaded__open(request->directory, &loaded);
    if (status)
        return status;
    run__ask(&loaded.run, &memory_analysis, NULL);
    run__ask(&loaded.run, &placement_analysis, NULL);
    status = loaded__profile(&loaded, CLASSES_BY_SITE);
    status = status ? status : show(request, &loaded, print);
    loaded__close(&loaded);
    return status;
}

static int place_of(const struct place_request *request)
{
    bool is_script = request->presenter == &place_script;
    char *what = is_script ? NULL
                           : memory__format("place %s%s %s", request->presenter->name,
                                            request->all ? " all" : "",
                                            request->object ? request->object : "");
    struct kept_print print =
        kept_print__of(request->directory, what, request->presenter == &place_text, request->width);
    int status = 0;
    if (!kept_print__show(&print, &status))
        status = make_place(request, &print);
    kept_print__free(&print);
    return status;
}

static const struct option_row option_rows[] = {
    INPUT_ROW(struct place_request, directory),
    {.name = "script",
     .help = "a script that runs a program with its memory placed",
     CONSTANT(struct place_request, presenter, &place_script),
     .group = 'f'},
    {.letter = 'o',
     .name = "output",
     .value = "FILE",
     .help = "the script goes there (else to stdout)",
     TEXT(struct place_request, output)},
    {.name = "all", .help = "also what takes little time", FLAG(struct place_request, all)},
    {.letter = 'p',
     .name = "pid",
     .value = "PID",
     .help = "move memory of that process while it runs; may be repeated",
     TEXTS(struct place_request, service.pids)},
    {.name = "cgroup",
     .value = "PATH",
     .help = "likewise of all processes of a cgroup",
     TEXT(struct place_request, service.cgroup)},
    {.name = "user",
     .help = "likewise of all processes of this user",
     FLAG(struct place_request, service.of_user)},
    {.name = "budget",
     .value = "SHARE",
     .help = "of one CPU, that moving may take on the average of a minute (0.02)",
     .expected = "a number from 0 to 1",
     VALUE(struct place_request, service.budget, share__parse)},
    {.name = "dry-run",
     .help = "decide, and move nothing",
     FLAG(struct place_request, service.dry_run)},
    {.name = "plan",
     .value = "FILE",
     .help = "each decision goes there, a line each",
     TEXT(struct place_request, service.plan)},
    {.name = "status",
     .help = "what is being moved now, and what it brought",
     FLAG(struct place_request, status)},
    {.name = "replay",
     .value = "DIR",
     .help = "that trace's samples on a machine: what policies would bring",
     TEXT(struct place_request, replay.directory)},
    {.name = "machine",
     .value = "FILE",
     .help = "with --replay, as hwloc describes it or a text (the trace's)",
     TEXT(struct place_request, replay.machine)},
    {.name = "interval",
     .value = "TIME",
     .help = "between decisions, as processes run or with --replay (1s)",
     .expected = DURATION_FORM,
     VALUE(struct place_request, replay.interval_ns, duration__parse)},
    {.name = "set",
     .value = "NAME=NUMBER",
     .help = "a threshold of these decisions; may be repeated",
     TEXTS(struct place_request, replay.set)},
    {.name = "thresholds",
     .help = "list them, with where they come from",
     FLAG(struct place_request, thresholds)},
    WIDTH_ROW(struct place_request, width),
    FORMAT_ROW(struct place_request, presenter, json, &place_json),
    FORMAT_ROW(struct place_request, presenter, csv, &place_csv),
    {0},
};

static int replay(const struct command *self, struct place_request *request, int operands)
{
    if (request->output || request->presenter == &place_script || request->all || operands)
        return wrong_usage(self, "--replay and --thresholds are of no object, and make no script");
    request->replay.width = request->width;
    request->replay.format = request->presenter == &place_json  ? PLACE_JSON
                             : request->presenter == &place_csv ? PLACE_CSV
                                                                : PLACE_TEXT;
    return request->thresholds ? place_replay__show_thresholds(&request->replay)
                               : place_replay__show(&request->replay);
}

static int run_placement(const struct command *self, struct place_request *request, int argc,
                         char **argv)
{
    if (request->replay.machine || request->replay.interval_ns || request->replay.set.count)
        return wrong_usage(
            self, "--machine is for --replay, --interval and --set also for -p, --cgroup, --user "
                  "and -- PROGRAM");
    if (argc - optind > 1)
        return wrong_usage(self, "one object at a time");
    request->object = argv[optind];
    if (request->output && request->presenter != &place_script)
        return wrong_usage(self, "--output is for --script");
    if (request->object && request->presenter == &place_script)
        return wrong_usage(self, "--script is of all objects");
    return place_of(request);
}

static bool is_service(const struct place_request *request)
{
    return request->service.pids.count || request->service.cgroup || request->service.of_user ||
           request->service.command;
}

static int serve(const struct command *self, struct place_request *request, int operands)
{
    struct place_service *service = &request->service;
    unsigned whom = (service->pids.count > 0) + (service->cgroup != NULL) + service->of_user +
                    (service->command != NULL);
    if (whom != 1)
        return wrong_usage(self, "-p, --cgroup, --user and a program exclude each other");
    if (request->output || request->presenter != &place_text || request->all || request->status ||
        request->replay.directory || request->replay.machine || request->thresholds ||
        (operands && !service->command))
        return wrong_usage(self, "of what is moved while it runs --status tells");
    service->interval_ns = request->replay.interval_ns;
    service->set = &request->replay.set;
    return place_service__run(self, service);
}

static int show_status(const struct command *self, const struct place_request *request,
                       int operands)
{
    if (request->output || request->presenter == &place_script || request->all || operands ||
        request->replay.directory || request->thresholds || request->replay.interval_ns)
        return wrong_usage(self, "--status tells of what runs now: it goes with --json, --csv and "
                                 "--width alone");
    return place_service__show_status(request->presenter == &place_json  ? PLACE_JSON
                                      : request->presenter == &place_csv ? PLACE_CSV
                                                                         : PLACE_TEXT,
                                      request->width);
}

static int choose_run(const struct command *self, struct place_request *request, int argc,
                      char **argv)
{
    /* Behind a lone "--" is a program. */
    bool is_program = optind > 1 && optind < argc && strcmp(argv[optind - 1], "--") == 0;
    request->service.command = is_program ? argv + optind : NULL;
    if (is_service(request))
        return serve(self, request, argc - optind);
    if (request->service.dry_run || request->service.plan || request->service.budget > 0)
        return wrong_usage(
            self, "--budget, --dry-run and --plan go with -p, --cgroup, --user or -- PROGRAM");
    if (request->status)
        return show_status(self, request, argc - optind);
    return request->replay.directory || request->thresholds
               ? replay(self, request, argc - optind)
               : run_placement(self, request, argc, argv);
}

static int run(const struct command *self, int argc, char **argv)
{
    standard_descriptors__reserve();
    struct place_request request = {.directory = DEFAULT_TRACE,
                                    .presenter = &place_text,
                                    .replay.set = VEC_OF(const char *),
                                    .service.pids = VEC_OF(const char *)};
    int status = options__read(self, argc, argv, &request);
    if (!status)
        status = choose_run(self, &request, argc, argv);
    vec__free(&request.replay.set);
    vec__free(&request.service.pids);
    return status;
}

const struct command command_place = {
    .name = "place",
    .summary = "show on which NUMA nodes memory is, and move it while programs run",
    .rows = option_rows,
    .operands = "[OBJECT|-- PROGRAM [ARG]…]",
    .run = run};
