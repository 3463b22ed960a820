/* reloaded_library.cc: for reloaded.c; built twice, with different numbers. */
#include "known.h"

extern "C" {
long l_words(long a, long b, long c, long d, long e, long f, long g);
long l_catches(long a, long b, long c, long d, long e, long f, long g);
long l_throws(long n);
void l_ends(void);

KNOWN_FUNCTION long l_words(long a, long b, long c, long d, long e, long f, long g)
{
    return a * LIBRARY_NUMBER + b + c + d + e + f + g;
}

KNOWN_FUNCTION long l_throws(long n)
{
    if (n % 2)
        throw n * LIBRARY_NUMBER;
    return n;
}

KNOWN_FUNCTION long l_catches(long a, long b, long c, long d, long e, long f, long g)
{
    try {
        return l_throws(f) + a + b + c + d + e + g;
    } catch (long thrown) {
        return thrown - g;
    }
}

/* As it goes. */
__attribute__((destructor)) KNOWN_FUNCTION void l_ends(void)
{
    __asm__ volatile("nop; nop; nop; nop; nop");
}
}
