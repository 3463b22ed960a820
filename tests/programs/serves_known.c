/* serves_known.c: one thread answers a client of another program, COUNT times; the answer in the
 * middle takes a hundred times as long as the others.
 *
 *     serves_known server SOCKET COUNT     serves_known client SOCKET COUNT
 *
 * By itself, without arguments, it is both, one after the other's fork. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 20000

static void spin(long turns)
{
    for (volatile long i = 0; i < turns; i++)
        continue;
}

struct service {
    int connection;
    long count;
};

/* Until the client goes. */
static void *serve(void *context)
{
    const struct service *service = context;
    char byte;
    for (long i = 0;; i++) {
        struct pollfd asked = {service->connection, POLLIN, 0};
        if (poll(&asked, 1, -1) < 0 || read(service->connection, &byte, 1) != 1)
            return NULL;
        spin(i == service->count / 2 ? 100 * TURNS : TURNS);
        if (write(service->connection, &byte, 1) != 1)
            return NULL;
    }
}

static int run_server(const struct sockaddr_un *address, long count)
{
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    pthread_t thread;
    if (bind(listener, (const struct sockaddr *)address, sizeof *address) < 0 ||
        listen(listener, 1) < 0)
        return 1;
    struct service service = {accept(listener, NULL, NULL), count};
    pthread_create(&thread, NULL, serve, &service);
    pthread_join(thread, NULL);
    return 0;
}

static int run_client(const struct sockaddr_un *address, long count)
{
    int connection = socket(AF_UNIX, SOCK_STREAM, 0);
    char byte = 'a';
    while (connect(connection, (const struct sockaddr *)address, sizeof *address) < 0)
        usleep(1000);
    for (long i = 0; i < count; i++)
        if (write(connection, &byte, 1) != 1 || read(connection, &byte, 1) != 1)
            return 1;
    close(connection);
    return 0;
}

static int run_both(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/serves_known.%d", (int)getpid());
    pid_t server = fork();
    if (server == 0)
        _exit(run_server(&address, 10));
    int status, failed = run_client(&address, 10);
    waitpid(server, &status, 0);
    unlink(address.sun_path);
    return failed || status != 0;
}

int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (argc == 1)
        return run_both();
    if (argc != 4)
        return 2;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[2]);
    return strcmp(argv[1], "server") == 0 ? run_server(&address, atol(argv[3]))
                                          : run_client(&address, atol(argv[3]));
}
