/* start.c: a process image's way in and out: attach to the trace, fork, exec, exit. */
#include "runtime/start.h"
#include "runtime/aggregate.h"
#include "runtime/arena.h"
#include "runtime/channel.h"
#include "runtime/new_image.h"
#include "runtime/objects.h"
#include "runtime/openmp_hooks.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern char **environ;

/* ---- threads --------------------------------------------------------------------------------- */

/* Runs in every round of the thread's destructors; the last one ends its record, so that what
 * other destructors do is still in it. */
static void on_thread_end(void *value)
{
    struct thread *thread = &heurt_thread;
    if (++thread->end_rounds >= 4 /* PTHREAD_DESTRUCTOR_ITERATIONS */ || !end_key__set(value))
        thread__leave();
}

void thread__leave(void)
{
    struct thread *thread = &heurt_thread;
    thread__end();
    if (!thread__in_seccomp(thread)) {
        image_room__free();
        counting__end();
    }
    if (thread->ended && thread->aggregate) {
        uint64_t mask = signals__block();
        aggregate__end(thread);
        signals__restore(mask);
    }
}

void thread__end(void)
{
    struct thread *thread = hook__thread();
    if (!thread || !thread->started || thread->ended || thread__in_seccomp(thread))
        return;
    openmp__flush(thread);
    uint64_t mask = signals__block();
    thread->ended = true;
    define__thread_name(thread);
    event__write2(thread, HEURT_EVENT_THREAD_END,
                  raw__clock_ns(CLOCK_THREAD_CPUTIME_ID) - thread->cpu_before_ns,
                  kernel__runnable_ns(thread));
    kernel__end(thread);
    instructions__end(thread);
    cpu_timer__end(thread);
    return_slot__pass_on(thread);
    struct countdowns *countdowns = thread->countdowns;
    spin__lock(&heurt_state.countdowns_lock);
    countdowns->next_free = heurt_state.countdowns_free;
    heurt_state.countdowns_free = countdowns;
    spin__unlock(&heurt_state.countdowns_lock);
    signals__restore(mask);
}

/* ---- fork ------------------------------------------------------------------------------------ */

static void number_image(void)
{
    heurt_state.pid = (uint32_t)RAW0(getpid);
    heurt_state.process =
        __atomic_fetch_add(&heurt_state.session->next_process, 1, __ATOMIC_RELAXED);
    heurt_state.definitions = NULL;
    heurt_state.definitions_used = 0;
    heurt_state.definitions_sequence = 0;
}

/* From before a child is made until it knows that it is one, it has its parent's chunk and writes
 * into the same memory: nothing is recorded then, neither in the parent nor in the child, of what
 * the C library and handlers that were registered before ours do. */
static void hold_chunk(struct thread *thread)
{
    thread->held_next = thread->next;
    thread->held_limit = thread->limit;
    thread->forking = true;
    thread->inside++;
    thread->next = thread->limit = NULL;
}

static void release_chunk(struct thread *thread)
{
    if (!thread->forking)
        return;
    thread->next = thread->held_next;
    thread->limit = thread->held_limit;
    thread->inside--;
    thread->forking = false;
}

/* What the child does is new: each class has a call stack again, also where the parent's table of
 * them is full. */
static void forget_stacks(struct thread *thread)
{
    thread->long_wait = 0;
    if (thread->countdowns)
        words__clear(thread->countdowns->classes, sizeof thread->countdowns->classes / 8);
}

/* In the child: the parent's chunks are the parent's; locks that other threads held are free. */
static void after_fork(void)
{
    struct thread *thread = &heurt_thread;
    thread->held_next = thread->held_limit = NULL;
    thread->image_room_user = 0;
    if (attached__forked() || !heurt_state.recording || thread__in_seccomp(thread)) {
        heurt_state.recording = false;
        release_chunk(thread);
        return;
    }
    struct heurt_chunk *definitions = heurt_state.definitions;
    uint32_t used = heurt_state.definitions_used;
    uint64_t chunks = heurt_state.definitions_sequence;
    heurt_state.definitions_lock = heurt_state.countdowns_lock = heurt_state.modules_lock = 0;
    heurt_state.regions_lock = heurt_state.lent_lock = heurt_state.return_slot_lock = 0;
    heurt_state.end_key_lock = heurt_state.scans = 0;
    if (heurt_state.has_waited_locks)
        words__clear(heurt_state.waited_locks, sizeof heurt_state.waited_locks / 8);
    heurt_state.has_waited_locks = false;
    heurt_state.chunks_lock = heurt_state.ended_lock = heurt_state.threads_kept = 0;
    heurt_state.chunks_free = NULL;
    heurt_state.ended = NULL;
    uint64_t mask = signals__block(), before_ns = raw__clock_ns(CLOCK_THREAD_CPUTIME_ID);
    kernel__forget(thread);
    instructions__forget(thread);
    cpu_timer__forget(thread);
    aggregate__forget(thread);
    forget_stacks(thread);
    descriptors__forked();
    thread->next = thread->limit = NULL;
    thread->chunk = NULL;
    release_chunk(thread);
    thread->started = thread->ended = false;
    thread->open_loop_count = 0;
    thread->marks = false;
    thread->creator = HEURT_NO_SERIAL;
    uint32_t parent = heurt_state.process;
    number_image();
    define__process(parent);
    if (definitions)
        define__inherited(definitions, chunks, used);
    define__costs(raw__clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns);
    event__refill(NULL, 0);
    signals__restore(mask);
}

static void before_fork(void)
{
    struct thread *thread = hook__thread();
    if (!thread)
        return;
    event__write0(thread, HEURT_EVENT_FORKED);
    hold_chunk(thread);
}

/* Also when no child could be made. */
static void after_fork_in_parent(void)
{
    release_chunk(&heurt_thread);
}

EXPORT pid_t _Fork(void)
{
    struct thread *thread = hook__thread();
    if (thread)
        hold_chunk(thread);
    pid_t child = REAL(_Fork)();
    if (child == 0)
        after_fork();
    else
        after_fork_in_parent();
    return child;
}

/* A child that runs beside its parent in the same memory, and has no thread-local storage of its
 * own, would write into its parent's chunk while that one does: from then on the thread is not
 * recorded, nor is the child. (The child of a vfork runs while its parent waits.) */
static void share_thread(void)
{
    struct thread *thread = hook__thread();
    if (!thread)
        return;
    define__note("A thread made a child by clone(2) that has no thread-local storage of its own: "
                 "neither of the two is recorded from then on.");
    thread->inside++;
}

EXPORT int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
    va_list more;
    va_start(more, argument);
    void *parent_id = va_arg(more, void *), *storage = va_arg(more, void *),
         *child_id = va_arg(more, void *);
    va_end(more);
    if ((flags & (CLONE_VM | CLONE_VFORK | CLONE_SETTLS)) == CLONE_VM)
        share_thread();
    return REAL(clone)(function, stack, flags, argument, parent_id, storage, child_id);
}

/* ---- attach ---------------------------------------------------------------------------------- */

static void *zeroed_pages(size_t bytes)
{
    long memory = RAW6(mmap, 0, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory < 0 && memory > -4096)
        return NULL;
    RAW3(madvise, memory, bytes, MADV_NOHUGEPAGE); /* few of its pages are touched */
    return (void *)memory;
}

/* As zeroed_pages: those of a session before, where there was one. */
static void *zeroed_again(void *pages, size_t bytes)
{
    return pages ? pages__again(pages, bytes) : zeroed_pages(bytes);
}

static bool watch_forks(void)
{
    struct state *state = &heurt_state;
    if (!state->watches_forks)
        state->watches_forks = pthread_atfork(before_fork, after_fork_in_parent, after_fork) == 0;
    return state->watches_forks;
}

static bool prepare(const char *directory)
{
    struct state *state = &heurt_state;
    if (text__length(directory) >= sizeof state->directory)
        return false;
    bytes__copy(state->directory, directory, text__length(directory) + 1);
    trace__guard();
    if (!session__attach())
        return false;
    state->uses_tsc = state->settings.clock == HEURT_CLOCK_TSC;
    state->aggregates = state->settings.flags & HEURT_SESSION_AGGREGATE;
    state->next_function = HEURT_EVENT_FUNCTIONS;
    state->bodies =
        zeroed_again(state->bodies, (HEURT_FUNCTION_LAST / 2 + 1) * sizeof *state->bodies);
    state->descriptor_kinds = zeroed_again(state->descriptor_kinds, 2 << 16);
    if (state->settings.flags & HEURT_SESSION_OBJECTS && !state->aggregates) {
        state->allocating.whole_left = OBJECTS_TOLD_WHOLE;
        state->allocating.stacks_left = OBJECTS_STACKS;
        state->allocating.objects = zeroed_again(state->allocating.objects, OBJECTS_BYTES);
    }
    return state->bodies && state->descriptor_kinds && end_key__take(on_thread_end) &&
           watch_forks();
}

#ifndef HEURT_ATTACHED
/* Our own name in LD_PRELOAD: the entry that ends in libheurt.so. */
static void find_library(const char *preload)
{
    static const char name[] = "/libheurt.so";
    for (const char *at = preload ? preload : ""; *at;) {
        size_t part = strcspn(at, ": ");
        if (part >= sizeof name - 1 && part < sizeof heurt_state.library &&
            memcmp(at + part - (sizeof name - 1), name, sizeof name - 1) == 0) {
            bytes__copy(heurt_state.library, at, part);
            heurt_state.library[part] = 0;
            return;
        }
        at += part;
        at += strspn(at, ": ");
    }
}
#endif

/* Below the main thread's stack the kernel keeps at least this much free of other mappings. */
#define MAIN_STACK_BYTES (8u << 20)

bool image__begin(const char *directory, bool late)
{
    uint64_t before_ns = raw__clock_ns(CLOCK_THREAD_CPUTIME_ID);
    heurt_thread.creator = HEURT_NO_SERIAL;
    if (!prepare(directory))
        return false;
    number_image();
    heurt_state.recording = true;
    clock__find_rate();
    kernel__prepare();
    instructions__prepare();
    cpu_timers__prepare();
    calibrate__all();
    kernel__calibrate();
    define__process(HEURT_NO_SERIAL);
    if (!late) {
        environment__clean();
        module__expect_filters();
    }
    module__scan();
    if (!late)
        module__watch_loader();
    end_key__set(&heurt_state);
    define__costs(raw__clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns);
    event__refill(NULL, 0); /* the main thread's life begins here, whatever it calls first */
    return true;
}

#ifdef HEURT_ATTACHED
void image__forget(void)
{
    struct state *state = &heurt_state;
    state->definitions = NULL;
    state->full = false;
    state->module_count = 0;
    state->noted = 0;
    state->kernel_missing = 0;
    state->locks_counted = 0;
    state->fault_way_known = false;
    state->has_waited_locks = false;
    words__clear(state->waited_locks, sizeof state->waited_locks / 8);
    memset(state->told_queues, 0, sizeof state->told_queues);
    memset(state->shared_streams, 0, sizeof state->shared_streams);
    memset(state->named_streams, 0, sizeof state->named_streams);
    memset(state->stacks_kept, 0, sizeof state->stacks_kept);
    memset(state->allocating.callers, 0, sizeof state->allocating.callers);
    memset(state->allocating.places, 0, sizeof state->allocating.places);
}
#else
__attribute__((constructor)) static void start(void)
{
    const char *directory = NULL, *preload = NULL;
    for (char **entry = environ; entry && *entry; entry++) {
        const char *value = environment__value(*entry, HEURT_ENVIRONMENT);
        directory = value ? value : directory;
        value = environment__value(*entry, HEURT_PRELOAD);
        preload = value ? value : preload;
    }
    if (!directory)
        return;
    struct thread *thread = &heurt_thread;
    thread->inside++;
    real__find();
    find_library(preload);
    thread->stack_high = (uint64_t)environ; /* above all frames of the main thread */
    thread->stack_low = thread->stack_high - MAIN_STACK_BYTES;
    image__begin(directory, false);
    thread->inside--;
}
#endif

/* A child of vfork that exits has its parent's memory, not a record of its own. */
static void end_of_process(void)
{
    if (heurt_state.recording && !thread__in_seccomp(&heurt_thread) &&
        (uint32_t)RAW0(getpid) == heurt_state.pid)
        thread__end();
}

__attribute__((destructor)) static void finish(void)
{
    end_of_process();
}

EXPORT _Noreturn void _exit(int status)
{
    end_of_process();
    for (;;)
        REAL(_exit)(status);
}

EXPORT _Noreturn void _Exit(int status)
{
    end_of_process();
    for (;;)
        REAL(_Exit)(status);
}
