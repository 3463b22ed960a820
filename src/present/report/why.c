/* Why a class loses time, in a few words. */
#include "base/memory.h"
#include "base/text.h"
#include "present/shared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BUSY_PART 20   /* of the wall time that a busy thread wants a CPU, at least */
#define OTHERS_PART 10 /* of the wall time, a tenth of a CPU */

#define DOING_FROM 0.25  /* share of the wait from which on it is said what the other did */
#define SECOND_FROM 0.05 /* share of the excess from which on the second reason is named */
#define ALL_FROM 0.95    /* what has this share is not divided further */

/* ---- what was waited for --------------------------------------------------------------------- */

/* What stands as the descriptor may be a queue of messages. */
static struct profile_key as_told(const struct profile_key *key)
{
    int32_t descriptor = (int32_t)key->value;
    return strcmp(key->name, "fd") == 0 && descriptor < -1
               ? (struct profile_key){"queue", (uint64_t)HEURT_QUEUE_OF(descriptor)}
               : *key;
}

char *class__keys(const struct class_definition *class)
{
    char *text = memory__text("");
    VEC_EACH (key, &class->keys, struct profile_key) {
        struct profile_key told = as_told(key);
        text = text__append(text, "%s%s=%" PRIu64, *text ? " " : "", told.name, told.value);
    }
    return text;
}

/* "lock queue_lock": what a hooked call waits for. */
static char *subject_with_object(const struct report *report, const struct profile_class *class,
                                 const char *noun)
{
    char *object = class__object_known_as(report, &class->what);
    char *text = memory__format("%s%s%s", noun, object ? " " : "", object ? object : "");
    free(object);
    return text;
}

/* "fd 5, 512 B to 1.02 kB": a size class is the logarithm of a size to the base 2. */
static char *keys_in_words(const struct profile_class *class)
{
    char *text = memory__text("");
    VEC_EACH (key, &class->what.keys, struct profile_key) {
        char low[16], high[16];
        const char *comma = *text ? "," : "";
        struct profile_key told = as_told(key);
        if (strcmp(key->name, "size_class") == 0 && key->value < 63)
            text = text__append(text, "%s %s to %s", comma,
                                bytes__format(key->value ? 1ull << key->value : 0, low),
                                bytes__format((2ull << key->value) - 1, high));
        else
            text = text__append(text, "%s %s %" PRIu64, comma, told.name, told.value);
    }
    return text;
}

static char *subject_with_call(const struct profile_class *class, const char *noun)
{
    char *keys = keys_in_words(class);
    char *text = memory__format("%s: %s%s", noun, class->what.at.function, keys);
    free(keys);
    return text;
}

static char *subject(const struct report *report, const struct profile_class *class)
{
    static const char *const nouns[CLASS_KINDS] = {
        [CLASS_LOCK] = "lock",
        [CLASS_CONDITION] = "condition",
        [CLASS_BARRIER] = "barrier",
        [CLASS_SEMAPHORE] = "semaphore",
        [CLASS_FUTEX] = "futex",
        [CLASS_JOIN] = "end of a thread",
        [CLASS_DISK] = "disk",
        [CLASS_NETWORK] = "network",
        [CLASS_PIPE] = "pipe, terminal",
        [CLASS_POLL] = "events",
        [CLASS_SLEEP] = "sleep",
        [CLASS_YIELD] = "polls",
        [CLASS_MEMORY_MAP] = "memory map",
        [CLASS_MESSAGE] = "message",
        [CLASS_MPI] = "MPI",
    };
    const char *noun = nouns[class->what.at.kind];
    if (class->what.at.kind == CLASS_FAULT)
        return memory__text("page faults at memory that it had touched before");
    if (class->what.at.kind == CLASS_LOCK && strstr(class->what.at.function, "spin"))
        noun = "spin lock";
    else if (class->what.at.kind == CLASS_LOCK && strstr(class->what.at.function, "rdlock"))
        noun = "read lock";
    else if (class->what.at.kind == CLASS_LOCK && strstr(class->what.at.function, "wrlock"))
        noun = "write lock";
    else if (class->what.at.kind == CLASS_LOCK && strcmp(class->what.at.function, "flockfile") == 0)
        noun = "lock of FILE";
    else if (class->what.at.kind == CLASS_LOCK && strcmp(class->what.at.function, "file lock") == 0)
        noun = "file lock";
    return class->what.at.kind <= CLASS_SEMAPHORE || class->what.at.kind == CLASS_FUTEX
               ? subject_with_object(report, class, noun)
               : subject_with_call(class, noun);
}

/* ---- who is to blame ------------------------------------------------------------------------- */

enum component blame__doing(const struct profile_blame *blame)
{
    unsigned most = COMPONENT_RUNNING;
    for (unsigned i = 0; i < COMPONENT_RUNNING; i++)
        if (blame->doing_ns[i] > 0 &&
            (most == COMPONENT_RUNNING || blame->doing_ns[i] > blame->doing_ns[most]))
            most = i;
    return (enum component)most;
}

char *blame__meanwhile(const struct report *report, const struct profile_blame *blame)
{
    bool has_kernel = profile__without_kernel(report->profile) == 0;
    uint64_t left[COMPONENTS];
    char *text = memory__text("");
    memcpy(left, blame->doing_ns, sizeof left);
    for (unsigned shown = 0; shown < COMPONENTS && blame->wait_ns; shown++) {
        unsigned most = 0;
        for (unsigned i = 1; i < COMPONENTS; i++)
            most = left[i] > left[most] ? i : most;
        double share = (double)left[most] / (double)blame->wait_ns;
        if (share < 0.05)
            break;
        char percent[16];
        text = text__append(text, "%s%s %s", *text ? ", " : "",
                            most == COMPONENT_RUNNING && !has_kernel
                                ? "worked or not known"
                                : doing__words((enum component)most),
                            share__format(share, percent));
        left[most] = 0;
    }
    return text;
}

/* ", which was preempted 80 %": nothing when it mostly worked. */
static char *doing_text(const struct profile_blame *blame)
{
    enum component doing = blame__doing(blame);
    if (doing == COMPONENT_RUNNING || blame->wait_ns == 0)
        return memory__text("");
    char text[16];
    double share = (double)blame->doing_ns[doing] / (double)blame->wait_ns;
    return share < DOING_FROM
               ? memory__text("")
               : memory__format(", which %s %s", doing__words(doing), share__format(share, text));
}

/* " (thread 4003, 71 %)", as far as there is one thread, and others have a share, too. */
static char *thread_and_share(const struct report *report, const struct profile_blame *blame,
                              double part)
{
    const struct vec *threads = trace__threads(report->trace);
    char share[16];
    share__format(part, share);
    bool known = blame->thread < threads->count;
    unsigned tid = known ? VEC_AT(threads, struct trace_thread, blame->thread)->tid : 0;
    if (part >= ALL_FROM)
        return known ? memory__format(" (thread %u)", tid) : memory__text("");
    return known ? memory__format(" (thread %u, %s)", tid, share) : memory__format(" (%s)", share);
}

static char *blamed(const struct report *report, enum class_kind kind,
                    const struct profile_blame *top, double part)
{
    char unknown[32], share[16];
    struct place place = place__of_site(report, top->process, top->site, unknown);
    char *where = place__text(&place), *doing = doing_text(top), *text;
    if (kind == CLASS_BARRIER) {
        char *thread = thread_and_share(report, top, part);
        text = memory__format(", last to arrive: %s%s%s", where, thread, doing);
        free(thread);
    } else {
        const char *verb = kind == CLASS_CONDITION   ? "signalled by"
                           : kind == CLASS_SEMAPHORE ? "posted by"
                           : kind == CLASS_FUTEX     ? "woken by"
                                                     : "held by";
        text = part >= ALL_FROM
                   ? memory__format(", %s %s%s", verb, where, doing)
                   : memory__format(", %s %s (%s)%s%s and others", verb, where,
                                    share__format(part, share), doing, *doing ? "," : "");
    }
    free(where);
    free(doing);
    return text;
}

/* ", held by write_batch queue.c:97, which was preempted 80 %": who is behind most of the waiting.
 */
static char *top_blame(const struct report *report, const struct profile_class *class)
{
    if (class->blames.count == 0)
        return memory__text("");
    uint64_t all_ns = profile_class__held_ns(report->profile, class);
    const struct profile_blame *top = VEC_AT(&class->blames, struct profile_blame, 0);
    double part = all_ns ? (double)top->wait_ns / (double)all_ns : 1;
    return blamed(report, class->what.at.kind, top, part);
}

/* ---- reasons --------------------------------------------------------------------------------- */

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

enum reason class__main_reason(const struct profile_class *class)
{
    return class->cause == REASON_UNEXPLAINED ? largest(class, -1) : class->cause;
}

const struct profile_evidence *class__evidence(const struct profile_class *class,
                                               enum reason reason)
{
    VEC_EACH (evidence, &class->evidence, struct profile_evidence)
        if (evidence->reason == reason)
            return evidence;
    return NULL;
}

size_t report__rank_of(const struct report *report, uint32_t number)
{
    for (size_t i = 0; i < report->profile->classes.count; i++)
        if (VEC_AT(&report->profile->classes, struct profile_class, i)->number == number)
            return i + 1;
    return 0;
}

static const struct profile_class *numbered(const struct vec *classes, uint32_t number)
{
    VEC_EACH (class, classes, struct profile_class)
        if (class->number == number)
            return class;
    return NULL;
}

char *evidence__other(const struct report *report, const struct profile_class *class,
                      const struct profile_evidence *evidence)
{
    char unknown[32];
    const struct profile_class *other = numbered(&report->profile->classes, evidence->other);
    other = other ? other : numbered(&report->profile->asides, evidence->other);
    if (!other)
        return memory__text("another class");
    if (other == class)
        return memory__text("itself");
    struct place place = place__of_class(report, &other->what, unknown);
    return class__name(report, other, &place);
}

/* Threads that wanted a CPU for more than a little of the run. */
static size_t busy_among(const struct report *report, const struct vec *threads)
{
    size_t count = 0;
    VEC_EACH (thread, threads, struct profile_thread) {
        uint64_t wanted_ns =
            thread->component_ns[COMPONENT_RUNNING] + thread->component_ns[COMPONENT_RUNNABLE];
        count += wanted_ns >= report->profile->wall_ns / BUSY_PART;
    }
    return count;
}

static size_t busy_threads(const struct report *report)
{
    return busy_among(report, &report->profile->threads) +
           busy_among(report, &report->profile->aside_threads);
}

/* Whether programs besides this one had so much of the CPUs that threads may have waited for them.
 * Of a recording that was cut off it is not known. */
static bool others_worked(const struct report *report)
{
    const struct heurt_session *session = trace__session(report->trace);
    return session->finished && session->others_ns != UINT64_MAX &&
           session->others_ns >= report->profile->wall_ns / OTHERS_PART;
}

/* "runnable 60 %: 8 busy threads, 4 CPUs"; share is "" or " 60 %". Where the program's own threads
 * are no more than the CPUs it was others who had these, if any worked; else it is the time from
 * being woken to running, which hand-overs take even on a machine of one's own. */
static char *runnable_phrase(const struct report *report, const char *share)
{
    const char *cpus = trace__meta(report->trace, "cpus");
    size_t threads = busy_threads(report);
    if (!cpus || !*cpus)
        return memory__format("runnable%s", share);
    char *counts = memory__format("%zu busy thread%s, %s CPU%s", threads, threads == 1 ? "" : "s",
                                  cpus, strcmp(cpus, "1") ? "s" : "");
    const char *who = threads > strtoul(cpus, NULL, 10) ? ""
                      : others_worked(report)           ? "other programs, "
                                                        : "from being woken to running, ";
    char *text = memory__format("runnable%s: %s%s", share, who, counts);
    free(counts);
    return text;
}

/* "slower while hist_add ran on another CPU (false sharing? r² 0.88)" */
static char *overlap_phrase(const struct report *report, const struct profile_class *class,
                            enum reason reason, const char *share, const struct style *style)
{
    const struct profile_evidence *evidence = class__evidence(class, reason);
    if (!evidence)
        return memory__format("%s%s", reason__words(reason), share);
    char *other = evidence__other(report, class, evidence);
    const char *squared = style->unicode ? "r²" : "r2", *comma = *share ? ", " : "";
    char *text =
        reason == REASON_OVERLAP
            ? memory__format("slower while %s ran on another CPU (%s%sfalse sharing? %s %.2f)",
                             other, share + (*share == ' '), comma, squared, evidence->explained)
            : memory__format("spins while %s is preempted (%s%s%s %.2f)", other,
                             share + (*share == ' '), comma, squared, evidence->explained);
    free(other);
    return text;
}

static char *workload_phrase(const struct profile_class *class, const char *share)
{
    const struct profile_evidence *evidence = class__evidence(class, REASON_WORKLOAD);
    if (!evidence || !evidence->argument)
        return memory__format("work varies%s", share);
    return memory__format("work varies with %s%s", evidence->argument, share);
}

static char *phrase(const struct report *report, const struct profile_class *class,
                    enum reason reason, const char *share, const struct style *style)
{
    if (reason == (enum reason)COMPONENT_RUNNABLE)
        return runnable_phrase(report, share);
    switch (reason) {
    case REASON_OVERLAP:
    case REASON_SPIN:
        return overlap_phrase(report, class, reason, share, style);
    case REASON_WORKLOAD:
        return workload_phrase(class, share);
    case REASON_UNEXPLAINED:
        return memory__format("not explained%s", share);
    default:
        return memory__format("%s%s", reason__words(reason), share);
    }
}

static double share_of(const struct profile_class *class, enum reason reason)
{
    return (double)class->why_ns[reason] / (double)class->excess_ns;
}

static bool is_wait(enum reason reason)
{
    return reason < (enum reason)COMPONENT_PAGE_FAULT ||
           reason == (enum reason)COMPONENT_OTHER_BLOCKED;
}

/* The one or two reasons behind an excess: the verdict's cause first. */
static char *reasons_text(const struct report *report, const struct profile_class *class,
                          const struct style *style)
{
    if (class->excess_ns == 0)
        return memory__text("nothing lost");
    enum reason first = class__main_reason(class);
    enum reason second = largest(class, (int)first);
    if (share_of(class, second) < SECOND_FROM) {
        char *text = phrase(report, class, first, "", style);
        if (!is_wait(first) || class__is_hooked(&class->what))
            return text;
        char *inside = memory__format("%s, inside it", text);
        free(text);
        return inside;
    }
    char first_text[16], second_text[16];
    char *share = memory__format(" %s", share__format(share_of(class, first), first_text));
    char *text = phrase(report, class, first, share, style);
    char *both = memory__format("%s, %s %s", text, reason__words(second),
                                share__format(share_of(class, second), second_text));
    free(share);
    free(text);
    return both;
}

char *class__why(const struct report *report, const struct profile_class *class,
                 const struct style *style)
{
    if (!class__is_hooked(&class->what))
        return reasons_text(report, class, style);
    char *what = subject(report, class), *blame = top_blame(report, class);
    char *reasons = NULL;
    /* A wait that mostly is not one: the lock was free again, but no CPU was. */
    if (class->excess_ns &&
        largest(class, -1) != (enum reason)class_kind__component(class->what.at.kind))
        reasons = reasons_text(report, class, style);
    char *text = reasons ? memory__format("%s%s; %s", what, blame, reasons)
                         : memory__format("%s%s", what, blame);
    free(what);
    free(blame);
    free(reasons);
    return text;
}
