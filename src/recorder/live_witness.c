/* live_witness.c: whether what the trace says of a process is so. */
#include "kernel/process_map.h"
#include "recorder/live_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct witnessed_module {
    uint64_t start, end, bias;
};

enum {
    DATA_BYTES_MAX = 1 << 20, /* of the runtime, that are searched */
    MODULES_MAX = 1 << 16,
};

bool live_witness__is_own(pid_t pid)
{
    char path[64], line[256];
    unsigned real, effective, saved;
    bool is_own = false;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "Uid: %u %u %u", &real, &effective, &saved) == 3)
            is_own = real == geteuid() && effective == real && saved == real;
    if (in)
        fclose(in);
    return is_own;
}

static bool read_at(int memory, uint64_t address, void *to, size_t bytes)
{
    return pread(memory, to, bytes, (off_t)address) == (ssize_t)bytes;
}

static bool find_offers(struct heurt_offers *offers, int memory, const struct mapped_range *range)
{
    char magic[sizeof offers->magic];
    uint64_t end =
        range->end - range->start > DATA_BYTES_MAX ? range->start + DATA_BYTES_MAX : range->end;
    for (uint64_t at = range->start; at + sizeof *offers <= end; at += sizeof(uint64_t))
        if (read_at(memory, at, magic, sizeof magic) &&
            memcmp(magic, HEURT_OFFERS_MAGIC, sizeof magic) == 0)
            return read_at(memory, at, offers, sizeof *offers) && offers->count <= HEURT_OFFERS_MAX;
    return false;
}

static bool read_modules(struct live_witness *witness, int memory)
{
    const struct heurt_offers *offers = &witness->offers;
    uint32_t count;
    if (!read_at(memory, offers->module_count, &count, sizeof count) || count > MODULES_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct witnessed_module module;
        if (!read_at(memory, offers->modules + i * offers->module_bytes, &module, sizeof module))
            return false;
        vec__push(&witness->modules, &module);
    }
    return true;
}

bool live_witness__hear(struct live_witness *witness, pid_t pid, const char *library)
{
    *witness = (struct live_witness){.ranges = VEC_OF(struct mapped_range),
                                     .modules = VEC_OF(struct witnessed_module)};
    char path[64];
    struct stat runtime;
    bool heard = false;
    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    if (!library || stat(library, &runtime) != 0 || !live_witness__is_own(pid) ||
        !process_map__read(pid, &witness->ranges))
        return false;
    int memory = open(path, O_RDONLY | O_CLOEXEC);
    if (memory < 0)
        return false;
    VEC_EACH (range, &witness->ranges, const struct mapped_range)
        if (!heard && range->writable && !range->is_shared && range->inode == runtime.st_ino)
            heard = find_offers(&witness->offers, memory, range);
    heard = heard && read_modules(witness, memory);
    close(memory);
    return heard;
}

bool live_witness__confirms(const struct live_witness *witness, const struct trace_module *module)
{
    const struct mapped_range *range = process_map__find(&witness->ranges, module->start);
    struct stat status;
    if (!range || stat(module->path, &status) != 0 || status.st_ino != range->inode)
        return false;
    VEC_EACH (own, &witness->modules, const struct witnessed_module)
        if (own->start == module->start && own->end == module->end && own->bias == module->bias)
            return true;
    return false;
}

void live_witness__free(struct live_witness *witness)
{
    vec__free(&witness->ranges);
    vec__free(&witness->modules);
}
