/* dlopener.c: opens plugin.so, calls it a known number of times, closes it, and again.
 *
 *     dlopener [PATH]       of the library; else plugin.so beside this program */
#include "known.h"

#include <dlfcn.h>

enum { ROUNDS = 20, CALLS = 100, LOCKS = 10 };

static void one_round(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "dlopener: %s\n", dlerror());
        exit(1);
    }
    long (*function)(long) = (long (*)(long))dlsym(library, "plugin_function");
    long (*locks)(long) = (long (*)(long))dlsym(library, "plugin_locks");
    KNOWN_CHECK(function && locks);
    for (long i = 0; i < CALLS; i++)
        KNOWN_CHECK(function(i) == 2 * i + 1);
    KNOWN_CHECK(locks(LOCKS) == LOCKS);
    KNOWN_CHECK(dlclose(library) == 0);
}

int main(int argc, char **argv)
{
    char path[4096];
    if (argc > 1) {
        snprintf(path, sizeof path, "%s", argv[1]);
    } else {
        ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
        KNOWN_CHECK(length > 0);
        path[length] = '\0';
        strcpy(strrchr(path, '/') + 1, "plugin.so");
    }
    for (int i = 0; i < ROUNDS; i++)
        one_round(path);
    known__number("plugin_function", ROUNDS * CALLS);
    known__number("plugin_locks", ROUNDS);
    known__number("mutex_acquired", ROUNDS * LOCKS);
    return 0;
}
