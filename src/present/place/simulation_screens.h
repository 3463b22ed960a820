/* simulation_screens.h: what policies of placement would bring on a described machine, as a screen,
 * as CSV and as JSON (heurt.place_simulation/1, docs/heurt-place.md); and the thresholds.
 *
 * In go results of place/place_simulation.h, out comes text. */
#ifndef HEURT_PRESENT_PLACE_SIMULATION_SCREENS_H
#define HEURT_PRESENT_PLACE_SIMULATION_SCREENS_H

#include "place/place_simulation.h"
#include "present/present.h"
#include "present/table/table_format.h"

struct simulation_view {
    const struct report *report;
    const struct place_machine *machine;
    struct place_result results[PLACE_STRATEGIES];
    uint64_t samples, unknown; /* at memory; and those of which a node is not known */
    uint64_t pages, twice;     /* that were sampled; twice or more */
    uint64_t steps, step_ns;
    double interval_ns; /* between decisions */
    uint32_t threads;   /* that were sampled at memory */
    bool is_dealt;      /* the trace is of a machine of other nodes: threads are dealt to these */
};

void simulation__put_text(const struct simulation_view *view, const struct style *style, FILE *out);
void simulation__put_json(const struct simulation_view *view, FILE *out);
void simulation__put_csv(const struct simulation_view *view, FILE *out);
void thresholds__put(const struct place_thresholds *thresholds, const struct table_format *format,
                     const struct style *style, FILE *out);

#endif
