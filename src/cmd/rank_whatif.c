#include "cmd/rank_whatif.h"

#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/load.h"
#include "cmd/values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MISFIT 0.05 /* to either side */

/* "2x", from 0.001 to 1000. */
static bool factor__parse(const char *text, double *factor)
{
    char *end;
    *factor = strtod(text, &end);
    return end != text && strcmp(end, "x") == 0 && *factor >= 0.001 && *factor <= 1000;
}

bool rank_change__parse(const char *text, struct rank_change *change)
{
    uint64_t rank = 0;
    *change = (struct rank_change){.type = RANKS_NETWORK, .latency = 1, .bandwidth = 1};
    if (strncmp(text, "latency=", 8) == 0)
        return factor__parse(text + 8, &change->latency);
    if (strncmp(text, "bandwidth=", 10) == 0)
        return factor__parse(text + 10, &change->bandwidth);
    change->type = RANKS_BALANCED;
    if (strcmp(text, "balance") == 0)
        return true;
    change->type = RANKS_EVEN;
    if (strcmp(text, "even") == 0)
        return true;
    change->type = RANK_UNDELAYED;
    if (strncmp(text, "rank=", 5) != 0 || !number__parse(text + 5, 0, MPI_NOBODY - 1, &rank))
        return false;
    change->rank = (uint32_t)rank;
    return true;
}

struct rank_showing {
    const struct whatif_presenter *presenter;
    struct whatif_view view;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct rank_showing *showing = subject;
    showing->presenter->question(&showing->view, style, out);
}

/* Of the run as a whole, what is before its ranks and behind them included. */
static struct prediction predict(const struct mpi_use *use, uint64_t measured_ns,
                                 const struct rank_change *change)
{
    uint64_t before_ns = rank_replay__recorded_ns(use->replay),
             after_ns = rank_replay__wall_ns(use->replay, change);
    uint64_t wall_ns = measured_ns + after_ns > before_ns ? measured_ns + after_ns - before_ns : 1;
    struct prediction prediction = {.wall_ns = wall_ns,
                                    .least_ns = (uint64_t)((double)wall_ns * (1 - MISFIT)),
                                    .most_ns = (uint64_t)((double)wall_ns * (1 + MISFIT)),
                                    .objects = VEC_OF(struct whatif_object),
                                    .work_left = 1,
                                    .threads = (uint32_t)use->ranks.count};
    prediction.gain[0] = (double)measured_ns / (double)prediction.most_ns;
    prediction.gain[1] =
        (double)measured_ns / (double)(prediction.least_ns ? prediction.least_ns : 1);
    return prediction;
}

/* 0: it can be answered. */
static int refuse(const struct loaded *loaded, const struct rank_change *change)
{
    const struct mpi_use *use = loaded->report.mpi;
    const char *directory = loaded->report.directory;
    if (!use) {
        say("no rank of MPI is in %.100s: --ranks is of programs of MPI", directory);
        return EXIT_HEURT;
    }
    if (!use->replay) {
        say("%.100s has more than %u calls of MPI: too many to be replayed", directory,
            RANKS_REPLAYED_MOST);
        return EXIT_HEURT;
    }
    if (change->type == RANK_UNDELAYED && !rank_replay__has(use->replay, change->rank)) {
        say("no rank %" PRIu32 " is in %.100s: it has %zu of %" PRIu32, change->rank, directory,
            use->ranks.count, use->size);
        return EXIT_USAGE;
    }
    if (change->type == RANKS_NETWORK && !rank_replay__network(use->replay).messages) {
        say("no message between ranks is in %.100s, which would tell of the network", directory);
        return EXIT_HEURT;
    }
    return 0;
}

static int answer(const struct loaded *loaded, const char *asked, const struct rank_change *change,
                  const struct whatif_presenter *presenter, const struct kept_print *print)
{
    int status = refuse(loaded, change);
    if (status)
        return status;
    uint64_t measured_ns = loaded->report.profile->wall_ns;
    struct prediction prediction = predict(loaded->report.mpi, measured_ns, change);
    const struct whatif_answer row = {
        .asked = asked, .lost_ns = UINT64_MAX, .prediction = &prediction};
    const struct rank_showing showing = {presenter,
                                         {.report = &loaded->report,
                                          .measured_ns = measured_ns,
                                          .replayed_ns = measured_ns,
                                          .unrecorded_ns = measured_ns,
                                          .replayed_share = 1,
                                          .rows = &row,
                                          .count = 1}};
    status = kept_print__make(print, loaded->trace, present, &showing);
    prediction__free(&prediction);
    return status;
}

int rank_whatif__make(const char *directory, const char *asked, const struct rank_change *change,
                      const struct whatif_presenter *presenter, const struct kept_print *print)
{
    struct loaded loaded;
    int status = loaded__open(directory, &loaded);
    if (status)
        return status;
    loaded.mpi_options.is_replayed = true;
    status = loaded__profile(&loaded, CLASSES_BY_SITE);
    if (!status)
        status = answer(&loaded, asked, change, presenter, print);
    loaded__close(&loaded);
    return status;
}
