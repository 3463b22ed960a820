/* cmd_dump.c: heurt dump: the trace as text, one line an event, all threads merged by time. */
#include "cmd/command.h"
#include "cmd/event_walk.h"

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

/* Fills request; -1, or the exit status when there is nothing more to do. */
static int parse(int argc, char **argv, struct request *request)
{
    enum { OPTION_FROM = 256, OPTION_TO, OPTION_RAW, OPTION_JSON };
    static const struct option options[] = {
        {"input", required_argument, NULL, 'i'},
        {"thread", required_argument, NULL, 't'},
        {"function", required_argument, NULL, 'f'},
        {"from", required_argument, NULL, OPTION_FROM},
        {"to", required_argument, NULL, OPTION_TO},
        {"raw", no_argument, NULL, OPTION_RAW},
        {"json", no_argument, NULL, OPTION_JSON},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    optind = 0; /* other commands may have used getopt before */
    for (int option; (option = getopt_long(argc, argv, "i:t:f:h", options, NULL)) != -1;) {
        const char *argument = optarg;
        if (option == 'h')
            return show_help(&command_dump);
        else if (option == 'i')
            request->directory = argument;
        else if (option == 't')
            vec__push(&request->choice.threads, &argument);
        else if (option == 'f')
            vec__push(&request->choice.functions, &argument);
        else if (option == OPTION_RAW)
            request->raw = true;
        else if (option == OPTION_JSON)
            request->json = true;
        else if (option == '?')
            return wrong_usage(&command_dump, "these options are not understood");
        else if (!seconds__parse(argument, option == OPTION_FROM ? &request->choice.from_ns
                                                                 : &request->choice.to_ns))
            return wrong_usage(&command_dump, "--%s needs seconds since the start, not '%s'",
                               option == OPTION_FROM ? "from" : "to", argument);
    }
    if (optind < argc)
        return wrong_usage(&command_dump, "'%s' is not an option; a trace is named with -i",
                           argv[optind]);
    if (request->raw && request->json)
        return wrong_usage(&command_dump, "--raw and --json cannot both be");
    return -1;
}

static int run(int argc, char **argv)
{
    struct request request = {.directory = DEFAULT_TRACE, .choice = event_choice__all()};
    struct trace *trace;
    struct error error = {""};
    int status = parse(argc, argv, &request);
    if (status < 0 && trace__open(request.directory, &trace, &error) < 0) {
        say("%s", error.text);
        status = EXIT_HEURT;
    }
    if (status < 0) {
        /* A reader that goes away, or a pager that is left, is no reason to die by a signal. */
        signal(SIGPIPE, SIG_IGN);
        status = dump_trace(&request, trace);
        trace__close(trace);
    }
    event_choice__free(&request.choice);
    return status;
}

static const char options_help[] =
    "  -i, --input DIR             the trace (heurt.data)\n"
    "  -t, --thread TID            only this thread: its id, its name, or #SERIAL; repeatable\n"
    "  -f, --function GLOB         only events of this name; repeatable\n"
    "  --from S, --to S            only events between these seconds since the start\n"
    "  --json                      one JSON object an event and line\n"
    "  --raw                       ticks, numbers and payload words as they are in the file\n";

const struct command command_dump = {
    "dump",
    "[-i DIR] [--thread TID|NAME|#SERIAL]… [--function GLOB]… [--from SECONDS] [--to SECONDS] "
    "[--json|--raw]",
    "the events of a trace as text, one line an event", run, options_help};
