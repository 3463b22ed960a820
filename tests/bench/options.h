/* options.h: the command line of a benchmark, as a table of what it may say. */
#ifndef HEURT_BENCH_OPTIONS_H
#define HEURT_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* One long option; exactly one of the pointers is set. */
struct bench_option {
    const char *name;     /* without the dashes */
    const char *argument; /* what the usage calls it; NULL: a flag */
    const char **text;
    size_t *number; /* least … most */
    bool *flag;
    size_t least, most;
    const char *(*choice)(size_t index); /* what a text may be, or NULL: anything; NULL ends them */
};

/* Reads the command line into what the table points to; a name of NULL ends the table.  False: the
 * benchmark ends with *status, and the usage was printed with note below it (2 and on stderr when
 * the command line is wrong, 0 and on stdout for --help). */
bool options__read(int argc, char **argv, const struct bench_option *options, const char *note,
                   int *status);

#endif
