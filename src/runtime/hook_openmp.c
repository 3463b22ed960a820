/* hook_openmp.c: critical and ordered sections, locks and barriers of OpenMP, of gcc's runtime
 * (libgomp) and of LLVM's (libomp), by the names that compilers call.
 *
 * A critical section cannot be tried.  Whether it is taken is kept beside it, by its address, and
 * looked at before; as that is not exact, an entry that took long is a wait, too. */
#include "runtime/openmp_hooks.h"
#include "runtime/real.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>

static const char *const names[] = {
#define OPENMP_X(name, result, parameters) #name,
    OPENMP_FUNCTIONS
#undef OPENMP_X
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

/* Once a call site: what is found there is kept where nobody else's is yet. */
static void *find_at(enum openmp_function which, const void *site)
{
    uint64_t key = (uintptr_t)site;
    struct openmp_site *place =
        &heurt_state.openmp.sites[key * 0x9e3779b97f4a7c15ull >> 32 & (OPENMP_SITES - 1)];
    if (__atomic_load_n(&place->key, __ATOMIC_ACQUIRE) == key && place->which == which)
        return place->function;
    void *found = real__of_module(names[which], site);
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

void *openmp__find(enum openmp_function which, const void *site)
{
    heurt_thread.inside++;
    name_object(which);
    void *found = dlsym(BEHIND_US, names[which]);
    if (found)
        __atomic_store_n(&heurt_state.openmp.functions[which], found, __ATOMIC_RELEASE);
    else
        found = find_at(which, site);
    dlerror(); /* must not show in the program's */
    heurt_thread.inside--;
    return found ? found : (void *)nothing;
}

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

/* A section that seemed free, as the entry began. */
static void entered(struct thread *thread, uint64_t site, const void *lock, uint64_t since)
{
    uint64_t ticks = clock__tick() - since;
    if (ticks > LONG_TICKS) {
        waited_after_all(thread, site, lock, since);
        return;
    }
    lock__acquired(thread, site, lock, false);
    if (thread->openmp.frame.bodies)
        openmp__add(thread, SUM_ENTERED, site, ticks, 0);
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
            lock__wait_ended(thread, site, since, lock, 0);     \
        else if (since)                                         \
            entered(thread, site, lock, since);                 \
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
        lock__wait_ended(thread, site, since, lock, 0);         \
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
static void tell_barrier(struct thread *thread, uint64_t site, uint64_t since)
{
    hook__stack_at(thread, site, NULL, since);
    uint64_t *at = event__claim(thread, 3);
    if (!at)
        return;
    at[1] = site;
    at[2] = HEURT_SITE_ADDRESS(site);
    event__publish(at, since, HEURT_EVENT_BARRIER_WAIT);
    wait__end(thread, HEURT_EVENT_BARRIER_WAIT | 1, since, 0);
}

/* Who is alone in its team waits for nobody, where others may meet at another time. */
struct openmp_meeting meeting__begin(const void *site)
{
    struct openmp_meeting meeting = {.thread = hook__thread()};
    if (!meeting.thread || ((int (*)(void))openmp__real(OPENMP_omp_get_num_threads, site))() == 1)
        return (struct openmp_meeting){.thread = NULL};
    wait__is_told(meeting.thread, !heurt_state.openmp.has_tasks);
    meeting.thread->openmp.is_meeting = true;
    openmp_wait__begin(&meeting.wait, meeting.thread);
    return meeting;
}

void meeting__end(const struct openmp_meeting *meeting, uint64_t site)
{
    uint64_t idle;
    struct thread *thread = meeting->thread;
    if (!thread)
        return;
    wait__is_told(thread, false);
    thread->openmp.is_meeting = false;
    uint64_t ticks = openmp_wait__end(&meeting->wait, thread, &idle);
    if (heurt_state.openmp.has_tasks)
        openmp__end(thread, site, HEURT_OPENMP_BARRIER, ticks, idle, 1);
    else
        tell_barrier(thread, site, meeting->wait.since);
}

EXPORT void GOMP_barrier(void)
{
    MEET(GOMP_barrier, ());
}

EXPORT bool GOMP_barrier_cancel(void)
{
    MEET_OR_CANCEL(GOMP_barrier_cancel);
}

EXPORT void __kmpc_barrier(void *location, int32_t thread_number)
{
    __typeof__(&__kmpc_barrier) meet = OPENMP_REAL(__kmpc_barrier);
    struct thread *thread = hook__thread();
    if (thread && thread->openmp.is_told) {
        meet(location, thread_number);
        return;
    }
    struct openmp_meeting meeting = meeting__begin(__builtin_return_address(0));
    if (meeting.thread)
        meeting.thread->openmp.is_told = false; /* tasks that it runs tell of themselves */
    meet(location, thread_number);
    meeting__end(&meeting, SITE(HEURT_BARRIER_OPENMP));
}

EXPORT bool GOMP_cancel(int construct, bool is_asked)
{
    bool is_cancelled = OPENMP_REAL(GOMP_cancel)(construct, is_asked);
    if (is_cancelled && is_asked) /* else another thread had */
        openmp__end(hook__thread(), SITE(0), HEURT_OPENMP_CANCEL, 0, (unsigned)construct, 1);
    return is_cancelled;
}

/* ---- what is summed up ----------------------------------------------------------------------- */

#define SHORT_TICKS 20000u /* longer ones are told on their own */
#define SUM_MOST 256u

static void tell_sum(struct thread *thread, enum openmp_summed which, struct openmp_sum *told)
{
    static const enum heurt_openmp kinds[SUMS] = {[SUM_TASK_MADE] = HEURT_OPENMP_TASK_MADE,
                                                  [SUM_TASK] = HEURT_OPENMP_TASK,
                                                  [SUM_TASKWAIT] = HEURT_OPENMP_TASKWAIT,
                                                  [SUM_ENTERED] = HEURT_OPENMP_ENTERED,
                                                  [SUM_SINK] = HEURT_OPENMP_SINK};
    const struct openmp_sum sum = *told;
    bool is_wait = which == SUM_TASKWAIT || which == SUM_SINK;
    *told = (struct openmp_sum){0};
    if (sum.count)
        openmp__end(thread, sum.site, kinds[which], sum.ticks, is_wait ? sum.figure : sum.count,
                    is_wait ? sum.count : sum.figure);
}

void openmp__add(struct thread *thread, enum openmp_summed which, uint64_t site, uint64_t ticks,
                 uint64_t figure)
{
    uint64_t place = HEURT_SITE_ADDRESS(site) * 0x9e3779b97f4a7c15ull >> 32;
    struct openmp_sum *sum = &thread->openmp.sums[which][place & (SUM_PLACES - 1)];
    bool is_long = ticks > SHORT_TICKS;
    if (sum->count && (is_long || sum->site != site))
        tell_sum(thread, which, sum);
    sum->site = site;
    sum->ticks += ticks;
    sum->figure += figure;
    thread->openmp.has_sums = true;
    if (++sum->count == SUM_MOST || is_long || !thread->openmp.frame.bodies)
        tell_sum(thread, which, sum);
}

void openmp__tell_sums(struct thread *thread)
{
    thread->openmp.has_sums = false;
    for (enum openmp_summed which = 0; which < SUMS; which++)
        for (unsigned place = 0; place < SUM_PLACES; place++)
            tell_sum(thread, which, &thread->openmp.sums[which][place]);
}
