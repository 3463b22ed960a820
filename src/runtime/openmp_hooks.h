/* openmp_hooks.h: what the hooks of OpenMP have in common: the runtimes' own functions, and how
 * regions, loops, barriers and tasks are told.
 *
 *     hook_openmp.c           critical and ordered sections, locks, barriers; who calls whom
 *     hook_openmp_region.c    parallel regions
 *     hook_openmp_loop.c      loops, sections, single
 *     hook_openmp_task.c      tasks, and waits for them
 *     hook_openmp_kmpc.c      loops and tasks of libomp, hook_ompt.c its regions, and tasks as they
 * run
 *
 * libheurt needs no runtime of OpenMP: which one a call is for is found at the first call. Mostly
 * it is the one in the program's global scope, as without us; where a plugin brought its own, that
 * of the module that calls.
 *
 * What is short and frequent is summed up in the thread (struct openmp_sum) and told as one event
 * when its place changes, when it is many, or when the region's body ends: so counts are exact, and
 * a storm of tasks costs little more than the ticks that are read. Aggregated runs keep no events,
 * and nothing of this. */
#ifndef HEURT_RUNTIME_OPENMP_HOOKS_H
#define HEURT_RUNTIME_OPENMP_HOOKS_H

#include "runtime/lock_events.h"
#include "runtime/runtime.h"

/* Those of gcc 13; older compilers pass less, and what is read beyond that is never looked at. */
#define TASK_PARAMETERS                                                                            \
    (void (*)(void *), void *, void (*)(void *, void *), long, long, bool, unsigned, void **, int, \
     void *)
#define TASKLOOP_PARAMETERS                                                                        \
    (void (*)(void *), void *, void (*)(void *, void *), long, long, unsigned, unsigned long, int, \
     long, long, long)

#define LOOP_PARAMETERS (void (*)(void *), void *, unsigned, long, long, long, long, unsigned)
#define LOOP_RUNTIME_PARAMETERS (void (*)(void *), void *, unsigned, long, long, long, unsigned)

/* X(name, schedule): loops of a schedule of their own, whose start passes a chunk. */
#define CHUNKED_LOOPS(X)                                                \
    X(static, HEURT_SCHEDULE_STATIC)                                    \
    X(dynamic, HEURT_SCHEDULE_DYNAMIC)                                  \
    X(guided, HEURT_SCHEDULE_GUIDED)                                    \
    X(nonmonotonic_dynamic, HEURT_SCHEDULE_DYNAMIC)                     \
    X(nonmonotonic_guided, HEURT_SCHEDULE_GUIDED)                       \
    X(ordered_static, HEURT_SCHEDULE_STATIC | HEURT_SCHEDULE_ORDERED)   \
    X(ordered_dynamic, HEURT_SCHEDULE_DYNAMIC | HEURT_SCHEDULE_ORDERED) \
    X(ordered_guided, HEURT_SCHEDULE_GUIDED | HEURT_SCHEDULE_ORDERED)
/* Those that the user chooses a schedule for when the program runs. */
#define RUNTIME_LOOPS(X)                                  \
    X(runtime, HEURT_SCHEDULE_RUNTIME)                    \
    X(nonmonotonic_runtime, HEURT_SCHEDULE_RUNTIME)       \
    X(maybe_nonmonotonic_runtime, HEURT_SCHEDULE_RUNTIME) \
    X(ordered_runtime, HEURT_SCHEDULE_RUNTIME | HEURT_SCHEDULE_ORDERED)
/* Those whose iterations depend on each other; they have the next of the loops without. */
#define DOACROSS_LOOPS(X)              \
    X(static, HEURT_SCHEDULE_STATIC)   \
    X(dynamic, HEURT_SCHEDULE_DYNAMIC) \
    X(guided, HEURT_SCHEDULE_GUIDED)

#define CHUNKED_FUNCTIONS_OF(name, schedule)                                                     \
    OPENMP_X(GOMP_loop_##name##_start, bool, (long, long, long, long, long *, long *))           \
    OPENMP_X(GOMP_loop_##name##_next, bool, (long *, long *))                                    \
    OPENMP_X(GOMP_loop_ull_##name##_start, bool,                                                 \
             (bool, unsigned long, unsigned long, unsigned long, unsigned long, unsigned long *, \
              unsigned long *))                                                                  \
    OPENMP_X(GOMP_loop_ull_##name##_next, bool, (unsigned long *, unsigned long *))
#define RUNTIME_FUNCTIONS_OF(name, schedule)                                                   \
    OPENMP_X(GOMP_loop_##name##_start, bool, (long, long, long, long *, long *))               \
    OPENMP_X(GOMP_loop_##name##_next, bool, (long *, long *))                                  \
    OPENMP_X(                                                                                  \
        GOMP_loop_ull_##name##_start, bool,                                                    \
        (bool, unsigned long, unsigned long, unsigned long, unsigned long *, unsigned long *)) \
    OPENMP_X(GOMP_loop_ull_##name##_next, bool, (unsigned long *, unsigned long *))
#define DOACROSS_FUNCTIONS_OF(name, schedule)                                                   \
    OPENMP_X(GOMP_loop_doacross_##name##_start, bool, (unsigned, long *, long, long *, long *)) \
    OPENMP_X(GOMP_loop_ull_doacross_##name##_start, bool,                                       \
             (unsigned, unsigned long *, unsigned long, unsigned long *, unsigned long *))

/* X(kind, number): loops of libomp, by the type of their counter. */
#define DISPATCH_KINDS(X) X(4, int32_t) X(4u, uint32_t) X(8, int64_t) X(8u, uint64_t)
#define KMPC_STEP_4 int32_t
#define KMPC_STEP_4u int32_t
#define KMPC_STEP_8 int64_t
#define KMPC_STEP_8u int64_t
#define DISPATCH_FUNCTIONS_OF(kind, number)                                                  \
    OPENMP_X(__kmpc_dispatch_init_##kind, void,                                              \
             (void *, int32_t, int32_t, number, number, KMPC_STEP_##kind, KMPC_STEP_##kind)) \
    OPENMP_X(__kmpc_dispatch_next_##kind, int,                                               \
             (void *, int32_t, int32_t *, number *, number *, KMPC_STEP_##kind *))           \
    OPENMP_X(__kmpc_for_static_init_##kind, void,                                            \
             (void *, int32_t, int32_t, int32_t *, number *, number *, KMPC_STEP_##kind *,   \
              KMPC_STEP_##kind, KMPC_STEP_##kind))

#define TASKLOOP_OF_KMPC                                                                  \
    (void *, int32_t, void *, int32_t, uint64_t *, uint64_t *, int64_t, int32_t, int32_t, \
     uint64_t, void *)
#define TASKLOOP_5_OF_KMPC                                                                \
    (void *, int32_t, void *, int32_t, uint64_t *, uint64_t *, int64_t, int32_t, int32_t, \
     uint64_t, int32_t, void *)

/* OPENMP_X(name, result, parameters): as the runtimes export them. */
#define OPENMP_FUNCTIONS                                                                         \
    OPENMP_X(GOMP_critical_start, void, (void))                                                  \
    OPENMP_X(GOMP_critical_end, void, (void))                                                    \
    OPENMP_X(GOMP_critical_name_start, void, (void **))                                          \
    OPENMP_X(GOMP_critical_name_end, void, (void **))                                            \
    OPENMP_X(GOMP_ordered_start, void, (void))                                                   \
    OPENMP_X(GOMP_ordered_end, void, (void))                                                     \
    OPENMP_X(GOMP_atomic_start, void, (void))                                                    \
    OPENMP_X(GOMP_atomic_end, void, (void))                                                      \
    OPENMP_X(omp_get_num_threads, int, (void))                                                   \
    OPENMP_X(omp_get_thread_num, int, (void))                                                    \
    OPENMP_X(GOMP_barrier, void, (void))                                                         \
    OPENMP_X(GOMP_barrier_cancel, bool, (void))                                                  \
    OPENMP_X(GOMP_cancel, bool, (int, bool))                                                     \
    OPENMP_X(GOMP_loop_end, void, (void))                                                        \
    OPENMP_X(GOMP_loop_end_nowait, void, (void))                                                 \
    OPENMP_X(GOMP_loop_end_cancel, bool, (void))                                                 \
    OPENMP_X(GOMP_sections_start, unsigned, (unsigned))                                          \
    OPENMP_X(GOMP_sections2_start, unsigned, (unsigned, uintptr_t *, void **))                   \
    OPENMP_X(GOMP_sections_next, unsigned, (void))                                               \
    OPENMP_X(GOMP_sections_end, void, (void))                                                    \
    OPENMP_X(GOMP_sections_end_nowait, void, (void))                                             \
    OPENMP_X(GOMP_sections_end_cancel, bool, (void))                                             \
    OPENMP_X(GOMP_single_start, bool, (void))                                                    \
    OPENMP_X(GOMP_single_copy_start, void *, (void))                                             \
    OPENMP_X(GOMP_single_copy_end, void, (void *))                                               \
    OPENMP_X(omp_set_lock, void, (void *))                                                       \
    OPENMP_X(omp_test_lock, int, (void *))                                                       \
    OPENMP_X(omp_unset_lock, void, (void *))                                                     \
    OPENMP_X(omp_set_nest_lock, void, (void *))                                                  \
    OPENMP_X(omp_test_nest_lock, int, (void *))                                                  \
    OPENMP_X(omp_unset_nest_lock, void, (void *))                                                \
    OPENMP_X(omp_set_lock_, void, (void *))                                                      \
    OPENMP_X(omp_test_lock_, int, (void *))                                                      \
    OPENMP_X(omp_unset_lock_, void, (void *))                                                    \
    OPENMP_X(__kmpc_critical, void, (void *, int32_t, void *))                                   \
    OPENMP_X(__kmpc_critical_with_hint, void, (void *, int32_t, void *, uint32_t))               \
    OPENMP_X(__kmpc_end_critical, void, (void *, int32_t, void *))                               \
    OPENMP_X(__kmpc_ordered, void, (void *, int32_t))                                            \
    OPENMP_X(__kmpc_end_ordered, void, (void *, int32_t))                                        \
    OPENMP_X(GOMP_doacross_wait, void, (long, ...))                                              \
    OPENMP_X(GOMP_doacross_ull_wait, void, (unsigned long, ...))                                 \
    OPENMP_X(__kmpc_doacross_wait, void, (void *, int32_t, const int64_t *))                     \
    OPENMP_X(__kmpc_barrier, void, (void *, int32_t))                                            \
    OPENMP_X(GOMP_parallel, void, (void (*)(void *), void *, unsigned, unsigned))                \
    OPENMP_X(GOMP_parallel_reductions, unsigned, (void (*)(void *), void *, unsigned, unsigned)) \
    OPENMP_X(GOMP_parallel_sections, void,                                                       \
             (void (*)(void *), void *, unsigned, unsigned, unsigned))                           \
    OPENMP_X(GOMP_parallel_loop_static, void, LOOP_PARAMETERS)                                   \
    OPENMP_X(GOMP_parallel_loop_dynamic, void, LOOP_PARAMETERS)                                  \
    OPENMP_X(GOMP_parallel_loop_guided, void, LOOP_PARAMETERS)                                   \
    OPENMP_X(GOMP_parallel_loop_nonmonotonic_dynamic, void, LOOP_PARAMETERS)                     \
    OPENMP_X(GOMP_parallel_loop_nonmonotonic_guided, void, LOOP_PARAMETERS)                      \
    OPENMP_X(GOMP_parallel_loop_runtime, void, LOOP_RUNTIME_PARAMETERS)                          \
    OPENMP_X(GOMP_parallel_loop_nonmonotonic_runtime, void, LOOP_RUNTIME_PARAMETERS)             \
    OPENMP_X(GOMP_parallel_loop_maybe_nonmonotonic_runtime, void, LOOP_RUNTIME_PARAMETERS)       \
    CHUNKED_LOOPS(CHUNKED_FUNCTIONS_OF)                                                          \
    RUNTIME_LOOPS(RUNTIME_FUNCTIONS_OF)                                                          \
    DOACROSS_LOOPS(DOACROSS_FUNCTIONS_OF)                                                        \
    OPENMP_X(GOMP_loop_doacross_runtime_start, bool, (unsigned, long *, long *, long *))         \
    OPENMP_X(GOMP_loop_ull_doacross_runtime_start, bool,                                         \
             (unsigned, unsigned long *, unsigned long *, unsigned long *))                      \
    OPENMP_X(GOMP_loop_start, bool,                                                              \
             (long, long, long, long, long, long *, long *, uintptr_t *, void **))               \
    OPENMP_X(GOMP_loop_ordered_start, bool,                                                      \
             (long, long, long, long, long, long *, long *, uintptr_t *, void **))               \
    OPENMP_X(GOMP_loop_ull_start, bool,                                                          \
             (bool, unsigned long, unsigned long, unsigned long, long, unsigned long,            \
              unsigned long *, unsigned long *, uintptr_t *, void **))                           \
    OPENMP_X(GOMP_loop_ull_ordered_start, bool,                                                  \
             (bool, unsigned long, unsigned long, unsigned long, long, unsigned long,            \
              unsigned long *, unsigned long *, uintptr_t *, void **))                           \
    OPENMP_X(GOMP_task, void, TASK_PARAMETERS)                                                   \
    OPENMP_X(GOMP_taskloop, void, TASKLOOP_PARAMETERS)                                           \
    OPENMP_X(GOMP_taskloop_ull, void, TASKLOOP_PARAMETERS)                                       \
    OPENMP_X(GOMP_taskwait, void, (void))                                                        \
    OPENMP_X(GOMP_taskwait_depend, void, (void **))                                              \
    OPENMP_X(GOMP_taskyield, void, (void))                                                       \
    OPENMP_X(GOMP_taskgroup_end, void, (void))                                                   \
    DISPATCH_KINDS(DISPATCH_FUNCTIONS_OF)                                                        \
    OPENMP_X(__kmpc_for_static_fini, void, (void *, int32_t))                                    \
    OPENMP_X(__kmpc_single, int32_t, (void *, int32_t))                                          \
    OPENMP_X(__kmpc_omp_task_alloc, void *, (void *, int32_t, int32_t, size_t, size_t, void *))  \
    OPENMP_X(__kmpc_omp_task, int32_t, (void *, int32_t, void *))                                \
    OPENMP_X(__kmpc_omp_task_with_deps, int32_t,                                                 \
             (void *, int32_t, void *, int32_t, void *, int32_t, void *))                        \
    OPENMP_X(__kmpc_omp_taskwait, int32_t, (void *, int32_t))                                    \
    OPENMP_X(__kmpc_end_taskgroup, void, (void *, int32_t))                                      \
    OPENMP_X(__kmpc_taskloop, void, TASKLOOP_OF_KMPC)                                            \
    OPENMP_X(__kmpc_taskloop_5, void, TASKLOOP_5_OF_KMPC)

#define OPENMP_X(name, result, parameters) result name parameters;
OPENMP_FUNCTIONS
#undef OPENMP_X

enum openmp_function {
#define OPENMP_X(name, result, parameters) OPENMP_##name,
    OPENMP_FUNCTIONS
#undef OPENMP_X
        OPENMP_FUNCTION_COUNT
};
_Static_assert(OPENMP_FUNCTION_COUNT <= OPENMP_FUNCTIONS_MAX, "room in struct openmp");

/* ---- the real functions ---------------------------------------------------------------------- */

/* At the first call of the function; never NULL. */
void *openmp__find(enum openmp_function which, const void *site);

static inline void *openmp__real(enum openmp_function which, const void *site)
{
    void *known = __atomic_load_n(&heurt_state.openmp.functions[which], __ATOMIC_ACQUIRE);
    return likely(known) ? known : openmp__find(which, site);
}

#define OPENMP_REAL(name) \
    ((__typeof__(&name))openmp__real(OPENMP_##name, __builtin_return_address(0)))

/* The place of a region or a task: its function, which the compiler has made of the construct and
 * which begins at the construct's own line, where calls of the runtime may have any. As a SITE is a
 * return address, it is that of a call that the function would begin with. */
static inline uint64_t openmp__place(void (*routine)(void *))
{
    return HEURT_SITE((uintptr_t)routine + 1, 0);
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* thread: NULL: nothing is told. Both return the event's tick. */
static inline uint64_t openmp__begin_at(struct thread *thread, uint64_t site,
                                        enum heurt_openmp what, uint64_t a, uint64_t b,
                                        uint64_t tick)
{
    uint64_t *at;
    if (!thread || heurt_state.aggregates || !(at = event__claim(thread, 4)))
        return tick;
    at[1] = HEURT_SITE(HEURT_SITE_ADDRESS(site), what);
    at[2] = a;
    at[3] = b;
    event__publish(at, tick, HEURT_EVENT_OPENMP_BEGIN);
    return tick;
}

static inline uint64_t openmp__begin(struct thread *thread, uint64_t site, enum heurt_openmp what,
                                     uint64_t a, uint64_t b)
{
    return openmp__begin_at(thread, site, what, a, b, clock__tick());
}

static inline uint64_t openmp__end_at(struct thread *thread, uint64_t site, enum heurt_openmp what,
                                      uint64_t ticks, uint64_t a, uint64_t b, uint64_t tick)
{
    uint64_t *at;
    if (!thread || heurt_state.aggregates || !(at = event__claim(thread, 5)))
        return tick;
    at[1] = HEURT_SITE(HEURT_SITE_ADDRESS(site), what);
    at[2] = ticks;
    at[3] = a;
    at[4] = b;
    event__publish(at, tick, HEURT_EVENT_OPENMP_END);
    return tick;
}

static inline uint64_t openmp__end(struct thread *thread, uint64_t site, enum heurt_openmp what,
                                   uint64_t ticks, uint64_t a, uint64_t b)
{
    return openmp__end_at(thread, site, what, ticks, a, b, clock__tick());
}

/* In a team of one, a region and its body are told to begin at one time, and to end at one time:
 * what the runtime takes in between is less than to read the clock twice more. Returns when either
 * was told, if nothing was told since; else the tick now. */
static inline void openmp__told(struct thread *thread, uint64_t tick)
{
    thread->openmp.last.tick = tick;
    thread->openmp.last.next = thread->next;
}

static inline uint64_t openmp__tick_told(const struct thread *thread)
{
    return thread->openmp.last.next == thread->next ? thread->openmp.last.tick : clock__tick();
}

/* Whether the region that is called there was over so soon that its waits cost as much to tell as
 * they take; and that it took so many ticks now. (hook_openmp_region.c) */
bool region__is_short(uint64_t site);
void region__took(uint64_t site, uint64_t ticks);

/* Between two regions the other threads of a team wait for the next one, spinning first and then by
 * a futex: a condition that the one who calls regions signals. */
static inline void team__is_called(struct thread *master, uint64_t site)
{
    if (!master || !master->has_team)
        return;
    master->has_team = false;
    event__write2(master, HEURT_EVENT_CONDITION_SIGNALLED, HEURT_SITE(site, 1), (uintptr_t)master);
}

/* When the region of libomp ended that the thread, which did not call it, waits for the end of; 0:
 * it has not (hook_ompt.c). Its wait for the next one, from then on, is to be told before anything
 * later. */
uint64_t openmp__end_tick(const struct thread *thread);
void openmp__tell_end(struct thread *thread);

/* One more, of so many ticks; told with others if it is short, and if the thread is in a body, at
 * whose end all are told. */
void openmp__add(struct thread *thread, enum openmp_summed which, uint64_t site, uint64_t ticks,
                 uint64_t figure);
void openmp__tell_sums(struct thread *thread);

/* All that is summed up. */
static inline void openmp__flush(struct thread *thread)
{
    if (unlikely(thread->openmp.has_sums))
        openmp__tell_sums(thread);
}

/* ---- waits in which tasks are run ------------------------------------------------------------ */

struct openmp_wait {
    uint64_t since, tasks_before;
    bool was_told; /* what the thread calls of libomp, before */
};

static inline void openmp_wait__begin(struct openmp_wait *wait, struct thread *thread)
{
    if (!thread)
        return;
    wait->tasks_before = thread->openmp.frame.task_ticks;
    thread->openmp.frame.task_ticks = 0;
    wait->was_told = thread->openmp.is_told;
    thread->openmp.is_told = true;
    wait->since = clock__tick();
}

/* Returns its ticks; idle: gets those in no task. */
static inline uint64_t openmp_wait__end(const struct openmp_wait *wait, struct thread *thread,
                                        uint64_t *idle)
{
    uint64_t ticks = clock__tick() - wait->since, tasks = thread->openmp.frame.task_ticks;
    *idle = ticks > tasks ? ticks - tasks : 0;
    thread->openmp.frame.task_ticks = wait->tasks_before;
    thread->openmp.is_told = wait->was_told;
    thread->openmp.frame.wait_ticks += ticks;
    return ticks;
}

/* It was a call that made tasks: what was run in it is none of its cost, and neither is of the time
 * of the task that made them. Or it was one that waits for tasks; thread: NULL is allowed. */
void openmp_wait__made(const struct openmp_wait *making, struct thread *thread, uint64_t site);
void openmp_wait__tasks(const struct openmp_wait *wait, struct thread *thread, uint64_t site);

#define SINK_TICKS 2000 /* of a wait that is told */

/* Around a wait for iterations before; thread: NULL is allowed. */
static inline uint64_t sink__begin(struct thread *thread)
{
    wait__is_told(thread, true);
    return clock__tick();
}

static inline void sink__end(struct thread *thread, uint64_t site, uint64_t since)
{
    uint64_t ticks = clock__tick() - since;
    wait__is_told(thread, false);
    if (thread && ticks > SINK_TICKS)
        openmp__add(thread, SUM_SINK, site, ticks, ticks);
}

static inline void openmp__has_tasks(void)
{
    if (unlikely(!heurt_state.openmp.has_tasks))
        heurt_state.openmp.has_tasks = true;
}

/* ---- barriers (hook_openmp.c) ---------------------------------------------------------------- */

/* A thread at a barrier of its team. */
struct openmp_meeting {
    struct thread *thread; /* NULL: nothing is told */
    struct openmp_wait wait;
};

struct openmp_meeting meeting__begin(const void *site);
/* site: with the kind of barrier. */
void meeting__end(const struct openmp_meeting *meeting, uint64_t site);

#define MEET(name, arguments)                                                        \
    do {                                                                             \
        __typeof__(&name) meet = OPENMP_REAL(name);                                  \
        struct openmp_meeting meeting = meeting__begin(__builtin_return_address(0)); \
        meet arguments;                                                              \
        meeting__end(&meeting, SITE(HEURT_BARRIER_OPENMP));                          \
    } while (0)
/* Of one that returns whether its team was cancelled. */
#define MEET_OR_CANCEL(name)                                                         \
    do {                                                                             \
        __typeof__(&name) meet = OPENMP_REAL(name);                                  \
        struct openmp_meeting meeting = meeting__begin(__builtin_return_address(0)); \
        bool is_cancelled = meet();                                                  \
        meeting__end(&meeting, SITE(HEURT_BARRIER_OPENMP));                          \
        return is_cancelled;                                                         \
    } while (0)

/* ---- loops (hook_openmp_loop.c) -------------------------------------------------------------- */

/* Of a loop whose chunks a thread is about to get; step 0: of sections. */
struct loop_bounds {
    uint64_t schedule; /* enum heurt_schedule, with what stands beside it */
    int64_t start, end, step, chunk;
};

/* thread: NULL is allowed. */
void loop__begin(struct thread *thread, uint64_t site, const struct loop_bounds *bounds);
/* The runtime's answer to who asked for a chunk: the iterations from first on, until behind. */
void loop__given(struct thread *thread, bool is_given, int64_t first, int64_t behind);
/* It is over, if it is not already. */
void loop__end(struct thread *thread);

#endif
