/* What a program did with the CPUs, in sentences, and figures held against each other. */
#include "base/memory.h"
#include "base/text.h"
#include "present/shared.h"
#include "present/stat/stat_screens.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define AGREES_SHARE 0.005
#define AGREES_NS 1000000u /* what an exec takes before its program is told of */
#define SWITCH_MOST_US 50  /* no switch takes longer */
#define TOLD_FROM 0.05     /* of the threads' time */
#define OWN_TOLD_FROM 0.01

static uint64_t sum_of(const struct stat_view *view, size_t offset)
{
    uint64_t sum = 0;
    VEC_EACH (thread, &view->log->threads, struct service_thread)
        sum += *(const uint64_t *)((const char *)thread + offset);
    return sum;
}

uint64_t stat__voluntary(const struct stat_view *view)
{
    return sum_of(view, offsetof(struct service_thread, voluntary));
}

uint64_t stat__involuntary(const struct stat_view *view)
{
    return sum_of(view, offsetof(struct service_thread, involuntary));
}

uint64_t stat__migrations(const struct stat_view *view)
{
    return sum_of(view, offsetof(struct service_thread, migrations));
}

uint64_t stat__woken_ns(const struct stat_view *view)
{
    uint64_t sum = 0;
    bool is_known = false;
    VEC_EACH (thread, &view->log->threads, struct service_thread) {
        uint64_t told = thread->state_ns[SERVICE_WANTS];
        is_known = is_known || thread->delay_ns != UINT64_MAX;
        sum +=
            thread->delay_ns != UINT64_MAX && thread->delay_ns > told ? thread->delay_ns - told : 0;
    }
    return is_known ? sum : UINT64_MAX;
}

const char *stat_counter__name(enum stat_counter counter)
{
    static const char *const names[] = {"cycles", "instructions", "stalled_cycles",
                                        "last_level_references", "last_level_misses"};
    return names[counter];
}

uint64_t stat__minor_faults(const struct stat_view *view)
{
    return view->usage_minor != UINT64_MAX ? view->usage_minor : view->minor_faults;
}

uint64_t stat__major_faults(const struct stat_view *view)
{
    return view->usage_major != UINT64_MAX ? view->usage_major : view->major_faults;
}

/* ---- checks ---------------------------------------------------------------------------------- */

struct vec stat__checks(const struct stat_view *view)
{
    struct vec checks = VEC_OF(struct stat_check);
    uint64_t work = service_log__work_ns(view->log);
    const struct stat_check all[] = {
        {"CPU time", "switches", "task clock", work, view->task_clock_ns, true, true},
        {"CPU time", "switches", "getrusage", work, view->usage_ns, true, true},
        {"voluntary switches", "switches", "getrusage", stat__voluntary(view),
         view->usage_voluntary, false, false},
        {"involuntary switches", "switches", "getrusage", stat__involuntary(view),
         view->usage_involuntary, false, false},
        {"minor faults", "counted", "getrusage", view->minor_faults, view->usage_minor, false,
         false},
        {"major faults", "counted", "getrusage", view->major_faults, view->usage_major, false,
         false},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].records != UINT64_MAX && all[i].others != UINT64_MAX)
            vec__push(&checks, &all[i]);
    return checks;
}

double stat_check__difference(const struct stat_check *check)
{
    return check->others ? ((double)check->records - (double)check->others) / (double)check->others
                         : NAN;
}

bool stat_check__fails(const struct stat_check *check)
{
    uint64_t apart = check->records > check->others ? check->records - check->others
                                                    : check->others - check->records;
    return check->must_agree && apart > AGREES_NS &&
           (double)apart > AGREES_SHARE * (double)check->others;
}

/* ---- the sentence ---------------------------------------------------------------------------- */

struct vec stat__modelled_cpus(const struct stat_view *view)
{
    struct vec cpus = VEC_OF(uint32_t);
    size_t most = view->log->levels.count;
    for (uint32_t count = 1; count <= 1024; count *= 2) {
        vec__push(&cpus, &count);
        if (count + 1 >= most && count >= view->cpus)
            break;
    }
    return cpus;
}

static char *share_text(double share)
{
    char text[16];
    return memory__text(share__format(share, text));
}

static double part_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* "they waited 50 % of their time and wanted a CPU, had none, 12 %". NULL: they worked. */
static char *lost_text(const struct stat_view *view)
{
    uint64_t states[SERVICE_WANTS + 1] = {0}, lives = 0, woken = stat__woken_ns(view);
    VEC_EACH (thread, &view->log->threads, struct service_thread)
        for (int state = 0; state <= SERVICE_WANTS; state++) {
            states[state] += thread->state_ns[state];
            lives += thread->state_ns[state];
        }
    woken = woken == UINT64_MAX || woken > states[SERVICE_BLOCKED] ? 0 : woken;
    double waited = part_of(states[SERVICE_BLOCKED] - woken, lives),
           wanted = part_of(states[SERVICE_WANTS] + woken, lives);
    char *text = NULL;
    if (waited >= TOLD_FROM) {
        char *share = share_text(waited);
        text = memory__format("waited %s of their time", share);
        free(share);
    }
    if (wanted >= TOLD_FROM) {
        char *share = share_text(wanted);
        text = text__append(text, "%swanted a CPU and had none %s%s", text ? ", and " : "", share,
                            text ? "" : " of their time");
        free(share);
    }
    return text;
}

char *stat__sentence(const struct stat_view *view)
{
    const struct service_log *log = view->log;
    size_t threads = log->threads.count;
    double at_work = service_log__at_work(log);
    if (!threads || isnan(at_work))
        return memory__text("No thread had a CPU while it was looked at.");
    char *text =
        memory__format("Of %zu thread%s %.2f %s at work on the average while any was, on "
                       "%" PRIu32 " CPU%s",
                       threads, threads == 1 ? "" : "s", at_work, at_work < 1.005 ? "was" : "were",
                       view->cpus, view->cpus == 1 ? "" : "s");
    double idle = 1 - part_of(service_log__active_ns(log), log->end_ns - log->begin_ns);
    if (idle >= TOLD_FROM) {
        char *share = share_text(idle);
        text = text__append(text, "; none was %s of the time", share);
        free(share);
    }
    char *lost = lost_text(view);
    text = lost ? text__append(text, ". Threads %s.", lost)
                : text__append(text, ". They worked nearly all of their time.");
    free(lost);
    return text;
}

/* ---- notes ----------------------------------------------------------------------------------- */

static void note(struct vec *notes, char *text)
{
    vec__push(notes, &text);
}

/* The system counts to a thread what a switch takes, the records do not. */
static char *difference_text(const struct stat_view *view, const struct stat_check *check)
{
    uint64_t switches = stat__voluntary(view) + stat__involuntary(view);
    if (view->lost)
        return memory__text("records were lost");
    if (check->records > check->others)
        return memory__text("the machine's host took CPUs, or children outlived the program");
    if (!switches)
        return memory__text("what the exec takes is the system's count alone");
    double us = 1e-3 * (double)(check->others - check->records) / (double)switches;
    return us > SWITCH_MOST_US
               ? memory__text("why, is not known")
               : memory__format("%.1f us a switch, which the system counts to the thread", us);
}

static void note_check(const struct stat_view *view, const struct stat_check *check,
                       struct vec *notes)
{
    char one[16], other[16], *why = difference_text(view, check);
    note(notes, memory__format("The CPU time of the switches, %s, is not that of %s, %s "
                               "(%+.1f %%): %s.",
                               duration__format(check->records, one), check->other,
                               duration__format(check->others, other),
                               100 * stat_check__difference(check), why));
    free(why);
}

static void note_checks(const struct stat_view *view, struct vec *notes)
{
    struct vec checks = stat__checks(view);
    size_t times = 0, failing = 0;
    VEC_EACH (check, &checks, struct stat_check) {
        times += check->must_agree;
        failing += stat_check__fails(check);
        if (stat_check__fails(check))
            note_check(view, check, notes);
    }
    if (times && !failing)
        note(notes, memory__text("The CPU time agrees with what the system counts, within 0.5 % "
                                 "or 1 ms."));
    vec__free(&checks);
}

static void note_waits(const struct stat_view *view, struct vec *notes)
{
    char text[16];
    uint64_t woken = stat__woken_ns(view);
    if (woken == UINT64_MAX)
        note(notes, memory__text("Who was woken and had no CPU yet is among those that waited: the "
                                 "system does not count it here."));
    else
        note(notes,
             memory__format("Threads that were woken had no CPU for another %s in all (schedstat, "
                            "read while they lived): it is in the average of those that wanted "
                            "one, not in the table of activity.",
                            duration__format(woken, text)));
}

static void note_counters(const struct stat_view *view, struct vec *notes)
{
    const char *why = view->why_no_counter[STAT_CYCLES];
    if (why)
        note(notes,
             memory__format("Cycles, instructions and cache misses: not measured: %s.", why));
    note(notes, memory__text("Not looked at: whether threads that had a CPU were spinning "
                             "(heurt record, heurt report tell)."));
}

struct vec stat__notes(const struct stat_view *view)
{
    struct vec notes = VEC_OF(char *);
    double own = part_of(view->own_ns, view->log->end_ns - view->log->begin_ns);
    if (view->lost)
        note(&notes, memory__format("%" PRIu64 " records of switches were lost: times are not "
                                    "exact.",
                                    view->lost));
    note_checks(view, &notes);
    note_waits(view, &notes);
    note_counters(view, &notes);
    if (own >= OWN_TOLD_FROM)
        note(&notes, memory__format("heurt itself used %.1f %% of a CPU meanwhile.", 100 * own));
    return notes;
}
