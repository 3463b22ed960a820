/* Two writers append to a journal, each record with an fdatasync of its own, under a mutex.
 * TRUTH: disk|lock; place=append|commit|writer; object=journal|mutex|/
 * Fixed: one fdatasync for 50 records. */
#include "truth.h"

#include <pthread.h>
#include <unistd.h>

#define RECORDS 400
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int journal, group = 1, pending;

static void append(const char *record, size_t length)
{
    pthread_mutex_lock(&mutex);
    if (write(journal, record, length) == (ssize_t)length && ++pending >= group) {
        fdatasync(journal);
        pending = 0;
    }
    pthread_mutex_unlock(&mutex);
}

static void *writer(void *argument)
{
    char record[512] = {0};
    uint64_t seed = (uint64_t)(intptr_t)argument;
    for (int i = 0; i < RECORDS; i++) {
        seed = mix(seed, 300000);
        memcpy(record, &seed, sizeof seed);
        append(record, sizeof record);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    char name[] = "/var/tmp/journal-XXXXXX";
    pthread_t threads[2];
    group = is_fixed(argc, argv) ? 50 : 1;
    journal = mkstemp(name);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, writer, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    close(journal);
    unlink(name);
    return 0;
}
