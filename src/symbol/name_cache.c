#include "symbol/name_cache.h"

#include "base/descriptor.h"
#include "base/memory.h"
#include "symbol/kept_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC "heurtnam"
#define ENDING ".names"

enum {
    FILE_BYTES_MAX = 1 << 20,       /* a longer one is begun anew: it would take too long to load */
    DIRECTORY_BYTES_MAX = 64 << 20, /* the oldest go */
};

/* Behind it stand the path and the text. */
struct name_cache_header {
    char magic[8];
    struct kept_identity of;
    uint64_t path_bytes; /* its zero included: labels of what has no name tell the file's */
};

static struct name_cache_header header_of(const char *path, const struct trace_module *module)
{
    return (struct name_cache_header){
        .magic = MAGIC,
        .of = kept_identity__of(path, module->build_id, module->build_id_bytes),
        .path_bytes = strlen(path) + 1,
    };
}

/* A file and its stripped copy have one build-id. FNV-1a of the path tells them apart. */
static char *place_of(const char *directory, const char *path, const struct trace_module *module)
{
    uint32_t hash = 0x811c9dc5;
    for (const char *at = path; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 0x01000193;
    char *ending = memory__format("-%08x" ENDING, hash);
    char *place = kept_file__path(directory, module->build_id, module->build_id_bytes, ending);
    free(ending);
    return place;
}

static struct symbols *load(int fd, size_t bytes, const struct name_cache_header *expected,
                            const char *path)
{
    size_t before = sizeof *expected + expected->path_bytes;
    struct symbols *names = NULL;
    struct error error;
    if (bytes < before || bytes > FILE_BYTES_MAX)
        return NULL;
    char *content = memory__zeroed(bytes, 1);
    if (descriptor__read_all(fd, content, bytes) &&
        memcmp(content, expected, sizeof *expected) == 0 &&
        memcmp(content + sizeof *expected, path, expected->path_bytes) == 0)
        symbols__load_memory(content + before, bytes - before, &names, &error);
    free(content);
    return names;
}

struct symbols *name_cache__load(const char *directory, const char *path,
                                 const struct trace_module *module)
{
    if (!module->build_id_bytes)
        return NULL;
    struct name_cache_header expected = header_of(path, module);
    if (!expected.of.file.bytes)
        return NULL;
    struct stat status;
    char *kept = place_of(directory, path, module);
    int fd = kept_file__open(kept, &status);
    struct symbols *names = fd >= 0 ? load(fd, (size_t)status.st_size, &expected, path) : NULL;
    if (fd >= 0)
        close(fd);
    free(kept);
    return names ? names : symbols__new();
}

struct content {
    struct name_cache_header header;
    const char *path;
    const struct symbols *names;
};

static bool write_content(int fd, void *context)
{
    const struct content *content = context;
    size_t bytes;
    char *text = symbols__text(content->names, &bytes);
    bool written = descriptor__write_all(fd, &content->header, sizeof content->header) &&
                   descriptor__write_all(fd, content->path, content->header.path_bytes) &&
                   descriptor__write_all(fd, text, bytes);
    free(text);
    return written;
}

void name_cache__save(const char *directory, const char *path, const struct trace_module *module,
                      const struct symbols *names)
{
    struct content content = {header_of(path, module), path, names};
    char *kept = place_of(directory, path, module);
    kept_file__save(directory, kept, ENDING, DIRECTORY_BYTES_MAX, write_content, &content);
    free(kept);
}
