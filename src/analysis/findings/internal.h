/* internal.h: what the parts of the findings share.
 *
 *     findings.c           classes put together by place and object; the order
 *     finding_causes.c     what a class lost, and what that is called
 *     finding_handover.c   waits of two places for one another; sleeps of a place that asks
 *     finding_stages.c     threads of a pipeline, all of which wait for the slowest
 *     finding_waking.c     what waits for a lock cost beside them: waking, the lock's own line,
 *                          code that takes it all the time
 *     finding_herd.c       threads that are woken for nothing
 *     finding_creation.c   threads that are made for little work
 *     finding_serial.c     threads that are started and waited for one after another
 *     finding_signal.c     handlers of signals
 *     finding_spinning.c   functions that are known to spin
 *     finding_retries.c    work that is done again when a compare-and-swap failed
 *     finding_sharing.c    cache lines that threads take from each other
 *     finding_remote.c     memory that lies at other NUMA nodes than its users
 *     finding_tasks.c      what threads lose for tasks of OpenMP
 *     finding_transfer.c   input and output that is work on a CPU, and no wait
 *     finding_threads.c    what the threads' components tell besides
 *     finding_imbalance.c  one thread works while the others are done, or comes last
 *     finding_between.c    what one thread works between parallel regions
 *     finding_sleepers.c   threads that are waited for while they sleep
 *     finding_gain.c       what could be gained, without a replay
 *     finding_parts.c      what a finding consists of: its places or objects, who held them
 *     finding_roles.c      threads that do the same
 *     finding_told.c       what of all that is of threads that are not aside
 *
 * wall_gains.c asks a replay, and knows what is public only. */
#ifndef HEURT_ANALYSIS_FINDINGS_INTERNAL_H
#define HEURT_ANALYSIS_FINDINGS_INTERNAL_H

#include "analysis/callsite/program_frame.h"
#include "analysis/findings/findings.h"

struct openmp_use;

#define NO_GROUP UINT32_MAX
#define FAULTS_LEAST_NS \
    10000000u        /* less of page faults, or of what else no call tells, is little */
#define WORK_PART 20 /* of the busiest thread's CPU time */
#define LOSES_PART 8 /* of a thread's life: less lost than that is losing nothing */

static inline uint64_t ns__larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t ns__smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Not below 0. */
static inline uint64_t ns__without(uint64_t all, uint64_t part)
{
    return all > part ? all - part : 0;
}

/* A class that lost something to others. */
struct candidate {
    uint32_t class; /* place in profile->classes */
    enum finding_category category;
    uint64_t lost_ns; /* of threads that had work */
    const struct symbol *place;
    uint32_t by_place, by_object; /* numbers of the groups it may belong to */
    bool is_taken;
};

/* Of a thread's CPU time. */
struct own_time {
    uint64_t ns;        /* in the program's code and libraries, not in the kernel */
    uint64_t waking_ns; /* in the kernel for waking others: for nothing else that is known */
};

struct finder {
    const struct trace *trace;
    const struct symbols *symbols;
    const struct profile *profile;
    const struct openmp_use *openmp; /* NULL: nothing is told of any */
    struct findings *findings;
    uint64_t most_cpu_ns;
    uint64_t *idle_ns;  /* by thread: waits for work */
    uint64_t *woken_ns; /* by thread: work had come, and no CPU was to be had */
    uint64_t *short_ns; /* by thread: waits for others that the shortage of CPUs is to blame for */
    double shortage; /* 0 … 1: how far waits in which somebody wanted a CPU are the machine's */
    double used; /* 0 … 1: how far all CPUs were busy; by that the shortage counts in waits that
                    others end: 0 at half of them */
    const struct own_time *own; /* by thread; NULL: not known */
    const uint32_t *partner;    /* by class: the class at the other end of a hand-over; NO_GROUP */
};

static inline const struct profile_class *profile_class_at(const struct profile *profile,
                                                           uint32_t class)
{
    return VEC_AT(&profile->classes, struct profile_class, class);
}

static inline const struct profile_thread *profile_thread_at(const struct finder *finder,
                                                             size_t thread)
{
    return VEC_AT(&finder->profile->threads, struct profile_thread, thread);
}

/* What recording took is in it. */
static inline uint64_t thread__cpu_ns(const struct profile_thread *thread)
{
    return thread->cpu_ns != UINT64_MAX ? thread->cpu_ns : thread->component_ns[COMPONENT_RUNNING];
}

/* Waits, calls that are hooked; else functions, regions, iterations. */
static inline bool class__is_call(const struct profile_class *class)
{
    return class_kind__is_code(class->what.at.kind);
}

/* How long the thread was in its occurrences. */
static inline uint64_t class__sum_on(const struct profile_class *class, size_t thread)
{
    VEC_EACH (row, &class->threads, struct profile_thread_row)
        if (row->thread == thread)
            return row->sum_ns;
    return 0;
}

/* Its waits are for a lock, whoever has it. */
static inline bool finding__is_for_lock(const struct finding *finding)
{
    return finding->category == FINDING_LOCK || finding->category == FINDING_ALLOCATOR ||
           finding->category == FINDING_STDIO;
}

/* ---- finding_causes.c ------------------------------------------------------------------------ */

/* What threads that had work lost in it to others; 0: nothing, or it is idle. */
uint64_t class__lost_ns(const struct finder *finder, uint32_t class);
/* By thread that had work: what of its waits is no loss, as somebody wanted a CPU that the machine
 * did not have. free() it. */
uint64_t *finder__shortage_in_waits(const struct finder *finder);
/* What a thread waited in it longer than it would undisturbed. */
uint64_t class__waited_ns(const struct profile_class *class, const struct profile_thread_row *row);
/* What of its waits for a lock nobody had it; 0: not known. */
uint64_t class__unheld_ns(const struct profile *profile, const struct profile_class *class);
/* Calls that pass little at a time, very many of them. */
bool class__is_small_calls(const struct profile_class *class);
/* Its occurrences are compared with none, not with the fastest. */
bool class__may_be_left_out(const struct profile_class *class);
/* Who calls parallel regions waits there for their threads to begin and to end. */
bool class__is_of_regions(const struct profile_class *class);
/* Something is made once, and who comes meanwhile waits for it. */
bool class__is_once(const struct finder *finder, const struct profile_class *class);
enum finding_category class__category(const struct finder *finder,
                                      const struct profile_class *class);
/* What a system library does in a function: STDIO, ALLOCATOR, MEMORY_MAP, or UNEXPLAINED. */
enum finding_category system_function__category(const char *function);
/* Of class rows: Σ what threads that had work lost, of what all lost. */
double class__working_part(const struct finder *finder, const struct profile_class *class);

/* ---- finding_handover.c ---------------------------------------------------------------------- */

/* Waits at conditions and semaphores that others end, again and again. */
bool class__may_hand_over(const struct finder *finder, const struct profile_class *class);
/* Each wait is ended in the function that the other one is in, as those of a queue's two ends. */
bool classes__end_each_other(const struct finder *finder, const struct profile_class *left,
                             const struct profile_class *right);
/* By class; free() it. */
uint32_t *handovers__find(const struct finder *finder);

/* ---- finding_stages.c ------------------------------------------------------------------------ */

/* Makes the waits for a stage that works all the time partners (by class), and those who wait there
 * workers, however little they do. */
void stages__find(struct finder *finder, uint32_t *partner);
/* Sets which thread is the slowest stage, if one works all the time. What a second thread for it
 * would gain; 1: there is none. lost: by thread. */
double stages__gain(const struct finder *finder, struct finding *finding, const uint64_t *lost);

/* ---- finding_herd.c ----------------------------------------------------------------------------
 */

/* Appends conditions at which each signal wakes several threads, of which one goes on. */
void finder__add_herds(struct finder *finder);

/* ---- finding_creation.c ------------------------------------------------------------------------
 */

/* Appends places that wait for threads without end which have little to do. */
void finder__add_creations(struct finder *finder);

/* ---- finding_serial.c ------------------------------------------------------------------------ */

/* Appends places that wait for threads, or for children that run the same program, of which no two
 * live at a time. */
void finder__add_serials(struct finder *finder);

/* ---- finding_signal.c ------------------------------------------------------------------------ */

/* Appends handlers of signals, of which functions were recorded. */
void finder__add_signals(struct finder *finder);

/* ---- finding_spinning.c ---------------------------------------------------------------------- */

/* Appends functions that spin by their names, as samples tell. */
void finder__add_spinners(struct finder *finder);

/* ---- finding_retries.c ----------------------------------------------------------------------- */

/* Appends loops in which several threads compute a new value of one variable at a time, and all but
 * who is the first to put it there do so again. */
void finder__add_retries(struct finder *finder);

/* ---- finding_tasks.c ------------------------------------------------------------------------- */

/* Whether tasks were recorded: then waits in the runtime of OpenMP are no findings of their own. */
bool finder__knows_tasks(const struct finder *finder);
/* CPU time of threads with work in OpenMP's runtime, by trace__threads; NULL: too few samples.
 * free() it. */
uint64_t *finder__openmp_runtime_ns(const struct finder *finder);
/* Appends what threads lose for tasks of OpenMP, as is told of them; or what the runtime does for
 * them on CPUs, as samples tell. */
void finder__add_tasks(struct finder *finder);

/* ---- finding_sharing.c ----------------------------------------------------------------------- */

/* Appends what findings->sharings tell, in place of what is known of it as overlap. */
void finder__add_sharings(struct finder *finder);

/* ---- finding_remote.c ------------------------------------------------------------------------ */

/* Appends what findings->remotes tell, where they are known. */
void finder__add_remotes(struct finder *finder);

/* ---- finding_threads.c ----------------------------------------------------------------------- */

void finder__find_workers(struct finder *finder);
void finder__count_worker(struct finder *finder, size_t thread);
/* Waits for work, events, time, the end of others, which are no end of a hand-over. */
bool class__is_idle(const struct finder *finder, uint32_t class);
/* By thread, once partners are known, what of idle waits there was work again, and no CPU; and the
 * rest of them. free() both. */
uint64_t *finder__woken(const struct finder *finder);
uint64_t *finder__idle(const struct finder *finder);
/* Appends CPU shortage, page faults, unknown waits. */
void finder__add_of_threads(struct finder *finder);
/* CPU time without what the recording took of it: that is no work. Where a thread had no CPU while
 * the recording was at work, less of its CPU time is the recording's than that took. */
uint64_t thread__work_ns(const struct profile_thread *thread);
/* Waits for half of its life at most: it came to work. */
bool thread__hardly_waits(const struct profile_thread *thread);
/* Its occurrences are sleeps for a time. */
bool class__sleeps(const struct profile_class *class);

/* Page faults in the system's own code get the place of the program's function around them, as far
 * as one was recorded. */
void finding__place_faults(const struct finder *finder, struct finding *finding);
/* By thread, of those that had work: time in the component outside of hooked calls; free() it. */
uint64_t *finder__outside(const struct finder *finder, enum component component, uint64_t *sum);
struct finding *finder__add(struct finder *finder, enum finding_category category);
/* The class in which the thread was longest: of calls of functions, or of waits. FINDING_NO_CLASS:
 * none is known. */
uint32_t thread__longest_class(const struct finder *finder, size_t thread, bool of_calls);

/* ---- finding_between.c ----------------------------------------------------------------------- */

void finder__add_between(struct finder *finder);
/* How long it works so, of all threads that call regions; 0: next to nothing, or it is not known.
 */
uint64_t finder__between_ns(const struct finder *finder);

/* ---- finding_imbalance.c --------------------------------------------------------------------- */

/* Appends the thread that works while those that work with it are done. Others are found before. */
void finder__add_imbalance(struct finder *finder);

/* The gain where the work of who comes late can be divided among those that wait for it. lost: ns,
 * by trace__threads. */
void finding__set_gain_of_dividing(const struct finder *finder, struct finding *finding,
                                   const uint64_t *lost);

/* ---- finding_sleepers.c ---------------------------------------------------------------------- */

/* Half of the time that somebody is waited for, that one sleeps: sets sleep_and_1. */
void finding__find_sleepers(const struct finder *finder, struct finding *finding);
/* These sleep on when they are waited for no more, until they are told to end. */
bool sleepers__go_on(const struct finder *finder, const struct finding *finding);

/* ---- finding_gain.c -------------------------------------------------------------------------- */

unsigned finder__cpus(const struct finder *finder);
/* So soon after what tells it to, a thread ends that is told to end. */
uint64_t finder__soon_ns(const struct finder *finder);
/* later: a tick, not before the other one. */
bool finder__is_soon(const struct finder *finder, uint64_t tick, uint64_t later);
/* Sets a range around a gain that is not certain: a tenth of what it is above 1 to both sides. */
void finding__set_about(struct finding *finding, double gain);
/* Sets the gain without what threads lost; by trace__threads. Threads that served (they lose
 * nothing and waited for requests) and such that ran until they were told to end do not hold it up.
 */
void finding__set_estimate(const struct finder *finder, struct finding *finding,
                           const uint64_t *lost);
/* Adds what threads that had work lost in a class; by trace__threads. */
void class__add_lost(const struct finder *finder, uint32_t class, uint64_t *lost);
/* Sets the finding's gain from what its classes' threads lost. */
void finding__estimate_gain(const struct finder *finder, struct finding *finding);

/* ---- finding_waking.c ------------------------------------------------------------------------ */

/* Of a CPU, that a wait for a thread takes, with waking it, at most. */
#define WAIT_CPU_NS 20000u
/* How often the thread waited for others, about: of an object's waits it has the part that it has
 * of their time. */
uint64_t finder__waits_of(const struct finder *finder, uint32_t thread);
/* By thread, as samples tell; free() it. NULL: they do not. */
struct own_time *waking__own_times(const struct finder *finder);
/* By thread: CPU time that is no part of the waits for a lock, and goes with them: the kernel's for
 * waking others or on the way to page faults, as it seems, in proportion to lost of all that waits
 * for threads lost; and what the lock's own cache line cost while others had it, or the code that
 * takes it, whichever is more. free() it. */
uint64_t *waking__find(const struct finder *finder, const struct finding *finding,
                       const uint64_t *lost);
/* Puts what is lost at a lock's own line, and in code that takes the lock all the time and is
 * slower meanwhile, with the waits for it: that is no finding of its own. */
void finder__add_beside(struct finder *finder);

/* ---- finding_transfer.c ---------------------------------------------------------------------- */

/* Whether most of what input and output lost went on on a CPU: is_on_cpu, is_work. */
void finding__find_work(const struct finder *finder, struct finding *finding);

/* ---- finding_parts.c ------------------------------------------------------------------------- */

/* Fills in parts and figures of a finding that is made of classes. */
void finding__find_parts(const struct finder *finder, struct finding *finding);
void finding__free(struct finding *finding);

/* ---- finding_told.c -------------------------------------------------------------------------- */

/* Notes which part of what threads that had work lost is to be told; by trace__threads. */
void finding__find_told_part(const struct finder *finder, struct finding *finding,
                             const uint64_t *lost);
/* Sum of what threads have that had work, and are not aside; by trace__threads. */
uint64_t finder__told_ns(const struct finder *finder, const uint64_t *ns);
/* Found of one class: where that has a twin, the gain of both is not known. */
void finding__forget_gain_of_half(const struct finder *finder, struct finding *finding);
/* Makes the findings those of threads that are not aside, where any are. */
void finder__tell_of_some(struct finder *finder);

/* ---- finding_roles.c ------------------------------------------------------------------------- */

void finder__find_roles(struct finder *finder);

#endif
