/* chance.h: numbers by chance for tests, the same in each run from the state that a test sets. */
#ifndef HEURT_TESTS_CHANCE_H
#define HEURT_TESTS_CHANCE_H

#include <math.h>
#include <stdint.h>

static uint64_t state;

/* 0 … 1, without the ends: splitmix64 (Steele, Lea, Flood). */
static inline double share(void)
{
    uint64_t mixed = state += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return ((double)((mixed ^ mixed >> 31) >> 11) + 0.5) / 0x1p53;
}

/* Of mean 0 and variance 1 (Box and Muller). */
static inline double normal(void)
{
    double radius = sqrt(-2 * log(share()));
    return radius * cos(6.283185307179586 * share());
}

#endif
