/* A client thread asks a server thread over a socketpair, question by question.
 * TRUTH: network|message|pipe|polling; place=ask|client|serve|read_all
 * Fixed: 64 questions in a message, and the next are sent before the answers are read. */
#include "truth.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#define QUESTIONS 64000
static int ends[2], batch = 1;

static int read_all(int fd, void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = read(fd, (char *)data + done, size - done);
        if (n <= 0)
            return 0;
        done += (size_t)n;
    }
    return 1;
}

static void *serve(void *argument)
{
    uint64_t keys[64];
    size_t size = (size_t)batch * sizeof *keys;
    (void)argument;
    while (read_all(ends[1], keys, size)) {
        for (int i = 0; i < batch; i++)
            keys[i] = mix(keys[i], 1400);
        if (write(ends[1], keys, size) < 0)
            break;
    }
    return NULL;
}

static void *client(void *argument)
{
    uint64_t *sum = argument, keys[64] = {0};
    size_t size = (size_t)batch * sizeof *keys;
    uint64_t count = QUESTIONS / (uint64_t)batch, ahead = batch > 1 ? 4 : 1, answers[64] = {0};
    for (uint64_t i = 0; i < count + ahead - 1; i++) {
        for (int k = 0; k < batch; k++)
            keys[k] = mix(i, 1500);
        if (i < count && write(ends[0], keys, size) < 0)
            break;
        if (i + 1 >= ahead && !read_all(ends[0], answers, size))
            break;
        *sum += answers[0];
    }
    close(ends[0]);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t server, asker;
    uint64_t sum = 0;
    batch = is_fixed(argc, argv) ? 64 : 1;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 1;
    pthread_create(&server, NULL, serve, NULL);
    pthread_create(&asker, NULL, client, &sum);
    pthread_join(asker, NULL);
    pthread_join(server, NULL);
    printf("%lx\n", (unsigned long)sum);
    return 0;
}
