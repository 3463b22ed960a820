/* heurt openmp: parallel regions, what their threads do, and what is lost. */
#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/kept_print.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/waiting.h"
#include "present/openmp/openmp_screens.h"

#include <getopt.h>

struct openmp_request {
    const char *directory;
    const struct openmp_presenter *presenter;
    const char *region; /* a number, or a part of its title; NULL: all */
    uint64_t width;     /* 0: not given */
};

struct openmp_showing {
    const struct openmp_presenter *presenter;
    const struct openmp_report *shown;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct openmp_showing *showing = subject;
    showing->presenter->put(showing->shown, style, out);
}

/* False after a sentence: no region is meant. */
static bool choose(const struct openmp_request *request, struct openmp_report *shown)
{
    size_t count = shown->use ? shown->use->regions.count : 0;
    for (size_t i = 0; request->region && i < count && !shown->rank; i++)
        if (parallel_region__is(shown->report,
                                VEC_AT(&shown->use->regions, struct parallel_region, i), i + 1,
                                request->region))
            shown->rank = i + 1;
    if (!request->region || shown->rank)
        return true;
    if (count)
        say("no region is '%s': heurt openmp lists the %zu there are", request->region, count);
    else
        say("no region is '%s': the trace tells of none", request->region);
    return false;
}

static int show(const struct openmp_request *request, const struct loaded *loaded,
                const struct kept_print *print)
{
    struct openmp_report shown = {.report = &loaded->report,
                                  .use = run__result(&loaded->run, &openmp_analysis)};
    if (!choose(request, &shown))
        return EXIT_USAGE;
    return kept_print__make(print, loaded->trace, present,
                            &(struct openmp_showing){request->presenter, &shown});
}

static int make_openmp(const struct openmp_request *request, const struct kept_print *print)
{
    struct loaded loaded;
    int status = loaded__open(request->directory, &loaded);
    if (status)
        return status;
    run__ask(&loaded.run, &openmp_analysis, NULL);
    status = loaded__profile(&loaded, CLASSES_BY_SITE);
    status = status ? status : show(request, &loaded, print);
    loaded__close(&loaded);
    return status;
}

static int openmp_of(const struct openmp_request *request)
{
    char *what = memory__format("openmp %s %s", request->presenter->name,
                                request->region ? request->region : "");
    struct kept_print print = kept_print__of(request->directory, what,
                                             request->presenter == &openmp_text, request->width);
    int status = 0;
    if (!kept_print__show(&print, &status))
        status = make_openmp(request, &print);
    kept_print__free(&print);
    return status;
}

static const struct option_row option_rows[] = {
    INPUT_ROW(struct openmp_request, directory),
    WIDTH_ROW(struct openmp_request, width),
    FORMAT_ROW(struct openmp_request, presenter, json, &openmp_json),
    FORMAT_ROW(struct openmp_request, presenter, csv, &openmp_csv),
    {0},
};

static int run(const struct command *self, int argc, char **argv)
{
    struct openmp_request request = {.directory = DEFAULT_TRACE, .presenter = &openmp_text};
    int status = options__read(self, argc, argv, &request);
    if (status)
        return status;
    if (argc - optind > 1)
        return wrong_usage(self, "one region at a time");
    request.region = argv[optind];
    return openmp_of(&request);
}

const struct command command_openmp = {
    .name = "openmp",
    .summary = "show the parallel regions of an OpenMP program, and what they lose",
    .rows = option_rows,
    .operands = "[REGION]",
    .run = run};
