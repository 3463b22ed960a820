/* packing.h: the finished trace is packed, with a word to the user about it.
 *
 * In goes a directory, out come words on stderr. It costs what format/pack.h does, on which it
 * stands. */
#ifndef HEURT_CMD_PACKING_H
#define HEURT_CMD_PACKING_H

#include "format/pack.h"

#include <stdbool.h>

/* Packs the trace in directory. Whatever comes of it, the trace stays one, and the reason is said
 * where the user would want to know it; on a terminal also how far it is, when it takes long.
 * ahead: what was packed of it already, or NULL. */
void packing__run(const char *directory, struct pack_ahead *ahead, bool quiet);

#endif
