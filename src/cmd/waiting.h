/* waiting.h: a line on a terminal that says what is waited for, how far it is, and how long it will
 * take.
 *
 * In goes what is done, by another thread; out comes the line of progress.h, from the first second
 * on. It costs a thread where stderr is a terminal, and nothing elsewhere. It stands on progress.h
 * and analysis/analysis.h. */
#ifndef HEURT_CMD_WAITING_H
#define HEURT_CMD_WAITING_H

#include "analysis/analysis.h"

struct waiting;

/* what: "reading the trace", a constant. run: whose analyses are run; NULL: how far it is, is not
 * known. waiting__end it, before the run is freed. NULL: nobody would see it. */
struct waiting *waiting__start(const char *what, const struct run *run);
void waiting__end(struct waiting *waiting); /* NULL is allowed */

#endif
