#include "patch/cfa.h"

#include "base/map.h"
#include "patch/dwarf_bytes.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum { DWARF_RBX = 3, DWARF_RBP = 6, DWARF_RSP = 7, REMEMBERED_MAX = 16 };

/* ---- reading the section --------------------------------------------------------------------- */

struct cfa_section {
    Elf_Data *data;
    uint64_t address;
};

static bool find_section(Elf *elf, const char *name, struct cfa_section *section)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    Elf_Scn *scn = NULL;
    while ((scn = elf_nextscn(elf, scn))) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS)
            continue;
        const char *text = elf_strptr(elf, names, header.sh_name);
        if (!text || strcmp(text, name) != 0)
            continue;
        section->address = header.sh_addr;
        section->data = elf_rawdata(scn, NULL);
        return section->data && section->data->d_buf;
    }
    return false;
}

/* The encoding of the addresses in a CIE's FDEs: the augmentation data in the order of its letters
 * (LSB, "Exception Frames"). DW_EH_PE_omit when it is not understood. lsda: that of the address of
 * an FDE's table of exceptions; 'L' stands before 'R' wherever both are written. */
static uint8_t fde_encoding(const Dwarf_CIE *cie, uint8_t *lsda)
{
    *lsda = DW_EH_PE_omit;
    struct dwarf_bytes bytes = {cie->augmentation_data,
                                cie->augmentation_data + cie->augmentation_data_size, false};
    if (cie->augmentation[0] != 'z' || !cie->augmentation_data)
        return cie->augmentation[0] ? DW_EH_PE_omit : DW_EH_PE_absptr;
    for (const char *letter = cie->augmentation + 1; *letter; letter++) {
        if (*letter == 'R')
            return (uint8_t)dwarf_bytes__number(&bytes, 1);
        if (*letter == 'L')
            *lsda = (uint8_t)dwarf_bytes__number(&bytes, 1);
        else if (*letter == 'P') {
            static const uint8_t sizes[8] = {8, 0, 2, 4, 8, 0, 0, 0};
            uint8_t encoding = (uint8_t)dwarf_bytes__number(&bytes, 1);
            if (!sizes[encoding & 7] || (encoding & 0x70) == DW_EH_PE_aligned)
                return DW_EH_PE_omit;
            dwarf_bytes__number(&bytes, sizes[encoding & 7]);
        } else if (*letter != 'S' && *letter != 'B')
            return DW_EH_PE_omit;
    }
    return DW_EH_PE_absptr;
}

/* An address in one of the encodings that .eh_frame uses on x86-64: absolute, or relative to its
 * own place. */
static bool take_address(struct dwarf_bytes *bytes, uint8_t encoding, uint64_t place,
                         uint64_t *address)
{
    switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        *address = dwarf_bytes__number(bytes, 8);
        break;
    case DW_EH_PE_udata4:
        *address = dwarf_bytes__number(bytes, 4);
        break;
    case DW_EH_PE_sdata4:
        *address = (uint64_t)(int64_t)(int32_t)dwarf_bytes__number(bytes, 4);
        break;
    default:
        return false;
    }
    if ((encoding & 0xf0) == DW_EH_PE_pcrel)
        *address += place;
    else if (encoding & 0xf0)
        return false;
    return !bytes->broken;
}

struct cie {
    Dwarf_CIE dwarf;
    uint8_t encoding, lsda_encoding;
};

/* The first of an FDE's augmentation data; 0: it has no table of exceptions, or in a form that
 * nobody writes on x86-64. */
static uint64_t take_lsda(struct dwarf_bytes bytes, const struct cfa_section *section,
                          const struct cie *cie)
{
    uint64_t place =
        section->address + (uint64_t)(bytes.at - (const uint8_t *)section->data->d_buf);
    uint64_t address = 0, raw = 0;
    struct dwarf_bytes again = bytes;
    if (cie->lsda_encoding == DW_EH_PE_omit || bytes.at == bytes.end ||
        !take_address(&again, cie->lsda_encoding & 0x0f, 0, &raw) || !raw ||
        !take_address(&bytes, cie->lsda_encoding, place, &address))
        return 0;
    return address;
}

static void add_range(struct cfa_table *table, const struct cfa_section *section,
                      const struct cie *cie, const Dwarf_FDE *fde)
{
    struct dwarf_bytes bytes = {fde->start, fde->end, false};
    uint64_t place =
        section->address + (uint64_t)(fde->start - (const uint8_t *)section->data->d_buf);
    uint64_t start, length, lsda = 0;
    if (!take_address(&bytes, cie->encoding, place, &start) ||
        !take_address(&bytes, cie->encoding & 0x0f, 0, &length) || !start)
        return;
    if (cie->dwarf.augmentation[0] == 'z') {
        uint64_t skip = dwarf_bytes__uleb(&bytes);
        if (skip > (size_t)(bytes.end - bytes.at))
            return;
        lsda = take_lsda((struct dwarf_bytes){bytes.at, bytes.at + skip, false}, section, cie);
        bytes.at += skip;
    }
    if (bytes.broken || start + length < start)
        return;
    vec__push(&table->ranges, &(struct cfa_range){
                                  .start = start,
                                  .end = start + length,
                                  .initial = cie->dwarf.initial_instructions,
                                  .initial_end = cie->dwarf.initial_instructions_end,
                                  .program = bytes.at,
                                  .program_end = bytes.end,
                                  .code_factor = cie->dwarf.code_alignment_factor,
                                  .data_factor = cie->dwarf.data_alignment_factor,
                                  .signal_frame = strchr(cie->dwarf.augmentation, 'S') != NULL,
                                  .lsda = lsda,
                              });
}

static int by_start(const void *left, const void *right)
{
    const struct cfa_range *a = left, *b = right;
    return ORDER(a->start, b->start);
}

static void read_entries(struct cfa_table *table, Elf *elf, const struct cfa_section *section)
{
    struct vec cies = VEC_OF(struct cie);
    struct map by_offset = {0};
    const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
    for (Dwarf_Off offset = 0, next; offset != (Dwarf_Off)-1; offset = next) {
        Dwarf_CFI_Entry entry;
        next = (Dwarf_Off)-1;
        int result = dwarf_next_cfi(ident, section->data, true, offset, &next, &entry);
        if (result > 0 || (result < 0 && next == (Dwarf_Off)-1))
            break;
        if (result < 0)
            continue;
        if (dwarf_cfi_cie_p(&entry)) {
            map__put(&by_offset, &offset, sizeof offset, cies.count);
            struct cie *cie = vec__push(&cies, &(struct cie){.dwarf = entry.cie});
            cie->encoding = fde_encoding(&entry.cie, &cie->lsda_encoding);
            continue;
        }
        uint64_t at = map__get(&by_offset, &entry.fde.CIE_pointer, sizeof entry.fde.CIE_pointer);
        if (at != MAP_ABSENT)
            add_range(table, section, VEC_AT(&cies, struct cie, at), &entry.fde);
    }
    map__free(&by_offset);
    vec__free(&cies);
}

void cfa_table__read(struct cfa_table *table, Elf *elf)
{
    *table = (struct cfa_table){VEC_OF(struct cfa_range)};
    struct cfa_section section;
    if (!find_section(elf, ".eh_frame", &section))
        return;
    read_entries(table, elf, &section);
    vec__sort(&table->ranges, by_start);
}

void cfa_table__free(struct cfa_table *table)
{
    vec__free(&table->ranges);
}

const struct cfa_range *cfa_table__find(const struct cfa_table *table, uint64_t address)
{
    size_t low = VEC_FIRST(range, &table->ranges, struct cfa_range, range->start > address);
    if (!low)
        return NULL;
    const struct cfa_range *range = VEC_AT(&table->ranges, struct cfa_range, low - 1);
    return address < range->end ? range : NULL;
}

/* ---- following the rules (DWARF 5, section 6.4.2) -------------------------------------------- */

struct rule {
    uint64_t reg;
    int64_t offset;
    bool expression;
    bool rbx_saved;
};

struct cfa_walk {
    const struct cfa_range *range;
    struct vec *rows;
    uint64_t address;
    struct rule rule;
    struct rule remembered[REMEMBERED_MAX];
    size_t remembered_count;
    bool broken;
};

static void emit(struct cfa_walk *walk, uint64_t to)
{
    if (to > walk->range->end)
        to = walk->range->end;
    if (!walk->rows || to <= walk->address)
        return;
    struct cfa_row row = {walk->address, to, CFA_UNKNOWN, walk->rule.offset, walk->rule.rbx_saved};
    if (!walk->rule.expression && walk->rule.reg == DWARF_RSP)
        row.base = CFA_RSP;
    else if (!walk->rule.expression && walk->rule.reg == DWARF_RBP)
        row.base = CFA_RBP;
    vec__push(walk->rows, &row);
    walk->address = to;
}

static void skip_block(struct dwarf_bytes *bytes)
{
    uint64_t size = dwarf_bytes__uleb(bytes);
    if (size > (size_t)(bytes->end - bytes->at))
        bytes->broken = true;
    else
        bytes->at += size;
}

/* Takes the rule of another register, of which only that of rbx is of interest. */
static void take_register(struct cfa_walk *walk, struct dwarf_bytes *bytes, bool saved)
{
    if (dwarf_bytes__uleb(bytes) == DWARF_RBX)
        walk->rule.rbx_saved = saved;
}

static void follow_register(struct cfa_walk *walk, struct dwarf_bytes *bytes, uint8_t operation)
{
    switch (operation) {
    case DW_CFA_nop:
        break;
    case DW_CFA_GNU_args_size:
        dwarf_bytes__uleb(bytes);
        break;
    case DW_CFA_undefined:
    case DW_CFA_same_value:
    case DW_CFA_restore_extended:
        take_register(walk, bytes, false);
        break;
    case DW_CFA_offset_extended:
    case DW_CFA_register:
    case DW_CFA_val_offset:
    case DW_CFA_GNU_negative_offset_extended:
        take_register(walk, bytes, true);
        dwarf_bytes__uleb(bytes);
        break;
    case DW_CFA_offset_extended_sf:
    case DW_CFA_val_offset_sf:
        take_register(walk, bytes, true);
        dwarf_bytes__sleb(bytes);
        break;
    case DW_CFA_expression:
    case DW_CFA_val_expression:
        take_register(walk, bytes, true);
        skip_block(bytes);
        break;
    default:
        walk->broken = true;
    }
}

static void remember(struct cfa_walk *walk)
{
    if (walk->remembered_count < REMEMBERED_MAX)
        walk->remembered[walk->remembered_count++] = walk->rule;
    else
        walk->broken = true;
}

static void restore(struct cfa_walk *walk)
{
    if (walk->remembered_count)
        walk->rule = walk->remembered[--walk->remembered_count];
    else
        walk->broken = true;
}

static void define_frame(struct rule *rule, uint64_t reg)
{
    rule->reg = reg;
    rule->expression = false;
}

static void define(struct cfa_walk *walk, struct dwarf_bytes *bytes, uint8_t operation)
{
    struct rule *rule = &walk->rule;
    switch (operation) {
    case DW_CFA_def_cfa:
        define_frame(rule, dwarf_bytes__uleb(bytes));
        rule->offset = (int64_t)dwarf_bytes__uleb(bytes);
        break;
    case DW_CFA_def_cfa_sf:
        define_frame(rule, dwarf_bytes__uleb(bytes));
        rule->offset = dwarf_bytes__sleb(bytes) * walk->range->data_factor;
        break;
    case DW_CFA_def_cfa_register:
        rule->reg = dwarf_bytes__uleb(bytes);
        break;
    case DW_CFA_def_cfa_offset:
        rule->offset = (int64_t)dwarf_bytes__uleb(bytes);
        break;
    case DW_CFA_def_cfa_offset_sf:
        rule->offset = dwarf_bytes__sleb(bytes) * walk->range->data_factor;
        break;
    case DW_CFA_def_cfa_expression:
        rule->expression = true;
        skip_block(bytes);
        break;
    case DW_CFA_remember_state:
        remember(walk);
        break;
    case DW_CFA_restore_state:
        restore(walk);
        break;
    default:
        follow_register(walk, bytes, operation);
    }
}

static void step(struct cfa_walk *walk, struct dwarf_bytes *bytes)
{
    uint8_t operation = (uint8_t)dwarf_bytes__number(bytes, 1);
    uint64_t factor = walk->range->code_factor;
    switch (operation & 0xc0) {
    case DW_CFA_advance_loc:
        emit(walk, walk->address + (operation & 0x3f) * factor);
        return;
    case DW_CFA_offset:
        dwarf_bytes__uleb(bytes);
        walk->rule.rbx_saved |= (operation & 0x3f) == DWARF_RBX;
        return;
    case DW_CFA_restore:
        walk->rule.rbx_saved &= (operation & 0x3f) != DWARF_RBX;
        return;
    }
    switch (operation) {
    case DW_CFA_set_loc:
        walk->broken = true;
        return;
    case DW_CFA_advance_loc1:
        emit(walk, walk->address + dwarf_bytes__number(bytes, 1) * factor);
        return;
    case DW_CFA_advance_loc2:
        emit(walk, walk->address + dwarf_bytes__number(bytes, 2) * factor);
        return;
    case DW_CFA_advance_loc4:
        emit(walk, walk->address + dwarf_bytes__number(bytes, 4) * factor);
        return;
    default:
        define(walk, bytes, operation);
    }
}

static void run(struct cfa_walk *walk, const uint8_t *from, const uint8_t *to)
{
    struct dwarf_bytes bytes = {from, to, false};
    while (bytes.at < bytes.end && !walk->broken) {
        step(walk, &bytes);
        walk->broken |= bytes.broken;
    }
}

/* Appends the range's rows (struct cfa_row, by address, without gaps) to rows. */
static void append_rows(const struct cfa_range *range, struct vec *rows)
{
    struct cfa_walk walk = {.range = range, .address = range->start, .rule = {.expression = true}};
    run(&walk, range->initial, range->initial_end);
    walk.rows = rows;
    run(&walk, range->program, range->program_end);
    if (walk.broken)
        walk.rule.expression = true;
    emit(&walk, range->end);
}

bool cfa_cursor__seek(struct cfa_cursor *cursor, uint64_t address)
{
    if (address >= cursor->row.start && address < cursor->row.end)
        return true;
    if (!cursor->rows.count || address < VEC_AT(&cursor->rows, struct cfa_row, 0)->start ||
        address >= VEC_AT(&cursor->rows, struct cfa_row, cursor->rows.count - 1)->end) {
        const struct cfa_range *range = cfa_table__find(cursor->table, address);
        cursor->rows.count = 0;
        if (range && !range->signal_frame)
            append_rows(range, &cursor->rows);
    }
    VEC_EACH (row, &cursor->rows, struct cfa_row)
        if (address >= row->start && address < row->end) {
            cursor->row = *row;
            return true;
        }
    cursor->row = (struct cfa_row){0};
    return false;
}

void cfa_cursor__rewind(struct cfa_cursor *cursor)
{
    cursor->row = (struct cfa_row){0};
    cursor->rows.count = 0;
}

void cfa_cursor__free(struct cfa_cursor *cursor)
{
    vec__free(&cursor->rows);
}
