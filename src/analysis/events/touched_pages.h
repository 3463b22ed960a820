/* touched_pages.h: which pages a thread has had page faults at, as far as its trace tells.
 *
 * In go its page faults in their order, out comes for each whether its page was made before. Costs
 * O(1) a fault, and about a megabyte; belongs to one thread at a time. */
#ifndef HEURT_ANALYSIS_EVENTS_TOUCHED_PAGES_H
#define HEURT_ANALYSIS_EVENTS_TOUCHED_PAGES_H

#include <stdbool.h>
#include <stdint.h>

struct touched_pages;

struct touched_pages *touched_pages__new(void);
void touched_pages__free(struct touched_pages *pages); /* NULL is allowed */

/* A fault at that address: whether the thread has had one at that page before. is_place_known:
 * false for a fault that the kernel only counted, of which the address is that of a later one
 * nearby. Such a fault is taken for a page's second when there were more faults around there than
 * there are pages. */
bool touched_pages__add(struct touched_pages *pages, uint64_t address, bool is_place_known);

#endif
