/* hook_wait.c: condition variables, barriers, semaphores, raw futexes. */
#include "runtime/lock_events.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <errno.h>
#include <linux/futex.h>

/* A call that waits, as one span: site, object and perhaps a second object. */
#define WAIT(event, object, real)                                         \
    do {                                                                  \
        struct thread *thread = hook__thread();                           \
        if (unlikely(!thread))                                            \
            return real;                                                  \
        hook__stack(thread, SITE(0), object);                             \
        event__write2(thread, event, SITE(0), (uintptr_t)(object));       \
        uint64_t since = clock__tick();                                   \
        int result = real;                                                \
        wait__end(thread, (event) | 1, since, (uint64_t)(int64_t)result); \
        return result;                                                    \
    } while (0)

#define CONDITION_WAIT(condition, mutex, real)                                             \
    do {                                                                                   \
        struct thread *thread = hook__thread();                                            \
        if (unlikely(!thread))                                                             \
            return real;                                                                   \
        if (unlikely(thread->is_in_wait)) {                                                \
            lock__releasing(thread, SITE(0), mutex);                                       \
            int result_of_part = real;                                                     \
            lock__acquired(thread, SITE(0), mutex, false);                                 \
            return result_of_part;                                                         \
        }                                                                                  \
        lock__gives_up(thread, mutex);                                                     \
        hook__stack(thread, SITE(0), condition);                                           \
        event__write3(thread, HEURT_EVENT_CONDITION_WAIT, SITE(0), (uintptr_t)(condition), \
                      (uintptr_t)(mutex));                                                 \
        uint64_t since = clock__tick();                                                    \
        int result = real;                                                                 \
        wait__end(thread, HEURT_EVENT_CONDITION_WAIT | 1, since, (uint64_t)result);        \
        if (unlikely(heurt_state.settings.hold_permille))                                  \
            longer_hold__begins(thread, SITE(0), mutex);                                   \
        return result;                                                                     \
    } while (0)

#define POINT(event, how, object)                                         \
    do {                                                                  \
        struct thread *thread = hook__thread();                           \
        if (likely(thread))                                               \
            event__write2(thread, event, SITE(how), (uintptr_t)(object)); \
    } while (0)

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    CONDITION_WAIT(condition, mutex, REAL(pthread_cond_wait)(condition, mutex));
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    CONDITION_WAIT(condition, mutex, REAL(pthread_cond_timedwait)(condition, mutex, until));
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *until)
{
    CONDITION_WAIT(condition, mutex, REAL(pthread_cond_clockwait)(condition, mutex, clock, until));
}

EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
    POINT(HEURT_EVENT_CONDITION_SIGNALLED, 0, condition);
    return REAL(pthread_cond_signal)(condition);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *condition)
{
    POINT(HEURT_EVENT_CONDITION_SIGNALLED, 1, condition);
    return REAL(pthread_cond_broadcast)(condition);
}

EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    CONDITION_WAIT(condition, mutex, REAL(cnd_wait)(condition, mutex));
}

EXPORT int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                         const struct timespec *restrict until)
{
    CONDITION_WAIT(condition, mutex, REAL(cnd_timedwait)(condition, mutex, until));
}

EXPORT int cnd_signal(cnd_t *condition)
{
    POINT(HEURT_EVENT_CONDITION_SIGNALLED, 0, condition);
    return REAL(cnd_signal)(condition);
}

EXPORT int cnd_broadcast(cnd_t *condition)
{
    POINT(HEURT_EVENT_CONDITION_SIGNALLED, 1, condition);
    return REAL(cnd_broadcast)(condition);
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    WAIT(HEURT_EVENT_BARRIER_WAIT, barrier, REAL(pthread_barrier_wait)(barrier));
}

static inline void semaphore__acquired(struct thread *thread, uint64_t site, sem_t *semaphore)
{
    if (hook__leaves_out(thread, HEURT_EVENT_SEMAPHORE_ACQUIRED))
        return;
    hook__stack(thread, site, semaphore);
    event__write2(thread, HEURT_EVENT_SEMAPHORE_ACQUIRED, site, (uintptr_t)semaphore);
}

/* Takes the semaphore if that needs no waiting. sem_wait and its kin act upon a pending
 * cancellation even then. */
static bool semaphore__try(struct thread *thread, uint64_t site, sem_t *semaphore)
{
    int saved = errno;
    pthread_testcancel();
    bool taken = REAL(sem_trywait)(semaphore) == 0;
    errno = saved;
    if (taken)
        semaphore__acquired(thread, site, semaphore);
    return taken;
}

#define SEMAPHORE_WAIT(semaphore, real)                           \
    do {                                                          \
        struct thread *waiter = hook__thread();                   \
        if (waiter && semaphore__try(waiter, SITE(0), semaphore)) \
            return 0;                                             \
        WAIT(HEURT_EVENT_SEMAPHORE_WAIT, semaphore, real);        \
    } while (0)

EXPORT int sem_wait(sem_t *semaphore)
{
    SEMAPHORE_WAIT(semaphore, REAL(sem_wait)(semaphore));
}

EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    if (until->tv_nsec < 0 || until->tv_nsec >= 1000000000)
        return REAL(sem_timedwait)(semaphore, until);
    SEMAPHORE_WAIT(semaphore, REAL(sem_timedwait)(semaphore, until));
}

EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    if ((clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME) || until->tv_nsec < 0 ||
        until->tv_nsec >= 1000000000)
        return REAL(sem_clockwait)(semaphore, clock, until);
    SEMAPHORE_WAIT(semaphore, REAL(sem_clockwait)(semaphore, clock, until));
}

EXPORT int sem_trywait(sem_t *semaphore)
{
    int result = REAL(sem_trywait)(semaphore);
    if (result == 0) {
        struct thread *thread = hook__thread();
        if (thread)
            semaphore__acquired(thread, SITE(0), semaphore);
    }
    return result;
}

EXPORT int sem_post(sem_t *semaphore)
{
    POINT(HEURT_EVENT_SEMAPHORE_POSTED, 0, semaphore);
    return REAL(sem_post)(semaphore);
}

/* ---- what is done once ------------------------------------------------------------------------
 */

/* As the C library has them in the flag. */
enum { ONCE_IN_PROGRESS = 1, ONCE_DONE = 2 };

/* In place of the program's function: tells that it is done before anybody is woken. */
static void run_once(void)
{
    const struct once once = heurt_thread.once;
    once.routine();
    struct thread *thread = hook__thread();
    if (thread)
        event__write2(thread, HEURT_EVENT_FUTEX_WOKEN, once.site, (uintptr_t)once.control);
}

static inline int once(pthread_once_t *control, void (*routine)(void), uint64_t site)
{
    int state = __atomic_load_n((int *)control, __ATOMIC_ACQUIRE);
    struct thread *thread = state & ONCE_DONE ? NULL : hook__thread();
    if (!thread)
        return REAL(pthread_once)(control, routine);
    thread->once = (struct once){routine, control, site};
    if (!(state & ONCE_IN_PROGRESS))
        return REAL(pthread_once)(control, run_once);
    hook__stack(thread, site, control);
    event__write2(thread, HEURT_EVENT_FUTEX_WAIT, site, (uintptr_t)control);
    uint64_t since = clock__tick();
    int result = REAL(pthread_once)(control, run_once);
    wait__end(thread, HEURT_EVENT_FUTEX_WAIT | 1, since, (uint64_t)result);
    return result;
}

EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void))
{
    return once(control, routine, SITE(HEURT_FUTEX_ONCE));
}

EXPORT void call_once(once_flag *flag, void (*routine)(void))
{
    once((pthread_once_t *)flag, routine, SITE(HEURT_FUTEX_ONCE));
}

/* ---- futex(2), by whoever ----------------------------------------------------------------------
 */

static bool futex__waits(int command)
{
    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI ||
           command == FUTEX_LOCK_PI2 || command == FUTEX_WAIT_REQUEUE_PI;
}

static bool futex__wakes(int command)
{
    return command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET || command == FUTEX_WAKE_OP ||
           command == FUTEX_UNLOCK_PI || command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE;
}

/* A call that is about to be made behind site. The thread when it waits, else NULL. */
static inline struct thread *futex__begins(uint64_t caller, uint64_t address, uint64_t operation)
{
    struct thread *thread = hook__thread();
    int command = (int)operation & FUTEX_CMD_MASK;
    uint64_t site = HEURT_SITE(caller, (unsigned)command);
    if (!thread || thread->is_in_wait)
        return NULL;
    if (futex__waits(command)) {
        hook__stack(thread, site, (void *)address);
        event__write2(thread, HEURT_EVENT_FUTEX_WAIT, site, address);
        return thread;
    }
    if (futex__wakes(command))
        event__write2(thread, HEURT_EVENT_FUTEX_WOKEN, site, address);
    return NULL;
}

static inline void futex__ended(struct thread *thread, uint64_t since, long result)
{
    if (thread)
        wait__end(thread, HEURT_EVENT_FUTEX_WAIT | 1, since, (uint64_t)(result < 0 ? -1 : result));
}

/* syscall(SYS_futex, …): called by stub.S with syscall's own arguments. */
long heurt_futex(long number, long address, long operation, long c, long d, long e, long f);
long heurt_futex(long number, long address, long operation, long c, long d, long e, long f)
{
    struct thread *thread = futex__begins((uint64_t)__builtin_return_address(0), (uint64_t)address,
                                          (uint64_t)operation);
    uint64_t since = thread ? clock__tick() : 0;
    long result = REAL(syscall)(number, address, operation, c, d, e, f);
    futex__ended(thread, since, result);
    return result;
}

/* The stack as heurt_system_call_stub leaves it, lowest address first. */
struct inline_call {
    uint64_t rbx, r9, r8, r10, rdx, rsi, rdi;
    uint64_t number; /* rax: the lower half is the call's */
    uint64_t flags;
    uint64_t back; /* into the moved code */
    uint64_t site; /* behind the call */
};

/* User threads have stacks of their own, on which there may be no room for what is done here. */
static bool is_on_thread_stack(const struct thread *thread, const void *place)
{
    uint64_t address = (uint64_t)place;
    return address >= thread->stack_low && address < thread->stack_high;
}

/* Waits, the call included. */
static __attribute__((noinline)) long inline_wait(struct thread *thread,
                                                  const struct inline_call *call)
{
    if (thread)
        thread = futex__begins(call->site, call->rdi, call->rsi);
    uint64_t since = thread ? clock__tick() : 0;
    long result = RAW6(futex, call->rdi, call->rsi, call->rdx, call->r10, call->r8, call->r9);
    futex__ended(thread, since, result);
    return result;
}

/* futex(2), what limits system calls, or what changes the user, by an instruction of the program's
 * own: what rax shall be. What needs nothing done after it is left to the moved code, because a
 * return for which the call came before a system call is not predicted. */
long heurt_inline_call(struct inline_call *call);
long heurt_inline_call(struct inline_call *call)
{
    struct thread *thread = &heurt_thread;
    long number = (uint32_t)call->number, result;
    if (!is_on_thread_stack(thread, call))
        thread = NULL;
    if (number != SYS_futex) {
        if (thread &&
            caging__call(number,
                         (const long[6]){(long)call->rdi, (long)call->rsi, (long)call->rdx,
                                         (long)call->r10, (long)call->r8, (long)call->r9},
                         &result))
            return result;
    } else if (futex__waits((int)call->rsi & FUTEX_CMD_MASK))
        return inline_wait(thread, call);
    else if (thread)
        futex__begins(call->site, call->rdi, call->rsi);
    call->back -= HEURT_SYSTEM_CALL_BACK;
    return number;
}

long heurt_early_syscall(long number, long a, long b, long c, long d, long e, long f);
long heurt_early_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    return REAL(syscall)(number, a, b, c, d, e, f);
}
