/* place_screens.h: on which NUMA nodes memory is and from where it is accessed, as a screen, as one
 * of one object, as JSON (heurt.place/1, docs/heurt-place.md), and as a script that runs the
 * program with its memory placed.
 *
 * In goes what the analysis found, out comes text. It stands on analysis/memory/placement_plan.h.
 */
#ifndef HEURT_PRESENT_PLACE_PLACE_SCREENS_H
#define HEURT_PRESENT_PLACE_PLACE_SCREENS_H

#include "analysis/memory/placement_plan.h"
#include "base/table.h"
#include "present/memory/memory_screens.h"
#include "present/present.h"

struct place_report {
    const struct report *report;
    const struct memory_use *use;      /* NULL: the program was not sampled */
    const struct placement *placement; /* NULL: the machine has one node, or that */
    size_t rank;                       /* only that object, from 1; 0: all */
    bool all;                          /* also what takes little time */
    const char *library;               /* for the script: where libheurt-place.so is */
};

struct place_presenter {
    const char *name;
    void (*put)(const struct place_report *shown, const struct style *style, FILE *out);
};
extern const struct place_presenter place_text, place_json, place_csv, place_script;

const char *placement_kind__name(unsigned kind);     /* "one_node", as in the JSON contract */
const char *placement_advice__name(unsigned advice); /* "parallel_first_touch", likewise */
/* In words; free() them. "" where there is none. */
char *placement__kind_text(const struct placement *placement,
                           const struct placement_object *object);
char *placement__advice_text(const struct place_report *shown,
                             const struct placement_object *object);
/* Its parts: what to try, NULL where there is nothing; and who touched it first, "" or a sentence
 * and a blank. */
char *placement__advice(const struct place_report *shown, const struct placement_object *object);
char *placement__touch_text(const struct place_report *shown,
                            const struct placement_object *object);
/* Of memory_use's object. free() it. */
char *placement__title(const struct place_report *shown, const struct placement_object *object);

#endif
