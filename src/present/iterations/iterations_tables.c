/* The tables of iterations: phases, what each thread did in them, which iterations stand out. */
#include "present/table/table_source.h"

/* What add makes of all loops. */
static struct table_rows
parts_of_all(const struct table *table,
             void (*add)(struct table_rows *rows, const struct report *report,
                         const struct iteration_phase *phase, uint64_t number),
             const struct table_subject *subject)
{
    struct table_rows rows = table_rows__of(table);
    uint64_t number = 0;
    VEC_EACH (phase, &subject->iterations->phases, struct iteration_phase)
        add(&rows, subject->report, phase, ++number);
    return rows;
}

/* ---- threads of a loop ----------------------------------------------------------------------- */

struct phase_thread_cells {
    uint64_t phase;
    uint32_t tid;
    struct iteration_thread of; /* its figures as they are */
};

#define THREAD(key, member, title, unit, help) \
    COLUMN_KEYED(key, phase_thread_cells, of.member, title, unit, help)

static const struct column thread_columns[] = {
    FLAT("phase", phase_thread_cells, phase, "#", "", "number of the loop"),
    COLUMN(phase_thread_cells, tid, "thread", "", "number that the kernel gave the thread"),
    FIELD("turns", phase_thread_cells, of.iterations),
    FLAT("iterations", phase_thread_cells, of.iterations, "iterations", "", "its iterations"),
    THREAD("min_ns", min_ns, "min", "ns", "the fastest one"),
    THREAD("max_ns", max_ns, "max", "ns", "the slowest one"),
    THREAD("sum_ns", sum_ns, "took", "ns", "all of them together"),
};
static const struct table iteration_threads_table =
    TABLE(phase_thread_cells, "iteration_threads", "a row a loop and thread", thread_columns);

static void add_threads(struct table_rows *rows, const struct report *report,
                        const struct iteration_phase *phase, uint64_t number)
{
    VEC_EACH (thread, &phase->threads, struct iteration_thread)
        TABLE_ROW(rows, phase_thread_cells, number, report__tid(report, thread->thread), *thread);
}

static struct table_rows threads_of_all(const struct table_subject *subject)
{
    return parts_of_all(&iteration_threads_table, add_threads, subject);
}

const struct table_source iteration_threads_source = {
    &iteration_threads_table, MADE_OF(&iterations_analysis), threads_of_all};

/* ---- iterations that stand out --------------------------------------------------------------- */

struct outlier_cells {
    uint64_t phase;
    uint32_t tid;
    struct call_cells place;
    const char *function;
    struct iteration_outlier of; /* its figures as they are */
};

static struct table_rows place_row(const void *row)
{
    return table_rows__if(((const struct outlier_cells *)row)->function, &call_table,
                          &((const struct outlier_cells *)row)->place);
}

#define OUTLIER(key, member, title, unit, help) \
    COLUMN_KEYED(key, outlier_cells, of.member, title, unit, help)
#define MORE(component, key, help)                                                      \
    FLAT("more_" key "_ns", outlier_cells, of.component_more_ns[component], NULL, "ns", \
         "of that: " help)

static const struct column outlier_columns[] = {
    FLAT("phase", outlier_cells, phase, "#", "", "number of the loop"),
    FIELD("turn", outlier_cells, of.iteration.index),
    FLAT("iteration", outlier_cells, of.iteration.index, "iteration", "",
         "number of the iteration, from 0"),
    COLUMN(outlier_cells, tid, "thread", "", "the thread; in step: that which took longer"),
    OUTLIER("start_ns", iteration.start_ns, "at", "ns", "since the start of the run"),
    OUTLIER("duration_ns", iteration.duration_ns, "took", "ns", "how long it took"),
    FIELD("usual_turn", outlier_cells, of.usual_index),
    OUTLIER("more_ns", more_ns, "more", "ns", "longer than a usual one"),
    MORE(COMPONENT_RUNNING, "running", "worked"),
    COMPONENT_COLUMNS(MORE),
    FIELD_OBJECT("components_ns", outlier_cells, of.component_more_ns, signed_components_table),
    FIELD_ONE("place", place_row),
    FLAT("function", outlier_cells, function, "most in", "",
         "place in it whose own time makes most of it"),
    FLAT("file", outlier_cells, place.place.file, NULL, "", "its source file"),
    FLAT("line", outlier_cells, place.place.line, NULL, "", "line in it"),
    OUTLIER("place_more_ns", place_more_ns, NULL, "ns", "how much longer that place took"),
    OUTLIER("place_more_calls", place_more_calls, NULL, "", "how many more calls of it there were"),
};

static const struct table iteration_outliers_table = TABLE(
    outlier_cells, "iteration_outliers", "a row an iteration that is an outlier", outlier_columns);

static void add_outliers(struct table_rows *rows, const struct report *report,
                         const struct iteration_phase *phase, uint64_t number)
{
    VEC_EACH (outlier, &phase->outliers, struct iteration_outlier) {
        const struct class_definition *place = &outlier->place;
        TABLE_ROW(rows, outlier_cells, .phase = number,
                  .tid = report__tid(report, outlier->iteration.thread),
                  .place = place->at.function ? call_cells__of(rows, report, place)
                                              : (struct call_cells){.place = PLACE_NOWHERE},
                  .function = place->at.function, .of = *outlier);
    }
}

static struct table_rows outliers_of_all(const struct table_subject *subject)
{
    return parts_of_all(&iteration_outliers_table, add_outliers, subject);
}

const struct table_source iteration_outliers_source = {
    &iteration_outliers_table, MADE_OF(&iterations_analysis), outliers_of_all};

/* ---- loops ----------------------------------------------------------------------------------- */

struct phase_cells {
    const struct report *report;
    uint64_t phase;
    const char *what;
    uint64_t threads, imbalance_ns;
    struct iteration_phase of; /* its figures as they are */
};

static struct table_rows threads_of(const void *row)
{
    const struct phase_cells *phase = row;
    struct table_rows rows = table_rows__of(&iteration_threads_table);
    add_threads(&rows, phase->report, &phase->of, phase->phase);
    return rows;
}

static struct table_rows outliers_of(const void *row)
{
    const struct phase_cells *phase = row;
    struct table_rows rows = table_rows__of(&iteration_outliers_table);
    add_outliers(&rows, phase->report, &phase->of, phase->phase);
    return rows;
}

static struct table_rows body_rows(const void *row)
{
    const struct phase_cells *phase = row;
    struct table_rows rows = table_rows__of(&call_table);
    VEC_EACH (what, &phase->of.body, struct class_definition)
        *(struct call_cells *)table_rows__add(&rows) = call_cells__of(&rows, phase->report, what);
    return rows;
}

static struct table_rows strip_rows(const void *row)
{
    struct table_rows rows = table_rows__of(&numbers_table);
    for (unsigned i = 0; i < ITERATIONS_STRIP; i++)
        vec__push(&rows.rows, &((const struct phase_cells *)row)->of.strip[i].longest_ns);
    return rows;
}

#define PHASE(key, member, title, unit, help) \
    COLUMN_KEYED(key, phase_cells, of.member, title, unit, help)

static const struct column phase_columns[] = {
    FLAT("phase", phase_cells, phase, "#", "", "number of the loop, from 1, in the order of time"),
    FLAT("what", phase_cells, what, "loop", "", "what an iteration does, by its first calls"),
    PHASE("marked", is_marked, NULL, "", "whether the program marks its iterations"),
    PHASE("between_waits", is_between_waits, NULL, "",
          "whether they are what is done between waits"),
    FIELD("variants", phase_cells, of.is_choice),
    PHASE("in_step", is_matched, NULL, "", "whether all threads do the same iteration together"),
    FIELD_LIST("body", body_rows),
    FIELDS_OF(phase_cells, of, body_is_cut),
    FIELD("turns", phase_cells, of.iterations),
    FLAT("iterations", phase_cells, of.iterations, "iterations", "",
         "how many; in step: of each thread"),
    FLAT("threads", phase_cells, threads, "threads", "", "threads that run the loop"),
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
    PHASE("threshold_ns", threshold_ns, NULL, "ns", "what takes longer is an outlier"),
    FIELD("outlier_count", phase_cells, of.outlier_count),
    FLAT("outliers", phase_cells, of.outlier_count, "outliers", "", "iterations that are outliers"),
    FIELD_LIST("threads", threads_of),
    FIELD_LIST("strip_ns", strip_rows),
    FIELD_LIST("outliers", outliers_of),
};
static const struct table iterations_table =
    TABLE(phase_cells, "iterations", "the program's outermost loops, a row each", phase_columns);

static void add_phase(struct table_rows *rows, const struct report *report,
                      const struct iteration_phase *phase, uint64_t number)
{
    TABLE_ROW(rows, phase_cells, .report = report, .phase = number,
              .what = table_rows__keep(rows, phase__text(report, phase)),
              .threads = phase->threads.count,
              .imbalance_ns = phase->is_matched ? phase->imbalance_ns : UINT64_MAX, .of = *phase);
}

struct table_rows phase_rows(const struct report *report, const struct iterations *iterations)
{
    struct table_rows rows = table_rows__of(&iterations_table);
    uint64_t number = 0;
    VEC_EACH (phase, &iterations->phases, struct iteration_phase)
        add_phase(&rows, report, phase, ++number);
    return rows;
}

static struct table_rows all_phases(const struct table_subject *subject)
{
    return phase_rows(subject->report, subject->iterations);
}

const struct table_source iterations_source = {&iterations_table, MADE_OF(&iterations_analysis),
                                               all_phases};
