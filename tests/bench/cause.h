/* cause.h: what a program of known cause says it injected (tests/programs/causes), what heurt found
 * in it, and whether that is right. */
#ifndef HEURT_BENCH_CAUSE_H
#define HEURT_BENCH_CAUSE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { CAUSE_PARTS = 2, CAUSE_WORD_BYTES = 32 };

enum cause_kind {
    CAUSE_INTERFERENCE, /* the verdict is interference, by the injected cause */
    CAUSE_MIXED,        /* likewise, and the shares of both are right */
    CAUSE_ARGUMENT,     /* the verdict is workload */
    CAUSE_DATA,         /* the verdict is not interference */
    CAUSE_QUIET,        /* nothing is ranked above CAUSE_QUIET_SCORE as interference */
};

#define CAUSE_QUIET_SCORE 0.05
#define CAUSE_SHARE_BAR 0.10 /* how far a share may be off */

struct cause_program {
    const char *name;
    enum cause_kind kind;
    const char *parts[CAUSE_PARTS]; /* what is injected: keys of why_ns */
};

/* By what the program itself measured. Shares are of its excess. */
struct cause_truth {
    double share[CAUSE_PARTS], runnable; /* 0 … 1 */
    double excess_ns, lifetime_ns;
};

/* By heurt. A share of page faults has that of the overhead added: what the program measures around
 * a fault contains what it costs to record it, which heurt tells apart. */
struct cause_found {
    char verdict[CAUSE_WORD_BYTES], cause[CAUSE_WORD_BYTES]; /* "null": none */
    double share[CAUSE_PARTS], runnable;
    double score;
};

/* From the program's output. */
int cause_truth__read(const struct cause_program *program, const char *text,
                      struct cause_truth *truth, struct error *error);

/* From `heurt report --json`: the class of the function work. */
int cause_found__read(const struct cause_program *program, const char *json,
                      struct cause_found *found, struct error *error);

/* The one word that heurt's answer comes to: a cause, "workload", "unclear", or "nothing" when it
 * ranks nothing above CAUSE_QUIET_SCORE. */
const char *cause_found__word(const struct cause_found *found);

/* What the answer has to be, by what the program measured: "runnable" when calls lost more by
 * waiting for a CPU than by what was injected, which on a machine that has nothing else to do is
 * never so; else as the kind tells. */
const char *cause__expected(const struct cause_program *program, const struct cause_truth *truth);

/* Something else than what was injected made the program slow, or as good as; or nothing did. */
bool cause__is_disturbed(const struct cause_program *program, const struct cause_truth *truth);

bool cause__is_right(const struct cause_program *program, const struct cause_truth *truth,
                     const struct cause_found *found);

/* The largest difference between an injected share and the found one, 0 … 1. */
double cause__difference(const struct cause_program *program, const struct cause_truth *truth,
                         const struct cause_found *found);

#endif
