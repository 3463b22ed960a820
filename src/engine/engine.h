/* engine.h: how processes of heurt that an MPI started give each other bytes: what heurt and
 * libheurt-engine-*.so, one for each MPI that heurt was built with, agree on.
 *
 * heurt itself needs no MPI: it loads the library of the MPI whose launcher started it. All calls
 * but the first are of one thread, and of all processes together, in the same order. An MPI that
 * fails ends the job, as it does by default. */
#ifndef HEURT_ENGINE_ENGINE_H
#define HEURT_ENGINE_ENGINE_H

#include <stdint.h>

#define HEURT_ENGINE_FILES "libheurt-engine-" /* openmpi.so, mpich.so */
#define HEURT_ENGINE_FUNCTION "heurt_engine"

struct heurt_engine {
    uint32_t self, count;
    /* One number to each process, and one from each. */
    void (*swap_numbers)(const uint64_t *given, uint64_t *taken);
    /* So many bytes to each process, and from each, as their numbers told. */
    void (*swap_bytes)(const void *const *given, const uint64_t *given_bytes, void *const *taken,
                       const uint64_t *taken_bytes);
    void (*finish)(void);
};

/* Begins; the library's own struct, or NULL: MPI could not be. */
typedef const struct heurt_engine *heurt_engine_begin(void);

#endif
