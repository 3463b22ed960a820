/* entry_atomic.c: atomic operations, which the compiler leaves to us: each is counted, then done,
 * in the order that was asked for or a stricter one. A load is a read, a store a write; all others,
 * also a comparison that fails, take the line for writing. */
#include "access/counts.h"

typedef uint8_t cell8;
typedef uint16_t cell16;
typedef uint32_t cell32;
typedef uint64_t cell64;
typedef unsigned __int128 cell128;

#define COUNT(access, width) \
    count__bytes(COUNT_SITE(access), (uint64_t)(uintptr_t)cell, (width) / 8)

#define CHANGE(width, name, operation)                                             \
    EXPORT cell##width __tsan_atomic##width##_##name(volatile cell##width *cell,   \
                                                     cell##width value, int order) \
    {                                                                              \
        (void)order;                                                               \
        COUNT(HEURT_ACCESS_ATOMIC, width);                                         \
        return operation(cell, value, __ATOMIC_SEQ_CST);                           \
    }

#define COMPARE(width, name)                                                             \
    EXPORT int __tsan_atomic##width##_compare_exchange_##name(                           \
        volatile cell##width *cell, cell##width *expected, cell##width value, int order, \
        int otherwise)                                                                   \
    {                                                                                    \
        (void)order;                                                                     \
        (void)otherwise;                                                                 \
        COUNT(HEURT_ACCESS_ATOMIC, width);                                               \
        return __atomic_compare_exchange_n(cell, expected, value, 0, __ATOMIC_SEQ_CST,   \
                                           __ATOMIC_SEQ_CST);                            \
    }

#define ATOMICS(width)                                                                          \
    EXPORT cell##width __tsan_atomic##width##_load(const volatile cell##width *cell, int order) \
    {                                                                                           \
        (void)order;                                                                            \
        COUNT(HEURT_ACCESS_READ, width);                                                        \
        return __atomic_load_n(cell, __ATOMIC_SEQ_CST);                                         \
    }                                                                                           \
    EXPORT void __tsan_atomic##width##_store(volatile cell##width *cell, cell##width value,     \
                                             int order)                                         \
    {                                                                                           \
        COUNT(HEURT_ACCESS_WRITE, width);                                                       \
        if (order == __ATOMIC_SEQ_CST)                                                          \
            __atomic_store_n(cell, value, __ATOMIC_SEQ_CST);                                    \
        else                                                                                    \
            __atomic_store_n(cell, value, __ATOMIC_RELEASE);                                    \
    }                                                                                           \
    CHANGE(width, exchange, __atomic_exchange_n)                                                \
    CHANGE(width, fetch_add, __atomic_fetch_add)                                                \
    CHANGE(width, fetch_sub, __atomic_fetch_sub)                                                \
    CHANGE(width, fetch_and, __atomic_fetch_and)                                                \
    CHANGE(width, fetch_or, __atomic_fetch_or)                                                  \
    CHANGE(width, fetch_xor, __atomic_fetch_xor)                                                \
    CHANGE(width, fetch_nand, __atomic_fetch_nand)                                              \
    COMPARE(width, strong)                                                                      \
    COMPARE(width, weak)                                                                        \
    EXPORT cell##width __tsan_atomic##width##_compare_exchange_val(                             \
        volatile cell##width *cell, cell##width expected, cell##width value, int order,         \
        int otherwise)                                                                          \
    {                                                                                           \
        (void)order;                                                                            \
        (void)otherwise;                                                                        \
        COUNT(HEURT_ACCESS_ATOMIC, width);                                                      \
        __atomic_compare_exchange_n(cell, &expected, value, 0, __ATOMIC_SEQ_CST,                \
                                    __ATOMIC_SEQ_CST);                                          \
        return expected;                                                                        \
    }

/* clang-format off */
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)
/* clang-format on */

/* ---- 16 bytes -------------------------------------------------------------------------------- */

/* All by cmpxchg16b: what compilers make of 16 bytes is a call of libatomic. It writes even where
 * it only loads, so that memory that may only be read is no place for it. */
static bool exchange128(volatile cell128 *cell, cell128 *expected, cell128 value)
{
    uint64_t low = (uint64_t)*expected, high = (uint64_t)(*expected >> 64);
    bool is_done;
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(is_done), "+m"(*cell), "+a"(low), "+d"(high)
                     : "b"((uint64_t)value), "c"((uint64_t)(value >> 64))
                     : "memory");
    *expected = (cell128)high << 64 | low;
    return is_done;
}

static cell128 load128(volatile cell128 *cell)
{
    cell128 found = 0;
    exchange128(cell, &found, 0);
    return found;
}

EXPORT cell128 __tsan_atomic128_load(const volatile cell128 *cell, int order)
{
    (void)order;
    COUNT(HEURT_ACCESS_READ, 128);
    return load128((volatile cell128 *)(uintptr_t)cell);
}

EXPORT void __tsan_atomic128_store(volatile cell128 *cell, cell128 value, int order)
{
    (void)order;
    COUNT(HEURT_ACCESS_WRITE, 128);
    for (cell128 found = load128(cell); !exchange128(cell, &found, value);)
        ;
}

#define CHANGE128(name, changed)                                                             \
    EXPORT cell128 __tsan_atomic128_##name(volatile cell128 *cell, cell128 value, int order) \
    {                                                                                        \
        (void)order;                                                                         \
        COUNT(HEURT_ACCESS_ATOMIC, 128);                                                     \
        cell128 found = load128(cell);                                                       \
        while (!exchange128(cell, &found, changed))                                          \
            ;                                                                                \
        return found;                                                                        \
    }

/* clang-format off */
CHANGE128(exchange, value)
CHANGE128(fetch_add, found + value)
CHANGE128(fetch_sub, found - value)
CHANGE128(fetch_and, found & value)
CHANGE128(fetch_or, found | value)
CHANGE128(fetch_xor, found ^ value)
CHANGE128(fetch_nand, ~(found & value))
/* clang-format on */

#define COMPARE128(name)                                                                           \
    EXPORT int __tsan_atomic128_compare_exchange_##name(volatile cell128 *cell, cell128 *expected, \
                                                        cell128 value, int order, int otherwise)   \
    {                                                                                              \
        (void)order;                                                                               \
        (void)otherwise;                                                                           \
        COUNT(HEURT_ACCESS_ATOMIC, 128);                                                           \
        return exchange128(cell, expected, value);                                                 \
    }

/* clang-format off */
COMPARE128(strong)
COMPARE128(weak)
/* clang-format on */

EXPORT cell128 __tsan_atomic128_compare_exchange_val(volatile cell128 *cell, cell128 expected,
                                                     cell128 value, int order, int otherwise)
{
    (void)order;
    (void)otherwise;
    COUNT(HEURT_ACCESS_ATOMIC, 128);
    exchange128(cell, &expected, value);
    return expected;
}

/* ---- fences ---------------------------------------------------------------------------------- */

EXPORT void __tsan_atomic_thread_fence(int order)
{
    if (order == __ATOMIC_SEQ_CST)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    else
        __atomic_thread_fence(__ATOMIC_ACQ_REL);
}

EXPORT void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
