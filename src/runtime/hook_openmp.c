/* hook_openmp.c: critical and ordered sections, locks and barriers of OpenMP, of gcc's runtime
 * (libgomp) and of LLVM's (libomp), by the names that compilers call.
 *
 * libheurt needs neither of them: which one a call is for is found at the first call.  Mostly it is
 * the one in the program's global scope, as without us; where a plugin brought its own, that of the
 * module that calls.
 *
 * A critical section cannot be tried.  Whether it is taken is kept beside it, by its address, and
 * looked at before; as that is not exact, an entry that took long is a wait, too. */
#include "runtime/lock_events.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>

/* Those of gcc 13; older compilers pass less, and what is read beyond that is never looked at. */
#define TASK_PARAMETERS (void *, void *, void *, long, long, bool, unsigned, void **, int, void *)
#define TASKLOOP_PARAMETERS \
    (void *, void *, void *, long, long, unsigned, unsigned long, int, long, long, long)

#define LOOP_PARAMETERS (void (*)(void *), void *, unsigned, long, long, long, long, unsigned)
#define LOOP_RUNTIME_PARAMETERS (void (*)(void *), void *, unsigned, long, long, long, unsigned)

/* X(name, result, parameters): as the runtimes export them. */
#define OPENMP_FUNCTIONS(X)                                                                   \
    X(GOMP_critical_start, void, (void))                                                      \
    X(GOMP_critical_end, void, (void))                                                        \
    X(GOMP_critical_name_start, void, (void **))                                              \
    X(GOMP_critical_name_end, void, (void **))                                                \
    X(GOMP_ordered_start, void, (void))                                                       \
    X(GOMP_ordered_end, void, (void))                                                         \
    X(GOMP_atomic_start, void, (void))                                                        \
    X(GOMP_atomic_end, void, (void))                                                          \
    X(omp_get_num_threads, int, (void))                                                       \
    X(GOMP_barrier, void, (void))                                                             \
    X(GOMP_loop_end, void, (void))                                                            \
    X(GOMP_sections_end, void, (void))                                                        \
    X(omp_set_lock, void, (void *))                                                           \
    X(omp_test_lock, int, (void *))                                                           \
    X(omp_unset_lock, void, (void *))                                                         \
    X(omp_set_nest_lock, void, (void *))                                                      \
    X(omp_test_nest_lock, int, (void *))                                                      \
    X(omp_unset_nest_lock, void, (void *))                                                    \
    X(omp_set_lock_, void, (void *))                                                          \
    X(omp_test_lock_, int, (void *))                                                          \
    X(omp_unset_lock_, void, (void *))                                                        \
    X(__kmpc_critical, void, (void *, int32_t, void *))                                       \
    X(__kmpc_critical_with_hint, void, (void *, int32_t, void *, uint32_t))                   \
    X(__kmpc_end_critical, void, (void *, int32_t, void *))                                   \
    X(__kmpc_ordered, void, (void *, int32_t))                                                \
    X(__kmpc_end_ordered, void, (void *, int32_t))                                            \
    X(__kmpc_barrier, void, (void *, int32_t))                                                \
    X(GOMP_parallel, void, (void (*)(void *), void *, unsigned, unsigned))                    \
    X(GOMP_parallel_sections, void, (void (*)(void *), void *, unsigned, unsigned, unsigned)) \
    X(GOMP_parallel_loop_static, void, LOOP_PARAMETERS)                                       \
    X(GOMP_parallel_loop_dynamic, void, LOOP_PARAMETERS)                                      \
    X(GOMP_parallel_loop_guided, void, LOOP_PARAMETERS)                                       \
    X(GOMP_parallel_loop_nonmonotonic_dynamic, void, LOOP_PARAMETERS)                         \
    X(GOMP_parallel_loop_nonmonotonic_guided, void, LOOP_PARAMETERS)                          \
    X(GOMP_parallel_loop_runtime, void, LOOP_RUNTIME_PARAMETERS)                              \
    X(GOMP_parallel_loop_nonmonotonic_runtime, void, LOOP_RUNTIME_PARAMETERS)                 \
    X(GOMP_parallel_loop_maybe_nonmonotonic_runtime, void, LOOP_RUNTIME_PARAMETERS)           \
    X(GOMP_task, void, TASK_PARAMETERS)                                                       \
    X(GOMP_taskloop, void, TASKLOOP_PARAMETERS)                                               \
    X(GOMP_taskloop_ull, void, TASKLOOP_PARAMETERS)                                           \
    X(__kmpc_omp_task_alloc, void *, (void *, int32_t, int32_t, size_t, size_t, void *))

#define OPENMP_DECLARE(name, result, parameters) result name parameters;
OPENMP_FUNCTIONS(OPENMP_DECLARE)
#undef OPENMP_DECLARE

enum openmp_function {
#define OPENMP_NUMBER(name, result, parameters) OPENMP_##name,
    OPENMP_FUNCTIONS(OPENMP_NUMBER)
#undef OPENMP_NUMBER
        OPENMP_FUNCTION_COUNT
};
_Static_assert(OPENMP_FUNCTION_COUNT <= OPENMP_FUNCTIONS_MAX, "room in struct openmp");

static const char *const names[] = {
#define OPENMP_NAME(name, result, parameters) #name,
    OPENMP_FUNCTIONS(OPENMP_NAME)
#undef OPENMP_NAME
};

/* What the sections without a name share, atomic updates that are none of the processor's, and
 * what is done in the order of a loop. */
static const char omp_critical_without_a_name, omp_atomic, omp_ordered;
#define UNNAMED (&omp_critical_without_a_name)
#define ATOMIC (&omp_atomic)
#define ORDERED (&omp_ordered)

/* What is not called by a name of the program's gets one with the first call. */
static void name_object(enum openmp_function which)
{
    if (which == OPENMP_GOMP_critical_start)
        define__object(UNNAMED, "critical(unnamed)");
    else if (which == OPENMP_GOMP_atomic_start)
        define__object(ATOMIC, "atomic");
    else if (which == OPENMP_GOMP_ordered_start || which == OPENMP___kmpc_ordered)
        define__object(ORDERED, "ordered");
}

/* ---- the real functions ---------------------------------------------------------------------- */

/* Of the runtime that the module at that address needs, whose symbols nobody else sees. */
static void *find_for_module(const char *name, const void *site)
{
    Dl_info module;
    struct link_map *map = NULL;
    if (!dladdr1(site, &module, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_name[0])
        return NULL;
    void *handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    void *found = handle ? dlsym(handle, name) : NULL;
    if (handle)
        dlclose(handle); /* the module that calls keeps what it needs loaded */
    return found;
}

/* Once a call site: what is found there is kept where nobody else's is yet. */
static void *find_at(enum openmp_function which, const void *site)
{
    uint64_t key = (uintptr_t)site;
    struct openmp_site *place =
        &heurt_state.openmp.sites[key * 0x9e3779b97f4a7c15ull >> 32 & (OPENMP_SITES - 1)];
    if (__atomic_load_n(&place->key, __ATOMIC_ACQUIRE) == key && place->which == which)
        return place->function;
    void *found = find_for_module(names[which], site);
    uint64_t nobody = 0;
    if (found && __atomic_compare_exchange_n(&place->key, &nobody, 1, false, __ATOMIC_SEQ_CST,
                                             __ATOMIC_SEQ_CST)) {
        place->function = found;
        place->which = which;
        __atomic_store_n(&place->key, key, __ATOMIC_RELEASE);
    }
    return found;
}

/* For who asks by a weak symbol whether there is an OpenMP runtime, and is told that there is. */
static long nothing(void)
{
    return 0;
}

static __attribute__((noinline)) void *find(enum openmp_function which, const void *site)
{
    heurt_thread.inside++;
    name_object(which);
    void *found = dlsym(RTLD_NEXT, names[which]);
    if (found)
        __atomic_store_n(&heurt_state.openmp.functions[which], found, __ATOMIC_RELEASE);
    else
        found = find_at(which, site);
    dlerror(); /* must not show in the program's */
    heurt_thread.inside--;
    return found ? found : (void *)nothing;
}

static inline void *real(enum openmp_function which, const void *site)
{
    void *known = __atomic_load_n(&heurt_state.openmp.functions[which], __ATOMIC_ACQUIRE);
    return likely(known) ? known : find(which, site);
}

#define OPENMP_REAL(name) ((__typeof__(&name))real(OPENMP_##name, __builtin_return_address(0)))

/* ---- critical sections ----------------------------------------------------------------------- */

#define LONG_TICKS 4096 /* of an entry into a section that seemed free: somebody was faster */

static inline uint32_t *taken_at(const void *lock)
{
    return &heurt_state.openmp
                .taken[(uintptr_t)lock * 0x9e3779b97f4a7c15ull >> 32 & (OPENMP_TAKEN - 1)]
                .is_taken;
}

static inline bool is_taken(const void *lock)
{
    return __atomic_load_n(taken_at(lock), __ATOMIC_RELAXED);
}

/* All threads read the word: it is written when it changes alone. */
static inline void set_taken(const void *lock, bool taken)
{
    if (is_taken(lock) != taken)
        __atomic_store_n(taken_at(lock), taken, __ATOMIC_RELAXED);
}

/* When the entry begins; 0: nobody asks how long it takes, as it is left out where it does not
 * wait. So is a wait that begins just then: there are thousands of entries for each. */
static inline uint64_t entry_tick(const struct thread *thread)
{
    return !thread || hook__is_next_left_out(thread, HEURT_EVENT_LOCK_ACQUIRED) ? 0 : clock__tick();
}

/* The wait that was not told as it began. */
static void waited_after_all(struct thread *thread, uint64_t site, const void *lock, uint64_t since)
{
    hook__stack_at(thread, site, lock, since);
    uint64_t *at = event__claim(thread, 3);
    if (!at)
        return;
    at[1] = site;
    at[2] = (uintptr_t)lock;
    event__publish(at, since, HEURT_EVENT_LOCK_WAIT);
    lock__write_wait_ended(thread, since, lock, 0);
}

#define ENTER(kind, lock, name, arguments)                      \
    do {                                                        \
        __typeof__(&name) enter = OPENMP_REAL(name);            \
        struct thread *thread = hook__thread();                 \
        uint64_t site = SITE(kind), since = entry_tick(thread); \
        bool waits = thread && is_taken(lock);                  \
        if (waits)                                              \
            since = lock__wait_begins(thread, site, lock);      \
        wait__is_told(thread, true);                            \
        enter arguments;                                        \
        wait__is_told(thread, false);                           \
        set_taken(lock, true);                                  \
        if (waits)                                              \
            lock__wait_ended(thread, since, lock, 0);           \
        else if (since && clock__tick() - since > LONG_TICKS)   \
            waited_after_all(thread, site, lock, since);        \
        else if (thread)                                        \
            lock__acquired(thread, site, lock, false);          \
    } while (0)

#define LEAVE(kind, lock, real)                        \
    do {                                               \
        struct thread *thread = hook__thread();        \
        if (thread)                                    \
            lock__releasing(thread, SITE(kind), lock); \
        set_taken(lock, false);                        \
        real;                                          \
    } while (0)

EXPORT void GOMP_critical_start(void)
{
    ENTER(HEURT_LOCK_CRITICAL, UNNAMED, GOMP_critical_start, ());
}

EXPORT void GOMP_critical_end(void)
{
    LEAVE(HEURT_LOCK_CRITICAL, UNNAMED, OPENMP_REAL(GOMP_critical_end)());
}

EXPORT void GOMP_critical_name_start(void **section)
{
    ENTER(HEURT_LOCK_CRITICAL, section, GOMP_critical_name_start, (section));
}

EXPORT void GOMP_critical_name_end(void **section)
{
    LEAVE(HEURT_LOCK_CRITICAL, section, OPENMP_REAL(GOMP_critical_name_end)(section));
}

EXPORT void GOMP_atomic_start(void)
{
    ENTER(HEURT_LOCK_CRITICAL, ATOMIC, GOMP_atomic_start, ());
}

EXPORT void GOMP_atomic_end(void)
{
    LEAVE(HEURT_LOCK_CRITICAL, ATOMIC, OPENMP_REAL(GOMP_atomic_end)());
}

EXPORT void __kmpc_critical(void *location, int32_t thread_number, void *section)
{
    ENTER(HEURT_LOCK_CRITICAL, section, __kmpc_critical, (location, thread_number, section));
}

EXPORT void __kmpc_critical_with_hint(void *location, int32_t thread_number, void *section,
                                      uint32_t hint)
{
    ENTER(HEURT_LOCK_CRITICAL, section, __kmpc_critical_with_hint,
          (location, thread_number, section, hint));
}

EXPORT void __kmpc_end_critical(void *location, int32_t thread_number, void *section)
{
    LEAVE(HEURT_LOCK_CRITICAL, section,
          OPENMP_REAL(__kmpc_end_critical)(location, thread_number, section));
}

/* Who is not next waits, and the section may be free meanwhile: that is seen by how long it took.
 */
EXPORT void GOMP_ordered_start(void)
{
    ENTER(HEURT_LOCK_ORDERED, ORDERED, GOMP_ordered_start, ());
}

EXPORT void GOMP_ordered_end(void)
{
    LEAVE(HEURT_LOCK_ORDERED, ORDERED, OPENMP_REAL(GOMP_ordered_end)());
}

EXPORT void __kmpc_ordered(void *location, int32_t thread_number)
{
    ENTER(HEURT_LOCK_ORDERED, ORDERED, __kmpc_ordered, (location, thread_number));
}

EXPORT void __kmpc_end_ordered(void *location, int32_t thread_number)
{
    LEAVE(HEURT_LOCK_ORDERED, ORDERED, OPENMP_REAL(__kmpc_end_ordered)(location, thread_number));
}

/* ---- locks ----------------------------------------------------------------------------------- */

#define SET(lock, try, real)                                    \
    do {                                                        \
        struct thread *thread = hook__thread();                 \
        uint64_t site = SITE(HEURT_LOCK_OPENMP);                \
        if (!thread) {                                          \
            real;                                               \
            return;                                             \
        }                                                       \
        if (try) {                                              \
            lock__acquired(thread, site, lock, false);          \
            return;                                             \
        }                                                       \
        uint64_t since = lock__wait_begins(thread, site, lock); \
        wait__is_told(thread, true);                            \
        real;                                                   \
        wait__is_told(thread, false);                           \
        lock__wait_ended(thread, since, lock, 0);               \
    } while (0)

#define TEST(lock, real)                                                                     \
    do {                                                                                     \
        struct thread *thread = hook__thread();                                              \
        int result = real;                                                                   \
        if (thread && result)                                                                \
            lock__acquired(thread, SITE(HEURT_LOCK_OPENMP | HEURT_LOCK_TRIED), lock, false); \
        else if (thread)                                                                     \
            event__write2(thread, HEURT_EVENT_LOCK_BUSY, SITE(HEURT_LOCK_OPENMP),            \
                          (uintptr_t)(lock));                                                \
        return result;                                                                       \
    } while (0)

#define UNSET(lock, real)                                           \
    do {                                                            \
        struct thread *thread = hook__thread();                     \
        if (thread)                                                 \
            lock__releasing(thread, SITE(HEURT_LOCK_OPENMP), lock); \
        real;                                                       \
    } while (0)

EXPORT void omp_set_lock(void *lock)
{
    SET(lock, OPENMP_REAL(omp_test_lock)(lock), OPENMP_REAL(omp_set_lock)(lock));
}

EXPORT int omp_test_lock(void *lock)
{
    TEST(lock, OPENMP_REAL(omp_test_lock)(lock));
}

EXPORT void omp_unset_lock(void *lock)
{
    UNSET(lock, OPENMP_REAL(omp_unset_lock)(lock));
}

EXPORT void omp_set_nest_lock(void *lock)
{
    SET(lock, OPENMP_REAL(omp_test_nest_lock)(lock), OPENMP_REAL(omp_set_nest_lock)(lock));
}

EXPORT int omp_test_nest_lock(void *lock)
{
    TEST(lock, OPENMP_REAL(omp_test_nest_lock)(lock));
}

EXPORT void omp_unset_nest_lock(void *lock)
{
    UNSET(lock, OPENMP_REAL(omp_unset_nest_lock)(lock));
}

/* Fortran's. */
EXPORT void omp_set_lock_(void *lock)
{
    SET(lock, OPENMP_REAL(omp_test_lock_)(lock), OPENMP_REAL(omp_set_lock_)(lock));
}

EXPORT int omp_test_lock_(void *lock)
{
    TEST(lock, OPENMP_REAL(omp_test_lock_)(lock));
}

EXPORT void omp_unset_lock_(void *lock)
{
    UNSET(lock, OPENMP_REAL(omp_unset_lock_)(lock));
}

/* ---- barriers -------------------------------------------------------------------------------- */

/* A barrier of a team is told by the place that it is called at: the runtimes tell no other name.
 * Where the program has tasks, threads do these in barriers, so that a barrier is no wait; as the
 * first task may come while some are already there, a wait is told when it is over. */
static void barrier__met(struct thread *thread, uint64_t site, uint64_t since)
{
    wait__is_told(thread, false);
    if (!thread || heurt_state.openmp.has_tasks)
        return;
    hook__stack_at(thread, site, NULL, since);
    uint64_t *at = event__claim(thread, 3);
    if (!at)
        return;
    at[1] = site;
    at[2] = HEURT_SITE_ADDRESS(site);
    event__publish(at, since, HEURT_EVENT_BARRIER_WAIT);
    wait__end(thread, HEURT_EVENT_BARRIER_WAIT | 1, since, 0);
}

/* NULL: nothing is told. Who is alone in its team waits for nobody, where others may meet at
 * another time. */
static struct thread *barrier__meets(const void *site)
{
    struct thread *thread = hook__thread();
    if (!thread || ((int (*)(void))real(OPENMP_omp_get_num_threads, site))() == 1)
        return NULL;
    wait__is_told(thread, !heurt_state.openmp.has_tasks);
    return thread;
}

#define MEET(name, arguments)                                                \
    do {                                                                     \
        __typeof__(&name) meet = OPENMP_REAL(name);                          \
        struct thread *thread = barrier__meets(__builtin_return_address(0)); \
        uint64_t since = thread ? clock__tick() : 0;                         \
        meet arguments;                                                      \
        barrier__met(thread, SITE(HEURT_BARRIER_OPENMP), since);             \
    } while (0)

EXPORT void GOMP_barrier(void)
{
    MEET(GOMP_barrier, ());
}

EXPORT void GOMP_loop_end(void)
{
    MEET(GOMP_loop_end, ());
}

EXPORT void GOMP_sections_end(void)
{
    MEET(GOMP_sections_end, ());
}

EXPORT void __kmpc_barrier(void *location, int32_t thread_number)
{
    MEET(__kmpc_barrier, (location, thread_number));
}

/* ---- parallel regions ------------------------------------------------------------------------ */

/* What libgomp's threads wait in at the end of a region is called by nobody.  So they meet at a
 * barrier of ours just before: all return from the region's function, or none does.  A region in
 * which nobody had much to do is left alone: that would cost more than it tells.  Then, as ever,
 * the time until the threads have begun it and until they have ended it is told of who calls it. */
struct parallel {
    void (*routine)(void *);
    void *data;
    uint64_t site;
    void (*meet)(void);    /* NULL: left alone; the same for all threads of the team */
    struct thread *master; /* who calls it; NULL: nothing is told of it */
    struct parallel_call *call;
};

/* What changes while the region runs. */
struct parallel_call {
    uint64_t since; /* the master's: when it called, or returned from the function */
    uint64_t *next; /* its place in the record then */
    bool is_long;   /* somebody had much to do (atomic) */
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

/* Between two regions the other threads of a team wait for the next one, spinning first and then by
 * a futex: a condition that the one who calls regions signals. */
static void team__is_called(struct thread *master, uint64_t site)
{
    if (!master || !master->has_team)
        return;
    master->has_team = false;
    event__write2(master, HEURT_EVENT_CONDITION_SIGNALLED, HEURT_SITE(site, 1), (uintptr_t)master);
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

static void parallel__begin(struct parallel *parallel, void (*routine)(void *), void *data,
                            uint64_t site, struct parallel_call *call)
{
    struct thread *thread = hook__thread();
    struct openmp_region *region = region_of(site);
    uint32_t before = __atomic_load_n(&region->ticks, __ATOMIC_RELAXED);
    *parallel = (struct parallel){routine, data, site, NULL, NULL, call};
    team__is_called(thread, HEURT_SITE_ADDRESS(site));
    if (!thread || (before && before < SHORT_REGION_TICKS) || heurt_state.openmp.has_tasks)
        return;
    parallel->master = thread;
    thread->has_team = true;
    if ((!before || __atomic_load_n(&region->distance, __ATOMIC_RELAXED)) &&
        !getenv("OMP_CANCELLATION"))
        parallel->meet = real(OPENMP_GOMP_barrier, (const void *)HEURT_SITE_ADDRESS(site));
    master__waits(parallel);
}

static void parallel__end(const struct parallel *parallel, uint64_t began)
{
    struct openmp_region *region = region_of(parallel->site);
    uint64_t before = __atomic_load_n(&region->ticks, __ATOMIC_RELAXED);
    uint64_t ticks = clock__tick() - began;
    uint32_t distance = __atomic_load_n(&region->distance, __ATOMIC_RELAXED);
    master__waited(parallel);
    if (before && ticks > 2 * before) /* it may have waited for a CPU */
        ticks = 2 * before;
    __atomic_store_n(&region->ticks, ticks < UINT32_MAX ? ticks + !ticks : UINT32_MAX,
                     __ATOMIC_RELAXED);
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
        struct thread *meets = barrier__meets((const void *)HEURT_SITE_ADDRESS(parallel->site));
        uint64_t since = meets ? clock__tick() : 0;
        parallel->meet();
        barrier__met(meets, parallel->site, since);
    }
    dock__enter(thread, parallel);
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
    uint64_t began = clock__tick();
    parallel.routine(parallel.data);
    if (clock__tick() - began > LONG_WORK_TICKS)
        __atomic_store_n(&parallel.call->is_long, true, __ATOMIC_RELAXED);
    parallel__meet(hook__thread(), &parallel);
    if (is_master)
        master__waits(&parallel);
    wait__is_told(hook__thread(), true);
}

#define PARALLEL(name, ...)                                                                  \
    do {                                                                                     \
        struct parallel parallel;                                                            \
        struct parallel_call call = {0};                                                     \
        __typeof__(&name) begin = OPENMP_REAL(name);                                         \
        uint64_t since = clock__tick();                                                      \
        parallel__begin(&parallel, routine, data, SITE(HEURT_BARRIER_OPENMP_REGION), &call); \
        wait__is_told(hook__thread(), true);                                                 \
        begin(parallel__run, &parallel, __VA_ARGS__);                                        \
        wait__is_told(hook__thread(), false);                                                \
        parallel__end(&parallel, since);                                                     \
    } while (0)

EXPORT void GOMP_parallel(void (*routine)(void *), void *data, unsigned threads, unsigned flags)
{
    PARALLEL(GOMP_parallel, threads, flags);
}

EXPORT void GOMP_parallel_sections(void (*routine)(void *), void *data, unsigned threads,
                                   unsigned count, unsigned flags)
{
    PARALLEL(GOMP_parallel_sections, threads, count, flags);
}

#define PARALLEL_LOOP(name)                                                                       \
    EXPORT void name(void (*routine)(void *), void *data, unsigned threads, long start, long end, \
                     long step, long chunk, unsigned flags)                                       \
    {                                                                                             \
        PARALLEL(name, threads, start, end, step, chunk, flags);                                  \
    }
PARALLEL_LOOP(GOMP_parallel_loop_static)
PARALLEL_LOOP(GOMP_parallel_loop_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_guided)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided)

#define PARALLEL_LOOP_RUNTIME(name)                                                               \
    EXPORT void name(void (*routine)(void *), void *data, unsigned threads, long start, long end, \
                     long step, unsigned flags)                                                   \
    {                                                                                             \
        PARALLEL(name, threads, start, end, step, flags);                                         \
    }
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* ---- tasks ----------------------------------------------------------------------------------- */

static inline void has_tasks(void)
{
    if (unlikely(!heurt_state.openmp.has_tasks))
        heurt_state.openmp.has_tasks = true;
}

EXPORT void GOMP_task(void *routine, void *data, void *copy, long bytes, long alignment,
                      bool is_deferred, unsigned flags, void **depend, int priority, void *detach)
{
    has_tasks();
    OPENMP_REAL(GOMP_task)
    (routine, data, copy, bytes, alignment, is_deferred, flags, depend, priority, detach);
}

EXPORT void GOMP_taskloop(void *routine, void *data, void *copy, long bytes, long alignment,
                          unsigned flags, unsigned long tasks, int priority, long start, long end,
                          long step)
{
    has_tasks();
    OPENMP_REAL(GOMP_taskloop)
    (routine, data, copy, bytes, alignment, flags, tasks, priority, start, end, step);
}

EXPORT void GOMP_taskloop_ull(void *routine, void *data, void *copy, long bytes, long alignment,
                              unsigned flags, unsigned long tasks, int priority, long start,
                              long end, long step)
{
    has_tasks();
    OPENMP_REAL(GOMP_taskloop_ull)
    (routine, data, copy, bytes, alignment, flags, tasks, priority, start, end, step);
}

EXPORT void *__kmpc_omp_task_alloc(void *location, int32_t thread_number, int32_t flags,
                                   size_t bytes, size_t shared_bytes, void *entry)
{
    has_tasks();
    return OPENMP_REAL(__kmpc_omp_task_alloc)(location, thread_number, flags, bytes, shared_bytes,
                                              entry);
}
