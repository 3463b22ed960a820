/* strict_allocator.c: an allocator to be preloaded that ends the program when it gets back what it
 * did not give. Its own constructor allocates, as those of other libraries may do before anybody
 * else is ready. It never uses memory again. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define BYTES ((size_t)64 << 20)

static struct {
    size_t used;
    _Alignas(4096) char bytes[BYTES];
} own;

static void check(const void *object)
{
    static const char said[] = "strict_allocator: that is not mine\n";
    const char *at = object;
    if (!object || (at >= own.bytes && at < own.bytes + BYTES))
        return;
    (void)!write(STDERR_FILENO, said, sizeof said - 1);
    abort();
}

/* Its size stands in front of it. */
static void *give(size_t alignment, size_t bytes)
{
    alignment = alignment < 16 ? 16 : alignment;
    size_t at = __atomic_fetch_add(&own.used, bytes + 2 * alignment, __ATOMIC_RELAXED);
    if (bytes > BYTES || at + bytes + 2 * alignment > BYTES)
        return NULL;
    uintptr_t object = ((uintptr_t)own.bytes + at + 2 * alignment - 1) / alignment * alignment;
    memcpy((char *)object - sizeof bytes, &bytes, sizeof bytes);
    return (void *)object;
}

EXPORT void *malloc(size_t bytes)
{
    return give(16, bytes);
}

EXPORT void *calloc(size_t count, size_t bytes)
{
    return give(16, count * bytes);
}

EXPORT void *realloc(void *old, size_t bytes)
{
    size_t had = 0;
    check(old);
    void *object = give(16, bytes);
    if (old)
        memcpy(&had, (char *)old - sizeof had, sizeof had);
    if (old && object)
        memcpy(object, old, had < bytes ? had : bytes);
    return object;
}

EXPORT void free(void *object)
{
    check(object);
}

EXPORT void *memalign(size_t alignment, size_t bytes)
{
    return give(alignment, bytes);
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    return give(alignment, bytes);
}

EXPORT int posix_memalign(void **object, size_t alignment, size_t bytes)
{
    *object = give(alignment, bytes);
    return *object ? 0 : ENOMEM;
}

/* By way of the whole program's malloc, which need not be the one above. */
__attribute__((constructor)) static void begin(void)
{
    char *volatile early = malloc(100);
    free(early);
    early = calloc(1, 100);
    early = realloc(early, 200);
    free(early);
}
