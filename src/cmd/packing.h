/* packing.h: packing a finished trace. For cmd/ only. */
#ifndef HEURT_CMD_PACKING_H
#define HEURT_CMD_PACKING_H

#include <stdbool.h>

/* Packs the trace, and shows on a terminal how far it is. Whatever becomes of it, the trace stays
 * one, so the result is nobody's business. */
void packing__pack(const char *directory, bool quiet);

#endif
