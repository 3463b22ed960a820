/* The tables of iterations: phases, what each thread did in them, which iterations stand out. */
#include "present/shared.h"
#include "present/table/table_source.h"

struct phase_cells {
    uint64_t phase;
    const char *what;
    uint64_t threads, imbalance_ns;
    struct iteration_phase of; /* its figures as they are */
};

#define PHASE(key, member, title, unit, help) \
    COLUMN_KEYED(key, phase_cells, of.member, title, unit, help)

static const struct column phase_columns[] = {
    COLUMN(phase_cells, phase, "#", "", "number of the loop, from 1, in the order of time"),
    COLUMN(phase_cells, what, "loop", "", "what an iteration does, by its first calls"),
    PHASE("marked", is_marked, NULL, "", "whether the program marks its iterations"),
    PHASE("between_waits", is_between_waits, NULL, "",
          "whether they are what is done between waits"),
    PHASE("in_step", is_matched, NULL, "", "whether all threads do the same iteration together"),
    PHASE("iterations", iterations, "iterations", "", "how many; in step: of each thread"),
    COLUMN(phase_cells, threads, "threads", "", "threads that run the loop"),
    PHASE("start_ns", start_ns, NULL, "ns", "first begin, since the start of the run"),
    PHASE("end_ns", end_ns, NULL, "ns", "last end, since the start of the run"),
    PHASE("share", share, "share", "share", "of the lives of its threads"),
    PHASE("min_ns", min_ns, "min", "ns", "the fastest iteration"),
    PHASE("p50_ns", median_ns, "median", "ns", "median of the durations"),
    PHASE("p99_ns", p99_ns, "p99", "ns", "99 % took no longer"),
    PHASE("max_ns", max_ns, "max", "ns", "the slowest iteration"),
    PHASE("sum_ns", sum_ns, NULL, "ns", "all iterations together"),
    PHASE("excess_ns", excess_ns, "lost", "ns", "what they took longer than the fastest one"),
    PHASE("score", score, "score", "share", "the largest of the threads'"),
    COLUMN(phase_cells, imbalance_ns, NULL, "ns",
           "in step: what the longest thread took longer than the mean, over all iterations"),
    PHASE("threshold_ns", threshold_ns, NULL, "ns", "what takes longer stands out"),
    PHASE("outliers", outlier_count, "outliers", "", "iterations that stand out"),
};
static const struct table iterations_table =
    TABLE(phase_cells, "iterations", "the program's outermost loops, a row each", phase_columns);

static void add_phase(struct table_rows *rows, const struct report *report,
                      const struct iteration_phase *phase, uint64_t number)
{
    *(struct phase_cells *)table_rows__add(rows) = (struct phase_cells){
        .phase = number,
        .what = table_rows__keep(rows, phase__text(report, phase)),
        .threads = phase->threads.count,
        .imbalance_ns = phase->is_matched ? phase->imbalance_ns : UINT64_MAX,
        .of = *phase,
    };
}

static struct table_rows phase_rows(const struct table_subject *subject)
{
    struct table_rows rows = table_rows__of(&iterations_table);
    uint64_t number = 0;
    VEC_EACH (phase, &subject->iterations->phases, struct iteration_phase)
        add_phase(&rows, subject->report, phase, ++number);
    return rows;
}

const struct table_source iterations_source = {&iterations_table, MADE_OF(&iterations_analysis),
                                               phase_rows};

/* ---- threads of a loop ----------------------------------------------------------------------- */

struct phase_thread_cells {
    uint64_t phase;
    uint32_t tid;
    uint64_t iterations, min_ns, max_ns, sum_ns;
};

static const struct column thread_columns[] = {
    COLUMN(phase_thread_cells, phase, "#", "", "number of the loop"),
    COLUMN(phase_thread_cells, tid, "thread", "", "number that the kernel gave the thread"),
    COLUMN(phase_thread_cells, iterations, "iterations", "", "its iterations"),
    COLUMN(phase_thread_cells, min_ns, "min", "ns", "the fastest one"),
    COLUMN(phase_thread_cells, max_ns, "max", "ns", "the slowest one"),
    COLUMN(phase_thread_cells, sum_ns, "took", "ns", "all of them together"),
};
static const struct table iteration_threads_table =
    TABLE(phase_thread_cells, "iteration_threads", "a row a loop and thread", thread_columns);

static struct table_rows phase_thread_rows(const struct table_subject *subject)
{
    struct table_rows rows = table_rows__of(&iteration_threads_table);
    uint64_t number = 0;
    VEC_EACH (phase, &subject->iterations->phases, struct iteration_phase) {
        number++;
        VEC_EACH (thread, &phase->threads, struct iteration_thread)
            *(struct phase_thread_cells *)table_rows__add(&rows) =
                (struct phase_thread_cells){number,
                                            report__tid(subject->report, thread->thread),
                                            thread->iterations,
                                            thread->min_ns,
                                            thread->max_ns,
                                            thread->sum_ns};
    }
    return rows;
}

const struct table_source iteration_threads_source = {
    &iteration_threads_table, MADE_OF(&iterations_analysis), phase_thread_rows};

/* ---- iterations that stand out --------------------------------------------------------------- */

struct outlier_cells {
    uint64_t phase;
    uint32_t tid;
    const char *function, *file;
    uint64_t line;
    struct iteration_outlier of; /* its figures as they are */
};

#define OUTLIER(key, member, title, unit, help) \
    COLUMN_KEYED(key, outlier_cells, of.member, title, unit, help)
#define MORE(component, key, help) \
    OUTLIER("more_" key "_ns", component_more_ns[component], NULL, "ns", "of that: " help)

static const struct column outlier_columns[] = {
    COLUMN(outlier_cells, phase, "#", "", "number of the loop"),
    OUTLIER("iteration", iteration.index, "iteration", "", "number of the iteration, from 0"),
    COLUMN(outlier_cells, tid, "thread", "", "the thread; in step: that which took longer"),
    OUTLIER("start_ns", iteration.start_ns, "at", "ns", "since the start of the run"),
    OUTLIER("duration_ns", iteration.duration_ns, "took", "ns", "how long it took"),
    OUTLIER("more_ns", more_ns, "more", "ns", "longer than a usual one"),
    MORE(COMPONENT_RUNNING, "running", "worked"),
    COMPONENT_COLUMNS(MORE),
    COLUMN(outlier_cells, function, "most in", "", "place in it whose own time makes most of it"),
    COLUMN(outlier_cells, file, NULL, "", "its source file"),
    COLUMN(outlier_cells, line, NULL, "", "line in it"),
    OUTLIER("place_more_ns", place_more_ns, NULL, "ns", "how much longer that place took"),
    OUTLIER("place_more_calls", place_more_calls, NULL, "", "how many more calls of it there were"),
};

static const struct table iteration_outliers_table = TABLE(
    outlier_cells, "iteration_outliers", "a row an iteration that stands out", outlier_columns);

static void add_outlier(struct table_rows *rows, const struct report *report,
                        const struct iteration_outlier *outlier, uint64_t number)
{
    struct outlier_cells *row = table_rows__add(rows);
    row->phase = number;
    row->tid = report__tid(report, outlier->iteration.thread);
    row->of = *outlier;
    row->line = UINT64_MAX;
    if (!outlier->place.at.function)
        return;
    struct place_cells place = place_cells__of_class(rows, report, &outlier->place);
    row->function = outlier->place.at.function;
    row->file = place.file;
    row->line = place.line;
}

static struct table_rows outlier_rows(const struct table_subject *subject)
{
    struct table_rows rows = table_rows__of(&iteration_outliers_table);
    uint64_t number = 0;
    VEC_EACH (phase, &subject->iterations->phases, struct iteration_phase) {
        number++;
        VEC_EACH (outlier, &phase->outliers, struct iteration_outlier)
            add_outlier(&rows, subject->report, outlier, number);
    }
    return rows;
}

const struct table_source iteration_outliers_source = {&iteration_outliers_table,
                                                       MADE_OF(&iterations_analysis), outlier_rows};
