/* A thread for every small request.
 * TRUTH: creation|join; place=accept_all|main|handle
 * Fixed: two threads that take requests by number. */
#include "truth.h"

#include <pthread.h>
#include <stdatomic.h>

#define REQUESTS 12000
static atomic_int next_request;
static _Atomic uint64_t answers;

static void handle(uint64_t request)
{
    atomic_fetch_add(&answers, mix(request, 8000));
}

static void *handle_one(void *argument)
{
    handle((uint64_t)(intptr_t)argument);
    return NULL;
}

static void *handle_many(void *argument)
{
    (void)argument;
    for (int i; (i = atomic_fetch_add(&next_request, 1)) < REQUESTS;)
        handle((uint64_t)i);
    return NULL;
}

static void accept_all(void)
{
    for (intptr_t i = 0; i < REQUESTS; i += 2) {
        pthread_t threads[2];
        for (int k = 0; k < 2; k++)
            pthread_create(&threads[k], NULL, handle_one, (void *)(i + k));
        for (int k = 0; k < 2; k++)
            pthread_join(threads[k], NULL);
    }
}

int main(int argc, char **argv)
{
    if (is_fixed(argc, argv)) {
        pthread_t other;
        pthread_create(&other, NULL, handle_many, NULL);
        handle_many(NULL);
        pthread_join(other, NULL);
    } else
        accept_all();
    return answers == 0;
}
