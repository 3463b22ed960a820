/* html_file.h: where the page of a report goes.
 *
 * In go a path and what writes the page, out comes a file that is there as a whole or not at all:
 * it is written beside, and renamed. "-" is stdout. It stands on format/. */
#ifndef HEURT_CMD_HTML_FILE_H
#define HEURT_CMD_HTML_FILE_H

#include <stdio.h>

/* No file of the trace in directory is overwritten. 0, or EXIT_HEURT after a sentence. */
int html_file__write(const char *directory, const char *path,
                     void (*put)(const void *subject, FILE *out), const void *subject);

#endif
