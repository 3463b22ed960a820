/* hook_io.c: files, pipes, sockets, and waiting for them. One span a call. */
#include "runtime/channel.h"
#include "runtime/readable.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/eventfd.h>

/* ---- one span a call ------------------------------------------------------------------------- */

static struct thread *io__begin(uint64_t site, int descriptor, uint64_t size)
{
    struct thread *thread = hook__thread();
    if (thread) {
        uint32_t how = HEURT_SITE_HOW(site);
        uint64_t word = descriptor__word(thread, descriptor,
                                         how == HEURT_IO_FSYNC || how == HEURT_IO_FDATASYNC);
        hook__stack(thread, site, (void *)(intptr_t)descriptor);
        event__write3(thread, HEURT_EVENT_IO, site, word, size);
    }
    return thread;
}

static void io__end(struct thread *thread, int64_t result)
{
    if (thread)
        event__write1(thread, HEURT_EVENT_IO | 1, (uint64_t)result);
}

#define IO(type, call, descriptor, size, real)                                                  \
    do {                                                                                        \
        struct thread *thread = io__begin(SITE(HEURT_IO_##call), descriptor, (uint64_t)(size)); \
        type result = real;                                                                     \
        io__end(thread, (int64_t)result);                                                       \
        return result;                                                                          \
    } while (0)

/* Off_t is 64 bits wide here: the names that end in 64 are the same functions. */
#define ALSO_64(name) extern __typeof__(name) name##64 __attribute__((alias(#name))) EXPORT

EXPORT ssize_t read(int descriptor, void *data, size_t size)
{
    IO(ssize_t, READ, descriptor, size, REAL(read)(descriptor, data, size));
}

ssize_t __read_chk(int descriptor, void *data, size_t size, size_t room);
EXPORT ssize_t __read_chk(int descriptor, void *data, size_t size, size_t room)
{
    IO(ssize_t, READ, descriptor, size, REAL(__read_chk)(descriptor, data, size, room));
}

EXPORT ssize_t write(int descriptor, const void *data, size_t size)
{
    IO(ssize_t, WRITE, descriptor, size, REAL(write)(descriptor, data, size));
}

EXPORT ssize_t pread(int descriptor, void *data, size_t size, off_t at)
{
    IO(ssize_t, PREAD, descriptor, size, REAL(pread)(descriptor, data, size, at));
}
ALSO_64(pread);

ssize_t __pread_chk(int descriptor, void *data, size_t size, off_t at, size_t room);
EXPORT ssize_t __pread_chk(int descriptor, void *data, size_t size, off_t at, size_t room)
{
    IO(ssize_t, PREAD, descriptor, size, REAL(__pread_chk)(descriptor, data, size, at, room));
}
extern __typeof__(__pread_chk) __pread64_chk __attribute__((alias("__pread_chk"))) EXPORT;

EXPORT ssize_t pwrite(int descriptor, const void *data, size_t size, off_t at)
{
    IO(ssize_t, PWRITE, descriptor, size, REAL(pwrite)(descriptor, data, size, at));
}
ALSO_64(pwrite);

#define PARTS_MOST 1024 /* IOV_MAX: the kernel takes no more */

/* 0: not known. */
static uint64_t total(const struct iovec *parts, int count)
{
    uint64_t bytes = 0;
    if (count <= 0 || count > PARTS_MOST || !hook__thread() ||
        !memory__is_readable(parts, (size_t)count * sizeof *parts))
        return 0;
    for (int i = 0; i < count; i++)
        bytes += parts[i].iov_len;
    return bytes;
}

static uint64_t total_of_message(const struct msghdr *message)
{
    struct msghdr copy;
    if (!hook__thread() || !memory__copy(&copy, message, sizeof copy))
        return 0;
    return total(copy.msg_iov, copy.msg_iovlen <= PARTS_MOST ? (int)copy.msg_iovlen : 0);
}

EXPORT ssize_t readv(int descriptor, const struct iovec *parts, int count)
{
    IO(ssize_t, READV, descriptor, total(parts, count), REAL(readv)(descriptor, parts, count));
}

EXPORT ssize_t writev(int descriptor, const struct iovec *parts, int count)
{
    IO(ssize_t, WRITEV, descriptor, total(parts, count), REAL(writev)(descriptor, parts, count));
}

EXPORT ssize_t preadv(int descriptor, const struct iovec *parts, int count, off_t at)
{
    IO(ssize_t, PREADV, descriptor, total(parts, count),
       REAL(preadv)(descriptor, parts, count, at));
}
ALSO_64(preadv);

EXPORT ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t at)
{
    IO(ssize_t, PWRITEV, descriptor, total(parts, count),
       REAL(pwritev)(descriptor, parts, count, at));
}
ALSO_64(pwritev);

EXPORT ssize_t preadv2(int descriptor, const struct iovec *parts, int count, off_t at, int flags)
{
    IO(ssize_t, PREADV, descriptor, total(parts, count),
       REAL(preadv2)(descriptor, parts, count, at, flags));
}
extern __typeof__(preadv2) preadv64v2 __attribute__((alias("preadv2"))) EXPORT;

EXPORT ssize_t pwritev2(int descriptor, const struct iovec *parts, int count, off_t at, int flags)
{
    IO(ssize_t, PWRITEV, descriptor, total(parts, count),
       REAL(pwritev2)(descriptor, parts, count, at, flags));
}
extern __typeof__(pwritev2) pwritev64v2 __attribute__((alias("pwritev2"))) EXPORT;

EXPORT ssize_t sendfile(int to, int from, off_t *at, size_t size)
{
    IO(ssize_t, SENDFILE, to, size, REAL(sendfile)(to, from, at, size));
}
ALSO_64(sendfile);

EXPORT int fsync(int descriptor)
{
    IO(int, FSYNC, descriptor, 0, REAL(fsync)(descriptor));
}

EXPORT int fdatasync(int descriptor)
{
    IO(int, FDATASYNC, descriptor, 0, REAL(fdatasync)(descriptor));
}

/* ---- open and close -------------------------------------------------------------------------- */

/* Whoever had the number may have been closed within the C library, by fclose say. */
#define OPENED(real)                                                   \
    do {                                                               \
        struct thread *thread = io__begin(SITE(HEURT_IO_OPEN), -1, 0); \
        int result = real;                                             \
        descriptor__forget(result);                                    \
        io__end(thread, result);                                       \
        return result;                                                 \
    } while (0)

static bool needs_mode(int flags)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

EXPORT int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = needs_mode(flags) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    OPENED(REAL(open)(path, flags, mode));
}
ALSO_64(open);

int __open_2(const char *path, int flags);
EXPORT int __open_2(const char *path, int flags)
{
    OPENED(REAL(__open_2)(path, flags));
}
extern __typeof__(__open_2) __open64_2 __attribute__((alias("__open_2"))) EXPORT;

EXPORT int openat(int directory, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = needs_mode(flags) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    OPENED(REAL(openat)(directory, path, flags, mode));
}
ALSO_64(openat);

int __openat_2(int directory, const char *path, int flags);
EXPORT int __openat_2(int directory, const char *path, int flags)
{
    OPENED(REAL(__openat_2)(directory, path, flags));
}
extern __typeof__(__openat_2) __openat64_2 __attribute__((alias("__openat_2"))) EXPORT;

EXPORT int creat(const char *path, mode_t mode)
{
    OPENED(REAL(creat)(path, mode));
}
ALSO_64(creat);

EXPORT int close(int descriptor)
{
    struct thread *thread = io__begin(SITE(HEURT_IO_CLOSE), descriptor, 0);
    descriptor__forget(descriptor);
    int result = REAL(close)(descriptor);
    io__end(thread, result);
    return result;
}

/* Not recorded, but what a descriptor leads to changes. */
EXPORT int dup2(int from, int to)
{
    descriptor__forget(to);
    return REAL(dup2)(from, to);
}

EXPORT int dup3(int from, int to, int flags)
{
    descriptor__forget(to);
    return REAL(dup3)(from, to, flags);
}

/* Descriptors may have been closed by calls that are not hooked: what has a number anew is asked
 * for. */
static int make_pipe(int ends[2], int flags)
{
    int result = REAL(pipe2)(ends, flags);
    for (int i = 0; result == 0 && i < 2; i++)
        descriptor__forget(ends[i]);
    return result;
}

EXPORT int pipe(int ends[2])
{
    return make_pipe(ends, 0);
}

EXPORT int pipe2(int ends[2], int flags)
{
    return make_pipe(ends, flags);
}

EXPORT int socket(int domain, int type, int protocol)
{
    int result = REAL(socket)(domain, type, protocol);
    descriptor__forget(result);
    return result;
}

EXPORT int socketpair(int domain, int type, int protocol, int ends[2])
{
    int result = REAL(socketpair)(domain, type, protocol, ends);
    struct thread *thread = result == 0 ? hook__thread() : NULL;
    if (thread)
        channel__paired(thread, ends);
    return result;
}

EXPORT int eventfd(unsigned value, int flags)
{
    int result = REAL(eventfd)(value, flags);
    struct thread *thread = result >= 0 ? hook__thread() : NULL;
    if (thread)
        channel__event_made(thread, result);
    return result;
}

/* ---- waiting for descriptors ----------------------------------------------------------------- */

/* For ever, or what nobody can know. */
#define NO_LIMIT (~0ull)

static uint64_t ms_of(const struct timespec *time)
{
    struct timespec copy;
    if (!time || !hook__thread() || !memory__copy(&copy, time, sizeof copy))
        return NO_LIMIT;
    return (uint64_t)copy.tv_sec * 1000 + (uint64_t)copy.tv_nsec / 1000000;
}

static uint64_t ms_of_interval(const struct timeval *time)
{
    struct timeval copy;
    if (!time || !hook__thread() || !memory__copy(&copy, time, sizeof copy))
        return NO_LIMIT;
    return (uint64_t)copy.tv_sec * 1000 + (uint64_t)copy.tv_usec / 1000;
}

EXPORT int poll(struct pollfd *set, nfds_t count, int timeout)
{
    IO(int, POLL, -1, (int64_t)timeout, REAL(poll)(set, count, timeout));
}

int __poll_chk(struct pollfd *set, nfds_t count, int timeout, size_t room);
EXPORT int __poll_chk(struct pollfd *set, nfds_t count, int timeout, size_t room)
{
    IO(int, POLL, -1, (int64_t)timeout, REAL(__poll_chk)(set, count, timeout, room));
}

EXPORT int ppoll(struct pollfd *set, nfds_t count, const struct timespec *timeout,
                 const sigset_t *mask)
{
    IO(int, POLL, -1, ms_of(timeout), REAL(ppoll)(set, count, timeout, mask));
}

int __ppoll_chk(struct pollfd *set, nfds_t count, const struct timespec *timeout,
                const sigset_t *mask, size_t room);
EXPORT int __ppoll_chk(struct pollfd *set, nfds_t count, const struct timespec *timeout,
                       const sigset_t *mask, size_t room)
{
    IO(int, POLL, -1, ms_of(timeout), REAL(__ppoll_chk)(set, count, timeout, mask, room));
}

EXPORT int select(int count, fd_set *readable, fd_set *writable, fd_set *special,
                  struct timeval *timeout)
{
    IO(int, SELECT, -1, ms_of_interval(timeout),
       REAL(select)(count, readable, writable, special, timeout));
}

EXPORT int pselect(int count, fd_set *readable, fd_set *writable, fd_set *special,
                   const struct timespec *timeout, const sigset_t *mask)
{
    IO(int, SELECT, -1, ms_of(timeout),
       REAL(pselect)(count, readable, writable, special, timeout, mask));
}

EXPORT int epoll_wait(int descriptor, struct epoll_event *events, int most, int timeout)
{
    IO(int, EPOLL_WAIT, descriptor, (int64_t)timeout,
       REAL(epoll_wait)(descriptor, events, most, timeout));
}

EXPORT int epoll_pwait(int descriptor, struct epoll_event *events, int most, int timeout,
                       const sigset_t *mask)
{
    IO(int, EPOLL_WAIT, descriptor, (int64_t)timeout,
       REAL(epoll_pwait)(descriptor, events, most, timeout, mask));
}

EXPORT int epoll_pwait2(int descriptor, struct epoll_event *events, int most,
                        const struct timespec *timeout, const sigset_t *mask)
{
    IO(int, EPOLL_WAIT, descriptor, ms_of(timeout),
       REAL(epoll_pwait2)(descriptor, events, most, timeout, mask));
}

/* ---- sockets --------------------------------------------------------------------------------- */

EXPORT ssize_t send(int descriptor, const void *data, size_t size, int flags)
{
    IO(ssize_t, SEND, descriptor, size, REAL(send)(descriptor, data, size, flags));
}

EXPORT ssize_t sendto(int descriptor, const void *data, size_t size, int flags,
                      const struct sockaddr *to, socklen_t length)
{
    IO(ssize_t, SENDTO, descriptor, size, REAL(sendto)(descriptor, data, size, flags, to, length));
}

EXPORT ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags)
{
    IO(ssize_t, SENDMSG, descriptor, total_of_message(message),
       REAL(sendmsg)(descriptor, message, flags));
}

EXPORT int sendmmsg(int descriptor, struct mmsghdr *messages, unsigned count, int flags)
{
    IO(int, SENDMMSG, descriptor, count, REAL(sendmmsg)(descriptor, messages, count, flags));
}

EXPORT ssize_t recv(int descriptor, void *data, size_t size, int flags)
{
    IO(ssize_t, RECV, descriptor, size, REAL(recv)(descriptor, data, size, flags));
}

ssize_t __recv_chk(int descriptor, void *data, size_t size, size_t room, int flags);
EXPORT ssize_t __recv_chk(int descriptor, void *data, size_t size, size_t room, int flags)
{
    IO(ssize_t, RECV, descriptor, size, REAL(__recv_chk)(descriptor, data, size, room, flags));
}

EXPORT ssize_t recvfrom(int descriptor, void *restrict data, size_t size, int flags,
                        struct sockaddr *restrict from, socklen_t *restrict length)
{
    IO(ssize_t, RECVFROM, descriptor, size,
       REAL(recvfrom)(descriptor, data, size, flags, from, length));
}

ssize_t __recvfrom_chk(int descriptor, void *data, size_t size, size_t room, int flags,
                       struct sockaddr *from, socklen_t *length);
EXPORT ssize_t __recvfrom_chk(int descriptor, void *data, size_t size, size_t room, int flags,
                              struct sockaddr *from, socklen_t *length)
{
    IO(ssize_t, RECVFROM, descriptor, size,
       REAL(__recvfrom_chk)(descriptor, data, size, room, flags, from, length));
}

EXPORT ssize_t recvmsg(int descriptor, struct msghdr *message, int flags)
{
    IO(ssize_t, RECVMSG, descriptor, total_of_message(message),
       REAL(recvmsg)(descriptor, message, flags));
}

EXPORT int recvmmsg(int descriptor, struct mmsghdr *messages, unsigned count, int flags,
                    struct timespec *timeout)
{
    IO(int, RECVMMSG, descriptor, count,
       REAL(recvmmsg)(descriptor, messages, count, flags, timeout));
}

static int accepted(struct thread *thread, int descriptor)
{
    io__end(thread, descriptor);
    if (thread && descriptor >= 0)
        channel__connected(thread, descriptor, true);
    return descriptor;
}

EXPORT int accept(int descriptor, struct sockaddr *restrict from, socklen_t *restrict length)
{
    struct thread *thread = io__begin(SITE(HEURT_IO_ACCEPT), descriptor, 0);
    return accepted(thread, REAL(accept)(descriptor, from, length));
}

EXPORT int accept4(int descriptor, struct sockaddr *restrict from, socklen_t *restrict length,
                   int flags)
{
    struct thread *thread = io__begin(SITE(HEURT_IO_ACCEPT), descriptor, 0);
    return accepted(thread, REAL(accept4)(descriptor, from, length, flags));
}

EXPORT int connect(int descriptor, const struct sockaddr *to, socklen_t length)
{
    struct thread *thread = io__begin(SITE(HEURT_IO_CONNECT), descriptor, 0);
    int result = REAL(connect)(descriptor, to, length);
    io__end(thread, result);
    if (thread && result == 0)
        channel__connected(thread, descriptor, false);
    return result;
}
