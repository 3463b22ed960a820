/* The tables of a report: classes, what each did on each thread, who blocked whom, evidence. */
#include "present/shared.h"
#include "present/table/table_source.h"

/* ---- classes --------------------------------------------------------------------------------- */

struct class_row {
    uint64_t rank;
    const char *kind, *function, *module, *file;
    uint64_t line;
    const char *caller, *caller_file;
    uint64_t caller_line;
    uint64_t object;
    const char *object_name, *key;
    uint64_t threads;
    struct profile_class class; /* its figures as they are */
    const char *confidence, *verdict, *cause, *structure;
};

#define CLASS(member, title, unit, help) \
    COLUMN_KEYED(#member, class_row, class.member, title, unit, help)
#define WHY(reason, key, help)                                                  \
    COLUMN_KEYED("why_" key "_ns", class_row, class.why_ns[reason], NULL, "ns", \
                 "of the loss: " help)
#define GAIN(key, bound, help) \
    COLUMN_WHOLE(key, COLUMN_FACTOR, class_row, class.wall_gain[bound], NULL, "×", help)

static const struct column class_columns[] = {
    COLUMN(class_row, rank, "#", "", "place in the report, from 1"),
    COLUMN(class_row, kind, "kind", "", "lock, barrier, call, region …"),
    COLUMN(class_row, function, "function", "", "what was called"),
    COLUMN(class_row, module, NULL, "", "file of the program or library"),
    COLUMN(class_row, file, NULL, "", "source file; of a hooked call that of the call"),
    COLUMN(class_row, line, NULL, "", "line in it"),
    COLUMN(class_row, caller, "in", "", "function that makes the call, of hooked calls"),
    COLUMN(class_row, caller_file, NULL, "", "its source file"),
    COLUMN(class_row, caller_line, NULL, "", "line of the call"),
    COLUMN_AS(COLUMN_ADDRESS, class_row, object, NULL, "", "address of the lock, barrier …"),
    COLUMN(class_row, object_name, "object", "", "variable at that address"),
    COLUMN(class_row, key, NULL, "", "what its occurrences have in common besides the place"),
    COLUMN(class_row, threads, NULL, "", "threads that had it"),
    CLASS(count, "count", "", "occurrences"),
    CLASS(contended, NULL, "", "occurrences that had to wait, of locks and semaphores"),
    CLASS(unfinished, NULL, "", "occurrences that were entered and never left"),
    CLASS(min_ns, "min", "ns", "the fastest occurrence"),
    CLASS(p50_ns, "median", "ns", "median of the durations"),
    CLASS(p99_ns, NULL, "ns", "99 % took no longer"),
    CLASS(max_ns, "max", "ns", "the slowest occurrence"),
    CLASS(sum_ns, NULL, "ns", "all occurrences together"),
    CLASS(excess_ns, "lost", "ns", "what they took longer than the fastest one, together"),
    CLASS(score, "score", "share",
          "the loss over the life of the thread that lost most of its own"),
    CLASS(score_all, NULL, "share", "the loss over the lives of all threads"),
    COMPONENT_COLUMNS(WHY),
    WHY(REASON_WORKLOAD, "workload", "work that varies"),
    WHY(REASON_SLOW_MACHINE, "slow_machine", "a CPU on which everything was slower"),
    WHY(REASON_OVERLAP, "overlap", "another class at work meanwhile"),
    WHY(REASON_SPIN, "spin", "spinning"),
    WHY(REASON_IDLE, "idle", "waiting for work"),
    WHY(REASON_UNEXPLAINED, "unexplained", "nothing that is known"),
    COLUMN(class_row, confidence, NULL, "", "measured, estimated, or weak"),
    CLASS(idle, NULL, "", "whether it waits for work, events, time or a thread's end"),
    COLUMN_KEYED("ignored", class_row, class.what.ignored, NULL, "",
                 "whether a rule leaves it out"),
    COLUMN(class_row, verdict, "verdict", "", "interference, workload, or unclear"),
    COLUMN(class_row, cause, NULL, "", "reason of most of the loss"),
    CLASS(exclusive_excess_ns, NULL, "ns", "lost outside of nested occurrences"),
    GAIN("wall_gain_low", 0, "how many times as fast the run would be without the loss, at least"),
    GAIN("wall_gain_high", 1, "the same, at most"),
    COLUMN(class_row, structure, NULL, "", "what its occurrences call"),
};
_Static_assert(REASONS == 17, "every reason has a column");

static const struct table classes_table =
    TABLE(class_row, "classes", "a row a class of occurrences, as heurt report ranks them",
          class_columns);

static void fill_place(struct table_rows *rows, const struct report *report,
                       const struct profile_class *class, struct class_row *row)
{
    struct place_cells place = place_cells__of_class(rows, report, &class->what);
    bool is_hooked = class__is_hooked(&class->what) && class->what.at.site;
    row->function = class->what.at.function;
    row->module = place.module;
    row->file = place.file;
    row->line = place.line;
    row->caller = is_hooked ? place.function : NULL;
    row->caller_file = is_hooked ? place.file : NULL;
    row->caller_line = is_hooked ? place.line : UINT64_MAX;
}

static void add_class(struct table_rows *rows, const struct report *report,
                      const struct profile_class *class, size_t rank)
{
    struct class_row *row = table_rows__add(rows);
    row->rank = rank;
    row->kind = class_kind__name(class->what.at.kind);
    fill_place(rows, report, class, row);
    row->object = class->what.has_object ? class->what.object : UINT64_MAX;
    row->object_name = class__object_name(report, &class->what);
    row->key = table_rows__keep(rows, class__keys(&class->what));
    row->threads = class->threads.count;
    row->class = *class;
    row->confidence = confidence__name(class->confidence);
    row->verdict = verdict__name(class->verdict);
    row->cause = class->cause == REASON_UNEXPLAINED ? NULL : reason__key(class->cause);
    if (class->what.structure)
        row->structure = table_rows__keep(rows, class_structure__text(class->what.structure));
}

struct table_rows class_rows(const struct report *report, size_t rank)
{
    struct table_rows rows = table_rows__of(&classes_table);
    size_t at = 0;
    VEC_EACH (class, &report->profile->classes, struct profile_class)
        if (++at == rank || rank == EVERY_ROW)
            add_class(&rows, report, class, at);
    return rows;
}

static struct table_rows all_classes(const struct table_subject *subject)
{
    return class_rows(subject->report, EVERY_ROW);
}

const struct table_source classes_source = {&classes_table, MADE_OF(&profile_analysis), all_classes,
                                            NEEDS_GAINS};

/* ---- threads of a class ---------------------------------------------------------------------- */

struct class_thread_row {
    uint64_t rank;
    const char *class;
    uint32_t tid;
    const char *name;
    uint64_t count, sum_ns, excess_ns;
    double score;
};

static const struct column class_thread_columns[] = {
    COLUMN(class_thread_row, rank, "#", "", "place of the class in the report"),
    COLUMN(class_thread_row, class, "function", "", "what was called"),
    COLUMN(class_thread_row, tid, "thread", "", "number that the kernel gave the thread"),
    COLUMN(class_thread_row, name, "name", "", "name of the thread"),
    COLUMN(class_thread_row, count, "count", "", "occurrences on the thread"),
    COLUMN(class_thread_row, sum_ns, "took", "ns", "all of them together"),
    COLUMN(class_thread_row, excess_ns, "lost", "ns",
           "what they took longer than the class's fastest one"),
    COLUMN(class_thread_row, score, "score", "share", "the loss over the thread's life"),
};
static const struct table class_threads_table =
    TABLE(class_thread_row, "class_threads", "a row a class and thread", class_thread_columns);

static void add_class_threads(struct table_rows *rows, const struct report *report,
                              const struct profile_class *class, size_t rank)
{
    const struct vec *threads = trace__threads(report->trace);
    VEC_EACH (thread, &class->threads, struct profile_thread_row) {
        struct class_thread_row *row = table_rows__add(rows);
        row->rank = rank;
        row->class = class->what.at.function;
        row->tid = report__tid(report, thread->thread);
        if (thread->thread < threads->count)
            row->name = VEC_AT(threads, struct trace_thread, thread->thread)->name;
        row->count = thread->count;
        row->sum_ns = thread->sum_ns;
        row->excess_ns = thread->excess_ns;
        row->score = thread->score;
    }
}

static struct table_rows class_thread_rows(const struct table_subject *subject)
{
    struct table_rows rows = table_rows__of(&class_threads_table);
    size_t rank = 0;
    VEC_EACH (class, &subject->report->profile->classes, struct profile_class)
        add_class_threads(&rows, subject->report, class, ++rank);
    return rows;
}

const struct table_source class_threads_source = {&class_threads_table, MADE_OF(&profile_analysis),
                                                  class_thread_rows};

/* ---- who blocked whom ------------------------------------------------------------------------ */

struct blocker_row {
    uint64_t rank;
    const char *class;
    struct place_cells place;
    uint32_t tid;
    uint64_t waits, wait_ns;
    const char *doing;
    uint64_t doing_ns;
};

#define BLOCKER(member, title, unit, help) \
    COLUMN_KEYED(#member, blocker_row, place.member, title, unit, help)

static const struct column blocker_columns[] = {
    COLUMN(blocker_row, rank, "#", "", "place of the class in the report"),
    COLUMN(blocker_row, class, "waited in", "", "what was called by the one who waited"),
    BLOCKER(function, "for", "", "function that had what was waited for, or ended the wait"),
    BLOCKER(module, NULL, "", "file of the program or library"),
    BLOCKER(file, NULL, "", "source file"),
    BLOCKER(line, NULL, "", "line in it"),
    COLUMN(blocker_row, tid, "thread", "", "the blocking thread, where it is one only"),
    COLUMN(blocker_row, waits, "waits", "", "waits that it caused"),
    COLUMN(blocker_row, wait_ns, "waited", "ns", "waited because of it"),
    COLUMN(blocker_row, doing, "which", "", "what it did most besides working"),
    COLUMN(blocker_row, doing_ns, "for so long", "ns", "how much of the wait it did that"),
};
static const struct table blockers_table =
    TABLE(blocker_row, "blockers", "a row a class and a place that blocked it", blocker_columns);

static void add_blockers(struct table_rows *rows, const struct report *report,
                         const struct profile_class *class, size_t rank)
{
    VEC_EACH (blame, &class->blames, struct profile_blame) {
        struct blocker_row *row = table_rows__add(rows);
        enum component doing = blame__doing(blame);
        row->rank = rank;
        row->class = class->what.at.function;
        row->place = place_cells__of_site(rows, report, blame->process, blame->site);
        row->tid = report__tid(report, blame->thread);
        row->waits = blame->waits;
        row->wait_ns = blame->wait_ns;
        row->doing = doing__words(doing);
        row->doing_ns = blame->doing_ns[doing];
    }
}

static struct table_rows blocker_rows(const struct table_subject *subject)
{
    struct table_rows rows = table_rows__of(&blockers_table);
    size_t rank = 0;
    VEC_EACH (class, &subject->report->profile->classes, struct profile_class)
        add_blockers(&rows, subject->report, class, ++rank);
    return rows;
}

const struct table_source blockers_source = {&blockers_table, MADE_OF(&profile_analysis),
                                             blocker_rows};

/* ---- evidence -------------------------------------------------------------------------------- */

struct evidence_row {
    uint64_t rank;
    const char *class, *reason, *confidence, *argument;
    uint64_t ns, other;
    double explained, null;
};

static const struct column evidence_columns[] = {
    COLUMN(evidence_row, rank, "#", "", "place of the class in the report"),
    COLUMN(evidence_row, class, "function", "", "what was called"),
    COLUMN(evidence_row, reason, "reason", "", "why its time on the CPU differs"),
    COLUMN(evidence_row, ns, "lost", "ns", "of the loss, explained by it"),
    COLUMN(evidence_row, confidence, "confidence", "", "measured, estimated, or weak"),
    COLUMN(evidence_row, explained, "explained", "share", "of the variance, explained by it"),
    COLUMN(evidence_row, null, "by chance", "share", "as much comes about by accident"),
    COLUMN(evidence_row, argument, "what varied", "", "of varying work: which argument"),
    COLUMN(evidence_row, other, NULL, "", "of an overlap: place of the other class in the report"),
};
static const struct table evidence_table =
    TABLE(evidence_row, "evidence", "a row a class and a reason of its time on the CPU",
          evidence_columns);

static void add_evidence(struct table_rows *rows, const struct report *report,
                         const struct profile_class *class, size_t rank)
{
    VEC_EACH (evidence, &class->evidence, struct profile_evidence) {
        struct evidence_row *row = table_rows__add(rows);
        size_t other = report__rank_of(report, evidence->other);
        row->rank = rank;
        row->class = class->what.at.function;
        row->reason = reason__key(evidence->reason);
        row->confidence = confidence__name(evidence->confidence);
        row->argument = evidence->argument;
        row->ns = evidence->ns;
        row->other = other ? other : UINT64_MAX;
        row->explained = evidence->explained;
        row->null = evidence->null;
    }
}

static struct table_rows evidence_rows(const struct table_subject *subject)
{
    struct table_rows rows = table_rows__of(&evidence_table);
    size_t rank = 0;
    VEC_EACH (class, &subject->report->profile->classes, struct profile_class)
        add_evidence(&rows, subject->report, class, ++rank);
    return rows;
}

const struct table_source evidence_source = {&evidence_table, MADE_OF(&profile_analysis),
                                             evidence_rows};

/* ---- coverage -------------------------------------------------------------------------------- */

struct coverage_cells {
    const char *function, *module;
    bool instrumented;
    const char *reason;
};

static const struct column coverage_columns[] = {
    COLUMN(coverage_cells, function, "function", "", "function that was asked for"),
    COLUMN(coverage_cells, module, "module", "", "file of the program or library"),
    COLUMN(coverage_cells, instrumented, "instrumented", "", "whether its calls are recorded"),
    COLUMN(coverage_cells, reason, "reason", "", "why not"),
};
static const struct table coverage_table =
    TABLE(coverage_cells, "coverage", "a row a function that was asked for", coverage_columns);

/* The texts are the trace's. */
struct table_rows coverage_rows(const struct report *report)
{
    struct table_rows rows = table_rows__of(&coverage_table);
    struct coverage coverage = coverage__collect(report);
    const struct vec *both[] = {&coverage.refused, &coverage.instrumented};
    for (size_t i = 0; i < 2; i++)
        VEC_EACH (found, both[i], struct coverage_row) {
            struct coverage_cells *row = table_rows__add(&rows);
            *row = (struct coverage_cells){found->function, found->module, !found->reason,
                                           found->reason};
        }
    coverage__free(&coverage);
    return rows;
}

static struct table_rows rows_of_coverage(const struct table_subject *subject)
{
    return coverage_rows(subject->report);
}

const struct table_source coverage_source = {&coverage_table, 0, rows_of_coverage};
