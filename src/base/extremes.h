/* extremes.h: of many occurrences or iterations, those with the largest keys: a heap of a bounded
 * number. Of equal keys those that were offered first. For analysis/ only.
 *
 * In go occurrences, one by one; out come the limit of them with the largest keys. Each offer
 * costs O(log limit), and most cost one comparison; memory is bounded by the limit. It stands on
 * heap.h and vec.h. An object is used by one thread at a time. */
#ifndef HEURT_BASE_EXTREMES_H
#define HEURT_BASE_EXTREMES_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Ticks. */
struct extreme {
    uint64_t key;
    uint64_t start, end, duration;
    uint64_t index;  /* of an iteration: 0, 1, 2 … */
    uint32_t thread; /* index into trace__threads */
    uint32_t depth;  /* open spans around it */
    uint64_t offer;  /* private: when it was offered */
};

struct extremes {
    struct vec kept; /* struct extreme */
    size_t limit;
    uint64_t offers;
};

struct extremes extremes__of(size_t limit);
void extremes__offer(struct extremes *extremes, const struct extreme *extreme);
/* By key, the largest first. Nothing can be offered any more. */
void extremes__sort(struct extremes *extremes);
void extremes__free(struct extremes *extremes);

#endif
