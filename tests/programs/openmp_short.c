/* openmp_short.c: parallel regions in which there is next to nothing to do, by four threads; with
 * an argument, a region by teams of one and of two threads in turn, with a barrier in it. */
#include "known.h"

#include <omp.h>

enum { THREADS = 4, SHORT = 4000, TEAMS = 200 };

static long cells[THREADS][16];

long known_step(long value);

KNOWN_FUNCTION long known_step(long value)
{
    for (int i = 0; i < 20; i++)
        value = value * 5 + 3;
    return value;
}

static void run_short_regions(void)
{
    for (long i = 0; i < SHORT; i++) {
#pragma omp parallel num_threads(THREADS)
        cells[omp_get_thread_num()][0] += known_step(i) & 1;
    }
}

static long run_teams(void)
{
    long members = 0;
    for (int i = 0; i < TEAMS; i++) {
#pragma omp parallel num_threads(1 + i % 2)
        {
#pragma omp atomic
            members++;
#pragma omp barrier
            for (int j = 0; j < 20000; j++)
                cells[omp_get_thread_num()][1] += known_step(j) & 1;
        }
    }
    return members;
}

int main(int argc, char **argv)
{
    (void)argv;
    omp_set_dynamic(0);
    if (argc > 1)
        known__number("members", run_teams());
    else
        run_short_regions();
    return 0;
}
