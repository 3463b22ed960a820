/* cmd_export.c: heurt export: the events of a trace for other tools; and heurt dump, the same as
 * text. */
#include "present/export/exporters.h"

#include "analysis/analysis.h"
#include "analysis/outliers/outliers.h"
#include "cmd/command.h"
#include "cmd/event_walk.h"
#include "cmd/export_spans.h"
#include "cmd/export_sqlite.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/values.h"
#include "cmd/whole_file.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#define BUFFER_BYTES (1u << 16)

/* What the user asked for. */
struct request {
    const char *directory;
    const char *output; /* NULL: stdout */
    const struct exporter *exporter;
    const struct span_exporter *spans; /* NULL: single events */
    const char *of;
    struct event_filter selection;
    bool interesting;
    bool sqlite;
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

static void give_mark(struct event_taker *taker, const struct trace_mark *mark)
{
    struct exported *self = (struct exported *)taker;
    if (self->exporter->mark)
        self->exporter->mark(&self->export, mark);
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
        .taker = {.event = give_event, .gap = give_gap, .mark = give_mark, .out = out},
        .export = {.shown = shown, .out = out},
        .exporter = request->exporter,
    };
    setvbuf(out, NULL, _IOFBF, BUFFER_BYTES); /* without it a call of the kernel each 4 KiB */
    call(self.exporter->begin, &self.export);
    call(self.exporter->definitions, &self.export);
    int failed = event_walk__tell(shown, &request->selection, &self.taker);
    call(self.exporter->end, &self.export);
    if (!failed && fflush(out) < 0)
        failed = errno;
    return failed;
}

static int write_to_file(const struct request *request, struct shown_trace *shown)
{
    struct whole_file file;
    int status = whole_file__open(&file, request->directory, request->output);
    return status ? status : whole_file__close(&file, export_all(request, shown, file.out));
}

static int write_to_stdout(const struct request *request, struct shown_trace *shown)
{
    FILE *out = pager__open();
    int failed = out ? export_all(request, shown, out) : errno;
    if (out)
        pager__close(out);
    if (failed && failed != EPIPE)
        say("the events could not be written: %s", strerror(failed));
    return failed && failed != EPIPE ? EXIT_HEURT : 0;
}

static int write_events(const struct request *request, struct shown_trace *shown)
{
    int status = request->output ? write_to_file(request, shown) : write_to_stdout(request, shown);
    if (status == 0)
        say_what_is_missing(shown->trace);
    return status;
}

/* What --interesting leaves. */
static void say_kept(const struct stand_out *found)
{
    double kept = found->events ? (double)found->kept_events / (double)found->events : 0;
    say("%" PRIu64 " of %" PRIu64 " events are left (%.3g %%): outliers (%zu place%s), and "
        "what is around it",
        found->kept_events, found->events, 100 * kept, found->points.count,
        found->points.count == 1 ? "" : "s");
    if (found->left_out)
        say("%" PRIu64 " more outliers, which lost the least, are not kept", found->left_out);
}

/* A window's chunks have more than what it is of. */
static void choose_window(struct event_filter *selection, const struct trace *trace)
{
    const struct heurt_session *session = trace__session(trace);
    if (!session->behind_tick)
        return;
    uint64_t from_ns = trace__since_start_ns(trace, session->from_tick);
    uint64_t to_ns = trace__since_start_ns(trace, session->behind_tick - 1);
    selection->from_ns = selection->from_ns > from_ns ? selection->from_ns : from_ns;
    selection->to_ns = selection->to_ns < to_ns ? selection->to_ns : to_ns;
}

static int export_trace(struct request *request, const struct trace *trace)
{
    struct stand_out *found = NULL;
    struct error error = {""};
    if (event_filter__check(&request->selection, trace, &error) < 0) {
        say("--thread: %s", error.text);
        return EXIT_USAGE;
    }
    if (request->interesting &&
        run__one(trace, NULL, &outliers_analysis, NULL, (void **)&found, &error) < 0)
        return failed(&error);
    struct symbols *symbols = symbols__load_any(request->directory);
    struct shown_trace shown = shown_trace__new(trace, symbols);
    say_if_aggregated(trace);
    choose_window(&request->selection, trace);
    request->selection.kept = found ? found->kept : NULL;
    int status = write_events(request, &shown);
    if (found && status == 0)
        say_kept(found);
    shown_trace__free(&shown);
    symbols__free(symbols);
    stand_out__free(found);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

#define THREAD_ROW                                                            \
    {                                                                         \
        .letter = 't', .name = "thread", .value = "TID|NAME|#SERIAL",         \
        .help = "only this thread: its id, its name, or #SERIAL; repeatable", \
        TEXTS(struct request, selection.threads)                              \
    }
#define FUNCTION_ROW                                                                               \
    {                                                                                              \
        .letter = 'f', .name = "function", .value = "GLOB",                                        \
        .help = "only events of this name; repeatable", TEXTS(struct request, selection.functions) \
    }
#define TIME_ROW(option, member, words)                                                           \
    {                                                                                             \
        .name = option, .value = "SECONDS", .help = words, .expected = "seconds since the start", \
        VALUE(struct request, selection.member, seconds__parse)                                   \
    }
#define FROM_ROW TIME_ROW("from", from_ns, "only events from that second on, since the start")
#define TO_ROW TIME_ROW("to", to_ns, "only events until that second, since the start")
#define EXPORTER_ROW(option, words, method)                                                     \
    {                                                                                           \
        .name = option, .help = words, .group = 'f', CONSTANT(struct request, exporter, method) \
    }
#define SPANS_ROW(option, words, method)                                                     \
    {                                                                                        \
        .name = option, .help = words, .group = 'f', CONSTANT(struct request, spans, method) \
    }
#define RAW_ROW \
    EXPORTER_ROW("raw", "ticks, numbers and payload words as they are in the file", &exporter_raw)

static const struct option_row export_rows[] = {
    INPUT_ROW(struct request, directory),
    {.letter = 'o',
     .name = "output",
     .value = "FILE",
     .help = "where to write (standard output)",
     TEXT(struct request, output)},
    EXPORTER_ROW("text", "a line an event, as heurt dump", &exporter_text),
    EXPORTER_ROW("json", "a JSON object a line", &exporter_json),
    EXPORTER_ROW("csv", "comma-separated values", &exporter_csv),
    RAW_ROW,
    {.name = "sqlite",
     .help = "the tables of all analyses, as an SQLite database",
     .group = 'f',
     FLAG(struct request, sqlite)},
    SPANS_ROW("perfetto", "for ui.perfetto.dev", &exporter_perfetto),
    SPANS_ROW("folded", "stacks with their time, for flame graphs", &exporter_folded),
    SPANS_ROW("speedscope", "for speedscope, thread by thread", &exporter_speedscope),
    SPANS_ROW("firefox", "for profiler.firefox.com, the first million spans", &exporter_firefox),
    SPANS_ROW("chrome", "trace events of Chrome (JSON), the first million spans", &exporter_chrome),
    SPANS_ROW("pprof", "a profile for pprof: work, delay, lost", &exporter_pprof),
    SPANS_ROW("otf2", "an OTF2 archive, a directory", &exporter_otf2),
    SPANS_ROW("ctf", "a trace in the Common Trace Format, a directory", &exporter_ctf),
    SPANS_ROW("paje", "for ViTE and pj_dump", &exporter_paje),
    {.name = "of",
     .value = "work|wait|lost|all",
     .help = "the time that is told of stacks (work)",
     TEXT(struct request, of)},
    {.name = "interesting",
     .help = "only outliers, and what is around them",
     FLAG(struct request, interesting)},
    THREAD_ROW,
    FUNCTION_ROW,
    FROM_ROW,
    TO_ROW,
    {0},
};

static const struct option_row dump_rows[] = {
    INPUT_ROW(struct request, directory),
    THREAD_ROW,
    FUNCTION_ROW,
    FROM_ROW,
    TO_ROW,
    EXPORTER_ROW("json", "one JSON object an event and line", &exporter_json_events),
    RAW_ROW,
    {0},
};

static int export_events(struct request *request)
{
    struct trace *trace;
    struct error error = {""};
    if (trace__open(request->directory, &trace, &error) < 0)
        return failed(&error);
    /* A reader that goes away, or a pager that is left, is no reason to die by a signal. */
    signal(SIGPIPE, SIG_IGN);
    int status = export_trace(request, trace);
    trace__close(trace);
    return status;
}

/* What is for single events alone is no part of a viewer's file, nor of a database of tables. */
static int check_whole(const struct request *request)
{
    const struct event_filter *selection = &request->selection;
    const char *option = request->interesting         ? "--interesting"
                         : selection->functions.count ? "--function"
                                                      : NULL;
    if (!request->spans && request->of) {
        say("--of: is for formats of stacks, such as --folded");
        return EXIT_USAGE;
    }
    if (request->spans && option) {
        say("%s is for --text, --json, --csv and --raw; --%s has whole threads: choose these, or "
            "a time, with --thread, --from and --to",
            option, request->spans->name);
        return EXIT_USAGE;
    }
    if (request->sqlite && (option || selection->threads.count)) {
        say("%s is for events; --sqlite has tables of all threads: choose a time, with --from and "
            "--to",
            option ? option : "--thread");
        return EXIT_USAGE;
    }
    return 0;
}

static int write_database(const struct request *request)
{
    const struct event_filter *selection = &request->selection;
    bool to_end = selection->to_ns == UINT64_MAX;
    const struct part_asked part = {selection->from_ns, to_end ? 0 : selection->to_ns, 0};
    return export_sqlite(request->directory, request->output, &part);
}

static int export_asked(struct request *request)
{
    const struct event_filter *selection = &request->selection;
    const struct span_wishes wishes = {
        .directory = request->directory,
        .output = request->output,
        .exporter = request->spans,
        .of = request->of,
        .threads = &selection->threads,
        .from_ns = selection->from_ns,
        .to_ns = selection->to_ns,
    };
    int status = check_whole(request);
    if (status)
        return status;
    if (request->sqlite)
        return write_database(request);
    return request->spans ? export_spans(&wishes) : export_events(request);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct request request = {
        .directory = DEFAULT_TRACE, .exporter = &exporter_text, .selection = event_filter__all()};
    int status = options__read(self, argc, argv, &request);
    if (status == 0)
        status = options__end(self, argc, argv);
    if (status == 0)
        status = export_asked(&request);
    event_filter__free(&request.selection);
    return status;
}

const struct command command_export = {.name = "export",
                                       .summary = "the events of a trace for other tools",
                                       .rows = export_rows,
                                       .operands = "",
                                       .run = run};

const struct command command_dump = {.name = "dump",
                                     .summary = "the events of a trace as text, one line an event",
                                     .rows = dump_rows,
                                     .operands = "",
                                     .run = run};
