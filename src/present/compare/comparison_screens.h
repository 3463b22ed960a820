/* comparison_screens.h (present): runs against runs, as text, JSON, CSV, Markdown and JUnit XML.
 * heurt.compare/1 and its CSV: the contract is in docs/heurt-compare.md. */
#ifndef HEURT_PRESENT_COMPARE_COMPARISON_SCREENS_H
#define HEURT_PRESENT_COMPARE_COMPARISON_SCREENS_H

#include "analysis/compare/comparison.h"
#include "analysis/compare/phases.h"
#include "present/present.h"

/* What became of a condition that the user has set. */
enum check_outcome { CHECK_HOLDS, CHECK_FAILS, CHECK_UNDECIDED };
struct checked {
    enum check_outcome outcome;
    const char *condition; /* as it was written: of what fails */
    char *sentence;        /* owned; what was found */
};
const char *check_outcome__name(enum check_outcome outcome);

/* The loops of one run of each side. */
struct compared_phases {
    struct vec before, after; /* struct told_phase */
    struct vec pairs;         /* struct phase_pair */
};

struct comparison_view {
    const struct runs_comparison *comparison;
    const struct vec *before, *after;     /* struct run_figures */
    const char *table;                    /* "wall" */
    const struct column *value;           /* that is compared */
    const struct vec *checks;             /* struct checked */
    const struct compared_phases *phases; /* NULL: not looked for */
};

struct comparison_presenter {
    void (*put)(const struct comparison_view *view, const struct style *style, FILE *out);
};
extern const struct comparison_presenter comparison_text, comparison_json, comparison_csv,
    comparison_markdown;

/* heurt.compare/1; the caller's. */
struct json_object *comparison_document__new(const struct comparison_view *view);

/* ---- pieces, private to present/compare and for sentences of checks -------------------------- */

/* "Faster: 1.31 s → 980 ms, 25 % less (23 to 27 %)." free() it. */
char *comparison__sentence(const struct runs_comparison *comparison);
/* "lock queue.lock -410 ms, wanted a CPU +80.0 ms, all else -3.20 ms": adds up; NULL: nothing is to
 * be explained. free() it. */
char *comparison__explanation(const struct runs_comparison *comparison);
/* "faster", "slower", "no difference shown", "too few runs" */
const char *comparison__verdict(const struct runs_comparison *comparison);
/* "+25 %", "-2.3 %": free() it. */
char *part__format(double part);
/* A figure of the column: "1.31 s", "38 %", "1,234". free() it. */
char *figure__format(const struct column *column, double figure);
/* With its sign. */
char *figure__signed(const struct column *column, double figure);
/* Which loops are not on both sides: char *. texts__free it. phases may be NULL. */
struct vec compared_phases__notes(const struct compared_phases *phases);
/* A table of all that a screen has room for; nothing where there is none. */
void compared_phases__put(const struct compared_phases *phases, const struct style *style,
                          FILE *out);
/* "-12 %" of one iteration, where both have it; NULL: it is not told. free() it. */
char *phase_pair__change(const struct compared_phases *phases, const struct phase_pair *pair);
/* Why the verdict is not more than it is, and other remarks: char *. texts__free it. */
struct vec comparison__notes(const struct comparison_view *view);

/* What a report or comparison was checked for, as JUnit XML: a test case a condition. */
void checks__put_junit(const char *suite, const struct vec *checks, FILE *out);
/* A text of which nothing is markup. */
void markdown__put_plain(const char *text, FILE *out);
/* As a list in Markdown, or lines of a screen. */
void checks__put_markdown(const struct vec *checks, FILE *out);
void checks__put_text(const struct vec *checks, const struct style *style, FILE *out);

#endif
