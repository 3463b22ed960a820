/* Thumbnails: each is made in a fresh mapping, which is given back at once.
 * TRUTH: memory map|page fault; place=make_thumbnail|render|worker
 * Fixed: each thread keeps its mapping. */
#include "truth.h"

#include <pthread.h>
#include <sys/mman.h>

#define BYTES (192 * 1024)
static int fixed;

static uint64_t make_thumbnail(unsigned char *canvas, uint64_t seed)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < BYTES; i += 512) {
        canvas[i] = (unsigned char)(seed >> (i % 40));
        sum += mix(seed + canvas[i], 6);
    }
    return sum;
}

static unsigned char *new_canvas(void)
{
    return mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *worker(void *argument)
{
    uint64_t seed = (uint64_t)(intptr_t)argument;
    unsigned char *kept = new_canvas();
    for (int i = 0; i < 7000; i++) {
        unsigned char *canvas = fixed ? kept : new_canvas();
        seed += make_thumbnail(canvas, seed);
        if (!fixed)
            munmap(canvas, BYTES);
    }
    return (void *)(intptr_t)(seed & 1);
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    fixed = is_fixed(argc, argv);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
