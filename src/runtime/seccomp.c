/* seccomp filter.c: a program that lets only some system calls through (seccomp(2)) allows those
 * that it makes itself; one that the runtime made would end it.
 *
 * Before the filter is set, the thread is given its largest chunk; then it writes until that is
 * full, and what comes later is only counted.  Threads that it creates are held too, and have no
 * chunk at all.  One that is set for all threads is set when none of them is within a call of the
 * runtime's (other_threads.c).  A filter that is set by an instruction of the program's own is seen
 * where that was found before it ran (module.c).
 */
#include "runtime/other_threads.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

enum seccomp {
    CAGE_NONE,
    CAGE_FILTER,
    CAGE_STRICT, /* the time-stamp counter is taken away, too: nothing more can be recorded */
};

static enum seccomp seccomp_of(long number, long operation, long value, long filter)
{
    if (number == SYS_seccomp)
        return operation == SECCOMP_SET_MODE_STRICT             ? CAGE_STRICT
               : operation == SECCOMP_SET_MODE_FILTER && filter ? CAGE_FILTER
                                                                : CAGE_NONE;
    if (operation == PR_SET_TSC)
        return value == PR_TSC_SIGSEGV ? CAGE_STRICT : CAGE_NONE;
    if (operation != PR_SET_SECCOMP)
        return CAGE_NONE;
    return value == SECCOMP_MODE_STRICT             ? CAGE_STRICT
           : value == SECCOMP_MODE_FILTER && filter ? CAGE_FILTER
                                                    : CAGE_NONE;
}

/* Whether this call is the one that closed it. */
static bool seccomp__close(struct thread *thread, enum seccomp seccomp, bool for_all)
{
    if (!seccomp || !heurt_state.recording || thread__in_seccomp(thread))
        return false;
    define__note("The program limits its own system calls (seccomp): what its threads do after "
                 "that is recorded only as far as room had been taken before.");
    uint64_t mask = signals__block();
    cpu_timer__end(thread);
    thread->next_units = HEURT_CHUNK_UNITS_MAX;
    if (seccomp == CAGE_FILTER && heurt_state.uses_tsc)
        thread__renew(thread, thread->next, 0);
    else {
        kernel__ignore(thread);
        thread->next = thread->limit = NULL;
    }
    signals__restore(mask);
    thread->in_seccomp = heurt_state.seccomp_some = true;
    if (for_all) {
        __atomic_store_n(&heurt_state.in_seccomp, true, __ATOMIC_SEQ_CST);
        other_threads__wait();
    }
    return true;
}

static void seccomp__open(struct thread *thread, bool for_all)
{
    thread->in_seccomp = false;
    if (for_all)
        heurt_state.in_seccomp = false;
}

/* The call, with what has to be done before and after it. by_libc: as its syscall returns. */
static long call_caged(long number, const long arguments[6], enum seccomp seccomp, bool by_libc)
{
    const long *a = arguments;
    struct thread *thread = &heurt_thread;
    bool for_all = number == SYS_seccomp && a[1] & SECCOMP_FILTER_FLAG_TSYNC;
    bool closed = seccomp__close(thread, seccomp, for_all);
    long result = by_libc ? REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5])
                          : raw__call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (closed && result < 0)
        seccomp__open(thread, for_all);
    if (number == SYS_setuid || number == SYS_setreuid || number == SYS_setresuid)
        user__changed(result);
    return result;
}

long heurt_caging_call(long number, long a, long b, long c, long d, long e, long f);
long heurt_caging_call(long number, long a, long b, long c, long d, long e, long f)
{
    return call_caged(number, (const long[6]){a, b, c, d, e, f}, seccomp_of(number, a, b, c), true);
}

bool caging__call(long number, const long arguments[6], long *result)
{
    bool is_filter = number == SYS_seccomp || number == SYS_prctl;
    enum seccomp seccomp =
        is_filter ? seccomp_of(number, arguments[0], arguments[1], arguments[2]) : CAGE_NONE;
    if (is_filter && !seccomp)
        return false;
    *result = call_caged(number, arguments, seccomp, false);
    return true;
}

EXPORT int prctl(int option, ...)
{
    unsigned long values[4];
    va_list arguments;
    va_start(arguments, option);
    for (unsigned i = 0; i < 4; i++)
        values[i] = va_arg(arguments, unsigned long);
    va_end(arguments);
    struct thread *thread = &heurt_thread;
    bool closed = seccomp__close(
        thread, seccomp_of(SYS_prctl, option, (long)values[0], (long)values[1]), false);
    int result = REAL(prctl)(option, values[0], values[1], values[2], values[3]);
    if (closed && result < 0)
        seccomp__open(thread, false);
    return result;
}
