/* uncontended.h: for analysis/ only. */
#ifndef HEURT_ANALYSIS_CALLSITE_UNCONTENDED_H
#define HEURT_ANALYSIS_CALLSITE_UNCONTENDED_H

#include "analysis/callsite/classes.h"

/* Above this many locks (or semaphores) that were taken at one call site and that nobody ever
 * waited for, they become one class without an object, with the key "objects": how many. */
#define QUIET_OBJECTS_MAX 16

/* The entries that were put into another one stay, empty, so that later walks find them. */
void uncontended_classes__join(struct class_table *table);

#endif
