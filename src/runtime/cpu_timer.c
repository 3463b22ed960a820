/* cpu_timer.c: timers of threads' CPU time, their signal, and what the program may not see of it.
 */
#include "runtime/cpu_timer.h"

#include "runtime/arena.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define SIGNAL_FIRST 63 /* programs count from the other end */
#define SIGNAL_LAST 50
#define STACK_BYTES (64u << 10)

static int our_signal(void)
{
    return heurt_state.timers.signal;
}

/* ---- the timers ------------------------------------------------------------------------------ */

static void delete_timer(uint32_t place)
{
    int32_t id = __atomic_exchange_n(&heurt_state.timers.ids[place], 0, __ATOMIC_ACQ_REL);
    if (id)
        RAW1(timer_delete, id - 1);
}

/* From now on nobody is interrupted; what is under way comes before this returns to the program,
 * mostly. */
static void give_up(void)
{
    int signal = our_signal();
    heurt_state.timers.signal = 0;
    for (uint32_t i = 0; signal && i < TIMERS_MAX; i++)
        delete_timer(i);
}

static void set_period(struct thread *thread, int32_t id)
{
    uint32_t us = __atomic_load_n(&heurt_state.session->timer_us, __ATOMIC_RELAXED);
    struct cpu_timer *timer = &thread->timer;
    if (us == timer->period_us || !us || us >= 1000000)
        return;
    timer->period_us = us;
    const struct timespec period = {0, (long)us * 1000};
    const struct itimerspec both = {period, period};
    RAW6(timer_settime, id, 0, &both, 0, 0, 0);
}

/* ---- the signal ------------------------------------------------------------------------------ */

/* As the processor numbers them. */
static void copy_registers(uint64_t to[16], const gregset_t from)
{
    static const uint8_t order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                      REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                      REG_R12, REG_R13, REG_R14, REG_R15};
    for (unsigned i = 0; i < 16; i++)
        to[i] = (uint64_t)from[order[i]];
}

static void write_sample(struct thread *thread, const ucontext_t *context)
{
    struct heurt_timed_ring *ring = heurt_state.timers.ring;
    uint64_t number = __atomic_add_fetch(&ring->taken, 1, __ATOMIC_RELAXED);
    struct heurt_timed_sample *sample = &ring->samples[(number - 1) % HEURT_RING_SAMPLES];
    uint64_t cpu_ns = raw__clock_ns(CLOCK_THREAD_CPUTIME_ID);
    __atomic_store_n(&sample->number, 0, __ATOMIC_RELEASE);
    sample->monotonic_ns = raw__clock_ns(CLOCK_MONOTONIC);
    sample->weight_ns = cpu_ns - thread->timer.cpu_ns;
    sample->instruction = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    sample->tid = (uint32_t)RAW0(gettid);
    copy_registers(sample->registers, context->uc_mcontext.gregs);
    thread->timer.cpu_ns = cpu_ns;
    __atomic_store_n(&sample->number, number, __ATOMIC_RELEASE);
}

static void on_timer(int number, siginfo_t *info, void *context)
{
    struct thread *thread = &heurt_thread;
    if (info->si_code != SI_TIMER || (int64_t)info->si_value.sival_ptr != HEURT_TIMER_VALUE) {
        /* Somebody else's signal ends the program, as without us. */
        give_up();
        REAL(sigaction)(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        RAW3(tgkill, RAW0(getpid), RAW0(gettid), number);
        return;
    }
    if (!heurt_state.recording || thread__in_seccomp(thread) || !thread->timer.place_and_1)
        return;
    write_sample(thread, context);
    int32_t id =
        __atomic_load_n(&heurt_state.timers.ids[thread->timer.place_and_1 - 1], __ATOMIC_RELAXED);
    if (id)
        set_period(thread, id - 1);
}

void cpu_timers__prepare(void)
{
    struct sigaction before,
        ours = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    if (!(__atomic_load_n(&heurt_state.session->flags, __ATOMIC_RELAXED) & HEURT_SESSION_TIMERS))
        return;
    sigfillset(&ours.sa_mask);
    for (int signal = SIGNAL_FIRST; signal >= SIGNAL_LAST && !our_signal(); signal--)
        if (REAL(sigaction)(signal, NULL, &before) == 0 && before.sa_handler == SIG_DFL &&
            REAL(sigaction)(signal, &ours, NULL) == 0)
            heurt_state.timers.signal = signal;
}

/* ---- threads --------------------------------------------------------------------------------- */

static bool has_ring(void)
{
    struct timers *timers = &heurt_state.timers;
    spin__lock(&timers->lock);
    if (!timers->ring) {
        struct heurt_chunk *chunk =
            chunk__claim(HEURT_RING_UNITS, HEURT_CHUNK_SAMPLES, HEURT_NO_SERIAL, 0);
        timers->ring = chunk ? (void *)(chunk + 1) : NULL;
    }
    spin__unlock(&timers->lock);
    return timers->ring;
}

/* A thread whose stack is short, or a coroutine's, has no room for the frame of a signal. */
static void lend_stack(struct cpu_timer *timer)
{
    stack_t now;
    if (RAW2(sigaltstack, 0, &now) != 0 || !(now.ss_flags & SS_DISABLE))
        return;
    void *memory = pages__map(STACK_BYTES);
    const stack_t ours = {.ss_sp = memory, .ss_size = STACK_BYTES};
    if (memory && RAW2(sigaltstack, &ours, 0) == 0)
        timer->stack = memory;
}

static void take_stack_back(struct cpu_timer *timer)
{
    stack_t now;
    if (!timer->stack || RAW2(sigaltstack, 0, &now) != 0 || now.ss_flags & SS_ONSTACK)
        return;
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (now.ss_sp == timer->stack)
        RAW2(sigaltstack, &none, 0);
    RAW2(munmap, timer->stack, STACK_BYTES);
    timer->stack = NULL;
}

static bool keep_id(struct cpu_timer *timer, int32_t id)
{
    for (uint32_t i = 0; i < TIMERS_MAX; i++) {
        int32_t none = 0;
        if (__atomic_compare_exchange_n(&heurt_state.timers.ids[i], &none, id + 1, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            timer->place_and_1 = i + 1;
            return true;
        }
    }
    return false;
}

void cpu_timer__begin(struct thread *thread)
{
    struct cpu_timer *timer = &thread->timer;
    int32_t id = 0;
    if (!our_signal() || timer->place_and_1 || !has_ring())
        return;
    struct sigevent event = {.sigev_value.sival_ptr = (void *)HEURT_TIMER_VALUE,
                             .sigev_signo = our_signal(),
                             .sigev_notify = SIGEV_THREAD_ID};
    event._sigev_un._tid = (int)RAW0(gettid);
    lend_stack(timer);
    timer->cpu_ns = raw__clock_ns(CLOCK_THREAD_CPUTIME_ID);
    timer->period_us = 0;
    if (RAW3(timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &id) != 0)
        return;
    if (keep_id(timer, id))
        set_period(thread, id);
    else
        RAW1(timer_delete, id);
    if (!our_signal()) /* somebody has given up meanwhile */
        cpu_timer__end(thread);
}

void cpu_timer__end(struct thread *thread)
{
    struct cpu_timer *timer = &thread->timer;
    if (timer->place_and_1)
        delete_timer(timer->place_and_1 - 1);
    timer->place_and_1 = 0;
    take_stack_back(timer);
}

void cpu_timer__forget(struct thread *thread)
{
    for (uint32_t i = 0; our_signal() && i < TIMERS_MAX; i++)
        heurt_state.timers.ids[i] = 0;
    heurt_state.timers.lock = 0;
    heurt_state.timers.ring = NULL;
    thread->timer.place_and_1 = 0;
}

/* ---- what the program sees ------------------------------------------------------------------- */

bool cpu_timers__yield_signal(int number, bool is_wanted)
{
    if (!number || number != our_signal())
        return false;
    if (is_wanted)
        give_up();
    return true;
}

const sigset_t *cpu_timers__hide(const sigset_t *set, sigset_t *own)
{
    int signal = our_signal();
    if (likely(!signal) || !set || sigismember(set, signal) != 1)
        return set;
    *own = *set;
    sigdelset(own, signal);
    return own;
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    sigset_t own;
    return REAL(pthread_sigmask)(how, how == SIG_UNBLOCK ? set : cpu_timers__hide(set, &own),
                                 before);
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    sigset_t own;
    return REAL(sigprocmask)(how, how == SIG_UNBLOCK ? set : cpu_timers__hide(set, &own), before);
}

EXPORT int signalfd(int descriptor, const sigset_t *set, int flags)
{
    sigset_t own;
    return REAL(signalfd)(descriptor, cpu_timers__hide(set, &own), flags);
}

/* Ours is none to the program, and stays where the program has none. */
EXPORT int sigaltstack(const stack_t *next, stack_t *before)
{
    void *stack = heurt_thread.timer.stack;
    const stack_t ours = {.ss_sp = stack, .ss_size = STACK_BYTES};
    stack_t was;
    bool is_none = stack && next && next->ss_flags & SS_DISABLE;
    int result = REAL(sigaltstack)(is_none ? &ours : next, &was);
    if (result == 0 && before) {
        *before = was;
        if (stack && was.ss_sp == stack)
            *before = (stack_t){.ss_flags = SS_DISABLE};
    }
    return result;
}
