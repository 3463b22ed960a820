/* Threads with calls of MPI, put together to processes. */
#include "analysis/mpi/internal.h"

#include <string.h>

static int by_process(const void *a, const void *b)
{
    const struct rank_record *left = a, *right = b;
    /* First the thread that knows its rank: it called MPI_Init. */
    return ORDER(left->process, right->process)
               ?: ORDER(left->rank == MPI_NOBODY, right->rank == MPI_NOBODY)
               ?: ORDER(left->thread, right->thread);
}

static int by_rank(const void *a, const void *b)
{
    const struct rank_record *left = a, *right = b;
    return ORDER(left->rank, right->rank) ?: ORDER(left->process, right->process);
}

static void append_posts(struct vec *into, struct vec *from, uint32_t first_call)
{
    VEC_EACH (post, from, struct rank_post) {
        post->call += first_call;
        post->done += post->done == NO_CALL ? 0 : first_call;
    }
    vec__append(into, from);
}

/* Another thread of the same process. */
static void add_thread(struct rank_record *into, struct rank_record *other)
{
    uint32_t first = (uint32_t)into->calls.count, first_place = (uint32_t)into->places.count;
    VEC_EACH (call, &other->calls, struct rank_call)
        call->place += first_place;
    vec__append(&into->places, &other->places);
    vec__append(&into->calls, &other->calls);
    append_posts(&into->sends, &other->sends, first);
    append_posts(&into->receives, &other->receives, first);
    append_posts(&into->collectives, &other->collectives, first);
    append_posts(&into->accesses, &other->accesses, first);
    append_posts(&into->locks, &other->locks, first);
    vec__append(&into->members, &other->members);
    into->callers += other->callers;
    rank_record__free(other);
}

struct vec rank_records__of(struct vec *threads)
{
    struct vec processes = VEC_OF(struct rank_record);
    vec__sort(threads, by_process);
    VEC_EACH (record, threads, struct rank_record) {
        struct rank_record *last =
            processes.count ? VEC_AT(&processes, struct rank_record, processes.count - 1) : NULL;
        record->main_calls = (uint32_t)record->calls.count;
        if (last && last->process == record->process)
            add_thread(last, record);
        else if (record->rank != MPI_NOBODY)
            vec__push(&processes, record);
        else
            rank_record__free(record);
    }
    vec__free(threads);
    vec__sort(&processes, by_rank);
    return processes;
}

void rank_call__waits(struct rank_call *call, uint64_t until, enum mpi_wait wait, uint32_t blocker)
{
    until = tick__earlier(until, call->leave);
    if (until <= call->enter || until - call->enter < call->waited)
        return;
    if (until - call->enter == call->waited &&
        (call->wait < wait || (call->wait == wait && call->blocker <= blocker)))
        return;
    call->waited = until - call->enter;
    call->wait = wait & 31u;
    call->blocker = blocker;
}

void rank_split__move(const struct rank_split *split, const struct rank_call *call,
                      uint64_t *wait_ticks)
{
    bool is_early = call->wait == MPI_WAIT_EARLY_WAIT;
    if (call->blocker != split->blocker || (!is_early && call->wait != MPI_WAIT_LATE_COMPLETE))
        return; /* another wait took its place */
    uint64_t moved = is_early ? call->waited - split->early : split->early;
    wait_ticks[call->wait] -= moved;
    wait_ticks[is_early ? MPI_WAIT_LATE_COMPLETE : MPI_WAIT_EARLY_WAIT] += moved;
}
