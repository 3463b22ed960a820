#include "cmd/triggers.h"

#include "analysis/events/slow_spans.h"
#include "base/memory.h"
#include "cmd/condition.h"
#include "present/present.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOOK_NS 250000000u   /* from look to look */
#define MARGIN_NS 100000000u /* an event is written a little later than it happens */

int signal__parse(const char *text)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"WINCH", SIGWINCH}};
    text += strncmp(text, "SIG", 3) == 0 ? 3 : 0;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (strcmp(signals[i].name, text) == 0)
            return signals[i].number;
    return 0;
}

static int refuse(const char *text, struct error *error)
{
    return error__set(error, -EINVAL,
                      "--trigger: '%.80s' is none of SIGUSR1, SIGUSR2, exit, crash, "
                      "'lock wait > 10ms' and 'class(FUNCTION).duration > 50ms'",
                      text);
}

static int take_condition(struct triggers *triggers, const char *text, struct error *error)
{
    struct fail_condition condition;
    if (condition__parse(text, &condition, error) < 0)
        return refuse(text, error);
    bool is_class = strcmp(condition.quantity, "class") == 0 && condition.pattern &&
                    condition.field && strcmp(condition.field, "duration") == 0;
    bool is_event =
        !condition.pattern && !condition.field && slow_spans__has_event(condition.quantity);
    bool is_good = (is_class || is_event) && condition.is_more && !condition.has_sign &&
                   condition.unit == CONDITION_TIME && condition.limit > 0 &&
                   triggers->wishes.count < SLOW_WISHES;
    if (is_good) {
        char *name = memory__text(is_class ? condition.pattern : condition.quantity);
        struct slow_wish wish = {name, is_class, (uint64_t)condition.limit};
        vec__push(&triggers->texts, &name);
        vec__push(&triggers->wishes, &wish);
    }
    condition__free(&condition);
    return is_good ? 0 : refuse(text, error);
}

int triggers__parse(struct triggers *triggers, const struct vec *texts, struct error *error)
{
    int code = 0;
    *triggers = (struct triggers){.wishes = VEC_OF(struct slow_wish),
                                  .texts = VEC_OF(char *),
                                  .open = VEC_OF(struct open_wish)};
    VEC_EACH (text, texts, const char *) {
        int number = signal__parse(*text);
        if (number && triggers->signal_number)
            return error__set(error, -EINVAL, "--trigger: one signal is enough");
        if (number)
            triggers->signal_number = number;
        else if (strcmp(*text, "exit") == 0)
            triggers->at_exit = true;
        else if (strcmp(*text, "crash") == 0)
            triggers->at_crash = true;
        else
            code = take_condition(triggers, *text, error);
        if (code < 0)
            return code;
    }
    return 0;
}

void triggers__free(struct triggers *triggers)
{
    VEC_EACH (text, &triggers->texts, char *)
        free(*text);
    vec__free(&triggers->texts);
    vec__free(&triggers->wishes);
    vec__free(&triggers->open);
}

/* ---- what took too long -----------------------------------------------------------------------
 */

static char *describe(const struct triggers *triggers, const struct trace *trace,
                      const struct slow_span *span)
{
    char took[16], limit[16];
    const struct slow_wish *wish = VEC_AT(&triggers->wishes, struct slow_wish, span->wish);
    const struct trace_thread *thread = trace__thread_at(trace, span->thread);
    uint64_t ns = trace__ns(trace, span->end_tick - span->start_tick);
    return memory__format("%s took %s in thread %u (more than %s)", wish->name,
                          duration__format(ns, took), thread->tid,
                          duration__format(wish->least_ns, limit));
}

static char *find_in(struct triggers *triggers, const struct trace *trace, uint64_t until_tick)
{
    struct slow_wishes asked = {&triggers->wishes, triggers->seen_tick, until_tick,
                                &triggers->open};
    struct run run = run__of(trace, NULL);
    struct error error;
    char *what = NULL;
    run__ask(&run, &slow_spans_analysis, &asked);
    if (run__analyse(&run, &error) == 0) {
        const struct vec *spans = run__result(&run, &slow_spans_analysis);
        if (spans->count)
            what = describe(triggers, trace, spans->items);
    }
    run__free(&run);
    return what;
}

/* What the window's file holds. */
static char *find_in_file(struct triggers *triggers, int fd, uint64_t until_tick)
{
    struct error error;
    struct trace *trace = NULL;
    char *what = NULL;
    off_t bytes = lseek(fd, 0, SEEK_END);
    void *file = bytes > 0 ? mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (file == MAP_FAILED)
        return NULL;
    if (trace__open_memory(file, (size_t)bytes, &trace, &error) == 0)
        what = find_in(triggers, trace, until_tick);
    trace__close(trace);
    munmap(file, (size_t)bytes);
    return what;
}

char *triggers__look(struct triggers *triggers, const struct trace_writer *writer,
                     struct heurt_clock_pair start, struct heurt_clock_pair now)
{
    uint64_t since_ns = now.monotonic_ns - start.monotonic_ns;
    if (!triggers->wishes.count || now.monotonic_ns - triggers->last_look_ns < LOOK_NS ||
        since_ns < MARGIN_NS)
        return NULL;
    uint64_t margin = (uint64_t)((double)(now.tick - start.tick) / (double)since_ns * MARGIN_NS);
    uint64_t until_tick = now.tick - margin;
    struct trace_window window = {triggers->seen_tick, now.tick + 1, now};
    int fd = memfd_create("heurt window", MFD_CLOEXEC);
    char *what = NULL;
    if (fd >= 0 && trace_writer__window_file(writer, &window, fd) == 0)
        what = find_in_file(triggers, fd, until_tick);
    if (fd >= 0)
        close(fd);
    triggers->last_look_ns = now.monotonic_ns;
    triggers->seen_tick = until_tick;
    return what;
}
