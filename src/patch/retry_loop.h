/* retry_loop.h: loops that compute a new value from an old one and try to put it in its place.
 *
 *     for (old = load(); new = f(old), !compare_exchange(&variable, &old, new);) ;
 *
 * When another thread was faster, all that f did is done again. In goes a function's code, out come
 * such loops: of a branch back those instructions that lead there, one of which is lock cmpxchg,
 * and its failure stays among them while its success leaves. Not those that do hardly more than
 * that: they are short, and what they lose is the cache line. Costs one decoding, and the square of
 * the instructions of a loop at worst. Allocates; safe from any thread. */
#ifndef HEURT_PATCH_RETRY_LOOP_H
#define HEURT_PATCH_RETRY_LOOP_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct retry_loop {
    uint64_t exchange;  /* where the instruction is that tries: offset in the file */
    bool is_static;     /* of what it exchanges: always the same variable */
    struct vec members; /* uint64_t: offsets of the loop's instructions, by their order */
};

/* Of code of so many bytes, the first of which is at that offset: struct retry_loop.
 * retry_loops__free them. */
struct vec retry_loops__find(const uint8_t *code, uint64_t bytes, uint64_t offset);
void retry_loops__free(struct vec *loops);
/* The innermost one that the instruction is in; NULL: it is in none. */
const struct retry_loop *retry_loops__at(const struct vec *loops, uint64_t offset);

#endif
