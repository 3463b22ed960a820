/* internal.h: the branches that chains of work and waking have in common. For path*.c and its
 * test.
 *
 * Every thread is on a chain, whose last branch is still open. Chains that came to a thread from
 * another one share what was before:
 *
 *     root ──── closed ──┬── open: thread 0
 *                        └── closed ──┬── open: thread 1
 *                                     └── (a release that somebody may go on from)
 *
 * A branch lives as long as it has a child or somebody holds it. One that nobody holds and that has
 * one child is added to the child, so that there are never more than two for each holder. Figures
 * are added from the smaller table to the larger one. Nothing here calls itself: chains of
 * any length are walked in loops. */
#ifndef HEURT_ANALYSIS_CRITICAL_PATH_INTERNAL_H
#define HEURT_ANALYSIS_CRITICAL_PATH_INTERNAL_H

#include "analysis/critical_path/path.h"

#include <stddef.h>

/* What a branch has of one lock, or of one thread. */
struct path_sum {
    uint32_t key;   /* object; index of the thread */
    uint64_t ticks; /* lock: held; thread: the path is on it */
    uint64_t acquisitions, contended, wait;
    uint64_t last; /* thread: number of the synchronisation event at which the chain was last closed
                      on it */
};

/* A hash table of them by key. */
struct path_sums {
    struct path_sum *slots;   /* free ones have PATH_NO_KEY */
    uint32_t count, capacity; /* a power of two, or 0 */
};

#define PATH_NO_KEY UINT32_MAX

/* A piece of a chain up to a place where it was closed; kept only when pieces are asked for. */
struct kept_piece {
    struct kept_piece *before;
    uint64_t holders;
    struct path_piece piece;
    bool goes_on; /* with the one before, on the same thread */
};

struct path_branch {
    struct path_branch *parent;
    struct path_branch *first_child;
    struct path_branch *previous, *next; /* children of the same parent */
    uint64_t holders;                    /* children are among them */
    uint64_t closed; /* number of the synchronisation event; UINT64_MAX: it is open */
    uint64_t start;  /* tick at which the whole chain began */
    uint64_t hand_over, hand_overs, in_sections, blocked;
    struct path_sums locks, threads;
    struct kept_piece *last_piece; /* of the chain up to here; NULL: none was closed */
};

struct branch_tree {
    size_t live;
    struct path_branch *unused; /* by next: to be used again */
};

/* The sum of that key, zeroes when it is new. Valid until the next call. */
struct path_sum *path_sums__at(struct path_sums *sums, uint32_t key);
/* NULL: there is none. */
const struct path_sum *path_sums__find(const struct path_sums *sums, uint32_t key);
void path_sums__add(struct path_sums *sums, const struct path_sums *more);
void path_sums__free(struct path_sums *sums);

/* A new open branch that the caller holds. parent NULL: a chain that begins. */
struct path_branch *tree__branch(struct branch_tree *tree, struct path_branch *parent);
void branch__hold(struct path_branch *branch);
void tree__drop(struct branch_tree *tree, struct path_branch *branch); /* NULL is allowed */
void tree__free(struct branch_tree *tree); /* when all branches are dropped */

/* The closed chain was on the thread after that synchronisation event. */
bool branch__was_on(const struct path_branch *branch, uint32_t thread, uint64_t sync_event);

/* How many branches there are now. */
size_t path__branches(const struct path *path);

/* Ends the chain's last piece; one that goes on makes it longer. */
void branch__keep_piece(struct path_branch *branch, const struct path_piece *piece, bool goes_on);

#endif
