#include "kernel/hotspots.h"

#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct mapping {
    uint64_t start, end; /* end: one past */
    uint64_t file_offset;
    uint32_t module;
};

/* An address space that is or was in use. */
struct process {
    struct vec mappings; /* struct mapping, by start, none over another */
    uint32_t threads;
};

struct hotspots {
    struct vec modules; /* struct hotspots_module */
    struct map module_of_path;
    struct vec spots; /* struct hotspot */
    struct map spot_of_place;
    struct vec processes; /* struct process; a pid that is used again gets the same place */
    struct map process_of_pid;
    struct hotspots_totals totals;
};

struct hotspots *hotspots__new(void)
{
    struct hotspots *hotspots = memory__zeroed(1, sizeof *hotspots);
    hotspots->modules = VEC_OF(struct hotspots_module);
    hotspots->spots = VEC_OF(struct hotspot);
    hotspots->processes = VEC_OF(struct process);
    return hotspots;
}

void hotspots__free(struct hotspots *hotspots)
{
    VEC_EACH (module, &hotspots->modules, struct hotspots_module)
        free(module->path);
    VEC_EACH (process, &hotspots->processes, struct process)
        vec__free(&process->mappings);
    vec__free(&hotspots->modules);
    vec__free(&hotspots->spots);
    vec__free(&hotspots->processes);
    map__free(&hotspots->module_of_path);
    map__free(&hotspots->spot_of_place);
    map__free(&hotspots->process_of_pid);
    free(hotspots);
}

/* What the kernel calls memory without a file. */
static const char *plain_name(const char *path)
{
    static const char *const anonymous[] = {"//anon",  "[heap]", "[stack]",    "/dev/zero",
                                            "/memfd:", "/SYSV",  "anon_inode:"};
    for (size_t i = 0; i < sizeof anonymous / sizeof anonymous[0]; i++)
        if (strncmp(path, anonymous[i], strlen(anonymous[i])) == 0)
            return "[anonymous memory]";
    return path;
}

static uint32_t module_of(struct hotspots *hotspots, const char *path)
{
    const char *name = plain_name(path);
    uint64_t next = hotspots->modules.count;
    uint64_t index = map__put(&hotspots->module_of_path, name, strlen(name), next);
    if (index == next) {
        struct hotspots_module module = {memory__text(name), name[0] == '/'};
        vec__push(&hotspots->modules, &module);
    }
    return (uint32_t)index;
}

static struct process *process_of(struct hotspots *hotspots, uint32_t pid)
{
    uint64_t next = hotspots->processes.count;
    uint64_t index = map__put(&hotspots->process_of_pid, &pid, sizeof pid, next);
    if (index == next) {
        struct process process = {VEC_OF(struct mapping), 1};
        vec__push(&hotspots->processes, &process);
        hotspots->totals.processes++;
    }
    return VEC_AT(&hotspots->processes, struct process, index);
}

/* Index of the first mapping that ends after address. */
static size_t position_of(const struct process *process, uint64_t address)
{
    return VEC_FIRST(mapping, &process->mappings, struct mapping, mapping->end > address);
}

static void insert_at(struct vec *mappings, size_t at, const struct mapping *mapping)
{
    vec__push(mappings, NULL);
    struct mapping *items = mappings->items;
    memmove(items + at + 1, items + at, (mappings->count - 1 - at) * sizeof *items);
    items[at] = *mapping;
}

static void remove_at(struct vec *mappings, size_t at)
{
    struct mapping *items = mappings->items;
    memmove(items + at, items + at + 1, (mappings->count - 1 - at) * sizeof *items);
    mappings->count--;
}

/* Frees the addresses [start, end): cuts and drops what lay there. */
static size_t make_room(struct process *process, uint64_t start, uint64_t end)
{
    struct vec *mappings = &process->mappings;
    size_t at = position_of(process, start);
    if (at < mappings->count && VEC_AT(mappings, struct mapping, at)->start < start) {
        struct mapping before = *VEC_AT(mappings, struct mapping, at);
        before.end = start;
        insert_at(mappings, at++, &before);
    }
    while (at < mappings->count && VEC_AT(mappings, struct mapping, at)->end <= end)
        remove_at(mappings, at);
    if (at < mappings->count && VEC_AT(mappings, struct mapping, at)->start < end) {
        struct mapping *after = VEC_AT(mappings, struct mapping, at);
        after->file_offset += end - after->start;
        after->start = end;
    }
    return at;
}

static void take_map(struct hotspots *hotspots, const struct record *record)
{
    if (!record->length)
        return;
    struct process *process = process_of(hotspots, record->pid);
    struct mapping mapping = {record->address, record->address + record->length,
                              record->file_offset, module_of(hotspots, record->path)};
    size_t at = make_room(process, mapping.start, mapping.end);
    insert_at(&process->mappings, at, &mapping);
}

static void take_fork(struct hotspots *hotspots, const struct record *record)
{
    if (record->pid == record->parent_pid) {
        process_of(hotspots, record->pid)->threads++;
        return;
    }
    process_of(hotspots, record->parent_pid); /* the vec must not move between the next two */
    struct process *child = process_of(hotspots, record->pid);
    const struct process *parent = process_of(hotspots, record->parent_pid);
    child->threads = 1;
    child->mappings.count = 0;
    VEC_EACH (mapping, &parent->mappings, const struct mapping)
        vec__push(&child->mappings, mapping);
}

static void take_exit(struct hotspots *hotspots, const struct record *record)
{
    struct process *process = process_of(hotspots, record->pid);
    if (process->threads)
        process->threads--;
    if (!process->threads)
        vec__free(&process->mappings);
}

/* exec leaves one thread and no mapping of the old program. */
static void take_exec(struct hotspots *hotspots, const struct record *record)
{
    struct process *process = process_of(hotspots, record->pid);
    process->mappings.count = 0;
    process->threads = 1;
}

bool hotspots__find(const struct hotspots *hotspots, uint32_t pid, uint64_t address,
                    uint32_t *module, uint64_t *file_offset)
{
    uint64_t index = map__get(&hotspots->process_of_pid, &pid, sizeof pid);
    if (index == MAP_ABSENT)
        return false;
    const struct process *process = VEC_AT(&hotspots->processes, struct process, index);
    size_t at = position_of(process, address);
    const struct mapping *mapping = VEC_AT(&process->mappings, struct mapping, at);
    if (at == process->mappings.count || mapping->start > address)
        return false;
    *module = mapping->module;
    *file_offset = address - mapping->start + mapping->file_offset;
    return VEC_AT(&hotspots->modules, struct hotspots_module, mapping->module)->is_file;
}

static struct hotspot place_of(struct hotspots *hotspots, const struct record *record)
{
    struct hotspot place = {.module = UINT32_MAX};
    if (record->in_kernel)
        return (struct hotspot){.module = module_of(hotspots, "[kernel]")};
    process_of(hotspots, record->pid);
    if (!hotspots__find(hotspots, record->pid, record->address, &place.module, &place.file_offset))
        place.file_offset = 0;
    if (place.module == UINT32_MAX)
        place.module = module_of(hotspots, "[unknown]");
    return place;
}

static void take_sample(struct hotspots *hotspots, const struct record *record)
{
    struct hotspot place = place_of(hotspots, record);
    uint64_t key[2] = {place.module, place.file_offset};
    uint64_t next = hotspots->spots.count;
    uint64_t index = map__put(&hotspots->spot_of_place, key, sizeof key, next);
    if (index == next)
        vec__push(&hotspots->spots, &place);
    struct hotspot *spot = VEC_AT(&hotspots->spots, struct hotspot, index);
    spot->samples++;
    spot->weight_ns += record->weight_ns;
    hotspots->totals.samples++;
    hotspots->totals.weight_ns += record->weight_ns;
}

void hotspots__take(const struct record *record, void *context)
{
    struct hotspots *hotspots = context;
    switch (record->kind) {
    case RECORD_SAMPLE:
        take_sample(hotspots, record);
        break;
    case RECORD_MAP:
        take_map(hotspots, record);
        break;
    case RECORD_EXEC:
        take_exec(hotspots, record);
        break;
    case RECORD_FORK:
        take_fork(hotspots, record);
        break;
    case RECORD_EXIT:
        take_exit(hotspots, record);
        break;
    case RECORD_LOST:
        hotspots->totals.lost += record->count;
        break;
    case RECORD_THROTTLED:
        hotspots->totals.throttled++;
        break;
    case RECORD_ACCESS:
    case RECORD_OTHER:
        break;
    }
}

void hotspots__forget(struct hotspots *hotspots)
{
    vec__free(&hotspots->spots);
    hotspots->spots = VEC_OF(struct hotspot);
    map__free(&hotspots->spot_of_place);
    hotspots->totals.samples = hotspots->totals.weight_ns = 0;
}

const struct vec *hotspots__modules(const struct hotspots *hotspots)
{
    return &hotspots->modules;
}

const struct vec *hotspots__spots(const struct hotspots *hotspots)
{
    return &hotspots->spots;
}

struct hotspots_totals hotspots__totals(const struct hotspots *hotspots)
{
    return hotspots->totals;
}
