/* requests_screens.h: the requests of a program that serves, as a line of the first screen, as a
 * screen of the slowest ones, and as JSON (heurt.requests/1, docs/heurt-report.md).
 *
 * In goes what the analysis found, out comes text. The first screen's line costs nothing; the
 * others tell of whom requests waited for what requests__blame has found. */
#ifndef HEURT_PRESENT_REQUESTS_REQUESTS_SCREENS_H
#define HEURT_PRESENT_REQUESTS_REQUESTS_SCREENS_H

#include "analysis/timeline/requests.h"
#include "present/present.h"

struct requests_report {
    const struct report *report;
    const struct requests *requests;
};

/* "Requests: 384,000, half in 9 us, …"; nothing where there are too few, or NULL. */
void text__requests(const struct report *report, const struct style *style, FILE *out);
void requests__put_screen(const struct requests_report *shown, const struct style *style,
                          FILE *out);
void requests__put_json(const struct requests_report *shown, const struct style *style, FILE *out);

#endif
