#include "patch/code_map.h"

#include "base/memory.h"
#include "patch/decode.h"
#include "patch/landing.h"

#include <stdlib.h>
#include <string.h>

/* One bit for each byte of an executable section. */
struct area {
    uint64_t start, end;
    const uint8_t *bytes;
    uint8_t *bits;
};

struct code_map {
    const struct code_file *file;
    struct vec areas;  /* struct area */
    struct vec tables; /* uint64_t: addresses taken by lea, of which some are jump tables */
    ZydisDecoder decoder;
    struct instruction instruction;
};

static struct area *area_at(const struct code_map *map, uint64_t address)
{
    VEC_EACH (area, &map->areas, struct area)
        if (address - area->start < area->end - area->start)
            return area;
    return NULL;
}

/* False when address is not in code. */
static bool mark(struct code_map *map, uint64_t address)
{
    struct area *area = area_at(map, address);
    if (!area)
        return false;
    uint64_t at = address - area->start;
    area->bits[at / 8] |= (uint8_t)(1u << at % 8);
    return true;
}

/* Code at a fixed address names code by absolute numbers. */
static void mark_numbers(struct code_map *map)
{
    const ZydisDecodedInstruction *zydis = &map->instruction.zydis;
    for (int i = 0; i < 2; i++)
        if (zydis->raw.imm[i].size == 32)
            mark(map, (uint32_t)zydis->raw.imm[i].value.u);
        else if (zydis->raw.imm[i].size == 64)
            mark(map, zydis->raw.imm[i].value.u);
    if (zydis->raw.disp.size == 32)
        mark(map, (uint32_t)zydis->raw.disp.value);
}

static void look_at(struct code_map *map)
{
    const struct instruction *instruction = &map->instruction;
    switch (instruction->branch) {
    case BRANCH_JUMP:
    case BRANCH_CONDITIONAL:
    case BRANCH_SHORT:
    case BRANCH_ABORTED:
    case BRANCH_CALL:
        mark(map, instruction->target);
        return;
    default:
        break;
    }
    if (instruction__is_lea(instruction)) {
        uint64_t address = instruction__rip_address(instruction);
        if (address) {
            mark(map, address);
            vec__push(&map->tables, &address);
        }
    }
    if (map->file->position_dependent)
        mark_numbers(map);
}

/* Decodes from one label to the next; a byte that is no instruction is passed over. */
static void sweep_between(struct code_map *map, const struct area *area, uint64_t from, uint64_t to)
{
    while (from < to) {
        if (!instruction__decode(&map->instruction, &map->decoder,
                                 area->bytes + (from - area->start), to - from, from)) {
            from++;
            continue;
        }
        look_at(map);
        from = map->instruction.end;
    }
}

static void sweep(struct code_map *map, const struct area *area)
{
    const uint64_t *labels = map->file->labels.items;
    size_t count = map->file->labels.count, i = 0;
    uint64_t from = area->start;
    while (i < count && labels[i] < area->start)
        i++;
    for (; i < count && labels[i] < area->end; i++) {
        sweep_between(map, area, from, labels[i]);
        from = labels[i];
        mark(map, from);
    }
    sweep_between(map, area, from, area->end);
}

/* A jump table of position-independent code: 32-bit distances from the table's own start. It ends
 * before the next address that code refers to, or at the first distance that leads nowhere. */
static void read_table(struct code_map *map, uint64_t table, uint64_t limit)
{
    size_t size;
    const uint8_t *bytes = code_file__bytes(map->file, table, &size);
    if (!bytes)
        return;
    if (limit > table && limit - table < size)
        size = limit - table;
    for (size_t at = 0; at + 4 <= size; at += 4) {
        int32_t distance;
        memcpy(&distance, bytes + at, sizeof distance);
        if (!mark(map, table + (uint64_t)(int64_t)distance))
            return;
    }
}

static void read_tables(struct code_map *map)
{
    struct vec *tables = &map->tables;
    if (!tables->count)
        return;
    qsort(tables->items, tables->count, tables->item_bytes, order__u64);
    uint64_t *at = tables->items;
    for (size_t i = 0; i < tables->count; i++) {
        if (i && at[i] == at[i - 1])
            continue;
        size_t next = i + 1;
        while (next < tables->count && at[next] == at[i])
            next++;
        read_table(map, at[i], next < tables->count ? at[next] : UINT64_MAX);
    }
}

static void mark_landing(uint64_t address, void *map)
{
    mark(map, address);
}

static void add_areas(struct code_map *map)
{
    VEC_EACH (section, &map->file->sections, struct code_section) {
        if (!section->executable || !section->bytes)
            continue;
        struct area area = {section->start, section->end, section->bytes, NULL};
        area.bits = memory__zeroed((area.end - area.start) / 8 + 1, 1);
        vec__push(&map->areas, &area);
    }
}

struct code_map *code_map__make(const struct code_file *file)
{
    struct code_map *map = memory__zeroed(1, sizeof *map);
    map->file = file;
    map->areas = VEC_OF(struct area);
    map->tables = VEC_OF(uint64_t);
    decoder__start(&map->decoder);
    add_areas(map);
    VEC_EACH (area, &map->areas, struct area)
        sweep(map, area);
    VEC_EACH (pointer, &file->pointers, uint64_t)
        mark(map, *pointer);
    read_tables(map);
    landings__each(file, mark_landing, map);
    vec__free(&map->tables);
    return map;
}

void code_map__free(struct code_map *map)
{
    if (!map)
        return;
    VEC_EACH (area, &map->areas, struct area)
        free(area->bits);
    vec__free(&map->areas);
    vec__free(&map->tables);
    free(map);
}

bool code_map__is_entered(const struct code_map *map, uint64_t from, uint64_t to)
{
    const struct area *area = area_at(map, from);
    if (!area)
        return true;
    for (uint64_t at = from - area->start; at < to - area->start; at++)
        if (at >= area->end - area->start || (area->bits[at / 8] >> at % 8 & 1))
            return true;
    return false;
}
