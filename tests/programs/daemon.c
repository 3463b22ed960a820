/* daemon.c: goes into the background, as daemons do, and takes a mutex LOCKS times there.
 *
 *     daemon            ends when it has
 *     daemon FILE       ends when FILE can be opened and read to its end: a pipe of that name
 *
 * The first process, and the one between, end at once. */
#include "known.h"

#include <fcntl.h>

enum { LOCKS = 500 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void wait_for_end(const char *file)
{
    char byte;
    int fd = open(file, O_RDONLY);
    while (fd >= 0 && read(fd, &byte, 1) > 0)
        ;
    close(fd);
}

int main(int argc, char **argv)
{
    if (fork())
        _exit(0);
    setsid();
    if (fork())
        _exit(0);
    int nowhere = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2; fd++)
        dup2(nowhere, fd);
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    if (argc > 1)
        wait_for_end(argv[1]);
    return 0;
}
