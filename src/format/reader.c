#include "format/reader.h"

#include "base/memory.h"
#include "format/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the session's header -------------------------------------------------------------------- */

static int check_session(struct trace *trace, const char *name, struct error *error)
{
    struct heurt_session *session = &trace->session;
    if (trace->size < sizeof *session)
        return error__set(error, -EINVAL,
                          "%s is not a trace of heurt, or only its beginning: its events have %zu "
                          "bytes, %zu are needed at least; record again",
                          name, trace->size, sizeof *session);
    memcpy(session, trace->bytes, sizeof *session);
    if (memcmp(session->magic, HEURT_MAGIC, sizeof session->magic) != 0)
        return error__set(error, -EINVAL,
                          "%s is not a trace of heurt (its events do not begin with heurt's mark); "
                          "give the directory that heurt record wrote",
                          name);
    if (session->version != HEURT_VERSION || session->unit_bytes != trace__unit_bytes(trace))
        return error__set(error, -EPROTONOSUPPORT,
                          "the trace %s has format %u with units of %u bytes; this heurt reads "
                          "format %u with %zu; use the heurt that recorded it",
                          name, session->version, session->unit_bytes, HEURT_VERSION,
                          trace__unit_bytes(trace));
    if (session->clock != HEURT_CLOCK_TSC && session->clock != HEURT_CLOCK_MONOTONIC)
        return error__set(error, -EINVAL, "the trace %s is damaged: its clock is %u; record again",
                          name, session->clock);
    return 0;
}

/* Whether the chunk is packed: a packed trace keeps those as they were that could not be. */
bool trace__is_packed(const struct trace *trace, const struct heurt_chunk *chunk)
{
    return trace->session.packed_bytes && chunk->kind & HEURT_CHUNK_PACKED;
}

size_t trace__unit_bytes(const struct trace *trace)
{
    return trace->session.packed_bytes ? HEURT_PACKED_UNIT_BYTES : HEURT_UNIT_BYTES;
}

/* Forgets what lies behind the last unit that was claimed. A packed file has nothing there. */
static void cut_to_claimed(struct trace *trace)
{
    if (trace->session.packed_bytes)
        return;
    uint64_t units = trace->session.next_unit;
    if (units > trace->session.limit_units)
        units = trace->session.limit_units;
    if (units < trace->size / HEURT_UNIT_BYTES)
        trace->size = (size_t)units * HEURT_UNIT_BYTES;
    if (trace->size < HEURT_UNIT_BYTES)
        trace->size = 0;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Of a long trace no page is looked at twice for a chunk's header. */
struct found_chunk {
    const struct heurt_chunk *chunk;
    struct heurt_chunk header;
};

/* Chunks by kind. */
struct chunks {
    struct vec definitions; /* const struct heurt_chunk * */
    struct vec events;      /* struct found_chunk: and aggregates: what belongs to a thread */
    struct vec kernel;      /* const struct heurt_chunk *: in the file's order */
};

static bool is_aggregates(const struct heurt_chunk *chunk)
{
    return chunk->kind == HEURT_CHUNK_AGGREGATES;
}

static bool has_header(const struct trace *trace, size_t offset)
{
    const struct heurt_chunk *chunk = (const struct heurt_chunk *)(trace->bytes + offset);
    return trace->size - offset >= sizeof *chunk && chunk->magic == HEURT_CHUNK_MAGIC;
}

static void keep_chunk(struct trace *trace, const struct heurt_chunk *chunk, struct chunks *chunks)
{
    uint32_t kind = chunk->kind;
    if (trace__is_packed(trace, chunk))
        kind &= ~HEURT_CHUNK_PACKED;
    if (kind == HEURT_CHUNK_DEFINITIONS)
        vec__push(&chunks->definitions, &chunk);
    else if ((kind == HEURT_CHUNK_EVENTS || kind == HEURT_CHUNK_AGGREGATES) &&
             chunk->process != HEURT_NO_SERIAL && chunk->thread != HEURT_NO_SERIAL)
        vec__push(&chunks->events, &(struct found_chunk){chunk, *chunk});
    else if (kind == HEURT_CHUNK_KERNEL)
        vec__push(&chunks->kernel, &chunk);
    else if (kind == HEURT_CHUNK_COUNTS)
        vec__push(&trace->counted, &chunk);
    else if (kind != HEURT_CHUNK_FREE && kind != HEURT_CHUNK_SAMPLES && kind != HEURT_CHUNK_CELLS)
        trace__mark_damaged(trace, chunk);
}

size_t trace__first_place(const struct trace *trace)
{
    return trace->session.packed_bytes ? HEURT_PACKED_START_BYTES : HEURT_UNIT_BYTES;
}

/* A claim that did not fit before the limit leaves units behind that nobody uses. */
static bool is_unused(const struct trace *trace, size_t end)
{
    const struct heurt_session *session = &trace->session;
    return !session->packed_bytes && session->next_unit > session->limit_units &&
           end >= trace->size && trace->size / HEURT_UNIT_BYTES >= session->limit_units;
}

/* Where that walk over a long trace has passed so many bytes, they need not stay in memory. */
#define PASSED_BYTES ((size_t)32 << 20)

/* The blocks of the mapping that end between from and to: each time costs a system call and what
 * the processors keep of the mapping, up to some 0.5 ms in virtual machines. */
static void drop_blocks(const struct trace *trace, size_t from, size_t to, size_t block_bytes)
{
    from = from / block_bytes * block_bytes;
    to = to / block_bytes * block_bytes;
    if (from < to)
        madvise((char *)(uintptr_t)trace->bytes + from, to - from, MADV_DONTNEED);
}

bool trace__next_place(const struct trace *trace, size_t *offset, struct trace_place *place)
{
    size_t start = *offset, unit_bytes = trace__unit_bytes(trace);
    if (start >= trace->size)
        return false;
    *place = (struct trace_place){NULL};
    if (has_header(trace, start)) {
        place->chunk = (const struct heurt_chunk *)(trace->bytes + start);
        place->bytes = (size_t)(trace__chunk_end(trace, place->chunk) - (trace->bytes + start));
        place->is_damaged = place->bytes < sizeof *place->chunk ||
                            place->bytes < (uint64_t)place->chunk->units * unit_bytes;
        *offset += place->bytes ? place->bytes : unit_bytes;
    } else {
        while (*offset < trace->size && !has_header(trace, *offset))
            *offset += unit_bytes;
        place->is_unused = is_unused(trace, *offset);
    }
    if (!place->bytes)
        place->bytes = *offset - start;
    if (trace->mapped_bytes > TRACE_KEPT_BYTES)
        drop_blocks(trace, start, *offset, PASSED_BYTES);
    return true;
}

static void find_chunks(struct trace *trace, struct chunks *chunks)
{
    struct trace_place place;
    for (size_t at = trace__first_place(trace); trace__next_place(trace, &at, &place);) {
        if (!place.chunk)
            trace->damage->places += !place.is_unused;
        else if (place.is_damaged)
            trace__mark_damaged(trace, place.chunk);
        if (place.chunk && place.bytes >= sizeof *place.chunk && place.chunk->units)
            keep_chunk(trace, place.chunk, chunks);
    }
    trace->damage->places += trace->size < trace->session.packed_bytes; /* its end is missing */
}

/* Definitions in the order of their writer; several may write about one image. */
static int by_process(const void *a, const void *b)
{
    const struct heurt_chunk *x = *(const struct heurt_chunk *const *)a;
    const struct heurt_chunk *y = *(const struct heurt_chunk *const *)b;
    if (x->process != y->process) /* those about the session come first */
        return ORDER(x->process + 1, y->process + 1);
    int order = ORDER(x->pid, y->pid) ?: ORDER(x->sequence, y->sequence);
    return order ?: ORDER(x, y);
}

static int by_thread(const void *a, const void *b)
{
    const struct found_chunk *left = a, *right = b;
    const struct heurt_chunk *x = &left->header, *y = &right->header;
    if (x->thread != y->thread)
        return ORDER(x->thread, y->thread);
    if (is_aggregates(x) != is_aggregates(y))
        return is_aggregates(x) ? -1 : 1;
    return ORDER(x->sequence, y->sequence) ?: ORDER(left->chunk, right->chunk);
}

/* ---- processes and threads ------------------------------------------------------------------- */

struct trace_process *trace__process(const struct trace *trace, uint32_t serial)
{
    return VEC_FIND(&trace->processes, struct trace_process, serial, serial);
}

struct trace_thread *trace__thread(const struct trace *trace, uint32_t serial)
{
    return VEC_FIND(&trace->threads, struct trace_thread, serial, serial);
}

void trace__push_process(struct trace *trace, uint32_t serial)
{
    *(struct trace_process *)vec__push(&trace->processes, NULL) = (struct trace_process){
        .serial = serial,
        .parent_serial = HEURT_NO_SERIAL,
        .path = "",
        .modules = VEC_OF(struct trace_module),
        .functions = VEC_OF(struct trace_function),
        .refusals = VEC_OF(struct trace_refusal),
        .notes = VEC_OF(const char *),
        .lives = VEC_OF(struct heurt_live),
        .objects = VEC_OF(struct trace_object),
        .clocks = VEC_OF(struct heurt_host_clock),
    };
}

/* One process image for every serial that a chunk names. */
static void make_processes(struct trace *trace, const struct chunks *chunks)
{
    struct vec serials = VEC_OF(uint32_t);
    VEC_EACH (chunk, &chunks->definitions, const struct heurt_chunk *)
        vec__push(&serials, &(*chunk)->process);
    VEC_EACH (found, &chunks->events, const struct found_chunk)
        vec__push(&serials, &found->header.process);
    vec__sort(&serials, order__u32);
    const uint32_t *before = NULL;
    VEC_EACH (serial, &serials, uint32_t) {
        if (*serial != HEURT_NO_SERIAL && (!before || *before != *serial))
            trace__push_process(trace, *serial);
        before = serial;
    }
    vec__free(&serials);
    VEC_EACH (found, &chunks->events, const struct found_chunk) {
        struct trace_process *process = trace__process(trace, found->header.process);
        if (!process->pid) /* until its definition is read */
            process->pid = found->header.pid;
    }
}

static void push_thread(struct trace *trace, const struct heurt_chunk *chunk)
{
    const struct trace_process *process = trace__process(trace, chunk->process);
    *(struct trace_thread *)vec__push(&trace->threads, NULL) = (struct trace_thread){
        .serial = chunk->thread,
        .process = (uint32_t)(process - (struct trace_process *)trace->processes.items),
        .pid = chunk->pid,
        .tid = chunk->tid,
        .name = "",
        .chunks = VEC_OF(const struct heurt_chunk *),
    };
}

/* Whether chunk may be the next one of the thread that wrote before: it is another's when it has a
 * sequence number that was seen, or is of another process image. */
static bool may_follow(const struct heurt_chunk *before, const struct heurt_chunk *chunk)
{
    return before->process == chunk->process &&
           (before->sequence != chunk->sequence || is_aggregates(before) != is_aggregates(chunk));
}

/* Gives each thread its chunks. */
static void make_threads(struct trace *trace, const struct vec *events)
{
    const struct heurt_chunk *before = NULL;
    VEC_EACH (found, events, const struct found_chunk) {
        const struct heurt_chunk *chunk = &found->header;
        if (!before || before->thread != chunk->thread) {
            push_thread(trace, chunk);
        } else if (!may_follow(before, chunk)) {
            trace__mark_damaged(trace, found->chunk);
            continue;
        }
        struct trace_thread *thread =
            VEC_AT(&trace->threads, struct trace_thread, trace->threads.count - 1);
        if (is_aggregates(chunk))
            trace_thread__read_aggregate(trace, thread, found->chunk);
        else
            vec__push(&thread->chunks, &found->chunk);
        thread->events_lost += chunk->events_lost;
        before = chunk;
    }
    VEC_EACH (thread, &trace->threads, struct trace_thread)
        if (thread->aggregate && !thread->aggregate->record)
            trace_thread__free_aggregate(thread);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static bool is_later(struct heurt_clock_pair a, struct heurt_clock_pair b)
{
    return a.tick > b.tick && a.monotonic_ns > b.monotonic_ns;
}

/* The rate is measured from the start to the end, or to the last chunk when there is no end. */
static void measure_clock(struct trace *trace, const struct chunks *chunks)
{
    trace->first = trace->last = trace->session.start;
    if (trace->session.finished && is_later(trace->session.end, trace->first)) {
        trace->last = trace->session.end;
        return;
    }
    VEC_EACH (chunk, &chunks->definitions, const struct heurt_chunk *)
        if (is_later((*chunk)->start, trace->last))
            trace->last = (*chunk)->start;
    VEC_EACH (found, &chunks->events, const struct found_chunk)
        if (is_later(found->header.start, trace->last))
            trace->last = found->header.start;
}

uint64_t trace__ns(const struct trace *trace, uint64_t ticks)
{
    if (trace->session.clock == HEURT_CLOCK_MONOTONIC || trace->last.tick == trace->first.tick)
        return ticks;
    uint64_t in_ticks = trace->last.tick - trace->first.tick;
    unsigned __int128 product =
        (unsigned __int128)ticks * (trace->last.monotonic_ns - trace->first.monotonic_ns);
    unsigned __int128 ns = product >> 64 ? product / in_ticks : (uint64_t)product / in_ticks;
    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

uint64_t trace__since_start_ns(const struct trace *trace, uint64_t tick)
{
    return tick > trace->zero_tick ? trace__ns(trace, tick - trace->zero_tick) : 0;
}

/* The least whose trace__ns is not less. */
uint64_t trace__ticks(const struct trace *trace, uint64_t ns)
{
    uint64_t in_ticks = trace->last.tick - trace->first.tick;
    uint64_t in_ns = trace->last.monotonic_ns - trace->first.monotonic_ns;
    if (trace->session.clock == HEURT_CLOCK_MONOTONIC || in_ticks == 0)
        return ns > INT64_MAX ? UINT64_MAX : ns;
    if (in_ns == 0)
        return ns ? UINT64_MAX : 0;
    unsigned __int128 product = (unsigned __int128)ns * in_ticks + in_ns - 1;
    unsigned __int128 ticks = product >> 64 ? product / in_ns : (uint64_t)product / in_ns;
    return ticks > INT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

uint64_t trace__tick(const struct trace *trace, uint64_t since_start_ns)
{
    uint64_t ticks = trace__ticks(trace, since_start_ns), start = trace->zero_tick;
    return ticks > UINT64_MAX - start ? UINT64_MAX : start + ticks;
}

static uint64_t end_tick(const struct trace *trace)
{
    bool ended = trace->session.finished && trace->session.end.tick > trace->session.start.tick;
    return ended ? trace->session.end.tick : trace->last_tick;
}

uint64_t trace__wall_ns(const struct trace *trace)
{
    uint64_t end = end_tick(trace);
    return end > trace->first_tick ? trace__ns(trace, end - trace->first_tick) : 0;
}

void trace__bounds_ns(const struct trace *trace, uint64_t *from_ns, uint64_t *to_ns)
{
    *from_ns = trace__since_start_ns(trace, trace->first_tick);
    *to_ns = trace__since_start_ns(trace, end_tick(trace));
}

bool trace_process__left(const struct trace_process *process)
{
    VEC_EACH (note, &process->notes, const char *)
        if (strcmp(*note, HEURT_NOTE_LEAVES) == 0)
            return true;
    return false;
}

const struct trace_process *trace__process_of(const struct trace *trace, uint32_t serial)
{
    return serial == HEURT_NO_SERIAL ? NULL : trace__process(trace, serial);
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void find_bounds(struct trace *trace)
{
    VEC_EACH (thread, &trace->threads, struct trace_thread)
        trace_thread__find_bounds(trace, thread);
    trace__join_lives(trace);
    trace->first_tick = trace->threads.count ? UINT64_MAX : trace->session.start.tick;
    VEC_EACH (thread, &trace->threads, struct trace_thread) {
        if (thread->end_tick > trace->last_tick)
            trace->last_tick = thread->end_tick;
        if (thread->start_tick < trace->first_tick)
            trace->first_tick = thread->start_tick;
    }
    trace->zero_tick = trace->first_tick;
}

static void make_tables(struct trace *trace, bool chunks_only)
{
    struct chunks chunks = {VEC_OF(const struct heurt_chunk *), VEC_OF(struct found_chunk),
                            VEC_OF(const struct heurt_chunk *)};
    trace->damage = memory__zeroed(1, sizeof *trace->damage);
    trace->damage->chunks = memory__zeroed(trace->size / trace__unit_bytes(trace) / 64 + 1, 8);
    trace->unpackers = memory__zeroed(UNPACKERS, sizeof *trace->unpackers);
    trace->walked = memory__zeroed(1, sizeof *trace->walked);
    find_chunks(trace, &chunks);
    vec__sort(&chunks.definitions, by_process);
    vec__sort(&chunks.events, by_thread);
    make_processes(trace, &chunks);
    make_threads(trace, &chunks.events);
    trace__read_definitions(trace, &chunks.definitions);
    measure_clock(trace, &chunks);
    if (!chunks_only) {
        trace__read_lives(trace, &chunks.kernel);
        find_bounds(trace);
    }
    vec__free(&chunks.definitions);
    vec__free(&chunks.events);
    vec__free(&chunks.kernel);
}

static struct trace *new_trace(const void *bytes, size_t size)
{
    struct trace *trace = memory__zeroed(1, sizeof *trace);
    trace->bytes = bytes;
    trace->size = size;
    trace->behind_tick = UINT64_MAX;
    trace->processes = VEC_OF(struct trace_process);
    trace->threads = VEC_OF(struct trace_thread);
    trace->lives = VEC_OF(struct trace_life);
    trace->metas = VEC_OF(struct trace_meta);
    trace->samples = VEC_OF(struct heurt_sample);
    trace->counted = VEC_OF(const struct heurt_chunk *);
    trace->placed = VEC_OF(struct heurt_placed);
    trace->answers = VEC_OF(struct heurt_answer);
    trace->shared = VEC_OF(struct heurt_shared_range);
    trace->pages = VEC_OF(struct heurt_page);
    trace->marks = VEC_OF(struct trace_mark);
    trace->owned = VEC_OF(void *);
    return trace;
}

/* Takes over trace: gives it to result, or closes it. */
static int read_all(struct trace *trace, const char *name, bool chunks_only, struct trace **result,
                    struct error *error)
{
    int code = check_session(trace, name, error);
    if (code < 0) {
        trace__close(trace);
        return code;
    }
    cut_to_claimed(trace);
    make_tables(trace, chunks_only);
    *result = trace;
    return 0;
}

int trace__open_memory(const void *bytes, size_t size, struct trace **result, struct error *error)
{
    struct trace *trace = new_trace(bytes, size);
    *result = NULL;
    if ((uintptr_t)bytes % sizeof(uint64_t)) {
        trace->copy = memory__zeroed(size + 1, 1);
        trace->bytes = memcpy(trace->copy, bytes, size);
    }
    return read_all(trace, "this", false, result, error);
}

static int no_trace(const char *directory, int code, struct error *error)
{
    struct stat status;
    bool exists = stat(directory, &status) == 0;
    if (code == ENOENT && !exists)
        return error__set(error, -code,
                          "there is no trace %s; make one with heurt record, or name another with "
                          "-i",
                          directory);
    if (code == ENOENT || (code == ENOTDIR && exists))
        return error__set(error, -code,
                          "%s is not a trace of heurt (a directory with a file %s); give the "
                          "directory that heurt record wrote",
                          directory, HEURT_EVENTS_FILE);
    return error__set(error, -code, "the trace %s cannot be read: %s", directory,
                      strerrordesc_np(code));
}

/* Lays zeroes over the holes of a sparse file: tmpfs would give a hole a page when it is read, and
 * a SIGBUS when it is full. */
static void cover_holes(struct trace *trace, int fd)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (off_t at = 0, data; (size_t)at < trace->mapped_bytes; at = data) {
        off_t hole = lseek(fd, at, SEEK_HOLE);
        if (hole < 0 || (size_t)hole >= trace->mapped_bytes)
            return;
        data = lseek(fd, hole, SEEK_DATA);
        if (data < 0 || (size_t)data > trace->mapped_bytes)
            data = (off_t)trace->mapped_bytes;
        size_t start = ((size_t)hole + page - 1) / page * page, end = (size_t)data / page * page;
        if (start < end)
            mmap((void *)((uintptr_t)trace->bytes + start), end - start, PROT_READ,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    }
}

/* Only what is claimed is mapped: the file of a recorder that was killed has its full bound. */
static int map_claimed(struct trace *trace, int fd, uint64_t file_bytes)
{
    struct heurt_session session = {0};
    size_t size = file_bytes < SIZE_MAX ? (size_t)file_bytes : SIZE_MAX;
    ssize_t got = pread(fd, &session, sizeof session, 0);
    if (got < 0)
        return -errno;
    if (!session.packed_bytes && session.next_unit < size / HEURT_UNIT_BYTES)
        size = session.next_unit ? (size_t)session.next_unit * HEURT_UNIT_BYTES : sizeof session;
    trace->size = size;
    if (!size)
        return 0;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return -errno;
    trace->bytes = bytes;
    trace->mapped_bytes = size;
    cover_holes(trace, fd);
    return 0;
}

static int open_file(int fd, const char *name, bool chunks_only, struct trace **result,
                     struct error *error)
{
    struct stat status;
    *result = NULL;
    int code = fstat(fd, &status) < 0 ? -errno : S_ISREG(status.st_mode) ? 0 : -ENOENT;
    if (code < 0)
        return no_trace(name, -code, error);
    struct trace *trace = new_trace(NULL, 0);
    trace->file_device = status.st_dev;
    trace->file_inode = status.st_ino;
    code = map_claimed(trace, fd, (uint64_t)status.st_size);
    if (code < 0) {
        trace__close(trace);
        return no_trace(name, -code, error);
    }
    return read_all(trace, name, chunks_only, result, error);
}

int trace__open_file(int fd, const char *name, struct trace **result, struct error *error)
{
    return open_file(fd, name, false, result, error);
}

int trace__open_chunks(int fd, const char *name, struct trace **result, struct error *error)
{
    return open_file(fd, name, true, result, error);
}

#define DROPPED_BYTES ((size_t)1 << 20)

void trace__drop_pages(const struct trace *trace, const struct heurt_chunk *chunk)
{
    if (trace->mapped_bytes)
        drop_blocks(trace, (size_t)((const char *)chunk - trace->bytes),
                    (size_t)(trace__chunk_end(trace, chunk) - trace->bytes), DROPPED_BYTES);
}

int trace__open(const char *directory, struct trace **result, struct error *error)
{
    *result = NULL;
    char *path = memory__format("%s/" HEURT_EVENTS_FILE, directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int code = fd < 0 ? no_trace(directory, errno, error) : 0;
    free(path);
    if (code == 0) {
        code = trace__open_file(fd, directory, result, error);
        close(fd);
    }
    return code;
}

void trace__close(struct trace *trace)
{
    if (!trace)
        return;
    VEC_EACH (process, &trace->processes, struct trace_process) {
        vec__free(&process->modules);
        vec__free(&process->functions);
        vec__free(&process->refusals);
        vec__free(&process->notes);
        vec__free(&process->lives);
        vec__free(&process->objects);
        vec__free(&process->clocks);
    }
    VEC_EACH (thread, &trace->threads, struct trace_thread) {
        vec__free(&thread->chunks);
        trace_thread__free_aggregate(thread);
    }
    VEC_EACH (life, &trace->lives, struct trace_life)
        vec__free(&life->parts);
    VEC_EACH (owned, &trace->owned, void *)
        free(*owned);
    vec__free(&trace->processes);
    vec__free(&trace->threads);
    vec__free(&trace->lives);
    vec__free(&trace->metas);
    vec__free(&trace->samples);
    vec__free(&trace->counted);
    vec__free(&trace->placed);
    vec__free(&trace->answers);
    vec__free(&trace->shared);
    vec__free(&trace->pages);
    vec__free(&trace->marks);
    vec__free(&trace->owned);
    if (trace->damage)
        free(trace->damage->chunks);
    free(trace->damage);
    for (unsigned i = 0; trace->unpackers && i < UNPACKERS; i++)
        block_unpacker__free(trace->unpackers[i]);
    free(trace->unpackers);
    free(trace->walked);
    free(trace->copy);
    if (trace->mapped_bytes)
        munmap((void *)(uintptr_t)trace->bytes, trace->mapped_bytes);
    free(trace);
}

/* ---- what readers ask ------------------------------------------------------------------------ */

const struct heurt_session *trace__session(const struct trace *trace)
{
    return &trace->session;
}

const struct vec *trace__processes(const struct trace *trace)
{
    return &trace->processes;
}

const struct vec *trace__threads(const struct trace *trace)
{
    return &trace->threads;
}

bool trace__is_as_recorded(const struct trace *trace)
{
    return trace->session.file_inode && trace->session.file_inode == trace->file_inode &&
           trace->session.file_device == trace->file_device;
}

const struct trace *trace__whole(const struct trace *trace)
{
    return trace->whole;
}

void trace__put_aside(struct trace *trace, const bool *aside)
{
    for (size_t i = 0; i < trace->threads.count; i++) {
        trace__thread_at(trace, i)->is_aside = aside[i];
        trace->has_asides |= aside[i];
    }
}

bool trace__has_asides(const struct trace *trace)
{
    return trace->has_asides;
}

bool trace__is_aggregated(const struct trace *trace)
{
    return trace->session.flags & HEURT_SESSION_AGGREGATE;
}

const struct vec *trace__samples(const struct trace *trace)
{
    return &trace->samples;
}

const struct vec *trace__marks(const struct trace *trace)
{
    return &trace->marks;
}

const struct vec *trace__pages(const struct trace *trace)
{
    return &trace->pages;
}

const struct vec *trace__shared_ranges(const struct trace *trace)
{
    return &trace->shared;
}

const struct heurt_placed *trace__placed(const struct trace *trace,
                                         const struct heurt_sample *sample)
{
    uint64_t ns = sample->monotonic_ns;
    size_t first = VEC_FIRST(placed, &trace->placed, struct heurt_placed,
                             placed->monotonic_ns > ns ||
                                 (placed->monotonic_ns == ns && placed->tid >= sample->tid));
    const struct heurt_placed *found = VEC_AT(&trace->placed, struct heurt_placed, first);
    return first < trace->placed.count && found->monotonic_ns == ns && found->tid == sample->tid
               ? found
               : NULL;
}

const struct heurt_answer *trace__answer(const struct trace *trace,
                                         const struct heurt_sample *sample)
{
    uint64_t ns = sample->monotonic_ns;
    size_t first = VEC_FIRST(answer, &trace->answers, struct heurt_answer,
                             answer->monotonic_ns > ns ||
                                 (answer->monotonic_ns == ns && answer->tid >= sample->tid));
    const struct heurt_answer *found = VEC_AT(&trace->answers, struct heurt_answer, first);
    return first < trace->answers.count && found->monotonic_ns == ns && found->tid == sample->tid
               ? found
               : NULL;
}

bool trace__tells_answers(const struct trace *trace)
{
    return trace->answers.count > 0;
}

const char *trace__meta(const struct trace *trace, const char *key)
{
    const char *value = NULL;
    VEC_EACH (meta, &trace->metas, struct trace_meta)
        if (strcmp(meta->key, key) == 0)
            value = meta->value;
    return value;
}

uint64_t trace__events_lost(const struct trace *trace)
{
    uint64_t lost = trace->session.events_lost;
    if (trace->whole && trace->session.full_tick)
        return 0;
    VEC_EACH (thread, &trace->threads, struct trace_thread)
        lost += thread->events_lost;
    return lost;
}

uint64_t trace__full_ns(const struct trace *trace)
{
    uint64_t tick = trace->session.full_tick;
    return tick ? trace__since_start_ns(trace, tick) : 0;
}

uint64_t trace__damaged_chunks(const struct trace *trace)
{
    return __atomic_load_n(&trace->damage->places, __ATOMIC_RELAXED);
}

const struct trace_function *trace_process__function(const struct trace_process *process,
                                                     uint32_t id)
{
    return VEC_FIND(&process->functions, const struct trace_function, id, id);
}

const struct trace_module *trace_process__module(const struct trace_process *process,
                                                 uint64_t address, uint64_t tick)
{
    const struct trace_module *later = NULL;
    for (size_t i = process->modules.count; i-- > 0;) {
        const struct trace_module *module = VEC_AT(&process->modules, struct trace_module, i);
        if (address < module->start || address >= module->end)
            continue;
        if (module->tick <= tick && tick < module->gone_tick)
            return module;
        if (module->tick > tick) /* its constructors run before it is seen */
            later = module;
    }
    return later;
}

int trace_process__payload_words(const struct trace_process *process, uint32_t id)
{
    if (id >= process->payload_ids || !process->payload_words[id])
        return -1;
    return process->payload_words[id] == PAYLOAD_VARIABLE ? HEURT_WORDS_VARIABLE
                                                          : process->payload_words[id] - 1;
}
