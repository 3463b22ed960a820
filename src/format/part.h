/* part.h: a trace between two ticks of it, read as any other.
 *
 *     trace    ------[..]-----------------[..]------
 *     part           opening   events    closing
 *
 * In go a trace, the two ticks, and for each of its threads the events that stand in for what came
 * before and behind; out comes a trace of the threads that lived then. Their lives and what the
 * kernel told are cut at the ticks; what the system counted of whole lives, and of the command, is
 * not known of a part. The events stay where they are: a part costs its tables alone. It stands on
 * reader.h. */
#ifndef HEURT_FORMAT_PART_H
#define HEURT_FORMAT_PART_H

#include "format/reader.h"

/* By thread: what it did before whose call stacks are known; and words of events, as
 * excerpt__put_event writes them; uint64_t. */
struct part_edges {
    struct vec opening; /* of the first tick */
    struct vec closing; /* of the last one; none where the thread ended before */
    struct vec stacked; /* struct earlier_call */
};

/* edges: by index into trace__threads; they are the part's from now on. Lives no longer than
 * trace, and is freed by trace__close_part. */
struct trace *trace__part(const struct trace *trace, uint64_t from_tick, uint64_t to_tick,
                          struct part_edges *edges);
void trace__close_part(struct trace *part); /* NULL is allowed */

#endif
