#include "cmd/record_options.h"

#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/triggers.h"
#include "cmd/values.h"
#include "recorder/function_list.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STACK_BYTES_MAX 8192
#define REPEAT_MOST 1000
#define OFFSET_MOST_MS 10000
#define OFFSET_MOST_PPM 1000
#define RING_LEAST (4u << 20)
#define KEEP_MOST 1000000

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

/* "10s", "500ms", "2m", "1h"; a bare number is seconds. */
static bool read_time(const char *text, void *ns)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}};
    const char *end = "";
    double number = 0;
    if (!decimal__parse(text, &end, &number))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        double seconds = number * units[i].seconds;
        if (strcmp(end, units[i].unit) != 0 || !(seconds >= 0.001 && seconds <= 1e7))
            continue;
        *(uint64_t *)ns = (uint64_t)(seconds * 1e9);
        return true;
    }
    return false;
}

static bool read_patience(const char *text, void *ms)
{
    double seconds;
    if (!decimal__parse(text, NULL, &seconds) || !(seconds >= 0.01 && seconds <= 3600))
        return false;
    *(uint32_t *)ms = (uint32_t)(seconds * 1e3);
    return true;
}

/* "500:401a30,401b00": thousandths, and return addresses in base 16. */
static bool read_holds(const char *text, void *member)
{
    struct longer_holds *holds = member;
    char *end;
    *holds = (struct longer_holds){(uint32_t)strtoul(text, &end, 10), {0}};
    for (size_t i = 0; end != text && *end == (i ? ',' : ':'); i++) {
        text = end + 1;
        if (i < HEURT_HOLD_SITES)
            holds->sites[i] = strtoull(text, &end, 16);
        else
            return false;
    }
    return end != text && !*end && holds->sites[0];
}

/* "50:100,-50:-100": ms and ppm of two hosts more than that of rank 0. */
static bool read_offsets(const char *text, void *member)
{
    struct vec *offsets = member;
    for (char *end = NULL; end == NULL || *end == ','; text = end + 1) {
        struct clock_offset offset;
        offset.ms = strtod(text, &end);
        if (end == text || *end != ':')
            return false;
        text = end + 1;
        offset.ppm = strtod(text, &end);
        if (end == text || !(fabs(offset.ms) <= OFFSET_MOST_MS) ||
            !(fabs(offset.ppm) <= OFFSET_MOST_PPM))
            return false;
        vec__push(offsets, &offset);
        if (!*end)
            return true;
    }
    return false;
}

static bool read_signal(const char *text, void *number)
{
    *(int *)number = signal__parse(text);
    return *(int *)number;
}

static bool read_ring(const char *text, void *bytes)
{
    return size__parse(text, bytes) && *(uint64_t *)bytes >= RING_LEAST;
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

const struct option_row record_options[] = {
    {.letter = 'o',
     .name = "output",
     .value = "DIR",
     .help = "the trace; heurt.data, and an older one becomes heurt.data.old",
     TEXT(struct recording, directory)},
    {.letter = 'p',
     .name = "pid",
     .value = "PID",
     .help = "record this process, which runs already, instead of a program",
     .expected = "the number of a process",
     NUMBER(struct recording, pid, 1, INT32_MAX)},
    {.name = "duration",
     .value = "TIME",
     .help = "with -p: for so long (until it ends, or Ctrl-C)",
     .expected = "a time such as 10s, 500ms or 2m",
     VALUE(struct recording, duration_ns, read_time)},
    {.name = "after",
     .value = "TIME",
     .help = "with -p: begin so much later",
     .expected = "a time such as 10s, 500ms or 2m",
     VALUE(struct recording, after_ns, read_time)},
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
    {.name = "ring",
     .value = "SIZE",
     .help = "keep the last events alone, in so much room, as window DIR/1 at the end",
     .expected = "a size of 4M or more",
     VALUE(struct recording, ring_bytes, read_ring)},
    {.name = "trigger",
     .value = "WHEN",
     .help = "with --ring: keep them then: SIGUSR1, SIGUSR2, exit, crash,\n"
             "'lock wait > 10ms', 'class(FUNCTION).duration > 50ms'; repeatable",
     TEXTS(struct recording, triggers)},
    {.name = "segment",
     .value = "TIME",
     .help = "a window (DIR/1, DIR/2 …) of each so much time",
     .expected = "a time such as 10s, 500ms or 2m",
     VALUE(struct recording, segment_ns, read_time)},
    {.name = "keep",
     .value = "N",
     .help = "of windows the last so many (all)",
     .expected = "a number of windows",
     NUMBER(struct recording, keep, 1, KEEP_MOST)},
    {.name = "paused",
     .help = "begin stopped: heurt ctl DIR start, or a signal, starts it",
     FLAG(struct recording, is_paused)},
    {.name = "start-stop",
     .value = "SIGNAL",
     .help = "SIGUSR1 or SIGUSR2 to heurt stops the recording, and starts it again",
     .expected = "SIGUSR1, SIGUSR2 or SIGWINCH",
     VALUE(struct recording, toggle_signal, read_signal)},
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
    {.name = "no-memory",
     .help = "do not tell what memory is allocated and freed",
     FLAG(struct recording, no_memory)},
    {.name = "instructions",
     .help = "count the instructions of each call, where there is a PMU",
     FLAG(struct recording, instructions)},
    {.name = "local",
     .value = "DIR",
     .help = "of an MPI run: ranks' parts stay here, on each host, for heurt merge",
     TEXT(struct recording, local)},
    {.name = "clock-offset-test",
     .value = "MS:PPM,…",
     .help = "for tests: ranks of MPI in turn, as if on more hosts, of other clocks",
     .expected =
         "ms up to 10000 and ppm up to 1000 of each host but the first, as in 50:100,-50:-100",
     VALUE(struct recording, clock_offsets, read_offsets)},
    {.name = "report",
     .value = "FILE",
     .help = "then report, into this file: the program keeps standard output",
     TEXT(struct recording, report_path)},
    {.name = "and-report", FLAG(struct recording, and_report)},
    {.name = "output-to", .value = "FILE", TEXT(struct recording, program_output)},
    {.name = "hold-longer",
     .value = "PERMILLE:SITES",
     .expected = "thousandths, a colon, and return addresses",
     VALUE(struct recording, holds, read_holds)},
    {.name = "on-cpus",
     .value = "N",
     .expected = "a number of CPUs",
     NUMBER(struct recording, cpus, 1, UINT16_MAX)},
    {.letter = 'q',
     .name = "quiet",
     .help = "say nothing when all went well",
     FLAG(struct recording, quiet)},
    {0},
};
