/* cmd_dump.c: heurt dump: the trace as text, one line an event, all threads merged by time. */
#include "cmd/command.h"
#include "cmd/event_walk.h"
#include "cmd/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <signal.h>
#include <string.h>

/* What the user asked for. */
struct request {
    const char *directory;
    struct event_choice choice;
    bool raw, json;
};

struct dump {
    struct event_taker taker; /* first: the walk gives this */
    const struct request *request;
    const struct shown_trace *shown;
};

/* An object on a line of its own. */
static void print_json(const struct dump *dump, const struct shown_event *what)
{
    struct json_object *line = shown_event__json(dump->shown, what);
    fprintf(dump->taker.out, "%s\n", json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN));
    json_object_put(line);
}

/* Tick, serial of the thread, id and payload, as they are in the file. */
static void print_raw(const struct dump *dump, const struct shown_event *what)
{
    const struct event *event = what->event;
    FILE *out = dump->taker.out;
    fprintf(out, "%" PRIu64 " #%u %u", event->tick, what->thread->thread->serial, event->id);
    for (uint32_t i = 0; i < event->words; i++)
        fprintf(out, " 0x%" PRIx64, event->payload[i]);
    fputc('\n', out);
}

static void dump_event(struct event_taker *taker, const struct shown_event *what)
{
    const struct dump *dump = (const struct dump *)taker;
    if (dump->request->raw)
        print_raw(dump, what);
    else if (dump->request->json)
        print_json(dump, what);
    else
        shown_event__line(dump->shown, what, taker->out);
}

/* Returns 0, or the errno of a write that failed. */
static int dump_all(struct dump *dump, struct shown_trace *shown)
{
    int failed = event_walk__tell(shown, &dump->request->choice, &dump->taker);
    if (!failed && fflush(dump->taker.out) < 0)
        failed = errno;
    return failed;
}

static int dump_trace(const struct request *request, const struct trace *trace)
{
    struct symbols *symbols = symbols__load_any(request->directory);
    struct shown_trace shown = shown_trace__new(trace, symbols);
    struct dump dump = {.taker = {.event = dump_event}, .request = request, .shown = &shown};
    say_if_aggregated(trace);
    dump.taker.out = pager__open();
    if (request->json)
        fputs("{\"schema\":\"heurt.dump/1\"}\n", dump.taker.out);
    int failed = dump_all(&dump, &shown);
    pager__close(dump.taker.out);
    if (failed && failed != EPIPE)
        say("the dump could not be written: %s", strerror(failed));
    else if (!failed)
        say_what_is_missing(trace);
    shown_trace__free(&shown);
    symbols__free(symbols);
    return failed && failed != EPIPE ? EXIT_HEURT : 0;
}

/* ---- the command line ------------------------------------------------------------------------ */

enum { OPTION_FROM = 256, OPTION_TO, OPTION_RAW, OPTION_JSON };

static const struct option_row option_rows[] = {
    {'i', "input", "DIR", "the trace (heurt.data)"},
    {'t', "thread", "TID", "only this thread: its id, its name, or #SERIAL; repeatable"},
    {'f', "function", "GLOB", "only events of this name; repeatable"},
    {OPTION_FROM, "from", "S", "only events from that second on, since the start"},
    {OPTION_TO, "to", "S", "only events until that second, since the start"},
    {OPTION_JSON, "json", NULL, "one JSON object an event and line"},
    {OPTION_RAW, "raw", NULL, "ticks, numbers and payload words as they are in the file"},
    {0},
};

static int take_time(const char *option, uint64_t *ns)
{
    return seconds__parse(optarg, ns)
               ? 0
               : wrong_usage(&command_dump, "--%s needs seconds since the start, not '%s'", option,
                             optarg);
}

static int take_option(int option, void *argument)
{
    struct request *request = argument;
    const char *value = optarg;
    switch (option) {
    case 'i':
        request->directory = value;
        return 0;
    case 't':
        vec__push(&request->choice.threads, &value);
        return 0;
    case 'f':
        vec__push(&request->choice.functions, &value);
        return 0;
    case OPTION_RAW:
        request->raw = true;
        return 0;
    case OPTION_JSON:
        request->json = true;
        return 0;
    case OPTION_FROM:
        return take_time("from", &request->choice.from_ns);
    default:
        return take_time("to", &request->choice.to_ns);
    }
}

static int parse(int argc, char **argv, struct request *request)
{
    int status = options__read(&command_dump, option_rows, argc, argv, take_option, request);
    if (status == 0 && optind < argc)
        return wrong_usage(&command_dump, "'%s' is not an option; a trace is named with -i",
                           argv[optind]);
    if (status == 0 && request->raw && request->json)
        return wrong_usage(&command_dump, "--raw and --json cannot both be");
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
        status = dump_trace(&request, trace);
        trace__close(trace);
    }
    event_choice__free(&request.choice);
    return status < 0 ? 0 : status;
}

const struct command command_dump = {
    "dump",
    "[-i DIR] [--thread TID|NAME|#SERIAL]… [--function GLOB]… [--from SECONDS] [--to SECONDS] "
    "[--json|--raw]",
    "the events of a trace as text, one line an event",
    run,
    NULL,
    option_rows};
