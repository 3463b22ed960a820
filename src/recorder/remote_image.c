#include "recorder/remote_image.h"

#include "base/memory.h"
#include "base/text.h"
#include "format/attach_layout.h"
#include "kernel/process_map.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Functions of an allocator that are not told by symbols lie beside those that are. */
#define ALLOCATOR_BEFORE 0x4000u
#define ALLOCATOR_BEHIND 0x1000u

struct image_reading {
    pid_t pid;
    struct remote_image *image;
    char *last; /* path of the file whose code was looked at last */
};

/* What is looked for in a file's dynamic symbols. */
struct found {
    uint64_t bias;
    struct address_range allocator, walk; /* malloc and its kin; dl_iterate_phdr */
    uint64_t dlopen, dlopen_mode;
    bool is_libc;
    struct remote_image own; /* addresses of heurt's library */
};

bool address_range__has(const struct address_range *range, uint64_t address)
{
    return address >= range->start && address < range->end;
}

static void widen(struct address_range *range, uint64_t start, uint64_t end)
{
    range->start = !range->end || start < range->start ? start : range->start;
    range->end = end > range->end ? end : range->end;
}

static bool is_of_allocator(const char *name)
{
    static const char *const names[] = {
        "malloc",  "free",        "calloc",         "realloc",     "memalign",     "valloc",
        "pvalloc", "malloc_trim", "posix_memalign", "malloc_info", "malloc_stats", "mallopt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void note(struct found *found, const char *name, uint64_t at, uint64_t end)
{
    struct remote_image *own = &found->own;
    const struct {
        const char *name;
        uint64_t *address;
    } wanted[] = {{"dlopen", &found->dlopen},
                  {"__libc_dlopen_mode", &found->dlopen_mode},
                  {HEURT_ATTACH_ENTER, &own->enter},
                  {HEURT_ATTACH_LOOK, &own->look},
                  {HEURT_ATTACH_RELEASE, &own->release},
                  {HEURT_ATTACH_SWEEP, &own->sweep},
                  {HEURT_ATTACHMENT, &own->attachment}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strcmp(name, wanted[i].name) == 0)
            *wanted[i].address = at;
    found->is_libc |= strcmp(name, "gnu_get_libc_version") == 0;
    if (is_of_allocator(name))
        widen(&found->allocator, at, end);
    else if (strcmp(name, "dl_iterate_phdr") == 0)
        widen(&found->walk, at, end);
}

static void read_symbols(Elf *elf, struct found *found)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM || !header.sh_entsize ||
            !(data = elf_getdata(section, NULL)))
            continue;
        for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF)
                continue;
            const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
            uint64_t at = found->bias + symbol.st_value;
            if (name)
                note(found, name, at, at + symbol.st_size);
        }
    }
}

/* From the segment that the range is of. */
static bool find_bias(Elf *elf, const struct mapped_range *range, uint64_t *bias)
{
    size_t count;
    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
            (header.p_offset & ~4095ull) != range->file_offset || !(header.p_flags & PF_X))
            continue;
        *bias = range->start - (header.p_vaddr & ~4095ull);
        return true;
    }
    return false;
}

/* The C library's code that returns from signal handlers. */
static uint64_t find_restorer(pid_t pid, const struct address_range *code)
{
    static const uint8_t wanted[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    size_t bytes = code->end - code->start;
    char path[64];
    uint64_t found = 0;
    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    int memory = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t *text = memory__zeroed(bytes, 1);
    ssize_t got = memory < 0 ? -1 : pread(memory, text, bytes, (off_t)code->start);
    const uint8_t *at = got > 0 ? memmem(text, (size_t)got, wanted, sizeof wanted) : NULL;
    if (at)
        found = code->start + (uint64_t)(at - text);
    free(text);
    if (memory >= 0)
        close(memory);
    return found;
}

static void push_unsafe(struct remote_image *image, uint64_t start, uint64_t end)
{
    struct address_range range = {start, end};
    vec__push(&image->unsafe, &range);
}

static void take_libc(struct image_reading *reading, const struct found *found,
                      const struct address_range *code)
{
    struct remote_image *image = reading->image;
    image->libc = *code;
    push_unsafe(image, found->allocator.start - ALLOCATOR_BEFORE,
                found->allocator.end + ALLOCATOR_BEHIND);
    push_unsafe(image, found->walk.start, found->walk.end);
    image->restorer = find_restorer(reading->pid, code);
}

static void take(struct image_reading *reading, const struct found *found,
                 const struct mapped_range *range, const char *name)
{
    struct remote_image *image = reading->image;
    const struct address_range code = {range->start, range->end};
    uint64_t dlopen = found->dlopen ? found->dlopen : found->dlopen_mode;
    if (strcmp(name, HEURT_ATTACH_FILE) == 0) {
        image->library = code;
        image->enter = found->own.enter;
        image->look = found->own.look;
        image->release = found->own.release;
        image->sweep = found->own.sweep;
        image->attachment = found->own.attachment;
    } else if (strcmp(name, "libheurt.so") == 0) {
        image->was_launched = true;
    } else if (strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld-2", 4) == 0) {
        image->has_loader = true;
        push_unsafe(image, code.start, code.end);
    } else if (found->is_libc) {
        take_libc(reading, found, &code);
        image->dlopen = dlopen ? dlopen : image->dlopen;
    } else if (found->allocator.end) {
        push_unsafe(image, code.start, code.end);
    } else if (!image->dlopen) {
        image->dlopen = dlopen;
    }
}

static void look_at(const struct mapped_range *range, const char *path, void *context)
{
    struct image_reading *reading = context;
    vec__push(&reading->image->maps, range);
    if (!range->executable || *path != '/' || !range->inode)
        return;
    reading->image->code_files++;
    if (reading->last && strcmp(reading->last, path) == 0)
        return;
    free(reading->last);
    reading->last = memory__text(path);
    char *file = memory__format("/proc/%d/root%s", reading->pid, path);
    int descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf *elf = descriptor < 0 ? NULL : elf_begin(descriptor, ELF_C_READ_MMAP, NULL);
    struct found found = {0};
    if (elf && find_bias(elf, range, &found.bias)) {
        read_symbols(elf, &found);
        take(reading, &found, range, path__name(path));
    }
    if (elf)
        elf_end(elf);
    if (descriptor >= 0)
        close(descriptor);
    free(file);
}

bool remote_image__read(pid_t pid, struct remote_image *image)
{
    struct image_reading reading = {pid, image, NULL};
    *image = (struct remote_image){.maps = VEC_OF(struct mapped_range),
                                   .unsafe = VEC_OF(struct address_range)};
    elf_version(EV_CURRENT);
    bool read = process_map__each(pid, look_at, &reading);
    free(reading.last);
    return read;
}

void remote_image__free(struct remote_image *image)
{
    vec__free(&image->maps);
    vec__free(&image->unsafe);
}
