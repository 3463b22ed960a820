#include "symbol/functions.h"

#include "base/descriptor.h"
#include "base/memory.h"
#include "base/vec.h"
#include "symbol/debug_file.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct function {
    uint64_t start, end; /* end: one past */
    const char *name;    /* belongs to dwfl */
    uint32_t rank;       /* among names of one address: the lower, the better */
};

/* .eh_frame_hdr as all linkers write it (Linux Standard Base, "Exception Frame Header"): two 4-byte
 * numbers a function, sorted, relative to the header: where it begins, where its entry is. */
struct function_unwind_table {
    const unsigned char *pairs;
    size_t count;
    uint64_t base; /* address of the header */
};

struct module_functions {
    Dwfl *dwfl;
    Dwfl_Module *module;
    Elf *elf;
    GElf_Addr bias; /* dwfl's addresses are the file's plus this */
    struct vec functions;
    const char *soname;
    struct function_unwind_table unwind; /* count 0: none */
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = debug_file__find,
    .section_address = dwfl_offline_section_address,
};

/* Global before weak before local names, then fewer underscores in front, then shorter ones. */
static uint32_t rank_of(const char *name, unsigned binding)
{
    uint32_t rank = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
    size_t underscores = strspn(name, "_"), length = strlen(name);
    if (underscores > 7)
        underscores = 7;
    return rank << 24 | (uint32_t)underscores << 16 | (uint32_t)(length < 0xffff ? length : 0xffff);
}

static int by_start(const void *a, const void *b)
{
    const struct function *left = a, *right = b;
    return ORDER(left->start, right->start) ?: ORDER(left->rank, right->rank);
}

/* One past the last byte of the section with that address; the address itself when in none. */
static uint64_t section_end(Elf *elf, uint64_t address)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_flags & SHF_ALLOC &&
            address >= header.sh_addr && address - header.sh_addr < header.sh_size)
            return header.sh_addr + header.sh_size;
    }
    return address;
}

/* Functions written in assembly often have no size: they reach to the next one. */
static void complete_sizes(struct module_functions *functions)
{
    struct function *items = functions->functions.items;
    size_t count = functions->functions.count;
    for (size_t i = 0; i < count; i++) {
        if (items[i].end != items[i].start)
            continue;
        size_t next = i + 1;
        while (next < count && items[next].start == items[i].start)
            next++;
        uint64_t end = section_end(functions->elf, items[i].start);
        items[i].end = next < count && items[next].start < end ? items[next].start : end;
    }
}

/* Keeps the best of several names of one address, with the largest size. */
static void drop_aliases(struct vec *functions)
{
    struct function *items = functions->items;
    size_t kept = 0;
    for (size_t i = 0; i < functions->count; i++) {
        if (kept && items[kept - 1].start == items[i].start) {
            if (items[i].end > items[kept - 1].end)
                items[kept - 1].end = items[i].end;
            continue;
        }
        items[kept++] = items[i];
    }
    functions->count = kept;
}

static void read_symbols(struct module_functions *functions)
{
    int count = dwfl_module_getsymtab(functions->module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        GElf_Word section;
        const char *name =
            dwfl_module_getsym_info(functions->module, i, &symbol, &address, &section, NULL, NULL);
        unsigned type = GELF_ST_TYPE(symbol.st_info);
        if (!name || !*name || section == SHN_UNDEF || section == SHN_ABS ||
            (type != STT_FUNC && type != STT_GNU_IFUNC))
            continue;
        uint64_t start = address - functions->bias;
        struct function function = {start, start + symbol.st_size, name,
                                    rank_of(name, GELF_ST_BIND(symbol.st_info))};
        vec__push(&functions->functions, &function);
    }
    if (!functions->functions.count)
        return;
    vec__sort(&functions->functions, by_start);
    complete_sizes(functions);
    drop_aliases(&functions->functions);
}

static const char *find_soname(Elf *elf)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC ||
            !(data = elf_getdata(section, NULL)) || !header.sh_entsize)
            continue;
        GElf_Dyn entry;
        for (int i = 0; gelf_getdyn(data, i, &entry); i++)
            if (entry.d_tag == DT_SONAME)
                return elf_strptr(elf, header.sh_link, entry.d_un.d_val);
    }
    return NULL;
}

#define UNWIND_HEADER_BYTES 12
#define UNWIND_PAIR_BYTES 8

static bool find_unwind_table(Elf *elf, struct function_unwind_table *table)
{
    size_t headers;
    GElf_Phdr header = {0};
    if (elf_getphdrnum(elf, &headers) < 0)
        return false;
    for (size_t i = 0; i < headers && header.p_type != PT_GNU_EH_FRAME; i++)
        if (!gelf_getphdr(elf, (int)i, &header))
            return false;
    if (header.p_type != PT_GNU_EH_FRAME || header.p_filesz < UNWIND_HEADER_BYTES)
        return false;
    Elf_Data *data =
        elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_BYTE);
    if (!data || data->d_size < UNWIND_HEADER_BYTES)
        return false;
    const unsigned char *bytes = data->d_buf;
    if (bytes[0] != 1 || bytes[2] != DW_EH_PE_udata4 ||
        bytes[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4) || (bytes[1] & 0x0f) != DW_EH_PE_sdata4)
        return false;
    uint32_t count;
    memcpy(&count, bytes + 8, sizeof count);
    table->pairs = bytes + UNWIND_HEADER_BYTES;
    table->base = header.p_vaddr;
    table->count = count;
    return count <= (data->d_size - UNWIND_HEADER_BYTES) / UNWIND_PAIR_BYTES;
}

static uint64_t pair_start(const struct function_unwind_table *table, size_t index)
{
    int32_t relative;
    memcpy(&relative, table->pairs + index * UNWIND_PAIR_BYTES, sizeof relative);
    return table->base + (uint64_t)(int64_t)relative;
}

static int open_module(struct module_functions *functions, const char *path, struct error *error)
{
    int fd = descriptor__open_plain(path);
    if (fd < 0 && errno == EINVAL)
        return error__set(error, -EINVAL, "%s is no regular file", path);
    if (fd < 0)
        return error__set(error, -errno, "%s cannot be read: %s", path, strerror(errno));
    functions->dwfl = dwfl_begin(&callbacks);
    if (functions->dwfl)
        functions->module = dwfl_report_offline(functions->dwfl, path, path, fd);
    if (!functions->module) { /* else fd belongs to dwfl */
        close(fd);
        return error__set(error, -ENOEXEC, "%s is no ELF file that can be read: %s", path,
                          dwfl_errmsg(-1));
    }
    dwfl_report_end(functions->dwfl, NULL, NULL);
    functions->elf = dwfl_module_getelf(functions->module, &functions->bias);
    if (!functions->elf)
        return error__set(error, -ENOEXEC, "%s is no ELF file that can be read: %s", path,
                          dwfl_errmsg(-1));
    return 0;
}

int module_functions__open(const char *path, struct module_functions **out, struct error *error)
{
    struct module_functions *functions = memory__zeroed(1, sizeof *functions);
    functions->functions = VEC_OF(struct function);
    int code = open_module(functions, path, error);
    if (code < 0) {
        module_functions__close(functions);
        *out = NULL;
        return code;
    }
    read_symbols(functions);
    functions->soname = find_soname(functions->elf);
    if (!find_unwind_table(functions->elf, &functions->unwind))
        functions->unwind.count = 0;
    *out = functions;
    return 0;
}

void module_functions__close(struct module_functions *functions)
{
    if (!functions)
        return;
    if (functions->dwfl)
        dwfl_end(functions->dwfl);
    vec__free(&functions->functions);
    free(functions);
}

/* The part of the file that is loaded and holds the place, by its offset or by its address. */
static bool find_loaded(const struct module_functions *functions, uint64_t place, bool is_offset,
                        GElf_Phdr *header)
{
    size_t count;
    if (elf_getphdrnum(functions->elf, &count) < 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getphdr(functions->elf, (int)i, header) || header->p_type != PT_LOAD)
            continue;
        uint64_t start = is_offset ? header->p_offset : header->p_vaddr;
        if (place >= start && place - start < header->p_filesz)
            return true;
    }
    return false;
}

bool module_functions__address(const struct module_functions *functions, uint64_t file_offset,
                               uint64_t *file_address)
{
    GElf_Phdr header;
    bool is_loaded = find_loaded(functions, file_offset, true, &header);
    if (is_loaded)
        *file_address = file_offset - header.p_offset + header.p_vaddr;
    return is_loaded;
}

bool module_functions__offset(const struct module_functions *functions, uint64_t file_address,
                              uint64_t *file_offset)
{
    GElf_Phdr header;
    bool is_loaded = find_loaded(functions, file_address, false, &header);
    if (is_loaded)
        *file_offset = file_address - header.p_vaddr + header.p_offset;
    return is_loaded;
}

/* The innermost function: with nested ones the one that begins last. */
static const struct function *find(const struct vec *functions, uint64_t address)
{
    const struct function *items = functions->items;
    size_t low = VEC_FIRST(function, functions, struct function, function->start > address);
    /* Few functions lie inside of another: looking back a little finds the outer one. */
    for (size_t back = 0; back < 8 && low > back; back++)
        if (address < items[low - 1 - back].end)
            return &items[low - 1 - back];
    return NULL;
}

/* Where unwind information says that the code around an address begins. */
static uint64_t unwind_start(const struct module_functions *functions, uint64_t address)
{
    struct function_unwind_table table = functions->unwind;
    size_t low = FIRST_WHERE(i, table.count, pair_start(&table, i) > address);
    if (!low)
        return address;
    uint64_t start = pair_start(&table, low - 1);
    return address < section_end(functions->elf, start) ? start : address;
}

const char *module_functions__find(const struct module_functions *functions, uint64_t file_address,
                                   uint64_t *start)
{
    const struct function *function = find(&functions->functions, file_address);
    *start = function ? function->start : unwind_start(functions, file_address);
    return function ? function->name : NULL;
}

const char *module_functions__section(const struct module_functions *functions,
                                      uint64_t file_address)
{
    size_t names;
    if (elf_getshdrstrndx(functions->elf, &names) < 0)
        return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(functions->elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_flags & SHF_ALLOC &&
            file_address >= header.sh_addr && file_address - header.sh_addr < header.sh_size)
            return elf_strptr(functions->elf, names, header.sh_name);
    }
    return NULL;
}

const char *module_functions__soname(const struct module_functions *functions)
{
    return functions->soname;
}

size_t module_functions__count(const struct module_functions *functions)
{
    return functions->functions.count;
}

/* The property note (x86-64 psABI, "Program Property"): whether all of the file was built for
 * indirect branch tracking. */
static bool note_says_ibt(const unsigned char *description, size_t bytes)
{
    uint32_t property[3]; /* type, size of the data, its first word */
    while (bytes >= sizeof property) {
        memcpy(property, description, sizeof property);
        if (property[0] == GNU_PROPERTY_X86_FEATURE_1_AND && property[1] >= sizeof property[2])
            return property[2] & GNU_PROPERTY_X86_FEATURE_1_IBT;
        size_t step = 8 + (((size_t)property[1] + 7) & ~(size_t)7);
        if (step > bytes)
            break;
        description += step;
        bytes -= step;
    }
    return false;
}

static bool has_ibt(Elf *elf)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE ||
            !(data = elf_getdata(section, NULL)))
            continue;
        GElf_Nhdr note;
        size_t name, description, next = 0;
        while ((next = gelf_getnote(data, next, &note, &name, &description)) > 0)
            if (note.n_type == NT_GNU_PROPERTY_TYPE_0 &&
                note_says_ibt((const unsigned char *)data->d_buf + description, note.n_descsz))
                return true;
    }
    return false;
}

struct module_traits module_functions__traits(const struct module_functions *functions)
{
    GElf_Ehdr header;
    return (struct module_traits){
        .is_position_independent = gelf_getehdr(functions->elf, &header) && header.e_type == ET_DYN,
        .has_endbr64 = has_ibt(functions->elf),
        .has_unwind_table = functions->unwind.count > 0,
        .unwound_functions = functions->unwind.count,
    };
}
