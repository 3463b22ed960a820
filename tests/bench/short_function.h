/* short_function.h: as long as a very short function of a real program (about 1.6 ns with its call)
 * and not less patchable than one. The compiler neither inlines it nor knows what it leaves alone.
 */
#ifndef HEURT_BENCH_SHORT_FUNCTION_H
#define HEURT_BENCH_SHORT_FUNCTION_H

#include <stdint.h>

#if defined(__clang__)
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noipa, used))
#endif

#define SHORT_WORK(value) ((value)*5 + ((value) >> 7) + 3)

KEPT uint64_t measured_function(uint64_t value); /* the one that tracers record */
KEPT uint64_t unseen_function(uint64_t value);   /* the same work */

#endif
