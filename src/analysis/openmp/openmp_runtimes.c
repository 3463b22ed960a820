#include "analysis/openmp/openmp_runtimes.h"

#include "analysis/analysis.h"
#include "base/text.h"

#include <fnmatch.h>
#include <string.h>

struct runtime_file {
    const char *glob;
    bool is_known;
};

static const struct runtime_file files[] = {
    {"libgomp.so*", true},    {"libgomp-*.so*", true}, /* as Python's packages bring it along */
    {"libomp.so*", true},     {"libomp-*.so*", true},   {"libomp5.so*", true},
    {"libiomp5.so*", true},   {"libnvomp.so*", false},  /* of the compilers of NVIDIA, */
    {"libcraymp.so*", false}, {"libfjomp*.so*", false}, /* Cray, Fujitsu, */
    {"libxlsmp.so*", false},                            /* and IBM */
};

static const struct runtime_file *file_of(const char *path)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (fnmatch(files[i].glob, path__name(path), 0) == 0)
            return &files[i];
    return NULL;
}

bool openmp_runtime__is(const char *path)
{
    return file_of(path);
}

/* What it starts its threads with, by its name. */
static bool starts_threads(const struct symbol *symbol)
{
    static const char *const functions[] = {"gomp_thread_start", "__kmp_launch_worker"};
    for (size_t i = 0; symbol && i < sizeof functions / sizeof *functions; i++)
        if (strncmp(symbol->function, functions[i], strlen(functions[i])) == 0)
            return true;
    return false;
}

static struct openmp_runtime *runtime_at(struct vec *runtimes, const struct trace_module *module)
{
    VEC_EACH (runtime, runtimes, struct openmp_runtime)
        if (strcmp(runtime->path, module->path) == 0)
            return runtime;
    const struct runtime_file *file = file_of(module->path);
    return vec__push(runtimes, &(struct openmp_runtime){.path = module->path,
                                                        .is_linked_in = !file,
                                                        .is_known = !file || file->is_known});
}

struct vec openmp_runtimes__of(const struct trace *trace, const struct symbols *symbols,
                               const struct openmp_use *use)
{
    struct vec runtimes = VEC_OF(struct openmp_runtime);
    size_t at = 0;
    VEC_EACH (thread, trace__threads(trace), const struct trace_thread) {
        size_t number = at++;
        const struct trace_process *process = trace__process_at(trace, thread->process);
        const struct trace_module *module =
            trace_process__module(process, thread->start_routine, thread->start_tick);
        if (!module ||
            (!openmp_runtime__is(module->path) &&
             !starts_threads(symbols ? symbols__get(symbols, process->serial, thread->start_routine)
                                     : NULL)))
            continue;
        struct openmp_runtime *runtime = runtime_at(&runtimes, module);
        runtime->threads++;
        runtime->told += use && number < use->threads.count &&
                         VEC_AT(&use->threads, struct team_thread, number)->bodies > 0;
    }
    return runtimes;
}
