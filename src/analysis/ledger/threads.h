/* threads.h: what became of each thread: its life, its CPU time, its waits by kind, its switches.
 *
 *     profile (lives and components) + a walk by threads (the kernel's records) ──► a row a thread
 *
 * The components add up to the life (fold/accumulate.h).  An aggregated run keeps no single records
 * of the kernel: its switches and faults are not known.  Memory: threads. */
#ifndef HEURT_ANALYSIS_LEDGER_THREADS_H
#define HEURT_ANALYSIS_LEDGER_THREADS_H

#include "analysis/ledger/profile.h"
#include "base/table.h"

struct thread_row {
    uint32_t tid, pid;
    const char *name; /* of the trace */
    uint64_t start_ns, lifetime_ns, cpu_ns, runnable_ns;
    uint64_t component_ns[COMPONENTS];
    uint64_t switches, preemptions, faults;
    uint64_t events;
    bool ended;
};

extern const struct table threads_table;

/* How often threads were off the CPU: by trace__threads. */
struct thread_switches {
    uint64_t switches, preemptions, faults;
};
extern const struct analysis threads_analysis;

/* A row for each thread of the profile, in their order. The names are the trace's. switches: the
 * analysis' result. table_rows__free it. */
struct table_rows threads__rows(const struct trace *trace, const struct profile *profile,
                                const struct thread_switches *switches);

#endif
