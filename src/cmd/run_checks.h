/* run_checks.h: conditions of --fail-if that are asked of each run by itself (a share, a score),
 * over repeated runs of a program: is it so of most of them?
 *
 *     run_checks__add      a run's figures, one a condition, from its trace
 *     run_checks__judge    what they come to, at a look (analysis/compare/sequential.h)
 *
 * In go conditions, of which the caller's array outlives it, and traces; out come outcomes and
 * sentences. A trace is closed again before the next one is opened. It stands on checking.h and
 * load.h. One thread. */
#ifndef HEURT_CMD_RUN_CHECKS_H
#define HEURT_CMD_RUN_CHECKS_H

#include "cmd/checking.h"

struct run_checks {
    const struct vec *conditions; /* struct fail_condition: the caller's */
    struct vec figures; /* struct vec of double, one a condition: of each run; NaN: the run
                           has nothing of that name */
    size_t asked;       /* conditions that are of single runs */
};

/* Whether it is of a run by itself, and no change: a limit without a sign. Of the wall time a part
 * is a change, too, and so is all of a row. */
bool fail_condition__is_of_one_run(const struct fail_condition *condition);

struct run_checks run_checks__start(const struct vec *conditions);
/* 0, or the exit status after a sentence: of a trace that cannot be read, or of a condition that
 * cannot be asked. Nothing is read where no condition is of single runs. */
int run_checks__add(struct run_checks *checks, const char *directory);
/* The condition, which is one of these: it is met in more of the runs than half, or in fewer, where
 * chance would bring that about with no more than that risk; else it is undecided. */
void run_checks__judge(const struct run_checks *checks, const struct fail_condition *condition,
                       double risk, struct checked *checked);
void run_checks__free(struct run_checks *checks);

#endif
