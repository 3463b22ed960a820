/* request.c: what the program asks the recorder: how to patch modules.  Both ends look who the
 * other one is, and the program waits no longer than the session has patience: the recorder may
 * have been stopped or killed. */
#include "runtime/runtime.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

/* In which a recorder that is at work says so, again and again, may be at work at most. */
#define PATIENCE_AT_WORK 15u

struct recorder_connection {
    int descriptor;
    uint64_t last_ns; /* until then, by CLOCK_MONOTONIC, whatever signals come */
    bool in_vain;     /* the time was over */
};

static bool is_over(struct recorder_connection *connection, long result)
{
    bool again = result == -4 /* EINTR */;
    connection->in_vain |= result == -11 /* EAGAIN */ ||
                           (again && raw__clock_ns(CLOCK_MONOTONIC) > connection->last_ns);
    return connection->in_vain || !again;
}

static bool send_all(struct recorder_connection *connection, const void *bytes, size_t count)
{
    for (size_t sent = 0; sent < count;) {
        long result = RAW6(sendto, connection->descriptor, (const char *)bytes + sent, count - sent,
                           MSG_NOSIGNAL, 0, 0);
        if (result > 0)
            sent += (size_t)result;
        else if (is_over(connection, result))
            return false;
    }
    return true;
}

static bool receive_all(struct recorder_connection *connection, void *bytes, size_t count)
{
    for (size_t got = 0; got < count;) {
        long result = RAW3(read, connection->descriptor, (char *)bytes + got, count - got);
        if (result > 0)
            got += (size_t)result;
        else if (is_over(connection, result))
            return false;
    }
    return true;
}

/* Whether the other end is this session's recorder. It has no number for who is in a namespace of
 * processes that it is not in itself. */
static bool is_recorder(int descriptor)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    return RAW6(getsockopt, descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size, 0) == 0 &&
           (peer.pid == (pid_t)heurt_state.settings.recorder_pid || peer.pid == 0) &&
           peer.uid == (uid_t)RAW0(geteuid);
}

static void limit_patience(struct recorder_connection *connection)
{
    uint32_t ms = heurt_state.settings.patience_ms;
    const struct timeval patience = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    RAW6(setsockopt, connection->descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience,
         0);
    RAW6(setsockopt, connection->descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience,
         0);
    connection->last_ns = raw__clock_ns(CLOCK_MONOTONIC) + (uint64_t)ms * 1000000;
}

static size_t join(char *to, size_t most, const char *directory)
{
    static const char file[] = "/" HEURT_SOCKET_FILE;
    size_t length = text__length(directory);
    if (length + sizeof file > most)
        return 0;
    bytes__copy(to, directory, length);
    bytes__copy(to + length, file, sizeof file);
    return length + sizeof file;
}

/* The socket is in the directory of the trace, where nobody else can put one; names of sockets are
 * short, and a longer one is told by the descriptor of its directory. */
static bool connect_to_trace(const struct recorder_connection *connection)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char by_number[32] = "/proc/self/fd/";
    long directory = -1;
    size_t length = join(address.sun_path, sizeof address.sun_path, heurt_state.directory);
    if (!length) {
        directory = RAW3(open, heurt_state.directory, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
        if (directory < 0)
            return false;
        char *end = by_number + text__length(by_number);
        for (long tens = 1000000, begun = 0; tens; tens /= 10)
            if ((begun |= directory / tens) || tens == 1)
                *end++ = (char)('0' + directory / tens % 10);
        *end = 0;
        length = join(address.sun_path, sizeof address.sun_path, by_number);
    }
    size_t size = offsetof(struct sockaddr_un, sun_path) + length;
    bool done = RAW3(connect, connection->descriptor, &address, size) == 0;
    if (directory >= 0)
        RAW1(close, directory);
    return done;
}

static bool open_connection(struct recorder_connection *connection)
{
    long descriptor = RAW3(socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return false;
    connection->descriptor = (int)descriptor;
    limit_patience(connection);
    if (user__is_known() && connect_to_trace(connection) && is_recorder(connection->descriptor))
        return true;
    RAW1(close, descriptor);
    return false;
}

/* A recorder that has more to do than this says so, and is waited for again. */
static bool receive_header(struct recorder_connection *connection, struct heurt_plan_answer *header)
{
    uint64_t patience_ns = (uint64_t)heurt_state.settings.patience_ms * 1000000;
    uint64_t end_ns = raw__clock_ns(CLOCK_MONOTONIC) + PATIENCE_AT_WORK * patience_ns;
    do {
        connection->last_ns = raw__clock_ns(CLOCK_MONOTONIC) + patience_ns;
        if (!receive_all(connection, header, sizeof *header))
            return false;
    } while (header->magic == HEURT_PLAN_AT_WORK && connection->last_ns < end_ns);
    return header->magic == HEURT_PLAN_MAGIC;
}

static bool receive_answer(struct recorder_connection *connection, struct answer *answer)
{
    if (!receive_header(connection, &answer->header))
        return false;
    if (!answer->header.bytes)
        return true;
    /* All of it is written at once: a fault for each of hundreds of pages took longer. */
    long memory = RAW6(mmap, 0, answer->header.bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory < 0 && memory > -4096)
        return false;
    answer->plans = (uint8_t *)memory;
    if (receive_all(connection, answer->plans, answer->header.bytes))
        return true;
    RAW2(munmap, memory, answer->header.bytes);
    return false;
}

static bool ask(const void *definitions, size_t bytes, unsigned count,
                enum heurt_plan_subject subject, struct answer *answer)
{
    struct heurt_plan_request request = {.magic = HEURT_PLAN_MAGIC,
                                         .process = heurt_state.process,
                                         .module_count = count,
                                         .bytes = (uint32_t)bytes,
                                         .subject = subject};
    struct recorder_connection connection = {0};
    uint32_t *flags = &heurt_state.session->flags;
    if (__atomic_load_n(flags, __ATOMIC_SEQ_CST) & (HEURT_SESSION_CLOSED | HEURT_SESSION_SILENT) ||
        !open_connection(&connection))
        return false;
    bool done = send_all(&connection, &request, sizeof request) &&
                send_all(&connection, definitions, bytes) && receive_answer(&connection, answer);
    RAW1(close, connection.descriptor);
    if (connection.in_vain)
        __atomic_fetch_or(flags, HEURT_SESSION_SILENT, __ATOMIC_SEQ_CST);
    return done;
}

const char *request__plan(const void *definitions, size_t bytes, unsigned count,
                          enum heurt_plan_subject subject, struct answer *answer)
{
    if (ask(definitions, bytes, count, subject, answer))
        return NULL;
    return subject == HEURT_PLAN_FUNCTIONS
               ? "The recorder did not answer: functions of the modules loaded at this point are "
                 "not instrumented."
               : "The recorder did not answer: waits that libraries loaded at this point make by "
                 "system calls of their own are not seen.";
}
