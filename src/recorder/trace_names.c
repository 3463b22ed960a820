#include "recorder/trace_names.h"

#include "patch/access.h"
#include "recorder/cache.h"
#include "recorder/memory_names.h"
#include "recorder/retry_sites.h"
#include "symbol/resolve.h"

#include <stdlib.h>
#include <string.h>

/* A file that sleeps are called from. */
struct sleeping_file {
    const char *path;
    struct module_functions *functions;
    struct code_accesses *accesses;
};

static struct sleeping_file *file_of(struct vec *files, const char *path)
{
    VEC_EACH (file, files, struct sleeping_file)
        if (strcmp(file->path, path) == 0)
            return file;
    struct sleeping_file file = {.path = path};
    struct error error;
    if (module_functions__open(path, &file.functions, &error) == 0)
        file.accesses = code_accesses__new(path, file.functions);
    else
        file.functions = NULL;
    return vec__push(files, &file);
}

static bool call_asks(struct vec *files, const struct trace *trace, const struct sleep_site *site)
{
    VEC_EACH (process, trace__processes(trace), struct trace_process) {
        const struct trace_module *module =
            process->serial == site->process
                ? trace_process__module(process, site->address, UINT64_MAX - 1)
                : NULL;
        const struct sleeping_file *file = module ? file_of(files, module->path) : NULL;
        uint64_t offset;
        if (file && file->functions &&
            module_functions__offset(file->functions, site->address - module->bias, &offset))
            return code_accesses__call_asks(file->accesses, offset);
    }
    return false;
}

/* What the loops around sleeps do is told by the program's files, which a report may not have. */
static void find_asking_sleeps(const struct trace *trace, struct symbols *symbols)
{
    const struct sleep_site *sites;
    struct vec files = VEC_OF(struct sleeping_file);
    size_t count = symbols__sleeps(symbols, &sites);
    for (size_t i = 0; i < count; i++)
        if (call_asks(&files, trace, &sites[i]))
            symbols__put_sleep(symbols, (uint32_t)sites[i].process, sites[i].address, true);
    VEC_EACH (file, &files, struct sleeping_file) {
        code_accesses__free(file->accesses);
        module_functions__close(file->functions);
    }
    vec__free(&files);
}

int trace_names__find(const struct trace *trace, struct symbols **symbols, struct error *error)
{
    char *cache = cache__directory("names");
    int code = symbols__resolve(trace, cache, symbols, error);
    free(cache);
    if (code == 0) {
        find_asking_sleeps(trace, *symbols);
        retry_sites__find(trace, *symbols);
        memory_names__find(trace, *symbols, false);
    }
    return code;
}

int trace_names__keep(const struct trace *trace, const char *directory, struct error *error)
{
    struct symbols *symbols = NULL;
    int code = trace_names__find(trace, &symbols, error);
    if (code == 0)
        code = symbols__save(symbols, directory, error);
    symbols__free(symbols);
    return code;
}
