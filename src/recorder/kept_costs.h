/* kept_costs.h: what the kernel's records cost on this machine, kept from run to run.
 *
 * In goes a directory (cache.h), out come the costs. To measure them takes some 5 ms, before the
 * program begins; the least of several runs is also more exact than that of one. Kept costs are of
 * this start of the machine and at most an hour old. Nothing here fails loudly: without a directory
 * they are measured each time. */
#ifndef HEURT_RECORDER_KEPT_COSTS_H
#define HEURT_RECORDER_KEPT_COSTS_H

#include "kernel/task_events.h"

/* directory: NULL: nothing is kept. */
struct task_costs kept_costs__get(const char *directory, clockid_t clock);

#endif
