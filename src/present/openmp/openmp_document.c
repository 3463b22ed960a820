/* heurt.openmp/1: the contract is in docs/heurt-openmp.md; and the tables of OpenMP. */
#include "analysis/events/openmp_acts.h"
#include "analysis/openmp/openmp_runtimes.h"
#include "base/memory.h"
#include "present/openmp/openmp_names.h"
#include "present/openmp/openmp_screens.h"
#include "present/table/parts.h"
#include "present/table/table_format.h"
#include "present/table/table_source.h"

/* Columns of struct team_times and struct team_counts in a row. */
#define TIME(row, member, key, title, help) \
    COLUMN_KEYED(key "_ns", row, times.member, title, "ns", help)
#define TIME_COLUMNS(row)                                                                          \
    TIME(row, work_ns, "work", "work", "threads were at work, tasks included"),                    \
        TIME(row, barrier_ns, "barrier", "barriers",                                               \
             "threads waited at barriers, and for others at the region's end"),                    \
        TIME(row, end_ns, "end", NULL, "of that, at the region's end"),                            \
        TIME(row, lock_ns, "lock", "locks",                                                        \
             "threads waited for critical and ordered sections and locks"),                        \
        TIME(row, task_ns, "task_wait", "no task", "threads waited for tasks, with none to run"),  \
        TIME(row, no_cpu_ns, "no_cpu", "no CPU", "threads wanted a CPU and had none"),             \
        TIME(row, other_ns, "other", NULL, "threads waited for something else, or were in calls"), \
        TIME(row, recording_ns, "recording", NULL, "threads were stopped to be recorded"),         \
        TIME(row, fork_ns, "fork", NULL, "until bodies began"),                                    \
        TIME(row, join_ns, "join", NULL, "from the last body's end until its caller went on")
#define COUNT_OF(row, member, key, title, help) \
    COLUMN_KEYED(key, row, counts.member, title, "", help)
#define COUNT_COLUMNS(row)                                                                         \
    COUNT_OF(row, locks, "locks", NULL, "critical and ordered sections, and locks"),               \
        COUNT_OF(row, locks_waited, "locks_waited", NULL, "of these, after a wait"),               \
        COUNT_OF(row, chunks, "chunks", NULL, "of loops that told of them"),                       \
        COUNT_OF(row, iterations, "iterations", NULL, "of these loops"),                           \
        COUNT_OF(row, singles, "singles", NULL, "single constructs"),                              \
        COUNT_OF(row, tasks, "tasks", NULL, "that were run"),                                      \
        COUNT_OF(row, stolen, "stolen_tasks", NULL, "of these, by another thread than made them"), \
        COUNT_OF(row, made, "tasks_made", NULL, "calls that made tasks"),                          \
        COLUMN_KEYED("task_work_ns", row, counts.task_work_ns, NULL, "ns", "in tasks"),            \
        COLUMN_KEYED("making_ns", row, counts.made_ns, NULL, "ns", "in calls that made tasks"),    \
        COUNT_OF(row, taskwaits, "task_waits", NULL, "waits for tasks"),                           \
        COUNT_OF(row, cancels, "cancels", NULL, "constructs that were cancelled")

/* ---- threads of a region --------------------------------------------------------------------- */

struct openmp_thread_cells {
    uint64_t rank; /* of the region */
    uint32_t number;
    uint64_t bodies, last;
    struct team_times times;
    struct team_counts counts;
};

static const struct column thread_columns[] = {
    FLAT("rank", openmp_thread_cells, rank, "#", "", "place of the region among the regions"),
    COLUMN(openmp_thread_cells, number, "thread", "", "its number in the team"),
    COLUMN(openmp_thread_cells, bodies, "times", "", "how often it was in the region"),
    COLUMN(openmp_thread_cells, last, "last", "", "of these, how often it ended last"),
    TIME_COLUMNS(openmp_thread_cells),
    COUNT_COLUMNS(openmp_thread_cells),
};
static const struct table region_threads_table =
    TABLE(openmp_thread_cells, "openmp_region_threads", "a row a thread of a region's team",
          thread_columns);

static void add_threads(struct table_rows *rows, const struct parallel_region *region,
                        uint64_t rank)
{
    uint32_t number = 0;
    VEC_EACH (member, &region->members, const struct team_member)
        TABLE_ROW(rows, openmp_thread_cells, .rank = rank, .number = number++,
                  .bodies = member->bodies, .last = member->last, .times = member->times,
                  .counts = member->counts);
}

/* ---- regions --------------------------------------------------------------------------------- */

struct openmp_region_cells {
    const struct parallel_region *of;
    uint64_t rank;
    struct place_cells place;
    uint64_t count, ns, threads, capacity_ns, lost_ns, least_work_ns, mean_work_ns, most_work_ns,
        imbalance_ns, entry_ns;
    bool nested;
    double share, gain, most_work;
    uint64_t busiest;
    struct team_times times;
    struct team_counts counts;
};

static struct table_rows threads_of(const void *row)
{
    const struct openmp_region_cells *cells = row;
    struct table_rows rows = table_rows__of(&region_threads_table);
    add_threads(&rows, cells->of, cells->rank);
    return rows;
}

#define REGION(member, title, unit, help) COLUMN(openmp_region_cells, member, title, unit, help)
static const struct column region_columns[] = {
    REGION(rank, "#", "", "place among the regions, from 1"),
    FIELD_OBJECT("place", openmp_region_cells, place, site_table),
    FLAT("function", openmp_region_cells, place.function, "in", "", "function that calls it"),
    FLAT("file", openmp_region_cells, place.file, NULL, "", "its source file"),
    FLAT("line", openmp_region_cells, place.line, "line", "", "line in it, of the pragma"),
    REGION(nested, NULL, "", "whether it was only called in another region"),
    REGION(count, "times", "", "how often it was called"),
    COLUMN_KEYED("time_ns", openmp_region_cells, ns, "time", "ns", "of who called it"),
    REGION(threads, "threads", "", "of its largest team"),
    REGION(capacity_ns, NULL, "ns", "time of all threads of its teams"),
    REGION(lost_ns, "lost", "ns", "of that, all but work"),
    COLUMN_KEYED("lost_share", openmp_region_cells, share, "share", "share",
                 "of all that the program's threads could do"),
    COLUMN_AS(COLUMN_FACTOR, openmp_region_cells, gain, "gain", "×",
              "at most, of the run, with its work evenly divided"),
    REGION(least_work_ns, NULL, "ns", "work of the thread that had least"),
    REGION(mean_work_ns, NULL, "ns", "of a thread on the average"),
    REGION(most_work_ns, NULL, "ns", "of the thread that had most"),
    REGION(busiest, NULL, "", "that thread's number"),
    COLUMN_AS(COLUMN_FACTOR, openmp_region_cells, most_work, NULL, "×",
              "its work against the others' on the average"),
    REGION(imbalance_ns, "imbalance", "ns",
           "how much more the busiest thread of each call had to do than one on the average"),
    REGION(entry_ns, NULL, "ns", "to enter critical sections that were free, about"),
    TIME_COLUMNS(openmp_region_cells),
    COUNT_COLUMNS(openmp_region_cells),
    FIELD_LIST("team", threads_of),
};
static const struct table regions_table = TABLE(
    openmp_region_cells, "openmp_regions", "a row a parallel region of OpenMP", region_columns);

static void fill_work(struct openmp_region_cells *row, const struct parallel_region *region)
{
    struct busiest busiest = parallel_region__busiest(region);
    uint64_t sum = 0;
    row->least_work_ns = region->members.count ? UINT64_MAX : 0;
    VEC_EACH (member, &region->members, const struct team_member) {
        uint64_t work_ns = member->times.work_ns;
        sum += work_ns;
        row->least_work_ns = work_ns < row->least_work_ns ? work_ns : row->least_work_ns;
        row->most_work_ns = work_ns > row->most_work_ns ? work_ns : row->most_work_ns;
    }
    row->mean_work_ns = region->members.count ? sum / region->members.count : 0;
    row->busiest = busiest.number;
    row->most_work = busiest.times > 0 ? busiest.times : COLUMN_UNKNOWN;
    row->imbalance_ns = region->chain_ns - region->mean_ns;
}

static void add_region(struct table_rows *rows, const struct openmp_report *shown,
                       const struct parallel_region *region, uint64_t rank)
{
    const struct openmp_use *use = shown->use;
    uint64_t lost_ns = parallel_region__lost_ns(region);
    struct openmp_region_cells *row = table_rows__add(rows);
    *row = (struct openmp_region_cells){
        .of = region,
        .rank = rank,
        .place = openmp_place_cells(rows, shown->report, region->process, region->site),
        .count = region->count,
        .ns = region->ns,
        .threads = region->threads,
        .capacity_ns = region->capacity_ns,
        .lost_ns = lost_ns,
        .nested = region->is_nested,
        .share = use->efficiency.capacity_ns ? (double)lost_ns / (double)use->efficiency.capacity_ns
                                             : COLUMN_UNKNOWN,
        .gain = parallel_region__gain(use, region),
        .entry_ns = team_counts__entry_ns(&region->counts),
        .times = region->times,
        .counts = region->counts};
    fill_work(row, region);
}

static struct table_rows region_rows(const struct openmp_report *shown)
{
    struct table_rows rows = table_rows__of(&regions_table);
    uint64_t rank = 0;
    if (shown->use)
        VEC_EACH (region, &shown->use->regions, const struct parallel_region)
            if (++rank == shown->rank || !shown->rank)
                add_region(&rows, shown, region, rank);
    return rows;
}

static struct table_rows rows_of_regions(const struct table_subject *subject)
{
    return region_rows(subject->openmp);
}

static struct table_rows rows_of_threads(const struct table_subject *subject)
{
    struct table_rows rows = table_rows__of(&region_threads_table);
    uint64_t rank = 0;
    if (subject->openmp->use)
        VEC_EACH (region, &subject->openmp->use->regions, const struct parallel_region)
            add_threads(&rows, region, ++rank);
    return rows;
}

/* ---- loops ----------------------------------------------------------------------------------- */

struct openmp_loop_cells {
    struct place_cells place, region;
    uint64_t times, iterations, chunks, ns, longest_ns, chunk, least_ns, most_ns, wait_ns, saved_ns;
    uint64_t last, last_times;
    unsigned schedule;
    uint64_t threads;
};

#define LOOP(member, title, unit, help) COLUMN(openmp_loop_cells, member, title, unit, help)
static const struct column loop_columns[] = {
    FIELD_OBJECT("place", openmp_loop_cells, place, site_table),
    FIELD_OBJECT("region", openmp_loop_cells, region, site_table),
    FLAT("function", openmp_loop_cells, place.function, "in", "", "function that it is in"),
    FLAT("file", openmp_loop_cells, place.file, "file", "", "its source file"),
    FLAT("line", openmp_loop_cells, place.line, "line", "", "line in it, of the pragma"),
    FLAT("region_line", openmp_loop_cells, region.line, NULL, "", "line of its region"),
    COLUMN_NAMED("schedule", openmp_loop_cells, schedule, openmp_schedule__name, "schedule",
                 "as the pragma has it; sections are a loop of their own kind"),
    LOOP(chunk, NULL, "", "iterations of a chunk, as asked for; 0: the runtime chooses"),
    LOOP(times, "times", "", "that threads began it"),
    LOOP(threads, "threads", "", "that did"),
    LOOP(iterations, "iterations", "", "that were done"),
    LOOP(chunks, "chunks", "", "in which they were"),
    COLUMN_KEYED("time_ns", openmp_loop_cells, ns, "time", "ns",
                 "of all threads, without the barrier at its end"),
    LOOP(least_ns, NULL, "ns", "of the thread that was in it for the least time"),
    LOOP(most_ns, NULL, "ns", "of the one that was in it longest"),
    LOOP(longest_ns, "longest chunk", "ns", "of those that took long; 0: none did"),
    LOOP(wait_ns, "waited", "ns", "threads waited at the barrier at its end"),
    LOOP(last, "last", "", "thread that came last there most often, by its number"),
    LOOP(last_times, NULL, "", "so many times it did"),
    LOOP(saved_ns, NULL, "ns", "of the wall time, were its work evenly divided, at most"),
};
static const struct table loops_table =
    TABLE(openmp_loop_cells, "openmp_loops",
          "a row a work-shared loop of which threads ask for chunks", loop_columns);

static struct table_rows loop_rows(const struct openmp_report *shown)
{
    struct table_rows rows = table_rows__of(&loops_table);
    if (!shown->use)
        return rows;
    VEC_EACH (loop, &shown->use->loops, const struct shared_loop) {
        struct place_cells place =
            openmp_place_cells(&rows, shown->report, loop->process, loop->site);
        struct place_cells region =
            openmp_place_cells(&rows, shown->report, loop->process, loop->region_site);
        uint64_t least_ns = UINT64_MAX, most_ns = 0, threads = 0, number = 0;
        uint64_t last = UINT64_MAX, last_times = 0;
        VEC_EACH (member, &loop->members, const struct loop_member) {
            least_ns = member->ns < least_ns ? member->ns : least_ns;
            most_ns = member->ns > most_ns ? member->ns : most_ns;
            threads += member->times > 0;
            if (member->last > last_times) {
                last = number;
                last_times = member->last;
            }
            number++;
        }
        TABLE_ROW(&rows, openmp_loop_cells, .place = place, .region = region, .times = loop->times,
                  .iterations = loop->iterations, .chunks = loop->chunks, .ns = loop->ns,
                  .longest_ns = loop->longest_ns, .chunk = loop->chunk, .least_ns = least_ns,
                  .most_ns = most_ns, .schedule = loop->schedule, .threads = threads,
                  .wait_ns = loop->wait_ns, .saved_ns = loop->saved_ns, .last = last,
                  .last_times = last_times);
    }
    return rows;
}

static struct table_rows rows_of_loops(const struct table_subject *subject)
{
    return loop_rows(subject->openmp);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

struct openmp_task_cells {
    struct place_cells place;
    uint64_t mean_ns;
    double small_share, stolen_share;
    struct task_construct figures;
};

#define TASK(key, member, title, unit, help) \
    COLUMN_KEYED(key, openmp_task_cells, member, title, unit, help)
static const struct column task_columns[] = {
    FIELD_OBJECT("place", openmp_task_cells, place, site_table),
    FLAT("function", openmp_task_cells, place.function, "in", "", "function that makes them"),
    FLAT("file", openmp_task_cells, place.file, "file", "", "its source file"),
    FLAT("line", openmp_task_cells, place.line, "line", "", "line in it, of the pragma"),
    TASK("calls", figures.calls, NULL, "", "that made them; a taskloop is one call"),
    TASK("calls_ns", figures.calls_ns, "making", "ns", "that these took"),
    TASK("count", figures.count, "tasks", "", "that were run"),
    TASK("time_ns", figures.ns, "time", "ns", "that they took, without what they waited for"),
    TASK("mean_ns", mean_ns, "each", "ns", "of that, on the average"),
    TASK("least_ns", figures.least_ns, NULL, "ns",
         "of the shortest, or of the shortest that were told as one on the average"),
    TASK("most_ns", figures.most_ns, NULL, "ns", "of the longest, likewise"),
    TASK("small", figures.small, NULL, "", "that took less than ten times what making one takes"),
    TASK("small_share", small_share, "too small", "share", "these, of all"),
    TASK("stolen", figures.stolen, NULL, "", "that another thread ran than had made them"),
    TASK("stolen_share", stolen_share, "stolen", "share", "these, of all"),
};
static const struct table tasks_table =
    TABLE(openmp_task_cells, "openmp_tasks", "a row a place that makes tasks", task_columns);

static struct table_rows task_rows(const struct openmp_report *shown)
{
    struct table_rows rows = table_rows__of(&tasks_table);
    if (!shown->use)
        return rows;
    VEC_EACH (construct, &shown->use->constructs, const struct task_construct) {
        double count = construct->count ? (double)construct->count : COLUMN_UNKNOWN;
        struct place_cells place =
            openmp_place_cells(&rows, shown->report, construct->process, construct->site);
        TABLE_ROW(&rows, openmp_task_cells, .place = place, .figures = *construct,
                  .mean_ns = construct->count ? construct->ns / construct->count : 0,
                  .small_share = (double)construct->small / count,
                  .stolen_share = (double)construct->stolen / count);
    }
    return rows;
}

static struct table_rows rows_of_tasks(const struct table_subject *subject)
{
    return task_rows(subject->openmp);
}

/* ---- barriers -------------------------------------------------------------------------------- */

struct openmp_barrier_cells {
    struct place_cells region, loop, place;
    uint64_t rank, times, threads, wait_ns, work_ns, imbalance_ns, saved_ns, joined_ns;
    uint64_t last, last_times;
    double last_work;
};

#define BARRIER(member, title, unit, help) COLUMN(openmp_barrier_cells, member, title, unit, help)
static const struct column barrier_columns[] = {
    BARRIER(rank, "#", "", "place of its region among the regions, from 1"),
    FIELD_OBJECT("region", openmp_barrier_cells, region, site_table),
    FIELD_OBJECT("place", openmp_barrier_cells, place, site_table),
    FIELD_OBJECT("loop", openmp_barrier_cells, loop, site_table),
    FLAT("function", openmp_barrier_cells, place.function, "in", "",
         "function that it is in; of the region's end none"),
    FLAT("line", openmp_barrier_cells, place.line, "line", "", "line in it"),
    FLAT("loop_line", openmp_barrier_cells, loop.line, "loop", "",
         "line of the loop that ends there"),
    BARRIER(times, "times", "", "that a team came to it"),
    BARRIER(threads, NULL, "", "of the largest team"),
    BARRIER(wait_ns, "waited", "ns", "threads waited there for others"),
    BARRIER(work_ns, "work", "ns", "of threads since the barrier before"),
    BARRIER(imbalance_ns, "imbalance", "ns",
            "how much more of that the busiest thread had each time than one on the average"),
    BARRIER(saved_ns, NULL, "ns", "of the wall time, were that work evenly divided, at most"),
    BARRIER(joined_ns, NULL, "ns", "of the wall time, if nobody waited there, at most"),
    BARRIER(last, "last", "", "thread that came last most often, by its number"),
    BARRIER(last_times, NULL, "", "so many times it did"),
    COLUMN_AS(COLUMN_FACTOR, openmp_barrier_cells, last_work, NULL, "×",
              "its work then against the others' on the average"),
};
static const struct table barriers_table =
    TABLE(openmp_barrier_cells, "openmp_barriers",
          "a row a barrier of a parallel region, its end included", barrier_columns);

static void find_last(const struct region_barrier *barrier, struct openmp_barrier_cells *row)
{
    uint64_t number = 0;
    row->last = UINT64_MAX;
    row->last_work = COLUMN_UNKNOWN;
    VEC_EACH (member, &barrier->members, const struct barrier_member) {
        if (member->last > row->last_times) {
            row->last = number;
            row->last_times = member->last;
            row->last_work = member->last_others_ns
                                 ? (double)member->last_work_ns / (double)member->last_others_ns
                                 : COLUMN_UNKNOWN;
        }
        number++;
    }
}

static uint64_t rank_of(const struct openmp_use *use, uint32_t process, uint64_t site)
{
    struct openmp_hint any = {.process = process, .region_site = site};
    return openmp_hint__rank(use, &any);
}

static struct table_rows barrier_rows(const struct openmp_report *shown)
{
    struct table_rows rows = table_rows__of(&barriers_table);
    if (!shown->use)
        return rows;
    VEC_EACH (barrier, &shown->use->barriers, const struct region_barrier) {
        uint32_t process = barrier->process;
        struct openmp_barrier_cells row = {
            .rank = rank_of(shown->use, process, barrier->region_site),
            .region = openmp_place_cells(&rows, shown->report, process, barrier->region_site),
            .place = PLACE_NOWHERE,
            .loop = PLACE_NOWHERE,
            .times = barrier->times,
            .threads = barrier->threads,
            .wait_ns = barrier->wait_ns,
            .work_ns = barrier->work_ns,
            .imbalance_ns = barrier->chain_ns - barrier->mean_ns,
            .saved_ns = barrier->saved_ns,
            .joined_ns = barrier->joined_ns};
        if (barrier->site)
            row.place = openmp_place_cells(&rows, shown->report, process, barrier->site);
        if (barrier->loop_site)
            row.loop = openmp_place_cells(&rows, shown->report, process, barrier->loop_site);
        find_last(barrier, &row);
        *(struct openmp_barrier_cells *)table_rows__add(&rows) = row;
    }
    return rows;
}

static struct table_rows rows_of_barriers(const struct table_subject *subject)
{
    return barrier_rows(subject->openmp);
}

/* ---- hints ----------------------------------------------------------------------------------- */

struct openmp_hint_cells {
    struct place_cells place;
    unsigned kind;
    uint64_t rank, n, saved_ns;
    double figure, gain;
    bool bound;
    const char *object, *words, *command;
};

#define HINT(member, title, unit, help) COLUMN(openmp_hint_cells, member, title, unit, help)
static const struct column hint_columns[] = {
    COLUMN_NAMED("kind", openmp_hint_cells, kind, openmp_hint__name, "try", "what to change"),
    HINT(rank, "#", "", "place of its region among the regions, from 1"),
    FIELD_OBJECT("place", openmp_hint_cells, place, site_table),
    FLAT("function", openmp_hint_cells, place.function, "in", "", "function that it is in"),
    FLAT("line", openmp_hint_cells, place.line, "line", "", "line in it"),
    HINT(object, NULL, "", "the lock that it is about"),
    HINT(n, "n", "", "iterations of a chunk, tasks as one, or threads; 0: it has none"),
    COLUMN_AS(COLUMN_FACTOR, openmp_hint_cells, figure, NULL, "", "the figure that it stands on"),
    HINT(saved_ns, NULL, "ns", "of the wall time; 0: it is not known"),
    HINT(bound, NULL, "", "whether that is a bound; else the loop was replayed"),
    COLUMN_AS(COLUMN_FACTOR, openmp_hint_cells, gain, "gain", "×", "of the run"),
    HINT(words, NULL, "", "all of that in a sentence"),
    HINT(command, NULL, "", "that replays the run with it"),
};
static const struct table hints_table = TABLE(
    openmp_hint_cells, "openmp_hints", "a row a change of parallel regions to try", hint_columns);

static struct table_rows hint_rows(const struct openmp_report *shown)
{
    struct table_rows rows = table_rows__of(&hints_table);
    if (!shown->use)
        return rows;
    VEC_EACH (hint, &shown->use->hints, const struct openmp_hint) {
        uint64_t site = hint->site ? hint->site : hint->region_site;
        char *command = openmp_hint__command(shown, hint);
        struct openmp_hint_cells row = {
            .place = openmp_place_cells(&rows, shown->report, hint->process, site),
            .kind = hint->kind,
            .rank = openmp_hint__rank(shown->use, hint),
            .n = hint->n,
            .saved_ns = hint->saved_ns,
            .figure = hint->figure,
            .gain = hint->gain > 0 ? hint->gain : COLUMN_UNKNOWN,
            .bound = hint->is_bound,
            .object =
                hint->lock ? report__variable(shown->report, hint->process, hint->lock) : NULL,
            .words = table_rows__keep(&rows, openmp_hint__words(shown, hint)),
            .command = command ? table_rows__keep(&rows, command) : NULL};
        *(struct openmp_hint_cells *)table_rows__add(&rows) = row;
    }
    return rows;
}

static struct table_rows rows_of_hints(const struct table_subject *subject)
{
    return hint_rows(subject->openmp);
}

const struct table_source openmp_barriers_source = {
    .table = &barriers_table, .of = MADE_OF(&openmp_analysis), .rows = rows_of_barriers};
const struct table_source openmp_hints_source = {
    .table = &hints_table, .of = MADE_OF(&openmp_analysis), .rows = rows_of_hints};
const struct table_source openmp_regions_source = {
    .table = &regions_table, .of = MADE_OF(&openmp_analysis), .rows = rows_of_regions};
const struct table_source openmp_region_threads_source = {
    .table = &region_threads_table, .of = MADE_OF(&openmp_analysis), .rows = rows_of_threads};
const struct table_source openmp_loops_source = {
    .table = &loops_table, .of = MADE_OF(&openmp_analysis), .rows = rows_of_loops};
const struct table_source openmp_tasks_source = {
    .table = &tasks_table, .of = MADE_OF(&openmp_analysis), .rows = rows_of_tasks};

/* ---- the document ---------------------------------------------------------------------------- */

struct openmp_document {
    struct run_cells run;
    const struct openmp_report *shown;
    struct efficiency efficiency;
    double value, region_efficiency, serial_efficiency, balance;
    uint64_t task_cost_ns;
};

static const struct table efficiency_table =
    OBJECT(openmp_document, FIELD("value", openmp_document, value),
           FIELDS(openmp_document, region_efficiency, serial_efficiency, balance),
           FIELDS_OF(openmp_document, efficiency, threads, capacity_ns, serial_ns, serial_lost_ns,
                     unused_ns),
           FIELDS_OF(openmp_document, efficiency.times, work_ns, barrier_ns, end_ns, lock_ns,
                     task_ns, no_cpu_ns, other_ns, fork_ns, join_ns, recording_ns));

static struct table_rows efficiency_row(const void *root)
{
    return table_rows__if(((const struct openmp_document *)root)->shown->use, &efficiency_table,
                          root);
}

static struct table_rows region_list(const void *root)
{
    return region_rows(((const struct openmp_document *)root)->shown);
}

static struct table_rows loop_list(const void *root)
{
    return loop_rows(((const struct openmp_document *)root)->shown);
}

static struct table_rows task_list(const void *root)
{
    return task_rows(((const struct openmp_document *)root)->shown);
}

static struct table_rows barrier_list(const void *root)
{
    return barrier_rows(((const struct openmp_document *)root)->shown);
}

static struct table_rows hint_list(const void *root)
{
    return hint_rows(((const struct openmp_document *)root)->shown);
}

struct serial_cells {
    struct place_cells place;
    uint64_t ns;
};
static const struct table serial_table =
    OBJECT(serial_cells, FIELD_OBJECT("place", serial_cells, place, site_table),
           FIELD("sampled_ns", serial_cells, ns));

static struct table_rows serial_list(const void *root)
{
    const struct openmp_report *shown = ((const struct openmp_document *)root)->shown;
    struct table_rows rows = table_rows__of(&serial_table);
    if (shown->use)
        VEC_EACH (part, &shown->use->serial, const struct serial_part) {
            struct place_cells place =
                place_cells__of_site(&rows, shown->report, part->process, part->address);
            TABLE_ROW(&rows, serial_cells, .place = place, .ns = part->ns);
        }
    return rows;
}

struct runtime_cells {
    const char *path;
    bool linked_in;
    uint64_t threads, seen_threads;
};
static const struct table runtime_table =
    OBJECT(runtime_cells, FIELDS(runtime_cells, path, linked_in, threads, seen_threads));

static struct table_rows runtime_list(const void *root)
{
    const struct openmp_report *shown = ((const struct openmp_document *)root)->shown;
    struct table_rows rows = table_rows__of(&runtime_table);
    struct vec runtimes =
        openmp_runtimes__of(shown->report->trace, shown->report->symbols, shown->use);
    VEC_EACH (runtime, &runtimes, const struct openmp_runtime)
        TABLE_ROW(&rows, runtime_cells, .path = runtime->path, .linked_in = runtime->is_linked_in,
                  .threads = runtime->threads, .seen_threads = runtime->told);
    vec__free(&runtimes);
    return rows;
}

static const struct table document_table =
    OBJECT(openmp_document, FIELD_SCHEMA("heurt.openmp/1"), FIELD_COMMAND,
           FIELDS_OF_EXIT(openmp_document, run), FIELD_MACHINE,
           FIELD("wall_ns", openmp_document, run.wall_ns),
           FIELD("task_cost_ns", openmp_document, task_cost_ns),
           FIELD_ONE("efficiency", efficiency_row), FIELD_LIST("regions", region_list),
           FIELD_LIST("loops", loop_list), FIELD_LIST("tasks", task_list),
           FIELD_LIST("barriers", barrier_list), FIELD_LIST("hints", hint_list),
           FIELD_LIST("serial", serial_list), FIELD_LIST("runtimes", runtime_list), FIELD_WARNINGS);

static void put_json(const struct openmp_report *shown, const struct style *style, FILE *out)
{
    struct openmp_document document = {run_cells__of(shown->report), shown,
                                       .value = COLUMN_UNKNOWN};
    (void)style;
    if (shown->use) {
        document.efficiency = shown->use->efficiency;
        document.value = efficiency__value(&document.efficiency);
        document.region_efficiency = efficiency__of_regions(&document.efficiency);
        document.serial_efficiency = efficiency__of_serial(&document.efficiency);
        document.balance = efficiency__balance(shown->use);
        document.task_cost_ns = shown->use->task_cost_ns;
    }
    document__put(&document_table, &document, out);
}

static void put_csv(const struct openmp_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    table_rows__put_csv(region_rows(shown), out);
}

const struct openmp_presenter openmp_json = {"json", put_json};
const struct openmp_presenter openmp_csv = {"csv", put_csv};
