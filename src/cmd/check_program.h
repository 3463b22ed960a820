/* check_program.h: what heurt check says about a program and the libraries it is linked to.
 *
 * In goes a name, out come rows of the table that heurt check shows. It costs a look at the
 * program's symbols and at each of its libraries'. It stands on kernel/facilities.h and symbol/. */
#ifndef HEURT_CMD_CHECK_PROGRAM_H
#define HEURT_CMD_CHECK_PROGRAM_H

#include "base/error.h"
#include "base/vec.h"

/* Appends rows (struct facility) about the program found along PATH. Its path goes to *path, to be
 * freed. -ENOENT, -EACCES, -ENOEXEC with a sentence when there is no such program. */
int program__judge(const char *name, struct vec *rows, char **path, struct error *error);

#endif
