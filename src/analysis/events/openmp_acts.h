/* openmp_acts.h: what an event tells of OpenMP. In go a thread's events, out comes what of a
 * region, a loop or a task begins or ends. For analysis/ only. */
#ifndef HEURT_ANALYSIS_EVENTS_OPENMP_ACTS_H
#define HEURT_ANALYSIS_EVENTS_OPENMP_ACTS_H

#include "format/reader.h"

enum openmp_act_type {
    OPENMP_ACT_NOTHING,
    OPENMP_REGION_BEGINS, /* a: its number in its process */
    OPENMP_REGION_ENDS,
    OPENMP_BODY_BEGINS, /* a: the region's number; number, team */
    OPENMP_BODY_ENDS,
    OPENMP_LOOP_BEGINS, /* schedule, a: iterations of a chunk, b: of the loop; 0: not known */
    OPENMP_LOOP_ENDS,   /* a: chunks, b: iterations that this thread did */
    OPENMP_CHUNK,       /* a: iterations, b: the first of them */
    OPENMP_SINGLE,
    OPENMP_BARRIER,    /* of ticks a were in no task */
    OPENMP_TASKS_MADE, /* a: how many, at site */
    OPENMP_TASKS_RUN,  /* a: how many, made at site; b: by others */
    OPENMP_TASKWAIT,   /* b: how many; of ticks a were in no task */
    OPENMP_SINK,       /* likewise, for iterations before */
    OPENMP_CANCELLED,
    OPENMP_ENTERED, /* a: sections that were free */
};

struct openmp_act {
    enum openmp_act_type type;
    uint64_t tick, site;
    uint64_t ticks; /* that it took, of what has ended and had no begin; of several, in all */
    uint64_t a, b;
    uint32_t number, team; /* of a body: of the thread in the team, of all its threads */
    uint32_t schedule;     /* enum heurt_schedule */
};

struct openmp_act openmp_act__of(const struct event *event);
/* "static", "dynamic", … as the pragma has it; of a loop with dependences, or sections, that. */
const char *openmp_schedule__name(unsigned schedule);

#endif
