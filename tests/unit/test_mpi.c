/* Waits of ranks of which all is known. Ticks are ns; traces begin at 1000. */
#include "analysis/analysis.h"
#include "analysis/mpi/exchange.h"
#include "analysis/mpi/mpi.h"
#include "analysis/mpi/mpi_efficiency.h"
#include "analysis/mpi/rank_replay.h"
#include "scene.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WORLD 77u
#define ANY HEURT_MESSAGE_ANY
#define RANKS 3

static struct mpi_use *use;

static void analyse(struct scene *scene)
{
    struct error error;
    scene__profile(scene);
    mpi_analysis.free(use);
    use = NULL;
    assert_int_equal(run__one(scene->trace, NULL, &mpi_analysis, NULL, (void **)&use, &error), 0);
}

static void enter(struct scene *scene, uint32_t rank, uint64_t tick, uint32_t call, uint64_t site)
{
    PUT(scene, rank, tick, HEURT_EVENT_MESSAGE_CALL, HEURT_SITE(site, call), WORLD, 0);
}

static void leave(struct scene *scene, uint32_t rank, uint64_t tick)
{
    PUT(scene, rank, tick, HEURT_EVENT_MESSAGE_CALL | 1, 0);
}

static void sent(struct scene *scene, uint32_t rank, uint64_t tick, uint32_t request, uint32_t to,
                 uint32_t tag, uint64_t bytes)
{
    PUT(scene, rank, tick, HEURT_EVENT_MESSAGE_SENT, HEURT_MESSAGE(request, WORLD),
        HEURT_MESSAGE(to, tag), bytes);
}

static void awaited(struct scene *scene, uint32_t rank, uint64_t tick, uint32_t request,
                    uint32_t from, uint32_t tag)
{
    PUT(scene, rank, tick, HEURT_EVENT_MESSAGE_AWAITED, HEURT_MESSAGE(request, WORLD),
        HEURT_MESSAGE(from, tag), 100);
}

static void done(struct scene *scene, uint32_t rank, uint64_t tick, uint32_t request, uint32_t from,
                 uint32_t tag, uint64_t bytes)
{
    PUT(scene, rank, tick, HEURT_EVENT_MESSAGE_DONE, HEURT_MESSAGE(request, 0),
        HEURT_MESSAGE(from, tag), bytes);
}

/* A whole blocking call. */
static void sends(struct scene *scene, uint32_t rank, uint64_t from, uint64_t until, uint32_t to,
                  uint32_t tag, uint64_t bytes)
{
    enter(scene, rank, from, HEURT_CALL_SEND, 0x5000);
    sent(scene, rank, from, 0, to, tag, bytes);
    leave(scene, rank, until);
}

static void receives(struct scene *scene, uint32_t rank, uint64_t from, uint64_t until,
                     uint32_t request, uint32_t sender, uint32_t tag, uint64_t bytes)
{
    enter(scene, rank, from, HEURT_CALL_RECV, 0x6000);
    awaited(scene, rank, from, request, sender, tag);
    done(scene, rank, until, request, sender, tag, bytes);
    leave(scene, rank, until);
}

static void collective(struct scene *scene, uint32_t rank, uint64_t from, uint64_t until,
                       uint32_t call, uint32_t root)
{
    enter(scene, rank, from, call, 0x7000);
    PUT(scene, rank, from, HEURT_EVENT_MESSAGE_COLLECTIVE, HEURT_MESSAGE(0, WORLD),
        HEURT_MESSAGE(root, call), 8);
    leave(scene, rank, until);
}

/* Each rank is a process with one thread. */
static void begin_of(struct scene *scene, uint32_t ranks)
{
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (rank)
            scene__process(scene, rank, 1000 + rank, HEURT_NO_SERIAL);
        scene->process_of[rank] = rank;
        scene__start(scene, rank, 1000);
        enter(scene, rank, 1000, HEURT_CALL_INIT, 0x4000);
        PUT(scene, rank, 1000, HEURT_EVENT_MESSAGE_RANK, HEURT_MESSAGE(rank, ranks),
            HEURT_MESSAGE(HEURT_MESSAGE_MPICH, 0));
        PUT(scene, rank, 1000, HEURT_EVENT_MESSAGE_COMMUNICATOR, HEURT_MESSAGE(ranks, WORLD),
            HEURT_MESSAGE(rank, 0), 0);
        leave(scene, rank, 1100);
    }
}

static void begin(struct scene *scene)
{
    begin_of(scene, RANKS);
}

static void end(struct scene *scene)
{
    for (uint32_t rank = 0; rank < RANKS; rank++)
        scene__end(scene, rank, 10000);
    analyse(scene);
    assert_int_equal(use->ranks.count, RANKS);
}

static const struct mpi_rank *rank_at(uint32_t rank)
{
    return VEC_AT(&use->ranks, struct mpi_rank, rank);
}

/* Rank 0 waits 1,500 for rank 1; rank 1 then 700 for rank 2 to await what it sends. */
static void late_ranks(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    receives(scene, 0, 2000, 3600, 1, 1, 5, 40);
    sends(scene, 1, 3500, 3550, 0, 5, 40);
    sends(scene, 1, 4000, 4900, 2, 6, 10);
    receives(scene, 2, 4700, 4900, 1, 1, 6, 10);
    end(scene);
    assert_int_equal(use->matched, 2);
    assert_int_equal(rank_at(0)->wait_ns[MPI_WAIT_LATE_SENDER], 1500);
    assert_int_equal(rank_at(1)->wait_ns[MPI_WAIT_LATE_RECEIVER], 700);
    assert_int_equal(rank_at(2)->waited_ns, 0);
    assert_int_equal(rank_at(1)->delay_ns, 1500);
    assert_int_equal(rank_at(2)->delay_ns, 700);
    assert_int_equal(rank_at(0)->mpi_ns, 1700);
    assert_int_equal(rank_at(0)->life_ns, 9000);
    assert_int_equal(rank_at(0)->work_ns, 7300);
    assert_int_equal(rank_at(1)->sent_bytes, 50);
}

/* Rank 0 waits for rank 1 from 2,000 to 4,000, which waits for rank 2 from 2,500 to 3,500: of rank
 * 0's wait rank 2 has these 1,000, and what rank 1 waits itself; rank 1 the rest but for its call.
 */
static void chains(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    receives(scene, 0, 2000, 4100, 1, 1, 5, 1);
    receives(scene, 1, 2500, 3600, 1, 2, 5, 1);
    sends(scene, 1, 4000, 4050, 0, 5, 1);
    sends(scene, 2, 3500, 3550, 1, 5, 1);
    end(scene);
    assert_int_equal(rank_at(0)->waited_ns, 2000);
    assert_int_equal(rank_at(1)->waited_ns, 1000);
    assert_int_equal(rank_at(2)->delay_ns, 2000);
    assert_int_equal(rank_at(1)->delay_ns, 900);
    assert_int_equal(mpi_use__latest(use)->rank, 2);
}

/* Rank 2 is late, 1 waits for it and is late for rank 0 by that; in the next turn rank 0 waits for
 * 1 while that one works as always: rank 2's delay, too. */
static void delay_arrives_later(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    sends(scene, 1, 2000, 2010, 0, 5, 1);
    receives(scene, 0, 2100, 2120, 1, 1, 5, 1);
    receives(scene, 1, 2010, 3520, 1, 2, 5, 1); /* 1,490 */
    sends(scene, 2, 3500, 3510, 1, 5, 1);
    sends(scene, 1, 4520, 4530, 0, 5, 1);
    receives(scene, 0, 3120, 4540, 2, 1, 5, 1); /* 1,400: 1 works in 1,000 of these */
    end(scene);
    assert_int_equal(rank_at(0)->waited_ns, 1400);
    assert_int_equal(rank_at(1)->waited_ns, 1490);
    assert_int_equal(rank_at(2)->delay_ns, 1490 + 1400);
    assert_int_equal(rank_at(1)->delay_ns, 0);
}

/* Each works when the other has: nobody is late, but their turns are their own. */
static void turns(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    for (uint64_t turn = 0, tick = 2000; turn < 6; turn++, tick += 500) {
        uint32_t from = turn % 2, to = 1 - from;
        if (turn)
            sends(scene, from, tick, tick + 10, to, 5, 1);
        receives(scene, from, tick + 10, tick + 510, (uint32_t)turn + 1, to, 5, 1);
    }
    end(scene);
    /* The first wait is from 2,010 to 2,500, all others of 490. */
    assert_int_equal(rank_at(0)->waited_ns + rank_at(1)->waited_ns, 5 * 490);
    assert_int_equal(rank_at(2)->delay_ns, 0);
    assert_in_range(rank_at(0)->delay_ns, 2 * 450, 2 * 490);
    assert_in_range(rank_at(1)->delay_ns, 3 * 450, 3 * 490);
}

/* Two messages with one tag, awaited before they come in the order of posting, whatever is waited
 * for first; one from any. */
static void order_of_posting(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    enter(scene, 0, 2000, HEURT_CALL_IRECV, 0x6000);
    awaited(scene, 0, 2000, 1, ANY, ANY);
    leave(scene, 0, 2010);
    enter(scene, 0, 2020, HEURT_CALL_IRECV, 0x6010);
    awaited(scene, 0, 2020, 2, 1, 5);
    leave(scene, 0, 2030);
    enter(scene, 0, 2100, HEURT_CALL_WAIT, 0x6020);
    done(scene, 0, 4000, 2, 1, 5, 20);
    leave(scene, 0, 4000);
    enter(scene, 0, 4100, HEURT_CALL_WAIT, 0x6030);
    done(scene, 0, 4110, 1, 1, 5, 10);
    leave(scene, 0, 4110);
    sends(scene, 1, 3000, 3010, 0, 5, 10);
    sends(scene, 1, 3900, 3910, 0, 5, 20);
    end(scene);
    assert_int_equal(use->matched, 2);
    assert_int_equal(use->unmatched_sends + use->unmatched_receives, 0);
    /* The second was waited for from 2,100 to 3,900, while the first one was not sent before. */
    assert_int_equal(rank_at(0)->wait_ns[MPI_WAIT_LATE_SENDER], 1800);
    assert_int_equal(rank_at(0)->wait_ns[MPI_WAIT_WRONG_ORDER], 0);
}

/* What came is not what was sent. */
static void lengths_differ(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    receives(scene, 0, 2000, 3600, 1, 1, 5, 40);
    sends(scene, 1, 3500, 3550, 0, 5, 40);
    receives(scene, 0, 4000, 4100, 2, 1, 5, 41);
    sends(scene, 1, 4050, 4060, 0, 5, 40);
    end(scene);
    assert_int_equal(use->matched, 2);
    assert_int_equal(use->mismatched, 1);
}

static void wrong_order(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    sends(scene, 1, 1500, 1510, 0, 7, 1);
    sends(scene, 1, 4000, 4010, 0, 8, 1);
    receives(scene, 0, 2000, 4020, 1, 1, 8, 1);
    receives(scene, 0, 4030, 4040, 2, 1, 7, 1);
    end(scene);
    assert_int_equal(rank_at(0)->wait_ns[MPI_WAIT_WRONG_ORDER], 2000);
}

static void operations(void **state)
{
    static const uint64_t comes[RANKS] = {2000, 2600, 2300};
    struct scene *scene = *state;
    begin(scene);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        uint64_t since = comes[rank];
        collective(scene, rank, since, 2700, HEURT_CALL_BARRIER, ANY);
        collective(scene, rank, since + 1000, 3700, HEURT_CALL_BCAST, 1);
        collective(scene, rank, since + 2000, 4700, HEURT_CALL_REDUCE, 0);
        collective(scene, rank, since + 3000, 5700, HEURT_CALL_SCAN, ANY);
    }
    end(scene);
    assert_int_equal(use->whole_operations, 4);
    assert_int_equal(use->partial_operations, 0);
    assert_int_equal(rank_at(0)->wait_ns[MPI_WAIT_BARRIER], 600);
    assert_int_equal(rank_at(2)->wait_ns[MPI_WAIT_BARRIER], 300);
    assert_int_equal(rank_at(0)->wait_ns[MPI_WAIT_LATE_BROADCAST], 600);
    assert_int_equal(rank_at(1)->waited_ns, 0);
    assert_int_equal(rank_at(0)->wait_ns[MPI_WAIT_EARLY_REDUCE], 600);
    assert_int_equal(rank_at(2)->wait_ns[MPI_WAIT_EARLY_REDUCE], 0);
    assert_int_equal(rank_at(2)->wait_ns[MPI_WAIT_EARLY_SCAN], 300);
    assert_int_equal(rank_at(0)->wait_ns[MPI_WAIT_EARLY_SCAN], 0);
}

/* Of each rank at its places: what it waited for whom, and how long it was outside of MPI before.
 * Shorter waits than are asked for are none. */
static void ranks_at_places(void **state)
{
    struct scene *scene = *state;
    struct mpi_options options = {.least_message_ns = 1501};
    struct error error;
    begin(scene);
    receives(scene, 0, 2000, 3600, 1, 1, 5, 40);
    sends(scene, 1, 3500, 3550, 0, 5, 40);
    end(scene);
    assert_int_equal(use->rank_waits.count, 1);
    const struct mpi_rank_wait *wait = VEC_AT(&use->rank_waits, struct mpi_rank_wait, 0);
    assert_int_equal(wait->rank, 0);
    assert_int_equal(wait->other, 1);
    assert_int_equal(wait->wait, MPI_WAIT_LATE_SENDER);
    assert_int_equal(wait->ns, 1500);
    const struct mpi_rank_site *at = VEC_AT(&use->rank_sites, struct mpi_rank_site, 0);
    assert_int_equal(at->site, wait->site);
    assert_int_equal(at->rank, 0);
    assert_int_equal(at->waited_ns, 1500);
    assert_int_equal(at->before_ns, 900);
    mpi_analysis.free(use);
    use = NULL;
    assert_int_equal(run__one(scene->trace, NULL, &mpi_analysis, &options, (void **)&use, &error),
                     0);
    assert_int_equal(use->rank_waits.count, 0);
    assert_int_equal(rank_at(0)->waited_ns, 0);
}

/* Ranks are 8,900 between MPI_Init and their end; rank 0 is 1,600 of these in MPI, and waits 1,500;
 * rank 1 sends for 50. */
static void efficiencies(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    receives(scene, 0, 2000, 3600, 1, 1, 5, 40);
    sends(scene, 1, 3500, 3550, 0, 5, 40);
    end(scene);
    struct mpi_efficiency of = mpi_use__efficiency(use, &(struct mpi_regions){0});
    assert_int_equal(of.elapsed_ns, 8900);
    assert_true(of.balance > 0.938 && of.balance < 0.939); /* (7300 + 8850 + 8900) / 3 / 8900 */
    assert_true(of.parallel > 0.938 && of.parallel < 0.939);
    assert_true(of.hybrid != of.hybrid);
    /* Teams of 2 work 3,000 in regions of 2,000: 25,050 - 2,000 + 3,000 of 2 × 3 × 8,900. */
    of = mpi_use__efficiency(use, &(struct mpi_regions){2000, 3000, 2});
    assert_true(of.hybrid > 0.487 && of.hybrid < 0.489);
}

/* One rank did not come: nothing is said of the operation. A message that nobody sent. */
static void parts_missing(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    collective(scene, 0, 2000, 2700, HEURT_CALL_BARRIER, ANY);
    collective(scene, 1, 2600, 2700, HEURT_CALL_BARRIER, ANY);
    receives(scene, 0, 3000, 3100, 1, 2, 9, 1);
    sends(scene, 1, 3000, 3100, 2, 9, 1);
    end(scene);
    assert_int_equal(use->partial_operations, 1);
    assert_int_equal(rank_at(0)->waited_ns, 0);
    assert_int_equal(use->unmatched_sends, 1);
    assert_int_equal(use->unmatched_receives, 1);
}

/* ---- several processes ----------------------------------------------------------------------- */

#define MANY 9
#define PROCESSES_MOST 12

/* Processes that analyse, as threads of this one: each lays down what it gives, and takes when all
 * have. */
struct board {
    pthread_barrier_t barrier;
    struct vec *given[PROCESSES_MOST];
};

struct analyser {
    struct mpi_exchange exchange;
    struct board *board;
    const struct scene *scene;
    void *bytes; /* of the tables; NULL: not in process 0 */
    size_t size;
};

static void swap(const struct mpi_exchange *exchange, struct vec *given, struct vec *taken)
{
    struct board *board = exchange->engine;
    board->given[exchange->self] = given;
    pthread_barrier_wait(&board->barrier);
    for (uint32_t from = 0; from < exchange->count; from++) {
        const struct vec *items = &board->given[from][exchange->self];
        if (items->count)
            memcpy(vec__extend(taken, items->count), items->items,
                   items->count * items->item_bytes);
    }
    pthread_barrier_wait(&board->barrier);
    for (uint32_t to = 0; to < exchange->count; to++)
        given[to].count = 0;
}

static void *analyse_part(void *self)
{
    struct analyser *analyser = self;
    struct mpi_options options = {.exchange = &analyser->exchange};
    struct mpi_use *found = NULL;
    struct trace *trace;
    struct error error;
    if (trace__open(analyser->scene->directory, &trace, &error) < 0)
        return NULL;
    run__one(trace, NULL, &mpi_analysis, &options, (void **)&found, &error);
    if (found)
        analyser->bytes = mpi_use__bytes(found, trace, &analyser->size);
    mpi_analysis.free(found);
    trace__close(trace);
    return NULL;
}

/* The tables that so many processes find. free() them. */
static void *tables_of(const struct scene *scene, uint32_t count, size_t step_items, size_t *size)
{
    struct board board;
    struct analyser analysers[PROCESSES_MOST];
    pthread_t threads[PROCESSES_MOST];
    pthread_barrier_init(&board.barrier, NULL, count);
    for (uint32_t i = 0; i < count; i++) {
        analysers[i] =
            (struct analyser){{i, count, step_items, swap, &board}, &board, scene, NULL, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, analyse_part, &analysers[i]), 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(analysers[i].bytes != NULL, i == 0);
    }
    pthread_barrier_destroy(&board.barrier);
    *size = analysers[0].size;
    return analysers[0].bytes;
}

/* 0 … bound - 1, the same in each run. */
static uint32_t chance__below(uint64_t *chance, uint32_t bound)
{
    *chance = *chance * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*chance >> 33) % bound);
}

/* A step of ranks that send to others, wait for them, or come to an operation, each later or
 * sooner by chance. */
static void random_step(struct scene *scene, uint64_t *ticks, uint64_t *chance)
{
    static const uint32_t operations_of[] = {HEURT_CALL_BARRIER, HEURT_CALL_BCAST,
                                             HEURT_CALL_REDUCE, HEURT_CALL_SCAN,
                                             HEURT_CALL_ALLREDUCE};
    uint32_t from = chance__below(chance, MANY),
             to = (from + 1 + chance__below(chance, MANY - 1)) % MANY;
    uint32_t tag = chance__below(chance, 2);
    switch (chance__below(chance, 3)) {
    case 0: /* all come */
        tag = operations_of[chance__below(chance, 5)];
        for (uint32_t rank = 0; rank < MANY; rank++) {
            uint64_t since = ticks[rank] + chance__below(chance, 500);
            ticks[rank] = since + 1 + chance__below(chance, 900);
            collective(scene, rank, since, ticks[rank], tag, from);
        }
        return;
    default:
        ticks[from] += chance__below(chance, 300);
        sends(scene, from, ticks[from], ticks[from] + 700, to, tag, tag + 1);
        ticks[from] += 700;
        ticks[to] += chance__below(chance, 300);
        receives(scene, to, ticks[to], ticks[to] + 600, (uint32_t)ticks[to], from, tag, tag + 1);
        ticks[to] += 600;
        return;
    }
}

/* The tables of so many processes are the same as of one. free() what it returns. */
static void *same_tables(const struct scene *scene, size_t *size)
{
    static const uint32_t counts[] = {1, 2, 3, 7, 12};
    size_t other_size;
    void *whole = tables_of(scene, 1, 1u << 20, size);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        void *parts = tables_of(scene, counts[i], 7, &other_size);
        assert_int_equal(other_size, *size);
        assert_memory_equal(parts, whole, *size);
        free(parts);
    }
    return whole;
}

/* Neighbours in a ring exchange messages, 60 times. All work about as long, but for one: its delay
 * runs from neighbour to neighbour, and at the front others wait for who is as fast as always. */
static void ring(void **state)
{
    struct scene *scene = *state;
    uint64_t ticks[MANY], sent_at[MANY], chance = 7, delayed = 0, waited = 0;
    const uint32_t late = 4;
    size_t size;
    begin_of(scene, MANY);
    for (uint32_t rank = 0; rank < MANY; rank++)
        ticks[rank] = 1100;
    for (uint32_t turn = 0, request = 1; turn < 60; turn++, request += 2) {
        for (uint32_t rank = 0; rank < MANY; rank++) {
            uint32_t left = (rank + MANY - 1) % MANY, right = (rank + 1) % MANY;
            sent_at[rank] = ticks[rank] += 1000 + chance__below(&chance, 10) + 500 * (rank == late);
            enter(scene, rank, ticks[rank], HEURT_CALL_IRECV, 0x6000);
            awaited(scene, rank, ticks[rank], request, left, 5);
            awaited(scene, rank, ticks[rank], request + 1, right, 5);
            leave(scene, rank, ticks[rank]);
            sends(scene, rank, ticks[rank], ticks[rank], left, 5, 1);
            sends(scene, rank, ticks[rank], ticks[rank], right, 5, 1);
            enter(scene, rank, ticks[rank], HEURT_CALL_WAITALL, 0x6010);
        }
        for (uint32_t rank = 0; rank < MANY; rank++) {
            uint32_t left = (rank + MANY - 1) % MANY, right = (rank + 1) % MANY;
            for (uint32_t side = 0; side < 2; side++) {
                uint64_t sent = sent_at[side ? right : left];
                ticks[rank] = sent > ticks[rank] ? sent : ticks[rank];
            }
            ticks[rank] += 20;
            done(scene, rank, ticks[rank], request, left, 5, 1);
            done(scene, rank, ticks[rank], request + 1, right, 5, 1);
            leave(scene, rank, ticks[rank]);
        }
    }
    for (uint32_t rank = 0; rank < MANY; rank++)
        scene__end(scene, rank, 2000000);
    analyse(scene);
    for (uint32_t rank = 0; rank < MANY; rank++) {
        delayed += rank_at(rank)->delay_ns;
        waited += rank_at(rank)->waited_ns;
    }
    assert_true(waited > 60 * 500 * (MANY - 1) / 2);
    assert_true(delayed <= waited && delayed * 100 >= waited * 95);
    assert_true(rank_at(late)->delay_ns * 100 >= waited * 95);
    free(same_tables(scene, &size));
}

static void any_number_of_processes(void **state)
{
    struct scene *scene = *state;
    uint64_t ticks[MANY], chance = 20;
    size_t size;
    begin_of(scene, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        ticks[i] = 2000;
    for (int i = 0; i < 400; i++)
        random_step(scene, ticks, &chance);
    for (uint32_t rank = 0; rank < MANY; rank++)
        scene__end(scene, rank, 2000000);
    analyse(scene);
    void *whole = same_tables(scene, &size);
    assert_true(use->matched > 100 && use->whole_operations > 50);
    assert_true(mpi_use__latest(use)->delay_ns > 1000);
    struct mpi_use *again = mpi_use__of_bytes(whole, size, scene->trace);
    assert_non_null(again);
    assert_int_equal(again->matched, use->matched);
    mpi_analysis.free(again);
    assert_null(mpi_use__of_bytes(whole, size - 1, scene->trace));
    free(whole);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static void on_host(struct scene *scene, uint32_t rank, uint32_t host, uint64_t error)
{
    struct heurt_host_clock clock = {.rank = rank,
                                     .size = RANKS,
                                     .host = host,
                                     .reference = 1,
                                     .hosts = 2,
                                     .tick = host == 1 ? 0 : 1000,
                                     .reference_tick = host == 1 ? 0 : 1000,
                                     .error_ticks = error};
    assert_int_equal(trace_writer__define(scene->writer, scene->process_of[rank],
                                          HEURT_DEFINITION_CLOCK, &clock, sizeof clock),
                     0);
}

/* Ranks 1 and 2 are on another host, whose clock is 30 late: what they receive from rank 0 comes
 * before it was sent, and what rank 1 sends on then, too. */
static void clocks_are_repaired(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        on_host(scene, rank, 1 + (rank > 0), rank ? 40 : 0);
    sends(scene, 0, 2000, 2005, 1, 5, 10);
    receives(scene, 1, 1900, 1980, 1, 0, 5, 10);
    sends(scene, 1, 1981, 1983, 0, 6, 10);
    receives(scene, 0, 2010, 2020, 1, 1, 6, 10);
    sends(scene, 0, 3000, 3010, 1, 7, 10);
    receives(scene, 1, 2975, 3000, 2, 0, 7, 10);
    sends(scene, 1, 5000, 5010, 2, 8, 10);
    receives(scene, 2, 4990, 5020, 1, 1, 8, 10);
    end(scene);
    assert_int_equal(use->hosts, 2);
    assert_int_equal(use->clock_error_ns, 40);
    assert_int_equal(use->compared_once, 2);
    assert_int_equal(use->reversed, 1);
    assert_int_equal(use->reversed_left, 0);
    assert_int_equal(use->matched, 4);
    /* From 1,900 until 2,000; 25 is less than the clocks may be apart; on one host 10 is a wait. */
    assert_int_equal(rank_at(1)->wait_ns[MPI_WAIT_LATE_SENDER], 100);
    assert_int_equal(rank_at(2)->wait_ns[MPI_WAIT_LATE_SENDER], 10);
}

/* A repair makes the next one necessary, on the rank that is sent to. */
static void repairs_go_on(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        on_host(scene, rank, 1 + rank, rank ? 40 : 0);
    sends(scene, 0, 2000, 2005, 1, 5, 10);
    receives(scene, 1, 1900, 1970, 1, 0, 5, 10);
    sends(scene, 1, 1972, 1975, 2, 6, 10);
    receives(scene, 2, 1800, 1990, 1, 1, 6, 10);
    end(scene);
    assert_int_equal(use->hosts, 3);
    assert_int_equal(use->clock_error_ns, 80);
    assert_int_equal(use->reversed, 1);
    assert_int_equal(use->reversed_left, 0);
    assert_int_equal(rank_at(1)->wait_ns[MPI_WAIT_LATE_SENDER], 100);
    assert_int_equal(rank_at(2)->wait_ns[MPI_WAIT_LATE_SENDER], 1972 + 30 - 1800);
}

/* ---- one-sided ------------------------------------------------------------------------------- */

static uint64_t at_sites(uint32_t call, enum mpi_wait wait)
{
    uint64_t ns = 0;
    VEC_EACH (site, &use->sites, const struct mpi_site)
        ns += site->call == call ? site->wait_ns[wait] : 0;
    return ns;
}

static void fences(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    collective(scene, 0, 2000, 3000, HEURT_CALL_WIN_FENCE, ANY);
    collective(scene, 1, 2300, 3000, HEURT_CALL_WIN_FENCE, ANY);
    collective(scene, 2, 2900, 3000, HEURT_CALL_WIN_FENCE, ANY);
    end(scene);
    assert_int_equal(rank_at(0)->wait_ns[MPI_WAIT_FENCE], 900);
    assert_int_equal(rank_at(1)->wait_ns[MPI_WAIT_FENCE], 600);
    assert_int_equal(rank_at(2)->waited_ns, 0);
    assert_int_equal(use->one_sided, 3);
}

/* Rank 1 exposes its memory, rank 0 accesses it once. */
struct exposure {
    uint64_t post, wait, wait_end, start, put, put_end, complete;
};

static void exposes(struct scene *scene, uint32_t request, struct exposure at)
{
    enter(scene, 1, at.post, HEURT_CALL_WIN_POST, 0x8000);
    sent(scene, 1, at.post, 0, 0, HEURT_SIGNAL_POST, 0);
    leave(scene, 1, at.post + 10);
    enter(scene, 1, at.wait, HEURT_CALL_WIN_WAIT, 0x8100);
    awaited(scene, 1, at.wait, request, 0, HEURT_SIGNAL_COMPLETE);
    done(scene, 1, at.wait_end, request, 0, HEURT_SIGNAL_COMPLETE, 0);
    leave(scene, 1, at.wait_end);
    enter(scene, 0, at.start, HEURT_CALL_WIN_START, 0x8200);
    awaited(scene, 0, at.start, request, 1, HEURT_SIGNAL_POST);
    leave(scene, 0, at.start + 10);
    enter(scene, 0, at.put, HEURT_CALL_PUT, 0x8300);
    sent(scene, 0, at.put, 0, 1, HEURT_SIGNAL_ACCESS, 8);
    leave(scene, 0, at.put_end);
    enter(scene, 0, at.complete, HEURT_CALL_WIN_COMPLETE, 0x8400);
    sent(scene, 0, at.complete, 0, 1, HEURT_SIGNAL_COMPLETE, 0);
    done(scene, 0, at.complete + 10, request, 1, HEURT_SIGNAL_POST, 0);
    leave(scene, 0, at.complete + 10);
}

/* In the rows of ranks, places, and whom they waited for. */
static uint64_t details_of(uint32_t rank, enum mpi_wait wait)
{
    uint64_t ns = 0;
    VEC_EACH (row, &use->rank_waits, const struct mpi_rank_wait)
        ns += row->rank == rank && row->wait == wait ? row->ns : 0;
    return ns;
}

/* Rank 0 waits 480 for leave, in its access, then not at all. Rank 1 waits 80 and 230 for the end
 * of the access, 100 and 50 to be told so: each wait is divided, whichever is the longer part. */
static void exposed_memory(void **state)
{
    struct scene *scene = *state;
    size_t size;
    begin(scene);
    exposes(scene, 1, (struct exposure){4500, 4520, 4720, 4000, 4020, 4600, 4700});
    exposes(scene, 2, (struct exposure){5000, 5020, 5320, 5030, 5040, 5250, 5300});
    end(scene);
    assert_int_equal(rank_at(0)->wait_ns[MPI_WAIT_LATE_POST], 480);
    assert_int_equal(rank_at(0)->waited_ns, 480);
    assert_int_equal(rank_at(1)->wait_ns[MPI_WAIT_EARLY_WAIT], 310);
    assert_int_equal(rank_at(1)->wait_ns[MPI_WAIT_LATE_COMPLETE], 150);
    assert_int_equal(rank_at(1)->waited_ns, 460);
    assert_int_equal(at_sites(HEURT_CALL_PUT, MPI_WAIT_LATE_POST), 480);
    assert_int_equal(at_sites(HEURT_CALL_WIN_WAIT, MPI_WAIT_EARLY_WAIT), 310);
    assert_int_equal(at_sites(HEURT_CALL_WIN_WAIT, MPI_WAIT_LATE_COMPLETE), 150);
    assert_int_equal(details_of(1, MPI_WAIT_EARLY_WAIT), 310);
    assert_int_equal(details_of(1, MPI_WAIT_LATE_COMPLETE), 150);
    assert_int_equal(rank_at(0)->accesses, 2);
    assert_int_equal(rank_at(0)->access_bytes, 16);
    assert_int_equal(use->unmatched_sends + use->unmatched_receives, 0);
    free(same_tables(scene, &size));
}

/* Of rank 2's memory. */
static void locks(struct scene *scene, uint32_t rank, uint32_t how, const uint64_t at[4])
{
    uint32_t request = (uint32_t)at[0];
    enter(scene, rank, at[0], HEURT_CALL_WIN_LOCK, 0x9000);
    awaited(scene, rank, at[0], request, 2, how);
    leave(scene, rank, at[1]);
    enter(scene, rank, at[2], HEURT_CALL_WIN_UNLOCK, 0x9100);
    done(scene, rank, at[3], request, 2, HEURT_SIGNAL_LOCK_SHARED, 0);
    leave(scene, rank, at[3]);
}

/* Rank 0 waits 1,000 in its lock, and its unlock ends before that of rank 1 which had it; then 450
 * in its unlock, which ends later. Shared locks do not wait for each other. */
static void locked_memory(void **state)
{
    struct scene *scene = *state;
    size_t size;
    begin(scene);
    locks(scene, 1, HEURT_SIGNAL_LOCK_EXCLUSIVE, (uint64_t[]){6000, 6010, 7000, 7400});
    locks(scene, 0, HEURT_SIGNAL_LOCK_EXCLUSIVE, (uint64_t[]){6100, 7100, 7150, 7200});
    locks(scene, 1, HEURT_SIGNAL_LOCK_EXCLUSIVE, (uint64_t[]){8000, 8010, 8400, 8500});
    locks(scene, 0, HEURT_SIGNAL_LOCK_EXCLUSIVE, (uint64_t[]){8030, 8040, 8050, 8510});
    locks(scene, 0, HEURT_SIGNAL_LOCK_SHARED, (uint64_t[]){9000, 9100, 9200, 9300});
    locks(scene, 1, HEURT_SIGNAL_LOCK_SHARED, (uint64_t[]){9010, 9110, 9210, 9310});
    end(scene);
    assert_int_equal(at_sites(HEURT_CALL_WIN_LOCK, MPI_WAIT_LOCK), 1000);
    assert_int_equal(at_sites(HEURT_CALL_WIN_UNLOCK, MPI_WAIT_LOCK), 450);
    assert_int_equal(rank_at(0)->wait_ns[MPI_WAIT_LOCK], 1450);
    assert_int_equal(rank_at(1)->waited_ns, 0);
    free(same_tables(scene, &size));
}

/* In a call that sleeps, made there. */
static void sleeps(struct scene *scene, uint32_t rank, uint64_t from, uint64_t until, uint64_t site)
{
    PUT(scene, rank, from, HEURT_EVENT_SLEEP, HEURT_SITE(site, 0), until - from);
    PUT(scene, rank, until, HEURT_EVENT_OFF_CPU, HEURT_OFF(until - from, HEURT_OFF_BLOCKED),
        HEURT_BACK(0, 1), 0);
    PUT(scene, rank, until, HEURT_EVENT_SLEEP | 1);
}

/* Rank 1 sleeps at another place, too, and for longer: that is what the others wait for. Without
 * symbols, places are of one process each. */
static void what_they_did(void **state)
{
    struct scene *scene = *state;
    begin(scene);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        uint64_t until = rank == 1 ? 6000 : 4000;
        sleeps(scene, rank, 1200, 2700, 0x8000);
        if (rank == 1)
            sleeps(scene, rank, 4000, 6000, 0x9000);
        collective(scene, rank, until, 6100, HEURT_CALL_BARRIER, 0);
    }
    end(scene);
    assert_int_equal(rank_at(1)->delay_blocked_ns, 4000);
    assert_int_equal(rank_at(1)->did_ns, 2000);
    assert_int_equal(rank_at(1)->did_others_ns, 0);
    assert_int_equal(rank_at(1)->did_site, 0x9000);
    assert_int_equal(rank_at(0)->did_ns, 1500);
}

static uint64_t wall_with(enum rank_change_type type, uint32_t rank)
{
    return rank_replay__wall_ns(use->replay, &(struct rank_change){.type = type, .rank = rank});
}

/* Rank 1 comes to the barrier 2000 later than the others; each takes 100 then. */
static void ranks_are_replayed(void **state)
{
    struct scene *scene = *state;
    const struct mpi_options options = {.is_replayed = true};
    struct error error;
    begin(scene);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        collective(scene, rank, rank == 1 ? 6000 : 4000, 6100, HEURT_CALL_BARRIER, 0);
    end(scene);
    assert_null(use->replay);
    mpi_analysis.free(use);
    use = NULL;
    assert_int_equal(run__one(scene->trace, NULL, &mpi_analysis, &options, (void **)&use, &error),
                     0);
    assert_non_null(use->replay);
    assert_int_equal(rank_replay__recorded_ns(use->replay), 9000);
    assert_int_equal(rank_replay__wall_ns(use->replay, NULL), 9000);
    assert_int_equal(wall_with(RANK_UNDELAYED, 1), 7000);
    assert_int_equal(wall_with(RANK_UNDELAYED, 0), 9000);
    assert_int_equal(wall_with(RANKS_BALANCED, 0), 7667);
    assert_int_equal(wall_with(RANKS_EVEN, 0), 7667);
    const struct rank_path *path = VEC_AT(rank_replay__path(use->replay), struct rank_path, 0);
    assert_int_equal(rank_replay__path(use->replay)->count, 2);
    assert_int_equal(path[0].rank, 1);
    assert_int_equal(path[0].outside_ns, 4900);
    assert_int_equal(path[0].mpi_ns, 100);
    assert_int_equal(path[1].rank, 0);
    assert_int_equal(path[1].outside_ns, 3900);
    assert_int_equal(path[1].mpi_ns, 100);
}

/* Rank 0 waits for a message that is sent at 3000; rank 1's send waits for its receive at 5000.
 * With each of these sooner, all is; a slower network adds to the calls that receive. */
static void messages_are_replayed(void **state)
{
    struct scene *scene = *state;
    const struct mpi_options options = {.is_replayed = true};
    struct error error;
    begin(scene);
    receives(scene, 0, 1500, 3050, 5, 1, 3, 100);
    sends(scene, 1, 3000, 3010, 0, 3, 100);
    sends(scene, 1, 3100, 5020, 0, 4, 100);
    receives(scene, 0, 5000, 5030, 6, 1, 4, 100);
    end(scene);
    mpi_analysis.free(use);
    use = NULL;
    assert_int_equal(run__one(scene->trace, NULL, &mpi_analysis, &options, (void **)&use, &error),
                     0);
    assert_int_equal(rank_replay__wall_ns(use->replay, NULL), 9000);
    assert_int_equal(wall_with(RANK_UNDELAYED, 1), 9000); /* rank 2 waits for nobody */
    struct rank_network network = rank_replay__network(use->replay);
    assert_int_equal(network.messages, 2);
    assert_int_equal(network.base_ns, 30);
    const struct rank_change slower = {.type = RANKS_NETWORK, .latency = 11, .bandwidth = 1};
    assert_in_range(rank_replay__wall_ns(use->replay, &slower), 9001, 9600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ranks_are_replayed, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(messages_are_replayed, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(what_they_did, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(late_ranks, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(chains, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(delay_arrives_later, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(turns, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(order_of_posting, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(lengths_differ, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(wrong_order, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(operations, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(parts_missing, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(ranks_at_places, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(efficiencies, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(ranks_at_places, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(efficiencies, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(ring, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(clocks_are_repaired, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(repairs_go_on, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(fences, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(exposed_memory, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(locked_memory, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(any_number_of_processes, scene__setup, scene__teardown),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mpi_analysis.free(use);
    return failed;
}
