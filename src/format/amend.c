#include "format/amend.h"

#include "base/memory.h"
#include "format/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map_events(const char *directory, size_t size, uint64_t **words)
{
    char *path = memory__format("%s/" HEURT_EVENTS_FILE, directory);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    int code = fd < 0 ? -errno : 0;
    free(path);
    if (code < 0)
        return code;
    struct stat status;
    if (fstat(fd, &status) < 0)
        code = -errno;
    else if ((uint64_t)status.st_size < size) /* somebody has cut it since it was opened */
        code = -ESTALE;
    void *bytes = code < 0 ? MAP_FAILED : mmap(NULL, size, PROT_WRITE, MAP_SHARED, fd, 0);
    if (code == 0 && bytes == MAP_FAILED)
        code = -errno;
    close(fd);
    *words = bytes;
    return code;
}

struct amending {
    const struct trace *trace;
    uint64_t *words; /* of the file, to be written */
    off_cpu_amend *amend;
    void *context;
};

static void amend_event(const struct amending *amending, uint32_t tid, const struct event *event)
{
    uint64_t payload[3];
    if (event->id != HEURT_EVENT_OFF_CPU || event->words != 3)
        return;
    memcpy(payload, event->payload, sizeof payload);
    amending->amend(amending->context, tid, event->tick, payload);
    if (memcmp(payload, event->payload, sizeof payload) == 0)
        return;
    uint64_t *stored =
        amending->words + (event->payload - (const uint64_t *)amending->trace->bytes);
    for (size_t i = 0; i < 3; i++)
        __atomic_store_n(&stored[i], payload[i], __ATOMIC_RELAXED);
}

static void amend_thread(const struct amending *amending, const struct trace_thread *thread)
{
    struct trace_cursor cursor;
    struct event event;
    trace_cursor__start(&cursor, amending->trace, thread);
    while (trace_cursor__next_recorded(&cursor, &event))
        amend_event(amending, thread->tid, &event);
    trace_cursor__stop(&cursor);
}

static void amend_life(const struct amending *amending, const struct trace_life *life)
{
    struct life_cursor cursor;
    struct event event;
    life_cursor__start(&cursor, amending->trace, life);
    while (life_cursor__next(&cursor, &event))
        amend_event(amending, life->tid, &event);
}

int trace__amend_off_cpu(const struct trace *trace, const char *directory, off_cpu_amend *amend,
                         void *context, struct error *error)
{
    uint64_t *words;
    if (trace->session.packed_bytes || !trace->mapped_bytes || trace->size == 0)
        return error__set(error, -EINVAL, "the events of %s cannot be changed in place", directory);
    int code = map_events(directory, trace->size, &words);
    if (code < 0)
        return error__set(error, code, "the events of %s cannot be completed: %s", directory,
                          strerror(-code));
    const struct amending amending = {trace, words, amend, context};
    if (!(trace->session.flags & HEURT_SESSION_KERNEL_LOG)) /* else no thread has any */
        VEC_EACH (thread, &trace->threads, struct trace_thread)
            amend_thread(&amending, thread);
    VEC_EACH (life, &trace->lives, struct trace_life)
        amend_life(&amending, life);
    munmap(words, trace->size);
    return 0;
}
