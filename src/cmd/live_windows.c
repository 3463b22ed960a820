#include "cmd/live_windows.h"

#include "base/clock.h"
#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/packing.h"
#include "format/directory.h"
#include "format/reader.h"
#include "present/present.h"
#include "recorder/machine_file.h"
#include "recorder/session_clock.h"
#include "recorder/trace_names.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BEHIND_TRIGGER_NS 300000000u /* so much of what follows a trigger is in its window */
#define MAKERS_PRIORITY 10           /* nice(2): the program comes first */

/* A process that makes a window readable everywhere. */
struct window_maker {
    pid_t pid;
    unsigned number;
};

/* ---- signals ----------------------------------------------------------------------------------
 */

/* Written by the handler. */
static volatile sig_atomic_t trigger_came, toggle_came;
static int trigger_signal, toggle_signal;

static void take_signal(int number)
{
    if (number == trigger_signal)
        trigger_came = 1;
    if (number == toggle_signal)
        toggle_came = 1;
}

/* Without SA_RESTART: who waits for something looks at once. */
static void take(int number)
{
    const struct sigaction action = {.sa_handler = take_signal};
    if (number)
        sigaction(number, &action, NULL);
}

void live_windows__take_signals(const struct live_windows *windows)
{
    trigger_signal = windows->triggers.signal_number;
    toggle_signal = windows->recording->toggle_signal;
    take(trigger_signal);
    take(toggle_signal);
}

/* ---- one window -------------------------------------------------------------------------------
 */

static struct heurt_clock_pair now(const struct live_windows *windows)
{
    return session_clock__pair(trace_writer__session(windows->writer)->clock);
}

static struct heurt_clock_pair start_of(const struct live_windows *windows)
{
    return trace_writer__session(windows->writer)->start;
}

/* Names and all that makes it a trace that can be read anywhere. 0, or a negative errno. */
static int complete(const struct recording *recording, const char *directory, struct error *error)
{
    struct trace *trace;
    int code = trace__open(directory, &trace, error);
    if (code < 0)
        return code;
    code = trace_names__keep(trace, directory, error);
    trace__close(trace);
    machine_file__keep(directory);
    if (code == 0 && !recording->no_pack)
        packing__run(directory, NULL, true);
    return code;
}

static void answer(int client, bool is_done, const char *sentence)
{
    if (client >= 0)
        control__answer(client, is_done, sentence);
    else if (!is_done)
        say("%s", sentence);
}

static void complete_and_answer(const struct recording *recording, const char *directory,
                                const char *what, int client)
{
    struct error error;
    if (complete(recording, directory, &error) < 0) {
        answer(client, false, error.text);
        return;
    }
    char *sentence = memory__format("%s holds %s; heurt report -i %s", directory, what, directory);
    answer(client, true, sentence);
    if (client < 0 && !recording->quiet)
        say("%s", sentence);
    free(sentence);
}

static void forget_makers(struct live_windows *windows, int options)
{
    size_t kept = 0;
    VEC_EACH (maker, &windows->makers, struct window_maker) {
        pid_t pid;
        do
            pid = waitpid(maker->pid, NULL, options);
        while (pid < 0 && errno == EINTR);
        if (pid == 0)
            *VEC_AT(&windows->makers, struct window_maker, kept++) = *maker;
    }
    windows->makers.count = kept;
}

static bool is_being_made(const struct live_windows *windows, unsigned number)
{
    VEC_EACH (maker, &windows->makers, const struct window_maker)
        if (maker->number == number)
            return true;
    return false;
}

/* Those that are too old, but for those that are not yet whole. */
static void drop_oldest(const struct live_windows *windows)
{
    uint64_t keep = windows->recording->keep;
    for (unsigned number = windows->last; keep && number-- > 1;)
        if (windows->last - number >= keep && !is_being_made(windows, number))
            trace_directory__remove_window(windows->recording->directory, number);
}

static void complete_apart(struct live_windows *windows, const char *directory, const char *what,
                           int client)
{
    struct window_maker maker = {fork(), windows->last};
    if (maker.pid == 0) {
        setpriority(PRIO_PROCESS, 0, MAKERS_PRIORITY);
        complete_and_answer(windows->recording, directory, what, client);
        _exit(0);
    }
    if (maker.pid < 0)
        complete_and_answer(windows->recording, directory, what, client);
    else
        vec__push(&windows->makers, &maker);
    if (maker.pid > 0 && client >= 0)
        close(client);
}

/* Since when there can be one. */
static uint64_t first_tick(const struct live_windows *windows)
{
    uint64_t whole_tick = trace_writer__whole_tick(windows->writer);
    return whole_tick > windows->since_tick ? whole_tick : windows->since_tick;
}

/* Of what was recorded from from_tick on; why: NULL: somebody asked. client: a descriptor for
 * control__answer, which is closed, or -1. */
static void make_window(struct live_windows *windows, uint64_t from_tick, const char *why,
                        int client)
{
    char length[16];
    struct error error;
    struct heurt_clock_pair end = now(windows), start = start_of(windows);
    struct trace_window window = {from_tick, end.tick + 1, end};
    double rate = (double)(end.monotonic_ns - start.monotonic_ns) / (double)(end.tick - start.tick);
    double ns = (double)(end.tick - from_tick) * rate;
    char *directory = trace_directory__window(windows->recording->directory, windows->last + 1);
    if (trace_writer__window(windows->writer, &window, directory, &error) < 0) {
        answer(client, false, error.text);
    } else {
        windows->last++;
        char *what = memory__format("%s%s%s", duration__format((uint64_t)ns, length),
                                    why ? ": " : " until now", why ? why : "");
        complete_apart(windows, directory, what, client);
        free(what);
        drop_oldest(windows);
    }
    free(directory);
}

/* ---- stop and start ---------------------------------------------------------------------------
 */

static void start_recording(struct live_windows *windows)
{
    windows->since_tick = now(windows).tick;
    trace_writer__pause(windows->writer, false);
    windows->is_paused = false;
    windows->segment_ns = clock__ns(CLOCK_MONOTONIC) + windows->recording->segment_ns;
}

static void stop_recording(struct live_windows *windows, int client)
{
    trace_writer__pause(windows->writer, true);
    windows->is_paused = windows->is_numbered = true;
    make_window(windows, first_tick(windows), NULL, client);
}

static void toggle(struct live_windows *windows)
{
    toggle_came = 0;
    if (windows->is_paused)
        start_recording(windows);
    else
        stop_recording(windows, -1);
}

/* ---- requests ---------------------------------------------------------------------------------
 */

/* "snapshot", or "snapshot NS": the last ones. */
static void take_snapshot(struct live_windows *windows, const char *last, int client)
{
    uint64_t ns = strtoull(last, NULL, 10), from_tick = first_tick(windows);
    struct heurt_clock_pair end = now(windows), start = start_of(windows);
    if (windows->is_paused) {
        answer(client, false, "the recording is stopped: heurt ctl DIR start goes on with it");
        return;
    }
    uint64_t since_ns = end.monotonic_ns - start.monotonic_ns;
    double rate = (double)(end.tick - start.tick) / (double)since_ns;
    uint64_t last_tick = ns && ns < since_ns ? end.tick - (uint64_t)((double)ns * rate) : 0;
    make_window(windows, last_tick > from_tick ? last_tick : from_tick, NULL, client);
}

static void take_mark(struct live_windows *windows, const char *text, int client)
{
    uint64_t tick = now(windows).tick;
    if (trace_writer__mark(windows->writer, tick, text) < 0)
        answer(client, false, "the trace is full: the mark is not in it");
    else
        answer(client, true, "");
}

static void take_request(struct live_windows *windows, char *text, int client)
{
    char *rest = strchr(text, ' ');
    if (rest)
        *rest++ = 0;
    if (windows->recording->aggregate)
        answer(client, false, "the recording keeps no events (--aggregate): it cannot be cut");
    else if (strcmp(text, "mark") == 0 && rest)
        take_mark(windows, rest, client);
    else if (strcmp(text, "snapshot") == 0)
        take_snapshot(windows, rest ? rest : "", client);
    else if (strcmp(text, "stop") == 0 && windows->is_paused)
        answer(client, false, "the recording is stopped already");
    else if (strcmp(text, "stop") == 0)
        stop_recording(windows, client);
    else if (strcmp(text, "start") == 0 && !windows->is_paused)
        answer(client, false, "it is recorded already");
    else if (strcmp(text, "start") == 0) {
        start_recording(windows);
        answer(client, true, "");
    } else
        answer(client, false,
               "the recording does not know that request: is it of another version?");
}

/* ---- the look ---------------------------------------------------------------------------------
 */

static void look_at_segment(struct live_windows *windows)
{
    uint64_t segment_ns = windows->recording->segment_ns, now_ns = clock__ns(CLOCK_MONOTONIC);
    if (!segment_ns || windows->is_paused || now_ns < windows->segment_ns)
        return;
    uint64_t next_tick = now(windows).tick;
    make_window(windows, first_tick(windows), NULL, -1);
    windows->since_tick = next_tick;
    windows->segment_ns += segment_ns;
}

static void note_trigger(struct live_windows *windows, char *why)
{
    if (!why)
        return;
    if (windows->why || windows->is_paused) {
        free(why);
        return;
    }
    windows->why = why;
    windows->due_ns = clock__ns(CLOCK_MONOTONIC) + BEHIND_TRIGGER_NS;
}

static void make_triggered(struct live_windows *windows)
{
    make_window(windows, first_tick(windows), windows->why, -1);
    free(windows->why);
    windows->why = NULL;
}

static void look_at_triggers(struct live_windows *windows)
{
    if (trigger_came)
        note_trigger(windows, memory__text("the signal came"));
    trigger_came = 0;
    if (!windows->is_paused)
        note_trigger(windows, triggers__look(&windows->triggers, windows->writer, start_of(windows),
                                             now(windows)));
    if (windows->why && clock__ns(CLOCK_MONOTONIC) >= windows->due_ns)
        make_triggered(windows);
}

bool live_windows__look(struct live_windows *windows)
{
    char text[CONTROL_TEXT];
    bool is_busy = trace_writer__recycle(windows->writer);
    forget_makers(windows, WNOHANG);
    if (toggle_came)
        toggle(windows);
    look_at_segment(windows);
    look_at_triggers(windows);
    if (windows->control.fd >= 0)
        for (int client; (client = control__next(&windows->control, text)) >= 0;)
            take_request(windows, text, client);
    return is_busy;
}

int live_windows__fd(const struct live_windows *windows)
{
    return windows->control.fd;
}

/* ---- begin and end ----------------------------------------------------------------------------
 */

int live_windows__begin(struct live_windows *windows, const struct recording *recording,
                        struct trace_writer *writer, struct error *error)
{
    struct error refusal;
    *windows = (struct live_windows){
        .recording = recording,
        .writer = writer,
        .control = {.fd = -1},
        .makers = VEC_OF(struct window_maker),
        .is_numbered = recording->ring_bytes || recording->segment_ns || recording->is_paused ||
                       recording->toggle_signal,
        .since_tick = trace_writer__session(writer)->start.tick,
    };
    trigger_came = toggle_came = 0;
    int code = triggers__parse(&windows->triggers, &recording->triggers, error);
    if (code < 0)
        return code;
    /* A path that is too deep, or a file system without sockets, is no reason not to record. */
    if (control__open(&windows->control, recording->directory, &refusal) < 0 && !recording->quiet)
        say("%s", refusal.text);
    windows->segment_ns = clock__ns(CLOCK_MONOTONIC) + recording->segment_ns;
    windows->is_paused = recording->is_paused;
    if (recording->is_paused)
        trace_writer__pause(writer, true);
    return 0;
}

void live_windows__end(struct live_windows *windows)
{
    if (!windows->writer)
        return;
    control__close(&windows->control);
    windows->since_tick = first_tick(windows);
    windows->writer = NULL;
}

/* Whether what was recorded at the end is to be a window. */
static bool is_last_wanted(const struct live_windows *windows, int wait_status)
{
    const struct triggers *triggers = &windows->triggers;
    bool has_triggers = windows->recording->triggers.count;
    return !windows->is_paused &&
           (!has_triggers || windows->why || triggers->at_exit ||
            (triggers->at_crash && !(WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0)));
}

/* From the finished trace. */
static int make_last(const struct live_windows *windows, const char *directory, struct error *error)
{
    char *path = memory__format("%s/" HEURT_EVENTS_FILE, windows->recording->directory);
    struct trace_window window = {windows->since_tick, UINT64_MAX, {0, 0}};
    struct stat status = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    void *bytes = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &status) == 0 && (size_t)status.st_size >= HEURT_UNIT_BYTES)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    int code =
        bytes == MAP_FAILED
            ? error__set(error, -EIO, "the trace %s cannot be read again: %s", path,
                         strerror(errno))
            : trace_window__write(bytes, (size_t)status.st_size, bytes, &window, directory, error);
    if (bytes != MAP_FAILED)
        munmap(bytes, (size_t)status.st_size);
    if (fd >= 0)
        close(fd);
    free(path);
    return code;
}

static void say_what_there_is(const struct live_windows *windows)
{
    const char *directory = windows->recording->directory;
    if (windows->last)
        say("the recording has ended; heurt report -i %s shows its last window, %s/%u", directory,
            directory, windows->last);
    else
        say("nothing was kept in %s: no trigger came, or the recording was never started",
            directory);
}

int live_windows__conclude(struct live_windows *windows, int wait_status, char **directory,
                           struct error *error)
{
    const struct recording *recording = windows->recording;
    int code = 0;
    *directory = NULL;
    if (is_last_wanted(windows, wait_status)) {
        *directory = trace_directory__window(recording->directory, ++windows->last);
        code = make_last(windows, *directory, error);
    }
    forget_makers(windows, 0);
    drop_oldest(windows);
    if (code == 0)
        trace_directory__keep_windows(recording->directory);
    if (code == 0 && !*directory && !recording->quiet)
        say_what_there_is(windows);
    return code;
}

void live_windows__free(struct live_windows *windows)
{
    forget_makers(windows, 0);
    control__close(&windows->control);
    triggers__free(&windows->triggers);
    vec__free(&windows->makers);
    free(windows->why);
}
