#include "base/clock.h"
#include "base/memory.h"
#include "base/vec.h"
#include "cmd/attached_run.h"
#include "cmd/background.h"
#include "cmd/command.h"
#include "cmd/cut_file.h"
#include "cmd/hot.h"
#include "cmd/launch.h"
#include "cmd/limits.h"
#include "cmd/options.h"
#include "cmd/packing.h"
#include "cmd/rank_meeting.h"
#include "cmd/ranks.h"
#include "cmd/record_options.h"
#include "cmd/repeat.h"
#include "cmd/report.h"
#include "cmd/serving.h"
#include "cmd/values.h"
#include "cmd/watch.h"
#include "format/rank_parts.h"
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
#include "recorder/machine_file.h"
#include "recorder/planner.h"
#include "recorder/selection.h"
#include "recorder/session.h"
#include "recorder/session_clock.h"
#include "recorder/trace_names.h"
#include "recorder/tracepoints.h"
#include "recorder/usage.h"
#include "symbol/binary.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
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
#define PATIENCE_MS 2000

/* What cannot go with windows. */
static int check_windows(const struct command *self, const struct recording *recording)
{
    const char *option = recording->ring_bytes      ? "--ring"
                         : recording->segment_ns    ? "--segment"
                         : recording->is_paused     ? "--paused"
                         : recording->toggle_signal ? "--start-stop"
                                                    : NULL;
    if (recording->triggers.count && !recording->ring_bytes)
        return wrong_usage(self, "--trigger goes with --ring, which keeps what came before it");
    if (recording->keep && !option)
        return wrong_usage(self, "--keep goes with --ring, --segment, --paused and --start-stop");
    if (option && (recording->aggregate || recording->repeat || recording->local))
        return wrong_usage(self, "%s does not go with --aggregate, --repeat and --local", option);
    if (option && ranks__of_environment().count > 1)
        return wrong_usage(self, "%s: not of ranks of MPI", option);
    return 0;
}

static int parse(const struct command *self, int argc, char **argv, struct recording *recording)
{
    int status = options__read(self, argc, argv, recording);
    if (!status && (recording->pid || recording->duration_ns || recording->after_ns))
        status = attached_run__check_usage(self, recording, optind < argc ? argv[optind] : NULL);
    else if (!status && optind >= argc)
        return wrong_usage(self, "which program?");
    recording->command = argv + optind;
    recording->and_report |= recording->report_path != NULL;
    if (!status && recording->repeat && recording->and_report)
        return wrong_usage(self,
                           "--repeat is for heurt record, which shows no report: heurt compare "
                           "tells of several runs");
    if (!status)
        status = check_windows(self, recording);
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

/* A test's, of this rank; rank 0's host has the true clock. */
static struct clock_offset offset_of(const struct recording *recording)
{
    const struct vec *offsets = &recording->clock_offsets;
    size_t host = recording->ranks.rank % (offsets->count + 1);
    return recording->ranks.count > 1 && host ? *VEC_AT(offsets, struct clock_offset, host - 1)
                                              : (struct clock_offset){0, 0};
}

static int create_trace(struct recording *recording, struct trace_writer **writer,
                        struct error *error)
{
    struct clock_offset offset = offset_of(recording);
    struct heurt_session settings = {
        .clock = session_clock__choose(),
        .flags = (recording->aggregate ? HEURT_SESSION_AGGREGATE : 0) |
                 (recording->all_locks ? 0 : HEURT_SESSION_SAMPLE_LOCKS) |
                 (recording->overhead.told ? HEURT_SESSION_SAMPLE_SEMAPHORES : 0) |
                 (recording->no_kernel ? 0 : HEURT_SESSION_KERNEL) |
                 (recording->instructions ? HEURT_SESSION_INSTRUCTIONS : 0) |
                 (recording->no_memory ? 0 : HEURT_SESSION_OBJECTS) |
                 (recording->raw_stacks ? HEURT_SESSION_RAW_STACKS : 0) |
                 (recording->compares_clocks ? HEURT_SESSION_HOSTS : 0) |
                 (recording->ring_bytes ? HEURT_SESSION_RING : 0),
        .stack_every = recording->stack_bytes ? (uint32_t)recording->stack_every : 0,
        .stack_bytes = (uint32_t)recording->stack_bytes & ~7u,
        .overhead_permille = overhead_permille(recording),
        .later_ns = has_usual_budget(recording) && !recording->aggregate ? LATER_NS : 0,
        .limit_units = recording->max_size_bytes / HEURT_UNIT_BYTES,
        .next_process = part__first_serial(recording->ranks.rank),
        .next_thread = part__first_serial(recording->ranks.rank),
        .patience_ms = recording->patience_ms,
        .host = ranks__host(&offset),
        .hold_permille = recording->holds.permille,
        .cells_unit = recording->ring_bytes / HEURT_UNIT_BYTES,
    };
    memcpy(settings.hold_sites, recording->holds.sites, sizeof settings.hold_sites);
    settings.start = session_clock__pair(settings.clock);
    if (recording->redact_arguments)
        while (!settings.argument_key[0])
            if (getrandom(settings.argument_key, sizeof settings.argument_key, 0) < 0)
                return error__set(error, -errno,
                                  "--redact-arguments: there is no random number: %s",
                                  strerror(errno));
    int code = create_somewhere(recording, &settings, writer, error);
    if (code == 0 && recording->ranks.count > 1) {
        char count[16];
        snprintf(count, sizeof count, "%" PRIu32, recording->ranks.count);
        trace_writer__meta(*writer, "ranks", count);
    }
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
    if (!recordable && !ranks__of_environment().rank)
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

/* Why the program's address space is too small to record in; NULL: it is not. free() it. */
static char *why_no_space(void)
{
    rlim_t space = limits__of_program(RLIMIT_AS);
    if (space >= HEURT_SPACE_MIN)
        return NULL;
    return memory__format(
        "the program may have %llu MB of address space (ulimit -v), and needs all "
        "of it; recording takes %llu MB or more",
        (unsigned long long)space >> 20, HEURT_SPACE_MIN >> 20);
}

static void say_that_nothing_was_recorded(const struct recording *recording, bool began)
{
    char *no_space = why_no_space();
    if (no_space)
        say("nothing was recorded: %s", no_space);
    else if (began)
        say("nothing was recorded: no room was left for the trace %s (disk full?)",
            recording->directory);
    else
        say("nothing was recorded: heurt's runtime did not get into %s (does it clear its "
            "environment, or start a program that cannot be recorded? heurt check -- %s tells)",
            recording->command[0], recording->command[0]);
    free(no_space);
}

static bool is_packed(const struct recording *recording)
{
    return !recording->no_pack && !recording->aggregate;
}

/* While it is recorded; of windows that is done when they are made. */
static bool is_packed_ahead(const struct recording *recording, const struct attendants *attendants)
{
    return is_packed(recording) && !attendants->windows->is_numbered && recording->ranks.count == 1;
}

/* Symbols first: they are what a trace cannot be read without on another machine. */
static int complete(const struct recording *recording, const struct trace *trace,
                    struct attendants *attendants, struct error *error)
{
    if (!recording->window_directory &&
        tracepoints__complete(attendants->tracepoints, trace, recording->directory, error) < 0)
        say("%s", error->text);
    int code = trace_names__keep(trace, recording->directory, error);
    machine_file__keep(recording->directory);
    if (is_packed(recording))
        packing__run(recording->directory, attendants->ahead, recording->quiet);
    return code;
}

static int conclude(const struct recording *recording, bool expected, struct attendants *attendants,
                    struct error *error);

/* Where windows are what is left, the last one is what the recording came to. */
static int conclude_all(struct recording *recording, bool expected, struct attendants *attendants,
                        int wait_status, struct error *error)
{
    if (!attendants->windows->is_numbered)
        return conclude(recording, expected, attendants, error);
    int code = live_windows__conclude(attendants->windows, wait_status,
                                      &recording->window_directory, error);
    pack_ahead__free(attendants->ahead);
    attendants->ahead = NULL;
    recording->and_report &= recording->window_directory != NULL;
    if (code < 0 || !recording->window_directory)
        return code;
    recording->directory = recording->window_directory;
    return conclude(recording, expected, attendants, error);
}

/* A part of a trace is complete when it has its name; all else is done with the whole. */
static int conclude(const struct recording *recording, bool expected, struct attendants *attendants,
                    struct error *error)
{
    struct trace *trace = NULL;
    struct clock_offset offset = offset_of(recording);
    int code =
        offset.ms || offset.ppm
            ? trace_part__shift(recording->directory, (int64_t)(offset.ms * 1e6), offset.ppm, error)
            : 0;
    if (code < 0)
        return code;
    if (recording->is_part) {
        ranks__complete(&recording->ranks, recording->asked_directory);
        if (recording->tells_parts)
            say("the ranks' parts are in %.80s on each host: heurt merge -o heurt.data DIR… makes "
                "one trace of them",
                recording->local);
        return 0;
    }
    if (recording->ranks.count > 1)
        ranks__join(&recording->ranks, recording->asked_directory, recording->directory);
    if (access(recording->directory, F_OK) != 0 && errno == ENOENT)
        return error__set(error, -ENOENT,
                          "the trace %s was removed or moved away while the program ran; what was "
                          "recorded is lost",
                          recording->directory);
    code = trace__open(recording->directory, &trace, error);
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

/* 0, with -1 where the program keeps its own. */
static int open_output(const struct recording *recording, int *output, struct error *error)
{
    const char *path = recording->program_output;
    if (!path)
        return 0;
    *output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    return *output >= 0
               ? 0
               : error__set(error, -errno, "%s cannot be written: %s", path, strerror(errno));
}

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
    launch.cpus = (unsigned)recording->cpus;
    int code = open_output(recording, &launch.output, &error);
    code = code < 0 ? code : launch__start(recording->command, environment, &launch, &error);
    if (launch.output >= 0)
        close(launch.output);
    int status = code < 0 ? EXIT_HEURT : 0;
    if (code == 0 && attendants->automatic)
        automatic__attach(attendants->automatic, launch.pid);
    struct usage_before before = usage__begin();
    struct kernel_log *kernel_log = NULL;
    if (code == 0 && !recording->no_kernel && !recording->aggregate)
        kernel_log = kernel_log__start(launch.pid, writer, attendants->stops);
    if (code == 0 && recording->ranks.count == 1) /* they are of the whole machine */
        attendants->tracepoints = tracepoints__attach(launch.pid, writer);
    if (code == 0 && (code = launch__go(&launch, &error)) < 0)
        status = launch__status_of_failure(code);
    if (code == 0) {
        if (is_packed_ahead(recording, attendants))
            attendants->ahead = pack_ahead__start(recording->directory);
        struct watch watch = watch__start(recording->quiet, recording->max_size_bytes);
        attendants__serve(launch.end_fd, NULL, attendants, writer, &watch);
        code = launch__wait(&launch, wait_status, &error);
        status = code < 0 ? EXIT_HEURT : 0;
        usage__keep(&before, &launch.usage, writer);
        if (status == 0 && WIFEXITED(*wait_status) && WEXITSTATUS(*wait_status) == 0 &&
            attendants__follow(recording, binary->path, attendants, writer, &watch))
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
    struct live_windows windows;
    struct attendants attendants = {.planner = {.fd = -1}, .windows = &windows};
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
    if (code == 0 && (code = live_windows__begin(&windows, recording, writer, &error)) < 0) {
        live_windows__free(&windows);
        trace_writer__discard(writer);
    }
    if (code < 0) {
        free(library);
        return failed(&error);
    }
    session__name_program(writer, binary->path);
    machine_file__describe(writer);
    planner->library = library;
    if (chooses || has_request(recording))
        listen_to_program(recording, planner, writer);
    if (binary->is_go)
        trace_writer__meta(writer, "runtime", "(go)");
    char *no_space = recordable ? why_no_space() : NULL;
    if (!recordable || no_space)
        trace_writer__meta(writer, "why_nothing", no_space ? no_space : why.text);
    free(no_space);
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
    live_windows__end(&windows);
    free(library);
    code = trace_writer__finish(writer, *wait_status, session_clock__pair(clock), &error);
    if (code == 0 && !status)
        code = conclude_all(recording, recordable, &attendants, *wait_status, &error);
    pack_ahead__free(attendants.ahead);
    live_windows__free(&windows);
    tracepoints__free(attendants.tracepoints);
    if (status)
        return status;
    if (code < 0)
        say("%s", error.text);
    else if (recording->and_report && !recording->is_part)
        report__show_summary(recording->directory, recording->report);
    return 0;
}

/* ---- a process that runs already ---------------------------------------------------------------
 */

static void serve_attached(const struct recording *recording, struct attached_run *run,
                           struct attendants *attendants, struct trace_writer *writer)
{
    struct watch watch = watch__start(recording->quiet, recording->max_size_bytes);
    attendants->attach = &run->attach;
    if (is_packed_ahead(recording, attendants))
        attendants->ahead = pack_ahead__start(recording->directory);
    attendants__serve(run->end_fd, NULL, attendants, writer, &watch);
    progress__end(&watch.progress);
}

static int record_attached(struct recording *recording, struct attached_run *run,
                           struct error *error)
{
    struct live_windows windows;
    struct attendants attendants = {.planner = {.fd = -1}, .windows = &windows};
    struct trace_writer *writer = NULL;
    int code = create_trace(recording, &writer, error);
    if (code < 0)
        return code;
    code = live_windows__begin(&windows, recording, writer, error);
    if (code < 0) {
        live_windows__free(&windows);
        trace_writer__discard(writer);
        return code;
    }
    char *program = attached_run__program(run->attach.pid);
    session__name_program(writer, program);
    free(program);
    machine_file__describe(writer);
    enum heurt_clock clock = trace_writer__session(writer)->clock;
    code = attached_run__begin(recording, run, error);
    if (code < 0) {
        live_windows__free(&windows);
        trace_writer__discard(writer);
        return code;
    }
    serve_attached(recording, run, &attendants, writer);
    attached_run__end(run, writer, recording->quiet);
    live_windows__end(&windows);
    code = trace_writer__finish(writer, 0, session_clock__pair(clock), error);
    if (code == 0)
        code = conclude_all(recording, true, &attendants, 0, error);
    pack_ahead__free(attendants.ahead);
    live_windows__free(&windows);
    return code;
}

static int run_attached(struct recording *recording)
{
    struct attached_run run;
    struct error error;
    recording->ranks = (struct job_ranks){.count = 1};
    int status = EXIT_HEURT;
    if (recording->report_path && !(recording->report = fopen(recording->report_path, "we"))) {
        say("cannot write the report to %s: %s", recording->report_path, strerror(errno));
        return EXIT_HEURT;
    }
    cut_file__is_survived();
    int code = attached_run__prepare(recording, &run, &error);
    recording->command = code == 0 ? attached_run__words(run.attach.pid) : NULL;
    if (code == 0 && !run.is_over && recording->command)
        code = record_attached(recording, &run, &error);
    attached_run__free(&run);
    if (code < 0)
        say("%s", error.text);
    else if (run.is_over || !recording->command)
        say("nothing was recorded: %s", "it was ended before it began");
    else
        status = 0;
    if (status == 0 && recording->and_report)
        report__show_summary(recording->directory, recording->report);
    attached_run__free_words(recording->command);
    return status;
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
    vec__free(&recording->clock_offsets);
    free(request->cache);
    free(recording->other_directory);
    free(recording->local_directory);
    free(recording->window_directory);
    vec__free(&recording->triggers);
    if (recording->report)
        fclose(recording->report);
}

/* Each rank of a job but the first records a part, and leaves it to that one to talk. With --local
 * all do. */
static void take_part(struct recording *recording)
{
    recording->ranks = recording->repeat ? (struct job_ranks){.count = 1} : ranks__of_environment();
    recording->asked_directory = recording->directory;
    recording->is_part = recording->ranks.count > 1 && (recording->local || recording->ranks.rank);
    if (!recording->is_part)
        return;
    recording->tells_parts = recording->local && !recording->ranks.rank && !recording->quiet;
    if (recording->local) {
        const char *slash = strrchr(recording->directory, '/');
        recording->local_directory = memory__format(
            "%s/%s", recording->local, slash && slash[1] ? slash + 1 : recording->directory);
        recording->asked_directory = recording->directory = recording->local_directory;
        if (mkdir(recording->local, 0700) < 0 && errno != EEXIST)
            say("%.100s cannot be made: %s", recording->local, strerror(errno));
    }
    recording->other_directory =
        ranks__directory(&recording->ranks, recording->directory, recording->ranks.rank, false);
    recording->directory = recording->other_directory;
    recording->quiet = true;
    recording->report_path = NULL;
}

/* Clocks are compared by all ranks or none: what one alone sends over MPI, nobody would take. Who
 * says --local says it of all. */
static void meet_hosts(struct recording *recording)
{
    const struct job_ranks *ranks = &recording->ranks;
    if (ranks->count > 1 && (ranks->has_hosts || recording->clock_offsets.count))
        recording->compares_clocks =
            recording->local || rank_meeting__all_come(ranks, recording->asked_directory);
}

/* Before the program runs: what could fail, fails now. 0, or the exit status. */
static int prepare(struct recording *recording)
{
    take_part(recording);
    if (recording->local && !recording->is_part) {
        say("--local is for ranks of MPI: mpirun -n 4 heurt record --local DIR PROGRAM");
        return EXIT_USAGE;
    }
    meet_hosts(recording);
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
        .clock_offsets = VEC_OF(struct clock_offset),
        .triggers = VEC_OF(const char *),
    };
    int status = parse(self, argc, argv, &recording);
    if (status == 0)
        status = recording.pid ? run_attached(&recording) : run_recording(&recording);
    int wait_status = recording.wait_status;
    free_recording(&recording);
    return status ? status : launch__exit_like(wait_status);
}

const struct command command_record = {
    .name = "record",
    .summary = "record a program: where its threads wait for each other",
    .rows = record_options,
    .operands = "[--] PROGRAM [ARG]…",
    .runs_a_program = true,
    .run = run};
