#include "base/memory.h"
#include "base/text.h"
#include "import/import.h"
#include "import/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const struct importer *const importers[] = {
    &importer_uftrace, &importer_otf2,   &importer_paje,     &importer_ctf,
    &importer_perf,    &importer_chrome, &importer_perfetto, NULL};

static int cannot_read(const char *path, struct error *error)
{
    return error__set(error, -errno, "%.200s cannot be read: %s", path, strerror(errno));
}

int import_source__open(const char *path, struct import_source *source, struct error *error)
{
    struct stat status;
    memset(source, 0, sizeof *source);
    source->path = path;
    if (stat(path, &status) < 0)
        return cannot_read(path, error);
    source->is_directory = S_ISDIR(status.st_mode);
    if (source->is_directory)
        return 0;
    if (!S_ISREG(status.st_mode))
        return error__set(error, -EINVAL, "%.200s is neither a file nor a directory", path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd < 0 ? -1 : read(fd, source->head, IMPORT_HEAD_BYTES);
    int code = bytes < 0 ? cannot_read(path, error) : 0;
    source->head_bytes = bytes < 0 ? 0 : (size_t)bytes;
    if (fd >= 0)
        close(fd);
    return code;
}

int import_source__map(const struct import_source *source, const uint8_t **bytes, size_t *count,
                       struct error *error)
{
    struct stat status = {0};
    void *mapped = MAP_FAILED;
    int fd = open(source->path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0)
        mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    int code = mapped == MAP_FAILED ? cannot_read(source->path, error) : 0;
    if (fd >= 0)
        close(fd);
    *bytes = mapped;
    *count = (size_t)status.st_size;
    return code;
}

bool import_source__has(const struct import_source *source, const char *name)
{
    char *path = memory__format("%s/%s", source->path, name);
    bool has = source->is_directory && access(path, R_OK) == 0;
    free(path);
    return has;
}

const struct importer *importer__of(const struct import_source *source)
{
    for (const struct importer *const *importer = importers; *importer; importer++)
        if ((*importer)->recognises(source))
            return *importer;
    return NULL;
}

char *importer__names(void)
{
    char *names = NULL;
    for (const struct importer *const *importer = importers; *importer; importer++)
        names = text__join(names, importer[1] ? ", " : " and ", (*importer)->name);
    return names;
}
