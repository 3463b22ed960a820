/* malloc is told to use one arena, to save memory; all threads make and free messages.
 * TRUTH: allocator|lock; place=handle|make_message|worker|malloc|free
 * Fixed: as many arenas as malloc likes. */
#include "truth.h"

#include <malloc.h>
#include <pthread.h>

struct message {
    struct message *next;
    size_t length;
    char text[];
};

static struct message *make_message(struct message *next, size_t length)
{
    struct message *message = malloc(sizeof *message + length);
    message->next = next;
    message->length = length;
    memset(message->text, (int)length, 16);
    return message;
}

static void *handle(void *argument)
{
    uint64_t seed = (uint64_t)(intptr_t)argument, sum = 0;
    for (int i = 0; i < 20000; i++) {
        struct message *list = NULL;
        for (int k = 0; k < 30; k++) {
            seed = mix(seed, 2);
            list = make_message(list, 1100 + seed % 3000);
        }
        while (list) {
            struct message *next = list->next;
            sum += list->length;
            free(list);
            list = next;
        }
    }
    return (void *)(intptr_t)(sum & 1);
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    if (!is_fixed(argc, argv))
        mallopt(M_ARENA_MAX, 1);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, handle, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
