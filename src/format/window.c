#include "format/window.h"

#include "base/descriptor.h"
#include "base/memory.h"
#include "base/vec.h"
#include "format/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A chunk that may be in it. */
struct window_chunk {
    uint64_t unit, units;
    uint32_t process, thread; /* of events */
    uint64_t sequence, tick;
    bool is_behind_pause;
};

static void find_chunk(const struct heurt_chunk *chunk, uint64_t unit, uint64_t units,
                       struct vec *events, struct vec *others)
{
    struct window_chunk found = {unit,
                                 units,
                                 chunk->process,
                                 chunk->thread,
                                 chunk->sequence,
                                 chunk->start.tick,
                                 chunk->reserved[0] == HEURT_CHUNK_BEHIND_PAUSE};
    if (chunk->kind == HEURT_CHUNK_EVENTS)
        vec__push(events, &found);
    else if (chunk->kind == HEURT_CHUNK_DEFINITIONS || chunk->kind == HEURT_CHUNK_KERNEL ||
             chunk->kind == HEURT_CHUNK_COUNTS)
        vec__push(others, &found);
}

static void find_chunks(const char *bytes, uint64_t end_unit, struct vec *events,
                        struct vec *others)
{
    for (uint64_t unit = 1; unit < end_unit;) {
        const struct heurt_chunk *chunk = (const void *)(bytes + unit * HEURT_UNIT_BYTES);
        uint64_t units = 1;
        if (__atomic_load_n(&chunk->magic, __ATOMIC_ACQUIRE) == HEURT_CHUNK_MAGIC) {
            uint64_t told = __atomic_load_n(&chunk->units, __ATOMIC_RELAXED);
            units = told && told <= end_unit - unit ? told : 1;
            find_chunk(chunk, unit, units, events, others);
        }
        unit += units;
    }
}

static int by_thread(const void *a, const void *b)
{
    const struct window_chunk *x = a, *y = b;
    return ORDER(x->thread, y->thread) ?: ORDER(x->process, y->process)
                                      ?: ORDER(x->sequence, y->sequence) ?: ORDER(x->unit, y->unit);
}

/* Whether anything of a thread's chunk lies in the window, told the one behind it, or NULL. */
static bool is_inside(const struct window_chunk *chunk, const struct window_chunk *next,
                      const struct trace_window *window)
{
    bool is_over = next && (next->tick < window->from_tick ||
                            (next->is_behind_pause && chunk->tick < window->from_tick));
    return chunk->tick < window->behind_tick && !is_over;
}

/* Those of events that are in the window, to others. */
static void choose(struct vec *events, const struct trace_window *window, struct vec *others)
{
    const struct window_chunk *chunks = events->items;
    vec__sort(events, by_thread);
    chunks = events->items;
    for (size_t i = 0; i < events->count; i++) {
        const struct window_chunk *next = i + 1 < events->count ? &chunks[i + 1] : NULL;
        bool is_last =
            !next || next->thread != chunks[i].thread || next->process != chunks[i].process;
        if (is_inside(&chunks[i], is_last ? NULL : next, window))
            vec__push(others, &chunks[i]);
    }
}

static int by_place(const void *a, const void *b)
{
    const struct window_chunk *x = a, *y = b;
    return ORDER(x->unit, y->unit);
}

static uint64_t sum_units(const struct vec *chunks)
{
    uint64_t sum = 0;
    VEC_EACH (chunk, chunks, const struct window_chunk)
        sum += chunk->units;
    return sum;
}

static int write_start(int fd, const struct heurt_session *header,
                       const struct trace_window *window, uint64_t units)
{
    static const char zeroes[HEURT_UNIT_BYTES];
    struct heurt_session session = *header;
    struct stat status;
    if (fstat(fd, &status) < 0)
        return -errno;
    session.flags = (session.flags | HEURT_SESSION_CLOSED) &
                    ~(uint32_t)(HEURT_SESSION_PAUSED | HEURT_SESSION_RING);
    session.limit_units = session.next_unit = 1 + units;
    session.cells_unit = 0;
    session.from_tick = window->from_tick;
    session.behind_tick = window->behind_tick;
    session.file_device = status.st_dev;
    session.file_inode = status.st_ino;
    if (window->end.tick) {
        session.end = window->end;
        session.finished = 1;
    }
    return descriptor__write_all(fd, &session, sizeof session) &&
                   descriptor__write_all(fd, zeroes, HEURT_UNIT_BYTES - sizeof session)
               ? 0
               : -errno;
}

static int write_all(int fd, const char *bytes, const struct heurt_session *header,
                     const struct trace_window *window, const struct vec *chunks)
{
    int code = write_start(fd, header, window, sum_units(chunks));
    VEC_EACH (chunk, chunks, const struct window_chunk)
        if (code == 0 && !descriptor__write_all(fd, bytes + chunk->unit * HEURT_UNIT_BYTES,
                                                chunk->units * HEURT_UNIT_BYTES))
            code = -errno;
    return code;
}

int trace_window__write_file(const char *bytes, size_t size, const struct heurt_session *header,
                             const struct trace_window *window, int fd)
{
    uint64_t units = size / HEURT_UNIT_BYTES;
    struct vec events = VEC_OF(struct window_chunk), chunks = VEC_OF(struct window_chunk);
    find_chunks(bytes, header->next_unit < units ? header->next_unit : units, &events, &chunks);
    choose(&events, window, &chunks);
    vec__sort(&chunks, by_place);
    int code = write_all(fd, bytes, header, window, &chunks);
    vec__free(&events);
    vec__free(&chunks);
    return code;
}

int trace_window__write(const char *bytes, size_t size, const struct heurt_session *header,
                        const struct trace_window *window, const char *directory,
                        struct error *error)
{
    bool moved;
    int code = trace_directory__make(directory, &moved, error);
    if (code < 0)
        return code;
    char *path = memory__format("%s/" HEURT_EVENTS_FILE, directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    code = fd < 0 ? -errno : trace_window__write_file(bytes, size, header, window, fd);
    if (fd >= 0 && close(fd) < 0 && code == 0)
        code = -errno;
    free(path);
    if (code < 0) {
        trace_directory__unmake(directory, moved);
        return trace_directory__failed(error, -code, directory);
    }
    return 0;
}
