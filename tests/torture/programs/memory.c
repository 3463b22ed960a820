/* memory.c: a program with much allocation on several threads; with OWN_MALLOC it brings a malloc
 * of its own, whose functions are recorded, too, and which would notice anybody that calls it where
 * it does not expect it. */
#include "known.h"

#include <malloc.h>
#include <sys/mman.h>

enum { THREADS = 4, CALLS = 2000, HELD = 32 };

#ifdef OWN_MALLOC
/* A bump allocator that never frees: one area, one atomic addition. */
enum { AREA_BYTES = 1 << 28 };
static char *area;
static size_t used;
static __thread int inside;

KNOWN_FUNCTION static void *t_take(size_t bytes)
{
    if (inside++)
        _exit(99); /* allocates while it allocates */
    if (!__atomic_load_n(&area, __ATOMIC_SEQ_CST)) {
        char *mine = mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        char *nobody = NULL;
        __atomic_compare_exchange_n(&area, &nobody, mine, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
    size_t at = __atomic_fetch_add(&used, ((bytes + 15) & ~15ul) + 16, __ATOMIC_SEQ_CST);
    inside--;
    if (at + bytes + 16 > AREA_BYTES)
        return NULL;
    *(size_t *)(area + at) = bytes;
    return area + at + 16;
}

void *malloc(size_t bytes)
{
    return t_take(bytes);
}
void free(void *memory)
{
    (void)memory;
}
void *calloc(size_t count, size_t bytes)
{
    return t_take(count * bytes); /* fresh pages are zero */
}
void *realloc(void *old, size_t bytes)
{
    char *memory = t_take(bytes);
    if (old && memory) {
        size_t had = ((size_t *)old)[-2];
        for (size_t i = 0; i < (had < bytes ? had : bytes); i++)
            memory[i] = ((char *)old)[i];
    }
    return memory;
}
void *memalign(size_t alignment, size_t bytes)
{
    char *memory = t_take(bytes + alignment);
    return memory + (alignment - (uintptr_t)memory % alignment) % alignment;
}
void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}
int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    *memory = memalign(alignment, bytes);
    return 0;
}
#endif

KNOWN_FUNCTION static char *t_allocates(size_t bytes, int value)
{
    char *memory = malloc(bytes);
    KNOWN_CHECK(memory != NULL);
    memset(memory, value, bytes);
    return memory;
}

KNOWN_FUNCTION static void t_releases(char *memory)
{
    __asm__ volatile("");
    free(memory);
}

KNOWN_FUNCTION static long t_copies(long a, long b, long c, long d, long e, long f, char *text)
{
    char *copy = strdup(text);
    long sum = a + b + c + d + e + f + (long)strlen(copy);
    free(copy);
    return sum;
}

static void *work(void *sum)
{
    char *held[HELD] = {NULL};
    for (int i = 0; i < CALLS; i++) {
        int place = i % HELD;
        if (held[place])
            t_releases(held[place]);
        held[place] = t_allocates((size_t)(i * 37 % 3000 + 2), 'a' + i % 26);
        held[place][1] = 0;
        *(long *)sum += t_copies(1, 2, 3, 4, 5, 6, held[place]) + held[place][0];
        if (i % 100 == 0)
            held[place] = realloc(held[place], 10000);
    }
    for (int i = 0; i < HELD; i++)
        t_releases(held[i]);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    long sums[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, work, &sums[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        printf("%ld\n", sums[i]);
    known__count("t_allocates", THREADS * CALLS);
    known__count("t_releases", THREADS * CALLS);
    known__count("t_copies", THREADS * CALLS);
#ifdef KNOWN_ADDRESS_SANITIZER /* whose free(3) notes its caller */
    known__refusable("t_releases", "looks at its return address");
#endif
    return 0;
}
