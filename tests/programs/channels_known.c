/* Moves eight bytes through one of each kind of channel, and prints its two descriptors:
 * KIND=FROM,TO. */
#include "known.h"

#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void move(const char *kind, int from, int to)
{
    char data[8] = {1};
    KNOWN_CHECK(write(from, data, sizeof data) == sizeof data);
    KNOWN_CHECK(read(to, data, sizeof data) == sizeof data);
    printf("%s=%d,%d\n", kind, from, to);
}

static void connect_and_move(const char *kind, int family, struct sockaddr *address,
                             socklen_t length)
{
    int listener = socket(family, SOCK_STREAM, 0), client = socket(family, SOCK_STREAM, 0);
    KNOWN_CHECK(bind(listener, address, length) == 0 && listen(listener, 1) == 0);
    KNOWN_CHECK(getsockname(listener, address, &length) == 0);
    KNOWN_CHECK(connect(client, address, length) == 0);
    int server = accept(listener, NULL, NULL);
    KNOWN_CHECK(server >= 0);
    move(kind, client, server);
}

int main(void)
{
    int ends[2];
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    KNOWN_CHECK(pipe(ends) == 0);
    move("pipe", ends[1], ends[0]);
    KNOWN_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    move("pair", ends[0], ends[1]);
    ends[0] = ends[1] = eventfd(0, 0);
    move("eventfd", ends[0], ends[1]);
    connect_and_move("internet", AF_INET, (struct sockaddr *)&place, sizeof place);
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "heurt-channels-%d", (int)getpid());
    connect_and_move(
        "unix", AF_UNIX, (struct sockaddr *)&name,
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name.sun_path + 1)));
    return 0;
}
