/* What threads did with the CPUs, on a screen. */
#include "base/memory.h"
#include "base/text.h"
#include "present/shared.h"
#include "present/stat/stat_screens.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MOST 20
#define LEVELS_MOST 12

static void put_head(const struct stat_view *view, const struct style *style, FILE *out)
{
    struct flow flow = flow__start(style, out, 2);
    const char *slash = memrchr(view->command, '/', strcspn(view->command, " "));
    char wall[16], work[16];
    flow__take(&flow, memory__text(slash ? slash + 1 : view->command), INK_BOLD, 3);
    flow__take(&flow,
               memory__format("%s %s on %" PRIu32 " CPU%s, %s of CPU time",
                              view->pid ? "looked at for" : "took",
                              duration__format(view->log->end_ns - view->log->begin_ns, wall),
                              view->cpus, view->cpus == 1 ? "" : "s",
                              duration__format(service_log__work_ns(view->log), work)),
               INK_PLAIN, 3);
    flow__end(&flow);
}

/* ---- threads --------------------------------------------------------------------------------- */

static int by_service(const void *left, const void *right)
{
    const struct service_thread *one = *(const struct service_thread *const *)left,
                                *other = *(const struct service_thread *const *)right;
    int order = ORDER(other->state_ns[SERVICE_ON_CPU], one->state_ns[SERVICE_ON_CPU]);
    return order ? order : ORDER(one, other);
}

static void put_thread(struct grid *grid, const struct service_thread *thread)
{
    grid__take(grid, memory__format("%s %" PRIu32, thread->name, thread->tid), INK_PLAIN);
    grid__duration(grid, thread->end_ns - thread->begin_ns);
    grid__duration(grid, thread->state_ns[SERVICE_ON_CPU]);
    grid__duration(grid, thread->state_ns[SERVICE_BLOCKED]);
    grid__duration(grid, thread->state_ns[SERVICE_WANTS]);
    grid__count(grid, thread->voluntary);
    grid__count(grid, thread->involuntary);
    grid__count(grid, thread->migrations);
}

static void put_threads(const struct stat_view *view, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"thread", LEFT},     {"life", RIGHT},     {"on a CPU", RIGHT}, {"waited", RIGHT},
        {"preempted", RIGHT}, {"switches", RIGHT}, {"forced", RIGHT},   {"moved", RIGHT}};
    struct vec threads = VEC_OF(const struct service_thread *);
    VEC_EACH (thread, &view->log->threads, struct service_thread) {
        const struct service_thread *one = thread;
        vec__push(&threads, &one);
    }
    vec__sort(&threads, by_service);
    struct grid grid = grid__start(columns, sizeof columns / sizeof *columns, 2);
    for (size_t i = 0; i < threads.count && i < THREADS_MOST; i++)
        put_thread(&grid, *VEC_AT(&threads, const struct service_thread *, i));
    if (threads.count > THREADS_MOST)
        grid__note(&grid,
                   memory__format("and %zu more: --table threads", threads.count - THREADS_MOST));
    grid__end(&grid, style, out);
    vec__free(&threads);
}

/* ---- how many at a time ---------------------------------------------------------------------- */

/* Of the last row: so many and more. */
static void put_level(struct grid *grid, const struct stat_view *view, size_t count, bool is_last)
{
    struct service_level sum = {0};
    const struct vec *levels = &view->log->levels;
    uint64_t wall = view->log->end_ns - view->log->begin_ns;
    for (size_t i = count; i < (is_last ? levels->count : count + 1); i++) {
        const struct service_level *level = VEC_AT(levels, struct service_level, i);
        sum.running_ns += level->running_ns;
        sum.wanting_ns += level->wanting_ns;
    }
    grid__cell(grid,
               memory__format("%zu%s", count, is_last && levels->count > count + 1 ? "+" : ""),
               INK_PLAIN);
    grid__duration(grid, sum.running_ns);
    grid__share(grid, wall ? (double)sum.running_ns / (double)wall : 0);
    grid__duration(grid, sum.wanting_ns);
    grid__share(grid, wall ? (double)sum.wanting_ns / (double)wall : 0);
}

static void put_activity(const struct stat_view *view, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"threads at a time", RIGHT},
                                                 {"on a CPU", RIGHT},
                                                 {"of the time", RIGHT},
                                                 {"or wanting one", RIGHT},
                                                 {"of the time", RIGHT}};
    struct grid grid = grid__start(columns, sizeof columns / sizeof *columns, 2);
    for (size_t i = 0; i < view->log->levels.count && i < LEVELS_MOST; i++)
        put_level(&grid, view, i, i + 1 == LEVELS_MOST);
    grid__end(&grid, style, out);
}

/* ---- averages -------------------------------------------------------------------------------- */

static char *averages_text(const struct stat_view *view)
{
    const struct service_log *log = view->log;
    double wall = (double)(log->end_ns - log->begin_ns);
    uint64_t woken = stat__woken_ns(view);
    double wanting = service_log__mean_wanting(log);
    if (woken != UINT64_MAX && wall > 0)
        wanting += (double)woken / wall;
    return memory__format("A = %.3f threads at work while any was; over the whole time %.3f had a "
                          "CPU, and %.3f had or wanted one.",
                          service_log__at_work(log), service_log__mean_running(log), wanting);
}

static char *intervals_text(const struct stat_view *view)
{
    char *text = memory__text("");
    double exact = service_log__at_work(view->log);
    for (unsigned i = 0; i < SERVICE_SCALES; i++) {
        const struct service_interval *interval = &view->log->intervals[i];
        char length[16], *piece;
        double at_work = service_interval__at_work(interval);
        piece = memory__format("%s: %.3f (%+.1f %%)", duration__format(interval->length_ns, length),
                               at_work, 100 * (at_work / exact - 1));
        text = text__join(text, " · ", piece);
        free(piece);
    }
    return text;
}

static char *model_text(const struct stat_view *view)
{
    struct vec cpus = stat__modelled_cpus(view);
    char *text = memory__text("");
    VEC_EACH (count, &cpus, uint32_t) {
        char *piece = memory__format("%" PRIu32 " CPU%s: %.2f", *count, *count == 1 ? "" : "s",
                                     service_log__modelled(view->log, *count));
        text = text__join(text, " · ", piece);
        free(piece);
    }
    vec__free(&cpus);
    return text;
}

static char *counts_text(const struct stat_view *view)
{
    char numbers[5][32];
    char *text = memory__format("%s switches by waiting, %s forced, %s to another CPU",
                                count__format(stat__voluntary(view), numbers[0]),
                                count__format(stat__involuntary(view), numbers[1]),
                                count__format(stat__migrations(view), numbers[2]));
    if (stat__minor_faults(view) != UINT64_MAX)
        text = text__append(text, "; %s minor page faults, %s major",
                            count__format(stat__minor_faults(view), numbers[3]),
                            count__format(stat__major_faults(view), numbers[4]));
    return text;
}

static double counted(const struct stat_view *view, enum stat_counter one, enum stat_counter other)
{
    return view->why_no_counter[one] || view->why_no_counter[other] || !view->counters[other]
               ? NAN
               : (double)view->counters[one] / (double)view->counters[other];
}

/* NULL: there are no counters. */
static char *processor_text(const struct stat_view *view)
{
    if (view->why_no_counter[STAT_CYCLES])
        return NULL;
    char cycles[32];
    double instructions = counted(view, STAT_INSTRUCTIONS, STAT_CYCLES),
           stalled = counted(view, STAT_STALLED_CYCLES, STAT_CYCLES),
           missed = counted(view, STAT_CACHE_MISSES, STAT_CACHE_REFERENCES),
           between = counted(view, STAT_CYCLES, STAT_CACHE_MISSES);
    char *text = memory__format("%s cycles", count__format(view->counters[STAT_CYCLES], cycles));
    if (!isnan(instructions))
        text = text__append(text, ", %.2f instructions each", instructions);
    if (!isnan(stalled))
        text = text__append(text, ", %.0f %% stalled", 100 * stalled);
    if (!isnan(missed))
        text =
            text__append(text, "; %.1f %% of references missed the last-level cache", 100 * missed);
    if (!isnan(between))
        text = text__append(text, ", %.0f cycles between misses", between);
    return text;
}

static void put_line(const struct style *style, FILE *out, const char *lead, char *text)
{
    if (text)
        paragraph__take(style, out, lead, text);
}

void stat__put_text(const struct stat_view *view, const struct style *style, FILE *out)
{
    put_head(view, style, out);
    fputc('\n', out);
    paragraph__take(style, out, "  ", stat__sentence(view));
    fputc('\n', out);
    bool is_any = !isnan(service_log__at_work(view->log));
    if (is_any) {
        put_threads(view, style, out);
        fputc('\n', out);
        put_activity(view, style, out);
        fputc('\n', out);
        put_line(style, out, "  ", averages_text(view));
        put_line(style, out, "  A by intervals of ", intervals_text(view));
        put_line(style, out, "  A modelled on ", model_text(view));
        put_line(style, out, "  ", counts_text(view));
        put_line(style, out, "  ", processor_text(view));
        fputc('\n', out);
    }
    struct vec notes = stat__notes(view);
    VEC_EACH (text, &notes, char *)
        paragraph__take(style, out, "  ", memory__text(*text));
    texts__free(&notes);
}
