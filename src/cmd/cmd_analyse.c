/* heurt analyse: what is asked of a trace of many ranks, made once, by as many processes as mpirun
 * starts, and kept beside the trace. */
#include "analysis/mpi/mpi.h"
#include "cmd/command.h"
#include "cmd/engine_load.h"
#include "cmd/kept_ranks.h"
#include "cmd/load.h"
#include "cmd/options.h"

#include <getopt.h>

struct analyse_asked {
    const char *directory;
};

static int keep(const struct loaded *loaded, const struct mpi_exchange *exchange,
                const struct mpi_use *use)
{
    if (exchange->self != 0)
        return 0;
    if (!use) {
        say("no rank of MPI is in %.100s: there is nothing to be kept", loaded->report.directory);
        return EXIT_HEURT;
    }
    int status = kept_ranks__write(loaded->report.directory, loaded->trace, use);
    if (!status)
        say("%zu ranks in %.100s, analysed by %u process%s: heurt mpi and heurt report show it",
            use->ranks.count, loaded->report.directory, exchange->count,
            exchange->count == 1 ? "" : "es");
    return status;
}

/* All processes go on, or none: whose trace cannot be read would leave the others waiting. */
static int analyse(const char *directory, const struct mpi_exchange *exchange)
{
    struct loaded loaded;
    int status = loaded__open(directory, &loaded);
    if (engine__most(exchange, (uint64_t)status)) {
        if (!status)
            loaded__close(&loaded);
        return EXIT_HEURT;
    }
    struct mpi_options options = {.exchange = exchange};
    run__ask(&loaded.run, &mpi_analysis, &options);
    status = loaded__analyse(&loaded);
    if (!status)
        status = keep(&loaded, exchange, run__result(&loaded.run, &mpi_analysis));
    loaded__close(&loaded);
    return status;
}

static const struct option_row option_rows[] = {
    INPUT_ROW(struct analyse_asked, directory),
    {0},
};

static int run(const struct command *self, int argc, char **argv)
{
    struct analyse_asked asked = {.directory = DEFAULT_TRACE};
    struct mpi_exchange exchange;
    int status = options__read(self, argc, argv, &asked);
    if (status)
        return status;
    if (argc > optind)
        return wrong_usage(self, "a trace is named by -i");
    status = engine__begin(&exchange);
    if (!status) {
        status = analyse(asked.directory, &exchange);
        engine__end(&exchange);
    }
    return status;
}

const struct command command_analyse = {
    .name = "analyse",
    .summary = "analyse a trace of many ranks of MPI once, side by side under mpirun",
    .rows = option_rows,
    .operands = "",
    .run = run};
