/* openmp_layout.h: what the events OPENMP_BEGIN and OPENMP_END tell of. A part of layout.h, which
 * includes it. */
#ifndef HEURT_FORMAT_OPENMP_LAYOUT_H
#define HEURT_FORMAT_OPENMP_LAYOUT_H

/* What OPENMP_BEGIN and OPENMP_END tell of, as X(name, number, text). Of what is short and frequent
 * several are told as one. */
/* clang-format off */
#define HEURT_OPENMP_TABLE(X)                                                                     \
    /* A parallel region, by the thread that calls it. Begin: the region's number in its process,   \
     * threads that were asked for (0: as many as there may be). */                                 \
    X(REGION, 1, "parallel region")                                                               \
    /* What one thread does in it. Begin: the region's number; its number in the team << 32 | the   \
     * team's threads. */                                                                           \
    X(BODY, 2, "body of a parallel region")                                                       \
    /* A work-shared loop, or sections. Begin: HEURT_OPENMP_LOOP, iterations in all (0: not known). \
     * End: chunks, iterations that this thread did. */                                             \
    X(LOOP, 3, "work-shared loop")                                                                \
    /* One chunk of a loop; short ones are not told. End: its iterations, the first of them. */     \
    X(CHUNK, 4, "chunk of a loop")                                                                \
    /* End: 1. By the thread that did it, before it does. */                                        \
    X(SINGLE, 5, "single")                                                                        \
    /* A barrier of a program with tasks, which are run there. End: of these ticks, those in no     \
     * task; 1. */                                                                                  \
    X(BARRIER, 6, "barrier with tasks")                                                           \
    /* Tasks were made. End: how many, with ticks of all calls; 0. */                               \
    X(TASK_MADE, 7, "tasks made")                                                                 \
    /* Tasks were run, which took so many ticks without what they waited for; the site is where     \
     * they were made. End: how many; how many of these another thread had made. */                 \
    X(TASK, 8, "tasks run")                                                                       \
    /* Waits for tasks: taskwait, the end of a taskgroup, taskyield. End: of these ticks, those in  \
     * no task; how many waits. */                                                                  \
    X(TASKWAIT, 9, "wait for tasks")                                                              \
    /* End: which construct (as the compiler's runtime numbers them), 1. */                         \
    X(CANCEL, 10, "cancel")                                                                       \
    /* Critical sections and the like were entered that were free. End: how many of those of which  \
     * LOCK_ACQUIRED tells, with the ticks that it took to enter them; 0. */                        \
    X(ENTERED, 11, "sections entered")                                                            \
    /* Waits for iterations before (ordered depend(sink)). End: of these ticks, all; how many. */  \
    X(SINK, 12, "waits for iterations")
/* clang-format on */

enum heurt_openmp {
#define HEURT_OPENMP_ID(name, id, text) HEURT_OPENMP_##name = id,
    HEURT_OPENMP_TABLE(HEURT_OPENMP_ID)
#undef HEURT_OPENMP_ID
};

/* How a loop is shared, and its chunks' iterations (0: as the runtime chooses). */
#define HEURT_OPENMP_LOOP(schedule, chunk) HEURT_SITE(chunk, schedule)
enum heurt_schedule {
    HEURT_SCHEDULE_RUNTIME = 0,
    HEURT_SCHEDULE_STATIC = 1,
    HEURT_SCHEDULE_DYNAMIC = 2,
    HEURT_SCHEDULE_GUIDED = 3,
    HEURT_SCHEDULE_AUTO = 4,
    HEURT_SCHEDULE_SECTIONS = 5,
    HEURT_SCHEDULE_ORDERED = 0x10,  /* beside it: with ordered sections */
    HEURT_SCHEDULE_DOACROSS = 0x20, /* or with dependences between iterations */
};

#endif
