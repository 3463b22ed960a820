/* hook_openmp_region.c: parallel regions of libgomp, from their call to their end, and what each
 * thread of the team does in them.
 *
 *     who calls   |region                                                     |
 *                    |body ------------------------|  (meets)
 *     another         |body ------------|  (meets)                      ~~~~~~~ (next region)
 *
 * What libgomp's threads wait in at the end of a region is called by nobody.  So they meet at a
 * barrier of ours just before: all return from the region's function, or none does.  A region in
 * which nobody had much to do is left alone: that would cost more than it tells.  Then, as ever,
 * the time until the threads have begun it and until they have ended it is told of who calls it. */
#include "runtime/openmp_hooks.h"

#include <stdlib.h>

struct parallel {
    void *reductions; /* first: where GOMP_parallel_reductions looks for them */
    void (*routine)(void *);
    void *data;
    uint64_t site;
    uint64_t number;       /* of the region; 0: it is not told */
    void (*meet)(void);    /* NULL: left alone; the same for all threads of the team */
    struct thread *master; /* who calls it; NULL: no wait is told of it */
    struct parallel_call *call;
    const struct loop_bounds *loop; /* that the region's function is a part of; NULL: none */
};

/* What changes while the region runs. */
struct parallel_call {
    uint64_t since; /* the master's: when it called, or returned from the function */
    uint64_t *next; /* its place in the record then */
    bool is_long;   /* somebody had much to do (atomic) */
    bool is_alone;  /* the master, in its team */
};

#define LONG_WORK_TICKS 200000
#define SHORT_REGION_TICKS 4000 /* telling of it would cost as much */
#define LEAST_TOLD_TICKS 800    /* of the master's waits: a region of one thread has none */
#define OFTEN_SHORT 3           /* regions in a row: who had much to do may have wanted a CPU */

static struct openmp_region *region_of(uint64_t site)
{
    uint64_t place = HEURT_SITE_ADDRESS(site) * 0x9e3779b97f4a7c15ull >> 32;
    return &heurt_state.openmp.regions[place & (OPENMP_SITES - 1)];
}

bool region__is_short(uint64_t site)
{
    uint32_t before = __atomic_load_n(&region_of(site)->ticks, __ATOMIC_RELAXED);
    return before && before < SHORT_REGION_TICKS;
}

void region__took(uint64_t site, uint64_t ticks)
{
    struct openmp_region *region = region_of(site);
    uint64_t before = __atomic_load_n(&region->ticks, __ATOMIC_RELAXED);
    if (before && ticks > 2 * before) /* it may have waited for a CPU */
        ticks = 2 * before;
    __atomic_store_n(&region->ticks, ticks < UINT32_MAX ? ticks + !ticks : UINT32_MAX,
                     __ATOMIC_RELAXED);
}

static void dock__leave(struct thread *thread)
{
    if (!thread || !thread->docked)
        return;
    wait__end(thread, HEURT_EVENT_CONDITION_WAIT | 1, thread->docked, 0);
    thread->docked = 0;
}

static void dock__enter(struct thread *thread, const struct parallel *parallel)
{
    if (!thread || !parallel->master || thread == parallel->master || heurt_state.openmp.has_tasks)
        return;
    uint64_t site = HEURT_SITE(HEURT_SITE_ADDRESS(parallel->site), HEURT_CONDITION_OPENMP_REGION);
    event__write3(thread, HEURT_EVENT_CONDITION_WAIT, site, (uintptr_t)parallel->master, 0);
    thread->docked = clock__tick();
}

/* The master waits from now on for the others to begin, or to end. */
static void master__waits(const struct parallel *parallel)
{
    parallel->call->next = parallel->master->next;
    parallel->call->since = clock__tick();
}

/* That wait is over. It is told now, if anything is: nothing may have been told since then. */
static void master__waited(const struct parallel *parallel)
{
    struct thread *thread = parallel->master;
    uint64_t since = parallel->call->since;
    if (!thread || thread->next != parallel->call->next || heurt_state.openmp.has_tasks ||
        clock__tick() - since < LEAST_TOLD_TICKS)
        return;
    uint64_t site = HEURT_SITE(HEURT_SITE_ADDRESS(parallel->site), HEURT_BARRIER_OPENMP_TEAM);
    uintptr_t object = (uintptr_t)thread; /* several may call regions at one place */
    hook__stack_at(thread, site, (const void *)object, since);
    uint64_t *at = event__claim(thread, 3);
    if (!at)
        return;
    at[1] = site;
    at[2] = object;
    event__publish(at, since, HEURT_EVENT_BARRIER_WAIT);
    wait__end(thread, HEURT_EVENT_BARRIER_WAIT | 1, since, 0);
}

/* Returns when the region begins. */
static uint64_t tell_region(struct thread *thread, struct parallel *parallel, unsigned threads)
{
    if (!thread)
        return clock__tick();
    thread->openmp.is_told = true;
    parallel->number = __atomic_add_fetch(&heurt_state.openmp.region_count, 1, __ATOMIC_RELAXED);
    uint64_t tick = openmp__begin(thread, openmp__place(parallel->routine), HEURT_OPENMP_REGION,
                                  parallel->number, threads);
    openmp__told(thread, tick);
    return tick;
}

/* parallel: its other members are set. threads: that are asked for. Returns when it begins. */
static uint64_t parallel__begin(struct parallel *parallel, unsigned threads)
{
    struct thread *thread = hook__thread();
    uint64_t site = parallel->site;
    struct openmp_region *region = region_of(site);
    bool is_new = !__atomic_load_n(&region->ticks, __ATOMIC_RELAXED);
    team__is_called(thread, HEURT_SITE_ADDRESS(site));
    uint64_t since = tell_region(thread, parallel, threads);
    if (!thread || region__is_short(site) || heurt_state.openmp.has_tasks)
        return since;
    parallel->master = thread;
    thread->has_team = true;
    if ((is_new || __atomic_load_n(&region->distance, __ATOMIC_RELAXED)) &&
        !getenv("OMP_CANCELLATION"))
        parallel->meet = openmp__real(OPENMP_GOMP_barrier, (const void *)HEURT_SITE_ADDRESS(site));
    master__waits(parallel);
    return since;
}

/* Returns when it ends. */
static uint64_t tell_region_end(const struct parallel *parallel)
{
    struct thread *thread = parallel->number ? hook__thread() : NULL;
    if (!thread)
        return clock__tick();
    openmp__flush(thread);
    uint64_t tick = parallel->call->is_alone ? openmp__tick_told(thread) : clock__tick();
    return openmp__end_at(thread, openmp__place(parallel->routine), HEURT_OPENMP_REGION, 0, 0, 0,
                          tick);
}

static void parallel__end(const struct parallel *parallel, uint64_t began)
{
    struct openmp_region *region = region_of(parallel->site);
    uint32_t distance = __atomic_load_n(&region->distance, __ATOMIC_RELAXED);
    master__waited(parallel);
    region__took(parallel->site, tell_region_end(parallel) - began);
    bool is_long = __atomic_load_n(&parallel->call->is_long, __ATOMIC_RELAXED);
    uint32_t then = is_long ? OFTEN_SHORT : distance ? distance - 1 : 0;
    if (then != distance)
        __atomic_store_n(&region->distance, then, __ATOMIC_RELAXED);
}

/* What libgomp's threads wait in after the region's function is told by a barrier, or is the wait
 * for the next region. */
static void parallel__meet(struct thread *thread, const struct parallel *parallel)
{
    if (parallel->meet) {
        struct openmp_meeting meeting =
            meeting__begin((const void *)HEURT_SITE_ADDRESS(parallel->site));
        parallel->meet();
        meeting__end(&meeting, parallel->site);
    }
    dock__enter(thread, parallel);
}

static uint64_t place_in_team(const struct parallel *parallel)
{
    const void *site = (const void *)HEURT_SITE_ADDRESS(parallel->site);
    uint64_t number = (unsigned)((int (*)(void))openmp__real(OPENMP_omp_get_thread_num, site))();
    return number << 32 |
           (unsigned)((int (*)(void))openmp__real(OPENMP_omp_get_num_threads, site))();
}

/* outer: gets what the thread is in, if it is in another region. Returns when it begins. */
static uint64_t body__begin(struct thread *thread, const struct parallel *parallel,
                            struct openmp_frame *outer)
{
    if (!thread || !parallel->number)
        return clock__tick();
    openmp__flush(thread);
    *outer = thread->openmp.frame;
    thread->openmp.frame.bodies++;
    thread->openmp.frame.wait_ticks = thread->openmp.frame.task_ticks = 0;
    thread->openmp.frame.loop.site = 0;
    uint64_t place = place_in_team(parallel);
    bool is_alone = place == 1;
    if (is_alone)
        parallel->call->is_alone = true;
    uint64_t tick = is_alone ? openmp__tick_told(thread) : clock__tick();
    openmp__begin_at(thread, openmp__place(parallel->routine), HEURT_OPENMP_BODY, parallel->number,
                     place, tick);
    if (parallel->loop)
        loop__begin(thread, openmp__place(parallel->routine), parallel->loop);
    return tick;
}

/* Returns when it ends. */
static uint64_t body__end(struct thread *thread, const struct parallel *parallel,
                          const struct openmp_frame *outer)
{
    if (!thread || !parallel->number)
        return clock__tick();
    loop__end(thread);
    openmp__flush(thread);
    uint64_t tick =
        openmp__end(thread, openmp__place(parallel->routine), HEURT_OPENMP_BODY, 0, 0, 0);
    openmp__told(thread, tick);
    thread->openmp.frame = *outer;
    return tick;
}

/* Called by each thread of the team in place of the region's function. */
static void parallel__run(void *data)
{
    const struct parallel parallel = *(const struct parallel *)data;
    struct thread *thread = hook__thread();
    bool is_master = thread && thread == parallel.master;
    if (is_master)
        master__waited(&parallel);
    else
        dock__leave(thread);
    wait__is_told(thread, false);
    struct openmp_frame outer;
    if (thread)
        thread->openmp.is_told = false;
    uint64_t began = body__begin(thread, &parallel, &outer);
    parallel.routine(parallel.data);
    if (body__end(hook__thread(), &parallel, &outer) - began > LONG_WORK_TICKS)
        __atomic_store_n(&parallel.call->is_long, true, __ATOMIC_RELAXED);
    parallel__meet(hook__thread(), &parallel);
    if (is_master)
        master__waits(&parallel);
    wait__is_told(hook__thread(), true);
}

#define PARALLEL(name, bounds, reduced, result, ...)                           \
    do {                                                                       \
        struct parallel_call call = {0};                                       \
        struct parallel parallel = {.reductions = reduced,                     \
                                    .routine = routine,                        \
                                    .data = data,                              \
                                    .site = SITE(HEURT_BARRIER_OPENMP_REGION), \
                                    .call = &call,                             \
                                    .loop = bounds};                           \
        __typeof__(&name) begin = OPENMP_REAL(name);                           \
        uint64_t since = parallel__begin(&parallel, threads);                  \
        wait__is_told(hook__thread(), true);                                   \
        result begin(parallel__run, &parallel, __VA_ARGS__);                   \
        wait__is_told(hook__thread(), false);                                  \
        parallel__end(&parallel, since);                                       \
    } while (0)

EXPORT void GOMP_parallel(void (*routine)(void *), void *data, unsigned threads, unsigned flags)
{
    PARALLEL(GOMP_parallel, NULL, NULL, , threads, flags);
}

EXPORT unsigned GOMP_parallel_reductions(void (*routine)(void *), void *data, unsigned threads,
                                         unsigned flags)
{
    unsigned result;
    PARALLEL(GOMP_parallel_reductions, NULL, *(void **)data, result =, threads, flags);
    return result;
}

EXPORT void GOMP_parallel_sections(void (*routine)(void *), void *data, unsigned threads,
                                   unsigned count, unsigned flags)
{
    const struct loop_bounds bounds = {HEURT_SCHEDULE_SECTIONS, 0, count, 0, 0};
    PARALLEL(GOMP_parallel_sections, &bounds, NULL, , threads, count, flags);
}

#define PARALLEL_LOOP(name, schedule)                                                             \
    EXPORT void name(void (*routine)(void *), void *data, unsigned threads, long start, long end, \
                     long step, long chunk, unsigned flags)                                       \
    {                                                                                             \
        const struct loop_bounds bounds = {schedule, start, end, step, chunk};                    \
        PARALLEL(name, &bounds, NULL, , threads, start, end, step, chunk, flags);                 \
    }
PARALLEL_LOOP(GOMP_parallel_loop_static, HEURT_SCHEDULE_STATIC)
PARALLEL_LOOP(GOMP_parallel_loop_dynamic, HEURT_SCHEDULE_DYNAMIC)
PARALLEL_LOOP(GOMP_parallel_loop_guided, HEURT_SCHEDULE_GUIDED)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, HEURT_SCHEDULE_DYNAMIC)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided, HEURT_SCHEDULE_GUIDED)

#define PARALLEL_LOOP_RUNTIME(name)                                                               \
    EXPORT void name(void (*routine)(void *), void *data, unsigned threads, long start, long end, \
                     long step, unsigned flags)                                                   \
    {                                                                                             \
        const struct loop_bounds bounds = {HEURT_SCHEDULE_RUNTIME, start, end, step, 0};          \
        PARALLEL(name, &bounds, NULL, , threads, start, end, step, flags);                        \
    }
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
