#include "recorder/cache.h"

#include "base/memory.h"

#include <stdlib.h>

char *cache__directory(const char *kind)
{
    const char *named = getenv("HEURT_CACHE");
    const char *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (named)
        return *named ? memory__format("%s/%s", named, kind) : NULL;
    if (caches && *caches == '/') /* others are to be ignored (XDG Base Directory) */
        return memory__format("%s/heurt/%s", caches, kind);
    return home && *home == '/' ? memory__format("%s/.cache/heurt/%s", home, kind) : NULL;
}
