#include "patch/landing.h"

#include "patch/dwarf_bytes.h"

#include <dwarf.h>

/* A number without a base: distances from the function's start are all that tables of call sites
 * hold. */
static uint64_t take_number(struct dwarf_bytes *bytes, uint8_t encoding)
{
    switch (encoding & 0x0f) {
    case DW_EH_PE_uleb128:
        return dwarf_bytes__uleb(bytes);
    case DW_EH_PE_udata2:
        return dwarf_bytes__number(bytes, 2);
    case DW_EH_PE_udata4:
        return dwarf_bytes__number(bytes, 4);
    case DW_EH_PE_sdata4:
        return (uint64_t)(int64_t)(int32_t)dwarf_bytes__number(bytes, 4);
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return dwarf_bytes__number(bytes, 8);
    default:
        bytes->broken = true;
        return 0;
    }
}

/* The header of a table: from which address landing pads are counted. */
static uint64_t take_base(const struct code_file *file, struct dwarf_bytes *bytes,
                          const struct cfa_range *range)
{
    uint8_t encoding = (uint8_t)dwarf_bytes__number(bytes, 1);
    if (encoding == DW_EH_PE_omit)
        return range->start;
    size_t size;
    const uint8_t *table = code_file__bytes(file, range->lsda, &size);
    uint64_t place = range->lsda + (uint64_t)(bytes->at - table);
    uint64_t base = take_number(bytes, encoding);
    if ((encoding & 0x70) == DW_EH_PE_pcrel)
        base += place;
    else if (encoding & 0x70)
        bytes->broken = true;
    return base;
}

static void each_of_range(const struct code_file *file, const struct cfa_range *range,
                          void (*each)(uint64_t address, void *context), void *context)
{
    size_t size;
    const uint8_t *table = code_file__bytes(file, range->lsda, &size);
    if (!table)
        return;
    struct dwarf_bytes bytes = {table, table + size, false};
    uint64_t base = take_base(file, &bytes, range);
    if ((uint8_t)dwarf_bytes__number(&bytes, 1) != DW_EH_PE_omit)
        dwarf_bytes__uleb(&bytes); /* where the types are */
    uint8_t encoding = (uint8_t)dwarf_bytes__number(&bytes, 1);
    uint64_t length = dwarf_bytes__uleb(&bytes);
    if (bytes.broken || length > (size_t)(bytes.end - bytes.at))
        return;
    bytes.end = bytes.at + length;
    while (bytes.at < bytes.end && !bytes.broken) {
        take_number(&bytes, encoding); /* start and length of the calls */
        take_number(&bytes, encoding);
        uint64_t pad = take_number(&bytes, encoding);
        dwarf_bytes__uleb(&bytes); /* what is done there */
        if (pad && !bytes.broken)
            each(base + pad, context);
    }
}

void landings__each(const struct code_file *file, void (*each)(uint64_t address, void *context),
                    void *context)
{
    VEC_EACH (range, &file->cfa.ranges, const struct cfa_range)
        if (range->lsda)
            each_of_range(file, range, each, context);
}
