#include "base/memory.h"
#include "base/vec.h"
#include "base/worker.h"
#include "format/directory.h"
#include "format/pack_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    THREADS_MOST = 16,
    BATCH_BYTES = 64 << 20, /* of the trace, packed at once: what comes of it is kept in memory */
};

/* While a trace is packed; the threads share it. */
struct packing {
    const struct trace *trace;
    const struct pack_options *options;
    int fd;          /* of the new file */
    uint64_t length; /* of it so far, bytes */
    struct packed_ahead ahead;
    struct vec pieces; /* struct packed_piece: the batch */
    size_t next_piece; /* (atomic) that no thread has taken yet */
    unsigned threads;
    struct block_packer *packers[THREADS_MOST];
};

struct worker {
    struct packing *packing;
    struct block_packer *packer;
    pthread_t thread;
};

/* ---- one chunk ------------------------------------------------------------------------------- */

/* Where the next block goes. */
struct block_output {
    char *at, *end;
};

static bool end_block(struct block_packer *packer, struct block_output *room)
{
    if (block_packer__is_empty(packer))
        return true;
    size_t bytes = block_packer__finish(packer, room->at, (size_t)(room->end - room->at));
    room->at += bytes;
    return bytes > 0;
}

/* False: something in the chunk is not as it ought to be, or needs more room than it has. */
static bool pack_events(const struct trace *trace, struct block_packer *packer,
                        struct packed_piece *piece, struct block_output *room)
{
    const struct heurt_chunk *chunk = piece->place.chunk;
    struct trace_thread thread = {0};
    struct trace_cursor cursor;
    struct event event;
    const struct trace_process *first = trace->processes.items;
    thread.process = (uint32_t)(trace__process(trace, chunk->process) - first);
    trace_cursor__start(&cursor, trace, &thread);
    trace_cursor__go_to(&cursor, chunk);
    block_packer__begin(packer, chunk->start.tick);
    while (trace_cursor__next_in_chunk(&cursor, &event)) {
        size_t words = (size_t)(cursor.at - cursor.event);
        if (!block_packer__add(packer, cursor.event, words) &&
            (!end_block(packer, room) || !block_packer__add(packer, cursor.event, words)))
            return false;
        piece->words += words;
    }
    return trace_cursor__is_at_end(&cursor) && end_block(packer, room);
}

/* Words of the definitions in a chunk; SIZE_MAX when it is damaged. */
static size_t definition_words(const struct heurt_chunk *chunk, const char *end)
{
    const char *start = (const char *)(chunk + 1), *at = start;
    struct heurt_definition definition;
    while ((size_t)(end - at) >= sizeof definition) {
        memcpy(&definition, at, sizeof definition);
        if (!definition.bytes)
            break;
        if (definition.bytes % sizeof(uint64_t) || definition.bytes > (size_t)(end - at))
            return SIZE_MAX;
        at += definition.bytes;
    }
    return (size_t)(at - start) / sizeof(uint64_t);
}

static bool pack_definitions(const struct trace *trace, struct block_packer *packer,
                             const struct heurt_chunk *chunk, struct block_output *room)
{
    const char *start = room->at;
    const uint64_t *words = (const uint64_t *)(chunk + 1);
    size_t count = definition_words(chunk, trace__chunk_end(trace, chunk));
    if (count == SIZE_MAX)
        return false;
    for (size_t at = 0, part; at < count; at += part) {
        part = count - at < HEURT_PACKED_WORDS_MAX ? count - at : HEURT_PACKED_WORDS_MAX;
        size_t bytes =
            block_packer__plain(packer, words + at, part, room->at, (size_t)(room->end - room->at));
        room->at += bytes;
        if (!bytes)
            return false;
    }
    return count * sizeof *words <= (size_t)(room->at - start) * PACKED_RATIO_MAX;
}

static bool pack_body(const struct trace *trace, struct block_packer *packer,
                      struct packed_piece *piece, struct block_output *room)
{
    const struct heurt_chunk *chunk = piece->place.chunk;
    if (chunk->kind == HEURT_CHUNK_DEFINITIONS)
        return pack_definitions(trace, packer, chunk, room);
    return chunk->kind == HEURT_CHUNK_EVENTS && trace__process(trace, chunk->process) &&
           pack_events(trace, packer, piece, room);
}

/* ---- one life -------------------------------------------------------------------------------- */

/* More than any row of blocks needs for so many words. */
static size_t most_bytes(size_t words)
{
    size_t blocks = words / (HEURT_PACKED_WORDS_MAX / 2) + 2;
    return 2 * words * sizeof(uint64_t) + blocks * 4096;
}

static size_t words_of(const struct trace *trace, const struct trace_life *life, uint64_t *tick)
{
    struct life_cursor cursor;
    struct event event;
    size_t words = 0;
    life_cursor__start(&cursor, trace, life);
    while (life_cursor__next(&cursor, &event)) {
        *tick = words ? *tick : event.tick;
        words += 1 + event.words;
    }
    return words;
}

static bool pack_run(const struct trace *trace, struct block_packer *packer,
                     const struct trace_life *life, uint64_t tick, struct block_output *room)
{
    struct life_cursor cursor;
    struct event event;
    life_cursor__start(&cursor, trace, life);
    block_packer__begin(packer, tick);
    while (life_cursor__next(&cursor, &event)) {
        const uint64_t *words = cursor.words.event;
        size_t count = (size_t)(cursor.words.at - words);
        if (!block_packer__add(packer, words, count) &&
            (!end_block(packer, room) || !block_packer__add(packer, words, count))) {
            life_cursor__stop(&cursor);
            return false;
        }
    }
    return end_block(packer, room);
}

/* Its header stands at packed, its blocks up to the room. What the compressor has left behind them
 * is cleared: zeroes tell that there are no more. */
static void end_chunk(struct packed_piece *piece, char *packed, const struct block_output *room)
{
    piece->packed = packed;
    piece->bytes = (size_t)(room->at - packed);
    size_t padding = -piece->bytes % HEURT_PACKED_UNIT_BYTES;
    memset(room->at, 0, padding);
    piece->bytes += padding;
    ((struct heurt_chunk *)packed)->units = (uint32_t)(piece->bytes / HEURT_PACKED_UNIT_BYTES);
}

/* The life's runs become one chunk, with the life in its header. */
static void pack_life(const struct trace *trace, struct block_packer *packer,
                      struct packed_piece *piece)
{
    const struct trace_life *life = piece->life;
    uint64_t tick = life->life.start_tick;
    size_t most = sizeof(struct heurt_chunk) + most_bytes(words_of(trace, life, &tick));
    char *packed = memory__zeroed(most, 1);
    struct heurt_chunk *header = (struct heurt_chunk *)packed;
    struct block_output room = {packed + sizeof *header, packed + most - HEURT_PACKED_UNIT_BYTES};
    if (!pack_run(trace, packer, life, tick, &room)) {
        free(packed);
        return;
    }
    *header = (struct heurt_chunk){
        .magic = HEURT_CHUNK_MAGIC,
        .kind = HEURT_CHUNK_KERNEL | HEURT_CHUNK_PACKED,
        .process = HEURT_NO_SERIAL,
        .thread = HEURT_NO_SERIAL,
        .pid = life->pid,
        .tid = life->tid,
        .start = {tick, trace->session.clock == HEURT_CLOCK_MONOTONIC ? tick : 0},
    };
    memcpy(header->reserved, &life->life, sizeof life->life);
    end_chunk(piece, packed, &room);
}

void piece__pack(const struct trace *trace, struct block_packer *packer, struct packed_piece *piece)
{
    const struct heurt_chunk *chunk = piece->place.chunk;
    if (piece->life)
        pack_life(trace, packer, piece);
    if (!chunk)
        return;
    char *packed = memory__resize(NULL, piece->place.bytes, 1);
    struct block_output room = {packed + sizeof *chunk, packed + piece->place.bytes};
    if (!pack_body(trace, packer, piece, &room)) {
        free(packed);
        return;
    }
    struct heurt_chunk *header = (struct heurt_chunk *)packed;
    *header = *chunk;
    header->kind |= HEURT_CHUNK_PACKED;
    end_chunk(piece, packed, &room);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *work(void *context)
{
    struct worker *worker = context;
    struct packing *packing = worker->packing;
    size_t count = packing->pieces.count;
    for (size_t i; (i = __atomic_fetch_add(&packing->next_piece, 1, __ATOMIC_RELAXED)) < count;) {
        struct packed_piece *piece = VEC_AT(&packing->pieces, struct packed_piece, i);
        piece__pack(packing->trace, worker->packer, piece);
        if (piece->packed && piece->place.chunk)
            trace__drop_pages(packing->trace, piece->place.chunk);
    }
    return NULL;
}

/* Where no more threads can be had, fewer do it. */
static void pack_batch(struct packing *packing)
{
    struct worker workers[THREADS_MOST];
    unsigned started = 1; /* we are the first */
    packing->next_piece = 0;
    for (unsigned i = 0; i < packing->threads; i++) {
        if (!packing->packers[i])
            packing->packers[i] = block_packer__new();
        workers[i] = (struct worker){.packing = packing, .packer = packing->packers[i]};
    }
    while (started < packing->threads && started < packing->pieces.count &&
           worker__start(&workers[started].thread, work, &workers[started]) == 0)
        started++;
    work(&workers[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
}

static unsigned usable_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < THREADS_MOST ? (unsigned)count : THREADS_MOST;
}

/* ---- the new file ---------------------------------------------------------------------------- */

int new_events__create(int directory)
{
    unlinkat(directory, TRACE_NEW_EVENTS_FILE, 0); /* of somebody who was killed */
    int fd = openat(directory, TRACE_NEW_EVENTS_FILE,
                    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd < 0 ? -errno : fd;
}

int new_events__write(int fd, const char *bytes, size_t count, uint64_t offset)
{
    for (size_t done = 0; done < count;) {
        ssize_t wrote = pwrite(fd, bytes + done, count - done, (off_t)(offset + done));
        if (wrote < 0 && errno != EINTR)
            return -errno;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

/* Comes last: the length is in it. */
static int write_session(struct packing *packing)
{
    char start[HEURT_PACKED_START_BYTES] = {0};
    struct heurt_session session = packing->trace->session;
    _Static_assert(sizeof session <= sizeof start, "the header has room");
    session.unit_bytes = HEURT_PACKED_UNIT_BYTES;
    session.packed_bytes = packing->length;
    memcpy(start, &session, sizeof session);
    return new_events__write(packing->fd, start, sizeof start, 0);
}

int new_events__append(int fd, uint64_t *length, const void *bytes, size_t count)
{
    int code = new_events__write(fd, bytes, count, *length);
    *length += code < 0 ? 0 : count;
    return code;
}

static int append(struct packing *packing, const void *bytes, size_t count)
{
    return new_events__append(packing->fd, &packing->length, bytes, count);
}

static int write_as_it_is(struct packing *packing, const struct trace_place *place)
{
    static const char hole[HEURT_PACKED_UNIT_BYTES];
    if (place->is_unused || (place->chunk && (place->chunk->kind == HEURT_CHUNK_FREE ||
                                              place->chunk->kind == HEURT_CHUNK_SAMPLES ||
                                              place->chunk->kind == HEURT_CHUNK_KERNEL)))
        return 0;      /* lives follow, each with all of its runs */
    if (!place->chunk) /* one unit of zeroes: a place that could not be understood */
        return append(packing, hole, sizeof hole);
    struct heurt_chunk header = *place->chunk;
    header.units = (uint32_t)(place->bytes / HEURT_PACKED_UNIT_BYTES);
    int code = append(packing, &header, sizeof header);
    return code < 0 ? code : append(packing, place->chunk + 1, place->bytes - sizeof header);
}

/* Writes the batch and empties it. */
static int write_batch(struct packing *packing)
{
    int code = 0;
    VEC_EACH (piece, &packing->pieces, struct packed_piece) {
        if (code == 0 && piece->packed)
            code = append(packing, piece->packed, piece->bytes);
        else if (code == 0 && piece->life)
            code = -EMSGSIZE;
        else if (code == 0)
            code = write_as_it_is(packing, &piece->place);
        free(piece->packed);
    }
    packing->pieces.count = 0;
    return code;
}

static size_t bytes_of(const struct trace_life *life)
{
    size_t bytes = 0;
    VEC_EACH (part, &life->parts, struct life_part)
        bytes += part->run ? part->run->bytes : 0;
    return bytes;
}

static int pack_lives(struct packing *packing)
{
    const struct vec *lives = &packing->trace->lives;
    int code = 0;
    for (size_t i = 0; code == 0 && i < lives->count;) {
        for (size_t bytes = 0; bytes < BATCH_BYTES && i < lives->count; i++) {
            const struct trace_life *life = VEC_AT(lives, struct trace_life, i);
            vec__push(&packing->pieces, &(struct packed_piece){.life = life});
            bytes += bytes_of(life);
        }
        pack_batch(packing);
        code = write_batch(packing);
    }
    return code;
}

static int pack_all(struct packing *packing)
{
    const struct trace *trace = packing->trace;
    size_t at = trace__first_place(trace);
    int code = 0;
    while (code == 0 && at < trace->size) {
        struct packed_piece piece = {.packed = NULL};
        for (size_t start = at;
             at - start < BATCH_BYTES && trace__next_place(trace, &at, &piece.place);)
            if (!packed_ahead__has(&packing->ahead, trace, piece.place.chunk))
                vec__push(&packing->pieces, &piece);
        pack_batch(packing);
        code = write_batch(packing);
        if (packing->options->progress)
            packing->options->progress(packing->options->context, at, trace->size);
    }
    if (code == 0)
        code = pack_lives(packing);
    if (code == 0)
        code = write_session(packing);
    for (unsigned i = 0; i < packing->threads; i++)
        block_packer__free(packing->packers[i]);
    vec__free(&packing->pieces);
    return code;
}

/* ---- whether, and the exchange of the files -------------------------------------------------- */

/* Somebody may still write: a recorder that holds its lock, or a recorded process that has outlived
 * the command: the system gives a lease for reading only on a file that nobody has open, or mapped,
 * for writing. Where there are no locks or leases nobody is asked. */
static bool is_in_use(int fd)
{
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return true;
    fcntl(fd, F_SETSIG, SIGURG); /* should somebody open it meanwhile: a signal that does nothing */
    if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
        return errno == EAGAIN;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return false;
}

static bool is_damaged(const struct trace *trace)
{
    struct trace_place place;
    for (size_t at = trace__first_place(trace); trace__next_place(trace, &at, &place);)
        if (place.is_damaged)
            return true;
    return false;
}

static bool is_to_be_packed(const struct trace *trace, int fd, const struct pack_options *options,
                            enum pack_outcome *outcome)
{
    if (trace->session.packed_bytes)
        *outcome = PACK_DONE;
    else if (trace->size < options->least_bytes)
        *outcome = PACK_NOT_WORTHWHILE;
    else if (!(trace->session.flags & HEURT_SESSION_CLOSED) || is_in_use(fd))
        *outcome = PACK_IN_USE;
    else if (is_damaged(trace))
        *outcome = PACK_DAMAGED;
    else
        return true;
    return false;
}

/* Packs into a new file beside the old one, then puts it in its place. */
static int exchange(int directory, const struct trace *trace, int events,
                    const struct pack_options *options, enum pack_outcome *outcome)
{
    struct packing packing = {.trace = trace,
                              .options = options,
                              .length = HEURT_PACKED_START_BYTES,
                              .ahead = pack_ahead__take(options->ahead, trace, events)};
    packing.threads = options->threads ? options->threads : usable_processors();
    if (packing.threads > THREADS_MOST)
        packing.threads = THREADS_MOST;
    packing.pieces = VEC_OF(struct packed_piece);
    if (packing.ahead.fd >= 0)
        packing.length = packing.ahead.length;
    packing.fd = packing.ahead.fd >= 0 ? packing.ahead.fd : new_events__create(directory);
    if (packing.fd < 0)
        return packing.fd;
    int code = pack_all(&packing);
    if (close(packing.fd) < 0 && code == 0)
        code = -errno;
    bool smaller = packing.length < trace->size;
    *outcome = smaller ? PACK_DONE : PACK_NOT_WORTHWHILE;
    if (code == 0 && smaller &&
        renameat(directory, TRACE_NEW_EVENTS_FILE, directory, HEURT_EVENTS_FILE) < 0)
        code = -errno;
    if (code < 0 || !smaller)
        unlinkat(directory, TRACE_NEW_EVENTS_FILE, 0);
    return code;
}

static int not_packed(const char *directory, int code, struct error *error)
{
    if (code == -ENOSPC || code == -EDQUOT)
        return error__set(error, code,
                          "the trace %s stays unpacked: there is no room on the disk for the "
                          "packed one beside it",
                          directory);
    return error__set(error, code, "the trace %s stays unpacked: %s", directory,
                      strerrordesc_np(-code));
}

/* All names are looked up in the directory that is open, whatever becomes of its own name. */
static int pack_in(int directory, const char *name, const struct pack_options *options,
                   enum pack_outcome *outcome, struct error *error)
{
    struct trace *trace;
    int fd = openat(directory, HEURT_EVENTS_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return not_packed(name, -errno, error);
    int code = trace__open_file(fd, name, &trace, error);
    if (code == 0 && is_to_be_packed(trace, fd, options, outcome)) {
        code = exchange(directory, trace, fd, options, outcome);
        if (code < 0)
            not_packed(name, code, error);
    }
    trace__close(trace);
    close(fd);
    return code;
}

int trace__pack(const char *directory, const struct pack_options *options,
                enum pack_outcome *outcome, struct error *error)
{
    *outcome = PACK_NOT_WORTHWHILE;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return not_packed(directory, -errno, error);
    int code = pack_in(fd, directory, options, outcome, error);
    close(fd);
    return code;
}
