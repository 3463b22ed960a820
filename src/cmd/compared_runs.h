/* compared_runs.h: one run of each side of a comparison, opened once more: for what is not told by
 * figures of all runs: functions that were renamed, loops in their order, and the page.
 *
 * In go the runs that stand for the sides and what is wanted of them, out come their results, until
 * they are closed. It stands on load.h. One thread. */
#ifndef HEURT_CMD_COMPARED_RUNS_H
#define HEURT_CMD_COMPARED_RUNS_H

#include "cmd/load.h"
#include "present/compare/comparison_screens.h"

struct compared_runs {
    struct loaded before, after;
    bool has_before, has_after;
    struct vec renames; /* struct renamed */
    struct compared_phases phases;
};

struct compared_wishes {
    bool renames; /* functions of one side are not on the other */
    bool page;    /* what threads did, when */
};

/* 0, or EXIT_HEURT after a sentence; compared_runs__close it in any case. */
int compared_runs__open(const struct runs_comparison *comparison,
                        const struct compared_wishes *wishes, struct compared_runs *runs);
void compared_runs__close(struct compared_runs *runs);

#endif
