/* unseen.h: what heurt did not look at. Private to the screens of reports. */
#ifndef HEURT_PRESENT_REPORT_UNSEEN_H
#define HEURT_PRESENT_REPORT_UNSEEN_H

#include "present/shared.h"

#define UNSEEN_TOLD 0.005 /* of the time on a CPU */
#define UNSEEN_LARGE 0.1  /* may hide a finding */
#define UNSEEN_MOST 0.5   /* nothing can be said of the program */

/* profile__unseen as words; "": less than UNSEEN_TOLD. To be freed. */
char *report__unseen_words(const struct report *report);

/* Processes that left the recording, and their part of the time on a CPU; "": none. To be freed. */
char *report__left_words(const struct report *report);
/* Most of the time on a CPU was theirs. */
bool report__saw_little(const struct report *report);

/* A language's or library's own threads and waits, by the files that a process has mapped. */
#define RUNTIME_GLOBS 4
struct runtime_kind {
    const char *name;
    const char *globs[RUNTIME_GLOBS]; /* over base names of modules; "(…)": the trace's "runtime" */
    const char *seen, *unseen;
    bool hides_waits;   /* of the program's own threads of control for each other */
    const char *thread; /* one that it starts, by name; NULL: none */
};
/* The next one that the run used, after last (NULL: the first), or NULL. */
const struct runtime_kind *runtime__next(const struct report *report,
                                         const struct runtime_kind *last);
/* A line each. */
void text__runtimes(const struct report *report, const struct style *style, FILE *out);

#endif
