#include "cmd/serving.h"

#include "base/clock.h"
#include "cmd/background.h"
#include "cmd/command.h"
#include "format/rank_parts.h"
#include "recorder/attach.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

/* ---- while it runs --------------------------------------------------------------------------- */

/* How often the trace's next part is prepared: often while it grows, rarely while it does not. */
enum { PREPARE_LEAST_MS = 4, PREPARE_MOST_MS = 64 };

#define FOLLOW_NS 500000000u

/* Libraries that an entered process has loaded since. */
static void follow_modules(struct attach *attach, uint64_t *next_ns)
{
    uint64_t now_ns = clock__ns(CLOCK_MONOTONIC);
    if (!attach || now_ns < *next_ns)
        return;
    if (*next_ns)
        attach__follow(attach);
    *next_ns = now_ns + FOLLOW_NS;
}

void attendants__serve(int end_fd, struct background *background, struct attendants *attendants,
                       struct trace_writer *writer, struct watch *watch)
{
    struct planner *planner = &attendants->planner;
    struct automatic *automatic = attendants->automatic;
    struct live_windows *windows = attendants->windows;
    struct pollfd set[4] = {{.fd = end_fd, .events = POLLIN},
                            {.fd = planner->fd, .events = POLLIN},
                            {.fd = tracepoints__fd(attendants->tracepoints), .events = POLLIN},
                            {.fd = live_windows__fd(windows), .events = POLLIN}};
    struct error error;
    int wait_ms = PREPARE_LEAST_MS;
    uint64_t follow_ns = 0;
    live_windows__take_signals(windows);
    while (!(set[0].revents & (POLLIN | POLLHUP | POLLERR)) &&
           !(background && background__is_over(background))) {
        int look_ms = automatic ? automatic__look(automatic) : wait_ms;
        if (poll(set, 4, look_ms < wait_ms ? look_ms : wait_ms) < 0 && errno != EINTR)
            break;
        follow_modules(attendants->attach, &follow_ns);
        tracepoints__look(attendants->tracepoints);
        watch__look(watch, writer);
        bool is_busy = live_windows__look(windows);
        if (trace_writer__prepare(writer) || is_busy)
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

/* ---- the background ---------------------------------------------------------------------------
 */

bool attendants__follow(const struct recording *recording, const char *program,
                        struct attendants *attendants, struct trace_writer *writer,
                        struct watch *watch)
{
    struct background background;
    struct answering answering = {&attendants->planner, writer};
    char number[24];
    /* A child that did not run yet has no number. */
    bool is_alone =
        __atomic_load_n(&trace_writer__session(writer)->next_process, __ATOMIC_RELAXED) <
        part__first_serial(recording->ranks.rank) + 2;
    if (!background__begin(program, recording->directory, is_alone, answer_for, &answering,
                           &background))
        return false;
    progress__end(&watch->progress);
    say("%s went into the background, %zu process%s on; Ctrl-C ends the recording",
        recording->command[0], background.processes, background.processes == 1 ? " goes" : "es go");
    attendants__serve(-1, &background, attendants, writer, watch);
    background__end();
    snprintf(number, sizeof number, "%zu", background.processes);
    if (background.processes)
        trace_writer__meta(writer, "went_on", number);
    return true;
}
