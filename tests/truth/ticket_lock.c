/* A histogram under a ticket lock that its writers spin for; a value is weighed while it is held.
 * TRUTH: spinning; place=ticket_(lock|take)|count|add
 * Fixed: weighed before the lock is taken. */
#include "truth.h"

#include <pthread.h>
#include <stdatomic.h>

struct ticket_lock {
    atomic_uint next, serving;
};

static struct ticket_lock lock;
static uint64_t histogram[256];
static int fixed;

static void ticket_take(struct ticket_lock *l)
{
    unsigned mine = atomic_fetch_add(&l->next, 1);
    while (atomic_load_explicit(&l->serving, memory_order_acquire) != mine)
        __builtin_ia32_pause();
}

static void ticket_give(struct ticket_lock *l)
{
    atomic_fetch_add_explicit(&l->serving, 1, memory_order_release);
}

static void add(uint64_t value)
{
    uint64_t weight = fixed ? mix(value, 4000) : 0;
    ticket_take(&lock);
    if (!fixed)
        weight = mix(value, 4000);
    histogram[weight % 256] += value;
    ticket_give(&lock);
}

static void *count(void *argument)
{
    uint64_t value = (uint64_t)(intptr_t)argument;
    for (int i = 0; i < 60000; i++) {
        value = mix(value, 400);
        add(value);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    fixed = is_fixed(argc, argv);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lx\n", (unsigned long)histogram[3]);
    return 0;
}
