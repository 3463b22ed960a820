/* All ranks' calls, put together. */
#include "analysis/mpi/internal.h"
#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- the walk by threads --------------------------------------------------------------------- */

struct mpi_run {
    const struct run *run;
    struct vec records; /* struct rank_record, by trace__threads */
};

static void *start(struct run *run)
{
    struct mpi_run *self = memory__zeroed(1, sizeof *self);
    *self = (struct mpi_run){.run = run, .records = VEC_OF(struct rank_record)};
    return self;
}

static void *thread(void *self, unsigned lane, uint32_t number)
{
    const struct mpi_run *mpi = self;
    (void)lane;
    return mpi_walk__thread(mpi->run->trace, number);
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

/* ---- processes ------------------------------------------------------------------------------- */

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
    return ORDER(left->rank, right->rank);
}

static int by_tick(const void *a, const void *b)
{
    const struct rank_post *left = a, *right = b;
    return ORDER(left->tick, right->tick) ?: ORDER(left->call, right->call);
}

static void append(struct vec *into, const struct vec *from)
{
    if (from->count)
        memcpy(vec__extend(into, from->count), from->items, from->count * from->item_bytes);
}

static void append_posts(struct vec *into, struct vec *from, uint32_t first_call)
{
    VEC_EACH (post, from, struct rank_post) {
        post->call += first_call;
        post->done += post->done == NO_CALL ? 0 : first_call;
    }
    append(into, from);
    vec__sort(into, by_tick);
}

/* Another thread of the same process. */
static void add_thread(struct rank_record *into, struct rank_record *other)
{
    uint32_t first = (uint32_t)into->calls.count;
    append(&into->calls, &other->calls);
    append_posts(&into->sends, &other->sends, first);
    append_posts(&into->receives, &other->receives, first);
    append_posts(&into->collectives, &other->collectives, first);
    append(&into->members, &other->members);
    into->callers += other->callers;
    rank_record__free(other);
}

/* Of the threads with calls the processes, by rank; those that know none are left out. */
static struct vec processes_of(struct vec *threads)
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
    vec__sort(&processes, by_rank);
    return processes;
}

struct rank_record *mpi_job__rank(const struct mpi_job *job, uint32_t rank)
{
    return VEC_FIND(&job->records, struct rank_record, rank, rank);
}

void rank_call__waits(struct rank_call *call, uint64_t until, enum mpi_wait wait, uint32_t blocker)
{
    until = tick__earlier(until, call->leave);
    if (until <= call->enter || until - call->enter <= call->waited)
        return;
    call->waited = until - call->enter;
    call->wait = (uint8_t)wait;
    call->blocker = blocker;
}

/* ---- communicators --------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const struct mpi_communicator *left = a, *right = b;
    return ORDER(left->number, right->number);
}

static void find_communicators(struct mpi_job *job)
{
    struct vec all = VEC_OF(struct mpi_communicator);
    VEC_EACH (record, &job->records, const struct rank_record)
        VEC_EACH (member, &record->members, const struct rank_member)
            vec__push(&all, &(struct mpi_communicator){.number = member->communicator,
                                                       .size = member->size});
    vec__sort(&all, by_number);
    VEC_EACH (one, &all, const struct mpi_communicator) {
        const struct vec *kept = &job->use->communicators;
        if (!kept->count ||
            VEC_AT(kept, struct mpi_communicator, kept->count - 1)->number != one->number)
            vec__push(&job->use->communicators, one);
    }
    vec__free(&all);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static uint64_t bytes_of(const struct vec *posts, uint64_t *count)
{
    uint64_t bytes = 0;
    VEC_EACH (post, posts, const struct rank_post) {
        bool is_done = post->done != NO_CALL || post->call != NO_CALL;
        *count += is_done;
        bytes += is_done ? post->bytes : 0;
    }
    return bytes;
}

/* Off the CPU outside of calls, of the thread that called MPI_Init. */
static void add_off(const struct rank_record *record, struct mpi_rank *rank)
{
    const struct rank_call *calls = record->calls.items;
    size_t at = 0;
    VEC_EACH (off, &record->offs, const struct rank_off) {
        while (at < record->main_calls && calls[at].leave <= off->begin)
            at++;
        if (at < record->main_calls && calls[at].enter < off->end)
            continue; /* in a call, or partly so: then it ended there */
        rank->blocked_ns += off->runnable - off->begin;
        rank->no_cpu_ns += off->end - off->runnable;
    }
}

static void add_call(struct mpi_job *job, const struct rank_call *call, bool is_main,
                     struct mpi_rank *rank)
{
    enum heurt_message_family family = message_call__family(call->call);
    rank->calls++;
    job->use->one_sided += family == HEURT_MESSAGE_ONE_SIDED;
    job->use->files += family == HEURT_MESSAGE_FILE;
    if (!is_main)
        return;
    rank->mpi_ns += call->leave - call->enter;
    rank->waited_ns += call->waited;
    rank->wait_ns[call->wait] += call->waited;
}

static void to_ns(const struct trace *trace, uint64_t *first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        first[i] = trace__ns(trace, first[i]);
}

static void add_rank(struct mpi_job *job, const struct rank_record *record)
{
    struct mpi_rank *rank = vec__push(&job->use->ranks, NULL);
    *rank = (struct mpi_rank){
        .rank = record->rank, .process = record->process, .thread = record->thread};
    uint32_t place = 0;
    VEC_EACH (call, &record->calls, const struct rank_call)
        add_call(job, call, place++ < record->main_calls, rank);
    add_off(record, rank);
    rank->life_ns = record->end - record->begin;
    uint64_t other = rank->mpi_ns + rank->blocked_ns + rank->no_cpu_ns;
    rank->work_ns = rank->life_ns > other ? rank->life_ns - other : 0;
    to_ns(job->run->trace, &rank->life_ns, 5);
    to_ns(job->run->trace, &rank->waited_ns, 1);
    to_ns(job->run->trace, rank->wait_ns, MPI_WAITS);
    rank->sent_bytes = bytes_of(&record->sends, &rank->sent);
    rank->received_bytes = bytes_of(&record->receives, &rank->received);
    rank->collectives = record->collectives.count;
    job->use->size = record->size > job->use->size ? record->size : job->use->size;
    job->use->is_ambiguous |= record->callers > 1;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The sums of a place: by what it is called, for its address is another one in each process. */
struct mpi_site_sums {
    struct vec blockers; /* uint64_t, by rank: ticks that were waited for it */
    uint32_t last_rank;
};

static uint64_t site_number(struct mpi_job *job, struct map *numbers, uint32_t process,
                            const struct rank_call *call, uint64_t fresh)
{
    const struct symbol *symbol =
        job->run->symbols ? symbols__get(job->run->symbols, process, call->site) : NULL;
    char *key =
        symbol ? memory__format("%u %s %s %u", call->call, symbol->function,
                                symbol->file ? symbol->file : "", symbol->line)
               : memory__format("%u %u %llx", call->call, process, (unsigned long long)call->site);
    uint64_t number = map__put(numbers, key, strlen(key), fresh);
    free(key);
    return number;
}

static void add_to_site(struct mpi_site *site, struct mpi_site_sums *sums,
                        const struct rank_call *call, uint32_t rank)
{
    uint64_t took = call->leave - call->enter;
    site->count++;
    site->ns += took;
    site->waited_ns += call->waited;
    site->bytes += call->bytes;
    site->wait_ns[call->wait] += call->waited;
    site->waits[call->wait]++;
    site->most_ns = took > site->most_ns ? took : site->most_ns;
    site->ranks += sums->last_rank != rank;
    sums->last_rank = rank;
    if (call->wait != MPI_WAIT_NONE && call->blocker != MPI_NOBODY)
        *VEC_REACH(&sums->blockers, uint64_t, call->blocker) += call->waited;
}

static void finish_site(const struct trace *trace, struct mpi_site *site,
                        const struct mpi_site_sums *sums)
{
    uint32_t rank = 0;
    site->late = MPI_NOBODY;
    VEC_EACH (ticks, &sums->blockers, const uint64_t) {
        if (*ticks > site->late_ns) {
            site->late_ns = *ticks;
            site->late = rank;
        }
        rank++;
    }
    to_ns(trace, &site->ns, 3);
    to_ns(trace, site->wait_ns, MPI_WAITS);
    to_ns(trace, &site->late_ns, 1);
}

static int by_waited(const void *a, const void *b)
{
    const struct mpi_site *left = a, *right = b;
    return ORDER(right->waited_ns, left->waited_ns) ?: ORDER(right->ns, left->ns)
               ?: ORDER(left->site, right->site);
}

static void find_sites(struct mpi_job *job)
{
    struct map by_name = {0}, by_address = {0};
    struct vec sums = VEC_OF(struct mpi_site_sums);
    VEC_EACH (record, &job->records, const struct rank_record)
        VEC_EACH (call, &record->calls, const struct rank_call) {
            const uint64_t address[] = {record->process, call->site, call->call};
            uint64_t number = map__get(&by_address, address, sizeof address);
            if (number == MAP_ABSENT) {
                number = site_number(job, &by_name, record->process, call, sums.count);
                map__put(&by_address, address, sizeof address, number);
            }
            if (number == sums.count) {
                vec__push(&sums, &(struct mpi_site_sums){VEC_OF(uint64_t), MPI_NOBODY});
                vec__push(&job->use->sites, &(struct mpi_site){.process = record->process,
                                                               .site = call->site,
                                                               .call = call->call});
            }
            add_to_site(VEC_AT(&job->use->sites, struct mpi_site, number),
                        VEC_AT(&sums, struct mpi_site_sums, number), call, record->rank);
        }
    for (size_t i = 0; i < sums.count; i++) {
        finish_site(job->run->trace, VEC_AT(&job->use->sites, struct mpi_site, i),
                    VEC_AT(&sums, struct mpi_site_sums, i));
        vec__free(&VEC_AT(&sums, struct mpi_site_sums, i)->blockers);
    }
    vec__sort(&job->use->sites, by_waited);
    vec__free(&sums);
    map__free(&by_name);
    map__free(&by_address);
}

static void add_times_of_communicators(struct mpi_job *job)
{
    VEC_EACH (record, &job->records, const struct rank_record)
        VEC_EACH (post, &record->collectives, const struct rank_post) {
            struct mpi_communicator *in = VEC_FIND(
                &job->use->communicators, struct mpi_communicator, number, post->communicator);
            if (!in || post->done == NO_CALL)
                continue;
            const struct rank_call *call = rank_record__call(record, post->done);
            in->ns += trace__ns(job->run->trace, call->leave - call->enter);
            in->waited_ns += trace__ns(job->run->trace, call->waited);
        }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static struct mpi_use *mpi_use__of(struct mpi_job *job)
{
    job->use = memory__zeroed(1, sizeof *job->use);
    *job->use = (struct mpi_use){.ranks = VEC_OF(struct mpi_rank),
                                 .sites = VEC_OF(struct mpi_site),
                                 .pairs = VEC_OF(struct mpi_pair),
                                 .communicators = VEC_OF(struct mpi_communicator),
                                 .wall_ns = trace__wall_ns(job->run->trace)};
    find_communicators(job);
    mpi_job__match(job);
    mpi_job__find_operations(job);
    VEC_EACH (record, &job->records, const struct rank_record)
        add_rank(job, record);
    find_sites(job);
    add_times_of_communicators(job);
    mpi_job__find_delays(job);
    return job->use;
}

static void *finish(void *self)
{
    struct mpi_run *mpi = self;
    struct mpi_job job = {.run = mpi->run, .records = processes_of(&mpi->records)};
    struct mpi_use *use = job.records.count ? mpi_use__of(&job) : NULL;
    VEC_EACH (record, &job.records, struct rank_record)
        rank_record__free(record);
    vec__free(&job.records);
    vec__free(&mpi->records);
    free(mpi);
    return use;
}

static void mpi_use__free(void *result)
{
    struct mpi_use *use = result;
    if (!use)
        return;
    vec__free(&use->ranks);
    vec__free(&use->sites);
    vec__free(&use->pairs);
    vec__free(&use->communicators);
    free(use);
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
    };
    return wait < MPI_WAITS ? names[wait] : "?";
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
