/* hook_thread.c: threads begin, end, are waited for; sleeping and yielding. */
#include "runtime/polls.h"
#include "runtime/readable.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <errno.h>
#include <sys/mman.h>

static struct beginning *beginning__get(void)
{
    for (unsigned i = 0; i < BEGINNINGS_MAX; i++)
        if (!__atomic_exchange_n(&heurt_state.beginnings[i].taken, 1, __ATOMIC_ACQUIRE))
            return &heurt_state.beginnings[i];
    return NULL;
}

static void beginning__put(struct beginning *beginning)
{
    __atomic_store_n(&beginning->taken, 0, __ATOMIC_RELEASE);
}

/* Of a stack, its guard and what lies beside it: small stacks are not taken for known. */
#define STACK_MARGIN (64u << 10)

/* The new thread's first act: its own start event, the destructor that will end it, the bounds of
 * its stack. */
static void begin_thread(const struct beginning *beginning, uint64_t routine)
{
    struct thread *thread = &heurt_thread;
    thread->creator = beginning->creator;
    thread->start_routine = routine;
    thread->in_seccomp = beginning->in_seccomp;
    thread->roams = !beginning->in_seccomp;
    /* The thread's descriptor lies above its first frame, in the same mapping. */
    thread->stack_high = raw__thread_pointer();
    thread->stack_low = thread->stack_high - beginning->stack_bytes + STACK_MARGIN;
    if (!heurt_state.recording)
        return;
    event__refill(NULL, 0);
    thread->leaves_itself = !end_key__set(thread);
}

/* For who has no destructor that ends its record. */
static __attribute__((noinline)) void *posix_routine(struct beginning beginning)
{
    void *result = beginning.routine.posix(beginning.argument);
    thread__leave();
    return result;
}

static __attribute__((noinline)) int c11_routine(struct beginning beginning)
{
    int result = beginning.routine.c11(beginning.argument);
    thread__leave();
    return result;
}

/* The program's routine is jumped to, so that its frames lie where they would without us. */
static void *posix_main(void *data)
{
    struct beginning beginning = *(struct beginning *)data;
    beginning__put(data);
    begin_thread(&beginning, (uint64_t)beginning.routine.posix);
    if (unlikely(heurt_thread.leaves_itself))
        return posix_routine(beginning);
    return beginning.routine.posix(beginning.argument);
}

static int c11_main(void *data)
{
    struct beginning beginning = *(struct beginning *)data;
    beginning__put(data);
    begin_thread(&beginning, (uint64_t)beginning.routine.c11);
    if (unlikely(heurt_thread.leaves_itself))
        return c11_routine(beginning);
    return beginning.routine.c11(beginning.argument);
}

static void fill(struct beginning *beginning, const pthread_attr_t *attributes)
{
    const struct thread *thread = &heurt_thread;
    beginning->in_seccomp = thread->in_seccomp;
    beginning->creator = thread->started ? thread->serial : HEURT_NO_SERIAL;
    size_t bytes = 0;
    pthread_attr_t defaults;
    if (attributes) {
        pthread_attr_getstacksize(attributes, &bytes);
    } else if (pthread_attr_init(&defaults) == 0) {
        pthread_attr_getstacksize(&defaults, &bytes);
        pthread_attr_destroy(&defaults);
    }
    beginning->stack_bytes = bytes > STACK_MARGIN ? bytes : STACK_MARGIN;
}

/* id: where the C library has put it before the thread ran, which may have done away with that
 * place. */
static void tell_created(struct thread *thread, uint64_t site, const pthread_t *id, uint64_t began)
{
    uint64_t ticks = clock__tick() - began;
    pthread_t known = 0;
    memory__copy_of_others(&known, id, sizeof known);
    event__write3(thread, HEURT_EVENT_THREAD_CREATED, site, known, ticks);
}

EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*routine)(void *),
                          void *argument)
{
    struct thread *thread = hook__thread();
    struct beginning *beginning = thread ? beginning__get() : NULL;
    if (!beginning)
        return REAL(pthread_create)(id, attributes, routine, argument);
    if (!thread->started)
        event__refill(NULL, 0);
    module__see_system_calls(thread);
    fill(beginning, attributes);
    beginning->routine.posix = routine;
    beginning->argument = argument;
    uint64_t began = clock__tick();
    int result = REAL(pthread_create)(id, attributes, posix_main, beginning);
    if (result != 0)
        beginning__put(beginning);
    else
        tell_created(thread, SITE(0), id, began);
    return result;
}

EXPORT int thrd_create(thrd_t *id, thrd_start_t routine, void *argument)
{
    struct thread *thread = hook__thread();
    struct beginning *beginning = thread ? beginning__get() : NULL;
    if (!beginning)
        return REAL(thrd_create)(id, routine, argument);
    if (!thread->started)
        event__refill(NULL, 0);
    module__see_system_calls(thread);
    fill(beginning, NULL);
    beginning->routine.c11 = routine;
    beginning->argument = argument;
    uint64_t began = clock__tick();
    int result = REAL(thrd_create)(id, c11_main, beginning);
    if (result != thrd_success)
        beginning__put(beginning);
    else
        tell_created(thread, SITE(0), id, began);
    return result;
}

#define JOIN(id, real)                                                    \
    do {                                                                  \
        struct thread *thread = hook__thread();                           \
        if (unlikely(!thread))                                            \
            return real;                                                  \
        hook__stack(thread, SITE(0), NULL);                               \
        event__write2(thread, HEURT_EVENT_JOIN, SITE(0), (uint64_t)(id)); \
        int result = real;                                                \
        event__write1(thread, HEURT_EVENT_JOIN | 1, (uint64_t)result);    \
        return result;                                                    \
    } while (0)

EXPORT int pthread_join(pthread_t id, void **value)
{
    JOIN(id, REAL(pthread_join)(id, value));
}

EXPORT int pthread_tryjoin_np(pthread_t id, void **value)
{
    JOIN(id, REAL(pthread_tryjoin_np)(id, value));
}

EXPORT int pthread_timedjoin_np(pthread_t id, void **value, const struct timespec *until)
{
    JOIN(id, REAL(pthread_timedjoin_np)(id, value, until));
}

EXPORT int pthread_clockjoin_np(pthread_t id, void **value, clockid_t clock,
                                const struct timespec *until)
{
    JOIN(id, REAL(pthread_clockjoin_np)(id, value, clock, until));
}

EXPORT int thrd_join(thrd_t id, int *value)
{
    JOIN(id, REAL(thrd_join)(id, value));
}

/* Another thread's name is said when that thread next takes a chunk, or ends. */
EXPORT int pthread_setname_np(pthread_t id, const char *name)
{
    int result = REAL(pthread_setname_np)(id, name);
    struct thread *thread = hook__thread();
    if (result == 0 && thread && thread->started && id == raw__thread_pointer())
        define__thread_name(thread);
    return result;
}

/* ---- polls: one place that yields or sleeps again and again is one wait -----------------------
 */

/* Between two yields of one wait: some 3 us, however long others had the CPU in the first. */
#define YIELDING_TICKS 8192

static void poll__leave(struct thread *thread, uint64_t site, uint64_t since, uint64_t ns)
{
    uint64_t drained = event__begin(thread, HEURT_EVENT_SLEEP | 1);
    uint64_t *at = event__claim(thread, 1);
    if (unlikely(!at))
        return;
    event__publish(at, drained ? drained : clock__tick(), HEURT_EVENT_SLEEP | 1);
    event__end(thread, drained);
    poll__remember(thread, site, at, 1, since);
    thread->poll.ns = ns;
}

/* ---- sleep ------------------------------------------------------------------------------------
 */

static uint64_t ns_of(const struct timespec *time)
{
    struct timespec copy;
    if (!time || !hook__thread() || !memory__copy(&copy, time, sizeof copy))
        return 0;
    return (uint64_t)copy.tv_sec * 1000000000u + (uint64_t)copy.tv_nsec;
}

/* Between two sleeps of a loop that only asks whether it may go on: some 3 us, and a 200th of the
 * sleep (not of the time without a CPU behind it), after which little is in the caches. One that
 * asks rarely is in no hurry, unless it
 * has become patient: it asked more often before. */
#define ASKING_TICKS 8192
#define ASKING_PART 200
#define ASKING_NS 10000000u
#define PATIENT_NS 1000000000u
#define ASKING_WORDS 12
#define UNEVEN 3

/* Whether the thread, since it slept, did nothing but look at what a lock guards. */
static bool only_looked(const struct thread *thread)
{
    const uint64_t *at = thread->poll.end, *next = *(uint64_t *volatile *)&thread->next;
    if (!at || next < at || next - at > ASKING_WORDS)
        return false;
    for (uint64_t id; at < next; at += 3) {
        id = *at & ((1u << HEURT_ID_BITS) - 1);
        if (id != HEURT_EVENT_LOCK_ACQUIRED && id != HEURT_EVENT_LOCK_RELEASED)
            return false;
    }
    return at == next;
}

/* Whether the thread slept at that place just before and has done next to nothing since. */
static bool is_asking(const struct thread *thread, uint64_t site, uint64_t polling, uint64_t ns)
{
    const struct poll *last = &thread->poll;
    uint64_t asked = clock__ticks(last->ns), slept = last->ticks < asked ? last->ticks : asked;
    bool was_asking = last->site == polling, is_patient = last->ns && last->ns < ns;
    return (was_asking || last->site == site) && ns &&
           (ns <= ASKING_NS || ((was_asking || is_patient) && ns <= PATIENT_NS)) &&
           clock__tick() - last->tick <= ASKING_TICKS + slept / ASKING_PART && only_looked(thread);
}

/* Who asks sleeps as long as before, or becomes clearly more patient, and begins anew now and then;
 * who sleeps for what a sleep stands for does so as it comes. Whether it does, with this sleep. */
static bool is_uneven(struct poll *last, uint64_t ns)
{
    bool is_even = ns == last->ns || ns >= last->ns + last->ns / 4;
    last->uneven = is_even ? last->uneven - (last->uneven > 0) : UNEVEN;
    return last->uneven >= UNEVEN - 1;
}

/* Whether the thread was refused a lock right before: it will ask again, however long it sleeps. */
static bool was_refused(const struct thread *thread)
{
    return thread->refused && clock__tick() - thread->refused <= ASKING_TICKS;
}

/* site: gets HEURT_SLEEP_POLLS when the thread is asking; the first sleep of a row is a plain one,
 * unless the thread was refused a lock. */
static struct thread *sleep__begin(uint64_t *site, uint64_t ns)
{
    struct thread *thread = hook__thread();
    if (!thread)
        return NULL;
    uint64_t polling = *site | HEURT_SITE(0, HEURT_SLEEP_POLLS);
    if (was_refused(thread) ||
        (is_asking(thread, *site, polling, ns) && !is_uneven(&thread->poll, ns))) {
        *site = polling;
        if (thread->poll.site == polling && poll__goes_on(thread, polling, 0, UINT64_MAX))
            return thread;
    }
    thread->poll.end = NULL;
    hook__stack(thread, *site, NULL);
    event__write2(thread, HEURT_EVENT_SLEEP, *site, ns);
    return thread;
}

#define SLEEP(type, how, ns, real)                       \
    do {                                                 \
        uint64_t site = SITE(how);                       \
        struct thread *thread = sleep__begin(&site, ns); \
        uint64_t since = thread ? clock__tick() : 0;     \
        type result = real;                              \
        if (thread)                                      \
            poll__leave(thread, site, since, ns);        \
        return result;                                   \
    } while (0)

EXPORT int nanosleep(const struct timespec *time, struct timespec *rest)
{
    SLEEP(int, HEURT_SLEEP_NANOSLEEP, ns_of(time), REAL(nanosleep)(time, rest));
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                           struct timespec *rest)
{
    SLEEP(int, HEURT_SLEEP_CLOCK_NANOSLEEP, flags ? 0 : ns_of(time),
          REAL(clock_nanosleep)(clock, flags, time, rest));
}

EXPORT int usleep(useconds_t time)
{
    SLEEP(int, HEURT_SLEEP_USLEEP, time * 1000ull, REAL(usleep)(time));
}

EXPORT unsigned sleep(unsigned seconds)
{
    SLEEP(unsigned, HEURT_SLEEP_SLEEP, seconds * 1000000000ull, REAL(sleep)(seconds));
}

EXPORT int thrd_sleep(const struct timespec *time, struct timespec *rest)
{
    SLEEP(int, HEURT_SLEEP_THRD_SLEEP, ns_of(time), REAL(thrd_sleep)(time, rest));
}

/* ---- waits for other processes and for signals ----------------------------------------------- */

EXPORT pid_t waitpid(pid_t pid, int *status, int options)
{
    if (options & WNOHANG)
        return REAL(waitpid)(pid, status, options);
    SLEEP(pid_t, HEURT_SLEEP_WAITPID, 0, REAL(waitpid)(pid, status, options));
}

EXPORT pid_t wait(int *status)
{
    SLEEP(pid_t, HEURT_SLEEP_WAITPID, 0, REAL(wait)(status));
}

EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
    if (options & WNOHANG)
        return REAL(wait3)(status, options, usage);
    SLEEP(pid_t, HEURT_SLEEP_WAITPID, 0, REAL(wait3)(status, options, usage));
}

EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    if (options & WNOHANG)
        return REAL(wait4)(pid, status, options, usage);
    SLEEP(pid_t, HEURT_SLEEP_WAITPID, 0, REAL(wait4)(pid, status, options, usage));
}

EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    if (options & WNOHANG)
        return REAL(waitid)(type, id, info, options);
    SLEEP(int, HEURT_SLEEP_WAITPID, 0, REAL(waitid)(type, id, info, options));
}

EXPORT int sigwait(const sigset_t *signals, int *signal)
{
    SLEEP(int, HEURT_SLEEP_SIGWAIT, 0,
          REAL(sigwait)(cpu_timers__hide(signals, &(sigset_t){{0}}), signal));
}

EXPORT int sigwaitinfo(const sigset_t *signals, siginfo_t *info)
{
    SLEEP(int, HEURT_SLEEP_SIGWAIT, 0,
          REAL(sigwaitinfo)(cpu_timers__hide(signals, &(sigset_t){{0}}), info));
}

EXPORT int sigtimedwait(const sigset_t *signals, siginfo_t *info, const struct timespec *time)
{
    SLEEP(int, HEURT_SLEEP_SIGWAIT, ns_of(time),
          REAL(sigtimedwait)(cpu_timers__hide(signals, &(sigset_t){{0}}), info, time));
}

EXPORT int sigsuspend(const sigset_t *mask)
{
    SLEEP(int, HEURT_SLEEP_SIGSUSPEND, 0, REAL(sigsuspend)(mask));
}

EXPORT int pause(void)
{
    SLEEP(int, HEURT_SLEEP_SIGSUSPEND, 0, REAL(pause)());
}

/* ---- yield ------------------------------------------------------------------------------------
 */

static struct thread *yield__begin(uint64_t site)
{
    struct thread *thread = hook__thread();
    if (thread && thread->is_in_wait)
        return NULL;
    if (thread && !poll__goes_on(thread, site, 0, YIELDING_TICKS)) {
        hook__stack(thread, site, NULL);
        event__write2(thread, HEURT_EVENT_SLEEP, site, 0);
    }
    return thread;
}

EXPORT int sched_yield(void)
{
    uint64_t site = SITE(HEURT_SLEEP_YIELD);
    struct thread *thread = yield__begin(site);
    uint64_t since = clock__tick();
    int result = REAL(sched_yield)();
    if (thread)
        poll__leave(thread, site, since, 0);
    return result;
}

EXPORT void thrd_yield(void)
{
    uint64_t site = SITE(HEURT_SLEEP_YIELD);
    struct thread *thread = yield__begin(site);
    uint64_t since = clock__tick();
    REAL(thrd_yield)();
    if (thread)
        poll__leave(thread, site, since, 0);
}
