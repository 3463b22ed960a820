#include "analysis/critical_path/internal.h"

#include "base/memory.h"

#include <stdlib.h>

#define SLOTS_FIRST 4u
#define SLOTS_KEPT 16u /* a branch that is used again keeps tables that are no larger */

/* ---- sums ------------------------------------------------------------------------------------ */

/* The slot of that key, or the free one where it would be. */
static struct path_sum *slot_of(const struct path_sums *sums, uint32_t key)
{
    uint32_t place = key * 2654435769u;
    for (place ^= place >> 15;; place++) {
        struct path_sum *slot = &sums->slots[place & (sums->capacity - 1)];
        if (slot->key == key || slot->key == PATH_NO_KEY)
            return slot;
    }
}

static void clear(struct path_sums *sums)
{
    for (uint32_t i = 0; i < sums->capacity; i++)
        sums->slots[i] = (struct path_sum){.key = PATH_NO_KEY};
    sums->count = 0;
}

static void grow(struct path_sums *sums)
{
    struct path_sums larger = {.capacity = sums->capacity ? sums->capacity * 2 : SLOTS_FIRST};
    larger.slots = memory__zeroed(larger.capacity, sizeof *larger.slots);
    clear(&larger);
    for (uint32_t i = 0; i < sums->capacity; i++) {
        if (sums->slots[i].key != PATH_NO_KEY)
            *slot_of(&larger, sums->slots[i].key) = sums->slots[i];
    }
    larger.count = sums->count;
    free(sums->slots);
    *sums = larger;
}

struct path_sum *path_sums__at(struct path_sums *sums, uint32_t key)
{
    if (sums->count * 4 >= sums->capacity * 3)
        grow(sums);
    struct path_sum *slot = slot_of(sums, key);
    sums->count += slot->key == PATH_NO_KEY;
    slot->key = key;
    return slot;
}

const struct path_sum *path_sums__find(const struct path_sums *sums, uint32_t key)
{
    const struct path_sum *slot = sums->capacity ? slot_of(sums, key) : NULL;
    return slot && slot->key == key ? slot : NULL;
}

void path_sums__add(struct path_sums *sums, const struct path_sums *more)
{
    for (uint32_t i = 0; i < more->capacity; i++) {
        const struct path_sum *from = &more->slots[i];
        if (from->key == PATH_NO_KEY)
            continue;
        struct path_sum *to = path_sums__at(sums, from->key);
        to->ticks += from->ticks;
        to->acquisitions += from->acquisitions;
        to->contended += from->contended;
        to->wait += from->wait;
        if (from->last > to->last)
            to->last = from->last;
    }
}

void path_sums__free(struct path_sums *sums)
{
    free(sums->slots);
    *sums = (struct path_sums){0};
}

/* Adds the smaller one to the larger one, which becomes sums; *more is empty then. */
static void unite(struct path_sums *sums, struct path_sums *more)
{
    if (more->capacity > sums->capacity) {
        struct path_sums smaller = *sums;
        *sums = *more;
        *more = smaller;
    }
    path_sums__add(sums, more);
    clear(more);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void drop_piece(struct kept_piece *piece)
{
    while (piece && --piece->holders == 0) {
        struct kept_piece *before = piece->before;
        free(piece);
        piece = before;
    }
}

void branch__keep_piece(struct path_branch *branch, const struct path_piece *piece, bool goes_on)
{
    struct kept_piece *last = branch->last_piece;
    if (goes_on && last && last->holders == 1) {
        last->piece.end = piece->end;
        return;
    }
    struct kept_piece *kept = memory__zeroed(1, sizeof *kept);
    *kept = (struct kept_piece){
        .before = last,
        .holders = 1,
        .piece = *piece,
        .goes_on = goes_on,
    };
    branch->last_piece = kept;
}

/* ---- branches -------------------------------------------------------------------------------- */

static struct path_branch *unused_branch(struct branch_tree *tree)
{
    struct path_branch *branch = tree->unused;
    if (!branch)
        return memory__zeroed(1, sizeof *branch);
    tree->unused = branch->next;
    struct path_sums locks = branch->locks, threads = branch->threads;
    *branch = (struct path_branch){.locks = locks, .threads = threads};
    return branch;
}

static void link_to(struct path_branch *branch, struct path_branch *parent)
{
    branch->parent = parent;
    branch->previous = NULL;
    branch->next = parent ? parent->first_child : NULL;
    if (branch->next)
        branch->next->previous = branch;
    if (parent)
        parent->first_child = branch;
}

static void unlink_from_parent(struct path_branch *branch)
{
    if (branch->previous)
        branch->previous->next = branch->next;
    else if (branch->parent)
        branch->parent->first_child = branch->next;
    if (branch->next)
        branch->next->previous = branch->previous;
}

struct path_branch *tree__branch(struct branch_tree *tree, struct path_branch *parent)
{
    struct path_branch *branch = unused_branch(tree);
    branch->holders = 1;
    branch->closed = UINT64_MAX;
    link_to(branch, parent);
    if (parent) {
        parent->holders++;
        branch->start = parent->start;
        branch->last_piece = parent->last_piece;
    }
    if (branch->last_piece)
        branch->last_piece->holders++;
    tree->live++;
    return branch;
}

void branch__hold(struct path_branch *branch)
{
    branch->holders++;
}

static void empty(struct path_sums *sums)
{
    if (sums->capacity > SLOTS_KEPT)
        path_sums__free(sums);
    else if (sums->count)
        clear(sums);
}

static void put_away(struct branch_tree *tree, struct path_branch *branch)
{
    drop_piece(branch->last_piece);
    empty(&branch->locks);
    empty(&branch->threads);
    branch->next = tree->unused;
    tree->unused = branch;
    tree->live--;
}

/* Nobody but its one child holds it: the child takes its place. */
static void add_to_child(struct branch_tree *tree, struct path_branch *branch)
{
    struct path_branch *child = branch->first_child;
    child->hand_over += branch->hand_over;
    child->hand_overs += branch->hand_overs;
    child->in_sections += branch->in_sections;
    child->blocked += branch->blocked;
    unite(&child->locks, &branch->locks);
    unite(&child->threads, &branch->threads);
    unlink_from_parent(branch);
    link_to(child, branch->parent);
    put_away(tree, branch);
}

void tree__drop(struct branch_tree *tree, struct path_branch *branch)
{
    while (branch && --branch->holders == 0) {
        struct path_branch *parent = branch->parent;
        unlink_from_parent(branch);
        put_away(tree, branch);
        branch = parent;
    }
    if (branch && branch->holders == 1 && branch->first_child)
        add_to_child(tree, branch);
}

void tree__free(struct branch_tree *tree)
{
    while (tree->unused) {
        struct path_branch *branch = tree->unused;
        tree->unused = branch->next;
        path_sums__free(&branch->locks);
        path_sums__free(&branch->threads);
        free(branch);
    }
}

bool branch__was_on(const struct path_branch *branch, uint32_t thread, uint64_t sync_event)
{
    for (; branch && branch->closed > sync_event; branch = branch->parent) {
        const struct path_sum *sum = path_sums__find(&branch->threads, thread);
        if (sum && sum->last > sync_event)
            return true;
    }
    return false;
}
