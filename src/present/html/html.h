/* html.h (present): a report as one file that a browser opens, from an e-mail as well: it asks for
 * nothing over the network, and has the report as text for who allows no scripts.
 *
 *     results ──► JSON ──┐
 *     page.js, page.css ─┴─► page_parts.c (made by the build) ──► one file
 *
 * Names of the trace stand in it as data only: in JSON without any '<', and in the text with '<'
 * and
 * '&' escaped. The page shows them as text, and a Content-Security-Policy lets no script run but
 * its own. Its memory and size are bounded by the limits below and those of the timeline. */
#ifndef HEURT_PRESENT_HTML_HTML_H
#define HEURT_PRESENT_HTML_HTML_H

#include "analysis/iterations/iterations.h"
#include "analysis/locks/locks.h"
#include "analysis/memory/memory_use.h"
#include "analysis/timeline/timeline.h"
#include "present/present.h"
#include "present/whatif/whatif_screens.h"

/* More are not in the page, which says how many there are. */
#define HTML_CLASSES_MOST 200
#define HTML_LOCKS_MOST 100
#define HTML_THREADS_MOST 1000
#define HTML_FUNCTIONS_MOST 200

/* What it is made of; NULL: it was not found out, which the page says. */
struct html_page {
    const struct report *report; /* with findings */
    const struct locks_result *locks;
    const struct iterations *iterations;
    const struct timeline *timeline;
    const struct memory_use *memory;  /* whose lines are drawn with the first finding of sharing */
    const struct whatif_view *whatif; /* what changes would gain; NULL: it cannot be told */
};

void html__put(const struct html_page *page, FILE *out);

#endif
