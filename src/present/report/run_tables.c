/* The tables of what a run is made of: its processes, and single occurrences of its classes. */
#include "analysis/ledger/processes.h"
#include "analysis/timeline/longest.h"
#include "base/memory.h"
#include "present/shared.h"
#include "present/table/table_source.h"

#include <string.h>

/* ---- the run --------------------------------------------------------------------------------- */

struct run_line {
    const char *command, *host, *kernel, *processor, *version;
    uint64_t wall_ns, lost;
    uint32_t exit_status, signal;
};

static const struct column run_columns[] = {
    COLUMN(run_line, command, "command", "", "what was run"),
    COLUMN(run_line, wall_ns, "wall", "ns", "from the first thread's start to the end"),
    COLUMN(run_line, exit_status, "status", "", "its exit status"),
    COLUMN(run_line, signal, NULL, "", "signal that ended it"),
    COLUMN_KEYED("events_lost", run_line, lost, NULL, "", "events that found no room"),
    COLUMN(run_line, host, "host", "", "name of the machine"),
    COLUMN(run_line, kernel, NULL, "", "version of its kernel"),
    COLUMN(run_line, processor, NULL, "", "its processor"),
    COLUMN(run_line, version, NULL, "", "heurt that recorded it"),
};
static const struct table run_table =
    TABLE(run_line, "run", "one row: the run itself", run_columns);

/* Its arguments, with blanks in between. */
static char *command_of(const struct trace *trace)
{
    char *command = memory__text(trace__meta(trace, "command"));
    for (char *at = command; at && (at = strchr(at, '\n'));)
        *at = ' ';
    return command;
}

static struct table_rows rows_of_run(const struct table_subject *subject)
{
    const struct trace *trace = subject->report->trace;
    const struct run_cells cells = run_cells__of(subject->report);
    struct table_rows rows = table_rows__of(&run_table);
    const char *command = table_rows__keep(&rows, command_of(trace));
    TABLE_ROW(&rows, run_line, .command = command, .host = trace__meta(trace, "host"),
              .kernel = trace__meta(trace, "kernel"), .processor = trace__meta(trace, "processor"),
              .version = trace__meta(trace, "version"), .wall_ns = cells.wall_ns,
              .lost = trace__events_lost(trace), .exit_status = cells.exit_status,
              .signal = cells.signal);
    return rows;
}

const struct table_source run_source = {&run_table, NULL, rows_of_run};

/* ---- processes ------------------------------------------------------------------------------- */

static struct table_rows rows_of_processes(const struct table_subject *subject)
{
    return processes__rows(subject->report->trace);
}

const struct table_source processes_source = {&processes_table, NULL, rows_of_processes};

/* ---- single occurrences ---------------------------------------------------------------------- */

struct occurrence_row {
    uint64_t rank;
    const char *kind, *function;
    uint32_t tid, pid;
    const char *thread;
    struct long_occurrence of; /* its figures as they are */
};

#define PART(component, key, help) \
    COLUMN_KEYED(key "_ns", occurrence_row, of.component_ns[component], NULL, "ns", "of it: " help)

static const struct column occurrence_columns[] = {
    COLUMN(occurrence_row, rank, "#", "", "place of its class in the report"),
    COLUMN(occurrence_row, kind, "kind", "", "lock, barrier, call, region …"),
    COLUMN(occurrence_row, function, "function", "", "what was called"),
    COLUMN(occurrence_row, tid, "thread", "", "number that the kernel gave the thread"),
    COLUMN(occurrence_row, pid, NULL, "", "process that the thread belongs to"),
    COLUMN(occurrence_row, thread, "name", "", "name of the thread"),
    COLUMN_KEYED("at_ns", occurrence_row, of.start_ns, "at", "ns", "since the start of the run"),
    COLUMN_KEYED("took_ns", occurrence_row, of.duration_ns, "took", "ns", "how long it took"),
    COMPONENT_COLUMNS(PART),
    PART(COMPONENT_RUNNING, "running", "worked"),
};
static const struct table occurrences_table =
    TABLE(occurrence_row, "occurrences",
          "a row an occurrence: of each class the 1,000 that took longest", occurrence_columns);
_Static_assert(LONGEST_KEPT == 1000, "the table says how many");

static void add_class(struct table_rows *rows, const struct report *report, size_t place,
                      const struct vec *occurrences)
{
    const struct class_definition *what =
        &VEC_AT(&report->profile->classes, struct profile_class, place)->what;
    const struct identity_cells identity = identity_cells__of(rows, report, what);
    VEC_EACH (one, occurrences, struct long_occurrence) {
        const struct trace_thread *thread = trace__thread_at(report->trace, one->thread);
        TABLE_ROW(rows, occurrence_row, place + 1, identity.kind, identity.function, thread->tid,
                  thread->pid, thread->name, *one);
    }
}

static struct table_rows rows_of_occurrences(const struct table_subject *subject)
{
    const struct longest *longest = subject->longest;
    struct table_rows rows = table_rows__of(&occurrences_table);
    for (size_t i = 0; longest && i < longest->class_count; i++)
        add_class(&rows, subject->report, i, &longest->classes[i]);
    return rows;
}

const struct table_source occurrences_source = {
    &occurrences_table, MADE_OF(&profile_analysis, &longest_analysis), rows_of_occurrences};
