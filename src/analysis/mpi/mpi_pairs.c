/* Messages from one rank to another, in one row a pair. Where there are more pairs than a table is
 * good for, blocks of 2, 4, 8 … ranks that stand side by side are one: the least blocks that do,
 * which are the same whatever pairs come first. */
#include "analysis/mpi/internal.h"

static int by_ranks(const void *a, const void *b)
{
    const struct mpi_pair *left = a, *right = b;
    return ORDER(left->from, right->from) ?: ORDER(left->to, right->to);
}

static void add(struct mpi_pair *into, const struct mpi_pair *other)
{
    into->messages += other->messages;
    into->bytes += other->bytes;
    into->least_bytes = tick__earlier(into->least_bytes, other->least_bytes);
    into->most_bytes = tick__later(into->most_bytes, other->most_bytes);
    into->late_sender_ns += other->late_sender_ns;
    into->late_receiver_ns += other->late_receiver_ns;
    into->accesses += other->accesses;
    into->access_bytes += other->access_bytes;
}

static void join_equal(struct vec *pairs)
{
    size_t kept = 0;
    vec__sort(pairs, by_ranks);
    VEC_EACH (pair, pairs, const struct mpi_pair) {
        struct mpi_pair *last = VEC_AT(pairs, struct mpi_pair, kept ? kept - 1 : 0);
        if (kept && last->from == pair->from && last->to == pair->to)
            add(last, pair);
        else
            *VEC_AT(pairs, struct mpi_pair, kept++) = *pair;
    }
    pairs->count = kept;
}

void mpi_use__join_pairs(struct mpi_use *use)
{
    for (;;) {
        uint32_t mask = ~(use->block - 1);
        VEC_EACH (pair, &use->pairs, struct mpi_pair) {
            pair->from &= mask;
            pair->to &= mask;
        }
        join_equal(&use->pairs);
        if (use->pairs.count <= MPI_PAIRS_MOST)
            return;
        use->block *= 2;
    }
}

struct mpi_pair *mpi_use__pair(struct mpi_use *use, uint32_t from, uint32_t to)
{
    struct vec *pairs = &use->pairs;
    from &= ~(use->block - 1);
    to &= ~(use->block - 1);
    struct mpi_pair *last = pairs->count ? VEC_AT(pairs, struct mpi_pair, pairs->count - 1) : NULL;
    if (last && last->from == from && last->to == to)
        return last;
    if (pairs->count >= 2 * (size_t)MPI_PAIRS_MOST) {
        mpi_use__join_pairs(use);
        return mpi_use__pair(use, from, to);
    }
    return vec__push(pairs, &(struct mpi_pair){.from = from, .to = to, .least_bytes = UINT64_MAX});
}
