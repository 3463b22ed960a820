/* structure_screens.h (present): the shape of a program as text, JSON and CSV. Knows tables, not
 * how they were made. */
#ifndef HEURT_PRESENT_STRUCTURE_STRUCTURE_SCREENS_H
#define HEURT_PRESENT_STRUCTURE_STRUCTURE_SCREENS_H

#include "analysis/iterations/iterations.h"
#include "analysis/structure/outline.h"
#include "analysis/structure/sequences.h"
#include "present/present.h"

struct structure_report {
    const struct report *report; /* its profile may be NULL */
    const struct structure *structure;
    const struct outline *outline;
    const struct outline_options *options; /* what the outline was made with */
    const char *thread;                    /* only these were asked for; NULL: all */
    const struct sequences *sequences;     /* NULL: they are not shown */
    const struct iterations *iterations;   /* NULL: only some threads were asked for */
};

struct structure_presenter {
    const char *name; /* "text", "json", "csv" */
    void (*outline)(const struct structure_report *shown, const struct style *style, FILE *out);
};

extern const struct structure_presenter structure_text, structure_json, structure_csv;

#endif
