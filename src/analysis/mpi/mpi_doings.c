/* What ranks did outside of MPI, by function: CPU time as samples tell it, and what they were
 * blocked for, by the call that blocked. A function goes by its name in all ranks; of each rank the
 * one is kept that took most beyond what it took the others on the average: that is what this rank
 * does while others wait for it. */
#include "analysis/callsite/program_frame.h"
#include "analysis/mpi/internal.h"
#include "base/map.h"
#include "base/memory.h"
#include "format/sampled_lines.h"

#include <stdlib.h>

#define OF_LIFE 100u /* a part of it: what took less is nothing that others wait for */

/* A function's time in one rank. Goes to process 0. */
struct doing_row {
    uint64_t high, low;         /* the function's name, in all processes */
    uint64_t site, ns, most_ns; /* site: where in it most was, so long */
    uint32_t rank, unused;
};

/* ---- of one rank ----------------------------------------------------------------------------- */

static bool is_in_mpi(const struct rank_record *record, uint64_t tick)
{
    const struct rank_call *calls = record->calls.items;
    size_t behind = FIRST_WHERE(i, record->main_calls, calls[i].enter > tick);
    return behind && calls[behind - 1].leave > tick;
}

static int by_thread(const void *a, const void *b)
{
    const struct rank_record *left = *(const struct rank_record *const *)a,
                             *right = *(const struct rank_record *const *)b;
    return ORDER(left->thread, right->thread);
}

/* CPU time outside of MPI, of the threads that called MPI_Init. */
static void add_samples(struct mpi_job *job)
{
    const struct trace *trace = job->run->trace;
    struct sample_threads *threads = sample_threads__new(trace);
    struct vec order = VEC_OF(struct rank_record *);
    VEC_EACH (record, &job->records, struct rank_record)
        vec__push(&order, &record);
    vec__sort(&order, by_thread);
    VEC_EACH (sample, trace__samples(trace), const struct heurt_sample) {
        uint32_t thread = sample_threads__of(threads, sample);
        size_t at = VEC_FIRST(one, &order, struct rank_record *, (*one)->thread >= thread);
        struct rank_record *record =
            at < order.count ? *VEC_AT(&order, struct rank_record *, at) : NULL;
        if (record && record->thread == thread && !is_in_mpi(record, sample__tick(trace, sample)))
            vec__push(&record->doings,
                      &(struct rank_doing){sample->instruction, sample->weight_ns});
    }
    vec__free(&order);
    sample_threads__free(threads);
}

static int by_site(const void *a, const void *b)
{
    const struct rank_doing *left = a, *right = b;
    return ORDER(left->site, right->site);
}

/* One of each site. */
static void join_doings(struct vec *doings)
{
    size_t kept = 0;
    vec__sort(doings, by_site);
    VEC_EACH (one, doings, const struct rank_doing) {
        struct rank_doing *last = VEC_AT(doings, struct rank_doing, kept ? kept - 1 : 0);
        if (kept && last->site == one->site)
            last->ns += one->ns;
        else
            *VEC_AT(doings, struct rank_doing, kept++) = *one;
    }
    doings->count = kept;
}

/* FNV-1a. */
static uint64_t hash_of(const char *text, uint64_t hash)
{
    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return (hash ^ '/') * 0x100000001b3u;
}

static struct doing_row row_of(const struct mpi_job *job, const struct rank_record *record,
                               const struct rank_doing *doing)
{
    struct doing_row row = {.site = doing->site,
                            .ns = doing->ns,
                            .most_ns = doing->ns,
                            .rank = record->rank,
                            .high = record->process,
                            .low = doing->site};
    const struct symbol *symbol =
        job->run->symbols ? symbols__get(job->run->symbols, record->process, doing->site) : NULL;
    const struct symbol *of = symbol ? program_frame__inlined(symbol) : NULL;
    of = of ? of : symbol;
    if (of) {
        row.high = hash_of(of->file, hash_of(of->function, 0xcbf29ce484222325u));
        row.low = hash_of(of->file, hash_of(of->function, 0x84222325cbf29ceu));
    }
    return row;
}

/* ---- of all ---------------------------------------------------------------------------------- */

static int by_function(const void *a, const void *b)
{
    const struct doing_row *left = a, *right = b;
    return ORDER(left->high, right->high) ?: ORDER(left->low, right->low)
               ?: ORDER(left->rank, right->rank) ?: ORDER(right->most_ns, left->most_ns)
               ?: ORDER(left->site, right->site);
}

static bool is_one_function(const struct doing_row *a, const struct doing_row *b)
{
    return a->high == b->high && a->low == b->low;
}

/* One row a function and rank: where most of it was. */
static void join_rows(struct vec *rows)
{
    size_t kept = 0;
    vec__sort(rows, by_function);
    VEC_EACH (row, rows, const struct doing_row) {
        struct doing_row *last = VEC_AT(rows, struct doing_row, kept ? kept - 1 : 0);
        if (kept && is_one_function(last, row) && last->rank == row->rank)
            last->ns += row->ns;
        else
            *VEC_AT(rows, struct doing_row, kept++) = *row;
    }
    rows->count = kept;
}

static void gather_own(struct mpi_job *job, const struct rank_record *record, struct vec *rows)
{
    struct vec own = VEC_OF(struct doing_row);
    uint64_t least_ns = trace__ns(job->run->trace, record->end - record->begin) / OF_LIFE;
    VEC_EACH (doing, &record->doings, const struct rank_doing) {
        struct doing_row row = row_of(job, record, doing);
        vec__push(&own, &row);
    }
    join_rows(&own);
    VEC_EACH (row, &own, const struct doing_row)
        if (row->ns >= least_ns)
            vec__push(rows, row);
    vec__free(&own);
}

/* Of one function, in the ranks that have it. */
static void compare(struct mpi_use *use, const struct doing_row *rows, size_t count)
{
    uint64_t sum_ns = 0, others = use->ranks.count - 1;
    for (size_t i = 0; i < count; i++)
        sum_ns += rows[i].ns;
    for (size_t i = 0; i < count; i++) {
        struct mpi_rank *rank = VEC_FIND(&use->ranks, struct mpi_rank, rank, rows[i].rank);
        uint64_t others_ns = others ? (sum_ns - rows[i].ns) / others : 0;
        uint64_t more_ns = rows[i].ns > others_ns ? rows[i].ns - others_ns : 0;
        if (rank && more_ns > rank->did_ns - rank->did_others_ns) {
            rank->did_site = rows[i].site;
            rank->did_ns = rows[i].ns;
            rank->did_others_ns = others_ns;
        }
    }
}

void mpi_job__find_doings(struct mpi_job *job)
{
    struct vec rows = VEC_OF(struct doing_row);
    add_samples(job);
    VEC_EACH (record, &job->records, struct rank_record) {
        join_doings(&record->doings);
        gather_own(job, record, &rows);
    }
    mpi_job__gather(job, &rows);
    vec__sort(&rows, by_function);
    const struct doing_row *all = rows.items;
    for (size_t i = 0, end; i < rows.count; i = end) {
        for (end = i + 1; end < rows.count && is_one_function(&all[i], &all[end]);)
            end++;
        compare(job->use, all + i, end - i);
    }
    vec__free(&rows);
}
