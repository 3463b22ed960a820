/* report.h: for other commands that end in a report.
 *
 * In goes a directory, out comes a screen. It costs what heurt report does, which it is. */
#ifndef HEURT_CMD_REPORT_H
#define HEURT_CMD_REPORT_H

#include "cmd/kept_print.h"

#include <stdio.h>

/* Prints the first screen of the trace in directory, as heurt report -i directory does, and into
 * file, which is open for it. NULL: to stdout, or where that is no terminal, and so the program's,
 * to stderr; stdout leads there from then on. Returns 0, or EXIT_HEURT after it has said why not.
 */
int report__show_summary(const char *directory, FILE *file);
/* The first screen, as it is kept beside the trace. kept_print__free it. */
struct kept_print report__kept_summary(const char *directory);

#endif
