/* Collective operations: the n-th that a rank comes to on a communicator is the n-th of all its
 * members. Formulas: docs/mpi.md. */
#include "analysis/mpi/internal.h"

/* One rank at one operation. */
struct participant {
    uint32_t communicator;
    uint64_t number; /* of the operation on it */
    struct rank_record *record;
    const struct rank_post *post;
    uint32_t place; /* of the rank in the communicator */
};

static int by_operation(const void *a, const void *b)
{
    const struct participant *left = a, *right = b;
    return ORDER(left->communicator, right->communicator) ?: ORDER(left->number, right->number)
               ?: ORDER(left->place, right->place);
}

static const struct rank_member *member_of(const struct rank_record *record, uint32_t communicator)
{
    VEC_EACH (member, &record->members, const struct rank_member)
        if (member->communicator == communicator)
            return member;
    return NULL;
}

static int by_communicator(const void *a, const void *b)
{
    const struct rank_post *left = a, *right = b;
    return ORDER(left->communicator, right->communicator) ?: ORDER(left->tick, right->tick);
}

static struct vec participants_of(struct mpi_job *job)
{
    struct vec all = VEC_OF(struct participant);
    VEC_EACH (record, &job->records, struct rank_record) {
        const struct rank_member *member = NULL;
        uint64_t number = 0;
        vec__sort(&record->collectives, by_communicator);
        VEC_EACH (post, &record->collectives, const struct rank_post) {
            bool is_next = member && member->communicator == post->communicator;
            member = is_next ? member : member_of(record, post->communicator);
            number = is_next ? number + 1 : 0;
            vec__push(&all, &(struct participant){post->communicator, number, record, post,
                                                  member ? member->rank : MPI_NOBODY});
        }
    }
    vec__sort(&all, by_operation);
    return all;
}

/* ---- one operation --------------------------------------------------------------------------- */

static struct rank_call *entered(const struct participant *one)
{
    return rank_record__call(one->record, one->post->call);
}

/* The call that it blocks in: of a nonblocking one that which completes it; NULL: none did. */
static struct rank_call *blocked(const struct participant *one)
{
    return one->post->done == NO_CALL ? NULL : rank_record__call(one->record, one->post->done);
}

/* Whoever came last of count. */
static const struct participant *last_of(const struct participant *all, size_t count)
{
    const struct participant *last = all;
    for (size_t i = 1; i < count; i++)
        if (entered(&all[i])->enter > entered(last)->enter)
            last = &all[i];
    return last;
}

static const struct participant *root_of(const struct participant *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].record->rank == all[i].post->peer)
            return &all[i];
    return NULL;
}

static void wait_for(const struct participant *waits, const struct participant *other,
                     enum mpi_wait wait)
{
    struct rank_call *call = blocked(waits);
    if (call && other != waits)
        rank_call__waits(call, entered(other)->enter, wait, other->record->rank);
}

static void all_wait(const struct participant *all, size_t count, const struct participant *other,
                     enum mpi_wait wait)
{
    for (size_t i = 0; i < count; i++)
        wait_for(&all[i], other, wait);
}

static void find_waits(const struct participant *all, size_t count)
{
    const struct participant *root = root_of(all, count);
    switch (message_call__family(all->post->operation)) {
    case HEURT_MESSAGE_BARRIER:
        all_wait(all, count, last_of(all, count), MPI_WAIT_BARRIER);
        return;
    case HEURT_MESSAGE_ALL:
        all_wait(all, count, last_of(all, count), MPI_WAIT_ALL);
        return;
    case HEURT_MESSAGE_FROM_ROOT:
        if (root)
            all_wait(all, count, root, MPI_WAIT_LATE_BROADCAST);
        return;
    case HEURT_MESSAGE_TO_ROOT:
        if (root)
            wait_for(root, last_of(all, count), MPI_WAIT_EARLY_REDUCE);
        return;
    case HEURT_MESSAGE_PREFIX:
        for (size_t i = 1; i < count; i++)
            wait_for(&all[i], last_of(all, i), MPI_WAIT_EARLY_SCAN);
        return;
    default:
        return;
    }
}

static void take_operation(struct mpi_job *job, const struct participant *all, size_t count)
{
    struct mpi_communicator *in =
        VEC_FIND(&job->use->communicators, struct mpi_communicator, number, all->communicator);
    bool is_whole = in && in->size == count;
    job->use->whole_operations += is_whole;
    job->use->partial_operations += !is_whole;
    if (message_call__family(all->post->operation) == HEURT_MESSAGE_NEIGHBOURS)
        job->use->neighbours++;
    else if (is_whole)
        find_waits(all, count);
    if (in)
        in->operations++;
}

/* MPI_Finalize waits for all ranks, in all that matters. */
static void find_ends(struct mpi_job *job)
{
    uint64_t last = 0;
    uint32_t rank = MPI_NOBODY;
    for (unsigned pass = 0; pass < 2; pass++)
        VEC_EACH (record, &job->records, struct rank_record)
            VEC_EACH (call, &record->calls, struct rank_call) {
                if (call->call != HEURT_CALL_FINALIZE)
                    continue;
                if (pass)
                    rank_call__waits(call, last, MPI_WAIT_END, rank);
                else if (call->enter > last) {
                    last = call->enter;
                    rank = record->rank;
                }
            }
}

void mpi_job__find_operations(struct mpi_job *job)
{
    struct vec all = participants_of(job);
    for (size_t i = 0, end; i < all.count; i = end) {
        const struct participant *first = VEC_AT(&all, struct participant, i);
        for (end = i + 1; end < all.count; end++) {
            const struct participant *next = VEC_AT(&all, struct participant, end);
            if (next->communicator != first->communicator || next->number != first->number)
                break;
        }
        take_operation(job, first, end - i);
    }
    find_ends(job);
    vec__free(&all);
}
