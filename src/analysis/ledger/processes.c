#include "analysis/ledger/processes.h"

static const struct column process_columns[] = {
    COLUMN(process_row, pid, "process", "", "number that the kernel gave the process"),
    COLUMN(process_row, parent_pid, "parent", "", "number of the one that started it"),
    COLUMN(process_row, path, "program", "", "its executable"),
    COLUMN(process_row, start_ns, "began", "ns", "start, fork or exec, since the start of the run"),
    COLUMN(process_row, threads, "threads", "", "threads of it that are in the trace"),
};
const struct table processes_table =
    TABLE(process_row, "processes", "a row a process image: a start, fork or exec begins one",
          process_columns);

static uint64_t threads_of(const struct trace *trace, size_t process)
{
    uint64_t count = 0;
    VEC_EACH (thread, trace__threads(trace), struct trace_thread)
        count += thread->process == process;
    return count;
}

struct table_rows processes__rows(const struct trace *trace)
{
    struct table_rows rows = table_rows__of(&processes_table);
    size_t at = 0;
    VEC_EACH (process, trace__processes(trace), struct trace_process)
        TABLE_ROW(&rows, process_row, .pid = process->pid, .parent_pid = process->parent_pid,
                  .path = process->path, .start_ns = trace__since_start_ns(trace, process->tick),
                  .threads = threads_of(trace, at++));
    return rows;
}
