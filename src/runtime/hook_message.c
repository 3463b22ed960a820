/* hook_message.c: what the wrappers of MPI (src/mpi) have of the recording: a span for each call,
 * and points in it. What MPI itself does in a call, and calls that it makes of itself, are not
 * told. */
#include "runtime/polls.h"
#include "runtime/runtime.h"

EXPORT uint64_t heurt_message_enter(uint64_t site, uint64_t communicator, uint64_t bytes);
EXPORT void heurt_message_point(uint64_t tick, uint32_t id, uint64_t a, uint64_t b, uint64_t c);
EXPORT uint64_t heurt_message_tick(void);
EXPORT uint64_t heurt_message_ask(uint64_t site, uint64_t communicator);
EXPORT void heurt_message_asked(uint64_t site, uint64_t since, uint64_t result);
EXPORT void heurt_message_file(uint32_t number, const char *name);
EXPORT void heurt_message_leave(uint64_t since, uint64_t result);
EXPORT void heurt_message_called_from(uint64_t address);
EXPORT uint64_t heurt_message_caller(void);
EXPORT void heurt_message_note(const char *sentence);
EXPORT uint32_t heurt_message_host(void);
EXPORT void heurt_message_clock(const struct heurt_host_clock *clock);

/* Its tick, which is 0 where the call is not to be told: then there is no leave, either. */
uint64_t heurt_message_enter(uint64_t site, uint64_t communicator, uint64_t bytes)
{
    struct thread *thread = hook__thread();
    if (unlikely(!thread))
        return 0;
    hook__stack(thread, site, (const void *)(uintptr_t)communicator);
    uint64_t drained = event__begin(thread, HEURT_EVENT_MESSAGE_CALL);
    uint64_t tick = drained ? drained : clock__tick();
    uint64_t *at = event__claim(thread, 4);
    if (unlikely(!at))
        return 0;
    at[1] = site;
    at[2] = communicator;
    at[3] = bytes;
    event__publish(at, tick, HEURT_EVENT_MESSAGE_CALL);
    event__end(thread, drained);
    thread->inside++;
    return tick;
}

/* Between enter and leave; tick: the enter's, or heurt_message_tick's. */
void heurt_message_point(uint64_t tick, uint32_t id, uint64_t a, uint64_t b, uint64_t c)
{
    struct thread *thread = &heurt_thread;
    bool has_third = id != HEURT_EVENT_MESSAGE_RANK;
    uint64_t *at = event__claim(thread, 3 + has_third);
    if (unlikely(!at))
        return;
    at[1] = a;
    at[2] = b;
    if (has_third)
        at[3] = c;
    event__publish(at, tick, id);
}

uint64_t heurt_message_tick(void)
{
    return clock__tick();
}

void heurt_message_leave(uint64_t since, uint64_t result)
{
    struct thread *thread = &heurt_thread;
    thread->inside--;
    wait__end(thread, HEURT_EVENT_MESSAGE_CALL | 1, since, HEURT_MESSAGE(thread->asked, result));
    thread->asked = 0;
}

/* ---- calls that ask whether something has come ----------------------------------------------- */

/* Between two calls that are one wait: some 0.3 us, or as long as the last call took; 3 us. */
#define ASKS_AGAIN_TICKS 1024
#define ASKS_AT_MOST_TICKS 8192

/* As enter. A place that asks again and again is in one span from the first time on, until
 * something has come, or the thread does something else. */
uint64_t heurt_message_ask(uint64_t site, uint64_t communicator)
{
    struct thread *thread = hook__thread();
    if (unlikely(!thread))
        return 0;
    if (!poll__goes_on(thread, site, ASKS_AGAIN_TICKS, ASKS_AT_MOST_TICKS)) {
        thread->asked = 0;
        return heurt_message_enter(site, communicator, 0);
    }
    thread->asked++;
    thread->inside++;
    return clock__tick();
}

/* As leave, when nothing has come. */
void heurt_message_asked(uint64_t site, uint64_t since, uint64_t result)
{
    struct thread *thread = &heurt_thread;
    thread->inside--;
    uint64_t *at = wait__end(thread, HEURT_EVENT_MESSAGE_CALL | 1, since,
                             HEURT_MESSAGE(thread->asked, result));
    if (likely(at))
        poll__remember(thread, site, at, 2, since);
}

/* Where a program of Fortran calls MPI from: of the next call that MPI's library for Fortran makes
 * on this thread. */
void heurt_message_called_from(uint64_t address)
{
    heurt_thread.fortran_caller = address;
}

uint64_t heurt_message_caller(void)
{
    return heurt_thread.fortran_caller;
}

/* Also between enter and leave. */
void heurt_message_note(const char *sentence)
{
    struct thread *thread = &heurt_thread;
    if (!heurt_state.recording || thread__in_seccomp(thread))
        return;
    thread->inside++;
    define__note(sentence);
    thread->inside--;
}

/* What a file is called that calls name by that number. Between enter and leave. */
void heurt_message_file(uint32_t number, const char *name)
{
    define__object((const void *)HEURT_MESSAGE_FILE(number), name);
}

/* Of this host's clock (heurt_session.host); 0: it is not to be compared with others'. */
uint32_t heurt_message_host(void)
{
    return heurt_state.settings.flags & HEURT_SESSION_HOSTS ? heurt_state.settings.host : 0;
}

/* Between enter and leave. */
void heurt_message_clock(const struct heurt_host_clock *clock)
{
    define__parts(HEURT_DEFINITION_CLOCK, &(struct text_part){clock, sizeof *clock}, 1);
}
