/* heurt mpi: ranks of MPI, whom they wait for, and what that one did. */
#include "analysis/openmp/openmp.h"
#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/kept_print.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/values.h"
#include "cmd/waiting.h"
#include "present/mpi/mpi_screens.h"

#include <getopt.h>
#include <inttypes.h>
#include <string.h>

struct mpi_asked {
    const char *directory;
    const struct mpi_presenter *presenter;
    uint64_t width;   /* 0: not given */
    const char *what; /* a rank, a kind of wait, or a place; NULL: all */
    enum mpi_matrix matrix;
    uint64_t least_message_ns, least_collective_ns;
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

/* What alone is shown: a number is a rank, what is no kind of wait a place. */
static struct mpi_report report_of(const struct mpi_asked *options, const struct loaded *loaded)
{
    struct mpi_report shown = {.report = &loaded->report,
                               .use = run__result(&loaded->run, &mpi_analysis),
                               .matrix = options->matrix,
                               .least_message_ns = options->least_message_ns,
                               .least_collective_ns = options->least_collective_ns};
    uint64_t rank;
    if (!options->what)
        return shown;
    shown.is_one_rank = number__parse(options->what, 0, MPI_NOBODY - 1, &rank);
    if (shown.is_one_rank)
        shown.rank = (uint32_t)rank;
    else if (!(shown.wait = mpi_wait__named(options->what)))
        shown.site = options->what;
    return shown;
}

static int nothing_of(const struct mpi_report *shown, const struct mpi_asked *options)
{
    if (shown->is_one_rank && shown->use)
        say("no rank %.20s is in %.80s: it has %zu of %u", options->what, options->directory,
            shown->use->ranks.count, shown->use->size);
    else
        say("'%.40s' is no rank, no kind of wait, and no place that calls MPI: expected a number, "
            "late sender … end, or file.c:12, a function that calls, MPI_Bcast",
            options->what);
    return EXIT_USAGE;
}

static void ask(const struct mpi_asked *options, struct loaded *loaded)
{
    loaded->mpi_options.least_message_ns = options->least_message_ns;
    loaded->mpi_options.least_collective_ns = options->least_collective_ns;
    loaded__ask_mpi(loaded);
    run__ask(&loaded->run, &openmp_analysis, NULL);
}

static int make_mpi(const struct mpi_asked *options, const struct kept_print *print)
{
    struct loaded loaded;
    int status = loaded__open(options->directory, &loaded);
    if (status)
        return status;
    ask(options, &loaded);
    status = loaded__profile(&loaded, CLASSES_BY_SITE);
    if (!status) {
        struct mpi_report shown = report_of(options, &loaded);
        status = (shown.use ? !mpi_report__has_any(&shown) : shown.is_one_rank || shown.site)
                     ? nothing_of(&shown, options)
                     : kept_print__make(print, loaded.trace, present,
                                        &(struct mpi_showing){options->presenter, &shown});
    }
    loaded__close(&loaded);
    return status;
}

static int mpi_of(const struct mpi_asked *options)
{
    char *what = memory__format("mpi %s %d %" PRIu64 " %" PRIu64 " %s", options->presenter->name,
                                options->matrix, options->least_message_ns,
                                options->least_collective_ns, options->what ? options->what : "");
    struct kept_print print =
        kept_print__of(options->directory, what, options->presenter == &mpi_text, options->width);
    int status = 0;
    if (!kept_print__show(&print, &status))
        status = make_mpi(options, &print);
    kept_print__free(&print);
    return status;
}

static bool matrix__parse(const char *text, void *member)
{
    static const struct {
        const char *name;
        enum mpi_matrix matrix;
    } names[] = {{"bytes", MPI_MATRIX_BYTES},
                 {"messages", MPI_MATRIX_MESSAGES},
                 {"waited", MPI_MATRIX_WAITED}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i].name) == 0) {
            *(enum mpi_matrix *)member = names[i].matrix;
            return true;
        }
    return false;
}

#define LEAST_ROW(name_, member, help_)                                           \
    {                                                                             \
        .name = name_, .value = "TIME", .help = help_, .expected = DURATION_FORM, \
        VALUE(struct mpi_asked, member, duration__parse)                          \
    }
static const struct option_row option_rows[] = {
    INPUT_ROW(struct mpi_asked, directory),
    WIDTH_ROW(struct mpi_asked, width),
    {.name = "matrix",
     .value = "bytes|messages|waited",
     .help = "who sent whom: a row a sender, a column a receiver",
     .expected = "bytes, messages or waited",
     VALUE(struct mpi_asked, matrix, matrix__parse)},
    LEAST_ROW("late-message", least_message_ns, "shorter waits for messages are none"),
    LEAST_ROW("late-collective", least_collective_ns,
              "shorter waits in collective operations are none"),
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
        return wrong_usage(self, "one rank, kind of wait or place at a time");
    options.what = argv[optind];
    if (options.what && options.matrix)
        return wrong_usage(self, "--matrix is of all ranks: it goes with no '%s'", options.what);
    return mpi_of(&options);
}

const struct command command_mpi = {.name = "mpi",
                                    .summary =
                                        "show the ranks of an MPI program, and whom they wait for",
                                    .rows = option_rows,
                                    .operands = "[RANK|CLASS|CALLSITE]",
                                    .run = run};
