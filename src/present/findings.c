#include "base/memory.h"
#include "present/shared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- why ------------------------------------------------------------------------------------- */

char *class__keys(const struct profile_class *class)
{
    char *text = memory__text("");
    VEC_EACH(key, &class->keys, struct profile_key)
    {
        char *longer =
            memory__format("%s%s%s=%" PRIu64, text, *text ? " " : "", key->name, key->value);
        free(text);
        text = longer;
    }
    return text;
}

/* "lock queue_lock": what a hooked call waits for. */
static char *subject_with_object(const struct report *report, const struct profile_class *class,
                                 const char *noun)
{
    const char *name = class__object_name(report, class);
    if (name)
        return memory__format("%s %s", noun, name);
    if (class->has_object)
        return memory__format("%s 0x%" PRIx64, noun, class->object);
    return memory__text(noun);
}

/* "fd 5, 512 B to 1.02 kB": a size class is the logarithm of a size to the base 2. */
static char *keys_in_words(const struct profile_class *class)
{
    char *text = memory__text("");
    VEC_EACH(key, &class->keys, struct profile_key)
    {
        char low[16], high[16], *longer;
        const char *comma = *text ? "," : "";
        if (strcmp(key->name, "size_class") == 0 && key->value < 63)
            longer = memory__format("%s%s %s to %s", text, comma,
                                    bytes__format(key->value ? 1ull << key->value : 0, low),
                                    bytes__format((2ull << key->value) - 1, high));
        else
            longer = memory__format("%s%s %s %" PRIu64, text, comma, key->name, key->value);
        free(text);
        text = longer;
    }
    return text;
}

static char *subject_with_call(const struct profile_class *class, const char *noun)
{
    char *keys = keys_in_words(class);
    char *text = memory__format("%s: %s%s", noun, class->function, keys);
    free(keys);
    return text;
}

static char *subject(const struct report *report, const struct profile_class *class)
{
    static const char *const nouns[CLASS_KINDS] = {
        [CLASS_LOCK] = "lock",           [CLASS_CONDITION] = "condition",
        [CLASS_BARRIER] = "barrier",     [CLASS_SEMAPHORE] = "semaphore",
        [CLASS_FUTEX] = "futex",         [CLASS_JOIN] = "end of a thread",
        [CLASS_DISK] = "disk",           [CLASS_NETWORK] = "network",
        [CLASS_PIPE] = "pipe, terminal", [CLASS_POLL] = "events",
        [CLASS_SLEEP] = "sleep",         [CLASS_YIELD] = "yields the CPU",
    };
    const char *noun = nouns[class->kind];
    if (class->kind == CLASS_LOCK && strstr(class->function, "spin"))
        noun = "spin lock";
    else if (class->kind == CLASS_LOCK && strstr(class->function, "rdlock"))
        noun = "read lock";
    else if (class->kind == CLASS_LOCK && strstr(class->function, "wrlock"))
        noun = "write lock";
    return class->kind <= CLASS_SEMAPHORE || class->kind == CLASS_FUTEX
               ? subject_with_object(report, class, noun)
               : subject_with_call(class, noun);
}

uint64_t class__held_ns(const struct report *report, const struct profile_class *class)
{
    uint64_t known_ns = 0;
    VEC_EACH(holder, &class->blames, struct profile_blame)
    known_ns += holder->wait_ns;
    return known_ns < class->sum_ns && profile__locks_are_sampled(report->profile) ? class->sum_ns
                                                                                   : known_ns;
}

/* ", held by write_batch queue.c:97": the holder behind most of the waiting. */
static char *top_holder(const struct report *report, const struct profile_class *class)
{
    if (class->blames.count == 0)
        return memory__text("");
    uint64_t all_ns = class__held_ns(report, class);
    const struct profile_blame *top = VEC_AT(&class->blames, struct profile_blame, 0);
    char unknown[32], share[16];
    struct place place = place__of_site(report, top->process, top->site, unknown);
    char *where = place__text(&place);
    double part = all_ns ? (double)top->wait_ns / (double)all_ns : 1;
    char *text = part >= 0.95 ? memory__format(", held by %s", where)
                              : memory__format(", held by %s (%s) and others", where,
                                               share__format(part, share));
    free(where);
    return text;
}

static enum reason largest(const struct profile_class *class, int except)
{
    enum reason found = REASON_UNEXPLAINED;
    int64_t most = INT64_MIN;
    for (int c = 0; c < REASONS; c++)
        if (c != except && class->why_ns[c] > most) {
            most = class->why_ns[c];
            found = (enum reason)c;
        }
    return found;
}

/* A function's excess: the one or two components behind it. */
static char *why_of_function(const struct profile_class *class)
{
    if (class->excess_ns == 0)
        return memory__text("nothing lost");
    enum reason first = largest(class, -1), second = largest(class, (int)first);
    double all = (double)class->excess_ns;
    double first_share = (double)class->why_ns[first] / all;
    double second_share = (double)class->why_ns[second] / all;
    if (second_share < 0.05)
        return first == REASON_UNEXPLAINED ? memory__text(reason__words(first))
                                           : memory__format("%s, inside it", reason__words(first));
    char first_text[16], second_text[16];
    return memory__format("%s %s, %s %s", reason__words(first),
                          share__format(first_share, first_text), reason__words(second),
                          share__format(second_share, second_text));
}

char *class__why(const struct report *report, const struct profile_class *class)
{
    if (!class__is_hooked(class))
        return why_of_function(class);
    char *what = subject(report, class);
    char *holder = top_holder(report, class);
    char *text = memory__format("%s%s", what, holder);
    free(what);
    free(holder);
    return text;
}

/* ---- warnings ---------------------------------------------------------------------------------
 */

static void warn(struct vec *warnings, char *sentence)
{
    vec__push(warnings, &sentence);
}

static void warn_about_the_end(const struct report *report, struct vec *warnings)
{
    const struct heurt_session *session = trace__session(report->trace);
    if (!session->finished)
        warn(warnings, memory__text("the recording was cut off (the recorder is still at work or "
                                    "was killed): what came last may be missing"));
    else if (WIFSIGNALED(session->wait_status))
        warn(warnings, memory__format("the program was ended by signal %d (%s)",
                                      WTERMSIG(session->wait_status),
                                      strsignal(WTERMSIG(session->wait_status))));
}

static void warn_about_losses(const struct report *report, struct vec *warnings)
{
    const struct heurt_session *session = trace__session(report->trace);
    uint64_t lost = trace__events_lost(report->trace);
    uint64_t damaged = trace__damaged_chunks(report->trace);
    char number[32], size[16];
    uint64_t limit_bytes = session->limit_units * (uint64_t)HEURT_UNIT_BYTES;
    if (lost && session->next_unit > session->limit_units)
        warn(warnings,
             memory__format("%s events were dropped when the trace had reached its limit "
                            "of %s, so counts and times are too low: record with a "
                            "larger --max-size or fewer functions",
                            count__format(lost, number), bytes__format(limit_bytes, size)));
    else if (lost)
        warn(warnings, memory__format("%s events were lost, so counts and times are too low: a "
                                      "larger --max-size or fewer functions may help",
                                      count__format(lost, number)));
    if (damaged)
        warn(warnings, memory__format("%s part%s of the trace %s damaged or never written: what "
                                      "stood there is missing",
                                      count__format(damaged, number), damaged == 1 ? "" : "s",
                                      damaged == 1 ? "is" : "are"));
}

static void warn_of_notes(const struct report *report, struct vec *warnings)
{
    VEC_EACH(process, trace__processes(report->trace), struct trace_process)
    VEC_EACH(note, &process->notes, const char *)
    warn(warnings, memory__format("%s (pid %u): %s", *process->path ? process->path : "the program",
                                  process->pid, *note));
}

/* Functions whose unpatching the runtime asked for, and nobody granted it. */
static void warn_of_too_frequent(const struct report *report, struct vec *warnings)
{
    const struct heurt_session *session = trace__session(report->trace);
    for (size_t i = 0; i < HEURT_TOO_FREQUENT_SLOTS; i++) {
        uint64_t wish = session->too_frequent[i];
        VEC_EACH(process, trace__processes(report->trace), struct trace_process)
        {
            const struct trace_function *function =
                wish >> 32 == process->serial + 1ull
                    ? trace_process__function(process, (uint32_t)wish)
                    : NULL;
            if (function)
                warn(warnings,
                     memory__format("%s is called so often that even leaving out most of its calls "
                                    "costs more than --overhead %g%% allows: record the program "
                                    "without it",
                                    function->name, session->overhead_permille / 10.0));
        }
    }
}

struct vec report__warnings(const struct report *report)
{
    struct vec warnings = VEC_OF(char *);
    warn_about_the_end(report, &warnings);
    warn_about_losses(report, &warnings);
    warn_of_notes(report, &warnings);
    warn_of_too_frequent(report, &warnings);
    const char *const *sentences = NULL;
    size_t count = symbols__warnings(report->symbols, &sentences);
    for (size_t i = 0; i < count; i++)
        warn(&warnings, memory__text(sentences[i]));
    VEC_EACH(sentence, &report->profile->warnings, char *)
    warn(&warnings, memory__text(*sentence));
    return warnings;
}

void texts__free(struct vec *texts)
{
    VEC_EACH(text, texts, char *)
    free(*text);
    vec__free(texts);
}

/* ---- CPU time ----------------------------------------------------------------------------------
 */

uint64_t report__cpu_ns(const struct report *report, size_t *unknown)
{
    uint64_t sum = 0;
    *unknown = 0;
    VEC_EACH(thread, &report->profile->threads, struct profile_thread)
    {
        *unknown += thread->cpu_ns == UINT64_MAX;
        sum += thread->cpu_ns == UINT64_MAX ? 0 : thread->cpu_ns;
    }
    uint64_t of_command_ns = trace__session(report->trace)->cpu_ns;
    if (*unknown && of_command_ns) {
        *unknown = 0;
        return of_command_ns;
    }
    return sum;
}

uint64_t report__runnable_ns(const struct report *report, size_t *unknown)
{
    uint64_t sum = 0;
    *unknown = 0;
    VEC_EACH(thread, &report->profile->threads, struct profile_thread)
    {
        *unknown += thread->runnable_ns == UINT64_MAX;
        sum += thread->runnable_ns == UINT64_MAX ? 0 : thread->runnable_ns;
    }
    return sum;
}
