/* Requests of a program that serves: a line of the first screen, and the slowest ones. */
#include "base/memory.h"
#include "base/text.h"
#include "present/report/report_parts.h"
#include "present/requests/requests_screens.h"

#include <inttypes.h>
#include <stdlib.h>

#define SHOWN_MOST 10     /* on a screen */
#define PART_FROM 0.05    /* of a request: what is told of what it was made of */
#define SEARCHED_FROM 0.1 /* of a request: its longest wait is told */

/* ---- the line -------------------------------------------------------------------------------- */

/* "384,000, half in 9 us, 1 % over 115 us; the slowest 1.7 ms". free() it. */
static char *told(const struct requests *requests)
{
    char count[32], median[16], p99[16], longest[16];
    return memory__format(
        "%s, half in %s, 1 %% over %s; the slowest %s", count__format(requests->count, count),
        duration__format(requests->median_ns, median), duration__format(requests->p99_ns, p99),
        duration__format(requests->longest_ns, longest));
}

void text__requests(const struct report *report, const struct style *style, FILE *out)
{
    const struct requests *requests = report->requests;
    if (!requests || requests->count < REQUESTS_LEAST)
        return;
    char *line = told(requests), *hint = report__hint(report, "report", "--slowest");
    paragraph__take(style, out, "  Requests: ",
                    memory__format("%s %s %s", line, style->unicode ? "→" : "->", hint));
    free(hint);
    free(line);
}

/* ---- one of them ----------------------------------------------------------------------------- */

static uint32_t largest_of(const uint64_t ns[COMPONENTS], uint64_t below_ns, uint32_t after)
{
    uint32_t most = COMPONENTS;
    for (uint32_t i = 0; i < COMPONENTS; i++) {
        bool is_next = ns[i] < below_ns || (ns[i] == below_ns && i > after);
        if (is_next && (most == COMPONENTS || ns[i] > ns[most]))
            most = i;
    }
    return most;
}

/* "wanted a CPU, had none 1.50 ms, working 180 us": what is worth telling. free() it. */
static char *made_of(const struct report *report, const struct served_request *request)
{
    char *text = memory__text(""), took[16];
    uint64_t below_ns = UINT64_MAX;
    uint32_t last = 0;
    for (uint32_t i; (i = largest_of(request->component_ns, below_ns, last)) < COMPONENTS;) {
        below_ns = request->component_ns[last = i];
        if ((double)below_ns < PART_FROM * (double)request->duration_ns || !below_ns)
            break;
        char *part = memory__format("%s %s", component__doing(report, (enum component)i),
                                    duration__format(below_ns, took));
        text = text__join(text, ", ", part);
        free(part);
    }
    return text;
}

static char *thread_text(const struct report *report, uint32_t thread)
{
    const struct trace_thread *of = trace__thread_at(report->trace, thread);
    return memory__format("%s #%u", of->name, of->tid);
}

/* ", of queue.lock", which names the object where anything does. free() it. */
static char *object_text(const struct report *report, const struct served_wait *wait)
{
    const char *name = wait->object ? report__variable(report, wait->process, wait->object) : NULL;
    return !wait->object ? memory__text("")
           : name        ? memory__format(" for %s", name)
                         : memory__format(" for 0x%" PRIx64, wait->object);
}

/* "; ended by worker #12 in put queue.c:44". free() it. */
static char *ended_by(const struct report *report, const struct served_wait *wait)
{
    char unknown[32];
    if (wait->by == UINT32_MAX)
        return memory__text("");
    const struct trace_thread *by = trace__thread_at(report->trace, wait->by);
    uint32_t process = trace__process_at(report->trace, by->process)->serial;
    struct place place = place__of_site(report, process, wait->by_site, unknown);
    char *thread = thread_text(report, wait->by), *where = place__text(&place);
    char *text = wait->by_site ? memory__format("; ended by %s in %s", thread, where)
                               : memory__format("; ended by %s", thread);
    free(where);
    free(thread);
    return text;
}

/* "; 1.20 ms of it: pthread_mutex_lock for lock in take queue.c:44; ended by worker #12 in …": the
 * longest call that waits; "": it is not worth it. */
static char *longest_wait(const struct report *report, const struct served_request *request)
{
    char unknown[32], took[16];
    const struct served_wait *wait = &request->wait;
    size_t rank = report__rank_of(report, wait->class);
    if (!rank || (double)wait->wait_ns < SEARCHED_FROM * (double)request->duration_ns)
        return memory__text("");
    const struct profile_class *class =
        VEC_AT(&report->profile->classes, struct profile_class, rank - 1);
    struct place place = place__of_class(report, &class->what, unknown);
    char *where = place__text(&place), *object = object_text(report, wait),
         *by = ended_by(report, wait);
    char *text = memory__format("; %s of it: %s%s in %s%s", duration__format(wait->wait_ns, took),
                                class->what.at.function, object, where, by);
    free(by);
    free(object);
    free(where);
    return text;
}

/* ---- the screen ------------------------------------------------------------------------------ */

static void put_request(const struct report *report, const struct served_request *request,
                        size_t number, struct grid *grid)
{
    grid__cell(grid, memory__format("%zu", number), INK_PLAIN);
    grid__duration(grid, request->duration_ns);
    grid__cell(grid, memory__format("%.6f s", (double)request->start_ns / 1e9), INK_PLAIN);
    grid__take(grid, thread_text(report, request->thread), INK_PLAIN);
    char *made = made_of(report, request), *wait = longest_wait(report, request);
    char *text = memory__format("%s%s", made, wait);
    grid__below(grid, text__for_screen(text));
    free(text);
    free(wait);
    free(made);
}

static void put_rows(const struct requests_report *shown, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"", RIGHT}, {"took", RIGHT}, {"began at", RIGHT}, {"thread", LEFT}};
    struct grid grid = grid__start(columns, 4, 2);
    size_t number = 0;
    VEC_EACH (request, &shown->requests->slowest, const struct served_request)
        if (number < SHOWN_MOST)
            put_request(shown->report, request, ++number, &grid);
    grid__end(&grid, style, out);
}

void requests__put_screen(const struct requests_report *shown, const struct style *style, FILE *out)
{
    const struct requests *requests = shown->requests;
    text__head(shown->report, style, out);
    fputc('\n', out);
    if (!requests || !requests->count) {
        paragraph__put(
            style, out, INK_PLAIN, "  ",
            "No requests: no thread is seen to wait for work from outside and to use the "
            "network a few times in between.");
        return;
    }
    paragraph__take(style, out, "  Requests: ", told(requests));
    paragraph__put(style, out, INK_PLAIN, "  ",
                   "A request is what a thread does between two waits for work, when it uses the "
                   "network in between.");
    fputc('\n', out);
    put_rows(shown, style, out);
}
