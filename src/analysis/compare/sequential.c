#include "analysis/compare/sequential.h"

#include <math.h>

static const struct look {
    size_t runs;
    double share;
} looks[] = {{SEQUENTIAL_FIRST, 0.4}, {10, 0.3}, {14, 0.1}, {20, 0.1}, {28, 0.05},
             {SEQUENTIAL_LAST, 0.05}};
#define LOOKS (sizeof looks / sizeof *looks)

double sequential__risk(size_t runs, size_t conditions)
{
    for (size_t i = 0; i < LOOKS; i++)
        if (looks[i].runs == runs)
            return looks[i].share * SEQUENTIAL_RISK / (double)conditions;
    return 0;
}

double sequential__rest(size_t runs, size_t conditions)
{
    double share = 0;
    for (size_t i = 0; i < LOOKS; i++)
        share += looks[i].runs > runs ? looks[i].share : 0;
    return runs < SEQUENTIAL_FIRST ? 0 : share * SEQUENTIAL_RISK / (double)conditions;
}

double sequential__sign_chance(size_t runs, size_t of_them)
{
    double chance = 0, ways = ldexp(1, -(int)runs); /* runs over k, as parts of all */
    for (size_t k = 0; k <= runs; k++) {
        chance += k >= of_them ? ways : 0;
        ways *= (double)(runs - k) / (double)(k + 1);
    }
    return chance;
}
