/* processes.h: what is known of each process image: who started it, when, and its program.
 *
 * In goes a trace, out comes a row a process image; it costs a look at each thread. It stands on
 * format/. */
#ifndef HEURT_ANALYSIS_LEDGER_PROCESSES_H
#define HEURT_ANALYSIS_LEDGER_PROCESSES_H

#include "base/table.h"
#include "format/reader.h"

struct process_row {
    uint32_t pid, parent_pid;
    const char *path;
    uint64_t start_ns;
    uint64_t threads;
};

extern const struct table processes_table;

/* In the order of trace__processes, whose texts they are. table_rows__free it. */
struct table_rows processes__rows(const struct trace *trace);

#endif
