/* internal.h: what the parts of the analysis of memory share.
 *
 *     sharing.c         which lines are shared, and where in the program
 *     sharing_cost.c    what that costs
 *     memory_use.c      which objects there are, by samples
 *     counted_use.c     by counts
 *     counted_lines.c   which lines are shared, by counts */
#ifndef HEURT_ANALYSIS_MEMORY_INTERNAL_H
#define HEURT_ANALYSIS_MEMORY_INTERNAL_H

#include "analysis/memory/memory_use.h"
#include "analysis/memory/sample_index.h"
#include "analysis/memory/sharing.h"
#include "base/map.h"

#define TOGETHER_PERIODS 3 /* samples of two threads that are no further apart are of one time */

/* Fills in what threads lose. */
void sharing__estimate(struct sharing *sharing, const struct sample_index *index);

struct memory_gathering {
    const struct trace *trace;
    const struct symbols *symbols;
    struct memory_use *use;
    struct map object_of_key;
    struct map names;        /* of variables: text → number */
    struct map lines;        /* struct line_key: of those that are shared */
    struct map counted;      /* struct counted_key: objects that were counted, accesses */
    struct map known_of_key; /* what is sampled: place in known */
    struct vec known;        /* struct known_access */
};

/* Where in memory a thread was. */
struct data_place {
    uint32_t process, thread; /* indices */
    enum heurt_region region;
    uint64_t address, tick;
};

/* The object at that place, its number, and what was allocated there; variable: that lies there, or
 * NULL. */
struct memory_object *memory_gathering__object_at(struct memory_gathering *self,
                                                  const struct data_place *place,
                                                  const struct symbol *variable, uint64_t *number,
                                                  const struct allocation **allocation);
struct memory_thread *memory_object__thread(struct memory_object *object, uint32_t thread);

/* Adds what was counted to the objects. */
void counted_use__add(struct memory_gathering *self, const struct access_counts *counts);

/* One count, at one line. */
struct counted_at {
    uint32_t process, thread; /* indices */
    uint32_t generation;      /* of the line: what was allocated there is the same */
    uint8_t first, behind;    /* the bytes of the line that are accessed; and one past them */
    enum heurt_access access;
    uint64_t line, count;
    size_t object; /* place in the objects */
};

/* all: struct counted_at, which are sorted; objects: struct memory_object, whose accesses are put
 * to the kinds of the lines that they are at. */
void counted_lines__judge(struct vec *all, struct vec *objects);

#endif
