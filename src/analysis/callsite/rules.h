/* rules.h: what the user's rules say about a function. */
#ifndef HEURT_ANALYSIS_CALLSITE_RULES_H
#define HEURT_ANALYSIS_CALLSITE_RULES_H

#include "analysis/callsite/definition.h"
#include "base/vec.h"
#include "format/reader.h"
#include "format/symbols.h"

/* Feedback of the user, kept in a small file. */
struct profile_rule {
    enum { RULE_KEY, RULE_IGNORE } type;
    char *function;  /* glob over the class's function name */
    char *caller;    /* RULE_IGNORE: glob over the functions that call it; NULL: whoever does */
    char *arguments; /* RULE_KEY: names or argN, joined by ','; else NULL */
};

/* Whether pattern (a glob) means the function: its name, with or without its parameters. */
bool rule__matches(const char *pattern, const char *function);

/* Whether pattern means the thread: its number, #SERIAL, or a glob of its name. */
bool rule__is_thread(const char *pattern, const struct trace_thread *thread);
/* 0 where a thread of the trace is meant, or pattern is NULL; else -ENOENT with a sentence, in
 * which the thread with the nearest name stands. */
int rule__find_thread(const char *pattern, const struct trace *trace, struct error *error);

/* Whether a RULE_IGNORE means the class: its function, called from its caller or from what that
 * calls. symbols, rules: NULL: none. */
bool rules__ignore(const struct vec *rules, const struct symbols *symbols,
                   const struct class_definition *what);

/* One argument that a rule asks for. */
struct rule_argument {
    const char *text; /* not terminated */
    size_t bytes;
};

/* Walks a list of names joined by ','; *list moves on. False at its end. */
bool rule_argument__next(const char **list, struct rule_argument *argument);

/* Which payload word of the function the argument is, or -1 when it was not recorded. A name that
 * was recorded is taken first, then argN as the N-th that was recorded. */
int rule_argument__place(const struct rule_argument *argument,
                         const struct trace_function *function);

/* The name under which the argument in that payload word was recorded; free() it. */
char *recorded_argument__name(const struct trace_function *function, unsigned place);

#endif
