#include "cmd/compared_side.h"

#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/table_results.h"
#include "present/shared.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* NULL: it is not known. free() it. */
static char *machine_of(const struct trace *trace)
{
    const char *processor = trace__meta(trace, "processor"), *cpus = trace__meta(trace, "cpus");
    return processor && cpus ? memory__format("%.100s, %.10s CPU%s", processor, cpus,
                                              strcmp(cpus, "1") == 0 ? "" : "s")
                             : NULL;
}

static void fill_run(struct run_figures *run, const char *directory,
                     const struct table_results *results)
{
    const struct loaded *loaded = &results->loaded;
    const char *imported = trace__meta(loaded->trace, "imported");
    uint64_t lives_ns = 0;
    VEC_EACH (thread, &loaded->profile->threads, struct profile_thread)
        lives_ns += thread->lifetime_ns;
    *run = (struct run_figures){.directory = directory,
                                .command = report__command(&loaded->report),
                                .start_ns = trace__session(loaded->trace)->start_realtime_ns,
                                .wall_ns = loaded->profile->wall_ns,
                                .lives_ns = lives_ns,
                                .cpus_of_others =
                                    profile__cpus_of_others(loaded->profile, loaded->trace),
                                .imported = imported ? memory__text(imported) : NULL,
                                .machine = machine_of(loaded->trace),
                                .rows = VEC_OF(struct figures_row)};
}

static int refuse_aggregated(const char *directory)
{
    say("%s was recorded with --aggregate, which keeps no order of events: what its time went to "
        "is not known; other tables can be compared: --table classes, --table threads",
        directory);
    return EXIT_HEURT;
}

/* Every run needs its profile. */
static const struct table_source lives_source = {.of = MADE_OF(&profile_analysis)};

int compared_side__add(struct vec *side, const struct compared_table *table, const char *directory)
{
    const struct table_source *const sources[] = {table->source, &lives_source, NULL};
    struct table_results results;
    struct run_figures run;
    int status = table_results__make(directory, sources, table->view, &results);
    if (status)
        return status;
    if (table->lives && trace__is_aggregated(results.loaded.trace)) {
        table_results__free(&results);
        return refuse_aggregated(directory);
    }
    fill_run(&run, directory, &results);
    struct table_rows rows = table_results__rows(&results, table->source);
    if (!run_figures__add(&run, &rows, table->value, table->lives)) {
        say("the rows of the table %s have nothing by which they could be found in another run; "
            "heurt tables -i %s %s shows them",
            table->source->table->name, directory, table->source->table->name);
        status = EXIT_HEURT;
    }
    table_rows__free(&rows);
    table_results__free(&results);
    vec__push(side, &run);
    return status;
}

/* ---- which runs ------------------------------------------------------------------------------ */

static bool is_there(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

static int add(struct vec *side, const struct compared_table *table, char *directory,
               struct vec *directories)
{
    vec__push(directories, &directory);
    if (side->count < RUNS_MOST)
        return compared_side__add(side, table, directory);
    say("more than %d runs on a side are not compared", RUNS_MOST);
    return EXIT_USAGE;
}

int compared_side__add_set(struct vec *side, const struct compared_table *table,
                           const char *operand, struct vec *directories)
{
    int status = 0;
    char *first = memory__format("%s.1", operand);
    bool is_set = !is_there(operand) && is_there(first);
    free(first);
    if (!is_set)
        return add(side, table, memory__text(operand), directories);
    for (unsigned number = 1; status == 0; number++) {
        char *directory = memory__format("%s.%u", operand, number);
        if (!is_there(directory)) {
            free(directory);
            break;
        }
        status = add(side, table, directory, directories);
    }
    return status;
}

void compared_side__free(struct vec *side)
{
    VEC_EACH (run, side, struct run_figures)
        run_figures__free(run);
    vec__free(side);
}
