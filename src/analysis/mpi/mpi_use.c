/* The analysis: the walk by threads, then steps of all processes that analyse, then tables. */
#include "analysis/mpi/internal.h"
#include "analysis/mpi/rank_replay.h"
#include "base/memory.h"

#include <stdlib.h>

#define STEP_ITEMS ((size_t)1 << 21)

static const struct mpi_exchange alone = {.count = 1, .step_items = STEP_ITEMS};

/* ---- the walk by threads --------------------------------------------------------------------- */

struct mpi_run {
    const struct run *run;
    const struct mpi_exchange *exchange;
    struct mpi_use *kept;                     /* NULL: there are none */
    bool is_replayed;                         /* it is asked for */
    struct vec *messages;                     /* likewise; NULL: they are not */
    struct vec records;                       /* struct rank_record, by trace__threads */
    uint64_t least_message, least_collective; /* ticks */
};

static void *start(struct run *run)
{
    const struct mpi_options *options = run->options;
    struct mpi_run *self = memory__zeroed(1, sizeof *self);
    *self = (struct mpi_run){.run = run,
                             .exchange = options && options->exchange ? options->exchange : &alone,
                             .kept = options && options->kept ? mpi_use__copy(options->kept) : NULL,
                             .records = VEC_OF(struct rank_record)};
    if (options) {
        self->is_replayed = options->is_replayed && self->exchange->count == 1;
        self->messages = self->exchange->count == 1 ? options->messages : NULL;
        self->least_message = trace__ticks(run->trace, options->least_message_ns);
        self->least_collective = trace__ticks(run->trace, options->least_collective_ns);
    }
    return self;
}

/* Processes stand by their serials, as ranks do, but for those that they start. */
static bool is_own(const struct mpi_run *mpi, uint32_t thread)
{
    const struct vec *processes = trace__processes(mpi->run->trace);
    uint32_t serial = trace__serial_of(mpi->run->trace, thread);
    size_t index = VEC_FIRST(process, processes, struct trace_process, process->serial >= serial);
    return mpi_exchange__owner(mpi->exchange, index, processes->count) == mpi->exchange->self;
}

static void *thread(void *self, unsigned lane, uint32_t number)
{
    const struct mpi_run *mpi = self;
    (void)lane;
    return !mpi->kept && is_own(mpi, number) ? mpi_walk__thread(mpi->run->trace, number) : NULL;
}

static void join(void *self, uint32_t number, void *part)
{
    struct mpi_run *mpi = self;
    (void)number;
    struct rank_record record = mpi_walk__take(part);
    if (record.calls.count)
        vec__push(&mpi->records, &record);
    else
        rank_record__free(&record);
}

/* ---- who is where ---------------------------------------------------------------------------- */

struct rank_record *mpi_job__rank(const struct mpi_job *job, uint32_t rank)
{
    return VEC_FIND(&job->records, struct rank_record, rank, rank);
}

uint32_t mpi_job__owner(const struct mpi_job *job, uint32_t rank)
{
    const struct rank_owner *owner = VEC_FIND(&job->owners, struct rank_owner, rank, rank);
    return owner ? owner->owner : MPI_NOBODY;
}

struct mpi_communicator *mpi_job__communicator(const struct mpi_job *job, uint32_t number)
{
    return VEC_FIND(&job->use->communicators, struct mpi_communicator, number, number);
}

static int by_rank(const void *a, const void *b)
{
    const struct rank_owner *left = a, *right = b;
    return ORDER(left->rank, right->rank) ?: ORDER(left->owner, right->owner);
}

static void find_owners(struct mpi_job *job)
{
    job->owners = VEC_OF(struct rank_owner);
    VEC_EACH (record, &job->records, const struct rank_record)
        vec__push(&job->owners, &(struct rank_owner){record->rank, job->exchange->self});
    mpi_job__share(job, &job->owners);
    vec__sort(&job->owners, by_rank);
}

static int by_number(const void *a, const void *b)
{
    const struct mpi_communicator *left = a, *right = b;
    return ORDER(left->number, right->number) ?: ORDER(left->size, right->size);
}

/* Keeps one of each number. */
static void sort_communicators(struct vec *all)
{
    size_t kept = 0;
    vec__sort(all, by_number);
    VEC_EACH (one, all, const struct mpi_communicator)
        if (!kept || VEC_AT(all, struct mpi_communicator, kept - 1)->number != one->number)
            *VEC_AT(all, struct mpi_communicator, kept++) = *one;
    all->count = kept;
}

static void find_communicators(struct mpi_job *job)
{
    struct vec *all = &job->use->communicators;
    VEC_EACH (record, &job->records, const struct rank_record)
        VEC_EACH (member, &record->members, const struct rank_member)
            vec__push(all, &(struct mpi_communicator){.number = member->communicator,
                                                      .size = member->size,
                                                      .kind = member->kind});
    sort_communicators(all);
    mpi_job__share(job, all);
    sort_communicators(all);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void mpi_use__free(void *result)
{
    struct mpi_use *use = result;
    if (!use)
        return;
    vec__free(&use->ranks);
    vec__free(&use->sites);
    vec__free(&use->pairs);
    vec__free(&use->communicators);
    vec__free(&use->rank_sites);
    vec__free(&use->rank_waits);
    rank_replay__free(use->replay);
    free(use);
}

/* What is too short to count is time that the call takes itself. */
static void drop_short_waits(struct mpi_job *job)
{
    VEC_EACH (record, &job->records, const struct rank_record)
        VEC_EACH (call, &record->calls, struct rank_call)
            if (call->wait != MPI_WAIT_NONE &&
                !mpi_job__is_wait(job, mpi_wait__is_collective(call->wait), record->rank,
                                  call->blocker, call->waited)) {
                call->wait = MPI_WAIT_NONE;
                call->blocker = MPI_NOBODY;
                call->waited = 0;
            }
}

/* NULL: not in process 0. */
static struct mpi_use *mpi_use__of(struct mpi_job *job)
{
    job->use = memory__zeroed(1, sizeof *job->use);
    *job->use = (struct mpi_use){.ranks = VEC_OF(struct mpi_rank),
                                 .sites = VEC_OF(struct mpi_site),
                                 .pairs = VEC_OF(struct mpi_pair),
                                 .communicators = VEC_OF(struct mpi_communicator),
                                 .rank_sites = VEC_OF(struct mpi_rank_site),
                                 .rank_waits = VEC_OF(struct mpi_rank_wait),
                                 .block = 1,
                                 .detail_block = 1,
                                 .wall_ns = trace__wall_ns(job->run->trace)};
    find_communicators(job);
    mpi_job__find_hosts(job);
    mpi_job__match(job);
    mpi_job__find_operations(job);
    mpi_job__find_locks(job);
    drop_short_waits(job);
    mpi_job__add_ranks(job);
    mpi_job__find_delays(job);
    mpi_job__gather_tables(job);
    mpi_job__find_doings(job);
    if (job->graph)
        job->use->replay = rank_replay__of(job, job->graph);
    if (job->exchange->self == 0)
        return job->use;
    mpi_use__free(job->use);
    return NULL;
}

/* Whether there are few enough to be replayed. */
static bool can_be_replayed(const struct vec *records)
{
    size_t calls = 0;
    VEC_EACH (record, records, const struct rank_record)
        calls += record->calls.count;
    return calls <= RANKS_REPLAYED_MOST;
}

static void *finish(void *self)
{
    struct mpi_run *mpi = self;
    struct rank_graph graph = {VEC_OF(struct rank_need), VEC_OF(struct rank_come),
                               VEC_OF(struct rank_operation)};
    struct mpi_job job = {.run = mpi->run,
                          .exchange = mpi->exchange,
                          .records = rank_records__of(&mpi->records),
                          .messages = mpi->messages,
                          .least_message = mpi->least_message,
                          .least_collective = mpi->least_collective};
    struct mpi_use *use = mpi->kept;
    job.graph = mpi->is_replayed && can_be_replayed(&job.records) ? &graph : NULL;
    if (!use) {
        find_owners(&job);
        use = job.owners.count ? mpi_use__of(&job) : NULL;
    }
    VEC_EACH (record, &job.records, struct rank_record)
        rank_record__free(record);
    vec__free(&job.records);
    vec__free(&job.owners);
    vec__free(&job.hosts);
    vec__free(&graph.needs);
    vec__free(&graph.comes);
    vec__free(&graph.operations);
    free(mpi);
    return use;
}

const struct analysis mpi_analysis = {.name = "mpi",
                                      .walk = WALK_THREADS,
                                      .start = start,
                                      .thread = thread,
                                      .event = mpi_walk__event,
                                      .end = mpi_walk__end,
                                      .join = join,
                                      .finish = finish,
                                      .free = mpi_use__free};

/* ---- what is asked --------------------------------------------------------------------------- */

const char *mpi_wait__name(unsigned wait)
{
    static const char *const names[MPI_WAITS] = {
        [MPI_WAIT_NONE] = "none",
        [MPI_WAIT_LATE_SENDER] = "late sender",
        [MPI_WAIT_WRONG_ORDER] = "wrong order",
        [MPI_WAIT_LATE_RECEIVER] = "late receiver",
        [MPI_WAIT_BARRIER] = "barrier",
        [MPI_WAIT_ALL] = "all to all",
        [MPI_WAIT_LATE_BROADCAST] = "late broadcast",
        [MPI_WAIT_EARLY_REDUCE] = "early reduce",
        [MPI_WAIT_EARLY_SCAN] = "early scan",
        [MPI_WAIT_END] = "end",
        [MPI_WAIT_FENCE] = "fence",
        [MPI_WAIT_LATE_POST] = "late post",
        [MPI_WAIT_EARLY_WAIT] = "early wait",
        [MPI_WAIT_LATE_COMPLETE] = "late complete",
        [MPI_WAIT_LOCK] = "lock competition",
    };
    return wait < MPI_WAITS ? names[wait] : "?";
}

bool mpi_wait__is_collective(unsigned wait)
{
    return wait >= MPI_WAIT_BARRIER && wait <= MPI_WAIT_FENCE;
}

struct mpi_most mpi_use__most_work(const struct mpi_use *use)
{
    struct mpi_most most = {MPI_NOBODY, 0};
    uint64_t most_ns = 0, sum_ns = 0;
    VEC_EACH (rank, &use->ranks, const struct mpi_rank) {
        sum_ns += rank->work_ns;
        if (rank->work_ns > most_ns) {
            most_ns = rank->work_ns;
            most.rank = rank->rank;
        }
    }
    if (use->ranks.count > 1 && sum_ns > most_ns)
        most.times = (double)most_ns * (double)(use->ranks.count - 1) / (double)(sum_ns - most_ns);
    return most;
}

const struct mpi_rank *mpi_use__latest(const struct mpi_use *use)
{
    const struct mpi_rank *latest = NULL;
    VEC_EACH (rank, &use->ranks, const struct mpi_rank)
        if (rank->delay_ns && (!latest || rank->delay_ns > latest->delay_ns))
            latest = rank;
    return latest;
}
