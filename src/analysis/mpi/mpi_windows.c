/* Locks of windows. Who locked a rank's memory before whom is known by the order in which the locks
 * were given back, and where the calls that did so overlap by the order in which they were asked
 * for; who has one waits in the call in which the one before gave it back:
 * MPI_Win_lock, or, where an MPI locks when it must, a later one up to MPI_Win_unlock. Formulas:
 * docs/mpi.md. Ranks tell one process of a window's locks, which tells them whom they waited for.
 */
#include "analysis/mpi/internal.h"

/* A lock of one rank's memory by another, from its first call to its last. */
struct lock_epoch {
    uint64_t begin, unlock, end; /* enter of the first, of the last; leave of that */
    uint32_t window, target;     /* HEURT_MESSAGE_ANY: all ranks' */
    uint32_t rank, post;         /* who locks; index of its locks */
    uint32_t is_exclusive, unused;
};

/* Another had the lock until some time in that interval. */
struct window_wait {
    uint64_t unlock, end;
    uint32_t rank, post, blocker, unused;
};

static int by_window(const void *a, const void *b)
{
    const struct lock_epoch *left = a, *right = b;
    return ORDER(left->window, right->window) ?: ORDER(left->target, right->target)
               ?: ORDER(left->end, right->end) ?: ORDER(left->rank, right->rank)
               ?: ORDER(left->post, right->post);
}

static int by_end(const void *a, const void *b)
{
    const struct lock_epoch *left = *(const struct lock_epoch *const *)a;
    const struct lock_epoch *right = *(const struct lock_epoch *const *)b;
    return ORDER(left->end, right->end) ?: ORDER(left, right);
}

/* Who unlocks may get no CPU when its lock was long given back, and end after the one that waited
 * for it: where two unlocked at a time, the one that locked first is first. Of locks of one rank's
 * memory, by their ends; each goes past those alone that were under way with it. */
static void order_locks(struct lock_epoch *epochs, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct lock_epoch moved = epochs[i];
        size_t at = i;
        for (; at > 0 && epochs[at - 1].end > moved.unlock && epochs[at - 1].begin > moved.begin;
             at--)
            epochs[at] = epochs[at - 1];
        epochs[at] = moved;
    }
}

/* ---- one window ------------------------------------------------------------------------------ */

static void wait_for(const struct mpi_job *job, const struct lock_epoch *waits,
                     const struct lock_epoch *before, struct vec *given)
{
    if (before && before->rank != waits->rank && before->end > waits->begin)
        vec__push(&given[mpi_job__owner(job, waits->rank)],
                  &(struct window_wait){before->unlock, before->end, waits->rank, waits->post,
                                        before->rank, 0});
}

static const struct lock_epoch *later_of(const struct lock_epoch *a, const struct lock_epoch *b)
{
    return !a || (b && b->end > a->end) ? b : a;
}

/* The last of them, in order of their ends, that was over before. */
static const struct lock_epoch *last_before(const struct vec *ordered,
                                            const struct lock_epoch *epoch)
{
    size_t at = VEC_FIRST(one, ordered, const struct lock_epoch *, (*one)->end >= epoch->end);
    return at ? *VEC_AT(ordered, const struct lock_epoch *, at - 1) : NULL;
}

/* all: those of the whole window; ordered likewise by their ends. */
struct window_locks {
    struct vec exclusive, all; /* const struct lock_epoch *: of one rank's memory; of all ranks' */
};

/* An exclusive lock waits for any, a shared one for exclusive ones alone. */
static void take_target(const struct mpi_job *job, const struct lock_epoch *epochs, size_t count,
                        const struct window_locks *locks, struct vec *given)
{
    const struct lock_epoch *any = NULL, *exclusive = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct lock_epoch *epoch = &epochs[i], *before = exclusive;
        if (epoch->target == HEURT_MESSAGE_ANY)
            before = last_before(&locks->exclusive, epoch);
        else if (epoch->is_exclusive)
            before = later_of(any, last_before(&locks->all, epoch));
        wait_for(job, epoch, before, given);
        any = epoch;
        exclusive = epoch->is_exclusive ? epoch : exclusive;
    }
}

static void take_window(const struct mpi_job *job, struct lock_epoch *epochs, size_t count,
                        struct vec *given)
{
    struct window_locks locks = {VEC_OF(const struct lock_epoch *),
                                 VEC_OF(const struct lock_epoch *)};
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && epochs[end].target == epochs[i].target;)
            end++;
        order_locks(epochs + i, end - i);
    }
    for (size_t i = 0; i < count; i++) {
        const struct lock_epoch *epoch = &epochs[i];
        if (epoch->target == HEURT_MESSAGE_ANY)
            vec__push(&locks.all, &epoch);
        else if (epoch->is_exclusive)
            vec__push(&locks.exclusive, &epoch);
    }
    vec__sort(&locks.exclusive, by_end);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && epochs[end].target == epochs[i].target;)
            end++;
        take_target(job, epochs + i, end - i, &locks, given);
    }
    vec__free(&locks.exclusive);
    vec__free(&locks.all);
}

/* ---- of who waits ---------------------------------------------------------------------------- */

/* Of the calls that were under way when the lock was given back: the longest wait. */
static void take_wait(const struct mpi_job *job, const struct window_wait *wait)
{
    const struct rank_record *record = mpi_job__rank(job, wait->rank);
    const struct rank_post *lock = VEC_AT(&record->locks, struct rank_post, wait->post);
    struct rank_call *calls = rank_record__call(record, lock->call), *longest = NULL;
    size_t count = lock->done + 1ul - lock->call;
    uint64_t most = 0;
    for (size_t i = FIRST_WHERE(at, count, calls[at].leave > wait->unlock);
         i < count && calls[i].enter < wait->end; i++) {
        uint64_t time = tick__earlier(wait->end, calls[i].leave) - calls[i].enter;
        if (time <= most || rank_record__family(record, &calls[i]) != HEURT_MESSAGE_ONE_SIDED)
            continue;
        most = time;
        longest = &calls[i];
    }
    if (longest)
        rank_call__waits(longest, wait->end, MPI_WAIT_LOCK, wait->blocker);
}

/* ---- the step -------------------------------------------------------------------------------- */

static void give_locks(const struct mpi_job *job, const struct rank_record *record,
                       struct vec *given)
{
    uint32_t number = 0;
    VEC_EACH (lock, &record->locks, const struct rank_post) {
        uint32_t post = number++;
        if (lock->done == NO_CALL || lock->done < lock->call)
            continue;
        const struct rank_call *unlock = rank_record__call(record, lock->done);
        vec__push(&given[lock->communicator % job->exchange->count],
                  &(struct lock_epoch){rank_record__call(record, lock->call)->enter, unlock->enter,
                                       unlock->leave, lock->communicator, lock->peer, record->rank,
                                       post, lock->tag == HEURT_SIGNAL_LOCK_EXCLUSIVE, 0});
    }
}

void mpi_job__find_locks(struct mpi_job *job)
{
    struct vec *given = mpi_given__of(job, sizeof(struct lock_epoch));
    struct vec epochs = VEC_OF(struct lock_epoch), waited = VEC_OF(struct window_wait);
    VEC_EACH (record, &job->records, const struct rank_record)
        give_locks(job, record, given);
    mpi_job__swap(job, given, &epochs);
    mpi_given__free(job, given);
    struct vec *waits = mpi_given__of(job, sizeof(struct window_wait));
    struct lock_epoch *all = epochs.items;
    vec__sort(&epochs, by_window);
    for (size_t i = 0, end; i < epochs.count; i = end) {
        for (end = i + 1; end < epochs.count && all[end].window == all[i].window;)
            end++;
        take_window(job, all + i, end - i, waits);
    }
    vec__free(&epochs);
    mpi_job__swap(job, waits, &waited);
    mpi_given__free(job, waits);
    VEC_EACH (wait, &waited, const struct window_wait)
        take_wait(job, wait);
    vec__free(&waited);
}
