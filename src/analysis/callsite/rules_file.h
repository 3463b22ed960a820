/* rules_file.h: what the user has said about classes, kept beside the trace so that the next report
 * remembers it.  heurt.rules is a text file of lines:
 *
 *     # a comment
 *     key FUNCTION=ARGUMENT[,ARGUMENT]…
 *     ignore FUNCTION
 *
 * FUNCTION is a glob.  Comments and the order of lines survive a change.
 *
 * In goes the directory of a trace, out come rules as analysis/callsite/rules.h wants them. It
 * costs one small file. */
#ifndef HEURT_ANALYSIS_CALLSITE_RULES_FILE_H
#define HEURT_ANALYSIS_CALLSITE_RULES_FILE_H

#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>

#define RULES_FILE "heurt.rules"

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
int rules__add_ignore(struct rules *rules, const char *function, struct error *error);
/* Removes the rules of exactly this function (or glob, as it was written). Their number. */
size_t rules__forget(struct rules *rules, const char *function);

/* Replaces the file as a whole: a reader sees the old one or the new one. */
int rules__save(struct rules *rules, struct error *error);

/* struct profile_rule; rules__free_list it. */
struct vec rules__list(const struct rules *rules);
void rules__free_list(struct vec *list);

#endif
