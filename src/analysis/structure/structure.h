/* structure.h: the shape of a program: what its threads did, as loops, sequences and calls.
 *
 *     trace ──► occurrences of places in the code ──► shapes (shape.h), one root a thread
 *
 * A place is a function, region, or the site of a hooked call; locks and arguments are no part of
 * it, so that the same code has the same structure whatever it works on. Waits are of the same
 * shape as calls that need not wait. What the kernel tells is no part of it.
 *
 * One walk over the trace; memory bounded by shapes, open spans and threads. */
#ifndef HEURT_ANALYSIS_STRUCTURE_STRUCTURE_H
#define HEURT_ANALYSIS_STRUCTURE_STRUCTURE_H

#include "analysis/analysis.h"
#include "analysis/callsite/definition.h"
#include "analysis/structure/grammar.h"
#include "analysis/structure/shape.h"
#include "base/error.h"
#include "format/reader.h"

/* A place in the code; a shape's symbol is its index in structure.places. What its class would be,
 * without object, keys and results. The symbol of a thread's root is STRUCTURE_THREAD. */
struct structure_place {
    struct class_definition what;
    uint64_t excess; /* ticks: of all occurrences at that place, whatever their shape, over the
                        fastest one of each shape */
};
#define STRUCTURE_THREAD UINT32_MAX

struct structure_thread {
    uint32_t thread;   /* index into trace__threads */
    uint32_t root;     /* its shape */
    uint64_t lifetime; /* ticks */
    uint64_t events;
};

struct structure {
    struct shapes *shapes;
    struct vec places;  /* struct structure_place */
    struct vec threads; /* struct structure_thread: those that have events, as trace__threads */
    uint64_t events;
};

/* With a pattern (const char *): of the threads with that number, or a name that matches the glob,
 * alone; NULL: of all. Fails with -ENOENT and a sentence: there are none; with -ENOTSUP: an
 * aggregated run has no order of events. free: structure__free. */
extern const struct analysis structure_analysis;
/* The grammar of one thread's occurrences (an index into structure.threads): symbols are places, in
 * the order in which they ended. One more walk. free: grammar__free. */
struct grammar *structure__grammar(struct structure *structure, size_t thread);
void structure__free(struct structure *structure); /* NULL is allowed */

#endif
