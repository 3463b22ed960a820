/* A reader gives records to a hasher through a queue that has room for one.
 * TRUTH: condition|lock; place=queue_(put|get)|produce|consume; object=filled|emptied|mutex|queue
 * Fixed: room for 512, and whoever waits is woken when half of it is there. */
#include "truth.h"

#include <pthread.h>

#define RECORDS 60000
#define ROOM 512

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t filled, emptied;
    uint64_t items[ROOM];
    unsigned head, tail, room;
};

static struct queue queue = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                             .filled = PTHREAD_COND_INITIALIZER,
                             .emptied = PTHREAD_COND_INITIALIZER,
                             .room = 1};

static void queue_put(struct queue *q, uint64_t item)
{
    pthread_mutex_lock(&q->mutex);
    while (q->tail - q->head == q->room)
        pthread_cond_wait(&q->emptied, &q->mutex);
    q->items[q->tail++ % ROOM] = item;
    if (q->tail - q->head >= (q->room + 1) / 2 || item == RECORDS)
        pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->mutex);
}

static unsigned queue_get(struct queue *q, uint64_t *items)
{
    pthread_mutex_lock(&q->mutex);
    while (q->tail == q->head)
        pthread_cond_wait(&q->filled, &q->mutex);
    unsigned count = 0;
    while (q->head != q->tail)
        items[count++] = q->items[q->head++ % ROOM];
    pthread_cond_signal(&q->emptied);
    pthread_mutex_unlock(&q->mutex);
    return count;
}

static void *produce(void *argument)
{
    uint64_t seed = 5;
    (void)argument;
    for (uint64_t i = 1; i <= RECORDS; i++) {
        seed = mix(seed, 1500);
        queue_put(&queue, seed && i < RECORDS ? i : RECORDS);
    }
    return NULL;
}

static void *consume(void *argument)
{
    uint64_t *sum = argument, items[ROOM];
    for (int end = 0; !end;) {
        unsigned count = queue_get(&queue, items);
        for (unsigned i = 0; i < count; i++) {
            *sum += mix(items[i], 1500);
            end |= items[i] == RECORDS;
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t producer, consumer;
    uint64_t sum = 0;
    if (is_fixed(argc, argv))
        queue.room = ROOM;
    pthread_create(&consumer, NULL, consume, &sum);
    pthread_create(&producer, NULL, produce, NULL);
    pthread_join(producer, NULL);
    pthread_join(consumer, NULL);
    printf("%lx\n", (unsigned long)sum);
    return 0;
}
