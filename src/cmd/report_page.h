/* report_page.h: the page of heurt report --html.
 *
 * In goes a trace of which the profile is found, or asked for; out comes the file, and 0 or an exit
 * status after a sentence. What else the page shows is found out here; what cannot be, of an
 * aggregated run for one, is missing in it, which it says. */
#ifndef HEURT_CMD_REPORT_PAGE_H
#define HEURT_CMD_REPORT_PAGE_H

#include "cmd/load.h"

/* path: "-" is the standard output. */
int report_page__write(struct loaded *loaded, const char *directory, const char *path);

#endif
