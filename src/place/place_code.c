#include "place/place_code.h"

#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define READ_EVERY_NS 1000000000u

/* ---- what a process has mapped --------------------------------------------------------------- */

struct process_image_map process_image_map__new(void)
{
    return (struct process_image_map){.ranges = VEC_OF(struct mapped_range),
                                      .paths = VEC_OF(char *)};
}

static void forget(struct process_image_map *map)
{
    VEC_EACH (path, &map->paths, char *)
        free(*path);
    map->paths.count = map->ranges.count = 0;
}

void process_image_map__free(struct process_image_map *map)
{
    forget(map);
    vec__free(&map->ranges);
    vec__free(&map->paths);
}

static void add_range(const struct mapped_range *range, const char *path, void *context)
{
    struct process_image_map *map = context;
    char *own = *path ? memory__text(path) : NULL;
    vec__push(&map->ranges, range);
    vec__push(&map->paths, &own);
}

const struct mapped_range *process_image_map__find(struct process_image_map *map, pid_t pid,
                                                   uint64_t address, uint64_t now_ns)
{
    const struct mapped_range *range = process_map__find(&map->ranges, address);
    if (range || (map->read_ns && now_ns - map->read_ns < READ_EVERY_NS))
        return range;
    forget(map);
    map->read_ns = now_ns;
    process_map__each(pid, add_range, map);
    return process_map__find(&map->ranges, address);
}

const char *process_image_map__path(const struct process_image_map *map,
                                    const struct mapped_range *range)
{
    return *VEC_AT(&map->paths, char *, range - (const struct mapped_range *)map->ranges.items);
}

/* ---- files ----------------------------------------------------------------------------------- */

struct code_file_entry {
    uint64_t device, inode, used;
    char *path;
    struct module_functions *functions; /* NULL: it cannot be read */
    struct code_accesses *accesses;
};

struct place_code place_code__new(void)
{
    return (struct place_code){.files = VEC_OF(struct code_file_entry)};
}

static void close_file(struct code_file_entry *file)
{
    code_accesses__free(file->accesses);
    module_functions__close(file->functions);
    free(file->path);
}

void place_code__free(struct place_code *self)
{
    VEC_EACH (file, &self->files, struct code_file_entry)
        close_file(file);
    vec__free(&self->files);
}

static void open_file(struct code_file_entry *file)
{
    struct error error;
    struct stat about;
    if (stat(file->path, &about) < 0 || !S_ISREG(about.st_mode) ||
        about.st_size > (off_t)CODE_BYTES_MOST ||
        module_functions__open(file->path, &file->functions, &error) < 0)
        return;
    file->accesses = code_accesses__new(file->path, file->functions);
}

/* A new one, or the least used one's place. */
static struct code_file_entry *take_place(struct place_code *self)
{
    struct code_file_entry *least = NULL;
    if (self->files.count < CODE_FILES_MOST)
        return vec__push(&self->files, NULL);
    VEC_EACH (file, &self->files, struct code_file_entry)
        if (!least || file->used < least->used)
            least = file;
    close_file(least);
    return least;
}

static struct code_accesses *accesses_of(struct place_code *self, pid_t pid,
                                         const struct mapped_range *range, const char *path)
{
    self->uses++;
    VEC_EACH (file, &self->files, struct code_file_entry)
        if (file->device == range->device && file->inode == range->inode) {
            file->used = self->uses;
            return file->accesses;
        }
    struct code_file_entry *file = take_place(self);
    *file = (struct code_file_entry){.device = range->device,
                                     .inode = range->inode,
                                     .used = self->uses,
                                     .path = memory__format("/proc/%d/root%s", (int)pid, path)};
    open_file(file);
    return file->accesses;
}

/* ---- one sample ------------------------------------------------------------------------------ */

/* A word of the process that was sampled; false: it is gone, or that is not mapped. */
static bool read_word(void *context, uint64_t address, uint64_t *word)
{
    const struct record *of = context;
    struct iovec own = {word, sizeof *word}, other = {(void *)(uintptr_t)address, sizeof *word};
    return process_vm_readv((pid_t)of->pid, &own, 1, &other, 1, 0) == sizeof *word;
}

bool place_code__find(struct place_code *self, struct process_image_map *map,
                      const struct record *record, struct access *access)
{
    *access = (struct access){.kind = ACCESS_NONE};
    const struct mapped_range *range =
        process_image_map__find(map, (pid_t)record->pid, record->address, record->time_ns);
    const char *path = range && range->inode ? process_image_map__path(map, range) : NULL;
    if (!path || *path != '/')
        return false;
    struct code_accesses *accesses = accesses_of(self, (pid_t)record->pid, range, path);
    if (!accesses)
        return false;
    uint64_t loaded_at = range->start - range->file_offset, offset = record->address - loaded_at;
    *access = record->kind == RECORD_ACCESS
                  ? code_accesses__find(accesses, offset, NULL, 0, (struct memory_reader){0})
                  : code_accesses__find(accesses, offset,
                                        record->has_registers ? record->registers : NULL, loaded_at,
                                        (struct memory_reader){read_word, (void *)record});
    return true;
}
