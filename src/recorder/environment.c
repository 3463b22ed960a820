#include "recorder/environment.h"

#include "base/memory.h"
#include "base/vec.h"
#include "format/layout.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

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

/* What is in front of the runtime, it takes away again with itself: what the user had in
 * LD_PRELOAD comes behind it, whole. */
static char *preload_entry(const char *library, const struct binary *binary)
{
    const char *old = getenv("LD_PRELOAD");
    char *users = old ? first_of_preloaded(old) : NULL;
    const char *first = users ? users : binary->first_library;
    char *entry = memory__format("LD_PRELOAD=%s%s%s%s%s", first ? first : "", first ? ":" : "",
                                 library, old && *old ? ":" : "", old ? old : "");
    free(users);
    return entry;
}

char **environment__make(const char *library, const struct binary *binary, const char *trace)
{
    struct vec entries = VEC_OF(char *);
    for (char **entry = environ; *entry; entry++)
        if (strncmp(*entry, "LD_PRELOAD=", 11) != 0 &&
            strncmp(*entry, HEURT_ENVIRONMENT "=", sizeof HEURT_ENVIRONMENT) != 0)
            vec__push(&entries, entry);
    char *preload = preload_entry(library, binary);
    char *where = memory__format(HEURT_ENVIRONMENT "=%s", trace);
    vec__push(&entries, &preload);
    vec__push(&entries, &where);
    vec__push(&entries, NULL);
    return entries.items;
}

void environment__free(char **environment)
{
    size_t count = 0;
    while (environment[count])
        count++;
    free(environment[count - 2]);
    free(environment[count - 1]);
    free(environment);
}
