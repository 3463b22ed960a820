/* fuzz_import.c: libFuzzer over the importers whose code is heurt's own. The first byte tells
 * which:
 *
 *     'c' Chrome JSON, 'j' Paje, 'p' perf.data, 'f' Perfetto: the rest is the file
 *     'd', 't', 'm', 's' uftrace: the rest is a thread's records, task.txt, the map or the symbols
 * of a directory whose other files are well-formed
 *
 * Sources lie in a directory of the process, in memory where the machine has /dev/shm. */
#include "import/import.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const char task[] = "SESS timestamp=1.5 pid=7 sid=12 exename=\"/bin/a\"\n"
                           "TASK timestamp=1.6 tid=7 pid=7\n";
static const char map[] = "1000-9000 r-xp 00000000 00:00 0    /bin/a build-id:00\n";
static const char symbols[] = "# symbols: 2\n0000000000000010 T f\n0000000000000100 T g\n";
static const uint64_t records[] = {1000, 0x1010ull << 16 | 0x28, 2000, 0x1010ull << 16 | 0x29};

static void write_file(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(name, "we");
    if (!file || (count && fwrite(bytes, 1, count, file) != count) || fclose(file) != 0)
        abort();
}

static void enter_directory(void)
{
    static char path[64];
    if (*path)
        return;
    snprintf(path, sizeof path, "/dev/shm/heurt-fuzz-%d", (int)getpid());
    if ((mkdir(path, 0700) < 0 || chdir(path) < 0) &&
        (mkdir(path + sizeof "/dev/shm", 0700) < 0 || chdir(path + sizeof "/dev/shm") < 0))
        abort();
    if (mkdir("u", 0700) < 0)
        abort();
    write_file("u/info", "", 0);
}

/* What is wanted of one of the files; else it is well-formed. */
#define PUT(wanted, name, well)                                               \
    write_file(name, *bytes == (wanted) ? (const void *)(bytes + 1) : (well), \
               *bytes == (wanted) ? count - 1 : sizeof(well) - ((wanted) != 'd'))

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct import_source source;
    struct import_outcome outcome;
    struct error error;
    if (count == 0 || *bytes == 0 || !strchr("cdjmfpst", *bytes))
        return 0;
    enter_directory();
    PUT('t', "u/task.txt", task);
    PUT('m', "u/sid-12.map", map);
    PUT('s', "u/a.sym", symbols);
    PUT('d', "u/7.dat", records);
    write_file("file", bytes + 1, count - 1);
    const char *name = *bytes == 'c'   ? "Chrome JSON"
                       : *bytes == 'j' ? "Paje"
                       : *bytes == 'p' ? "perf.data"
                       : *bytes == 'f' ? "Perfetto"
                                       : "uftrace";
    const char *path = strcmp(name, "uftrace") == 0 ? "u" : "file";
    if (import_source__open(path, &source, &error) < 0)
        abort();
    for (const struct importer *const *importer = importers; *importer; importer++)
        if (strcmp((*importer)->name, name) == 0)
            importer__run(*importer, &source, "trace", &outcome, &error);
    return 0;
}
