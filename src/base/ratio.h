/* ratio.h: parts of a whole. */
#ifndef HEURT_BASE_RATIO_H
#define HEURT_BASE_RATIO_H

#include <stdint.h>

/* 0 of nothing. */
static inline double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

#endif
