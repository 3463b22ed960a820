/* load_memcached.c: a load of known size for memcached, over its text protocol.
 *
 *     load_memcached [--port N | --socket PATH] [--connections N] [--operations N]
 *                    [--value-bytes N] [--keys N] [--wait SECONDS]
 *
 * Every connection has a thread of its own, which sets each of its keys once and then does
 * OPERATIONS operations, every fifth a set and the others gets, and checks every value that it
 * gets.  Prints sets, gets and elapsed_ns; ends with 1 on any wrong answer.  --wait: how long the
 * server may take to listen. */
#include "known.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { SET_EVERY = 5, CONNECTIONS_MAX = 1024, VALUE_MAX = 64 * 1024, LINE_MAX_BYTES = 256 };

static struct load {
    long port, connections, operations, value_bytes, keys, wait_s;
    const char *socket;
} load = {.port = 11211,
          .connections = 4,
          .operations = 2000,
          .value_bytes = 100,
          .keys = 100,
          .wait_s = 5};

struct connection {
    pthread_t thread;
    long index;
    int descriptor;
    long sets, gets;
    long *versions; /* of each key: what was set last */
    char *value;    /* value_bytes */
    char *received; /* bytes not yet used: received[used … filled) */
    size_t used, filled, capacity;
};

static void fail(const struct connection *connection, const char *what)
{
    fprintf(stderr, "load_memcached: connection %ld: %s\n", connection->index, what);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the wire -------------------------------------------------------------------------------- */

static int connect_once(void)
{
    if (load.socket) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        snprintf(address.sun_path, sizeof address.sun_path, "%s", load.socket);
        int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0)
            return descriptor;
        close(descriptor);
        return -1;
    }
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)load.port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) {
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        return descriptor;
    }
    close(descriptor);
    return -1;
}

static void connection__open(struct connection *connection)
{
    uint64_t deadline_ns = now_ns() + (uint64_t)load.wait_s * 1000000000u;
    struct timespec pause = {0, 10000000};
    while ((connection->descriptor = connect_once()) < 0) {
        if (now_ns() > deadline_ns)
            fail(connection, "no server listens");
        nanosleep(&pause, NULL);
    }
}

static void send_all(struct connection *connection, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(connection->descriptor, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            fail(connection, "the server closed the connection");
        bytes += sent;
        length -= (size_t)sent;
    }
}

/* Makes at least length bytes lie in received from used on. */
static void receive(struct connection *connection, size_t length)
{
    memmove(connection->received, connection->received + connection->used,
            connection->filled - connection->used);
    connection->filled -= connection->used;
    connection->used = 0;
    while (connection->filled < length) {
        ssize_t got = recv(connection->descriptor, connection->received + connection->filled,
                           connection->capacity - connection->filled, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            fail(connection, "the server closed the connection");
        connection->filled += (size_t)got;
    }
}

/* One line without its end; valid until the next receive. */
static const char *receive_line(struct connection *connection)
{
    for (;;) {
        char *start = connection->received + connection->used;
        size_t length = connection->filled - connection->used;
        char *end = memchr(start, '\n', length);
        if (end) {
            connection->used += (size_t)(end - start) + 1;
            end[end > start && end[-1] == '\r' ? -1 : 0] = '\0';
            return start;
        }
        if (length >= LINE_MAX_BYTES)
            fail(connection, "a line has no end");
        receive(connection, length + 1);
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

static void fill_value(struct connection *connection, long key)
{
    uint64_t state = (uint64_t)(connection->index + 1) << 40 ^ (uint64_t)(key + 1) << 20 ^
                     (uint64_t)connection->versions[key];
    for (long i = 0; i < load.value_bytes; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        connection->value[i] = (char)('a' + (state >> 59) % 26);
    }
}

static void set(struct connection *connection, long key)
{
    char line[LINE_MAX_BYTES];
    connection->versions[key]++;
    fill_value(connection, key);
    int length = snprintf(line, sizeof line, "set heurt-%ld-%ld 0 0 %ld\r\n", connection->index,
                          key, load.value_bytes);
    send_all(connection, line, (size_t)length);
    send_all(connection, connection->value, (size_t)load.value_bytes);
    send_all(connection, "\r\n", 2);
    if (strcmp(receive_line(connection), "STORED") != 0)
        fail(connection, "a set was not stored");
    connection->sets++;
}

static void get(struct connection *connection, long key)
{
    char line[LINE_MAX_BYTES];
    long index, number, flags, bytes;
    size_t length = (size_t)load.value_bytes;
    int sent = snprintf(line, sizeof line, "get heurt-%ld-%ld\r\n", connection->index, key);
    send_all(connection, line, (size_t)sent);
    if (sscanf(receive_line(connection), "VALUE heurt-%ld-%ld %ld %ld", &index, &number, &flags,
               &bytes) != 4 ||
        index != connection->index || number != key || bytes != load.value_bytes)
        fail(connection, "a get brought no value or another one");
    if (connection->filled - connection->used < length + 2)
        receive(connection, length + 2);
    fill_value(connection, key);
    if (memcmp(connection->received + connection->used, connection->value, length) != 0)
        fail(connection, "a value is not what was set");
    connection->used += length + 2;
    if (strcmp(receive_line(connection), "END") != 0)
        fail(connection, "a get has no end");
    connection->gets++;
}

static void *run(void *argument)
{
    struct connection *connection = argument;
    uint64_t random = (uint64_t)connection->index * 2 + 1;
    for (long key = 0; key < load.keys; key++)
        set(connection, key);
    for (long i = 0; i < load.operations; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        long key = (long)((random >> 33) % (uint64_t)load.keys);
        if (i % SET_EVERY == 0)
            set(connection, key);
        else
            get(connection, key);
    }
    return NULL;
}

static void connection__init(struct connection *connection, long index)
{
    connection->index = index;
    connection->capacity = (size_t)load.value_bytes + 4 * LINE_MAX_BYTES;
    connection->versions = calloc((size_t)load.keys, sizeof *connection->versions);
    connection->value = malloc((size_t)load.value_bytes + 1);
    connection->received = malloc(connection->capacity);
    if (!connection->versions || !connection->value || !connection->received)
        fail(connection, "out of memory");
    connection__open(connection);
}

static void connection__close(struct connection *connection)
{
    close(connection->descriptor);
    free(connection->versions);
    free(connection->value);
    free(connection->received);
}

static void wrong_usage(const char *program)
{
    fprintf(stderr,
            "usage: %s [--port N | --socket PATH] [--connections N] [--operations N] "
            "[--value-bytes N] [--keys N] [--wait SECONDS]\n",
            program);
    exit(2);
}

static void read_options(int argc, char **argv)
{
    const struct {
        const char *name;
        long *number;
        long least, most;
    } options[] = {
        {"--port", &load.port, 1, 65535},
        {"--connections", &load.connections, 1, CONNECTIONS_MAX},
        {"--operations", &load.operations, 0, 1000000000},
        {"--value-bytes", &load.value_bytes, 1, VALUE_MAX},
        {"--keys", &load.keys, 1, 1000000},
        {"--wait", &load.wait_s, 0, 3600},
    };
    const size_t count = sizeof options / sizeof options[0];
    for (int i = 1; i < argc; i += 2) {
        size_t option = 0;
        if (i + 1 == argc)
            wrong_usage(argv[0]);
        if (strcmp(argv[i], "--socket") == 0) {
            load.socket = argv[i + 1];
            continue;
        }
        while (option < count && strcmp(argv[i], options[option].name) != 0)
            option++;
        char *end = NULL;
        long value = strtol(argv[i + 1], &end, 10);
        if (option == count || *end || value < options[option].least ||
            value > options[option].most)
            wrong_usage(argv[0]);
        *options[option].number = value;
    }
}

int main(int argc, char **argv)
{
    static struct connection connections[CONNECTIONS_MAX];
    long sets = 0, gets = 0;
    read_options(argc, argv);
    for (long i = 0; i < load.connections; i++)
        connection__init(&connections[i], i);
    uint64_t start_ns = now_ns();
    for (long i = 0; i < load.connections; i++)
        if (pthread_create(&connections[i].thread, NULL, run, &connections[i]) != 0)
            fail(&connections[i], "cannot create its thread");
    for (long i = 0; i < load.connections; i++) {
        pthread_join(connections[i].thread, NULL);
        sets += connections[i].sets;
        gets += connections[i].gets;
        connection__close(&connections[i]);
    }
    known__number("connections", load.connections);
    known__number("sets", sets);
    known__number("gets", gets);
    known__number("elapsed_ns", (long long)(now_ns() - start_ns));
    return 0;
}
