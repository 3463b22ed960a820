/* hot.h: for other commands that record what a program spends its time in.
 *
 * In goes a command, out come the functions that it spent its time in. It costs a run of the
 * program, which heurt hot is. */
#ifndef HEURT_CMD_HOT_H
#define HEURT_CMD_HOT_H

#include "base/vec.h"

/* Runs the command to its end and appends what heurt record -F would read (char *, each to be
 * freed). Where stdout is no terminal, this run's output goes to stderr. 0, or the exit status
 * after a sentence. */
int hot__functions(char **command, struct vec *patterns);

#endif
