#include "import/import_addresses.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "symbol/functions.h"
#include "symbol/image.h"
#include "symbol/lookup.h"
#include "symbol/name.h"
#include "symbol/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAPPINGS_MAX 100000u /* of a process, and of all */
#define INLINED_MAX 32

/* A file as it is mapped. */
struct mapped_file {
    struct trace_module module; /* what image.h wants of it */
    struct image *image;        /* NULL: there is no such file */
    uint8_t build_id[HEURT_BUILD_ID_MAX];
};

struct address_process {
    struct vec mapped;    /* struct mapped_file *, which all own; the last one holds */
    struct map functions; /* address -> function's id */
    struct map sites;     /* likewise -> site */
};

struct import_addresses {
    struct import *import;
    struct images images;
    struct map by_pid;    /* -> place in processes */
    struct vec processes; /* struct address_process */
    struct vec files;     /* struct mapped_file *: all there are */
    struct map biases;    /* path and offset -> address of that byte in the file */
};

struct import_addresses *import_addresses__new(struct import *import)
{
    struct import_addresses *addresses = memory__zeroed(1, sizeof *addresses);
    addresses->import = import;
    addresses->images = IMAGES;
    addresses->processes = VEC_OF(struct address_process);
    addresses->files = VEC_OF(struct mapped_file *);
    return addresses;
}

static void forget(struct address_process *process)
{
    map__free(&process->functions);
    map__free(&process->sites);
}

void import_addresses__free(struct import_addresses *addresses)
{
    VEC_EACH (process, &addresses->processes, struct address_process) {
        forget(process);
        vec__free(&process->mapped);
    }
    images__free(&addresses->images);
    VEC_EACH (file, &addresses->files, struct mapped_file *) {
        free((char *)(*file)->module.path);
        free(*file);
    }
    vec__free(&addresses->files);
    vec__free(&addresses->processes);
    map__free(&addresses->by_pid);
    map__free(&addresses->biases);
    free(addresses);
}

static struct address_process *process_of(struct import_addresses *addresses, uint32_t pid)
{
    uint64_t place =
        map__put(&addresses->by_pid, &pid, sizeof pid, (uint64_t)addresses->processes.count);
    if (place == addresses->processes.count) {
        const struct address_process process = {.mapped = VEC_OF(struct mapped_file *)};
        vec__push(&addresses->processes, &process);
    }
    return VEC_AT(&addresses->processes, struct address_process, place);
}

/* Sources name what they like: nothing else than a file is opened. */
static bool is_file(const char *path)
{
    struct stat status;
    return *path == '/' && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The address in the file of its byte at offset; where the file does not tell, offset itself. */
static uint64_t address_of_byte(struct import_addresses *addresses, const char *path,
                                uint64_t offset)
{
    char *key = memory__format("%" PRIx64 " %s", offset, path);
    uint64_t address = map__get(&addresses->biases, key, strlen(key));
    struct module_functions *functions;
    struct error error;
    if (address == MAP_ABSENT) {
        address = offset;
        if (is_file(path) && module_functions__open(path, &functions, &error) == 0) {
            if (!module_functions__address(functions, offset, &address))
                address = offset;
            module_functions__close(functions);
        }
        map__put(&addresses->biases, key, strlen(key), address);
    }
    free(key);
    return address;
}

static struct mapped_file *new_file(struct import_addresses *addresses,
                                    const struct import_mapping *mapping)
{
    struct mapped_file *file = memory__zeroed(1, sizeof *file);
    uint64_t in_file = address_of_byte(addresses, mapping->path, mapping->offset);
    file->module = (struct trace_module){.gone_tick = UINT64_MAX,
                                         .bias = mapping->start - in_file,
                                         .start = mapping->start,
                                         .end = mapping->end,
                                         .path = memory__text(mapping->path)};
    if (mapping->build_id_bytes && mapping->build_id_bytes <= sizeof file->build_id) {
        memcpy(file->build_id, mapping->build_id, mapping->build_id_bytes);
        file->module.build_id = file->build_id;
        file->module.build_id_bytes = mapping->build_id_bytes;
    }
    if (is_file(mapping->path))
        file->image = images__get(&addresses->images, &file->module);
    vec__push(&addresses->files, &file);
    return file;
}

void import_addresses__map(struct import_addresses *addresses, const struct import_mapping *mapping)
{
    struct address_process *process = process_of(addresses, mapping->pid);
    if (mapping->end <= mapping->start || addresses->files.count >= MAPPINGS_MAX ||
        process->mapped.count >= MAPPINGS_MAX)
        return;
    struct mapped_file *file = new_file(addresses, mapping);
    vec__push(&process->mapped, &file);
    forget(process);
}

void import_addresses__unmap(struct import_addresses *addresses, uint32_t pid, uint64_t start)
{
    struct address_process *process = process_of(addresses, pid);
    for (size_t i = process->mapped.count; i-- > 0;) {
        struct mapped_file **at = VEC_AT(&process->mapped, struct mapped_file *, i);
        if ((*at)->module.start != start)
            continue;
        memmove(at, at + 1, (process->mapped.count - i - 1) * sizeof *at);
        process->mapped.count--;
        forget(process);
        return;
    }
}

void import_addresses__fork(struct import_addresses *addresses, uint32_t child, uint32_t parent)
{
    process_of(addresses, child);
    struct address_process *from = process_of(addresses, parent), *to;
    to = process_of(addresses, child);
    if (from == to)
        return;
    forget(to);
    to->mapped.count = 0;
    VEC_EACH (file, &from->mapped, struct mapped_file *)
        vec__push(&to->mapped, file);
}

void import_addresses__exec(struct import_addresses *addresses, uint32_t pid)
{
    struct address_process *process = process_of(addresses, pid);
    forget(process);
    process->mapped.count = 0;
}

static const struct mapped_file *file_at(const struct address_process *process, uint64_t address)
{
    for (size_t i = process->mapped.count; i-- > 0;) {
        const struct mapped_file *file = *VEC_AT(&process->mapped, struct mapped_file *, i);
        if (address >= file->module.start && address < file->module.end)
            return file;
    }
    return NULL;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* What stands at an address in the file. free() name. */
struct address_name {
    char *name;
    const char *file; /* of the source, or NULL */
    uint32_t line;
};

static struct address_name name_at(struct import_addresses *addresses,
                                   const struct mapped_file *file, uint64_t address)
{
    struct source_frame frames[INLINED_MAX] = {0};
    const char *symbol = file->image ? image__symbol(file->image, address) : NULL;
    struct source *source =
        file->image && !image__is_c_library(file->image) ? image__source(file->image) : NULL;
    size_t count = source ? source__frames(source, address, frames, INLINED_MAX) : 0;
    const struct source_frame *frame = count ? &frames[count - 1] : &frames[0];
    symbol = symbol ? symbol : frame->name;
    if (!symbol && file->image)
        lookup__warn(import__symbols(addresses->import), file->image);
    return (struct address_name){
        .name = symbol
                    ? symbol_name__demangle(symbol)
                    : memory__format("[%s+0x%" PRIx64 "]", path__name(file->module.path), address),
        .file = frame->file,
        .line = frame->line,
    };
}

/* The function is the same at all of its addresses: it is told by its first one. */
static uint32_t name_function(struct import_addresses *addresses, uint32_t thread,
                              const struct mapped_file *file, uint64_t address)
{
    uint64_t start = file->image ? image__symbol_start(file->image, address) : address;
    struct address_name named = name_at(addresses, file, start);
    uint32_t id = import__function(addresses->import, thread, named.name, file->module.path,
                                   named.file, named.line);
    free(named.name);
    return id;
}

uint32_t import_addresses__function(struct import_addresses *addresses, uint32_t thread,
                                    uint32_t pid, uint64_t address)
{
    struct address_process *process = process_of(addresses, pid);
    uint64_t id = map__get(&process->functions, &address, sizeof address);
    if (id != MAP_ABSENT)
        return (uint32_t)id;
    const struct mapped_file *file = file_at(process, address);
    id = file ? name_function(addresses, thread, file, address - file->module.bias) : UINT32_MAX;
    map__put(&process->functions, &address, sizeof address, id);
    return (uint32_t)id;
}

uint64_t import_addresses__site(struct import_addresses *addresses, uint32_t thread, uint32_t pid,
                                uint64_t address)
{
    struct address_process *process = process_of(addresses, pid);
    uint64_t site = map__get(&process->sites, &address, sizeof address);
    if (site != MAP_ABSENT)
        return site;
    const struct mapped_file *file = file_at(process, address - 1);
    site = 0;
    if (file) {
        struct address_name named = name_at(addresses, file, address - 1 - file->module.bias);
        site = import__site(addresses->import, thread, named.name, file->module.path, named.file,
                            named.line);
        free(named.name);
    }
    map__put(&process->sites, &address, sizeof address, site);
    return site;
}

void import_addresses__name_object(struct import_addresses *addresses, uint32_t thread,
                                   uint32_t pid, uint64_t address)
{
    const struct mapped_file *file = file_at(process_of(addresses, pid), address);
    struct space space;
    if (!file || !file->image)
        return;
    space__start(&space, &addresses->images, &file->module, 1, NULL);
    lookup__put_variable(import__symbols(addresses->import),
                         import__process_of(addresses->import, thread), &space, address, 0);
    space__end(&space);
}
