/* child.h: runs a command and keeps what it wrote. */
#ifndef HEURT_BENCH_CHILD_H
#define HEURT_BENCH_CHILD_H

#include "base/error.h"

#include <stddef.h>

#define CHILD_WORDS_MAX 64

/* A command line that grows by words and ends in NULL. The words are not copied. */
struct words {
    const char *word[CHILD_WORDS_MAX];
    int count;
};

/* Appends the words up to the first NULL; what does not fit is left out and fails child__run. */
void words__add(struct words *words, const char *const *more);

/* Runs it to its end; *output (free() it) is its stdout as text.  stderr goes to a file beside
 * (log, appended), NULL: to ours.  Fails when it cannot be run or its status is not 0. */
int child__run(const struct words *words, const char *log, char **output, struct error *error);

/* Why a command failed, in one line: the last one that it wrote to the log, else the error's. */
void child__reason(const char *log, const struct error *error, char *text, size_t bytes);

/* Removes a directory with all that is in it; no error when it is not there. */
void directory__remove(const char *path);

#endif
