/* How a screen of a report begins. */
#include "base/memory.h"
#include "base/text.h"
#include "present/mpi/mpi_screens.h"
#include "present/report/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define NUMBERED_MOST 4    /* threads: of more there is the count */
#define COST_TOLD 1.0      /* a cost above it says that the run was too short to tell */
#define EXACT_BELOW 0.0995 /* costs below it have two digits */

/* "took 329 ms", or what of that is shown. */
static char *time_of(const struct report *report)
{
    const struct trace *whole = trace__whole(report->trace);
    char duration[16], from[16], to[16], all[16];
    uint64_t from_ns, to_ns;
    duration__format(report->profile->wall_ns, duration);
    if (!whole)
        return memory__format("took %s", duration);
    trace__bounds_ns(report->trace, &from_ns, &to_ns);
    return memory__format("only from %s to %s, %s of %s", duration__format(from_ns, from),
                          duration__format(to_ns, to), duration,
                          duration__format(trace__wall_ns(whole), all));
}

/* text is this function's. */
static char *add_work(const struct report *report, char *text)
{
    double work = profile__work(report->profile, report->trace);
    return isnan(work) ? text : text__append(text, ", used %.*f", work < 0.095 ? 2 : 1, work);
}

static char *took(const struct report *report)
{
    const char *cpus = trace__meta(report->trace, "cpus");
    char *text = time_of(report);
    if (cpus && *cpus)
        text = text__append(text, " on %s CPU%s", cpus, strcmp(cpus, "1") ? "s" : "");
    return trace__has_asides(report->trace) ? text : add_work(report, text);
}

/* "only threads #4002, #4003 of 10, used 0.4" */
static char *only_threads(const struct report *report)
{
    const struct vec *told = &report->profile->threads;
    char number[32], all[32], *text = memory__format("only ");
    count__format(trace__threads(report->trace)->count, all);
    if (told->count > NUMBERED_MOST)
        text = text__append(text, "%s", count__format(told->count, number));
    else
        text = text__append(text, told->count == 1 ? "thread" : "threads");
    for (size_t i = 0; i < told->count && told->count <= NUMBERED_MOST; i++)
        text = text__append(
            text, "%s #%u", i ? "," : "",
            trace__thread_at(report->trace, VEC_AT(told, struct profile_thread, i)->thread)->tid);
    return add_work(
        report, text__append(text, told->count > NUMBERED_MOST ? " of %s threads" : " of %s", all));
}

/* Of what the program itself used of the CPUs, which sleeping threads do not dilute; with what the
 * recorder took of them where they were short. */
static char *cost(const struct report *report)
{
    const struct profile *profile = report->profile;
    size_t unknown;
    uint64_t cpu_ns = profile__cpu_ns(report->profile, report->trace, &unknown),
             overhead_ns = profile->overhead_ns;
    bool is_of_cpu = !unknown && cpu_ns > 2 * overhead_ns;
    uint64_t whole_ns = is_of_cpu ? cpu_ns - overhead_ns : profile->lifetime_sum_ns;
    if (overhead_ns == 0 || whole_ns == 0)
        return memory__text("[recording cost not known]");
    double cost = (double)profile__recording_ns(profile, report->trace) / (double)whole_ns;
    if (cost > COST_TOLD)
        return memory__text("[the run is too short to tell the recording cost]");
    return memory__format("[recording cost %.*f %%]", cost < EXACT_BELOW ? 1 : 0, 100 * cost);
}

void text__head(const struct report *report, const struct style *style, FILE *out)
{
    const struct heurt_session *session = trace__session(report->trace);
    struct flow flow = flow__start(style, out, 2);
    flow__take(&flow, report__title(report, style), INK_BOLD, 3);
    if (report->mpi && !trace__has_asides(report->trace))
        flow__take(&flow, mpi_use__job(report, style), INK_PLAIN, 3);
    flow__take(&flow, took(report), INK_PLAIN, 3);
    if (trace__has_asides(report->trace))
        flow__take(&flow, only_threads(report), INK_PLAIN, 3);
    if (trace__is_aggregated(report->trace))
        flow__take(&flow, memory__text("aggregated"), INK_PLAIN, 3);
    if (session->finished && WIFEXITED(session->wait_status) && WEXITSTATUS(session->wait_status))
        flow__take(&flow, memory__format("exit status %d", WEXITSTATUS(session->wait_status)),
                   INK_WARNING, 3);
    if (report->profile->events)
        flow__take(&flow, cost(report), INK_DIM, 3);
    flow__end(&flow);
}
