/* openmp_screens.h: parallel regions of OpenMP, as a screen, as one of one region, and as JSON
 * (heurt.openmp/1, docs/heurt-openmp.md).
 *
 * In goes what the analysis found, out comes text. It stands on analysis/openmp/openmp.h. */
#ifndef HEURT_PRESENT_OPENMP_OPENMP_SCREENS_H
#define HEURT_PRESENT_OPENMP_OPENMP_SCREENS_H

#include "analysis/openmp/openmp.h"
#include "base/table.h"
#include "present/present.h"

struct openmp_report {
    const struct report *report;
    const struct openmp_use *use; /* NULL: no region is told */
    size_t rank;                  /* only that region, from 1; 0: all */
};

/* "relax, stencil.c:24": where the region is called. free() it. */
char *parallel_region__title(const struct report *report, const struct parallel_region *region);
/* Whether a number (from 1), or a glob, means it. */
bool parallel_region__is(const struct report *report, const struct parallel_region *region,
                         size_t rank, const char *pattern);

/* "Parallel efficiency 65 %: of what …". free() it. */
char *openmp_use__efficiency(const struct openmp_use *use);
/* "thread 1 had 3.0 times the work of the others"; "": nearly even. free() it. */
char *parallel_region__uneven_text(const struct parallel_region *region);
/* What threads wait for at that place is the end of the region, or at a barrier that is called for
 * it. */
bool parallel_region__is_at(const struct report *report, const struct parallel_region *region,
                            uint32_t process, uint64_t site);
/* The thread that had most work, and how many times that of the others on the average. */
struct busiest {
    uint32_t number;
    double times; /* 0: nothing is known of others */
};
struct busiest parallel_region__busiest(const struct parallel_region *region);

/* A word for JSON: "dynamic", "nowait", … */
const char *openmp_hint__name(unsigned kind);
/* The region's place among all, from 1; 0: it is none of them. */
size_t openmp_hint__rank(const struct openmp_use *use, const struct openmp_hint *hint);
/* What to try, and the figure it stands on. free() it. */
char *openmp_hint__words(const struct openmp_report *shown, const struct openmp_hint *hint);
/* That replays the run with it; NULL: none does. free() it. */
char *openmp_hint__command(const struct openmp_report *shown, const struct openmp_hint *hint);
/* At least, at most. */
void openmp_hint__gain(const struct openmp_hint *hint, double gain[2]);

/* Runtimes of which nothing is seen, and that there are several; "": all is well. free() it. */
char *openmp_runtimes__words(const struct report *report);

struct openmp_presenter {
    const char *name;
    void (*put)(const struct openmp_report *shown, const struct style *style, FILE *out);
};
extern const struct openmp_presenter openmp_text, openmp_json, openmp_csv;

#endif
