/* hook_openmp_kmpc.c: loops, single, and tasks of LLVM's runtime (libomp), by the calls that clang
 * and flang make. What is called by nobody (regions, tasks as they run) hook_ompt.c is told of. */
#include "runtime/openmp_hooks.h"

/* NULL: nothing is told, or what libomp calls itself here is told already, as of a program of gcc.
 */
static struct thread *untold_thread(void)
{
    struct thread *thread = hook__thread();
    return thread && !thread->openmp.is_told ? thread : NULL;
}

/* ---- loops ----------------------------------------------------------------------------------- */

#define SCHEDULE_MODIFIERS (3 << 29) /* monotonic or not, beside the number of a schedule */

/* Of kmp.h's numbers: those of ordered loops are 32 more. */
static uint64_t schedule_of(int32_t number)
{
    static const uint8_t schedules[] = {
        [1] = HEURT_SCHEDULE_STATIC, [2] = HEURT_SCHEDULE_STATIC,  [3] = HEURT_SCHEDULE_DYNAMIC,
        [4] = HEURT_SCHEDULE_GUIDED, [5] = HEURT_SCHEDULE_RUNTIME, [6] = HEURT_SCHEDULE_AUTO};
    int32_t plain = (number & ~SCHEDULE_MODIFIERS) - 32;
    uint64_t beside = plain > 32 ? HEURT_SCHEDULE_ORDERED : 0;
    plain -= plain > 32 ? 32 : 0;
    return plain > 0 && plain < (int32_t)sizeof schedules ? schedules[plain] | beside
                                                          : HEURT_SCHEDULE_RUNTIME;
}

/* The last iteration is one of a loop here. */
#define DISPATCH(kind, number)                                                                     \
    EXPORT void __kmpc_dispatch_init_##kind(void *location, int32_t thread_number,                 \
                                            int32_t schedule, number first, number last,           \
                                            KMPC_STEP_##kind step, KMPC_STEP_##kind chunk)         \
    {                                                                                              \
        const struct loop_bounds bounds = {schedule_of(schedule), (int64_t)first,                  \
                                           (int64_t)last + (step > 0 ? 1 : -1), (int64_t)step,     \
                                           chunk > 1 ? (int64_t)chunk : 1};                        \
        __typeof__(&__kmpc_dispatch_init_##kind) begin = OPENMP_REAL(__kmpc_dispatch_init_##kind); \
        loop__begin(untold_thread(), SITE(0), &bounds);                                            \
        begin(location, thread_number, schedule, first, last, step, chunk);                        \
    }                                                                                              \
    EXPORT int __kmpc_dispatch_next_##kind(void *location, int32_t thread_number,                  \
                                           int32_t *is_last, number *first, number *last,          \
                                           KMPC_STEP_##kind *step)                                 \
    {                                                                                              \
        int is_given = OPENMP_REAL(__kmpc_dispatch_next_##kind)(location, thread_number, is_last,  \
                                                                first, last, step);                \
        struct thread *thread = untold_thread();                                                   \
        if (!is_given)                                                                             \
            loop__end(thread);                                                                     \
        else                                                                                       \
            loop__given(thread, true, (int64_t)*first,                                             \
                        (int64_t)*last +                                                           \
                            (!thread || thread->openmp.frame.loop.step > 0 ? 1 : -1));             \
        return is_given;                                                                           \
    }                                                                                              \
    EXPORT void __kmpc_for_static_init_##kind(                                                     \
        void *location, int32_t thread_number, int32_t schedule, int32_t *is_last, number *first,  \
        number *last, KMPC_STEP_##kind *stride, KMPC_STEP_##kind step, KMPC_STEP_##kind chunk)     \
    {                                                                                              \
        const struct loop_bounds bounds = {schedule_of(schedule), (int64_t)*first,                 \
                                           (int64_t)*last + (step > 0 ? 1 : -1), (int64_t)step,    \
                                           0};                                                     \
        __typeof__(&__kmpc_for_static_init_##kind) begin =                                         \
            OPENMP_REAL(__kmpc_for_static_init_##kind);                                            \
        struct thread *thread = untold_thread();                                                   \
        loop__begin(thread, SITE(0), &bounds);                                                     \
        begin(location, thread_number, schedule, is_last, first, last, stride, step, chunk);       \
        bool is_given = step > 0 ? *first <= *last : *first >= *last;                              \
        loop__given(thread, is_given, (int64_t)*first, (int64_t)*last + (step > 0 ? 1 : -1));      \
    }
DISPATCH(4, int32_t)
DISPATCH(4u, uint32_t)
DISPATCH(8, int64_t)
DISPATCH(8u, uint64_t)

EXPORT void __kmpc_for_static_fini(void *location, int32_t thread_number)
{
    loop__end(untold_thread());
    OPENMP_REAL(__kmpc_for_static_fini)(location, thread_number);
}

EXPORT int32_t __kmpc_single(void *location, int32_t thread_number)
{
    int32_t is_chosen = OPENMP_REAL(__kmpc_single)(location, thread_number);
    if (is_chosen)
        openmp__end(untold_thread(), SITE(0), HEURT_OPENMP_SINGLE, 0, 1, 0);
    return is_chosen;
}

EXPORT void __kmpc_doacross_wait(void *location, int32_t thread_number, const int64_t *iterations)
{
    __typeof__(&__kmpc_doacross_wait) await = OPENMP_REAL(__kmpc_doacross_wait);
    struct thread *thread = untold_thread();
    uint64_t since = sink__begin(thread);
    await(location, thread_number, iterations);
    sink__end(thread, SITE(0), since);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* What it takes is a part of the cost of the task that is made next. */
EXPORT void *__kmpc_omp_task_alloc(void *location, int32_t thread_number, int32_t flags,
                                   size_t bytes, size_t shared_bytes, void *entry)
{
    __typeof__(&__kmpc_omp_task_alloc) get = OPENMP_REAL(__kmpc_omp_task_alloc);
    uint64_t since = clock__tick();
    openmp__has_tasks();
    void *task = get(location, thread_number, flags, bytes, shared_bytes, entry);
    struct thread *thread = untold_thread();
    if (thread)
        thread->openmp.alloc_ticks = clock__tick() - since;
    return task;
}

static void making__begin(struct openmp_wait *making, struct thread *thread, uint64_t site)
{
    thread->openmp.making_site = site;
    openmp_wait__begin(making, thread);
    thread->openmp.is_told = false;
    making->since -= thread->openmp.alloc_ticks;
    thread->openmp.alloc_ticks = 0;
}

static void making__end(struct openmp_wait *making, struct thread *thread, uint64_t site)
{
    thread->openmp.making_site = 0;
    openmp_wait__made(making, thread, site);
}

#define MAKE(name, result, arguments)                \
    do {                                             \
        __typeof__(&name) make = OPENMP_REAL(name);  \
        struct thread *thread = untold_thread();     \
        struct openmp_wait making;                   \
        if (thread)                                  \
            making__begin(&making, thread, SITE(0)); \
        result make arguments;                       \
        if (thread)                                  \
            making__end(&making, thread, SITE(0));   \
    } while (0)

EXPORT int32_t __kmpc_omp_task(void *location, int32_t thread_number, void *task)
{
    int32_t result;
    MAKE(__kmpc_omp_task, result =, (location, thread_number, task));
    return result;
}

EXPORT int32_t __kmpc_omp_task_with_deps(void *location, int32_t thread_number, void *task,
                                         int32_t count, void *list, int32_t free_count,
                                         void *free_list)
{
    int32_t result;
    MAKE(__kmpc_omp_task_with_deps, result =,
         (location, thread_number, task, count, list, free_count, free_list));
    return result;
}

/* Compilers put a taskgroup around it where there is one. */
EXPORT void __kmpc_taskloop(void *location, int32_t thread_number, void *task, int32_t is_deferred,
                            uint64_t *first, uint64_t *last, int64_t step, int32_t has_no_group,
                            int32_t schedule, uint64_t grain, void *copy)
{
    MAKE(__kmpc_taskloop, ,
         (location, thread_number, task, is_deferred, first, last, step, has_no_group, schedule,
          grain, copy));
}

EXPORT void __kmpc_taskloop_5(void *location, int32_t thread_number, void *task,
                              int32_t is_deferred, uint64_t *first, uint64_t *last, int64_t step,
                              int32_t has_no_group, int32_t schedule, uint64_t grain,
                              int32_t modifier, void *copy)
{
    MAKE(__kmpc_taskloop_5, ,
         (location, thread_number, task, is_deferred, first, last, step, has_no_group, schedule,
          grain, modifier, copy));
}

/* Around a call in which tasks are run. */
#define AWAIT(name, result)                          \
    do {                                             \
        __typeof__(&name) await = OPENMP_REAL(name); \
        struct thread *thread = untold_thread();     \
        struct openmp_wait wait;                     \
        openmp_wait__begin(&wait, thread);           \
        if (thread)                                  \
            thread->openmp.is_told = false;          \
        result await(location, thread_number);       \
        openmp_wait__tasks(&wait, thread, SITE(0));  \
    } while (0)

EXPORT int32_t __kmpc_omp_taskwait(void *location, int32_t thread_number)
{
    int32_t result;
    AWAIT(__kmpc_omp_taskwait, result =);
    return result;
}

EXPORT void __kmpc_end_taskgroup(void *location, int32_t thread_number)
{
    AWAIT(__kmpc_end_taskgroup, );
}
