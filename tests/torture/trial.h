/* trial.h: one case of the suite: a program that is run alone and recorded, and the rows that tell
 * for each of its functions whether heurt counted what happened. */
#ifndef HEURT_TORTURE_TRIAL_H
#define HEURT_TORTURE_TRIAL_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdio.h>

/* A line of the list of cases: "NAME|OPTION|…|--|PROGRAM|ARG|…", options of heurt record; or
 * "NAME|skip|REASON". Without -f among the options only the results are compared. */
struct trial {
    char *name;
    char *skip;          /* why it is not possible here, or NULL */
    struct vec options;  /* char * */
    struct vec patterns; /* char *, the -f of the options */
    struct vec command;  /* char * */
};

/* A defect that is known and waits for its cure: "CASE FUNCTION TEXT", the first two are globs,
 * TEXT is part of the verdict. */
struct awaited {
    char *trial, *function, *text;
};

/* Both return false and print a sentence when the file cannot be read. Nothing is freed: they live
 * as long as the driver. */
bool trials__read(const char *path, struct vec *trials);
bool awaited__read(const char *path, struct vec *awaited);

/* Runs it in the present directory, which has to be empty, and prints its rows. False: a row is
 * wrong. */
bool trial__run(const struct trial *trial, const struct vec *awaited, const char *heurt,
                FILE *rows);

#endif
