#include "recorder/trace_names.h"

#include "recorder/cache.h"
#include "symbol/resolve.h"

#include <stdlib.h>

int trace_names__find(const struct trace *trace, struct symbols **symbols, struct error *error)
{
    char *cache = cache__directory("names");
    int code = symbols__resolve(trace, cache, symbols, error);
    free(cache);
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
