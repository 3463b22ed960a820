/* hook_signal.c: a trace that is cut short, or whose device fails, while it is recorded. Who
 * touches a page that the file has no longer gets SIGBUS: as long as the program has no handler of
 * its own, ours puts an empty page there, and nothing more is recorded. The program does not see
 * that it is there. */
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <sys/mman.h>

#define PAGE_BYTES 4096ull

/* Whether there is a page at that address again. */
static bool replace_page(uint64_t address)
{
    uint64_t page = address & ~(PAGE_BYTES - 1), file = (uint64_t)heurt_state.session;
    if (!file || page - file >= heurt_state.mapped_units * HEURT_UNIT_BYTES)
        return false;
    heurt_state.full = true;
    return (uint64_t)RAW6(mmap, page, PAGE_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;
}

/* What is not the trace's fault ends the program, as without us: the instruction fails once more,
 * or what somebody sent comes once more when this has returned. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code == BUS_ADRERR && replace_page((uint64_t)info->si_addr))
        return;
    REAL(sigaction)(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    if (info->si_code <= 0)
        RAW3(tgkill, RAW0(getpid), RAW0(gettid), number);
}

static const struct sigaction guard = {.sa_sigaction = on_bus_error,
                                       .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

void trace__guard(void)
{
    struct sigaction now;
    if (REAL(sigaction)(SIGBUS, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        REAL(sigaction)(SIGBUS, &guard, NULL);
}

#ifdef HEURT_ATTACHED
void trace__unguard(void)
{
    struct sigaction now;
    if (REAL(sigaction)(SIGBUS, NULL, &now) == 0 && now.sa_sigaction == on_bus_error)
        REAL(sigaction)(SIGBUS, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}
#endif

EXPORT int sigaction(int number, const struct sigaction *next, struct sigaction *before)
{
    if (number == SIGBUS && heurt_state.recording && next && next->sa_handler == SIG_DFL)
        next = &guard;
    bool is_timers = cpu_timers__yield_signal(number, next);
    int result = REAL(sigaction)(number, next, before);
    if (is_timers && result == 0 && before)
        *before = (struct sigaction){.sa_handler = SIG_DFL};
    if (number == SIGBUS && result == 0 && before && before->sa_sigaction == on_bus_error)
        *before = (struct sigaction){.sa_handler = SIG_DFL};
    return result;
}

EXPORT __sighandler_t signal(int number, __sighandler_t handler)
{
    bool is_timers = cpu_timers__yield_signal(number, true);
    __sighandler_t before = REAL(signal)(number, handler);
    if (number == SIGBUS && handler == SIG_DFL && before != SIG_ERR && heurt_state.recording)
        REAL(sigaction)(SIGBUS, &guard, NULL);
    return before == guard.sa_handler || (is_timers && before != SIG_ERR) ? SIG_DFL : before;
}
