#include "cmd/table_results.h"

#include "analysis/iterations/iterations.h"
#include "analysis/ledger/threads.h"
#include "analysis/outliers/outliers.h"
#include "analysis/timeline/longest.h"
#include "analysis/timeline/wall_ledger.h"
#include "cmd/command.h"
#include "cmd/waiting.h"

#define OUTLINE_ROWS_AT_MOST 20000

/* The first one is kept. */
static int keep_sentence(struct table_results *results, const struct error *error)
{
    if (!*results->missing.text)
        results->missing = *error;
    return 0;
}

/* All tables together are made of any run: what a replay keeps in memory would grow with it. */
#define REPLAYED_MOST 1000000u

static int make_whatif(struct table_results *results)
{
    struct error error;
    uint64_t most = results->is_lenient ? REPLAYED_MOST : UINT64_MAX;
    if (whatif_session__open(&results->whatif, &results->loaded.report, most, &error) < 0)
        return results->is_lenient ? keep_sentence(results, &error) : failed(&error);
    results->has_whatif = true;
    whatif_session__ask_about_all(&results->whatif, true);
    whatif_session__answer(&results->whatif);
    return 0;
}

static bool is_needed(const struct table_source *const *sources, enum table_need need)
{
    for (; *sources; sources++)
        if ((*sources)->needs == need)
            return true;
    return false;
}

static void ask_for(const struct table_source *source, struct table_results *results)
{
    struct run *run = &results->loaded.run;
    for (size_t i = 0; source->of && source->of[i]; i++)
        if (source->of[i] == &mpi_analysis && !run__is_asked(run, &mpi_analysis))
            loaded__ask_mpi(&results->loaded);
        else if (!run__is_asked(run, source->of[i]))
            run__ask(run, source->of[i],
                     source->of[i] == &locks_analysis ? &results->filter : NULL);
}

static void make_outline(struct table_results *results)
{
    struct loaded *loaded = &results->loaded;
    const struct structure *structure = run__result(&loaded->run, &structure_analysis);
    if (structure)
        results->outline = outline__fitting(loaded->trace, structure, &results->outline_options,
                                            OUTLINE_ROWS_AT_MOST);
}

/* What fails is passed over. */
static void analyse_what_can_be(struct table_results *results)
{
    struct error error;
    struct run *run = &results->loaded.run;
    struct waiting *waiting = waiting__start("reading the trace", run);
    if (run__analyse(run, &error) < 0)
        keep_sentence(results, &error);
    waiting__end(waiting);
}

/* 0, or EXIT_HEURT after a sentence. */
static int analyse(const struct table_source *const *sources, enum class_view view,
                   struct table_results *results)
{
    struct loaded *loaded = &results->loaded;
    for (const struct table_source *const *source = sources; *source; source++)
        ask_for(*source, results);
    int status =
        run__is_asked(&loaded->run, &profile_analysis) ? loaded__ask_profile(loaded, view) : 0;
    if (status == 0 && results->is_lenient)
        analyse_what_can_be(results);
    status = status ? status : loaded__analyse(loaded);
    if (status)
        return status;
    make_outline(results);
    if (is_needed(sources, NEEDS_GAINS))
        loaded__predict(loaded, run__result(&loaded->run, &findings_analysis), 0);
    return is_needed(sources, NEEDS_WHATIF) ? make_whatif(results) : 0;
}

/* What rows may refer to. */
static void fill_reports(struct table_results *results)
{
    const struct report *report = &results->loaded.report;
    const struct run *run = &results->loaded.run;
    results->locks = (struct locks_report){report, run__result(run, &locks_analysis),
                                           &results->filter, run__result(run, &path_analysis)};
    results->structure =
        (struct structure_report){.report = report,
                                  .structure = run__result(run, &structure_analysis),
                                  .outline = results->outline,
                                  .options = &results->outline_options};
    results->points =
        (struct points_report){report, run__result(run, &outliers_analysis), NULL, SIZE_MAX};
    results->memory =
        (struct memory_report){.report = report, .use = run__result(run, &memory_analysis)};
    results->place = (struct place_report){.report = report,
                                           .use = run__result(run, &memory_analysis),
                                           .placement = run__result(run, &placement_analysis)};
    results->mpi = (struct mpi_report){.report = report, .use = run__result(run, &mpi_analysis)};
    results->openmp =
        (struct openmp_report){.report = report, .use = run__result(run, &openmp_analysis)};
    if (results->has_whatif)
        results->whatif_view = whatif_session__view(&results->whatif);
}

static int make(const char *directory, const struct table_source *const *sources,
                enum class_view view, const struct part_asked *part, struct table_results *results)
{
    int status = loaded__open(directory, &results->loaded);
    if (status)
        return status;
    status = loaded__cut(&results->loaded, part);
    if (status == 0)
        status = analyse(sources, view, results);
    if (status)
        table_results__free(results);
    else
        fill_reports(results);
    return status;
}

int table_results__make(const char *directory, const struct table_source *const *sources,
                        enum class_view view, struct table_results *results)
{
    *results = (struct table_results){.outline = NULL};
    return make(directory, sources, view, &(struct part_asked){0}, results);
}

int table_results__make_all(const char *directory, const struct part_asked *part,
                            struct table_results *results)
{
    *results = (struct table_results){.is_lenient = true};
    return make(directory, table_sources, CLASSES_BY_STRUCTURE, part, results);
}

static bool has(const struct table_results *results, const struct table_source *source)
{
    for (size_t i = 0; source->of && source->of[i]; i++)
        if (!run__result(&results->loaded.run, source->of[i]))
            return false;
    return source->needs != NEEDS_WHATIF || results->has_whatif;
}

struct table_rows table_results__rows_if_any(const struct table_results *results,
                                             const struct table_source *source)
{
    return has(results, source) ? table_results__rows(results, source) : table_rows__of(NULL);
}

struct table_rows table_results__rows(const struct table_results *results,
                                      const struct table_source *source)
{
    const struct run *run = &results->loaded.run;
    const struct table_subject subject = {&results->loaded.report,
                                          run__result(run, &threads_analysis),
                                          &results->locks,
                                          &results->structure,
                                          run__result(run, &iterations_analysis),
                                          &results->points,
                                          &results->whatif_view,
                                          run__result(run, &wall_ledger_analysis),
                                          run__result(run, &longest_analysis),
                                          &results->memory,
                                          &results->place,
                                          &results->openmp,
                                          &results->mpi};
    return source->rows(&subject);
}

void table_results__free(struct table_results *results)
{
    if (results->has_whatif)
        whatif_session__close(&results->whatif);
    outline__free(results->outline);
    loaded__close(&results->loaded);
}
