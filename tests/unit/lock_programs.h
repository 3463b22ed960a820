/* lock_programs.h: random programs that take locks, create threads and join them, run by a small
 * simulator, which writes the trace that they would leave. For tests. */
#ifndef HEURT_TESTS_LOCK_PROGRAMS_H
#define HEURT_TESTS_LOCK_PROGRAMS_H

#include <stdint.h>

#define LOCK_PROGRAM_THREADS 6
#define LOCK_PROGRAM_LOCKS 4

/* A fixture (fixture.h); free() it. The same seed makes the same one. */
char *lock_program__trace(uint64_t seed);

#endif
