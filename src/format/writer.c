#include "format/writer.h"

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"
#include "format/directory.h"
#include "format/recycling.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* The chunk that a thread, or the definitions about a process, are being written to. */
struct open_chunk {
    struct heurt_chunk *chunk; /* NULL: none yet */
    char *at, *end;
    uint64_t next_sequence;
};

/* Not to be used by two threads at once. */
struct trace_writer {
    char *directory; /* without a slash at its end */
    bool moved;      /* an older trace that stood there */
    int fd;
    char *bytes; /* the whole file at its full bound */
    size_t size;
    struct heurt_session *session; /* == bytes; processes write it, too */
    struct heurt_session settings; /* as it was at first */
    struct map definition_chunks;  /* serial of the process image → index into open_chunks */
    struct map passing_chunks;     /* likewise, of a ring: those that are used again */
    struct map event_chunks;       /* serial of the thread → likewise */
    struct map thread_ids;         /* serial of the thread → pid << 32 | tid */
    struct vec open_chunks;        /* struct open_chunk */
    struct open_chunk kernel;      /* what trace_writer__run writes to, and nobody else */
    struct recycling *recycling;   /* of a ring's cells; NULL: it is none */
    uint64_t claimed_units;        /* next_unit when trace_writer__prepare was last called */
    uint64_t prepared_units;       /* units below it need no more preparing */
};

/* ---- the file -------------------------------------------------------------------------------- */

static uint64_t limit_of(int resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur
                                                                               : INT64_MAX;
}

/* The file's bound: what was asked for, within the limit on file sizes (ulimit -f), which would
 * otherwise end the process by a signal, and within a part of the limit on address space
 * (ulimit -v), the rest of which is the program's. */
static uint64_t bound_units(uint64_t asked)
{
    uint64_t size = limit_of(RLIMIT_FSIZE), space = limit_of(RLIMIT_AS) / HEURT_SPACE_PART;
    uint64_t most = (size < space ? size : space) / HEURT_UNIT_BYTES;
    return asked < most ? asked : most;
}

/* Makes the range of the file real, so that a full disk is an error here and not a SIGBUS at the
 * first store. Negative errno. */
static int populate(struct trace_writer *writer, uint64_t offset, uint64_t bytes)
{
    if (madvise(writer->bytes + offset, bytes, MADV_POPULATE_WRITE) == 0)
        return 0;
    if (errno != EINVAL)
        return errno == EFAULT ? -ENOSPC : -errno; /* EFAULT: the store would have been a SIGBUS */
    return -posix_fallocate(writer->fd, (off_t)offset, (off_t)bytes);
}

/* A file system may have a bound of its own (EFBIG): halve until it fits. */
static int stretch(struct trace_writer *writer, uint64_t units)
{
    for (; units >= 2; units /= 2) {
        writer->size = units * HEURT_UNIT_BYTES;
        if (ftruncate(writer->fd, (off_t)writer->size) == 0)
            return 0;
        if (errno != EFBIG)
            return -errno;
    }
    return -EFBIG;
}

static int map_file(struct trace_writer *writer, uint64_t limit_units, struct error *error)
{
    uint64_t units = bound_units(limit_units);
    if (units < 2)
        return error__set(error, -EFBIG,
                          "the trace %s would have to be smaller than %u bytes, which is too "
                          "little; raise --max-size or the limit on file sizes (ulimit -f)",
                          writer->directory, 2 * HEURT_UNIT_BYTES);
    int code = stretch(writer, units);
    if (code < 0)
        return trace_directory__failed(error, -code, writer->directory);
    void *bytes = mmap(NULL, writer->size, PROT_READ | PROT_WRITE, MAP_SHARED, writer->fd, 0);
    if (bytes == MAP_FAILED)
        return trace_directory__failed(error, errno, writer->directory);
    writer->bytes = bytes;
    code = populate(writer, 0, HEURT_UNIT_BYTES);
    if (code < 0)
        return trace_directory__failed(error, -code, writer->directory);
    return 0;
}

static int open_file(struct trace_writer *writer, uint64_t limit_units, struct error *error)
{
    char *path = memory__format("%s/" HEURT_EVENTS_FILE, writer->directory);
    writer->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int code = writer->fd < 0 ? -errno : 0;
    free(path);
    if (code == 0 && !descriptor__is_own(writer->fd))
        return error__set(error, -EPERM,
                          "the file system of %s gives its files to another user, so nothing can "
                          "be kept private there; give another place with -o",
                          writer->directory);
    if (code < 0)
        return trace_directory__failed(error, -code, writer->directory);
    /* Tells another recorder that this trace is not to be moved; the lock ends with us. Some file
     * systems know no locks, which is no reason not to record. */
    (void)!flock(writer->fd, LOCK_EX | LOCK_NB);
    return map_file(writer, limit_units, error);
}

static void fill_session(struct trace_writer *writer, const struct heurt_session *settings)
{
    struct stat status = {0};
    (void)!fstat(writer->fd, &status);
    struct heurt_session *session = (struct heurt_session *)writer->bytes;
    *session = (struct heurt_session){
        .version = HEURT_VERSION,
        .unit_bytes = HEURT_UNIT_BYTES,
        .clock = settings->clock,
        .flags = settings->flags,
        .limit_units = writer->size / HEURT_UNIT_BYTES,
        .next_unit = 1,
        .next_process = settings->next_process,
        .next_thread = settings->next_thread,
        .stack_every = settings->stack_every,
        .stack_bytes = settings->stack_bytes,
        .overhead_permille = settings->overhead_permille,
        .later_ns = settings->later_ns,
        .recorder_pid = (uint32_t)getpid(),
        .patience_ms = settings->patience_ms,
        .host = settings->host,
        .hold_permille = settings->hold_permille,
        .start = settings->start,
        .start_realtime_ns = clock__ns(CLOCK_REALTIME),
        .file_device = status.st_dev,
        .file_inode = status.st_ino,
    };
    memcpy(session->hold_sites, settings->hold_sites, sizeof session->hold_sites);
    memcpy(session->magic, HEURT_MAGIC, sizeof session->magic);
    writer->session = session;
}

/* The first cells are there before the program is. */
static int make_cells(struct trace_writer *writer, const struct heurt_session *settings,
                      struct error *error)
{
    if (!(settings->flags & HEURT_SESSION_RING))
        return 0;
    writer->recycling = recycling__new(writer->bytes, settings->cells_unit);
    if (writer->session->next_unit > writer->session->limit_units)
        return error__set(error, -EFBIG,
                          "the trace %s has no room for that ring; give a smaller --ring, or raise "
                          "--max-size or the limit on file sizes (ulimit -f)",
                          writer->directory);
    int code =
        populate(writer, HEURT_UNIT_BYTES, (writer->session->next_unit - 1) * HEURT_UNIT_BYTES);
    if (code < 0)
        return trace_directory__failed(error, -code, writer->directory);
    recycling__look(writer->recycling);
    return 0;
}

/* Flags that the recorder sets while the program runs. */
#define LATER_FLAGS                                                                              \
    (HEURT_SESSION_PLANS | HEURT_SESSION_LIVE | HEURT_SESSION_KERNEL_LOG | HEURT_SESSION_CALLS | \
     HEURT_SESSION_CLOSED | HEURT_SESSION_TIMERS)
/* And those that are set for a while. */
#define PASSING_FLAGS HEURT_SESSION_PAUSED

/* Of the header, processes have a say in counters alone, whatever they wrote elsewhere. */
static struct heurt_session settings_and_counters(const struct trace_writer *writer)
{
    const struct heurt_session *session = writer->session;
    struct heurt_session own = writer->settings;
    own.flags = (own.flags & ~PASSING_FLAGS) | (session->flags & LATER_FLAGS);
    own.next_unit = session->next_unit;
    own.next_process = session->next_process;
    own.next_thread = session->next_thread;
    own.events_lost = session->events_lost;
    own.full_tick = session->full_tick;
    own.kernel_lost = session->kernel_lost;
    own.sample_ns = session->sample_ns;
    own.cpu_ns = session->cpu_ns;
    own.system_ns = session->system_ns;
    own.faults = session->faults;
    own.others_ns = session->others_ns;
    return own;
}

/* What processes of the session need to know and shall believe is told in a file that none of them
 * has open to write. */
static int write_settings(const struct trace_writer *writer, const uint64_t argument_key[2],
                          struct error *error)
{
    struct heurt_session told = *writer->session;
    memcpy(told.argument_key, argument_key, sizeof told.argument_key);
    char *path = memory__format("%s/" HEURT_SESSION_FILE, writer->directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400);
    int code = fd < 0 ? -errno : 0;
    if (code == 0 && !descriptor__write_all(fd, &told, sizeof told))
        code = -errno;
    if (fd >= 0)
        close(fd);
    free(path);
    return code < 0 ? trace_directory__failed(error, -code, writer->directory) : 0;
}

static void remove_settings(const struct trace_writer *writer)
{
    char *path = memory__format("%s/" HEURT_SESSION_FILE, writer->directory);
    unlink(path);
    free(path);
}

static void free_writer(struct trace_writer *writer)
{
    if (writer->bytes)
        munmap(writer->bytes, writer->size);
    if (writer->fd >= 0)
        close(writer->fd);
    recycling__free(writer->recycling);
    map__free(&writer->definition_chunks);
    map__free(&writer->passing_chunks);
    map__free(&writer->event_chunks);
    map__free(&writer->thread_ids);
    vec__free(&writer->open_chunks);
    free(writer->directory);
    free(writer);
}

int trace_writer__create(const char *directory, const struct heurt_session *settings,
                         struct trace_writer **result, struct error *error)
{
    struct trace_writer *writer = memory__zeroed(1, sizeof *writer);
    writer->fd = -1;
    writer->open_chunks = VEC_OF(struct open_chunk);
    writer->directory = memory__text(directory);
    for (size_t n = strlen(directory); n > 1 && writer->directory[n - 1] == '/';)
        writer->directory[--n] = 0;
    *result = NULL;
    int code = trace_directory__make(writer->directory, &writer->moved, error);
    if (code < 0)
        goto failed;
    code = open_file(writer, settings->limit_units, error);
    if (code == 0) {
        fill_session(writer, settings);
        code = make_cells(writer, settings, error);
    }
    if (code == 0) {
        writer->settings = *writer->session;
        code = write_settings(writer, settings->argument_key, error);
    }
    if (code < 0) {
        trace_directory__unmake(writer->directory, writer->moved);
        goto failed;
    }
    *result = writer;
    return 0;
failed:
    free_writer(writer);
    return code;
}

struct heurt_session *trace_writer__session(struct trace_writer *writer)
{
    return writer->session;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static int claim(struct trace_writer *writer, uint32_t units, struct heurt_chunk **chunk)
{
    uint64_t first = __atomic_fetch_add(&writer->session->next_unit, units, __ATOMIC_SEQ_CST);
    uint64_t limit = writer->size / HEURT_UNIT_BYTES; /* limit_units, but nobody else writes it */
    if (first > limit || units > limit - first)
        return -ENOSPC;
    int code = populate(writer, first * HEURT_UNIT_BYTES, (uint64_t)units * HEURT_UNIT_BYTES);
    if (code < 0)
        return code;
    *chunk = (struct heurt_chunk *)(writer->bytes + first * HEURT_UNIT_BYTES);
    return 0;
}

static int claim_cell(struct trace_writer *writer, struct heurt_chunk **chunk)
{
    uint64_t unit = recycling__take(writer->recycling);
    *chunk = (struct heurt_chunk *)(writer->bytes + unit * HEURT_UNIT_BYTES);
    return unit ? 0 : -ENOSPC;
}

/* Gives open a new chunk with that header (magic and sequence are filled in). is_passing: in a
 * ring, where it has room in a cell, it is one that is used again. */
static int start_chunk(struct trace_writer *writer, struct open_chunk *open,
                       struct heurt_chunk header, bool is_passing)
{
    struct heurt_chunk *chunk;
    bool in_cell = is_passing && writer->recycling && header.units <= HEURT_CELL_UNITS;
    header.units = in_cell ? HEURT_CELL_UNITS : header.units;
    int code = in_cell ? claim_cell(writer, &chunk) : claim(writer, header.units, &chunk);
    if (code < 0)
        return code;
    header.magic = 0;
    header.sequence = open->next_sequence++;
    *chunk = header;
    __atomic_store_n(&chunk->magic, HEURT_CHUNK_MAGIC, __ATOMIC_RELEASE);
    open->chunk = chunk;
    open->at = (char *)(chunk + 1);
    open->end = (char *)chunk + (size_t)header.units * HEURT_UNIT_BYTES;
    return 0;
}

/* Not from its header, which a disk that fails, or the program, may have made 0 since. */
static uint32_t units_of(const struct open_chunk *open)
{
    return (uint32_t)((size_t)(open->end - (char *)open->chunk) / HEURT_UNIT_BYTES);
}

static struct open_chunk *open_chunk_of(struct trace_writer *writer, struct map *map,
                                        uint32_t serial)
{
    uint64_t index = map__get(map, &serial, sizeof serial);
    if (index != MAP_ABSENT)
        return VEC_AT(&writer->open_chunks, struct open_chunk, index);
    map__put(map, &serial, sizeof serial, writer->open_chunks.count);
    return vec__push(&writer->open_chunks, NULL);
}

/* ---- definitions ----------------------------------------------------------------------------- */

static struct heurt_clock_pair now_on_both_clocks(const struct heurt_session *session)
{
    if (session->clock != HEURT_CLOCK_MONOTONIC)
        return session->start;
    uint64_t ns = clock__ns(CLOCK_MONOTONIC);
    return (struct heurt_clock_pair){ns, ns};
}

/* What tells of an instant, and of nothing that comes later. */
static bool is_passing(enum heurt_definition_type type)
{
    return type == HEURT_DEFINITION_SAMPLES || type == HEURT_DEFINITION_PLACED ||
           type == HEURT_DEFINITION_PAGES || type == HEURT_DEFINITION_ANSWERS;
}

static int room_for_definition(struct trace_writer *writer, struct open_chunk *open,
                               uint32_t process, uint64_t bytes, bool passes)
{
    if (open->chunk && (uint64_t)(open->end - open->at) >= bytes)
        return 0;
    uint64_t whole = sizeof(struct heurt_chunk) + bytes;
    struct heurt_chunk header = {
        .kind = HEURT_CHUNK_DEFINITIONS,
        .units = (uint32_t)((whole + HEURT_UNIT_BYTES - 1) / HEURT_UNIT_BYTES),
        .process = process,
        .thread = HEURT_NO_SERIAL,
        .pid = writer->session->recorder_pid,
        .tid = writer->session->recorder_pid,
        .start = now_on_both_clocks(writer->session),
    };
    return start_chunk(writer, open, header, passes);
}

int trace_writer__define(struct trace_writer *writer, uint32_t process,
                         enum heurt_definition_type type, const void *body, size_t body_bytes)
{
    if (body_bytes > UINT32_MAX / 2)
        return -EMSGSIZE;
    uint32_t bytes = (uint32_t)(sizeof(struct heurt_definition) + body_bytes + 7) & ~7u;
    bool passes = writer->recycling && is_passing(type);
    struct map *chunks = passes ? &writer->passing_chunks : &writer->definition_chunks;
    struct open_chunk *open = open_chunk_of(writer, chunks, process);
    int code = room_for_definition(writer, open, process, bytes, passes);
    if (code < 0)
        return code;
    struct heurt_definition *definition = (struct heurt_definition *)open->at;
    definition->type = type;
    if (body_bytes)
        memcpy(definition + 1, body, body_bytes);
    __atomic_store_n(&definition->bytes, bytes, __ATOMIC_RELEASE);
    open->at += bytes;
    return 0;
}

/* Defines texts, each with its terminator. */
static int define_texts(struct trace_writer *writer, uint32_t process,
                        enum heurt_definition_type type, const char *const *texts, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(texts[i]) + 1;
    char *body = memory__zeroed(bytes, 1), *at = body;
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, texts[i]) + 1;
    int code = trace_writer__define(writer, process, type, body, bytes);
    free(body);
    return code;
}

int trace_writer__meta(struct trace_writer *writer, const char *key, const char *value)
{
    const char *texts[] = {key, value};
    return define_texts(writer, HEURT_NO_SERIAL, HEURT_DEFINITION_META, texts, 2);
}

int trace_writer__refuse(struct trace_writer *writer, uint32_t process, const char *function,
                         const char *module, const char *reason)
{
    const char *texts[] = {function, module, reason};
    return define_texts(writer, process, HEURT_DEFINITION_REFUSAL, texts, 3);
}

/* ---- what the kernel tells ------------------------------------------------------------------- */

#define KERNEL_UNITS_MAX 64u

static int room_for_run(struct trace_writer *writer, const struct heurt_run *run, uint64_t bytes)
{
    struct open_chunk *open = &writer->kernel;
    if (open->chunk && (uint64_t)(open->end - open->at) >= bytes)
        return 0;
    uint32_t units = open->chunk ? units_of(open) * 2 : 1;
    uint32_t most = writer->recycling ? HEURT_CELL_UNITS : KERNEL_UNITS_MAX;
    units = units < most ? units : most;
    while (sizeof(struct heurt_chunk) + bytes > (uint64_t)units * HEURT_UNIT_BYTES)
        units *= 2;
    struct heurt_chunk header = {
        .kind = HEURT_CHUNK_KERNEL,
        .units = units,
        .process = HEURT_NO_SERIAL,
        .thread = HEURT_NO_SERIAL,
        .pid = writer->session->recorder_pid,
        .tid = writer->session->recorder_pid,
        .start = {run->tick, writer->session->clock == HEURT_CLOCK_MONOTONIC ? run->tick : 0},
    };
    return start_chunk(writer, open, header, true);
}

int trace_writer__run(struct trace_writer *writer, const struct heurt_run *run,
                      const uint64_t *words, size_t count)
{
    uint64_t bytes = sizeof *run + count * sizeof *words;
    int code = bytes > UINT32_MAX / 2 ? -EMSGSIZE : room_for_run(writer, run, bytes);
    if (code < 0)
        return code;
    struct heurt_run *place = (struct heurt_run *)writer->kernel.at;
    struct heurt_run header = *run;
    header.bytes = 0;
    *place = header;
    if (count)
        memcpy(place + 1, words, count * sizeof *words);
    __atomic_store_n(&place->bytes, (uint32_t)bytes, __ATOMIC_RELEASE);
    writer->kernel.at += bytes;
    return 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

static int room_for_event(struct trace_writer *writer, struct open_chunk *open, uint32_t process,
                          uint32_t thread, uint64_t tick, size_t words)
{
    uint64_t bytes = (words + 1) * sizeof(uint64_t);
    if (open->chunk && (uint64_t)(open->end - open->at) >= bytes)
        return 0;
    uint32_t units = open->chunk ? units_of(open) * 2 : 1;
    if (units > HEURT_CHUNK_UNITS_MAX)
        units = HEURT_CHUNK_UNITS_MAX;
    while (sizeof(struct heurt_chunk) + bytes > (uint64_t)units * HEURT_UNIT_BYTES)
        units *= 2;
    bool monotonic = writer->session->clock == HEURT_CLOCK_MONOTONIC;
    struct heurt_chunk header = {
        .kind = HEURT_CHUNK_EVENTS,
        .units = units,
        .process = process,
        .thread = thread,
        .pid = 100 + process,
        .tid = 1000 + thread,
        .start = {tick, monotonic ? tick : 0},
    };
    uint64_t ids = map__get(&writer->thread_ids, &thread, sizeof thread);
    if (ids != MAP_ABSENT) {
        header.pid = (uint32_t)(ids >> 32);
        header.tid = (uint32_t)ids;
    }
    return start_chunk(writer, open, header, false);
}

void trace_writer__name_thread(struct trace_writer *writer, uint32_t thread, uint32_t pid,
                               uint32_t tid)
{
    map__put(&writer->thread_ids, &thread, sizeof thread, (uint64_t)pid << 32 | tid);
}

int trace_writer__event(struct trace_writer *writer, uint32_t process, uint32_t thread,
                        uint64_t tick, uint32_t id, const uint64_t *payload, size_t words)
{
    struct open_chunk *open = open_chunk_of(writer, &writer->event_chunks, thread);
    bool wide = id > HEURT_EVENT_LAST + 1;
    int code = room_for_event(writer, open, process, thread, tick, words + wide);
    if (code < 0) {
        if (open->chunk)
            open->chunk->events_lost++;
        else
            __atomic_fetch_add(&writer->session->events_lost, 1, __ATOMIC_RELAXED);
        return code;
    }
    uint64_t *word = (uint64_t *)open->at;
    if (wide)
        word[1] = id & ~1u;
    if (words)
        memcpy(word + 1 + wide, payload, words * sizeof *word);
    id = wide ? HEURT_EVENT_FUNCTION | (id & 1) : id;
    __atomic_store_n(word, tick << HEURT_ID_BITS | id, __ATOMIC_RELEASE);
    open->at += (words + wide + 1) * sizeof *word;
    return 0;
}

/* ---- ahead of the threads -------------------------------------------------------------------- */

#define PREPARED_UNITS_MAX 8192u /* 32 MiB ahead */

bool trace_writer__prepare(struct trace_writer *writer)
{
    uint64_t next = __atomic_load_n(&writer->session->next_unit, __ATOMIC_RELAXED);
    uint64_t claimed = next - writer->claimed_units;
    writer->claimed_units = next;
    if (claimed == 0 || writer->session->flags & HEURT_SESSION_AGGREGATE || writer->recycling)
        return false; /* what an aggregated run or a ring has claimed is filled again and again */
    uint64_t ahead = 2 * claimed < PREPARED_UNITS_MAX ? 2 * claimed : PREPARED_UNITS_MAX;
    uint64_t from = writer->prepared_units > next ? writer->prepared_units : next;
    uint64_t to = next + ahead, limit = writer->size / HEURT_UNIT_BYTES;
    to = to < limit ? to : limit;
    if (from >= to)
        return true;
    uint64_t bytes = (to - from) * HEURT_UNIT_BYTES;
    int code = populate(writer, from * HEURT_UNIT_BYTES, bytes);
    madvise(writer->bytes + from * HEURT_UNIT_BYTES, bytes, MADV_DONTNEED); /* the file has them */
    writer->prepared_units = code == 0 ? to : UINT64_MAX; /* no more room: leave the rest to them */
    return true;
}

bool trace_writer__recycle(struct trace_writer *writer)
{
    return writer->recycling && recycling__look(writer->recycling);
}

/* ---- parts of what is there so far ------------------------------------------------------------
 */

uint64_t trace_writer__whole_tick(const struct trace_writer *writer)
{
    return writer->recycling ? recycling__whole_tick(writer->recycling) : 0;
}

static struct heurt_session header_so_far(const struct trace_writer *writer)
{
    struct heurt_session header = settings_and_counters(writer);
    header.next_unit = __atomic_load_n(&writer->session->next_unit, __ATOMIC_ACQUIRE);
    return header;
}

int trace_writer__window_file(const struct trace_writer *writer, const struct trace_window *window,
                              int fd)
{
    struct heurt_session header = header_so_far(writer);
    return trace_window__write_file(writer->bytes, writer->size, &header, window, fd);
}

int trace_writer__window(const struct trace_writer *writer, const struct trace_window *window,
                         const char *directory, struct error *error)
{
    struct heurt_session header = header_so_far(writer);
    return trace_window__write(writer->bytes, writer->size, &header, window, directory, error);
}

void trace_writer__pause(struct trace_writer *writer, bool is_paused)
{
    if (is_paused)
        __atomic_fetch_or(&writer->session->flags, HEURT_SESSION_PAUSED, __ATOMIC_SEQ_CST);
    else
        __atomic_fetch_and(&writer->session->flags, ~HEURT_SESSION_PAUSED, __ATOMIC_SEQ_CST);
}

int trace_writer__mark(struct trace_writer *writer, uint64_t tick, const char *text)
{
    size_t length = strlen(text) + 1;
    struct heurt_mark mark = {tick};
    char *body = memory__zeroed(sizeof mark + length, 1);
    memcpy(body, &mark, sizeof mark);
    memcpy(body + sizeof mark, text, length);
    int code = trace_writer__define(writer, HEURT_NO_SERIAL, HEURT_DEFINITION_MARK, body,
                                    sizeof mark + length);
    free(body);
    return code;
}

void trace_writer__discard(struct trace_writer *writer)
{
    remove_settings(writer);
    trace_directory__unmake(writer->directory, writer->moved);
    free_writer(writer);
}

/* ---- the end --------------------------------------------------------------------------------- */

int trace_writer__finish(struct trace_writer *writer, int wait_status, struct heurt_clock_pair end,
                         struct error *error)
{
    struct heurt_session *session = writer->session;
    /* First the flag, then next_unit: a process that claims looks at them in the other order, so
     * either its claim is seen here and kept, or it sees the flag and does not touch the file. */
    __atomic_fetch_or(&session->flags, HEURT_SESSION_CLOSED, __ATOMIC_SEQ_CST);
    uint64_t units = __atomic_load_n(&session->next_unit, __ATOMIC_SEQ_CST);
    *session = settings_and_counters(writer);
    session->end = end;
    session->wait_status = wait_status;
    __atomic_store_n(&session->finished, 1, __ATOMIC_RELEASE);
    int code = 0;
    remove_settings(writer);
    if (units < writer->size / HEURT_UNIT_BYTES &&
        ftruncate(writer->fd, (off_t)(units * HEURT_UNIT_BYTES)) < 0)
        code = error__set(error, -errno, "the trace %s could not be cut to its length: %s",
                          writer->directory, strerrordesc_np(errno));
    free_writer(writer);
    return code;
}
