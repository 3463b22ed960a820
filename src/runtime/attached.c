/* attached.c: a running process is entered and left (attach_layout.h). What is called here was made
 * to be called by the recorder alone, in a thread that stands where it holds no lock. */
#include "runtime/attached.h"

#include "format/attach_layout.h"
#include "runtime/arena.h"
#include "runtime/real.h"
#include "runtime/runtime.h"
#include "runtime/slots.h"
#include "runtime/start.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>

#define THREAD_BYTES 4096ul

static const uint64_t no_records;
__thread struct thread *heurt_own TLS_MODEL;

/* For who gets no memory: nothing is recorded of it. */
static struct thread nobody = {.kernel_gate = &no_records, .inside = 1};
/* (atomic) All that there are, the newest first. */
static struct thread *threads;
/* In place of a session that has ended: whoever comes back from a call may look at it. */
static struct heurt_session no_session = {.flags = HEURT_SESSION_CLOSED};

extern struct heurt_attachment heurt_attachment EXPORT;
struct heurt_attachment heurt_attachment = {.version = HEURT_ATTACHMENT_VERSION};

/* ---- threads --------------------------------------------------------------------------------- */

static bool has_gone(uint32_t tid)
{
    return RAW3(tgkill, RAW0(getpid), tid, 0) == -3 /* ESRCH */;
}

static void thread__clear(struct thread *thread)
{
    struct thread *older = thread->older;
    struct image_room *room = thread->image_room;
    uint32_t tid = thread->tid, room_user = thread->image_room_user;
    memset(thread, 0, sizeof *thread);
    thread->older = older;
    thread->image_room = room;
    thread->image_room_user = room_user;
    thread->tid = tid;
    thread->kernel_gate = &no_records;
    thread->creator = HEURT_NO_SERIAL;
    thread->long_wait = UINT64_MAX;
}

/* One of a thread that has ended, whose destructors have run, too. */
static struct thread *take_left(uint32_t tid)
{
    for (struct thread *one = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); one; one = one->older) {
        uint32_t before = __atomic_load_n(&one->tid, __ATOMIC_RELAXED);
        if ((before && !(one->ended && has_gone(before))) ||
            !__atomic_compare_exchange_n(&one->tid, &before, tid, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        thread__clear(one);
        return one;
    }
    return NULL;
}

static struct thread *make(uint32_t tid)
{
    struct thread *one = pages__map(THREAD_BYTES);
    if (!one)
        return NULL;
    one->tid = tid;
    thread__clear(one);
    one->older = __atomic_load_n(&threads, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&threads, &one->older, one, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
    return one;
}

struct thread *thread__make(void)
{
    _Static_assert(sizeof(struct thread) <= THREAD_BYTES, "a page each");
    uint32_t tid = (uint32_t)RAW0(gettid);
    uint64_t all = ~0ull, old = 0;
    RAW4(rt_sigprocmask, 2 /* SIG_SETMASK */, &all, &old, sizeof old);
    if (!heurt_own) {
        struct thread *one = take_left(tid);
        one = one ? one : make(tid);
        heurt_own = one ? one : &nobody;
    }
    RAW4(rt_sigprocmask, 2, &old, 0, sizeof old);
    return heurt_own;
}

void attached__thread_begins(struct thread *thread)
{
    if (thread->started && !thread->start_routine)
        end_key__set(thread);
}

/* ---- the recorder ---------------------------------------------------------------------------- */

/* It has the file of events locked for as long as it lives. */
bool attached__is_served(void)
{
    static const char file[] = "/" HEURT_EVENTS_FILE;
    char path[sizeof heurt_state.directory + sizeof file];
    size_t length = text__length(heurt_state.directory);
    bytes__copy(path, heurt_state.directory, length);
    bytes__copy(path + length, file, sizeof file);
    long descriptor = RAW3(open, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
    bool is_served = descriptor >= 0 && RAW2(flock, descriptor, LOCK_SH | LOCK_NB) == -11;
    if (descriptor >= 0)
        RAW1(close, descriptor);
    if (!is_served)
        __atomic_store_n(&heurt_state.recording, false, __ATOMIC_SEQ_CST);
    return is_served;
}

/* ---- memory ---------------------------------------------------------------------------------- */

void *pages__again(void *pages, uint64_t bytes)
{
    if (pages)
        RAW3(madvise, pages, bytes, MADV_DONTNEED);
    return pages;
}

static void unmap_events(void)
{
    struct state *state = &heurt_state;
    struct heurt_session *session = state->session;
    uint64_t bytes = state->mapped_units * HEURT_UNIT_BYTES;
    state->session = &no_session;
    state->mapped_units = 0;
    if (session && session != &no_session)
        RAW2(munmap, session, bytes);
}

bool attached__forked(void)
{
    __atomic_store_n(&heurt_state.recording, false, __ATOMIC_SEQ_CST);
    heurt_attachment.state = HEURT_ATTACHMENT_RELEASED;
    unmap_events();
    for (struct thread *one = threads; one; one = one->older)
        if (one != heurt_own)
            one->tid = 0;
    if (heurt_own) {
        bool forking = heurt_own->forking;
        kernel__forget(heurt_own);
        thread__clear(heurt_own);
        heurt_own->forking = forking;
        heurt_own->inside = forking;
        heurt_own->tid = (uint32_t)RAW0(gettid);
    }
    return true;
}

/* ---- entering -------------------------------------------------------------------------------- */

EXPORT void heurt_attach_enter(const char *directory);
void heurt_attach_enter(const char *directory)
{
    struct thread *thread = &heurt_thread;
    if (heurt_state.recording || thread == &nobody)
        return;
    heurt_attachment.state = HEURT_ATTACHMENT_ENTERS;
    thread->inside++;
    real__find();
    bool begun = slots__find() && image__begin(directory, true);
    thread->inside--;
    if (!begun)
        return;
    heurt_attachment.recorder_pid = heurt_state.settings.recorder_pid;
    struct slot_count taken = slots__take();
    heurt_attachment.slots = taken.slots;
    heurt_attachment.modules = taken.modules;
    heurt_attachment.state = HEURT_ATTACHMENT_RECORDS;
}

EXPORT void heurt_attach_look(void);
void heurt_attach_look(void)
{
    if (!heurt_state.recording)
        return;
    module__scan();
    struct slot_count taken = slots__take();
    heurt_attachment.slots += taken.slots;
    heurt_attachment.modules += taken.modules;
}

/* ---- leaving --------------------------------------------------------------------------------- */

EXPORT void heurt_attach_release(void);
void heurt_attach_release(void)
{
    slots__give_back();
    heurt_attachment.state = HEURT_ATTACHMENT_RELEASED;
}

/* Whether a thread is in the middle of what is ours, beyond waiting in a call of the program's. */
static bool is_at_work(const struct thread *thread)
{
    return thread->tid && (thread->inside || thread->signals_blocked || thread->forking) &&
           !has_gone(thread->tid);
}

/* clock_gettime's number for a thread's CPU time (linux/posix-timers.h, CPUCLOCK_SCHED). */
static uint64_t cpu_ns(const struct thread *thread)
{
    return raw__clock_ns((int)(~thread->tid << 3 | 4 | 2));
}

#define END_WORDS 8

static void end_record(struct thread *thread)
{
    kernel__end(thread);
    if (thread->started && !thread->ended && thread->limit &&
        thread->next + END_WORDS <= thread->limit && !has_gone(thread->tid))
        event__write2(thread, HEURT_EVENT_THREAD_END, cpu_ns(thread) - thread->cpu_before_ns,
                      ~0ull);
}

static void pass_on_countdowns(struct countdowns *countdowns)
{
    if (!pages__again(countdowns, sizeof *countdowns))
        return;
    countdowns->next_free = heurt_state.countdowns_free;
    heurt_state.countdowns_free = countdowns;
}

/* Those of threads that have ended are in the list already, and not empty. */
static void empty_countdowns(void)
{
    struct countdowns *next, *one = heurt_state.countdowns_free;
    heurt_state.countdowns_free = NULL;
    for (; one; one = next) {
        next = one->next_free;
        pass_on_countdowns(one);
    }
}

EXPORT void heurt_attach_sweep(void);
void heurt_attach_sweep(void)
{
    for (struct thread *one = threads; one; one = one->older)
        if (is_at_work(one))
            return;
    __atomic_store_n(&heurt_state.recording, false, __ATOMIC_SEQ_CST);
    empty_countdowns();
    for (struct thread *one = threads; one; one = one->older) {
        struct countdowns *countdowns = one->ended ? NULL : one->countdowns;
        end_record(one);
        thread__clear(one);
        pass_on_countdowns(countdowns);
        if (has_gone(one->tid))
            one->tid = 0;
    }
    unmap_events();
    trace__unguard();
    end_key__drop();
    image__forget();
    heurt_attachment.state = HEURT_ATTACHMENT_NONE;
    heurt_attachment.sweeps++;
}
