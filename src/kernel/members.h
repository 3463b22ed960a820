/* members.h: which processes belong to a recorded program, where a ring tells of the whole machine.
 *
 * Events of a CPU cost the program's threads nothing when they begin and when they leave the CPU,
 * as inherited ones do, but they tell of everybody. A process belongs to the program when that
 * started it, directly or not. Pure: records go in by time. Used by one thread. */
#ifndef HEURT_KERNEL_MEMBERS_H
#define HEURT_KERNEL_MEMBERS_H

#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct members {
    struct map index;
    struct vec threads; /* uint32_t: how many threads live in each of the processes in index */
};

enum member_event {
    MEMBER_ACTS, /* anything else */
    MEMBER_BEGINS,
    MEMBER_ENDS,
};

struct members members__of(uint32_t first); /* a process of one thread */
void members__free(struct members *members);

/* Takes what a thread of the process pid did, or, MEMBER_BEGINS, that a thread of parent_pid has
 * made a thread of the process pid. Returns whether that is of the program. */
bool members__take(struct members *members, enum member_event event, uint32_t pid,
                   uint32_t parent_pid);

#endif
