/* load.h: a trace and the names of its addresses, as every command that reports on one wants them.
 */
#ifndef HEURT_CMD_LOAD_H
#define HEURT_CMD_LOAD_H

#include "format/reader.h"
#include "format/symbols.h"

struct loaded {
    struct trace *trace;
    struct symbols *symbols;
};

/* 0, or EXIT_HEURT after a sentence. The recorder makes the names when the run has ended; when it
 * was killed before, they are made and kept now. */
int loaded__open(const char *directory, struct loaded *loaded);
void loaded__close(struct loaded *loaded);

/* What the events and the names take on disk. */
uint64_t trace__bytes_on_disk(const char *directory);

#endif
