/* durations.h: times as people write them on the command line. */
#ifndef HEURT_CMD_DURATIONS_H
#define HEURT_CMD_DURATIONS_H

#include <stdbool.h>
#include <stdint.h>

#define DURATION_FORM "a number and ns, us, ms or s, as 0.5s or 20us"

/* False when text is no such time, or none below some 30 years. */
bool duration__parse(const char *text, uint64_t *ns);

#endif
