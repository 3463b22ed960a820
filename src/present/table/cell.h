/* cell.h: one value of a table. Private to this room. */
#ifndef HEURT_PRESENT_TABLE_CELL_H
#define HEURT_PRESENT_TABLE_CELL_H

#include "base/table.h"

struct cell {
    bool is_known;
    const char *text;   /* of a text, else NULL */
    long double number; /* of all others: 64 bits are exact */
};

struct cell cell__of(const struct column *column, const void *row);
/* A number as the command line writes it: with a unit of time, as a percentage, as 0x…, as yes or
 * no. False: it is none. */
bool cell__parse(const struct column *column, const char *text, long double *number);

/* As data: digits without a unit; "" of what is not known. true and false are 1 and 0. free() it.
 */
char *cell__digits(const struct column *column, const struct cell *cell);
/* As a person reads it: "1.25 ms", "38 %", "1,234"; free() it. Not sanitised. */
char *cell__words(const struct column *column, const struct cell *cell);
bool column__is_text(const struct column *column);
/* The title on a screen; of a column without one its key. */
const char *column__title(const struct column *column);

#endif
