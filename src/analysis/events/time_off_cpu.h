/* time_off_cpu.h: what the kernel's records and the recording tell of a thread's time, as
 * intervals. For analysis/ only. */
#ifndef HEURT_ANALYSIS_EVENTS_TIME_OFF_CPU_H
#define HEURT_ANALYSIS_EVENTS_TIME_OFF_CPU_H

#include "fold/kinds.h"
#include "format/reader.h"

enum off_cpu_type {
    OFF_CPU_NOTHING, /* the event tells of no such time */
    OFF_CPU_BLOCKED, /* until runnable; then it only wanted a CPU */
    OFF_CPU_PREEMPTED,
    OFF_CPU_FAULT,  /* it had one, for the kernel to make a page */
    OFF_CPU_PAUSED, /* it had one, which the recording used for itself */
};

/* Ticks. */
struct off_cpu {
    enum off_cpu_type type;
    enum component why;            /* until runnable */
    uint64_t begin, runnable, end; /* runnable: end where it is not known; PREEMPTED: begin */
    uint16_t cpu;                  /* on which it was back; of BLOCKED and PREEMPTED */
};

struct off_cpu off_cpu__of(const struct event *event);

/* Whether the event says that the kernel's records tell when the thread was off the CPU. */
bool off_cpu__is_told(const struct event *event);

#endif
