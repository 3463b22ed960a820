/* points.h: points of interest as text, JSON and CSV. */
#ifndef HEURT_PRESENT_OUTLIERS_POINTS_H
#define HEURT_PRESENT_OUTLIERS_POINTS_H

#include "analysis/outliers/outliers.h"
#include "present/present.h"

struct points_report {
    const struct report *report; /* its profile may be NULL */
    const struct stand_out *found;
    const char *thread; /* only these were asked for; NULL: all */
    size_t rows_at_most;
};

struct points_presenter {
    const char *name; /* "text", "json", "csv" */
    void (*points)(const struct points_report *shown, const struct style *style, FILE *out);
};

extern const struct points_presenter points_text, points_json, points_csv;

#endif
