/* hook_memory.c: calls that change what a process has mapped. They wait for one another, and for
 * the page faults of all threads, at the one lock that the kernel has for a process's memory map.
 * In a program with one thread they wait for nobody and are not recorded.
 *
 * They are called before the runtime knows the functions behind it, and by what stands behind its
 * search for them: an allocator's first call. Then they are made as bare system calls. */
#include "runtime/objects.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>

static struct thread *map__begin(uint64_t site, const void *address, size_t bytes)
{
    struct thread *thread = program__is_single_threaded() ? NULL : hook__thread();
    if (likely(!thread))
        return NULL;
    hook__stack(thread, site, NULL);
    event__write3(thread, HEURT_EVENT_MEMORY_MAP, site, (uintptr_t)address, bytes);
    return thread;
}

static void map__end(struct thread *thread, int64_t result)
{
    if (thread)
        event__write1(thread, HEURT_EVENT_MEMORY_MAP | 1, (uint64_t)result);
}

/* What is mapped is an object of the program's (objects.h), from its first byte until that is
 * unmapped. */
static inline void *mapped(uint64_t site, void *address, size_t bytes)
{
    object__allocated(site, address != MAP_FAILED ? address : NULL, bytes);
    return address;
}

/* As libc answers for the kernel. */
static long answer(long result)
{
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}

#define MEMORY_MAP(type, call, address, bytes, real)                                           \
    do {                                                                                       \
        struct thread *thread = map__begin(SITE(HEURT_MEMORY_MAP_##call), (address), (bytes)); \
        type result = real;                                                                    \
        map__end(thread, (int64_t)result);                                                     \
        return result;                                                                         \
    } while (0)

#define KNOWN(name, ...) (heurt_real.name ? heurt_real.name(__VA_ARGS__) : bare_##name(__VA_ARGS__))

static void *bare_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t at)
{
    return (void *)answer(RAW6(mmap, address, bytes, protection, flags, file, at));
}

static int bare_munmap(void *address, size_t bytes)
{
    return (int)answer(RAW2(munmap, address, bytes));
}

static int bare_mprotect(void *address, size_t bytes, int protection)
{
    return (int)answer(RAW3(mprotect, address, bytes, protection));
}

static int bare_madvise(void *address, size_t bytes, int advice)
{
    return (int)answer(RAW3(madvise, address, bytes, advice));
}

static void *bare_mremap(void *address, size_t old, size_t bytes, int flags, void *to)
{
    return (void *)answer(RAW6(mremap, address, old, bytes, flags, to, 0));
}

EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t at)
{
    MEMORY_MAP(void *, MMAP, address, bytes,
               mapped(SITE(HEURT_ALLOCATION_MMAP),
                      KNOWN(mmap, address, bytes, protection, flags, file, at), bytes));
}
extern __typeof__(mmap) mmap64 __attribute__((alias("mmap"))) EXPORT;

EXPORT int munmap(void *address, size_t bytes)
{
    object__freed(address);
    MEMORY_MAP(int, MUNMAP, address, bytes, KNOWN(munmap, address, bytes));
}

EXPORT int mprotect(void *address, size_t bytes, int protection)
{
    MEMORY_MAP(int, MPROTECT, address, bytes, KNOWN(mprotect, address, bytes, protection));
}

EXPORT int madvise(void *address, size_t bytes, int advice)
{
    MEMORY_MAP(int, MADVISE, address, bytes, KNOWN(madvise, address, bytes, advice));
}

/* The last argument is read as libc reads it: it means something with some flags only. */
EXPORT void *mremap(void *address, size_t old, size_t bytes, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    void *to = flags & MREMAP_FIXED ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    object__freed(address);
    MEMORY_MAP(
        void *, MREMAP, address, bytes,
        mapped(SITE(HEURT_ALLOCATION_MMAP), KNOWN(mremap, address, old, bytes, flags, to), bytes));
}
