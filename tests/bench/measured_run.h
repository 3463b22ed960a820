/* measured_run.h: what one run of a command costs: its time, and its memory. */
#ifndef HEURT_BENCH_MEASURED_RUN_H
#define HEURT_BENCH_MEASURED_RUN_H

#include "child.h"

#include <sys/types.h>

struct measured_run {
    double cpu_s, wall_s;
    double
        memory_kb; /* the most anonymous memory that was seen, looked at every millisecond: pages
                      of a mapped trace, which the system may drop at any time, are not its own */
};

/* Its stdout is thrown away, its stderr goes to the log. Fails when its status is not 0. */
int measured_run__make(const struct words *words, const char *log, struct measured_run *run,
                       struct error *error);

/* Anonymous memory that a process has now; 0 when it cannot be told. */
double process__anonymous_kb(pid_t process);

/* Does work in a process of its own, which tells an outcome of so many bytes; and the most
 * anonymous memory that it had, looked at every millisecond. Fails with a sentence unless it tells
 * one; what work says on failure goes to stderr. */
int process__measure(int (*work)(const char *directory, void *outcome, struct error *error),
                     const char *directory, void *outcome, size_t bytes, double *memory_kb,
                     struct error *error);

#endif
