/* chunk.c: claiming parts of the shared events file. */
#include "runtime/aggregate.h"
#include "runtime/arena.h"
#include "runtime/runtime.h"

#include <fcntl.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#define RAW_EINVAL 22
#define RAW_SIGBUS 7

#ifndef HEURT_ATTACHED
static const uint64_t no_records;
__thread struct thread heurt_thread TLS_MODEL = {.kernel_gate = &no_records};
/* What a preloaded library has of its own in each thread moves the thread's stack; by a whole page,
 * so that what lies on the stack keeps its place within one. */
#define TLS_BYTES 4096
static __thread char filler[TLS_BYTES - sizeof(struct thread)] TLS_MODEL __attribute__((used));
#endif
struct state heurt_state;

/* Within another pair of these two there is nothing to do. The depth changes while signals are
 * blocked alone, so no handler sees one that is not true. */
uint64_t signals__block(void)
{
    struct thread *thread = &heurt_thread;
    uint64_t all = ~(1ull << (RAW_SIGBUS - 1)), old = 0;
    if (!thread->signals_blocked)
        RAW4(rt_sigprocmask, 2 /* SIG_SETMASK */, &all, &old, sizeof old);
    thread->signals_blocked++;
    return old;
}

void signals__restore(uint64_t mask)
{
    if (--heurt_thread.signals_blocked == 0)
        RAW4(rt_sigprocmask, 2, &mask, 0, sizeof mask);
}

struct heurt_clock_pair clock__pair(void)
{
    struct heurt_clock_pair pair;
    pair.tick = clock__tick();
    pair.monotonic_ns = raw__clock_ns(CLOCK_MONOTONIC);
    uint64_t after = clock__tick();
    pair.tick += (after - pair.tick) / 2;
    return pair;
}

void clock__find_rate(void)
{
    const struct heurt_clock_pair *start = &heurt_state.settings.start, now = clock__pair();
    uint64_t ns = now.monotonic_ns - start->monotonic_ns;
    heurt_state.ticks_per_1024_ns = (now.tick - start->tick) / (ns / 1024 + 1);
}

/* As reserve, where the kernel cannot do it through the mapping. A function of its own: its path
 * has no room on the stack of who needs none. */
static __attribute__((noinline)) bool reserve_in_file(uint64_t offset, uint64_t bytes)
{
    char path[sizeof heurt_state.directory + sizeof HEURT_EVENTS_FILE + 1];
    size_t length = text__length(heurt_state.directory);
    bytes__copy(path, heurt_state.directory, length);
    path[length] = '/';
    bytes__copy(path + length + 1, HEURT_EVENTS_FILE, sizeof HEURT_EVENTS_FILE);
    long descriptor = RAW3(open, path, O_RDWR | O_CLOEXEC, 0);
    if (descriptor < 0)
        return false;
    long result = RAW4(fallocate, descriptor, 0, offset, bytes);
    RAW1(close, descriptor);
    return result == 0;
}

/* Makes the file system promise the blocks, so that no store can end in SIGBUS on a full disk.
 * Linux ≥ 5.14 does it through the mapping; before, the file has to be opened again: the runtime
 * keeps no descriptor, since programs close those that they do not know. */
static bool reserve(void *memory, uint64_t offset, uint64_t bytes)
{
    long result = RAW3(madvise, memory, bytes, MADV_POPULATE_WRITE);
    return result == -RAW_EINVAL ? reserve_in_file(offset, bytes) : result == 0;
}

static bool claim_units(uint32_t units, uint64_t *first)
{
    struct heurt_session *session = heurt_state.session;
    if (__atomic_load_n(&session->flags, __ATOMIC_SEQ_CST) & HEURT_SESSION_CLOSED)
        return false;
    uint64_t limit = heurt_state.mapped_units;
    uint64_t next = __atomic_load_n(&session->next_unit, __ATOMIC_RELAXED);
    do {
        if (next > limit || units > limit - next)
            return false;
    } while (!__atomic_compare_exchange_n(&session->next_unit, &next, next + units, true,
                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    *first = next;
    /* The recorder sets the flag, then reads next_unit and cuts the file there: when the flag is
     * not seen here, the claim is seen there. */
    return !(__atomic_load_n(&session->flags, __ATOMIC_SEQ_CST) & HEURT_SESSION_CLOSED);
}

/* A ring's: of the units that the recorder has given back. The first look is at another place for
 * each thread. */
static bool take_cell(uint64_t *first)
{
    struct heurt_chunk *chunk = chunk__at(heurt_state.settings.cells_unit);
    struct heurt_cells *cells = (struct heurt_cells *)(chunk + 1);
    uint64_t last = heurt_state.mapped_units - HEURT_CELL_UNITS;
    for (unsigned i = 0; chunk && i < HEURT_CELLS_MAX; i++) {
        uint64_t *at = &cells->units[(heurt_thread.serial * 31 + i) % HEURT_CELLS_MAX];
        if (!__atomic_load_n(at, __ATOMIC_RELAXED))
            continue;
        *first = __atomic_exchange_n(at, 0, __ATOMIC_ACQUIRE);
        if (*first && *first <= last)
            return !session__has_ended();
    }
    return false;
}

static bool uses_cells(enum heurt_chunk_kind kind)
{
    return kind == HEURT_CHUNK_EVENTS && heurt_state.settings.flags & HEURT_SESSION_RING;
}

/* ---- what stands in the file, where others of the session can write it
 * --------------------------- */

uint64_t chunk__unit(const struct heurt_chunk *chunk)
{
    uint64_t offset = (uint64_t)chunk - (uint64_t)heurt_state.session;
    return chunk ? offset / HEURT_UNIT_BYTES : 0;
}

struct heurt_chunk *chunk__at(uint64_t unit)
{
    char *file = (char *)heurt_state.session;
    return unit && unit < heurt_state.mapped_units ? (void *)(file + unit * HEURT_UNIT_BYTES)
                                                   : NULL;
}

uint32_t chunk__units(const struct heurt_chunk *chunk)
{
    uint64_t left = heurt_state.mapped_units - chunk__unit(chunk);
    uint32_t units = __atomic_load_n(&chunk->units, __ATOMIC_RELAXED);
    return units && units <= left && units <= HEURT_CHUNK_UNITS_MAX ? units : 1;
}

/* From here on events are counted only: what is recorded is whole up to this time. */
static void note_full(void)
{
    uint64_t never = 0;
    heurt_state.full = true;
    if (!heurt_state.aggregates)
        __atomic_compare_exchange_n(&heurt_state.session->full_tick, &never, clock__tick(), false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

struct heurt_chunk *chunk__claim(uint32_t units, enum heurt_chunk_kind kind, uint32_t thread,
                                 uint64_t sequence)
{
    uint64_t first;
    if (thread__in_seccomp(&heurt_thread))
        return NULL;
    if (uses_cells(kind)) {
        if (units > HEURT_CELL_UNITS || !take_cell(&first))
            return NULL; /* it is lost, and the next one may find a cell */
        units = HEURT_CELL_UNITS;
    } else if (heurt_state.full || !claim_units(units, &first)) {
        note_full();
        return NULL;
    }
    uint64_t offset = first * HEURT_UNIT_BYTES;
    struct heurt_chunk *chunk = (void *)((char *)heurt_state.session + offset);
    if (!reserve(chunk, offset, (uint64_t)units * HEURT_UNIT_BYTES)) {
        note_full();
        return NULL;
    }
    chunk__begin(chunk, units, kind, thread, sequence);
    return chunk;
}

void chunk__begin(struct heurt_chunk *chunk, uint32_t units, enum heurt_chunk_kind kind,
                  uint32_t thread, uint64_t sequence)
{
    __atomic_store_n(&chunk->magic, 0, __ATOMIC_RELAXED); /* one that was given back has it */
    chunk->kind = kind;
    chunk->units = units;
    chunk->process = heurt_state.process;
    chunk->thread = thread;
    chunk->pid = heurt_state.pid;
    chunk->tid = thread != HEURT_NO_SERIAL ? (uint32_t)RAW0(gettid) : heurt_state.pid;
    chunk->sequence = sequence;
    chunk->start = clock__pair();
    __atomic_store_n(&chunk->magic, HEURT_CHUNK_MAGIC, __ATOMIC_RELEASE);
}

struct countdowns *countdowns__get(void)
{
    spin__lock(&heurt_state.countdowns_lock);
    struct countdowns *countdowns = heurt_state.countdowns_free;
    if (countdowns)
        heurt_state.countdowns_free = countdowns->next_free;
    spin__unlock(&heurt_state.countdowns_lock);
    if (countdowns)
        return countdowns;
    long memory = RAW6(mmap, 0, sizeof *countdowns, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory < 0 && memory > -4096)
        return NULL;
    RAW3(madvise, memory, sizeof *countdowns, MADV_NOHUGEPAGE); /* few of its pages are touched */
    return (struct countdowns *)memory;
}

void event__count_lost(struct thread *thread)
{
    /* What a process does that goes on when the recording has ended is not lost. */
    if (__atomic_load_n(&heurt_state.session->flags, __ATOMIC_RELAXED) & HEURT_SESSION_CLOSED)
        return;
    if (thread->chunk)
        thread->chunk->events_lost++; /* one instruction, so no handler's is lost */
    else
        __atomic_fetch_add(&heurt_state.session->events_lost, 1, __ATOMIC_RELAXED);
}

/* Starts a thread's record: its serial, its counters, and the event that says so. */
static bool start(struct thread *thread)
{
    if ((heurt_state.aggregates && !aggregate__may_begin()) ||
        (!thread->countdowns && !(thread->countdowns = countdowns__get())))
        return false;
    thread->serial = __atomic_fetch_add(&heurt_state.session->next_thread, 1, __ATOMIC_RELAXED);
    thread->next_units = uses_cells(HEURT_CHUNK_EVENTS) ? HEURT_CELL_UNITS : 1;
    thread->sequence = 0;
    thread->chunk = NULL;
    thread->name[0] = 0;
    thread->cpu_before_ns = raw__clock_ns(CLOCK_THREAD_CPUTIME_ID);
    thread->started = !heurt_state.aggregates || aggregate__begin(thread);
    if (thread->started)
        budget__begin(thread, thread->cpu_before_ns);
    attached__thread_begins(thread);
    return thread->started;
}

/* Under a budget chunks stay short: with each of them the thread looks at what it spent. */
#define BUDGET_CHUNK_UNITS_MAX 64u

/* Nobody but an interrupted writer comes back to it: the file keeps its pages, and they are no part
 * of what the program has in memory any more. */
static void leave(const struct heurt_chunk *chunk)
{
    if (chunk)
        RAW3(madvise, chunk, chunk__units(chunk) * (uint64_t)HEURT_UNIT_BYTES, MADV_DONTNEED);
}

/* More than what a thread tells of itself at the beginning of a chunk. */
#define OWN_WORDS 32u

/* With room for an event of that many words. */
static bool new_chunk(struct thread *thread, unsigned words)
{
    uint64_t least = sizeof(struct heurt_chunk) + (words + OWN_WORDS) * sizeof(uint64_t);
    while (thread->next_units * HEURT_UNIT_BYTES < least)
        thread->next_units *= 2;
    struct heurt_chunk *chunk =
        chunk__claim(thread->next_units, HEURT_CHUNK_EVENTS, thread->serial, thread->sequence);
    if (!chunk)
        return false;
    leave(thread->chunk);
    chunk->reserved[0] = thread->was_paused ? HEURT_CHUNK_BEHIND_PAUSE : 0;
    thread->was_paused = false;
    thread->sequence++;
    thread->chunk = chunk;
    thread->next = (uint64_t *)(chunk + 1);
    thread->limit = (uint64_t *)((char *)chunk + thread->next_units * HEURT_UNIT_BYTES);
    if (uses_cells(HEURT_CHUNK_EVENTS))
        thread->next_units = HEURT_CELL_UNITS;
    else if (thread->next_units <
             (budget__is_set() ? BUDGET_CHUNK_UNITS_MAX : HEURT_CHUNK_UNITS_MAX))
        thread->next_units *= 2;
    return true;
}

/* What it took to begin the record is none of the thread's own time. While others had its CPU, it
 * took nothing. */
static void tell_pause(struct thread *thread, uint64_t began)
{
    uint64_t *at = event__claim(thread, 2);
    if (!at)
        return;
    uint64_t cpu_ns = raw__clock_ns(CLOCK_THREAD_CPUTIME_ID) - thread->cpu_before_ns;
    uint64_t now = clock__tick(), on_cpu = clock__ticks(cpu_ns);
    bool is_known = heurt_state.ticks_per_1024_ns != 0;
    at[1] = is_known && on_cpu < now - began ? on_cpu : now - began;
    event__publish(at, now, HEURT_EVENT_PAUSED);
}

static uint32_t aggregated_units(const struct thread *thread)
{
    return thread->next_units < ARENA_UNITS ? ARENA_UNITS : thread->next_units;
}

bool thread__renew(struct thread *thread, uint64_t *end, unsigned words)
{
    budget__chunk_ends(thread);
    thread->next = thread->limit = NULL;
    uint64_t began = clock__tick();
    if (heurt_state.full || !attached__is_served() || (!thread->started && !start(thread)))
        return false;
    bool first = thread->sequence == 0;
    if (!(heurt_state.aggregates ? aggregate__renew(thread, end, aggregated_units(thread))
                                 : new_chunk(thread, words)))
        return false;
    define__thread_name(thread);
    if (first) {
        event__write3(thread, HEURT_EVENT_THREAD_START, raw__thread_pointer(),
                      thread->start_routine ? thread->creator : HEURT_NO_SERIAL,
                      thread->start_routine);
        instructions__begin(thread);
        cpu_timer__begin(thread);
        kernel__begin(thread);
        tell_pause(thread, began);
    }
    budget__chunk_begins(thread);
    return true;
}

/* The end of what was claimed in the thread's chunk, when the claim at at did not fit. */
static uint64_t *end_of_claims(const struct thread *thread, uint64_t *at)
{
    uint64_t *end = thread->next < thread->limit ? thread->next : thread->limit;
    return thread->chunk && at >= (uint64_t *)(thread->chunk + 1) && at < end ? at : end;
}

/* A child that was made by the bare system call has its parent's state, and nobody told it so: what
 * it does is not recorded, and its parent's chunks are not its own. One of vfork gets a chunk when
 * it is its parent again. */
static bool is_another_process(void)
{
    return (uint32_t)RAW0(getpid) != heurt_state.pid;
}

/* Whether nothing is to be recorded for now. */
static bool session__is_paused(void)
{
    return __atomic_load_n(&heurt_state.session->flags, __ATOMIC_RELAXED) & HEURT_SESSION_PAUSED;
}

uint64_t *event__refill(uint64_t *at, unsigned words)
{
    struct thread *thread = &heurt_thread;
    if (!heurt_state.recording) {
        thread->next = thread->limit = NULL;
        return NULL;
    }
    if (thread->forking)
        return NULL;
    if (session__is_paused()) {
        thread->next = thread->limit = NULL;
        thread->was_paused = true;
        return NULL;
    }
    if (thread__in_seccomp(thread)) {
        thread->next = thread->limit = NULL;
        event__count_lost(thread);
        return NULL;
    }
    aggregate__not_claimed(thread->aggregate, at);
    if (heurt_state.full && !thread->limit) {
        thread->next = NULL;
        event__count_lost(thread);
        return NULL; /* without a system call, however many there are */
    }
    uint64_t mask = signals__block();
    uint64_t *data = (uint64_t *)(thread->chunk + 1);
    uint64_t *result = NULL;
    if (thread->limit && at >= data && at + words <= thread->limit && at < thread->next) {
        result = at; /* a handler renewed the chunk between our two loads */
    } else if (thread->limit && thread->next + words <= thread->limit) {
        result = thread->next; /* a handler renewed it after our claim had failed */
        thread->next += words;
    } else if (is_another_process()) {
        result = NULL;
    } else if (thread__renew(thread, end_of_claims(thread, at), words) &&
               thread->next + words <= thread->limit) {
        result = thread->next;
        thread->next += words;
    } else {
        event__count_lost(thread);
    }
    signals__restore(mask);
    return result;
}
