/* scaling_screens.h: how a program scales, as a screen, as tables, and as JSON (heurt.scale/1,
 * docs/heurt-scale.md).
 *
 * In goes what the analysis found, out comes text. It stands on analysis/scaling/. */
#ifndef HEURT_PRESENT_SCALING_SCALING_SCREENS_H
#define HEURT_PRESENT_SCALING_SCALING_SCREENS_H

#include "analysis/scaling/speedup.h"
#include "present/present.h"
#include "present/table/table_format.h"

struct scaling_view {
    const char *command, *directory;
    const struct scaling *scaling;
    const struct vec *speedups; /* struct speedup_row */
    const struct vec *refused;  /* char *: "4 threads, recorded: status 3" */
    const char *trace;          /* of the largest count that is used; NULL: none */
    uint32_t cpus;              /* most that a run could use */
    uint32_t seen;              /* threads in each recorded run, where these are the same at all
                                   counts: nothing tells the program how many; 0: they differ */
    bool is_openmp;
    uint64_t cycles_a_second; /* of the processor's time stamps; 0: not known */
};

/* The verdict, and what laws are, in words. free() each. */
char *scaling__sentence(const struct scaling_view *view);
char *scaling__try(const struct scaling_view *view); /* NULL: nothing is known */
char *law__text(const struct law *law, enum scaling_axis axis);
char *speedup_row__refusal(const struct speedup_row *row);
/* Why figures are not more than they are, and other remarks: char *. texts__free it. */
struct vec scaling__notes(const struct scaling_view *view);
/* "4 threads", "2 CPUs". free() it. */
char *scaling__count_text(enum scaling_axis axis, double count);

void scaling__put_text(const struct scaling_view *view, const struct style *style, FILE *out);
void scaling__put_json(const struct scaling_view *view, FILE *out);
/* Of a view. */
extern const struct named_table scaling_tables[];
#define SCALING_TABLES "parts, counts, laws or speedup"

#endif
