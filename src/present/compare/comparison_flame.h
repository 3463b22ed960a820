/* comparison_flame.h (present): a differential flame graph: what threads did in one run of each
 * side, as SVG that asks for nothing else.
 *
 *     width      thread time after
 *     colour     what became of it: orange more, blue less, grey the same
 *
 * In go stacks with their times as heurt export --folded --of all writes them, out comes a picture.
 * A stack's first frame is the thread's name; where each side has one of its own, which is mostly
 * the program's, they are one. It computes nothing but places of boxes. Memory: of stacks. */
#ifndef HEURT_PRESENT_COMPARE_COMPARISON_FLAME_H
#define HEURT_PRESENT_COMPARE_COMPARISON_FLAME_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdio.h>

struct flame_sides {
    const char *before, *after;           /* stacks, a line each */
    const char *before_name, *after_name; /* of the runs */
    const struct vec *renames;            /* struct renamed */
    bool is_alone;                        /* a file of its own; else a part of a page */
};

void comparison_flame__put(const struct flame_sides *sides, FILE *out);

#endif
