/* place_status_screens.h: what daemons of placement tell (place/place_status.h), as a screen, as
 * CSV (their applications) and as JSON (heurt.place_status/1, docs/heurt-place.md).
 *
 * In goes a vec of struct place_status, out comes text. */
#ifndef HEURT_PRESENT_PLACE_PLACE_STATUS_SCREENS_H
#define HEURT_PRESENT_PLACE_PLACE_STATUS_SCREENS_H

#include "place/place_status.h"
#include "present/present.h"

void place_statuses__put_text(const struct vec *statuses, const struct style *style, FILE *out);
void place_statuses__put_csv(const struct vec *statuses, FILE *out);
void place_statuses__put_json(const struct vec *statuses, FILE *out);

#endif
