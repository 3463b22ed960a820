/* command.h: a subcommand, and how commands talk.
 *
 * stdout is data, stderr is talk. Exit status: 0, or of record the program's; 125 heurt's own
 * failure, 126 the program cannot be run, 127 it was not found (as env(1)); 2 for wrong usage.
 *
 * In go sentences and files, out come bytes on the right stream. It stands on nothing below cmd/
 * but base/error.h. */
#ifndef HEURT_CMD_COMMAND_H
#define HEURT_CMD_COMMAND_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    EXIT_USAGE = 2,
    EXIT_HEURT = 125,
    EXIT_CANNOT_RUN = 126,
    EXIT_NOT_FOUND = 127,
};

struct option_row;

struct command {
    const char *name;
    const char *summary;           /* one line */
    const struct option_row *rows; /* options.h: all of its options but --help */
    const char *operands;          /* what follows them in the usage, "[--] PROGRAM [ARG]…" */
    bool runs_a_program;           /* the first operand and all after it are a program's */
    /* argv[0] is the verb. Returns the exit status; one below 0 is 0, too: help was shown. */
    int (*run)(const struct command *self, int argc, char **argv);
};

extern const struct command command_record, command_report, command_hot, command_dump,
    command_analyse, command_check, command_explain, command_locks, command_memory, command_openmp,
    command_mpi, command_place, command_structure, command_whatif, command_export, command_tables,
    command_view, command_compare, command_gate, command_scale, command_induce, command_stat,
    command_import, command_merge, command_ctl;

/* The directory that -i and -o mean when they are not given. */
#define DEFAULT_TRACE "heurt.data"

/* "heurt: SENTENCE" on stderr. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says the error's sentence; returns EXIT_HEURT. */
int failed(const struct error *error);
/* say, then the usage of the command; returns EXIT_USAGE. */
int wrong_usage(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* --help: usage, summary, options and the name of the manual page on stdout; returns 0. */
int show_help(const struct command *command);

/* Opens a pager (PAGER, else less -FRX) when stdout is a terminal, else stdout itself. */
FILE *pager__open(void);
void pager__close(FILE *out);
/* Whether out (a terminal, perhaps through the pager) shows colour: NO_COLOR is honoured. */
bool terminal__colour(void);
unsigned terminal__columns(void); /* 0: stdout is not a terminal */
/* How wide a screen is: as asked for (0: not), as COLUMNS says, as the terminal is, else 100. */
#define SCREEN_COLUMNS 100
#define SCREEN_COLUMNS_LEAST 40
#define SCREEN_COLUMNS_MOST 1000
unsigned screen__columns(uint64_t width);
/* Takes over text: it, or what it is in ASCII where the locale's character set is not UTF-8. */
char *terminal__text(char *text);
bool terminal__unicode(void); /* the locale's character set is UTF-8 */

#endif
