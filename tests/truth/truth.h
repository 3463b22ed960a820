/* truth.h: what the programs share: `--fixed` asks for the program without its fault, and work is
 * arithmetic that the compiler cannot foretell. */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int is_fixed(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "--fixed") == 0;
}

/* About 1.3 ns a round. */
static inline uint64_t mix(uint64_t seed, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        seed ^= seed >> 33;
        seed = seed * 0xff51afd7ed558ccdull + 1;
    }
    return seed;
}

#endif
