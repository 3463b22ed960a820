/* openmp.c: a parallel sum in which one thread has more to do, with a critical section, barriers,
 * and a loop with an ordered section; the sum and the order are checked. */
#include "known.h"

#include <omp.h>

#ifndef OPENMP_REGIONS
#define OPENMP_REGIONS 10
#endif
enum { THREADS = 4, REGIONS = OPENMP_REGIONS, ITEMS = 4000, TURNS = 40 };

double known_item(long item);

KNOWN_FUNCTION double known_item(long item)
{
    return (double)(item % 7) + 1;
}

int main(void)
{
    double sum = 0, expected = 0;
    long criticals = 0;
    for (long i = 0; i < ITEMS; i++)
        expected += known_item(i);
    for (int region = 0; region < REGIONS; region++) {
#pragma omp parallel num_threads(THREADS)
        {
            double own = 0;
#pragma omp for schedule(static)
            for (long i = 0; i < ITEMS; i++)
                own += known_item(i);
#pragma omp critical
            {
                sum += own;
                criticals++;
            }
#pragma omp barrier
            if (omp_get_thread_num() == 0)
                known_item(0);
        }
    }
    long turns = 0, in_turn = 0;
#pragma omp parallel for ordered schedule(static, 1) num_threads(THREADS)
    for (long i = 0; i < TURNS; i++) {
#pragma omp ordered
        in_turn += turns++ == i;
    }
    KNOWN_CHECK(in_turn == TURNS);
    KNOWN_CHECK(sum == expected * REGIONS && criticals == (long)THREADS * REGIONS);
    known__number("known_item", ITEMS + REGIONS * (ITEMS + 1));
    known__number("threads", THREADS);
    known__number("critical", criticals);
    known__number("ordered", turns);
    known__number("sum", (long long)sum);
    return 0;
}
