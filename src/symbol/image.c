#include "symbol/image.h"

#include "base/descriptor.h"
#include "base/memory.h"
#include "symbol/debug_file.h"
#include "symbol/interval.h"
#include "symbol/name_cache.h"
#include "symbol/source.h"
#include "symbol/unwind.h"
#include "symbol/variable.h"

#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = debug_file__find,
};

/* Of several symbols at one address the most official name is shown. */
static uint32_t rank_of(const GElf_Sym *symbol, const char *name)
{
    uint32_t rank = GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE ? 0 : 8;
    rank += symbol->st_size ? 4 : 0;
    rank += GELF_ST_BIND(symbol->st_info) == STB_LOCAL ? 0 : 2;
    return rank + (name[0] == '_' ? 0 : 1);
}

/* ".L…" are labels of the compiler's, in a function: clang's assembler keeps some. */
static bool is_code_symbol(const GElf_Sym *symbol, const char *name)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    return name && *name && *name != '$' && strncmp(name, ".L", 2) != 0 &&
           (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

/* One past the executable section that a symbol of this index lies in, else 0. */
static uint64_t end_of_code_section(Elf *elf, GElf_Word index, uint64_t bias)
{
    GElf_Shdr header;
    Elf_Scn *section = index && index < SHN_LORESERVE ? elf_getscn(elf, index) : NULL;
    if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
        return 0;
    return header.sh_addr + header.sh_size + bias;
}

/* A symbol without a size (hand-written assembly) reaches to the next symbol at most. */
static void end_sizeless_symbols(struct vec *symbols)
{
    uint64_t next = UINT64_MAX, start = UINT64_MAX;
    for (size_t i = symbols->count; i-- > 0;) {
        struct address_interval *symbol = VEC_AT(symbols, struct address_interval, i);
        if (symbol->start != start) {
            next = start;
            start = symbol->start;
        }
        if (!(symbol->rank & 4) && symbol->end > next)
            symbol->end = next;
    }
}

static void read_symbols(struct image *image)
{
    image->has_symbols = true;
    int count = dwfl_module_getsymtab(image->module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address, bias;
        GElf_Word section;
        Elf *elf;
        const char *name =
            dwfl_module_getsym_info(image->module, i, &symbol, &address, &section, &elf, &bias);
        if (!is_code_symbol(&symbol, name))
            continue;
        uint64_t end = end_of_code_section(elf, section, bias);
        if (!end)
            continue;
        if (symbol.st_size)
            end = address + symbol.st_size;
        intervals__add(&image->symbols, address, end, rank_of(&symbol, name),
                       (uint32_t)image->names.count);
        vec__push(&image->names, &name);
    }
    intervals__sort(&image->symbols);
    end_sizeless_symbols(&image->symbols);
    intervals__sort(&image->symbols);
}

static bool has_section(Elf *elf, GElf_Word type, const char *name)
{
    size_t names;
    if (!elf || elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        const char *found = elf_strptr(elf, names, header.sh_name);
        if (header.sh_type == type && (!name || (found && strcmp(found, name) == 0)))
            return true;
    }
    return false;
}

static void read_segments(struct image *image, Elf *elf)
{
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
            continue;
        uint64_t end = header.p_vaddr + header.p_memsz;
        if (header.p_flags & PF_X)
            intervals__add(&image->code, header.p_vaddr, end, 0, 0);
        if (header.p_flags & PF_W)
            intervals__add(&image->data, header.p_vaddr, end, 0, 0);
    }
    intervals__sort(&image->code);
    intervals__sort(&image->data);
}

static bool is_same_build(Elf *elf, const struct trace_module *module)
{
    const void *build_id;
    ssize_t bytes = dwelf_elf_gnu_build_id(elf, &build_id);
    if (module->build_id_bytes == 0)
        return true;
    size_t compared = module->build_id_bytes;
    return bytes > 0 &&
           ((size_t)bytes == compared || (compared == HEURT_BUILD_ID_MAX && bytes > 32)) &&
           memcmp(build_id, module->build_id, compared) == 0;
}

/* Reports the file at bias 0, so that libdwfl's addresses are addresses in the file. */
static Elf *report(struct image *image, const char *path)
{
    image->dwfl = dwfl_begin(&callbacks);
    if (!image->dwfl)
        return NULL;
    dwfl_report_begin(image->dwfl);
    int fd = descriptor__open_plain(path);
    image->module = fd < 0 ? NULL : dwfl_report_elf(image->dwfl, path, path, fd, 0, true);
    if (fd >= 0 && !image->module) /* else fd belongs to dwfl */
        close(fd);
    dwfl_report_end(image->dwfl, NULL, NULL);
    GElf_Addr bias;
    return image->module ? dwfl_module_getelf(image->module, &bias) : NULL;
}

static void forget_file(struct image *image, enum image_state state)
{
    image->state = state;
    if (image->dwfl)
        dwfl_end(image->dwfl);
    image->dwfl = NULL;
    image->module = NULL;
}

static void open_file(struct image *image, const struct trace_module *module)
{
    Elf *elf = report(image, image->path);
    if (!elf)
        return forget_file(image, IMAGE_MISSING);
    if (!is_same_build(elf, module))
        return forget_file(image, IMAGE_CHANGED);
    image->state = IMAGE_OPEN;
    read_segments(image, elf);
}

bool image__is_open(struct image *image)
{
    if (image->state == IMAGE_UNOPENED)
        open_file(image, image->recorded);
    return image->state == IMAGE_OPEN;
}

/* A debug file that stands beside a stripped one has it. */
bool image__has_symbol_table(struct image *image)
{
    GElf_Addr bias;
    const char *debug_file = NULL;
    if (!image__is_open(image))
        return false;
    Elf *elf = dwfl_module_getelf(image->module, &bias);
    dwfl_module_getsymtab(image->module); /* looks for it */
    dwfl_module_info(image->module, NULL, NULL, NULL, NULL, NULL, NULL, &debug_file);
    return debug_file || has_section(elf, SHT_SYMTAB, NULL) ||
           has_section(elf, SHT_PROGBITS, ".gnu_debugdata");
}

struct source *image__source(struct image *image)
{
    if (!image->source && image__is_open(image))
        image->source = source__open(image->module);
    return image->source;
}

bool image__is_c_library(const struct image *image)
{
    const char *slash = strrchr(image->path, '/');
    const char *name = slash ? slash + 1 : image->path;
    return strncmp(name, "libc.so.", 8) == 0 || strncmp(name, "ld-linux", 8) == 0;
}

struct symbols *image__known(struct image *image)
{
    if (!image->known && image->cache)
        image->known = name_cache__load(image->cache, image->path, image->recorded);
    if (!image->known)
        image->cache = NULL;
    return image->known;
}

/* The kernel adds " (deleted)" to the name of a file that was replaced while it was mapped. */
static char *path_without_mark(const char *path)
{
    static const char mark[] = " (deleted)";
    char *copy = memory__text(path);
    size_t length = strlen(copy), marked = sizeof mark - 1;
    if (length > marked && strcmp(copy + length - marked, mark) == 0)
        copy[length - marked] = 0;
    return copy;
}

static struct image *image__new(const struct trace_module *module, const char *cache)
{
    struct image *image = memory__zeroed(1, sizeof *image);
    image->path = path_without_mark(module->path);
    image->names = VEC_OF(const char *);
    image->symbols = INTERVALS;
    image->code = INTERVALS;
    image->data = INTERVALS;
    image->recorded = module;
    image->state = strchr(image->path, '/') ? IMAGE_UNOPENED : IMAGE_NO_FILE;
    image->cache = image->state == IMAGE_UNOPENED ? cache : NULL;
    return image;
}

struct image *images__get(struct images *images, const struct trace_module *module)
{
    size_t path_bytes = strlen(module->path) + 1;
    size_t key_bytes = path_bytes + module->build_id_bytes;
    char *key = memory__zeroed(key_bytes, 1);
    memcpy(key, module->path, path_bytes);
    if (module->build_id_bytes)
        memcpy(key + path_bytes, module->build_id, module->build_id_bytes);
    size_t index = map__put(&images->by_file, key, key_bytes, images->items.count);
    free(key);
    if (index == images->items.count) {
        struct image *image = image__new(module, images->cache);
        vec__push(&images->items, &image);
    }
    return *VEC_AT(&images->items, struct image *, index);
}

static void image__free(struct image *image)
{
    if (image->known && image->has_learned)
        name_cache__save(image->cache, image->path, image->recorded, image->known);
    symbols__free(image->known);
    unwind_table__free(image->unwind);
    source__free(image->source);
    variables__free(image->variables);
    if (image->dwfl)
        dwfl_end(image->dwfl);
    vec__free(&image->names);
    vec__free(&image->symbols);
    vec__free(&image->code);
    vec__free(&image->data);
    free(image->path);
    free(image);
}

void images__free(struct images *images)
{
    VEC_EACH (image, &images->items, struct image *)
        image__free(*image);
    vec__free(&images->items);
    map__free(&images->by_file);
}

static const struct address_interval *symbol_at(struct image *image, uint64_t address)
{
    if (!image->has_symbols && image__is_open(image))
        read_symbols(image);
    return intervals__find(&image->symbols, address);
}

const char *image__symbol(struct image *image, uint64_t address)
{
    const struct address_interval *found = symbol_at(image, address);
    return found ? *VEC_AT(&image->names, const char *, found->value) : NULL;
}

uint64_t image__symbol_start(struct image *image, uint64_t address)
{
    const struct address_interval *found = symbol_at(image, address);
    return found ? found->start : address;
}

/* mov $SYS_rt_sigreturn, %rax; syscall. */
bool image__returns_from_signal(struct image *image, uint64_t address)
{
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    GElf_Addr bias;
    GElf_Phdr header;
    size_t count = 0;
    Elf *elf = image__is_open(image) ? dwfl_module_getelf(image->module, &bias) : NULL;
    if (!elf || elf_getphdrnum(elf, &count) != 0)
        return false;
    for (int i = 0; i < (int)count && gelf_getphdr(elf, i, &header); i++) {
        uint64_t offset = address - header.p_vaddr;
        if (header.p_type != PT_LOAD || offset >= header.p_filesz ||
            header.p_filesz - offset < sizeof code)
            continue;
        /* No chunk of its own: libelf searches all that were ever asked for, one by one. */
        size_t bytes = 0;
        const char *file = elf_rawfile(elf, &bytes);
        uint64_t place = header.p_offset + offset;
        return file && place < bytes && bytes - place >= sizeof code &&
               memcmp(file + place, code, sizeof code) == 0;
    }
    return false;
}

bool image__is_code(struct image *image, uint64_t address)
{
    return image__is_open(image) && intervals__find(&image->code, address) != NULL;
}

bool image__is_data(struct image *image, uint64_t address)
{
    return image__is_open(image) && intervals__find(&image->data, address) != NULL;
}
