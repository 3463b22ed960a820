/* What threads did with the CPUs, as tables and as heurt.stat/1: the contract is in
 * docs/heurt-stat.md. */
#include "base/memory.h"
#include "base/text.h"
#include "present/stat/stat_screens.h"
#include "present/table/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

static uint64_t wall_of(const struct stat_view *view)
{
    return view->log->end_ns - view->log->begin_ns;
}

static uint64_t cycles_of(const struct stat_view *view, uint64_t ns)
{
    return view->cycles_a_second == UINT64_MAX
               ? UINT64_MAX
               : (uint64_t)((double)ns * 1e-9 * (double)view->cycles_a_second);
}

/* ---- threads --------------------------------------------------------------------------------- */

struct stat_thread_cells {
    uint32_t pid, tid;
    const char *name;
    uint64_t begin_ns, life_ns, service_ns, cycles, blocked_ns, preempted_ns, delay_ns, voluntary,
        involuntary, migrations;
};

#define THREAD(member, title, unit, help) COLUMN(stat_thread_cells, member, title, unit, help)
static const struct column thread_columns[] = {
    THREAD(pid, NULL, "", "the process"),
    THREAD(tid, "thread", "", "its number"),
    THREAD(name, "name", "", "that it had last"),
    THREAD(begin_ns, NULL, "ns", "when it began, or was first seen"),
    THREAD(life_ns, "life", "ns", "that was seen: the three times behind add up to it"),
    THREAD(service_ns, "on a CPU", "ns", "its service time"),
    THREAD(blocked_ns, "waited", "ns", "off the CPU by itself, until it had one again"),
    THREAD(preempted_ns, "preempted", "ns", "off the CPU and wanting one, or new and without one"),
    THREAD(delay_ns, "no CPU", "ns", "waits for a CPU as the system counts them (schedstat)"),
    THREAD(cycles, NULL, "", "of the processor's time stamps, in its service time"),
    THREAD(voluntary, "voluntary", "", "times that it left its CPU to wait"),
    THREAD(involuntary, "not", "", "times that it was preempted"),
    THREAD(migrations, "moved", "", "times that it got another CPU than it had"),
};
static const struct table threads_table =
    TABLE(stat_thread_cells, "threads", "a row a thread", thread_columns);

static struct table_rows thread_rows(const void *subject)
{
    const struct stat_view *view = subject;
    struct table_rows rows = table_rows__of(&threads_table);
    VEC_EACH (thread, &view->log->threads, struct service_thread) {
        const uint64_t *states = thread->state_ns;
        TABLE_ROW(&rows, stat_thread_cells, thread->pid, thread->tid, thread->name,
                  thread->begin_ns - view->log->begin_ns, thread->end_ns - thread->begin_ns,
                  states[SERVICE_ON_CPU], cycles_of(view, states[SERVICE_ON_CPU]),
                  states[SERVICE_BLOCKED], states[SERVICE_WANTS], thread->delay_ns,
                  thread->voluntary, thread->involuntary, thread->migrations);
    }
    return rows;
}

/* ---- activity -------------------------------------------------------------------------------- */

struct stat_activity_cells {
    uint64_t threads, running_ns, wanting_ns, work_ns;
    double running, wanting, work;
};

#define ACTIVITY(member, title, unit, help) COLUMN(stat_activity_cells, member, title, unit, help)
static const struct column activity_columns[] = {
    ACTIVITY(threads, "threads", "", "so many at a time"),
    ACTIVITY(running_ns, "on a CPU", "ns", "time with so many on a CPU"),
    ACTIVITY(running, "share", "share", "of the whole time"),
    ACTIVITY(wanting_ns, "or wanting one", "ns", "time with so many that had or wanted a CPU"),
    ACTIVITY(wanting, "share of it", "share", "of the whole time"),
    ACTIVITY(work_ns, "CPU time then", "ns", "of all threads, while so many wanted a CPU"),
    ACTIVITY(work, NULL, "share", "of all CPU time: p_k of the model"),
};
static const struct table activity_table =
    TABLE(stat_activity_cells, "activity", "a row a number of threads", activity_columns);

static struct table_rows activity_rows(const void *subject)
{
    const struct stat_view *view = subject;
    struct table_rows rows = table_rows__of(&activity_table);
    uint64_t wall = wall_of(view), work = service_log__work_ns(view->log);
    for (size_t count = 0; count < view->log->levels.count; count++) {
        const struct service_level *level = VEC_AT(&view->log->levels, struct service_level, count);
        TABLE_ROW(&rows, stat_activity_cells, count, level->running_ns, level->wanting_ns,
                  level->work_ns, share_of(level->running_ns, wall),
                  share_of(level->wanting_ns, wall), share_of(level->work_ns, work));
    }
    return rows;
}

/* ---- intervals ------------------------------------------------------------------------------- */

struct stat_interval_cells {
    uint64_t interval_ns;
    double at_work, bias;
};

#define INTERVAL(member, title, unit, help) COLUMN(stat_interval_cells, member, title, unit, help)
static const struct column interval_columns[] = {
    INTERVAL(interval_ns, "interval", "ns", "that service times were added up in"),
    INTERVAL(at_work, "A", "", "sum of all service times over the sum of the longest ones"),
    INTERVAL(bias, "bias", "share", "how much more that is than the exact one"),
};
static const struct table intervals_table =
    TABLE(stat_interval_cells, "intervals", "a row a length of intervals", interval_columns);

static struct table_rows interval_rows(const void *subject)
{
    const struct stat_view *view = subject;
    struct table_rows rows = table_rows__of(&intervals_table);
    double exact = service_log__at_work(view->log);
    for (unsigned i = 0; i < SERVICE_SCALES; i++) {
        const struct service_interval *interval = &view->log->intervals[i];
        double at_work = service_interval__at_work(interval);
        TABLE_ROW(&rows, stat_interval_cells, interval->length_ns, at_work, at_work / exact - 1);
    }
    return rows;
}

/* ---- the model ------------------------------------------------------------------------------- */

struct stat_model_cells {
    uint32_t cpus;
    double at_work, speedup;
};

#define MODEL(member, title, unit, help) COLUMN(stat_model_cells, member, title, unit, help)
static const struct column model_columns[] = {
    MODEL(cpus, "CPUs", "", "n"),
    MODEL(at_work, "A(m, n)", "", "threads at work while any is, if there were so many CPUs"),
    COLUMN_AS(COLUMN_FACTOR, stat_model_cells, speedup, "times as fast", "×",
              "as on one CPU, while any is at work"),
};
static const struct table model_table =
    TABLE(stat_model_cells, "model", "a row a number of CPUs", model_columns);

static struct table_rows model_rows(const void *subject)
{
    const struct stat_view *view = subject;
    struct table_rows rows = table_rows__of(&model_table);
    struct vec cpus = stat__modelled_cpus(view);
    double one = service_log__modelled(view->log, 1);
    VEC_EACH (count, &cpus, uint32_t) {
        double at_work = service_log__modelled(view->log, *count);
        TABLE_ROW(&rows, stat_model_cells, *count, at_work, at_work / one);
    }
    vec__free(&cpus);
    return rows;
}

/* ---- counters -------------------------------------------------------------------------------- */

struct stat_counter_cells {
    const char *counter;
    uint64_t value;
    const char *why_none;
};

#define COUNTER(member, title, unit, help) COLUMN(stat_counter_cells, member, title, unit, help)
static const struct column counter_columns[] = {
    COUNTER(counter, "counter", "", "what was counted"),
    COUNTER(value, "value", "", "of all threads"),
    COUNTER(why_none, "not measured", "", "why there is none"),
};
static const struct table counters_table =
    TABLE(stat_counter_cells, "counters", "a row a counter", counter_columns);

static struct table_rows counter_rows(const void *subject)
{
    const struct stat_view *view = subject;
    struct table_rows rows = table_rows__of(&counters_table);
    const struct stat_counter_cells first[] = {
        {"voluntary_switches", stat__voluntary(view), NULL},
        {"involuntary_switches", stat__involuntary(view), NULL},
        {"migrations", stat__migrations(view), NULL},
        {"minor_faults", stat__minor_faults(view), NULL},
        {"major_faults", stat__major_faults(view), NULL},
        {"time_stamp_cycles", cycles_of(view, service_log__work_ns(view->log)), NULL},
    };
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        *(struct stat_counter_cells *)table_rows__add(&rows) = first[i];
    for (enum stat_counter i = 0; i < STAT_COUNTERS; i++)
        TABLE_ROW(&rows, stat_counter_cells, stat_counter__name(i),
                  view->why_no_counter[i] ? UINT64_MAX : view->counters[i],
                  view->why_no_counter[i]);
    return rows;
}

/* What is made of them. */
struct stat_processor_cells {
    uint64_t cycles, instructions, stalled_cycles, last_level_references, last_level_misses;
    double instructions_a_cycle, stalled, miss_rate, cycles_between_misses, misses_a_us;
};

static const struct table processor_table = OBJECT(
    stat_processor_cells, FIELDS(stat_processor_cells, cycles, instructions, stalled_cycles,
                                 last_level_references, last_level_misses, instructions_a_cycle,
                                 stalled, miss_rate, cycles_between_misses, misses_a_us));

static double over(const struct stat_view *view, enum stat_counter one, enum stat_counter other)
{
    return view->why_no_counter[one] || view->why_no_counter[other]
               ? NAN
               : share_of(view->counters[one], view->counters[other]);
}

static struct table_rows processor_row(const void *subject)
{
    const struct stat_view *view = subject;
    uint64_t values[STAT_COUNTERS], work = service_log__work_ns(view->log);
    for (int i = 0; i < STAT_COUNTERS; i++)
        values[i] = view->why_no_counter[i] ? UINT64_MAX : view->counters[i];
    const struct stat_processor_cells cells = {
        values[STAT_CYCLES],
        values[STAT_INSTRUCTIONS],
        values[STAT_STALLED_CYCLES],
        values[STAT_CACHE_REFERENCES],
        values[STAT_CACHE_MISSES],
        over(view, STAT_INSTRUCTIONS, STAT_CYCLES),
        over(view, STAT_STALLED_CYCLES, STAT_CYCLES),
        over(view, STAT_CACHE_MISSES, STAT_CACHE_REFERENCES),
        over(view, STAT_CYCLES, STAT_CACHE_MISSES),
        view->why_no_counter[STAT_CACHE_MISSES] || !work
            ? NAN
            : 1e3 * (double)view->counters[STAT_CACHE_MISSES] / (double)work,
    };
    return table_rows__if(!view->why_no_counter[STAT_CYCLES], &processor_table, &cells);
}

/* ---- checks ---------------------------------------------------------------------------------- */

struct stat_check_cells {
    const char *what, *of, *against;
    uint64_t value, other;
    double difference;
    bool fails;
};

#define CHECK(member, title, unit, help) COLUMN(stat_check_cells, member, title, unit, help)
static const struct column check_columns[] = {
    CHECK(what, "figure", "", "that is known in two ways"),
    CHECK(of, NULL, "", "how it was found; times are in ns"),
    CHECK(value, "value", "", "by that"),
    CHECK(against, "against", "", "who tells it, too"),
    CHECK(other, "told", "", "by that"),
    CHECK(difference, "difference", "share", "of what is told"),
    CHECK(fails, NULL, "", "a CPU time that differs by more than 0.5 % and 1 ms"),
};
static const struct table checks_table =
    TABLE(stat_check_cells, "checks", "a row a figure", check_columns);

static struct table_rows check_rows(const void *subject)
{
    const struct stat_view *view = subject;
    struct table_rows rows = table_rows__of(&checks_table);
    struct vec checks = stat__checks(view);
    VEC_EACH (check, &checks, struct stat_check)
        TABLE_ROW(&rows, stat_check_cells, check->what, check->of_records, check->other,
                  check->records, check->others, stat_check__difference(check),
                  stat_check__fails(check));
    vec__free(&checks);
    return rows;
}

/* ---- tables by name -------------------------------------------------------------------------- */

const struct named_table stat_tables[] = {{&threads_table, thread_rows},
                                          {&activity_table, activity_rows},
                                          {&intervals_table, interval_rows},
                                          {&model_table, model_rows},
                                          {&counters_table, counter_rows},
                                          {&checks_table, check_rows},
                                          {NULL, NULL}};

/* ---- the document ---------------------------------------------------------------------------- */

struct stat_root {
    const struct stat_view *view;
    const char *command, *sentence;
    uint32_t attached_to, cpus;
    bool cut;
    uint64_t wall_ns, service_ns, active_ns, lost_records, own_cpu_ns, woken_ns, voluntary_switches,
        involuntary_switches, migrations, minor_faults, major_faults, cycles_a_second;
    double at_work, running_average, wanting_average;
    const char *why_no_processor;
};

static const struct stat_view *view_of(const void *root)
{
    return ((const struct stat_root *)root)->view;
}

#define OF_ROOT(rows)                                         \
    static struct table_rows rows##_of_root(const void *root) \
    {                                                         \
        return rows(view_of(root));                           \
    }
OF_ROOT(thread_rows)
OF_ROOT(activity_rows)
OF_ROOT(interval_rows)
OF_ROOT(model_rows)
OF_ROOT(check_rows)
OF_ROOT(processor_row)

static struct table_rows notes_of_root(const void *root)
{
    struct table_rows rows = table_rows__of(&texts_table);
    struct vec notes = stat__notes(view_of(root));
    VEC_EACH (text, &notes, char *)
        text_rows__take(&rows, memory__text(*text));
    texts__free(&notes);
    return rows;
}

static const struct table root_table = OBJECT(
    stat_root, FIELD_SCHEMA("heurt.stat/1"),
    FIELDS(stat_root, command, attached_to, sentence, cut, cpus, wall_ns, service_ns, active_ns,
           at_work, running_average, wanting_average),
    FIELDS(stat_root, woken_ns, voluntary_switches, involuntary_switches, migrations, minor_faults,
           major_faults, cycles_a_second, lost_records, own_cpu_ns, why_no_processor),
    FIELD_ONE("processor", processor_row_of_root), FIELD_LIST("threads", thread_rows_of_root),
    FIELD_LIST("activity", activity_rows_of_root), FIELD_LIST("intervals", interval_rows_of_root),
    FIELD_LIST("model", model_rows_of_root), FIELD_LIST("checks", check_rows_of_root),
    FIELD_LIST("notes", notes_of_root));

static double mean_wanting(const struct stat_view *view)
{
    uint64_t woken = stat__woken_ns(view);
    double told = service_log__mean_wanting(view->log);
    return woken == UINT64_MAX ? told : told + share_of(woken, wall_of(view));
}

void stat__put_json(const struct stat_view *view, FILE *out)
{
    char *sentence = stat__sentence(view);
    const struct stat_root root = {
        .view = view,
        .command = view->command,
        .sentence = sentence,
        .attached_to = view->pid ? view->pid : UINT32_MAX,
        .cpus = view->cpus,
        .cut = view->is_cut,
        .wall_ns = wall_of(view),
        .service_ns = service_log__work_ns(view->log),
        .active_ns = service_log__active_ns(view->log),
        .lost_records = view->lost,
        .own_cpu_ns = view->own_ns,
        .woken_ns = stat__woken_ns(view),
        .voluntary_switches = stat__voluntary(view),
        .involuntary_switches = stat__involuntary(view),
        .migrations = stat__migrations(view),
        .minor_faults = stat__minor_faults(view),
        .major_faults = stat__major_faults(view),
        .cycles_a_second = view->cycles_a_second,
        .at_work = service_log__at_work(view->log),
        .running_average = service_log__mean_running(view->log),
        .wanting_average = mean_wanting(view),
        .why_no_processor = view->why_no_counter[STAT_CYCLES],
    };
    document__put(&root_table, &root, out);
    free(sentence);
}
