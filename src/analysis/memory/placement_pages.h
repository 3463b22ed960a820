/* placement_pages.h: what placement.c makes of single pages. For its own files. */
#ifndef HEURT_ANALYSIS_MEMORY_PLACEMENT_PAGES_H
#define HEURT_ANALYSIS_MEMORY_PLACEMENT_PAGES_H

#include "analysis/memory/placement.h"

/* Fills in who touched the pages first. since: uint64_t by page, the tick from which a page fault
 * counts. */
void placement_pages__find_touches(const struct trace *trace, struct placement *placement,
                                   const struct vec *since);
/* Where pages were found, and when elsewhere. */
void placement_pages__find_moves(const struct trace *trace, struct placement *placement);

/* Where pages of it moved from. */
void placement_object__find_source(const struct placement *placement,
                                   struct placement_object *object);
/* Of what pages tell: owned and the like, the kind, the advice. */
void placement_object__judge(const struct placement *placement, struct placement_object *object);

#endif
