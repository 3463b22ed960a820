/* html_comparison.h (present): runs against runs as one file that a browser opens: as html.h, with
 * the same rules for what stands in it.
 *
 * The verdict, a picture of what makes the difference, the rows, the loops, what threads did when
 * in one run of each side, and a differential flame graph. */
#ifndef HEURT_PRESENT_HTML_HTML_COMPARISON_H
#define HEURT_PRESENT_HTML_HTML_COMPARISON_H

#include "present/compare/comparison_flame.h"
#include "present/compare/comparison_screens.h"
#include "present/html/html.h"

struct comparison_page {
    const struct comparison_view *view;
    struct html_page before, after; /* one run of each; with a report and a timeline alone */
    const struct flame_sides *flame;
};

void html_comparison__put(const struct comparison_page *page, FILE *out);

#endif
