#include "symbol/name.h"

#include "base/memory.h"

#include <fnmatch.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/* Only these prefixes are tried: a C function "f" is also a valid mangled type (float). */
static char *demangled(const char *symbol, int options)
{
    if (strncmp(symbol, "_Z", 2) == 0 || strncmp(symbol, "_R", 2) == 0 ||
        strncmp(symbol, "__Z", 3) == 0)
        return cplus_demangle(symbol, options | DMGL_AUTO);
    if (strncmp(symbol, "_D", 2) == 0)
        return cplus_demangle(symbol, options | DMGL_DLANG);
    return NULL;
}

/* Symbols of a shared library's static table may carry their version. */
static char *without_version(const char *symbol)
{
    char *name = memory__text(symbol);
    char *at = strchr(name, '@');
    if (at && at != name)
        *at = 0;
    return name;
}

char *symbol_name__demangle(const char *symbol)
{
    char *plain = without_version(symbol);
    char *name = demangled(plain, DMGL_PARAMS | DMGL_ANSI);
    if (!name)
        return plain;
    free(plain);
    return name;
}

static void cut_number(char *name)
{
    char *dot = strrchr(name, '.');
    if (dot && dot != name && dot[1] && dot[1 + strspn(dot + 1, "0123456789")] == 0)
        *dot = 0;
}

/* What gcc and clang call the lock of "#pragma omp critical(NAME)". */
static char *critical_section(const char *symbol)
{
    static const char prefix[] = ".gomp_critical_user_";
    size_t length = strlen(symbol);
    if (strncmp(symbol, prefix, sizeof prefix - 1) != 0)
        return NULL;
    if (length > 4 && strcmp(symbol + length - 4, ".var") == 0)
        length -= 4;
    if (length <= sizeof prefix - 1) /* as the runtime calls it for gcc's (hook_openmp.c) */
        return memory__text("critical(unnamed)");
    return memory__format("critical(%.*s)", (int)(length - (sizeof prefix - 1)),
                          symbol + sizeof prefix - 1);
}

char *symbol_name__variable(const char *symbol)
{
    char *critical = critical_section(symbol);
    if (critical)
        return critical;
    char *plain = without_version(symbol);
    cut_number(plain);
    char *name = demangled(plain, DMGL_ANSI);
    if (!name)
        return plain;
    free(plain);
    return name;
}

static bool is_or_matches(const char *pattern, const char *name)
{
    return name && (strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0);
}

bool symbol_name__matches(const char *pattern, const char *symbol)
{
    char *plain = without_version(symbol);
    char *whole = demangled(plain, DMGL_PARAMS | DMGL_ANSI);
    char *bare = whole ? demangled(plain, DMGL_ANSI) : NULL;
    bool matches = is_or_matches(pattern, plain) || is_or_matches(pattern, whole) ||
                   is_or_matches(pattern, bare);
    free(plain);
    free(whole);
    free(bare);
    return matches;
}

bool symbol_name__is_place(const char *symbol)
{
    return strncmp(symbol, "+0x", 3) == 0;
}
