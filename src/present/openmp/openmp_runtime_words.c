/* Runtimes of OpenMP of which not all is seen, or which are several, in a sentence each. */
#include "analysis/openmp/openmp_runtimes.h"
#include "base/memory.h"
#include "base/text.h"
#include "present/openmp/openmp_screens.h"

#include <stdlib.h>

static char *unseen_words(const struct openmp_runtime *runtime)
{
    const char *name = path__name(runtime->path);
    if (runtime->is_linked_in)
        return memory__format("A runtime of OpenMP is linked into %s: its calls are not seen, nor "
                              "its parallel regions. A build with the shared library tells them.",
                              name);
    if (!runtime->is_known)
        return memory__format("%s is a runtime of OpenMP that heurt does not know: its parallel "
                              "regions are not seen, functions and waits are.",
                              name);
    return memory__format("%s told of no parallel region: it has no interface for tools (OMPT), or "
                          "that is off or another tool's (OMP_TOOL, OMP_TOOL_LIBRARIES).",
                          name);
}

char *openmp_runtimes__words(const struct report *report)
{
    char *text = memory__text(""), *names = memory__text("");
    size_t left;
    struct vec runtimes = openmp_runtimes__of(report->trace, report->symbols, report->openmp);
    left = runtimes.count;
    VEC_EACH (runtime, &runtimes, const struct openmp_runtime) {
        bool is_unseen = !runtime->told && !trace__is_aggregated(report->trace);
        char *words = is_unseen ? unseen_words(runtime) : memory__text("");
        if (*words)
            text = text__join(text, " ", words);
        free(words);
        left--;
        names = text__append(names, "%s%s", path__name(runtime->path),
                             left > 1 ? ", "
                             : left   ? " and "
                                      : "");
    }
    if (runtimes.count > 1) {
        char *several = memory__format("Several runtimes of OpenMP have threads in this run (%s): "
                                       "each has its own for all CPUs.",
                                       names);
        text = text__join(text, " ", several);
        free(several);
    }
    free(names);
    vec__free(&runtimes);
    return text;
}
