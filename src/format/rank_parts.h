/* rank_parts.h: traces of one run that several recorders made, one a rank of an MPI job: joined to
 * one.
 *
 *     heurt.data/events              rank 0   ──┐
 *     heurt.data.rank1-4711/events   rank 1   ──┴─► heurt.data/events
 *
 * Serial numbers of processes and threads are given from a base that each rank has of its own, so
 * that chunks are appended as they are.  Which part was of which rank, the numbers tell.
 *
 * In go two traces that are not packed, of one clock or of two that were compared over MPI (struct
 * heurt_host_clock), out comes the first with what both held, by its own clock. It costs a copy of
 * the second. It stands on retime.h and directory.h. */
#ifndef HEURT_FORMAT_RANK_PARTS_H
#define HEURT_FORMAT_RANK_PARTS_H

#include "base/error.h"

#include <stdint.h>

/* Serials of a rank's processes and threads begin there; so many ranks have their own. */
#define PART_SERIALS (1u << 20)
#define PARTS_MOST 4095u
static inline uint32_t part__first_serial(uint32_t rank)
{
    return rank * PART_SERIALS;
}

/* Appends the trace in directory part, of that rank (> 0), to the one in directory, which stays
 * readable all the while. Nobody may write to either. -EXDEV: it is of another host, whose clock is
 * not known, or of another run of this one. */
int trace_part__append(const char *directory, const char *part, uint32_t rank, struct error *error);

/* For tests: changes the times in that part, as if its host's clock were ahead by offset_ns when it
 * began, and gained so much from then on. Nobody may write to it. */
int trace_part__shift(const char *directory, int64_t offset_ns, double drift_ppm,
                      struct error *error);

#endif
