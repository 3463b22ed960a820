/* access_share.h: time by the CPU's clock, dealt out to the accesses that the processor told.
 *
 * A counter says which accesses there are and what answered them, not how long the thread was held
 * up; a sample of the clock that stands at memory says how long, and guesses what at. So the time
 * of such a sample belongs to the accesses of its thread that were told since the last one, by
 * their latency; TOLD_MOST of them, the last ones. The sum stays the clock's, to the ns.
 *
 * One thread at a time. */
#ifndef HEURT_RECORDER_ACCESS_SHARE_H
#define HEURT_RECORDER_ACCESS_SHARE_H

#include "kernel/sampling.h"

#define TOLD_MOST 8
#define LATENCY_OF_HIT 5 /* cycles: what is taken where none is told, that of a hit in L1 */

struct access_share;

struct access_share *access_share__new(void);
void access_share__free(struct access_share *self); /* NULL is allowed */

/* A RECORD_ACCESS. */
void access_share__add(struct access_share *self, const struct record *access);
/* Those of the thread, the oldest first, each with its part as weight_ns; they are gone then.
 * Returns how many: 0, where none was told. */
size_t access_share__deal(struct access_share *self, uint32_t tid, uint64_t weight_ns,
                          struct record accesses[TOLD_MOST]);

#endif
