/* cmd_export.c: heurt export: the events of a trace for other tools. */
#include "present/export/exporters.h"

#include "analysis/outliers/outliers.h"
#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/event_walk.h"
#include "cmd/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* What the user asked for. */
struct request {
    const char *directory;
    const char *output; /* NULL: stdout */
    const struct exporter *exporter;
    struct event_choice choice;
    bool interesting;
};

struct exported {
    struct event_taker taker; /* first: the walk gives this */
    struct export export;
    const struct exporter *exporter;
};

static void give_event(struct event_taker *taker, const struct shown_event *event)
{
    struct exported *self = (struct exported *)taker;
    if (self->exporter->event)
        self->exporter->event(&self->export, event);
}

static void give_gap(struct event_taker *taker, const struct shown_thread *thread,
                     const struct kept_gap *gap)
{
    struct exported *self = (struct exported *)taker;
    if (self->exporter->gap)
        self->exporter->gap(&self->export, thread, gap);
}

static void call(void (*method)(struct export *export), struct export *export)
{
    if (method)
        method(export);
}

/* Returns 0, or the errno of a write that failed. */
static int export_all(const struct request *request, struct shown_trace *shown, FILE *out)
{
    struct exported self = {
        .taker = {.event = give_event, .gap = give_gap, .out = out},
        .export = {.shown = shown, .out = out},
        .exporter = request->exporter,
    };
    call(self.exporter->begin, &self.export);
    call(self.exporter->definitions, &self.export);
    int failed = event_walk__tell(shown, &request->choice, &self.taker);
    call(self.exporter->end, &self.export);
    if (!failed && fflush(out) < 0)
        failed = errno;
    return failed;
}

/* Closes what open_output gave. Returns failed, or the errno with which closing failed. */
static int close_output(const struct request *request, FILE *out, int failed)
{
    if (!request->output)
        pager__close(out);
    else if (fclose(out) != 0 && !failed)
        failed = errno;
    return failed;
}

static int write_events(const struct request *request, struct shown_trace *shown)
{
    FILE *out = request->output ? fopen(request->output, "we") : pager__open();
    int failed = out ? export_all(request, shown, out) : errno;
    if (out)
        failed = close_output(request, out, failed);
    if (!failed)
        say_what_is_missing(shown->trace);
    else if (request->output)
        say("%s could not be written: %s", request->output, strerror(failed));
    else if (failed != EPIPE)
        say("the events could not be written: %s", strerror(failed));
    return failed && (request->output || failed != EPIPE) ? EXIT_HEURT : 0;
}

/* What --interesting leaves. */
static void say_kept(const struct stand_out *found)
{
    double kept = found->events ? (double)found->kept_events / (double)found->events : 0;
    say("%" PRIu64 " of %" PRIu64 " events are left (%.3g %%): what stands out (%zu place%s), and "
        "what is around it",
        found->kept_events, found->events, 100 * kept, found->points.count,
        found->points.count == 1 ? "" : "s");
    if (found->left_out)
        say("%" PRIu64 " more that stand out, which lost the least, are not kept", found->left_out);
}

static int export_trace(struct request *request, const struct trace *trace)
{
    struct stand_out *found = NULL;
    struct error error = {""};
    if (request->interesting &&
        stand_out__compute(trace, NULL, STAND_OUT_LIMIT, &found, &error) < 0) {
        say("%s", error.text);
        return EXIT_HEURT;
    }
    struct symbols *symbols = symbols__load_any(request->directory);
    struct shown_trace shown = shown_trace__new(trace, symbols);
    say_if_aggregated(trace);
    request->choice.kept = found ? found->kept : NULL;
    int status = write_events(request, &shown);
    if (found && status == 0)
        say_kept(found);
    shown_trace__free(&shown);
    symbols__free(symbols);
    stand_out__free(found);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

enum { OPTION_FROM = 256, OPTION_TO, OPTION_INTERESTING, OPTION_TEXT, OPTION_JSON, OPTION_CSV };

static const struct option_row option_rows[] = {
    {'i', "input", "DIR", "the trace (heurt.data)"},
    {'o', "output", "FILE", "where to write (standard output)"},
    {OPTION_TEXT, "text", NULL, "a line an event, as heurt dump"},
    {OPTION_JSON, "json", NULL, "a JSON object a line"},
    {OPTION_CSV, "csv", NULL, "comma-separated values"},
    {OPTION_INTERESTING, "interesting", NULL, "only what stands out, and what is around it"},
    {'t', "thread", "TID", "only this thread: its id, its name, or #SERIAL; repeatable"},
    {OPTION_FROM, "from", "S", "only events from that second on, since the start"},
    {OPTION_TO, "to", "S", "only events until that second, since the start"},
    {0},
};

static int choose_exporter(struct request *request, const struct exporter *exporter)
{
    if (request->exporter && request->exporter != exporter)
        return wrong_usage(&command_export, "--%s and --%s cannot both be", request->exporter->name,
                           exporter->name);
    request->exporter = exporter;
    return 0;
}

static int take_time(const char *option, uint64_t *ns)
{
    return seconds__parse(optarg, ns)
               ? 0
               : wrong_usage(&command_export, "--%s needs seconds since the start, not '%s'",
                             option, optarg);
}

/* 0, or the exit status of wrong usage. */
static int take_option(int option, void *argument)
{
    struct request *request = argument;
    const char *value = optarg;
    switch (option) {
    case 'i':
        request->directory = value;
        return 0;
    case 'o':
        request->output = value;
        return 0;
    case 't':
        vec__push(&request->choice.threads, &value);
        return 0;
    case OPTION_INTERESTING:
        request->interesting = true;
        return 0;
    case OPTION_FROM:
        return take_time("from", &request->choice.from_ns);
    case OPTION_TO:
        return take_time("to", &request->choice.to_ns);
    default:
        return choose_exporter(request, option == OPTION_TEXT   ? &exporter_text
                                        : option == OPTION_JSON ? &exporter_json
                                                                : &exporter_csv);
    }
}

static int parse(int argc, char **argv, struct request *request)
{
    int status = options__read(&command_export, option_rows, argc, argv, take_option, request);
    if (status == 0 && optind < argc)
        return wrong_usage(&command_export, "'%s' is not an option; a trace is named with -i",
                           argv[optind]);
    if (!request->exporter)
        request->exporter = &exporter_text;
    return status;
}

static int run(int argc, char **argv)
{
    struct request request = {.directory = DEFAULT_TRACE, .choice = event_choice__all()};
    struct trace *trace;
    struct error error = {""};
    int status = parse(argc, argv, &request);
    if (status == 0 && trace__open(request.directory, &trace, &error) < 0) {
        say("%s", error.text);
        status = EXIT_HEURT;
    }
    if (status == 0) {
        /* A reader that goes away, or a pager that is left, is no reason to die by a signal. */
        signal(SIGPIPE, SIG_IGN);
        status = export_trace(&request, trace);
        trace__close(trace);
    }
    event_choice__free(&request.choice);
    return status < 0 ? 0 : status;
}

const struct command command_export = {
    "export",
    "[-i DIR] [-o FILE] [--text|--json|--csv] [--interesting] [--thread TID|NAME|#SERIAL]… "
    "[--from SECONDS] [--to SECONDS]",
    "the events of a trace for other tools",
    run,
    NULL,
    option_rows};
