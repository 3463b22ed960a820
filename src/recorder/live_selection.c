#include "recorder/live_selection.h"

#include "base/memory.h"
#include "recorder/live_patch.h"
#include "recorder/selection.h"

#include <stdlib.h>
#include <time.h>

enum { REST_MS = 1000, LOOP_PERCENT = 2 };

struct automatic {
    struct plan_request *request;
    struct planner *planner;
    struct trace_writer *writer;
    void (*say)(const char *format, ...);
    uint64_t after_ns;
    uint64_t started_ns;
    struct choice *choice; /* NULL: nothing can be sampled */
    struct live *live;     /* NULL: nothing can be sampled */
    bool follows;          /* functions that are entered once, into their loops */
    bool has_chosen;
    bool told; /* of the trouble */
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct automatic *automatic__new(const char *directory, struct plan_request *request,
                                 struct planner *planner, struct trace_writer *writer,
                                 uint64_t after_ns, bool follows,
                                 void (*say)(const char *format, ...))
{
    struct automatic *automatic = memory__zeroed(1, sizeof *automatic);
    automatic->request = request;
    automatic->planner = planner;
    automatic->writer = writer;
    automatic->after_ns = after_ns;
    automatic->follows = follows;
    automatic->say = say;
    automatic->live = live__new(directory, planner, writer);
    planner->remembers = true;
    return automatic;
}

void automatic__free(struct automatic *automatic)
{
    if (!automatic)
        return;
    choice__close(automatic->choice);
    live__free(automatic->live);
    free(automatic);
}

void automatic__attach(struct automatic *automatic, pid_t pid)
{
    struct error error;
    automatic->started_ns = now_ns();
    if (automatic->after_ns &&
        choice__open(pid, automatic->after_ns, &automatic->choice, &error) < 0) {
        automatic->say("only the calls that heurt knows are recorded: %s", error.text);
        live__free(automatic->live);
        automatic->live = NULL;
        return;
    }
    __atomic_fetch_or(&trace_writer__session(automatic->writer)->flags, HEURT_SESSION_LIVE,
                      __ATOMIC_SEQ_CST);
}

static void tell_the_trace(struct automatic *automatic, const struct chosen *chosen)
{
    char *text = memory__format(
        "%zu function%s chosen by heurt %.2f s after the start, after %.2f s of CPU time: %s with "
        "at "
        "least %.0f %% of the %llu samples in the program's own code and libraries",
        chosen->functions.count, chosen->functions.count == 1 ? " was" : "s were",
        (double)(now_ns() - automatic->started_ns) / 1e9, (double)chosen->sampled_ns / 1e9,
        chosen->functions.count == 1 ? "the one" : "those", CHOICE_PERCENT,
        (unsigned long long)chosen->samples);
    trace_writer__meta(automatic->writer, "choice", text);
    free(text);
}

static void choose(struct automatic *automatic)
{
    struct chosen chosen = choice__make(automatic->choice);
    tell_the_trace(automatic, &chosen);
    VEC_EACH (function, &chosen.functions, const struct chosen_function) {
        char *pattern = function->pattern ? memory__text(function->pattern) : NULL;
        if (pattern)
            vec__push(&automatic->request->functions, &pattern);
        else
            trace_writer__refuse(automatic->writer, HEURT_NO_SERIAL, function->name, function->path,
                                 function->reason);
    }
    automatic->has_chosen = true;
    automatic->planner->is_chosen = true;
    if (automatic->request->functions.count) {
        live__start(automatic->live);
        if (automatic->follows)
            live__follow_inwards(automatic->live, choice__places(automatic->choice),
                                 chosen.sampled_ns * LOOP_PERCENT / 100);
    }
    chosen__free(&chosen);
    choice__rest(automatic->choice);
}

int automatic__look(struct automatic *automatic)
{
    if (!automatic->live)
        return REST_MS;
    if (automatic->choice && !automatic->has_chosen && choice__look(automatic->choice))
        choose(automatic);
    int wait_ms = live__look(automatic->live);
    if (live__trouble(automatic->live) && !automatic->told) {
        automatic->told = true;
        automatic->say("functions are not recorded in each process: %s",
                       live__trouble(automatic->live));
    }
    return wait_ms;
}

void automatic__conclude(struct automatic *automatic, const char *program, bool quiet)
{
    if (automatic->live && automatic->after_ns && !automatic->has_chosen && !quiet)
        automatic->say(
            "%s ended before its busy functions were known, so that only known calls are recorded; "
            "for its functions: heurt hot CMD | heurt record -F - CMD",
            program);
}
