/* page_app.c: the ./app of the manual's examples. It has what they name: threads worker-1 ...
 * worker-4, the lock queue_lock, taken in queue__append, which each worker has to wait for once,
 * and the functions load_config, parse, which varies with its argument, and parse_chunk. Arguments
 * mean nothing. */
#include "known.h"

#include <stdlib.h>
#include <sys/prctl.h>

enum { WORKERS = 4, ROUNDS = 200, WORK = 4000 };

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static int tids[WORKERS];
static unsigned long sum;

static KNOWN_FUNCTION void compute(long amount)
{
    for (volatile long i = 0; i < amount; i++)
        ;
}

static KNOWN_FUNCTION void load_config(void)
{
    compute(WORK);
}

static KNOWN_FUNCTION void parse_chunk(long amount)
{
    compute(amount);
}

static KNOWN_FUNCTION void parse(const char *text, long size)
{
    (void)text;
    parse_chunk(size * WORK);
}

static KNOWN_FUNCTION void queue__append(unsigned long item)
{
    pthread_mutex_lock(&queue_lock);
    sum += item;
    compute(WORK / 4);
    pthread_mutex_unlock(&queue_lock);
}

static void *work(void *number)
{
    char name[32];
    long worker = (long)(intptr_t)number;
    snprintf(name, sizeof name, "worker-%ld", worker + 1);
    prctl(PR_SET_NAME, name);
    __atomic_store_n(&tids[worker], known__tid(), __ATOMIC_RELEASE);
    for (long round = 0; round < ROUNDS; round++) {
        queue__append((unsigned long)round);
        parse("text", 1 + round % 3);
    }
    return NULL;
}

/* Until all wait for it, the lock is not given. */
int main(void)
{
    pthread_t threads[WORKERS];
    load_config();
    pthread_mutex_lock(&queue_lock);
    for (long i = 0; i < WORKERS; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < WORKERS; i++) {
        int tid;
        while (!(tid = __atomic_load_n(&tids[i], __ATOMIC_ACQUIRE)))
            known__yield();
        known__await_sleep(tid, &queue_lock, sizeof queue_lock);
    }
    pthread_mutex_unlock(&queue_lock);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    load_config();
    return sum == 0;
}
