/* preloading.c: has abs(3) replaced by preloaded.c; and closes all descriptors that it does not
 * know, as daemons do, before it goes on. */
#include "known.h"

enum { CALLS = 500 };

KNOWN_FUNCTION static long t_work(long n)
{
    return n * 3;
}

KNOWN_FUNCTION static void t_closes_all(void)
{
    for (int i = 3; i < 1024; i++)
        close(i);
    syscall(436 /* close_range */, 3u, ~0u, 0u);
}

int main(void)
{
    long sum = 0;
    int (*volatile function)(int) = abs;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < CALLS; i++)
            sum += function(-i) + t_work(i);
        t_closes_all();
        KNOWN_CHECK(open("/dev/null", O_RDONLY) == 3);
    }
    printf("%ld %s\n", sum, getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "nothing");
    known__count("t_work", 2 * CALLS);
    known__count("t_closes_all", 2);
    return 0;
}
