/* A program that uses memory in one way, and tells how fast it was: what heurt induce is held
 * against.
 *
 *     induce_probe stream|private|shared
 *
 *     stream   reads 256 MiB again and again: GB/s
 *     private  follows a chain through 256 KiB, which its own caches hold: steps/us
 *     shared   follows one through an eighth of the largest cache, which it has read before, rests
 *              for 50 ms, and follows it again: steps/us of that one round */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define STREAM_BYTES (256ul << 20)
#define PRIVATE_BYTES (256ul << 10)
#define LINE 64
#define SECONDS 0.5
#define REST_NS 50000000

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *memory(size_t bytes)
{
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        exit(1);
    madvise(start, bytes, MADV_HUGEPAGE);
    memset(start, 1, bytes);
    return start;
}

static double stream(void)
{
    volatile uint64_t *words = memory(STREAM_BYTES);
    double start = now(), bytes = 0;
    for (; now() - start < SECONDS; bytes += STREAM_BYTES)
        for (size_t i = 0; i < STREAM_BYTES / sizeof *words; i += LINE / sizeof *words)
            (void)words[i];
    return bytes / (now() - start) / 1e9;
}

/* Lines in an order that no prefetcher knows (Sattolo's cycle). */
static void **chain(size_t bytes)
{
    size_t count = bytes / LINE;
    char *lines = memory(bytes);
    uint32_t *order = malloc(count * sizeof *order);
    uint64_t state = 1;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t i = count - 1; i; i--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t other = (state >> 33) % i;
        uint32_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (size_t i = 0; i < count; i++)
        *(void **)(lines + LINE * (size_t)order[i]) = lines + LINE * (size_t)order[(i + 1) % count];
    free(order);
    return (void **)lines;
}

static void **follow(void **at, size_t steps)
{
    while (steps--)
        at = *(void **volatile *)at;
    return at;
}

static double private_steps(void)
{
    void **at = chain(PRIVATE_BYTES);
    double start = now(), steps = 0;
    for (; now() - start < SECONDS; steps += 1e6)
        at = follow(at, 1000000);
    return steps / (now() - start) / 1e6;
}

static size_t cache_bytes(void)
{
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "re");
    unsigned long kib = 8192;
    if (file && fscanf(file, "%lu", &kib) != 1)
        kib = 8192;
    if (file)
        fclose(file);
    return kib << 10;
}

static double shared_steps(void)
{
    size_t bytes = cache_bytes() / 8, count = bytes / LINE;
    void **at = chain(bytes);
    double steps = 0, spent = 0;
    for (int i = 0; i < 10; i++) {
        at = follow(at, 2 * count); /* it is in the cache now */
        nanosleep(&(struct timespec){0, REST_NS}, NULL);
        double start = now();
        at = follow(at, count);
        spent += now() - start;
        steps += (double)count;
    }
    return steps / spent / 1e6;
}

int main(int count, char **words)
{
    const char *kind = count > 1 ? words[1] : "private";
    printf("%s %.3f\n", kind,
           strcmp(kind, "stream") == 0   ? stream()
           : strcmp(kind, "shared") == 0 ? shared_steps()
                                         : private_steps());
}
