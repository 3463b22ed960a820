/* loops.h: the natural loops of a function, and for each a place that is passed once an iteration
 * and may be patched as a function's entry is (move.h): whole instructions that can run elsewhere,
 * at least HEURT_PATCH_BYTES of them, with nothing that enters them but at their beginning.
 *
 * A natural loop is a block (its head) that dominates others which lead back to it; loops with one
 * head are one loop. A circle that is entered in two places has no head and is none. A place is
 * passed once an iteration when its block is in no inner loop and dominates all that leads back.
 *
 * In goes a function, out come its loops, outer ones first. It costs what flow.h does, and a try
 * to move code for each loop. It stands on flow.h, flags.h and move.h. */
#ifndef HEURT_PATCH_LOOPS_H
#define HEURT_PATCH_LOOPS_H

#include "format/layout.h"
#include "patch/code_file.h"
#include "patch/code_map.h"
#include "patch/flow.h"

#include <stdbool.h>

enum loop_fault {
    LOOP_MARKED,    /* none: it has a place */
    LOOP_ENTERED,   /* something jumps into each run of instructions that is long enough */
    LOOP_NOT_MOVED, /* none of its instructions can run elsewhere */
};

#define LOOP_NONE UINT32_MAX

struct loop {
    uint64_t address; /* of its head, in the file */
    uint32_t head;    /* block */
    uint32_t parent;  /* the loop around it, in loops.items; LOOP_NONE: it is an outermost one */
    uint32_t depth;   /* loops around it */
    uint32_t instructions; /* in it and the loops inside of it */
    bool has_call;         /* likewise */
    bool has_inner;        /* loops are inside of it */
    bool saves_flags;      /* at its place the arithmetic flags, CF aside, may be of use later */
    enum loop_fault fault;
    struct heurt_plan plan; /* of its place (addresses of the file), when there is no fault */
};

struct loops {
    struct control_flow flow;
    struct vec items;    /* struct loop, an outer one before those inside of it */
    uint32_t *innermost; /* by block: the loop that it is in, or LOOP_NONE */
};

/* Finds the loops of a function and their places. entry: the plan of the function's own patch,
 * whose bytes are left to it, or NULL. False: its flow is not understood (flow__make), or it is a
 * table of jumps to other modules. Always loops__free it. */
bool loops__find(struct loops *loops, const struct code_file *file, const struct code_map *map,
                 const struct code_function *function, const struct heurt_plan *entry);
void loops__free(struct loops *loops);

/* The innermost loop that holds the address, or LOOP_NONE. */
uint32_t loops__at(const struct loops *loops, uint64_t address);

/* In plain words; NULL for none. */
const char *loop_fault__text(enum loop_fault fault);

#endif
