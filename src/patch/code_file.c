#include "patch/code_file.h"

#include "base/descriptor.h"
#include "base/memory.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SHT_RELR
#define SHT_RELR 19
#endif

/* ---- look-ups -------------------------------------------------------------------------------- */

const struct code_section *code_file__section(const struct code_file *file, uint64_t address)
{
    const struct vec *sections = &file->sections;
    size_t after = VEC_FIRST(one, sections, struct code_section, one->start > address);
    if (!after)
        return NULL;
    const struct code_section *section = VEC_AT(sections, struct code_section, after - 1);
    return address < section->end ? section : NULL;
}

const uint8_t *code_file__bytes(const struct code_file *file, uint64_t address, size_t *size)
{
    const struct code_section *section = code_file__section(file, address);
    if (!section || !section->bytes)
        return NULL;
    *size = section->end - address;
    return section->bytes + (address - section->start);
}

const struct code_function *code_file__function(const struct code_file *file, uint64_t address)
{
    enum { NESTED_MAX = 16 };
    const struct vec *functions = &file->functions;
    size_t after = VEC_FIRST(one, functions, struct code_function, one->start > address);
    for (size_t i = after; i > 0 && after - i < NESTED_MAX; i--) {
        const struct code_function *function = VEC_AT(functions, struct code_function, i - 1);
        if (address == function->start || address < function->end)
            return function;
    }
    return NULL;
}

const char *code_file__slot(const struct code_file *file, uint64_t slot)
{
    const struct code_slot *found = VEC_FIND(&file->slots, struct code_slot, address, slot);
    return found ? found->name : NULL;
}

const struct code_name *code_function__name(const struct code_file *file,
                                            const struct code_function *function, size_t index)
{
    return VEC_AT(&file->names, struct code_name, function->first_name + index);
}

/* ---- sections -------------------------------------------------------------------------------- */

/* The lists that compilers make of what -fpatchable-function-entry, -fxray-instrument and
 * -mrecord-mcount leave in code. */
static bool is_sled_list(const char *section)
{
    static const char *const names[] = {"__patchable_function_entries", "xray_instr_map",
                                        "xray_fn_idx", "__mcount_loc"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(section, names[i]) == 0)
            return true;
    return false;
}

static void read_section(struct code_file *file, Elf_Scn *scn, size_t names)
{
    GElf_Shdr header;
    if (!gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_ALLOC) || !header.sh_size ||
        (header.sh_flags & SHF_TLS) || header.sh_addr + header.sh_size < header.sh_addr)
        return;
    const char *name = elf_strptr(file->elf, names, header.sh_name);
    struct code_section section = {
        .start = header.sh_addr,
        .end = header.sh_addr + header.sh_size,
        .executable = header.sh_flags & SHF_EXECINSTR,
        .linkage = name && strncmp(name, ".plt", 4) == 0,
        .sleds = name && is_sled_list(name),
    };
    if (header.sh_type != SHT_NOBITS) {
        Elf_Data *data = elf_rawdata(scn, NULL);
        if (!data || !data->d_buf || data->d_size != header.sh_size)
            return;
        section.bytes = data->d_buf;
    }
    vec__push(&file->sections, &section);
}

static void read_sections(struct code_file *file)
{
    size_t names = 0;
    Elf_Scn *scn = NULL;
    elf_getshdrstrndx(file->elf, &names);
    while ((scn = elf_nextscn(file->elf, scn)))
        read_section(file, scn, names);
    vec__sort(&file->sections, order__u64);
}

static bool is_code(const struct code_file *file, uint64_t address)
{
    const struct code_section *section = code_file__section(file, address);
    return section && section->executable && section->bytes;
}

/* ---- symbols --------------------------------------------------------------------------------- */

static unsigned name_rank(const struct code_name *name)
{
    unsigned binding = name->binding == STB_GLOBAL ? 0 : name->binding == STB_WEAK ? 1 : 2;
    return binding * 2 + (name->text[0] == '_' && name->text[1] != 'Z');
}

/* By address; names of one address: global before weak before local, public before reserved. */
static int by_preference(const void *left, const void *right)
{
    const struct code_name *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    unsigned rank_a = name_rank(a), rank_b = name_rank(b);
    return rank_a != rank_b ? (rank_a < rank_b ? -1 : 1) : strcmp(a->text, b->text);
}

static void read_symbol(struct code_file *file, int index)
{
    GElf_Sym symbol;
    GElf_Addr address;
    GElf_Word section;
    const char *text =
        dwfl_module_getsym_info(file->module, index, &symbol, &address, &section, NULL, NULL);
    if (!text || !*text || section == SHN_UNDEF || section == SHN_ABS)
        return;
    unsigned type = GELF_ST_TYPE(symbol.st_info);
    address -= file->dwfl_bias;
    if (type == STT_TLS || type == STT_SECTION || type == STT_FILE || !is_code(file, address))
        return;
    uint64_t label = address;
    vec__push(&file->labels, &label);
    if (type != STT_FUNC && type != STT_GNU_IFUNC)
        return;
    vec__push(&file->names, &(struct code_name){
                                .address = address,
                                .size = symbol.st_size,
                                .text = text,
                                .binding = GELF_ST_BIND(symbol.st_info),
                                .ifunc = type == STT_GNU_IFUNC,
                            });
}

static bool has_symbol_table(Elf *elf)
{
    Elf_Scn *scn = NULL;
    GElf_Shdr header;
    while (elf && (scn = elf_nextscn(elf, scn)))
        if (gelf_getshdr(scn, &header) && header.sh_type == SHT_SYMTAB)
            return true;
    return false;
}

/* Whether local functions are known: .symtab here, in a debug file, or in .gnu_debugdata. */
static bool is_stripped(const struct code_file *file, int symbol_count)
{
    for (int i = 1; i < symbol_count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        if (dwfl_module_getsym_info(file->module, i, &symbol, &address, NULL, NULL, NULL) &&
            GELF_ST_BIND(symbol.st_info) == STB_LOCAL && GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
            return false;
    }
    return !has_symbol_table(file->elf);
}

static void read_symbols(struct code_file *file)
{
    int count = dwfl_module_getsymtab(file->module);
    for (int i = 1; i < count; i++)
        read_symbol(file, i);
    file->stripped = is_stripped(file, count);
    vec__sort(&file->names, by_preference);
}

/* ---- functions ------------------------------------------------------------------------------- */

static void add_named_functions(struct code_file *file)
{
    struct code_function *function = NULL;
    for (size_t i = 0; i < file->names.count; i++) {
        const struct code_name *name = VEC_AT(&file->names, struct code_name, i);
        if (!function || function->start != name->address)
            function = vec__push(&file->functions, &(struct code_function){
                                                       .start = name->address,
                                                       .end = name->address,
                                                       .first_name = (uint32_t)i,
                                                   });
        function->name_count++;
        function->ifunc |= name->ifunc;
        uint64_t limit = code_file__section(file, name->address)->end;
        uint64_t end = name->size < limit - name->address ? name->address + name->size : limit;
        if (end > function->end)
            function->end = end;
    }
}

/* Code that has unwind information and no symbol, and sizes that symbols do not tell. */
static void add_unwind_ranges(struct code_file *file)
{
    size_t named = file->functions.count, at = 0;
    VEC_EACH (range, &file->cfa.ranges, struct cfa_range) {
        while (at < named &&
               VEC_AT(&file->functions, struct code_function, at)->start < range->start)
            at++;
        if (!is_code(file, range->start))
            continue;
        uint64_t start = range->start, limit = code_file__section(file, start)->end;
        uint64_t end = range->end < limit ? range->end : limit;
        vec__push(&file->labels, &start);
        struct code_function *function =
            at < named ? VEC_AT(&file->functions, struct code_function, at) : NULL;
        if (!function || function->start != start)
            vec__push(&file->functions, &(struct code_function){.start = start, .end = end});
        else if (function->end == function->start)
            function->end = end;
    }
    vec__sort(&file->functions, order__u64);
}

/* In a stripped file the functions that nobody exports are called by their place. */
static void name_by_place(struct code_file *file)
{
    VEC_EACH (function, &file->functions, struct code_function) {
        if (function->name_count || code_file__section(file, function->start)->linkage)
            continue;
        char *text = memory__format("+0x%" PRIx64, function->start);
        vec__push(&file->places, &text);
        function->first_name = (uint32_t)file->names.count;
        function->name_count = 1;
        vec__push(&file->names, &(struct code_name){
                                    .address = function->start,
                                    .size = function->end - function->start,
                                    .text = text,
                                    .binding = STB_LOCAL,
                                });
    }
}

static void sort_labels(struct code_file *file)
{
    vec__sort(&file->labels, order__u64);
    size_t kept = 0;
    uint64_t *labels = file->labels.items;
    for (size_t i = 0; i < file->labels.count; i++)
        if (!kept || labels[kept - 1] != labels[i])
            labels[kept++] = labels[i];
    file->labels.count = kept;
}

/* ---- relocations ----------------------------------------------------------------------------- */

static void add_slot(struct code_file *file, const GElf_Rela *relocation, Elf_Data *symbols,
                     size_t strings)
{
    GElf_Sym symbol;
    if (!symbols || !gelf_getsym(symbols, (int)GELF_R_SYM(relocation->r_info), &symbol))
        return;
    const char *name = elf_strptr(file->elf, strings, symbol.st_name);
    if (name && *name)
        vec__push(&file->slots, &(struct code_slot){relocation->r_offset, name});
}

/* A word at place holds address. */
static void add_pointer(struct code_file *file, uint64_t place, uint64_t address)
{
    const struct code_section *section = code_file__section(file, place);
    if (is_code(file, address) && !(section && section->sleds))
        vec__push(&file->pointers, &address);
}

static void read_rela(struct code_file *file, Elf_Scn *scn, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(scn, NULL), *symbols = NULL;
    Elf_Scn *linked = elf_getscn(file->elf, header->sh_link);
    GElf_Shdr linked_header = {0};
    if (linked && header->sh_link && gelf_getshdr(linked, &linked_header))
        symbols = elf_getdata(linked, NULL);
    GElf_Rela relocation;
    for (int i = 0; data && gelf_getrela(data, i, &relocation); i++) {
        switch (GELF_R_TYPE(relocation.r_info)) {
        case R_X86_64_JUMP_SLOT:
        case R_X86_64_GLOB_DAT:
            add_slot(file, &relocation, symbols, linked_header.sh_link);
            break;
        case R_X86_64_RELATIVE:
        case R_X86_64_IRELATIVE:
            add_pointer(file, relocation.r_offset, (uint64_t)relocation.r_addend);
            break;
        }
    }
}

static void add_word_at(struct code_file *file, uint64_t address)
{
    size_t size;
    const uint8_t *bytes = code_file__bytes(file, address, &size);
    uint64_t word;
    if (!bytes || size < sizeof word)
        return;
    memcpy(&word, bytes, sizeof word);
    add_pointer(file, address, word);
}

/* Relative relocations packed as an address followed by bitmaps of the 63 words behind it. */
static void read_relr(struct code_file *file, Elf_Scn *scn)
{
    Elf_Data *data = elf_rawdata(scn, NULL);
    uint64_t next = 0;
    for (size_t at = 0; data && at + 8 <= data->d_size; at += 8) {
        uint64_t entry;
        memcpy(&entry, (const char *)data->d_buf + at, sizeof entry);
        if (!(entry & 1)) {
            add_word_at(file, entry);
            next = entry + 8;
            continue;
        }
        for (unsigned bit = 1; bit < 64; bit++)
            if (entry >> bit & 1)
                add_word_at(file, next + (bit - 1) * 8);
        next += 63 * 8;
    }
}

/* Code at a fixed address needs no relocations: every aligned word of data that could be the
 * address of code is taken for one. */
static void read_fixed_words(struct code_file *file)
{
    VEC_EACH (section, &file->sections, struct code_section) {
        if (section->executable || !section->bytes)
            continue;
        for (uint64_t at = (section->start + 7) & ~7ull; at + 8 <= section->end; at += 8)
            add_word_at(file, at);
    }
}

static void read_relocations(struct code_file *file)
{
    Elf_Scn *scn = NULL;
    while ((scn = elf_nextscn(file->elf, scn))) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_ALLOC))
            continue;
        if (header.sh_type == SHT_RELA)
            read_rela(file, scn, &header);
        else if (header.sh_type == SHT_RELR)
            read_relr(file, scn);
    }
    if (file->position_dependent)
        read_fixed_words(file);
    vec__sort(&file->slots, order__u64);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Debug files are looked for by build-id on this machine only, never on a network. */
static const Dwfl_Callbacks *callbacks(void)
{
    static const Dwfl_Callbacks table = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_build_id_find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };
    return &table;
}

static int check_build_id(const struct code_file *file, const char *path, const uint8_t *build_id,
                          size_t bytes, struct error *error)
{
    const unsigned char *found;
    GElf_Addr address;
    int count = dwfl_module_build_id(file->module, &found, &address);
    if (!bytes || ((size_t)count == bytes && memcmp(found, build_id, bytes) == 0))
        return 0;
    return error__set(error, -ESTALE, "%s was replaced since it was loaded (other build-id)", path);
}

static int report(struct code_file *file, const char *path, struct error *error)
{
    file->dwfl = dwfl_begin(callbacks());
    if (!file->dwfl)
        return error__set(error, -ENOMEM, "libdwfl: %s", dwfl_errmsg(-1));
    int fd = descriptor__open_plain(path);
    if (fd < 0)
        return error__set(error, -errno, "%s cannot be read: %s", path, strerror(errno));
    file->module = dwfl_report_offline(file->dwfl, path, path, fd);
    if (!file->module) { /* else fd belongs to dwfl */
        close(fd);
        return error__set(error, -ENOEXEC, "%s cannot be read: %s", path, dwfl_errmsg(-1));
    }
    dwfl_report_end(file->dwfl, NULL, NULL);
    file->elf = dwfl_module_getelf(file->module, &file->dwfl_bias);
    GElf_Ehdr header;
    if (!file->elf || !gelf_getehdr(file->elf, &header) || header.e_machine != EM_X86_64)
        return error__set(error, -ENOEXEC, "%s is not an x86-64 ELF file", path);
    file->position_dependent = header.e_type == ET_EXEC;
    return 0;
}

static void read_all(struct code_file *file)
{
    read_sections(file);
    read_symbols(file);
    cfa_table__read(&file->cfa, file->elf);
    add_named_functions(file);
    add_unwind_ranges(file);
    if (file->stripped)
        name_by_place(file);
    sort_labels(file);
    read_relocations(file);
}

int code_file__open(const char *path, const uint8_t *build_id, size_t build_id_bytes,
                    struct code_file **result, struct error *error)
{
    struct code_file *file = memory__zeroed(1, sizeof *file);
    file->sections = VEC_OF(struct code_section);
    file->names = VEC_OF(struct code_name);
    file->functions = VEC_OF(struct code_function);
    file->places = VEC_OF(char *);
    file->labels = VEC_OF(uint64_t);
    file->slots = VEC_OF(struct code_slot);
    file->pointers = VEC_OF(uint64_t);
    int status = report(file, path, error);
    if (status == 0)
        status = check_build_id(file, path, build_id, build_id_bytes, error);
    if (status < 0) {
        code_file__close(file);
        return status;
    }
    read_all(file);
    *result = file;
    return 0;
}

void code_file__close(struct code_file *file)
{
    if (!file)
        return;
    cfa_table__free(&file->cfa);
    vec__free(&file->sections);
    vec__free(&file->names);
    VEC_EACH (place, &file->places, char *)
        free(*place);
    vec__free(&file->places);
    vec__free(&file->functions);
    vec__free(&file->labels);
    vec__free(&file->slots);
    vec__free(&file->pointers);
    if (file->dwfl)
        dwfl_end(file->dwfl);
    free(file);
}
