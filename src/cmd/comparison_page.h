/* comparison_page.h: heurt compare --html and --flame: files of one run of each side.
 *
 * In go these runs, analysed, and the comparison; out comes a file that is there as a whole or not
 * at all, or a sentence. It costs a walk over each trace. It stands on span_feed.h and
 * html_file.h. */
#ifndef HEURT_CMD_COMPARISON_PAGE_H
#define HEURT_CMD_COMPARISON_PAGE_H

#include "cmd/compared_runs.h"

/* html, flame: paths; NULL: none. 0, or EXIT_HEURT after a sentence. */
int comparison_page__write(const struct compared_runs *runs, const struct comparison_view *view,
                           const char *html, const char *flame);

#endif
