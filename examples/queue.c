/* queue.c: a work queue that all threads share.
 *
 * Interference   With one lock, whoever appends waits for whoever takes, though they touch
 *                different ends.  --delay turns are spent at each end while its lock is held.
 * See it         heurt ./queue
 *                The waits in queue__append and queue__take are for the same lock, held by both.
 * Cure           --locks 2: one lock for the head and one for the tail, after Michael and Scott,
 *                "Simple, Fast, and Practical Non-Blocking and Blocking Concurrent Queue
 *                Algorithms" (1996).  A dummy node keeps the two ends apart, so that they meet in
 *                one atomic pointer only.
 */
#include "example.h"

struct node {
    _Atomic(struct node *) next;
    long value;
};

struct queue {
    _Alignas(CACHE_LINE_BYTES) pthread_mutex_t head_lock;
    struct node *head; /* the dummy: the value before the first */
    _Alignas(CACHE_LINE_BYTES) pthread_mutex_t own_tail_lock;
    struct node *tail;
    pthread_mutex_t *tail_lock; /* own_tail_lock, or head_lock when there is one lock */
    long delay;
};

static void queue__init(struct queue *queue, struct node *dummy, long locks, long delay)
{
    pthread_mutex_init(&queue->head_lock, NULL);
    pthread_mutex_init(&queue->own_tail_lock, NULL);
    queue->tail_lock = locks == 1 ? &queue->head_lock : &queue->own_tail_lock;
    queue->head = queue->tail = dummy;
    queue->delay = delay;
}

/* Not static, so that they keep their names for heurt record -f. */
__attribute__((noinline)) void queue__append(struct queue *queue, struct node *node);
__attribute__((noinline)) struct node *queue__take(struct queue *queue, long *value);

void queue__append(struct queue *queue, struct node *node)
{
    atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
    pthread_mutex_lock(queue->tail_lock);
    busy(queue->delay);
    atomic_store_explicit(&queue->tail->next, node, memory_order_release);
    queue->tail = node;
    pthread_mutex_unlock(queue->tail_lock);
}

/* Takes the first value; returns the node that is free now, or NULL when the queue is empty. */
struct node *queue__take(struct queue *queue, long *value)
{
    pthread_mutex_lock(&queue->head_lock);
    busy(queue->delay);
    struct node *dummy = queue->head;
    struct node *first = atomic_load_explicit(&dummy->next, memory_order_acquire);
    if (first) {
        *value = first->value;
        queue->head = first;
    }
    pthread_mutex_unlock(&queue->head_lock);
    return first ? dummy : NULL;
}

struct shared {
    struct queue queue;
    struct node *nodes; /* the dummy, and one a thread */
    long iterations, work;
    atomic_long taken_sum, empty;
};

static void work(long index, void *argument)
{
    struct shared *shared = argument;
    struct node *node = &shared->nodes[index + 1];
    uint64_t random = 88172645463325252u + (uint64_t)index;
    long sum = 0;
    for (long i = 0; i < shared->iterations; i++) {
        long value = 0;
        node->value = i;
        queue__append(&shared->queue, node);
        busy(example__about(shared->work, &random));
        /* Not empty: what this thread appended, or another for it, is still there. */
        node = queue__take(&shared->queue, &value);
        if (!node) {
            atomic_fetch_add(&shared->empty, 1);
            return;
        }
        sum += value;
        busy(example__about(shared->work, &random));
    }
    atomic_fetch_add(&shared->taken_sum, sum);
}

int main(int argc, char **argv)
{
    struct shared *shared = example__aligned(sizeof *shared);
    long threads = example__cpus(), locks = 1, delay = 400;
    shared->iterations = 5000;
    shared->work = 400;
    const struct example_option options[] = {
        {"threads", .number = &threads, .help = "how many threads"},
        {"iterations", .number = &shared->iterations, .help = "values of each thread"},
        {"work", .number = &shared->work, .help = "busy turns between two uses of the queue"},
        {"delay", .number = &delay, .help = "busy turns at an end, its lock held"},
        {"locks", .number = &locks, .help = "1, or cure: 2"},
        {NULL},
    };
    example__options(argc, argv, options);
    if (locks != 1 && locks != 2)
        example__wrong(argv[0], options, "--locks is 1 or 2");
    shared->nodes = example__aligned(sizeof(struct node) * (EXAMPLE_THREADS_MAX + 1));
    queue__init(&shared->queue, &shared->nodes[0], locks, delay);
    uint64_t elapsed_ns = crew__run(threads, work, shared, NULL);
    long expected = threads * (shared->iterations * (shared->iterations - 1) / 2);
    if (atomic_load(&shared->empty) || atomic_load(&shared->taken_sum) != expected) {
        fprintf(stderr, "queue: values were lost or doubled\n");
        return 1;
    }
    example__result(elapsed_ns, 2 * threads * shared->iterations);
    free(shared->nodes);
    free(shared);
    return 0;
}
