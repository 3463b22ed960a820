/* csv_line.h: one line of CSV, field by field; quoting as in RFC 4180, the caller ends the line
 * with a newline. Private to this room. */
#ifndef HEURT_PRESENT_SCREEN_CSV_LINE_H
#define HEURT_PRESENT_SCREEN_CSV_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A comma stands in front of all fields but the first. */
struct csv_line {
    FILE *out;
    bool begun;
};

void line__text(struct csv_line *line, const char *text);
void line__number(struct csv_line *line, uint64_t value);

#endif
