/* POP's efficiencies, of the tables. */
#include "analysis/mpi/mpi_efficiency.h"

struct useful {
    uint64_t sum_ns, most_ns, ideal_ns, elapsed_ns;
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct useful useful_of(const struct mpi_use *use)
{
    struct useful all = {0};
    VEC_EACH (rank, &use->ranks, const struct mpi_rank) {
        uint64_t own_ns = rank->span_ns > rank->span_mpi_ns ? rank->span_ns - rank->span_mpi_ns : 0;
        all.sum_ns += own_ns;
        all.most_ns = later(all.most_ns, own_ns);
        all.ideal_ns = later(all.ideal_ns, own_ns + rank->span_waited_ns);
        all.elapsed_ns = later(all.elapsed_ns, rank->span_ns);
    }
    return all;
}

static double quotient(double of, double by)
{
    return by > 0 ? of / by : __builtin_nan("");
}

/* In regions a rank is useful as far as all threads of its team are. */
static void add_openmp(struct mpi_efficiency *of, const struct useful *useful,
                       const struct mpi_regions *regions)
{
    uint64_t serial_ns = useful->sum_ns > regions->ns ? useful->sum_ns - regions->ns : 0;
    of->threads = regions->threads;
    of->hybrid = quotient((double)(serial_ns + regions->work_ns),
                          (double)of->threads * of->ranks * (double)useful->elapsed_ns);
    of->openmp = quotient(of->hybrid, of->parallel);
}

struct mpi_efficiency mpi_use__efficiency(const struct mpi_use *use,
                                          const struct mpi_regions *regions)
{
    struct useful useful = useful_of(use);
    double mean_ns = quotient((double)useful.sum_ns, (double)use->ranks.count);
    struct mpi_efficiency of = {
        .parallel = quotient(mean_ns, (double)useful.elapsed_ns),
        .balance = quotient(mean_ns, (double)useful.most_ns),
        .communication = quotient((double)useful.most_ns, (double)useful.elapsed_ns),
        .serialisation = quotient((double)useful.most_ns, (double)useful.ideal_ns),
        .transfer = quotient((double)useful.ideal_ns, (double)useful.elapsed_ns),
        .openmp = __builtin_nan(""),
        .hybrid = __builtin_nan(""),
        .elapsed_ns = useful.elapsed_ns,
        .ranks = (uint32_t)use->ranks.count,
        .threads = 1};
    if (regions->threads)
        add_openmp(&of, &useful, regions);
    return of;
}
