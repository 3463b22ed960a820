#include "base/memory.h"
#include "base/vec.h"
#include "cmd/background.h"
#include "cmd/command.h"
#include "cmd/cut_file.h"
#include "cmd/hot.h"
#include "cmd/launch.h"
#include "cmd/limits.h"
#include "cmd/options.h"
#include "cmd/packing.h"
#include "cmd/repeat.h"
#include "cmd/report.h"
#include "cmd/values.h"
#include "cmd/watch.h"
#include "format/reader.h"
#include "format/writer.h"
#include "kernel/instruction_count.h"
#include "kernel/thread_events.h"
#include "recorder/cache.h"
#include "recorder/environment.h"
#include "recorder/function_list.h"
#include "recorder/install.h"
#include "recorder/kernel_log.h"
#include "recorder/live_selection.h"
#include "recorder/losses.h"
#include "recorder/planner.h"
#include "recorder/selection.h"
#include "recorder/session.h"
#include "recorder/session_clock.h"
#include "recorder/trace_names.h"
#include "recorder/tracepoints.h"
#include "recorder/usage.h"
#include "symbol/binary.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SIZE_DEFAULT (4ull << 30)
#define MAX_SIZE_AGGREGATED (512ull << 20)
#define STACK_EVERY_DEFAULT 10000
#define STACK_BYTES_DEFAULT 4096
#define STACK_BYTES_MAX 8192
#define PATIENCE_MS 2000
#define REPEAT_MOST 1000

struct overhead {
    uint32_t permille; /* 0: none */
    bool told;
};

struct recording {
    const char *directory; /* of the trace, as the user wrote it */
    struct plan_request request;
    uint64_t max_size_bytes; /* 0: the default */
    uint64_t stack_every, stack_bytes;
    struct overhead overhead;
    bool quiet, and_report, no_pack, all_locks, no_choice, no_loops, aggregate, no_kernel,
        instructions;
    uint64_t choose_after_ns; /* CPU time */
    uint32_t patience_ms;
    bool raw_stacks, redact_arguments;
    char **command;
    bool hot;                /* a run before this one finds the functions */
    const char *report_path; /* NULL: the report goes to the terminal */
    FILE *report;            /* open for it, or NULL */
    char *other_directory;   /* owned: the trace, where the usual place is in use */
    int wait_status;         /* the command's end */
    uint64_t repeat;         /* so many runs, one after the other */
};

/* ---- options --------------------------------------------------------------------------------- */

static void push_text(struct vec *texts, const char *text)
{
    char *copy = memory__text(text);
    vec__push(texts, &copy);
}

/* "5%", "5", "0.5%", or "none". */
static bool read_overhead(const char *text, void *member)
{
    struct overhead *overhead = member;
    const char *end = "";
    double percent = 0;
    bool is_none = strcmp(text, "none") == 0;
    if (!is_none && (!decimal__parse(text, &end, &percent) || (*end && strcmp(end, "%") != 0) ||
                     percent < 0.1 || percent > 100))
        return false;
    *overhead = (struct overhead){(uint32_t)(percent * 10 + 0.5), true};
    return true;
}

static bool read_locks(const char *text, void *all_locks)
{
    *(bool *)all_locks = strcmp(text, "all") == 0;
    return *(bool *)all_locks || strcmp(text, "drawn") == 0;
}

static bool read_cpu_time(const char *text, void *ns)
{
    double seconds;
    if (!decimal__parse(text, NULL, &seconds) || !(seconds > 0 && seconds <= 1e6))
        return false;
    *(uint64_t *)ns = (uint64_t)(seconds * 1e9);
    return true;
}

static bool read_patience(const char *text, void *ms)
{
    double seconds;
    if (!decimal__parse(text, NULL, &seconds) || !(seconds >= 0.01 && seconds <= 3600))
        return false;
    *(uint32_t *)ms = (uint32_t)(seconds * 1e3);
    return true;
}

static int take_function(const struct command *self, const char *text, void *recording)
{
    (void)self;
    push_text(&((struct recording *)recording)->request.functions, text);
    return 0;
}

static int take_module(const struct command *self, const char *text, void *recording)
{
    (void)self;
    push_text(&((struct recording *)recording)->request.modules, text);
    return 0;
}

static int take_function_list(const struct command *self, const char *path, void *request)
{
    struct vec *functions = &((struct recording *)request)->request.functions;
    bool from_stdin = strcmp(path, "-") == 0;
    FILE *in = from_stdin ? stdin : fopen(path, "re");
    struct error error;
    (void)self;
    if (!in) {
        say("cannot read the list of functions %s: %s", path, strerror(errno));
        return EXIT_HEURT;
    }
    int code = function_list__read(in, functions, &error);
    if (!from_stdin)
        fclose(in);
    if (code < 0)
        return failed(&error);
    if (functions->count == 0)
        say("the list of functions %s names none: only the calls that heurt knows are recorded",
            from_stdin ? "on standard input" : path);
    return 0;
}

/* FUNC=arg1,arg3: the function is asked for by that, too. */
static int take_arguments(const struct command *self, const char *text, void *request)
{
    struct recording *recording = request;
    const char *names = strrchr(text, '=');
    if (!names || names == text || !names[1])
        return wrong_usage(self, "--arguments: expected FUNCTION=ARGUMENT[,ARGUMENT]…, found '%s'",
                           text);
    struct plan_arguments arguments = {
        .function = memory__format("%.*s", (int)(names - text), text),
        .names = memory__text(names + 1),
    };
    vec__push(&recording->request.arguments, &arguments);
    push_text(&recording->request.functions, arguments.function);
    return 0;
}

static const struct option_row option_rows[] = {
    {.letter = 'o',
     .name = "output",
     .value = "DIR",
     .help = "the trace; heurt.data, and an older one becomes heurt.data.old",
     TEXT(struct recording, directory)},
    {.name = "repeat",
     .value = "N",
     .help = "record so many runs, into DIR.1 … DIR.N, for heurt compare",
     .expected = "a number of runs from 1 to 1000",
     NUMBER(struct recording, repeat, 1, REPEAT_MOST)},
    {.letter = 'f',
     .name = "function",
     .value = "NAME",
     .help = "also record this function, or all that match the glob; repeatable",
     OWN(take_function)},
    {.letter = 'F',
     .name = "functions-from",
     .value = "FILE",
     .help = "the functions that a file lists, or standard input (-)",
     OWN(take_function_list)},
    {.name = "hot",
     .help = "run the program twice: sample it, then record where its time goes",
     FLAG(struct recording, hot)},
    {.letter = 'M',
     .name = "module",
     .value = "MODULE",
     .help = "all functions of this file, or those of -f only there",
     OWN(take_module)},
    {.letter = 'A',
     .name = "arguments",
     .value = "FUNC=ARG,…",
     .help = "a function and its arguments (arg1, or a name), for keys",
     OWN(take_arguments)},
    {.name = "stack-every",
     .value = "N",
     .help = "a call stack at every N-th occurrence of a class (10000; 0: none)",
     .expected = "a number of occurrences",
     NUMBER(struct recording, stack_every, 0, INT32_MAX)},
    {.name = "stack-bytes",
     .value = "N",
     .help = "how much of the stack is kept for it (4096)",
     .expected = "bytes",
     NUMBER(struct recording, stack_bytes, 0, STACK_BYTES_MAX)},
    {.name = "raw-stacks",
     .help = "keep of it all that is there, not addresses alone",
     FLAG(struct recording, raw_stacks)},
    {.name = "redact-arguments",
     .help = "keep neither the program's arguments nor what -A's are, only which\n"
             "of these are the same",
     FLAG(struct recording, redact_arguments)},
    {.name = "max-size",
     .value = "SIZE",
     .help = "the trace's bound, such as 500M (4G); what is lost is counted",
     .expected = "a size such as 500M or 4G",
     VALUE(struct recording, max_size_bytes, size__parse)},
    {.name = "aggregate",
     .help = "keep no events: counts, sums and histograms of each class and thread,\n"
             "in memory that does not grow with time (--max-size: 512M)",
     FLAG(struct recording, aggregate)},
    {.name = "no-pack",
     .help = "leave the trace as long as it was written",
     FLAG(struct recording, no_pack)},
    {.name = "overhead",
     .value = "PERCENT",
     .help = "what recording may cost each thread; 5% of functions that heurt\n"
             "chooses and of locks; none where functions are asked for",
     .expected = "a part of each thread's time from 0.1% to 100%, or none",
     VALUE(struct recording, overhead, read_overhead)},
    {.name = "locks",
     .value = "WHICH",
     .help = "drawn: of locks that nobody waits for as many as the budget\n"
             "allows; all: every one",
     .expected = "all or drawn",
     VALUE(struct recording, all_locks, read_locks)},
    {.name = "choose-after",
     .value = "SECONDS",
     .help = "without -f, -F, -M, -A: choose functions after so much CPU time (1)",
     .expected = "seconds of CPU time",
     VALUE(struct recording, choose_after_ns, read_cpu_time)},
    {.name = "patience",
     .value = "SECONDS",
     .help = "the program waits no longer for a sign of life of heurt (2)",
     .expected = "seconds from 0.01 to 3600",
     VALUE(struct recording, patience_ms, read_patience)},
    {.name = "no-choice", .help = "record known calls only", FLAG(struct recording, no_choice)},
    {.name = "no-loops",
     .help = "do not mark the loops of functions that are entered once",
     FLAG(struct recording, no_loops)},
    {.name = "no-kernel",
     .help = "no records of switches and page faults from the kernel",
     FLAG(struct recording, no_kernel)},
    {.name = "instructions",
     .help = "count the instructions of each call, where there is a PMU",
     FLAG(struct recording, instructions)},
    {.name = "report",
     .value = "FILE",
     .help = "then report, into this file: the program keeps standard output",
     TEXT(struct recording, report_path)},
    {.name = "and-report", FLAG(struct recording, and_report)},
    {.letter = 'q',
     .name = "quiet",
     .help = "say nothing when all went well",
     FLAG(struct recording, quiet)},
    {0},
};

static int parse(const struct command *self, int argc, char **argv, struct recording *recording)
{
    int status = options__read(self, argc, argv, recording);
    if (!status && optind >= argc)
        return wrong_usage(self, "which program?");
    recording->command = argv + optind;
    recording->and_report |= recording->report_path != NULL;
    if (!status && recording->repeat && recording->and_report)
        return wrong_usage(self,
                           "--repeat is for heurt record, which shows no report: heurt compare "
                           "tells of several runs");
    if (!recording->max_size_bytes)
        recording->max_size_bytes = recording->aggregate ? MAX_SIZE_AGGREGATED : MAX_SIZE_DEFAULT;
    return status;
}

/* ---- the session ----------------------------------------------------------------------------- */

static bool has_request(const struct recording *recording)
{
    return recording->request.functions.count || recording->request.modules.count;
}

/* Whether the functions to record are heurt's to choose. */
static bool is_automatic(const struct recording *recording)
{
    return !recording->no_choice && !has_request(recording);
}

#define CHOSEN_OVERHEAD_PERMILLE 50
#define LATER_NS 600 /* measured: 60 to 110 to pack an event, some 300 to report on it */

static bool has_usual_budget(const struct recording *recording)
{
    return !recording->overhead.told && !has_request(recording);
}

static uint32_t overhead_permille(const struct recording *recording)
{
    return has_usual_budget(recording) ? CHOSEN_OVERHEAD_PERMILLE : recording->overhead.permille;
}

/* Where the usual place is in use by another recording, in the next one: heurt.data.2. */
static int create_somewhere(struct recording *recording, const struct heurt_session *settings,
                            struct trace_writer **writer, struct error *error)
{
    int code = trace_writer__create(recording->directory, settings, writer, error);
    bool is_usual = strcmp(recording->directory, DEFAULT_TRACE) == 0;
    for (unsigned place = 2; code == -EBUSY && is_usual && place < 100; place++) {
        free(recording->other_directory);
        recording->other_directory = memory__format(DEFAULT_TRACE ".%u", place);
        recording->directory = recording->other_directory;
        code = trace_writer__create(recording->directory, settings, writer, error);
        if (code == 0 && !recording->quiet)
            say(DEFAULT_TRACE " is in use by another recording: this one goes to %s",
                recording->directory);
    }
    return code;
}

static int create_trace(struct recording *recording, struct trace_writer **writer,
                        struct error *error)
{
    struct heurt_session settings = {
        .clock = session_clock__choose(),
        .flags = (recording->aggregate ? HEURT_SESSION_AGGREGATE : 0) |
                 (recording->all_locks ? 0 : HEURT_SESSION_SAMPLE_LOCKS) |
                 (recording->overhead.told ? HEURT_SESSION_SAMPLE_SEMAPHORES : 0) |
                 (recording->no_kernel ? 0 : HEURT_SESSION_KERNEL) |
                 (recording->instructions ? HEURT_SESSION_INSTRUCTIONS : 0) |
                 (recording->raw_stacks ? HEURT_SESSION_RAW_STACKS : 0),
        .stack_every = recording->stack_bytes ? (uint32_t)recording->stack_every : 0,
        .stack_bytes = (uint32_t)recording->stack_bytes & ~7u,
        .overhead_permille = overhead_permille(recording),
        .later_ns = has_usual_budget(recording) && !recording->aggregate ? LATER_NS : 0,
        .limit_units = recording->max_size_bytes / HEURT_UNIT_BYTES,
        .patience_ms = recording->patience_ms,
    };
    settings.start = session_clock__pair(settings.clock);
    if (recording->redact_arguments)
        while (!settings.argument_key[0])
            if (getrandom(settings.argument_key, sizeof settings.argument_key, 0) < 0)
                return error__set(error, -errno,
                                  "--redact-arguments: there is no random number: %s",
                                  strerror(errno));
    int code = create_somewhere(recording, &settings, writer, error);
    if (code == 0)
        session__describe(*writer, recording->redact_arguments
                                       ? (char *[]){recording->command[0], NULL}
                                       : recording->command);
    return code;
}

/* ---- before: can it be recorded? ------------------------------------------------------------- */

/* Says what stands in the way; the program is run all the same. True when it can be recorded. */
static bool warn_about_binary(const char *name, const struct binary *binary, struct error *why)
{
    bool recordable = binary__is_recordable(binary, why);
    if (!recordable)
        say("%s runs without being recorded: %s", name, why->text);
    return recordable;
}

/* They are for single calls, and for a machine that has a counter for them: else the program is
 * recorded without. */
static bool can_count_instructions(const struct recording *recording)
{
    struct error error;
    if (recording->aggregate) {
        say("retired instructions are not counted: --aggregate keeps no single calls");
        return false;
    }
    if (instructions__try(&error) == 0)
        return true;
    say("%s", error.text);
    return false;
}

/* ---- while it runs --------------------------------------------------------------------------- */

/* How often the trace's next part is prepared: often while it grows, rarely while it does not. */
enum { PREPARE_LEAST_MS = 4, PREPARE_MOST_MS = 64 };

/* What works beside the program while it runs. */
struct attendants {
    struct planner planner;
    struct automatic *automatic; /* or NULL */
    struct stop_log *stops;      /* NULL: nothing is ever stopped */
    struct tracepoints *tracepoints;
    struct pack_ahead *ahead; /* or NULL */
};

/* end_fd: readable when the program has ended; -1: the background tells. */
static void serve(int end_fd, struct background *background, struct attendants *attendants,
                  struct trace_writer *writer, struct watch *watch)
{
    struct planner *planner = &attendants->planner;
    struct automatic *automatic = attendants->automatic;
    struct pollfd set[3] = {{.fd = end_fd, .events = POLLIN},
                            {.fd = planner->fd, .events = POLLIN},
                            {.fd = tracepoints__fd(attendants->tracepoints), .events = POLLIN}};
    struct error error;
    int wait_ms = PREPARE_LEAST_MS;
    while (!(set[0].revents & (POLLIN | POLLHUP | POLLERR)) &&
           !(background && background__is_over(background))) {
        int look_ms = automatic ? automatic__look(automatic) : wait_ms;
        if (poll(set, 3, look_ms < wait_ms ? look_ms : wait_ms) < 0 && errno != EINTR)
            break;
        tracepoints__look(attendants->tracepoints);
        watch__look(watch, writer);
        if (trace_writer__prepare(writer))
            wait_ms = PREPARE_LEAST_MS;
        else if (wait_ms < PREPARE_MOST_MS)
            wait_ms *= 2;
        /* Whoever waited in vain while we did not run, others may ask again. */
        if (trace_writer__session(writer)->flags & HEURT_SESSION_SILENT)
            __atomic_fetch_and(&trace_writer__session(writer)->flags, ~HEURT_SESSION_SILENT,
                               __ATOMIC_SEQ_CST);
        if (set[1].revents & POLLIN && planner__answer(planner, writer, &error) < 0)
            say("%s", error.text);
    }
}

struct answering {
    struct planner *planner;
    struct trace_writer *writer;
};

/* Processes ask while they begin. */
static void answer_for(void *context, int ms)
{
    const struct answering *answering = context;
    struct error error;
    struct pollfd set = {.fd = answering->planner->fd, .events = POLLIN};
    if (poll(&set, 1, ms) > 0 && planner__answer(answering->planner, answering->writer, &error) < 0)
        say("%s", error.text);
}

/* Where processes of the program go on without it, they are recorded until they end, or whoever
 * records has enough. False: none do. */
static bool follow(const struct recording *recording, const char *program,
                   struct attendants *attendants, struct trace_writer *writer, struct watch *watch)
{
    struct background background;
    struct answering answering = {&attendants->planner, writer};
    char number[24];
    /* A child that did not run yet has no number. */
    bool is_alone =
        __atomic_load_n(&trace_writer__session(writer)->next_process, __ATOMIC_RELAXED) < 2;
    if (!background__begin(program, recording->directory, is_alone, answer_for, &answering,
                           &background))
        return false;
    progress__end(&watch->progress);
    say("%s went into the background, %zu process%s on; Ctrl-C ends the recording",
        recording->command[0], background.processes, background.processes == 1 ? " goes" : "es go");
    serve(-1, &background, attendants, writer, watch);
    background__end();
    snprintf(number, sizeof number, "%zu", background.processes);
    if (background.processes)
        trace_writer__meta(writer, "went_on", number);
    return true;
}

/* ---- afterwards ------------------------------------------------------------------------------ */

static void say_what_was_lost(const struct recording *recording, const struct trace *trace,
                              uint64_t bytes)
{
    uint64_t lost = trace__events_lost(trace);
    const char *went_on = trace__meta(trace, "went_on");
    if (went_on)
        say("the recording has ended; %s process%s on", went_on,
            strcmp(went_on, "1") ? "es go" : " goes");
    else if (lost)
        say("%llu events were lost: %s", (unsigned long long)lost,
            losses__reason(trace, bytes, recording->max_size_bytes));
}

static void say_what_was_recorded(const struct recording *recording, size_t threads, uint64_t bytes)
{
    if (!recording->quiet && !recording->and_report)
        say("recorded %zu thread%s into %s (%.1f MB); heurt report%s%s shows it", threads,
            threads == 1 ? "" : "s", recording->directory, (double)bytes / 1e6,
            strcmp(recording->directory, DEFAULT_TRACE) ? " -i " : "",
            strcmp(recording->directory, DEFAULT_TRACE) ? recording->directory : "");
}

static uint64_t size_of_trace(const char *directory)
{
    char *path = memory__format("%s/" HEURT_EVENTS_FILE, directory);
    struct stat status = {0};
    (void)!stat(path, &status);
    free(path);
    return (uint64_t)status.st_size;
}

static void say_that_nothing_was_recorded(const struct recording *recording, bool began)
{
    rlim_t space = limits__of_program(RLIMIT_AS);
    if (space < HEURT_SPACE_MIN)
        say("nothing was recorded: the program may have %llu MB of address space (ulimit -v), and "
            "needs all of it; recording takes %llu MB or more",
            (unsigned long long)space >> 20, HEURT_SPACE_MIN >> 20);
    else if (began)
        say("nothing was recorded: no room was left for the trace %s (disk full?)",
            recording->directory);
    else
        say("nothing was recorded: heurt's runtime did not get into %s (does it clear its "
            "environment, or start a program that cannot be recorded? heurt check -- %s tells)",
            recording->command[0], recording->command[0]);
}

static bool is_packed(const struct recording *recording)
{
    return !recording->no_pack && !recording->aggregate;
}

/* Symbols first: they are what a trace cannot be read without on another machine. */
static int complete(const struct recording *recording, const struct trace *trace,
                    struct attendants *attendants, struct error *error)
{
    if (tracepoints__complete(attendants->tracepoints, trace, recording->directory, error) < 0)
        say("%s", error->text);
    int code = trace_names__keep(trace, recording->directory, error);
    if (is_packed(recording))
        packing__run(recording->directory, attendants->ahead, recording->quiet);
    return code;
}

static int conclude(const struct recording *recording, bool expected, struct attendants *attendants,
                    struct error *error)
{
    struct trace *trace = NULL;
    if (access(recording->directory, F_OK) != 0 && errno == ENOENT)
        return error__set(error, -ENOENT,
                          "the trace %s was removed or moved away while the program ran; what was "
                          "recorded is lost",
                          recording->directory);
    int code = trace__open(recording->directory, &trace, error);
    if (code < 0)
        return code;
    size_t threads = trace__threads(trace)->count;
    bool nothing = expected && (threads == 0 || trace__processes(trace)->count == 0);
    if (nothing)
        say_that_nothing_was_recorded(recording, trace__session(trace)->next_process > 0);
    else
        say_what_was_lost(recording, trace, size_of_trace(recording->directory));
    code = complete(recording, trace, attendants, error);
    trace__close(trace);
    if (!nothing)
        say_what_was_recorded(recording, threads, size_of_trace(recording->directory));
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Runs the command under the trace. Its end is in *wait_status, unless the result is an exit
 * status of our own (> 0). */
static int run_command(const struct recording *recording, const struct binary *binary,
                       const char *library, struct attendants *attendants,
                       struct trace_writer *writer, int *wait_status)
{
    struct launch launch = LAUNCH_INIT;
    struct thread_events events = {{-1, -1}};
    struct error error;
    if (!recording->no_kernel) /* a refusal is noted by those who need them */
        thread_events__hold(&events);
    char *trace = realpath(recording->directory, NULL);
    char **environment =
        binary->is_privileged
            ? NULL /* its own: the loader would not let the library in */
            : environment__make(library, binary, trace ? trace : recording->directory);
    int code = launch__start(recording->command, environment, &launch, &error);
    int status = code < 0 ? EXIT_HEURT : 0;
    if (code == 0 && attendants->automatic)
        automatic__attach(attendants->automatic, launch.pid);
    struct usage_before before = usage__begin();
    struct kernel_log *kernel_log = NULL;
    if (code == 0 && !recording->no_kernel && !recording->aggregate)
        kernel_log = kernel_log__start(launch.pid, writer, attendants->stops);
    if (code == 0)
        attendants->tracepoints = tracepoints__attach(launch.pid, writer);
    if (code == 0 && (code = launch__go(&launch, &error)) < 0)
        status = launch__status_of_failure(code);
    if (code == 0) {
        if (is_packed(recording))
            attendants->ahead = pack_ahead__start(recording->directory);
        struct watch watch = watch__start(recording->quiet, recording->max_size_bytes);
        serve(launch.end_fd, NULL, attendants, writer, &watch);
        code = launch__wait(&launch, wait_status, &error);
        status = code < 0 ? EXIT_HEURT : 0;
        usage__keep(&before, &launch.usage, writer);
        if (status == 0 && WIFEXITED(*wait_status) && WEXITSTATUS(*wait_status) == 0 &&
            follow(recording, binary->path, attendants, writer, &watch))
            usage__keep_of_background(&before, writer);
        progress__end(&watch.progress);
    }
    kernel_log__stop(kernel_log);
    if (code < 0)
        say("%s", error.text);
    thread_events__release(&events);
    environment__free(environment);
    free(trace);
    return status;
}

/* Where there can be no socket, the program is recorded without what has to be asked for. */
static void listen_to_program(const struct recording *recording, struct planner *planner,
                              struct trace_writer *writer)
{
    struct error error;
    if (planner__open(planner, recording->directory, &recording->request, &error) < 0)
        say("%s: functions are not instrumented at the program's start", error.text);
    else
        __atomic_fetch_or(&trace_writer__session(writer)->flags,
                          HEURT_SESSION_CALLS | (has_request(recording) ? HEURT_SESSION_PLANS : 0),
                          __ATOMIC_SEQ_CST);
}

/* The result is an exit status of ours, or 0 and the command's end in *wait_status. */
static int record(struct recording *recording, const struct binary *binary, int *wait_status)
{
    struct attendants attendants = {.planner = {.fd = -1}};
    struct planner *planner = &attendants.planner;
    struct trace_writer *writer = NULL;
    struct error error, why;
    char *library = NULL;
    bool recordable = warn_about_binary(recording->command[0], binary, &why);
    bool chooses = recordable && is_automatic(recording);
    cut_file__is_survived();
    recording->instructions = recording->instructions && can_count_instructions(recording);
    int code = runtime__find(&library, &error);
    if (code == 0)
        code = create_trace(recording, &writer, &error);
    if (code < 0) {
        free(library);
        return failed(&error);
    }
    session__name_program(writer, binary->path);
    planner->library = library;
    if (chooses || has_request(recording))
        listen_to_program(recording, planner, writer);
    if (binary->is_go)
        trace_writer__meta(writer, "runtime", "(go)");
    if (!recordable)
        trace_writer__meta(writer, "why_nothing", why.text);
    enum heurt_clock clock = trace_writer__session(writer)->clock;
    bool patches = chooses || (has_request(recording) && overhead_permille(recording));
    if (patches || (recordable && !recording->no_kernel))
        attendants.automatic = automatic__new(
            patches ? recording->directory : NULL, &recording->request, planner, writer,
            chooses ? recording->choose_after_ns : 0, !recording->no_loops, say);
    if (attendants.automatic) {
        attendants.stops =
            stop_log__new(clock == HEURT_CLOCK_TSC ? CLOCK_MONOTONIC_RAW : CLOCK_MONOTONIC);
        automatic__tell_stops(attendants.automatic, attendants.stops);
    }
    int status = run_command(recording, binary, library, &attendants, writer, wait_status);
    planner__close(planner);
    planner__finish(planner, writer, say);
    if (attendants.automatic && !status)
        automatic__conclude(attendants.automatic, recording->command[0], recording->quiet);
    automatic__free(attendants.automatic);
    stop_log__free(attendants.stops);
    tracepoints__stop(attendants.tracepoints, writer);
    free(library);
    code = trace_writer__finish(writer, *wait_status, session_clock__pair(clock), &error);
    if (code == 0 && !status)
        code = conclude(recording, recordable, &attendants, &error);
    pack_ahead__free(attendants.ahead);
    tracepoints__free(attendants.tracepoints);
    if (status)
        return status;
    if (code < 0)
        say("%s", error.text);
    else if (recording->and_report)
        report__show_summary(recording->directory, recording->report);
    return 0;
}

static void free_recording(struct recording *recording)
{
    struct plan_request *request = &recording->request;
    VEC_EACH (text, &request->functions, char *)
        free(*text);
    VEC_EACH (text, &request->modules, char *)
        free(*text);
    VEC_EACH (arguments, &request->arguments, struct plan_arguments) {
        free(arguments->function);
        free(arguments->names);
    }
    vec__free(&request->functions);
    vec__free(&request->modules);
    vec__free(&request->arguments);
    free(request->cache);
    free(recording->other_directory);
    if (recording->report)
        fclose(recording->report);
}

/* Before the program runs: what could fail, fails now. 0, or the exit status. */
static int prepare(struct recording *recording)
{
    if (recording->report_path && !(recording->report = fopen(recording->report_path, "we"))) {
        say("cannot write the report to %s: %s", recording->report_path, strerror(errno));
        return EXIT_HEURT;
    }
    return recording->hot ? hot__functions(recording->command, &recording->request.functions) : 0;
}

struct set_to_record {
    struct recording *recording;
    const struct binary *binary;
};

/* All that one run needs is set. Returns the exit status, or does not when a signal ended it. */
static int record_once(struct recording *recording, const struct binary *binary)
{
    int wait_status = 0, status = record(recording, binary, &wait_status);
    return status ? status : launch__exit_like(wait_status);
}

/* Of a set, in a process of its own. */
static int record_into(void *subject, const char *directory)
{
    struct set_to_record *set = subject;
    set->recording->directory = directory;
    return record_once(set->recording, set->binary);
}

static int run_recording(struct recording *recording)
{
    struct binary binary;
    struct error error;
    int code = binary__inspect(recording->command[0], &binary, &error);
    if (code < 0) {
        say("%s", error.text);
        return launch__status_of_failure(code);
    }
    int status = prepare(recording);
    if (status == 0)
        status =
            recording->repeat
                ? repeat__run(recording->directory, recording->repeat, record_into,
                              &(struct set_to_record){recording, &binary}, &recording->wait_status)
                : record(recording, &binary, &recording->wait_status);
    binary__free(&binary);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    standard_descriptors__reserve();
    struct recording recording = {
        .directory = DEFAULT_TRACE,
        .request = {VEC_OF(char *), VEC_OF(char *), VEC_OF(struct plan_arguments),
                    cache__directory("plans")},
        .stack_every = STACK_EVERY_DEFAULT,
        .stack_bytes = STACK_BYTES_DEFAULT,
        .choose_after_ns = CHOICE_AFTER_NS,
        .patience_ms = PATIENCE_MS,
    };
    int status = parse(self, argc, argv, &recording);
    if (status == 0)
        status = run_recording(&recording);
    int wait_status = recording.wait_status;
    free_recording(&recording);
    return status ? status : launch__exit_like(wait_status);
}

const struct command command_record = {
    .name = "record",
    .summary = "record a program: where its threads wait for each other",
    .rows = option_rows,
    .operands = "[--] PROGRAM [ARG]…",
    .runs_a_program = true,
    .run = run};
