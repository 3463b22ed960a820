/* report_parts.h: parts of the screens of reports. Private to what shows
 * reports. */
#ifndef HEURT_PRESENT_REPORT_REPORT_PARTS_H
#define HEURT_PRESENT_REPORT_REPORT_PARTS_H

#include "present/shared.h"

/* The command, how long it took, on how many CPUs, and what recording cost: figures that a watch
 * and top tell, too. */
void text__head(const struct report *report, const struct style *style, FILE *out);
/* What the threads that had work did with their time, a role each; who is left out. */
void text__roles(const struct report *report, const struct style *style, FILE *out);
/* "4 threads", of those that had work. free() it. */
char *workers__text(const struct report *report);
/* "waiting for a lock": what a thread does then. */
const char *report__state_words(const struct report *report, enum component component);

#endif
