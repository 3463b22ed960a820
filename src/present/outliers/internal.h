/* internal.h: what the presenters of points have in common. Private to this room. */
#ifndef HEURT_PRESENT_OUTLIERS_INTERNAL_H
#define HEURT_PRESENT_OUTLIERS_INTERNAL_H

#include "present/outliers/points.h"
#include "present/shared.h"

const struct point *points__at(const struct points_report *shown, size_t index);
const struct point_path *points__path(const struct points_report *shown, uint32_t path);
/* NULL: the thread, or nothing. */
const struct class_definition *points__place(const struct points_report *shown, uint32_t place);
const struct trace_thread *points__thread(const struct points_report *shown,
                                          const struct point *point);
/* How deep a path is; 0: the thread itself. */
unsigned points__depth(const struct points_report *shown, uint32_t path);

/* "iterate > sweep", the outermost first; at most so many levels, behind others (text for those);
 * 0: all. "(outside)" of the thread itself. free() it. */
char *points__path_text(const struct points_report *shown, uint32_t path, unsigned levels,
                        const char *others);

#endif
