/* figure.h: how the benchmarks write their figures to --json. */
#ifndef HEURT_BENCH_FIGURE_H
#define HEURT_BENCH_FIGURE_H

#include <stdbool.h>

struct json_object;

/* Adds a number with four digits behind the point; NAN becomes null. */
void figure__add(struct json_object *object, const char *name, double value);

/* Adds why there are no figures, as "skipped" or "failed". */
void figure__missing(struct json_object *object, bool failed, const char *why);

#endif
