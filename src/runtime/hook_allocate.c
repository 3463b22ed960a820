/* hook_allocate.c: what the program allocates and frees, of whatever allocator stands behind us:
 * libc's, or one that is preloaded or linked as a shared library. One that is part of the program
 * itself comes before us: then nothing is seen of it.
 *
 * These are called before the runtime knows the functions behind it, by the search for them, too:
 * such a call gets memory of ours. The operators of C++ allocate by way of malloc in most
 * libraries, but not in all: each is told where the program called it. */
#include "runtime/objects.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* ---- before the functions behind are known --------------------------------------------------- */

#define EARLY_ALIGNMENT 16u

static bool is_early(const void *address)
{
    uint64_t from_start = (uintptr_t)address - (uintptr_t)heurt_state.allocating.early;
    return unlikely(from_start < sizeof heurt_state.allocating.early);
}

static void *early(size_t bytes)
{
    size_t room = (bytes + 2 * EARLY_ALIGNMENT - 1) & ~(size_t)(EARLY_ALIGNMENT - 1);
    if (bytes > sizeof heurt_state.allocating.early ||
        room > sizeof heurt_state.allocating.early - heurt_state.allocating.early_used)
        return NULL;
    char *at = heurt_state.allocating.early + heurt_state.allocating.early_used;
    heurt_state.allocating.early_used += room;
    bytes__copy(at, &bytes, sizeof bytes);
    return at + EARLY_ALIGNMENT;
}

static size_t early_bytes(const void *address)
{
    size_t bytes;
    bytes__copy(&bytes, (const char *)address - EARLY_ALIGNMENT, sizeof bytes);
    return bytes;
}

/* False: this is a call of the search itself. */
static __attribute__((noinline)) bool find_allocator(void)
{
    if (heurt_state.allocating.finds_allocator)
        return false;
    heurt_state.allocating.finds_allocator = true;
    heurt_thread.inside++;
    *(void **)&heurt_real.calloc = dlsym(BEHIND_US, "calloc");
    *(void **)&heurt_real.realloc = dlsym(BEHIND_US, "realloc");
    *(void **)&heurt_real.free = dlsym(BEHIND_US, "free");
    *(void **)&heurt_real.malloc = dlsym(BEHIND_US, "malloc");
    heurt_thread.inside--;
    heurt_state.allocating.finds_allocator = false;
    return heurt_real.malloc != NULL;
}

static inline bool is_known(void)
{
    return likely(heurt_real.malloc != NULL) || find_allocator();
}

/* ---- malloc and its kin ---------------------------------------------------------------------- */

static inline void *allocated(uint64_t site, void *address, size_t bytes)
{
    object__allocated(site, address, bytes);
    return address;
}

/* What may have to be told. Apart, so that malloc itself needs no room on the stack. */
static __attribute__((noinline)) void *malloc_and_tell(uint64_t site, size_t bytes)
{
    if (unlikely(!is_known()))
        return early(bytes);
    void *address = heurt_real.malloc(bytes);
    object__consider(&heurt_thread, site, address, bytes);
    return address;
}

EXPORT void *malloc(size_t bytes)
{
    if (likely(heurt_real.malloc != NULL) && likely(object__is_left_out(bytes)))
        return heurt_real.malloc(bytes);
    return malloc_and_tell(SITE(HEURT_ALLOCATION_MALLOC), bytes);
}

EXPORT void *calloc(size_t count, size_t bytes)
{
    if (unlikely(!is_known()))
        return early(count * bytes); /* zero, as it is given once */
    return allocated(SITE(HEURT_ALLOCATION_CALLOC), heurt_real.calloc(count, bytes), count * bytes);
}

EXPORT void free(void *address)
{
    if (is_early(address) || unlikely(!is_known()))
        return;
    object__freed(address);
    heurt_real.free(address);
}

static void *grow_early(void *address, size_t bytes)
{
    void *grown = malloc(bytes);
    size_t before = early_bytes(address);
    if (grown)
        bytes__copy(grown, address, before < bytes ? before : bytes);
    return grown;
}

static inline void *grow(uint64_t site, void *address, size_t bytes)
{
    if (is_early(address))
        return grow_early(address, bytes);
    if (unlikely(!is_known()))
        return early(bytes);
    object__freed(address);
    return allocated(site, heurt_real.realloc(address, bytes), bytes);
}

EXPORT void *realloc(void *address, size_t bytes)
{
    return grow(SITE(HEURT_ALLOCATION_REALLOC), address, bytes);
}

EXPORT void *reallocarray(void *address, size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return grow(SITE(HEURT_ALLOCATION_REALLOC), address, all);
}

EXPORT int posix_memalign(void **address, size_t alignment, size_t bytes)
{
    int result = REAL(posix_memalign)(address, alignment, bytes);
    if (result == 0)
        allocated(SITE(HEURT_ALLOCATION_MALLOC), *address, bytes);
    return result;
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    return allocated(SITE(HEURT_ALLOCATION_MALLOC), REAL(aligned_alloc)(alignment, bytes), bytes);
}

EXPORT void *memalign(size_t alignment, size_t bytes)
{
    return allocated(SITE(HEURT_ALLOCATION_MALLOC), REAL(memalign)(alignment, bytes), bytes);
}

EXPORT void *valloc(size_t bytes)
{
    return allocated(SITE(HEURT_ALLOCATION_MALLOC), REAL(valloc)(bytes), bytes);
}

EXPORT void *pvalloc(size_t bytes)
{
    return allocated(SITE(HEURT_ALLOCATION_MALLOC), REAL(pvalloc)(bytes), bytes);
}
