#include "cmd/load.h"

#include "analysis/events/run_part.h"
#include "analysis/findings/rank_gains.h"
#include "analysis/findings/wall_gains.h"
#include "analysis/mpi/mpi.h"
#include "analysis/openmp/openmp.h"
#include "analysis/timeline/long_functions.h"
#include "analysis/timeline/requests.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/kept_ranks.h"
#include "cmd/rank_leftovers.h"
#include "cmd/waiting.h"
#include "format/part.h"
#include "recorder/trace_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static uint64_t bytes_on_disk(const char *directory, const char *name)
{
    struct stat status;
    char *path = memory__format("%s/%s", directory, name);
    int result = stat(path, &status);
    free(path);
    if (result < 0)
        return 0;
    uint64_t stored = (uint64_t)status.st_blocks * 512, size = (uint64_t)status.st_size;
    return stored < size ? stored : size; /* a cut-off trace is sparse to its bound */
}

static uint64_t trace_bytes(const char *directory)
{
    return bytes_on_disk(directory, HEURT_EVENTS_FILE) +
           bytes_on_disk(directory, HEURT_SYMBOLS_FILE);
}

static struct symbols *load_symbols(const char *directory, const struct trace *trace)
{
    struct symbols *symbols = NULL;
    struct error error;
    int result = symbols__load(directory, &symbols, &error);
    if (result == 0)
        return symbols;
    if (!trace__is_as_recorded(trace)) {
        say("%s; the report goes on without, as files that a copied trace names are not opened",
            result == -ENOENT ? "there are no names beside the trace" : error.text);
        return symbols__new();
    }
    if (result != -ENOENT)
        say("%s; looking the names up anew", error.text);
    result = trace_names__find(trace, &symbols, &error);
    if (result < 0) {
        say("%s; the report goes on without names", error.text);
        return symbols__new();
    }
    if (symbols__save(symbols, directory, &error) < 0)
        say("%s; the names will be looked up again next time", error.text);
    return symbols;
}

/* From here on it is of that part of the whole. */
static int cut_to(struct loaded *loaded, struct part_bounds bounds)
{
    struct trace *whole = loaded->whole ? loaded->whole : loaded->trace;
    struct error error;
    void *cut;
    if (run__one(whole, loaded->symbols, &part_analysis, &bounds, &cut, &error) < 0)
        return failed(&error);
    if (loaded->whole)
        trace__close_part(loaded->trace);
    loaded->whole = whole;
    loaded->report.trace = loaded->trace = cut;
    run__free(&loaded->run);
    loaded->run = run__of(loaded->trace, loaded->symbols);
    return 0;
}

/* What came when the trace was full is not there: waits would be told that nobody ended, and of
 * threads that went on nothing would be known. */
static int cut_where_full(struct loaded *loaded)
{
    uint64_t from_ns, to_ns, full_tick = trace__session(loaded->trace)->full_tick;
    if (!full_tick || trace__is_aggregated(loaded->trace))
        return 0;
    trace__bounds_ns(loaded->trace, &from_ns, &to_ns);
    struct part_bounds bounds = {trace__tick(loaded->trace, from_ns), full_tick};
    bool is_inside = bounds.from_tick < full_tick && full_tick < trace__tick(loaded->trace, to_ns);
    return is_inside ? cut_to(loaded, bounds) : 0;
}

/* A window has more than what it is of: its chunks as they were. */
static int cut_to_window(struct loaded *loaded)
{
    const struct heurt_session *session = trace__session(loaded->trace);
    uint64_t from_ns, to_ns;
    trace__bounds_ns(loaded->trace, &from_ns, &to_ns);
    struct part_bounds bounds = {session->from_tick, session->behind_tick - 1},
                       all = {trace__tick(loaded->trace, from_ns),
                              trace__tick(loaded->trace, to_ns)};
    bounds.to_tick = bounds.to_tick < all.to_tick ? bounds.to_tick : all.to_tick;
    bool cuts = session->behind_tick && bounds.from_tick > all.from_tick &&
                bounds.from_tick < bounds.to_tick;
    return cuts ? cut_to(loaded, bounds) : 0;
}

int loaded__open(const char *directory, struct loaded *loaded)
{
    struct error error;
    struct stat status;
    *loaded = (struct loaded){0};
    if (stat(directory, &status) < 0 && errno == ENOENT) {
        say("no trace at %s: record one first: heurt record ./program", directory);
        return EXIT_HEURT;
    }
    rank_leftovers__join(directory);
    if (trace__open(directory, &loaded->trace, &error) < 0)
        return failed(&error);
    loaded->symbols = load_symbols(directory, loaded->trace);
    loaded->run = run__of(loaded->trace, loaded->symbols);
    loaded->rule_list = VEC_OF(struct profile_rule);
    loaded->report = (struct report){.trace = loaded->trace,
                                     .symbols = loaded->symbols,
                                     .directory = directory,
                                     .trace_bytes = trace_bytes(directory)};
    int code = cut_where_full(loaded);
    return code ? code : cut_to_window(loaded);
}

/* False after a sentence: nothing of the run is there. */
static bool find_bounds(const struct trace *trace, const struct part_asked *part,
                        struct part_bounds *bounds)
{
    char end[16], asked[16];
    uint64_t from_ns, to_ns;
    trace__bounds_ns(trace, &from_ns, &to_ns);
    uint64_t begin_ns = part->from_ns > from_ns ? part->from_ns : from_ns;
    uint64_t end_ns = part->to_ns && part->to_ns < to_ns ? part->to_ns : to_ns;
    if (part->last_ns)
        begin_ns = end_ns - from_ns > part->last_ns ? end_ns - part->last_ns : from_ns;
    *bounds = (struct part_bounds){trace__tick(trace, begin_ns), trace__tick(trace, end_ns)};
    if (begin_ns < end_ns && bounds->from_tick < bounds->to_tick)
        return true;
    if (part->from_ns >= to_ns)
        say("--from %s: the run had ended after %s; give an earlier time",
            duration__format(part->from_ns, asked), duration__format(to_ns, end));
    else
        say("nothing of the run is in that part, for it began after %s and ended after %s",
            duration__format(from_ns, asked), duration__format(to_ns, end));
    return false;
}

int loaded__cut(struct loaded *loaded, const struct part_asked *part)
{
    struct part_bounds bounds;
    if (!part->from_ns && !part->to_ns && !part->last_ns)
        return 0;
    if (trace__is_aggregated(loaded->trace)) {
        say("the run was recorded with --aggregate, which keeps no times: leave out --from, --to "
            "and --last");
        return EXIT_HEURT;
    }
    if (!find_bounds(loaded->trace, part, &bounds))
        return EXIT_USAGE;
    return cut_to(loaded, bounds);
}

static int no_such_thread(const struct loaded *loaded, const char *pattern)
{
    char *question = thread_names__question(&loaded->report, pattern);
    say("--thread: no thread of %s has the number or the name '%s'%s",
        loaded->whole ? "that part of the run" : "the run", pattern,
        *question ? question : "; heurt tables threads lists them");
    free(question);
    return EXIT_USAGE;
}

/* Takes those that are meant out of aside; false: none is. */
static bool choose(const struct loaded *loaded, const char *pattern, bool *aside)
{
    bool any = false;
    for (size_t i = 0; i < trace__threads(loaded->trace)->count; i++) {
        if (!report__is_thread(&loaded->report, trace__thread_at(loaded->trace, i), pattern))
            continue;
        aside[i] = false;
        any = true;
    }
    return any;
}

static char *as_options(const struct vec *patterns)
{
    char *text = memory__text("");
    VEC_EACH (pattern, patterns, const char *) {
        bool plain = strspn(*pattern, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_-./+:@%") == strlen(*pattern);
        text = text__append(text, plain ? " --thread %s" : " --thread '%s'", *pattern);
    }
    return text;
}

int loaded__choose_threads(struct loaded *loaded, const struct vec *patterns)
{
    size_t threads = trace__threads(loaded->trace)->count;
    int status = 0;
    if (patterns->count == 0)
        return 0;
    bool *aside = memory__zeroed(threads, sizeof *aside);
    memset(aside, true, threads * sizeof *aside);
    VEC_EACH (pattern, patterns, const char *)
        if (status == 0 && !choose(loaded, *pattern, aside))
            status = no_such_thread(loaded, *pattern);
    if (status == 0) {
        trace__put_aside(loaded->trace, aside);
        if (trace__has_asides(loaded->trace))
            loaded->report.threads = loaded->threads = as_options(patterns);
    }
    free(aside);
    return status;
}

/* Our wrappers are loaded at the first call of MPI. */
bool trace__has_mpi(const struct trace *trace)
{
    VEC_EACH (process, trace__processes(trace), const struct trace_process)
        VEC_EACH (module, &process->modules, const struct trace_module)
            if (strstr(module->path, "/" HEURT_MPI_WRAPPER_FILES))
                return true;
    return false;
}

void loaded__ask_mpi(struct loaded *loaded)
{
    const struct mpi_options *options = &loaded->mpi_options;
    bool is_as_kept = !loaded->whole && !options->least_message_ns && !options->least_collective_ns;
    /* What is kept cannot be replayed. */
    if (!options->kept && is_as_kept && !options->is_replayed)
        loaded->mpi_options.kept = kept_ranks__read(loaded->report.directory, loaded->trace);
    loaded->mpi_options.is_replayed = true;
    run__ask(&loaded->run, &mpi_analysis, &loaded->mpi_options);
}

void loaded__ask_profile_by(struct loaded *loaded, enum class_view view, const struct vec *rules,
                            double threshold)
{
    loaded->profile_options = (struct profile_options){view, rules, threshold};
    run__ask(&loaded->run, &profile_analysis, &loaded->profile_options);
    if (trace__has_mpi(loaded->trace))
        loaded__ask_mpi(loaded);
}

int loaded__ask_profile(struct loaded *loaded, enum class_view view)
{
    struct error error;
    if (rules__load(loaded->report.directory, &loaded->rules, &error) < 0)
        return failed(&error);
    loaded->rule_list = rules__list(&loaded->rules);
    loaded__ask_profile_by(loaded, view, &loaded->rule_list, SCORE_THRESHOLD);
    return 0;
}

int loaded__analyse(struct loaded *loaded)
{
    struct error error;
    struct waiting *waiting = waiting__start("reading the trace", &loaded->run);
    int code = run__analyse(&loaded->run, &error);
    waiting__end(waiting);
    loaded->report.profile = loaded->profile = run__result(&loaded->run, &profile_analysis);
    loaded->report.findings = run__result(&loaded->run, &findings_analysis);
    loaded->report.requests = run__result(&loaded->run, &requests_analysis);
    loaded->report.openmp = run__result(&loaded->run, &openmp_analysis);
    loaded->report.mpi = run__result(&loaded->run, &mpi_analysis);
    loaded->report.long_functions = run__result(&loaded->run, &long_functions_analysis);
    return code < 0 ? failed(&error) : 0;
}

void loaded__predict(struct loaded *loaded, struct findings *findings, size_t rank)
{
    struct waiting *waiting = waiting__start("predicting gains", NULL);
    wall_gains__fill(loaded->trace, loaded->symbols, loaded->profile, findings, rank);
    const char *cpus = trace__meta(loaded->trace, "cpus");
    if (findings && loaded->report.mpi && loaded->report.mpi->replay)
        rank_gains__fill(loaded->report.mpi, cpus ? (uint32_t)strtoul(cpus, NULL, 10) : 0,
                         findings);
    waiting__end(waiting);
}

int loaded__profile(struct loaded *loaded, enum class_view view)
{
    int status = loaded__ask_profile(loaded, view);
    return status ? status : loaded__analyse(loaded);
}

void loaded__close(struct loaded *loaded)
{
    run__free(&loaded->run);
    mpi_analysis.free(loaded->mpi_options.kept);
    rules__free_list(&loaded->rule_list);
    rules__free(&loaded->rules);
    symbols__free(loaded->symbols);
    free(loaded->threads);
    if (loaded->whole)
        trace__close_part(loaded->trace);
    trace__close(loaded->whole ? loaded->whole : loaded->trace);
}

bool class_view__parse(const char *text, void *view)
{
    bool structure = strcmp(text, "structure") == 0;
    *(enum class_view *)view = structure ? CLASSES_BY_STRUCTURE : CLASSES_BY_SITE;
    return structure || strcmp(text, "site") == 0;
}
