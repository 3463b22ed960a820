/* compared_names.h (present): what of a run is compared with another one by its names: its loops,
 * and who calls whom.
 *
 * In go results of analyses, out come names as the tables of the run have them, which belong to its
 * symbols. It stands on structure/ and iterations/. */
#ifndef HEURT_PRESENT_COMPARE_COMPARED_NAMES_H
#define HEURT_PRESENT_COMPARE_COMPARED_NAMES_H

#include "analysis/compare/phases.h"
#include "analysis/compare/renames.h"
#include "analysis/structure/structure.h"
#include "present/iterations/iterations_screens.h"

#define NESTED_MOST 64u /* loops in loops: what is deeper is not gone through */

/* struct told_phase; told_phases__free it. renames: of a run of before; else NULL. */
struct vec told_phases__of(const struct report *report, const struct iterations *iterations,
                           const struct vec *renames);
/* struct function_call; vec__free it. */
struct vec function_calls__of(const struct report *report, const struct structure *structure);

#endif
