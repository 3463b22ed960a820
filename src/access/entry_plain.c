/* entry_plain.c: what gcc (12) and clang (14 to 19) call in front of accesses at
 * -fsanitize=thread. What they say of functions, locks and objects is of no account here. */
#include "access/counts.h"

#define ACCESS(name, access, width)                                 \
    EXPORT void name(void *address)                                 \
    {                                                               \
        count__bytes(COUNT_SITE(access), (uint64_t)address, width); \
    }

/* In each width by itself, volatile, and such that it may lie on two lines. */
#define ACCESSES(width)                                                     \
    ACCESS(__tsan_read##width, HEURT_ACCESS_READ, width)                    \
    ACCESS(__tsan_write##width, HEURT_ACCESS_WRITE, width)                  \
    ACCESS(__tsan_read_write##width, HEURT_ACCESS_UPDATE, width)            \
    ACCESS(__tsan_volatile_read##width, HEURT_ACCESS_READ, width)           \
    ACCESS(__tsan_volatile_write##width, HEURT_ACCESS_WRITE, width)         \
    ACCESS(__tsan_unaligned_read##width, HEURT_ACCESS_READ, width)          \
    ACCESS(__tsan_unaligned_write##width, HEURT_ACCESS_WRITE, width)        \
    ACCESS(__tsan_unaligned_read_write##width, HEURT_ACCESS_UPDATE, width)  \
    ACCESS(__tsan_unaligned_volatile_read##width, HEURT_ACCESS_READ, width) \
    ACCESS(__tsan_unaligned_volatile_write##width, HEURT_ACCESS_WRITE, width)

/* clang-format off */
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
/* clang-format on */

EXPORT void __tsan_read_range(void *address, unsigned long bytes)
{
    count__row(COUNT_SITE(HEURT_ACCESS_READ | HEURT_COUNT_IS_ROW), (uint64_t)address, bytes);
}

EXPORT void __tsan_write_range(void *address, unsigned long bytes)
{
    count__row(COUNT_SITE(HEURT_ACCESS_WRITE | HEURT_COUNT_IS_ROW), (uint64_t)address, bytes);
}

/* An object gets its class, or is asked for it. */
EXPORT void __tsan_vptr_update(void **address, void *value)
{
    (void)value;
    count__bytes(COUNT_SITE(HEURT_ACCESS_WRITE), (uint64_t)address, sizeof(void *));
}

EXPORT void __tsan_vptr_read(void **address)
{
    count__bytes(COUNT_SITE(HEURT_ACCESS_READ), (uint64_t)address, sizeof(void *));
}

/* ---- of no account --------------------------------------------------------------------------- */

#define NOTHING_DONE(name) \
    EXPORT void name(void) \
    {                      \
    }

/* Their arguments, of the integer kind, are not looked at. */
/* clang-format off */
NOTHING_DONE(__tsan_init)
NOTHING_DONE(__tsan_func_entry)
NOTHING_DONE(__tsan_func_exit)
NOTHING_DONE(__tsan_ignore_thread_begin)
NOTHING_DONE(__tsan_ignore_thread_end)
NOTHING_DONE(__tsan_acquire)
NOTHING_DONE(__tsan_release)
NOTHING_DONE(__tsan_mutex_create)
NOTHING_DONE(__tsan_mutex_destroy)
NOTHING_DONE(__tsan_mutex_pre_lock)
NOTHING_DONE(__tsan_mutex_post_lock)
NOTHING_DONE(__tsan_mutex_pre_signal)
NOTHING_DONE(__tsan_mutex_post_signal)
NOTHING_DONE(__tsan_mutex_pre_divert)
NOTHING_DONE(__tsan_mutex_post_divert)
NOTHING_DONE(__tsan_destroy_fiber)
NOTHING_DONE(__tsan_switch_to_fiber)
NOTHING_DONE(__tsan_set_fiber_name)
NOTHING_DONE(AnnotateHappensBefore)
NOTHING_DONE(AnnotateHappensAfter)
NOTHING_DONE(AnnotateIgnoreReadsBegin)
NOTHING_DONE(AnnotateIgnoreReadsEnd)
NOTHING_DONE(AnnotateIgnoreWritesBegin)
NOTHING_DONE(AnnotateIgnoreWritesEnd)
NOTHING_DONE(AnnotateBenignRaceSized)
/* clang-format on */

EXPORT int __tsan_mutex_pre_unlock(void *address, unsigned flags)
{
    (void)address;
    (void)flags;
    return 0;
}

EXPORT void __tsan_mutex_post_unlock(void *address, unsigned flags)
{
    (void)address;
    (void)flags;
}

EXPORT void *__tsan_get_current_fiber(void)
{
    return &heurt_counting;
}

EXPORT void *__tsan_create_fiber(unsigned flags)
{
    (void)flags;
    return &heurt_counting;
}
