/* condition.h: what --fail-if asks: "lock > 10 %", "finding(queue.c:30).lost > 50ms".
 *
 *     condition  = quantity ( ">" | ">=" | "<" | "<=" ) limit
 *     quantity   = words [ "(" pattern ")" ] [ "." word ]
 *     limit      = [ "+" | "-" ] number [ "%" | "ns" | "us" | "ms" | "s" | "x" | "×" ]
 *
 * Blanks may stand between any two of these. Words are letters, digits and '_'; a pattern is
 * whatever stands before the first ')' behind which a '.' or a comparison comes.
 *
 * In goes a text, out come its parts, or one sentence. It stands on libc and base/. Any thread may
 * call it. */
#ifndef HEURT_CMD_CONDITION_H
#define HEURT_CMD_CONDITION_H

#include "base/error.h"

#include <stdbool.h>

enum condition_unit {
    CONDITION_NUMBER, /* none */
    CONDITION_SHARE,  /* "%": limit is 0.1 for 10 % */
    CONDITION_TIME,   /* limit is in ns */
    CONDITION_FACTOR, /* "x" */
};

struct fail_condition {
    const char *text; /* as it was written; the caller's */
    char *quantity;   /* "lock", "wanted a CPU"; owned */
    char *pattern;    /* "queue.c:30"; owned; NULL: none */
    char *field;      /* "lost"; owned; NULL: none */
    bool is_more;     /* it fails what is more than the limit; else what is less */
    bool is_with;     /* or equal */
    double limit;
    bool has_sign; /* it is a change */
    enum condition_unit unit;
};

/* 0, and condition__free it; or -EINVAL with a sentence. */
int condition__parse(const char *text, struct fail_condition *condition, struct error *error);
void condition__free(struct fail_condition *condition);
/* Whether that figure is what it fails. */
bool condition__is_met(const struct fail_condition *condition, double figure);
/* "> 10 %": free() it. */
char *condition__limit(const struct fail_condition *condition);

#endif
