#include "patch/flow.h"

#include "base/memory.h"
#include "patch/linkage.h"

#include <stdlib.h>

static struct flow_block *block_of(const struct control_flow *flow, uint32_t index)
{
    return VEC_AT(&flow->blocks, struct flow_block, index);
}

/* ---- instructions ---------------------------------------------------------------------------- */

static bool decode_all(struct control_flow *flow, const struct code_file *file)
{
    size_t size;
    const uint8_t *bytes = code_file__bytes(file, flow->start, &size);
    if (!bytes || size < flow->end - flow->start)
        return false;
    ZydisDecoder decoder;
    struct instruction instruction;
    decoder__start(&decoder);
    for (uint64_t at = flow->start; at < flow->end; at = instruction.end) {
        if (!instruction__decode(&instruction, &decoder, bytes + (at - flow->start), flow->end - at,
                                 at))
            return false;
        struct flow_instruction one = {.address = at,
                                       .target = instruction.target,
                                       .length = instruction.zydis.length,
                                       .branch = (uint8_t)instruction.branch};
        if (instruction.branch == BRANCH_CALL && linkage__never_returns(file, instruction.target))
            one.branch = BRANCH_STOP;
        vec__push(&flow->instructions, &one);
    }
    return flow->instructions.count > 0;
}

/* The instruction that begins at address, or NULL. */
static struct flow_instruction *instruction_at(const struct control_flow *flow, uint64_t address)
{
    return VEC_FIND(&flow->instructions, struct flow_instruction, address, address);
}

static bool ends_flow(uint8_t branch)
{
    return branch == BRANCH_JUMP || branch == BRANCH_JUMP_INDIRECT || branch == BRANCH_RETURN ||
           branch == BRANCH_RETURN_POP || branch == BRANCH_STOP || branch == BRANCH_FAR;
}

static bool is_inside(const struct control_flow *flow, uint64_t address)
{
    return address >= flow->start && address < flow->end;
}

/* Marks the targets of direct branches, and what follows a branch. */
static bool mark_branches(struct control_flow *flow)
{
    struct flow_instruction *items = flow->instructions.items;
    items[0].leads = true;
    for (size_t i = 0; i < flow->instructions.count; i++) {
        if (!branch__is_direct(items[i].branch) && !ends_flow(items[i].branch))
            continue;
        if (i + 1 < flow->instructions.count)
            items[i + 1].leads = true;
        if (!branch__is_direct(items[i].branch) || !is_inside(flow, items[i].target))
            continue;
        struct flow_instruction *target = instruction_at(flow, items[i].target);
        if (!target)
            return false;
        target->leads = true;
    }
    return true;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void cut_blocks(struct control_flow *flow, const struct code_map *map)
{
    struct flow_block *block = NULL;
    struct flow_instruction *items = flow->instructions.items;
    for (size_t i = 0; i < flow->instructions.count; i++) {
        items[i].leads |= code_map__is_entered(map, items[i].address, items[i].address + 1);
        if (items[i].leads) {
            block = vec__push(&flow->blocks, NULL);
            *block = (struct flow_block){
                .start = items[i].address, .first = (uint32_t)i, .dominator = FLOW_OUTSIDE};
        }
        block->count++;
        block->end = items[i].address + items[i].length;
    }
}

uint32_t flow__block_at(const struct control_flow *flow, uint64_t address)
{
    size_t at = VEC_FIRST(block, &flow->blocks, struct flow_block, block->end > address);
    bool is_in = at < flow->blocks.count && block_of(flow, (uint32_t)at)->start <= address;
    return is_in ? (uint32_t)at : FLOW_OUTSIDE;
}

static const struct flow_instruction *last_of(const struct control_flow *flow,
                                              const struct flow_block *block)
{
    return VEC_AT(&flow->instructions, struct flow_instruction, block->first + block->count - 1);
}

static void add_after(struct control_flow *flow, struct flow_block *block, uint32_t next)
{
    vec__push(&flow->after, &next);
    block->after++;
}

/* Blocks that a direct branch leads to, or that the one before runs into: a bit each. */
static bool *find_explained(const struct control_flow *flow)
{
    bool *explained = memory__zeroed(flow->blocks.count, sizeof *explained);
    for (uint32_t i = 0; i < flow->blocks.count; i++) {
        const struct flow_instruction *last = last_of(flow, block_of(flow, i));
        uint32_t target =
            branch__is_direct(last->branch) ? flow__block_at(flow, last->target) : FLOW_OUTSIDE;
        if (target != FLOW_OUTSIDE)
            explained[target] = true;
        if (!ends_flow(last->branch) && i + 1 < flow->blocks.count)
            explained[i + 1] = true;
    }
    return explained;
}

static void add_tables(struct control_flow *flow, struct flow_block *block, const bool *explained)
{
    for (uint32_t i = 1; i < flow->blocks.count; i++)
        if (!explained[i])
            add_after(flow, block, i);
}

static void link_after(struct control_flow *flow)
{
    bool *explained = find_explained(flow);
    for (uint32_t i = 0; i < flow->blocks.count; i++) {
        struct flow_block *block = block_of(flow, i);
        const struct flow_instruction *last = last_of(flow, block);
        block->first_after = (uint32_t)flow->after.count;
        if (!ends_flow(last->branch) && i + 1 < flow->blocks.count)
            add_after(flow, block, i + 1);
        if (branch__is_direct(last->branch) && is_inside(flow, last->target))
            add_after(flow, block, flow__block_at(flow, last->target));
        if (last->branch == BRANCH_JUMP_INDIRECT)
            add_tables(flow, block, explained);
    }
    free(explained);
}

static void link_before(struct control_flow *flow)
{
    uint32_t *after = flow->after.items;
    for (size_t i = 0; i < flow->after.count; i++)
        block_of(flow, after[i])->before++;
    uint32_t at = 0;
    for (uint32_t i = 0; i < flow->blocks.count; i++) {
        struct flow_block *block = block_of(flow, i);
        block->first_before = at;
        at += block->before;
        block->before = 0;
    }
    vec__extend(&flow->before, flow->after.count);
    for (uint32_t i = 0; i < flow->blocks.count; i++)
        for (uint32_t j = 0; j < block_of(flow, i)->after; j++) {
            struct flow_block *next = block_of(flow, after[block_of(flow, i)->first_after + j]);
            *VEC_AT(&flow->before, uint32_t, next->first_before + next->before++) = i;
        }
}

/* ---- dominators ------------------------------------------------------------------------------ */

struct flow_walk {
    struct control_flow *flow;
    uint32_t *order;        /* blocks in post-order */
    uint32_t *stack, *next; /* what is on the way, and which of its followers comes next */
    bool *seen;
    uint32_t count;
};

static void walk_from(struct flow_walk *walk, uint32_t start)
{
    uint32_t depth = 0;
    if (walk->seen[start])
        return;
    walk->seen[start] = true;
    walk->stack[depth] = start;
    walk->next[depth++] = 0;
    while (depth) {
        const struct flow_block *block = block_of(walk->flow, walk->stack[depth - 1]);
        if (walk->next[depth - 1] == block->after) {
            walk->order[walk->count++] = walk->stack[--depth];
            continue;
        }
        uint32_t follower =
            *VEC_AT(&walk->flow->after, uint32_t, block->first_after + walk->next[depth - 1]++);
        if (walk->seen[follower])
            continue;
        walk->seen[follower] = true;
        walk->stack[depth] = follower;
        walk->next[depth++] = 0;
    }
}

/* Numbers the blocks that are reached; order gets them so that each comes before what it leads to,
 * but for loops. Returns how many there are. */
static uint32_t number_blocks(struct control_flow *flow, uint32_t *order)
{
    size_t count = flow->blocks.count;
    struct flow_walk walk = {.flow = flow, .order = order};
    walk.stack = memory__zeroed(count, sizeof *walk.stack);
    walk.next = memory__zeroed(count, sizeof *walk.next);
    walk.seen = memory__zeroed(count, sizeof *walk.seen);
    walk_from(&walk, 0);
    for (uint32_t i = 0; i < walk.count / 2; i++) {
        uint32_t other = order[i];
        order[i] = order[walk.count - 1 - i];
        order[walk.count - 1 - i] = other;
    }
    for (uint32_t i = 0; i < walk.count; i++) {
        block_of(flow, order[i])->number = i;
        block_of(flow, order[i])->reached = true;
    }
    free(walk.stack);
    free(walk.next);
    free(walk.seen);
    return walk.count;
}

/* The nearest block that dominates both; FLOW_OUTSIDE: none but outside. */
static uint32_t common(const struct control_flow *flow, uint32_t one, uint32_t other)
{
    while (one != other) {
        if (one == FLOW_OUTSIDE || other == FLOW_OUTSIDE)
            return FLOW_OUTSIDE;
        if (block_of(flow, one)->number > block_of(flow, other)->number)
            one = block_of(flow, one)->dominator;
        else
            other = block_of(flow, other)->dominator;
    }
    return one;
}

/* is_known: the blocks whose dominator has been looked for; those that are not reached never are.
 */
static uint32_t dominator_of(const struct control_flow *flow, const struct flow_block *block,
                             const bool *is_known)
{
    uint32_t found = FLOW_OUTSIDE;
    bool any = false;
    for (uint32_t i = 0; i < block->before; i++) {
        uint32_t before = *VEC_AT(&flow->before, uint32_t, block->first_before + i);
        if (!is_known[before])
            continue;
        found = any ? common(flow, found, before) : before;
        any = true;
    }
    return found;
}

static void find_dominators(struct control_flow *flow)
{
    size_t blocks = flow->blocks.count;
    uint32_t *order = memory__zeroed(blocks, sizeof *order);
    bool *is_known = memory__zeroed(blocks, sizeof *is_known);
    uint32_t count = number_blocks(flow, order);
    is_known[0] = true; /* nothing dominates the first */
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < count; i++) {
            struct flow_block *block = block_of(flow, order[i]);
            uint32_t found = dominator_of(flow, block, is_known);
            changed |= !is_known[order[i]] || found != block->dominator;
            is_known[order[i]] = true;
            block->dominator = found;
        }
    }
    free(order);
    free(is_known);
}

bool flow__dominates(const struct control_flow *flow, uint32_t dominator, uint32_t block)
{
    uint32_t number = block_of(flow, dominator)->number;
    if (!block_of(flow, dominator)->reached || !block_of(flow, block)->reached)
        return false;
    while (block != FLOW_OUTSIDE && block_of(flow, block)->number > number)
        block = block_of(flow, block)->dominator;
    return block == dominator;
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool flow__make(struct control_flow *flow, const struct code_file *file, const struct code_map *map,
                const struct code_function *function)
{
    *flow = (struct control_flow){
        .start = function->start,
        .end = function->end,
        .instructions = VEC_OF(struct flow_instruction),
        .blocks = VEC_OF(struct flow_block),
        .after = VEC_OF(uint32_t),
        .before = VEC_OF(uint32_t),
    };
    if (!decode_all(flow, file) || !mark_branches(flow))
        return false;
    cut_blocks(flow, map);
    link_after(flow);
    link_before(flow);
    find_dominators(flow);
    return true;
}

void flow__free(struct control_flow *flow)
{
    vec__free(&flow->instructions);
    vec__free(&flow->blocks);
    vec__free(&flow->after);
    vec__free(&flow->before);
}
