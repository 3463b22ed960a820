/* Collective operations: the n-th that a rank comes to on a communicator is the n-th of all its
 * members. Formulas: docs/mpi.md. Ranks tell one process of each operation when they came to it,
 * which tells them whom they waited for; some operations at a time. */
#include "analysis/mpi/internal.h"

/* One rank at one operation. */
struct participant {
    uint64_t enter;                /* of its call */
    uint64_t blocked;              /* likewise, of the one that it blocks in; UINT64_MAX: in none */
    uint32_t communicator, number; /* of the operation on it */
    uint32_t place, rank;          /* of the rank in the communicator, in MPI_COMM_WORLD */
    uint32_t root, operation;
    uint32_t call; /* index of that which it blocks in, */
    uint32_t came; /* and of that in which it came */
};

struct operation_wait {
    uint64_t until;
    uint32_t rank, call, blocker;
    enum mpi_wait wait;
};

static int by_operation(const void *a, const void *b)
{
    const struct participant *left = a, *right = b;
    return ORDER(left->communicator, right->communicator) ?: ORDER(left->number, right->number)
               ?: ORDER(left->place, right->place) ?: ORDER(left->rank, right->rank);
}

/* ---- one operation --------------------------------------------------------------------------- */

struct operation {
    const struct mpi_job *job;
    const struct participant *all;
    size_t count;
    struct vec *waits;
};

/* Whoever came last of the first count. */
static const struct participant *last_of(const struct operation *operation, size_t count)
{
    const struct participant *last = operation->all;
    for (size_t i = 1; i < count; i++)
        if (operation->all[i].enter > last->enter)
            last = &operation->all[i];
    return last;
}

static const struct participant *root_of(const struct operation *operation)
{
    for (size_t i = 0; i < operation->count; i++)
        if (operation->all[i].rank == operation->all[i].root)
            return &operation->all[i];
    return NULL;
}

static void wait_for(const struct operation *operation, const struct participant *waits,
                     const struct participant *other, enum mpi_wait wait)
{
    if (other != waits && waits->blocked < other->enter)
        vec__push(
            &operation->waits[mpi_job__owner(operation->job, waits->rank)],
            &(struct operation_wait){other->enter, waits->rank, waits->call, other->rank, wait});
}

static void all_wait(const struct operation *operation, const struct participant *other,
                     enum mpi_wait wait)
{
    for (size_t i = 0; i < operation->count; i++)
        wait_for(operation, &operation->all[i], other, wait);
}

static void find_early_scans(const struct operation *operation)
{
    const struct participant *last = operation->all;
    for (size_t i = 1; i < operation->count; i++) {
        wait_for(operation, &operation->all[i], last, MPI_WAIT_EARLY_SCAN);
        if (operation->all[i].enter > last->enter)
            last = &operation->all[i];
    }
}

static void find_waits(const struct operation *operation)
{
    const struct participant *root = root_of(operation),
                             *last = last_of(operation, operation->count);
    switch (message_call__family(operation->all->operation)) {
    case HEURT_MESSAGE_BARRIER:
        all_wait(operation, last, MPI_WAIT_BARRIER);
        return;
    case HEURT_MESSAGE_FENCE:
        all_wait(operation, last, MPI_WAIT_FENCE);
        return;
    case HEURT_MESSAGE_ALL:
        all_wait(operation, last, MPI_WAIT_ALL);
        return;
    case HEURT_MESSAGE_FROM_ROOT:
        if (root)
            all_wait(operation, root, MPI_WAIT_LATE_BROADCAST);
        return;
    case HEURT_MESSAGE_TO_ROOT:
        if (root)
            wait_for(operation, root, last, MPI_WAIT_EARLY_REDUCE);
        return;
    case HEURT_MESSAGE_PREFIX:
        find_early_scans(operation);
        return;
    default:
        return;
    }
}

/* Who must have come before others may go on; false: that is not known of such operations. */
static bool needs_of(const struct operation *operation, struct rank_operation *of, bool *is_of_root)
{
    enum heurt_message_family family = message_call__family(operation->all->operation);
    *of = (struct rank_operation){(uint32_t)operation->count, MPI_NOBODY, UINT32_MAX, 0};
    *is_of_root = family == HEURT_MESSAGE_TO_ROOT;
    if (family == HEURT_MESSAGE_FROM_ROOT)
        of->root = operation->all->root;
    return family == HEURT_MESSAGE_BARRIER || family == HEURT_MESSAGE_FENCE ||
           family == HEURT_MESSAGE_ALL || family == HEURT_MESSAGE_FROM_ROOT || *is_of_root;
}

static void add_to_graph(struct rank_graph *graph, const struct operation *operation)
{
    struct rank_operation of;
    bool is_of_root, is_known = needs_of(operation, &of, &is_of_root);
    uint32_t number = (uint32_t)graph->operations.count;
    vec__push(&graph->operations, &of);
    for (size_t i = 0; i < operation->count; i++) {
        const struct participant *one = &operation->all[i];
        vec__push(&graph->comes, &(struct rank_come){one->rank, one->came, number});
        if (is_known && one->call != NO_CALL && (!is_of_root || one->rank == one->root))
            vec__push(&graph->needs,
                      &(struct rank_need){one->rank, one->call, MPI_NOBODY, 0, number, 0, 0});
    }
}

static void take_operation(struct mpi_job *job, const struct operation *operation)
{
    struct mpi_communicator *in = mpi_job__communicator(job, operation->all->communicator);
    bool is_whole = in && in->size == operation->count;
    job->use->whole_operations += is_whole;
    job->use->partial_operations += !is_whole;
    if (message_call__family(operation->all->operation) == HEURT_MESSAGE_NEIGHBOURS)
        job->use->neighbours++;
    else if (is_whole)
        find_waits(operation);
    if (is_whole && job->graph)
        add_to_graph(job->graph, operation);
    if (in)
        in->operations++;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static int by_communicator(const void *a, const void *b)
{
    const struct rank_post *left = a, *right = b;
    return ORDER(left->communicator, right->communicator) ?: ORDER(left->tick, right->tick)
               ?: ORDER(left->call, right->call) ?: ORDER(left->order, right->order);
}

static const struct rank_member *member_of(const struct rank_record *record, uint32_t communicator)
{
    VEC_EACH (member, &record->members, const struct rank_member)
        if (member->communicator == communicator)
            return member;
    return NULL;
}

/* Operations of one communicator take turns at the processes. */
static uint32_t operation_owner(const struct mpi_job *job, uint32_t communicator, uint32_t number)
{
    return (communicator + number) % job->exchange->count;
}

static void give(const struct mpi_job *job, const struct rank_record *record,
                 const struct rank_post *post, uint32_t number, uint32_t place, struct vec *given)
{
    uint64_t blocked =
        post->done == NO_CALL ? UINT64_MAX : rank_record__call(record, post->done)->enter;
    vec__push(&given[operation_owner(job, post->communicator, number)],
              &(struct participant){rank_record__call(record, post->call)->enter, blocked,
                                    post->communicator, number, place, record->rank, post->peer,
                                    post->operation, post->done, post->call});
}

/* The operations from number first to last on each communicator. */
static void give_operations(const struct mpi_job *job, const struct rank_record *record,
                            uint32_t first, uint32_t last, struct vec *given)
{
    const struct rank_post *posts = record->collectives.items;
    size_t count = record->collectives.count;
    for (size_t i = 0, end; i < count; i = end) {
        uint32_t communicator = posts[i].communicator;
        const struct rank_member *member = member_of(record, communicator);
        end = FIRST_WHERE(at, count, posts[at].communicator > communicator);
        for (size_t number = first; number <= last && i + number < end; number++)
            give(job, record, &posts[i + number], (uint32_t)number,
                 member ? member->rank : MPI_NOBODY, given);
    }
}

static void take_operations(struct mpi_job *job, struct vec *participants, struct vec *waits)
{
    const struct participant *all = participants->items;
    vec__sort(participants, by_operation);
    for (size_t i = 0, end; i < participants->count; i = end) {
        for (end = i + 1; end < participants->count && all[end].number == all[i].number &&
                          all[end].communicator == all[i].communicator;)
            end++;
        take_operation(job, &(struct operation){job, all + i, end - i, waits});
    }
}

static void step(struct mpi_job *job, uint32_t first, uint32_t last)
{
    struct vec *given = mpi_given__of(job, sizeof(struct participant));
    struct vec participants = VEC_OF(struct participant);
    VEC_EACH (record, &job->records, const struct rank_record)
        give_operations(job, record, first, last, given);
    mpi_job__swap(job, given, &participants);
    mpi_given__free(job, given);
    struct vec *waits = mpi_given__of(job, sizeof(struct operation_wait));
    struct vec waited = VEC_OF(struct operation_wait);
    take_operations(job, &participants, waits);
    vec__free(&participants);
    mpi_job__swap(job, waits, &waited);
    mpi_given__free(job, waits);
    VEC_EACH (one, &waited, const struct operation_wait)
        rank_call__waits(rank_record__call(mpi_job__rank(job, one->rank), one->call), one->until,
                         one->wait, one->blocker);
    vec__free(&waited);
}

/* MPI_Finalize waits for all ranks, in all that matters. */
struct job_end {
    uint64_t enter;
    uint32_t rank;
};

static bool is_end(const struct rank_record *record, const struct rank_call *call)
{
    return rank_record__place(record, call)->call == HEURT_CALL_FINALIZE;
}

static void add_end(struct mpi_job *job)
{
    struct rank_graph *graph = job->graph;
    struct rank_operation of = {0, MPI_NOBODY, UINT32_MAX, 0};
    uint32_t number = (uint32_t)graph->operations.count;
    VEC_EACH (record, &job->records, const struct rank_record)
        for (uint32_t i = 0; i < record->main_calls; i++)
            if (is_end(record, rank_record__call(record, i))) {
                of.members++;
                vec__push(&graph->comes, &(struct rank_come){record->rank, i, number});
                vec__push(&graph->needs,
                          &(struct rank_need){record->rank, i, MPI_NOBODY, 0, number, 0, 0});
            }
    vec__push(&graph->operations, &of);
}

static void find_ends(struct mpi_job *job)
{
    struct vec ends = VEC_OF(struct job_end);
    struct job_end last = {0, MPI_NOBODY};
    VEC_EACH (record, &job->records, const struct rank_record)
        VEC_EACH (call, &record->calls, const struct rank_call)
            if (is_end(record, call))
                vec__push(&ends, &(struct job_end){call->enter, record->rank});
    mpi_job__share(job, &ends);
    VEC_EACH (end, &ends, const struct job_end)
        if (end->enter > last.enter || (end->enter == last.enter && end->rank < last.rank))
            last = *end;
    VEC_EACH (record, &job->records, const struct rank_record)
        VEC_EACH (call, &record->calls, struct rank_call)
            if (is_end(record, call))
                rank_call__waits(call, last.enter, MPI_WAIT_END, last.rank);
    vec__free(&ends);
    if (job->graph)
        add_end(job);
}

void mpi_job__find_operations(struct mpi_job *job)
{
    uint64_t own = 0, most = 0;
    struct vec counts = VEC_OF(uint64_t);
    VEC_EACH (record, &job->records, struct rank_record) {
        vec__sort(&record->collectives, by_communicator);
        own += record->collectives.count;
        most = tick__later(most, record->collectives.count);
    }
    vec__push(&counts, &most);
    mpi_job__share(job, &counts);
    VEC_EACH (count, &counts, const uint64_t)
        most = tick__later(most, *count);
    vec__free(&counts);
    uint64_t all = mpi_job__sum(job, own);
    uint64_t steps = all / ((uint64_t)job->exchange->step_items * job->exchange->count) + 1;
    uint64_t a_step = (most + steps - 1) / steps;
    for (uint64_t i = 0; i < most; i += a_step)
        step(job, (uint32_t)i, (uint32_t)(i + a_step - 1));
    find_ends(job);
}
