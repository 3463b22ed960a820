/* difference_screens.h (present): one slow against one fast occurrence, as text and JSON. */
#ifndef HEURT_PRESENT_COMPARE_DIFFERENCE_SCREENS_H
#define HEURT_PRESENT_COMPARE_DIFFERENCE_SCREENS_H

#include "analysis/compare/difference.h"
#include "present/present.h"

struct difference_view {
    const struct report *report; /* for names; its profile may be NULL */
    const struct difference *difference;
    size_t rank;                         /* of the class, from 1; 0: iterations */
    size_t matching;                     /* classes that were meant, of which it is the first */
    const struct iteration_phase *phase; /* of iterations, else NULL */
    size_t phase_number, phases;         /* from 1; how many there are */
};

struct difference_presenter {
    void (*put)(const struct difference_view *view, const struct style *style, FILE *out);
};

extern const struct difference_presenter difference_text, difference_json;

#endif
