/* heurt mpi: ranks of MPI, whom they wait for, and what that one did. */
#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/kept_print.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/waiting.h"
#include "present/mpi/mpi_screens.h"

#include <getopt.h>

struct mpi_asked {
    const char *directory;
    const struct mpi_presenter *presenter;
    const char *wait; /* the name of a kind of wait, or a part of it; NULL: all */
    uint64_t width;   /* 0: not given */
};

struct mpi_showing {
    const struct mpi_presenter *presenter;
    const struct mpi_report *shown;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct mpi_showing *showing = subject;
    showing->presenter->put(showing->shown, style, out);
}

static int make_mpi(const struct mpi_asked *options, unsigned wait, const struct kept_print *print)
{
    struct loaded loaded;
    int status = loaded__open(options->directory, &loaded);
    if (status)
        return status;
    loaded__ask_mpi(&loaded);
    status = loaded__profile(&loaded, CLASSES_BY_SITE);
    if (!status) {
        struct mpi_report shown = {&loaded.report, run__result(&loaded.run, &mpi_analysis), wait};
        status = kept_print__make(print, loaded.trace, present,
                                  &(struct mpi_showing){options->presenter, &shown});
    }
    loaded__close(&loaded);
    return status;
}

static int mpi_of(const struct mpi_asked *options, unsigned wait)
{
    char *what = memory__format("mpi %s %u", options->presenter->name, wait);
    struct kept_print print =
        kept_print__of(options->directory, what, options->presenter == &mpi_text, options->width);
    int status = 0;
    if (!kept_print__show(&print, &status))
        status = make_mpi(options, wait, &print);
    kept_print__free(&print);
    return status;
}

static const struct option_row option_rows[] = {
    INPUT_ROW(struct mpi_asked, directory),
    WIDTH_ROW(struct mpi_asked, width),
    FORMAT_ROW(struct mpi_asked, presenter, json, &mpi_json),
    FORMAT_ROW(struct mpi_asked, presenter, csv, &mpi_csv),
    {0},
};

static int run(const struct command *self, int argc, char **argv)
{
    struct mpi_asked options = {.directory = DEFAULT_TRACE, .presenter = &mpi_text};
    int status = options__read(self, argc, argv, &options);
    if (status)
        return status;
    if (argc - optind > 1)
        return wrong_usage(self, "one kind of wait at a time");
    options.wait = argv[optind];
    unsigned wait = options.wait ? mpi_wait__named(options.wait) : 0;
    if (options.wait && !wait)
        return wrong_usage(self,
                           "no kind of wait is '%s': expected late sender, wrong order, late "
                           "receiver, barrier, all to all, late broadcast, early reduce, early "
                           "scan, or end",
                           options.wait);
    return mpi_of(&options, wait);
}

const struct command command_mpi = {.name = "mpi",
                                    .summary =
                                        "show the ranks of an MPI program, and whom they wait for",
                                    .rows = option_rows,
                                    .operands = "[CLASS]",
                                    .run = run};
