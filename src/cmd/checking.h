/* checking.h: --fail-if and --junit, of whichever command has them: conditions become outcomes,
 * these an exit status and a file.
 *
 * In go texts of the command line and who can judge one; out come struct checked
 * (present/compare/comparison_screens.h) and sentences. It stands on condition.h. One thread. */
#ifndef HEURT_CMD_CHECKING_H
#define HEURT_CMD_CHECKING_H

#include "cmd/condition.h"
#include "present/compare/comparison_screens.h"
#include "present/present.h"

enum {
    EXIT_CHECK_FAILED = 3,
    EXIT_CHECK_UNDECIDED = 4,
};

/* Fills the outcome and the sentence of one condition; 0, or -EINVAL with a sentence: it cannot be
 * asked of that. */
typedef int condition_judge(const void *subject, const struct fail_condition *condition,
                            struct checked *checked, struct error *error);

struct checking {
    struct vec conditions; /* struct fail_condition */
    struct vec checks;     /* struct checked */
};

/* texts: const char *. 0, or EXIT_USAGE after a sentence; checking__free it in any case. */
int checking__parse(const struct vec *texts, struct checking *checking);
/* Judges all of them; likewise. */
int checking__judge(struct checking *checking, condition_judge *judge, const void *subject);
/* 0, EXIT_CHECK_FAILED or EXIT_CHECK_UNDECIDED; each condition that does not hold is said. */
int checking__status(const struct checking *checking);
/* NULL: to no file. 0, or EXIT_HEURT after a sentence. directory: a trace that is not written into.
 */
int checking__write_junit(const struct checking *checking, const char *suite, const char *directory,
                          const char *path);
void checking__free(struct checking *checking);

/* What a figure comes to against the limit: "lock: 51 %, limit > 10 %". Takes over figure. */
void checked__set(struct checked *checked, const struct fail_condition *condition,
                  enum check_outcome outcome, const char *name, char *figure);

/* What a condition asks of one run, and what that run has. */
struct asked_figure {
    char *name;    /* "class parse_chunk, score": owned */
    double figure; /* in the unit of the limit */
    bool is_known; /* false: the run has nothing of that name, and the figure is 0 */
};
/* 0, and free() the name; or -EINVAL with a sentence. The report has findings. */
int report__measure(const struct report *report, const struct fail_condition *condition,
                    struct asked_figure *measured, struct error *error);
/* "0.31", "12.5 ms", "15 %": free() it. And what that is of: " of the time of …", or "". */
char *measured__text(const struct fail_condition *condition, double figure);
const char *measured__of(const struct fail_condition *condition);

/* The judges of the two commands; their subjects: a struct report with findings, and a struct
 * comparison_view. */
condition_judge report__judge, comparison__judge;

#endif
