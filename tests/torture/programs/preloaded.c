/* preloaded.c: a library for LD_PRELOAD, as users have them: it stands in front of functions of
 * libc and calls the ones behind. Its own functions are recorded, too. */
#include "known.h"

#include <dlfcn.h>

int p_adds(int n);

static long calls;

KNOWN_FUNCTION int p_adds(int n)
{
    calls++;
    return n + 1;
}

int abs(int n)
{
    int (*real)(int);
    *(void **)&real = dlsym(RTLD_NEXT, "abs");
    return p_adds(real(n));
}

__attribute__((destructor)) static void tell(void)
{
    if (calls)
        known__count("p_adds", calls);
    fflush(stdout);
}
