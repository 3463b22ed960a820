/* pack_ahead.c: a thread that packs what is finished of a trace that is still being recorded.
 *
 *     stopped, ended, packed, done    under the lock; from stopped on only its owner's
 *     packer                          the thread's
 *     all else                        does not change while the thread runs
 *
 * Its owner never waits for the thread, but for the lock, under which it writes one chunk at most.
 * The thread gives way to whoever wants its CPU. Its priority does not: it could not be raised
 * again, and the process could not end before the thread has got a CPU once more. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/vec.h"
#include "base/worker.h"
#include "format/directory.h"
#include "format/pack_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK_NS = 50000000,
    BUSY_PART = 4,  /* it waits for a CPU so much of the time that it has one: others want it */
    GIVEN_WAY = 50, /* then it sleeps so many times as long as it worked, */
    SLEEP_MOST_NS = 500000000,
    WORK_NS = 20000000,    /* which is asked anew after so much CPU time */
    STEP_BYTES = 32 << 20, /* of the trace: so much is claimed between two looks at its chunks */
    SUCCESSORS = 2,        /* chunks of its thread behind one that is finished */
};

/* A chunk in the new file. */
struct done {
    uint64_t place, new_place; /* bytes, in the trace and in the new file */
    size_t words;
    uint64_t events_lost;
};

struct pack_ahead {
    int directory, events;               /* descriptors */
    const struct heurt_session *session; /* in a mapping of its own */
    uint64_t units;                      /* of the trace at most, as that said when this began */
    pthread_t thread;
    pthread_mutex_t lock;
    bool has_thread, stopped, ended;
    bool is_left; /* by its owner: the thread frees it */
    struct block_packer *packer;
    struct packed_ahead packed;
    struct vec done;          /* struct done */
    uint64_t wall_ns, cpu_ns; /* since when it is known that nobody wants the CPU */
};

/* ---- beside others --------------------------------------------------------------------------- */

static void sleep_ns(struct pack_ahead *ahead, uint64_t ns)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
    ahead->wall_ns = clock__ns(CLOCK_MONOTONIC);
    ahead->cpu_ns = clock__ns(CLOCK_THREAD_CPUTIME_ID);
}

static void give_way(struct pack_ahead *ahead)
{
    uint64_t worked = clock__ns(CLOCK_THREAD_CPUTIME_ID) - ahead->cpu_ns;
    uint64_t wall = clock__ns(CLOCK_MONOTONIC) - ahead->wall_ns;
    if (wall > worked + worked / BUSY_PART)
        sleep_ns(ahead, worked * GIVEN_WAY < SLEEP_MOST_NS ? worked * GIVEN_WAY : SLEEP_MOST_NS);
    else if (worked > WORK_NS)
        sleep_ns(ahead, 0);
}

/* ---- one chunk ------------------------------------------------------------------------------- */

/* Whether the events that were packed are all there is: neither is anything behind them, nor a hole
 * between them. */
static bool ends_there(const struct trace *trace, const struct heurt_chunk *chunk, size_t words)
{
    const uint64_t *at = (const uint64_t *)(chunk + 1) + words;
    const uint64_t *end = (const uint64_t *)trace__chunk_end(trace, chunk);
    while (at < end && *at == 0)
        at++;
    return at >= end;
}

static int keep(struct pack_ahead *ahead, const struct trace *trace,
                const struct packed_piece *piece)
{
    uint64_t place = (uint64_t)((const char *)piece->place.chunk - trace->bytes);
    struct done done = {place, ahead->packed.length, piece->words, piece->place.chunk->events_lost};
    if (place / HEURT_UNIT_BYTES >= ahead->units)
        return -EINVAL;
    int code =
        new_events__append(ahead->packed.fd, &ahead->packed.length, piece->packed, piece->bytes);
    if (code < 0)
        return code;
    ahead->packed.units[place / HEURT_UNIT_BYTES / 64] |= 1ull << place / HEURT_UNIT_BYTES % 64;
    vec__push(&ahead->done, &done);
    return 0;
}

static bool is_done(struct pack_ahead *ahead, const struct trace *trace,
                    const struct heurt_chunk *chunk)
{
    pthread_mutex_lock(&ahead->lock);
    bool done = packed_ahead__has(&ahead->packed, trace, chunk);
    pthread_mutex_unlock(&ahead->lock);
    return done;
}

/* A chunk in which an interrupted writer has left a hole is left to the end. Nonzero: no more. */
static int pack_chunk(struct pack_ahead *ahead, const struct trace *trace,
                      const struct heurt_chunk *chunk)
{
    struct packed_piece piece = {.place = {.chunk = chunk}};
    int code = 0;
    piece.place.bytes = (size_t)(trace__chunk_end(trace, chunk) - (const char *)chunk);
    piece__pack(trace, ahead->packer, &piece);
    pthread_mutex_lock(&ahead->lock);
    if (ahead->stopped)
        code = -ECANCELED;
    else if (piece.packed && ends_there(trace, chunk, piece.words))
        code = keep(ahead, trace, &piece);
    pthread_mutex_unlock(&ahead->lock);
    free(piece.packed);
    trace__drop_pages(trace, chunk);
    return code;
}

/* ---- all that is finished -------------------------------------------------------------------- */

/* Where threads keep what the kernel tells between their own events, that is completed when the run
 * has ended (amend.h). */
static bool is_changed_later(const struct heurt_session *session)
{
    return session->flags & HEURT_SESSION_KERNEL && !(session->flags & HEURT_SESSION_KERNEL_LOG);
}

/* A thread that has left a chunk may have been interrupted in it by a signal handler, which went on
 * in the next one: not before two more is it likely to be done. */
static int pack_finished(struct pack_ahead *ahead, const struct trace *trace)
{
    int code = 0;
    VEC_EACH (thread, trace__threads(trace), const struct trace_thread)
        for (size_t i = 0; code == 0 && i + SUCCESSORS < thread->chunks.count; i++) {
            const struct heurt_chunk *chunk =
                *VEC_AT(&thread->chunks, const struct heurt_chunk *, i);
            if (is_done(ahead, trace, chunk))
                continue;
            code = pack_chunk(ahead, trace, chunk);
            give_way(ahead);
        }
    return code;
}

/* Nothing of the room that the trace itself may still need is taken from it. */
static bool has_room(const struct pack_ahead *ahead)
{
    struct statvfs disk;
    const struct heurt_session *session = ahead->session;
    uint64_t next = __atomic_load_n(&session->next_unit, __ATOMIC_RELAXED);
    uint64_t left = next < session->limit_units ? session->limit_units - next : 0;
    return fstatvfs(ahead->events, &disk) == 0 &&
           disk.f_bavail > (left * HEURT_UNIT_BYTES + STEP_BYTES) / disk.f_frsize;
}

static int create(struct pack_ahead *ahead)
{
    int code = -ECANCELED;
    pthread_mutex_lock(&ahead->lock);
    if (!ahead->stopped)
        code = ahead->packed.fd < 0 ? ahead->packed.fd = new_events__create(ahead->directory) : 0;
    pthread_mutex_unlock(&ahead->lock);
    return code;
}

int pack_ahead__look(struct pack_ahead *ahead)
{
    struct trace *trace;
    struct error error;
    if (is_changed_later(ahead->session) || !has_room(ahead))
        return -ECANCELED;
    int code = trace__open_chunks(ahead->events, "this", &trace, &error);
    if (code < 0)
        return code;
    code = create(ahead);
    if (code >= 0)
        code = pack_finished(ahead, trace);
    trace__close(trace);
    return code;
}

static bool is_stopped(struct pack_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    bool stopped = ahead->stopped;
    pthread_mutex_unlock(&ahead->lock);
    return stopped;
}

static void free_ahead(struct pack_ahead *ahead)
{
    if (ahead->packed.fd >= 0)
        close(ahead->packed.fd);
    if (ahead->session)
        munmap((void *)ahead->session, HEURT_UNIT_BYTES);
    if (ahead->events >= 0)
        close(ahead->events);
    if (ahead->directory >= 0)
        close(ahead->directory);
    block_packer__free(ahead->packer);
    vec__free(&ahead->done);
    free(ahead->packed.units);
    free(ahead);
}

static void *work(void *context)
{
    struct pack_ahead *ahead = context;
    const struct sched_param none = {0};
    uint64_t seen = 0;
    pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
    while (!is_stopped(ahead)) {
        uint64_t claimed = __atomic_load_n(&ahead->session->next_unit, __ATOMIC_RELAXED);
        if ((claimed - seen) * HEURT_UNIT_BYTES < STEP_BYTES) {
            sleep_ns(ahead, LOOK_NS);
            continue;
        }
        seen = claimed;
        if (pack_ahead__look(ahead) < 0)
            break;
    }
    pthread_mutex_lock(&ahead->lock);
    ahead->ended = true;
    bool is_left = ahead->is_left;
    pthread_mutex_unlock(&ahead->lock);
    if (is_left)
        free_ahead(ahead);
    return NULL;
}

/* ---- its owner ------------------------------------------------------------------------------- */

static int open_trace(struct pack_ahead *ahead, const char *directory)
{
    ahead->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (ahead->directory < 0)
        return -errno;
    ahead->events = openat(ahead->directory, HEURT_EVENTS_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (ahead->events < 0)
        return -errno;
    void *session = mmap(NULL, HEURT_UNIT_BYTES, PROT_READ, MAP_SHARED, ahead->events, 0);
    if (session == MAP_FAILED)
        return -errno;
    ahead->session = session;
    ahead->units = __atomic_load_n(&ahead->session->limit_units, __ATOMIC_RELAXED);
    if (ahead->units > UINT32_MAX) /* a process with fewer rights has written it */
        return -EINVAL;
    ahead->packed.units = memory__zeroed(ahead->units / 64 + 1, sizeof(uint64_t));
    return 0;
}

static void stop(struct pack_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->stopped = true;
    pthread_mutex_unlock(&ahead->lock);
}

struct pack_ahead *pack_ahead__new(const char *directory)
{
    struct pack_ahead *ahead = memory__zeroed(1, sizeof *ahead);
    *ahead = (struct pack_ahead){.directory = -1,
                                 .events = -1,
                                 .lock = PTHREAD_MUTEX_INITIALIZER,
                                 .packer = block_packer__new(),
                                 .packed = {.fd = -1, .length = HEURT_PACKED_START_BYTES},
                                 .done = VEC_OF(struct done)};
    if (open_trace(ahead, directory) == 0)
        return ahead;
    free_ahead(ahead);
    return NULL;
}

struct pack_ahead *pack_ahead__start(const char *directory)
{
    struct pack_ahead *ahead = pack_ahead__new(directory);
    if (ahead)
        ahead->has_thread = worker__start(&ahead->thread, work, ahead) == 0;
    return ahead;
}

void pack_ahead__free(struct pack_ahead *ahead)
{
    if (!ahead)
        return;
    stop(ahead);
    pthread_mutex_lock(&ahead->lock);
    bool ended = ahead->ended || !ahead->has_thread;
    if (ahead->packed.fd >= 0)
        unlinkat(ahead->directory, TRACE_NEW_EVENTS_FILE, 0);
    ahead->is_left = !ended; /* it sleeps or waits: it frees what it has, if it still gets to it */
    pthread_t thread = ahead->thread;
    bool has_thread = ahead->has_thread;
    pthread_mutex_unlock(&ahead->lock);
    if (!ended) {
        pthread_detach(thread);
        return;
    }
    if (has_thread)
        pthread_join(thread, NULL);
    free_ahead(ahead);
}

/* Whether the chunk is as it was when it was packed. */
static bool is_same(const struct trace *trace, const struct done *done)
{
    if (done->place + sizeof(struct heurt_chunk) > trace->size)
        return false;
    const struct heurt_chunk *chunk = (const struct heurt_chunk *)(trace->bytes + done->place);
    bool same = chunk->events_lost == done->events_lost && ends_there(trace, chunk, done->words);
    trace__drop_pages(trace, chunk);
    return same;
}

/* Nobody reads the chunk in the new file: its place is that of one that was given back. */
static int forget(struct pack_ahead *ahead, const struct done *done)
{
    const uint32_t kind = HEURT_CHUNK_FREE;
    uint64_t unit = done->place / HEURT_UNIT_BYTES;
    ahead->packed.units[unit / 64] &= ~(1ull << unit % 64);
    return new_events__write(ahead->packed.fd, (const char *)&kind, sizeof kind,
                             done->new_place + offsetof(struct heurt_chunk, kind));
}

static bool is_of(const struct pack_ahead *ahead, int events)
{
    struct stat mine, theirs;
    return fstat(ahead->events, &mine) == 0 && fstat(events, &theirs) == 0 &&
           mine.st_ino == theirs.st_ino && mine.st_dev == theirs.st_dev;
}

struct packed_ahead pack_ahead__take(struct pack_ahead *ahead, const struct trace *trace,
                                     int events)
{
    struct packed_ahead none = {.fd = -1};
    if (!ahead)
        return none;
    stop(ahead);
    if (ahead->packed.fd < 0 || !is_of(ahead, events))
        return none;
    VEC_EACH (done, &ahead->done, struct done)
        if (!is_same(trace, done) && forget(ahead, done) < 0)
            return none;
    struct packed_ahead taken = ahead->packed;
    ahead->packed.fd = -1;
    return taken;
}
