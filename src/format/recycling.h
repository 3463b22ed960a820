/* recycling.h: a ring's room, used again: cells of a fixed length that a recorded thread takes when
 * it needs a chunk, and that come back when they are the oldest and their thread has gone on.
 *
 *     | struct heurt_cells: free ones | cell 0 | cell 1 | cell 2 | …       in the events file
 *
 * In goes the mapped file; out come cells. A look costs one pass over the cells' headers, and the
 * clearing of those that come back. It stands on layout.h. One thread calls it, beside another that
 * calls recycling__take. */
#ifndef HEURT_FORMAT_RECYCLING_H
#define HEURT_FORMAT_RECYCLING_H

#include <stdbool.h>
#include <stdint.h>

struct recycling;

/* Claims them behind next_unit of the session that bytes begins with, and tells the session where.
 * units: of the whole ring. */
struct recycling *recycling__new(char *bytes, uint64_t units);
void recycling__free(struct recycling *recycling); /* NULL is allowed */

/* Gives out what is free, and takes back the oldest while little is. True when any was taken since
 * the last look. */
bool recycling__look(struct recycling *recycling);

/* Since when all that was written is there: what was taken back was before. 0: since the start. */
uint64_t recycling__whole_tick(const struct recycling *recycling);

/* A cell for the recorder: its first unit; 0: none is free. Its chunk is never taken back while it
 * is the last one of its kind, process and thread. */
uint64_t recycling__take(struct recycling *recycling);

#endif
