#include "recorder/environment.h"

#include "base/memory.h"
#include "base/vec.h"
#include "format/layout.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

#define ADDED 4 /* entries, behind all others */

/* The first entry of a list as LD_PRELOAD has it, to be freed, when it is a sanitizer's. */
static char *first_of_preloaded(const char *list)
{
    list += strspn(list, ": ");
    char *first = memory__format("%.*s", (int)strcspn(list, ": "), list);
    if (binary__wants_to_be_first(first))
        return first;
    free(first);
    return NULL;
}

/* Whether it is a program of MPI: it needs its library, or a launcher starts it; to which others
 * need not lead but by what they load. */
static bool may_have_mpi(const struct binary *binary)
{
    static const char *const variables[] = HEURT_MPI_VARIABLES;
    bool found = binary->needs_mpi;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        found |= getenv(variables[i]) != NULL;
    return found;
}

/* ":" and the path of what such a program gets beside the runtime; "": it is not there. To be
 * freed. */
static char *mpi_library(const char *library)
{
    const char *slash = strrchr(library, '/');
    char *entry = memory__format(":%.*s" HEURT_MPI_LIBRARY_FILE,
                                 slash ? (int)(slash + 1 - library) : 0, library);
    if (access(entry + 1, R_OK) != 0)
        entry[0] = 0;
    return entry;
}

/* What the user has in LD_PRELOAD stays as it is; the loader takes the last entry of that name.
 * What is in front of the runtime there, it takes away with itself. */
static char *preload_entry(const char *library, const struct binary *binary)
{
    const char *old = getenv("LD_PRELOAD");
    char *users = old ? first_of_preloaded(old) : NULL;
    const char *first = users ? users : binary->first_library;
    char *mpi = may_have_mpi(binary) ? mpi_library(library) : memory__text("");
    char *entry = memory__format("LD_PRELOAD=%s%s%s%s%s%s", first ? first : "", first ? ":" : "",
                                 library, mpi, old && *old ? ":" : "", old ? old : "");
    free(mpi);
    free(users);
    return entry;
}

/* The first of the two entries that fill up (HEURT_PAD): together with both take bytes. */
static char *pad(size_t bytes)
{
    size_t taken = bytes + 2 * sizeof HEURT_PAD "=" + ADDED * sizeof(char *);
    size_t length = -taken % HEURT_PAD_BYTES;
    char *entry = memory__zeroed(1, sizeof HEURT_PAD "=" + length);
    memcpy(entry, HEURT_PAD "=", sizeof HEURT_PAD);
    memset(entry + sizeof HEURT_PAD, '.', length);
    return entry;
}

static bool is_ours(const char *entry)
{
    return strncmp(entry, HEURT_ENVIRONMENT "=", sizeof HEURT_ENVIRONMENT) == 0 ||
           strncmp(entry, HEURT_PAD "=", sizeof HEURT_PAD) == 0;
}

char **environment__make(const char *library, const struct binary *binary, const char *trace)
{
    struct vec entries = VEC_OF(char *);
    for (char **entry = environ; *entry; entry++)
        if (!is_ours(*entry))
            vec__push(&entries, entry);
    char *added[ADDED] = {preload_entry(library, binary),
                          memory__format(HEURT_ENVIRONMENT "=%s", trace)};
    added[2] = pad(strlen(added[0]) + strlen(added[1]) + 2);
    added[3] = memory__format(HEURT_PAD "=");
    for (unsigned i = 0; i < ADDED; i++)
        vec__push(&entries, &added[i]);
    vec__push(&entries, NULL);
    return entries.items;
}

void environment__free(char **environment)
{
    size_t count = 0;
    if (!environment)
        return;
    while (environment[count])
        count++;
    for (unsigned i = 1; i <= ADDED; i++)
        free(environment[count - i]);
    free(environment);
}
