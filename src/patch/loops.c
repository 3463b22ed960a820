#include "patch/loops.h"

#include "base/memory.h"
#include "patch/flags.h"
#include "patch/move.h"

#include <stdlib.h>

const char *loop_fault__text(enum loop_fault fault)
{
    static const char *const texts[] = {
        [LOOP_ENTERED] = "something jumps into each place of it that is long enough for a jump",
        [LOOP_NOT_MOVED] = "none of its instructions can be moved",
    };
    return texts[fault];
}

static struct flow_block *block_of(const struct loops *loops, uint32_t index)
{
    return VEC_AT(&loops->flow.blocks, struct flow_block, index);
}

static struct loop *loop_of(const struct loops *loops, uint32_t index)
{
    return VEC_AT(&loops->items, struct loop, index);
}

/* ---- which loops there are ------------------------------------------------------------------- */

static uint32_t before_of(const struct loops *loops, const struct flow_block *block, uint32_t i)
{
    return *VEC_AT(&loops->flow.before, uint32_t, block->first_before + i);
}

static bool leads_back(const struct loops *loops, uint32_t from, uint32_t head)
{
    return flow__dominates(&loops->flow, head, from);
}

static bool is_head(const struct loops *loops, uint32_t index)
{
    const struct flow_block *block = block_of(loops, index);
    for (uint32_t i = 0; i < block->before; i++)
        if (leads_back(loops, before_of(loops, block, i), index))
            return true;
    return false;
}

/* Heads by their numbers, which rise inwards. */
static uint32_t *list_heads(const struct loops *loops, size_t *count)
{
    size_t blocks = loops->flow.blocks.count, reached = 0, at = 0;
    uint32_t *by_number = memory__zeroed(blocks, sizeof *by_number);
    for (uint32_t i = 0; i < blocks; i++)
        if (block_of(loops, i)->reached) {
            by_number[block_of(loops, i)->number] = i;
            reached++;
        }
    for (size_t i = 0; i < reached; i++)
        if (is_head(loops, by_number[i]))
            by_number[at++] = by_number[i];
    *count = at;
    return by_number;
}

/* The outermost known loop around block, or LOOP_NONE. */
static uint32_t outermost(const struct loops *loops, uint32_t block)
{
    uint32_t loop = loops->innermost[block];
    while (loop != LOOP_NONE && loop_of(loops, loop)->parent != LOOP_NONE)
        loop = loop_of(loops, loop)->parent;
    return loop;
}

static void push_before(const struct loops *loops, uint32_t index, struct vec *waiting)
{
    const struct flow_block *block = block_of(loops, index);
    for (uint32_t i = 0; i < block->before; i++) {
        uint32_t before = before_of(loops, block, i);
        if (block_of(loops, before)->reached)
            vec__push(waiting, &before);
    }
}

/* Gives the loop all that leads to its head from inside; loops inside of it are known. */
static void fill(struct loops *loops, uint32_t index)
{
    struct vec waiting = VEC_OF(uint32_t);
    uint32_t head = loop_of(loops, index)->head;
    const struct flow_block *block = block_of(loops, head);
    loops->innermost[head] = index;
    for (uint32_t i = 0; i < block->before; i++) {
        uint32_t before = before_of(loops, block, i);
        if (leads_back(loops, before, head))
            vec__push(&waiting, &before);
    }
    while (waiting.count) {
        uint32_t one = *VEC_AT(&waiting, uint32_t, --waiting.count);
        uint32_t inner = outermost(loops, one);
        if (inner == index)
            continue;
        if (inner == LOOP_NONE) {
            loops->innermost[one] = index;
            push_before(loops, one, &waiting);
        } else {
            loop_of(loops, inner)->parent = index;
            push_before(loops, loop_of(loops, inner)->head, &waiting);
        }
    }
    vec__free(&waiting);
}

static bool is_call(uint8_t branch)
{
    return branch == BRANCH_CALL || branch == BRANCH_CALL_INDIRECT;
}

static bool block_has_call(const struct loops *loops, const struct flow_block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (is_call(VEC_AT(&loops->flow.instructions, struct flow_instruction, block->first + i)
                        ->branch))
            return true;
    return false;
}

static void describe(struct loops *loops)
{
    VEC_EACH (loop, &loops->items, struct loop) {
        if (loop->parent == LOOP_NONE)
            continue;
        loop->depth = loop_of(loops, loop->parent)->depth + 1;
        loop_of(loops, loop->parent)->has_inner = true;
    }
    for (uint32_t i = 0; i < loops->flow.blocks.count; i++) {
        const struct flow_block *block = block_of(loops, i);
        bool has_call = loops->innermost[i] != LOOP_NONE && block_has_call(loops, block);
        for (uint32_t at = loops->innermost[i]; at != LOOP_NONE; at = loop_of(loops, at)->parent) {
            loop_of(loops, at)->instructions += block->count;
            loop_of(loops, at)->has_call |= has_call;
        }
    }
}

static void find_loops(struct loops *loops)
{
    size_t count;
    uint32_t *heads = list_heads(loops, &count);
    for (size_t i = 0; i < count; i++) {
        struct loop loop = {.address = block_of(loops, heads[i])->start,
                            .head = heads[i],
                            .parent = LOOP_NONE,
                            .fault = LOOP_NOT_MOVED};
        vec__push(&loops->items, &loop);
    }
    for (size_t i = count; i-- > 0;) /* inner ones first */
        fill(loops, (uint32_t)i);
    describe(loops);
    free(heads);
}

/* ---- where they are marked ------------------------------------------------------------------- */

struct search {
    struct loops *loops;
    const struct code_file *file;
    const struct code_map *map;
    const struct code_function *function;
    uint64_t first; /* what is before belongs to the function's own patch */
    struct loop *loop;
    unsigned cost; /* of the best place so far */
};

/* What a place costs: flags that must be kept, calls that no return is predicted for. */
enum { COST_CALL = 1, COST_FLAGS = 2, COST_NO_PLACE = 4 };

static bool overlaps(const struct heurt_plan *plan, uint64_t start, uint64_t end)
{
    uint64_t length = plan->moved > HEURT_PATCH_BYTES ? plan->moved : HEURT_PATCH_BYTES;
    return start < plan->address + length && end > plan->address;
}

static bool is_taken(const struct search *search, const struct heurt_plan *plan)
{
    uint64_t length = plan->moved > HEURT_PATCH_BYTES ? plan->moved : HEURT_PATCH_BYTES;
    VEC_EACH (other, &search->loops->items, const struct loop)
        if (other != search->loop && other->fault == LOOP_MARKED &&
            overlaps(&other->plan, plan->address, plan->address + length))
            return true;
    return false;
}

static bool moves_call(const struct heurt_plan *plan)
{
    for (unsigned i = 0; i < plan->fixup_count; i++)
        if (plan->fixups[i].next == HEURT_FIXUP_ABSOLUTE)
            return true;
    return false;
}

static void try_place(struct search *search, uint64_t address)
{
    struct loop *loop = search->loop;
    struct heurt_plan plan;
    enum move_fault fault =
        move__place(search->file, search->map, search->function, address, &plan);
    if (fault == MOVE_ENTERED && loop->fault == LOOP_NOT_MOVED)
        loop->fault = LOOP_ENTERED;
    if (fault || is_taken(search, &plan))
        return;
    bool keeps_flags = !flags__are_dead(search->file, search->function, address);
    unsigned cost = (moves_call(&plan) ? COST_CALL : 0) | (keeps_flags ? COST_FLAGS : 0);
    if (cost >= search->cost)
        return;
    search->cost = cost;
    loop->fault = LOOP_MARKED;
    loop->saves_flags = keeps_flags;
    loop->plan = plan;
}

static bool is_passed_once(const struct search *search, uint32_t index)
{
    const struct loops *loops = search->loops;
    uint32_t head = search->loop->head;
    const struct flow_block *block = block_of(loops, head);
    if (index == head)
        return true;
    for (uint32_t i = 0; i < block->before; i++) {
        uint32_t before = before_of(loops, block, i);
        if (leads_back(loops, before, head) && !flow__dominates(&loops->flow, index, before))
            return false;
    }
    return true;
}

static void search_block(struct search *search, uint32_t index)
{
    const struct flow_block *block = block_of(search->loops, index);
    for (uint32_t i = 0; i < block->count && search->cost; i++) {
        const struct flow_instruction *one =
            VEC_AT(&search->loops->flow.instructions, struct flow_instruction, block->first + i);
        if (one->address >= search->first)
            try_place(search, one->address);
    }
}

/* The head's place first: a loop that is left at its end has fewer others. */
static void find_place(struct search *search, uint32_t index)
{
    struct loops *loops = search->loops;
    search->loop = loop_of(loops, index);
    search->cost = COST_NO_PLACE;
    search_block(search, search->loop->head);
    for (uint32_t i = 0; i < loops->flow.blocks.count && search->cost; i++)
        if (loops->innermost[i] == index && i != search->loop->head && is_passed_once(search, i))
            search_block(search, i);
}

bool loops__find(struct loops *loops, const struct code_file *file, const struct code_map *map,
                 const struct code_function *function, const struct heurt_plan *entry)
{
    *loops = (struct loops){.items = VEC_OF(struct loop)};
    const struct code_section *section = code_file__section(file, function->start);
    if (!section || section->linkage || !flow__make(&loops->flow, file, map, function))
        return false;
    size_t blocks = loops->flow.blocks.count;
    loops->innermost = memory__zeroed(blocks, sizeof *loops->innermost);
    for (size_t i = 0; i < blocks; i++)
        loops->innermost[i] = LOOP_NONE;
    find_loops(loops);
    struct search search = {
        .loops = loops, .file = file, .map = map, .function = function, .first = function->start};
    if (entry)
        search.first +=
            entry->skip + (entry->moved > HEURT_PATCH_BYTES ? entry->moved : HEURT_PATCH_BYTES);
    for (uint32_t i = 0; i < loops->items.count; i++)
        find_place(&search, i);
    return true;
}

void loops__free(struct loops *loops)
{
    flow__free(&loops->flow);
    vec__free(&loops->items);
    free(loops->innermost);
}

uint32_t loops__at(const struct loops *loops, uint64_t address)
{
    uint32_t block = flow__block_at(&loops->flow, address);
    return block == FLOW_OUTSIDE ? LOOP_NONE : loops->innermost[block];
}
