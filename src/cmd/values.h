/* values.h: numbers, times, sizes and shares as people write them on the command line.
 *
 * In goes a text, out comes a number; false where the text is none of that kind, and then *result
 * is as it was. No parser takes blanks, signs, or what strtod(3) knows beyond digits and a point.
 * They stand on libc alone, keep nothing, and may be called from any thread. */
#ifndef HEURT_CMD_VALUES_H
#define HEURT_CMD_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A whole number from least to most. */
bool number__parse(const char *text, uint64_t least, uint64_t most, uint64_t *number);
/* A number from 0 on, such as 12 or 0.5, from which *end points on; NULL: whole text must be it. */
bool decimal__parse(const char *text, const char **end, double *number);

#define DURATION_FORM "a number and ns, us, ms or s, as 0.5s or 20us"
/* ns is a uint64_t; at most some 30 years. */
bool duration__parse(const char *text, void *ns);
/* Seconds as ns (uint64_t), less than 1e9 of them. */
bool seconds__parse(const char *text, void *ns);

/* "500M", "4GiB", "100k" or bytes (uint64_t). */
bool size__parse(const char *text, void *bytes);
/* "0.2": a double from 0 to 1. */
bool share__parse(const char *text, void *share);

#endif
