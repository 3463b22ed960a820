/* rules_file.h: what the user has said about classes, kept in the trace so that the next report of
 * it remembers that.  It is a text file of lines:
 *
 *     # a comment
 *     key FUNCTION=ARGUMENT[,ARGUMENT]…
 *     ignore FUNCTION [in CALLER]
 *
 * FUNCTION and CALLER are globs.  Comments and the order of lines survive a change.
 *
 * In goes the directory of a trace, out come rules as analysis/callsite/rules.h wants them. It
 * costs one small file. */
#ifndef HEURT_ANALYSIS_CALLSITE_RULES_FILE_H
#define HEURT_ANALYSIS_CALLSITE_RULES_FILE_H

#include "analysis/callsite/rules.h"
#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>

struct rules {
    char *path;
    struct vec lines; /* char * */
    bool changed;     /* since it was loaded */
};

/* Reads the rules of a trace; without a file there are none. A malformed line is -EINVAL with its
 * number in the error. rules__free in any case. */
int rules__load(const char *trace_directory, struct rules *rules, struct error *error);
void rules__free(struct rules *rules);

/* assignment: "FUNCTION=ARGUMENT[,ARGUMENT]…"; replaces an earlier key of that function. */
int rules__add_key(struct rules *rules, const char *assignment, struct error *error);
/* "FUNCTION" or "FUNCTION in CALLER". */
int rules__add_ignore(struct rules *rules, const char *function, struct error *error);
/* Removes the rules of exactly that (the function or glob, "in CALLER" included, as it was
 * written). Their number. */
size_t rules__forget(struct rules *rules, const char *subject);

/* Replaces the file as a whole: a reader sees the old one or the new one. */
int rules__save(struct rules *rules, struct error *error);

/* What the rule is about, as rules__forget takes it. free() it. */
char *rule__subject(const struct profile_rule *rule);

/* struct profile_rule; rules__free_list it. */
struct vec rules__list(const struct rules *rules);
void rules__free_list(struct vec *list);

#endif
