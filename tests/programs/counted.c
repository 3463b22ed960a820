/* counted FILE ROUNDS: threads that take a lock and call a function so often, and count both in a
 * file as they go, so that what a program had done when it was killed is known. Prints the sum and
 * ends with 3.
 *
 * The file holds numbers of 64 bits: the program's pid, then of each thread what it has done. */
#include "known.h"

#include <sys/mman.h>

enum { THREADS = 3, STATUS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long rounds, sum;
static volatile uint64_t *done; /* [1 + THREADS] */

KNOWN_FUNCTION static void counted_call(long round)
{
    for (volatile long turn = 0; turn < 200 + round % 50; turn = turn + 1)
        ;
}

static void *work(void *own)
{
    for (long round = 0; round < rounds; round++) {
        pthread_mutex_lock(&lock);
        sum++;
        pthread_mutex_unlock(&lock);
        counted_call(round);
        ++*(volatile uint64_t *)own;
    }
    return NULL;
}

int main(int count, char **arguments)
{
    KNOWN_CHECK(count == 3);
    rounds = atol(arguments[2]);
    int file = open(arguments[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    size_t bytes = (1 + THREADS) * sizeof *done;
    KNOWN_CHECK(file >= 0 && ftruncate(file, (off_t)bytes) == 0);
    done = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    KNOWN_CHECK(done != MAP_FAILED);
    done[0] = (uint64_t)getpid();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, work, (void *)&done[1 + i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    known__number("sum", sum);
    return STATUS;
}
