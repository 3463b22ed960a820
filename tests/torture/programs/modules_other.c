/* modules_other.c: a library that uses another, for modules.c. */
#include "modules.h"

#include "known.h"

static KNOWN_FUNCTION long m_identity(long n)
{
    return n;
}

KNOWN_FUNCTION long m_other_calls_shared(long n)
{
    return m_shared(n) + m_calls_back(m_identity, n);
}
