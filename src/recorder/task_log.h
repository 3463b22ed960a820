/* task_log.h: from the kernel's records to lives of threads and their events. Pure: whoever has the
 * records feeds it, and it hands over runs.
 *
 *     off … on                      OFF_CPU, when the thread has a CPU again
 *     forked … on                   likewise: it wanted one from the beginning
 *     fault begins … ends           FAULT, at its end
 *     begins, off … on, ends        the thread was off because of the fault
 *
 * So every moment of a life is on a CPU or in an OFF_CPU, whatever the thread itself does. Where
 * records were lost, what contradicts itself is dropped and told as KERNEL_LOST. */
#ifndef HEURT_RECORDER_TASK_LOG_H
#define HEURT_RECORDER_TASK_LOG_H

#include "format/layout.h"
#include "kernel/task_events.h"

#include <stdbool.h>
#include <stddef.h>

struct task_log;

/* One instant on the clock of the records and in ticks of the trace. */
struct task_clock_pair {
    uint64_t ns, tick;
};

struct task_log_settings {
    /* Takes a run (its bytes are not set) with count words of whole events. False: there was no
     * room. */
    bool (*write)(void *context, const struct heurt_run *run, const uint64_t *words, size_t count);
    /* How long a thread has waited for a CPU in all, as the system counts it. False: not known. */
    bool (*delay)(void *context, uint32_t pid, uint32_t tid, uint64_t *ns);
    /* Whether its process stood still for the recorder then. NULL: none ever does. */
    bool (*stopped)(void *context, uint32_t pid, uint64_t ns);
    void *context;
    int64_t way_of_fault_ns; /* what a page fault takes beside what the records tell */
    bool ticks_are_ns;
};

struct task_log *task_log__new(const struct task_log_settings *settings);
void task_log__free(struct task_log *log); /* NULL is allowed */

/* To be told two instants before the first record is added, and later ones now and then: the rate
 * is that from the first to the last. */
void task_log__set_clock(struct task_log *log, struct task_clock_pair pair);

/* By the rate of the instants told until now. */
uint64_t task_log__ticks(const struct task_log *log, uint64_t ns);

/* Records come by time. */
void task_log__add(struct task_log *log, const struct task_record *record);

/* Writes what is known of each thread by now. */
void task_log__flush(struct task_log *log);

/* Nobody tells anything more of the threads that live: until now_ns they did what they did last. */
void task_log__finish(struct task_log *log, uint64_t now_ns);

/* Events that could not be written. */
uint64_t task_log__refused(const struct task_log *log);

#endif
