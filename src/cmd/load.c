#include "cmd/load.h"

#include "base/memory.h"
#include "cmd/command.h"
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

int loaded__open(const char *directory, struct loaded *loaded)
{
    struct error error;
    struct stat status;
    *loaded = (struct loaded){0};
    if (stat(directory, &status) < 0 && errno == ENOENT) {
        say("no trace at %s: record one first: heurt record ./program", directory);
        return EXIT_HEURT;
    }
    if (trace__open(directory, &loaded->trace, &error) < 0)
        return failed(&error);
    loaded->symbols = load_symbols(directory, loaded->trace);
    loaded->run = run__of(loaded->trace, loaded->symbols);
    loaded->rule_list = VEC_OF(struct profile_rule);
    loaded->report = (struct report){.trace = loaded->trace,
                                     .symbols = loaded->symbols,
                                     .directory = directory,
                                     .trace_bytes = trace_bytes(directory)};
    return 0;
}

void loaded__ask_profile_by(struct loaded *loaded, enum class_view view, const struct vec *rules,
                            double threshold)
{
    loaded->profile_options = (struct profile_options){view, rules, threshold};
    run__ask(&loaded->run, &profile_analysis, &loaded->profile_options);
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
    int code = run__analyse(&loaded->run, &error);
    loaded->report.profile = loaded->profile = run__result(&loaded->run, &profile_analysis);
    loaded->report.findings = run__result(&loaded->run, &findings_analysis);
    return code < 0 ? failed(&error) : 0;
}

int loaded__profile(struct loaded *loaded, enum class_view view)
{
    int status = loaded__ask_profile(loaded, view);
    return status ? status : loaded__analyse(loaded);
}

void loaded__close(struct loaded *loaded)
{
    run__free(&loaded->run);
    rules__free_list(&loaded->rule_list);
    rules__free(&loaded->rules);
    symbols__free(loaded->symbols);
    trace__close(loaded->trace);
}

bool class_view__parse(const char *text, void *view)
{
    bool structure = strcmp(text, "structure") == 0;
    *(enum class_view *)view = structure ? CLASSES_BY_STRUCTURE : CLASSES_BY_SITE;
    return structure || strcmp(text, "site") == 0;
}
