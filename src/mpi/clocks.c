/* clocks.c: the clocks of several hosts, compared over the program's own MPI, within MPI_Init and
 * MPI_Finalize:
 *
 *     rank 0           t0 ──┐             ┌──► t1      the host's clock showed T at (t0 + t1) / 2,
 *     a host's first        └──► T ───────┘            with an error of (t1 - t0) / 2 at most
 *
 * That is done many times, and the shortest round trip counts (Cristian, Probabilistic clock
 * synchronization, Distributed Computing 3, 1989). One host after the other; whoever has nothing to
 * do meanwhile sleeps, for it may have the CPU that others need. What is sent goes through a
 * communicator of heurt's own, by PMPI's functions, which nobody counts. Nothing is sent where all
 * ranks are on one host, unless their parts are to be told from another run's. */
#include "mpi/wrap.h"

#include <sys/random.h>
#include <time.h>

#define PINGS_LEAST 32
#define PINGS_MOST 10000
#define PINGS_NS 20000000u      /* so long at most with a host, when there were the least, or, */
#define BAD_PINGS_NS 200000000u /* where none was as good as */
#define BAD_NS 20000
#define ALL_NS 2000000000u         /* and so long with all of them */
#define GOOD_ENOUGH_NS 4000        /* a round trip within one machine takes 1 us and more */
#define PATIENCE_NS 30000000000ull /* with ranks that may not be recorded, which never come */
#define ASLEEP_NS 100000
#define TAG 1

/* What rank 0 finds of a host. */
struct host_point {
    uint64_t tick, reference_tick, error_ticks;
};

static struct clocks {
    MPI_Comm own; /* of all ranks */
    bool is_begun, is_told;
    int rank, size;
    uint64_t run;
    uint32_t host, *hosts;     /* this rank's; of each rank. NULL: nothing is compared */
    struct host_point *points; /* of each rank */
    uint32_t host_count;
} own;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* False: it was not done in time. */
static bool wait_asleep(MPI_Request *request, uint64_t patience_ns)
{
    const struct timespec asleep = {0, ASLEEP_NS};
    uint64_t since_ns = now_ns();
    int is_done = 0;
    while (PMPI_Test(request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done) {
        if (now_ns() - since_ns > patience_ns)
            return false;
        nanosleep(&asleep, NULL);
    }
    return is_done;
}

/* Of a rank's host, this is the one that answers for all. */
static bool is_first_of_host(int rank)
{
    for (int i = 0; i < rank; i++)
        if (own.hosts[i] == own.hosts[rank])
            return false;
    return true;
}

/* ---- one host -------------------------------------------------------------------------------- */

static bool has_enough(unsigned pings, uint64_t since_ns, uint64_t least_ns)
{
    uint64_t share_ns = ALL_NS / own.host_count;
    uint64_t most_ns = least_ns <= BAD_NS ? PINGS_NS : BAD_PINGS_NS;
    most_ns = share_ns < most_ns ? share_ns : most_ns;
    return pings >= PINGS_MOST ||
           (pings >= PINGS_LEAST && (least_ns <= GOOD_ENOUGH_NS || now_ns() - since_ns > most_ns));
}

/* Rank 0's side. What is sent tells whether another one follows. */
static struct host_point compare_with(int rank)
{
    struct host_point best = {0, 0, UINT64_MAX};
    uint64_t since_ns = now_ns(), least_ns = UINT64_MAX;
    bool goes_on = true;
    for (unsigned pings = 0; goes_on; pings++) {
        goes_on = !has_enough(pings, since_ns, least_ns);
        uint64_t tick, begin_ns = now_ns(), begin = heurt_message_tick();
        int flag = goes_on;
        PMPI_Send(&flag, 1, MPI_INT, rank, TAG, own.own);
        PMPI_Recv(&tick, 1, MPI_UINT64_T, rank, TAG, own.own, MPI_STATUS_IGNORE);
        uint64_t end = heurt_message_tick(), took_ns = now_ns() - begin_ns;
        if ((end - begin + 1) / 2 < best.error_ticks)
            best = (struct host_point){tick, begin + (end - begin) / 2, (end - begin + 1) / 2};
        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    return best;
}

static void answer(void)
{
    MPI_Request request;
    int goes_on = 1;
    /* It may be long until it is this host's turn. */
    PMPI_Irecv(&goes_on, 1, MPI_INT, 0, TAG, own.own, &request);
    wait_asleep(&request, UINT64_MAX);
    for (;;) {
        uint64_t tick = heurt_message_tick();
        PMPI_Send(&tick, 1, MPI_UINT64_T, 0, TAG, own.own);
        if (!goes_on)
            return;
        PMPI_Recv(&goes_on, 1, MPI_INT, 0, TAG, own.own, MPI_STATUS_IGNORE);
    }
}

/* ---- all hosts ------------------------------------------------------------------------------- */

/* The points of all ranks, of which each takes its own. */
static void compare(void)
{
    MPI_Request request;
    for (int rank = 1; own.rank == 0 && rank < own.size; rank++)
        if (own.hosts[rank] != own.hosts[0] && is_first_of_host(rank))
            own.points[rank] = compare_with(rank);
    if (own.rank && own.host != own.hosts[0] && is_first_of_host(own.rank))
        answer();
    PMPI_Ibcast(own.points, 3 * own.size, MPI_UINT64_T, 0, own.own, &request);
    wait_asleep(&request, UINT64_MAX);
}

static void tell(uint32_t is_end)
{
    int first = 0;
    while (own.hosts[first] != own.host)
        first++;
    if (own.host_count > 1)
        compare();
    struct host_point point = own.points[first]; /* all 0 for the host of rank 0 */
    if (!own.is_told)
        return;
    heurt_message_clock(&(struct heurt_host_clock){.run = own.run,
                                                   .rank = (uint32_t)own.rank,
                                                   .size = (uint32_t)own.size,
                                                   .host = own.host,
                                                   .reference = own.hosts[0],
                                                   .hosts = own.host_count,
                                                   .is_end = is_end,
                                                   .tick = point.tick,
                                                   .reference_tick = point.reference_tick,
                                                   .error_ticks = point.error_ticks});
}

/* Whether all ranks come to it. A launcher may have started some of them without heurt. */
static bool do_all_come(void)
{
    MPI_Request request;
    if (PMPI_Ibarrier(MPI_COMM_WORLD, &request) == MPI_SUCCESS &&
        wait_asleep(&request, PATIENCE_NS))
        return true;
    heurt_message_note("Not all ranks are recorded: the clocks of their hosts are not compared.");
    return false;
}

static void release(void)
{
    PMPI_Comm_free(&own.own);
    if (own.hosts)
        pages__put(own.hosts, (size_t)own.size * sizeof *own.hosts);
    if (own.points)
        pages__put(own.points, (size_t)own.size * sizeof *own.points);
    own.hosts = NULL;
}

void clocks__begin(bool is_told)
{
    MPI_Request request;
    uint32_t host = own.is_begun ? 0 : heurt_message_host();
    own.is_begun = true;
    own.is_told = is_told;
    if (!host || !do_all_come() || PMPI_Comm_dup(MPI_COMM_WORLD, &own.own) != MPI_SUCCESS)
        return;
    PMPI_Comm_rank(own.own, &own.rank);
    PMPI_Comm_size(own.own, &own.size);
    own.host = host;
    own.hosts = pages__get((size_t)own.size * sizeof *own.hosts);
    own.points = pages__get((size_t)own.size * sizeof *own.points);
    int has_room = own.hosts && own.points, have_room = 0;
    PMPI_Allreduce(&has_room, &have_room, 1, MPI_INT, MPI_LAND, own.own);
    if (!have_room) {
        release();
        return;
    }
    PMPI_Allgather(&own.host, 1, MPI_UINT32_T, own.hosts, 1, MPI_UINT32_T, own.own);
    if (own.rank == 0 && getrandom(&own.run, sizeof own.run, 0) != sizeof own.run)
        own.run = heurt_message_tick();
    PMPI_Ibcast(&own.run, 1, MPI_UINT64_T, 0, own.own, &request);
    wait_asleep(&request, UINT64_MAX);
    for (int rank = 0; rank < own.size; rank++)
        own.host_count += is_first_of_host(rank);
    tell(0);
}

void clocks__end(bool is_told)
{
    own.is_told = is_told;
    if (!own.hosts)
        return;
    if (own.host_count > 1)
        tell(1);
    release();
}
