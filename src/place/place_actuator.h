/* place_actuator.h: does what the engine has decided, to processes that run.
 *
 *     decisions ──► by process and node ──► move_pages(2), batch by batch ──► what became of each
 *
 * Moving a page changes nothing that a program can see but time, so that a decision that comes too
 * late (the page is unmapped, or another one; the process has called exec) does no harm. A process
 * waits for a batch at most. What the kernel refuses is counted by why.
 *
 * It stands on place_engine.h and place_calls.h. One thread at a time. */
#ifndef HEURT_PLACE_PLACE_ACTUATOR_H
#define HEURT_PLACE_PLACE_ACTUATOR_H

#include "place/place_calls.h"
#include "place/place_engine.h"

/* What became of a decision. */
enum place_effect {
    EFFECT_NONE,    /* it was advice, or nothing was to be done */
    EFFECT_DONE,    /* the page is there */
    EFFECT_SEVERAL, /* several processes map it: none of them moves it (EACCES) */
    EFFECT_BUSY,    /* locked, or pinned by a device (EBUSY, EAGAIN) */
    EFFECT_GONE,    /* unmapped or swapped out, or the process has ended (ENOENT, EFAULT, ESRCH) */
    EFFECT_FULL,    /* no memory on that node (ENOMEM) */
    EFFECT_REFUSED, /* the node is offline or not the process's, or the call is not allowed (ENODEV,
                       EPERM, ENOSYS) */
    EFFECT_OTHER,   /* anything else */
    PLACE_EFFECTS
};
const char *place_effect__name(enum place_effect effect); /* "several" */

/* A process that something may be done to. */
struct place_target {
    uint32_t application; /* the engine's id of it */
    pid_t pid;
    int pidfd;             /* readable when it has ended; -1: there is none */
    uint64_t barred_nodes; /* bits by index: it was not allowed there */
};

struct place_actuator {
    const struct place_calls *calls;
    const uint32_t *node_ids; /* by index: the kernel's numbers */
    uint32_t nodes;
    /* Of all calls until now: */
    uint64_t pages[PLACE_EFFECTS]; /* of 4 KiB, by what became of them */
    uint64_t split;                /* large pages */
    double page_ns; /* of this process's CPU time that a page takes; by the last ones */
};

struct place_actuator place_actuator__of(const struct place_calls *calls, const uint32_t *node_ids,
                                         uint32_t nodes);
/* targets by application. effects: one of each decision. */
void place_actuator__do(struct place_actuator *self, const struct place_outcome *outcome,
                        struct place_target *targets, size_t count, uint8_t *effects);

#endif
