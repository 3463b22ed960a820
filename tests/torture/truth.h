/* truth.h: what a torture program says of itself, and what heurt's report says of it.
 *
 * A program prints, each on a line of its own (tests/programs/known.h has the functions),
 *
 *     count NAME N          NAME was entered N times
 *     unfinished NAME N     N of these never left
 *     abandoned NAME N      up to N of these may be unfinished, as a jump ended them
 *     uncertain NAME N      up to N more or fewer may have been recorded
 *     refused NAME TEXT     it may be left alone, but only for a reason that holds TEXT, or one of
 *                           TEXT|TEXT
 *     NAME=N                the same as count, from the programs of tests/programs
 *
 * All its other output is its result, which has to be the same with and without heurt. */
#ifndef HEURT_TORTURE_TRUTH_H
#define HEURT_TORTURE_TRUTH_H

#include "base/vec.h"

#include <json-c/json.h>
#include <stdbool.h>

struct truth {
    char *name;
    char *may_be_refused; /* NULL: it has to be instrumented */
    long long count, unfinished, abandoned, uncertain;
    bool counted; /* a count was printed */
};

/* Takes what a program printed apart: truths (struct truth) and the rest, its result (free() it).
 * patterns: of the functions that are recorded; a NAME=N of another name is no truth. */
char *truths__read(const char *output, const struct vec *patterns, struct vec *truths);
void truths__free(struct vec *truths);

/* What the report says of one function; all of its threads, processes and clones. */
struct finding {
    long long count, unfinished;
    bool instrumented;
    const char *reason; /* of a refusal, or NULL */
};

struct finding report__find(struct json_object *report, const char *name);

/* Whether a function that is called reported in a report is the function name: a C++ name without
 * its type and parameters, and all clones but those that hold a part of it only. */
bool function__is(const char *reported, const char *name);

#endif
