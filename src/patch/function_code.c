#include "patch/function_code.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES_MOST = 1 << 20, TABLE_MOST = 4096 };

/* A branch that leads to an instruction. */
struct code_edge {
    uint32_t to, from;
};

struct code_reading {
    struct function_code *code;
    const void *file;
    code_bytes *bytes;
    struct vec edges;     /* struct code_edge */
    struct vec tables;    /* uint64_t: what lea names outside of the function */
    struct vec addresses; /* uint64_t: arrays of eight bytes at a fixed place */
};

static struct placed_instruction *placed(const struct function_code *code, size_t at)
{
    return VEC_AT(&code->instructions, struct placed_instruction, at);
}

size_t function_code__at(const struct function_code *code, uint64_t address)
{
    const struct placed_instruction *found =
        VEC_FIND(&code->instructions, struct placed_instruction, address, address);
    return found ? (size_t)(found - (struct placed_instruction *)code->instructions.items)
                 : SIZE_MAX;
}

bool function_code__decode(const struct function_code *code, size_t at,
                           struct instruction *instruction)
{
    uint64_t address = placed(code, at)->address;
    return instruction__decode(instruction, &code->decoder, code->bytes + (address - code->start),
                               code->end - address, address) &&
           instruction__operands(instruction, &code->decoder);
}

/* ---- jump tables ----------------------------------------------------------------------------- */

static bool add_edge(struct code_reading *reading, uint64_t target, uint32_t from)
{
    size_t at = function_code__at(reading->code, target);
    if (at == SIZE_MAX)
        return false;
    vec__push(&reading->edges, &(struct code_edge){(uint32_t)at, from});
    return true;
}

/* Distances from the table's own start, of four bytes each, until one leads out of the function. */
static bool read_distances(struct code_reading *reading, uint64_t table, uint32_t from)
{
    uint64_t size, count = 0;
    const uint8_t *bytes = reading->bytes(reading->file, table, &size);
    for (; bytes && count < TABLE_MOST && count * 4 + 4 <= size; count++) {
        int32_t distance;
        memcpy(&distance, bytes + count * 4, sizeof distance);
        if (!add_edge(reading, table + (uint64_t)(int64_t)distance, from))
            break;
    }
    return count > 0;
}

static bool read_addresses(struct code_reading *reading, uint64_t table, uint32_t from)
{
    uint64_t size, count = 0, address;
    const uint8_t *bytes = reading->bytes(reading->file, table, &size);
    for (; bytes && count < TABLE_MOST && count * 8 + 8 <= size; count++) {
        memcpy(&address, bytes + count * 8, sizeof address);
        if (!add_edge(reading, address, from))
            break;
    }
    return count > 0;
}

/* Whether it jumps to another function: by a slot that the loader fills. */
static bool leads_out(const struct instruction *jump)
{
    return instruction__rip_address(jump) != 0;
}

static void read_jump(struct code_reading *reading, uint32_t at)
{
    struct instruction jump;
    bool is_known = false;
    if (!function_code__decode(reading->code, at, &jump) || leads_out(&jump))
        return;
    VEC_EACH (table, &reading->tables, uint64_t)
        is_known |= read_distances(reading, *table, at);
    VEC_EACH (table, &reading->addresses, uint64_t)
        is_known |= read_addresses(reading, *table, at);
    reading->code->is_opaque |= !is_known;
}

/* Where an array of addresses lies that the instruction has at a fixed place; 0: nowhere. */
static uint64_t fixed_array(const struct instruction *instruction)
{
    enum { HAS_SIB = 4, NO_BASE = 5, EIGHT = 3 };
    const ZydisDecodedInstruction *zydis = &instruction->zydis;
    bool is_array = instruction__has_memory(instruction) && zydis->raw.modrm.mod == 0 &&
                    zydis->raw.modrm.rm == HAS_SIB && zydis->raw.sib.base == NO_BASE &&
                    zydis->raw.sib.scale == EIGHT;
    return is_array ? (uint64_t)zydis->raw.disp.value : 0;
}

static void note_tables(struct code_reading *reading, const struct instruction *instruction)
{
    const struct function_code *code = reading->code;
    uint64_t array = fixed_array(instruction);
    uint64_t named = instruction__is_lea(instruction) ? instruction__rip_address(instruction) : 0;
    if (named && (named < code->start || named >= code->end))
        vec__push(&reading->tables, &named);
    if (array)
        vec__push(&reading->addresses, &array);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool decode_all(struct code_reading *reading)
{
    struct function_code *code = reading->code;
    struct instruction instruction;
    for (uint64_t at = code->start; at < code->end; at = instruction.end) {
        if (!instruction__decode(&instruction, &code->decoder, code->bytes + (at - code->start),
                                 code->end - at, at))
            return false;
        struct placed_instruction one = {.address = at,
                                         .target = instruction.target,
                                         .branch = (uint8_t)instruction.branch,
                                         .falls = !instruction__ends_flow(&instruction)};
        vec__push(&code->instructions, &one);
        note_tables(reading, &instruction);
    }
    return code->instructions.count > 0;
}

static void read_branches(struct code_reading *reading)
{
    struct function_code *code = reading->code;
    for (uint32_t at = 0; at < code->instructions.count; at++) {
        const struct placed_instruction *one = placed(code, at);
        if (branch__is_direct(one->branch))
            add_edge(reading, one->target, at);
        else if (one->branch == BRANCH_JUMP_INDIRECT)
            read_jump(reading, at);
    }
}

static void link_edges(struct code_reading *reading)
{
    struct function_code *code = reading->code;
    vec__sort(&reading->edges, order__u32);
    VEC_EACH (edge, &reading->edges, struct code_edge) {
        struct placed_instruction *one = placed(code, edge->to);
        if (!one->from)
            one->first_from = (uint32_t)code->from.count;
        one->from++;
        one->is_entered = true;
        vec__push(&code->from, &edge->from);
    }
    for (size_t at = 0; at < code->instructions.count; at++)
        placed(code, at)->is_entered |= at == 0 || !placed(code, at - 1)->falls;
}

bool function_code__read(struct function_code *code, const void *file, code_bytes *bytes,
                         uint64_t start, uint64_t end)
{
    uint64_t size = 0;
    *code = (struct function_code){.start = start,
                                   .end = end,
                                   .bytes = bytes(file, start, &size),
                                   .instructions = VEC_OF(struct placed_instruction),
                                   .from = VEC_OF(uint32_t)};
    if (!code->bytes || end <= start || size < end - start || end - start > BYTES_MOST)
        return false;
    struct code_reading reading = {
        code, file, bytes, VEC_OF(struct code_edge), VEC_OF(uint64_t), VEC_OF(uint64_t)};
    decoder__start(&code->decoder);
    bool is_whole = decode_all(&reading);
    if (is_whole) {
        read_branches(&reading);
        link_edges(&reading);
    }
    vec__free(&reading.edges);
    vec__free(&reading.tables);
    vec__free(&reading.addresses);
    return is_whole;
}

void function_code__free(struct function_code *code)
{
    vec__free(&code->instructions);
    vec__free(&code->from);
}
