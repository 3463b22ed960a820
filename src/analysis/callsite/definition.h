/* definition.h: what makes a class of occurrences: its place in the code, what it works on, and
 * what it calls. What its occurrences did is no part of it. */
#ifndef HEURT_ANALYSIS_CALLSITE_DEFINITION_H
#define HEURT_ANALYSIS_CALLSITE_DEFINITION_H

#include "analysis/callsite/callsite.h"
#include "base/vec.h"

struct profile_key {
    const char *name;
    uint64_t value;
};

/* A place in the code at which a class's occurrences called something. */
struct profile_inside {
    uint32_t
        level; /* 1: the class itself called it; the next one with a lesser level encloses it */
    uint32_t place; /* number of the place: equal ones are one place */
    enum class_kind kind;
    const char *function;
    uint64_t least, most; /* how often in one occurrence; level 1 only, else 0 */
    bool is_irregular;    /* what is in it differs too much to be told */
};

/* What the occurrences of a class have in common that other classes of the same site have not
 * (signature.h): what they call, in order. What is repeated in a row stands there once. */
struct profile_structure {
    unsigned depth;     /* levels that were looked at; more may be inside */
    bool is_rest;       /* those whose structures are none of the others'; no inside is known */
    struct vec inside;  /* struct profile_inside */
    uint64_t signature; /* number: for analysis/ */
};
void profile_structure__free(struct profile_structure *structure); /* NULL is allowed */

struct profile_stack {
    double share;           /* of the class's snapshots, 0 … 1 */
    const uint64_t *frames; /* innermost first */
    size_t frame_count;
    uint32_t process; /* serial */
};

struct class_definition {
    struct callsite at;
    bool has_object;
    uint64_t object;    /* lock, barrier, … */
    uint64_t born_site; /* return address of the call that initialised it; 0: not seen */
    struct vec keys; /* struct profile_key. "fd", "file" (of MPI), "size_class" (whole part of log2
                        of the bytes), recorded arguments; "objects": so many locks that nobody ever
                        waited for are this one class */
    struct profile_structure *structure; /* NULL: whatever it is. Classes of one site and key */
    struct vec stacks; /* struct profile_stack, by share: how it was called; of results alone */
    bool ignored;      /* by a rule */
    bool is_aside;     /* of threads that are aside (format/reader.h), and of no others */
};

#endif
