/* flow.h: the control flow of one function: its blocks, which may follow which, and which of them
 * dominate others (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001).
 *
 * Jumps through registers or memory may lead to every place of the function that the map of the
 * file's code (code_map.h) says is entered and that no direct branch of the function explains. What
 * nothing leads to (landing pads) is entered from outside, as the function's start is. Calls that
 * are known never to return (linkage.h) lead nowhere.
 *
 * In goes a function, out come its blocks with their successors and dominators. It costs one
 * decoding of the function and a few passes over its blocks. It stands on code_map.h, decode.h and
 * linkage.h. */
#ifndef HEURT_PATCH_FLOW_H
#define HEURT_PATCH_FLOW_H

#include "patch/code_file.h"
#include "patch/code_map.h"
#include "patch/decode.h"

#include <stdbool.h>

struct flow_instruction {
    uint64_t address;
    uint64_t target; /* of a relative branch */
    uint8_t length;
    uint8_t branch; /* enum branch */
    bool leads;     /* a block begins here */
};

struct flow_block {
    uint64_t start, end;           /* end: one past its last instruction */
    uint32_t first, count;         /* of its instructions */
    uint32_t first_after, after;   /* places in flow.after of the blocks that may follow */
    uint32_t first_before, before; /* likewise in flow.before of those that it may follow */
    uint32_t dominator;            /* the nearest one; FLOW_OUTSIDE: none */
    uint32_t number;               /* in the reverse post-order of a walk from the start */
    bool reached;                  /* by it */
};

#define FLOW_OUTSIDE UINT32_MAX

struct control_flow {
    uint64_t start, end;
    struct vec instructions;  /* struct flow_instruction, by address */
    struct vec blocks;        /* struct flow_block, by address */
    struct vec after, before; /* uint32_t: blocks */
};

/* False: the function holds bytes that are no instruction, or a branch into one. Always
 * flow__free it. */
bool flow__make(struct control_flow *flow, const struct code_file *file, const struct code_map *map,
                const struct code_function *function);
void flow__free(struct control_flow *flow);

/* The block that holds an address, or FLOW_OUTSIDE. */
uint32_t flow__block_at(const struct control_flow *flow, uint64_t address);

/* Whether each way from outside to block leads through dominator. */
bool flow__dominates(const struct control_flow *flow, uint32_t dominator, uint32_t block);

#endif
