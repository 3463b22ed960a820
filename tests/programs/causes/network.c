/* Each call asks a server on this machine, which takes its time for some of the answers.
 * --cure: it answers at once. */
#include "cause.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static int client, server;
static bool cured;

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    char answer;
    cause__compute(amount);
    injected__begin(thread);
    KNOWN_CHECK(send(client, "?", 1, 0) == 1);
    KNOWN_CHECK(recv(client, &answer, 1, 0) == 1);
    injected__end(thread, 0);
}

static void serve(struct cause_thread *thread)
{
    char question;
    for (unsigned i = 0; i < thread->cause->calls; i++) {
        KNOWN_CHECK(recv(server, &question, 1, 0) == 1);
        if (!cured && cause__draw(thread, 2))
            cause__rest_us(200 + cause__draw(thread, 400));
        KNOWN_CHECK(send(server, "!", 1, 0) == 1);
    }
}

static unsigned long prepare(struct cause_thread *thread)
{
    cause__rest_us(cause__draw(thread, 50));
    return 50000;
}

static void quick(int connection)
{
    const int yes = 1;
    KNOWN_CHECK(setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0);
}

int main(int count, char **words)
{
    cured = cause__read(count, words);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    client = socket(AF_INET, SOCK_STREAM, 0);
    KNOWN_CHECK(bind(listener, (struct sockaddr *)&address, bytes) == 0);
    KNOWN_CHECK(listen(listener, 1) == 0);
    KNOWN_CHECK(getsockname(listener, (struct sockaddr *)&address, &bytes) == 0);
    KNOWN_CHECK(connect(client, (struct sockaddr *)&address, bytes) == 0);
    server = accept(listener, NULL, NULL);
    KNOWN_CHECK(server >= 0);
    quick(client);
    quick(server);
    return cause__run(&(struct cause){.name = "network",
                                      .parts = {"network"},
                                      .threads = 1,
                                      .calls = 800,
                                      .prepare = prepare,
                                      .background = serve});
}
