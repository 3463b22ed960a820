/* options.h: the options of a command as a table: what reads the command line, prints --help, and
 * answers what was mistyped.
 *
 * Of a table of its own rather than argp: argp prints messages, usage and the sections of its help
 * in a form of its own, ends the process unless it is told not to, and knows no nearest word. */
#ifndef HEURT_CMD_OPTIONS_H
#define HEURT_CMD_OPTIONS_H

#include "cmd/command.h"

#define OPTION_OPERAND (-2) /* as a code: no option, but what stands on the line without one */

struct option_row {
    int code;          /* the letter, or a number above 255: what take is called with */
    const char *name;  /* "min-wait"; of an operand what it stands for: "N" */
    const char *value; /* "TIME"; NULL: it takes none */
    const char *help;  /* a few words */
};
/* A table ends with a row of zeroes. --help and -h are everybody's and in none. */

/* Calls take for each option, in their order; its value is in optarg. Returns 0 with optind at the
 * first operand; what take returned, when that is not 0; EXIT_USAGE after a sentence; -1 after
 * --help, which is found wherever it stands. */
int options__read(const struct command *command, const struct option_row *rows, int argc,
                  char **argv, int (*take)(int code, void *request), void *request);
/* The lines of --help. */
void options__put(const struct option_row *rows, FILE *out);

#endif
