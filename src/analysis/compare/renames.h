/* renames.h: functions that have another name in the other run, by what they call and who calls
 * them.
 *
 *     before   main ─► parse ─► read, free       main ─► store
 *     after    main ─► parse_line ─► read, free  main ─► store
 *
 * A function whose name the other side does not have is the same as one there whose name this side
 * does not have when both have the same callers and callees, and are called behind and before the
 * same others, and no other two have: parse is parse_line, perhaps. Then those of which only
 * callers and callees are the same are looked for. Neighbours that are renamed themselves count as
 * what they are now, once that is known; until then as somebody.
 *
 * In go calls by name, out come pairs of names. It stands on base/ alone, any thread may call it,
 * and it costs the calls, a few times. */
#ifndef HEURT_ANALYSIS_COMPARE_RENAMES_H
#define HEURT_ANALYSIS_COMPARE_RENAMES_H

#include "base/vec.h"

#include <stdbool.h>

/* Somewhere in a run the one calls the other. */
struct function_call {
    const char *caller; /* "": the thread itself */
    const char *callee;
    const char *previous; /* what it called before that; "": nothing */
    bool is_library;      /* the callee is a call that heurt knows, which nobody renames */
};

/* The names are those of the calls. */
struct renamed {
    const char *before, *after;
};

/* before, after: struct function_call, any of them several times. struct renamed; vec__free it. */
struct vec renames__find(const struct vec *before, const struct vec *after);
/* What the function of before is called after; the same name where it is not known to be renamed.
 */
const char *renames__of(const struct vec *renames, const char *before);

#endif
