/* modules_one.c: a library, for modules.c. */
#include "modules.h"

#include "known.h"

KNOWN_FUNCTION long m_shared(long n)
{
    return n * 5 + 1;
}

/* Through the library's own PLT, as others may replace m_shared. */
KNOWN_FUNCTION long m_calls_shared(long n)
{
    return m_shared(n) + 2;
}

KNOWN_FUNCTION long m_calls_back(long (*function)(long), long n)
{
    return function(n) + 3;
}

KNOWN_FUNCTION long m_stack(long a, long b, long c, long d, long e, long f, long g)
{
    return a + b + c + d + e + f + g;
}
