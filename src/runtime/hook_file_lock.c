/* hook_file_lock.c: locks of files, which processes hold: fcntl, lockf, flock.
 *
 * A lock that waits is tried first, as it does itself; when that is refused it is waited for inside
 * a span. The object is the file, whoever opened it: a number made of its device and inode, the
 * same in all processes, and its name is told when it was waited for. A release is told when the
 * call says so, not when a descriptor is closed. */
#include "runtime/channel.h"
#include "runtime/lock_events.h"
#include "runtime/readable.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>

#define RAW_EAGAIN 11
#define RAW_EACCES 13

/* 0: the file is not known. What flock locks is no matter to fcntl and lockf. */
static uint64_t object_of(int descriptor, bool by_flock)
{
    struct stat status;
    if (RAW2(fstat, descriptor, &status) != 0)
        return 0;
    uint64_t hash = (status.st_ino * 62 + status.st_dev * 2 + by_flock) * 0x9e3779b97f4a7c15ull;
    return HEURT_SHARED_OBJECT | hash >> 17;
}

static void tell_file(uint64_t object, int descriptor)
{
    char path[512];
    if (descriptor__path(descriptor, path, sizeof path))
        define__object((const void *)object, path);
}

static struct thread *locking_thread(void)
{
    struct thread *thread = hook__thread();
    return thread && !thread__in_seccomp(thread) ? thread : NULL;
}

static bool is_refused(long error)
{
    return error == -RAW_EAGAIN || error == -RAW_EACCES;
}

/* A wait that ended with result, and errno as the call left it. */
static void waited(struct thread *thread, uint64_t object, int descriptor, uint64_t since,
                   int result)
{
    int error = errno;
    lock__write_wait_ended(thread, since, (const void *)object, result == 0 ? 0 : error);
    tell_file(object, descriptor);
    errno = error;
}

/* tried: the answer of a call that does not wait. Whatever it finds wrong, the real one tells. */
#define WAIT_FOR_FILE(thread, site, descriptor, by_flock, tried, real)                \
    do {                                                                              \
        uint64_t object = object_of(descriptor, by_flock);                            \
        long refused = object ? (tried) : -1;                                         \
        if (refused == 0) {                                                           \
            lock__write_acquired(thread, site, (const void *)object);                 \
            return 0;                                                                 \
        }                                                                             \
        if (!is_refused(refused))                                                     \
            return real;                                                              \
        uint64_t since = lock__write_wait_begins(thread, site, (const void *)object); \
        int result = real;                                                            \
        waited(thread, object, descriptor, since, result);                            \
        return result;                                                                \
    } while (0)

static void told(struct thread *thread, uint64_t site, int descriptor, bool by_flock,
                 bool is_release, int result)
{
    int error = errno;
    uint64_t object = object_of(descriptor, by_flock);
    if (object && is_release)
        lock__releasing(thread, site, (const void *)object);
    else if (object && result == 0)
        lock__write_acquired(thread, site | (uint64_t)HEURT_LOCK_TRIED << 48, (const void *)object);
    else if (object && (error == EAGAIN || error == EACCES))
        lock__refused(thread, site, object);
    errno = error;
}

#define HERE SITE(HEURT_LOCK_FILE)

EXPORT int flock(int descriptor, int operation)
{
    struct thread *thread = locking_thread();
    if (!thread)
        return REAL(flock)(descriptor, operation);
    if (!(operation & (LOCK_NB | LOCK_UN)))
        WAIT_FOR_FILE(thread, HERE, descriptor, true, RAW2(flock, descriptor, operation | LOCK_NB),
                      REAL(flock)(descriptor, operation));
    if (operation & LOCK_UN)
        told(thread, HERE, descriptor, true, true, 0);
    int result = REAL(flock)(descriptor, operation);
    if (!(operation & LOCK_UN))
        told(thread, HERE, descriptor, true, false, result);
    return result;
}

static bool is_wait(int command)
{
    return command == F_SETLKW || command == F_OFD_SETLKW;
}

static bool is_lock(int command)
{
    return is_wait(command) || command == F_SETLK || command == F_OFD_SETLK;
}

static int lock_by_fcntl(uint64_t site, int descriptor, int command, struct flock *lock)
{
    struct thread *thread = is_lock(command) ? locking_thread() : NULL;
    struct flock wanted;
    if (!thread || !memory__copy(&wanted, lock, sizeof wanted))
        return REAL(fcntl)(descriptor, command, lock);
    bool is_release = wanted.l_type == F_UNLCK;
    if (is_wait(command))
        pthread_testcancel(); /* as the real call does even when it need not wait */
    if (is_wait(command) && !is_release)
        WAIT_FOR_FILE(thread, site, descriptor, false,
                      RAW3(fcntl, descriptor, command == F_SETLKW ? F_SETLK : F_OFD_SETLK, lock),
                      REAL(fcntl)(descriptor, command, lock));
    if (is_release)
        told(thread, site, descriptor, false, true, 0);
    int result = REAL(fcntl)(descriptor, command, lock);
    if (!is_release)
        told(thread, site, descriptor, false, false, result);
    return result;
}

EXPORT int fcntl(int descriptor, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return lock_by_fcntl(HERE, descriptor, command, argument);
}
extern __typeof__(fcntl) fcntl64 __attribute__((alias("fcntl"))) EXPORT;

EXPORT int lockf(int descriptor, int command, off_t bytes)
{
    struct flock lock = {
        .l_type = command == F_ULOCK ? F_UNLCK : F_WRLCK, .l_whence = SEEK_CUR, .l_len = bytes};
    if (command == F_TEST || (command != F_LOCK && command != F_TLOCK && command != F_ULOCK))
        return REAL(lockf)(descriptor, command, bytes);
    return lock_by_fcntl(HERE, descriptor, command == F_LOCK ? F_SETLKW : F_SETLK, &lock);
}
extern __typeof__(lockf) lockf64 __attribute__((alias("lockf"))) EXPORT;
