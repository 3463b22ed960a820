/* hook_stdio.c: libc's streams: waiting for the lock of a FILE that several threads use, and
 * reading and writing inside libc, which calls no function that could be hooked for it.
 *
 * Whether the lock is held is looked at before the call, and of a stream that nobody waited for yet
 * it is never taken for a call that need not wait: libc takes it itself as ever. (A lock that is
 * taken between the look and the call makes a futex wait inside of libc.) One that is held is
 * waited for here, inside a span, and held during the call, which then finds it its own; of a
 * stream that somebody has waited for it is taken here in any case, so that who is told as its
 * holder is. A call that is cancelled meanwhile lets go of it. What has happened in a stream's
 * buffer tells whether a call has read or written; the span of that begins with the call.
 *
 * Who has a lock is told of streams that somebody has waited for; calls for single characters that
 * need not wait, nor read or write, never leave an event. The unlocked
 * variants, and streams whose user locks them (__fsetlocking), are left alone. This file may use
 * vector registers: arguments that are floating-point numbers are passed on. */
#include "runtime/channel.h"
#include "runtime/lock_events.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <stdarg.h>
#include <string.h>

/* <libio.h>, which is libc's own; the values and the layout are part of its binary interface. */
#define UNBUFFERED 0x2
#define LINE_BUFFERED 0x200
#define USER_LOCK 0x8000
struct stream_lock {
    int lock, count;
    void *owner;
};

/* What has to be known of a call when it has ended. */
struct use {
    struct thread *thread;
    FILE *stream;
    uint64_t site;
    uint64_t tick; /* 0: it cannot read or write */
    ptrdiff_t pending;
    const char *read_at, *read_end;
    bool is_locked; /* by us */
    bool has_waited;
    bool is_told; /* as acquired */
};

/* ---- the lock -------------------------------------------------------------------------------- */

static size_t place_of(const FILE *stream)
{
    return (uintptr_t)stream * 0x9e3779b97f4a7c15ull >> 58;
}
_Static_assert(SHARED_STREAMS == 1 << (64 - 58), "as many as the hash has values");

/* Whether somebody had to wait for it: from then on it is told who has its lock. */
static inline bool is_shared(const FILE *stream)
{
    return __atomic_load_n(&heurt_state.shared_streams[place_of(stream)], __ATOMIC_RELAXED) ==
           stream;
}

/* Says what file it is when it was not said before. */
static void tell_name(const FILE *stream)
{
    struct state *state = &heurt_state;
    uint64_t key = (uintptr_t)stream ^ (uint64_t)(uint32_t)stream->_fileno << 48;
    uint64_t *place = &state->named_streams[place_of(stream)];
    if (__atomic_exchange_n(place, key, __ATOMIC_RELAXED) == key || stream->_fileno < 0)
        return;
    char path[512];
    if (descriptor__path(stream->_fileno, path, sizeof path))
        define__object(stream, path);
}

static void stream__wait(struct use *use)
{
    uint64_t since = lock__wait_begins(use->thread, use->site, use->stream);
    wait__is_told(use->thread, true);
    REAL(flockfile)(use->stream);
    wait__is_told(use->thread, false);
    lock__wait_ended(use->thread, use->site, since, use->stream, 0);
    __atomic_store_n(&heurt_state.shared_streams[place_of(use->stream)], use->stream,
                     __ATOMIC_RELAXED);
    use->is_locked = use->is_told = use->has_waited = true;
}

/* is_single: a call for a single character. */
static inline void stream__lock(struct use *use, bool is_single)
{
    const volatile struct stream_lock *lock = use->stream->_lock;
    if (program__is_single_threaded() || use->stream->_flags & USER_LOCK || !lock ||
        lock->owner == (void *)raw__thread_pointer())
        return;
    bool is_told = !is_single && is_shared(use->stream);
    if (unlikely(lock->lock || (is_told && REAL(ftrylockfile)(use->stream) != 0))) {
        stream__wait(use);
    } else if (is_told) {
        lock__acquired(use->thread, use->site, use->stream, false);
        use->is_locked = use->is_told = true;
    }
}

static inline void stream__unlocked(const struct use *use)
{
    if (use->is_told)
        lock__releasing(use->thread, use->site, use->stream);
    if (unlikely(use->is_locked)) {
        REAL(funlockfile)(use->stream);
        if (use->has_waited && !thread__in_seccomp(use->thread))
            tell_name(use->stream);
    }
}

/* ---- reading and writing --------------------------------------------------------------------- */

static ptrdiff_t pending_of(const FILE *stream)
{
    return stream->_IO_write_ptr - stream->_IO_write_base;
}

static void look(struct use *use)
{
    const FILE *stream = use->stream;
    use->pending = pending_of(stream);
    use->read_at = stream->_IO_read_ptr;
    use->read_end = stream->_IO_read_end;
    use->tick = clock__tick();
}

static bool may_write(const FILE *stream, size_t bytes)
{
    return stream->_flags & (UNBUFFERED | LINE_BUFFERED) ||
           (size_t)(stream->_IO_buf_end - stream->_IO_write_ptr) < bytes;
}

static size_t left_to_read(const FILE *stream)
{
    return (size_t)(stream->_IO_read_end - stream->_IO_read_ptr);
}

static __attribute__((noinline)) void write_io(const struct use *use, enum heurt_io call,
                                               uint64_t size, int64_t result)
{
    struct thread *thread = use->thread;
    uint64_t site = HEURT_SITE(HEURT_SITE_ADDRESS(use->site), call);
    int file = use->stream->_fileno;
    if (file < 0) /* a stream of memory */
        return;
    uint64_t word = descriptor__word(thread, file, false);
    hook__stack_at(thread, site, (void *)(intptr_t)file, use->tick);
    uint64_t *at = event__claim(thread, 4);
    if (!at)
        return;
    at[1] = site;
    at[2] = word;
    at[3] = size;
    event__publish(at, use->tick, HEURT_EVENT_IO);
    event__write1(thread, HEURT_EVENT_IO | 1, (uint64_t)result);
}

/* added: bytes that the call has put into the stream, 1 for some, or -1: it has failed. */
static inline void stream__written(const struct use *use, int64_t added)
{
    ptrdiff_t pending = pending_of(use->stream);
    if (use->tick && added >= 0 && pending < use->pending + added)
        write_io(use, HEURT_IO_WRITE, (uint64_t)(use->pending + added - pending), added);
}

static inline void stream__has_read(const struct use *use, int64_t result)
{
    const FILE *stream = use->stream;
    if (use->tick && (stream->_IO_read_end != use->read_end || stream->_IO_read_ptr < use->read_at))
        write_io(use, HEURT_IO_READ, (uint64_t)(stream->_IO_buf_end - stream->_IO_buf_base),
                 result);
}

/* ---- one call -------------------------------------------------------------------------------- */

static inline bool use__begin(struct use *use, uint64_t site, FILE *stream, bool is_single,
                              bool does_io)
{
    *use = (struct use){.thread = hook__thread(), .stream = stream, .site = site};
    if (unlikely(!use->thread || !stream))
        return false;
    stream__lock(use, is_single);
    if (unlikely(does_io))
        look(use);
    return use->is_told || use->tick;
}

static void use__cancelled(void *use)
{
    stream__unlocked(use);
}

/* single: it is of one character; does_io: it may read or write; done: what tells whether it has,
 * with result. */
#define USE(site, type, file, single, does_io, real, done)          \
    do {                                                            \
        struct use use;                                             \
        if (likely(!use__begin(&use, site, file, single, does_io))) \
            return real;                                            \
        type volatile result;                                       \
        if (unlikely(use.is_locked)) {                              \
            pthread_cleanup_push(use__cancelled, &use);             \
            result = real;                                          \
            pthread_cleanup_pop(0);                                 \
        } else {                                                    \
            result = real;                                          \
        }                                                           \
        done;                                                       \
        stream__unlocked(&use);                                     \
        return result;                                              \
    } while (0)

#define HERE SITE(HEURT_LOCK_STREAM)

/* Less than any text may take: then whether it was written out is looked at. */
#define TEXT_ROOM 1024

/* ---- writing --------------------------------------------------------------------------------- */

static int print(uint64_t site, FILE *stream, const char *format, va_list list)
{
    USE(site, int, stream, false, may_write(stream, TEXT_ROOM),
        REAL(vfprintf)(stream, format, list), stream__written(&use, result));
}

static int print_checked(uint64_t site, FILE *stream, int flag, const char *format, va_list list)
{
    USE(site, int, stream, false, may_write(stream, TEXT_ROOM),
        REAL(__vfprintf_chk)(stream, flag, format, list), stream__written(&use, result));
}

/* Calls print or print_checked with the arguments behind last. */
#define WITH_LIST(last, call) \
    do {                      \
        va_list list;         \
        va_start(list, last); \
        int result = call;    \
        va_end(list);         \
        return result;        \
    } while (0)

EXPORT int vfprintf(FILE *stream, const char *format, va_list list)
{
    return print(HERE, stream, format, list);
}

EXPORT int vprintf(const char *format, va_list list)
{
    return print(HERE, stdout, format, list);
}

EXPORT int fprintf(FILE *stream, const char *format, ...)
{
    WITH_LIST(format, print(HERE, stream, format, list));
}

EXPORT int printf(const char *format, ...)
{
    WITH_LIST(format, print(HERE, stdout, format, list));
}

int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list list);
EXPORT int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list list)
{
    return print_checked(HERE, stream, flag, format, list);
}

int __vprintf_chk(int flag, const char *format, va_list list);
EXPORT int __vprintf_chk(int flag, const char *format, va_list list)
{
    return print_checked(HERE, stdout, flag, format, list);
}

int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
EXPORT int __fprintf_chk(FILE *stream, int flag, const char *format, ...)
{
    WITH_LIST(format, print_checked(HERE, stream, flag, format, list));
}

int __printf_chk(int flag, const char *format, ...);
EXPORT int __printf_chk(int flag, const char *format, ...)
{
    WITH_LIST(format, print_checked(HERE, stdout, flag, format, list));
}

EXPORT int fputs(const char *text, FILE *stream)
{
    USE(HERE, int, stream, false, may_write(stream, TEXT_ROOM), REAL(fputs)(text, stream),
        stream__written(&use, result >= 0));
}

EXPORT int puts(const char *text)
{
    USE(HERE, int, stdout, false, may_write(stdout, TEXT_ROOM), REAL(puts)(text),
        stream__written(&use, result >= 0));
}

EXPORT size_t fwrite(const void *data, size_t size, size_t count, FILE *stream)
{
    USE(HERE, size_t, stream, false, may_write(stream, size * count),
        REAL(fwrite)(data, size, count, stream), stream__written(&use, (int64_t)(result * size)));
}

static bool may_write_character(const FILE *stream)
{
    return stream->_IO_write_ptr >= stream->_IO_write_end;
}

#define PUT_CHARACTER(stream, real) \
    USE(HERE, int, stream, true, may_write_character(stream), real, stream__written(&use, 1))

EXPORT int fputc(int character, FILE *stream)
{
    PUT_CHARACTER(stream, REAL(fputc)(character, stream));
}

#undef putc
EXPORT int putc(int character, FILE *stream)
{
    PUT_CHARACTER(stream, REAL(fputc)(character, stream));
}

int _IO_putc(int character, FILE *stream);
EXPORT int _IO_putc(int character, FILE *stream)
{
    PUT_CHARACTER(stream, REAL(fputc)(character, stream));
}

EXPORT int putchar(int character)
{
    PUT_CHARACTER(stdout, REAL(fputc)(character, stdout));
}

EXPORT int fflush(FILE *stream)
{
    if (!stream)
        return REAL(fflush)(stream);
    USE(HERE, int, stream, false, pending_of(stream) > 0, REAL(fflush)(stream),
        stream__written(&use, 0));
}

/* ---- reading --------------------------------------------------------------------------------- */

EXPORT char *fgets(char *text, int size, FILE *stream)
{
    USE(HERE, char *, stream, false, true, REAL(fgets)(text, size, stream),
        stream__has_read(&use, result != NULL));
}

char *__fgets_chk(char *text, size_t room, int size, FILE *stream);
EXPORT char *__fgets_chk(char *text, size_t room, int size, FILE *stream)
{
    USE(HERE, char *, stream, false, true, REAL(__fgets_chk)(text, room, size, stream),
        stream__has_read(&use, result != NULL));
}

EXPORT size_t fread(void *data, size_t size, size_t count, FILE *stream)
{
    USE(HERE, size_t, stream, false, size * count > left_to_read(stream),
        REAL(fread)(data, size, count, stream), stream__has_read(&use, (int64_t)(result * size)));
}

size_t __fread_chk(void *data, size_t room, size_t size, size_t count, FILE *stream);
EXPORT size_t __fread_chk(void *data, size_t room, size_t size, size_t count, FILE *stream)
{
    USE(HERE, size_t, stream, false, size * count > left_to_read(stream),
        REAL(__fread_chk)(data, room, size, count, stream),
        stream__has_read(&use, (int64_t)(result * size)));
}

#define GET_CHARACTER(stream)                                                    \
    USE(HERE, int, stream, true, left_to_read(stream) == 0, REAL(fgetc)(stream), \
        stream__has_read(&use, result))

EXPORT int fgetc(FILE *stream)
{
    GET_CHARACTER(stream);
}

#undef getc
EXPORT int getc(FILE *stream)
{
    GET_CHARACTER(stream);
}

int _IO_getc(FILE *stream);
EXPORT int _IO_getc(FILE *stream)
{
    GET_CHARACTER(stream);
}

EXPORT int getchar(void)
{
    GET_CHARACTER(stdin);
}

#define GET_LINE(text, room, end, stream)                                            \
    USE(HERE, ssize_t, stream, false, true, REAL(getdelim)(text, room, end, stream), \
        stream__has_read(&use, result))

EXPORT ssize_t getdelim(char **text, size_t *room, int end, FILE *stream)
{
    GET_LINE(text, room, end, stream);
}

EXPORT ssize_t __getdelim(char **text, size_t *room, int end, FILE *stream)
{
    GET_LINE(text, room, end, stream);
}

EXPORT ssize_t getline(char **text, size_t *room, FILE *stream)
{
    GET_LINE(text, room, '\n', stream);
}

/* ---- the lock, as the program takes it ------------------------------------------------------- */

static struct thread *locking_thread(void)
{
    return program__is_single_threaded() ? NULL : hook__thread();
}

EXPORT void flockfile(FILE *stream)
{
    struct thread *thread = locking_thread();
    if (!thread) {
        REAL(flockfile)(stream);
    } else if (REAL(ftrylockfile)(stream) == 0) {
        if (is_shared(stream))
            lock__acquired(thread, HERE, stream, false);
    } else {
        struct use use = {.thread = thread, .stream = stream, .site = HERE};
        stream__wait(&use);
        if (!thread__in_seccomp(thread))
            tell_name(stream);
    }
}

EXPORT int ftrylockfile(FILE *stream)
{
    struct thread *thread = locking_thread();
    int result = REAL(ftrylockfile)(stream);
    if (thread && result == 0 && is_shared(stream))
        lock__acquired(thread, SITE(HEURT_LOCK_STREAM | HEURT_LOCK_TRIED), stream, false);
    else if (thread && result != 0)
        event__write2(thread, HEURT_EVENT_LOCK_BUSY, HERE, (uintptr_t)stream);
    return result;
}

EXPORT void funlockfile(FILE *stream)
{
    struct thread *thread = locking_thread();
    if (thread && is_shared(stream))
        lock__releasing(thread, HERE, stream);
    REAL(funlockfile)(stream);
}
