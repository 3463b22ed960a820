#include "cmd/load.h"

#include "analysis/callsite/rules_file.h"
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
    loaded->report = (struct report){.trace = loaded->trace,
                                     .symbols = loaded->symbols,
                                     .directory = directory,
                                     .trace_bytes = trace_bytes(directory)};
    return 0;
}

int loaded__profile_by(struct loaded *loaded, enum class_view view, const struct vec *rules,
                       double threshold)
{
    struct error error;
    if (profile__compute_by(view, loaded->trace, loaded->symbols, rules, threshold,
                            &loaded->profile, &error) < 0)
        return failed(&error);
    loaded->report.profile = loaded->profile;
    return 0;
}

int loaded__profile(struct loaded *loaded, enum class_view view)
{
    struct rules rules;
    struct error error;
    int status;
    if (rules__load(loaded->report.directory, &rules, &error) < 0) {
        status = failed(&error);
    } else {
        struct vec list = rules__list(&rules);
        status = loaded__profile_by(loaded, view, &list, SCORE_THRESHOLD);
        rules__free_list(&list);
    }
    rules__free(&rules);
    return status;
}

void loaded__close(struct loaded *loaded)
{
    profile__free(loaded->profile);
    symbols__free(loaded->symbols);
    trace__close(loaded->trace);
}

bool class_view__parse(const char *text, void *view)
{
    bool structure = strcmp(text, "structure") == 0;
    *(enum class_view *)view = structure ? CLASSES_BY_STRUCTURE : CLASSES_BY_SITE;
    return structure || strcmp(text, "site") == 0;
}
