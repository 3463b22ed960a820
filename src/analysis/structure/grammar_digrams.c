#include "analysis/structure/grammar_parts.h"
#include "base/memory.h"

#include <stdlib.h>

enum { FIRST_SIZE = 64 };

static inline uint64_t mixed(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return a ^ a >> 32;
}

static inline uint32_t hash_of(const struct grammar_node *left, const struct grammar_node *right)
{
    uint64_t counts = left->count * UINT64_C(0xd6e8feb86659fd93) + right->count;
    return (uint32_t)mixed(mixed((uint64_t)left->symbol << 32 | right->symbol, counts), counts);
}

static inline bool same_item(const struct grammar_node *a, const struct grammar_node *b)
{
    return a->symbol == b->symbol && a->count == b->count;
}

static bool same_digram(const struct grammar *grammar, uint32_t a, uint32_t b)
{
    const struct grammar_node *left = node_at(grammar, a), *other = node_at(grammar, b);
    return same_item(left, other) &&
           same_item(node_at(grammar, left->next), node_at(grammar, other->next));
}

static void grow(struct digrams *digrams)
{
    size_t size = digrams->size ? 2 * digrams->size : FIRST_SIZE;
    struct digram_slot *slots = memory__zeroed(size, sizeof *slots);
    for (size_t i = 0; i < digrams->size; i++) {
        if (!digrams->slots[i].node)
            continue;
        size_t place = digrams->slots[i].hash & (size - 1);
        while (slots[place].node)
            place = (place + 1) & (size - 1);
        slots[place] = digrams->slots[i];
    }
    free(digrams->slots);
    digrams->slots = slots;
    digrams->size = size;
}

/* The slot of the digram, or the empty one where it would be. */
static struct digram_slot *slot_of(const struct grammar *grammar, uint32_t node, uint32_t hash)
{
    const struct digrams *digrams = &grammar->digrams;
    for (size_t i = hash & (digrams->size - 1);; i = (i + 1) & (digrams->size - 1)) {
        struct digram_slot *slot = &digrams->slots[i];
        if (!slot->node || (slot->hash == hash && same_digram(grammar, slot->node, node)))
            return slot;
    }
}

static uint32_t hash_at(const struct grammar *grammar, uint32_t node)
{
    const struct grammar_node *left = node_at(grammar, node);
    return hash_of(left, node_at(grammar, left->next));
}

uint32_t digrams__find_or_insert(struct grammar *grammar, uint32_t node)
{
    struct digrams *digrams = &grammar->digrams;
    if (4 * digrams->count >= 3 * digrams->size)
        grow(digrams);
    uint32_t hash = hash_at(grammar, node);
    struct digram_slot *slot = slot_of(grammar, node, hash);
    if (slot->node)
        return slot->node;
    *slot = (struct digram_slot){hash, node};
    digrams->count++;
    return 0;
}

/* Moves back what was displaced past the slot that becomes empty: no tombstones. */
static void empty(struct digrams *digrams, size_t hole)
{
    size_t mask = digrams->size - 1;
    for (size_t i = (hole + 1) & mask; digrams->slots[i].node; i = (i + 1) & mask) {
        size_t home = digrams->slots[i].hash & mask;
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        digrams->slots[hole] = digrams->slots[i];
        hole = i;
    }
    digrams->slots[hole].node = 0;
    digrams->count--;
}

void digrams__remove(struct grammar *grammar, uint32_t node)
{
    struct digrams *digrams = &grammar->digrams;
    if (digrams->size == 0 || is_guard(grammar, node) ||
        is_guard(grammar, node_at(grammar, node)->next))
        return;
    uint32_t hash = hash_at(grammar, node);
    size_t mask = digrams->size - 1;
    for (size_t i = hash & mask; digrams->slots[i].node; i = (i + 1) & mask)
        if (digrams->slots[i].node == node) {
            empty(digrams, i);
            return;
        }
}
