/* names_heap.c: a lock in an object on the heap, that a variable points to where it is taken.
 *
 *     name ADDRESS NAME     a thread certainly waits for it once */
#include "known.h"

#include <pthread.h>
#include <stdlib.h>

struct queue {
    long count;
    struct {
        pthread_mutex_t lock;
    } head;
};

static int tid;

static __attribute__((noinline)) void put(struct queue *jobs)
{
    pthread_mutex_lock(&jobs->head.lock);
    jobs->count++;
    pthread_mutex_unlock(&jobs->head.lock);
}

static void *work(void *queue)
{
    __atomic_store_n(&tid, known__tid(), __ATOMIC_RELEASE);
    put(queue);
    return NULL;
}

int main(void)
{
    struct queue *jobs = calloc(1, sizeof *jobs);
    pthread_t thread;
    pthread_mutex_init(&jobs->head.lock, NULL);
    pthread_mutex_lock(&jobs->head.lock);
    pthread_create(&thread, NULL, work, jobs);
    while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
        known__yield();
    known__await_sleep(tid, &jobs->head.lock, sizeof jobs->head.lock);
    pthread_mutex_unlock(&jobs->head.lock);
    pthread_join(thread, NULL);
    printf("name 0x%llx jobs->head.lock\n", (unsigned long long)(uintptr_t)&jobs->head.lock);
    return 0;
}
