/* outline.h: the shape of a program as an indented outline: a table of rows, a tree in preorder.
 *
 *     structure ──► groups of threads that do the same ──► what they do, row below row
 *
 * Threads with equal roots are one group, and those of the same program and name (but for its
 * digits) whose roots differ and have the same main item: what takes most of their time. Bodies
 * that are shown together are laid beside each other: items of the same surface (the place in the
 * code; of a loop: those of its iterations) become one row, in their order. Rows that take too
 * little are folded: where the same place has many of them in one body, into a row of that place,
 * the others into one row without a name. A loop of nothing but loops is one loop.
 *
 * What a row tells is exact as long as all occurrences of the shape around it are there. Of a shape
 * that occurs in several places, the times of what is in it are those of all of them together
 * (shape.h): these are divided by the places' shares, and called estimated.
 *
 * A shape's body is spelled out once; where it occurs again the row says which one has it. So the
 * rows are no more than the places in all shapes' bodies. */
#ifndef HEURT_ANALYSIS_STRUCTURE_OUTLINE_H
#define HEURT_ANALYSIS_STRUCTURE_OUTLINE_H

#include "analysis/structure/structure.h"

#define OUTLINE_NONE UINT32_MAX
#define OUTLINE_DEPTH_MAX 200u /* rows deeper than that are not shown */

enum outline_kind {
    OUTLINE_OCCURRENCE, /* of a place */
    OUTLINE_LOOP,
    OUTLINE_SCATTERED,  /* of a place: what takes too little each, here and there in the body */
    OUTLINE_UNRECORDED, /* the body's time that is in no item of it */
    OUTLINE_REST,       /* what takes too little: count is the number of its rows */
};

/* All threads of the group together. */
struct outline_row {
    enum outline_kind kind;
    uint32_t depth;           /* 0: of the thread itself */
    uint32_t group;           /* index into outline.groups */
    uint32_t place;           /* OCCURRENCE, SCATTERED: index into structure.places */
    uint32_t threads;         /* so many of the group's have it */
    uint32_t shapes;          /* so many are shown together */
    uint32_t same_as;         /* the row in which its body is spelled out; OUTLINE_NONE: here */
    bool is_cut;              /* it has a body, but the depth that was asked for ends here */
    bool is_count_estimated;  /* count, loops, iterations */
    bool is_estimated;        /* sum */
    bool is_excess_estimated; /* excess, min, max */
    uint64_t count;           /* occurrences; of a loop: iterations, of all loops */
    struct shape_iterations
        iterations;          /* of a loop, else 0; sum is count; min, max: UINT64_MAX: not known */
    uint64_t loops;          /* of a loop, else 0 */
    uint32_t kinds;          /* of a loop's iterations, when these differ; else 0 */
    uint64_t sum_ns;         /* of a loop: with what is between the iterations */
    uint64_t min_ns, max_ns; /* of one occurrence, or iteration; UINT64_MAX: not known */
    uint32_t first_folded, folded_count; /* of REST: in outline.folded */
    uint64_t excess_ns; /* over the fastest one of its shape; of a loop: its iterations' */
};

struct outline_group {
    struct vec threads; /* uint32_t: indices into trace__threads, in their order */
    uint64_t lifetime_ns;
    uint32_t first_row, row_count;
};

struct outline {
    struct vec groups; /* struct outline_group, the longest lifetime first */
    struct vec rows;   /* struct outline_row */
    bool is_sampled;   /* of some calls one was recorded that stands for several: what was not
                          recorded is in no body and no loop */
    struct vec folded; /* uint32_t: places: of each folded row what happens first in it */
};

struct outline_options {
    unsigned depth;     /* rows shown below a group; 0: all */
    double least_share; /* of a group's lifetime: rows that take less are folded */
};

struct outline *outline__new(const struct trace *trace, const struct structure *structure,
                             const struct outline_options *options);
void outline__free(struct outline *outline); /* NULL is allowed */

/* The same with a least_share, no less than the one asked for, with which there are no more rows;
 * where even a large one does not do, with that. It is put into options. */
struct outline *outline__fitting(const struct trace *trace, const struct structure *structure,
                                 struct outline_options *options, size_t rows_at_most);

/* Of the group's lifetime, 0 … 1. */
double outline_row__share(const struct outline *outline, const struct outline_row *row);
/* excess over that lifetime. */
double outline_row__score(const struct outline *outline, const struct outline_row *row);
uint64_t outline_row__mean_ns(const struct outline_row *row);

/* The row of the group's outermost loop, on the way down along what takes most of the time and
 * consists of something; OUTLINE_NONE: there is none that takes enough. */
uint32_t outline__outermost(const struct outline *outline, uint32_t group);

#endif
