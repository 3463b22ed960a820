/* whole_file.h: a file that is there as a whole or not at all.
 *
 * In goes a path, out comes where to write: a file beside it, PATH.NUMBER.part, which gets its name
 * when all is written. A device, a pipe or a socket would be replaced by a file: it is written to
 * as it is. It stands on format/directory.h. */
#ifndef HEURT_CMD_WHOLE_FILE_H
#define HEURT_CMD_WHOLE_FILE_H

#include <stdio.h>

struct whole_file {
    FILE *out;
    const char *path;
    char *beside; /* NULL: out is the target itself */
};

/* No file of the trace in directory is overwritten. 0, or EXIT_HEURT after a sentence; path
 * outlives it. */
int whole_file__open(struct whole_file *file, const char *directory, const char *path);
/* failed: an errno with which writing failed, or 0. Then the file is renamed, else removed. 0, or
 * EXIT_HEURT after a sentence. */
int whole_file__close(struct whole_file *file, int failed);

#endif
