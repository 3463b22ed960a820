#include "recorder/install.h"

#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Relative to the directory of the executable: installed, then the build tree. */
static const char *const places[] = {
    "../lib/heurt/" RUNTIME_FILE,
    "../lib64/heurt/" RUNTIME_FILE,
    "../lib/x86_64-linux-gnu/heurt/" RUNTIME_FILE,
    "../runtime/" RUNTIME_FILE,
};

static int accept(char *found, char **path, struct error *error)
{
    if (strpbrk(found, " :")) {
        error__set(error, -EINVAL,
                   "the loader cannot preload %s: its path has a blank or a colon; install heurt "
                   "elsewhere",
                   found);
        free(found);
        return -EINVAL;
    }
    *path = found;
    return 0;
}

int runtime__find_beside(const char *executable, char **path, struct error *error)
{
    const char *slash = strrchr(executable, '/');
    int length = slash ? (int)(slash - executable) : 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *candidate = memory__format("%.*s/%s", length, executable, places[i]);
        char *found = realpath(candidate, NULL);
        free(candidate);
        if (found && access(found, R_OK) == 0)
            return accept(found, path, error);
        free(found);
    }
    return error__set(error, -ENOENT,
                      "the runtime %s was not found: neither %.*s/%s nor %s beside it is there; "
                      "install heurt again, or name the file in %s",
                      RUNTIME_FILE, length, executable, places[0],
                      places[sizeof places / sizeof places[0] - 1], RUNTIME_ENVIRONMENT);
}

int runtime__find(char **path, struct error *error)
{
    const char *named = getenv(RUNTIME_ENVIRONMENT);
    if (named && *named) {
        char *found = realpath(named, NULL);
        if (found && access(found, R_OK) == 0)
            return accept(found, path, error);
        int code = errno ? -errno : -ENOENT;
        free(found);
        return error__set(error, code, "the runtime that %s names cannot be read: %s: %s",
                          RUNTIME_ENVIRONMENT, named, strerror(-code));
    }
    char executable[PATH_MAX];
    ssize_t bytes = readlink("/proc/self/exe", executable, sizeof executable - 1);
    if (bytes < 0)
        return error__set(error, -errno,
                          "heurt cannot tell where it is installed (/proc/self/exe: %s); name the "
                          "runtime in %s",
                          strerror(errno), RUNTIME_ENVIRONMENT);
    executable[bytes] = 0;
    return runtime__find_beside(executable, path, error);
}

/* FILE in the runtime's folder, or one beside that. */
static char *find_in(const char *folder, const char *file)
{
    struct error error;
    char *runtime = NULL;
    if (runtime__find(&runtime, &error) < 0)
        return NULL;
    const char *slash = strrchr(runtime, '/');
    char *candidate =
        memory__format("%.*s/%s%s", slash ? (int)(slash - runtime) : 0, runtime, folder, file);
    char *found = realpath(candidate, NULL);
    free(candidate);
    free(runtime);
    return found;
}

char *runtime_sibling__find(const char *prefix, const char *name)
{
    char *file = memory__format("%s%s.so", prefix, name);
    char *found = find_in("", file);
    free(file);
    return found;
}

/* Installed they lie side by side, in the build tree in folders of their own. */
char *place_library__find(void)
{
    char *found = find_in("", PLACE_LIBRARY_FILE);
    return found ? found : find_in("../place/", PLACE_LIBRARY_FILE);
}
