/* present.h: result tables as text, JSON and CSV. Knows tables, not how they were made. */
#ifndef HEURT_PRESENT_PRESENT_H
#define HEURT_PRESENT_PRESENT_H

#include "analysis/findings/findings.h"
#include "analysis/ledger/profile.h"

#include <stdbool.h>
#include <stdio.h>

struct long_functions;
struct openmp_use;
struct requests;

/* Everything that a report shows. */
struct report {
    const struct trace *trace;
    const struct symbols *symbols;
    const struct profile *profile;
    const struct findings *findings; /* NULL: not asked for, then classes are shown */
    const char *directory;           /* of the trace, as the user wrote it */
    const char *threads; /* " --thread NAME", as often as it was given; NULL: of all of them */
    uint64_t trace_bytes;
    const struct vec *checks;        /* struct checked: of --fail-if; NULL: nothing was asked */
    const struct requests *requests; /* NULL: not asked for, or it serves nobody */
    const struct long_functions *long_functions; /* NULL: not asked for, or there are none */
    const struct openmp_use *openmp; /* NULL: not asked for, or no parallel region is told */
    const struct mpi_use *mpi;       /* NULL: it has no ranks of MPI */
};

/* How text is laid out on this terminal or file. */
struct style {
    unsigned columns; /* width; 0: no limit */
    bool colour;
    bool unicode; /* bars of eighth blocks; else '#' */
};

/* One presenter of reports. */
struct presenter {
    const char *name; /* "text", "json", "csv", "markdown" */
    /* rank: only that class, from 1; 0: all. As text with findings: that finding. */
    void (*classes)(const struct report *report, size_t rank, const struct style *style, FILE *out);
    void (*coverage)(const struct report *report, const struct style *style, FILE *out);
    void (*audit)(const struct report *report, const struct style *style, FILE *out);
};

extern const struct presenter presenter_text;
extern const struct presenter presenter_json;
extern const struct presenter presenter_csv;
extern const struct presenter presenter_markdown; /* of the first screen alone */

/* The variable at that address in the process image (serial), or NULL. */
const char *report__variable(const struct report *report, uint32_t process, uint64_t address);
/* Whether a glob matches the class's function, or that of the program which makes the call. */
bool class__is_named(const struct report *report, const struct profile_class *class,
                     const char *pattern);
/* "; did you mean 'work'?": the nearest of the names that class__is_named compares with, or "" when
 * none is near. free() it. */
char *class_names__question(const struct report *report, const char *typed);

/* Whether a number, or a glob, means the thread: by its name, "main" where it is a process' first,
 * or the function in which it started. */
bool report__is_thread(const struct report *report, const struct trace_thread *thread,
                       const char *pattern);
/* As class_names__question, of these names. */
char *thread_names__question(const struct report *report, const char *typed);

/* "41.8 s", "3.20 ms", "17 ns" into a buffer of 16 bytes; returns it. */
char *duration__format(uint64_t ns, char buffer[16]);

#endif
