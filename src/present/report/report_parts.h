/* report_parts.h: parts of the screens of reports. Private to what shows
 * reports. */
#ifndef HEURT_PRESENT_REPORT_REPORT_PARTS_H
#define HEURT_PRESENT_REPORT_REPORT_PARTS_H

#include "present/shared.h"

/* The first line of what put writes, without what is around it. free() it. */
char *screen__line(const struct report *report,
                   void (*put)(const struct report *, const struct style *, FILE *));

/* The command, how long it took, on how many CPUs, and what recording cost: figures that a watch
 * and top tell, too. */
void text__head(const struct report *report, const struct style *style, FILE *out);
/* Why nothing was recorded, a sentence or more; NULL: something was. free() it. */
char *report__why_nothing(const struct report *report);
/* What the threads that had work did with their time, a role each; who is left out. */
void text__roles(const struct report *report, const struct style *style, FILE *out);
/* "4 threads", of those that had work. free() it. */
char *workers__text(const struct report *report);
/* "4 × mc-log, main (for the end of others)": those that had none; "": all had. free() it. */
char *left_out__text(const struct report *report, const struct style *style);
/* "main", "mc-workerN", or by what such threads start with; NULL: nobody named them. free() it. */
char *role__bare_name(const struct role *role);
/* " of libtbb.so.12", of threads without a name that a library started, or "". free() it. */
char *role__of_library(const struct role *role);
/* What a thread does in that component: "waiting for a lock". */
const char *component__doing(const struct report *report, enum component component);
#endif
