/* compared_series.h: several results, the first the base, as one table.
 *
 * A result is a trace, a set that record --repeat made, or, of a sweep that heurt scale made, the
 * recorded runs of each number of threads and CPUs. In go operands, out comes the table. It stands
 * on compared_side.h and sweep.h. One thread. */
#ifndef HEURT_CMD_COMPARED_SERIES_H
#define HEURT_CMD_COMPARED_SERIES_H

#include "cmd/compared_side.h"
#include "present/table/table_format.h"

struct series_request {
    const struct compared_table *table;
    const struct table_format *format;
    const char *rows;   /* a file: PATTERN = NAME, a line a row; NULL: all rows */
    const char *output; /* NULL: stdout */
    uint64_t width;
};

/* 0, or the exit status after a sentence. */
int compared_series__show(const struct series_request *request, int count, char *const *operands);

#endif
