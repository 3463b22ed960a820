/* internal.h: what the presenters of structure have in common. Private to this room. */
#ifndef HEURT_PRESENT_STRUCTURE_INTERNAL_H
#define HEURT_PRESENT_STRUCTURE_INTERNAL_H

#include "base/table.h"
#include "present/shared.h"
#include "present/structure/structure_screens.h"

/* Takes over text. "text, more"; more alone where there is no text yet. free() it. */
char *list_text(char *text, const char *more);
const char *ellipsis(const struct style *style);

/* Sequences that occur in several places: those that take enough, the most first. */
void sequences__put(const struct structure_report *shown, const struct style *style, FILE *out);
/* Those that took the most time, for a document. */
struct table_rows sequence_rows(const struct structure_report *shown);

#endif
