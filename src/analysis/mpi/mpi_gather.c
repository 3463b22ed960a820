/* The tables: of each process's ranks, and of all parts the whole, in process 0. */
#include "analysis/mpi/internal.h"
#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void to_ns(const struct trace *trace, uint64_t *first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        first[i] = trace__ns(trace, first[i]);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* Signals are no messages. */
static uint64_t bytes_of(const struct vec *posts, uint64_t *count)
{
    uint64_t bytes = 0;
    VEC_EACH (post, posts, const struct rank_post) {
        bool is_counted = !rank_post__is_signal(post) || post->tag == HEURT_SIGNAL_ACCESS;
        *count += is_counted;
        bytes += is_counted ? post->bytes : 0;
    }
    return bytes;
}

static void add_accesses(struct mpi_job *job, const struct rank_record *record)
{
    VEC_EACH (access, &record->accesses, const struct rank_post) {
        struct mpi_communicator *window = mpi_job__communicator(job, access->communicator);
        struct mpi_pair *pair = mpi_use__pair(job->use, record->rank, access->peer);
        pair->accesses++;
        pair->access_bytes += access->bytes;
        if (window) {
            window->messages++;
            window->bytes += access->bytes;
        }
    }
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

static void add_call(struct mpi_job *job, const struct rank_record *record,
                     const struct rank_call *call, bool is_main, struct mpi_rank *rank)
{
    enum heurt_message_family family = rank_record__family(record, call);
    rank->calls++;
    job->use->one_sided += family == HEURT_MESSAGE_ONE_SIDED || family == HEURT_MESSAGE_FENCE;
    job->use->files += family == HEURT_MESSAGE_FILE;
    if (!is_main)
        return;
    rank->mpi_ns += call->leave - call->enter;
    rank->waited_ns += call->waited;
    rank->wait_ns[call->wait] += call->waited;
}

/* From MPI_Init to MPI_Finalize: what begins and ends MPI is nobody's work. */
static void add_span(const struct rank_record *record, struct mpi_rank *rank)
{
    const struct rank_call *calls = record->calls.items;
    uint64_t begin = record->begin, end = record->end;
    for (uint32_t i = 0; i < record->main_calls; i++) {
        uint32_t call = rank_record__place(record, &calls[i])->call;
        if (call == HEURT_CALL_INIT)
            begin = calls[i].leave;
        if (call == HEURT_CALL_FINALIZE)
            end = calls[i].enter;
        rank->is_finalized |= call == HEURT_CALL_FINALIZE;
    }
    rank->span_ns = end > begin ? end - begin : 0;
    for (uint32_t i = 0; i < record->main_calls; i++)
        if (calls[i].enter >= begin && calls[i].leave <= end) {
            rank->span_mpi_ns += calls[i].leave - calls[i].enter;
            rank->span_waited_ns += calls[i].waited;
        }
}

static void add_rank(struct mpi_job *job, const struct rank_record *record)
{
    struct mpi_rank *rank = vec__push(&job->use->ranks, NULL);
    *rank = (struct mpi_rank){
        .rank = record->rank, .process = record->process, .thread = record->thread};
    uint32_t number = 0;
    VEC_EACH (call, &record->calls, const struct rank_call)
        add_call(job, record, call, number++ < record->main_calls, rank);
    VEC_EACH (place, &record->places, const struct rank_place)
        rank->calls += place->repeated;
    VEC_EACH (split, &record->splits, const struct rank_split)
        if (split->call < record->main_calls)
            rank_split__move(split, rank_record__call(record, split->call), rank->wait_ns);
    add_off(record, rank);
    add_span(record, rank);
    rank->life_ns = record->end - record->begin;
    uint64_t other = rank->mpi_ns + rank->blocked_ns + rank->no_cpu_ns;
    rank->work_ns = rank->life_ns > other ? rank->life_ns - other : 0;
    rank->sent_bytes = bytes_of(&record->sends, &rank->sent);
    rank->received_bytes = bytes_of(&record->receives, &rank->received);
    rank->collectives = record->collectives.count;
    rank->access_bytes = bytes_of(&record->accesses, &rank->accesses);
    add_accesses(job, record);
    if (record->size != MPI_NOBODY && record->size > job->use->size)
        job->use->size = record->size;
    job->use->is_ambiguous |= record->callers > 1;
}

static void add_times_of_communicators(struct mpi_job *job, const struct rank_record *record)
{
    VEC_EACH (post, &record->collectives, const struct rank_post) {
        struct mpi_communicator *in = mpi_job__communicator(job, post->communicator);
        if (!in || post->done == NO_CALL)
            continue;
        const struct rank_call *call = rank_record__call(record, post->done);
        in->ns += call->leave - call->enter;
        in->waited_ns += call->waited;
    }
}

/* What is behind this needs calls alone. */
static void free_posts(struct rank_record *record)
{
    vec__free(&record->sends);
    vec__free(&record->receives);
    vec__free(&record->collectives);
    vec__free(&record->accesses);
    vec__free(&record->locks);
}

void mpi_job__add_ranks(struct mpi_job *job)
{
    VEC_EACH (record, &job->records, struct rank_record) {
        add_rank(job, record);
        add_times_of_communicators(job, record);
        free_posts(record);
    }
}

static int by_rank(const void *a, const void *b)
{
    const struct mpi_rank *left = a, *right = b;
    return ORDER(left->rank, right->rank) ?: ORDER(left->process, right->process);
}

static void gather_ranks(struct mpi_job *job)
{
    mpi_job__gather(job, &job->use->ranks);
    vec__sort(&job->use->ranks, by_rank);
    VEC_EACH (rank, &job->use->ranks, struct mpi_rank) {
        to_ns(job->run->trace, &rank->life_ns, 5);
        to_ns(job->run->trace, &rank->waited_ns, 1);
        to_ns(job->run->trace, rank->wait_ns, MPI_WAITS);
        to_ns(job->run->trace, &rank->delay_ns, 7);
    }
}

/* ---- places ---------------------------------------------------------------------------------- */

/* A place is what it is called, for its address is another one in each process; this says which
 * one a row is of, in all of these. */
struct site_key {
    uint64_t high, low;
};

/* A place's row in one process that analyses; the first rank that calls there. */
struct site_part {
    struct site_key key;
    uint32_t rank, place;
    struct mpi_site site;
};

/* Calls at a place waited for that rank so long. */
struct site_blocker {
    struct site_key key;
    uint32_t rank;
    uint64_t ticks;
};

/* FNV-1a, of two beginnings. */
static uint64_t hash_of(const char *text, uint64_t hash)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static struct site_key key_of(const struct mpi_job *job, const struct rank_record *record,
                              const struct rank_place *place)
{
    const struct symbol *symbol =
        job->run->symbols ? symbols__get(job->run->symbols, record->process, place->site) : NULL;
    char *text = symbol ? memory__format("%u %s %s %u", place->call, symbol->function,
                                         symbol->file ? symbol->file : "", symbol->line)
                        : memory__format("%u %u %llx", place->call, record->process,
                                         (unsigned long long)place->site);
    struct site_key key = {hash_of(text, 0xcbf29ce484222325u), hash_of(text, 0x84222325cbf29ceu)};
    free(text);
    return key;
}

/* Rows of ranks that go to process 0, of the sites with these keys. */
struct keyed_site {
    struct site_key key;
    struct mpi_rank_site row;
};
struct keyed_wait {
    struct site_key key;
    struct mpi_rank_wait row;
};

/* The rows of one process. */
struct site_table {
    struct vec parts;           /* struct site_part */
    struct vec blockers;        /* struct vec of uint64_t, ticks by place of the owner; by parts */
    struct map numbers;         /* struct site_key → index of parts */
    struct mpi_details details; /* of these places */
};

static void add_to_site(struct mpi_site *site, const struct rank_call *call)
{
    uint64_t took = call->leave - call->enter;
    site->count++;
    site->ns += took;
    site->waited_ns += call->waited;
    site->wait_ns[call->wait] += call->waited;
    site->waits[call->wait]++;
    site->most_ns = tick__later(site->most_ns, took);
}

static uint32_t site_number(struct mpi_job *job, struct site_table *table,
                            const struct rank_record *record, uint32_t place)
{
    const struct rank_place *at = VEC_AT(&record->places, struct rank_place, place);
    struct site_key key = key_of(job, record, at);
    uint64_t number = map__put(&table->numbers, &key, sizeof key, table->parts.count);
    if (number == table->parts.count) {
        vec__push(&table->parts, &(struct site_part){key, record->rank, place,
                                                     (struct mpi_site){.process = record->process,
                                                                       .site = at->site,
                                                                       .call = at->call}});
        vec__push(&table->blockers, &VEC_OF(uint64_t));
    }
    struct site_part *part = VEC_AT(&table->parts, struct site_part, number);
    part->site.bytes += at->bytes;
    part->site.count += at->repeated;
    return (uint32_t)number;
}

/* Of one rank. */
static void add_sites(struct mpi_job *job, struct site_table *table,
                      const struct rank_record *record)
{
    uint32_t *numbers = memory__zeroed(record->places.count + 1, sizeof *numbers);
    for (uint32_t i = 0; i < record->places.count; i++)
        numbers[i] = site_number(job, table, record, i);
    struct vec seen = VEC_OF(uint32_t);
    for (uint32_t i = 0; i < record->places.count; i++)
        vec__push(&seen, &numbers[i]);
    vec__sort(&seen, order__u32);
    for (size_t i = 0; i < seen.count; i++) {
        uint32_t number = *VEC_AT(&seen, uint32_t, i);
        if (i == 0 || number != *VEC_AT(&seen, uint32_t, i - 1))
            VEC_AT(&table->parts, struct site_part, number)->site.ranks++;
    }
    vec__free(&seen);
    mpi_details__add(&table->details, record, numbers);
    VEC_EACH (call, &record->calls, const struct rank_call) {
        uint32_t number = numbers[call->place];
        add_to_site(&VEC_AT(&table->parts, struct site_part, number)->site, call);
        if (call->wait == MPI_WAIT_NONE)
            continue;
        const struct rank_owner *owner =
            VEC_FIND(&job->owners, struct rank_owner, rank, call->blocker);
        if (owner)
            *VEC_REACH(VEC_AT(&table->blockers, struct vec, number), uint64_t,
                       (size_t)(owner - VEC_AT(&job->owners, struct rank_owner, 0))) +=
                call->waited;
    }
    VEC_EACH (split, &record->splits, const struct rank_split) {
        const struct rank_call *call = rank_record__call(record, split->call);
        struct site_part *part = VEC_AT(&table->parts, struct site_part, numbers[call->place]);
        rank_split__move(split, call, part->site.wait_ns);
    }
    free(numbers);
}

static struct vec blockers_of(struct mpi_job *job, struct site_table *table)
{
    struct vec all = VEC_OF(struct site_blocker);
    for (size_t i = 0; i < table->parts.count; i++) {
        struct vec *ticks = VEC_AT(&table->blockers, struct vec, i);
        for (size_t j = 0; j < ticks->count; j++)
            if (*VEC_AT(ticks, uint64_t, j))
                vec__push(&all,
                          &(struct site_blocker){VEC_AT(&table->parts, struct site_part, i)->key,
                                                 VEC_AT(&job->owners, struct rank_owner, j)->rank,
                                                 *VEC_AT(ticks, uint64_t, j)});
        vec__free(ticks);
    }
    vec__free(&table->blockers);
    map__free(&table->numbers);
    return all;
}

static int by_key(const struct site_key *a, const struct site_key *b)
{
    return ORDER(a->high, b->high) ?: ORDER(a->low, b->low);
}

static int by_key_and_rank(const void *a, const void *b)
{
    const struct site_part *left = a, *right = b;
    return by_key(&left->key, &right->key) ?: ORDER(left->rank, right->rank)
               ?: ORDER(left->place, right->place);
}

static int by_key_and_blocker(const void *a, const void *b)
{
    const struct site_blocker *left = a, *right = b;
    return by_key(&left->key, &right->key) ?: ORDER(left->rank, right->rank);
}

static void join_sites(struct mpi_site *into, const struct mpi_site *other)
{
    into->ranks += other->ranks;
    into->count += other->count;
    into->ns += other->ns;
    into->waited_ns += other->waited_ns;
    into->bytes += other->bytes;
    into->most_ns = tick__later(into->most_ns, other->most_ns);
    for (unsigned i = 0; i < MPI_WAITS; i++) {
        into->wait_ns[i] += other->wait_ns[i];
        into->waits[i] += other->waits[i];
    }
}

/* The rank that was waited for most; of equal ones the first. */
static void find_latest(struct mpi_site *site, const struct site_key *key,
                        const struct vec *blockers)
{
    const struct site_blocker *all = blockers->items;
    size_t i = FIRST_WHERE(at, blockers->count, by_key(&all[at].key, key) >= 0);
    site->late = MPI_NOBODY;
    while (i < blockers->count && by_key(&all[i].key, key) == 0) {
        uint32_t rank = all[i].rank;
        uint64_t ticks = 0;
        for (; i < blockers->count && by_key(&all[i].key, key) == 0 && all[i].rank == rank; i++)
            ticks += all[i].ticks;
        if (ticks > site->late_ns) {
            site->late_ns = ticks;
            site->late = rank;
        }
    }
}

/* A row, and what it is called. */
struct named_site {
    struct mpi_site row;
    struct site_key key;
};

static int by_waited(const void *a, const void *b)
{
    const struct mpi_site *left = &((const struct named_site *)a)->row,
                          *right = &((const struct named_site *)b)->row;
    return ORDER(right->waited_ns, left->waited_ns) ?: ORDER(right->ns, left->ns)
               ?: ORDER(left->site, right->site) ?: ORDER(left->call, right->call);
}

/* Where a site stands. */
struct site_index {
    struct site_key key;
    uint32_t index;
};

static int by_index_key(const void *a, const void *b)
{
    const struct site_index *left = a, *right = b;
    return by_key(&left->key, &right->key);
}

static uint32_t index_of(const struct vec *indexes, const struct site_key *key)
{
    const struct site_index *all = indexes->items;
    return all[FIRST_WHERE(at, indexes->count, by_key(&all[at].key, key) >= 0)].index;
}

static struct vec sites_of(struct mpi_job *job, const struct vec *all_parts,
                           const struct vec *blockers)
{
    struct vec sites = VEC_OF(struct named_site);
    const struct site_part *parts = all_parts->items;
    for (size_t i = 0, end; i < all_parts->count; i = end) {
        struct named_site *named =
            vec__push(&sites, &(struct named_site){parts[i].site, parts[i].key});
        struct mpi_site *site = &named->row;
        for (end = i + 1; end < all_parts->count && by_key(&parts[end].key, &parts[i].key) == 0;)
            join_sites(site, &parts[end++].site);
        find_latest(site, &parts[i].key, blockers);
        to_ns(job->run->trace, &site->ns, 3);
        to_ns(job->run->trace, site->wait_ns, MPI_WAITS);
        to_ns(job->run->trace, &site->late_ns, 1);
    }
    vec__sort(&sites, by_waited);
    return sites;
}

/* Of what is behind keys, in process 0. */
static void take_details(struct mpi_job *job, struct mpi_details *details, const struct vec *sites,
                         const struct vec *waits, const struct vec *indexes)
{
    struct mpi_use *use = job->use;
    VEC_EACH (keyed, sites, const struct keyed_site)
        ((struct mpi_rank_site *)vec__push(&details->sites, &keyed->row))->site =
            index_of(indexes, &keyed->key);
    VEC_EACH (keyed, waits, const struct keyed_wait)
        ((struct mpi_rank_wait *)vec__push(&details->waits, &keyed->row))->site =
            index_of(indexes, &keyed->key);
    mpi_details__join(details);
    use->rank_sites = details->sites;
    use->rank_waits = details->waits;
    use->detail_block = details->block;
    VEC_EACH (row, &use->rank_sites, struct mpi_rank_site) {
        to_ns(job->run->trace, &row->ns, 3);
        to_ns(job->run->trace, &row->before_ns, 1);
    }
    VEC_EACH (row, &use->rank_waits, struct mpi_rank_wait)
        to_ns(job->run->trace, &row->ns, 1);
}

static uint32_t most_of(struct mpi_job *job, uint32_t value)
{
    struct vec values = VEC_OF(uint32_t);
    vec__push(&values, &value);
    mpi_job__gather(job, &values);
    VEC_EACH (one, &values, const uint32_t)
        value = *one > value ? *one : value;
    vec__free(&values);
    return value;
}

/* What each rank did there: its places' numbers become keys, which are the same in all processes,
 * and these indexes of sites. Frees the table's. */
static void gather_details(struct mpi_job *job, struct mpi_details *own, const struct vec *keys,
                           const struct vec *indexes)
{
    struct vec sites = VEC_OF(struct keyed_site), waits = VEC_OF(struct keyed_wait);
    struct mpi_details all = mpi_details__of();
    mpi_details__join(own);
    all.block = most_of(job, own->block);
    VEC_EACH (row, &own->sites, const struct mpi_rank_site)
        vec__push(&sites, &(struct keyed_site){*VEC_AT(keys, struct site_key, row->site), *row});
    VEC_EACH (row, &own->waits, const struct mpi_rank_wait)
        vec__push(&waits, &(struct keyed_wait){*VEC_AT(keys, struct site_key, row->site), *row});
    vec__free(&own->sites);
    vec__free(&own->waits);
    mpi_job__gather(job, &sites);
    mpi_job__gather(job, &waits);
    if (job->exchange->self == 0)
        take_details(job, &all, &sites, &waits, indexes);
    vec__free(&sites);
    vec__free(&waits);
}

static void gather_sites(struct mpi_job *job)
{
    struct site_table table = {
        VEC_OF(struct site_part), VEC_OF(struct vec), {0}, mpi_details__of()};
    struct vec keys = VEC_OF(struct site_key), indexes = VEC_OF(struct site_index);
    VEC_EACH (record, &job->records, const struct rank_record)
        add_sites(job, &table, record);
    struct vec blockers = blockers_of(job, &table);
    VEC_EACH (part, &table.parts, const struct site_part)
        vec__push(&keys, &part->key);
    mpi_job__gather(job, &table.parts);
    mpi_job__gather(job, &blockers);
    vec__sort(&table.parts, by_key_and_rank);
    vec__sort(&blockers, by_key_and_blocker);
    struct vec sites = sites_of(job, &table.parts, &blockers);
    VEC_EACH (site, &sites, const struct named_site) {
        vec__push(&indexes, &(struct site_index){site->key, (uint32_t)job->use->sites.count});
        vec__push(&job->use->sites, &site->row);
    }
    vec__sort(&indexes, by_index_key);
    gather_details(job, &table.details, &keys, &indexes);
    vec__free(&keys);
    vec__free(&indexes);
    vec__free(&sites);
    vec__free(&table.parts);
    vec__free(&blockers);
}

/* ---- communicators, pairs, sums -------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const struct mpi_communicator *left = a, *right = b;
    return ORDER(left->number, right->number);
}

/* Each process has a row of each. */
static void gather_communicators(struct mpi_job *job)
{
    struct vec *all = &job->use->communicators;
    mpi_job__gather(job, all);
    vec__sort(all, by_number);
    size_t kept = 0;
    VEC_EACH (one, all, const struct mpi_communicator) {
        struct mpi_communicator *last = VEC_AT(all, struct mpi_communicator, kept ? kept - 1 : 0);
        if (!kept || last->number != one->number) {
            *VEC_AT(all, struct mpi_communicator, kept++) = *one;
            continue;
        }
        last->operations += one->operations;
        last->ns += one->ns;
        last->waited_ns += one->waited_ns;
        last->messages += one->messages;
        last->bytes += one->bytes;
    }
    all->count = kept;
    VEC_EACH (one, all, struct mpi_communicator)
        to_ns(job->run->trace, &one->ns, 2);
}

static void gather_pairs(struct mpi_job *job)
{
    job->use->block = most_of(job, job->use->block);
    mpi_job__gather(job, &job->use->pairs);
    mpi_use__join_pairs(job->use);
    VEC_EACH (pair, &job->use->pairs, struct mpi_pair) {
        to_ns(job->run->trace, &pair->late_sender_ns, 2);
        pair->least_bytes = pair->messages ? pair->least_bytes : 0; /* accesses alone */
    }
}

static void gather_sums(struct mpi_job *job)
{
    struct mpi_use *use = job->use;
    uint64_t *const sums[] = {
        &use->matched,          &use->unmatched_sends,    &use->unmatched_receives, &use->cancelled,
        &use->whole_operations, &use->partial_operations, &use->one_sided,          &use->files,
        &use->neighbours,       &use->mismatched};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        *sums[i] = mpi_job__sum(job, *sums[i]);
    to_ns(job->run->trace, &use->clock_error_ns, 1);
    use->is_ambiguous = mpi_job__sum(job, use->is_ambiguous) > 0;
    struct vec sizes = VEC_OF(uint32_t);
    vec__push(&sizes, &use->size);
    mpi_job__share(job, &sizes);
    VEC_EACH (size, &sizes, const uint32_t)
        use->size = *size > use->size ? *size : use->size;
    vec__free(&sizes);
}

void mpi_job__gather_tables(struct mpi_job *job)
{
    gather_ranks(job);
    gather_sites(job);
    gather_communicators(job);
    gather_pairs(job);
    gather_sums(job);
}
