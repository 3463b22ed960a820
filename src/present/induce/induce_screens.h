/* induce_screens.h: how much a program suffers from contention, as a screen, as tables, and as JSON
 * (heurt.induce/1, docs/heurt-induce.md).
 *
 * In goes what the analysis found, out comes text. It stands on analysis/scaling/. */
#ifndef HEURT_PRESENT_INDUCE_INDUCE_SCREENS_H
#define HEURT_PRESENT_INDUCE_INDUCE_SCREENS_H

#include "analysis/scaling/sensitivity.h"
#include "present/present.h"
#include "present/table/table_format.h"

struct induce_view {
    const char *command;
    const char *resource; /* "memory" */
    const char *taken_of; /* what 10 % are a part of: "of the memory bandwidth that CPU 1 …" */
    const char *most;     /* what 100 % are: "12.1 GB/s" */
    const char *where;    /* "on CPU 1, the program on CPU 0"; NULL: nothing is to be said */
    const char *limit;    /* how much can be taken at all; NULL: nothing is to be said */
    struct law_interval loss; /* of memory: likewise; value NaN: not measured */
    double unit_of_requests;  /* of the unit a request is */
    const char *unit;         /* "GB/s" */
    const struct sensitivities *told;
    uint64_t rounds;
    bool is_of_lock; /* no resource is taken: a lock is held longer, and all runs are recorded */
    bool is_cut;
};

void induce__put_text(const struct induce_view *view, const struct style *style, FILE *out);
void induce__put_json(const struct induce_view *view, FILE *out);
/* Of a view. */
extern const struct named_table induce_tables[];
#define INDUCE_TABLES "sensitivity, levels or times"

/* What stands on top, and what is to be known: char *. texts__free it. */
char *induce__sentence(const struct induce_view *view);
struct vec induce__notes(const struct induce_view *view);

#endif
