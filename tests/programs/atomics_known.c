/* Every atomic operation in every width, with results that are known; "ok" when all are right. For
 * a build with -fsanitize=thread, where a library does them (libheurt-access.so). */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static int wrong;

static void expect(bool is_right, int width, const char *what)
{
    if (is_right)
        return;
    wrong++;
    printf("%s of %d bits is wrong\n", what, width);
}

#define CHANGES(type, width, name, begin, value, end)                                          \
    cell = begin;                                                                              \
    before = __atomic_fetch_##name(&cell, (type)(value), __ATOMIC_ACQ_REL);                    \
    expect(before == (type)(begin) && __atomic_load_n(&cell, __ATOMIC_ACQUIRE) == (type)(end), \
           width, #name)

#define WIDTH(type, width)                                                                 \
    static void try_##width(void)                                                          \
    {                                                                                      \
        static type cell;                                                                  \
        type before, expected = 3;                                                         \
        const type top = (type)1 << (width - 1);                                           \
        __atomic_store_n(&cell, top | 5, __ATOMIC_RELEASE);                                \
        expect(__atomic_load_n(&cell, __ATOMIC_RELAXED) == (top | 5), width, "store");     \
        __atomic_store_n(&cell, 6, __ATOMIC_SEQ_CST);                                      \
        before = __atomic_exchange_n(&cell, top, __ATOMIC_SEQ_CST);                        \
        expect(before == 6 && cell == top, width, "exchange");                             \
        CHANGES(type, width, add, top | 7, 1, top | 8);                                    \
        CHANGES(type, width, sub, top, 1, top - 1);                                        \
        CHANGES(type, width, and, top | 6, top | 3, top | 2);                              \
        CHANGES(type, width, or, top | 6, 3, top | 7);                                     \
        CHANGES(type, width, xor, top | 6, 3, top | 5);                                    \
        CHANGES(type, width, nand, top | 6, 3, (type) ~(type)2);                           \
        cell = 3;                                                                          \
        bool is_done = __atomic_compare_exchange_n(&cell, &expected, top | 4, false,       \
                                                   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);    \
        expect(is_done &&cell == (top | 4) && expected == 3, width, "compare");            \
        is_done = __atomic_compare_exchange_n(&cell, &expected, 9, true, __ATOMIC_ACQ_REL, \
                                              __ATOMIC_ACQUIRE);                           \
        expect(!is_done && cell == (top | 4) && expected == (top | 4), width, "compare");  \
    }

/* clang-format off */
WIDTH(uint8_t, 8)
WIDTH(uint16_t, 16)
WIDTH(uint32_t, 32)
WIDTH(uint64_t, 64)
WIDTH(unsigned __int128, 128)
/* clang-format on */

int main(void)
{
    try_8();
    try_16();
    try_32();
    try_64();
    try_128();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!wrong)
        puts("ok");
    return wrong != 0;
}
