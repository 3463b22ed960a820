/* compare.h: heurt report … --compare: one slow against one fast occurrence of a class, or
 * iteration of the program's iterations.
 *
 * In goes a trace and what is to be compared; out comes a screen, or JSON. It costs the profile of
 * the trace and two walks more, and stands on analysis/compare/ and analysis/iterations/. */
#ifndef HEURT_CMD_COMPARE_H
#define HEURT_CMD_COMPARE_H

#include "cmd/load.h"
#include "present/compare/difference_screens.h"

#define COMPARE_ORDINAL_MOST 1000000 /* the so many-th slowest: they are kept on the way there */

struct compare_request {
    const char *class; /* number, name (a glob), "iteration" or "iteration:2" */
    const struct difference_presenter *presenter;
    struct difference_selection selection;
    enum class_view view;   /* how a number counts classes */
    bool is_view_asked_for; /* else a name means all of a site */
    uint64_t width;         /* of the screen; 0: not given */
};

/* Returns 0, or the exit status after a sentence. */
int compare__run(const struct compare_request *request, struct loaded *loaded);

/* The class that is meant by its number or the name of its function (a glob): its rank, from 1.
 * matching: how many have that name. 0 after a sentence: there is none. */
size_t class__find(const struct report *report, const char *text, size_t *matching);

#endif
