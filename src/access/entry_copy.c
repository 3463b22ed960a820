/* entry_copy.c: memcpy and its kin, which compilers call without a word of what is accessed: gcc as
 * such (with -fno-builtin always), clang by names of their own. Each row of bytes is counted, once
 * at each cache line that it has a part of, and then copied by libc.
 *
 * These stand in front of libc's for all of the process: what libraries copy counts, too. */
#include "access/counts.h"

#include <dlfcn.h>

typedef void *copier(void *to, const void *from, size_t bytes);
typedef void *setter(void *to, int value, size_t bytes);

static copier *real_move;
static setter *real_set;

/* Before libc's are known; a handler's signal, or a caller's, may come at any time. */
static void *move_bytes(void *to, const void *from, size_t bytes)
{
    void *result = to;
    if ((uintptr_t)to - (uintptr_t)from >= bytes) {
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
        return result;
    }
    to = (char *)to + bytes - 1;
    from = (const char *)from + bytes - 1;
    __asm__ volatile("std; rep movsb; cld" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
    return result;
}

static void *set_bytes(void *to, int value, size_t bytes)
{
    void *result = to;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
    return result;
}

__attribute__((constructor)) static void find_real(void)
{
    void *move = dlsym(RTLD_NEXT, "memmove"), *set = dlsym(RTLD_NEXT, "memset");
    __atomic_store_n(&real_move, (copier *)move, __ATOMIC_RELEASE);
    __atomic_store_n(&real_set, (setter *)set, __ATOMIC_RELEASE);
}

/* Who calls is not the library that records. */
static inline bool is_of_program(uint64_t site)
{
    return HEURT_SITE_ADDRESS(site) - heurt_joined.recorder_code >= heurt_joined.recorder_bytes;
}

static inline void *move(uint64_t site, void *to, const void *from, size_t bytes)
{
    copier *real = __atomic_load_n(&real_move, __ATOMIC_ACQUIRE);
    if (is_of_program(site)) {
        count__row(site | HEURT_SITE(0, HEURT_ACCESS_READ), (uint64_t)from, bytes);
        count__row(site | HEURT_SITE(0, HEURT_ACCESS_WRITE), (uint64_t)to, bytes);
    }
    return (real ? real : move_bytes)(to, from, bytes);
}

static inline void *set(uint64_t site, void *to, int value, size_t bytes)
{
    setter *real = __atomic_load_n(&real_set, __ATOMIC_ACQUIRE);
    if (is_of_program(site))
        count__row(site | HEURT_SITE(0, HEURT_ACCESS_WRITE), (uint64_t)to, bytes);
    return (real ? real : set_bytes)(to, value, bytes);
}

#define MOVE(name)                                                    \
    EXPORT void *name(void *to, const void *from, size_t bytes)       \
    {                                                                 \
        return move(COUNT_SITE(HEURT_COUNT_IS_ROW), to, from, bytes); \
    }
#define SET(name)                                                     \
    EXPORT void *name(void *to, int value, size_t bytes)              \
    {                                                                 \
        return set(COUNT_SITE(HEURT_COUNT_IS_ROW), to, value, bytes); \
    }

/* clang-format off */
MOVE(memcpy)
MOVE(memmove)
MOVE(__tsan_memcpy)
MOVE(__tsan_memmove)
SET(memset)
SET(__tsan_memset)
/* clang-format on */

EXPORT void *mempcpy(void *to, const void *from, size_t bytes)
{
    return (char *)move(COUNT_SITE(HEURT_COUNT_IS_ROW), to, from, bytes) + bytes;
}

/* What is fortified knows how much room there is; it ends the program where there is too little. */
extern _Noreturn void __chk_fail(void);

#define MOVE_CHECKED(name)                                                   \
    EXPORT void *name(void *to, const void *from, size_t bytes, size_t room) \
    {                                                                        \
        if (room < bytes)                                                    \
            __chk_fail();                                                    \
        return move(COUNT_SITE(HEURT_COUNT_IS_ROW), to, from, bytes);        \
    }

/* clang-format off */
MOVE_CHECKED(__memcpy_chk)
MOVE_CHECKED(__memmove_chk)
/* clang-format on */

EXPORT void *__memset_chk(void *to, int value, size_t bytes, size_t room)
{
    if (room < bytes)
        __chk_fail();
    return set(COUNT_SITE(HEURT_COUNT_IS_ROW), to, value, bytes);
}
