/* The tables of a report: classes, what each did on each thread, who blocked whom, evidence. */
#include "base/ratio.h"
#include "present/shared.h"
#include "present/table/table_source.h"

#include <math.h>

/* ---- classes --------------------------------------------------------------------------------- */

struct class_row {
    const struct report *report;
    uint64_t rank;
    struct identity_cells identity;
    uint64_t object;
    const char *object_name, *key;
    uint64_t threads;
    uint64_t sampled, sum_error_ns; /* UINT64_MAX: it is not sampled */
    struct profile_class class;     /* its figures as they are */
    const char *structure;
};

/* ---- what it calls --------------------------------------------------------------------------- */

struct inside_row {
    struct profile_inside of;
    uint64_t least, most;
};

static const struct table inside_table =
    OBJECT(inside_row, FIELD("level", inside_row, of.level),
           FIELD_NAMED("kind", inside_row, of.kind, class_kind__name),
           FIELD("function", inside_row, of.function), FIELDS(inside_row, least, most));

static struct table_rows inside_rows(const void *row)
{
    struct table_rows rows = table_rows__of(&inside_table);
    VEC_EACH (inside, &((const struct class_row *)row)->class.what.structure->inside,
              struct profile_inside) {
        bool is_counted = inside->level == 1;
        TABLE_ROW(&rows, inside_row, *inside, is_counted ? inside->least : UINT64_MAX,
                  is_counted ? inside->most : UINT64_MAX);
    }
    return rows;
}

struct structure_row {
    struct class_row class;
    uint32_t depth;
    bool is_rest;
};

static const struct table structure_table =
    OBJECT(structure_row, FIELD("depth", structure_row, depth),
           FIELD("text", structure_row, class.structure), FIELD("rest", structure_row, is_rest),
           FIELD_LIST("inside", inside_rows));

static struct table_rows structure_row(const void *row)
{
    const struct class_row *class = row;
    const struct profile_structure *structure = class->class.what.structure;
    struct table_rows rows = table_rows__of(&structure_table);
    if (structure)
        TABLE_ROW(&rows, structure_row, *class, structure->depth, structure->is_rest);
    return rows;
}

/* ---- its other parts ------------------------------------------------------------------------- */

static const struct table keys_table = OBJECT(profile_key, FIELDS(profile_key, name, value));

static struct table_rows key_rows(const void *row)
{
    struct table_rows rows = table_rows__of(&keys_table);
    VEC_EACH (key, &((const struct class_row *)row)->class.what.keys, struct profile_key)
        vec__push(&rows.rows, key);
    return rows;
}

static struct table_rows doubt_rows(const void *row)
{
    struct table_rows rows = table_rows__of(&texts_table);
    for (unsigned i = 0; i < DOUBTS; i++)
        if (((const struct class_row *)row)->class.doubts & 1u << i)
            *(const char **)table_rows__add(&rows) = doubt__name(i);
    return rows;
}

static struct table_rows stack_rows(const void *row)
{
    const struct class_row *class = row;
    struct table_rows rows = table_rows__of(&stack_table);
    VEC_EACH (stack, &class->class.what.stacks, struct profile_stack)
        TABLE_ROW(&rows, stack_cells, class->report, *stack, true);
    return rows;
}

struct reason_row {
    int64_t ns[REASONS];
};

#define REASON(reason, key, help) FIELD(key, reason_row, ns[reason])
/* A column for each reason that is no component. */
#define REASON_COLUMNS(ONE)                                                               \
    ONE(REASON_WORKLOAD, "workload", "work that varies"),                                 \
        ONE(REASON_SLOW_MACHINE, "slow_machine", "a CPU on which everything was slower"), \
        ONE(REASON_OVERLAP, "overlap", "another class at work meanwhile"),                \
        ONE(REASON_FALSE_SHARING, "false_sharing",                                        \
            "cache lines taken away by who uses other bytes of them"),                    \
        ONE(REASON_TRUE_SHARING, "true_sharing", "likewise, by who uses the same bytes"), \
        ONE(REASON_SPIN, "spin", "spinning"),                                             \
        ONE(REASON_REMOTE_MEMORY, "remote_memory", "memory of other NUMA nodes"),         \
        ONE(REASON_IDLE, "idle", "waiting for work"),                                     \
        ONE(REASON_UNEXPLAINED, "unexplained", "nothing that is known")
_Static_assert(REASONS == 20, "every reason has a column");

static const struct table reasons_table =
    OBJECT(reason_row, COMPONENT_COLUMNS(REASON), REASON_COLUMNS(REASON));

/* REASON_UNEXPLAINED: no cause is known. */
static const char *cause__name(enum reason cause)
{
    return cause == REASON_UNEXPLAINED ? NULL : reason__key(cause);
}

static struct table_rows evidence_of(const void *row);
static struct table_rows holders_of(const void *row);
static struct table_rows blockers_of(const void *row);
static struct table_rows threads_of(const void *row);

/* ---- the table ------------------------------------------------------------------------------- */

#define CLASS(member, title, unit, help) \
    COLUMN_KEYED(#member, class_row, class.member, title, unit, help)
#define WHY(reason, key, help) \
    FLAT("why_" key "_ns", class_row, class.why_ns[reason], NULL, "ns", "of the loss: " help)
#define GAIN(key, bound, help) \
    FLAT_AS(COLUMN_FACTOR, key, class_row, class.wall_gain[bound], NULL, "×", help)
#define IDENTITY(key, member, title, help) \
    COLUMN_KEYED(key, class_row, identity.member, title, "", help)

static const struct column class_columns[] = {
    COLUMN(class_row, rank, "#", "", "place in the report, from 1"),
    IDENTITY("kind", kind, "kind", "lock, barrier, call, region …"),
    IDENTITY("function", function, "function", "what was called"),
    IDENTITY("module", place.module, NULL, "file of the program or library"),
    IDENTITY("file", place.file, NULL, "source file; of a hooked call that of the call"),
    IDENTITY("line", place.line, NULL, "line in it"),
    FIELD_OBJECT("caller", class_row, identity.caller, place_table),
    FLAT("caller", class_row, identity.caller.function, "in", "",
         "function that makes the call, of hooked calls"),
    FLAT("caller_file", class_row, identity.caller.file, NULL, "", "its source file"),
    FLAT("caller_line", class_row, identity.caller.line, NULL, "", "line of the call"),
    COLUMN_AS(COLUMN_ADDRESS, class_row, object, NULL, "", "address of the lock, barrier …"),
    COLUMN(class_row, object_name, "object", "", "variable at that address"),
    FLAT("key", class_row, key, NULL, "", "what its occurrences have in common besides the place"),
    FIELD_MAP("key", key_rows),
    FIELD_ONE("structure", structure_row),
    COLUMN(class_row, threads, NULL, "", "threads that had it"),
    CLASS(count, "count", "", "occurrences"),
    FIELDS(class_row, sampled, sum_error_ns),
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
    REASON_COLUMNS(WHY),
    FIELD_OBJECT("why_ns", class_row, class.why_ns, reasons_table),
    COLUMN_NAMED("confidence", class_row, class.confidence, confidence__name, NULL,
                 "measured, estimated, or weak"),
    CLASS(idle, NULL, "", "whether it waits for work, events, time or a thread's end"),
    COLUMN_KEYED("ignored", class_row, class.what.ignored, NULL, "",
                 "whether a rule leaves it out"),
    COLUMN_NAMED("verdict", class_row, class.verdict, verdict__name, "verdict",
                 "interference, workload, or unclear"),
    COLUMN_NAMED("cause", class_row, class.cause, cause__name, NULL, "reason of most of the loss"),
    CLASS(exclusive_excess_ns, NULL, "ns", "lost outside of nested occurrences"),
    GAIN("wall_gain_low", 0, "how many times as fast the run would be without the loss, at least"),
    GAIN("wall_gain_high", 1, "the same, at most"),
    FIELD_AS(COLUMN_RANGE, "wall_gain", class_row, class.wall_gain),
    FLAT("structure", class_row, structure, NULL, "", "what its occurrences call"),
    FIELD_LIST("evidence", evidence_of),
    FIELD_LIST("doubts", doubt_rows),
    FIELD_LIST("holders", holders_of),
    FIELD_LIST("blames", blockers_of),
    FIELD_LIST("threads_detail", threads_of),
    FIELD_LIST("stacks", stack_rows),
};

static const struct table classes_table =
    TABLE(class_row, "classes", "a row a class of occurrences, as heurt report ranks them",
          class_columns);

static void add_class(struct table_rows *rows, const struct report *report,
                      const struct profile_class *class, size_t rank)
{
    const struct class_definition *what = &class->what;
    bool is_sampled = class->recorded < class->count;
    TABLE_ROW(rows, class_row, .report = report, .rank = rank,
              .identity = identity_cells__of(rows, report, what),
              .object = what->has_object ? what->object : UINT64_MAX,
              .object_name = class__object_name(report, what),
              .key = table_rows__keep(rows, class__keys(what)), .threads = class->threads.count,
              .sampled = is_sampled ? class->recorded : UINT64_MAX,
              .sum_error_ns = is_sampled ? class->sum_error_ns : UINT64_MAX, .class = *class,
              .structure = what->structure
                               ? table_rows__keep(rows, class_structure__text(what->structure))
                               : NULL);
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

/* ---- a class's parts ------------------------------------------------------------------------- */

/* What a row of a part says of its class. */
struct whose_class {
    const struct report *report;
    const struct profile_class *class;
    uint64_t rank;
    const char *function;
};

#define WHOSE(row, key, title, help)                                            \
    FLAT("rank", row, whose.rank, "#", "", "place of the class in the report"), \
        FLAT(key, row, whose.function, title, "", help)

typedef void add_parts(struct table_rows *rows, const struct whose_class *whose);

static struct table_rows parts_of(const struct table *table, add_parts *add,
                                  const struct class_row *class)
{
    struct table_rows rows = table_rows__of(table);
    add(&rows, &(struct whose_class){class->report, &class->class, class->rank,
                                     class->class.what.at.function});
    return rows;
}

static struct table_rows parts_of_all(const struct table *table, add_parts *add,
                                      const struct report *report)
{
    struct table_rows rows = table_rows__of(table);
    uint64_t rank = 0;
    VEC_EACH (class, &report->profile->classes, struct profile_class)
        add(&rows, &(struct whose_class){report, class, ++rank, class->what.at.function});
    return rows;
}

/* ---- threads of a class ---------------------------------------------------------------------- */

struct class_thread_row {
    struct whose_class whose;
    uint32_t tid;
    const char *name;
    struct profile_thread_row of; /* its figures as they are */
};

#define THREAD(member, title, unit, help) \
    COLUMN_KEYED(#member, class_thread_row, of.member, title, unit, help)

static const struct column class_thread_columns[] = {
    WHOSE(class_thread_row, "class", "function", "what was called"),
    COLUMN(class_thread_row, tid, "thread", "", "number that the kernel gave the thread"),
    COLUMN(class_thread_row, name, "name", "", "name of the thread"),
    THREAD(count, "count", "", "occurrences on the thread"),
    THREAD(sum_ns, "took", "ns", "all of them together"),
    THREAD(excess_ns, "lost", "ns", "what they took longer than the class's fastest one"),
    THREAD(score, "score", "share", "the loss over the thread's life"),
};
static const struct table class_threads_table =
    TABLE(class_thread_row, "class_threads", "a row a class and thread", class_thread_columns);

static void add_class_threads(struct table_rows *rows, const struct whose_class *whose)
{
    const struct vec *threads = trace__threads(whose->report->trace);
    VEC_EACH (thread, &whose->class->threads, struct profile_thread_row)
        TABLE_ROW(rows, class_thread_row, *whose, report__tid(whose->report, thread->thread),
                  thread->thread < threads->count
                      ? VEC_AT(threads, struct trace_thread, thread->thread)->name
                      : NULL,
                  *thread);
}

static struct table_rows threads_of(const void *row)
{
    return parts_of(&class_threads_table, add_class_threads, row);
}

static struct table_rows threads_of_all(const struct table_subject *subject)
{
    return parts_of_all(&class_threads_table, add_class_threads, subject->report);
}

const struct table_source class_threads_source = {&class_threads_table, MADE_OF(&profile_analysis),
                                                  threads_of_all};

/* ---- who blocked whom ------------------------------------------------------------------------ */

struct blocker_row {
    struct whose_class whose;
    struct place_cells place;
    uint32_t tid;
    struct profile_blame of; /* its figures as they are */
    const char *doing;
    uint64_t doing_ns;
    double share; /* of what the class waited for holders */
};

#define PLACE(row, member, title, help) COLUMN_KEYED(#member, row, place.member, title, "", help)

static const struct column blocker_columns[] = {
    WHOSE(blocker_row, "class", "waited in", "what was called by the one who waited"),
    PLACE(blocker_row, function, "for", "function that had what was waited for, or ended the wait"),
    PLACE(blocker_row, module, NULL, "file of the program or library"),
    PLACE(blocker_row, file, NULL, "source file"),
    PLACE(blocker_row, line, NULL, "line in it"),
    FIELD("thread", blocker_row, tid),
    FLAT("tid", blocker_row, tid, "thread", "", "the blocking thread, where it is one only"),
    COLUMN_KEYED("waits", blocker_row, of.waits, "waits", "", "waits that it caused"),
    COLUMN_KEYED("wait_ns", blocker_row, of.wait_ns, "waited", "ns", "waited because of it"),
    FLAT("doing", blocker_row, doing, "which", "", "what it did most besides working"),
    FLAT("doing_ns", blocker_row, doing_ns, "for so long", "ns",
         "how much of the wait it did that"),
    FIELD_COMPONENTS("doing_ns", blocker_row, of.doing_ns),
};
static const struct table blockers_table =
    TABLE(blocker_row, "blockers", "a row a class and a place that blocked it", blocker_columns);

static const struct table holders_table =
    OBJECT(blocker_row, FIELD("share", blocker_row, share),
           FIELDS_OF(blocker_row, of, wait_ns, waits), FIELDS_OF_PLACE(blocker_row, place));

static void add_blockers(struct table_rows *rows, const struct whose_class *whose)
{
    const struct report *report = whose->report;
    uint64_t held_ns = profile_class__held_ns(report->profile, whose->class);
    VEC_EACH (blame, &whose->class->blames, struct profile_blame) {
        enum component doing = blame__doing(blame);
        TABLE_ROW(rows, blocker_row, *whose,
                  place_cells__of_site(rows, report, blame->process, blame->site),
                  report__tid(report, blame->thread), *blame, doing__words(doing),
                  blame->doing_ns[doing], ratio(blame->wait_ns, held_ns));
    }
}

static struct table_rows blockers_of(const void *row)
{
    return parts_of(&blockers_table, add_blockers, row);
}

static void add_no_parts(struct table_rows *rows, const struct whose_class *whose)
{
    (void)rows;
    (void)whose;
}

static struct table_rows holders_of(const void *row)
{
    bool is_lock = ((const struct class_row *)row)->class.what.at.kind == CLASS_LOCK;
    return parts_of(&holders_table, is_lock ? add_blockers : add_no_parts, row);
}

static struct table_rows blockers_of_all(const struct table_subject *subject)
{
    return parts_of_all(&blockers_table, add_blockers, subject->report);
}

const struct table_source blockers_source = {&blockers_table, MADE_OF(&profile_analysis),
                                             blockers_of_all};

/* ---- evidence -------------------------------------------------------------------------------- */

struct evidence_row {
    struct whose_class whose;
    struct profile_evidence of; /* its figures as they are */
    uint64_t other;
    double slope_ns;
    const char *other_function;
    uint32_t other_tid;
    uint64_t cache_line; /* UINT64_MAX: there is none */
};

static const struct table other_table =
    OBJECT(evidence_row, FIELD("rank", evidence_row, other),
           FIELD("function", evidence_row, other_function), FIELD("tid", evidence_row, other_tid));

static struct table_rows other_row(const void *row)
{
    const struct evidence_row *evidence = row;
    return table_rows__if(!isnan(evidence->slope_ns) && evidence->other != UINT64_MAX, &other_table,
                          evidence);
}

static const struct column evidence_columns[] = {
    WHOSE(evidence_row, "class", "function", "what was called"),
    COLUMN_NAMED("reason", evidence_row, of.reason, reason__key, "reason",
                 "why its time on the CPU differs"),
    COLUMN_KEYED("ns", evidence_row, of.ns, "lost", "ns", "of the loss, explained by it"),
    COLUMN_NAMED("confidence", evidence_row, of.confidence, confidence__name, "confidence",
                 "measured, estimated, or weak"),
    COLUMN_KEYED("explained", evidence_row, of.explained, "explained", "share",
                 "of the variance, explained by it"),
    COLUMN_KEYED("null", evidence_row, of.null, "by chance", "share",
                 "as much comes about by accident"),
    FIELD("slope_ns", evidence_row, slope_ns),
    COLUMN_KEYED("argument", evidence_row, of.argument, "what varied", "",
                 "of varying work: which argument"),
    FLAT("other", evidence_row, other, NULL, "",
         "of an overlap: place of the other class in the report"),
    FIELD_ONE("other", other_row),
    COLUMN_AS(COLUMN_ADDRESS, evidence_row, cache_line, NULL, "",
              "of sharing: a cache line at which most of it was"),
};
static const struct table evidence_table =
    TABLE(evidence_row, "evidence", "a row a class and a reason of its time on the CPU",
          evidence_columns);

static void add_evidence(struct table_rows *rows, const struct whose_class *whose)
{
    const struct report *report = whose->report;
    VEC_EACH (evidence, &whose->class->evidence, struct profile_evidence) {
        bool of_others = evidence->reason == REASON_OVERLAP || evidence->reason == REASON_SPIN;
        size_t other = report__rank_of(report, evidence->other);
        TABLE_ROW(rows, evidence_row, .whose = *whose, .of = *evidence,
                  .other = other ? other : UINT64_MAX,
                  .cache_line = evidence->line ? evidence->line : UINT64_MAX,
                  .slope_ns = of_others ? evidence->slope_ns : COLUMN_UNKNOWN,
                  .other_function =
                      other ? VEC_AT(&report->profile->classes, struct profile_class, other - 1)
                                  ->what.at.function
                            : NULL,
                  .other_tid = report__tid(report, evidence->thread));
    }
}

static struct table_rows evidence_of(const void *row)
{
    return parts_of(&evidence_table, add_evidence, row);
}

static struct table_rows evidence_of_all(const struct table_subject *subject)
{
    return parts_of_all(&evidence_table, add_evidence, subject->report);
}

const struct table_source evidence_source = {&evidence_table, MADE_OF(&profile_analysis),
                                             evidence_of_all};

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
