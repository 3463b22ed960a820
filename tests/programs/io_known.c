/* io_known.c: known numbers of input and output calls of known sizes.
 *
 * For each call NAME: NAME=calls, and where it moves data NAME_bytes=result summed.  Where a call
 * is made on several kinds of descriptor, the first word tells: file_read, socket_read, pipe_read.
 * Built three times: io_known (large files: open64, pread64), io_known_plain (open, pread) and
 * io_known_fortified (__read_chk, __poll_chk, …). */
#include "known.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <threads.h>

enum { CALLS = 25, SMALL = 512, LARGE = 4096 };

/* Lengths that the compiler does not know, so that fortified calls stay what they are. */
static volatile size_t small_bytes = SMALL, large_bytes = LARGE;
static volatile unsigned one = 1, two = 2;
static volatile int read_only = O_RDONLY | O_CLOEXEC;

/* All descriptors are closed by close(), so that heurt knows what a number leads to. */
static long closes;

static void close_counted(int descriptor)
{
    KNOWN_CHECK(close(descriptor) == 0);
    __atomic_add_fetch(&closes, 1, __ATOMIC_RELAXED);
}

static void known_call(const char *name, long calls, long bytes)
{
    char key[64];
    known__number(name, calls);
    snprintf(key, sizeof key, "%s_bytes", name);
    if (bytes >= 0)
        known__number(key, bytes);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void known_vectors(int file, char *buffer)
{
    struct iovec vectors[2] = {{buffer, SMALL}, {buffer + SMALL, SMALL}};
    KNOWN_CHECK(lseek(file, 0, SEEK_SET) == 0);
    for (int i = 0; i < CALLS; i++)
        KNOWN_CHECK(writev(file, vectors, 2) == 2 * SMALL);
    KNOWN_CHECK(lseek(file, 0, SEEK_SET) == 0);
    for (int i = 0; i < CALLS; i++)
        KNOWN_CHECK(readv(file, vectors, 2) == 2 * SMALL);
    for (int i = 0; i < CALLS; i++)
        KNOWN_CHECK(pwritev(file, vectors, 2, i * LARGE) == 2 * SMALL);
    for (int i = 0; i < CALLS; i++)
        KNOWN_CHECK(preadv(file, vectors, 2, i * LARGE) == 2 * SMALL);
    known_call("file_writev", CALLS, CALLS * 2 * SMALL);
    known_call("file_readv", CALLS, CALLS * 2 * SMALL);
    known_call("file_pwritev", CALLS, CALLS * 2 * SMALL);
    known_call("file_preadv", CALLS, CALLS * 2 * SMALL);
}

static void known_file(void)
{
    char buffer[LARGE] = {1};
    int file = known__temporary_file();
    for (int i = 0; i < CALLS; i++)
        KNOWN_CHECK(write(file, buffer, large_bytes) == LARGE);
    KNOWN_CHECK(lseek(file, 0, SEEK_SET) == 0);
    for (int i = 0; i < CALLS; i++)
        KNOWN_CHECK(read(file, buffer, large_bytes) == LARGE);
    KNOWN_CHECK(read(file, buffer, large_bytes) == 0); /* the end */
    for (int i = 0; i < CALLS; i++)
        KNOWN_CHECK(pwrite(file, buffer, small_bytes, i * LARGE) == SMALL);
    for (int i = 0; i < CALLS; i++)
        KNOWN_CHECK(pread(file, buffer, small_bytes, i * LARGE) == SMALL);
    for (int i = 0; i < 3; i++)
        KNOWN_CHECK(fsync(file) == 0);
    for (int i = 0; i < 4; i++)
        KNOWN_CHECK(fdatasync(file) == 0);
    known_call("file_write", CALLS, CALLS * LARGE);
    known_call("file_read", CALLS + 1, CALLS * LARGE);
    known_call("file_pwrite", CALLS, CALLS * SMALL);
    known_call("file_pread", CALLS, CALLS * SMALL);
    known_call("fsync", 3, -1);
    known_call("fdatasync", 4, -1);
    known_vectors(file, buffer);
    close_counted(file);
}

static void known_open(void)
{
    for (unsigned i = 0; i < CALLS; i++) {
        int descriptor = open("/dev/null", read_only);
        KNOWN_CHECK(descriptor >= 0);
        close_counted(descriptor);
        descriptor = openat(AT_FDCWD, "/dev/null", read_only);
        KNOWN_CHECK(descriptor >= 0);
        close_counted(descriptor);
        KNOWN_CHECK(open("/nonexistent/heurt", O_RDONLY) < 0 && errno == ENOENT);
        KNOWN_CHECK(close(-1) < 0 && errno == EBADF);
    }
    known_call("open", 3 * CALLS, -1);
    known_call("open_failed", CALLS, -1);
}

/* ---- pipes and sockets ----------------------------------------------------------------------- */

static void known_pipe(void)
{
    char buffer[SMALL] = {2};
    int ends[2];
    KNOWN_CHECK(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    for (int i = 0; i < CALLS; i++) {
        KNOWN_CHECK(write(ends[1], buffer, small_bytes) == SMALL);
        KNOWN_CHECK(read(ends[0], buffer, small_bytes) == SMALL);
        KNOWN_CHECK(read(ends[0], buffer, small_bytes) < 0 && errno == EAGAIN);
    }
    known_call("pipe_write", CALLS, CALLS * SMALL);
    known_call("pipe_read", 2 * CALLS, CALLS * SMALL);
    close_counted(ends[0]);
    close_counted(ends[1]);
}

static void known_messages(const int ends[2], char *buffer)
{
    struct iovec vector = {buffer, SMALL};
    struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &vector, .msg_iovlen = 1}},
                                  {.msg_hdr = {.msg_iov = &vector, .msg_iovlen = 1}}};
    for (int i = 0; i < CALLS; i++) {
        KNOWN_CHECK(sendmsg(ends[0], &messages[0].msg_hdr, 0) == SMALL);
        KNOWN_CHECK(recvmsg(ends[1], &messages[0].msg_hdr, 0) == SMALL);
        KNOWN_CHECK(sendmmsg(ends[0], messages, two, 0) == 2);
        KNOWN_CHECK(recvmmsg(ends[1], messages, two, MSG_DONTWAIT, NULL) == 2);
    }
    known_call("sendmsg", CALLS, CALLS * SMALL);
    known_call("recvmsg", CALLS, CALLS * SMALL);
    known_call("sendmmsg", CALLS, -1); /* two messages each */
    known_call("recvmmsg", CALLS, -1);
}

static void known_sockets(void)
{
    char buffer[SMALL] = {3};
    int ends[2];
    KNOWN_CHECK(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) == 0);
    for (int i = 0; i < CALLS; i++) {
        KNOWN_CHECK(write(ends[0], buffer, small_bytes) == SMALL);
        KNOWN_CHECK(read(ends[1], buffer, small_bytes) == SMALL);
        KNOWN_CHECK(send(ends[0], buffer, small_bytes, 0) == SMALL);
        KNOWN_CHECK(recv(ends[1], buffer, small_bytes, 0) == SMALL);
        KNOWN_CHECK(sendto(ends[0], buffer, small_bytes, 0, NULL, 0) == SMALL);
        KNOWN_CHECK(recvfrom(ends[1], buffer, small_bytes, 0, NULL, NULL) == SMALL);
    }
    known_call("socket_write", CALLS, CALLS * SMALL);
    known_call("socket_read", CALLS, CALLS * SMALL);
    known_call("send", CALLS, CALLS * SMALL);
    known_call("recv", CALLS, CALLS * SMALL);
    known_call("sendto", CALLS, CALLS * SMALL);
    known_call("recvfrom", CALLS, CALLS * SMALL);
    known_messages(ends, buffer);
    close_counted(ends[0]);
    close_counted(ends[1]);
}

/* The peer of known_connections: accepts, reads to the end by a bare system call. */
static void *accept_all(void *listener)
{
    for (int i = 0; i < CALLS; i++) {
        char byte;
        int peer = i % 2 ? accept(*(int *)listener, NULL, NULL)
                         : accept4(*(int *)listener, NULL, NULL, SOCK_CLOEXEC);
        KNOWN_CHECK(peer >= 0);
        while (syscall(SYS_read, peer, &byte, 1) > 0)
            ;
        close_counted(peer);
    }
    return NULL;
}

static void known_connections(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pthread_t thread;
    KNOWN_CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    KNOWN_CHECK(listen(listener, CALLS) == 0);
    KNOWN_CHECK(getsockname(listener, (struct sockaddr *)&address, &bytes) == 0);
    KNOWN_CHECK(pthread_create(&thread, NULL, accept_all, &listener) == 0);
    for (int i = 0; i < CALLS; i++) {
        int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        KNOWN_CHECK(connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0);
        close_counted(descriptor);
    }
    pthread_join(thread, NULL);
    close_counted(listener);
    known_call("connect", CALLS, -1);
    known_call("accept", CALLS, -1);
}

static void known_sendfile(void)
{
    char buffer[SMALL] = {4};
    int ends[2], file = known__temporary_file();
    KNOWN_CHECK(syscall(SYS_write, file, buffer, sizeof buffer) == SMALL);
    KNOWN_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    for (int i = 0; i < CALLS; i++) {
        off_t offset = 0;
        KNOWN_CHECK(sendfile(ends[0], file, &offset, small_bytes) == SMALL);
        KNOWN_CHECK(syscall(SYS_read, ends[1], buffer, SMALL) == SMALL);
    }
    known_call("sendfile", CALLS, CALLS * SMALL);
    close_counted(ends[0]);
    close_counted(ends[1]);
    close_counted(file);
}

/* ---- waiting for events ---------------------------------------------------------------------- */

static void known_polls(void)
{
    int ends[2], events = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    KNOWN_CHECK(pipe2(ends, O_CLOEXEC) == 0);
    KNOWN_CHECK(epoll_ctl(events, EPOLL_CTL_ADD, ends[0], &event) == 0);
    for (int turn = 0; turn < 2; turn++) { /* first nothing to read, then something */
        for (int i = 0; i < CALLS; i++) {
            struct pollfd polled = {.fd = ends[0], .events = POLLIN};
            struct timespec at_once = {0, 0};
            struct timeval at_once_us = {0, 0};
            fd_set set;
            KNOWN_CHECK(poll(&polled, one, 0) == turn);
            KNOWN_CHECK(ppoll(&polled, one, &at_once, NULL) == turn);
            FD_ZERO(&set);
            FD_SET(ends[0], &set);
            KNOWN_CHECK(select(ends[0] + 1, &set, NULL, NULL, &at_once_us) == turn);
            FD_SET(ends[0], &set);
            KNOWN_CHECK(pselect(ends[0] + 1, &set, NULL, NULL, &at_once, NULL) == turn);
            KNOWN_CHECK(epoll_wait(events, &event, 1, 0) == turn);
            KNOWN_CHECK(epoll_pwait(events, &event, 1, 0, NULL) == turn);
        }
        KNOWN_CHECK(syscall(SYS_write, ends[1], "x", 1) == 1);
    }
    known_call("poll", 4 * CALLS, -1);       /* poll and ppoll */
    known_call("select", 4 * CALLS, -1);     /* select and pselect */
    known_call("epoll_wait", 4 * CALLS, -1); /* epoll_wait and epoll_pwait */
    close_counted(ends[0]);
    close_counted(ends[1]);
    close_counted(events);
}

static void known_sleeps(void)
{
    struct timespec instant = {0, 1000};
    for (int i = 0; i < CALLS; i++) {
        KNOWN_CHECK(nanosleep(&instant, NULL) == 0);
        KNOWN_CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &instant, NULL) == 0);
        KNOWN_CHECK(usleep(1) == 0);
        KNOWN_CHECK(thrd_sleep(&instant, NULL) == 0);
        KNOWN_CHECK(sched_yield() == 0);
    }
    KNOWN_CHECK(sleep(0) == 0);
    known_call("nanosleep", CALLS, -1);
    known_call("clock_nanosleep", CALLS, -1);
    known_call("usleep", CALLS, -1);
    known_call("thrd_sleep", CALLS, -1);
    known_call("sleep", 1, -1);
    known_call("sched_yield", CALLS, -1);
}

int main(void)
{
    known_file();
    known_open();
    known_pipe();
    known_sockets();
    known_connections();
    known_sendfile();
    known_polls();
    known_sleeps();
    known_call("close", closes + CALLS, -1);
    known_call("close_failed", CALLS, -1);
    return 0;
}
